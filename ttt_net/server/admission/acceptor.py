"""Accept connections from the kernel, a few at a time and so many a second; some are dropped at once.

An event loop's own server takes all that wait in one go, a thousand perhaps, and makes a protocol and a transport of
each, while everybody who plays waits. The other connections wait in the kernel, at no cost.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ttt_net.server.settings.rate import Bucket, Rate

log = logging.getLogger(__name__)

MOST_TAKEN = 4
"""Connections that are taken in one turn of the event loop."""
MOST_LOOKED_AT = 32
"""The same, with those that are dropped at once, which cost a tenth."""
_REST_S = 0.5
"""How long no connection is taken after the system had no room for one: it would be asked again and again."""
_LEAST_REST_S = 0.01
"""How long none is taken at the least when too many have come: so some can be taken at once after that."""
_RESET = struct.pack("ii", 1, 0)


class Acceptor:
    """The loop's reader of one listening socket."""

    def __init__(
        self,
        listening: socket.socket,
        tasks: asyncio.TaskGroup,
        protocols: Callable[[], asyncio.BaseProtocol],
        is_shut_to: Callable[[str], bool],
        arrivals: Rate,
        now_ms: Callable[[], int],
    ) -> None:
        self._listening = listening
        self._tasks = tasks
        self._protocols = protocols
        self._is_shut_to = is_shut_to
        self._arrivals = Bucket(arrivals, now_ms())
        self._now_ms = now_ms
        self._loop = asyncio.get_running_loop()
        self._resting: asyncio.TimerHandle | None = None

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """Take connections inside the block; at its end the socket is closed, and who waited hears a reset."""
        self._listening.setblocking(False)
        self._start()
        try:
            yield
        finally:
            if self._resting is None:
                self._loop.remove_reader(self._listening)
            else:
                self._resting.cancel()
            self._listening.close()

    def _start(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listening, self._take_some)

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening)
        self._resting = self._loop.call_later(seconds, self._start)

    def _take_some(self) -> None:
        """Take what may be taken in one turn of the loop."""
        taken, now_ms = 0, self._now_ms()
        for _ in range(MOST_LOOKED_AT):
            wait_ms = self._arrivals.wait_ms(now_ms)
            if wait_ms:
                self._rest(max(wait_ms / 1000, _LEAST_REST_S))
                return
            try:
                one, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptor, no memory
                log.error("cannot take connections: %s", error.strerror)
                self._rest(_REST_S)
                return
            if self._is_shut_to(address[0]):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)  # the kernel forgets it at once too
                one.close()
                continue
            one.setblocking(False)
            self._arrivals.take(now_ms)
            self._tasks.create_task(self._hand_over(one))
            taken += 1
            if taken == MOST_TAKEN:
                return

    async def _hand_over(self, one: socket.socket) -> None:
        """Let the loop read it from now on."""
        try:
            await self._loop.connect_accepted_socket(self._protocols, one)
        except OSError:  # it has left already
            one.close()
