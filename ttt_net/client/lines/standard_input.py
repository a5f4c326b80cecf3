"""Read lines from standard input, for as long as somebody takes them, and not a byte longer.

A pipe, a file or a terminal may all block, so a thread reads them. What comes when lines are no longer taken is left to
the next question.
"""

import asyncio
import os
import select
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ttt_net.client.events import Event, Line
from ttt_net.client.mailbox import post

_STDIN = 0
"""Read as a file: the lock of `sys.stdin` would outlive us at exit."""
_MAX_LINE_BYTES = 1024
"""Enough for all that may be said at once, in any script."""
_FULL_S = 0.05
_END_S = 1.0


@contextmanager
def reading_lines(mailbox: asyncio.Queue[Event], source: int = _STDIN) -> Iterator[bool]:
    """Deliver lines until the context ends; yields whether something was there already, if only the end of them."""
    is_ahead = _is_readable(source)
    stopped, stop = os.pipe()
    reader = _Reader(mailbox, source, stopped)
    reader.thread.start()
    try:
        yield is_ahead
    finally:
        os.close(stop)
        reader.thread.join(_END_S)  # where a console cannot be waited for together with `stop`, it outlives us
        if not reader.thread.is_alive():
            os.close(stopped)


def _is_readable(source: int) -> bool:
    with suppress(OSError, ValueError):  # Windows: only sockets can be looked at
        return bool(select.select([source], [], [], 0)[0])
    return False


class _Reader:
    """Puts lines into a mailbox, each when there is room for it; then that there are no more."""

    def __init__(self, mailbox: asyncio.Queue[Event], source: int, stopped: int) -> None:
        self.thread = threading.Thread(target=self._read, name="stdin", daemon=True)
        self._mailbox = mailbox
        self._loop = asyncio.get_running_loop()
        self._source, self._stopped = source, stopped

    def _read(self) -> None:
        rest = b""
        while chunk := self._next_chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not self._deliver(line[:_MAX_LINE_BYTES].decode(errors="replace")):
                    return
            rest = rest[:_MAX_LINE_BYTES]
        if chunk is None:
            return
        if rest:
            self._deliver(rest.decode(errors="replace"))
        self._deliver(None)

    def _next_chunk(self) -> bytes | None:
        """Return the bytes that are there, none at the end, or None once nobody takes lines any more."""
        with suppress(OSError, ValueError):
            if self._stopped in select.select([self._source, self._stopped], [], [])[0]:
                return None
        with suppress(OSError):
            return os.read(self._source, 4096)
        return b""

    def _deliver(self, text: str | None) -> bool:
        """Wait until the mailbox has taken it; tell whether it has."""
        is_put = threading.Event()
        try:
            self._loop.call_soon_threadsafe(self._put, Line(text), is_put)
        except RuntimeError:  # the loop is gone, and so is all interest in lines
            return False
        while not is_put.wait(_FULL_S):
            if self._loop.is_closed() or _is_readable(self._stopped):
                return False
        return True

    def _put(self, line: Line, is_put: threading.Event) -> None:
        if post(self._mailbox, line):
            is_put.set()
        else:
            self._loop.call_later(_FULL_S, self._put, line, is_put)
