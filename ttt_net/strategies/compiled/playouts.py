"""Monte Carlo tree search, compiled: the tree in arrays, with playouts of line games and of ultimate tic-tac-toe.

Node 0 is the root; the children of a node have consecutive numbers from `first_child`. The fields of a node take the
view of the side that moved to it: `rewards` is the sum of 1 for a win and -1 for a loss, `solved` is 1, 0, -1 or
`UNKNOWN`, and `plies` is the number of plies from there to a solved end.

Line games of up to 64 cells (`line_play_out`): boards are words with bit n for cell n, as in `LineState`, so that a
playout stays in registers.

Line games of more cells (`large_play_out`): marks are bytes, and runs are counted around each new one. The board has a
margin of one cell on every side that is never marked, so no run wraps around an edge. `marks` has 0, 1 or 2 (the side
plus one) for each place of that larger board; `places` has the place of each cell. `open_cells` lists the cells that
can be marked, `count[0]` of them, and `at` has the index of each in that list.

Ultimate tic-tac-toe (`ultimate_play_out`): a position is a block of words: the marks of side 0 on each of the nine
boards (bit n is place n), those of side 1, the boards that each has won, those that are closed, and the board to play
in, or `ANY_BOARD`. The number of a move is nine times its board plus its place. In a playout, a side that can win a
small board does so, and prefers one that wins the game; all other moves are random.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numba import from_dtype, njit, types

from ttt_net.games import Game, Move
from ttt_net.games.geometry import cells_of, list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.ultimate import ANY, UltimateGame, UltimateState
from ttt_net.strategies.compiled.kit import held_to
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, count_ones, nth_bit
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.strategy import WIN, Choice, Effort, is_soonest

UNKNOWN = 2
EXPAND_AT = 3
"""A leaf gets children at this visit: sooner, and the tree would fill with nodes that are seen once."""

CERTAIN = 1000
"""The value, as an estimate, of a node that all playouts have won."""

# The words of `control`: playouts made, playouts allowed, nodes in use, and the state of the random numbers.
PLAYOUTS, BUDGET, USED, SEED = 0, 1, 2, 3

NODE = np.dtype(
    [
        ("visits", np.int32),
        ("rewards", np.int32),
        ("first_child", np.int32),
        ("children", np.uint8),
        ("cell", np.uint8),
        ("solved", np.int8),
        ("plies", np.uint8),
    ]
)
"""The fields of a node, 16 bytes: the seven children of a node of Connect Four lie in two lines of the cache."""

TOGETHER = 8
"""So many lines are compared at once; the table of lines has a row of them for each cell, a multiple of it long."""
NO_LINE = (1 << 64) - 1
"""The padding of the rows: no side can hold all of 64 cells."""


@njit(inline="always")
def next_random(bits):
    """Return the state of the random numbers after this one (xorshift64*; Vigna 2014)."""
    bits ^= bits >> U(12)
    bits ^= bits << U(25)
    return bits ^ (bits >> U(27))


@njit(inline="always")
def below(number, bits):
    """Return a random number from 0 to less than `number`, for a state of the random numbers."""
    return (((bits * U(0x2545F4914F6CDD1D)) >> U(32)) * number) >> U(32)


@njit(inline="always")
def legal(taken, full, floor, fall):
    """Return the cells that can be marked; `fall` is 0 without gravity."""
    if fall == 0:
        return full & ~taken
    above = taken >> U(fall) if fall > 0 else taken << U(-fall)
    return full & ~taken & (above | floor)


@njit(inline="always")
def line_completes(own, cell, lines):
    """Tell whether the mark in a cell is part of a line of `own`; without a branch, which would be mispredicted."""
    found = False
    for first in range(0, lines.shape[1], TOGETHER):
        for n in range(first, first + TOGETHER):
            found |= own & lines[cell, n] == lines[cell, n]
    return found


@njit(inline="always")
def cell_of(bit):
    """Return the number of the only bit that is set."""
    return np.int64(count_ones(bit - ONE))


@njit(inline="always")
def line_random_result(own, other, full, floor, fall, lines, control):
    """Return 1, 0 or -1 for the side to move, after random play to the end."""
    sign, bits = 1, control[SEED]
    while True:
        moves = legal(own | other, full, floor, fall)
        number = count_ones(moves)
        if number == ZERO:
            sign = 0
            break
        bits = next_random(bits)
        bit = nth_bit(moves, below(number, bits))
        own |= bit
        if line_completes(own, cell_of(bit), lines):
            break
        own, other, sign = other, own, -sign
    control[SEED] = bits
    return sign


@njit(inline="always")
def line_expand(node, own, other, full, floor, fall, lines, control, tree):
    """Give a node its children, and solve those that end the game; return whether there was room."""
    moves = legal(own | other, full, floor, fall)
    number = np.int64(count_ones(moves))
    used = np.int64(control[USED])
    if used + number > len(tree):
        return False
    tree[node].first_child, tree[node].children = used, number
    control[USED] = U(used + number)
    while moves != ZERO:
        bit = moves & (ZERO - moves)
        moves ^= bit
        child = tree[used]
        child.visits, child.rewards, child.children, child.plies = 0, 0, 0, 0
        child.cell, child.solved = cell_of(bit), UNKNOWN
        if line_completes(own | bit, cell_of(bit), lines):
            child.solved = 1
        elif legal(own | other | bit, full, floor, fall) == ZERO:
            child.solved = 0
        used += 1
    return True


@njit(inline="always")
def most_promising(node, exploration, tree):
    """Return the unsolved child with the highest upper confidence bound; one never visited comes first."""
    best, best_bound = -1, np.float32(-1e30)
    spread = np.float32(exploration) * np.sqrt(np.log(np.float32(tree[node].visits + 1)))
    for number in range(tree[node].first_child, tree[node].first_child + tree[node].children):
        child = tree[number]
        if child.solved != UNKNOWN:
            continue
        if child.visits == 0:
            return number
        scale = np.float32(1) / np.sqrt(np.float32(child.visits))
        bound = (np.float32(child.rewards) * scale + spread) * scale
        if bound > best_bound:
            best, best_bound = number, bound
    return best


@njit(inline="always")
def solve(node, tree):
    """Mark a node as solved if its children determine its value: one wins, or all are solved."""
    best, length, unknown = -1, 0, False
    for number in range(tree[node].first_child, tree[node].first_child + tree[node].children):
        child = tree[number]
        if child.solved == UNKNOWN:
            unknown = True
        elif child.solved > best or (child.solved == best and (child.plies + 1 < length) == (child.solved > 0)):
            best, length = child.solved, child.plies + 1
    if best == 1 or not unknown:
        tree[node].solved, tree[node].plies = -best, length


@njit(inline="always")
def back_up(result, path, length, tree):
    """Count a result, for the side that moved last, in all nodes of a playout's path, and solve those it decides."""
    for at in range(length - 1, -1, -1):
        node = path[at]
        tree[node].visits += 1
        tree[node].rewards += result
        if at > 0 and tree[node].solved != UNKNOWN and tree[path[at - 1]].solved == UNKNOWN:
            solve(path[at - 1], tree)
        result = -result


