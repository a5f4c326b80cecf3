"""The exact solver of Connect Four, compiled: a null-window alpha-beta over bitboards with a small table.

A score is from the view of the side to move. A win scores one more than the number of stones that the winner has left,
a loss the negative of that, and a draw 0. The searches expect positions in which the side to move cannot win at once.

A board is two words: the stones of the side to move (`own`) and all stones (`taken`). Each of the 7 columns has 7 bits,
the lowest cell first, and its topmost bit stays empty: cell = column * 7 + row, row 0 at the bottom. So a shift by 1
goes up, by 7 right, by 6 right and down, by 8 right and up, and no line wraps around the edge.

The bounds need no search: odd and even rows tell which side runs out of safe moves.

A threat is an empty cell that completes four for one side. It waits while the cell below it is empty too. Then neither
side wants to play that cell: the opponent would lose, and the owner would give the threat away. Rows are counted from
1, so odd and even cells alternate in a column. (Allis, "A knowledge-based approach of connect-four", 1988, calls the
two strategies below follow-up, or claimeven, and zugzwang.)

The second player can hold by following up. With the first player to move, the second answers in the same column, so the
first gets the odd cells and the second the even ones. The number of columns whose next cell is even is even, so the
second answers one of these cells with another; to be safe, the first is granted all of them. The first never gets a
waiting even threat of the second, or a cell above it, because they would have to play below it. If even so the first
has no four, they cannot win. If moreover the cells of the second hold a four, or a threat of theirs waits, the first
loses, because in the end they have to play below it.

The first player can hold in the same way if an odd threat of theirs waits. Its column then counts only up to below the
cell under the threat, which makes the number of cells odd. With the second player to move, the first answers in the
same column. They get the even cells, and the odd cells below the threat in its column. The second gets all others, and
those that can be played at once, and in the end has to play below the threat. If the second has no four with all of
these, the first wins.

The cells that stay empty until then tell how soon such a win comes at the latest: in a column in which a threat waits,
the cell below the threat and all above. This also holds if several threats wait: even ones of the second player in the
first case, and in the other even ones of the first player beside the odd one, whose columns count up to an even number,
too. All other columns are full by then, and the next two stones, below a threat and on it, end the game.
"""

from collections.abc import Callable

import numpy as np
from numba import njit, types

from ttt_net.games.line import LineState
from ttt_net.strategies.compiled.kit import held_to
from ttt_net.strategies.compiled.machine import (
    ONE,
    ZERO,
    U,
    count_each,
    count_ones,
    lane_numbers,
    lanes_of,
    largest_half,
    leading_zeros,
    peek,
    peek_largest_half,
    poke,
    poke_half,
    poke_halves,
    poke_lanes,
    spread,
    where_zero,
    zero_lanes,
)
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.strategy import Effort, Stopped

TWO, THREE, FOUR, SEVEN = U(2), U(3), U(4), U(7)
WIDTH, HEIGHT, CELLS = 7, 6, 42
UP, RIGHT, RIGHT_DOWN, RIGHT_UP = U(1), U(7), U(6), U(8)
BOTTOM = U(sum(1 << column * 7 for column in range(WIDTH)))
BOARD = U(sum(0b111111 << column * 7 for column in range(WIDTH)))
COLUMN = U(0b111111)


@njit(inline="always")
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


@njit(inline="always")
def winning_cells(stones, taken):
    """Return the empty cells that complete four of `stones`, reachable or not; of words or of lanes."""
    cells = (stones << UP) & (stones << TWO) & (stones << THREE)
    lines = threes(stones, RIGHT) | threes(stones, RIGHT_DOWN) | threes(stones, RIGHT_UP)
    return (cells | lines) & BOARD & ~taken


@njit(inline="always")
def fours(stones):
    """Return a word that is not 0 if there are four in a row; of words or of lanes."""
    up, right = stones & (stones >> UP), stones & (stones >> RIGHT)
    down, diagonal = stones & (stones >> RIGHT_DOWN), stones & (stones >> RIGHT_UP)
    return (
        (up & (up >> (UP * TWO)))
        | (right & (right >> (RIGHT * TWO)))
        | (down & (down >> (RIGHT_DOWN * TWO)))
        | (diagonal & (diagonal >> (RIGHT_UP * TWO)))
    )


@njit(inline="always")
def mirrored(key):
    """Return a key with its columns in reverse."""
    lane = U(127)
    turned = ZERO
    for column in range(7):
        turned |= ((key >> U(column * 7)) & lane) << U((6 - column) * 7)
    return turned


