"""The exact solver of Connect Four, compiled: a null-window alpha-beta over bitboards with a small table.

A score is from the view of the side to move: a win counts one more than the stones that its winner has left then, a
loss the same below zero, a draw 0. The searches expect positions in which the side to move cannot win at once.
"""

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.connect4_board import (
    BOARD,
    BOTTOM,
    CELLS,
    COLUMN,
    OFFSET,
    ONE,
    SEVEN,
    THREE,
    TWO,
    WIDTH,
    ZERO,
    by_column,
    lower_bound,
    mirrored,
    upper_bound,
    winning_cells,
)
from ttt_net.strategies.compiled.lanes import (
    count_each,
    lane_numbers,
    lanes_of,
    largest_half,
    peek_largest_half,
    poke_half,
    poke_halves,
    poke_lanes,
    spread,
    where_zero,
    zero_lanes,
)
from ttt_net.strategies.compiled.memory import count_ones, leading_zeros, peek, poke

U = np.uint64
KEY_BITS = 49
EIGHT = U(8)
COLUMN_TIES = (1, 3, 5, 7, 6, 4, 2)
"""Of two columns comes first, if nothing else tells, that with the larger number."""
CELL_RANKS = ((7, 4, 3, 2), (9, 7, 5, 4), (13, 10, 7, 4), (14, 10, 6, 4), (11, 7, 5, 2), (11, 8, 7, 6))
"""The worth of a move by its row, the lowest first, and by its column's distance from the middle.

Being fixed, it leads searches by different ways to the same positions. An order learnt on the way takes far more nodes.
"""
RANKS_AND_TIES = tuple(
    U(sum((row[abs(column - 3)] << 3 | tie) << 8 * number for number, row in enumerate(CELL_RANKS)))
    for column, tie in enumerate(COLUMN_TIES)
)
"""Both for each column: a byte for each row, the lowest first."""

# The block of memory: three words, then a frame for each position on the way to the one that is looked at, then the
# table. A frame has the winning cells of each move for who makes it, by column, and from word 8 on what is listed here.
NODES, BUDGET, LOG, FRAMES = 0, 1, 2, 8
FRAME = 24
"""Words of a frame."""
OTHER, TAKEN, BEST, SLOT, ENTRY, BEFORE, ALPHA, STONES, SIGN = range(8, 17)
RANKS = 18
"""The stones of the other side and all stones; the best value so far, plus `OFFSET`; where the position belongs in the
table, and its word there without the work; the nodes before it; the value to be exceeded, plus `OFFSET`; the number of
stones; 1 more than the sign of its value in the frame below; and, two words, ranks of moves yet to be searched."""
TABLE = FRAMES + FRAME * (CELLS + 2)
"""Where the table begins, a multiple of eight words."""

STOPPED = 99
"""No score: the budget of nodes was spent, or set to nothing from outside."""
UNKNOWN = 77
"""No score: the position has to be searched."""

SPREAD = U(0x1D8AF066F4FA5)
"""An odd number: multiplying by it maps the 49-bit keys one to one onto themselves, well mixed in the high bits."""
KEY_MASK = U((1 << KEY_BITS) - 1)
SIX_BITS = U(63)
MIRROR_BELOW = 14
"""With so many stones a position no longer comes up together with its mirror image often enough to look for it."""
PROBE_BELOW = 28
"""With fewer stones the table is asked about every move before one is searched; later that costs more than it saves."""
SOON = 7
"""A win or loss by a larger score is near, and so found or refuted with little work."""
LATE = 3
"""A win or loss by no more comes with the last stones, where the columns fill up."""


@njit(inline="always")
def winning_moves(move, cells, replies):
    """Return a word with a bit for each lane whose move wins by force.

    The other side then has to answer in two cells, or in one below which the next winning cell lies, or has no move
    that does not lose. `cells` are the winning cells after the move, `replies` those that can be played.
    """
    forced = replies & cells
    safe = where_zero(forced, replies, forced) & ~(cells >> ONE)
    one_at_most = forced & (forced + spread(~ZERO))
    return zero_lanes(where_zero(one_at_most, safe, spread(ZERO))) & ~zero_lanes(move)


@njit(inline="always")
def rank_moves(move, cells, replies, threats):
    """Return the rank of each move, with its column in the lowest three bits, and 0 where there is none."""
    useful = cells & ~(threats << ONE)
    rank = count_each(useful) + count_each(useful & (replies << ONE))
    rank = rank + rank + count_each(useful & (replies << TWO)) + count_each(cells & replies)
    row = count_each(move - ONE) - lane_numbers() * SEVEN
    by_cell = (lanes_of(*RANKS_AND_TIES, ZERO) >> (row << THREE)) & U(255)
    return where_zero(move, move, (rank << EIGHT) + (by_cell << THREE) + lane_numbers())


@njit(inline="always")
def place_of(key, block):
    """Return where the bucket of a key is, and the tag that tells it from the others there."""
    key = (key * SPREAD) & KEY_MASK
    log = peek(block, LOG)
    return TABLE + 2 * types.int64(key >> (U(KEY_BITS) - log)), key & ((ONE << (U(KEY_BITS) - log)) - ONE)


