"""Every bound that the server keeps, in one place, and the bucket that meters a rate."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection, and all of them together, may use. Times are in seconds, sizes in bytes."""

    max_connections: int = 5_000
    max_live_matches: int = 20
    """Live matches of one player at a time."""
    messages_per_s: float = 100.0
    """Frames of any kind, pings and fragments too."""
    message_burst: int = 200
    codes_per_s: float = 1 / 6
    code_burst: int = 10
    """How often one player may try invitation codes: of 309 million, none is found that way."""
    handshake_s: float = 5.0
    handshake_bytes: int = 16_384
    hello_s: float = 10.0
    ping_after_s: float = 3.0
    """A silence of this length is answered with a ping."""
    dead_after_s: float = 6.5
    """A silence of this length means that the peer is gone; with a look every second, within 7.5 s."""
    stalled_s: float = 5.0
    """How long a reader may leave our bytes unread."""
    closing_s: float = 2.0
    """How long the closing handshake may take."""
    unsent_bytes: int = 65_536
    unsent_messages: int = 64
    """What may wait in our memory for a reader that is behind."""
    kernel_send_buffer: int = 32_768
    """Asked of the kernel, which takes twice as much; without it, it may buffer megabytes for one stopped reader."""


class Bucket:
    """A token bucket: each act takes a token, tokens come back at a rate, and a full bucket allows a burst."""

    __slots__ = ("_at_ms", "_burst", "_rate_per_s", "_tokens")

    def __init__(self, rate_per_s: float, burst: int, now_ms: int) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._tokens = float(burst)
        self._at_ms = now_ms

    def take(self, now_ms: int) -> int:
        """Take a token; return 0, or how many milliseconds it takes until the debt is paid back."""
        regained = (now_ms - self._at_ms) / 1000 * self._rate_per_s
        self._tokens = min(float(self._burst), self._tokens + regained) - 1.0
        self._at_ms = now_ms
        return 0 if self._tokens >= 0 else int(-self._tokens / self._rate_per_s * 1000) + 1

    def is_full(self, now_ms: int) -> bool:
        """Tell whether all tokens are back, so that forgetting the bucket gives nothing away."""
        return self._tokens + (now_ms - self._at_ms) / 1000 * self._rate_per_s >= self._burst

    @property
    def is_flooded(self) -> bool:
        """Whether the debt is as large as the burst: whoever goes on like that does not listen."""
        return self._tokens < -self._burst
