"""A simulated disk: SQLite in memory whose transactions take time, fail, and outlive a killed process.

It does what `Database` does, without its thread: jobs that meet share one transaction, answers come after the commit.
A killed server loses the jobs that were not committed, and the answers that it had not heard.
"""

import random
import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from tests.simulation.loop import SimulatedLoop
from ttt_net.server.journal import StorageError
from ttt_net.server.journal.database import MAX_BATCH
from ttt_net.server.journal.schema import migrate
from ttt_net.server.metrics import Histogram

T = TypeVar("T")
_Work = Callable[[sqlite3.Connection], Any]


@cache
def _template() -> bytes:
    """Return a new journal, as the bytes of its file: making one takes longer than most worlds last."""
    with sqlite3.connect(":memory:", isolation_level=None) as connection:
        migrate(connection, Path("memory"))
        return connection.serialize()


class SimulatedDisk:
    """What is on the disk of one server, and how the disk behaves at present."""

    def __init__(self, loop: SimulatedLoop, rng: random.Random) -> None:
        self._loop, self._rng = loop, rng
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.deserialize(_template())
        self.connection.execute("PRAGMA foreign_keys = ON")
        self.slowest_s = 0.001
        """The longest that a transaction takes."""
        self.failing = 0.0
        """The share of transactions that fail."""


class SimulatedDatabase:
    """One server's way to its disk; a server that starts anew has another one."""

    def __init__(self, disk: SimulatedDisk, loop: SimulatedLoop, process: int) -> None:
        self._disk, self._loop, self._process = disk, loop, process
        self._jobs: list[tuple[_Work, Callable[[Any], None]]] = []
        self._is_busy = False
        self.commit_s = Histogram()
        self.failures = 0
        self.is_cut_off = False
        """Whether the process is gone, so that nothing more is written for it."""

    def submit(self, work: _Work, done: Callable[[Any], None]) -> None:
        """Do `work` in a transaction, later, and call `done` with its result or the failure."""
        self._jobs.append((work, done))
        if not self._is_busy:
            self._begin()

    def submit_alike(
        self,
        work: Callable[..., list[Any]],
        item: object,
        done: Callable[[Any], None],
        alone: Callable[..., Any] | None = None,
    ) -> None:
        """Do the same with `work` for many items."""
        self.submit(lambda connection: alone(connection, item) if alone else work(connection, [item])[0], done)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for the disk."""
        return not self._jobs and not self._is_busy

    def trouble(self) -> str | None:
        """Return None: nobody asks here."""
        return None

    def _begin(self) -> None:
        self._is_busy = True
        with self._loop.acting_as(0):
            self._loop.call_later(self._disk._rng.random() * self._disk.slowest_s, self._commit)

    def _commit(self) -> None:
        if self.is_cut_off:
            return
        batch, self._jobs = self._jobs[:MAX_BATCH], self._jobs[MAX_BATCH:]
        results = [self._do(work) for work, _ in batch]
        with self._loop.acting_as(self._process):
            self._loop.call_soon(self._report, batch, results)

    def _do(self, work: _Work) -> Any:
        connection = self._disk.connection
        if self._disk._rng.random() < self._disk.failing:
            return StorageError("no space left")
        connection.execute("BEGIN")
        try:
            result = work(connection)
        except Exception as error:
            connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.Error | StorageError):
                raise
            return StorageError(str(error))
        connection.execute("COMMIT")
        return result

    def _report(self, batch: list[tuple[_Work, Callable[[Any], None]]], results: list[Any]) -> None:
        self._is_busy = False
        for (_, done), result in zip(batch, results, strict=True):
            done(result)
        if self._jobs and not self._is_busy:
            self._begin()
