"""Alpha-beta on line games of up to 64 cells, compiled: one search for flat boards and for space, with gravity or not.

Boards are words with bit n for cell n, as in `LineState`, and so are the lines. All else that the search knows of the
game lies in its block of memory. Values are as in `kit`.
"""

import random

import numpy as np
from numba import njit, types

from ttt_net.games import Move
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
    Kernel,
    depth_in,
    entry_after,
    entry_of,
    has_failed,
    is_spent,
    move_in,
    note_failure,
    tally,
    value_in,
)
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, count_ones, peek, poke
from ttt_net.strategies.heuristic import line_worth, own_and_other, promise
from ttt_net.strategies.strategy import WIN, Effort

# The block of memory: single words, the first five as in `kit`; what a line is worth by its marks; how good each
# cell has been, for either side; the winning play that was found; the lines; positions known to have none such; and the
# table, in buckets of two entries of three words.
FULL, FLOOR, FALL, LINE_COUNT, THREATS_LEFT, THREATS, LOG_BUCKETS = range(5, 12)
WORTH, MERIT, PLAY, LINES = 16, 32, 160, 232
MOST_LINES = 512
FAILED = LINES + MOST_LINES
LOG_FAILED = 12
TABLE = FAILED + (1 << LOG_FAILED)
ENTRY = 3

DEPTH_OF_THREATS = 12
"""The depth in threats of one side of the search at each node, if the depth is not limited: 25 plies."""
THREAT_NODES_AT_NODE = 50
"""Positions that this may take where a search ends; four times as many for each ply before that, up to four."""


@njit(inline="always")
def mixed(own, other):
    """Return a 64-bit hash of a position."""
    word = (own * U(0x9E3779B97F4A7C15)) ^ ((other + ONE) * U(0xC2B2AE3D27D4EB4F))
    word ^= word >> U(29)
    return word * U(0xBF58476D1CE4E5B9)


@njit(inline="always")
def completing(own, other, block):
    """Return the empty cells that complete a line for `own`."""
    cells = ZERO
    for n in range(types.int64(peek(block, LINE_COUNT))):
        missing = peek(block, LINES + n) & ~own
        cells |= missing if (missing & (missing - ONE)) == ZERO else ZERO
    return cells & ~other


@njit(inline="always")
def legal_cells(taken, block):
    """Return the cells that can be marked."""
    fall = types.int64(peek(block, FALL))
    empty = peek(block, FULL) & ~taken
    if fall == 0:
        return empty
    above = taken >> U(fall) if fall > 0 else taken << U(-fall)
    return empty & (above | peek(block, FLOOR))


@njit(inline="always")
def estimate(own, other, block):
    """Return the worth of the lines that are open to `own` less that of those open to `other`."""
    total = types.int64(0)
    for n in range(types.int64(peek(block, LINE_COUNT))):
        line = peek(block, LINES + n)
        mine, theirs = line & own, line & other
        if theirs == ZERO:
            total += types.int64(peek(block, WORTH + types.int64(count_ones(mine))))
        elif mine == ZERO:
            total -= types.int64(peek(block, WORTH + types.int64(count_ones(theirs))))
    return total


@njit(inline="always")
def is_dead(own, other, block):
    """Tell whether neither side can complete a line any more."""
    is_open = False
    for n in range(types.int64(peek(block, LINE_COUNT))):
        line = peek(block, LINES + n)
        is_open |= ((line & own) == ZERO) | ((line & other) == ZERO)
    return not is_open


@njit(inline="always")
def threatening(own, other, block):
    """Return the cells where a mark of `own` threatens to complete a line next."""
    cells = ZERO
    for n in range(types.int64(peek(block, LINE_COUNT))):
        line = peek(block, LINES + n)
        missing = line & ~own
        rest = missing & (missing - ONE)
        cells |= missing if (rest & (rest - ONE)) == ZERO and (line & other) == ZERO else ZERO
    return cells


