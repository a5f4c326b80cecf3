"""Keep a floor of free space on the disk: new matches are refused first, then moves, before the disk refuses both."""

import logging
from collections.abc import Callable
from typing import NamedTuple

from ttt_net.errors import Code, Refusal

log = logging.getLogger(__name__)

_RETRY_MS = 10_000
_FOR_MOVES = 4
"""Matches that go on may use all but so small a part of what is kept free."""


class DiskUsage(NamedTuple):
    """What is used of a disk."""

    free_bytes: int
    """What any process may still use of it."""
    journal_bytes: int
    """The files of the journal."""


class DiskSpace:
    """What is free where the journal is, as it was when `look` was last called."""

    def __init__(self, least_bytes: int, measure: Callable[[], DiskUsage | None]) -> None:
        self._least_bytes = least_bytes
        self._measure = measure
        self.usage: DiskUsage | None = None
        """None before the first look, and where it cannot be told."""

    def look(self) -> None:
        """Look how much is free; to be called about once a second."""
        before, self.usage = self._is_short(1), self._measure()
        if self._is_short(1) != before:
            state = "is short of space: no new matches begin" if not before else "has space again"
            log.warning("storage: the disk %s", state)

    def may_begin(self) -> None:
        """Raise `Refusal` if no new match may begin."""
        self._check(1, "no new matches begin")

    def may_write(self) -> None:
        """Raise `Refusal` if not even the matches that are played may go on."""
        self._check(_FOR_MOVES, "nothing can be written down; your match is safe")

    def _is_short(self, part: int) -> bool:
        return self.usage is not None and self.usage.free_bytes < self._least_bytes // part

    def _check(self, part: int, what: str) -> None:
        if self._is_short(part):
            raise Refusal(Code.STORAGE, f"the server's disk is almost full, so {what}; try again later", _RETRY_MS)
