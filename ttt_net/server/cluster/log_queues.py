"""Hold the batches of the log that wait to be applied on one node, and the entries that it has still to write.

`Inbox` bounds the former. A node whose disk fails applies nothing for a while, and the log goes on: once too much
waits, the node stops following, and follows again from there when all of that is applied. `Outbox` puts one batch at a
time into the log, and publishes it again until it comes back. Entries that are gathered meanwhile go into the next.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

import msgspec

from ttt_net.server.cluster.log import MAX_BATCH_BYTES, AnyLoggedEntry, Log, Position
from ttt_net.server.journal.database import Done, Failed

log = logging.getLogger(__name__)

MOST_BYTES = 64 * 2**20
"""Most bytes that wait in the inbox. Batches beyond that are ignored, and read again later."""
_EACH_BYTES = 256
"""Overhead of one place in memory, beside its batch."""
MAX_ENTRIES = 256
"""Most entries in one batch."""
AGAIN_S = 0.25
"""Delay before a batch is published again that the log has refused, or has not answered."""
REPEAT_S = 1.0
"""Delay before a batch is published again that has not come back."""


class Inbox:
    """The places of the log that one node applies next. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, arrived: Callable[[], None]) -> None:
        """Call `arrived` when another place has come, and when the next one was trimmed."""
        self.is_followed = True
        """Whether new places are accepted."""
        self.is_trimmed = False
        """Whether the place after the last that waits was trimmed, so that only a snapshot has it."""
        self._log, self._tell = stream, arrived
        self._waiting: deque[tuple[Position, bytes]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        """Return the number of places that wait."""
        return len(self._waiting)

    def follow(self, position: Position) -> None:
        """Follow the log from a place on. Nothing may wait."""
        self.is_followed = True
        self._log.follow(position, self._arrived, self._trimmed)

    def first(self, most: int) -> list[tuple[Position, bytes]]:
        """Return the first places, which wait on until `take`."""
        return list(islice(self._waiting, most))

    def take(self) -> None:
        """Remove the first place, which was applied."""
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


class Waiting:
    """An appended entry, and the callbacks for its outcome."""

    __slots__ = ("done", "entry", "failed", "is_given_up", "since_s")

    def __init__(self, entry: AnyLoggedEntry, done: Done, failed: Failed, since_s: float) -> None:
        self.entry, self.done, self.failed, self.since_s = entry, done, failed, since_s
        self.is_given_up = False


@dataclass(slots=True)
class SentBatch:
    """The batch that was published and has not come back."""

    number: int
    data: bytes
    waiting: list[Waiting]
    began_s: float
    """Time of the first publication, or when the first entry was appended."""
    published_s: float


class Outbox:
    """The entries of one node that are not known to be in the log. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, loop: asyncio.AbstractEventLoop) -> None:
        self.number = 0
        """Number of the last batch in this epoch. The ledger resets it for the next epoch."""
        self.sent: SentBatch | None = None
        """The batch under way, until the ledger sees it or drops it."""
        self._log, self._loop = stream, loop
        self._gathered: deque[Waiting] = deque()

    def __len__(self) -> int:
        """Return the number of entries that are not known to be in the log."""
        return len(self._gathered) + (len(self.sent.waiting) if self.sent else 0)

    @property
    def has_gathered(self) -> bool:
        """Whether an entry waits for the next batch."""
        return bool(self._gathered)

    def gather(self, waiting: Waiting) -> None:
        """Add an entry to the next batch."""
        self._gathered.append(waiting)

    def waiting(self) -> list[Waiting]:
        """Return all entries, in the order in which they were appended."""
        return [*self.under_way(), *self._gathered]

    def under_way(self) -> list[Waiting]:
        """Return the entries that were sent and may be in the log."""
        return [] if self.sent is None else self.sent.waiting

    def next_bite(self) -> list[Waiting]:
        """Remove and return the entries of the next batch, without those that were given up before they were sent."""
        bite: list[Waiting] = []
        size = 0
        while self._gathered and len(bite) < MAX_ENTRIES and size < MAX_BATCH_BYTES // 2:
            waiting = self._gathered.popleft()
            if not waiting.is_given_up:
                bite.append(waiting)
                size += len(msgspec.json.encode(waiting.entry)) if len(self._gathered) > MAX_ENTRIES else 1_024
        return bite

    def publish(self, number: int, data: bytes, bite: list[Waiting]) -> None:
        """Publish a batch. No other may be under way."""
        now_s = self._loop.time()
        self.number = number
        self.sent = SentBatch(number, data, bite, bite[0].since_s if bite else now_s, now_s)
        self._publish(self.sent)

    def repeat(self, now_s: float) -> None:
        """Publish the batch again if it has not come back for long. Call this several times a second."""
        if self.sent is not None and now_s - self.sent.published_s > REPEAT_S:
            self._publish(self.sent)

    def _publish(self, sent: SentBatch) -> None:
        sent.published_s = self._loop.time()
        self._log.publish(sent.data, partial(self._published, sent))

    def _published(self, sent: SentBatch, position: Position | None) -> None:
        """Publish a batch again that may not have arrived. One that has arrived comes back anyway."""
        if position is None and self.sent is sent:
            self._loop.call_later(AGAIN_S, self._publish_again, sent)

    def _publish_again(self, sent: SentBatch) -> None:
        if self.sent is sent and self._loop.time() - sent.published_s >= AGAIN_S:
            self._publish(sent)

    def empty(self) -> list[Waiting]:
        """Remove and return all entries."""
        waiting = self.waiting()
        self.sent = None
        self._gathered.clear()
        return waiting
