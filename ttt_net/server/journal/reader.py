"""Read the journal beside its writer: on a thread and a read-only connection of their own.

SQLite's write-ahead log serves readers while one connection writes. Only the writer may checkpoint: before SQLite
3.51.3 two connections that do so at once can corrupt the log.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.journal.database import open_readonly

log = logging.getLogger(__name__)

Read = Callable[[sqlite3.Connection], object]
"""Reads from the tables; returns a result in any case, since nobody would handle what it raises."""
Tell = Callable[[Any], None]
"""Takes the result of a job, on the event loop."""
_Job = tuple[Callable[[], Any], Tell]


class Worker:
    """A thread that does one job after the other and passes each result to the event loop.

    The number of waiting jobs is bounded by the callers.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        """Takes the results; None while the worker does not work."""
        self.on_fault: Callable[[Exception], None] = lambda _: None
        """Called on the event loop with the exception of a job that raised one; later jobs are still done."""

    def __call__(self, do: Callable[[], Any], tell: Tell) -> None:
        """Queue a job: `do` runs on the thread, then `tell`, or `on_fault` if it raised, on the event loop."""
        self._jobs.put((do, tell))

    @contextmanager
    def working(self, end_s: float | None = None) -> Iterator[None]:
        """Work inside the block; at its end do the jobs that wait and drop their results.

        `end_s` is how long the end waits for the thread; None: until it has ended, however long the disk takes.
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
    """A read-only connection to a journal file, on a thread of its own. It opens with the first `look`."""

    END_S = 1.0
    """How long the end of the server waits for a read that is under way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._worker = Worker()
        self._connection: sqlite3.Connection | None = None

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
            if self._connection is None:
                self._connection = open_readonly(self._path)
        except ConfigurationError as error:
            return StorageError(str(error))
        return read(self._connection)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