OFFSET = 32
"""More than any score: a bound that tells nothing. Added to a score, it makes six bits without a sign of it."""
ODD_ROWS = U(sum(0b010101 << column * 7 for column in range(WIDTH)))
EVEN_ROWS = U(sum(0b101010 << column * 7 for column in range(WIDTH)))
ROW_3, ROW_5 = (U(sum(1 << column * 7 + row for column in range(WIDTH))) for row in (2, 4))
TOPS = U(sum(1 << column * 7 + 6 for column in range(WIDTH)))
"""The bit above each column, which is on no board."""


@njit(inline="always")
def from_there_up(cells):
    """Return the cells of each column from the lowest of `cells` on, and maybe its topmost bit; of words or lanes."""
    return (TOPS - cells) | cells


@njit(inline="always")
def left_empty(waiting):
    """Return the cells that stay empty until one of the `waiting` threats decides the game; of words or of lanes."""
    return from_there_up(waiting >> ONE) & BOARD


@njit(inline="always")
def firsts_by_follow_up(taken, playable, waiting):
    """Return the cells that the first player, who is to move, may yet get; `waiting` are the second's even threats."""
    return ~taken & BOARD & (playable | ODD_ROWS) & ~from_there_up(waiting)


@njit(inline="always")
def follow_up_bound(own, taken, playable, waiting):
    """Return an upper bound of the first player's score, who is to move, or `OFFSET`; `waiting` as above."""
    bound = OFFSET
    if fours(own | firsts_by_follow_up(taken, playable, waiting)) == ZERO:
        bound = -types.int64(count_ones(left_empty(waiting)) >> ONE)
        if waiting == ZERO and fours((own ^ taken) | (~taken & BOARD & EVEN_ROWS & ~playable)) != ZERO:
            bound = -1
    return bound


@njit(inline="always")
def held_by_follow_up(own, taken, move, cells, replies):
    """Return a lower bound of the score of the second player, who is to move, or -`OFFSET`: the best of all moves.

    `cells` are their threats after each move, `replies` the cells that can be played then.
    """
    after = move | taken
    waiting = cells & EVEN_ROWS & ~replies
    firsts = fours(firsts_by_follow_up(after, replies, waiting) | (own ^ taken))
    held = zero_lanes(firsts) & ~zero_lanes(move)
    bound = -OFFSET
    if held != ZERO:
        sooner = where_zero(move, move, count_each(left_empty(waiting)) >> ONE)
        bound = types.int64(largest_half(where_zero(firsts, sooner, spread(ZERO))))
        if bound == 0 and (held & ~zero_lanes(fours(move | own | (~after & BOARD & EVEN_ROWS & ~replies)))) != ZERO:
            bound = 1
    return bound


@njit(inline="always")
def lost_in_zugzwang(second, taken, playable, threats, threat):
    """Return in each lane the least by which the second player, who is to move, loses, or 0.

    `threats` are the first's, `threat` one of them that waits in row 3 or 5, or 0.
    """
    high = threat & ROW_5
    odd_cells = threat | (threat >> TWO) | (high >> FOUR) | ((threat & ROW_3) << TWO)
    even_cells_below = (threat >> ONE) | (high >> THREE)
    elsewhere = (~odd_cells & ODD_ROWS) | playable
    waiting = threats & EVEN_ROWS & ~playable & ~(odd_cells << ONE)
    granted = elsewhere & ~from_there_up(waiting) | even_cells_below | (playable & odd_cells)
    lost = (count_each(left_empty(waiting | threat)) - ONE) >> ONE
    held = fours(second | (granted & ~taken & BOARD))
    return where_zero(held, where_zero(threat, threat, lost), spread(ZERO))


@njit(inline="always")
def zugzwang_bound(own, taken, playable, threats):
    """Return an upper bound of the score of the second player, who is to move, or `OFFSET`; the first has `threats`."""
    odd = spread(threats & ~playable & (ROW_3 | ROW_5)) & (COLUMN << (lane_numbers() * SEVEN))
    lowest = odd & (ZERO - odd)
    lost = largest_half(lost_in_zugzwang(spread(own), spread(taken), spread(playable), spread(threats), lowest))
    return -types.int64(lost) if lost != ZERO else OFFSET


@njit(inline="always")
def won_by_zugzwang(own, taken, move, cells, replies):
    """Return a lower bound of the score of the first player, who is to move, or -`OFFSET`: the best of all moves.

    `cells` are their threats after each move; only the leftmost suitable one is used. `replies` are the cells that can
    be played then.
    """
    odd = cells & ~replies & (ROW_3 | ROW_5)
    bound = -OFFSET
    if (~zero_lanes(odd) & ~zero_lanes(move) & U(255)) != ZERO:
        leftmost = odd & (ZERO - odd)
        lost = lost_in_zugzwang(spread(own ^ taken), move | taken, replies, cells, leftmost)
        won = largest_half(where_zero(move, move, lost))
        bound = types.int64(won) if won != ZERO else -OFFSET
    return bound


