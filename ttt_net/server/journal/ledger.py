"""Put entries into one order and apply them: the interface below the journal, and two ledgers that implement it.

To add a backend, write a class with the methods of `Ledger`, and of `RunningLedger` if something has to run beside the
server. `server/serving.py` creates the one that the settings name, and a line in `LEDGERS` of the tests runs their
suite over it. The invariant of all: *what was applied is what happened*. A ledger answers the author of an entry only
after applying the entry, in order, to the tables of the author's process.

`JournalReader` reads beside the writes, on its own thread and read-only connection: SQLite's write-ahead log serves
readers while one connection writes. Only the writer may checkpoint: before SQLite 3.51.3, two connections that do so
concurrently can corrupt the log.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.journal.backups import back_up
from ttt_net.server.journal.database import Answer, Database, Done, Failed, Job, open_readonly, unheard
from ttt_net.server.journal.entries import AnyEntry, Probe
from ttt_net.server.journal.queries import AnyQuery, Reading
from ttt_net.server.metrics import Histogram

log = logging.getLogger(__name__)

MAX_BATCH = 256
"""The maximal number of jobs in a commit, so that the first does not wait too long for its answer."""
SLOW_S = 5.0
"""The disk counts as hanging if a transaction takes longer."""

NEWEST = 0.05
"""The weight of the latest commit in the mean cost of a job."""

Hear = Callable[[int, AnyEntry], None]
"""A follower, called with the position of an applied entry, counted from 1, and the entry."""
Read = Callable[[sqlite3.Connection], object]
"""Reads from the tables. Must not raise, because nobody would handle it."""
Tell = Callable[[Any], None]
"""Handles the result of a job on the event loop."""
_Job = tuple[Callable[[], Any], Tell]


class LedgerHealth(NamedTuple):
    """The state of a ledger."""

    trouble: str | None
    """The problem as a sentence; None if there is none."""
    waiting: int
    """The number of waiting entries and queries, without running ones."""
    failures: int
    """The number of failed ones so far."""
    commit_s: Histogram
    """The durations of commits, each of one or more entries."""


class Ledger(Protocol):
    """The order of all writes, of this process and of other processes, if any."""

    job_ms: float
    """The mean time of recent entries or queries on the thread that carries them out."""

    @property
    def position(self) -> int:
        """The position up to which entries were applied and published; `follow` can start there."""

    @property
    def has_past(self) -> bool:
        """Whether the tables have all finished matches; False on a node that still fetches them. For any thread."""

    def append(self, entry: AnyEntry, done: Done, failed: Failed) -> None:
        """Append an entry; call `done` with its result once it is applied, or `failed` if it is rejected.

        Entries that arrive during a commit share the next one.
        """

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Answer a query in order, between the writes; call `done`, or `failed` if it is rejected.

        Use this for queries that build the server's own state. Every write waits for it, so it must be short.
        """

    def look(self, read: Read, tell: Tell) -> None:
        """Call `read` with a connection that has every acknowledged write, then `tell` on the event loop.

        Writes do not wait for it if the tables are in a file; `archive.Archive` enforces its bounds. `tell` gets a
        `StorageError` if the tables cannot be opened.
        """

    def follow(self, position: int, hear: Hear) -> None:
        """Call `hear` with each accepted entry after the position, in order.

        Raises `LookupError` if some were trimmed.
        """

    def trim(self, position: int) -> None:
        """Drop the entries up to the position, which a snapshot contains."""

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Copy the tables into a new file, and return its size in bytes; callable from any thread.

        Raises `ConfigurationError` if the file cannot be written, or the copy is cancelled.
        """

    def health(self) -> LedgerHealth:
        """Return the state of the ledger."""


class RunningLedger(Protocol):
    """The part of a ledger that runs beside the server, for a single process or a cluster."""

    @property
    def is_stuck(self) -> bool:
        """Whether it cannot end."""

    async def run(self) -> None:
        """Work until `stop`."""

    def stop(self) -> None:
        """End `run` after the pending work."""


class Worker:
    """A thread that carries out jobs one by one and passes each result to the event loop.

    The number of waiting jobs is bounded by the callers.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that gets the results; None while the worker is not running."""
        self.on_fault: Callable[[Exception], None] = lambda _: None
        """Called on the event loop with the exception of a job; later jobs are still carried out."""

    def __call__(self, do: Callable[[], Any], tell: Tell) -> None:
        """Queue a job: `do` runs on the thread, then `tell`, or `on_fault` if it raised, on the event loop."""
        self._jobs.put((do, tell))

    @contextmanager
    def working(self, end_s: float | None = None) -> Iterator[None]:
        """Work inside the block; at its end, carry out waiting jobs and drop their results.

        `end_s` is how long the end waits for the thread; None: until it has ended.
        """
        self._loop = asyncio.get_running_loop()
        thread = threading.Thread(target=self._work, name="tables", daemon=end_s is not None)
        thread.start()
        try:
            yield
        finally:
            self._loop = None
            self._jobs.put(None)
            thread.join(end_s)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            do, tell = job
            try:
                result = do()
            except Exception as fault:
                log.exception("fault on the thread of the tables")
                tell, result = self.on_fault, fault
            loop = self._loop
            if loop is not None:
                loop.call_soon_threadsafe(tell, result)


class JournalReader:
    """A read-only connection to a journal file, on its own thread. It opens with the first `look`."""

    END_S = 1.0
    """How long the end of the server waits for a running read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        """The file to read; `_opened` is that of the connection."""
        self._opened: Path | None = None
        self._worker = Worker()
        self._connection: sqlite3.Connection | None = None

    def turn_to(self, path: Path) -> None:
        """Read another file with all later calls of `look`. Any thread may call this."""
        self._path = path

    def look(self, read: Read, tell: Tell) -> None:
        """Call `read` on the thread and `tell` on the event loop, with a `StorageError` if the file cannot be opened.

        `read` sees every commit that was acknowledged before this call.
        """
        self._worker(lambda: self._read(read), tell)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read inside the block."""
        with self._worker.working(self.END_S):
            try:
                yield
            finally:
                self._worker(self._close, lambda _: None)

    def _read(self, read: Read) -> object:
        try:
            if self._connection is None or self._opened != self._path:
                self._close()
                self._opened = self._path
                self._connection = open_readonly(self._opened)
        except ConfigurationError as error:
            return StorageError(str(error))
        return read(self._connection)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class LocalLedger:
    """The ledger of a single server: its order is that of the calls, and entries are applied directly.

    One thread writes: the calls of one iteration of the event loop wake it once, and everything that waits when it is
    free shares one commit, with `synchronous=FULL`. A second thread reads. Entries are not kept, because the tables
    have their results. So `follow` works only from the present, and positions count what was appended since the first
    call.
    """

    has_past = True

    def __init__(self, path: Path, moved: Callable[[], None] | None = None) -> None:
        """Open or create the file; see `Database`. Raises `ConfigurationError` if it cannot be used."""
        self.database = Database(path, moved)
        self._path = path
        self._reader = JournalReader(path)
        self._jobs: queue.SimpleQueue[list[Job]] = queue.SimpleQueue()
        """The jobs of one iteration of the event loop together; an empty list ends the thread."""
        self._gathered: list[Job] = []
        self._submitted = self._taken = 0
        """The number of jobs so far, and of those that the thread has begun."""
        self._commit_s = Histogram()
        self._working_since_s: float | None = None
        self.job_ms = 0.0
        self._has_ended = threading.Event()
        self._has_ended.set()
        self.position = 0
        """The number of accepted entries since the first follower."""
        self._followers: list[Hear] = []

    def append(self, entry: AnyEntry, done: Done, failed: Failed) -> None:
        """Apply an entry on the writer's thread; the answer comes on the event loop, once it is on disk.

        The callers bound the number of waiting jobs: one per match and one per connection at a time.
        """
        self._submit(Job(entry, partial(self._applied, entry, done) if self._followers else done, failed))

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Answer a query on the writer's thread, between the writes."""
        self._submit(Job(query, done, failed))

    def look(self, read: Read, tell: Tell) -> None:
        """Read on the reader's thread, or on the writer's if the system allows only one connection to the file."""
        if self.database.can_be_read_beside:
            self._reader.look(read, tell)
        else:
            self.ask(Reading(read), tell, tell)

    def _submit(self, job: Job) -> None:
        if not self._gathered:
            # all calls of one iteration of the loop wake the writer once, and share a commit
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._gathered.append(job)
        self._submitted += 1

    def _hand_over(self) -> None:
        if self._gathered:
            self._jobs.put(self._gathered)
            self._gathered = []

    def follow(self, position: int, hear: Hear) -> None:
        """Call `hear` on the event loop with entries from now on, once they are accepted.

        Raises `LookupError` if the position is in the past.
        """
        if position != self.position:
            raise LookupError(f"a local ledger keeps no entries; it is at {self.position}, not at {position}")
        self._followers.append(hear)

    def _applied(self, entry: AnyEntry, done: Done, result: object) -> None:
        self.position += 1
        for hear in self._followers:
            hear(self.position, entry)
        done(result)

    def trim(self, position: int) -> None:
        """Do nothing: no entries are kept."""

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Copy the journal while it is written to; see `back_up`."""
        return back_up(self._path, file, is_wanted)

    def health(self) -> LedgerHealth:
        """Return the state of the ledger. Call this on the event loop."""
        waiting = self._submitted - self._taken
        return LedgerHealth(self._trouble(), waiting, self.database.failures, self._commit_s)

    def _trouble(self) -> str | None:
        since_s = self._working_since_s
        if since_s is not None and time.perf_counter() - since_s > SLOW_S:
            return f"the disk has not answered for {time.perf_counter() - since_s:.0f} s"
        if self.database.is_failing:
            self._submit(Job(Probe(), unheard, unheard))  # so that an idle server notices when the disk works again
            return "the disk refuses to be written"
        return None

    # The thread.

    async def run(self) -> None:
        """Work until `stop`, finishing the pending work."""
        loop = asyncio.get_running_loop()
        self._has_ended.clear()
        with self._reader.reading():
            await asyncio.to_thread(self._work, loop.call_soon_threadsafe)

    def stop(self) -> None:
        """End `run` after the waiting jobs."""
        self._hand_over()
        self._jobs.put([])

    @property
    def is_stuck(self) -> bool:
        """Whether the thread still works although `run` was cancelled: the disk hangs, and nothing can stop it."""
        return not self._has_ended.is_set()

    def close(self) -> None:
        """Close the file; nothing may be running."""
        self.database.close()

    def _work(self, notify: Callable[[Callable[[Sequence[Answer]], None], Sequence[Answer]], object]) -> None:
        jobs: list[Job] = []
        spent_s, is_running = time.thread_time(), True
        while is_running or jobs:
            while is_running and len(jobs) < MAX_BATCH and not (jobs and self._jobs.empty()):
                more = self._jobs.get()
                is_running = bool(more)
                jobs += more
            batch, jobs = jobs[:MAX_BATCH], jobs[MAX_BATCH:]
            if batch:
                self._taken += len(batch)
                self._working_since_s = since_s = time.perf_counter()
                answers = self.database.commit(batch)
                self._working_since_s = None
                self._commit_s.observe(time.perf_counter() - since_s)
                before_s, spent_s = spent_s, time.thread_time()
                self.job_ms += ((spent_s - before_s) * 1000 / len(batch) - self.job_ms) * NEWEST
                notify(_tell, answers)
                if self.database.has_traces and not jobs and self._jobs.empty():
                    self._working_since_s = time.perf_counter()
                    self.database.erase_traces()
                    self._working_since_s = None
                    spent_s = time.thread_time()
        self._has_ended.set()


class MemoryLedger:
    """A ledger that keeps its entries, and applies them to tables in memory: for simulations, tests and examples.

    Entries and queries wait for `deliver`, or with `is_instant` do not wait. Knows no thread and no event loop.
    """

    has_past = True

    def __init__(self, database: Database | None = None, *, is_instant: bool = False) -> None:
        self.database = database or Database(None)
        self.job_ms = 0.0
        self.entries: list[AnyEntry] = []
        """The accepted entries, from `trimmed` on."""
        self.trimmed = 0
        """The position of the last dropped entry."""
        self._is_instant = is_instant
        self._waiting: deque[Job] = deque()
        self._followers: list[Hear] = []

    @property
    def position(self) -> int:
        """The position of the last accepted entry."""
        return self.trimmed + len(self.entries)

    def append(self, entry: AnyEntry, done: Done, failed: Failed) -> None:
        """Queue an entry."""
        self._submit(Job(entry, partial(self._applied, entry, done), failed))

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Queue a query."""
        self._submit(Job(query, done, failed))

    def look(self, read: Read, tell: Tell) -> None:
        """Queue the read like a query, so that it always runs at the same moment."""
        self.ask(Reading(read), tell, tell)

    def _submit(self, job: Job) -> None:
        self._waiting.append(job)
        if self._is_instant:
            self.deliver()

    def deliver(self, most: int | None = None) -> None:
        """Commit `count` of the waiting jobs, by default all, and deliver their answers."""
        count = len(self._waiting) if most is None else min(most, len(self._waiting))
        if count:
            for give, answer in self.commit([self._waiting.popleft() for _ in range(count)]):
                give(answer)

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Commit jobs together; a simulation may let some fail."""
        return self.database.commit(jobs)

    def _applied(self, entry: AnyEntry, done: Done, result: object) -> None:
        self.entries.append(entry)
        for hear in self._followers:
            hear(self.position, entry)
        done(result)

    def follow(self, position: int, hear: Hear) -> None:
        """Call `hear` with each entry after the position, immediately with kept ones."""
        if not self.trimmed <= position <= self.position:
            raise LookupError(f"entries {self.trimmed + 1} to {self.position} are kept, not what follows {position}")
        for number, entry in enumerate(self.entries[position - self.trimmed :], position + 1):
            hear(number, entry)
        self._followers.append(hear)

    def trim(self, position: int) -> None:
        """Drop the entries up to the position."""
        if position > self.trimmed:
            del self.entries[: position - self.trimmed]
            self.trimmed = position

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Copy the tables into a file."""
        with closing(sqlite3.connect(file)) as copy:
            self.database.connection.backup(copy)
        return file.stat().st_size

    def health(self) -> LedgerHealth:
        """Return a healthy state."""
        return LedgerHealth(None, len(self._waiting), self.database.failures, Histogram())


def _tell(answers: Sequence[Answer]) -> None:
    for give, answer in answers:
        try:
            give(answer)
        except Exception:  # an internal error in one answer must not affect the others
            log.exception("fault while answering a job")
