"""The shapes that marks make in lines of nine cells, for five in a row, updated mark by mark, and their worth.

The board has a margin of four cells on each side. Of each place and each of the four directions a code of 16 bits says
which of the four places on either side hold a mark of side 0 (the low byte), and which one of side 1; the margin holds
both. A table maps a code to the shape that a mark of either side in the middle would make there: a five, an open four
(two cells complete it), a four (one cell does), an open three (one mark more makes an open four), and so on. Fives and
fours are exact, as all that matters to them lies within four cells. The four directions together tell how urgent a cell
is, and the estimate is the sum of the worth of all empty cells.

A cell's worth is the sum over its six pairs of directions. A weight is in tenths of 1/256 of a logit of the chance to
win. Logistic regression fitted the weights to the values of a search of 2,500 to 3,000 nodes in 40,000 positions from
matches with itself, after up to three random moves. docs/developing/experiments.md lists other attempts.
"""

from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.machine import ONE, ZERO, U, peek, poke, trailing_zeros

PER_WORTH = 10
FINER = 2
"""The additional bits of the worth of cells compared with an estimate, which has 64 units to a logit."""

# fmt: off
TO_MOVE = (
    (-5,),
    (0, -1),
    (-4, 1, 1),
    (1, 1, 6, 1),
    (5, 3, 7, 8, 11),
    (9, 5, 14, 11, 29, 43),
    (11, 6, 17, 14, 27, 48, 17),
    (47, 99, 67, 67, 115, 248, 179, 865),
    (35, 45, 68, 41, 217, 279, 167, 1091, 1072),
    (57, 97, 70, 128, 352, 515, 302, 486, 479, 54),
    (-1, 0, 0, 1, 2, 5, 3, 26, 22, 27, 0),
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
"""By two kinds, the greater one first: for the side that is to move."""

NOT_TO_MOVE = (
    (-4,),
    (-2, 0),
    (-3, 0, 0),
    (-1, 3, 3, 4),
    (2, -3, 9, 14, 14),
    (13, -1, 15, 10, 27, 31),
    (4, 11, 9, 7, 27, 48, 24),
    (46, 56, 51, 41, 59, 83, 97, 316),
    (12, 1, 56, 92, 82, 128, 122, 214, 436),
    (45, 91, 52, 131, 188, 209, 347, 1310, 1167, 1221),
    (445, 355, 275, 618, 654, 454, 805, 831, 891, 559, 0),
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
"""The same for the other side."""
# fmt: on


def worth_of(kinds: tuple[int, ...]) -> tuple[int, int]:
    """Return the worth of an empty cell with these kinds to a side: on its turn, and on the other side's."""
    pairs = [(max(a, b), min(a, b)) for n, a in enumerate(kinds) for b in kinds[n + 1 :]]
    if_to_move, if_not = (sum(table[a][b] for a, b in pairs) / PER_WORTH for table in (TO_MOVE, NOT_TO_MOVE))
    return round(if_to_move), round(if_not)


MINUS_ONE = U((1 << 64) - 1)
MOST_CELLS = 19 * 19
MARGIN = 4
MOST_PLACES = (19 + MARGIN) * (19 + 2 * MARGIN) + MARGIN
DIRECTIONS, REACH = 4, 4
WORDS = 6
"""The words of a set of cells."""

DEAD, ONE_CLOSED, ONE_OPEN, TWO_CLOSED, TWO_HALF, TWO_OPEN, THREE_CLOSED, THREE_HALF, THREE_OPEN = range(9)
FOUR_CLOSED, FOUR_OPEN, FIVE = range(9, 12)
"""The shape that a mark would make. An open three becomes an open four by two or more marks, a half open one by one."""
KINDS = 12

RANKS = (0, 1, 2, 5, 10, 14, 14, 36, 50, 60, 400, 2000)
"""The rank of a move there; two threats at once add `DOUBLE`."""
DOUBLE = 60

# What a cell's shapes in all directions make, for one side: a bit at the foot of a byte each, so that sums count cells;
# then the rank among moves. The second word is what the cell is worth to the side, in its lower half if that is to
# move, in its upper half if not.
MAKES_FIVE, MAKES_WIN, MAKES_FOUR, MAKES_FORK, MAKES_THREE, IS_NEAR = (U(1 << 8 * n) for n in range(6))
"""A win is an open four or two fours, a fork a four and an open three; near is a cell where something may begin."""
COUNTED, LISTED = U((1 << 48) - 1), MAKES_FOUR | IS_NEAR
FIVES, WINS, FOURS, FORKS = (U(8 * n) for n in range(4))
RANK, BYTE, SIXTEEN, HALF = U(48), U(0xFF), U(0xFFFF), U(32)

# The block of memory: single words, the first five as in `kit`; two words for the sides each; sets of cells for
# the sides each; then by place or cell; the two tables; and what `put` saves, by the marks on the board.
SIZE, HASH, STRIDE, FOURS_LEFT, FOURS_AT_NODE, LOOK_UNTIL = range(5, 11)
COUNTS, SUMS, FOUR_CELLS = 11, 13, 15
NEAR_CELLS = FOUR_CELLS + 2 * WORDS
OWNER = NEAR_CELLS + 2 * WORDS
CODE = OWNER + MOST_PLACES
SHAPES = CODE + MOST_PLACES
CELL = SHAPES + MOST_PLACES
PLACE = CELL + MOST_PLACES
RANDOM = PLACE + MOST_CELLS
SIDE_TO_MOVE = RANDOM + 2 * MOST_CELLS
TABLE_OF_SHAPES = SIDE_TO_MOVE + 1
TABLE_OF_CELLS = TABLE_OF_SHAPES + (1 << 16)
SAVED = TABLE_OF_CELLS + (2 << 16)
BASE_OF_SUMS = 1 << 63 | 1 << 31
"""The start value of both halves of a sum, as cells may have negative worth."""
SAVED_WORDS = OWNER - COUNTS + 2 * DIRECTIONS * REACH
"""The words saved for a mark: counts, sums and sets, and the shapes of the places in reach."""
END = SAVED + MOST_CELLS * SAVED_WORDS
EDGE = 3
"""The owner of a place outside of the board; 0 is nobody, else the side and one."""


@njit(inline="always")
def words_of(shapes, side, block):
    """Return where the two words are of a cell with those shapes, for a side."""
    return TABLE_OF_CELLS + 2 * types.int64((shapes >> U(16 * side)) & SIXTEEN)


@njit(inline="always")
def flip(place, side, what, block):
    """Change whether an empty cell belongs to the sets of a side that a word of its table differs in."""
    cell = peek(block, CELL + place)
    bit, row = ONE << (cell & U(63)), side * WORDS + types.int64(cell >> U(6))
    if what & MAKES_FOUR:
        poke(block, FOUR_CELLS + row, peek(block, FOUR_CELLS + row) ^ bit)
    if what & IS_NEAR:
        poke(block, NEAR_CELLS + row, peek(block, NEAR_CELLS + row) ^ bit)


@njit(types.void(types.int64, types.int64, types.uint64, types.uint64, types.uint64), nogil=True, cache=True)
def count_cell(place, side, sign, shapes, block):
    """Add an empty cell with those shapes to the counts of a side, or remove it if `sign` is -1."""
    at = words_of(shapes, side, block)
    word = peek(block, at)
    poke(block, COUNTS + side, peek(block, COUNTS + side) + sign * (word & COUNTED))
    poke(block, SUMS + side, peek(block, SUMS + side) + sign * peek(block, at + 1))
    if word & LISTED:
        flip(place, side, word, block)


@njit(inline="always")
def recount(place, side, old, new, block):
    """Return by how much the counts and the sum of a side grow as an empty cell's shapes change; keep its sets."""
    before, after = words_of(old, side, block), words_of(new, side, block)
    word, found = peek(block, before), peek(block, after)
    if (word ^ found) & LISTED:
        flip(place, side, word ^ found, block)
    return (found & COUNTED) - (word & COUNTED), peek(block, after + 1) - peek(block, before + 1)


@njit(inline="always")
def toggle(place, direction, bit, block):
    """Change a bit of a place's code, and if the place is empty, its shapes.

    Return by how much the counts and the sum of side 0 grow, then those of side 1.
    """
    code = peek(block, CODE + place) ^ bit
    poke(block, CODE + place, code)
    first, first_sum, second, second_sum = ZERO, ZERO, ZERO, ZERO
    if peek(block, OWNER + place) == ZERO:
        found = peek(block, TABLE_OF_SHAPES + types.int64((code >> U(16 * direction)) & SIXTEEN))
        old = peek(block, SHAPES + place)
        new = (old & ~(U(0x000F000F) << U(4 * direction))) | (found << U(4 * direction))
        if new != old:
            poke(block, SHAPES + place, new)
            if (old ^ new) & SIXTEEN:
                first, first_sum = recount(place, 0, old, new, block)
            if (old ^ new) >> U(16):
                second, second_sum = recount(place, 1, old, new, block)
    return first, first_sum, second, second_sum


@njit(types.uint64(types.int64, types.uint64), nogil=True, cache=True)
def shapes_at(place, block):
    """Return the shapes of a place by its code: four bits for each direction, in 16 bits for each side."""
    code, shapes = peek(block, CODE + place), ZERO
    for direction in range(DIRECTIONS):
        found = peek(block, TABLE_OF_SHAPES + types.int64((code >> U(16 * direction)) & SIXTEEN))
        shapes |= found << U(4 * direction)
    return shapes


@njit(types.void(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def mark(cell, side, step, block):
    """Place a mark of a side in an empty cell if `step` is 1, or remove it if `step` is -1."""
    place, stride = types.int64(peek(block, PLACE + cell)), types.int64(peek(block, STRIDE))
    poke(block, HASH, peek(block, HASH) ^ peek(block, RANDOM + side * MOST_CELLS + cell) ^ peek(block, SIDE_TO_MOVE))
    if step > 0:
        for each in range(2):
            count_cell(place, each, MINUS_ONE, peek(block, SHAPES + place), block)
        poke(block, OWNER + place, U(side + 1))
    first, first_sum, second, second_sum = ZERO, ZERO, ZERO, ZERO
    for direction in range(DIRECTIONS):
        gap = 1 if direction == 0 else stride + direction - 2
        foot = 16 * direction + 8 * side
        for way in range(2):
            for n in range(REACH):
                at = place + (n + 1) * gap * (1 - 2 * way)
                bit = ONE << U(foot + (4 + n if way else 3 - n))
                a, b, c, d = toggle(at, direction, bit, block)
                first, first_sum, second, second_sum = first + a, first_sum + b, second + c, second_sum + d
    poke(block, COUNTS, peek(block, COUNTS) + first)
    poke(block, COUNTS + 1, peek(block, COUNTS + 1) + second)
    poke(block, SUMS, peek(block, SUMS) + first_sum)
    poke(block, SUMS + 1, peek(block, SUMS + 1) + second_sum)
    if step < 0:
        poke(block, OWNER + place, ZERO)
        poke(block, SHAPES + place, shapes_at(place, block))
        for each in range(2):
            count_cell(place, each, ONE, peek(block, SHAPES + place), block)


@njit(types.void(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def put(cell, side, stones, block):
    """Place a mark in an empty cell of a board with so many marks, and save what `take_back` needs."""
    at, place = SAVED + stones * SAVED_WORDS, types.int64(peek(block, PLACE + cell))
    stride = types.int64(peek(block, STRIDE))
    for n in range(OWNER - COUNTS):
        poke(block, at + n, peek(block, COUNTS + n))
    at += OWNER - COUNTS
    for direction in range(DIRECTIONS):
        gap = 1 if direction == 0 else stride + direction - 2
        for n in range(REACH):
            poke(block, at + n, peek(block, SHAPES + place + (n + 1) * gap))
            poke(block, at + REACH + n, peek(block, SHAPES + place - (n + 1) * gap))
        at += 2 * REACH
    mark(cell, side, 1, block)


@njit(types.void(types.int64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def take_back(cell, side, stones, block):
    """Remove the mark that was put last, on a board with so many others: half the work of `mark`."""
    at, place = SAVED + stones * SAVED_WORDS, types.int64(peek(block, PLACE + cell))
    stride = types.int64(peek(block, STRIDE))
    poke(block, HASH, peek(block, HASH) ^ peek(block, RANDOM + side * MOST_CELLS + cell) ^ peek(block, SIDE_TO_MOVE))
    for n in range(OWNER - COUNTS):
        poke(block, COUNTS + n, peek(block, at + n))
    poke(block, OWNER + place, ZERO)
    at += OWNER - COUNTS
    for direction in range(DIRECTIONS):
        gap = 1 if direction == 0 else stride + direction - 2
        foot = 16 * direction + 8 * side
        for n in range(REACH):
            after, before = place + (n + 1) * gap, place - (n + 1) * gap
            poke(block, CODE + after, peek(block, CODE + after) ^ ONE << U(foot + 3 - n))
            poke(block, CODE + before, peek(block, CODE + before) ^ ONE << U(foot + 4 + n))
            poke(block, SHAPES + after, peek(block, at + n))
            poke(block, SHAPES + before, peek(block, at + REACH + n))
        at += 2 * REACH


@njit(inline="always")
def made_by(cell, side, block):
    """Return the word with the shapes that a mark of a side would make in an empty cell."""
    return peek(block, words_of(peek(block, SHAPES + types.int64(peek(block, PLACE + cell))), side, block))


@njit(inline="always")
def makes_two_threes(cell, side, block):
    """Tell whether a mark of a side in an empty cell makes three in a row or more in two directions, closed or not."""
    shapes = (peek(block, SHAPES + types.int64(peek(block, PLACE + cell))) >> U(16 * side)) & SIXTEEN
    threes = (((shapes & U(0x7777)) + U(0x2222)) | shapes) & U(0x8888)  # of four bits each: is it THREE_CLOSED or more?
    return threes & (threes - ONE) != ZERO


@njit(inline="always")
def _add(cell, cells, block):
    """Add a cell to the set that begins at the word `cells`."""
    at = cells + (cell >> 6)
    poke(block, at, peek(block, at) | ONE << U(cell & 63))


@njit(types.void(types.int64, types.int64, types.uint64), nogil=True, cache=True)
def list_stops(side, cells, block):
    """Write two sets of cells: where `side` makes fours, and what stops the first win by fours of the other side.

    Each cell that stops it lies with it in a line of five in which the other side has three marks.
    """
    other, win = 1 - side, -1
    for n in range(WORDS):
        poke(block, cells + n, peek(block, FOUR_CELLS + side * WORDS + n))
        poke(block, cells + WORDS + n, ZERO)
        bits = peek(block, FOUR_CELLS + other * WORDS + n)
        while bits and win < 0:
            cell = 64 * n + types.int64(trailing_zeros(bits))
            bits &= bits - ONE
            if made_by(cell, other, block) & MAKES_WIN:
                win = cell
    _add(win, cells + WORDS, block)
    place, stride = types.int64(peek(block, PLACE + win)), types.int64(peek(block, STRIDE))
    kinds = peek(block, SHAPES + place) >> U(16 * other)
    for direction in range(DIRECTIONS):
        if (kinds >> U(4 * direction)) & U(15) < U(FOUR_CLOSED):
            continue
        gap = 1 if direction == 0 else stride + direction - 2
        for way in range(-1, 2, 2):
            for n in range(1, REACH + 1):
                at = place + way * n * gap
                owner = peek(block, OWNER + at)
                if owner == U(EDGE) or owner == U(side + 1):
                    break
                cell = types.int64(peek(block, CELL + at))
                if owner == ZERO and made_by(cell, other, block) & MAKES_FOUR:
                    _add(cell, cells + WORDS, block)


@njit(inline="always")
def count_of(side, what, block):
    """Return the number of cells that make something for a side."""
    return (peek(block, COUNTS + side) >> what) & BYTE


@njit(inline="always")
def estimate_of(side, block):
    """Return the estimate for the side to move; the base of the sums cancels out."""
    low_half = U(0xFFFFFFFF)
    finer = types.int64(peek(block, SUMS + side) & low_half) - types.int64(peek(block, SUMS + 1 - side) >> HALF)
    return finer >> FINER


@cache
def shape_table() -> Any:
    """Return by code what a mark of side 0 in the middle makes, and in the next 16 bits one of side 1."""
    shapes = np.zeros((256, 256), dtype=np.int8)  # by own and by blocked cells; bit 3 is next to the middle, and bit 4
    blocked = np.arange(256)
    for own in sorted(range(256), key=int.bit_count, reverse=True):
        if _run(own) >= 5:
            shapes[own] = FIVE
            continue
        after = np.zeros((8, 256), dtype=np.int8)
        for cell in range(8):
            if not own >> cell & 1:
                after[cell] = np.where(blocked >> cell & 1, DEAD, shapes[own | 1 << cell])
        found = np.full(256, DEAD, dtype=np.int8)
        fives, best = (after == FIVE).sum(axis=0), np.where(after == FIVE, DEAD, after).max(axis=0)
        open_fours, threes = (after == FOUR_OPEN).sum(axis=0), (after >= THREE_HALF).sum(axis=0)
        for became, kind in (
            (ONE_CLOSED, ONE_CLOSED), (TWO_CLOSED, ONE_CLOSED), (TWO_HALF, ONE_OPEN), (THREE_CLOSED, TWO_CLOSED),
            (THREE_HALF, TWO_HALF), (FOUR_CLOSED, THREE_CLOSED), (FOUR_OPEN, THREE_HALF),
        ):  # fmt: skip
            found = np.where(best >= became, kind, found)
        found = np.where((found == TWO_HALF) & (threes >= 3), TWO_OPEN, found)
        found = np.where((found == THREE_HALF) & (open_fours >= 2), THREE_OPEN, found)
        if own == 0:
            room = np.array([_room(int(each)) for each in range(256)])
            found = np.where(room >= 7, ONE_OPEN, np.where(room >= 5, ONE_CLOSED, DEAD))
        shapes[own] = np.where(fives == 1, FOUR_CLOSED, np.where(fives > 1, FOUR_OPEN, found))
    codes = np.arange(1 << 16)
    first, second = codes & 255, codes >> 8
    sides = [shapes[a & ~b, b].astype(np.uint64) for a, b in ((first, second), (second, first))]
    return sides[0] | sides[1] << U(16)


def _run(own: int) -> int:
    """Return the number of own cells in a row, including the middle."""
    low = next((n for n in range(4) if not own >> 3 - n & 1), 4)
    return 1 + low + next((n for n in range(4) if not own >> 4 + n & 1), 4)


def _room(blocked: int) -> int:
    """Return the number of cells in a row that are not blocked, including the middle."""
    return _run(~blocked & 255)


@cache
def cell_table() -> Any:
    """Return the two words of a cell by its shapes in the four directions, four bits each."""
    table = np.zeros((1 << 16, 2), dtype=np.uint64)
    index = np.arange(1 << 16)
    nibbles = np.sort(np.stack([index >> 4 * n & 15 for n in range(4)]), axis=0)
    sorted_index = sum(nibbles[n] << 4 * n for n in range(4))
    for kinds in combinations_with_replacement(range(KINDS), 4):
        at = sum(kind << 4 * n for n, kind in enumerate(kinds))
        table[at] = _words(kinds)
    return table[sorted_index].ravel()


def _words(kinds: tuple[int, ...]) -> tuple[int, int]:
    fives, open_fours, fours = (kinds.count(kind) for kind in (FIVE, FOUR_OPEN, FOUR_CLOSED))
    threes = kinds.count(THREE_HALF) + kinds.count(THREE_OPEN)
    is_win = not fives and (open_fours > 0 or fours > 1)
    made = {
        MAKES_FIVE: fives > 0,
        MAKES_WIN: is_win,
        MAKES_FOUR: fives + open_fours + fours > 0,
        MAKES_FORK: not fives and not is_win and fours > 0 and threes > 0,
        MAKES_THREE: threes > 0,
        IS_NEAR: max(kinds) >= TWO_HALF or kinds.count(TWO_CLOSED) > 1,
    }
    rank = sum(RANKS[kind] for kind in kinds) + DOUBLE * (fives + open_fours + fours + threes > 1)
    word = sum(int(bit) for bit, is_made in made.items() if is_made) | rank << int(RANK)
    if_to_move, if_not = worth_of(kinds)
    return word, (if_not << int(HALF)) + if_to_move & (1 << 64) - 1
