"""Rules, move by move, on a coded board (origin C, second approach).

A blank cell counts 2, an X 3, an O 5. The product of a line then tells what is in it: 18 = 3·3·2 is a line that X can
complete next, 50 = 5·5·2 one that O can. The rule to apply follows from the move number alone; the rules were written
for a player who has followed them from the start, and where they name no free cell, the first free one is taken.
"""

import random
from itertools import chain
from math import prod
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.strategies.heuristic import is_tictactoe
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, require_playable

BLANK, X, O = 2, 3, 5  # noqa: E741 - the name of the mark
CENTRE = 5
SIDES = (2, 4, 6, 8)
ROWS = ((1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7))

Codes = tuple[int, ...]
"""The code of each cell; cell 1 of the rules, which count from 1, is the first."""


def coded(board: str) -> Codes:
    """Return the codes of a board of nine characters, as `Game.board` writes it."""
    return tuple({".": BLANK, "X": X, "O": O}[mark] for mark in board)


def winning_cell(codes: Codes, mark: int) -> int | None:
    """Return the cell, 1 to 9, that completes a line for a mark, or None."""
    for row in ROWS:
        if prod(codes[cell - 1] for cell in row) == mark * mark * BLANK:
            return first_free(codes, *(cell for cell in row if codes[cell - 1] == BLANK))
    return None


def first_free(codes: Codes, *cells: int) -> int:
    """Return the first of the cells that is blank; if none of them is, the first blank one of the board."""
    return next(cell for cell in chain(cells, range(1, 10)) if codes[cell - 1] == BLANK)


def make_two(codes: Codes) -> int:
    """Return the centre if it is blank, else a blank side cell."""
    return first_free(codes, CENTRE, *SIDES)


def rule(codes: Codes, number: int) -> int:
    """Return the cell, 1 to 9, of move `number`: X makes the odd moves, O the even ones."""
    own, other = (X, O) if number % 2 else (O, X)
    win, block = winning_cell(codes, own), winning_cell(codes, other)
    match number:
        case 1:
            return first_free(codes, CENTRE)
        case 2:
            return first_free(codes, CENTRE, 1)
        case 3:
            return first_free(codes, 9, 3)
        case 4:
            return block or make_two(codes)
        case 5:
            return win or block or first_free(codes, 7, 3)
        case 6:
            return win or block or make_two(codes)
        case _:
            return win or block or first_free(codes)


class Rules:
    """Plays tic-tac-toe by nine rules and no look ahead; it can be beaten."""

    name = "rules"
    idea = "a rule for each of the nine moves, and products that tell a threat"

    def __init__(self, rng: random.Random) -> None:
        """Take no notice of `rng`: nothing is left to chance."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays tic-tac-toe only."""
        return None if is_tictactoe(game) else f"rules has nine rules for tic-tac-toe, and none for {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that the rule of its number gives."""
        require_playable(self, game, state)
        codes = coded(game.board(state))
        move: Move = rule(codes, 10 - codes.count(BLANK)) - 1
        return Choice(move, None, (), Counts())