@njit(types.void(types.int64, types.uint64[::1], from_dtype(NODE)[::1]), nogil=True, cache=True)
def keep_only(root, control, tree):
    """Drop all nodes but one and those below it, which becomes the root.

    Children have higher numbers than their parents, so one walk marks what stays, and another moves it down.
    """
    used = np.int64(control[USED])
    place = np.full(used, -1, np.int32)
    place[root] = 0
    kept = 0
    for node in range(root, used):
        if place[node] >= 0:
            place[node] = kept
            kept += 1
            for child in range(tree[node].first_child, tree[node].first_child + tree[node].children):
                place[child] = 0
    for node in range(root, used):
        if place[node] >= 0:
            tree[place[node]] = tree[node]
            if tree[node].children:
                tree[place[node]].first_child = place[tree[node].first_child]
    control[USED] = U(kept)


@njit(
    types.void(
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.int64,
        types.uint64[:, ::1],
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        from_dtype(NODE)[::1],
    ),
    nogil=True,
    cache=True,
)
def line_play_out(own, other, full, floor, fall, lines, exploration, control, path, tree):
    """Run playouts until the root is solved or the budget is spent; this changes the tree in place.

    `own` are the marks of the side to move at the root. Another thread may set the budget to nothing.
    """
    while tree[0].solved == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        node, length, mine, theirs = 0, 1, own, other
        path[0] = 0
        while tree[node].solved == UNKNOWN:
            if tree[node].children == 0:
                if tree[node].visits + 1 < EXPAND_AT and node != 0:
                    break
                if not line_expand(node, mine, theirs, full, floor, fall, lines, control, tree):
                    break
                solve(node, tree)
                if tree[node].solved != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            mine, theirs = theirs, mine | ONE << U(tree[node].cell)
            path[length] = node
            length += 1
        if tree[node].solved == UNKNOWN:
            result = -line_random_result(mine, theirs, full, floor, fall, lines, control)
        else:
            result = np.int64(tree[node].solved)
        back_up(result, path, length, tree)


