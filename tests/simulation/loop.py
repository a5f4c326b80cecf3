"""An event loop on simulated time: what is due next is called next, and no time passes between.

It is what the server's core needs of an event loop, and no more: callbacks now, later and at a time. It knows no
sockets, threads or tasks. Callbacks of the same moment are called in the order in which they were asked for.

Several processes share it: what a process asks for belongs to it, stands still while the process is paused, and never
happens once it is killed. What belongs to nobody (0) is the network's and the disks'.
"""

import asyncio
import heapq
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from itertools import count
from typing import Any, cast


class SimulatedLoop:
    """The one clock and the one agenda of a simulated world. Times are seconds since its beginning."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._due: list[tuple[float, int, int, asyncio.Handle]] = []
        self._numbers = count()
        self._process = 0
        self._paused_until_s: dict[int, float] = {}
        self._stood_still: dict[int, tuple[float, int]] = {}
        """For how long each process was made to stand still, and how often."""
        self._killed: set[int] = set()
        self.errors: list[BaseException] = []
        """What callbacks raised, which is a fault of what is simulated, or of the simulation."""

    @property
    def as_asyncio(self) -> asyncio.AbstractEventLoop:
        """The loop, as those see it who ask asyncio for the one that runs: what it lacks, nobody calls."""
        return cast(asyncio.AbstractEventLoop, self)

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return self._now_s

    def get_debug(self) -> bool:
        """Return False: handles need not remember where they were made."""
        return False

    def is_running(self) -> bool:
        """Return True: whatever asks is called by this loop."""
        return True

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Call back at this moment, after all that is due at it already."""
        handle = asyncio.Handle(callback, args, self.as_asyncio, context)
        heapq.heappush(self._due, (self._now_s, next(self._numbers), self._process, handle))
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back after so many seconds."""
        return self.call_at(self._now_s + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back at that time, or now if it is past."""
        handle = asyncio.TimerHandle(when, callback, args, self.as_asyncio, context)
        heapq.heappush(self._due, (max(when, self._now_s), next(self._numbers), self._process, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave the handle where it is: `run_until` passes over what was cancelled."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what a callback raised."""
        self.errors.append(context["exception"])

    @contextmanager
    def acting_as(self, process: int) -> Iterator[None]:
        """Let what is asked for inside the block belong to the process."""
        before, self._process = self._process, process
        try:
            yield
        finally:
            self._process = before

    def pause(self, process: int, pause_s: float) -> None:
        """Let the process stand still for so long, as when it is stopped or its machine is busy elsewhere."""
        before_s = max(self._now_s, self._paused_until_s.get(process, 0.0))
        until_s = max(before_s, self._now_s + pause_s)
        stood_s, stops = self._stood_still.get(process, (0.0, 0))
        self._stood_still[process] = stood_s + until_s - before_s, stops + 1
        self._paused_until_s[process] = until_s

    def awake(self, process: int) -> tuple[float, int]:
        """Return how much of all time the process did not stand still, and how often it did; not while it does."""
        stood_s, stops = self._stood_still.get(process, (0.0, 0))
        return self._now_s - stood_s, stops

    def is_paused(self, process: int) -> bool:
        """Tell whether the process stands still at this moment."""
        return self._paused_until_s.get(process, 0.0) > self._now_s

    def kill(self, process: int) -> None:
        """Let nothing happen any more that belongs to the process."""
        self._killed.add(process)

    def run_until(self, when_s: float, max_steps: int) -> int:
        """Call what is due until then, but no more than so many; return how many were called.

        It is then afterwards, unless there were too many.
        """
        steps = 0
        while self._due and self._due[0][0] <= when_s and steps < max_steps:
            steps += self._step()
        if steps < max_steps:
            self._now_s = max(self._now_s, when_s)
        return steps

    def _step(self) -> bool:
        """Call what is due next, at its time; return whether it was called."""
        when, number, process, handle = heapq.heappop(self._due)
        if handle.cancelled() or process in self._killed:
            return False
        awake_s = self._paused_until_s.get(process, 0.0)
        if awake_s > when:
            heapq.heappush(self._due, (awake_s, number, process, handle))
            return False
        self._now_s = max(self._now_s, when)
        outer = events._get_running_loop()
        events._set_running_loop(self.as_asyncio)
        self._process = process
        try:
            handle._run()
        finally:
            self._process = 0
            events._set_running_loop(outer)
        return True
