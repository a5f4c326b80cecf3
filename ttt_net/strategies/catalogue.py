"""The strategies that there are, by name."""

import random
from collections.abc import Callable

from ttt_net.errors import ConfigurationError
from ttt_net.strategies.alphabeta import AlphaBeta
from ttt_net.strategies.random_moves import RandomMoves
from ttt_net.strategies.strategy import Strategy

_MAKERS: dict[str, Callable[[random.Random], Strategy]] = {
    RandomMoves.name: RandomMoves,
    AlphaBeta.name: AlphaBeta,
}

NAMES = tuple(_MAKERS)
"""The strategies that there are."""


def find_strategy(name: str, *, seed: int | None = None) -> Strategy:
    """Return a new strategy of that name, whose chances follow from `seed`.

    An unknown name raises `ConfigurationError` and says what there is.
    """
    if name not in _MAKERS:
        raise ConfigurationError(f"unknown strategy {name!r}; there are: {', '.join(NAMES)}")
    return _MAKERS[name](random.Random(seed))
