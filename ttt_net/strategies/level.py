"""Levels: any strategy, made weaker in the ways that people are.

A person overlooks a win, overlooks a threat, does not look far, and now and then just plays somewhere. Each level
gives the chance of seeing what is there and the depth of thought; at level 8 the strategy is left as it is.
"""

import random
from dataclasses import replace
from typing import Any, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Counts, Limit, S, Strategy, require_playable


class Level(NamedTuple):
    """The chances, from 0 to 1, of seeing a win and a threat and of thinking at all, and how many plies deep."""

    sees_win: float
    sees_threat: float
    thinks: float
    depth: int | None


LEVELS = (
    Level(0.40, 0.00, 0.00, 1),
    Level(0.75, 0.30, 0.15, 1),
    Level(0.90, 0.60, 0.35, 2),
    Level(0.95, 0.80, 0.55, 2),
    Level(1.00, 0.90, 0.70, 3),
    Level(1.00, 0.95, 0.82, 4),
    Level(1.00, 1.00, 0.92, 6),
    Level(1.00, 1.00, 1.00, None),
)
"""Level 1 is the first; measured in the arena, each beats the one before it."""


class Levelled:
    """A strategy that plays at a level; `rng` decides what it sees and when it thinks."""

    def __init__(self, strategy: Strategy, level: int, rng: random.Random) -> None:
        if not 1 <= level <= len(LEVELS):
            raise ConfigurationError(f"level {level} is out of range; 1 to {len(LEVELS)}")
        self.name = strategy.name
        self.idea = strategy.idea
        self._strategy, self._level, self._rng = strategy, LEVELS[level - 1], rng

    def objection(self, game: Game[Any]) -> str | None:
        """Return what the strategy itself objects."""
        return self._strategy.objection(game)

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the strategy's choice, if the level sees nothing simpler and does think."""
        require_playable(self, game, state)
        level, moves = self._level, game.actions(state)
        if self._rng.random() < level.thinks:
            depths = [depth for depth in (level.depth, limit.depth) if depth is not None]
            return self._strategy(game, state, replace(limit, depth=min(depths, default=None)))
        winning = [move for move in moves if _wins(game, state, move)]
        if winning and self._rng.random() < level.sees_win:
            return Choice(winning[0], WIN - 1, (winning[0],), Counts(), exact=True)
        if self._rng.random() < level.sees_threat:
            moves = tuple(move for move in moves if not _is_answered_by_a_win(game, state, move)) or moves
        return Choice(self._rng.choice(moves), None, (), Counts())


def _wins(game: Game[S], state: S, move: Move) -> bool:
    after = game.result(state, move)
    return game.is_terminal(after) and game.utility(after, game.to_move(state)) > 0


def _is_answered_by_a_win(game: Game[S], state: S, move: Move) -> bool:
    after = game.result(state, move)
    if game.is_terminal(after) or game.to_move(after) == game.to_move(state):
        return False
    return any(_wins(game, after, reply) for reply in game.actions(after))
