"""Define the messages between nodes beside the log, decode those of other releases, and send broadcasts.

Messages use the forms of the log (`log.FORM`): a release that changes a message increments the form, and writes the
older form until the new one is in force, so that every node can read all messages. A field with a default may be added
at any time. A message that this release cannot read is ignored, and logged once.

`Broadcasts` sends chat, numbers of watchers and used amounts of limits. Any of these messages may be lost.
"""

import logging
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import msgspec

from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.games.catalogue import outside
from ttt_net.pairing.seeks import Seek
from ttt_net.server.admission.rate_limiter import TOLD
from ttt_net.server.cluster.log import FORM, RETELL_S, Author, Log, NodeName
from ttt_net.server.hub import Hub
from ttt_net.server.players import PlayerId

log = logging.getLogger(__name__)
_CHAT, _WATCHING, _TAKEN, _RULES = "rooms.chat", "rooms.watching", "limits.taken", "games.rules"
MOST_ABORTS = 20
"""The maximal number of aborted matches of a player to count from one message; fewer already cause the longest wait."""
MOST_TAKEN = 5_000
"""The maximal number of players and addresses in one message about used limits; the rest follows in the next."""


class NodeMessage(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A message of one node to another, or to all."""

    form: int = 1
    """The form in which it is written."""


class LobbyQuestion(NodeMessage, frozen=True, kw_only=False):
    """A player's request to the lobby, sent to the steward."""

    player: PlayerId
    serial: int
    position: int
    """The position up to which the asking node had applied the log; the steward answers only after applying as much."""
    request: bytes
    is_again: bool
    """Whether it is a seek from before the change of the steward, without a waiting reply."""


class Delivery(NodeMessage, frozen=True, kw_only=False):
    """Messages of the steward to a player of another node."""

    player: PlayerId
    serial: int
    frames: bytes
    closing: int | None


class StewardSeeks(NodeMessage, frozen=True, kw_only=False):
    """The steward's open seeks: some 60 bytes each."""

    by: Author
    last: int
    """The highest number given to a seek or a challenge."""
    total: int
    """How many seeks can be found; `seeks` has the oldest of them, `MAX_CROWD` at the most."""
    seeks: list[Seek]
    hidden: list[Seek]
    """The seeks of disconnected players."""


class ForwardedChat(NodeMessage, frozen=True, kw_only=False):
    """A chat message on its way to readers on other nodes."""

    node: NodeName
    player: PlayerId
    said: bytes


class WatcherCounts(NodeMessage, frozen=True, kw_only=False):
    """The numbers of watchers on a node."""

    node: NodeName
    matches: dict[str, int]
    is_all: bool = False
    """Whether no other match has watchers there."""


class TakenLimits(NodeMessage, frozen=True, kw_only=False):
    """Used amounts of limits on a node since its last message."""

    node: NodeName
    counts: list[tuple[str, int | str, int]]


class AddedRules(NodeMessage, frozen=True, kw_only=False):
    """The games of other packages on a node, with the versions of their rules."""

    node: NodeName
    versions: dict[str, int]


AnyNodeMessage = AddedRules | LobbyQuestion | Delivery | StewardSeeks | ForwardedChat | WatcherCounts | TakenLimits
_Message = TypeVar("_Message", bound=NodeMessage)


def encode_message(message: AnyNodeMessage) -> bytes:
    """Return a message as JSON."""
    return msgspec.json.encode(message)


def decode_message(data: bytes, kind: type[_Message]) -> _Message | None:
    """Return the message of a JSON text; None if this release cannot read it."""
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


def _versions() -> dict[str, int]:
    """Return the versions of the rules of games of other packages."""
    return {name: game.face.version for name, game in outside().items()}


class Broadcasts:
    """Exchanges the state of rooms and limits with the other nodes."""

    def __init__(self, hub: Hub, node: NodeName, stream: Log) -> None:
        self._hub, self._node, self._log = hub, node, stream
        self._services = hub.services
        self._watched: dict[str, int] = {}
        """The number of watchers here of each watched match, as last sent to the others."""
        self._retold_s = self._services.loop.time()
        self._differing: dict[NodeName, dict[str, int]] = {}
        """The rules of each node whose games differ from ours, as last logged."""

    def start(self) -> None:
        """Send messages from here, and receive those of the other nodes."""
        self._hub.chat.pass_on = self.pass_on
        self._log.listen(_CHAT, self._chatted)
        self._log.listen(_WATCHING, self._counted)
        self._services.rate_limiter.untold = Counter()
        self._log.listen(_TAKEN, self._taken_elsewhere)
        self._log.listen(_RULES, self._compare_rules)

    def pass_on(self, player: PlayerId, said: wire.Chatted) -> None:
        """Send a line of chat to the other nodes."""
        self._log.tell(_CHAT, encode_message(ForwardedChat(self._node, player, wire.encode(said))))

    def _chatted(self, data: bytes) -> None:
        line = decode_message(data, ForwardedChat)
        if line is None:
            return
        try:
            message = wire.decode_server_message(line.said)
        except Refusal:  # of a newer release
            return
        if line.node != self._node and isinstance(message, wire.Chatted):
            self._hub.chat.hear(line.player, message)

    def tell_counts(self, now_s: float) -> None:
        """Send the numbers of watchers here that have changed to the other nodes, and all of them from time to time."""
        membership = self._services.membership
        assert membership is not None, "a node of a cluster has a membership"
        counts: dict[str, int] = {}
        for match in membership.recounted:
            room = self._hub.registry.rooms.get(match)
            counts[match] = room.audience.watchers_here if room else 0
        membership.recounted.clear()
        self._watched = {match: count for match, count in (self._watched | counts).items() if count}
        is_all = now_s - self._retold_s >= RETELL_S
        if is_all:
            self._retold_s = now_s
            counts = self._watched
            self._log.tell(_RULES, encode_message(AddedRules(self._node, _versions())))
        if counts or is_all:
            self._log.tell(_WATCHING, encode_message(WatcherCounts(self._node, counts, is_all)))

    def _counted(self, data: bytes) -> None:
        told = decode_message(data, WatcherCounts)
        if told is None or told.node == self._node:
            return
        for match, count in told.matches.items():
            room = self._hub.registry.rooms.get(match)
            if room is not None:
                room.joining.count_elsewhere(told.node, count)
        if told.is_all:  # the message about the last one's departure may have been lost
            for match, room in list(self._hub.registry.rooms.items()):
                if match not in told.matches:
                    room.joining.count_elsewhere(told.node, 0)

    def _compare_rules(self, data: bytes) -> None:
        """Log once how the games of another node differ: matches of these cannot be played by players of both."""
        told = decode_message(data, AddedRules)
        if told is None or told.node == self._node:
            return
        ours = _versions()
        if told.versions == ours:
            self._differing.pop(told.node, None)
            return
        if self._differing.get(told.node) == told.versions:
            return
        self._differing[told.node] = told.versions
        for name in sorted(ours.keys() | told.versions.keys()):
            here, there = ours.get(name), told.versions.get(name)
            if here != there:
                log.error(
                    "the game %s has rules of version %s here and %s on node %s: install the same package on all nodes",
                    *(name[:40], here or "none", there or "none", told.node),
                )

    def tell_taken(self) -> None:
        """Send the other nodes what was used here of limits that hold across nodes."""
        untold = self._services.rate_limiter.untold
        if untold:
            counts = [(act, holder, untold.pop((act, holder))) for act, holder in list(islice(untold, MOST_TAKEN))]
            self._log.tell(_TAKEN, encode_message(TakenLimits(self._node, counts)))

    def _taken_elsewhere(self, data: bytes) -> None:
        told = decode_message(data, TakenLimits)
        if told is not None and told.node != self._node:
            for act, holder, count in told.counts:
                if act in TOLD:
                    self._services.rate_limiter.taken_elsewhere(act, holder, count)
                elif act == "aborts" and isinstance(holder, int):
                    for _ in range(min(count, MOST_ABORTS)):
                        self._services.aborts.add(holder, self._services.now_ms())
