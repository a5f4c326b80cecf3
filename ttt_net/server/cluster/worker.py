"""Run the thread on which a node's tables are read and written, beside its event loop."""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

log = logging.getLogger(__name__)

Job = tuple[Callable[[], Any], Callable[[Any], None]]


class Worker:
    """One thread, which does one thing after the other; the event loop is told of each.

    The number of jobs waiting is bounded by who asks: one batch of places, and one query per connection.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._is_told = True
        self.on_fault: Callable[[Exception], None] = lambda _: None
        """Called on the event loop with what a job raised, which nobody expected; those after it are done."""

    def __call__(self, do: Callable[[], Any], tell: Callable[[Any], None]) -> None:
        """Have something done, and its result told; if it raises, `on_fault` is called in place of `tell`."""
        self._jobs.put((do, tell))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work within the block; at its end what was asked is still done, and nobody is told of it."""
        thread = threading.Thread(target=self._work, name="cluster tables")
        thread.start()
        try:
            yield
        finally:
            self._is_told = False
            self._jobs.put(None)
            thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            do, tell = job
            try:
                result = do()
            except Exception as fault:
                log.exception("fault on the thread of the tables")
                tell, result = self.on_fault, fault
            if self._is_told:
                self._loop.call_soon_threadsafe(tell, result)
