"""Declare what nodes send one another beside the log, and read what nodes of other releases send.

Messages have the forms of the log (`entries.FORM`): a release that changes a message counts the form up, and writes the
older form until the new one is in force, so that every node can read what it gets. A field with a default may be added
at any time. A message that this release cannot read is ignored, and logged once.
"""

import logging
from functools import lru_cache
from typing import TypeVar

import msgspec

from ttt_net.pairing.seeks import Seek
from ttt_net.server.cluster.entries import FORM, Author, NodeName
from ttt_net.server.players import PlayerId

log = logging.getLogger(__name__)


class NodeMessage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A message of one node to another, or to all."""

    form: int = 1
    """The form that it is written in."""


class LobbyQuestion(NodeMessage, frozen=True, kw_only=False):
    """A player's request to the lobby, on its way to the steward."""

    player: PlayerId
    serial: int
    position: int
    """Up to where the asker's node had applied the log: it is not answered from less."""
    request: bytes
    is_again: bool
    """Whether it is a seek that stood with the last steward, and nobody waits for an answer."""


class Delivery(NodeMessage, frozen=True, kw_only=False):
    """Messages of the steward to a player of another node."""

    player: PlayerId
    serial: int
    frames: bytes
    closing: int | None


class StewardSeeks(NodeMessage, frozen=True, kw_only=False):
    """The seeks that stand at the steward: some 60 bytes for each."""

    by: Author
    last: int
    """The greatest number that a seek or a challenge was given."""
    total: int
    """How many seeks can be found; `seeks` has the oldest of them, `MAX_CROWD` at the most."""
    seeks: list[Seek]
    hidden: list[Seek]
    """Those of players whose link was lost."""


class ForwardedChat(NodeMessage, frozen=True, kw_only=False):
    """A line of chat, on its way to those who hear the match on other nodes."""

    node: NodeName
    player: PlayerId
    said: bytes


class WatcherCounts(NodeMessage, frozen=True, kw_only=False):
    """How many watch matches on a node."""

    node: NodeName
    matches: dict[str, int]
    is_all: bool = False
    """Whether nobody watches any other match there."""


class TakenLimits(NodeMessage, frozen=True, kw_only=False):
    """Used amounts of limits on a node since its last message."""

    node: NodeName
    counts: list[tuple[str, int | str, int]]


AnyNodeMessage = LobbyQuestion | Delivery | StewardSeeks | ForwardedChat | WatcherCounts | TakenLimits
_Message = TypeVar("_Message", bound=NodeMessage)


def encode_message(message: AnyNodeMessage) -> bytes:
    """Return a message as JSON."""
    return msgspec.json.encode(message)


def decode_message(data: bytes, kind: type[_Message]) -> _Message | None:
    """Return the message of that JSON; None if this release cannot read it."""
    try:
        form = _form_decoder.decode(data).form
        if form <= FORM:
            return msgspec.json.decode(data, type=kind)
        why = f"it has form {form}, and this release knows {FORM}"
    except msgspec.MsgspecError as error:
        why = str(error)
    _note_unreadable(kind.__name__, why)
    return None


_form_decoder: msgspec.json.Decoder[NodeMessage] = msgspec.json.Decoder(NodeMessage)


@lru_cache(maxsize=64)
def _note_unreadable(kind: str, why: str) -> None:
    """Log once that messages of a kind cannot be read: they may come many times a second."""
    log.warning("a %s of another node is ignored, as are those that follow: %s", kind, why)
