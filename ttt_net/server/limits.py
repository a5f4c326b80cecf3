"""Every bound that the server keeps, in one place, and the bucket that meters a rate."""

from dataclasses import dataclass

from ttt_net.errors import Closing, Code, ProtocolError, Refusal


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection, and all of them together, may use. Times are in seconds, sizes in bytes."""

    max_connections: int = 5_000
    max_live_matches: int = 20
    """Live matches of one player at a time."""
    messages_per_s: float = 100.0
    """Frames of any kind, pings and fragments too."""
    message_burst: int = 200
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
    """A token bucket: each frame takes a token, tokens come back at a rate, and a full bucket allows a burst."""

    __slots__ = ("_at_ms", "_tokens")

    def __init__(self, limits: Limits, now_ms: int) -> None:
        self._tokens = float(limits.message_burst)
        self._at_ms = now_ms

    def take(self, limits: Limits, now_ms: int) -> None:
        """Take a token; without one raise `Refusal`, and far beyond that `ProtocolError`."""
        regained = (now_ms - self._at_ms) / 1000 * limits.messages_per_s
        self._tokens = min(float(limits.message_burst), self._tokens + regained) - 1.0
        self._at_ms = now_ms
        if self._tokens >= 0:
            return
        if self._tokens < -limits.message_burst:
            raise ProtocolError(Closing.TOO_FAST, f"more than {limits.messages_per_s:g} frames per second")
        wait_ms = int(-self._tokens / limits.messages_per_s * 1000) + 1
        raise Refusal(Code.TOO_FAST, f"at most {limits.messages_per_s:g} frames per second", wait_ms)
