"""Wrap snapshots as files on their way into the log, and out of it: each tells how it moves.

They are read and written on other threads than the event loop's, by a library that waits for them without end.
"""

import asyncio
import io
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO


class ArrivingFile:
    """A file that is written to on another thread, and keeps off a timeout for as long as it is."""

    def __init__(
        self,
        file: BinaryIO,
        limit: asyncio.Timeout,
        patience_s: float,
        loop: asyncio.AbstractEventLoop,
        moved: Callable[[int], None],
    ) -> None:
        """Call `moved` on the event loop with each write, maybe after the last: how many bytes that makes."""
        self._file, self._limit, self._patience_s, self._loop, self._moved = file, limit, patience_s, loop, moved
        self._size = 0

    def write(self, data: bytes) -> int:
        """Write, on any thread, and let there be as much time again."""
        self._size += len(data)
        self._loop.call_soon_threadsafe(self._go_on, self._size)
        return self._file.write(data)

    def _go_on(self, size: int) -> None:
        self._moved(size)
        with suppress(RuntimeError):  # it is over
            self._limit.reschedule(self._loop.time() + self._patience_s)


class DepartingFile(io.RawIOBase):
    """A binary file of any kind as one that can be read into a buffer, which is what the object store asks for."""

    def __init__(self, source: BinaryIO, moved: Callable[[], object]) -> None:
        self._source, self._moved = source, moved

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # what it is called with
        """Read into a buffer, and return how many bytes were there."""
        self._moved()  # what was read before has arrived
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
