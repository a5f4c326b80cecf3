"""Provide the two times of a server: the time of play, which stops with the process, and the time of day."""

import time
from collections.abc import Callable

BEAT_MS = 50
"""How often the event loop should call `beat`."""
MOST_CHARGED_MS = 100
"""A longer gap between beats is a pause, of which only one beat counts as time of play."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class ServerClock:
    """Both times are in milliseconds since 1970, and equal at the start.

    A process that is stopped, swapped out or busy answers nobody, so its players are charged at most `MOST_CHARGED_MS`
    for it. The time of play never jumps and never goes back; the time of day is the machine's, and does both when it is
    set.
    """

    def __init__(
        self, monotonic_ns: Callable[[], int] = time.monotonic_ns, wall_ms: Callable[[], int] = _wall_ms
    ) -> None:
        self._monotonic_ns = monotonic_ns  # called twice per move, so without another function call
        self.wall_ms = wall_ms
        """The time of day, for everything that is stored."""
        self._offset_ms = wall_ms() - monotonic_ns() // 1_000_000
        self._beat_ms: int | None = None

    def play_ms(self) -> int:
        """Return the time of play, for clocks, rates and timeouts."""
        now_ms = self._monotonic_ns() // 1_000_000
        if self._beat_ms is not None and now_ms - self._beat_ms > MOST_CHARGED_MS:
            self._offset_ms -= now_ms - self._beat_ms - BEAT_MS
            self._beat_ms = now_ms
        return now_ms + self._offset_ms

    def beat(self) -> None:
        """Record that the event loop runs; nothing counts as a pause before the first call."""
        self.play_ms()
        self._beat_ms = self._monotonic_ns() // 1_000_000
