"""Time controls and clocks in integer milliseconds; knows no clock of the machine: `now_ms` is an argument."""

from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta, Struct

SIDES = (0, 1)


class TimeControl(Struct, frozen=True, forbid_unknown_fields=True):
    """What each player has at the start, and gets after each of his moves (Fischer's clock)."""

    initial_ms: Annotated[int, Meta(ge=1_000, le=10_800_000)]
    increment_ms: Annotated[int, Meta(ge=0, le=60_000)]


@dataclass(frozen=True, slots=True)
class Clock:
    """What is left to each side, and whose time runs since when.

    Nobody is charged before both have moved once, so time starts to run with the third move.
    """

    increment_ms: int
    remaining_ms: tuple[int, int]
    running: int | None = None
    since_ms: int = 0

    def left_ms(self, side: int, now_ms: int) -> int:
        """Return what `side` has left at `now_ms`; never below 0."""
        spent = max(0, now_ms - self.since_ms) if side == self.running else 0
        return max(0, self.remaining_ms[side] - spent)

    def read(self, now_ms: int) -> tuple[int, int]:
        """Return what each side has left at `now_ms`."""
        return self.left_ms(0, now_ms), self.left_ms(1, now_ms)

    def stopped(self, now_ms: int) -> "Clock":
        """Return the clock as it stands at `now_ms`, with nobody's time running."""
        return replace(self, remaining_ms=self.read(now_ms), running=None, since_ms=now_ms)

    def started(self, side: int, now_ms: int) -> "Clock":
        """Return the clock with the time of `side` running from `now_ms` on."""
        return replace(self.stopped(now_ms), running=side)

    def pressed(self, side: int, now_ms: int) -> "Clock":
        """Return the clock after `side` moved at `now_ms`: charged if it ran, credited, and stopped."""
        credit = self.increment_ms if side == self.running else 0
        first, second = self.read(now_ms)
        remaining = (first + credit, second) if side == 0 else (first, second + credit)
        return replace(self, remaining_ms=remaining, running=None, since_ms=now_ms)

    def flag_at_ms(self) -> int | None:
        """Return when the running side's time will be used up, or None when nobody's runs."""
        return None if self.running is None else self.since_ms + self.remaining_ms[self.running]
