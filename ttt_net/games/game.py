"""Declare the interface of a game: four questions over an immutable position, and what a stranger needs to draw it.

A cell is a number: cell = (z * height + y) * width + x, layer 0 first, row 0 at the top. A move is a number
too: an index into `Game.move_cells` and `Game.move_names`; in most games move n marks cell n.
Side 0 moves first.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from ttt_net.errors import Code, Refusal

Move = int
Side = int

EMPTY = "."
"""How an empty cell is written in `Game.board`."""
_MOST_NAMED = 12
"""Legal moves that a refusal lists before it only counts the rest."""


class Reason(StrEnum):
    """Why a play ended. Rules give the first two; the others happen in a match."""

    LINE = "line"
    DRAW = "draw"
    RESIGN = "resign"
    TIME = "time"
    ABANDON = "abandon"
    ABORT = "abort"
    AGREEMENT = "agreement"


class Outcome(NamedTuple):
    """The side that won, or None for nobody, and why."""

    winner: Side | None
    reason: Reason


class Target(NamedTuple):
    """The small board that a move must be made in: its number from 0, row by row, and where it is in words."""

    block: int
    name: str


class Special(NamedTuple):
    """Special rules of the next move, beside which moves are legal; none in most games."""

    vanishing: int | None = None
    """The cell whose mark it takes away; None where marks stay."""
    target: Target | None = None
    """The small board that it must be made in; None if it is free."""
    takeover: Move | None = None
    """The move by which the side to move may take over the first move; None if it may not."""


_NOTHING_SPECIAL = Special()

S = TypeVar("S")


class Game(ABC, Generic[S]):
    """The rules of one game over positions of type `S`; immutable, and shared by all its plays.

    Positions are small hashable values. `actions`, `result`, `is_terminal` and `utility` are the four questions
    of the standard textbook (Russell and Norvig, "Artificial Intelligence", chapter 6); searches need no others.
    """

    name: str
    """The name by which `find_game` gives this very game, options included."""
    title: str
    """The name for people."""
    rule: str
    """The rule in one sentence."""
    shape: tuple[int, ...]
    """(height, width), or (layers, height, width)."""
    block: tuple[int, int] | None = None
    """(height, width) of the small boards that a flat board consists of, if it does."""
    gravity: bool
    """Whether a mark falls: down its column, or in space to the lowest empty layer, layer 0 being the ground."""
    line_count: int
    """The number of lines that decide the game."""
    move_cells: tuple[int, ...]
    """The cell that each move marks, by move; -1 for a move that is not in a cell."""
    move_names: tuple[str, ...]
    """How each move is written, by move; no two legal moves of one position share a name."""

    initial: S
    """The position before the first move."""

    @cached_property
    def moves_by_name(self) -> Mapping[str, tuple[Move, ...]]:
        """The moves that each name may stand for, by the name in small letters."""
        moves: dict[str, tuple[Move, ...]] = {}
        for move, name in enumerate(self.move_names):
            moves[name.lower()] = (*moves.get(name.lower(), ()), move)
        return moves

    @abstractmethod
    def to_move(self, state: S) -> Side:
        """Return the side whose turn it is; of a terminal position, the side that would move."""

    @abstractmethod
    def actions(self, state: S) -> Sequence[Move]:
        """Return the legal moves, ascending; none in a terminal position.

        In whatever sequence is quickest to make; ask it only for numbers from 0 to below `len(move_names)`.
        """

    @abstractmethod
    def result(self, state: S, move: Move) -> S:
        """Return the position after a move. Raises `Refusal` if it is illegal, with the legal ones."""

    @abstractmethod
    def is_terminal(self, state: S) -> bool:
        """Tell whether the play is over by the rules."""

    @abstractmethod
    def utility(self, state: S, side: Side) -> int:
        """Return what a terminal position is worth to `side`: 1 won, 0 drawn, -1 lost."""

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Return how the play ended by the rules, or None while it goes on."""

    @abstractmethod
    def board(self, state: S) -> str:
        """Return one character per cell in the order of cells: `X`, `O`, or `.` for empty."""

    @abstractmethod
    def line(self, state: S) -> tuple[int, ...]:
        """Return the cells of the line that ended the play, ascending; none if no line did."""

    def line_side(self, state: S) -> Side | None:
        """Return the side that completed the line that ended the play, None if no line did; in misère it has lost."""
        outcome = self.outcome(state)
        return outcome.winner if outcome is not None and outcome.reason is Reason.LINE else None

    def special(self, state: S) -> Special:
        """Return the special rules of the next move in a position that is not terminal."""
        return _NOTHING_SPECIAL

    def marks(self, state: S) -> tuple[str, str]:
        """Return the mark that each side places, by side; two characters where it may choose."""
        return ("X", "O")

    def blocks(self, state: S) -> str:
        """Return one character per small board, row by row: who won it, `=` if nobody can, `.` while it is open.

        Empty in games whose boards have no small boards.
        """
        return ""

    def details(self, state: S) -> str:
        """Return what of the position the board does not show, as words of text; empty in most games."""
        return ""

    @abstractmethod
    def place(self, board: str, details: str) -> S:
        """Return the position that `board` and `details` gave. Raises `Refusal` if no play leads to it.

        `board` has the right number of cells, each `X`, `O` or `.`; `details` is in small letters.
        """

    def refuse_details(self, details: str) -> None:
        """Raise `Refusal` if there are words after a board that says all."""
        if details:
            raise Refusal(Code.BAD_NOTATION, f"{details[:40]!r} after the board; {self.name} needs no words there")

    def refuse(self, state: S, move: Move, *, taken: bool) -> Refusal:
        """Return the refusal of an illegal move, which names that and the legal ones."""
        moves = self.actions(state)
        legal = ", ".join(self.move_names[m] for m in moves[:_MOST_NAMED]) or "nothing, the game is over"
        if len(moves) > _MOST_NAMED:
            legal += f" and {len(moves) - _MOST_NAMED} more"
        if not 0 <= move < len(self.move_names):
            return Refusal(Code.ILLEGAL_MOVE, f"there is no move {move}; legal: {legal}")
        name = self.move_names[move]
        if not taken:
            return Refusal(Code.ILLEGAL_MOVE, f"move {name} is not possible here; legal: {legal}")
        if self.gravity:
            return Refusal(Code.CELL_TAKEN, f"that cell of {name} is taken; legal: {legal}")
        return Refusal(Code.CELL_TAKEN, f"cell {name} is taken; legal: {legal}")
