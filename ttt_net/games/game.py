"""Declare the interface of a game: four questions over an immutable position, and everything needed to draw it.

A cell is a number: cell = (z * height + y) * width + x, layer 0 first, row 0 at the top. A move is a number
too: an index into `Game.move_cells` and `Game.move_names`; in most games move n marks cell n.
Side 0 moves first.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ttt_net.errors import Code, Refusal

Move = int
Side = int

EMPTY = "."
"""The character of an empty cell in `Game.board`."""
_MOST_NAMED = 12
"""The number of legal moves that a refusal lists before it only counts the rest."""


class Reason(StrEnum):
    """Why a match ended. Rules use the first two, or their own reasons; a match adds the others."""

    LINE = "line"
    DRAW = "draw"
    RESIGN = "resign"
    TIME = "time"
    ABANDON = "abandon"
    ABORT = "abort"
    AGREEMENT = "agreement"
    FORFEIT = "forfeit"


_BY_WORD: Mapping[str, Reason] = {reason.value: reason for reason in Reason}


def reason_of(word: str) -> str:
    """Return the reason for a word: a `Reason` if it is a standard one, else the game's own word."""
    return _BY_WORD.get(word, word)


class Outcome(NamedTuple):
    """The side that won, or None for nobody, and why: a `Reason`, or a word of the game's `Face.endings`."""

    winner: Side | None
    reason: str


class Target(NamedTuple):
    """The small board in which a move must be made: its number from 0, row by row, and its place in words."""

    block: int
    name: str


class Special(NamedTuple):
    """Special rules of the next move, in addition to the legal moves; none in most games."""

    vanishing: int | None = None
    """The cell whose mark the move removes; None if marks stay."""
    target: Target | None = None
    """The small board in which the move must be made; None if any board is allowed."""
    takeover: Move | None = None
    """The move with which the side to move may take over the first move; None if it may not."""


_NOTHING_SPECIAL = Special()


class Geometry(NamedTuple):
    """The positions of cells on a board that does not consist of rows and columns of squares."""

    runs: tuple[tuple[int, int, int, int], ...]
    """Runs of cells along x: (layer, y, x of the first cell, number of cells). Cells are numbered run by run."""
    cell: Literal["square", "hexagon", "point"] = "square"
    """The shape of a cell; stones stand on points."""
    step: int = 1
    """The distance in x between neighbours in a run; with 2, a run can begin half a cell further right."""
    edges: Mapping[str, str] = MappingProxyType({})
    """The mark of the player who owns an edge, by edge: `top`, `bottom`, `left` or `right`."""


class Piece(NamedTuple):
    """A mark of the board, its name for people, and its look.

    Stones are black for X and white for O, discs yellow and red, crosses and rings blue and red.
    """

    mark: str
    name: str
    look: Literal["cross", "ring", "stone", "disc"] = "stone"


class Note(NamedTuple):
    """An annotation of a position: marked cells, a sentence about the next move, or both.

    Clients draw four kinds in special ways: `win` (cells that decided the match), `leaves` (cells that the next move
    empties), `within` (the next move must be one of these cells) and `pass`. For any other kind, they only mark the
    cells.
    """

    kind: str
    cells: tuple[int, ...] = ()
    text: str = ""


class Counter(NamedTuple):
    """A number beside the board, such as captured pairs, of one side or (None) of both; reaching `goal` wins."""

    name: str
    value: int
    goal: int | None = None
    side: Side | None = None


class Annotations(NamedTuple):
    """The notes and counters of one position."""

    notes: tuple[Note, ...] = ()
    counters: tuple[Counter, ...] = ()


@dataclass(frozen=True)
class RulePage:
    """The rules of one game as a page that fits a screen of 80 by 24; every text consists of complete sentences."""

    goal: str
    """How to win."""
    special: str
    """The rules that set this game apart, and its notation if that is unusual."""
    tips: tuple[str, ...]
    """Two pieces of advice; none if nobody has written a page for the game."""
    example: str = ""
    """The names of the moves of a short match that ends in a win; empty if none does."""
    caption: str = ""
    """A description of the end of the example, for people who cannot see the drawing."""


