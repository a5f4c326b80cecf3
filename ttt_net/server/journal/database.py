"""Commit batches of entries and queries to the journal's tables, in one SQLite file or in memory.

Knows no thread and no event loop: `commit` runs on its caller's thread, and returns the answers as calls to make.
SQLite before 3.51.3 can corrupt a write-ahead log when two connections write and checkpoint at once; here only one
connection writes. A lock beside the file excludes a second server; readers may connect at any time.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import msgspec

from ttt_net.errors import ConfigurationError, Refusal, StorageError
from ttt_net.private_files import make_private_folder, sync
from ttt_net.server.journal.apply import append_event, append_events, apply
from ttt_net.server.journal.entries import ERASING, AnyEntry, AppendEvents, JournalEntry, Probe
from ttt_net.server.journal.queries import AnyQuery, answer
from ttt_net.server.journal.schema import OLDEST, SCHEMA_VERSION, migrate

try:
    import fcntl
except ImportError:  # Windows has no such locks; the file itself is locked, and readers wait until the server ends
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

JOURNAL_FILE = "journal.sqlite"
"""The journal's name in the folder of a server."""

Done = Callable[[Any], None]
"""Called with the result of an entry or query once it is committed."""
Failed = Callable[[Refusal], None]
"""Called instead if the job was rejected or the disk failed; then nothing has changed."""
Answer = tuple[Done, Any]
"""Either callback, and its argument."""
RESTORE_ADVICE = "; put a backup back with restore, or choose a folder with --data"
"""The end of messages about a file that is not a journal."""
_OF_THE_DISK = "moves are refused until the disk can be written, and what was told is safe; make room, or mend it"
_STEPS = 100_000
"""The number of SQLite VM steps (some milliseconds) between two reports of a migration's progress."""


_kind = attrgetter("asked.__class__")


def unheard(_: object) -> None:
    """Ignore an answer: a `Done` or `Failed` for a caller that does not wait."""


class Job(msgspec.Struct, frozen=True):
    """An entry or a query, and the callbacks for its result."""

    asked: AnyEntry | AnyQuery
    done: Done
    failed: Failed


class Database:
    """The tables, and the one connection that writes them."""

    def __init__(self, path: Path | None, moved: Callable[[], None] | None = None) -> None:
        """Open or create the file; None: in memory. Raises `ConfigurationError` if it cannot be used.

        `moved` is called repeatedly during the migration of an older file.
        """
        self._lock: IO[bytes] | None = None
        if path is None:
            connection = _in_memory()
        else:
            connection, self._lock = _open(path, moved)
        self.connection = connection
        """Only for the caller of `commit`, on the same thread; other threads use `open_readonly`."""
        self.failures = 0
        """The number of jobs that failed because of the disk or an internal error."""
        self.is_failing = False
        """Whether the last write failed."""
        self.has_traces = path is not None
        """Whether the write-ahead log may contain what was deleted; `erase_traces` empties it."""

    def commit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Carry out the jobs in one transaction, and return their answers in order.

        If one fails, each gets its own transaction, so that it cannot affect the others; a job that is rejected before
        changing anything does not. Never raises.
        """
        connection = self.connection
        before = connection.total_changes
        alone = jobs[0].asked if len(jobs) == 1 else None
        try:
            if type(alone) is AppendEvents and alone.is_plain:
                append_event(connection, alone.events[0])
                answers: list[Answer] = [(jobs[0].done, None)]
            else:
                connection.execute("BEGIN")  # not IMMEDIATE: a read-only disk can still be read
                answers = _carry_out(connection, jobs)
                connection.execute("COMMIT")
                if not ERASING.isdisjoint(map(_kind, jobs)) and connection.total_changes != before:
                    self.has_traces = True
        except Exception as error:  # noqa: BLE001 - an error in one job must not affect the others
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if len(jobs) > 1:
                return [answer for job in jobs for answer in self.commit([job])]
            return [(jobs[0].failed, self._refusal_of(error))]
        if self.is_failing:
            is_written = connection.total_changes != before or any(isinstance(job.asked, Probe) for job in jobs)
            self.is_failing = not is_written
            if is_written:
                log.warning("storage: the disk can be written again")
        return answers

    def erase_traces(self) -> None:
        """Empty the write-ahead log if it may contain what was deleted; while somebody reads, a later call does it.

        Call this on the writer's thread, after answering: it takes some milliseconds.
        """
        if self.has_traces:
            with suppress(sqlite3.Error):  # the disk fails, which the next write reports
                (self.has_traces, *_) = map(bool, self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    def _refusal_of(self, error: Exception) -> Refusal:
        """Return the refusal of a job that failed with an error; log internal errors and errors of the disk."""
        if isinstance(error, Refusal) and not isinstance(error, StorageError):
            return error.with_traceback(None)
        refusal = StorageError(error.cause if isinstance(error, StorageError) else str(error))
        is_ours = not isinstance(error, sqlite3.Error | StorageError)
        is_disk = isinstance(error, sqlite3.OperationalError)
        self.failures += 1
        if not (is_disk and self.is_failing):  # a line for each move would fill the disk even more
            meaning = _OF_THE_DISK if is_disk else "one request failed, and changed nothing"
            log.error("storage: %s: %s", refusal.cause, meaning, exc_info=error if is_ours else None)
        self.is_failing = self.is_failing or is_disk
        return refusal

    @property
    def can_be_read_beside(self) -> bool:
        """Whether other connections can read while this one is open: only a file, on systems with file locks."""
        return self._lock is not None and fcntl is not None

    def close(self) -> None:
        """Close the file; nothing may be running."""
        self.connection.close()
        if self._lock:
            self._lock.close()


def _carry_out(connection: sqlite3.Connection, jobs: Sequence[Job]) -> list[Answer]:
    """Carry out the jobs in order; neighbours that append to matches are combined."""
    answers: list[Answer] = []
    for kind, group in groupby(jobs, key=_kind):
        if kind is AppendEvents:
            appends = list(group)
            results = append_events(connection, [job.asked for job in appends])  # type: ignore[misc]
            answers += [(job.done, result) for job, result in zip(appends, results, strict=True)]
        else:
            answers += [_answer(connection, job) for job in group]
    return answers


def _answer(connection: sqlite3.Connection, job: Job) -> Answer:
    before = connection.total_changes
    try:
        if isinstance(job.asked, JournalEntry):
            return job.done, apply(connection, job.asked)
        return job.done, answer(connection, job.asked)
    except StorageError:
        raise
    except Refusal as refusal:
        if connection.total_changes != before:
            raise  # its transaction is rolled back
        return job.failed, refusal.with_traceback(None)  # whose frames hold references to other answers


class _InMemory(sqlite3.Connection):
    """Closes with its last reference, since it has no file; from Python 3.13 on, others warn that they are open."""

    def __del__(self) -> None:
        self.close()


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=_InMemory)
    connection.deserialize(_empty())
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@cache
def _empty() -> bytes:
    """Return a new journal as the bytes of its file, because creating its tables takes longer than most simulations."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, Path("memory"))
        return connection.serialize()


