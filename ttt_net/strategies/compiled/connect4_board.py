"""A board of Connect Four as words, and the cells that complete four in a row on it.

A board is two words: the stones of the side to move (`own`) and all stones (`taken`). Each of the 7 columns takes 7
bits, the lowest cell first, and its topmost bit stays empty: cell = column * 7 + row, row 0 at the bottom. So a shift
by 1 goes up, by 7 right, by 6 right and down, by 8 right and up, and no line runs round the edge.
"""

import numpy as np
from numba import njit

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
