"""Play as people do: weaken any strategy to a level, and play with a style.

At some moves a player thinks ahead, and sees the whole board. At the others they play by what draws the eye. One
number, the skill, sets how often they think, how far, and how much they notice. Each game has its own skills, so that
the steps from level to level are about equal in each; level 8 leaves the strategy unchanged.

A line of marks draws attention to its free cells, the more, the more marks it holds. People overlook most where the eye
is not: far from the last move, and on diagonals rather than in rows. In games that are not won by lines of one's own
marks, a rough estimate of the position after each move takes the place of lines.

`StyledPlayer` is a strategy with one of five styles. It sees what a careful person sees: wins, threats, and two threats
at once. Statistics of their moves tell the styles apart; see docs/strategies.md.
"""

import math
import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move
from ttt_net.games.game import EMPTY
from ttt_net.games.geometry import lines_through, list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.strategies.heuristic import estimator, is_line_game, own_and_other
from ttt_net.strategies.sight import look
from ttt_net.strategies.strategy import (
    ONE_SECOND,
    Choice,
    Counts,
    Limit,
    S,
    Strategy,
    beneath,
    is_first,
    may_swap,
    require_playable,
)

_MARK = 4
"""How many times as much a line draws the eye with each mark more."""
_FREE_LINE = 0.125
"""The pull of a line without marks, in lines with one."""
_WIN, _BLOCK = 10_000.0, 1_000.0
"""The pull of a cell that completes a line of one's own, and of one that stops the other side's."""
CHOOSINESS = 2.0
"""The power by which most people prefer a stronger pull."""
_SPREAD = 6.0
"""How many powers of e the best estimate is preferred to the worst, for a player who sees everything."""
_REMEMBERED = 16
"""The number of positions that are remembered to find out the last move; matches of one player may alternate."""


class Style(NamedTuple):
    """The preferences of a player; every part is a factor or a power."""

    attack: float = 1.0
    """The weight of one's own lines."""
    block: float = 1.0
    """The weight of the other side's lines."""
    trap: float = 0.0
    """The weight of a cell where several of one's own lines meet, by their number."""
    far: float = 0.0
    """The power of the distance from the last move; negative: near it."""
    copy: float = 0.0
    """The weight of the cell opposite to the other side's last mark."""


NEAR = Style(far=-1.0)
"""The style of most people: to play where something has just happened."""


class Attention:
    """The eye of one player: `rng` decides what it overlooks."""

    def __init__(self, rng: random.Random, style: Style = NEAR, choosiness: float = CHOOSINESS) -> None:
        """`choosiness` is the power by which a stronger pull is preferred."""
        self._rng, self._style, self._choosiness = rng, style, choosiness
        self._left: deque[str] = deque(maxlen=_REMEMBERED)

    def leave(self, game: Game[S], state: S, move: Move) -> None:
        """Remember the board after a move of one's own."""
        self._left.append(game.board(game.result(state, move)))

    def last_mark(self, board: str) -> Move | None:
        """Return the cell of the other side's last move, as far as it follows from the boards that were left."""
        for before in reversed(self._left):
            if len(before) == len(board):
                new = [cell for cell, mark in enumerate(board) if mark != before[cell] and mark != EMPTY]
                if len(new) == 1 and before[new[0]] == EMPTY:
                    return new[0]
        return None

    def choose(self, game: Game[S], state: S, moves: Sequence[Move], sees: float) -> Move:
        """Return one of the moves. `sees` is the probability to notice a row near the last move, from 0 to 1."""
        if is_first(state) or may_swap(state):
            return self._rng.choice(moves)
        inner, position = beneath(game, state)
        board = game.board(state)
        last = self.last_mark(board)
        if last is None:
            marked = [cell for cell, mark in enumerate(board) if mark != EMPTY]
            last = self._rng.choice(marked) if marked else None
        if is_line_game(inner) and isinstance(position, LineState):
            pull = [self._pull(inner, position, move, last, sees) for move in moves]
            is_checked = inner.gravity
        else:
            pull, is_checked = self._estimated(inner, position, moves, last, sees), True
        left = dict(zip(moves, pull, strict=True))
        while True:
            move = self._rng.choices(list(left), list(left.values()))[0]
            if len(left) == 1 or not is_checked or self._rng.random() >= sees or not gives_a_win(inner, position, move):
                return move
            del left[move]

    def _pull(self, game: LineGame, state: LineState, move: Move, last: Move | None, sees: float) -> float:
        own, other = own_and_other(state)
        distance = 1 if last is None else distance_between(game, last, move)
        attack = block = 0.0
        ways = 0
        for bend, lines in _rays(game)[move]:
            if self._rng.random() >= sees ** (bend * (0.75 + distance / 4)):
                continue  # this direction is overlooked
            mine, theirs = 0.0, 0.0
            for line in lines:
                if not line & other:
                    mine += _worth(game.k, (line & own).bit_count(), _WIN)
                elif not line & own:
                    theirs += _worth(game.k, (line & other).bit_count(), _BLOCK)
            attack, block, ways = attack + mine, block + theirs, ways + (mine >= 1)
        style = self._style
        pull = style.attack * attack + style.block * block + style.trap * max(0, ways - 1)
        return float((pull + 0.01) ** self._choosiness) * self._place(game, move, last, distance)

    def _place(self, game: Game[Any], move: Move, last: Move | None, distance: int) -> float:
        """Return the factor of where a move lies."""
        if last is None:
            return 1.0
        copied = self._style.copy if game.move_cells[move] == opposite(game, last) else 0.0
        return float(max(1, distance) ** (2 * self._style.far)) + copied

    def _estimated(self, game: Game[S], state: S, moves: Sequence[Move], last: Move | None, sees: float) -> list[float]:
        """Return the pulls of moves by an estimate of the positions after them."""
        estimate, side = estimator(game), game.to_move(state)
        values, sure = list[float](), dict[int, float]()
        for number, move in enumerate(moves):
            after = game.result(state, move)
            if game.is_terminal(after):
                utility = game.utility(after, side)
                if utility and self._rng.random() < sees:
                    sure[number] = _WIN if utility > 0 else 0.0
                values.append(0.0)
            else:
                values.append(estimate(after) * self._style.attack * (1 if game.to_move(after) == side else -1))
        least, most = min(values), max(values)
        found = list[float]()
        for number, (move, value) in enumerate(zip(moves, values, strict=True)):
            share = (value - least) / (most - least) if most > least else 0.0
            cell = game.move_cells[move]
            far = 1 if last is None or cell < 0 else distance_between(game, last, cell)
            pull = sure.get(number, 1.0) * math.exp(_SPREAD * sees * share) * self._place(game, move, last, far)
            found.append(max(pull, 1e-9))
        return found


