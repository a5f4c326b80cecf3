"""Work in the journal that comes up again and again, done in bites so small that no move waits for one."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from ttt_net.server.journal.database import Database, StorageError

BITE = 20
"""Things that are done in one transaction."""
REST_MS = 600_000
"""How long to rest when nothing was left to do."""

T = TypeVar("T")


class PeriodicJob(Generic[T]):
    """Takes a bite at each `tick`, while there is anything left.

    `prepare` gets the time and returns the work, which does at most `BITE` things and returns them; `then` hears of
    them once they are committed.
    """

    def __init__(
        self,
        database: Database,
        now_ms: Callable[[], int],
        prepare: Callable[[int], Callable[[sqlite3.Connection], Sequence[T]]],
        then: Callable[[T], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._now_ms = now_ms
        self._prepare = prepare
        self._then = then
        self._next_ms = 0
        self._is_busy = False

    def tick(self) -> None:
        """Take the next bite, if it is time; to be called about once a second."""
        now_ms = self._now_ms()
        if self._is_busy or now_ms < self._next_ms:
            return
        work = self._prepare(now_ms)
        self._is_busy = True

        def done(did: Sequence[T] | StorageError) -> None:
            self._is_busy = False
            if isinstance(did, StorageError) or len(did) < BITE:
                self._next_ms = self._now_ms() + REST_MS
            if not isinstance(did, StorageError):
                for each in did:
                    self._then(each)

        self._database.submit(work, done)
