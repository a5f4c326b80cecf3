"""Search boards of more than 64 cells, compiled: wins by continuous fours, and alpha-beta that ends in them.

A line that holds marks of one side alone is open to that side; one without marks is open to both. For each cell and
side there is a pattern, the sum of what the open lines through the cell contribute to it: in its lowest 8 bits the
lines that the cell would complete, in the next 8 those that would then lack one mark more, above these a rank, the
higher the more marks these lines hold. So a mark changes the patterns of the cells in its own lines and no others.

A four is a line that lacks one mark; the side that makes one leaves the other side a single reply. So a search sees
play in which one side makes nothing but fours to its end at little cost. (Allis, van den Herik and Huntjens, "Go-Moku
and threat-space search", 1993.) It orders all other moves by the patterns of their cells and visits only the best. If
those all lose, it visits all others too: it never claims a win or loss because it left a move out.

Values are as in `kit`.
"""

import random
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit, types

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled.kit import (
    BUDGET,
    CUTS,
    GUESSES,
    INFINITY,
    LOWER,
    NO_MOVE,
    STOPPED,
    UNKNOWN,
    CompiledSearch,
    HeldPosition,
    Kernel,
    entry_after,
    entry_of,
    find,
    has_failed,
    is_spent,
    move_in,
    note_failure,
    remember,
    take_best,
    tally,
    value_in,
)
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, peek, poke
from ttt_net.strategies.heuristic import line_worth
from ttt_net.strategies.strategy import DECIDED, WIN, Effort

MOST_CELLS = 19 * 19
MOST_IN_LINE = 19
COMPLETES, THREATENS, RANK = U(0xFF), U(0xFF00), U(16)

# The block of memory: single words, the first five as in `kit`; two words for the sides each; what a line
# contributes and is worth by its marks; then the cells. Where the lines lie, whose number depends on the game, is in
# words of its own: the lines through each cell, the cells of each line, the marks of each side in each line.
SIZE, IN_LINE, HASH, OPEN, THROUGH, CELLS_OF, MARKS, FOURS_LEFT, FOURS = range(5, 14)
SCORE, LACK_ONE = 14, 16
CONTRIBUTION = 18
WORTH = CONTRIBUTION + MOST_IN_LINE + 1
OWNER = WORTH + MOST_IN_LINE + 1
PATTERN = OWNER + MOST_CELLS
RANDOM = PATTERN + 2 * MOST_CELLS
STARTS = RANDOM + 2 * MOST_CELLS
END = STARTS + MOST_CELLS + 1