class Face(NamedTuple):
    """How to draw and explain a game; the same for all its positions."""

    geometry: Geometry | None = None
    """None for rows and columns of squares, as in `Game.shape`."""
    pieces: tuple[Piece, ...] = ()
    """The marks of the board; empty for X and O."""
    endings: Mapping[str, str] = MappingProxyType({})
    """The sentence for each reason of the game's own, such as `{winner} captured five pairs`.

    `{winner}`, `{loser}` and `{losers}` (the loser's) stand for the players.
    """
    page: RulePage | None = None
    """The page of rules; without one, the module `rules` makes it of the `rule`."""
    version: int = 1
    """The version of the rules. A match that began with another version cannot be continued or replayed."""
    may_swap: bool = False
    """Whether it may be played with `+swap`, because the first move is an advantage."""


_PLAIN_FACE = Face()


class Playouts(NamedTuple):
    """Random plays over bitboards, which `mcts` compiles with numba; without numba it makes the moves one by one.

    In machine code a playout can be a thousand times as fast as by `Game.result`, and `mcts` is as strong as its
    playouts are many.
    """

    words: Callable[[Any], tuple[int, ...]]
    """Return a position as whole numbers of 64 bits, such as the set of each side's cells and the side to move."""
    play_out: Callable[..., int]
    """`play_out(*words, plays, seed)` plays so often from there to the end with random moves.

    It returns how many of these plays side 0 has won minus how many it has lost. numba compiles it with signed words:
    a shift to the right keeps the sign, so mask the result. It may call nothing but functions that numba knows.
    """


S = TypeVar("S")


