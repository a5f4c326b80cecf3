"""Where cells and lines are: numbers, names and bitboards of boards of any shape; knows no rules.

A cell is a number: cell = (z * height + y) * width + x, layer 0 first, row 0 at the top. A set of cells is
a bitboard: an int whose bit n stands for cell n.
"""

from functools import lru_cache
from itertools import compress, permutations, product

Shape = tuple[int, ...]

_ZERO_ONE = bytes.maketrans(b"01", b"\0\1")
_MARKS = str.maketrans("012", ".XO")
_CELLS = tuple(range(1024))
"""More numbers than any board has cells."""


def winning_lines(shape: Shape, k: int) -> tuple[int, ...]:
    """Return every straight line of `k` cells in a board of `shape`, as bitboards, in no promised order."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    lines: list[int] = []
    for step in product((-1, 0, 1), repeat=len(shape)):
        if step <= (0,) * len(shape):
            continue  # the same line, walked backwards
        stride = sum(d * t for d, t in zip(step, strides, strict=True))
        line = sum(1 << i * abs(stride) for i in range(k))
        for start in product(*(_starts(size, d * (k - 1)) for size, d in zip(shape, step, strict=True))):
            # the step is positive in its first non-zero axis, so `start` has the lowest cell of the line
            lines.append(line << sum(s * t for s, t in zip(start, strides, strict=True)))
    return tuple(dict.fromkeys(lines))


def _starts(size: int, reach: int) -> range:
    return range(max(0, -reach), min(size, size - reach))


def symmetries(shape: Shape) -> tuple[tuple[int, ...], ...]:
    """Return the turns and reflections that leave a board as it is, each as the cell that every cell comes to."""
    cells = {place: cell for cell, place in enumerate(product(*map(range, shape)))}
    images: dict[tuple[int, ...], None] = {}
    for axes in permutations(range(len(shape))):
        for sides in product(*((range(size), range(size)[::-1]) for size in shape)):
            turned = [tuple(place[axis] for axis in axes) for place in product(*sides)]
            if set(turned) == set(cells):
                images[tuple(cells[place] for place in turned)] = None
    return tuple(images)


def list_cells(bits: int) -> tuple[int, ...]:
    """Return the numbers of the bits that are set, ascending; at most 1,024 bits."""
    return tuple(compress(_CELLS, bin(bits)[:1:-1].encode().translate(_ZERO_ONE)))


# Small boards and the few legal cells of games with gravity come back again and again. The bound keeps
# strangers, who choose the positions, from filling the memory.
cells_of = lru_cache(maxsize=4096)(list_cells)


def bits_of(board: str, mark: str) -> int:
    """Return the cells of `board` that hold `mark`, as a bitboard."""
    return sum(1 << cell for cell, held in enumerate(board) if held == mark)


def draw_bits(first: int, second: int, size: int) -> str:
    """Return a board of `size` cells with `X` in the cells of `first`, `O` in those of `second` and `.` elsewhere.

    The two share no cell. Each bit becomes a hexadecimal digit, so that one addition lays the boards over each other.
    """
    digits = int(f"{first:b}", 16) + 2 * int(f"{second:b}", 16)
    return hex(digits)[:1:-1].ljust(size, "0").translate(_MARKS)


def cell_name(shape: Shape, cell: int) -> str:
    """Return how people write a cell: `b2` is column b, row 2 from below; in 3-D `2:b3` is b3 of layer 2."""
    height, width = shape[-2:]
    z, place = divmod(cell, height * width)
    y, x = divmod(place, width)
    name = f"{chr(ord('a') + x)}{height - y}"
    return f"{z + 1}:{name}" if len(shape) == 3 else name
