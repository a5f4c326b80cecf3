"""Hex: connect your two edges of a rhombus of hexagons. X owns the top and bottom edges, O the left and right ones."""

from collections.abc import Iterator
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games import EMPTY, Annotations, Face, Game, Geometry, Note, Outcome, Piece, RulePage

_NEIGHBOURS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


class HexState(NamedTuple):
    """A position: the board, the number of moves, and the side that has connected its edges."""

    board: str
    ply: int
    winner: int | None


class HexGame(Game[HexState]):
    """Hex on a rhombus of `size` by `size` hexagons; each row lies half a cell to the right of the one above it."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.title, self.size = name, f"Hex {size}×{size}", size
        self.rule = "connect your two edges with an unbroken chain"
        self.shape = (size, size)
        self.move_cells = tuple(range(size * size))
        self.move_names = tuple(f"{chr(97 + cell % size)}{cell // size + 1}" for cell in self.move_cells)
        self.initial = HexState(EMPTY * size * size, 0, None)
        middle = chr(97 + size // 2)
        self.face = Face(
            geometry=Geometry(
                runs=tuple((0, y, y, size) for y in range(size)),
                cell="hexagon",
                step=2,
                edges={"top": "X", "bottom": "X", "left": "O", "right": "O"},
            ),
            pieces=(Piece("X", "blue", "cross"), Piece("O", "red", "ring")),
            endings={"connection": "{winner} connected both edges"},
            page=RulePage(
                goal="Connect your two edges of the board with an unbroken chain: X top and bottom, O left and right.",
                special="Each cell has up to six neighbours. A full board has exactly one winner, so nobody can draw.",
                tips=("Begin near the centre.", "Two cells that share two empty neighbours are as good as connected."),
                example=" ".join(f"{middle}{row} a{row}" for row in range(1, size)) + f" {middle}{size}",
                caption=f"X has the whole of column {middle} and has connected top and bottom.",
            ),
            may_swap=True,
        )
        self._near = tuple(tuple(self._neighbours(cell)) for cell in self.move_cells)

    def _neighbours(self, cell: int) -> Iterator[int]:
        y, x = divmod(cell, self.size)
        for down, right in _NEIGHBOURS:
            if 0 <= y + down < self.size and 0 <= x + right < self.size:
                yield (y + down) * self.size + x + right

    def to_move(self, state: HexState) -> int:
        """Return the side whose turn it is."""
        return state.ply & 1

    def actions(self, state: HexState) -> tuple[int, ...]:
        """Return the empty cells."""
        if state.winner is not None:
            return ()
        return tuple(cell for cell, mark in enumerate(state.board) if mark == EMPTY)

    def result(self, state: HexState, move: int) -> HexState:
        """Return the position with one more stone. Raises `Refusal` if the cell is taken."""
        taken = 0 <= move < len(state.board) and state.board[move] != EMPTY
        if taken or state.winner is not None or not 0 <= move < len(state.board):
            raise self.refuse(state, move, taken=taken)
        side = state.ply & 1
        board = state.board[:move] + "XO"[side] + state.board[move + 1 :]
        return HexState(board, state.ply + 1, side if self._connects(self._chain(board, move), side) else None)

    def _chain(self, board: str, cell: int) -> set[int]:
        """Return the stones that hang together with the one in `cell`."""
        chain, pending = {cell}, [cell]
        while pending:
            for near in self._near[pending.pop()]:
                if board[near] == board[cell] and near not in chain:
                    chain.add(near)
                    pending.append(near)
        return chain

    def _connects(self, chain: set[int], side: int) -> bool:
        places = {cell % self.size if side else cell // self.size for cell in chain}
        return 0 in places and self.size - 1 in places

    def is_terminal(self, state: HexState) -> bool:
        """Tell whether a side has connected its edges."""
        return state.winner is not None

    def utility(self, state: HexState, side: int) -> int:
        """Return 1 to the winner and -1 to the loser."""
        return 0 if state.winner is None else 1 if state.winner == side else -1

    def outcome(self, state: HexState) -> Outcome | None:
        """Return the winner, who has connected both edges."""
        return None if state.winner is None else Outcome(state.winner, "connection")

    def board(self, state: HexState) -> str:
        """Return the stones."""
        return state.board

    def line(self, state: HexState) -> tuple[int, ...]:
        """Return nothing: a chain is no straight line."""
        return ()

    def annotations(self, state: HexState) -> Annotations | None:
        """Return the chain that connects both edges."""
        return None if state.winner is None else Annotations(notes=(Note("win", self._winning_chain(state.board)),))

    def _winning_chain(self, board: str) -> tuple[int, ...]:
        for cell, mark in enumerate(board):
            if mark != EMPTY:
                chain = self._chain(board, cell)
                if self._connects(chain, "XO".index(mark)):
                    return tuple(sorted(chain))
        return ()

    def place(self, board: str, details: str) -> HexState:
        """Return the position of that board. Raises `Refusal` if no play leads to it."""
        self.refuse_details(details)
        first, second = board.count("X"), board.count("O")
        if first - second not in (0, 1):
            raise Refusal(Code.BAD_NOTATION, f"{first} X and {second} O; X begins, so X has as many or one more")
        chain = self._winning_chain(board)
        winner = "XO".index(board[chain[0]]) if chain else None
        if winner is not None and (first + second) & 1 == winner:
            raise Refusal(Code.BAD_NOTATION, "play went on after both edges were connected")
        return HexState(board, first + second, winner)


games = (HexGame("hex", 7), HexGame("hex11", 11))