class Game(ABC, Generic[S]):
    """The rules of one game over positions of type `S`; immutable, and shared by all its matches.

    Positions are small hashable values. `actions`, `result`, `is_terminal` and `utility` are the four questions
    of the standard textbook (Russell and Norvig, "Artificial Intelligence", chapter 6); searches need no others.
    """

    name: str
    """The name for which `find_game` returns this game, including options."""
    title: str
    """The name for people."""
    rule: str
    """The rule in one sentence."""
    shape: tuple[int, ...]
    """(height, width), or (layers, height, width)."""
    block: tuple[int, int] | None = None
    """(height, width) of the small boards that make up a flat board, if any."""
    gravity: bool = False
    """Whether marks fall: down their column, or in 3-D games to the lowest empty layer; layer 0 is the bottom."""
    line_count: int = 0
    """The number of winning lines; 0 if lines do not decide the game."""
    face: Face = _PLAIN_FACE
    """How to draw and explain the game, if `shape` and `rules` are not enough."""
    only_adds_marks: bool = False
    """Whether move n only puts the mover's mark into cell n: `X` for side 0, `O` for side 1.

    Then a position that is not terminal has a board and legal moves, and none of the other fields of `Position`.
    """
    order: tuple[Move, ...] = ()
    """All moves, in the order in which searches should try them; empty: from the middle outwards."""
    playouts: Playouts | None = None
    """Compiled random plays, if the game has them."""
    move_cells: tuple[int, ...]
    """The cell that each move marks; -1 for a move without a cell."""
    move_names: tuple[str, ...]
    """The name of each move; no two legal moves of one position share a name."""

    initial: S
    """The position before the first move."""

    @cached_property
    def moves_by_name(self) -> Mapping[str, tuple[Move, ...]]:
        """The possible moves of each name, by the name in lower case."""
        moves: dict[str, tuple[Move, ...]] = {}
        for move, name in enumerate(self.move_names):
            moves[name.lower()] = (*moves.get(name.lower(), ()), move)
        return moves

    @abstractmethod
    def to_move(self, state: S) -> Side:
        """Return the side to move; in a terminal position, the side that would move next."""

    @abstractmethod
    def actions(self, state: S) -> Sequence[Move]:
        """Return the legal moves, ascending; empty in a terminal position.

        The type of the sequence is the fastest to create; test it only for numbers from 0 up to `len(move_names)`,
        exclusive.
        """

    @abstractmethod
    def result(self, state: S, move: Move) -> S:
        """Return the position after a move. Raises `Refusal`, listing the legal moves, if the move is illegal."""

    def advance(self, state: S, move: Move) -> S:
        """Return the position after a move of a match, like `result`, but also validate games of other packages."""
        return self.result(state, move)

    @abstractmethod
    def is_terminal(self, state: S) -> bool:
        """Tell whether the match is over by the rules."""

    @abstractmethod
    def utility(self, state: S, side: Side) -> int:
        """Return the value of a terminal position for `side`: 1 won, 0 drawn, -1 lost."""

    @abstractmethod
    def outcome(self, state: S) -> Outcome | None:
        """Return how the match ended by the rules, or None if it is not over."""

    @abstractmethod
    def board(self, state: S) -> str:
        """Return one character per cell in the order of cells: `X`, `O`, or `.` for empty."""

    @abstractmethod
    def line(self, state: S) -> tuple[int, ...]:
        """Return the cells of the straight line that ended the match, ascending; empty if no line did."""

    def line_side(self, state: S) -> Side | None:
        """Return the side that completed the line that ended the match, None if no line did; in misère, it has lost."""
        outcome = self.outcome(state)
        return outcome.winner if outcome is not None and outcome.reason is Reason.LINE else None

    def special(self, state: S) -> Special:
        """Return the special rules of the next move in a position that is not terminal."""
        return _NOTHING_SPECIAL

    def annotations(self, state: S) -> Annotations | None:
        """Return the notes and counters of a position; None in most games."""
        return None

    def estimate(self, state: S) -> int:
        """Return how good an undecided position seems for the side to move: 0 is even, and higher is better.

        Searches compare estimates where they stop looking ahead. Use whole numbers below 100,000, and be fast.
        """
        return 0

    def marks(self, state: S) -> tuple[str, str]:
        """Return the mark that each side places, by side; two characters where it may choose."""
        return ("X", "O")

    def blocks(self, state: S) -> str:
        """Return one character per small board, row by row: its winner, `=` if nobody can win it, `.` while it is open.

        Empty in games without small boards.
        """
        return ""

    def details(self, state: S) -> str:
        """Return, as words, the part of the position that the board does not show; empty in most games."""
        return ""

    @abstractmethod
    def place(self, board: str, details: str) -> S:
        """Return the position that `board` and `details` describe. Raises `Refusal` if it is unreachable.

        `board` has the right number of cells, each `X`, `O` or `.`; `details` is in lower case, and begins with `after`
        or `next` if it is not empty.
        """

    def refuse_details(self, details: str) -> None:
        """Raise `Refusal` if words follow a board that needs none."""
        if details:
            raise Refusal(Code.BAD_NOTATION, f"{details[:40]!r} after the board; {self.name} needs no words there")

    def refuse(self, state: S, move: Move, *, taken: bool) -> Refusal:
        """Return the refusal of an illegal move, which names the move and the legal ones."""
        moves = self.actions(state)
        legal = ", ".join(self.move_names[m] for m in moves[:_MOST_NAMED]) or "nothing, the game is over"
        if len(moves) > _MOST_NAMED:
            legal += f" and {len(moves) - _MOST_NAMED} more"
        if not 0 <= move < len(self.move_names):
            return Refusal(Code.ILLEGAL_MOVE, f"there is no move {move}; legal: {legal}")
        name = self.move_names[move]
        if not taken and self.gravity and moves and self.move_cells[move] >= 0:
            return Refusal(Code.ILLEGAL_MOVE, f"move {move} is above the lowest free cell of {name}; legal: {legal}")
        if not taken:
            return Refusal(Code.ILLEGAL_MOVE, f"move {name} is not possible here; legal: {legal}")
        if self.gravity:
            return Refusal(Code.CELL_TAKEN, f"that cell of {name} is taken; legal: {legal}")
        return Refusal(Code.CELL_TAKEN, f"cell {name} is taken; legal: {legal}")