def open_readonly(path: Path) -> sqlite3.Connection:
    """Return a connection that reads a server's journal, running or not. Raises `ConfigurationError` if it fails."""
    try:
        with ExitStack() as opened:
            address = f"{path.absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(address, uri=True, timeout=5, isolation_level=None)
            opened.callback(connection.close)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 0")  # only the writer may; see the module
            connection.execute("PRAGMA trusted_schema = OFF")
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


def _open(path: Path, moved: Callable[[], None] | None) -> tuple[sqlite3.Connection, IO[bytes]]:
    try:
        with ExitStack() as opened:
            make_private_folder(path.parent)
            lock = opened.enter_context(lock_beside(path))
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            opened.callback(connection.close)
            connection.set_progress_handler(moved, _STEPS)
            _prepare(connection, path)
            connection.set_progress_handler(None, 0)
            opened.pop_all()
    except OSError as error:
        why = "it is no folder" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        raise ConfigurationError(f"cannot write to {path.parent}: {why}; choose a folder with --data") from None
    except sqlite3.OperationalError as error:
        raise ConfigurationError(f"cannot use {path}: {error}; choose a folder with --data") from None
    except sqlite3.DatabaseError as error:
        raise ConfigurationError(f"{path} is not a ttt_net journal: {error}{RESTORE_ADVICE}") from None
    return connection, lock


def lock_beside(path: Path) -> IO[bytes]:
    """Return the open file whose lock excludes other servers; the system releases it when the process ends.

    Raises `ConfigurationError` if another process holds the lock.
    """
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    lock = os.fdopen(descriptor, "ab")  # other users who can open it could lock us out
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
    connection.execute("PRAGMA secure_delete = ON")  # FAST leaves deleted rows in free pages
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if OLDEST <= version < SCHEMA_VERSION:
        _bring_up_to_date(connection, path, version)
    else:
        migrate(connection, path)
    connection.execute("PRAGMA foreign_keys = ON")


def _bring_up_to_date(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Migrate a journal of an older schema, and keep a copy. Raises `ConfigurationError` if it fails."""
    try:
        _keep_before(connection, path, version)
        migrate(connection, path)
    except (sqlite3.OperationalError, OSError) as error:
        raise _unchanged(path, version, error, "make room on the disk, and start the server again") from None
    except sqlite3.DatabaseError as error:
        advice = "start the program that wrote it, or put a backup back with restore"
        raise _unchanged(path, version, error, advice) from None


def _unchanged(path: Path, version: int, error: Exception, advice: str) -> ConfigurationError:
    why = error.strerror if isinstance(error, OSError) else error
    return ConfigurationError(f"cannot bring {path} from schema {version} up to date: {why}; it is unchanged: {advice}")


def _keep_before(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Copy a journal before its migration, completely or not at all; `restore` accepts such a copy."""
    kept = path.with_name(f"{path.name}.schema-{version}")
    if kept.exists():
        return
    part = path.with_name(f"{kept.name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection.execute("VACUUM INTO ?", (str(part),))
    sync(part)
    part.replace(kept)
    sync(path.parent)
    log.warning("kept the journal as it was in %s", kept)
