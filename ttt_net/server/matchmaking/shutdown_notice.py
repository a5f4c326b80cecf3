"""The restart that is ahead: how long it is until then, what is said of it, and that no match begins any more."""

from collections.abc import Callable

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Notice

COME_BACK_MS = 50
"""How soon after a restart a client tries again."""


class ShutdownNotice:
    """Before the first `begin` and after `call_off`, no restart is ahead."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._restart_ms: int | None = None

    def begin(self, in_ms: int) -> Notice:
        """Take note that the server restarts then; return what is told of it."""
        self._restart_ms = self._now_ms() + in_ms
        return _notice(in_ms)

    def call_off(self) -> None:
        """Take note that it does not."""
        self._restart_ms = None

    def left_ms(self) -> int | None:
        """Return how long it is until then; None if no restart is ahead."""
        return None if self._restart_ms is None else max(0, self._restart_ms - self._now_ms())

    def notice(self) -> Notice | None:
        """Return what is told of it at this moment; None if no restart is ahead."""
        left_ms = self.left_ms()
        return None if left_ms is None else _notice(left_ms)

    def check(self) -> None:
        """Refuse a new match while a restart is ahead."""
        left_ms = self.left_ms()
        if left_ms is not None:
            sentence = "the server is about to restart; seek again when it is back"
            raise Refusal(Code.RESTARTING, sentence, left_ms + COME_BACK_MS)


def _notice(left_ms: int) -> Notice:
    return Notice(f"The server restarts in {spoken(left_ms / 1000)}; your matches are safe.", left_ms)


def spoken(seconds: float) -> str:
    """Return a stretch of time in words, rounded to what matters: `90 seconds`, `5 minutes`."""
    if seconds <= 90:
        return f"{seconds:.0f} second{'s' if round(seconds) != 1 else ''}"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3_600:.0f} hours"
