"""Wins of five in a row by threats alone, fours and open threes, compiled; for lessons, and in play before a search.

The side that attacks makes a four or an open three with each move; after a three the other side has all that helps: to
stop the open four, or to make fours of its own. A win that is claimed is one, whatever is replied: only the attack is
narrowed, never the defence. (Allis, van den Herik and Huntjens, "Go-Moku and threat-space search", 1993.) Runs of fours
alone are looked for at each position, as in `fives`, whose block of memory this uses.
"""

from numba import njit, types

from ttt_net.strategies.compiled.alphabeta import (
    NODES,
    STOPPED,
    has_failed,
    is_spent,
    note_failure,
    take_best,
)
from ttt_net.strategies.compiled.fives import (
    FAILED,
    LOG_FAILED,
    LONGEST_FOURS,
    MOVES,
    PLAY,
    STOPS,
    five_of,
    list_cells,
    win_by_some_fours,
)
from ttt_net.strategies.compiled.memory import peek, poke, trailing_zeros
from ttt_net.strategies.compiled.shapes import (
    FIVES,
    FOUR_CELLS,
    FOURS,
    FOURS_AT_NODE,
    FOURS_LEFT,
    HASH,
    LOOK_UNTIL,
    MAKES_FOUR,
    MAKES_THREE,
    MOST_CELLS,
    NEAR_CELLS,
    ONE,
    RANK,
    WINS,
    WORDS,
    ZERO,
    U,
    count_of,
    list_stops,
    made_by,
    makes_two_threes,
    mark,
)

SALT = U(1 << 9)
"""The flag of a position known to have no such win at all, not only none by fours."""
KEPT = MOST_CELLS // 2
"""Where the longest defence so far is kept in the row of moves of a position, behind the moves themselves."""


@njit(inline="always")
def is_tired(block):
    """Tell whether the look has taken as many positions as it may."""
    return peek(block, NODES) >= peek(block, LOOK_UNTIL)


@njit(inline="always")
def list_threats(side, moves, at, block):
    """Write the cells in which `side` makes a four or an open three, as ranks above numbers; return how many.

    The last of the `moves` before a run of fours has to make three in a row in a second direction, closed or not.
    """
    count = 0
    for n in range(WORDS):
        bits = peek(block, FOUR_CELLS + side * WORDS + n) | peek(block, NEAR_CELLS + side * WORDS + n)
        while bits:
            cell = 64 * n + types.int64(trailing_zeros(bits))
            bits &= bits - ONE
            made = made_by(cell, side, block)
            if made & (MAKES_FOUR | MAKES_THREE) and (moves > 1 or makes_two_threes(cell, side, block)):
                poke(block, at + count, ((made >> RANK) + ONE) << U(9) | U(cell))
                count += 1
    return min(count, KEPT)


@njit(inline="always")
def copy_words(source, target, count, block):
    """Copy words within the block."""
    for n in range(count):
        poke(block, target + n, peek(block, source + n))


@njit(inline="always")
def list_replies(attacker, at, block):
    """Write the moves that may stop what the attacker threatens, each with its rank; return how many.

    None if it threatens nothing, or the other side completes a five itself, or there are too many to be seen through.
    """
    other = 1 - attacker
    if count_of(other, FIVES, block):
        return 0
    if count_of(attacker, FIVES, block):
        poke(block, at, U(five_of(attacker, block)) | ONE << U(9))
        return 1
    if not count_of(attacker, WINS, block):
        return 0
    list_stops(other, STOPS, block)
    count = list_cells(other, STOPS, at, block)
    return count if count <= KEPT else 0


@njit(inline="always")
def win_without_threes(attacker, stones, threats, block):
    """Return how many marks there are after a win by a five or by fours alone, or 0, or `STOPPED`.

    `threats` are the fives that the other side could complete.
    """
    if count_of(attacker, FIVES, block):
        poke(block, PLAY + stones, U(five_of(attacker, block)))
        return stones + 1
    if threats > ONE or not count_of(attacker, FOURS, block):
        return 0
    poke(block, FOURS_LEFT, peek(block, FOURS_AT_NODE))
    fours = 1 if count_of(attacker, WINS, block) and threats == ZERO else LONGEST_FOURS
    return win_by_some_fours(attacker, stones, fours, False, block)


@njit(types.int64(types.int64, types.int64, types.int64, types.boolean, types.uint64), nogil=True, cache=True)
def look(attacker, stones, moves, is_reply, block):
    """Return how many marks are on the board when the attacker has won at the latest, or 0, or `STOPPED`.

    They make at most `moves` threats, and then fours; `is_reply` tells that the other side is to move. The play against
    the longest defence is in the block, from the number `stones` on. It is 0, too, when `is_tired`.
    """
    if is_spent(block):
        return STOPPED
    if is_tired(block):
        return 0
    other, at = 1 - attacker, MOVES + stones * MOST_CELLS
    if is_reply:
        count, longest = list_replies(attacker, at, block), 0
        while count > 0:
            reply = take_best(at, count, block)
            count -= 1
            mark(reply, other, 1, block)
            won = look(attacker, stones + 1, moves, not is_reply, block)
            mark(reply, other, -1, block)
            if won in (0, STOPPED):
                return won
            if won > longest:
                longest = won
                poke(block, PLAY + stones, U(reply))
                copy_words(PLAY + stones, at + KEPT, min(won - stones, MOST_CELLS - KEPT), block)
        copy_words(at + KEPT, PLAY + stones, min(longest - stones, MOST_CELLS - KEPT), block)
        return longest
    threats = count_of(other, FIVES, block)
    won = win_without_threes(attacker, stones, threats, block)
    if won != 0:
        return won
    key = peek(block, HASH) ^ SALT
    if moves == 0 or threats > ONE or has_failed(key, moves, FAILED, LOG_FAILED, block):
        return 0
    count, rest = 1, moves
    if threats:  # it has to be taken, and does not count: a three may still stand
        poke(block, at, U(five_of(other, block)) | ONE << U(9))
    else:
        count, rest = list_threats(attacker, moves, at, block), moves - 1
    while count > 0:
        move = take_best(at, count, block)
        count -= 1
        mark(move, attacker, 1, block)
        won = look(attacker, stones + 1, rest, not is_reply, block)
        mark(move, attacker, -1, block)
        if won != 0:
            if won != STOPPED:
                poke(block, PLAY + stones, U(move))
            return won
    if not is_tired(block):
        note_failure(key, moves, FAILED, LOG_FAILED, block)
    return 0


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_threats(side, stones, moves, block):
    """Return how many marks are on the board when `side`, to move, has won by at most so many threats and then fours.

    0 if it does not, or `STOPPED`.
    """
    return look(side, stones, moves, False, block)


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def loss_to_threats(side, stones, moves, block):
    """Return how many marks are on the board when `side`, to move, has lost to such a win; 0 if not, or `STOPPED`.

    The other side has made the first of its threats already.
    """
    return look(1 - side, stones, moves, True, block)
