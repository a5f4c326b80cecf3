"""Search for five in a row on large boards, compiled: wins by fours, and alpha-beta over the most urgent cells.

A four leaves the other side one reply, so at every position the search follows play in which one side makes only fours
to its end, except fours that lead to nothing more. If the other side could make an open four, the search tries only
cells that prevent it, and fours; nothing else helps. Otherwise it tries cells near marks, the most urgent first: the
first to the full depth with the whole window, later ones with a null window, quiet ones less deep (Reinefeld's
NegaScout; late-move reductions). It looks less closely at a position that is good enough even after a pass (Donninger,
"Null move and deep search", 1993), and at one in which a search four plies less deep finds nothing nearly good enough
(Buro, "ProbCut: an effective selective extension of the alpha-beta algorithm", 1995). Every win or loss that it claims
is real: if all near cells lose and the others have not been tried, the value is `ALMOST_LOST`, an estimate.

Before a search in play, and for lessons, it looks for wins by threats alone. The attacker makes a four or an open three
with each move. After a three, the defender has every move that helps: those that stop the open four, and fours of their
own. A win that it claims holds against every reply: only the attack is narrowed, never the defence. (Allis, van
den Herik and Huntjens, "Go-Moku and threat-space search", 1993.)

Values are as in `kit`.
"""

