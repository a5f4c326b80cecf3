"""One SQLite file, one connection to it, and one thread that works on it: jobs that meet share one commit.

SQLite before 3.51.3 can corrupt a write-ahead log when two connections write and checkpoint at once; here only one
ever writes. A lock beside the file keeps a second server out; readers may come at any time.
"""

import asyncio
import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.private_files import make_private_folder
from ttt_net.server.journal.schema import SCHEMA_VERSION, migrate
from ttt_net.server.metrics import Histogram

try:
    import fcntl
except ImportError:  # Windows has no such locks; there, the file itself is held, and readers wait for the server's end
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_BATCH = 256
"""The most jobs in one commit, so that the first of them does not wait for ever for its answer."""

SLOW_S = 5.0
"""A transaction that takes longer means that the disk hangs."""


class StorageError(Refusal):
    """A refusal because the disk is full or failing, or because a law of the schema was broken; nothing has changed."""

    def __init__(self, cause: str) -> None:
        super().__init__(Code.STORAGE, "the server cannot use its disk; nothing was changed, try again", 1_000)
        self.cause = cause
        """What is wrong, for the log and for admins."""


class _Job(NamedTuple):
    """Work, the item to do it with, and what is called with its result, or the failure, after the commit."""

    work: Callable[[sqlite3.Connection, list[Any]], list[Any]]
    item: Any
    done: Callable[[Any], None]
    alone: Callable[[sqlite3.Connection, Any], Any] | None
    """The same in one statement, if it can be: where a job has no neighbours, that is a transaction by itself."""


class Database:
    """The file and its one thread. `submit` from the event loop; answers come back to the event loop."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; what is wrong with it raises `ConfigurationError`."""
        self.path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._gathered: list[_Job] = []
        self.commit_s = Histogram()
        """How long transactions took, each of one or more jobs."""
        self.failures = 0
        """Jobs that failed."""
        self._is_failing = False
        self._working_since_s: float | None = None
        self._has_ended = threading.Event()
        self._has_ended.set()
        self._connection, self._lock = _open(path)

    def submit(self, work: Callable[[sqlite3.Connection], Any], done: Callable[[Any], None]) -> None:
        """Do `work` in a transaction of the writer thread, and call `done` on the event loop once it is committed.

        `done` gets what `work` returned, or the `StorageError` after which nothing has changed. The number of
        jobs waiting is bounded by who submits: one per match and one per connection at a time.
        """
        self.submit_alike(lambda connection, _: [work(connection)], None, done)

    def submit_alike(
        self,
        work: Callable[[sqlite3.Connection, list[T]], list[Any]],
        item: T,
        done: Callable[[Any], None],
        alone: Callable[[sqlite3.Connection, T], Any] | None = None,
    ) -> None:
        """Do as `submit` does, but with one call of `work` for all neighbours in a batch that have the same.

        It gets their items and returns their results, both in order. A thread that touches the database waits for
        the interpreter's lock after every statement, so a few long statements are much better than many short ones.
        `alone` does the same to one item in a single statement, which needs no other to begin and to end it.
        """
        if not self._gathered:
            # what arrives in one turn of the loop wakes the writer once, and shares a commit
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._gathered.append(_Job(work, item, done, alone))

    def _hand_over(self) -> None:
        for job in self._gathered:
            self._jobs.put(job)
        self._gathered.clear()

    async def run(self) -> None:
        """Work until `stop`; what was submitted before is still done."""
        loop = asyncio.get_running_loop()
        self._has_ended.clear()
        await asyncio.to_thread(self._work, loop.call_soon_threadsafe)

    def stop(self) -> None:
        """Let `run` end after the jobs that are waiting."""
        self._hand_over()
        self._jobs.put(None)

    @property
    def is_stuck(self) -> bool:
        """Whether the thread is at work still, though `run` was cancelled: the disk hangs, and nothing can stop it."""
        return not self._has_ended.is_set()

    @property
    def waiting(self) -> int:
        """How many jobs wait for the disk, beside those that are under way."""
        return len(self._gathered) + self._jobs.qsize()

    def trouble(self) -> str | None:
        """Return what is wrong with the disk at this moment, or None; to be asked on the event loop, and at once."""
        since_s = self._working_since_s
        if since_s is not None and time.perf_counter() - since_s > SLOW_S:
            return f"the disk has not answered for {time.perf_counter() - since_s:.0f} s"
        if self._is_failing:
            self.submit(_probe, self._probed)  # so that an idle server notices when the disk works again
            return "the disk refuses to be written"
        return None

    def _probed(self, failure: StorageError | None) -> None:
        if failure is None:
            self._recovered()

    def _recovered(self) -> None:
        if self._is_failing:
            log.warning("storage: the disk can be written again")
            self._is_failing = False

    def close(self) -> None:
        """Close the file; nothing may be running."""
        self._connection.close()
        self._lock.close()

    def _work(self, notify: Callable[[Callable[[], None]], object]) -> None:
        is_running = True
        while is_running:
            job = self._jobs.get()
            batch: list[_Job] = []
            while job is not None:
                batch.append(job)
                if len(batch) == MAX_BATCH or self._jobs.empty():
                    break
                job = self._jobs.get()
            is_running = job is not None
            if batch:
                self._working_since_s = since_s = time.perf_counter()
                results = self._commit(batch)
                self._working_since_s = None
                self.commit_s.observe(time.perf_counter() - since_s)
                notify(partial(_report, batch, results))
        self._has_ended.set()

    def _commit(self, batch: list[_Job]) -> list[Any]:
        """Do the jobs in one transaction; if any fails, each in its own, so that one cannot spoil the others."""
        connection = self._connection
        before = connection.total_changes
        try:
            if len(batch) == 1 and batch[0].alone:
                results = [batch[0].alone(connection, batch[0].item)]
            else:
                results = _in_transaction(connection, batch)
            if connection.total_changes != before:
                self._recovered()
        except Exception as error:  # whatever went wrong in one job, the others have theirs done, and the thread lives
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if len(batch) > 1:
                return [result for job in batch for result in self._commit([job])]
            is_ours = not isinstance(error, sqlite3.Error | StorageError)
            is_disk = isinstance(error, sqlite3.OperationalError)
            cause = error.cause if isinstance(error, StorageError) else str(error)
            self.failures += 1
            if not (is_disk and self._is_failing):  # a line for each move would fill a full disk the more
                log.error("storage: %s", cause, exc_info=is_ours)
            self._is_failing = self._is_failing or is_disk
            return [StorageError(cause)]
        return results


