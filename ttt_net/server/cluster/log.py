"""Declare the replicated log that a cluster stands on, as its nodes see it, and the batches of entries in it.

A log owes order and durability, and nothing more. Its readers decide what is a repeat, who is fenced off and what is
refused (`ttt_net.server.cluster.replicated_ledger`). To add a backend, write a class with the methods of `Log` that
passes `tests/server/cluster/test_log.py`; `MemoryLog` is the implementation in memory. Logs know batches as bytes, no
thread and no event loop.

The entries are those of the journal and a few of the cluster's own, which say which nodes there are and who is
connected to which of them. All nodes apply them in one order, to tables of their own: see `replica`.

`Inbox` bounds the batches that wait to be applied on one node. A node whose disk fails applies nothing for a while, and
the log goes on: once too much waits, the node stops following, and follows again from there when all of that is
applied. `Outbox` puts one batch at a time into the log, and publishes it again until it comes back. Entries that are
gathered meanwhile go into the next.
"""

import asyncio
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import BinaryIO, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace as restruct

from ttt_net.errors import Code, Refusal
from ttt_net.messages import Started
from ttt_net.server.journal.database import Done, Failed
from ttt_net.server.journal.entries import (
    AnyEntry,
    AppendEvents,
    AppendTournament,
    BeginBoards,
    CloseReports,
    FileReport,
    JournalEntry,
    SetBlock,
)
from ttt_net.server.players import PlayerId

log = logging.getLogger(__name__)

MAX_BATCH_BYTES = 512 * 1024
"""The longest batch that is ever published; half of what NATS takes by default."""
RETELL_S = 5.0
"""How often a node tells again what stands here: it may have been lost, or another node is new."""

Position = int
"""The place of a batch in the log: 1 for the first, and one more for each that follows; 0 is before the first."""
Hear = Callable[[Position, bytes], None]
"""A follower, called with the place of a batch and the batch."""
Reply = Callable[[bytes], None]
"""Called once with the reply to a question."""
NOBODY = b""
"""Passed instead of an answer where no node answers the subject; real answers have a length."""
FORM = 3
"""The newest form of what is in the log that this release knows: see `docs/developing/cluster.md`, on releases.

It increases with a release that adds an entry or a field, or applies one differently. That release still applies older
entries as before, and writes new ones only once its form is in force (`Replica.in_force`).
"""
NodeName = str
"""The operator's name of a node, unique in the cluster."""


class Retained(NamedTuple):
    """The part of a log that is kept for nodes that are behind."""

    snapshot: Position
    """The place of the newest snapshot; 0 if there is none."""
    stands_s: float
    """For how long there is that snapshot, by the clocks of the log's own machines, which tell it all nodes alike."""
    first: Position
    """The place of the oldest batch that was not trimmed, or where the next will be."""


