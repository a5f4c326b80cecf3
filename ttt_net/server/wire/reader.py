"""Read bytes: into one buffer, which all connections of an event loop share, and in turns where there are many.

Asyncio's plain protocol has 256 KiB allocated for each read, which in a young process the C library maps and unmaps
again: a third of what a move costs where there is no uvloop.
"""

import asyncio
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable


class ReadBuffer:
    """The buffer of one event loop, which asks for it, fills it and reports before it serves another connection."""

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


PASS_S = 0.000_5
"""After how long other connections are looked after between short turns."""


class TurnQueue:
    """Connections that have much to be read take turns: in each pass of the event loop one, or `PASS_S` of short ones.

    So what one connection or two hundred of them have sent at once delays another by one turn at most, however much
    it is. A connection that is not done in its turn joins again, behind the others of its holder. Holders take turns
    too.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: OrderedDict[object, deque[Callable[[], None]]] = OrderedDict()
        """The calls that wait, by holder: the first holder is next."""
        self._is_taken = False

    def __len__(self) -> int:
        """Return how many calls wait for their turn, or are having it."""
        return sum(map(len, self._waiting.values())) + self._is_taken

    def join(self, take_turn: Callable[[], None], holder: object = None) -> None:
        """Have `take_turn` called once, in one of the next passes of the running event loop, fairly by `holder`."""
        is_first = not self._waiting and not self._is_taken
        self._waiting.setdefault(holder, deque()).append(take_turn)
        if is_first:
            self._loop.call_soon(self._pass)

    def _pass(self) -> None:
        until_s = self._loop.time() + PASS_S
        try:
            # a pass costs as much as a short turn, so those of known holders share one
            while self._take_one() is not None and self._waiting and self._loop.time() < until_s:
                pass
        finally:
            if self._waiting:
                self._loop.call_soon(self._pass)

    def _take_one(self) -> object:
        """Have the next turn taken; return its holder."""
        holder, calls = self._waiting.popitem(last=False)
        take_turn = calls.popleft()
        if calls:
            self._waiting[holder] = calls
        self._is_taken = True
        try:
            take_turn()
        finally:
            self._is_taken = False
        return holder
