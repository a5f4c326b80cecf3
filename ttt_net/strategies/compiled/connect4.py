"""The exact solver of Connect Four, compiled: a null-window alpha-beta over bitboards with a small table.

A board is two words: the stones of the side to move (`own`) and all stones (`taken`). Each of the 7 columns takes 7
bits, the lowest cell first, and its topmost bit stays empty: cell = column * 7 + row, row 0 at the bottom. So a shift
by 1 goes up, by 7 right, by 6 right and down, by 8 right and up, and no line runs round the edge.

A score is from the view of the side to move: a win counts one more than the stones that its winner has left then, a
loss the same below zero, a draw 0. The searches expect positions in which the side to move cannot win at once.
"""

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.memory import count_ones, largest_byte, leading_zeros, low_bytes, peek, poke

U = np.uint64
ZERO, ONE, TWO, THREE = U(0), U(1), U(2), U(3)
WIDTH, HEIGHT, CELLS = 7, 6, 42
UP, RIGHT, RIGHT_DOWN, RIGHT_UP = U(1), U(7), U(6), U(8)
BOTTOM = U(sum(1 << column * 7 for column in range(WIDTH)))
BOARD = U(sum(0b111111 << column * 7 for column in range(WIDTH)))
COLUMN = U(0b111111)
ODD_ROWS = U(sum(0b010101 << column * 7 for column in range(WIDTH)))
KEY_BITS = 49
SEVEN, MOST_RANK = U(7), U(31)
NUMBERS = U(0x2467531)
"""The number of each column, four bits each, column 0 lowest: 1 and 2 at the edges, 7 in the middle; none is 0."""
COLUMNS = U(0x34251600)
"""The column of each number, the same way."""

# The block of memory: three words, then 16 words of moves for each number of stones, then the table.
NODES, BUDGET, LOG, MOVES = 0, 1, 2, 8
TABLE = MOVES + 16 * (CELLS + 1) + 8
"""Where the table begins, a multiple of eight words."""

STOPPED = 99
"""No score: the budget of nodes was spent, or set to nothing from outside."""


SPREAD = U(0x1D8AF066F4FA5)
"""An odd number: multiplying by it maps the 49-bit keys one to one onto themselves, well mixed in the high bits."""
KEY_MASK = U((1 << KEY_BITS) - 1)
SIX_BITS = U(63)
MIRROR_BELOW = 14
"""With so many stones a position no longer comes up together with its mirror image often enough to look for it."""
PROBE_BELOW = 28
"""With fewer stones the table is asked about every move before one is searched; later that costs more than it saves."""
OFFSET = 32
"""What is added to a score so that it is stored as six bits without a sign."""


@njit(types.uint64(types.uint64), inline="always")
def by_column(cells):
    """Return a word with bit n for cell n, the top row first, as the words here have it."""
    word = ZERO
    for row in range(HEIGHT):
        for column in range(WIDTH):
            word |= ((cells >> U(row * WIDTH + column)) & ONE) << U(column * 7 + 5 - row)
    return word


@njit(inline="always")
def threes(stones, step):
    """Return the cells in one direction that have three of `stones` in line with them."""
    before = (stones << step) & (stones << (step * TWO))
    after = (stones >> step) & (stones >> (step * TWO))
    return (
        (before & (stones << (step * THREE)))
        | (before & (stones >> step))
        | (after & (stones << step))
        | (after & (stones >> (step * THREE)))
    )


@njit(types.uint64(types.uint64, types.uint64), inline="always")
def winning_cells(stones, taken):
    """Return the empty cells that complete four of `stones`, reachable or not."""
    cells = (stones << UP) & (stones << TWO) & (stones << THREE)
    cells |= threes(stones, RIGHT) | threes(stones, RIGHT_DOWN) | threes(stones, RIGHT_UP)
    return cells & BOARD & ~taken


