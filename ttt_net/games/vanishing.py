"""Vanishing tic-tac-toe: each side has three marks, and the fourth removes its oldest."""

import re
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Game, Move, Outcome, Reason, Side, Special
from ttt_net.games.geometry import cell_name, cells_of, draw_bits, winning_lines

MARKS = 3
"""The maximal number of marks of a side on the board."""
REPETITIONS = 3
"""A position that occurs for the third time is a draw."""
MAX_PLIES = 200
"""A match that reaches this ply is a draw, so that two players cannot fill a disk with one match."""


class VanishingState(NamedTuple):
    """All moves so far, one byte each; the cells of each side; whether a line is complete; whether it is a draw.

    The past is part of the position, because a repetition ends the match.
    """

    moves: bytes
    first: int
    second: int
    has_line: bool
    is_drawn: bool


class VanishingGame(Game[VanishingState]):
    """Three in a row with three marks each; the oldest vanishes as the fourth is placed, in another cell."""

    def __init__(self, name: str, title: str, rule: str) -> None:
        self.name, self.title, self.rule = name, title, rule
        self.shape, self.gravity, self.size = (3, 3), False, 9
        self.full = (1 << self.size) - 1
        self.lines = winning_lines(self.shape, 3)
        self.line_count = len(self.lines)
        self.move_cells = tuple(range(self.size))
        self.move_names = tuple(cell_name(self.shape, n) for n in range(self.size))
        self.initial = VanishingState(b"", 0, 0, has_line=False, is_drawn=False)

    def to_move(self, state: VanishingState) -> Side:
        """Return the side whose turn it is: the sides alternate."""
        return len(state.moves) & 1

    def actions(self, state: VanishingState) -> tuple[Move, ...]:
        """Return the empty cells, without the cell of the mark that is about to vanish."""
        return () if self.is_terminal(state) else cells_of(self.full ^ (state.first | state.second))

    def result(self, state: VanishingState, move: Move) -> VanishingState:
        """Return the position with one more mark and without the oldest of four. Raises `Refusal` if it is illegal."""
        taken = 0 <= move < self.size and bool((state.first | state.second) >> move & 1)
        if taken or not 0 <= move < self.size or self.is_terminal(state):
            raise self.refuse(state, move, taken=taken)
        sides = [state.first, state.second]
        ply = len(state.moves)
        own = sides[ply & 1] | 1 << move
        if ply >= 2 * MARKS:
            own ^= 1 << state.moves[ply - 2 * MARKS]
        sides[ply & 1] = own
        moves = state.moves + bytes((move,))
        has_line = any(own & line == line for line in self.lines)
        is_drawn = not has_line and (len(moves) == MAX_PLIES or _standings(moves) >= REPETITIONS)
        return VanishingState(moves, sides[0], sides[1], has_line, is_drawn)

    def is_terminal(self, state: VanishingState) -> bool:
        """Tell whether there is a line, a third repetition, or the maximal number of moves."""
        return state.has_line or state.is_drawn

    def utility(self, state: VanishingState, side: Side) -> int:
        """Return 1 to the side that made the line, -1 to the other, 0 to both without one."""
        if not state.has_line:
            return 0
        return -1 if len(state.moves) & 1 == side else 1

    def outcome(self, state: VanishingState) -> Outcome | None:
        """Return who made the line, or a draw by repetition."""
        if state.has_line:
            return Outcome(len(state.moves) - 1 & 1, Reason.LINE)
        return Outcome(None, Reason.DRAW) if state.is_drawn else None

    def board(self, state: VanishingState) -> str:
        """Return `X` for the first side's cells, `O` for the second's."""
        return draw_bits(state.first, state.second, self.size)

    def line(self, state: VanishingState) -> tuple[int, ...]:
        """Return the cells of the line that the last mover has completed."""
        own = state.first if len(state.moves) & 1 else state.second
        return cells_of(own) if state.has_line else ()

    def special(self, state: VanishingState) -> Special:
        """Return the cell of the oldest mark of the side to move, which vanishes once it has three."""
        ply = len(state.moves)
        return Special() if ply < 2 * MARKS else Special(vanishing=state.moves[ply - 2 * MARKS])

    def details(self, state: VanishingState) -> str:
        """Return the moves so far: the board shows neither the ages of the marks nor repetitions."""
        return " ".join(["after", *(self.move_names[move] for move in state.moves)]) if state.moves else ""

    def place(self, board: str, details: str) -> VanishingState:
        """Return the position after the moves in `details`. Raises `Refusal` if its board differs."""
        words = re.split(r"[\s,]+", details.strip())
        if words[0] not in ("", "after"):
            raise Refusal(Code.BAD_NOTATION, f"{words[0][:40]!r} after the board; expected: after b2 a1 ...")
        state = self.initial
        for number, word in enumerate(words[1:], start=1):
            moves = self.moves_by_name.get(word)
            if moves is None:
                raise Refusal(Code.BAD_NOTATION, f"move {number}: there is no cell {word[:40]!r}")
            try:
                state = self.result(state, moves[0])
            except Refusal as error:
                raise Refusal(Code.BAD_NOTATION, f"move {number}: {error}") from None
        if self.board(state) != board:
            raise Refusal(
                Code.BAD_NOTATION,
                f"the moves lead to {self.board(state)} and not to that board; the ages of the marks matter, "
                "so write the moves behind it: after b2 a1 ...",
            )
        return state


def _standings(moves: bytes) -> int:
    # The last six moves determine the marks, their ages and their sides. With fewer than six, nothing has vanished and
    # no position can have repeated.
    if len(moves) < 2 * MARKS:
        return 1
    marks = moves[-2 * MARKS :]
    return sum(moves[end - 2 * MARKS : end] == marks for end in range(len(moves), 2 * MARKS - 1, -2))