def _in_transaction(connection: sqlite3.Connection, batch: list[_Job]) -> list[Any]:
    connection.execute("BEGIN")  # not IMMEDIATE: a disk that cannot be written can still be read
    results: list[Any] = []
    for work, jobs in groupby(batch, key=attrgetter("work")):
        results += work(connection, [job.item for job in jobs])
    connection.execute("COMMIT")
    return results


def _report(batch: list[_Job], results: list[Any]) -> None:
    for job, result in zip(batch, results, strict=True):
        try:
            job.done(result)
        except Exception:  # a fault of ours in one answer must not keep the others from theirs
            log.exception("fault while answering a job")


def _probe(connection: sqlite3.Connection) -> None:
    """Write what is there already."""
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def open_readonly(path: Path) -> sqlite3.Connection:
    """Return a connection that reads what a server has written, running or not; raises `ConfigurationError`."""
    try:
        with ExitStack() as opened:
            address = f"{path.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)
            opened.callback(connection.close)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < SCHEMA_VERSION:
                raise ConfigurationError(
                    f"{path} is of an older ttt_net; start the server on it once, which brings it up to date"
                )
            if version > SCHEMA_VERSION:
                raise ConfigurationError(f"{path} has schema {version}, this program knows {SCHEMA_VERSION}; upgrade")
            opened.pop_all()
    except sqlite3.Error as error:
        raise ConfigurationError(f"cannot read the journal {path}: {error}; name its folder with --data") from None
    return connection


def _open(path: Path) -> tuple[sqlite3.Connection, IO[bytes]]:
    try:
        with ExitStack() as opened:
            make_private_folder(path.parent)
            lock = opened.enter_context(lock_beside(path))
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            opened.callback(connection.close)
            _prepare(connection, path)
            opened.pop_all()
    except OSError as error:
        raise ConfigurationError(
            f"cannot write to {path.parent}: {error.strerror}; choose a folder with --data"
        ) from None
    except sqlite3.OperationalError as error:
        raise ConfigurationError(f"cannot use {path}: {error}; choose a folder with --data") from None
    except sqlite3.DatabaseError as error:
        raise ConfigurationError(f"{path} is not a ttt_net journal: {error}") from None
    return connection, lock


def lock_beside(path: Path) -> IO[bytes]:
    """Return the open file whose lock keeps other servers out; it is released when the process ends, however it ends.

    A lock that another process holds raises `ConfigurationError`.
    """
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    lock = os.fdopen(descriptor, "ab")  # who may open it could hold it against us
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        sentence = f"another server is using {path.parent}; stop it, or choose a folder with --data or TTT_NET_DATA"
        raise ConfigurationError(sentence) from None
    return lock


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if fcntl is None:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # an acknowledged move outlives a power cut
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA secure_delete = FAST")  # what is to be forgotten leaves no trace in the file
    migrate(connection, path)
    connection.execute("PRAGMA foreign_keys = ON")