def _worth(k: int, marks: int, last: float) -> float:
    if marks == k - 1:
        return last
    return float(_MARK ** (marks - 1)) if marks else _FREE_LINE


@lru_cache(maxsize=16)
def _rays(game: LineGame) -> tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]:
    """Return by cell the lines through it in each direction, with the number of axes along which they run.

    That number is 1 for rows and columns, 2 for diagonals, and 3 for diagonals through a cube.
    """
    return tuple(
        tuple((axes_of(game, lines[0]), lines) for lines in lines_through(game.shape, game.k, cell))
        for cell in range(game.size)
    )


def axes_of(game: LineGame, line: int) -> int:
    """Return along how many axes a line runs."""
    first, *others = list_cells(line)
    return (
        sum(one != two for one, two in zip(_places(game, first), _places(game, others[0]), strict=True))
        if others
        else 1
    )


def distance_between(game: Game[Any], one: int, two: int) -> int:
    """Return how many steps, straight or diagonal, are between two cells."""
    return max(abs(x - y) for x, y in zip(_places(game, one), _places(game, two), strict=True))


def opposite(game: Game[Any], cell: int) -> int:
    """Return the cell that mirrors another: across the middle, or across the middle column where marks fall."""
    places = list(_places(game, cell))
    mirrored = [size - 1 - at for at, size in zip(places, reversed(game.shape), strict=True)]
    if game.gravity:
        mirrored[1:] = places[1:]
    found = 0
    for at, size in zip(reversed(mirrored), game.shape, strict=True):
        found = found * size + at
    return found


def _places(game: Game[Any], cell: int) -> Iterator[int]:
    """Yield where a cell lies along each axis, x first."""
    for size in reversed(game.shape):
        cell, at = divmod(cell, size)
        yield at


def gives_a_win(game: Game[S], state: S, move: Move) -> bool:
    """Tell whether the other side can win at once after a move."""
    after = game.result(state, move)
    if game.is_terminal(after) or game.to_move(after) == game.to_move(state):
        return False
    return any(wins(game, after, reply) for reply in game.actions(after))


def wins(game: Game[S], state: S, move: Move) -> bool:
    """Tell whether a move wins at once."""
    after = game.result(state, move)
    return game.is_terminal(after) and game.utility(after, game.to_move(state)) > 0


_STYLED_CHOOSINESS = 4.0
"""How much more a styled player prefers what it likes than people do."""