@njit(inline="always")
def weigh_moves(own, taken, threats, moves, block, at):
    """Write each move's winning cells and its rank into the block; return whether one of them wins by force.

    Lane c holds column c. A rank is a byte, with the number of the column from the edge in its lowest bits; it is 0 for
    a column that is not among the moves. A move wins by force if the other side then has to answer in two cells, or in
    one below which the next winning cell lies.
    """
    wins = ZERO
    for column in range(8):
        move = moves & (COLUMN << U(column * 7))
        stones, after = own | move, taken | move
        cells = winning_cells(stones, after)
        replies = (after + BOTTOM) & BOARD
        forced = replies & cells
        safe = (forced if forced != ZERO else replies) & ~(cells >> ONE)
        wins |= move if (forced & (forced - ONE)) != ZERO or safe == ZERO else ZERO
        useful = cells & ~(threats << ONE)
        rank = (
            TWO * count_ones(useful)
            + TWO * count_ones(useful & (replies << ONE))
            + count_ones(useful & (replies << TWO))
        )
        rank = (min(rank, MOST_RANK) << THREE) | ((NUMBERS >> U(column * 4)) & SEVEN)
        poke(block, at + column, cells)
        poke(block, at + 8 + column, rank if move != ZERO else ZERO)
    return wins != ZERO


@njit(inline="always")
def has_four(stones):
    """Tell whether there are four in a row."""
    up, right = stones & (stones >> UP), stones & (stones >> RIGHT)
    down, diagonal = stones & (stones >> RIGHT_DOWN), stones & (stones >> RIGHT_UP)
    return (
        (up & (up >> (UP * TWO)))
        | (right & (right >> (RIGHT * TWO)))
        | (down & (down >> (RIGHT_DOWN * TWO)))
        | (diagonal & (diagonal >> (RIGHT_UP * TWO)))
    ) != ZERO


@njit(inline="always")
def follow_up_bound(own, taken, playable):
    """Return an upper bound of the first player's score, who is to move: what the second can hold by following up.

    The second player answers in the column that the first has played in, and so gets the even row above each odd one.
    Only even cells that can be played at once may go to either: grant them to the first, with all empty cells of odd
    rows. (They are even in number, so the second answers one of them with another.) If even so the first has no four,
    they cannot win; and if then the second's cells hold one, they lose. (Allis, "A knowledge-based approach of
    connect-four", 1988, calls it follow-up.)
    """
    empty = BOARD & ~taken
    lost = -1 if has_four((own ^ taken) | (empty & ~ODD_ROWS & ~playable)) else 0
    return OFFSET if has_four(own | (empty & (ODD_ROWS | playable))) else lost


@njit(inline="always")
def held_by_following_up(own, taken, moves):
    """Return a lower bound of the second player's score, who is to move: the best `follow_up_bound` after a move."""
    most = OFFSET
    for column in range(8):
        move = moves & (COLUMN << U(column * 7))
        after = taken | move
        bound = follow_up_bound(own ^ taken, after, (after + BOTTOM) & BOARD)
        most = min(most, bound if move != ZERO else OFFSET)
    return -most


@njit(inline="always")
def mirrored(key):
    """Return a key with its columns in reverse."""
    lane = U(127)
    turned = ZERO
    for column in range(7):
        turned |= ((key >> U(column * 7)) & lane) << U((6 - column) * 7)
    return turned


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
def probe_moves(other, taken, moves, ranks, alpha, block):
    """Return what the table knows of the positions after the moves.

    That is what one of them is worth at least, what those are worth at most that are known to be no better than
    `alpha`, and the ranks without these. All columns are looked up, so that there is no branch to be predicted.
    """
    at_least, best = -OFFSET, -OFFSET
    for column in range(WIDTH):
        move = moves & (COLUMN << U(column * 7))
        slot, tag = place_of(other | ((taken | move) + BOTTOM), block)
        bounds = recall(block, slot, tag)
        at_most = -lower_of(bounds) if move != ZERO else OFFSET
        at_least = max(at_least, -upper_of(bounds) if move != ZERO else -OFFSET)
        ranks &= ~(U(255) << U(column * 8)) if at_most <= alpha else ~ZERO
        best = max(best, at_most if at_most <= alpha else -OFFSET)
    return at_least, best, ranks


@njit(inline="always")
def lower_of(word):
    """Return the lower bound that a word of the table has."""
    return types.int64((word >> U(6)) & SIX_BITS) - OFFSET


@njit(inline="always")
def upper_of(word):
    """Return the upper bound that a word of the table has."""
    return OFFSET - 1 - types.int64(word & SIX_BITS)


@njit(inline="always")
def remember(block, slot, tag, lower, upper, nodes_before):
    """Keep both bounds of a position; of two in a bucket the one that cost less is overwritten."""
    work = U(63) - leading_zeros(peek(block, NODES) - nodes_before + ONE)
    word = (tag << U(18)) | (work << U(12)) | (U(lower + OFFSET) << U(6)) | U(OFFSET - 1 - upper)
    first = peek(block, slot)
    if (first >> U(18)) == tag or work >= ((first >> U(12)) & SIX_BITS):
        poke(block, slot, word)
    else:
        poke(block, slot + 1, word)