@njit(types.int64(types.uint64, types.uint64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_threats(own, other, stones, threats, block):
    """Return how many marks are on the board when `own`, to move, has won by threats, or 0, or `STOPPED`.

    Each move but the last, up to `threats` of them, leaves one reply. The play is in the block, from `stones` on.
    """
    if is_spent(block):
        return STOPPED
    moves = legal_cells(own | other, block)
    winning = completing(own, other, block) & moves
    if winning != ZERO:
        poke(block, PLAY + stones, count_ones((winning & (ZERO - winning)) - ONE))
        return stones + 1
    left = peek(block, THREATS_LEFT)
    if threats == 0 or left == ZERO:
        return 0
    poke(block, THREATS_LEFT, left - ONE)
    forced = completing(other, own, block) & moves
    if forced != ZERO:
        moves = forced if (forced & (forced - ONE)) == ZERO else ZERO
    moves &= threatening(own, other, block)
    if moves == ZERO:
        return 0
    key = mixed(own, other)
    if has_failed(key, threats, FAILED, LOG_FAILED, block):
        return 0
    while moves != ZERO:
        bit = moves & (ZERO - moves)
        moves ^= bit
        mine = own | bit
        after = legal_cells(mine | other, block)
        replies = completing(mine, other, block) & after
        if replies == ZERO or (completing(other, mine, block) & after) != ZERO:
            continue
        reply = replies & (ZERO - replies)
        won = win_by_threats(mine, other | reply, stones + 2, threats - 1 if replies == reply else 0, block)
        if won != 0:
            if won != STOPPED:
                poke(block, PLAY + stones, count_ones(bit - ONE))
                poke(block, PLAY + stones + 1, count_ones(reply - ONE))
            return won
    if peek(block, THREATS_LEFT) != ZERO:
        note_failure(key, threats, FAILED, LOG_FAILED, block)
    return 0


@njit(inline="always")
def look_for_win(own, other, stones, depth, block):
    """Return what `win_by_threats` finds for `own`; it may cost more the farther the look ahead is from its end."""
    poke(block, THREATS_LEFT, U(THREAT_NODES_AT_NODE) << U(2 * min(max(depth, 0), 4)))
    return win_by_threats(own, other, stones, types.int64(peek(block, THREATS)), block)


@njit(inline="always")
def stopping(own, other, stones, won, block):
    """Return the cells where a mark of `own` may stop the win by threats of `other` that is in the block.

    After a mark elsewhere the same play still wins. To stop it takes one of its cells, or a line that `own`, who gets
    the replies, then threatens to complete on the way; with gravity, also a mark beneath the cell that completes one.
    """
    cells, marks = ZERO, own
    for n in range(stones, won):
        bit = ONE << peek(block, PLAY + n)
        cells |= bit
        if (n - stones) & 1:
            marks |= bit
    fall = types.int64(peek(block, FALL))
    cells |= threatening(marks, other, block)
    if fall != 0:
        completed = completing(marks, other, block)
        cells |= completed << U(fall) if fall > 0 else completed >> U(-fall)
    return cells


@njit(inline="always")
def most_promising(moves, attacks, defences, merits, block):
    """Return the move to try next: threats that also stop one, then threats, then stops; of these the best merit."""
    left = moves & attacks & defences
    if left == ZERO:
        left = moves & attacks
    if left == ZERO:
        left = moves & defences
    if left == ZERO:
        left = moves
    best, highest = NO_MOVE, ZERO
    while left != ZERO:
        low = left & (ZERO - left)
        left ^= low
        cell = types.int64(count_ones(low - ONE))
        merit = peek(block, merits + cell)
        if merit >= highest:
            best, highest = cell, merit
    return best


@njit(inline="always")
def bucket_of(own, other, block):
    """Return where the table keeps a position."""
    return TABLE + 2 * ENTRY * types.int64(mixed(own, other) >> (U(64) - peek(block, LOG_BUCKETS)))


@njit(inline="always")
def find(own, other, block):
    """Return where the entry of a position is, or 0."""
    at = bucket_of(own, other, block)
    if peek(block, at) == own and peek(block, at + 1) == other and peek(block, at + 2) != ZERO:
        return at
    at += ENTRY
    if peek(block, at) == own and peek(block, at + 1) == other and peek(block, at + 2) != ZERO:
        return at
    return 0


@njit(inline="always")
def remember(own, other, entry, block):
    """Store an entry; of the two in a bucket the deeper one stays, the other is overwritten."""
    at = find(own, other, block)
    if at == 0:
        at = bucket_of(own, other, block)
        if depth_in(peek(block, at + 2)) > depth_in(entry):
            at += ENTRY
    poke(block, at, own)
    poke(block, at + 1, other)
    poke(block, at + 2, entry)


@njit(inline="always")
def by_threats(own, other, stones, depth, moves, block):
    """Return the value if it needs no look ahead, else `UNKNOWN`; what moves not worth a look lead to; the other moves.

    A win by threats counts only where it is longer than the look ahead, which else finds it, or a shorter one.
    """
    won = look_for_win(own, other, stones, depth, block)
    if won == STOPPED:
        return STOPPED, -INFINITY, moves
    if won != 0 and won - stones > depth:
        tally(GUESSES, block)
        remember(own, other, entry_of(max(depth, 0), LOWER, WIN - won, peek(block, PLAY + stones)), block)
        return WIN - won, -INFINITY, moves
    # No estimate means anything while the other side threatens to win like this: search one ply more.
    won = look_for_win(other, own, stones, depth, block) if depth >= 0 and peek(block, THREATS) else 0
    if won == STOPPED:
        return STOPPED, -INFINITY, moves
    if won != 0 and won + 1 - stones > depth:
        tally(GUESSES, block)
        return UNKNOWN, won + 1 - WIN, moves & stopping(own, other, stones, won, block)
    if depth <= 0:
        tally(GUESSES, block)
        return estimate(own, other, block), -INFINITY, moves
    return UNKNOWN, -INFINITY, moves


@njit(
    types.int64(types.uint64, types.uint64, types.int64, types.int64, types.int64, types.int64, types.uint64),
    nogil=True,
    cache=True,
)
def search(own, other, stones, depth, alpha, beta, block):
    """Return the value for `own`, to move; outside (alpha, beta) a bound of it; or `STOPPED`.

    A reply that is forced costs no depth, so a chain of threats is seen to its end.
    """
    if is_spent(block):
        return STOPPED
    moves = legal_cells(own | other, block)
    if moves == ZERO:
        return 0
    if (completing(own, other, block) & moves) != ZERO:
        return WIN - (stones + 1)
    forced = completing(other, own, block) & moves
    if (forced & (forced - ONE)) != ZERO:
        return stones + 2 - WIN
    if is_dead(own, other, block):
        return 0
    hint, at = NO_MOVE, find(own, other, block)
    if at != 0:
        entry = peek(block, at + 2)
        value = value_in(entry, depth, alpha, beta, block)
        if value != UNKNOWN:
            return value
        hint = move_in(entry)
    guesses, best, best_cell, floor = peek(block, GUESSES), -INFINITY, NO_MOVE, alpha
    if forced != ZERO:
        moves = forced
    elif depth <= 0 or peek(block, THREATS):
        value, best, moves = by_threats(own, other, stones, depth, moves, block)
        if value != UNKNOWN or best >= beta:
            return value if value != UNKNOWN else best
    merits = MERIT + 64 * (stones & 1)
    attacks, defences = threatening(own, other, block), threatening(other, own, block)
    while moves != ZERO:
        cell = hint
        if hint == NO_MOVE or (moves >> U(hint)) & ONE == ZERO:
            cell = most_promising(moves, attacks, defences, merits, block)
        hint = NO_MOVE
        bit = ONE << U(cell)
        moves ^= bit
        value = -search(other, own | bit, stones + 1, depth - (forced == ZERO), -beta, -alpha, block)
        if value == -STOPPED:
            return STOPPED
        if value > best:
            best, best_cell = value, cell
            alpha = max(alpha, value)
            if alpha >= beta:
                tally(CUTS, block)
                poke(block, merits + cell, peek(block, merits + cell) + U(max(depth, 1) * max(depth, 1)))
                break
    remember(own, other, entry_after(stones, depth, best, best_cell, floor, beta, guesses, block), block)
    return best


@njit(types.int64(types.uint64, types.uint64, types.uint64), nogil=True, cache=True)
def best_cell(own, other, block):
    """Return a cell that wins at once, else a forced one, else the table's best, else `NO_MOVE`."""
    moves = legal_cells(own | other, block)
    for cells in (completing(own, other, block) & moves, completing(other, own, block) & moves):
        if cells != ZERO:
            return types.int64(count_ones((cells & (ZERO - cells)) - ONE))
    at = find(own, other, block)
    return move_in(peek(block, at + 2)) if at != 0 else NO_MOVE


MOST_THREATS = 24
"""The greatest number of threats of a win that is sought before anything else."""

NODES_OF_THREATS = 200_000
"""The node limit of that search, about a twentieth of a second."""

TABLE_BITS = 16
"""A table of 131,072 positions."""


class LineSearch(CompiledSearch):
    """A search of a line game of up to 64 cells."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        block = block_of(game, effort, TABLE_BITS, TABLE + (2 * ENTRY << TABLE_BITS))
        block[THREATS] = DEPTH_OF_THREATS if effort.max_depth is None else 0
        worth = [*line_worth(game), 0]
        block[WORTH : WORTH + len(worth)] = worth
        for cell, lines in enumerate(promise(game)):
            for side in (0, 64):
                block[MERIT + side + cell] = 2 * lines + rng.randrange(2)
        functions = Kernel(win_by_threats, search, best_cell, PLAY)
        super().__init__(game, effort, functions, block, words)

    def ordered(self, state: LineState) -> list[Move]:
        """Return the legal moves, those with the most cutoffs first."""
        merits = MERIT + 64 * (state.ply & 1)
        return sorted(self.game.actions(state), key=lambda move: -int(self.block[merits + move]))

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by threats, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[THREATS_LEFT] = NODES_OF_THREATS
        return self.shortest_win(state, MOST_THREATS)


def block_of(game: LineGame, effort: Effort, log_buckets: int, words: int) -> "np.typing.NDArray[np.uint64]":
    """Return the memory of a kernel of line games, with what all of them have at its beginning."""
    block = np.zeros(words, dtype=np.uint64)
    block[LOG_BUCKETS] = log_buckets
    block[BUDGET] = effort.max_nodes
    block[FULL] = game.full
    block[FLOOR] = sum(1 << move for move in game.actions(game.initial))
    block[FALL] = game.fall % (1 << 64) if game.gravity else 0
    block[LINE_COUNT] = len(game.lines)
    block[LINES : LINES + len(game.lines)] = game.lines
    return block


def words(state: LineState) -> tuple[np.uint64, np.uint64]:
    """Return the boards of the side to move and of the other side."""
    own, other = own_and_other(state)
    return np.uint64(own), np.uint64(other)
