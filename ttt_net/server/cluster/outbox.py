"""Put the entries of one node into the log: one batch at a time, published again until it is seen there.

Entries that arrive during a batch go into the next. The outbox does not see the replies of the log.
"""

import asyncio
from collections import deque
from dataclasses import dataclass
from functools import partial

import msgspec

from ttt_net.server.cluster.entries import AnyLoggedEntry
from ttt_net.server.cluster.log import MAX_BATCH_BYTES, Log, Position
from ttt_net.server.journal.database import Done, Failed

MAX_ENTRIES = 256
"""The most entries in one batch."""
AGAIN_S = 0.25
"""After so long a batch that the log has refused, or did not answer to, is published again."""
REPEAT_S = 1.0
"""After so long a batch that was not seen is published again."""


class Waiting:
    """An entry that was appended, and who waits for what comes of it."""

    __slots__ = ("done", "entry", "failed", "is_given_up", "since_s")

    def __init__(self, entry: AnyLoggedEntry, done: Done, failed: Failed, since_s: float) -> None:
        self.entry, self.done, self.failed, self.since_s = entry, done, failed, since_s
        self.is_given_up = False


@dataclass(slots=True)
class SentBatch:
    """The batch that is under way."""

    number: int
    data: bytes
    waiting: list[Waiting]
    began_s: float
    """When it was first published, or its first entry was appended."""
    published_s: float


class Outbox:
    """The entries of one node that are not seen in the log yet. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, loop: asyncio.AbstractEventLoop) -> None:
        self.number = 0
        """That of the last batch of this epoch; the ledger sets it back where the next one begins."""
        self.sent: SentBatch | None = None
        """The batch that is under way, until the ledger has seen it or given it up."""
        self._log, self._loop = stream, loop
        self._gathered: deque[Waiting] = deque()

    def __len__(self) -> int:
        """Return how many entries are not seen in the log yet."""
        return len(self._gathered) + (len(self.sent.waiting) if self.sent else 0)

    @property
    def has_gathered(self) -> bool:
        """Whether anything waits for the next batch."""
        return bool(self._gathered)

    def gather(self, waiting: Waiting) -> None:
        """Let an entry wait for the next batch."""
        self._gathered.append(waiting)

    def waiting(self) -> list[Waiting]:
        """Return all that wait, in the order in which they were appended."""
        return [*self.under_way(), *self._gathered]

    def under_way(self) -> list[Waiting]:
        """Return those that were sent, and may be in the log by now."""
        return [] if self.sent is None else self.sent.waiting

    def next_bite(self) -> list[Waiting]:
        """Take what the next batch has room for; what was given up before it was ever sent is left out."""
        bite: list[Waiting] = []
        size = 0
        while self._gathered and len(bite) < MAX_ENTRIES and size < MAX_BATCH_BYTES // 2:
            waiting = self._gathered.popleft()
            if not waiting.is_given_up:
                bite.append(waiting)
                size += len(msgspec.json.encode(waiting.entry)) if len(self._gathered) > MAX_ENTRIES else 1_024
        return bite

    def publish(self, number: int, data: bytes, bite: list[Waiting]) -> None:
        """Put a batch under way; none is."""
        now_s = self._loop.time()
        self.number = number
        self.sent = SentBatch(number, data, bite, bite[0].since_s if bite else now_s, now_s)
        self._publish(self.sent)

    def repeat(self, now_s: float) -> None:
        """Publish again what has not been seen for long; to be called every so often."""
        if self.sent is not None and now_s - self.sent.published_s > REPEAT_S:
            self._publish(self.sent)

    def _publish(self, sent: SentBatch) -> None:
        sent.published_s = self._loop.time()
        self._log.publish(sent.data, partial(self._published, sent))

    def _published(self, sent: SentBatch, position: Position | None) -> None:
        """Publish again what may not have arrived; what has arrived will be seen."""
        if position is None and self.sent is sent:
            self._loop.call_later(AGAIN_S, self._publish_again, sent)

    def _publish_again(self, sent: SentBatch) -> None:
        if self.sent is sent and self._loop.time() - sent.published_s >= AGAIN_S:
            self._publish(sent)

    def empty(self) -> list[Waiting]:
        """Let go of all that waits, and return it."""
        waiting = self.waiting()
        self.sent = None
        self._gathered.clear()
        return waiting
