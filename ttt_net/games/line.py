"""The line games: k in a row on a board, with or without gravity, such as tic-tac-toe, Connect Four and Qubic."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import prod
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Game, Move, Outcome, Reason, Side
from ttt_net.games.geometry import (
    bits_of,
    cell_name,
    cells_of,
    complete_lines,
    count_lines,
    draw_bits,
    lines_through,
    list_cells,
    winning_lines,
)

_TABLE_CELLS = 10
"""Boards with at most this many cells have a table that says of every set of cells whether it contains a line."""
_LISTED_CELLS = 16
"""Boards with more cells have so many sets of empty cells that a cache would hardly ever hit."""
_BYTE = tuple(bytes([cell]) for cell in range(256))
"""All cells as bytes. Boards with fewer cells list them as `bytes`, the sequence of numbers that is fastest to copy."""

_new = tuple.__new__
"""Creates a `LineState` in half the time of a constructor call."""


class LineState(NamedTuple):
    """A position: the cells of each side as bitboards (bit n is cell n), moves made, and whether a line is complete."""

    first: int
    second: int
    ply: int
    has_line: bool


class LineGame(Game[LineState]):
    """K in a row on a flat board or in space, with or without gravity.

    With gravity, marks fall down the rows of a flat board, or in 3-D down the layers to layer 0. In misère, the side
    that completes a line loses.
    """

    only_adds_marks = True

    def __init__(
        self, name: str, title: str, rule: str, shape: tuple[int, ...], k: int, *, gravity: bool, misere: bool = False
    ) -> None:
        self.name, self.title, self.rule = name, title, rule
        self.shape, self.k, self.gravity, self.misere = shape, k, gravity, misere
        height, width = shape[-2:]
        self.size = prod(shape)
        self.full = (1 << self.size) - 1
        self.fall = width if len(shape) == 2 else -height * width
        """The difference from a cell to the cell below it."""
        self._floor = self.full ^ (self.full >> width) if self.fall > 0 else (1 << height * width) - 1
        self.line_count = count_lines(shape, k)
        self._bits = tuple(1 << n for n in range(self.size))
        self._below = tuple(
            1 << n + self.fall if gravity and not bit & self._floor else 0 for n, bit in enumerate(self._bits)
        )
        """The bit of the cell that has to be taken before each cell; 0 if there is none."""
        self._near = _Near(shape, k)
        self._has_line = _lines_table(shape, k) if self.size <= _TABLE_CELLS else ()
        self.move_cells = tuple(range(self.size))
        self._cell = {bit: n for n, bit in enumerate(self._bits)}
        self._pack: Callable[[tuple[int, ...]], bytes | tuple[int, ...]] = bytes if self.size < 256 else tuple
        self._listed = (0, self._pack(self.move_cells))
        self.move_names = tuple(map(self._name, range(self.size)))
        self.initial = LineState(0, 0, 0, has_line=False)

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """Every line, as bitboards; computed on first use, which takes milliseconds for a large board."""
        return winning_lines(self.shape, self.k)

    @cached_property
    def lines_through(self) -> tuple[tuple[int, ...], ...]:
        """The lines through each cell; computed on first use."""
        return tuple(tuple(chain.from_iterable(lines_through(self.shape, self.k, cell))) for cell in range(self.size))

    def _name(self, cell: int) -> str:
        if not self.gravity:
            return cell_name(self.shape, cell)
        height, width = self.shape[-2:]
        return str(cell % width + 1) if len(self.shape) == 2 else cell_name((height, width), cell % (height * width))

    def to_move(self, state: LineState) -> Side:
        """Return the side to move: the sides alternate."""
        return state.ply & 1

    def actions(self, state: LineState) -> Sequence[Move]:
        """Return the empty cells, or with gravity the supported ones."""
        first, second, _, has_line = state
        if has_line:
            return ()
        taken = first | second
        if self.gravity:
            return cells_of((self.full ^ taken) & self._support(taken))
        if self.size <= _LISTED_CELLS:
            return cells_of(self.full ^ taken)
        # A walk through a game needs one cell less each time. Removing a byte from the last result takes a fraction of
        # the time of listing a 15x15 board again.
        last, cells = self._listed
        gone = taken ^ last
        if gone:
            cell = self._cell.get(gone)
            if cell is None or gone & last:
                cells = self._pack(list_cells(self.full ^ taken))
            elif isinstance(cells, bytes):
                cells = cells.replace(_BYTE[cell], b"")
            else:
                place = bisect_left(cells, cell)
                cells = cells[:place] + cells[place + 1 :]
            self._listed = (taken, cells)
        return cells

    def _support(self, taken: int) -> int:
        return (taken >> self.fall if self.fall > 0 else taken << -self.fall) | self._floor

    def result(self, state: LineState, move: Move) -> LineState:
        """Return the position with one more mark. Raises `Refusal` if the cell is not legal."""
        first, second, ply, has_line = state
        if has_line or not 0 <= move < self.size:
            raise self._refusal(state, move)
        bit = self._bits[move]
        if (first | second) & (bit | self._below[move]) != self._below[move]:
            raise self._refusal(state, move)
        if ply & 1:
            own = second = second | bit
        else:
            own = first = first | bit
        if self._has_line:
            return _new(LineState, (first, second, ply + 1, self._has_line[own]))
        # Counting the marks in reach of the cell, then in each direction, avoids testing every line in most positions.
        reach, rays = self._near[move]
        if (own & reach).bit_count() >= self.k:
            for ray, lines in rays:
                if (own & ray).bit_count() >= self.k:
                    for line in lines:
                        if own & line == line:
                            return _new(LineState, (first, second, ply + 1, True))
        return _new(LineState, (first, second, ply + 1, False))

    def _refusal(self, state: LineState, move: Move) -> Refusal:
        taken = 0 <= move < self.size and (state.first | state.second) >> move & 1
        return self.refuse(state, move, taken=bool(taken))

    def is_terminal(self, state: LineState) -> bool:
        """Tell whether a line is complete or the board is full."""
        return state.has_line or state.ply == self.size

    def utility(self, state: LineState, side: Side) -> int:
        """Return 1 for the side that completed the line, -1 for the other, 0 without a line; in misère the reverse."""
        if not state.has_line:
            return 0
        return -1 if (state.ply & 1 == side) != self.misere else 1

    def outcome(self, state: LineState) -> Outcome | None:
        """Return the winner by a line, or a draw on a full board."""
        if state.has_line:
            return Outcome((state.ply & 1) ^ (not self.misere), Reason.LINE)
        return Outcome(None, Reason.DRAW) if state.ply == self.size else None

    def board(self, state: LineState) -> str:
        """Return `X` for the first side's cells, `O` for the second's."""
        return draw_bits(state.first, state.second, self.size)

    def line(self, state: LineState) -> tuple[int, ...]:
        """Return every cell of the lines that the last mover completed."""
        if not state.has_line:
            return ()
        return list_cells(_union(self.complete_lines(state.first if state.ply & 1 else state.second)))

    def line_side(self, state: LineState) -> Side | None:
        """Return the side that moved last, if it completed a line."""
        return 1 - (state.ply & 1) if state.has_line else None

    def complete_lines(self, own: int) -> list[int]:
        """Return the lines that lie completely in the cells `own`."""
        return complete_lines(self.shape, self.k, own)

    def place(self, board: str, details: str) -> LineState:
        """Return the position of a board. Raises `Refusal` with the reason if it is unreachable."""
        self.refuse_details(details)
        first, second = bits_of(board, "X"), bits_of(board, "O")
        ply = (first | second).bit_count()
        if first.bit_count() - second.bit_count() not in (0, 1):
            raise Refusal(
                Code.BAD_NOTATION,
                f"{first.bit_count()} X and {second.bit_count()} O; X begins, so X has as many or one more",
            )
        by_first, by_second = self.complete_lines(first), self.complete_lines(second)
        if by_first and by_second:
            raise Refusal(Code.BAD_NOTATION, "both sides have a line; play ends with the first one")
        last = last_cells(by_first or by_second, second if ply % 2 == 0 else first)
        if (by_first and ply % 2 == 0) or (by_second and ply % 2) or not (last or ply == 0):
            raise Refusal(Code.BAD_NOTATION, "play went on after a line was complete")
        if self.gravity:
            self._refuse_impossible_stacks(first, second, last)
        return LineState(first, second, ply, bool(by_first or by_second))

    def _refuse_impossible_stacks(self, first: int, second: int, last: int) -> None:
        taken = first | second
        floating = taken & ~self._support(taken)
        if floating:
            names = ", ".join(cell_name(self.shape, cell) for cell in list_cells(floating)[:3])
            raise Refusal(Code.BAD_NOTATION, f"a mark floats in the air: {names}")
        columns: dict[int, list[int]] = {}
        for cell in range(self.size) if self.fall < 0 else range(self.size - 1, -1, -1):
            if taken >> cell & 1:
                columns.setdefault(cell % abs(self.fall), []).append(cell)
        if not has_order(list(columns.values()), first, last):
            raise Refusal(Code.BAD_NOTATION, "there is no order of moves in which these marks can have fallen")


def last_cells(complete: list[int], own: int) -> int:
    """Return the cells of `own` that may have been marked last: without any of them, no line is complete."""
    for line in complete:
        own &= line
    return own


def _union(sets: tuple[int, ...] | list[int]) -> int:
    cells = 0
    for one in sets:
        cells |= one
    return cells


_Rays = tuple[tuple[int, tuple[int, ...]], ...]
"""The cells in reach of a cell in each direction, as a bitboard, with the lines that they form."""


class _Near(dict[int, tuple[int, _Rays]]):
    """The cells in reach of a cell in all directions and in each, by cell; made at the first move there.

    A board of 19 by 19 has 361 of them. Creating all would take 10 ms each time a stranger names another such board.
    """

    def __init__(self, shape: tuple[int, ...], k: int) -> None:
        self._shape, self._k = shape, k

    def __missing__(self, cell: int) -> tuple[int, _Rays]:
        rays = tuple((_union(lines), lines) for lines in lines_through(self._shape, self._k, cell))
        made = self[cell] = (_union(tuple(ray for ray, _ in rays)), rays)
        return made


@lru_cache(maxsize=256)
def _lines_table(shape: tuple[int, ...], k: int) -> tuple[bool, ...]:
    """Return whether each set of cells of a small board contains a line."""
    lines = winning_lines(shape, k)
    return tuple(any(own & line == line for line in lines) for own in range(1 << prod(shape)))


_MAX_VISITS = 20_000
"""The number of positions to try before giving up.