@njit(inline="always")
def recall(block, slot, tag):
    """Return the word that is kept for a tag in a bucket, or 0, which knows no bounds."""
    first, second = peek(block, slot), peek(block, slot + 1)
    other = second if (second >> U(18)) == tag else ZERO
    return first if (first >> U(18)) == tag else other


@njit(inline="always")
def probe_moves(other, taken, moves, alpha, block):
    """Return what the table knows of the positions after the moves.

    That is what one of them is worth at least, what those are worth at most that are known to be no better than
    `alpha`, and a bit for the column of each of these. All are looked up, so that there is no branch to be predicted.
    """
    at_least, best, worse = -OFFSET, -OFFSET, ZERO
    for column in range(WIDTH):
        move = moves & (COLUMN << U(column * 7))
        slot, tag = place_of(other | ((taken | move) + BOTTOM), block)
        bounds = recall(block, slot, tag)
        at_most = -lower_of(bounds) if move != ZERO else OFFSET
        at_least = max(at_least, -upper_of(bounds) if move != ZERO else -OFFSET)
        worse |= ONE << U(column) if at_most <= alpha else ZERO
        best = max(best, at_most if at_most <= alpha else -OFFSET)
    return at_least, best, worse


@njit(inline="always")
def lower_of(word):
    """Return the lower bound that a word of the table has."""
    return types.int64((word >> U(6)) & SIX_BITS) - OFFSET


@njit(inline="always")
def upper_of(word):
    """Return the upper bound that a word of the table has."""
    return OFFSET - 1 - types.int64(word & SIX_BITS)


@njit(inline="always")
def remember(block, slot, entry, cost):
    """Keep a position's word, which has both bounds; of two in a bucket the one that cost less is overwritten."""
    work = U(63) - leading_zeros(cost + ONE)
    word = entry | (work << U(12))
    first = peek(block, slot)
    if (first >> U(18)) == (entry >> U(18)) or work >= ((first >> U(12)) & SIX_BITS):
        poke(block, slot, word)
    else:
        poke(block, slot + 1, word)


@njit(inline="always")
def with_bound(entry, value, alpha):
    """Return a word of the table with what a search has found: a lower bound above `alpha`, else an upper one."""
    if value > alpha:
        return (entry & ~(SIX_BITS << U(6))) | (U(value + OFFSET) << U(6))
    return (entry & ~SIX_BITS) | U(OFFSET - 1 - value)


