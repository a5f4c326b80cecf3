"""Declare the interface of a strategy: (game, state, limit) -> choice. Knows rules, but no match and no event loop.

A value is an integer from the view of the side to move. A win that will be complete in n plies is `WIN - n`, a loss
`n - WIN`, a draw 0; what lies between, up to `DECIDED`, is an estimate: the higher, the better. So a sooner win and
a later loss are worth more, and a search only ever compares numbers.

With the pie rule, strategies play the inner game once one move has been made.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar

from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.games import Game, Move
from ttt_net.games.swap import SwapGame, SwapState

S = TypeVar("S")

WIN = 1_000_000
"""The value of a finished, won game."""

DECIDED = WIN - 10_000
"""A value of at least this size is a win or a loss, and encodes the number of plies."""

ALMOST_DECIDED = 40_000
"""An estimate of at least this size is a win or a loss unless an unsearched move helps."""


def is_decided(value: int) -> bool:
    """Tell whether a value is a win or a loss, rather than a draw or an estimate."""
    return abs(value) >= DECIDED


def plies_to_end(value: int) -> int:
    """Return the number of plies until the win or the loss of a decided value is complete."""
    return WIN - abs(value)


def is_soonest(value: int) -> bool:
    """Tell whether a solved value is exact to the ply although not all moves were searched."""
    return value == 0 or plies_to_end(value) <= 2


def from_above(value: int, plies: int) -> int:
    """Return a node's value from `plies` above, where a win or a loss is that much further away."""
    if value >= DECIDED:
        return value - plies
    return value + plies if value <= -DECIDED else value


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of a search; None is no limit.

    `cancelled` is called repeatedly and ends the search when it returns True; an event's `is_set` works.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: int | None = None
    cancelled: Callable[[], bool] | None = None

    def share(self, part: float) -> "Limit":
        """Return the limit of a first attempt, with this fraction of the nodes and of the time."""
        nodes = None if self.nodes is None else round(self.nodes * part)
        return replace(self, nodes=nodes, ms=None if self.ms is None else round(self.ms * part))

    def rest(self, spent: "Counts") -> "Limit":
        """Return the rest of the limit, for a second attempt."""
        nodes = None if self.nodes is None else max(0, self.nodes - spent.nodes)
        return replace(self, nodes=nodes, ms=None if self.ms is None else max(0, self.ms - round(spent.ms)))


ONE_SECOND = Limit(ms=1000)
"""The default limit of a strategy."""


class Counts(NamedTuple):
    """The cost of a choice. `nodes` are positions visited, `results` moves made, `tests` checks for the end.

    `cuts` are nodes left early because they could no longer matter, `hits` answers found in a table, `depth` the
    plies that were looked ahead to the full, and `ms` the time.
    """

    nodes: int = 0
    results: int = 0
    tests: int = 0
    cuts: int = 0
    hits: int = 0
    depth: int = 0
    ms: float = 0.0

    def and_then(self, later: "Counts") -> "Counts":
        """Return the total cost of this and a later search, with the later one's depth."""
        return Counts(*map(add, self, later))._replace(depth=later.depth)


class Choice(NamedTuple):
    """A move with the strategy's evaluation: its value, the expected line of play, and the cost.

    `value` is None for a strategy that does not judge. `exact` tells that `value` is the truth and not an estimate.
    A win or a loss is one even if it is not exact, but then it may come sooner than `value` tells.
    """

    move: Move
    value: int | None
    line: tuple[Move, ...]
    counts: Counts
    exact: bool = False


class Strategy(Protocol):
    """The interface of strategies. A strategy keeps its own state, so each thread or process creates its own.

    `name` is what `find_strategy` knows it by, and `idea` says in one sentence how it thinks.
    """

    name: str
    idea: str

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it cannot play a game, in one sentence, or None if it can."""

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return a legal move for the side to move. Raises as `require_playable` does."""


def require_playable(strategy: Strategy, game: Game[S], state: S) -> None:
    """Raise `ConfigurationError` if the strategy cannot play that game, and `Refusal` if the game is over."""
    objection = strategy.objection(game)
    if objection is not None:
        raise ConfigurationError(objection)
    if game.is_terminal(state):
        raise Refusal(Code.MATCH_OVER, "the game is over; there is no move to choose")


class Stopped(Exception):  # noqa: N818 - reaching a limit is not an error
    """The search has reached its limit and unwinds; never leaves a strategy."""


UNLIMITED = 1 << 62
"""More nodes than any search has time for."""


class Effort:
    """The effort a search has spent and its limit; only this class reads the clock in this package."""

    def __init__(self, limit: Limit) -> None:
        self.nodes = self.results = self.tests = self.cuts = self.hits = self.depth = 0
        self._started = time.monotonic()
        self._deadline = float("inf") if limit.ms is None else self._started + limit.ms / 1000
        self.max_nodes = UNLIMITED if limit.nodes is None else limit.nodes
        self.max_depth = limit.depth
        self._cancelled = limit.cancelled

    def spend(self) -> None:
        """Count one more node. Raises `Stopped` if the limit has been reached."""
        if self.is_over():
            raise Stopped
        self.nodes += 1

    def is_over(self) -> bool:
        """Tell whether the limit has been reached."""
        if self.nodes >= self.max_nodes or time.monotonic() >= self._deadline:
            return True
        return self._cancelled is not None and self._cancelled()

    def seconds_left(self) -> float | None:
        """Return the remaining time, or None without a limit of time."""
        return None if self._deadline == float("inf") else max(0.0, self._deadline - time.monotonic())

    def counts(self) -> Counts:
        """Return the cost so far."""
        ms = (time.monotonic() - self._started) * 1000
        return Counts(self.nodes, self.results, self.tests, self.cuts, self.hits, self.depth, ms)


def beneath(game: Game[S], state: S) -> tuple[Game[S], S]:
    """Return the inner game and position to think about, once it is settled who has the first move."""
    if isinstance(game, SwapGame) and isinstance(state, SwapState) and state.moves > 1:
        return game.base, state.position
    return game, state


def is_first(state: object) -> TypeGuard[SwapState]:
    """Tell whether the side to move makes the first move, which may then be taken over."""
    return isinstance(state, SwapState) and state.moves == 0


def may_swap(state: object) -> TypeGuard[SwapState]:
    """Tell whether the side to move may take over the first move."""
    return isinstance(state, SwapState) and state.moves == 1


def value_of_swap(value: int) -> int:
    """Return the value of a swap in a position with this value: from the other side, one ply further from the end."""
    return -value - (value < 0) + (value > 0) if is_decided(value) else -value


def or_swap(choice: Choice, swap: int) -> Choice:
    """Return a choice in the inner game, or the swap if the position is bad for the side to move."""
    if choice.value is None or choice.value >= 0:
        return choice
    return choice._replace(move=swap, value=value_of_swap(choice.value), line=(swap, *choice.line))
