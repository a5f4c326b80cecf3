"""A board of Connect Four as words, the cells that complete four in a row on it, and bounds of a score.

A board is two words: the stones of the side to move (`own`) and all stones (`taken`). Each of the 7 columns takes 7
bits, the lowest cell first, and its topmost bit stays empty: cell = column * 7 + row, row 0 at the bottom. So a shift
by 1 goes up, by 7 right, by 6 right and down, by 8 right and up, and no line runs round the edge.

The bounds need no search: odd and even rows tell which side runs out of harmless moves.

A threat is an empty cell that completes four of a side. It waits if the cell below it is empty too, and then neither
side wants to play there: the other side would lose, the owner would give the threat away. Rows are counted from 1, so
odd and even cells lie above each other by turns. (Allis, "A knowledge-based approach of connect-four", 1988, calls
what follows follow-up, or claimeven, and zugzwang.)

The second player holds by following up: with the first to move, they answer in the same column, so the first gets the
odd cells and the second the even ones. Columns whose next cell is even are even in number, so the second answers one
of these cells with another; to be safe they are granted to the first. Cells from a waiting even threat of the second
on are never the first's: they would have to play below it. If even so the first has no four, they cannot win; and if
then the second's cells hold one, or a threat waits, they lose: in the end they have to play below it.

The first player holds the same way if an odd threat of theirs waits: the column counts up to below the cell under it
only, and that makes the number of cells odd. With the second to move, the first answers in the same column and gets the
even cells, in the column of the threat the odd ones below it; the second gets the others, those that can be played
at once, and in the end has to play below the threat. If with all of these the second has no four, the first wins.

How soon such a win comes at the latest is told by the cells that stay empty until then: of a column in which a threat
waits, those from below it up. So also where more than one waits: in the first case even threats of the second, in the
other even threats of the first besides the odd one, whose columns count up to an even number, too. All other columns
are full by then, and the next two stones, below a threat and on it, end the game.
"""

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.lanes import count_each, lane_numbers, largest_half, spread, where_zero, zero_lanes
from ttt_net.strategies.compiled.memory import count_ones

U = np.uint64
ZERO, ONE, TWO, THREE, FOUR, SEVEN = U(0), U(1), U(2), U(3), U(4), U(7)
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
    """Return a lower bound of the second player's score, who is to move, or -`OFFSET`: the best by any of their moves.

    `cells` are their threats after each move, `replies` what can be played then.
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
    """Return in each lane how much the second player, who is to move, loses at least, or 0.

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
    """Return an upper bound of the second player's score, who is to move, or `OFFSET`; `threats` are the first's."""
    odd = spread(threats & ~playable & (ROW_3 | ROW_5)) & (COLUMN << (lane_numbers() * SEVEN))
    lowest = odd & (ZERO - odd)
    lost = largest_half(lost_in_zugzwang(spread(own), spread(taken), spread(playable), spread(threats), lowest))
    return -types.int64(lost) if lost != ZERO else OFFSET


@njit(inline="always")
def won_by_zugzwang(own, taken, move, cells, replies):
    """Return a lower bound of the first player's score, who is to move, or -`OFFSET`: the best by any of their moves.

    `cells` are their threats after each move, of which the leftmost that will do is looked at; `replies` what can be
    played then.
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

    `move` has a move in each lane, `cells` the threats after it, `replies` what can be played then.
    """
    bound = -OFFSET
    if stones & 1 == 1:
        if alpha <= 2:
            bound = held_by_follow_up(own, taken, move, cells, replies)
    else:
        bound = won_by_zugzwang(own, taken, move, cells, replies)
    return bound
