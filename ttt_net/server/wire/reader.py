"""Read bytes: the event loop reads into one buffer, which all its connections share.

Asyncio's plain protocol has 256 KiB allocated for each read, which in a young process the C library maps and unmaps
again: a third of what a move costs where there is no uvloop.
"""

import asyncio
from abc import abstractmethod


class ReadBuffer:
    """What one event loop reads into: it asks for it, fills it and says so before it turns to another connection."""

    __slots__ = ("bytes", "view")

    def __init__(self, size: int = 65_536) -> None:
        self.bytes = bytearray(size)
        self.view = memoryview(self.bytes)


class Reader(asyncio.BufferedProtocol):
    """A protocol that receives what is read as bytes of its own."""

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