Boards from play need at most a few hundred; invented ones could need any number.
"""


def has_order(columns: list[list[int]], first: int, last: int) -> bool:
    """Tell whether the marks can be removed in alternation, beginning with one of `last`.

    `columns` holds the marked cells of each column from the bottom up, `first` the cells of the first side, `last` the
    possible cells of the last move. The search gives up (False) after 20,000 positions.
    """
    signs = [[1 if first >> cell & 1 else 0 for cell in column] for column in columns]
    start = tuple(map(len, columns))
    tops = [n for n, column in enumerate(columns) if last >> column[-1] & 1]
    pending = [_without(start, n) for n in tops]
    seen = set(pending)
    while pending:
        if len(seen) > _MAX_VISITS:
            return False
        heights = pending.pop()
        left = sum(heights)
        if left == 0:
            return True
        mark = left & 1  # the first side made the odd moves
        # Try the highest column first, since it blocks the most cells; the stack is last in, first out.
        for n in sorted(range(len(heights)), key=heights.__getitem__):
            if heights[n] and signs[n][heights[n] - 1] == mark:
                lower = _without(heights, n)
                if lower not in seen:
                    seen.add(lower)
                    pending.append(lower)
    return not columns


def _without(heights: tuple[int, ...], column: int) -> tuple[int, ...]:
    return (*heights[:column], heights[column] - 1, *heights[column + 1 :])