import random
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit, types

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import shapes
from ttt_net.strategies.compiled.kit import (
    BUDGET,
    COMPLETE,
    CUTS,
    GUESSES,
    HITS,
    INFINITY,
    LOWER,
    NO_MOVE,
    NODES,
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
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, peek, poke, trailing_zeros
from ttt_net.strategies.compiled.shapes import (
    END,
    FIVES,
    FORKS,
    FOUR_CELLS,
    FOURS,
    FOURS_AT_NODE,
    FOURS_LEFT,
    HASH,
    LOOK_UNTIL,
    MAKES_FIVE,
    MAKES_FORK,
    MAKES_FOUR,
    MAKES_THREE,
    MAKES_WIN,
    MOST_CELLS,
    NEAR_CELLS,
    RANK,
    SIDE_TO_MOVE,
    SIZE,
    WINS,
    WORDS,
    count_of,
    estimate_of,
    list_stops,
    made_by,
    makes_two_threes,
    put,
    take_back,
)
from ttt_net.strategies.strategy import ALMOST_DECIDED, DECIDED, UNLIMITED, WIN, Effort, is_decided

# The block goes on: the winning play that was found; positions known to have none; how often each side's moves have
# cut; the last move that cut, by the marks on the board, and by the side and the move that it answers, as one more than
# its cell; the moves that led to a position; two sets of cells, where one makes fours and what stops an open four;
# moves to choose from, by the marks on the board; and the table, an entry of two words for each position.
PLAY = END
LOG_FAILED = 14
FAILED = PLAY + MOST_CELLS + 1
HISTORY = FAILED + (1 << LOG_FAILED)
KILLERS = HISTORY + 2 * MOST_CELLS
ANSWERS = KILLERS + MOST_CELLS + 1
PLAYED = ANSWERS + 2 * MOST_CELLS
STOPS = PLAYED + MOST_CELLS + 1
MOVES = STOPS + 2 * WORDS
LOG_TABLE = 18
TABLE = MOVES + (MOST_CELLS + 1) * MOST_CELLS
BLOCK_WORDS = TABLE + (2 << LOG_TABLE)

ALMOST_LOST = 50_000
"""The value of a won position, less the marks on it, if only cells near marks count."""
LONGEST_FOURS = 20
"""The depth in fours of one side of the search at a position; `FOURS_AT_NODE` limits its positions."""
BEYOND = 4
"""Plies beyond the depth in which open threes are answered."""
FEWEST = 4
"""Moves that are searched in a position unless all lose: this many, plus the depth and half its square."""
PASS_FROM, PASS_SAVES = 4, 4
"""The least depth of a null move, and by how much its search is less deep."""
GOOD_DEPTH, GOOD_MARGIN = 6, 8
BAD_DEPTH, BAD_MARGIN = 3, 19
"""The greatest depth at which an estimate outside the window is believed, and its least distance for each ply."""
HOPELESS_FROM, HOPELESS_SAVES, HOPELESS_MARGIN = 5, 4, 12
"""The least depth at which a less deep search may tell that no move is good enough, what it saves, and by how much."""
REDUCED_AFTER, REDUCED_FROM = 3, 3
"""After this many moves, and from this depth on, quiet moves are searched less deep."""
LITTLE = 100
"""The rank of a cell for the other side below which it is not worth a four to take it: it stops no open three."""
MOST_PRAISE = 1500
"""The largest rank by history, in sixteenths of one by shape."""
PREFERENCE = 400
"""By how much the rank rises of the last move that cut with as many marks on the board, and in answer to this move."""


@njit(inline="always")
def five_of(side, block):
    """Return a cell that completes a five for a side, or -1."""
    for n in range(WORDS):
        bits = peek(block, FOUR_CELLS + side * WORDS + n)
        while bits:
            cell = 64 * n + types.int64(trailing_zeros(bits))
            if made_by(cell, side, block) & MAKES_FIVE:
                return cell
            bits &= bits - ONE
    return -1


@njit(types.int64(types.int64, types.int64, types.int64, types.boolean, types.uint64), nogil=True, cache=True)
def win_by_some_fours(side, stones, fours, is_full, block):
    """Return how many marks are on the board when `side`, to move, has won by fours, or 0, or `STOPPED`.

    It may make up to `fours` fours, and then completes a five. The play is in the block, from the number `stones` on.
    Unless `is_full`, fours that do not also make a three are left out, which leaves a tenth of the positions.
    """
    if is_spent(block):
        return STOPPED
    other = 1 - side
    if count_of(side, FIVES, block):
        poke(block, PLAY + stones, U(five_of(side, block)))
        return stones + 1
    left, threats = peek(block, FOURS_LEFT), count_of(other, FIVES, block)
    if fours == 0 or left == ZERO or count_of(side, FOURS, block) == ZERO or threats > ONE:
        return 0
    poke(block, FOURS_LEFT, left - ONE)
    key = peek(block, HASH) ^ (U(is_full) << U(8))
    if has_failed(key, fours, FAILED, LOG_FAILED, block):
        return 0
    forced = five_of(other, block) if threats else -1
    has_urgent = count_of(side, WINS, block) or count_of(side, FORKS, block)
    for is_rest in range(0 if has_urgent else 1, 2):
        for n in range(WORDS):
            bits = peek(block, FOUR_CELLS + side * WORDS + n)
            while bits:
                cell = 64 * n + types.int64(trailing_zeros(bits))
                bits &= bits - ONE
                is_urgent = made_by(cell, side, block) & (MAKES_WIN | MAKES_FORK) != ZERO
                if is_urgent == is_rest or (forced >= 0 and cell != forced):
                    continue
                if not (is_full or is_urgent or forced >= 0 or makes_two_threes(cell, side, block)):
                    continue
                put(cell, side, stones, block)
                reply, rest = five_of(side, block), 0 if count_of(side, FIVES, block) > ONE else fours - 1
                put(reply, other, stones + 1, block)
                won = win_by_some_fours(side, stones + 2, rest, is_full, block)
                take_back(reply, other, stones + 1, block)
                take_back(cell, side, stones, block)
                if won != 0:
                    if won != STOPPED:
                        poke(block, PLAY + stones, U(cell))
                        poke(block, PLAY + stones + 1, U(reply))
                    return won
    if peek(block, FOURS_LEFT):
        note_failure(key, fours, FAILED, LOG_FAILED, block)
    return 0


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_fours(side, stones, fours, block):
    """Return how many marks are on the board when `side`, to move, has won by any fours, or 0, or `STOPPED`."""
    return win_by_some_fours(side, stones, fours, True, block)


@njit(inline="always")
def answered(side, stones, block):
    """Return the word for the last move of `side` to cut in answer to the move before."""
    return ANSWERS + side * MOST_CELLS + types.int64(peek(block, PLAYED + stones))


@njit(types.int64(types.int64, types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def list_cells(side, stones, sets, at, block):
    """Write the cells in either side's set, each as its rank for `side` to move above its number; return how many."""
    count = 0
    killer, answer = peek(block, KILLERS + stones), peek(block, answered(side, stones, block))
    for n in range(WORDS):
        bits = peek(block, sets + n) | peek(block, sets + WORDS + n)
        while bits:
            cell = 64 * n + types.int64(trailing_zeros(bits))
            bits &= bits - ONE
            rank = U(4) * (made_by(cell, side, block) >> RANK) + U(3) * (made_by(cell, 1 - side, block) >> RANK)
            rank = U(16) * rank + peek(block, HISTORY + side * MOST_CELLS + cell)
            rank += U(PREFERENCE) * (U(killer == U(cell + 1)) + U(answer == U(cell + 1)))
            poke(block, at + count, (rank << U(9)) | U(cell))
            count += 1
    return count


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def list_moves(side, stones, at, block):
    """Write the moves worth searching where nobody can complete a five, nor `side` an open four; return how many."""
    if count_of(1 - side, WINS, block) == ZERO:
        return list_cells(side, stones, NEAR_CELLS, at, block)
    list_stops(side, STOPS, block)
    return list_cells(side, stones, STOPS, at, block)


@njit(inline="always")
def praise(side, stones, move, depth, block):
    """Raise the rank of a move that caused a cut."""
    poke(block, KILLERS + stones, U(move + 1))
    poke(block, answered(side, stones, block), U(move + 1))
    at = HISTORY + side * MOST_CELLS + move
    raised = peek(block, at) + U(depth * depth)
    poke(block, at, raised)
    if raised > U(MOST_PRAISE):
        for n in range(2 * MOST_CELLS):
            poke(block, HISTORY + n, peek(block, HISTORY + n) >> ONE)


@njit(inline="always")
def sure_end(side, stones, block):
    """Return the value of a position whose end is visible without a search, or `UNKNOWN`."""
    threats = count_of(1 - side, FIVES, block)
    if count_of(side, FIVES, block):
        return WIN - (stones + 1)
    if stones >= types.int64(peek(block, SIZE)):
        return 0
    if threats > ONE:
        return stones + 2 - WIN
    if threats == ZERO and count_of(side, WINS, block):
        return WIN - (stones + 3)
    return UNKNOWN


@njit(inline="always")
def is_beyond(side, depth, alpha, beta, block):
    """Tell whether the estimate of a quiet position is so far outside a null window that it is believed."""
    estimate = estimate_of(side, block)
    if beta - alpha > 1 or beta <= -DECIDED or alpha >= DECIDED:
        return False
    if depth <= GOOD_DEPTH and estimate - GOOD_MARGIN * depth >= beta and not count_of(1 - side, FORKS, block):
        return True
    return depth <= BAD_DEPTH and estimate + BAD_MARGIN * depth <= alpha


@njit(inline="always")
def is_estimated(side, depth, alpha, beta, is_threatened, block):
    """Tell whether the estimate is the value: no depth is left, or it is far from the window."""
    if depth <= (-BEYOND if is_threatened else 0):
        return True
    return not is_threatened and is_beyond(side, depth, alpha, beta, block)


@njit(inline="always")
def value_of_fours(side, stones, depth, block):
    """Return the value of a win by fours for `side`, to move, and store it; or `UNKNOWN`, or `STOPPED`."""
    if not count_of(side, FOURS, block):
        return UNKNOWN
    poke(block, FOURS_LEFT, peek(block, FOURS_AT_NODE))
    won = win_by_some_fours(side, stones, LONGEST_FOURS, False, block)
    if won == STOPPED:
        return STOPPED
    if won == 0:
        return UNKNOWN
    if won - stones > depth:
        tally(GUESSES, block)
    entry = entry_of(COMPLETE, LOWER, WIN - won, peek(block, PLAY + stones))
    remember(peek(block, HASH), entry, TABLE, LOG_TABLE, block)
    return WIN - won


@njit(inline="always")
def may_pass(side, depth, alpha, beta, block):
    """Tell whether to see if `side` could even pass: a null window, and an estimate above it."""
    return depth >= PASS_FROM and beta - alpha == 1 and abs(beta) < DECIDED and estimate_of(side, block) >= beta


@njit(inline="always")
def may_be_hopeless(side, depth, alpha, beta, block):
    """Tell whether to see if a less deep search is far below a null window: the estimate is below it."""
    return (
        depth >= HOPELESS_FROM
        and beta - alpha == 1
        and abs(beta) < ALMOST_DECIDED
        and estimate_of(side, block) <= alpha
    )


@njit(inline="always")
def turn_over(block):
    """Give the turn to the other side without a mark."""
    poke(block, HASH, peek(block, HASH) ^ peek(block, SIDE_TO_MOVE))


@njit(inline="always")
def reduction(move, side, looked_at, depth, block):
    """Return by how much the search of a move is less deep, by the number of moves before it.

    Not at all if it makes or takes an open four or a fork, or makes a three; by one if a four that leaves one reply.
    """
    if looked_at <= REDUCED_AFTER or depth < REDUCED_FROM:
        return 0
    own, others = made_by(move, side, block), made_by(move, 1 - side, block)
    if own & (MAKES_WIN | MAKES_FORK | MAKES_THREE) or others & (MAKES_WIN | MAKES_FORK):
        return 0
    if (own | others) & MAKES_FOUR:
        return 1
    return 1 + (looked_at > 10) + (looked_at > 20 and depth >= 6)


@njit(inline="always")
def only_delays(move, side, block):
    """Tell whether a mark makes a useless four: it makes no three as well, and stops no open three."""
    if made_by(move, side, block) & MAKES_FOUR == ZERO or makes_two_threes(move, side, block):
        return False
    return made_by(move, 1 - side, block) >> RANK < U(LITTLE)


@njit(
    types.int64(types.int64, types.int64, types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True
)
def search(side, stones, depth, alpha, beta, block):
    """Return the value for `side`, to move; outside (alpha, beta) a bound of it; or `STOPPED`."""
    if is_spent(block):
        return STOPPED
    value = sure_end(side, stones, block)
    if value != UNKNOWN:
        return value
    other = 1 - side
    forced = five_of(other, block) if count_of(other, FIVES, block) else NO_MOVE
    is_threatened = forced == NO_MOVE and count_of(other, WINS, block) != ZERO
    is_quiet = forced == NO_MOVE and not is_threatened
    hint, at = NO_MOVE, find(peek(block, HASH), TABLE, LOG_TABLE, block)
    if at != 0:
        value = value_in(peek(block, at + 1), max(depth, 0), alpha, beta, block)
        if value != UNKNOWN:
            return value
        hint = move_in(peek(block, at + 1))
    guesses, best, best_move, floor = peek(block, GUESSES), -INFINITY, NO_MOVE, alpha
    if forced == NO_MOVE:
        value = value_of_fours(side, stones, depth, block)
        if value != UNKNOWN:
            return value
        if is_estimated(side, depth, alpha, beta, is_threatened, block):
            tally(GUESSES, block)
            return estimate_of(side, block)
    if is_quiet and may_pass(side, depth, alpha, beta, block):
        turn_over(block)
        value = -search(other, stones, depth - PASS_SAVES, -beta, 1 - beta, block)
        turn_over(block)
        if value == -STOPPED:
            return STOPPED
        if value >= beta:
            tally(GUESSES, block)
            return beta
    if is_quiet and hint != NO_MOVE and may_be_hopeless(side, depth, alpha, beta, block):
        low = alpha - HOPELESS_MARGIN
        value = search(side, stones, depth - HOPELESS_SAVES, low, low + 1, block)
        if value == STOPPED:
            return STOPPED
        if value <= low:
            tally(GUESSES, block)
            return alpha
    moves, count, looked_at = MOVES + stones * MOST_CELLS, 1, 0
    if forced == NO_MOVE:
        count = list_moves(side, stones, moves, block)
    while count > 0:
        move = forced
        if forced != NO_MOVE:
            count = 0
        elif looked_at == 0 and hint != NO_MOVE:
            move = hint
        else:
            move = take_best(moves, count, block)
            count -= 1
            if move == hint:
                continue
        if is_threatened and depth <= 0 and best > -DECIDED and only_delays(move, side, block):
            tally(GUESSES, block)
            continue
        looked_at += 1
        rest, less = depth - (forced == NO_MOVE), 0
        if is_quiet and best > -DECIDED:
            less = reduction(move, side, looked_at, depth, block)
        put(move, side, stones, block)
        poke(block, PLAYED + stones + 1, U(move))
        if looked_at == 1:
            value = -search(other, stones + 1, rest, -beta, -alpha, block)
        else:
            value = -search(other, stones + 1, rest - less, -alpha - 1, -alpha, block)
            if value != -STOPPED and value > alpha and (less > 0 or value < beta):
                value = -search(other, stones + 1, rest, -beta, -alpha, block)
        take_back(move, side, stones, block)
        if value == -STOPPED:
            return STOPPED
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, value)
            if alpha >= beta:
                tally(CUTS, block)
                if forced == NO_MOVE and depth > 0:
                    praise(side, stones, move, depth, block)
                break
        if is_quiet and looked_at >= FEWEST + depth + depth * depth // 2 and best > -DECIDED:
            tally(GUESSES, block)
            break
    if is_quiet and best <= -DECIDED:
        tally(GUESSES, block)
        if best_move == NO_MOVE:
            return 0  # hardly any mark can still become part of a five
        best = stones - ALMOST_LOST
    entry = entry_after(stones, depth, best, best_move, floor, beta, guesses, block)
    remember(peek(block, HASH), entry, TABLE, LOG_TABLE, block)
    return best


@njit(types.int64(types.int64, types.uint64), nogil=True, cache=True)
def best_move(side, block):
    """Return a cell that completes a five, else a forced one, else the table's best, else `NO_MOVE`."""
    for each in (side, 1 - side):
        if count_of(each, FIVES, block):
            return five_of(each, block)
    at = find(peek(block, HASH), TABLE, LOG_TABLE, block)
    return move_in(peek(block, at + 1)) if at != 0 else NO_MOVE


SALT = U(1 << 9)
"""The flag of a position known to have no such win at all, not only none by fours."""
KEPT = MOST_CELLS // 2
"""The place of the longest defence so far in the row of moves of a position, behind the moves."""


@njit(inline="always")
def is_tired(block):
    """Tell whether the search has used its positions."""
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
def list_replies(attacker, stones, at, block):
    """Write the moves that may stop the threats of the attacker, each with its rank; return their number.

    There are none if it threatens nothing, the other side completes a five itself, or they would be too many.
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
    count = list_cells(other, stones, STOPS, at, block)
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

    The attacker makes at most `moves` threats, then fours; `is_reply`: the other side is to move. The play against
    the longest defence is in the block, from the number `stones` on. It is 0, too, when `is_tired`.
    """
    if is_spent(block):
        return STOPPED
    if is_tired(block):
        return 0
    other, at = 1 - attacker, MOVES + stones * MOST_CELLS
    if is_reply:
        count, longest = list_replies(attacker, stones, at, block), 0
        while count > 0:
            reply = take_best(at, count, block)
            count -= 1
            put(reply, other, stones, block)
            won = look(attacker, stones + 1, moves, not is_reply, block)
            take_back(reply, other, stones, block)
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
    if threats:  # forced, so it does not count: a three may still stand
        poke(block, at, U(five_of(other, block)) | ONE << U(9))
    else:
        count, rest = list_threats(attacker, moves, at, block), moves - 1
    while count > 0:
        move = take_best(at, count, block)
        count -= 1
        put(move, attacker, stones, block)
        won = look(attacker, stones + 1, rest, not is_reply, block)
        take_back(move, attacker, stones, block)
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


AT_ROOT = 60
"""Moves of the root that are searched, unless all of them lose."""
MOST_FOURS = 20
"""The greatest number of fours of a win that is sought before anything else."""
NODES_OF_FOURS = 500_000
"""The node limit of that search, about a tenth of a second; nearly all searches need a hundredth of it."""
MOST_THREATS = 6
"""The greatest number of open threes of a win, before its run of fours; many take 15,000 positions."""
SHARE_OF_THREATS = 0.1
"""The share of its limit that a search may spend on such a win, and again on those of the other side."""
LOOKED_AT_IN_SECOND = 3_500_000
"""Positions of such a search in a second; 3.5 to 3.8 million were measured on a busy machine."""
NODES_AT_NODE = 300
"""The node limit of the search for wins by fours at each position, if the depth is not limited."""
AT_ROOT_REDUCED_AFTER, AT_ROOT_MUCH_REDUCED_AFTER, AT_ROOT_REDUCED_FROM = 6, 20, 5
"""After this many moves of the root, and from this depth on, others are first searched less deep."""


class FivesSearch(CompiledSearch):
    """A search of five in a row on a large board; the next one can go on with its table."""

    exact_plies: int | None = 5
    """A win in one or three is never overlooked; so a win in five is the soonest."""

    def __init__(
        self, game: LineGame, effort: Effort, rng: random.Random, earlier: "FivesSearch | None" = None
    ) -> None:
        """Begin with what an `earlier` search of the same game has found, which must not be used any more."""
        del rng  # its order of moves follows from the position
        if earlier is None:
            block = np.zeros(BLOCK_WORDS, dtype=np.uint64)
            board = empty_board(game)
            block[: len(board)] = board
            self.hold = HeldPosition(game, shapes.mark, block).hold
        else:
            block, self.hold = earlier.block, earlier.hold
            block[[NODES, GUESSES, CUTS, HITS]] = 0
            block[HISTORY:KILLERS] >>= ONE
            block[KILLERS:ANSWERS] = 0
        block[BUDGET] = effort.max_nodes
        block[shapes.FOURS_AT_NODE] = NODES_AT_NODE if effort.max_depth is None else 0
        functions = Kernel(win_by_fours, search, best_move, PLAY)
        super().__init__(game, effort, functions, block, self.hold)
        self._looked_at = 0
        self._share_of_replies, self._spent_on_replies = self._share(), 0
        self._looks: dict[LineState, int] = {}
        """The positions that the last search after a move was allowed, `UNLIMITED` if it was complete."""
        self._lost: dict[LineState, int] = {}
        """The values of moves after which the other side wins by threats, by the positions after them."""
        self._proved: dict[LineState, Move] = {}
        """The moves of those wins, and of the longest defence."""

    def ordered(self, state: LineState) -> list[Move]:
        """Return the moves worth searching, the most promising one first."""
        self.hold(state)
        count = int(list_moves(state.ply & 1, state.ply, MOVES, self._address))
        ranked = sorted((int(word) for word in self.block[MOVES : MOVES + count]), reverse=True)
        return [word & NO_MOVE for word in ranked[:AT_ROOT]] or [min(self.game.actions(state), key=self._distance)]

    def _distance(self, cell: Move) -> int:
        """Return the distance of a cell from the middle, which decides where no mark is near."""
        height, width = self.game.shape
        return abs(2 * (cell // width) - height + 1) + abs(2 * (cell % width) - width + 1)

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, or else by fours and open threes; raises `Stopped`."""
        return self.win_by_fours(state) or self.win_by_threats(state, self._share())

    def win_by_fours(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[shapes.FOURS_LEFT] = NODES_OF_FOURS
        return self.shortest_win(state, MOST_FOURS)

    def win_by_threats(self, state: LineState, nodes: int) -> tuple[Move, ...] | None:
        """Return the play of a win by fours and open threes against the longest defence; raises `Stopped`.

        It is one by the fewest threats before a run of fours, and looked for in so many positions at most.
        """
        self.block[shapes.LOOK_UNTIL] = self.effort.nodes + nodes
        return self.shortest_win(state, MOST_THREATS, win_by_threats)

    def loss_to_threats(self, state: LineState, nodes: int) -> tuple[Move, ...] | None:
        """Return the same for the side that has just made a threat; raises `Stopped`."""
        self.block[shapes.LOOK_UNTIL] = self.effort.nodes + nodes
        return self.shortest_win(state, MOST_THREATS, loss_to_threats)

    def _share(self) -> int:
        """Return the node limit of a search for wins by threats, a share of the rest of the limit."""
        if self.effort.max_depth is not None:
            return 0
        nodes, seconds = self.effort.max_nodes - self.effort.nodes, self.effort.seconds_left()
        if seconds is not None:
            nodes = min(nodes, int(seconds * LOOKED_AT_IN_SECOND))
        return min(NODES_OF_FOURS, int(nodes * SHARE_OF_THREATS))

    def value_of_move(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a move's value for the player who makes it; outside the window, a bound of it; raises `Stopped`.

        A move that seems best is a loss if a look for wins by threats of the other side finds one.
        """
        child = self.game.result(state, move)
        self.block[PLAYED + state.ply + 1] = move
        if child not in self._lost:
            value = self._searched_value(state, move, depth, alpha, beta)
            if value <= alpha or is_decided(value) or not self._is_lost(child):
                return value
        return self._lost[child]

    def _is_lost(self, child: LineState) -> bool:
        """Tell whether the side to move is found to win by threats after a move of the other; raises `Stopped`.

        Such looks may take more as the search goes on. One that came to no end is repeated with four times as much.
        """
        before, share = self.effort.nodes, self._share_of_replies
        left = share + int(before * SHARE_OF_THREATS) - self._spent_on_replies
        is_too_little = left < max(share // 2, 4 * self._looks.get(child, 0))
        if share == 0 or is_too_little or self.game.is_terminal(child):
            return False
        line = self.win_by_threats(child, left)
        spent = self.effort.nodes - before
        self._spent_on_replies += spent
        self._looks[child] = left if spent >= left else UNLIMITED
        if line is None:
            return False
        self._lost[child] = len(line) + 1 - WIN
        for move in line:
            self._proved[child] = move
            child = self.game.result(child, move)
        return True

    def _searched_value(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return the same as `value_of_move` by the search alone."""
        self._looked_at = 1 if alpha == -INFINITY else self._looked_at + 1
        if alpha > -INFINITY and beta == INFINITY:  # first see whether it is better than the best so far
            less = (self._looked_at > AT_ROOT_REDUCED_AFTER) + (self._looked_at > AT_ROOT_MUCH_REDUCED_AFTER)
            for rest in (depth - less, depth) if less and depth >= AT_ROOT_REDUCED_FROM else (depth,):
                value = super().value_of_move(state, move, rest, alpha, alpha + 1)
                if value <= alpha:
                    return value
        return super().value_of_move(state, move, depth, alpha, beta)

    def remembered(self, state: LineState) -> Move | None:
        """Return the move that completes a line, is forced, or was found best, if one of these is known."""
        return self._proved[state] if state in self._proved else super().remembered(state)


@lru_cache(maxsize=4)
def empty_board(game: LineGame) -> Any:
    """Return the block of memory of a game before its first move, up to where the play begins."""
    block = np.zeros(shapes.SAVED, dtype=np.uint64)
    address = np.uint64(block.ctypes.data)
    height, width = game.shape
    stride = width + shapes.MARGIN
    places = [(y + shapes.MARGIN) * stride + shapes.MARGIN + x for y in range(height) for x in range(width)]
    block[shapes.SIZE], block[shapes.HASH], block[shapes.STRIDE] = game.size, 1 << 63, stride
    block[shapes.SUMS : shapes.SUMS + 2] = shapes.BASE_OF_SUMS
    block[shapes.PLACE : shapes.PLACE + game.size] = places
    block[shapes.OWNER : shapes.OWNER + shapes.MOST_PLACES] = shapes.EDGE
    block[[shapes.OWNER + place for place in places]] = 0
    block[shapes.TABLE_OF_SHAPES : shapes.TABLE_OF_CELLS] = shapes.shape_table()
    block[shapes.TABLE_OF_CELLS : shapes.SAVED] = shapes.cell_table()
    bits = np.random.default_rng(1).integers(1, 1 << 63, 2 * shapes.MOST_CELLS + 1, dtype=np.uint64)
    block[shapes.RANDOM : shapes.TABLE_OF_SHAPES] = bits
    inside = set(places)
    for cell, place in enumerate(places):
        code = 0
        for direction in range(shapes.DIRECTIONS):
            gap = 1 if direction == 0 else stride + direction - 2
            outside = (place + gap * (n - 4 if n < 4 else n - 3) not in inside for n in range(8))
            code |= sum(0x101 << n for n, is_outside in enumerate(outside) if is_outside) << 16 * direction
        block[shapes.CELL + place], block[shapes.CODE + place] = cell, code
        block[shapes.SHAPES + place] = kinds = shapes.shapes_at(place, address)
        for side in (0, 1):
            shapes.count_cell(place, side, ONE, kinds, address)
    return block
