"""Count what the server does, in plain integers, so that counting is cheap; and contain internal errors.

Values that can be looked up, such as connections and matches, are not counted here.
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
"""The upper bounds of the histograms' buckets: from a commit on a fast disk to a hanging disk."""


class Histogram:
    """The number of values in each bucket; the last bucket has no upper bound."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...] = SECONDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        """The sum of all values."""

    def observe(self, value: float) -> None:
        """Count one value. Call this on a single thread."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def quantile(self, share: float) -> float | None:
        """Return the upper bound of the bucket that contains a quantile; None without values."""
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
        """Started matches."""
        self.moves = 0
        """Acknowledged moves."""
        self.faults = 0
        """Unexpected exceptions in requests of clients or in periodic work."""
        self.refusals: Counter[str] = Counter()
        """Refusals by code."""
        self.endings: Counter[str] = Counter()
        """Connections that the server ended, by reason, one of `ENDINGS`."""
        self.move_s = Histogram()
        """The time from a move's request in its room until it was sent, including the disk."""
        self.lag_s = Histogram()
        """The delays of the event loop."""


class Guard:
    """Runs parts of the server one by one, so that an error in one does not affect the others."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._faults: Counter[str] = Counter()

    def attempt(self, part: str, do: Callable[[], object], otherwise: Callable[[], object] | None = None) -> None:
        """Run a part of the server, and `otherwise` after an error in it."""
        try:
            do()
        except Exception:  # noqa: BLE001 - any error must not affect other players
            self.note(part)
            if otherwise:
                otherwise()

    def note(self, part: str) -> None:
        """Log and count the current exception, an internal error in `part`.

        A repeated error is logged the 1st, 2nd, 4th, 8th ... time, so that it cannot fill the disk.
        """
        self._metrics.faults += 1
        self._faults[part] += 1
        count = self._faults[part]
        if count & (count - 1) == 0:
            log.exception("fault: %s (number %d of its kind)", part, count)
