"""Magic numbers (origin C, third approach): which cell completes a pair is a subtraction.

In the magic square three cells are a line exactly when their numbers sum to 15, so the cell that completes two of
one's own is the one with the number 15 minus theirs. In the magic cube the rows, columns and pillars and the diagonals
through its middle sum to 42; other triples do so too, and the other diagonals do not, so there geometry has the last
word: a triple is a line if it lies straight.
"""

import random
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.geometry import cells_of
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import is_line_game, is_tictactoe, own_and_other, promise
from ttt_net.strategies.rules import coded, rule
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, require_playable

SQUARE = (8, 3, 4, 1, 5, 9, 6, 7, 2)
SQUARE_SUM = 15
CUBE = (8, 24, 10, 12, 7, 23, 22, 11, 9, 15, 1, 26, 25, 14, 3, 2, 27, 13, 19, 17, 6, 5, 21, 16, 18, 4, 20)
CUBE_SUM = 42


def is_cube(game: Game[Any]) -> bool:
    """Tell whether it is three in a row in a 3×3×3 cube."""
    return is_line_game(game) and game.shape == (3, 3, 3) and game.k == 3 and not game.gravity


def third_in_square(one: Move, two: Move) -> Move | None:
    """Return the cell that makes a line of two cells of the square, by their numbers alone."""
    number = SQUARE_SUM - SQUARE[one] - SQUARE[two]
    if number in SQUARE and number not in (SQUARE[one], SQUARE[two]):
        return SQUARE.index(number)
    return None


def third_in_cube(one: Move, two: Move) -> Move | None:
    """Return the cell that makes a line of two cells of the cube: the missing number's, if it lies straight."""
    number = CUBE_SUM - CUBE[one] - CUBE[two]
    if number in CUBE and number not in (CUBE[one], CUBE[two]) and _is_straight(one, two, third := CUBE.index(number)):
        return third
    return _face_diagonals().get(frozenset((one, two)))


def _is_straight(*cells: Move) -> bool:
    """Tell whether one of three cells of the cube lies midway between the other two, in each direction."""
    low, middle, high = (_place(cell) for cell in sorted(cells))
    return all(a + c == 2 * b for a, b, c in zip(low, middle, high, strict=True))


def _place(cell: Move) -> tuple[int, int, int]:
    return cell // 9, cell // 3 % 3, cell % 3


@cache
def _face_diagonals() -> dict[frozenset[Move], Move]:
    """Return the third cell by pair, for the straight triples that do not sum to 42."""
    thirds = {}
    for triple in combinations(range(27), 3):
        if _is_straight(*triple) and sum(CUBE[cell] for cell in triple) != CUBE_SUM:
            for third in triple:
                thirds[frozenset(triple) - {third}] = third
    return thirds


class CompletedPair(NamedTuple):
    """Two marks of one side, and the free cell whose number is missing to the sum."""

    one: Move
    two: Move
    third: Move
    is_own: bool
    """Whether they are the marks of the side to move, who wins by it."""


def completed_pair(game: LineGame, state: LineState) -> CompletedPair | None:
    """Return the first pair that a free cell completes, of the side to move or else of the other."""
    thirds = third_in_square if is_tictactoe(game) else third_in_cube
    free = set(game.actions(state))
    for is_own, bits in zip((True, False), own_and_other(state), strict=True):
        for one, two in combinations(cells_of(bits), 2):
            third = thirds(one, two)
            if third is not None and third in free:
                return CompletedPair(one, two, third, is_own)
    return None


def subtraction(game: LineGame, state: LineState) -> str | None:
    """Return the sum by which `magic` wins or stops a win, in words; None if no number does."""
    pair = completed_pair(game, state)
    if pair is None:
        return None
    is_square = is_tictactoe(game)
    numbers, total = (SQUARE, SQUARE_SUM) if is_square else (CUBE, CUBE_SUM)
    one, two, third = (numbers[cell] for cell in pair[:3])
    what = "wins" if pair.is_own else "stops a win"
    where = game.move_names[pair.third]
    if one + two + third != total:
        return f"{one} and {two} lie on a diagonal of a face, where no sum tells; {third} ({where}) {what}"
    return f"{total} - {one} - {two} = {third}, at {where}: {what}"


class Magic:
    """Wins if a number wins, blocks if a number blocks, and otherwise goes by the rules of the second approach."""

    name = "magic"
    idea = "completes pairs by subtraction in a magic square or cube"

    def __init__(self, rng: random.Random) -> None:
        """Take no notice of `rng`: nothing is left to chance."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays on 3×3 and in 3×3×3 only."""
        if is_tictactoe(game) or is_cube(game):
            return None
        return f"magic has numbers for 3×3 and for 3×3×3, and none for {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that wins, else the one that blocks, else the one that the rules or the lines suggest."""
        require_playable(self, game, state)
        assert isinstance(game, LineGame)
        assert isinstance(state, LineState)
        free = set(game.actions(state))
        pair = completed_pair(game, state)
        if pair is not None:
            return Choice(pair.third, None, (), Counts())
        if is_tictactoe(game):
            return Choice(rule(coded(game.board(state)), game.size + 1 - len(free)) - 1, None, (), Counts())
        return Choice(max(sorted(free), key=promise(game).__getitem__), None, (), Counts())