class StyledPlayer:
    """Plays the moves in sight that it has to, and otherwise by a style; `rng` chooses among what it likes."""

    def __init__(self, name: str, idea: str, style: Style, rng: random.Random) -> None:
        self.name, self.idea, self.style = name, idea, style
        self._attention = Attention(rng, style, _STYLED_CHOOSINESS)

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays games of lines only."""
        inner = game.base if isinstance(game, SwapGame) else game
        return (
            None if is_line_game(inner) else f"the {self.name} plays with lines, and {game.title} is not won by those"
        )

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return a move of its style that neither misses a win in sight nor allows one."""
        require_playable(self, game, state)
        sight, moves = look(game, state), list(game.actions(state))
        best = max(map(sight.value, moves))
        sound = [move for move in moves if sight.value(move) == best]
        move = self._attention.choose(game, state, sound, sees=1.0)
        self._attention.leave(game, state, move)
        return Choice(move, None, (), Counts())


STYLES: dict[str, tuple[str, Style]] = {
    "attacker": ("builds its own lines, and defends only when it must", Style(attack=4.0, block=0.25, far=-0.5)),
    "blocker": ("stands in the way of your lines, and waits", Style(attack=0.2, block=4.0, far=-1.0)),
    "trapper": ("plays where two of its lines cross, to threaten twice", Style(attack=0.3, block=0.3, trap=300.0)),
    "copycat": ("mirrors your moves across the board", Style(far=-1.0, copy=1e12)),
    "explorer": ("goes where nobody has played yet", Style(attack=0.5, block=0.5, far=4.0)),
}
"""By name what each does, in a few words, and its style."""


LEVELS = range(1, 9)
"""The levels, from the weakest."""


class Level(NamedTuple):
    """How well a player plays."""

    sees: float
    """The probability to notice a row near the last move; less for diagonals and farther away."""
    thinks: float
    """The probability to think ahead at a move, seeing the whole board."""
    depth: int | None
    """The number of plies of thinking ahead; None: unlimited."""


def level_of(skill: float) -> Level:
    """Return the level of a skill from 0, a careless beginner, to 1, the strategy as it is."""
    if skill >= 1:
        return Level(1.0, 1.0, None)
    return Level(0.55 + 0.45 * skill, max(0.0, skill), 1 + max(0, round(7 * skill)))


SKILLS = {
    "tictactoe": (0.0, 0.105, 0.21, 0.33, 0.45, 0.62, 0.8, 1.0),
    "misere": (-0.6, -0.4, -0.2, 0.0, 0.2, 0.45, 0.75, 1.0),
    "wild": (0.1, 0.16, 0.24, 0.345, 0.47, 0.6, 0.75, 1.0),
    "vanishing": (0.05, 0.2, 0.335, 0.49, 0.66, 0.755, 0.89, 1.0),
    "gomoku": (0.25, 0.385, 0.515, 0.655, 0.745, 0.835, 0.917, 1.0),
    "connect4": (-0.2, 0.065, 0.188, 0.355, 0.495, 0.635, 0.775, 1.0),
    "tictactoe3d": (0.05, 0.155, 0.27, 0.37, 0.47, 0.59, 0.77, 1.0),
    "qubic": (0.29, 0.426, 0.56, 0.666, 0.774, 0.888, 0.98, 1.0),
    "scorefour": (0.0, 0.145, 0.265, 0.39, 0.525, 0.65, 0.8, 1.0),
    "ultimate": (0.0, 0.115, 0.28, 0.42, 0.585, 0.735, 0.885, 1.0),
}
"""By game the skills of levels 1 to 8, fitted by matches of neighbours.

A game without any has those of Connect Four, or with at most `SMALL` cells those of tic-tac-toe.
"""
SMALL = 12


class Levelled:
    """A strategy at a level; `rng` decides what it overlooks and when it thinks."""

    def __init__(self, strategy: Strategy, level: int, rng: random.Random, style: Style = NEAR) -> None:
        if level not in LEVELS:
            raise ConfigurationError(f"level {level} is out of range; 1 to {len(LEVELS)}")
        self.name = strategy.name
        self.idea = strategy.idea
        self.level = level
        self._strategy, self._rng = strategy, rng
        self._attention = Attention(rng, style)

    def skill(self, game: Game[Any]) -> float:
        """Return the skill of the level at a game."""
        name = game.name.partition("+")[0]
        skills = SKILLS.get(name) or SKILLS["tictactoe" if prod(game.shape) <= SMALL else "connect4"]
        return skills[self.level - 1]

    def objection(self, game: Game[Any]) -> str | None:
        """Return the objection of the strategy itself."""
        return self._strategy.objection(game)

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the strategy's choice if the player thinks, or else a move that draws the eye."""
        require_playable(self, game, state)
        level = level_of(self.skill(game))
        if self._rng.random() < level.thinks:
            depths = [depth for depth in (level.depth, limit.depth) if depth is not None]
            choice = self._strategy(game, state, replace(limit, depth=min(depths, default=None)))
        else:
            move = self._attention.choose(game, state, list(game.actions(state)), level.sees)
            choice = Choice(move, None, (), Counts())
        self._attention.leave(game, state, choice.move)
        return choice
