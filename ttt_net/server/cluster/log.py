"""Declare the replicated log of a cluster from the view of a node, and the batches of entries in it.

A log guarantees only order and durability. Its readers detect repeats, fence off lost nodes, and reject entries
(`ttt_net.server.cluster.replicated_ledger`). To add a backend, write a class with the methods of `Log` that passes
`tests/server/cluster/test_log.py`; `MemoryLog` is the implementation in memory. Logs handle batches as bytes, and know
no thread and no event loop.

The entries are those of the journal and a few of the cluster, which record the nodes and the connected players of each
node. All nodes apply them in the same order to their own tables; see `replica`.

`Inbox` bounds the batches that wait to be applied on a node. A node whose disk fails applies nothing for a while, but
the log continues: once too much waits, the node stops following, and resumes when everything waiting is applied.
`Outbox` publishes one batch at a time, and repeats it until it is delivered. Entries gathered meanwhile go into the
next batch.
"""

import asyncio
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Collection
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
    KeepMistake,
    PackMatches,
    SetBlock,
)
from ttt_net.server.players import PlayerId
from ttt_net.tournaments.tournament import AnyFact, Opened

log = logging.getLogger(__name__)

MAX_BATCH_BYTES = 512 * 1024
"""The maximal size of a batch: half of NATS's default limit."""
RETELL_S = 5.0
"""How often a node repeats its state: the last message may have been lost, or another node may be new."""

Position = int
"""The position of a batch in the log: 1 for the first, then increasing by one; 0 is before the first."""
Hear = Callable[[Position, bytes], None]
"""A follower, called with the position of a batch and the batch."""
Reply = Callable[[bytes], None]
"""Called once with the reply to a question."""
NOBODY = b""
"""Passed instead of an answer if no node answers the subject; real answers are not empty."""
FORM = 9
"""The latest version of log entries that this release supports; see `docs/developing/cluster.md`, on releases.

A release that adds an entry or a field, or applies one differently, increases it. That release still applies older
entries as before, and writes new ones only once the new form is in force (`Replica.in_force`).
"""
NodeName = str
"""The operator's name of a node, unique in the cluster."""


class Retained(NamedTuple):
    """The part of a log that is kept for lagging nodes."""

    snapshot: Position
    """The position of the latest snapshot; 0 without one."""
    stands_s: float
    """The age of the snapshot by the clocks of the log's servers, so that it is the same for all nodes."""
    first: Position
    """The position of the oldest batch that was not trimmed, or of the next one."""
    missing: frozenset[str] = frozenset()
    """The segments that the latest snapshot needs, and that are not in the store."""