@njit(
    types.int64(types.uint64, types.uint64, types.uint64, types.int64, types.int64, types.int64, types.uint64),
    cache=True,
)
def search(own, taken, threats, stones, alpha, beta, block):
    """Return the score, exact inside (alpha, beta), otherwise a bound of it; or `STOPPED`.

    `threats` are the winning cells of the other side, `stones` the number of all stones. Forced play is followed
    move by move in a loop; `sign` tells whose score it then is.
    """
    sign = 1
    while True:
        nodes = peek(block, NODES) + ONE
        if nodes > peek(block, BUDGET):
            return STOPPED
        poke(block, NODES, nodes)
        moves = (taken + BOTTOM) & BOARD
        forced = moves & threats
        if forced != ZERO:
            if (forced & (forced - ONE)) != ZERO:
                return sign * -((42 - stones) // 2)
            moves = forced
        moves &= ~(threats >> ONE)
        if moves == ZERO:
            return sign * -((42 - stones) // 2)
        if stones >= CELLS - 2:
            return 0
        alpha = max(alpha, -((40 - stones) // 2))
        beta = min(beta, (41 - stones) // 2)
        if alpha >= beta:
            return sign * alpha
        other = own ^ taken
        if (moves & (moves - ONE)) != ZERO:
            break
        taken |= moves
        threats = winning_cells(own | moves, taken)
        own = other
        stones += 1
        alpha, beta = -beta, -alpha
        sign = -sign

    if stones & 1 == 0 and alpha >= -1:
        beta = min(beta, follow_up_bound(own, taken, (taken + BOTTOM) & BOARD))
        if alpha >= beta:
            return sign * beta
    key = own | (taken + BOTTOM)
    if stones < MIRROR_BELOW:
        key = min(key, mirrored(key))
    slot, tag = place_of(key, block)
    known = recall(block, slot, tag)
    at = MOVES + 16 * stones
    if weigh_moves(own, taken, threats, moves, block, at):
        return sign * ((41 - stones) // 2)
    beta = min(beta, (39 - stones) // 2)  # no move forces a win with the stone after next
    if alpha >= beta:
        return sign * beta
    lower, upper = lower_of(known), upper_of(known)
    alpha, beta = max(alpha, lower), min(beta, upper)
    if alpha >= beta:
        return sign * (lower if lower >= beta else upper)
    if stones & 1 == 1 and beta <= 1:
        at_least = held_by_following_up(own, taken, moves)
        if at_least >= beta:
            return sign * at_least
    best = -OFFSET
    floor = alpha
    ranks = low_bytes(block, at + 8)
    if MIRROR_BELOW <= stones < PROBE_BELOW:
        at_least, best, ranks = probe_moves(other, taken, moves, ranks, alpha, block)
        if at_least >= beta:
            return sign * at_least
    while ranks != ZERO:
        number = largest_byte(ranks) & SEVEN
        column = types.int64((COLUMNS >> (number * U(4))) & SEVEN)
        ranks &= ~(U(255) << U(column * 8))
        move = moves & (COLUMN << U(column * 7))
        value = -search(other, taken | move, peek(block, at + column), stones + 1, -beta, -alpha, block)
        if value == -STOPPED:
            return STOPPED
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if alpha >= beta:
                    break
    if best > floor:
        lower = max(lower, best)
    if best < beta:
        upper = min(upper, best)
    remember(block, slot, tag, lower, upper, nodes)
    return sign * best


@njit(types.int64(types.uint64, types.uint64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def solve(own, other, low, high, block):
    """Return the score of a position if it lies in low..high, else the nearer bound of it; or `STOPPED`.

    The stones of both sides come as a `LineState` has them, row by row. The range is halved again and again by the
    question whether the score is above its middle.
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
    while low < high:
        middle = low + (high - low) // 2
        if middle <= 0 and low // 2 < middle:
            middle = -((-low) // 2)
        elif middle >= 0 and high // 2 > middle:
            middle = high // 2
        value = search(own, taken, threats, stones, middle, middle + 1, block)
        if value == STOPPED:
            return STOPPED
        if value <= middle:
            high = value
        else:
            low = value
    return low
