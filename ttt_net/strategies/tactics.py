"""Tactics (origin D, the player its notebook left unfinished): pursue the first possible aim of a list.

Win; stop a win; make a fork (two ways to win at once); stop a fork; the centre; the corner opposite to one of the
other side's; a corner; anything. All aims are defined by lines, so they apply to any line game; ties are broken at
random. With gravity, it avoids placing a mark under a cell that wins for the other side.
"""

import random
from collections.abc import Iterator
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import completing_cells, is_line_game, own_and_other, wins
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, require_playable


class Tactics:
    """Plays line games by aims, searching no further than the other side's reply; `rng` breaks ties."""

    name = "tactics"
    idea = "win, stop a win, fork, stop a fork, centre, opposite corner, corner, any"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays line games only."""
        return None if is_line_game(game) else f"tactics thinks in lines that win, and {game.title} is not won by those"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return a move that reaches the first aim that can be reached."""
        require_playable(self, game, state)
        assert isinstance(game, LineGame)
        assert isinstance(state, LineState)
        moves = next(moves for moves in _aims(game, state) if moves)
        return Choice(self._rng.choice(moves), None, (), Counts())


def urgent_moves(game: LineGame, state: LineState) -> list[Move]:
    """Return the first nonempty set of moves that win, stop a win, fork or stop a fork; or none."""
    return next((moves for moves in _urgent_aims(game, state) if moves), [])


def busiest_moves(game: LineGame, state: LineState) -> list[Move]:
    """Return the moves whose open lines hold the most marks of one side, and of those the nearest to the centre.

    A line that holds a mark more weighs four times as much; one with marks of both sides nothing.
    """
    own, other = own_and_other(state)

    def rank(move: Move) -> tuple[int, int]:
        open_lines = (line for line in game.lines_through[move] if not (line & own and line & other))
        weight = sum(4 ** (line & (own | other)).bit_count() for line in open_lines)
        return weight, -sum(abs(2 * at - (n - 1)) for at, n in _places(game, move))

    ranks = {move: rank(move) for move in game.actions(state)}
    best = max(ranks.values())
    return [move for move, each in ranks.items() if each == best]


def _aims(game: LineGame, state: LineState) -> Iterator[list[Move]]:
    """Yield the moves that reach each aim, in order; the last aim is always reached."""
    yield from _urgent_aims(game, state)
    _, other = own_and_other(state)
    moves = list(game.actions(state))
    moves = [move for move in moves if not _hands_over_a_win(game, state, move)] or moves
    yield _nearest_to_centre(game, moves)
    corners = _corners(game)
    yield [move for move in moves if move in corners and other >> (game.size - 1 - move) & 1]
    yield [move for move in moves if move in corners]
    yield moves


def _urgent_aims(game: LineGame, state: LineState) -> Iterator[list[Move]]:
    own, other = own_and_other(state)
    yield wins(game, state, own, other)
    yield wins(game, state, other, own)
    moves = list(game.actions(state))
    moves = [move for move in moves if not _hands_over_a_win(game, state, move)] or moves
    yield [move for move in moves if is_fork(game, state, move, own, other)]
    forks = [move for move in moves if is_fork(game, state, move, other, own)]
    if forks:
        yield [move for move in moves if _stops_forks(game, state, move)]
        yield forks


def _hands_over_a_win(game: LineGame, state: LineState, move: Move) -> bool:
    """Tell whether the other side can win at once after a move."""
    child = game.result(state, move)
    return not game.is_terminal(child) and bool(wins(game, child, *own_and_other(child)))


def is_fork(game: LineGame, state: LineState, move: Move, own: int, other: int) -> bool:
    """Tell whether a mark of `own` there makes two cells or more that win for `own` next."""
    bit = 1 << move
    cells = completing_cells(game.lines_through[move], own | bit, other)
    if not cells & (cells - 1):
        return False
    legal = game.actions(game.result(state, move))  # where marks may be placed depends on no one's colour
    return sum(cells >> cell & 1 for cell in legal) > 1


def _stops_forks(game: LineGame, state: LineState, move: Move) -> bool:
    """Tell whether the other side has no fork after a move: none at all, or none in the one cell it must then take."""
    child = game.result(state, move)
    if game.is_terminal(child):
        return True
    other, own = own_and_other(child)
    replies = wins(game, child, own, other) or game.actions(child)
    return not any(is_fork(game, child, reply, other, own) for reply in replies)


def _nearest_to_centre(game: LineGame, moves: list[Move]) -> list[Move]:
    """Return those of the moves that lie in the centre: the cells nearest to the middle in each direction."""
    return [move for move in moves if all(abs(2 * at - (n - 1)) <= 1 for at, n in _places(game, move))]


def _corners(game: LineGame) -> set[Move]:
    return {move for move in range(game.size) if all(at in (0, n - 1) for at, n in _places(game, move))}


def _places(game: LineGame, cell: Move) -> Iterator[tuple[int, int]]:
    """Yield where a cell lies in each direction, x first, and how long the board is there."""
    for n in reversed(game.shape):
        yield cell % n, n
        cell //= n