class Log(Protocol):
    """One node's connection to the log. Callbacks are called later on the node's event loop, never within a call.

    `None` in a callback means that the log did not answer and nothing is known; try again.
    """

    def publish(self, batch: bytes, done: Callable[[Position | None], None]) -> None:
        """Append a batch, and call `done` once: with its position if it is known to be durable, else with None.

        After None it may be in the log, or get there later, or never. Batches may be published again, so the log may
        contain duplicates.
        """

    def follow(self, position: Position, hear: Hear, gone: Callable[[], None]) -> None:
        """Deliver each batch of all nodes after the position, in order and without gaps, each position once.

        This continues as long as the log exists, across lost connections. If the next batch was trimmed, and only a
        snapshot contains it, this calls `gone` instead and ends. A second call replaces the first.
        """

    def end(self, done: Callable[[Position | None], None]) -> None:
        """Ask the log's leader for the position of its latest batch: the answer proves contact since the call."""

    def trim(self, position: Position) -> None:
        """Drop the batches up to the position eventually; there is no confirmation."""

    def put_snapshot(
        self, position: Position, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()
    ) -> None:
        """Store the content of `source` as the snapshot after a position, replacing the previous one.

        Calls `done` with True once it is stored completely. `needs` names the segments without which it is of no use;
        they must be in the store.
        """

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the latest snapshot into `into`, and call `done` with its position: 0 without one."""

    def segments(self, done: Callable[[frozenset[str] | None], None]) -> None:
        """Report the names of all segments in the store."""

    def put_segment(self, name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Store the content of `source` under a name, completely or not at all; call `done` with True if it is stored.

        A name stands for one content for ever, so storing it again changes nothing.
        """

    def get_segment(self, name: str, into: BinaryIO, done: Callable[[bool | None], None]) -> None:
        """Write a segment into `into`, and call `done` with True; with False if the store does not have it."""

    def drop_segments(self, names: Collection[str]) -> None:
        """Delete segments, and what was left of interrupted writes, eventually; there is no confirmation."""

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Report which part of the past is kept."""

    # Messages beside the log: not stored, not ordered relative to it, and sometimes lost.

    def tell(self, subject: str, data: bytes) -> None:
        """Send to all nodes that listen to the subject, including this one; at most once each.

        A subject consists of words of ASCII letters, digits, `-` and `_`, separated by dots.
        """

    def listen(self, subject: str, hear: Callable[[bytes], None]) -> None:
        """Subscribe to a subject from now on; messages of one node arrive in order."""

    def ask(self, subject: str, question: bytes, done: Callable[[bytes | None], None]) -> None:
        """Ask the one node that answers the subject, and call `done` once with its answer.

        Without an answer, `done` is called with `NOBODY` if no node answers the subject, so none has seen the question,
        and after some seconds with None if that is unknown. A node that has just begun to answer or listen may not be
        known yet.
        """

    def answer(self, subject: str, serve: Callable[[bytes, Reply], None]) -> None:
        """Answer questions on the subject: call `serve` with each question and a callback for the answer."""


class MemoryStream:
    """A log in memory, which its `MemoryLog`s share."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.batches: list[bytes] = []
        """Those that are kept, from `trimmed` on."""
        self.trimmed: Position = 0
        """The position of the last trimmed batch."""
        self.snapshot: tuple[Position, bytes] = (0, b"")
        self.needs: frozenset[str] = frozenset()
        """The segments that the snapshot needs."""
        self.segments: dict[str, bytes] = {}
        self._now_s, self._snapshot_s = now_s, 0.0
        self.followers: list[Callable[[], object]] = []
        """Called for each new batch."""
        self.listeners: dict[str, list[Callable[[bytes], None]]] = {}
        self.servers: dict[str, Callable[[bytes, Reply], None]] = {}

    @property
    def end(self) -> Position:
        """The position of the latest batch."""
        return self.trimmed + len(self.batches)

    def append(self, batch: bytes) -> Position:
        """Append a batch, wake the followers, and return its position."""
        self.batches.append(batch)
        for wake in self.followers:
            wake()
        return self.end

    def keep(self, position: Position, snapshot: bytes, needs: Collection[str] = ()) -> None:
        """Store a snapshot, replacing the previous one."""
        self.snapshot, self._snapshot_s, self.needs = (position, snapshot), self._now_s(), frozenset(needs)

    def kept(self) -> Retained:
        """Return which part of the past is kept."""
        position, _ = self.snapshot
        stands_s = self._now_s() - self._snapshot_s if position else 0.0
        return Retained(position, stands_s, self.trimmed + 1, self.needs - self.segments.keys())

    def read(self, position: Position) -> bytes:
        """Return the batch at a position. Raises `LookupError` if it was trimmed."""
        if position <= self.trimmed:
            raise LookupError(f"batch {position} was trimmed; {self.trimmed + 1} is the first that is kept")
        return self.batches[position - self.trimmed - 1]


