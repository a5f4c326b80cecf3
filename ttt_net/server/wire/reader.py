"""Read bytes: into one buffer, which all connections of an event loop share, and in turns where there are many.

Asyncio's plain protocol has 256 KiB allocated for each read, which in a young process the C library maps and unmaps
again: a third of what a move costs where there is no uvloop.
"""

import asyncio
from abc import abstractmethod
from collections import deque
from collections.abc import Callable


class ReadBuffer:
    """What one event loop reads into: it asks for it, fills it and says so before it turns to another connection."""

    __slots__ = ("bytes", "view")

    def __init__(self, size: int = 65_536) -> None:
        self.bytes = bytearray(size)
        self.view = memoryview(self.bytes)


class Reader(asyncio.BufferedProtocol):
    """A protocol that receives data as bytes of its own."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ReadBuffer) -> None:
        self._buffer = buffer

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return the buffer to read into."""
        return self._buffer.bytes

    def buffer_updated(self, nbytes: int) -> None:
        """Take in what was read."""
        self.data_received(bytes(self._buffer.view[:nbytes]))

    @abstractmethod
    def data_received(self, data: bytes) -> None:
        """Take in bytes."""


class TurnQueue:
    """Let those who have much to be read take turns: one turn in each pass of the event loop.

    So what one connection or two hundred of them have sent at once delays another by one turn at most, however much
    it is. One that is not done in its turn joins again, behind the others.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], None]] = deque()

    def __len__(self) -> int:
        """Return how many wait for their turn."""
        return len(self._waiting)

    def join(self, take_turn: Callable[[], None]) -> None:
        """Have `take_turn` called once, in one of the next passes of the running event loop."""
        self._waiting.append(take_turn)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._pass)

    def _pass(self) -> None:
        take_turn = self._waiting[0]
        try:
            take_turn()
        finally:
            self._waiting.popleft()
            if self._waiting:
                self._loop.call_soon(self._pass)
