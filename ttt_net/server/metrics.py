"""Count what the server does, in plain integers, so that counting costs next to nothing; and contain faults.

Figures that can be looked up, such as connections and matches, are looked up on request and not counted.
"""

import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from typing import Literal, get_args

from ttt_net.errors import Closing

log = logging.getLogger(__name__)

Dropped = Literal[
    "full",
    "address",
    "work",
    "newcomers",
    "no_handshake",
    "long_handshake",
    "bad_request",
    "silent",
    "unread_answers",
    "unread_pongs",
]
"""Why a connection was dropped without a close code."""
ENDINGS = (*get_args(Dropped), *(each.name.lower() for each in Closing))
"""Every reason for which the server ends a connection."""

SECONDS = (0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""The upper bounds of the histograms' classes: from a commit on a fast disk to a disk that hangs."""


class Histogram:
    """How many values fell into each class; the last class has no upper bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        """The sum of all values."""

    def observe(self, value: float) -> None:
        """Count one value; to be called by one thread only."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def quantile(self, share: float) -> float | None:
        """Return the upper bound of the class in which that share of the values is reached; None without a value."""
        count_of_all = sum(self.counts)
        if not count_of_all:
            return None
        seen = 0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            seen += count
            if seen >= share * count_of_all:
                return bound
        return float("inf")


class Metrics:
    """The counts of one server since its start; they only grow."""

    __slots__ = ("accepted", "endings", "faults", "lag_s", "matches", "move_s", "moves", "refusals", "requests")

    def __init__(self) -> None:
        self.accepted = 0
        """Connections."""
        self.requests = 0
        """Messages, good or bad."""
        self.matches = 0
        """Matches that were begun."""
        self.moves = 0
        """Moves that were acknowledged."""
        self.faults = 0
        """Unexpected exceptions in requests of clients or in periodic work."""
        self.refusals: Counter[str] = Counter()
        """By the code of the refusal."""
        self.endings: Counter[str] = Counter()
        """Connections that the server ended, by the reason: one of `ENDINGS`."""
        self.move_s = Histogram()
        """From the start of a move's request in its room until it was sent, including the disk."""
        self.lag_s = Histogram()
        """By how much the event loop was late."""


class Guard:
    """Runs parts of the server in turn, each separately, so that a fault in one does not affect the others."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._faults: Counter[str] = Counter()

    def attempt(self, part: str, do: Callable[[], object], otherwise: Callable[[], object] | None = None) -> None:
        """Do what `part` has to do, and after a fault in it `otherwise`."""
        try:
            do()
        except Exception:  # noqa: BLE001 - whatever it is, everybody else plays on
            self.note(part)
            if otherwise:
                otherwise()

    def note(self, part: str) -> None:
        """Log and count the exception that is being handled: a fault in `part`.

        One that comes with every turn is logged the 1st, 2nd, 4th, 8th ... time: it shall not fill the disk too.
        """
        self._metrics.faults += 1
        self._faults[part] += 1
        count = self._faults[part]
        if count & (count - 1) == 0:
            log.exception("fault: %s (number %d of its kind)", part, count)