@njit(inline="always")
def upper_bound(own, taken, threats, stones, alpha):
    """Return an upper bound of the score that may be no more than `alpha`, or `OFFSET`; `threats` are the other's."""
    playable = (taken + BOTTOM) & BOARD
    waiting = threats & ~playable
    bound = OFFSET
    if stones & 1 == 0:
        waiting &= EVEN_ROWS
        if (alpha >= -1) | (alpha >= -types.int64(count_ones(left_empty(waiting)) >> ONE)):
            bound = follow_up_bound(own, taken, playable, waiting)
    elif (waiting & (ROW_3 | ROW_5)) != ZERO:
        empty = types.int64(count_ones(left_empty(waiting & (EVEN_ROWS | ROW_3 | ROW_5))))
        if alpha >= -((empty - 1) >> 1):
            bound = zugzwang_bound(own, taken, playable, threats)
    return bound


@njit(inline="always")
def lower_bound(own, taken, move, cells, replies, stones, alpha):
    """Return a lower bound of the score that may be above `alpha`, or -`OFFSET`.

    `move` has a move in each lane, `cells` the threats after it, `replies` the cells that can be played then.
    """
    bound = -OFFSET
    if stones & 1 == 1:
        if alpha <= 2:
            bound = held_by_follow_up(own, taken, move, cells, replies)
    else:
        bound = won_by_zugzwang(own, taken, move, cells, replies)
    return bound


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
    """Return the word stored for a tag in a bucket, or 0, which has no bounds."""
    first, second = peek(block, slot), peek(block, slot + 1)
    other = second if (second >> U(18)) == tag else ZERO
    return first if (first >> U(18)) == tag else other


@njit(inline="always")
def probe_moves(other, taken, moves, alpha, block):
    """Return what the table knows of the positions after the moves.

    That is a lower bound for the best of them, an upper bound for those that are known to be no better than `alpha`,
    and a bit for the column of each of the latter. All are looked up, so that there is no branch to predict.
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
    """Store a position's word, which has both bounds, in place of that word of its bucket which cost less."""
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

    `threats` are the winning cells of the other side, `stones` the number of all stones. Frames in the block hold the
    positions on the way: a recursive call for each of so many millions would cost a tenth of the time.
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

    First it asks about a near loss and a near win, then about a win of the first player and a loss and a win before the
    last stones, and then in steps that double. Questions about scores next to the true one are the expensive ones, and
    the true one is usually close to a draw.
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


LOG_BUCKETS = 15
"""512 KB of table. It is to fit the cache of one core with room to spare: more makes the search slower, not faster."""

EARLY = 4
"""A position of so few stones takes seconds, for which a table of twice the size is worth it."""

UNWATCHED_NODES = 60_000
"""About two milliseconds: as long as a limit goes unnoticed anyway, so not worth a second thread to watch over it."""


class Connect4Search:
    """Finds exact scores, and keeps its table from one question to the next, because its contents stay true.

    `on_long` is called whenever a search takes longer than two milliseconds, while it goes on.
    """

    def __init__(self, on_long: Callable[[], object]) -> None:
        self._on_long = on_long
        self._block = np.zeros(TABLE + (4 << LOG_BUCKETS), dtype=np.uint64)
        self._block[LOG] = LOG_BUCKETS
        self._address = np.uint64(self._block.ctypes.data)

    def forget(self) -> None:
        """Empty the table."""
        self._block[TABLE:] = 0
        self._block[LOG] = LOG_BUCKETS

    def score(self, state: LineState, effort: Effort, low: int, high: int) -> int:
        """Return the score of a position that is not over, at least within low..high; raises `Stopped`."""
        if state.ply <= EARLY and self._block[LOG] == LOG_BUCKETS:
            self.forget()  # its places hang on its size
            self._block[LOG] = LOG_BUCKETS + 1
        own, other = own_and_other(state)
        question = np.uint64(own), np.uint64(other), low, high, self._address
        self._block[NODES] = effort.nodes
        self._block[BUDGET] = min(effort.nodes + UNWATCHED_NODES, effort.max_nodes)
        score = STOPPED if effort.is_over() else solve(*question)
        if score == STOPPED and not effort.is_over():
            self._block[BUDGET] = effort.max_nodes
            self._on_long()
            with held_to(effort, self._block, BUDGET):
                score = solve(*question)
        effort.nodes = int(self._block[NODES])
        if score == STOPPED:
            raise Stopped
        return int(score)