@njit(inline="always")
def large_completes(marks, place, mark, steps, k):
    """Tell whether `mark` in a place would be part of k in a row."""
    for step in steps:
        length, ahead = 1, place + step
        while marks[ahead] == mark:
            length += 1
            ahead += step
        behind = place - step
        while marks[behind] == mark:
            length += 1
            behind -= step
        if length >= k:
            return True
    return False


@njit(inline="always")
def put(marks, cell, mark, places, fall, open_cells, at, count):
    """Mark a cell that can be marked; with gravity, the cell above it can be marked next."""
    marks[places[cell]] = mark
    above = cell - fall
    if fall != 0 and 0 <= above < len(places):
        instead = above
    else:
        count[0] -= 1
        instead = open_cells[count[0]]
    open_cells[at[cell]] = instead
    at[instead] = at[cell]


@njit(inline="always")
def large_random_result(marks, side, places, steps, k, fall, open_cells, at, count, control):
    """Return 1, 0 or -1 for the side to move, after random play to the end, which changes the position."""
    sign, bits = 0, control[SEED]
    while count[0]:
        bits = next_random(bits)
        cell = open_cells[np.int64(below(U(count[0]), bits))]
        put(marks, cell, np.uint8(side + 1), places, fall, open_cells, at, count)
        sign = 1 if sign <= 0 else -1
        if large_completes(marks, places[cell], np.uint8(side + 1), steps, k):
            control[SEED] = bits
            return sign
        side = 1 - side
    control[SEED] = bits
    return 0


@njit(inline="always")
def large_expand(node, marks, side, places, steps, k, fall, open_cells, count, control, tree):
    """Give a node its children, and solve those that end the game; return whether there was room."""
    used = np.int64(control[USED])
    if used + count[0] > len(tree):
        return False
    tree[node].first_child, tree[node].children = used, count[0]
    for cell in open_cells[: count[0]]:
        child = tree[used]
        child.visits, child.rewards, child.children, child.plies = 0, 0, 0, 0
        child.cell, child.solved = cell, UNKNOWN
        if large_completes(marks, places[cell], np.uint8(side + 1), steps, k):
            child.solved = 1
        elif count[0] == 1 and (fall == 0 or not 0 <= cell - fall < len(places)):
            child.solved = 0
        used += 1
    control[USED] = U(used)
    return True


@njit(
    types.void(
        types.uint8[::1],
        types.int64,
        types.int16[::1],
        types.int16[::1],
        types.int64,
        types.int64,
        types.int16[::1],
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        from_dtype(NODE)[::1],
    ),
    nogil=True,
    cache=True,
)
def large_play_out(root, mover, places, steps, k, fall, legal, exploration, control, path, tree):
    """Run playouts until the root is solved or the budget is spent; this changes the tree in place.

    `root` are the marks, `mover` the side to move and `legal` the cells that can be marked at the root. Another thread
    may set the budget to nothing.
    """
    marks, open_cells = root.copy(), np.zeros(len(places), np.int16)
    first_at, count = np.zeros(len(places), np.int16), np.zeros(1, np.int64)
    for number, cell in enumerate(legal):
        first_at[cell] = number
    at = first_at.copy()
    while tree[0].solved == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        marks[:] = root
        open_cells[: len(legal)] = legal
        at[:] = first_at
        count[0] = len(legal)
        node, length, side = 0, 1, mover
        path[0] = 0
        while tree[node].solved == UNKNOWN:
            if tree[node].children == 0:
                if tree[node].visits + 1 < EXPAND_AT and node != 0:
                    break
                if not large_expand(node, marks, side, places, steps, k, fall, open_cells, count, control, tree):
                    break
                solve(node, tree)
                if tree[node].solved != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            put(marks, np.int64(tree[node].cell), np.uint8(side + 1), places, fall, open_cells, at, count)
            side = 1 - side
            path[length] = node
            length += 1
        result = np.int64(tree[node].solved)
        if result == UNKNOWN:
            result = -large_random_result(marks, side, places, steps, k, fall, open_cells, at, count, control)
        back_up(result, path, length, tree)


WON, CLOSED, TARGET, WORDS = 18, 20, 21, 22
"""Where the block has the boards won by side 0 (and next to it by side 1), those closed, and the one to play in."""
ANY_BOARD = 9
FULL = 511

