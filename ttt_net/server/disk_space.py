"""Bound the use of the disk: below a floor of free space, or above a cap on the journal, nothing new is written.

New matches are refused first, then moves, before the disk refuses both.
"""

import logging
from collections.abc import Callable
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.server.settings.configuration import Limits

log = logging.getLogger(__name__)

_MB = 1_000_000
_RETRY_MS = 10_000
_ALMOST_FULL = "the server's disk is almost full"
_FLOOR_FOR_MOVES = 1 / 4
"""Matches that go on may use all but so small a part of what is kept free."""
_CAP_FOR_MATCHES = 9 / 10
"""New matches may fill so much of the journal's cap; the rest is for those that go on."""


class DiskUsage(NamedTuple):
    """The use of a disk."""

    free_bytes: int
    """Bytes that any process may still use of it."""
    journal_bytes: int
    """The files of the journal."""


class DiskSpace:
    """The free space where the journal is, as it was when `look` was last called."""

    def __init__(self, limits: Limits, measure: Callable[[], DiskUsage | None]) -> None:
        self._limits = limits
        self._measure = measure
        self._short_for_matches: str | None = None
        """The resource that is too short for new matches."""
        self._short_for_moves: str | None = None
        self.usage: DiskUsage | None = None
        """None before the first look, and where it cannot be told."""
        self.spare_bytes = 0
        """Unused bytes in the journal's files, left by deleted data; they are reused before the files grow."""

    @property
    def fullness(self) -> str | None:
        """The fault of a disk that is almost full, for people; None if there is room.

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
        """Look how much is free; to be called about once a second."""
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
        """Raise `Refusal` if not even the matches that are played may go on."""
        if self._short_for_moves:
            raise _too_little(self._short_for_moves, "nothing can be written down; your match is safe")

    def _told(self) -> str:
        """Return what the shortage means, beside the bounds, for the host."""
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
        """Return what there is too little of, or None, with so large parts of both bounds."""
        if self.usage is None:
            return None
        if self.usage.free_bytes < self._limits.free_disk_mb * _MB * of_floor:
            return _ALMOST_FULL
        if self.cap_bytes and (self.used_bytes or 0) > self.cap_bytes * of_cap:
            return "the server's journal is almost as large as it may get"
        return None


def _too_little(shortage: str, what: str) -> Refusal:
    return Refusal(Code.STORAGE, f"{shortage}, so {what}; try again later", _RETRY_MS)
