"""Count down to a restart, for all to see; no match begins meanwhile."""

import asyncio
import logging
from collections.abc import Callable

from ttt_net.errors import Closing, Code, Refusal
from ttt_net.messages import AnyServerMessage, Notice, Restarting, encode
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

COME_BACK_MS = 50
"""How soon after a restart a client tries again."""
TOLD_AT_S = (3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5)
"""With so much left it is said again."""
_CLOSED = "The host has closed the server; your matches are kept there."
LAST_WORD_S = 0.2
"""An end at once comes so much later: the admin who asked for it hears first that it comes."""


class ShutdownNotice:
    """At most one restart is ahead at a time; a new one takes the place of the last.

    Before the first `begin` and after `call_off` none is. `drain` is the end itself.
    """

    def __init__(self, players: OnlinePlayers, loop: asyncio.AbstractEventLoop, now_ms: Callable[[], int]) -> None:
        self._players = players
        self._loop = loop
        self._now_ms = now_ms
        self._restart_ms: int | None = None
        self._next: asyncio.TimerHandle | None = None
        self.is_draining = False

    def begin(self, in_s: float, stop: Callable[[], None]) -> None:
        """Count down from `in_s` seconds, then call `stop`."""
        log.warning("drain: the server ends in %g s and begins no more matches", in_s)
        self._cancel()
        self._restart_ms = self._now_ms() + int(in_s * 1000)
        if in_s:
            self._tell(in_s, stop)
        else:
            self._next = self._loop.call_later(LAST_WORD_S, stop)

    def call_off(self) -> bool:
        """Go on as if nothing had been said; tell whether there was anything to call off."""
        was_on = self._restart_ms is not None
        self._cancel()
        if was_on:
            log.warning("drain: called off")
            self._tell_all(Notice("The restart was called off.", None))
            for session in list(self._players.sessions.values()):
                if (
                    not session.live and not session.is_elsewhere
                ):  # they were put off, perhaps; sent round once, they ask again
                    session.connection.close(Closing.RESTART)
        return was_on

    def drain(self, closing: Closing = Closing.RESTART) -> None:
        """Tell every client that the server restarts, or that its host has closed it, and start nothing new."""
        self.is_draining = True
        self._tell_all(Notice(_CLOSED) if closing is Closing.ENDED else Restarting(COME_BACK_MS))

    def announce(self, text: str) -> None:
        """Show a line to everybody, on the other nodes of a cluster too."""
        self._tell_all(Notice(text, self.left_ms()))
        for session in self._players.sessions.values():
            if session.is_elsewhere:
                session.tell(Notice(text, None))

    def left_ms(self) -> int | None:
        """Return how long it is until the restart; None if none is ahead."""
        return None if self._restart_ms is None else max(0, self._restart_ms - self._now_ms())

    def notice(self) -> Notice | None:
        """Return the notice for a player who comes now; None if no restart is ahead."""
        left_ms = self.left_ms()
        return None if left_ms is None else _notice(left_ms)

    def check(self) -> None:
        """Raise `Refusal` if a match may not begin because a restart is ahead, or under way."""
        if self.is_draining:
            raise Refusal(Code.RESTARTING, "the server is about to restart; come back in a moment", COME_BACK_MS)
        left_ms = self.left_ms()
        if left_ms is not None:
            sentence = "the server is about to restart; seek again when it is back"
            raise Refusal(Code.RESTARTING, sentence, left_ms + COME_BACK_MS)

    @property
    def lets_begin(self) -> bool:
        """Whether a match may begin."""
        return not self.is_draining and self._restart_ms is None

    def _cancel(self) -> None:
        if self._next:
            self._next.cancel()
        self._next = self._restart_ms = None

    def _tell(self, left_s: float, stop: Callable[[], None]) -> None:
        if not left_s:
            stop()
            return
        self._tell_all(_notice(int(left_s * 1000)))
        following = next((mark for mark in TOLD_AT_S if mark < left_s), 0)
        self._next = self._loop.call_later(left_s - following, self._tell, following, stop)

    def _tell_all(self, message: AnyServerMessage) -> None:
        told = frame(encode(message))
        for session in self._players.sessions.values():
            if not session.is_elsewhere:
                session.connection.send(told)


def _notice(left_ms: int) -> Notice:
    return Notice(f"The server restarts in {spoken(left_ms / 1000)}; your matches are safe.", left_ms)


def spoken(seconds: float) -> str:
    """Return a stretch of time in words, rounded to what matters: `90 seconds`, `5 minutes`."""
    if seconds <= 90:
        return f"{seconds:.0f} second{'s' if round(seconds) != 1 else ''}"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3_600:.0f} hours"
