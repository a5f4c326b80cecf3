"""A simulated network: links between a peer and the server, on which bytes take time, are cut anywhere and get lost.

Each link keeps the order of bytes, as TCP does; links do not wait for each other. A link can do to its two ends what
the kernel can: deliver late and in pieces, stop accepting bytes, report that the other is gone, or fall silent.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from tests.simulation.loop import SimulatedLoop
from ttt_net.server.wire.connection import Connection

_KERNEL_BYTES = 4_096
"""Bytes that both kernels hold for a peer that does not read."""


class _NoSocket:
    """A stand-in for a socket, on which options may be set."""

    family = None

    def setsockopt(self, *option: int) -> None:
        """Take note of nothing."""


class Link(asyncio.Transport):
    """A connection of a peer to the server; to the server's `Connection` it is the transport.

    `delay_s` bounds how long a piece is on its way. `heard` is called with each piece that reaches the peer, `lost`
    once when the peer learns that the link is gone.
    """

    def __init__(
        self,
        loop: SimulatedLoop,
        process: int,
        rng: random.Random,
        address: str,
        delay_s: float,
        heard: Callable[[bytes], None],
        lost: Callable[[], None],
    ) -> None:
        super().__init__({"peername": (address, 1), "socket": _NoSocket()})
        self._loop, self._process, self._rng, self._delay_s = loop, process, rng, delay_s
        self._heard, self._lost = heard, lost
        self.server: Connection | None = None
        """The server's end; None once it is gone."""
        self.is_waiting = True
        """Whether the server's process has still to accept the link."""
        self.is_silent = False
        """Whether bytes vanish on their way, both ways, and nobody is told: half-open."""
        self._to_peer: deque[bytes] = deque()
        self._unread = 0
        self._is_stalled = False
        self._is_ended = False
        """Whether the server has said that no more bytes come from it."""
        self._is_peer_gone = False
        self._is_lost = False
        """Whether the server's end has heard that the link is gone: nothing comes after that."""
        self._high = 65_536
        self._is_behind = False
        self._is_reading = True
        self._kept: list[bytes] = []
        self._arrives_s = [0.0, 0.0]
        """When the newest piece arrives: at the server, at the peer."""

    def connect(self, accept: Callable[[], Connection]) -> None:
        """Let the server's process accept the link, as soon as it is awake; what comes before is kept for it."""
        self._tell(self._be_accepted, accept)

    def _be_accepted(self, accept: Callable[[], Connection]) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self.server = accept()
            self.server.connection_made(self)
            self.resume_reading()

    # From the peer to the server.

    def say(self, data: bytes) -> None:
        """Send bytes of the peer, in as many pieces as chance will have it."""
        while data and not self._is_peer_gone:
            size = len(data) if self._rng.random() < 0.8 else self._rng.randint(1, len(data))
            self._schedule(0, self._arrive, data[:size])
            data = data[size:]

    def hang_up(self) -> None:
        """End the link from the side of the peer, as when its process is killed: its kernel says so."""
        if not self._is_peer_gone:
            self._is_peer_gone = True
            self._schedule(0, self._end_of_server)

    def cut(self) -> None:
        """End the link in the middle: both ends learn of it, by themselves."""
        self._schedule(0, self._end_of_server)
        self._schedule(1, self._end_of_peer)

    def _arrive(self, data: bytes) -> None:
        if (self.server is None and not self.is_waiting) or self.is_silent:
            return
        if self.server is None or not self._is_reading:
            self._kept.append(data)
            return
        self._tell(self._fill, self.server, data)

    def _fill(self, server: Connection, data: bytes) -> None:
        if self._is_lost:
            return
        room = server.get_buffer(len(data))
        room[: len(data)] = data
        server.buffer_updated(len(data))

    def pause_reading(self) -> None:
        """Keep what arrives."""
        self._is_reading = False

    def resume_reading(self) -> None:
        """Hand over what was kept, soon."""
        self._is_reading = True
        kept, self._kept = self._kept, []
        for data in kept:
            self._loop.call_soon(self._arrive, data)

    # From the server to the peer: what the server's end calls.

    def write(self, data: Any) -> None:
        """Send bytes to the peer, after those that wait."""
        if self.server is None or self._is_ended:
            return
        self._to_peer.append(bytes(data))
        self._unread += len(data)
        self._pump()
        if self._unread > self._high + _KERNEL_BYTES and not self._is_behind:
            self._is_behind = True
            self._tell(self.server.pause_writing)

    def stall(self) -> None:
        """Let the peer read nothing from now on."""
        self._is_stalled = True

    def go_on(self) -> None:
        """Let the peer read again."""
        self._is_stalled = False
        self._pump()

    def _pump(self) -> None:
        while self._to_peer and not self._is_stalled:
            data = self._to_peer.popleft()
            self._unread -= len(data)
            self._schedule(1, self._deliver, data)
        if self._is_behind and self._unread <= self._high // 4 and self.server is not None:
            self._is_behind = False
            self._tell(self.server.resume_writing)

    def _deliver(self, data: bytes) -> None:
        if not self.is_silent and not self._is_peer_gone:
            self._heard(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set above how many bytes the server is told that its peer is behind."""
        self._high = high or self._high

    def get_write_buffer_size(self) -> int:
        """Return how many bytes wait in the server's memory."""
        return max(0, self._unread - _KERNEL_BYTES)

    def can_write_eof(self) -> bool:
        """Return True: TCP can."""
        return True

    def write_eof(self) -> None:
        """Say to the peer, after all that waits, that no more comes; it hangs up."""
        self._is_ended = True
        if not self._is_stalled:
            self._schedule(1, self._answer_end)

    def is_closing(self) -> bool:
        """Tell whether the server has ended its side."""
        return self._is_ended or self.server is None

    def close(self) -> None:
        """End the server's side."""
        self.abort()

    def abort(self) -> None:
        """Drop the link from the server's side."""
        self._to_peer.clear()
        self._unread = 0
        with self._loop.acting_as(self._process):
            self._loop.call_soon(self._drop)
        self._schedule(1, self._end_of_peer)

    def _answer_end(self) -> None:
        if not self.is_silent:
            self._end_of_peer()
            self._schedule(0, self._end_of_server)

    def _end_of_server(self) -> None:
        if not self.is_silent:
            self._drop()

    def _drop(self) -> None:
        self.is_waiting = False
        if self.server is not None:
            server, self.server = self.server, None
            self._tell(self._lose, server)

    def _lose(self, server: Connection) -> None:
        self._is_lost = True
        server.connection_lost(None)

    def _end_of_peer(self) -> None:
        if not self._is_peer_gone and not self.is_silent:
            self._is_peer_gone = True
            self._lost()

    def vanish(self) -> None:
        """Take note that the server's process is gone: its kernel resets the link, and what it holds is lost."""
        self.server, self.is_waiting = None, False
        self._to_peer.clear()
        self._schedule(1, self._end_of_peer)

    def _tell(self, act: Callable[..., None], *args: object) -> None:
        """Let the server's process do something now, or as soon as it goes on."""
        with self._loop.acting_as(self._process):
            if self._loop.is_paused(self._process):
                self._loop.call_soon(act, *args)
            else:
                act(*args)

    def _schedule(self, way: int, act: Callable[..., None], *args: bytes) -> None:
        loop = self._loop
        at_s = max(self._arrives_s[way], loop.time() + self._rng.random() * self._delay_s)
        self._arrives_s[way] = at_s
        with loop.acting_as(0):
            loop.call_at(at_s, act, *args)
