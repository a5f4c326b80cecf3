"""Hold what of the log has come to one node and waits to be applied: no more than memory is meant for.

A node whose disk refuses to be written applies nothing, for as long as that lasts, and the log goes on. Once too much
waits the node stops following; when all of that is applied, it follows again from there. Knows nothing of batches.
"""

import logging
from collections import deque
from collections.abc import Callable
from itertools import islice

from ttt_net.server.cluster.log import Log, Position

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 2**20
"""How much waits; what comes beyond that is let pass, and read again."""
_EACH_BYTES = 256
"""Bytes of one place besides its content."""


class Inbox:
    """The places of the log that come next for one node. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, arrived: Callable[[], None]) -> None:
        """Call `arrived` when there is another place, and when there is none because it was trimmed."""
        self.is_followed = True
        """Whether what comes is taken."""
        self.is_trimmed = False
        """Whether what comes after all that waits was trimmed: only a snapshot has it."""
        self._log, self._tell = stream, arrived
        self._waiting: deque[tuple[Position, bytes]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        """Return how many places wait."""
        return len(self._waiting)

    def follow(self, position: Position) -> None:
        """Follow the log from a place on; nothing waits."""
        self.is_followed = True
        self._log.follow(position, self._arrived, self._trimmed)

    def first(self, most: int) -> list[tuple[Position, bytes]]:
        """Return the first places that wait; they go on to do so until each was taken."""
        return list(islice(self._waiting, most))

    def take(self) -> None:
        """Let go of the first place that waits: it was applied."""
        _, data = self._waiting.popleft()
        self._bytes -= len(data) + _EACH_BYTES

    def _arrived(self, position: Position, data: bytes) -> None:
        if not self.is_followed:
            return
        self._waiting.append((position, data))
        self._bytes += len(data) + _EACH_BYTES
        if self._bytes >= MOST_BYTES:
            self.is_followed = False
            log.warning("%d places of the log wait to be applied: what follows is read after that", len(self))
        self._tell()

    def _trimmed(self) -> None:
        self.is_trimmed = True
        self._tell()
