"""Wild tic-tac-toe: either player places X or O, so a move is a cell and a mark."""

from functools import lru_cache

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Move
from ttt_net.games.geometry import bits_of, cell_name, cells_of
from ttt_net.games.line import LineGame, LineState, last_cells


@lru_cache(maxsize=4096)
def _both_marks(empty: int) -> tuple[Move, ...]:
    return tuple(move for cell in cells_of(empty) for move in (2 * cell, 2 * cell + 1))


class WildGame(LineGame):
    """A line game in which each mark is chosen; move 2n puts X in cell n, move 2n + 1 puts O there.

    In its states `first` are the cells that hold X and `second` those that hold O, by either side.
    """

    only_adds_marks = False

    def __init__(self, name: str, title: str, rule: str, shape: tuple[int, int], k: int) -> None:
        super().__init__(name, title, rule, shape, k, gravity=False)
        self.move_cells = tuple(cell for cell in range(self.size) for _ in "XO")
        self.move_names = tuple(mark + cell_name(shape, cell) for cell in range(self.size) for mark in "XO")

    def actions(self, state: LineState) -> tuple[Move, ...]:
        """Return both marks for every empty cell."""
        return () if state.has_line else _both_marks(self.full ^ (state.first | state.second))

    def result(self, state: LineState, move: Move) -> LineState:
        """Return the position with one more X or O. Raises `Refusal` if the cell is taken."""
        first, second, ply, has_line = state
        cell = move >> 1
        taken = 0 <= cell < self.size and bool((first | second) >> cell & 1)
        if has_line or taken or not 0 <= cell < self.size:
            raise self.refuse(state, move, taken=taken)
        if move & 1:
            own = second = second | 1 << cell
        else:
            own = first = first | 1 << cell
        return LineState(first, second, ply + 1, any(own & line == line for line in self.lines_through[cell]))

    def line(self, state: LineState) -> tuple[int, ...]:
        """Return every cell of the lines that the last mover completed, of X or of O."""
        cells = 0
        for line in (*self.complete_lines(state.first), *self.complete_lines(state.second)):
            cells |= line
        return cells_of(cells)

    def marks(self, state: LineState) -> tuple[str, str]:
        """Return both marks for both sides."""
        return ("XO", "XO")

    def place(self, board: str, details: str) -> LineState:
        """Return the position of a board with any numbers of X and O. Raises `Refusal` if it has two endings."""
        self.refuse_details(details)
        first, second = bits_of(board, "X"), bits_of(board, "O")
        of_x, of_o = self.complete_lines(first), self.complete_lines(second)
        if of_x and of_o:
            raise Refusal(Code.BAD_NOTATION, "there is a line of X and one of O; play ends with the first one")
        if (of_x or of_o) and not last_cells(of_x or of_o, first | second):
            raise Refusal(Code.BAD_NOTATION, "play went on after a line was complete")
        return LineState(first, second, (first | second).bit_count(), bool(of_x or of_o))
