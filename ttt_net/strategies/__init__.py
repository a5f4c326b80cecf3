"""Strategies that choose a move, one file per idea, and their lookup by name; they know only the rules."""

import random
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from ttt_net.errors import ConfigurationError
from ttt_net.strategies.alphabeta import AlphaBeta
from ttt_net.strategies.level import NEAR, STYLES, Levelled, StyledPlayer
from ttt_net.strategies.mcts import MonteCarlo
from ttt_net.strategies.strategy import Choice, Counts, Limit, Strategy
from ttt_net.strategies.tactics import Tactics
from ttt_net.strategies.textbook import LookAhead, Minimax, RandomMoves
from ttt_net.strategies.tictactoe import LookupTable, Magic, Rules

_MAKERS: dict[str, Callable[[random.Random], Strategy]] = {
    RandomMoves.name: RandomMoves,
    LookupTable.name: LookupTable,
    Rules.name: Rules,
    Magic.name: Magic,
    Tactics.name: Tactics,
    LookAhead.name: LookAhead,
    Minimax.name: Minimax,
    AlphaBeta.name: AlphaBeta,
    MonteCarlo.name: MonteCarlo,
    **{name: partial(StyledPlayer, name, idea, style) for name, (idea, style) in STYLES.items()},
}

NAMES = tuple(_MAKERS)
"""The available strategies, from the plainest to the strongest."""
_MOST_COMPARED = 40
"""Characters of an unknown name that are compared with known ones."""


def find_strategy(name: str, *, seed: int | None = None, level: int | None = None) -> Strategy:
    """Return a new strategy by name, at full strength or at a level, 1 to 8; `seed` determines its random choices.

    Raises `ConfigurationError`, with the known ones, if the name or level is unknown.
    """
    if name not in _MAKERS:
        likely = "".join(
            f"did you mean {near}? " for near in get_close_matches(name[:_MOST_COMPARED].lower(), NAMES, 1)
        )
        raise ConfigurationError(f"unknown strategy {name!r}; {likely}there are: {', '.join(NAMES)}")
    rng = random.Random(seed)
    strategy = _MAKERS[name](rng)
    return strategy if level is None else Levelled(strategy, level, rng, STYLES[name][1] if name in STYLES else NEAR)


__all__ = ["NAMES", "Choice", "Counts", "Limit", "Strategy", "find_strategy"]
