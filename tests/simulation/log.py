"""A simulated replicated log: one order for all, over unreliable links to the nodes.

Published batches arrive late, not at all, or twice, with or without an acknowledgement. Deliveries come late, in order,
each place once. A node that is cut off receives nothing until the cut is mended, and then everything that it missed.
"""

import random
from collections.abc import Callable, Collection
from functools import partial
from typing import BinaryIO

from tests.simulation.loop import SimulatedLoop
from ttt_net.server.cluster.log import NOBODY, Hear, MemoryStream, Position, Reply, Retained

_PATIENCE_S = 1.0
"""After so long without an answer a node is told that it is not known what became of its batch."""


class Weather:
    """How the network between the nodes and the log behaves at present."""

    def __init__(self) -> None:
        self.slowest_s = 0.002
        self.losing = 0.0
        """The share of messages that are lost."""
        self.is_full = False
        """Whether the log takes nothing, though it answers."""
        self.repeating = 0.0
        """The share of batches that arrive twice."""


class SimulatedStream(MemoryStream):
    """A log whose trimmed batches the invariants can still read, though no node is told them any more."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        super().__init__(now_s)
        self.let_go: Position = 0
        """The place of the last batch that was trimmed."""
        self.early: frozenset[str] = frozenset()
        """The segments that were not there when a snapshot came that needs them."""

    def keep(self, position: Position, snapshot: bytes, needs: Collection[str] = ()) -> None:
        """Store a snapshot; a former steward's may come late, and is of no use then."""
        if position >= self.snapshot[0]:
            self.early |= {*needs} - self.segments.keys()
        super().keep(position, snapshot, needs)

    def kept(self) -> Retained:
        """Return what can be had of the past."""
        return super().kept()._replace(first=self.let_go + 1)