_LINES = (7, 56, 448, 73, 146, 292, 273, 84)
HAS_LINE = np.array([any(own & line == line for line in _LINES) for own in range(512)])
"""By the marks of a side on a board, whether three are in a row."""
COMPLETING = np.array(
    [sum(1 << n for n in range(9) if not own >> n & 1 and HAS_LINE[own | 1 << n]) for own in range(512)], np.int64
)
"""By the marks of a side on a board, the places that would complete three in a row."""


@njit(inline="always")
def empty(words, board):
    """Return the places of a board that can be marked; none on one that is closed."""
    if words[CLOSED] >> board & 1:
        return np.int64(0)
    return FULL & ~(words[board] | words[9 + board])


@njit(inline="always")
def mark(words, side, move):
    """Mark a cell; return 1 if that wins, 0 if it ends the game in a draw, else `UNKNOWN`."""
    board, place = move // 9, move % 9
    own = words[9 * side + board] | 1 << place
    words[9 * side + board] = own
    if HAS_LINE[own]:
        words[WON + side] |= 1 << board
        words[CLOSED] |= 1 << board
        if HAS_LINE[words[WON + side]]:
            return 1
    elif words[board] | words[9 + board] == FULL:
        words[CLOSED] |= 1 << board
    if words[CLOSED] == FULL:
        return 0
    words[TARGET] = ANY_BOARD if words[CLOSED] >> place & 1 else place
    return UNKNOWN


@njit(inline="always")
def nth_place(places, number):
    """Return the number of one of the bits that are set."""
    return np.int64(count_ones(nth_bit(U(places), U(number)) - ONE))


@njit(inline="always")
def random_move(words, side, bits):
    """Return a move that wins the game, else one that wins a board, else any with equal chances."""
    target = words[TARGET]
    if target != ANY_BOARD:
        places = empty(words, target)
        winning = COMPLETING[words[9 * side + target]] & places
        if winning:
            places = winning
        return 9 * target + nth_place(places, below(count_ones(U(places)), bits))
    found, total = -1, U(0)
    for board in range(9):
        places = empty(words, board)
        winning = COMPLETING[words[9 * side + board]] & places
        if winning:
            found = 9 * board + nth_place(winning, U(0))
            if HAS_LINE[words[WON + side] | 1 << board]:
                return found
        total += count_ones(U(places))
    if found >= 0:
        return found
    number = below(total, bits)
    for board in range(9):
        places = empty(words, board)
        count = count_ones(U(places))
        if number < count:
            return 9 * board + nth_place(places, number)
        number -= count
    return found


@njit(inline="always")
def ultimate_random_result(words, side, control):
    """Return 1, 0 or -1 for the side to move, after a playout to the end, which changes the block."""
    sign, bits = 1, control[SEED]
    while True:
        bits = next_random(bits)
        result = mark(words, side, random_move(words, side, bits))
        if result != UNKNOWN:
            break
        side, sign = 1 - side, -sign
    control[SEED] = bits
    return sign * result


@njit(inline="always")
def ultimate_expand(node, words, side, control, tree):
    """Give a node its children, and solve those that end the game; return whether there was room."""
    target, used = words[TARGET], np.int64(control[USED])
    if used + 81 > len(tree):
        return False
    first = used
    for board in range(9):
        if target != ANY_BOARD and board != target:
            continue
        places = empty(words, board)
        for place in range(9):
            if not places >> place & 1:
                continue
            child = tree[used]
            child.visits, child.rewards, child.children, child.plies = 0, 0, 0, 0
            child.cell, child.solved = 9 * board + place, UNKNOWN
            is_won = COMPLETING[words[9 * side + board]] >> place & 1
            if is_won and HAS_LINE[words[WON + side] | 1 << board]:
                child.solved = 1
            elif words[CLOSED] | 1 << board == FULL and (is_won or places == 1 << place):
                child.solved = 0
            used += 1
    tree[node].first_child, tree[node].children = first, used - first
    control[USED] = U(used)
    return True


