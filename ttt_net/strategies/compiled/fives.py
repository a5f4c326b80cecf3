"""Search for five in a row on large boards, compiled: wins by fours, and alpha-beta over the most urgent cells.

A four leaves the other side one reply, so play in which one side makes nothing but fours is seen to its end at every
position, but for fours that lead to nothing more. Where the other side could make an open four, only cells that prevent
it are looked at, and fours; nothing else helps. Elsewhere it is the cells near marks, the most urgent first: the first
to the full depth with the whole window, later ones with a null window, quiet ones less deep (Reinefeld's NegaScout;
late-move reductions), and a position that is good enough although the move is passed is not looked at closely
(Donninger, "Null move and deep search", 1993). A win or a loss that is claimed is one: where all near cells lose and
the others have not been looked at, the value is `ALMOST_LOST`, which is an estimate.

Values are as in `alphabeta`.
"""

from numba import njit, types

from ttt_net.strategies.compiled.alphabeta import (
    COMPLETE,
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
from ttt_net.strategies.compiled.memory import peek, poke, trailing_zeros
from ttt_net.strategies.compiled.shapes import (
    END,
    FIVES,
    FORKS,
    FOUR_CELLS,
    FOURS,
    FOURS_AT_NODE,
    FOURS_LEFT,
    HASH,
    MAKES_FIVE,
    MAKES_FORK,
    MAKES_FOUR,
    MAKES_THREE,
    MAKES_WIN,
    MOST_CELLS,
    NEAR_CELLS,
    ONE,
    RANK,
    SIDE_TO_MOVE,
    SIZE,
    WINS,
    WORDS,
    ZERO,
    U,
    count_of,
    estimate_of,
    list_stops,
    made_by,
    makes_two_threes,
    mark,
)
from ttt_net.strategies.strategy import DECIDED, WIN

# The block goes on: the winning play that was found; positions known to have none; how often each side's moves have
# cut; two sets of cells, where one makes fours and what stops an open four; moves to choose from, by the marks on the
# board; and the table, an entry of two words for each position.
PLAY = END
LOG_FAILED = 14
FAILED = PLAY + MOST_CELLS + 1
HISTORY = FAILED + (1 << LOG_FAILED)
STOPS = HISTORY + 2 * MOST_CELLS
MOVES = STOPS + 2 * WORDS
LOG_TABLE = 18
TABLE = MOVES + (MOST_CELLS + 1) * MOST_CELLS
BLOCK_WORDS = TABLE + (2 << LOG_TABLE)

ALMOST_LOST = 50_000
"""The value of a won position, less the marks on it, if only cells near marks count."""
LONGEST_FOURS = 20
"""Fours of one side that are looked ahead at a position; how many positions that may take is in `FOURS_AT_NODE`."""
BEYOND = 4
"""Plies beyond the depth that open threes are answered in."""
FEWEST, MORE_BY_DEPTH = 10, 6
"""Moves that are looked at in a position, if not all of them lose: so many, and so many more for each ply of depth."""
PASS_FROM, PASS_SAVES = 4, 4
"""The depth from which on a move is passed first, and how much less deep that is looked at."""
GOOD_DEPTH, GOOD_MARGIN = 4, 8
BAD_DEPTH, BAD_MARGIN = 2, 19
"""Up to which depth an estimate outside the window is believed, and by how much it must be outside for each ply."""
REDUCED_AFTER, REDUCED_FROM = 3, 3
"""After how many moves, and from which depth on, quiet moves are looked at less deep."""
LITTLE = 100
"""The rank of a cell for the other side below which it is not worth a four to take it: it stops no open three."""
MOST_PRAISE = 1500
"""The largest rank by history, in sixteenths of one by shape."""


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

    It may make as many as `fours` and then completes a five. The play is in the block, from the number `stones` on.
    Unless `is_full`, fours that make no three besides are left out: without them there are a tenth of the positions.
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
                mark(cell, side, 1, block)
                reply, rest = five_of(side, block), 0 if count_of(side, FIVES, block) > ONE else fours - 1
                mark(reply, other, 1, block)
                won = win_by_some_fours(side, stones + 2, rest, is_full, block)
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


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def win_by_fours(side, stones, fours, block):
    """Return how many marks are on the board when `side`, to move, has won by any fours, or 0, or `STOPPED`."""
    return win_by_some_fours(side, stones, fours, True, block)


@njit(types.int64(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def list_cells(side, sets, at, block):
    """Write the cells in either side's set, each as its rank for `side` to move above its number; return how many."""
    count = 0
    for n in range(WORDS):
        bits = peek(block, sets + n) | peek(block, sets + WORDS + n)
        while bits:
            cell = 64 * n + types.int64(trailing_zeros(bits))
            bits &= bits - ONE
            rank = U(4) * (made_by(cell, side, block) >> RANK) + U(3) * (made_by(cell, 1 - side, block) >> RANK)
            rank = U(16) * rank + peek(block, HISTORY + side * MOST_CELLS + cell)
            poke(block, at + count, (rank << U(9)) | U(cell))
            count += 1
    return count


@njit(types.int64(types.int64, types.int64, types.uint64), nogil=True, cache=True)
def list_moves(side, at, block):
    """Write the moves worth a look where nobody completes a five, and neither `side` an open four; return how many."""
    if count_of(1 - side, WINS, block) == ZERO:
        return list_cells(side, NEAR_CELLS, at, block)
    list_stops(side, STOPS, block)
    return list_cells(side, STOPS, at, block)


@njit(inline="always")
def praise(side, move, depth, block):
    """Raise the rank of a move that has cut."""
    at = HISTORY + side * MOST_CELLS + move
    raised = peek(block, at) + U(depth * depth)
    poke(block, at, raised)
    if raised > U(MOST_PRAISE):
        for n in range(2 * MOST_CELLS):
            poke(block, HISTORY + n, peek(block, HISTORY + n) >> ONE)


@njit(inline="always")
def sure_end(side, stones, block):
    """Return the value of a position whose end is seen without a look, or `UNKNOWN`."""
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
    """Tell whether the estimate of a quiet position lies so far outside a null window that it is believed."""
    estimate = estimate_of(side, block)
    if beta - alpha > 1 or beta <= -DECIDED or alpha >= DECIDED:
        return False
    if depth <= GOOD_DEPTH and estimate - GOOD_MARGIN * depth >= beta and not count_of(1 - side, FORKS, block):
        return True
    return depth <= BAD_DEPTH and estimate + BAD_MARGIN * depth <= alpha


@njit(inline="always")
def is_estimated(side, depth, alpha, beta, is_threatened, block):
    """Tell whether the estimate is the value, for there is no depth left, or it lies far from the window."""
    if depth <= (-BEYOND if is_threatened else 0):
        return True
    return not is_threatened and is_beyond(side, depth, alpha, beta, block)


@njit(inline="always")
def value_of_fours(side, stones, depth, block):
    """Return the value of a win by fours for `side`, who is to move, and keep it; or `UNKNOWN`, or `STOPPED`."""
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
def turn_over(block):
    """Make it the other side's turn, without a mark."""
    poke(block, HASH, peek(block, HASH) ^ peek(block, SIDE_TO_MOVE))


@njit(inline="always")
def reduction(move, side, looked_at, depth, block):
    """Return how much less deep a move is looked at, by how many came before it.

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
    """Tell whether a mark makes a four that leads to nothing: no three besides, and no open three that it stops."""
    if made_by(move, side, block) & MAKES_FOUR == ZERO or makes_two_threes(move, side, block):
        return False
    return made_by(move, 1 - side, block) >> RANK < U(LITTLE)


@njit(
    types.int64(types.int64, types.int64, types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True
)
def search(side, stones, depth, alpha, beta, block):
    """Return the value for `side`, who is to move; outside (alpha, beta) a bound of it; or `STOPPED`."""
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
    moves, count, looked_at = MOVES + stones * MOST_CELLS, 1, 0
    if forced == NO_MOVE:
        count = list_moves(side, moves, block)
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
        mark(move, side, 1, block)
        if looked_at == 1:
            value = -search(other, stones + 1, rest, -beta, -alpha, block)
        else:
            value = -search(other, stones + 1, rest - less, -alpha - 1, -alpha, block)
            if value != -STOPPED and value > alpha and (less > 0 or value < beta):
                value = -search(other, stones + 1, rest, -beta, -alpha, block)
        mark(move, side, -1, block)
        if value == -STOPPED:
            return STOPPED
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, value)
            if alpha >= beta:
                tally(CUTS, block)
                if forced == NO_MOVE and depth > 0:
                    praise(side, move, depth, block)
                break
        if is_quiet and looked_at >= FEWEST + MORE_BY_DEPTH * depth and best > -DECIDED:
            tally(GUESSES, block)
            break
    if is_quiet and best <= -DECIDED:
        tally(GUESSES, block)
        if best_move == NO_MOVE:
            return 0  # no mark can become part of a five any more, or hardly
        best = stones - ALMOST_LOST
    entry = entry_after(stones, depth, best, best_move, floor, beta, guesses, block)
    remember(peek(block, HASH), entry, TABLE, LOG_TABLE, block)
    return best


@njit(types.int64(types.int64, types.uint64), nogil=True, cache=True)
def best_move(side, block):
    """Return a cell that completes a five, else one that has to be taken, else the table's best, else `NO_MOVE`."""
    for each in (side, 1 - side):
        if count_of(each, FIVES, block):
            return five_of(each, block)
    at = find(peek(block, HASH), TABLE, LOG_TABLE, block)
    return move_in(peek(block, at + 1)) if at != 0 else NO_MOVE
