"""Declare what nodes put into the log: batches of entries, those of the journal and a few of the cluster's own.

The latter say which nodes there are, and who is connected to which of them. All nodes apply them in one order, to
tables of their own: see `ttt_net.server.cluster.fence`.
"""

import hashlib
from typing import NamedTuple

import msgspec

from ttt_net.server.journal.entries import AnyEntry, JournalEntry
from ttt_net.server.players import PlayerId

FORM = 1
"""The newest form of what is in the log that this release knows: see `docs/developing/cluster.md`, on releases.

It is one more for a release that adds an entry or a field, or applies one in another way; that release still applies
those of before as they were applied, and writes new ones only once its form is in force (`Replica.in_force`).
"""

NodeName = str
"""The operator's name of a node, unique in the cluster."""


class Author(NamedTuple):
    """One life of a node: what it writes is refused once it was declared lost, and then it begins another."""

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
    """Declare an author lost: what it puts into the log from here on is refused, and nobody is connected to it.

    Result: the players who were. Refused if it has written more than `number` batches, and so is not silent.
    """

    node: NodeName
    epoch: int
    number: int


class Came(JournalEntry, frozen=True, tag=True):
    """Let a player be connected to the author's node, and to no other. Result: the `Player` as they are then.

    Refused if they are forgotten.
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
    """Let a connected player hear a match of theirs. Refused if that connection is not theirs any more."""

    player: PlayerId
    serial: int
    match: str


class Went(JournalEntry, frozen=True, tag=True):
    """Let a player be connected no more. Refused if that connection is not theirs any more."""

    player: PlayerId
    serial: int
    on_purpose: bool = False


ClusterEntry = BeginEpoch | DeclareLost | Came | Sat | Went
AnyLoggedEntry = AnyEntry | ClusterEntry
"""All that can be in a batch."""


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