@njit(
    types.void(
        types.int64[::1],
        types.int64,
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        from_dtype(NODE)[::1],
    ),
    nogil=True,
    cache=True,
)
def ultimate_play_out(root, mover, exploration, control, path, tree):
    """Run playouts until the root is solved or the budget is spent; this changes the tree in place.

    `mover` is the side to move at the root. Another thread may set the budget to nothing.
    """
    words = root.copy()
    while tree[0].solved == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        words[:] = root
        node, length, side = 0, 1, mover
        path[0] = 0
        while tree[node].solved == UNKNOWN:
            if tree[node].children == 0:
                if tree[node].visits + 1 < EXPAND_AT and node != 0:
                    break
                if not ultimate_expand(node, words, side, control, tree):
                    break
                solve(node, tree)
                if tree[node].solved != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            mark(words, side, np.int64(tree[node].cell))
            side = 1 - side
            path[length] = node
            length += 1
        result = np.int64(tree[node].solved)
        if result == UNKNOWN:
            result = -ultimate_random_result(words, side, control)
        back_up(result, path, length, tree)


CAPACITY = 1 << 21
"""Nodes of a tree, in 32 MB. When it is full, playouts go on from its leaves."""

WORD_CELLS = 64
"""A side of a board of so many cells at most is a word of bits."""


class PlayoutRules(ABC):
    """A game in the form its kernel takes; a kernel may number the moves in its own way."""

    play_out: Callable[..., None]
    """Takes what `arguments` returns, and then what belongs to the tree."""

    @abstractmethod
    def arguments(self, state: Any) -> tuple[Any, ...]:
        """Return a position as the kernel takes it."""

    def number_of(self, move: Move) -> int:
        """Return the kernel's number of a move."""
        return move

    def move_of(self, number: int) -> Move:
        """Return the move of such a number."""
        return number


class LinePlayouts(PlayoutRules):
    """A line game of up to 64 cells."""

    play_out = staticmethod(line_play_out)

    def __init__(self, game: LineGame) -> None:
        self._game = game
        most = max(map(len, game.lines_through))
        width = most + -most % TOGETHER
        rows = [[*lines, *[NO_LINE] * (width - len(lines))] for lines in game.lines_through]
        self._lines = np.array(rows, dtype=np.uint64)
        self._floor = sum(1 << move for move in game.actions(game.initial))

    def arguments(self, state: LineState) -> tuple[Any, ...]:
        """Return the marks of the side to move and of the other, and what the game is."""
        game = self._game
        own, other = map(np.uint64, own_and_other(state))
        fall = game.fall if game.gravity else 0
        return own, other, np.uint64(game.full), np.uint64(self._floor), fall, self._lines


class LargePlayouts(PlayoutRules):
    """A line game of more than 64 cells."""

    play_out = staticmethod(large_play_out)

    def __init__(self, game: LineGame) -> None:
        self._game = game
        wide = [size + 2 for size in game.shape]
        inner = product(*(range(1, size + 1) for size in game.shape))
        self._places = np.array([np.ravel_multi_index(cell, wide) for cell in inner], np.int16)
        centre = (1,) * len(wide)
        around = product(*(range(3) for _ in wide))
        here = np.ravel_multi_index(centre, wide)
        steps = {int(abs(np.ravel_multi_index(cell, wide) - here)) for cell in around if cell != centre}
        self._steps = np.array(sorted(steps), np.int16)
        self._board = np.zeros(np.prod(wide), np.uint8)

    def arguments(self, state: LineState) -> tuple[Any, ...]:
        """Return the marks, the side to move, what the game is, and the legal moves."""
        game, board = self._game, self._board.copy()
        for side, marks in enumerate((state.first, state.second)):
            board[self._places[list(list_cells(marks))]] = side + 1
        fall, legal = game.fall if game.gravity else 0, np.array(list(game.actions(state)), np.int16)
        return board, state.ply & 1, self._places, self._steps, game.k, fall, legal


class UltimatePlayouts(PlayoutRules):
    """Ultimate tic-tac-toe: the number of a move is nine times its small board plus its place there."""

    play_out = staticmethod(ultimate_play_out)

    def __init__(self, game: UltimateGame) -> None:
        self._moves = [
            row // 3 * 27 + row % 3 * 3 + place // 3 * 9 + place % 3 for row in range(9) for place in range(9)
        ]
        self._numbers = {move: number for number, move in enumerate(self._moves)}

    def arguments(self, state: UltimateState) -> tuple[Any, ...]:
        """Return the block of words that a position is, and the side to move."""
        words = np.zeros(WORDS, np.int64)
        for side, marks in enumerate((state.first, state.second)):
            for cell in cells_of(marks):
                board, place = divmod(self._numbers[cell], 9)
                words[9 * side + board] |= 1 << place
        words[WON : WON + 2] = state.won_first, state.won_second
        words[CLOSED] = state.closed
        words[TARGET] = ANY_BOARD if state.target == ANY else state.target
        return words, state.ply & 1

    def number_of(self, move: Move) -> int:
        """Return the number of a cell of the large board."""
        return self._numbers[move]

    def move_of(self, number: int) -> Move:
        """Return the cell of the large board."""
        return self._moves[number]