@njit(types.void(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def mark(cell, side, step, block):
    """Place a mark of a side in an empty cell if `step` is 1, or remove it if `step` is -1."""
    poke(block, OWNER + cell, U(side + 1) if step > 0 else ZERO)
    poke(block, HASH, peek(block, HASH) ^ peek(block, RANDOM + side * MOST_CELLS + cell))
    length, sign = types.int64(peek(block, IN_LINE)), ONE if step > 0 else ZERO - ONE
    through, cells_of = types.int64(peek(block, THROUGH)), types.int64(peek(block, CELLS_OF))
    marks = types.int64(peek(block, MARKS))
    for n in range(types.int64(peek(block, STARTS + cell)), types.int64(peek(block, STARTS + cell + 1))):
        line = types.int64(peek(block, through + n))
        own = types.int64(peek(block, marks + 2 * line + side))
        other = types.int64(peek(block, marks + 2 * line + 1 - side))
        poke(block, marks + 2 * line + side, U(own + step))
        own = min(own, own + step)
        for_own, for_other = ZERO, ZERO
        if other == 0:
            for_own = peek(block, CONTRIBUTION + own + 1) - peek(block, CONTRIBUTION + own)
            gain = peek(block, WORTH + own + 1) - peek(block, WORTH + own)
            poke(block, SCORE + side, peek(block, SCORE + side) + sign * gain)
            change = U(own + 1 == length - 1) - U(own == length - 1)
            poke(block, LACK_ONE + side, peek(block, LACK_ONE + side) + sign * change)
            if own == 0:
                for_other = ZERO - peek(block, CONTRIBUTION)
        elif own == 0:
            for_other = ZERO - peek(block, CONTRIBUTION + other)
            poke(block, SCORE + 1 - side, peek(block, SCORE + 1 - side) - sign * peek(block, WORTH + other))
            lacked = U(other == length - 1)
            poke(block, LACK_ONE + 1 - side, peek(block, LACK_ONE + 1 - side) - sign * lacked)
            poke(block, OPEN, peek(block, OPEN) - sign)
        else:
            continue
        for_own *= sign
        for_other *= sign
        own_patterns, other_patterns = PATTERN + side * MOST_CELLS, PATTERN + (1 - side) * MOST_CELLS
        for m in range(cells_of + line * length, cells_of + (line + 1) * length):
            at = types.int64(peek(block, m))
            poke(block, own_patterns + at, peek(block, own_patterns + at) + for_own)
            poke(block, other_patterns + at, peek(block, other_patterns + at) + for_other)


@njit(inline="always")
def pattern(cell, side, block):
    """Return the pattern of a cell for a side if the cell is empty, else 0."""
    return ZERO if peek(block, OWNER + cell) else peek(block, PATTERN + side * MOST_CELLS + cell)


@njit(inline="always")
def completing(side, block):
    """Return how many cells complete a line for a side, counted up to two, and one of them, or -1."""
    count, found = 0, -1
    for cell in range(types.int64(peek(block, SIZE))):
        if pattern(cell, side, block) & COMPLETES:
            found = cell
            count += 1
            if count == 2:
                break
    return count, found


# The block goes on: the winning play that was found; positions known to have none; moves to choose from, for each
# depth; and the table, an entry of two words for each position.
PLAY = END
LOG_FAILED = 14
FAILED = PLAY + MOST_CELLS + 1
MOST_DEPTH = 64
MOVES = FAILED + (1 << LOG_FAILED)
LOG_TABLE = 16
TABLE = MOVES + MOST_DEPTH * MOST_CELLS
LINES = TABLE + (2 << LOG_TABLE)

DEPTH_OF_FOURS = 10
"""The depth in fours of one side of the search at each node, if the depth is not limited: 21 plies."""
FOURS_NODES_AT_NODE = 200
"""Positions that this may take at a node."""
LOOKED_AT = 14
"""Moves that are searched in a position, unless all of them lose."""


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_fours(side, stones, fours, block):
    """Return how many marks are on the board when `side`, to move, has won by fours, or 0, or `STOPPED`.

    It may make up to `fours` fours, and then completes a line. The play is in the block, from the number `stones` on.
    """
    if is_spent(block):
        return STOPPED
    other = 1 - side
    if peek(block, LACK_ONE + side):
        poke(block, PLAY + stones, U(completing(side, block)[1]))
        return stones + 1
    left = peek(block, FOURS_LEFT)
    if fours == 0 or left == ZERO:
        return 0
    poke(block, FOURS_LEFT, left - ONE)
    first, last = 0, types.int64(peek(block, SIZE)) - 1
    if peek(block, LACK_ONE + other):
        count, first = completing(other, block)
        last = first
        if count > 1:
            return 0
    key = peek(block, HASH)
    if has_failed(key, fours, FAILED, LOG_FAILED, block):
        return 0
    for cell in range(first, last + 1):
        if not pattern(cell, side, block) & THREATENS:
            continue
        mark(cell, side, 1, block)
        count, reply = completing(side, block)
        mark(reply, other, 1, block)
        won = win_by_fours(side, stones + 2, 0 if count > 1 else fours - 1, block)
        mark(reply, other, -1, block)
        mark(cell, side, -1, block)
        if won != 0:
            if won != STOPPED:
                poke(block, PLAY + stones, U(cell))
                poke(block, PLAY + stones + 1, U(reply))
            return won
    if peek(block, FOURS_LEFT):
        note_failure(key, fours, FAILED, LOG_FAILED, block)
    return 0


@njit(inline="always")
def value_of_fours(side, stones, depth, block):
    """Return the value of a win by fours for `side`, to move, and store it; or `UNKNOWN`, or `STOPPED`."""
    poke(block, FOURS_LEFT, U(FOURS_NODES_AT_NODE))
    won = win_by_fours(side, stones, types.int64(peek(block, FOURS)), block)
    if won == STOPPED:
        return STOPPED
    if won == 0:
        return UNKNOWN
    if won - stones > depth:
        tally(GUESSES, block)
    entry = entry_of(max(depth, 0), LOWER, WIN - won, peek(block, PLAY + stones))
    remember(peek(block, HASH), entry, TABLE, LOG_TABLE, block)
    return WIN - won


@njit(inline="always")
def list_moves(side, at, block):
    """Write the empty cells that lie in an open line, each as its rank above its number; return how many."""
    count = 0
    for cell in range(types.int64(peek(block, SIZE))):
        own, other = pattern(cell, side, block), pattern(cell, 1 - side, block)
        rank = U(3) * (own >> RANK) + U(2) * (other >> RANK)
        if rank:
            poke(block, at + count, (rank << U(9)) | U(cell))
            count += 1
    return count


@njit(
    types.int64(types.int64, types.int64, types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True
)
def search(side, stones, depth, alpha, beta, block):
    """Return the value for `side`, to move; outside (alpha, beta) a bound of it; or `STOPPED`."""
    if is_spent(block):
        return STOPPED
    other = 1 - side
    if peek(block, LACK_ONE + side):
        return WIN - (stones + 1)
    if peek(block, OPEN) == ZERO:
        return 0
    forced = NO_MOVE
    if peek(block, LACK_ONE + other):
        count, forced = completing(other, block)
        if count > 1:
            return stones + 2 - WIN
    hint, at = NO_MOVE, find(peek(block, HASH), TABLE, LOG_TABLE, block)
    if at != 0:
        entry = peek(block, at + 1)
        value = value_in(entry, depth, alpha, beta, block)
        if value != UNKNOWN:
            return value
        hint = move_in(entry)
    guesses, best, best_move, floor = peek(block, GUESSES), -INFINITY, NO_MOVE, alpha
    if forced == NO_MOVE:
        value = value_of_fours(side, stones, depth, block)
        if value != UNKNOWN:
            return value
        if depth <= 0:
            tally(GUESSES, block)
            return types.int64(peek(block, SCORE + side) - peek(block, SCORE + other))
    moves, count, looked_at = MOVES + min(depth, MOST_DEPTH - 1) * MOST_CELLS, 1, 0
    if forced == NO_MOVE:
        count = list_moves(side, moves, block)
    while count > 0:
        if forced != NO_MOVE:
            move = forced
        elif looked_at == 0 and hint != NO_MOVE:
            move = hint
        else:
            move = take_best(moves, count, block)
            count -= 1
            if move == hint:
                continue
        if forced != NO_MOVE:
            count = 0
        looked_at += 1
        mark(move, side, 1, block)
        value = -search(other, stones + 1, depth - (forced == NO_MOVE), -beta, -alpha, block)
        mark(move, side, -1, block)
        if value == -STOPPED:
            return STOPPED
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, value)
            if alpha >= beta:
                tally(CUTS, block)
                break
        if looked_at >= LOOKED_AT and best > -DECIDED:
            tally(GUESSES, block)
            break
    entry = entry_after(stones, depth, best, best_move, floor, beta, guesses, block)
    remember(peek(block, HASH), entry, TABLE, LOG_TABLE, block)
    return best


@njit(types.int64(types.int64, types.int64, types.uint64), nogil=True, cache=True)
def listed(side, at, block):
    """Do what `list_moves` does, for callers that are not compiled."""
    return list_moves(side, at, block)


@njit(types.int64(types.int64, types.uint64), nogil=True, cache=True)
def best_move(side, block):
    """Return a cell that completes a line, else a forced one, else the table's best, else `NO_MOVE`."""
    for each in (side, 1 - side):
        if peek(block, LACK_ONE + each):
            return completing(each, block)[1]
    at = find(peek(block, HASH), TABLE, LOG_TABLE, block)
    return move_in(peek(block, at + 1)) if at != 0 else NO_MOVE


AT_ROOT = 40
"""Moves of the root that are searched, unless all of them lose."""

MOST_FOURS = 12
"""The greatest number of fours of a win that is sought before anything else."""

NODES_OF_FOURS = 500_000
"""The node limit of that search, about a third of a second; nearly all searches need a hundredth of it."""


class FoursSearch(CompiledSearch):
    """A search of a line game on a large board."""

    exact_plies: int | None = 5
    """A win in three makes two lines lack one mark, and is never overlooked; so a win in five is the soonest."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        del rng  # its order of moves follows from the position
        block = empty_board(game).copy()
        block[BUDGET] = effort.max_nodes
        block[FOURS] = DEPTH_OF_FOURS if effort.max_depth is None else 0
        self.hold = HeldPosition(game, mark, block).hold
        functions = Kernel(win_by_fours, search, best_move, PLAY)
        super().__init__(game, effort, functions, block, self.hold)

    def ordered(self, state: LineState) -> list[Move]:
        """Return the moves worth searching, the most promising one first."""
        self.hold(state)
        moves = MOVES
        count = int(listed(state.ply & 1, moves, self._address))
        ranked = sorted((int(word) for word in self.block[moves : moves + count]), reverse=True)
        return [word & NO_MOVE for word in ranked[:AT_ROOT]] or list(self.game.actions(state))

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[FOURS_LEFT] = NODES_OF_FOURS
        return self.shortest_win(state, MOST_FOURS)


@lru_cache(maxsize=4)
def empty_board(game: LineGame) -> Any:
    """Return the block of memory of a game before its first move."""
    cells = [list_cells(line) for line in game.lines]
    number = {line: n for n, line in enumerate(game.lines)}
    through = [number[line] for lines in game.lines_through for line in lines]
    starts = np.cumsum([0, *map(len, game.lines_through)])
    cells_of, marks = LINES + len(through), LINES + len(through) + len(cells) * game.k
    block = np.zeros(marks + 2 * len(cells), dtype=np.uint64)
    block[SIZE], block[IN_LINE], block[OPEN] = game.size, game.k, len(cells)
    block[THROUGH], block[CELLS_OF], block[MARKS] = LINES, cells_of, marks
    block[HASH] = 1 << 63
    block[LINES:cells_of] = through
    block[cells_of:marks] = [cell for line in cells for cell in line]
    block[STARTS : STARTS + game.size + 1] = starts
    contributions = [4**n << int(RANK) for n in range(game.k)]
    contributions[-1] |= 1
    if game.k > 1:
        contributions[-2] |= 1 << 8
    block[CONTRIBUTION : CONTRIBUTION + game.k] = contributions
    worth = line_worth(game)
    block[WORTH : WORTH + len(worth)] = worth
    bits = np.random.default_rng(1).integers(1, 1 << 63, 2 * MOST_CELLS, dtype=np.uint64)
    block[RANDOM : RANDOM + len(bits)] = bits
    for side in (0, MOST_CELLS):
        for cell, lines in enumerate(game.lines_through):
            block[PATTERN + side + cell] = len(lines) * contributions[0]
    return block
