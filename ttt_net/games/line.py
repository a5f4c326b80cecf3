"""The line games: a board, k in a row, and perhaps gravity. Tic-tac-toe, Connect Four and m,n,k are data for it."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import EMPTY, Game, Move, Outcome, Reason, Side


class LineState(NamedTuple):
    """A position: the cells of each side as bitboards (bit n is cell n), moves made, and whether a line is complete."""

    first: int
    second: int
    ply: int
    has_line: bool


def winning_lines(shape: tuple[int, ...], k: int) -> tuple[int, ...]:
    """Return every straight line of `k` cells in a board of `shape`, as bitboards, in no promised order."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)

    def lines() -> Iterator[int]:
        for step in product((-1, 0, 1), repeat=len(shape)):
            if step <= (0,) * len(shape):
                continue  # the same line, walked backwards
            for start in product(*map(range, shape)):
                end = [s + (k - 1) * d for s, d in zip(start, step, strict=True)]
                if all(0 <= e < size for e, size in zip(end, shape, strict=True)):
                    cells = ([s + i * d for s, d in zip(start, step, strict=True)] for i in range(k))
                    yield sum(1 << sum(c * t for c, t in zip(cell, strides, strict=True)) for cell in cells)

    return tuple(dict.fromkeys(lines()))


@cache
def cells_of(bits: int) -> tuple[int, ...]:
    """Return the numbers of the bits that are set, ascending."""
    return tuple(n for n in range(bits.bit_length()) if bits >> n & 1)


class LineGame(Game[LineState]):
    """K in a row on a flat board of any size, with or without gravity."""

    def __init__(self, name: str, title: str, rule: str, shape: tuple[int, int], k: int, *, gravity: bool) -> None:
        self.name, self.title, self.rule = name, title, rule
        self.shape, self.k, self.gravity = shape, k, gravity
        height, width = shape
        self.size = height * width
        self.full = (1 << self.size) - 1
        self._width = width
        self._floor = self.full ^ (self.full >> width)
        self.lines = winning_lines(shape, k)
        self.lines_through = tuple(tuple(line for line in self.lines if line >> n & 1) for n in range(self.size))
        self.move_cells = tuple(range(self.size))
        self.move_names = tuple(
            str(n % width + 1) if gravity else f"{chr(ord('a') + n % width)}{height - n // width}"
            for n in range(self.size)
        )
        self.initial = LineState(0, 0, 0, has_line=False)

    def to_move(self, state: LineState) -> Side:
        """Return the side whose turn it is: the sides alternate."""
        return state.ply & 1

    def actions(self, state: LineState) -> tuple[Move, ...]:
        """Return the empty cells, or with gravity the ones that have support."""
        return () if state.has_line else cells_of(self._legal(state.first | state.second))

    def _legal(self, taken: int) -> int:
        empty = self.full ^ taken
        return empty & (taken >> self._width | self._floor) if self.gravity else empty

    def result(self, state: LineState, move: Move) -> LineState:
        """Return the position with one more mark; a cell that is not legal raises `Refusal`."""
        first, second, ply, has_line = state
        if has_line or not (0 <= move < self.size and self._legal(first | second) >> move & 1):
            raise self._refusal(state, move)
        bit = 1 << move
        if ply & 1:
            second |= bit
            own = second
        else:
            first |= bit
            own = first
        for line in self.lines_through[move]:
            if own & line == line:
                return LineState(first, second, ply + 1, has_line=True)
        return LineState(first, second, ply + 1, has_line=False)

    def _refusal(self, state: LineState, move: Move) -> Refusal:
        legal = ", ".join(self.move_names[m] for m in self.actions(state)) or "nothing, the game is over"
        if 0 <= move < self.size and (state.first | state.second) >> move & 1:
            return Refusal(Code.CELL_TAKEN, f"cell {self.move_names[move]} is taken; legal: {legal}")
        return Refusal(Code.ILLEGAL_MOVE, f"move {move} is not possible here; legal: {legal}")

    def is_terminal(self, state: LineState) -> bool:
        """Tell whether there is a line or no room."""
        return state.has_line or state.ply == self.size

    def utility(self, state: LineState, side: Side) -> int:
        """Return 1 to the side that made the line, -1 to the other, 0 to both without one."""
        if not state.has_line:
            return 0
        return -1 if state.ply & 1 == side else 1

    def outcome(self, state: LineState) -> Outcome | None:
        """Return who made the line, or a draw on a full board."""
        if state.has_line:
            return Outcome(state.ply - 1 & 1, Reason.LINE)
        return Outcome(None, Reason.DRAW) if state.ply == self.size else None

    def board(self, state: LineState) -> str:
        """Return `X` for the first side's cells, `O` for the second's."""
        return "".join(
            "X" if state.first >> n & 1 else "O" if state.second >> n & 1 else EMPTY for n in range(self.size)
        )

    def line(self, state: LineState) -> tuple[int, ...]:
        """Return every cell of the lines that the last mover has completed."""
        if not state.has_line:
            return ()
        own = state.first if state.ply & 1 else state.second
        complete = 0
        for line in self.lines:
            if own & line == line:
                complete |= line
        return cells_of(complete)