def _rules_of(game: LineGame | UltimateGame) -> PlayoutRules:
    if isinstance(game, UltimateGame):
        return UltimatePlayouts(game)
    return LinePlayouts(game) if game.size <= WORD_CELLS else LargePlayouts(game)


class PlayoutTree:
    """Grows a tree by playouts, and keeps the part below the current position."""

    def __init__(self, game: LineGame | UltimateGame, seed: int) -> None:
        self.game: Game[Any] = game
        self.rules = _rules_of(game)
        self.nodes = np.zeros(CAPACITY, NODE)
        """The tree; its root is node 0."""
        self.control = np.array([0, 0, 0, seed | 1], dtype=np.uint64)
        """The words `PLAYOUTS`, `BUDGET`, `USED` (nodes) and `SEED` of the """
        self.path = np.zeros(game.size + 2, dtype=np.int64)
        """Where the kernel notes the nodes of one playout."""
        self._root: LineState | UltimateState | None = None

    def choose(self, state: LineState | UltimateState, exploration: float, effort: Effort) -> Choice:
        """Return the move that is solved as won, or else the one that was tried most often."""
        position, control = self.hold(state), self.control
        control[PLAYOUTS], control[BUDGET] = 0, effort.max_nodes
        with held_to(effort, control, BUDGET):
            self.rules.play_out(*position, exploration, control, self.path, self.nodes)
        effort.nodes = int(control[PLAYOUTS])
        return self._choice(state, effort)

    def hold(self, state: LineState | UltimateState) -> tuple[Any, ...]:
        """Move the root of the tree to a position, and return what the kernel takes of it and its game.

        The part of the tree below the position is kept if it is there; else the tree begins with the position alone.
        """
        node = self._find(state)
        if node is None:
            self.nodes[0] = 0
            self.nodes[0]["solved"] = UNKNOWN
            self.control[USED] = 1
        else:
            keep_only(node, self.control, self.nodes)
        self._root = state
        return self.rules.arguments(state)

    def _find(self, state: LineState | UltimateState) -> int | None:
        """Return the node of a position that came about from the root by the moves of the one or the two sides."""
        root = self._root
        if root is None or root.first & ~state.first or root.second & ~state.second or state.ply > root.ply + 2:
            return None
        node, moves = 0, [list_cells(state.first ^ root.first), list_cells(state.second ^ root.second)]
        for ply in range(root.ply, state.ply):
            cell = self.rules.number_of(moves[ply & 1][0])
            node = next((child for child in self._below(node) if self.nodes[child]["cell"] == cell), -1)
            if node < 0:
                return None
        return node

    def _below(self, node: int) -> range:
        first = int(self.nodes[node]["first_child"])
        return range(first, first + int(self.nodes[node]["children"]))

    def _choice(self, state: LineState | UltimateState, effort: Effort) -> Choice:
        nodes, line, node = self.nodes, list[Move](), 0
        if not nodes[0]["children"]:
            return Choice(self.game.actions(state)[0], None, (), effort.counts())
        best = max(self._below(0), key=self._merit)
        while nodes[node]["children"] and nodes[node]["visits"]:
            node = max(self._below(node), key=self._merit)
            line.append(self.rules.move_of(int(nodes[node]["cell"])))
        effort.depth = len(line)
        solved = int(nodes[0]["solved"])
        if solved == UNKNOWN:
            mean = nodes[best]["rewards"] / max(1, nodes[best]["visits"])
            return Choice(line[0], round(float(mean) * CERTAIN), tuple(line), effort.counts())
        value = -solved * (WIN - int(nodes[0]["plies"]))
        return Choice(line[0], value, tuple(line), effort.counts(), exact=is_soonest(value))

    def _merit(self, node: int) -> tuple[int, int]:
        """Rank a move: the soonest certain win, the most tried, a certain draw if that one loses, the latest loss."""
        visits, rewards, solved, plies = (
            int(self.nodes[node][name]) for name in ("visits", "rewards", "solved", "plies")
        )
        if solved == UNKNOWN:
            return (2 if rewards >= 0 else 0), visits
        if solved == 0:
            return 1, visits
        return (3, -plies) if solved > 0 else (-1, plies)
