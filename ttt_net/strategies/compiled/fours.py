"""Search on boards of more than 64 cells, compiled: wins by continuous fours, and alpha-beta that ends in them.

A four is a line that lacks one mark; the side that makes one leaves the other side a single reply. So play in which one
side makes nothing but fours is seen to its end at little cost. (Allis, van den Herik and Huntjens, "Go-Moku and
threat-space search", 1993.) All other moves are ordered by the patterns of their cells, and only the best of them
are looked at. But where those all lose, all others are looked at too: no win or loss is claimed for want of a look.

Values are as in `alphabeta`.
"""

from numba import njit, types

from ttt_net.strategies.compiled.alphabeta import (
    CUTS,
    GUESSES,
    INFINITY,
    LOWER,
    NO_MOVE,
    STOPPED,
    UNKNOWN,
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
from ttt_net.strategies.compiled.memory import peek, poke
from ttt_net.strategies.compiled.patterns import (
    END,
    FOURS,
    FOURS_LEFT,
    HASH,
    LACK_ONE,
    MOST_CELLS,
    ONE,
    OPEN,
    RANK,
    SCORE,
    SIZE,
    THREATENS,
    ZERO,
    U,
    completing,
    mark,
    pattern,
)
from ttt_net.strategies.strategy import DECIDED, WIN

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
"""Fours of one side that are looked ahead at each node, if the depth is not limited: 21 plies."""
NODES_OF_FOURS = 200
"""Positions that this may take at a node."""
LOOKED_AT = 14
"""Moves that are looked at in a position, if not all of them lose."""


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_fours(side, stones, fours, block):
    """Return how many marks are on the board when `side`, to move, has won by fours, or 0, or `STOPPED`.

    It may make as many as `fours` and then completes a line. The play is in the block, from the number `stones` on.
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
    """Return the value of a win by fours for `side`, who is to move, and keep it; or `UNKNOWN`, or `STOPPED`."""
    poke(block, FOURS_LEFT, U(NODES_OF_FOURS))
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
    """Return the value for `side`, who is to move; outside (alpha, beta) a bound of it; or `STOPPED`."""
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
    """Return a cell that completes a line, else one that has to be taken, else the table's best, else `NO_MOVE`."""
    for each in (side, 1 - side):
        if peek(block, LACK_ONE + each):
            return completing(each, block)[1]
    at = find(peek(block, HASH), TABLE, LOG_TABLE, block)
    return move_in(peek(block, at + 1)) if at != 0 else NO_MOVE
