"""Any legal move, with equal chances (origin D, the notebook's random player): the least that a strategy can be."""

import random
from typing import Any

from ttt_net.games import Game
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, require_playable


class RandomMoves:
    """Plays any legal move; `rng` decides which."""

    name = "random"
    idea = "any legal move, with equal chances"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def objection(self, game: Game[Any]) -> str | None:
        """Return None: it plays every game."""
        return None

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return one of the legal moves, unjudged."""
        require_playable(self, game, state)
        return Choice(self._rng.choice(game.actions(state)), None, (), Counts())