class MemoryLog:
    """One node's connection to a `MemoryStream`, which answers everything: for tests, simulations and examples.

    `later` schedules a callback, in the order of the calls, as `loop.call_soon` does.
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
        """Report the position of the latest batch."""
        self._later(partial(done, self._stream.end))

    def trim(self, position: Position) -> None:
        """Drop the batches up to the position, or all."""
        stream = self._stream
        count = min(position, stream.end) - stream.trimmed
        if count > 0:
            del stream.batches[:count]
            stream.trimmed += count

    def put_snapshot(
        self, position: Position, source: BinaryIO, done: Callable[[bool], None], needs: Collection[str] = ()
    ) -> None:
        """Keep a snapshot."""
        self._stream.keep(position, source.read(), needs)
        self._later(partial(done, True))

    def get_snapshot(self, into: BinaryIO, done: Callable[[Position | None], None]) -> None:
        """Write the newest snapshot into `into`."""
        position, data = self._stream.snapshot
        into.write(data)
        self._later(partial(done, position))

    def segments(self, done: Callable[[frozenset[str] | None], None]) -> None:
        """Report the names of all segments."""
        self._later(partial(done, frozenset(self._stream.segments)))

    def put_segment(self, name: str, source: BinaryIO, done: Callable[[bool], None]) -> None:
        """Keep a segment."""
        self._stream.segments[name] = source.read()
        self._later(partial(done, True))

    def get_segment(self, name: str, into: BinaryIO, done: Callable[[bool | None], None]) -> None:
        """Write a segment into `into`."""
        into.write(self._stream.segments.get(name, b""))
        self._later(partial(done, name in self._stream.segments))

    def drop_segments(self, names: Collection[str]) -> None:
        """Delete segments."""
        for name in names:
            self._stream.segments.pop(name, None)

    def kept(self, done: Callable[[Retained | None], None]) -> None:
        """Report which part of the past is kept."""
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
    """One epoch of a node: after a node is declared lost, its writes are rejected, and it begins another epoch."""

    node: NodeName
    epoch: int
    """1 for the first epoch of a node, then increasing."""


class BeginEpoch(JournalEntry, frozen=True, tag=True):
    """Begin an epoch of a node, in its first batch, and end its previous one. Result: as for `DeclareLost`."""

    secret: str
    """Random, so that a node detects another one that runs under its name."""
    url: str = ""
    """The node's address for players."""
    form: int = 1
    """The latest form that the node supports."""


class DeclareLost(JournalEntry, frozen=True, tag=True):
    """Declare an author lost: its later writes are rejected, and its players are disconnected.

    Result: these players. Rejected if it has written more than `number` batches, and so is not silent.
    """

    node: NodeName
    epoch: int
    number: int


class Came(JournalEntry, frozen=True, tag=True):
    """Connect a player to the author's node only. Result: the `Player` at that moment.

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
    """Whether actions of the address's players count together."""


class Sat(JournalEntry, frozen=True, tag=True):
    """Let a connected player receive a match of theirs. Rejected if that connection has been replaced."""

    player: PlayerId
    serial: int
    match: str


class Went(JournalEntry, frozen=True, tag=True):
    """Disconnect a player. Rejected if that connection has been replaced."""

    player: PlayerId
    serial: int
    on_purpose: bool = False


ClusterEntry = BeginEpoch | DeclareLost | Came | Sat | Went
AnyLoggedEntry = AnyEntry | ClusterEntry
"""All entries that a batch can contain."""


def as_of_form(entry: AnyLoggedEntry, form: int) -> AnyLoggedEntry:
    """Return an entry in the version of the form in force.

    Raises `Refusal` if the form lacks the entry, until all nodes run a release that has it.
    """
    if (
        (form < 2 and isinstance(entry, _SINCE_2))
        or (form < 4 and isinstance(entry, _SINCE_4))
        or (form < 5 and isinstance(entry, AppendTournament) and _has_terms_of_5(entry.facts[0]))
        or (form < 7 and isinstance(entry, PackMatches))
        or (form < 8 and isinstance(entry, KeepMistake))
    ):
        raise Refusal(Code.RESTARTING, "the servers are being renewed, and cannot do that yet; try again later", 10_000)
    if form < 3 and isinstance(entry, AppendEvents) and not entry.is_plain:
        older = (restruct(event, rules=1) if isinstance(event, Started) else event for event in entry.events)
        return restruct(entry, events=tuple(older))
    return restruct(entry, network=None) if form < 2 and isinstance(entry, FileReport) else entry


def _has_terms_of_5(fact: AnyFact) -> bool:
    if not isinstance(fact, Opened):
        return False
    terms = fact.terms
    return terms.anonymous or terms.per_address is not None or terms.spare is not None


