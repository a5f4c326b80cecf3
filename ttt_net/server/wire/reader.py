"""How bytes come in: the event loop reads into one buffer, which all connections share.

Asyncio's plain protocol has 256 KiB allocated for each read, which in a young process the C library maps and unmaps
again: a third of what a move costs where there is no uvloop.
"""

import asyncio
from abc import abstractmethod

_ROOM = bytearray(65_536)
"""An event loop asks for the buffer, fills it and says so before it turns to another connection."""
_VIEW = memoryview(_ROOM)


class Reader(asyncio.BufferedProtocol):
    """A protocol that is handed what is read, as bytes of its own."""

    __slots__ = ()

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return where to read to."""
        return _ROOM

    def buffer_updated(self, nbytes: int) -> None:
        """Take in what was read."""
        self.data_received(bytes(_VIEW[:nbytes]))

    @abstractmethod
    def data_received(self, data: bytes) -> None:
        """Take in bytes."""
