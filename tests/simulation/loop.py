"""An event loop on simulated time: what is due next is called next, and no time passes between.

It is what the server's core needs of an event loop, and no more: callbacks now, later and at a time. It knows no
sockets, threads or tasks. Callbacks of the same moment are called in the order in which they were asked for.

Several processes share it: what a process asks for belongs to it, stands still while the process is paused, and never
happens once it is killed. Callbacks of nobody (0) belong to the network and the disks.
"""

import asyncio
from asyncio import events
from collections.abc import Callable, Coroutine
from contextvars import Context
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar, cast

T = TypeVar("T")


class SimulatedHandle:
    """A callback that is due some time, as `asyncio.TimerHandle` for those who keep one; a world makes many."""

    __slots__ = ("_is_cancelled", "args", "callback")

    def __init__(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        self.callback, self.args = callback, args
        self._is_cancelled = False

    def cancel(self) -> None:
        """Let nothing be called."""
        self._is_cancelled = True

    def cancelled(self) -> bool:
        """Tell whether nothing will be called."""
        return self._is_cancelled


class _Acting:
    """A block in which what is asked for belongs to a process."""

    __slots__ = ("_before", "_loop", "_process")

    def __init__(self, loop: "SimulatedLoop", process: int) -> None:
        self._loop, self._process, self._before = loop, process, 0

    def __enter__(self) -> None:
        self._before, self._loop.process = self._loop.process, self._process

    def __exit__(self, *_: object) -> None:
        self._loop.process = self._before


class SimulatedLoop:
    """The one clock and the one agenda of a simulated world. Times are seconds since its beginning."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._due: list[tuple[float, int, int, SimulatedHandle]] = []
        self._numbers = count()
        self.process = 0
        """To which process belongs what is asked for."""
        self._paused_until_s: dict[int, float] = {}
        self._stood_still: dict[int, tuple[float, int]] = {}
        """For how long each process was made to stand still, and how often."""
        self._killed: set[int] = set()
        self.errors: list[BaseException] = []
        """Exceptions of callbacks: bugs of the simulated program, or of the simulation."""
        self.as_asyncio = cast(asyncio.AbstractEventLoop, self)
        """The loop, as those see it who ask asyncio for the one that runs: what it lacks, nobody calls."""

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
        return self._call_at(self._now_s, callback, args)

    call_soon_threadsafe = call_soon

    def create_future(self) -> "asyncio.Future[Any]":
        """Return a future of this loop."""
        return asyncio.Future(loop=self.as_asyncio)

    def create_task(self, coroutine: Coroutine[Any, Any, T], **named: Any) -> "asyncio.Task[T]":
        """Run a coroutine on simulated time."""
        return asyncio.Task(coroutine, loop=self.as_asyncio, **named)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back after so many seconds."""
        return self._call_at(self._now_s + delay, callback, args)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Call back at that time, or now if it is past."""
        return self._call_at(when, callback, args)

    def _call_at(self, when: float, callback: Callable[..., object], args: tuple[Any, ...]) -> asyncio.TimerHandle:
        handle = SimulatedHandle(callback, args)
        now_s = self._now_s
        heappush(self._due, (when if when > now_s else now_s, next(self._numbers), self.process, handle))
        return cast(asyncio.TimerHandle, handle)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what a callback or a task raised."""
        if "exception" in context:
            self.errors.append(context["exception"])

    def acting_as(self, process: int) -> _Acting:
        """Let what is asked for inside the block belong to the process."""
        return _Acting(self, process)

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
        due, killed, paused_until_s, steps = self._due, self._killed, self._paused_until_s, 0
        outer = events._get_running_loop()
        events._set_running_loop(self.as_asyncio)
        try:
            while due and due[0][0] <= when_s and steps < max_steps:
                at_s, number, process, handle = heappop(due)
                if handle.cancelled() or process in killed:
                    continue
                awake_s = paused_until_s.get(process, 0.0)
                if awake_s > at_s:
                    heappush(due, (awake_s, number, process, handle))
                    continue
                self._now_s = max(self._now_s, at_s)
                self.process = process
                steps += 1
                try:
                    handle.callback(*handle.args)
                except Exception as error:  # noqa: BLE001 - as asyncio does; the world looks at them
                    self.errors.append(error)
        finally:
            self.process = 0
            events._set_running_loop(outer)
        if steps < max_steps:
            self._now_s = max(self._now_s, when_s)
        return steps
