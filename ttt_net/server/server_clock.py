"""Keep the two times of a server: that of play, which stands still while the process does, and that of day."""

import time
from collections.abc import Callable

BEAT_MS = 50
"""How often the event loop should tell that it turns."""
MOST_CHARGED_MS = 100
"""A silence of the event loop that is longer than this is a pause, and all but one beat of it is no time of play."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class ServerClock:
    """Both in milliseconds since 1970; they agree at the start.

    A process that is stopped, swapped out or busy answers nobody, so its players are not charged for that: whatever it
    lasts, they are charged at most `MOST_CHARGED_MS`. The time of play never jumps and never goes back; the time of day
    is that of the machine, and does both when it is set.
    """

    def __init__(
        self, monotonic_ns: Callable[[], int] = time.monotonic_ns, wall_ms: Callable[[], int] = _wall_ms
    ) -> None:
        self._monotonic_ns = monotonic_ns  # asked twice for each move, so without a call of ours in between
        self.wall_ms = wall_ms
        """The time of day: for whatever is written down."""
        self._offset_ms = wall_ms() - monotonic_ns() // 1_000_000
        self._beat_ms: int | None = None

    def play_ms(self) -> int:
        """Return the time of play: for clocks, rates and all that somebody waits for."""
        now_ms = self._monotonic_ns() // 1_000_000
        if self._beat_ms is not None and now_ms - self._beat_ms > MOST_CHARGED_MS:
            self._offset_ms -= now_ms - self._beat_ms - BEAT_MS
            self._beat_ms = now_ms
        return now_ms + self._offset_ms

    def beat(self) -> None:
        """Note that the event loop runs; nothing counts as a pause before the first call."""
        self.play_ms()
        self._beat_ms = self._monotonic_ns() // 1_000_000
