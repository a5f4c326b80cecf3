"""A move table (origin C, first approach): the board is a number, the number an index, the entry the board to come.

The board is read as a number in base 3 (0 blank, 1 X, 2 O; cell 1 is the most significant digit). The table of
3^9 = 19,683 entries holds at each number the board after the best reply; boards that need no reply stay as they are.
It takes no thought to play and all the thought to make: here it is generated, by looking at all 5,478 positions.
"""

import random
from array import array
from functools import cache
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.strategies.heuristic import is_tictactoe
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Counts, Limit, S, require_playable

ENTRIES = 3**9
WEIGHTS = tuple(3 ** (8 - cell) for cell in range(9))
"""The amount each cell's mark adds to the number of the board, once for X and twice for O."""

_ORDER = (4, 0, 2, 6, 8, 1, 3, 5, 7)
_LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)
_HAS_LINE = tuple(any(cells & line == line for line in _LINES) for cells in range(512))


def number_of(board: str) -> int:
    """Return the number of a board of nine characters, as `Game.board` writes it."""
    return sum(".XO".index(mark) * weight for mark, weight in zip(board, WEIGHTS, strict=True))


class MoveTable:
    """The table, and what the game's end is worth to the side to move at each number that can come up."""

    def __init__(self) -> None:
        self.replies = array("H", range(ENTRIES))
        self.values: dict[int, int] = {}
        self._judge(0, 0, 0, 1)

    def _judge(self, own: int, other: int, number: int, mark: int) -> int:
        """Return the value for the side to move, which writes `mark`, and enter its best reply."""
        if number in self.values:
            return self.values[number]
        if _HAS_LINE[other]:
            best = -WIN
        elif own | other == 0b111111111:
            best = 0
        else:
            best = -WIN
            for cell in _ORDER:
                if not (own | other) >> cell & 1:
                    reply = number + mark * WEIGHTS[cell]
                    value = -self._judge(other, own | 1 << cell, reply, 3 - mark)
                    value -= (value > 0) - (value < 0)  # one ply farther away
                    if value > best:
                        best, self.replies[number] = value, reply
        self.values[number] = best
        return best


@cache
def move_table() -> MoveTable:
    """Return the table; made when it is first asked for."""
    return MoveTable()


class LookupTable:
    """Plays tic-tac-toe by looking its reply up: perfect, and the same every time."""

    name = "table"
    idea = "looks the reply up in a table of all boards"

    def __init__(self, rng: random.Random) -> None:
        """Take no notice of `rng`: nothing is left to chance."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays tic-tac-toe only."""
        return None if is_tictactoe(game) else f"table has a reply to each 3×3 board, and to none of {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that leads to the board in the table, and follow the table to the end."""
        require_playable(self, game, state)
        table = move_table()
        number = start = number_of(game.board(state))
        line: list[Move] = []
        while (reply := table.replies[number]) != number:
            line.append(_marked_cell(reply - number))
            number = reply
        return Choice(line[0], table.values[start], tuple(line), Counts(hits=len(line)), exact=True)


def _marked_cell(difference: int) -> Move:
    """Return the cell whose mark makes that difference between two numbers."""
    return next(cell for cell, weight in enumerate(WEIGHTS) if difference in (weight, 2 * weight))
