"""Monte Carlo tree search on ultimate tic-tac-toe, compiled; the tree is that of `playouts`, by its rules.

A position is a block of words: the marks of side 0 on each of the nine boards (bit n is place n), those of side 1, the
boards that each has won, those that are closed, and the board to play in, or `ANY`. A move is numbered nine times its
board and its place. In a playout, a side that can win a small board does so, and rather one that wins the game; all
else is chance.
"""

import numpy as np
from numba import from_dtype, njit, types

from ttt_net.strategies.compiled.memory import count_ones, nth_bit
from ttt_net.strategies.compiled.playouts import (
    BUDGET,
    EXPAND_AT,
    NODE,
    ONE,
    PLAYOUTS,
    SEED,
    UNKNOWN,
    USED,
    U,
    below,
    most_promising,
    next_random,
    solve,
)

WON, CLOSED, TARGET, WORDS = 18, 20, 21, 22
"""Where the block has the boards won by side 0 (and next to it by side 1), those closed, and the one to play in."""
ANY = 9
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
    words[TARGET] = ANY if words[CLOSED] >> place & 1 else place
    return UNKNOWN


@njit(inline="always")
def nth_place(places, number):
    """Return the number of one of the bits that are set."""
    return np.int64(count_ones(nth_bit(U(places), U(number)) - ONE))


@njit(inline="always")
def random_move(words, side, bits):
    """Return a move that wins a board if there is one, first of all the game; else any, with equal chances."""
    target = words[TARGET]
    if target != ANY:
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
def random_result(words, side, control):
    """Return 1, 0 or -1 for the side to move, after a playout to the end; the block is played on."""
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
def expand(node, words, side, control, tree):
    """Give a node its children, those that end the game solved; return whether there was room."""
    target, used = words[TARGET], np.int64(control[USED])
    if used + 81 > len(tree):
        return False
    first = used
    for board in range(9):
        if target != ANY and board != target:
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
def play_out(root, mover, exploration, control, path, tree):
    """Play out again and again, until the root is solved or the budget spent; the tree is changed in place.

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
                if not expand(node, words, side, control, tree):
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
            result = -random_result(words, side, control)
        for at in range(length - 1, -1, -1):
            node = path[at]
            tree[node].visits += 1
            tree[node].rewards += result
            if at > 0 and tree[node].solved != UNKNOWN and tree[path[at - 1]].solved == UNKNOWN:
                solve(path[at - 1], tree)
            result = -result