_SINCE_2, _SINCE_4 = (SetBlock, CloseReports), (AppendTournament, BeginBoards)
"""The first form that has each entry. Nodes of form 3 apply those about tournaments, but seat nobody."""


class Batch(msgspec.Struct, frozen=True):
    """Entries that one author gathered during its previous batch; applied at one position of the log, or not at all.

    A batch whose number was already seen is a repeat, and is ignored.
    """

    node: NodeName
    epoch: int
    number: int
    """1 for the first batch of an author, then increasing by one."""
    position: int
    """The position up to which the author had applied the log when it gathered this batch."""
    state: str
    """The running hash of the author after that position; see `next_state`."""
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
    """Return the batch of a JSON text. Raises `msgspec.MsgspecError` if it is invalid."""
    return _decoder.decode(data)


def next_state(state: str, data: bytes, results: bytes) -> str:
    """Return the running hash after a batch with these results: equal on nodes with the same history."""
    return hashlib.blake2b(b"%s %s %s" % (state.encode(), data, results), digest_size=16).hexdigest()


MOST_BYTES = 64 * 2**20
"""The capacity of the inbox in bytes. Further batches are ignored, and read again later."""
_EACH_BYTES = 256
"""The memory overhead of one position in addition to its batch."""
MAX_ENTRIES = 256
"""The maximal number of entries in a batch."""
AGAIN_S = 0.25
"""The delay before repeating a batch that the log rejected or did not answer."""
REPEAT_S = 1.0
"""The delay before repeating a batch that was not delivered back."""


class Inbox:
    """The positions of the log that one node applies next. All calls and callbacks are on the event loop."""

    def __init__(self, stream: Log, arrived: Callable[[], None]) -> None:
        """Call `arrived` when another position has arrived, and when the next one was trimmed."""
        self.is_followed = True
        """Whether new positions are accepted."""
        self.is_trimmed = False
        """Whether the position after the last waiting one was trimmed, so that only a snapshot has it."""
        self._log, self._tell = stream, arrived
        self._waiting: deque[tuple[Position, bytes]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        """Return the number of waiting positions."""
        return len(self._waiting)

    def follow(self, position: Position) -> None:
        """Follow the log from a position. The inbox must be empty."""
        self.is_followed = True
        self._log.follow(position, self._arrived, self._trimmed)

    def first(self, most: int) -> list[tuple[Position, bytes]]:
        """Return the first positions, which stay until `take`."""
        return list(islice(self._waiting, most))

    def take(self) -> None:
        """Remove the first position after it was applied."""
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
    """A published batch that was not delivered back yet."""

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
        """The number of the last batch in this epoch. The ledger resets it for the next epoch."""
        self.sent: SentBatch | None = None
        """The batch in flight, until the ledger sees it or drops it."""
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
        """Remove and return the entries of the next batch, without entries that were given up before they were sent."""
        bite: list[Waiting] = []
        size = 0
        while self._gathered and len(bite) < MAX_ENTRIES and size < MAX_BATCH_BYTES // 2:
            waiting = self._gathered.popleft()
            if not waiting.is_given_up:
                bite.append(waiting)
                is_large = len(self._gathered) > MAX_ENTRIES or isinstance(waiting.entry, BeginBoards)
                size += len(msgspec.json.encode(waiting.entry)) if is_large else 1_024
        return bite

    def publish(self, number: int, data: bytes, bite: list[Waiting]) -> None:
        """Publish a batch. No other may be in flight."""
        now_s = self._loop.time()
        self.number = number
        self.sent = SentBatch(number, data, bite, bite[0].since_s if bite else now_s, now_s)
        self._publish(self.sent)

    def repeat(self, now_s: float) -> None:
        """Publish the batch again if it was not delivered back for long. Call this several times a second."""
        if self.sent is not None and now_s - self.sent.published_s > REPEAT_S:
            self._publish(self.sent)

    def _publish(self, sent: SentBatch) -> None:
        sent.published_s = self._loop.time()
        self._log.publish(sent.data, partial(self._published, sent))

    def _published(self, sent: SentBatch, position: Position | None) -> None:
        """Publish a batch again that may not have arrived. If it has arrived, it is delivered anyway."""
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
