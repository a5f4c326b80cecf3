"""Forgetting matches that ended long ago, in bites so small that no move waits for one.

Counts, ratings and who met whom stay as they are; what goes is the record of the match and its line in histories.
"""

import sqlite3
from collections.abc import Callable, Collection

from ttt_net.server.journal.database import Database, StorageError

BITE = 20
"""Matches in one transaction."""
REST_MS = 600_000
"""How long to rest when nothing was left to forget."""


def prune(connection: sqlite3.Connection, before_ms: int, kept: Collection[str]) -> int:
    """Forget a bite of the matches that ended before then, the oldest first, but for those kept; return how many."""
    rows = connection.execute(
        "SELECT number, id, first, second, is_private, ended_ms FROM matches"
        " WHERE is_over AND ended_ms < ? ORDER BY ended_ms LIMIT ?",
        (before_ms, BITE + len(kept)),
    ).fetchall()
    gone = [row for row in rows if row[1] not in kept][:BITE]
    for number, match, first, second, is_private, ended_ms in gone:
        for player in (first, second):
            key = (player, is_private, ended_ms, match)
            connection.execute(
                "DELETE FROM results WHERE player = ? AND is_private = ? AND ended_ms = ? AND match = ?", key
            )
        connection.execute("DELETE FROM facts WHERE match = ?", (number,))
        connection.execute("DELETE FROM matches WHERE number = ?", (number,))
    return len(gone)


class Retention:
    """Has old matches forgotten, a bite at each `tick`, while there are any; with 0 days, none ever."""

    def __init__(
        self, database: Database, days: int, now_ms: Callable[[], int], in_use: Callable[[], Collection[str]]
    ) -> None:
        self._database = database
        self._days = days
        self._now_ms = now_ms
        self._in_use = in_use
        self._next_ms = 0
        self._is_busy = False

    def tick(self) -> None:
        """Take the next bite, if it is time; to be called about once a second."""
        now_ms = self._now_ms()
        if not self._days or self._is_busy or now_ms < self._next_ms:
            return
        self._is_busy = True
        before_ms, kept = now_ms - self._days * 86_400_000, frozenset(self._in_use())

        def done(count: int | StorageError) -> None:
            self._is_busy = False
            if count != BITE:
                self._next_ms = self._now_ms() + REST_MS

        self._database.submit(lambda connection: prune(connection, before_ms, kept), done)
