"""Time controls and clocks in integer milliseconds; the current time is an argument, `now_ms`."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

SIDES = (0, 1)
Speed = Literal["bullet", "blitz", "rapid", "untimed"]
"""A class of time controls; each speed has its own ratings."""

_BULLET_MS = 60_000
_BLITZ_MS = 300_000
_EXPECTED_MOVES = 40
GRACE_MS = 60_000
SHORT_GRACE_MS = 10_000
MIN_GRACE_MS = 5_000


class TimeControl(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Each player's initial time, and the increment after each of their moves (Fischer clock).

    With `per_move` each move has `initial_ms` instead, and unused time is lost.
    """

    initial_ms: Annotated[int, Meta(ge=1_000, le=10_800_000)]
    increment_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    per_move: bool = False


def grace_ms(time: TimeControl | None, *, on_purpose: bool, earlier: int) -> int:
    """Return how long a player may be disconnected before the other can claim the match.

    A sixth of the initial time, from 10 to 60 s, and 60 s without a clock; a quarter of that for a player who left on
    purpose; halved for each `earlier` absence in the same match, and for each recent match that they abandoned; at
    least 5 s.
    """
    grace = GRACE_MS if time is None else max(SHORT_GRACE_MS, min(GRACE_MS, time.initial_ms // 6))
    if on_purpose:
        grace //= 4
    return max(MIN_GRACE_MS, grace >> min(earlier, 10))


TIME_FORM = "minutes+seconds, as 3+2 or 3; up to 180 minutes and 60 seconds"
"""The notation of a time control."""
_TIME = re.compile(r"(\d{1,3}(?:\.\d)?)(?:\+(\d{1,2}))?", re.ASCII)


def time_of(text: str) -> TimeControl | None:
    """Return the time control written in `TIME_FORM`, or None; `3` is 3+0."""
    found = _TIME.fullmatch(text)
    initial_ms = round(float(found[1]) * 60_000) if found else 0
    increment_ms = int(found[2] or 0) * 1000 if found else 0
    is_allowed = 1_000 <= initial_ms <= 10_800_000 and increment_ms <= 60_000
    return TimeControl(initial_ms, increment_ms) if is_allowed else None


def speed(time: TimeControl | None) -> Speed:
    """Return the speed of a time control, by a player's total time for forty moves; None is no clock."""
    if time is None:
        return "untimed"
    whole_ms = _EXPECTED_MOVES * (time.initial_ms if time.per_move else time.increment_ms)
    if not time.per_move:
        whole_ms += time.initial_ms
    return "bullet" if whole_ms <= _BULLET_MS else "blitz" if whole_ms <= _BLITZ_MS else "rapid"


LAG_QUOTA_START_MS = 500
LAG_QUOTA_GAIN_MS = 300
LAG_QUOTA_MAX_MS = 1_000
"""Network time is refunded from a quota: its initial value, its gain per move, and its maximum.

So a round trip of 300 ms costs its player nothing, and a player who feigns lag gains at most the quota.
"""


class Clock(Struct, frozen=True):
    """The time left to each side, the side whose clock runs, and since when. A struct, since each move creates several.

    Clocks start only after both sides have moved once, so the third move is the first to be charged.
    """

    time: TimeControl
    remaining_ms: tuple[int, int]
    running: int | None = None
    since_ms: int = 0
    lag_quota_ms: tuple[int, int] = (LAG_QUOTA_START_MS, LAG_QUOTA_START_MS)

    @classmethod
    def fresh(cls, time: TimeControl) -> "Clock":
        """Return the clock before the first move."""
        return cls(time, (time.initial_ms, time.initial_ms))

    def left_ms(self, side: int, now_ms: int) -> int:
        """Return the time left to `side` at `now_ms`; never below 0."""
        left = self.remaining_ms[side]
        if side == self.running and now_ms > self.since_ms:  # called four times for a move, so without `max`
            left -= now_ms - self.since_ms
        return left if left > 0 else 0

    def read(self, now_ms: int) -> tuple[int, int]:
        """Return the time left to each side at `now_ms`."""
        running = self.running
        if running is None:
            return self.remaining_ms
        return _with(self.remaining_ms, running, self.left_ms(running, now_ms))

    def stopped(self, now_ms: int) -> "Clock":
        """Return the clock stopped at `now_ms`."""
        return Clock(self.time, self.read(now_ms), None, now_ms, self.lag_quota_ms)

    def started(self, side: int, now_ms: int) -> "Clock":
        """Return the clock with the time of `side` running from `now_ms`."""
        return Clock(self.time, self.read(now_ms), side, now_ms, self.lag_quota_ms)

    def refund_ms(self, side: int, now_ms: int, lag_ms: int) -> int:
        """Return the refund for `lag_ms` of network time in a move of `side`."""
        if side != self.running:
            return 0
        return max(0, min(lag_ms, self.lag_quota_ms[side], now_ms - self.since_ms))

    def pressed(self, side: int, now_ms: int, refund_ms: int = 0) -> "Clock":
        """Return the clock after `side` moved at `now_ms`: charged if it ran, credited, and stopped."""
        if side != self.running:
            return self.stopped(now_ms)
        left = self.left_ms(side, now_ms) + refund_ms + self.time.increment_ms
        if self.time.per_move:
            left = self.time.initial_ms
        return self.moved(side, refund_ms, _with(self.remaining_ms, side, left), None, now_ms)

    def moved(
        self, side: int, refund_ms: int, remaining_ms: tuple[int, int], running: int | None, now_ms: int
    ) -> "Clock":
        """Return the clock after a move of `side` that left these times, with the quota of network time settled."""
        quotas_ms = self.lag_quota_ms
        if side == self.running:
            quota = quotas_ms[side] - refund_ms + LAG_QUOTA_GAIN_MS
            quotas_ms = _with(quotas_ms, side, quota if quota < LAG_QUOTA_MAX_MS else LAG_QUOTA_MAX_MS)
        return Clock(self.time, remaining_ms, running, now_ms, quotas_ms)

    def flag_at_ms(self) -> int | None:
        """Return when the running side's time runs out, or None if no clock runs."""
        return None if self.running is None else self.since_ms + self.remaining_ms[self.running]


def _with(pair: tuple[int, int], side: int, value: int) -> tuple[int, int]:
    return (value, pair[1]) if side == 0 else (pair[0], value)
