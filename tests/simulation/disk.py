"""A simulated disk: SQLite in memory whose transactions take time, fail, and outlive a killed process.

A ledger on it does what `LocalLedger` does, without its thread: jobs that meet are written together, answers come after
the commit. A killed server loses the jobs that were not committed, and the answers that it had not heard.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.server.journal.jobs import decode_entry, encode_entry
from tests.simulation.loop import SimulatedLoop
from ttt_net.errors import StorageError
from ttt_net.server.journal.database import Answer, Database, Done, Failed, Job
from ttt_net.server.journal.entries import AnyEntry, JournalEntry
from ttt_net.server.journal.ledger import MAX_BATCH, Hear, LedgerHealth, Read, Tell
from ttt_net.server.journal.queries import AnyQuery
from ttt_net.server.metrics import Histogram


class SimulatedDisk:
    """The content of one server's disk, and how the disk behaves at present."""

    def __init__(self, loop: SimulatedLoop, rng: random.Random) -> None:
        self._loop, self._rng = loop, rng
        self.database = Database(None)
        self.connection = self.database.connection
        self.replica = Database(None)
        """Another database, which has only heard of the entries, as bytes."""
        self._unheard: list[bytes] = []
        self.slowest_s = 0.001
        """The longest that a transaction takes."""
        self.failing = 0.0
        """The share of transactions that fail."""
        self.is_full = False
        """Whether nothing can be written, and all can be read."""

    def delay_s(self) -> float:
        """Return how long the next transaction takes."""
        return self._rng.random() * self.slowest_s

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Do jobs in transactions, together up to the next that fails; return their answers, in order."""
        answers: list[Answer] = []
        together: list[Job] = []
        for job in jobs:
            if self._rng.random() < self.failing or (self.is_full and isinstance(job.asked, JournalEntry)):
                answers += self._commit(together)
                answers.append((job.failed, StorageError("no space left")))
                together = []
            else:
                together.append(job)
        return answers + self._commit(together)

    def _commit(self, jobs: Sequence[Job]) -> list[Answer]:
        self._unheard += [encode_entry(job.asked) for job in jobs if isinstance(job.asked, JournalEntry)]
        return self.database.commit(jobs) if jobs else []

    def restart_replica(self) -> None:
        """Let the replica be what is on the disk now, which came there by other ways than entries."""
        self._unheard.clear()
        self.connection.backup(self.replica.connection)

    def replicate(self) -> None:
        """Apply to the replica what it has not heard of yet."""
        while self._unheard:
            bite, self._unheard = self._unheard[:MAX_BATCH], self._unheard[MAX_BATCH:]
            self.replica.commit([Job(decode_entry(data), _ignore, _ignore) for data in bite])


class SimulatedLedger:
    """One server's way to its disk; a server that starts anew has another one."""

    has_past = True

    def __init__(self, disk: SimulatedDisk, loop: SimulatedLoop, process: int) -> None:
        self._disk, self._loop, self._process = disk, loop, process
        self._jobs: list[Job] = []
        self._is_busy = False
        self.is_cut_off = False
        """Whether the process is gone, so that nothing more is written for it."""
        self.job_ms = 0.0
        self.position = 0
        """Never counted: nobody follows here."""

    def append(self, entry: AnyEntry, done: Done, failed: Failed) -> None:
        """Apply an entry later."""
        self._submit(Job(entry, done, failed))

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Answer a query later."""
        self._submit(Job(query, done, failed))

    def look(self, read: Read, tell: Tell) -> None:
        """Read later, beside the transactions."""
        with self._loop.acting_as(self._process):
            self._loop.call_later(self._disk.delay_s(), self._read, read, tell)

    def _read(self, read: Read, tell: Tell) -> None:
        self._loop.call_later(self._disk.delay_s() / 4, tell, read(self._disk.connection))

    def follow(self, position: int, hear: Hear) -> None:
        """Raise: nobody follows here."""
        raise LookupError("a simulated disk keeps no entries")

    def trim(self, position: int) -> None:
        """Return at once: no entries are kept."""

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Raise: there is no file system here."""
        raise OSError("a simulated disk has no files")

    def health(self) -> LedgerHealth:
        """Return that it does well: nobody asks here."""
        return LedgerHealth(None, len(self._jobs), 0, Histogram())

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for the disk."""
        return not self._jobs and not self._is_busy

    def _submit(self, job: Job) -> None:
        self._jobs.append(job)
        if not self._is_busy:
            self._begin()

    def _begin(self) -> None:
        self._is_busy = True
        with self._loop.acting_as(0):
            self._loop.call_later(self._disk.delay_s(), self._commit)

    def _commit(self) -> None:
        if self.is_cut_off:
            return
        batch, self._jobs = self._jobs[:MAX_BATCH], self._jobs[MAX_BATCH:]
        answers = self._disk.commit(batch)
        with self._loop.acting_as(self._process):
            self._loop.call_later(self._disk.delay_s() / 4, self._report, answers)  # it may be killed before it hears

    def _report(self, answers: list[Answer]) -> None:
        self._is_busy = False
        for give, answer in answers:
            give(answer)
        if self._jobs and not self._is_busy:
            self._begin()


def _ignore(_: object) -> None:
    """Do nothing with an answer: its author has had it."""
