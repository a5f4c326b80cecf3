"""Tell the other nodes what no log keeps: chat, how many watch, what was taken of limits. It is lost now and then."""

from collections import Counter
from itertools import islice

from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.server.admission.rate_limiter import TOLD
from ttt_net.server.cluster.entries import NodeName
from ttt_net.server.cluster.log import RETELL_S, Log
from ttt_net.server.cluster.node_messages import (
    ForwardedChat,
    TakenLimits,
    WatcherCounts,
    decode_message,
    encode_message,
)
from ttt_net.server.hub import Hub
from ttt_net.server.players import PlayerId

_CHAT, _WATCHING, _TAKEN = "rooms.chat", "rooms.watching", "limits.taken"
MOST_TAKEN = 5_000
"""Of how many players and addresses it is told at a time what they took of their limits; the rest is told next."""


class Broadcasts:
    """Tells the other nodes of this one's rooms and limits, and hears of theirs."""

    def __init__(self, hub: Hub, node: NodeName, stream: Log) -> None:
        self._hub, self._node, self._log = hub, node, stream
        self._services = hub.services
        self._watched: dict[str, int] = {}
        """How many watch here, for each match that somebody watches, as the others were told."""
        self._retold_s = self._services.loop.time()

    def start(self) -> None:
        """Pass on messages from here, and hear the other nodes."""
        self._hub.chat.pass_on = self.pass_on
        self._log.listen(_CHAT, self._chatted)
        self._log.listen(_WATCHING, self._counted)
        self._services.rate_limiter.untold = Counter()
        self._log.listen(_TAKEN, self._taken_elsewhere)

    def pass_on(self, player: PlayerId, said: wire.Chatted) -> None:
        """Tell the other nodes a line of chat."""
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
        """Tell the other nodes how many watch here, where that has changed, and all of it now and then."""
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
        if told.is_all:  # that the last has gone may have been lost
            for match, room in list(self._hub.registry.rooms.items()):
                if match not in told.matches:
                    room.joining.count_elsewhere(told.node, 0)

    def tell_taken(self) -> None:
        """Tell the other nodes what was done here of what may be done only so often, by whichever node."""
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