@njit(inline="always")
def follow_forced(own, taken, threats, stones, alpha, nodes, block):
    """Follow forced play to a position with a choice of moves, or to its end.

    Return that position as it was given, its moves, the sign of its value for the position given, the nodes, and its
    value if that is known, or `STOPPED`, else `UNKNOWN`.
    """
    sign, value, moves = 1, UNKNOWN, ZERO
    while True:
        nodes += ONE
        if nodes > peek(block, BUDGET):
            value = STOPPED
            break
        playable = (taken + BOTTOM) & BOARD
        forced = playable & threats
        moves = (forced if forced != ZERO else playable) & ~(threats >> ONE)
        if (moves == ZERO) | ((forced & (forced - ONE)) != ZERO):
            value = -((42 - stones) // 2)
            break
        if stones >= CELLS - 2:
            value = 0
            break
        least, most = -((40 - stones) // 2), (41 - stones) // 2
        if (least > alpha) | (most <= alpha):
            value = least if least > alpha else most
            break
        if (moves & (moves - ONE)) != ZERO:
            break
        other = own ^ taken
        taken |= moves
        threats = winning_cells(own | moves, taken)
        own = other
        stones += 1
        alpha, sign = -alpha - 1, -sign
    return own, taken, threats, stones, alpha, moves, sign, nodes, value


@njit(types.int64(types.uint64, types.uint64, types.uint64, types.int64, types.int64, types.uint64), cache=True)
def search(own, taken, threats, stones, alpha, block):
    """Return a lower bound of the score that is above `alpha`, or an upper one that is not; or `STOPPED`.

    `threats` are the winning cells of the other side, `stones` the number of all stones. The positions on the way are
    kept in frames of the block: a call of its own for each of so many millions costs a tenth of the time.
    """
    top, nodes = FRAMES, peek(block, NODES)
    while True:
        own, taken, threats, stones, alpha, moves, sign, nodes, value = follow_forced(
            own, taken, threats, stones, alpha, nodes, block
        )
        if value == STOPPED:
            poke(block, NODES, nodes)
            return STOPPED
        other = own ^ taken
        if value == UNKNOWN:
            at_most = upper_bound(own, taken, threats, stones, alpha)
            value = at_most if at_most <= alpha else UNKNOWN
        if value == UNKNOWN:
            key = own | (taken + BOTTOM)
            if stones < MIRROR_BELOW:
                key = min(key, mirrored(key))
            slot, tag = place_of(key, block)
            known = recall(block, slot, tag)
            move = spread(moves) & (COLUMN << (lane_numbers() * SEVEN))
            after = move | taken
            cells, replies = winning_cells(move | own, after), (after + BOTTOM) & BOARD
            winning = winning_moves(move, cells, replies)
            lower = lower_of(known)
            upper = min(upper_of(known), (39 - stones) // 2)  # no move forces a win with the stone after next
            if (winning != ZERO) | (lower > alpha) | (upper <= alpha):
                value = (41 - stones) // 2 if winning != ZERO else lower if lower > alpha else upper
            else:
                at_least = lower_bound(own, taken, move, cells, replies, stones, alpha)
                value = at_least if at_least > alpha else UNKNOWN
        if value == UNKNOWN:
            ranks, best = rank_moves(move, cells, replies, threats), -OFFSET
            if MIRROR_BELOW <= stones < PROBE_BELOW:
                at_least, best, worse = probe_moves(other, taken, moves, alpha, block)
                if at_least > alpha:
                    value = at_least
                elif (worse | zero_lanes(move)) == U(255):
                    value = best
                    remember(block, slot, with_bound((tag << U(18)) | (known & U(4095)), best, alpha), ZERO)
                ranks = where_zero((spread(worse) >> lane_numbers()) & ONE, ranks, spread(ZERO))
        if value == UNKNOWN:
            poke_lanes(block, top, cells)
            poke_halves(block, top + RANKS, ranks)
            rank = largest_half(ranks)
            poke(block, top + OTHER, other)
            poke(block, top + TAKEN, taken)
            poke(block, top + SLOT, U(slot))
            poke(block, top + ENTRY, (tag << U(18)) | (known & U(4095)))
            poke(block, top + BEFORE, nodes)
            poke(block, top + ALPHA, U(alpha + OFFSET))
            poke(block, top + STONES, U(stones))
            poke(block, top + SIGN, U(sign + 1))
        else:
            rank, best = ZERO, -OFFSET
            while rank == ZERO or best > alpha:  # the position below is done, too
                if top == FRAMES:
                    poke(block, NODES, nodes)
                    return sign * value
                top -= FRAME
                alpha = types.int64(peek(block, top + ALPHA)) - OFFSET
                best = max(types.int64(peek(block, top + BEST)) - OFFSET, -sign * value)
                rank = peek_largest_half(block, top + RANKS)
                if rank == ZERO or best > alpha:
                    cost = nodes - peek(block, top + BEFORE)
                    entry = with_bound(peek(block, top + ENTRY), best, alpha)
                    remember(block, types.int64(peek(block, top + SLOT)), entry, cost)
                    sign = types.int64(peek(block, top + SIGN)) - 1
                    value = best
            other, taken = peek(block, top + OTHER), peek(block, top + TAKEN)
            stones = types.int64(peek(block, top + STONES))
        column = types.int64(rank & SEVEN)
        poke_half(block, top + RANKS, column, ZERO)
        poke(block, top + BEST, U(best + OFFSET))
        own, threats = other, peek(block, top + column)
        taken |= (taken + BOTTOM) & (COLUMN << U(column * 7))
        stones += 1
        alpha = -alpha - 1
        top += FRAME


@njit(inline="always")
def value_to_ask(low, high, questions, stones):
    """Return of which value in low..high to ask next whether the score is above it.

    After a loss and a win that are near come a win of the first player, a loss and a win before the last stones, and
    then steps that are doubled: the questions about scores beside the true one are the dear ones, and it is near to a
    draw more often than not.
    """
    start, step = -(stones & 1), 1 << max(questions - 5, 0)
    middle = low + step - 1 if low > start else high - step
    if (high < -SOON) | (low > SOON):
        middle = low + (high - low) // 2
    elif questions == 0:
        middle = -SOON - 1
    elif questions == 1:
        middle = SOON
    elif questions == 2:
        middle = start
    elif questions == 3:
        middle = -LATE - 1
    elif questions == 4:
        middle = LATE
    return min(max(middle, low), high - 1)


@njit(types.int64(types.uint64, types.uint64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def solve(own, other, low, high, block):
    """Return the score of a position if it lies in low..high, else the nearer bound of it; or `STOPPED`.

    The stones of both sides come as a `LineState` has them, row by row.
    """
    own, other = by_column(own), by_column(other)
    taken = own | other
    stones = types.int64(count_ones(taken))
    possible = (taken + BOTTOM) & BOARD
    if (winning_cells(own, taken) & possible) != ZERO:
        return (43 - stones) // 2
    if stones == CELLS:
        return 0
    threats = winning_cells(other, taken)
    low, high = max(low, -((42 - stones) // 2)), min(high, (41 - stones) // 2)
    questions = 0
    while low < high:
        middle = value_to_ask(low, high, questions, stones)
        value = search(own, taken, threats, stones, middle, block)
        if value == STOPPED:
            return STOPPED
        if value <= middle:
            high = value
        else:
            low = value
        questions += 1
    return low
