"""Keep counts of the marks in every line of a large board up to date mark by mark, compiled.

A line that holds marks of one side alone is open to that side; one without marks is open to both. For each cell and
side there is a pattern, the sum of what the open lines through the cell contribute to it: in its lowest 8 bits the
lines that the cell would complete, in the next 8 those that would then lack one mark more, above these a rank, the
higher the more marks these lines hold. So a mark changes the patterns of the cells in its own lines and no others.
"""

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.memory import peek, poke

U = np.uint64
ZERO, ONE = U(0), U(1)
MOST_CELLS = 19 * 19
MOST_IN_LINE = 19
COMPLETES, THREATENS, RANK = U(0xFF), U(0xFF00), U(16)

# The block of memory: single words, the first five as in `alphabeta`; two words for the sides each; what a line
# contributes and is worth by its marks; then the cells. Where the lines lie, whose number depends on the game, is in
# words of its own: the lines through each cell, the cells of each line, the marks of each side in each line.
SIZE, IN_LINE, HASH, OPEN, THROUGH, CELLS_OF, MARKS, FOURS_LEFT, FOURS = range(5, 14)
SCORE, LACK_ONE = 14, 16
CONTRIBUTION = 18
WORTH = CONTRIBUTION + MOST_IN_LINE + 1
OWNER = WORTH + MOST_IN_LINE + 1
PATTERN = OWNER + MOST_CELLS
RANDOM = PATTERN + 2 * MOST_CELLS
STARTS = RANDOM + 2 * MOST_CELLS
END = STARTS + MOST_CELLS + 1


@njit(types.void(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def mark(cell, side, step, block):
    """Put a mark of a side into an empty cell if `step` is 1, or take it away again if it is -1."""
    poke(block, OWNER + cell, U(side + 1) if step > 0 else ZERO)
    poke(block, HASH, peek(block, HASH) ^ peek(block, RANDOM + side * MOST_CELLS + cell))
    length, sign = types.int64(peek(block, IN_LINE)), ONE if step > 0 else ZERO - ONE
    through, cells_of = types.int64(peek(block, THROUGH)), types.int64(peek(block, CELLS_OF))
    marks = types.int64(peek(block, MARKS))
    for n in range(types.int64(peek(block, STARTS + cell)), types.int64(peek(block, STARTS + cell + 1))):
        line = types.int64(peek(block, through + n))
        own = types.int64(peek(block, marks + 2 * line + side))
        other = types.int64(peek(block, marks + 2 * line + 1 - side))
        poke(block, marks + 2 * line + side, U(own + step))
        own = min(own, own + step)
        for_own, for_other = ZERO, ZERO
        if other == 0:
            for_own = peek(block, CONTRIBUTION + own + 1) - peek(block, CONTRIBUTION + own)
            gain = peek(block, WORTH + own + 1) - peek(block, WORTH + own)
            poke(block, SCORE + side, peek(block, SCORE + side) + sign * gain)
            change = U(own + 1 == length - 1) - U(own == length - 1)
            poke(block, LACK_ONE + side, peek(block, LACK_ONE + side) + sign * change)
            if own == 0:
                for_other = ZERO - peek(block, CONTRIBUTION)
        elif own == 0:
            for_other = ZERO - peek(block, CONTRIBUTION + other)
            poke(block, SCORE + 1 - side, peek(block, SCORE + 1 - side) - sign * peek(block, WORTH + other))
            lacked = U(other == length - 1)
            poke(block, LACK_ONE + 1 - side, peek(block, LACK_ONE + 1 - side) - sign * lacked)
            poke(block, OPEN, peek(block, OPEN) - sign)
        else:
            continue
        for_own *= sign
        for_other *= sign
        own_patterns, other_patterns = PATTERN + side * MOST_CELLS, PATTERN + (1 - side) * MOST_CELLS
        for m in range(cells_of + line * length, cells_of + (line + 1) * length):
            at = types.int64(peek(block, m))
            poke(block, own_patterns + at, peek(block, own_patterns + at) + for_own)
            poke(block, other_patterns + at, peek(block, other_patterns + at) + for_other)


@njit(inline="always")
def pattern(cell, side, block):
    """Return the pattern of a cell for a side if the cell is empty, else 0."""
    return ZERO if peek(block, OWNER + cell) else peek(block, PATTERN + side * MOST_CELLS + cell)


@njit(inline="always")
def completing(side, block):
    """Return how many cells complete a line for a side, counted up to two, and one of them, or -1."""
    count, found = 0, -1
    for cell in range(types.int64(peek(block, SIZE))):
        if pattern(cell, side, block) & COMPLETES:
            found = cell
            count += 1
            if count == 2:
                break
    return count, found