class SimulatedLog:
    """One node's connection to a stream; a process that starts anew has another one."""

    def __init__(
        self, stream: SimulatedStream, loop: SimulatedLoop, process: int, rng: random.Random, weather: Weather
    ) -> None:
        self._stream, self._loop, self._process, self._rng, self._weather = stream, loop, process, rng, weather
        self.is_cut_off = False
        self.is_gone = False
        """Whether the process is dead."""
        self._heard: Position = 0
        self._hear: Hear | None = None
        self._gone: Callable[[], None] | None = None
        """Called if the following places were trimmed; None once it was."""
        self._is_delivering = False

    # On the way.

    def _delay_s(self) -> float:
        return self._rng.random() * self._weather.slowest_s

    def _is_lost(self) -> bool:
        return self.is_cut_off or self.is_gone or self._rng.random() < self._weather.losing

    def _send(self, act: Callable[[], None]) -> None:
        """Let the log do something, unless it is lost on the way there."""
        if not self._is_lost():
            with self._loop.acting_as(0):
                self._loop.call_later(self._delay_s(), act)

    def _answer(self, call: Callable[[], None]) -> None:
        """Let the node hear of something, unless it is lost on the way back."""
        if not self._is_lost():
            with self._loop.acting_as(self._process):
                self._loop.call_later(self._delay_s(), call)

    # The log.

    def publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        """Append a batch, once, twice or never, now or later."""
        told: list[Position | None] = []

        def tell(position: Position | None) -> None:
            if not told:
                told.append(position)
                done(position)

        def take() -> Position | None:
            return None if self._weather.is_full else self._stream.append(batch)

        def arrive() -> None:
            if (place := take()) is not None:
                self._answer(partial(tell, place))

        self._send(arrive)
        if self._rng.random() < self._weather.repeating:
            with self._loop.acting_as(0):
                self._loop.call_later(self._rng.random() * 3, take)
        with self._loop.acting_as(self._process):
            self._loop.call_later(_PATIENCE_S, tell, None)

    def follow(self, position: Position, hear: Hear, gone: Callable[[], None]) -> None:
        """Deliver what follows the position."""
        if self._hear is None:
            self._stream.followers.append(self.deliver)
        self._heard, self._hear, self._gone = position, hear, gone
        self.deliver()

    def deliver(self) -> None:
        """Deliver the next batch, some time."""
        if not self._is_delivering and not self.is_cut_off and not self.is_gone and self._heard < self._stream.end:
            self._is_delivering = True
            with self._loop.acting_as(self._process):
                self._loop.call_later(self._delay_s(), self._deliver)

    def _deliver(self) -> None:
        self._is_delivering = False
        assert self._hear is not None
        if self.is_cut_off or self._gone is None:
            return
        if self._heard < self._stream.let_go:
            gone, self._gone = self._gone, None
            gone()
            return
        if self._heard < self._stream.end:
            self._heard += 1
            self._hear(self._heard, self._stream.read(self._heard))
        self.deliver()

    def end(self, done: Callable[[Position | None], None]) -> None:
        """Tell the place of the newest batch, as it is when the question arrives."""
        self._send(lambda: self._answer(partial(done, self._stream.end)))

    def trim(self, position: Position) -> None:
        """Tell no node any more what is up to the position."""
        self._send(partial(self._trim, min(position, self._stream.end)))

    def _trim(self, position: Position) -> None:
        self._stream.let_go = max(self._stream.let_go, position)

    def put_snapshot(
        self, position: Position, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()
    ) -> None:
        """Keep a snapshot."""
        self._put(partial(self._stream.keep, position, source.read(), needs), done)

    def put_segment(self, name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Keep a segment."""
        self._put(partial(self._stream.segments.__setitem__, name, source.read()), done)

    def _put(self, keep: Callable[[], None], done: Callable[[bool], None]) -> None:
        told = list[bool]()

        def tell(is_kept: bool) -> None:
            if not told:
                told.append(is_kept)
                done(is_kept)

        def arrive() -> None:
            keep()
            self._answer(partial(tell, True))

        self._send(arrive)
        with self._loop.acting_as(self._process):
            self._loop.call_later(_PATIENCE_S, tell, False)

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the newest snapshot."""
        position, data = self._stream.snapshot
        into.write(data)
        self._answer(partial(done, position))

    def get_segment(self, name: str, into: BinaryIO, done: Callable[[bool | None], None]) -> None:
        """Write a segment."""
        into.write(self._stream.segments.get(name, b""))
        self._answer(partial(done, name in self._stream.segments))

    def segments(self, done: Callable[[frozenset[str] | None], None]) -> None:
        """Tell the names of all segments, as they are when the question arrives; None if that is lost."""
        told = list[frozenset[str] | None]()

        def tell(found: frozenset[str] | None) -> None:
            if not told:
                told.append(found)
                done(found)

        self._send(lambda: self._answer(partial(tell, frozenset(self._stream.segments))))
        with self._loop.acting_as(self._process):
            self._loop.call_later(_PATIENCE_S, tell, None)

    def drop_segments(self, names: Collection[str]) -> None:
        """Delete segments."""

        def drop() -> None:
            for name in names:
                self._stream.segments.pop(name, None)

        self._send(drop)

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Tell what can be had of the past, as it is when the question arrives."""
        self._send(lambda: self._answer(partial(done, self._stream.kept())))

    # Beside the log.

    def tell(self, subject: str, data: bytes) -> None:
        """Send to all that listen."""
        for hear in self._stream.listeners.get(subject, ()):
            self._send(partial(hear, data))

    def listen(self, subject: str, hear: Callable[[bytes], None]) -> None:
        """Hear what is told on the subject."""
        self._stream.listeners.setdefault(subject, []).append(lambda data: self._answer(partial(hear, data)))

    def ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        """Ask the node that answers."""
        answered: list[bytes | None] = []

        def reply(data: bytes | None) -> None:
            if not answered:
                answered.append(data)
                done(data)

        serve = self._stream.servers.get(subject)
        if serve is None:
            self._send(lambda: self._answer(partial(reply, NOBODY)))
        else:
            self._send(lambda: serve(question, lambda data: self._answer(partial(reply, data))))
        with self._loop.acting_as(self._process):
            self._loop.call_later(2 * _PATIENCE_S, reply, None)

    def answer(self, subject: str, serve: Callable[[bytes, Reply], None]) -> None:
        """Answer questions on the subject."""
        self._stream.servers[subject] = lambda question, reply: self._answer(partial(serve, question, reply))


class SimulatedWorker:
    """A thread of one process that does one thing after the other; a process that is killed does nothing more."""

    def __init__(self, loop: SimulatedLoop, process: int, rng: random.Random) -> None:
        self._loop, self._process, self._rng = loop, process, rng
        self._free_s = 0.0
        self.slowest_s = 0.001

    def __call__(self, work: Callable[[], object], done: Callable[[object], None]) -> None:
        """Do something later, and tell what came of it."""
        self._free_s = max(self._free_s, self._loop.time()) + self._rng.random() * self.slowest_s
        with self._loop.acting_as(self._process):
            self._loop.call_at(self._free_s, lambda: done(work()))
