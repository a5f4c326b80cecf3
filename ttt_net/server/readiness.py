"""Tell whether matches may begin: not during the countdown to a restart, and not while the disk is almost full.

With little free space, or a journal close to its cap, new matches are rejected first and then moves, before writes
fail.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from ttt_net.errors import Closing, Code, Refusal
from ttt_net.messages import AnyServerMessage, Notice, Restarting, encode
from ttt_net.server.online_players import OnlinePlayers
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

COME_BACK_MS = 50
"""How soon after a restart clients reconnect."""
TOLD_AT_S = (3_600, 1_800, 900, 600, 300, 120, 60, 30, 10, 5)
"""The remaining times at which the announcement is repeated."""
_CLOSED = "The host has closed the server; your matches are kept there."
LAST_WORD_S = 0.2
"""The delay of an immediate end, so that the admin gets the reply first."""
_MB = 1_000_000
_RETRY_MS = 10_000
_ALMOST_FULL = "the server's disk is almost full"
_FLOOR_FOR_MOVES = 1 / 4
"""The fraction of the reserved disk space below which even running matches stop."""
_CAP_FOR_MATCHES = 9 / 10
"""The fraction of the journal's cap that new matches may fill; the rest is for running ones."""


class ShutdownNotice:
    """The announced restart, if any; a new one replaces it.

    Before the first `begin` and after `call_off` there is none. `drain` ends the server.
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
        """Cancel the announced restart; return whether there was one."""
        was_on = self._restart_ms is not None
        self._cancel()
        if was_on:
            log.warning("drain: called off")
            self._tell_all(Notice("The restart was called off.", None))
            for session in list(self._players.sessions.values()):
                if (
                    not session.live and not session.is_elsewhere
                ):  # clients may have postponed requests; this makes them retry
                    session.connection.close(Closing.RESTART)
        return was_on

    def drain(self, closing: Closing = Closing.RESTART) -> None:
        """Tell every client that the server restarts or closes, and start no more matches."""
        self.is_draining = True
        self._tell_all(Notice(_CLOSED) if closing is Closing.ENDED else Restarting(COME_BACK_MS))

    def announce(self, text: str) -> None:
        """Show a line to everybody, also on other nodes of a cluster."""
        self._tell_all(Notice(text, self.left_ms()))
        for session in self._players.sessions.values():
            if session.is_elsewhere:
                session.tell(Notice(text, None))

    def left_ms(self) -> int | None:
        """Return the time until the restart; None if none is announced."""
        return None if self._restart_ms is None else max(0, self._restart_ms - self._now_ms())

    def notice(self) -> Notice | None:
        """Return the notice for a player who connects now; None if no restart is planned."""
        left_ms = self.left_ms()
        return None if left_ms is None else _notice(left_ms)

    def check(self) -> None:
        """Raise `Refusal` if no match may begin because of an announced or current restart."""
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
    """Return a duration in words, rounded sensibly: `90 seconds`, `5 minutes`."""
    if seconds <= 90:
        return f"{seconds:.0f} second{'s' if round(seconds) != 1 else ''}"
    if seconds < 5_400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3_600:.0f} hours"


class DiskUsage(NamedTuple):
    """The use of a disk."""

    free_bytes: int
    """The free bytes for any process."""
    journal_bytes: int
    """The files of the journal."""


class DiskSpace:
    """The free space on the journal's disk at the last call of `look`."""

    def __init__(self, limits: Limits, measure: Callable[[], DiskUsage | None]) -> None:
        self._limits = limits
        self._measure = measure
        self._short_for_matches: str | None = None
        """The resource that is too scarce for new matches."""
        self._short_for_moves: str | None = None
        self.usage: DiskUsage | None = None
        """The last result; None before the first, or if unknown."""
        self.spare_bytes = 0
        """Unused bytes in the journal's files, left by deleted data; they are reused before the files grow."""

    @property
    def fullness(self) -> str | None:
        """The problem of an almost full disk, for people; None if there is room.

        Unlike a journal that reaches its cap, this concerns one machine: another node of a cluster may have room.
        """
        return _ALMOST_FULL if self._short_for_matches == _ALMOST_FULL else None

    @property
    def used_bytes(self) -> int | None:
        """Used bytes of the journal; its files may be larger. None if unknown."""
        return self.usage and max(0, self.usage.journal_bytes - self.spare_bytes)

    @property
    def cap_bytes(self) -> int:
        """Size limit of the journal in bytes; 0: none."""
        return self._limits.journal_mb * _MB

    def look(self) -> None:
        """Check the free space. Call this about once a second."""
        self.usage = self._measure()
        before = self._short_for_matches, self._short_for_moves
        self._short_for_matches = self._shortage(1.0, _CAP_FOR_MATCHES)
        self._short_for_moves = self._shortage(_FLOOR_FOR_MOVES, 1.0)
        if before != (self._short_for_matches, self._short_for_moves):
            log.warning("storage: %s", self._told())

    def may_begin(self) -> None:
        """Raise `Refusal` if no new match may begin."""
        if self._short_for_matches:
            raise _too_little(self._short_for_matches, "no new matches begin")

    def may_write(self) -> None:
        """Raise `Refusal` if not even running matches may continue."""
        if self._short_for_moves:
            raise _too_little(self._short_for_moves, "nothing can be written down; your match is safe")

    def _told(self) -> str:
        """Return the consequence of the shortage, with the limits, for the host."""
        short = self._short_for_moves or self._short_for_matches
        if short is None or self.usage is None:
            return "there is space again"
        what = "neither matches nor moves are written down" if self._short_for_moves else "no new matches begin"
        figures = f"{self.usage.free_bytes // _MB:,} MB are free, limits.free_disk_mb is {self._limits.free_disk_mb:,}"
        if self.cap_bytes:
            figures += (
                f"; the journal has {(self.used_bytes or 0) // _MB:,}, limits.journal_mb is {self._limits.journal_mb:,}"
            )
        return f"{short}: {what} ({figures})"

    def _shortage(self, of_floor: float, of_cap: float) -> str | None:
        """Return the shortage, or None, at these fractions of both limits."""
        if self.usage is None:
            return None
        if self.usage.free_bytes < self._limits.free_disk_mb * _MB * of_floor:
            return _ALMOST_FULL
        if self.cap_bytes and (self.used_bytes or 0) > self.cap_bytes * of_cap:
            return "the server's journal is almost as large as it may get"
        return None


def _too_little(shortage: str, what: str) -> Refusal:
    return Refusal(Code.STORAGE, f"{shortage}, so {what}; try again later", _RETRY_MS)
