"""Read and write rates as people do, `10/min`, and keep them by token buckets."""

import re
from dataclasses import dataclass

_PERIODS = {"s": 1.0, "min": 60.0, "h": 3_600.0}
_WRITTEN = re.compile(r"(\d{1,9})/(\d{0,4})(s|min|h)", re.ASCII)
_ROUNDED_OFF_MS = 1e-6
"""More than what sums of floats may lack; without it, one who waits as told comes a millisecond early now and then."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, and as many again over the period."""

    count: int
    period_s: float = 1.0

    @classmethod
    def of(cls, text: str) -> "Rate":
        """Return the rate that `20/s`, `10/min` or `5/10s` names. Raises `ValueError` if the text is any other."""
        found = _WRITTEN.fullmatch(text.strip())
        if not found or int(found[1]) == 0 or found[2] == "0":
            raise ValueError(f"{text!r} is no rate; write 20/s, 10/min, 5/10s or 100/h")
        return cls(int(found[1]), int(found[2] or 1) * _PERIODS[found[3]])

    @property
    def per_s(self) -> float:
        """How many come back in a second."""
        return self.count / self.period_s

    def __str__(self) -> str:
        """Return the text that `of` reads."""
        for unit, seconds in reversed(_PERIODS.items()):
            if self.period_s % seconds == 0:
                periods = int(self.period_s / seconds)
                return f"{self.count}/{periods if periods > 1 else ''}{unit}"
        return f"{self.count}/{self.period_s:g}s"


class Bucket:
    """A token bucket: each act takes a token, tokens come back at the rate, and a full bucket allows a burst."""

    __slots__ = ("_at_ms", "_rate", "_tokens")

    def __init__(self, rate: Rate, now_ms: int) -> None:
        self._rate = rate
        self._tokens = float(rate.count)
        self._at_ms = now_ms

    def take(self, now_ms: int, tokens: float = 1.0) -> int:
        """Take tokens; return 0, or after how many milliseconds there is one to take: asking in vain costs too."""
        left = self._tokens_at(now_ms) - tokens
        self._at_ms = now_ms
        if left >= 0:
            self._tokens = left
            return 0
        self._tokens = max(left, -self._rate.count - 1.0)
        return self.wait_ms(now_ms)

    def wait_ms(self, now_ms: int, tokens: float = 1.0) -> int:
        """Return after how many milliseconds there are so many tokens to take; 0 if there are now."""
        missing = tokens - self._tokens_at(now_ms)
        return 0 if missing <= 0 else int(missing / self._rate.per_s * 1000 + _ROUNDED_OFF_MS) + 1

    def used(self, now_ms: int) -> float:
        """Return how many tokens are missing to a full bucket; more than it holds if there is a debt."""
        return self._rate.count - self._tokens_at(now_ms)

    @property
    def is_flooded(self) -> bool:
        """Whether the debt is as large as the burst: one who goes on like that does not listen."""
        return self._tokens < -self._rate.count

    def _tokens_at(self, now_ms: int) -> float:
        rate = self._rate
        tokens = self._tokens + (now_ms - self._at_ms) / 1000 * rate.count / rate.period_s
        return tokens if tokens < rate.count else float(rate.count)
