"""Weaken any strategy to a level, with typical human weaknesses.

A person sees only a part of the board, and overlooks a far corner; sees an obvious threat, but not the second one; does
not think far ahead; and without a reason plays where many lines cross. Each level has probabilities for these
weaknesses, and a depth; level 8 leaves the strategy unchanged.
"""

import random
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move
from ttt_net.games.game import EMPTY
from ttt_net.strategies.heuristic import promise
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Counts, Limit, S, Strategy, require_playable


class Level(NamedTuple):
    """The probabilities of a player's actions at a move, from 0 to 1."""

    sees_win: float
    """Takes a visible win."""
    sees_threat: float
    """Checks the other side's reply to a move, and blocks it instead."""
    sight: float
    """Sees a cell far from the last marks."""
    thinks: float
    """Thinks ahead, seeing the whole board."""
    depth: int | None
    """The number of plies of thinking ahead; None: unlimited."""


LEVELS = (
    Level(0.40, 0.00, 0.20, 0.00, 1),
    Level(0.75, 0.30, 0.30, 0.15, 1),
    Level(0.90, 0.60, 0.40, 0.30, 2),
    Level(0.95, 0.75, 0.60, 0.45, 2),
    Level(1.00, 0.85, 0.85, 0.63, 3),
    Level(1.00, 0.95, 0.95, 0.79, 4),
    Level(1.00, 1.00, 1.00, 0.87, 6),
    Level(1.00, 1.00, 1.00, 1.00, None),
)
"""Level 1 is the first; measured in the arena, each beats the one before it."""
SMALL_LEVELS = (
    Level(0.40, 0.00, 0.20, 0.00, 1),
    Level(0.57, 0.25, 0.40, 0.09, 1),
    Level(0.67, 0.40, 0.52, 0.20, 2),
    Level(0.77, 0.54, 0.63, 0.32, 2),
    Level(0.85, 0.66, 0.73, 0.44, 3),
    Level(0.94, 0.79, 0.83, 0.59, 4),
    Level(1.00, 0.90, 1.00, 0.73, 6),
    Level(1.00, 1.00, 1.00, 1.00, None),
)
"""The same on boards of up to `SMALL` cells, where a player with a little foresight hardly ever loses."""
SMALL = 12


class Levelled:
    """A strategy at a level; `rng` decides what it overlooks and when it thinks."""

    def __init__(self, strategy: Strategy, level: int, rng: random.Random) -> None:
        if not 1 <= level <= len(LEVELS):
            raise ConfigurationError(f"level {level} is out of range; 1 to {len(LEVELS)}")
        self.name = strategy.name
        self.idea = strategy.idea
        self._strategy, self._rng = strategy, rng
        self.on_large, self.on_small = LEVELS[level - 1], SMALL_LEVELS[level - 1]

    def objection(self, game: Game[Any]) -> str | None:
        """Return the objection of the strategy itself."""
        return self._strategy.objection(game)

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the strategy's choice, unless the level finds something simpler or does not think."""
        require_playable(self, game, state)
        level = self.on_small if prod(game.shape) <= SMALL else self.on_large
        if self._rng.random() < level.thinks:
            depths = [depth for depth in (level.depth, limit.depth) if depth is not None]
            return self._strategy(game, state, replace(limit, depth=min(depths, default=None)))
        view = self._view(game, state, level)
        moves = [move for move in game.actions(state) if game.move_cells[move] in view] or list(game.actions(state))
        winning = [move for move in moves if _wins(game, state, move)]
        if winning and self._rng.random() < level.sees_win:
            return Choice(winning[0], WIN - 1, (winning[0],), Counts(), exact=True)
        move = self._likely(game, moves)
        if self._rng.random() < level.sees_threat:
            move = self._answer(game, state, move, view)
        return Choice(move, None, (), Counts())

    def _view(self, game: Game[S], state: S, level: Level) -> set[int]:
        """Return the visible cells: those near a random mark, and some random others."""
        board = game.board(state)
        marked = [cell for cell, mark in enumerate(board) if mark != EMPTY]
        if not marked:
            return {-1, *range(len(board))}
        focus, reach = self._rng.choice(marked), max(1, max(game.shape) // 3)
        far = (cell for cell in range(len(board)) if _distance(game, focus, cell) > reach)
        return {-1, *range(len(board))} - {cell for cell in far if self._rng.random() >= level.sight}

    def _likely(self, game: Game[Any], moves: list[Move]) -> Move:
        """Return a random move, more likely where more lines cross."""
        merit = promise(game)
        least = min(merit[move] for move in moves)
        return self._rng.choices(moves, [1 + merit[move] - least for move in moves])[0]

    def _answer(self, game: Game[S], state: S, move: Move, view: set[int]) -> Move:
        """Return the move with which the other side would win after ours, if it is in view and ours as well."""
        after = game.result(state, move)
        if game.is_terminal(after) or game.to_move(after) == game.to_move(state):
            return move
        legal = game.actions(state)
        threats = [reply for reply in game.actions(after) if game.move_cells[reply] in view and reply in legal]
        return next((reply for reply in threats if _wins(game, after, reply)), move)


def _distance(game: Game[Any], one: int, two: int) -> int:
    """Return how many steps, straight or diagonal, are between two cells."""
    farthest = 0
    for size in reversed(game.shape):
        one, x = divmod(one, size)
        two, y = divmod(two, size)
        farthest = max(farthest, abs(x - y))
    return farthest


def _wins(game: Game[S], state: S, move: Move) -> bool:
    after = game.result(state, move)
    return game.is_terminal(after) and game.utility(after, game.to_move(state)) > 0