class Log(Protocol):
    """One node's connection to the log. Every callback comes later, on the node's event loop, never from within a call.

    `None` in a callback means that the log did not answer and nothing is known; try again.
    """

    def publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        """Append a batch, and call `done` once: with its place if it is known to be durable, else with None.

        After None it may be in the log, or get there later, or never. Batches may be published again: two that are
        equal may both be in the log.
        """

    def follow(self, position: Position, hear: Hear, gone: Callable[[], None]) -> None:
        """Deliver each batch after the position, of all nodes, in order and without gaps, each place once.

        Continues as long as the log exists, through whatever it loses and finds again. Calls `gone` instead, and
        nothing more, if the next batch was trimmed: a snapshot has it. A second call starts again after its position,
        and replaces the first.
        """

    def end(self, done: Callable[[Position | None], None]) -> None:
        """Ask the log's leader for the place of its newest batch: the answer proves contact since the call."""

    def trim(self, position: Position) -> None:
        """Drop the batches up to the position at some time; nobody waits for it."""

    def put_snapshot(self, position: Position, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Keep what can be read from `source` as the state after that position, in place of the last.

        Calls `done` with True once it is kept whole.
        """

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the newest snapshot into `into`, and call `done` with its position: 0 if there is none."""

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Tell what can be had of the past."""

    # Beside the log: not kept, not ordered against it, and lost now and then.

    def tell(self, subject: str, data: bytes) -> None:
        """Send to all nodes that listen to the subject, this one too; at most once each.

        A subject is made of words of ASCII letters, digits, `-` and `_`, with dots between them.
        """

    def listen(self, subject: str, hear: Callable[[bytes], None]) -> None:
        """Subscribe to a subject from now on; messages of one node come in its order."""

    def ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        """Ask the one node that answers the subject, and call `done` once with its answer.

        Without one, `done` is called with `NOBODY` if no node answers the subject, so that none has seen the question,
        and after some seconds with None if that is not known. A node that answers since a moment ago may not be known
        yet; the same goes for those that listen.
        """

    def answer(self, subject: str, serve: Callable[[bytes, Reply], None]) -> None:
        """Answer questions on the subject: call `serve` with each, and what takes the answer, at once or later."""


class MemoryStream:
    """A log in memory, which its `MemoryLog`s share."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.batches: list[bytes] = []
        """Those that are kept, from `trimmed` on."""
        self.trimmed: Position = 0
        """The place of the last batch that is not kept any more."""
        self.snapshot: tuple[Position, bytes] = (0, b"")
        self._now_s, self._snapshot_s = now_s, 0.0
        self.followers: list[Callable[[], object]] = []
        """Called when there is another batch."""
        self.listeners: dict[str, list[Callable[[bytes], None]]] = {}
        self.servers: dict[str, Callable[[bytes, Reply], None]] = {}

    @property
    def end(self) -> Position:
        """The place of the newest batch."""
        return self.trimmed + len(self.batches)

    def append(self, batch: bytes) -> Position:
        """Append a batch, wake the followers, and return its place."""
        self.batches.append(batch)
        for wake in self.followers:
            wake()
        return self.end

    def keep(self, position: Position, snapshot: bytes) -> None:
        """Keep a snapshot in place of the last."""
        self.snapshot, self._snapshot_s = (position, snapshot), self._now_s()

    def kept(self) -> Retained:
        """Return what can be had of the past."""
        position, _ = self.snapshot
        return Retained(position, self._now_s() - self._snapshot_s if position else 0.0, self.trimmed + 1)

    def read(self, position: Position) -> bytes:
        """Return the batch at a place. Raises `LookupError` if it was trimmed."""
        if position <= self.trimmed:
            raise LookupError(f"batch {position} was trimmed; {self.trimmed + 1} is the first that is kept")
        return self.batches[position - self.trimmed - 1]


class MemoryLog:
    """One node's connection to a `MemoryStream`, which answers everything: for tests, simulations and examples.

    `later` has a callback called soon, in the order of the calls, as `loop.call_soon` does.
    """

    def __init__(self, stream: MemoryStream, later: Callable[[Callable[[], None]], object]) -> None:
        self._stream, self._later = stream, later
        self._heard: Position = 0
        self._wake: Callable[[], object] | None = None
        """Called for each further batch while the log is followed."""

    def publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        """Append a batch."""
        self._later(partial(done, self._stream.append(batch)))

    def follow(self, position: Position, hear: Hear, gone: Callable[[], None]) -> None:
        """Deliver each batch after the position."""
        if self._wake is not None:
            self._stream.followers.remove(self._wake)

        def deliver() -> None:
            while self._wake is wake and self._heard < self._stream.end:
                try:
                    batch = self._stream.read(self._heard + 1)
                except LookupError:
                    self._stream.followers.remove(wake)
                    self._wake = None
                    gone()
                else:
                    self._heard += 1
                    hear(self._heard, batch)

        wake = partial(self._later, deliver)
        self._heard, self._wake = position, wake
        self._stream.followers.append(wake)
        self._later(deliver)

    def end(self, done: Callable[[Position | None], None]) -> None:
        """Tell the place of the newest batch."""
        self._later(partial(done, self._stream.end))

    def trim(self, position: Position) -> None:
        """Drop the batches up to the position, or all."""
        stream = self._stream
        count = min(position, stream.end) - stream.trimmed
        if count > 0:
            del stream.batches[:count]
            stream.trimmed += count

    def put_snapshot(self, position: Position, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Keep a snapshot."""
        self._stream.keep(position, source.read())
        self._later(partial(done, True))

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the newest snapshot into `into`."""
        position, data = self._stream.snapshot
        into.write(data)
        self._later(partial(done, position))

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Tell what can be had of the past."""
        self._later(partial(done, self._stream.kept()))

    def tell(self, subject: str, data: bytes) -> None:
        """Send to all that listen."""
        for hear in self._stream.listeners.get(subject, ()):
            hear(data)

    def listen(self, subject: str, hear: Callable[[bytes], None]) -> None:
        """Subscribe to a subject."""
        later = self._later
        self._stream.listeners.setdefault(subject, []).append(lambda data: _soon(later, hear, data))

    def ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        """Ask the node that answers."""
        serve = self._stream.servers.get(subject)
        if serve is None:
            self._later(partial(done, NOBODY))
            return
        answered = iter([done])  # one answer

        def reply(data: bytes) -> None:
            with suppress(StopIteration):
                self._later(partial(next(answered), data))

        serve(question, reply)

    def answer(self, subject: str, serve: Callable[[bytes, Reply], None]) -> None:
        """Answer questions on the subject."""
        later = self._later
        self._stream.servers[subject] = lambda question, reply: _soon(later, serve, question, reply)


def _soon(later: Callable[[Callable[[], None]], object], call: Callable[..., None], *args: object) -> None:
    later(partial(call, *args))


class Author(NamedTuple):
    """One life of a node: after it was declared lost, its writes are refused, and it begins another."""

    node: NodeName
    epoch: int
    """1 for the first life of a node, and a greater one for each that follows."""


class BeginEpoch(JournalEntry, frozen=True, tag=True):
    """Begin the life of an author, with its first batch; the one before is lost by it. Result: as of `DeclareLost`."""

    secret: str
    """Random: so that a node notices another that runs under its name."""
    url: str = ""
    """Where players reach the node."""
    form: int = 1
    """The newest form that the node knows."""


class DeclareLost(JournalEntry, frozen=True, tag=True):
    """Declare an author lost: its later writes are refused, and its players are disconnected.

    Result: these players. Refused if it has written more than `number` batches, and so is not silent.
    """

    node: NodeName
    epoch: int
    number: int


class Came(JournalEntry, frozen=True, tag=True):
    """Connect a player to the author's node, and to no other. Result: the `Player` as they are then.

    Refused if they are deleted.
    """

    player: PlayerId
    serial: int
    """Tells apart the connections of one author."""
    token_key: str
    """The key of their sanctions after they are deleted."""
    at_ms: int
    address: str
    """The key of the address's sanctions, a keyed hash; empty if unknown."""
    bot: str | None = None
    level: int | None = None
    places: int | None = None
    reserved: int = 0
    any_level: bool = False
    on_request: bool = False
    about: str | None = None
    is_metered: bool = True
    """Whether what players of the address do counts together."""


class Sat(JournalEntry, frozen=True, tag=True):
    """Let a connected player receive a match of theirs. Refused if that connection has been replaced."""

    player: PlayerId
    serial: int
    match: str


class Went(JournalEntry, frozen=True, tag=True):
    """Disconnect a player. Refused if that connection has been replaced."""

    player: PlayerId
    serial: int
    on_purpose: bool = False


ClusterEntry = BeginEpoch | DeclareLost | Came | Sat | Went
AnyLoggedEntry = AnyEntry | ClusterEntry
"""All that can be in a batch."""


def as_of_form(entry: AnyLoggedEntry, form: int) -> AnyLoggedEntry:
    """Return an entry as it is written while a form is in force.

    Raises `Refusal` if that form has no such entry, until all nodes run the release that has.
    """
    unknown = _SINCE_3 if form == 2 else (*_SINCE_2, *_SINCE_3)
    if form < FORM and isinstance(entry, unknown):
        raise Refusal(Code.RESTARTING, "the servers are being renewed, and cannot do that yet; try again later", 10_000)
    if form < 3 and isinstance(entry, AppendEvents) and not entry.is_plain:
        older = (restruct(event, rules=1) if isinstance(event, Started) else event for event in entry.events)
        return restruct(entry, events=tuple(older))
    return restruct(entry, network=None) if form < 2 and isinstance(entry, FileReport) else entry


_SINCE_2, _SINCE_3 = (SetBlock, CloseReports), (AppendTournament, BeginBoards)
"""The entries that a form was the first to have."""


class Batch(msgspec.Struct, frozen=True):
    """Entries that one author gathered during its last batch; applied in one place of the log, or not at all.

    A batch whose number was seen already is a repeat, and ignored.
    """

    node: NodeName
    epoch: int
    number: int
    """1 for the first batch of an author, and one more for each that follows."""
    position: int
    """Up to which place of the log the author had applied all when it gathered this."""
    state: str
    """The running hash of the author after that place: see `next_state`."""
    entries: tuple[AnyLoggedEntry, ...]
    at_ms: int | None = None
    """The time of day on the author's machine."""

    @property
    def author(self) -> Author:
        """Its author."""
        return Author(self.node, self.epoch)


_decoder: msgspec.json.Decoder[Batch] = msgspec.json.Decoder(Batch)


def encode_batch(batch: Batch) -> bytes:
    """Return the batch as JSON, which an operator can read in the log."""
    return msgspec.json.encode(batch)


def decode_batch(data: bytes) -> Batch:
    """Return the batch of that JSON. Raises `msgspec.MsgspecError` if it is none."""
    return _decoder.decode(data)


def next_state(state: str, data: bytes, results: bytes) -> str:
    """Return the running hash after a batch that led to those results: equal on nodes that agree about all so far."""
    return hashlib.blake2b(b"%s %s %s" % (state.encode(), data, results), digest_size=16).hexdigest()


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
