"""Number and name the cells of boards of any shape, and list their lines as bitboards, independent of rules.

A cell is a number: cell = (z * height + y) * width + x, layer 0 first, row 0 at the top. A set of cells is a bitboard:
an int whose bit n represents cell n.
"""

from functools import lru_cache
from itertools import compress, permutations, product
from typing import NamedTuple

Shape = tuple[int, ...]

_ZERO_ONE = bytes.maketrans(b"01", b"\0\1")
_MARKS = str.maketrans("012", ".XO")
_CELLS = tuple(range(1024))
"""More than the cells of any board."""


class Direction(NamedTuple):
    """All lines of `k` cells with the same direction on a board."""

    stride: int
    """The difference between neighbouring cells of a line; at least 1."""
    line: int
    """The line from cell 0, as a bitboard; shifting it by a lowest cell gives each other line."""
    starts: int
    """The lowest cells of the lines, as a bitboard."""


@lru_cache(maxsize=64)
def directions(shape: Shape, k: int) -> tuple[Direction, ...]:
    """Return the directions in which a board of `shape` has lines of `k` cells; exactly one if `k` is 1."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    found: list[Direction] = []
    for step in product((-1, 0, 1), repeat=len(shape)):
        if step <= (0,) * len(shape):
            continue  # the same line, walked backwards
        stride = sum(d * t for d, t in zip(step, strides, strict=True))
        starts = 1
        for size, d, t in zip(reversed(shape), reversed(step), reversed(strides), strict=True):
            starts = sum(starts << start * t for start in _starts(size, d * (k - 1)))
        if starts:
            # the step is positive in its first nonzero axis, so the start is the lowest cell of the line
            found.append(Direction(stride, sum(1 << i * stride for i in range(k)), starts))
            if k == 1:
                break  # a line of one cell has no direction
    return tuple(found)


def _starts(size: int, reach: int) -> range:
    return range(max(0, -reach), min(size, size - reach))


def winning_lines(shape: Shape, k: int) -> tuple[int, ...]:
    """Return every straight line of `k` cells on a board of `shape`, as bitboards, in unspecified order."""
    return tuple(way.line << start for way in directions(shape, k) for start in list_cells(way.starts))


def count_lines(shape: Shape, k: int) -> int:
    """Return the number of straight lines of `k` cells without creating them."""
    return sum(way.starts.bit_count() for way in directions(shape, k))


def lines_through(shape: Shape, k: int, cell: int) -> tuple[tuple[int, ...], ...]:
    """Return the lines of `k` cells through a cell, by direction; directions without lines are omitted."""
    by_direction = []
    for way in directions(shape, k):
        starts = range(cell, max(-1, cell - k * way.stride), -way.stride)
        lines = tuple(way.line << start for start in starts if way.starts >> start & 1)
        if lines:
            by_direction.append(lines)
    return tuple(by_direction)


def complete_lines(shape: Shape, k: int, own: int) -> list[int]:
    """Return the lines of `k` cells that lie completely in the cells `own`."""
    found: list[int] = []
    for way in directions(shape, k):
        starts = own & way.starts
        for place in range(1, k):
            starts &= own >> place * way.stride
        found += [way.line << start for start in list_cells(starts)]
    return found


def symmetries(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """Return the rotations and reflections of a board, each as the image of every cell."""
    cells = {place: cell for cell, place in enumerate(product(*map(range, shape)))}
    images: dict[tuple[int, ...], None] = {}
    for axes in permutations(range(len(shape))):
        for sides in product(*((range(size), range(size)[::-1]) for size in shape)):
            turned = [tuple(place[axis] for axis in axes) for place in product(*sides)]
            if set(turned) == set(cells):
                images[tuple(cells[place] for place in turned)] = None
    return tuple(images)


def list_cells(bits: int) -> tuple[int, ...]:
    """Return the numbers of the set bits, ascending; at most 1,024 bits."""
    return tuple(compress(_CELLS, bin(bits)[:1:-1].encode().translate(_ZERO_ONE)))


# Small boards and the few legal cells of games with gravity recur often. The cache is bounded, because strangers choose
# the positions.
cells_of = lru_cache(maxsize=4096)(list_cells)


def bits_of(board: str, mark: str) -> int:
    """Return the cells of `board` that hold `mark`, as a bitboard."""
    return sum(1 << cell for cell, held in enumerate(board) if held == mark)


def draw_bits(first: int, second: int, size: int) -> str:
    """Return a board of `size` cells with `X` in the cells of `first`, `O` in those of `second` and `.` elsewhere.

    The two sets are disjoint. Each bit becomes a hexadecimal digit, so that one addition combines the boards.
    """
    digits = int(f"{first:b}", 16) + 2 * int(f"{second:b}", 16)
    return hex(digits)[:1:-1].ljust(size, "0").translate(_MARKS)


def cell_name(shape: Shape, cell: int) -> str:
    """Return the name of a cell: `b2` is column b, row 2 from the bottom; in 3-D, `2:b3` is b3 of layer 2."""
    height, width = shape[-2:]
    z, place = divmod(cell, height * width)
    y, x = divmod(place, width)
    name = f"{chr(ord('a') + x)}{height - y}"
    return f"{z + 1}:{name}" if len(shape) == 3 else name
