"""One server of a cluster: what the others write happens here too, and the lobby is asked where it is kept.

Every node has in memory what is shared: who is connected, to whichever node, and the matches that one of them hears.
The steward, the node that has been there for the longest, keeps seeks and challenges; the others send it what is asked
of the lobby, and pass on what it says. That may be lost on the way: then the player is asked to try again.
"""

import logging
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice

import msgspec

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.messages.codec import refused
from ttt_net.server.accounts.session import Session
from ttt_net.server.accounts.session_service import session_elsewhere
from ttt_net.server.admin.moderation import end_sanction, put_in_force
from ttt_net.server.admission.rate_limiter import TOLD
from ttt_net.server.cluster.entries import Author, BeginEpoch, Came, DeclareLost, NodeName, Sat, Went
from ttt_net.server.cluster.log import Log, Reply
from ttt_net.server.cluster.replica import EntryOutcome, Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.cluster.told_seeks import ToldSeeks, request_of, tell_seeks
from ttt_net.server.hub import Hub
from ttt_net.server.journal import entries
from ttt_net.server.matchmaking.listing import ListedSeeks
from ttt_net.server.matchmaking.matchmaker import MatchmakingRequest
from ttt_net.server.players import Player, PlayerId
from ttt_net.server.wire.frames import frame
from ttt_net.server.wire.remote_connection import RemoteConnection

log = logging.getLogger(__name__)

TICK_S = 0.1
"""How often what waits is looked at."""
SEEKS_S = 0.2
"""How often the node that keeps the lobby looks whether its seeks have changed, and tells them."""
CUT_OFF_S = 6.0
"""After so long without contact the node sends its players away: elsewhere they can play on."""
AGAIN_S, MOST_TRIES = 1.0, 5
"""When it is asked again that a seek stand which stood with the last steward, and how often it is asked at the most."""
_SEEKS = "lobby.seeks"
_CHAT, _WATCHING, _TAKEN = "rooms.chat", "rooms.watching", "limits.taken"
MOST_TAKEN = 5_000
"""Of how many players and addresses it is told at a time what they took of their limits; the rest is told next."""
RETELL_S = 5.0
"""How often it is told again how many watch here, and which seeks stand: it may have been lost, or a node is new."""


class _Question(msgspec.Struct, frozen=True):
    """What a player asks of the lobby, on its way to the steward."""

    player: PlayerId
    serial: int
    position: int
    """Up to where the asker's node had applied the log: it is not answered from less."""
    request: bytes
    is_again: bool
    """Whether it is a seek that stood with the last steward, and nobody waits for an answer."""


class _Delivery(msgspec.Struct, frozen=True):
    """What the steward has to say to a player of another node."""

    player: PlayerId
    serial: int
    frames: bytes
    closing: int | None


class _Said(msgspec.Struct, frozen=True):
    """A line of chat, on its way to those who hear the match on other nodes."""

    node: NodeName
    player: PlayerId
    said: bytes


class _Watching(msgspec.Struct, frozen=True):
    """How many watch matches on a node."""

    node: NodeName
    matches: dict[str, int]
    is_all: bool = False
    """Whether nobody watches any other match there."""


class _Taken(msgspec.Struct, frozen=True):
    """What players and addresses took of their limits on a node since it was told last."""

    node: NodeName
    counts: list[tuple[str, int | str, int]]


class ClusterNode:
    """Brings together a server and its ledger; see the module."""

    def __init__(self, hub: Hub, ledger: ReplicatedLedger, stream: Log, replica: Replica) -> None:
        self._hub, self._ledger, self._log, self._replica = hub, ledger, stream, replica
        self._services = hub.services
        self._steward: Author | None = None
        self._seeks: dict[PlayerId, tuple[Session, wire.SeekRequest]] = {}
        """The seeks of players here that stand at another node, as they made them here."""
        self._told_seeks = ToldSeeks(hub.services.players.sessions)
        """All that stand at another node."""
        self._last_told: tuple[float, bytes] = (0.0, b"")
        """As the steward: when which seeks were told last."""
        self._next_seeks_s = 0.0
        self._asked: dict[tuple[PlayerId, int, int], Reply] = {}
        """As the steward: what takes the answer to each request of another node."""
        self._outbox: dict[tuple[NodeName, PlayerId, int], list[bytes]] = {}
        self._early: list[tuple[_Question, Reply]] = []
        """As the steward: questions that know more of the log than we."""
        self._watched: dict[str, int] = {}
        """How many watch here, for each match that somebody watches, as the others were told."""
        self._retold_s = self._in_touch_s = self._services.loop.time()

    def start(self) -> None:
        """Take part: follow the log from where the tables stand."""
        for node, came, player in self._replica.connected(self._services.wall_ms()):
            if node != self._ledger.node:  # our own were lost with our last process
                self._came(node, came, player)
        for session in list(self._services.players.sessions.values()):
            for match in sorted(session.live):
                self._hub.registry.room(match).seat_elsewhere(session)
        self._hub.listing.standing = self._standing
        self._hub.lobby_desk = self._act_in_lobby
        self._hub.chat.pass_on = self._pass_on
        self._log.listen(_CHAT, self._chatted)
        self._log.listen(_WATCHING, self._counted)
        self._services.rate_limiter.untold = Counter()
        self._log.listen(_TAKEN, self._taken_elsewhere)
        self._log.answer(f"steward.{self._ledger.node}", self._asked_as_steward)
        self._log.listen(f"node.{self._ledger.node}", self._delivered)
        self._log.listen(_SEEKS, self._seeks_told)
        self._ledger.start(NodeHooks(self._heard, self._began, self._ended))
        self._tick()

    def _tick(self) -> None:
        self._services.loop.call_later(TICK_S, self._tick)
        self._hub.release()
        early, self._early = self._early, []
        for question, reply in early:
            self._answer(question, reply)
        now_s = self._services.loop.time()
        if self._ledger.is_fresh:
            self._in_touch_s = now_s
        elif now_s - self._in_touch_s > CUT_OFF_S:
            self._in_touch_s = now_s
            self._send_away()
        if self._ledger.is_steward and now_s >= self._next_seeks_s:
            self._next_seeks_s = now_s + SEEKS_S
            self._tell_seeks(now_s)
        self._tell_counts(now_s)
        self._tell_taken()

    # What the others write.

    def _heard(self, outcome: EntryOutcome, author: Author) -> None:
        entry, services = outcome.entry, self._services
        match entry:
            case entries.AppendEvents():
                self._hub.registry.hear(entry, outcome.names, outcome.result)
                for player in entry.seats or ():
                    self._forget_seek(player)
            case Came() | Sat() | Went():
                self._heard_of_player(entry, outcome, author)
            case BeginEpoch() | DeclareLost():
                node = author.node if isinstance(entry, BeginEpoch) else entry.node
                for room in list(self._hub.registry.rooms.values()):
                    room.count_elsewhere(node, 0)
                for player in outcome.result:
                    session = services.players.get(player)
                    if session is not None and self._is_at(session, node):
                        self._excuse(session)
                        self._hub.sessions.end(session)
                self._look_for_steward()
            case entries.RenamePlayer():
                self._hub.accounts.renamed(entry.player, entry.name)
            case entries.ForgetPlayer():
                self._hub.accounts.forgotten(entry.player, entry.token_key)
            case entries.ForgetGuests():
                for guest in outcome.result:
                    self._hub.accounts.forgotten(guest)
            case entries.KeepInvitation():
                self._hub.lobby.reinstate([entry.invitation])
            case entries.ImposeSanction():
                put_in_force(services, entry.sanctions)
            case entries.AppointModerator() | entries.DismissModerator():
                self._hub.moderators_changed(entry)
            case entries.LiftSanction():
                end_sanction(services, entry.act, entry.whom, entry.player)
            case entries.ForgetSanctions():
                for ended in outcome.result:
                    services.sanctions.ran_out(*ended)
            case _:
                pass  # what is in the tables alone

    def _heard_of_player(self, entry: Came | Sat | Went, outcome: EntryOutcome, author: Author) -> None:
        session = self._services.players.get(entry.player)
        is_theirs = session is not None and self._is_at(session, author.node) and session.serial == entry.serial
        if author.node == self._ledger.node:
            if isinstance(entry, Came):  # it was given up, and came about after all
                self._hub.sessions.replaced(entry.player)
                self._ledger.append(Went(entry.player, entry.serial), _unheard, _unheard)
        elif isinstance(entry, Came):
            self._came(author.node, entry, outcome.result)
        elif session is not None and is_theirs:
            if isinstance(entry, Sat):
                self._hub.registry.room(entry.match).seat_elsewhere(session)
            else:
                assert isinstance(session.connection, RemoteConnection)
                session.connection.left_on_purpose = entry.on_purpose
                self._hub.sessions.end(session)

    def _is_at(self, session: Session, node: NodeName) -> bool:
        return isinstance(session.connection, RemoteConnection) and session.connection.node == node

    def _came(self, node: NodeName, came: Came, player: Player) -> None:
        forward = partial(self._forward, node, came.player, came.serial)
        now_s = self._services.loop.time()
        connection = RemoteConnection(node, came.address, now_s, forward, is_metered=came.is_metered)
        self._seeks.pop(came.player, None)
        session = session_elsewhere(came, player, connection)
        connection.session = session
        self._hub.sessions.begin_elsewhere(session)

    def _excuse(self, session: Session) -> None:
        """Charge a player whose node was lost nothing of this turn: they may have moved, and nobody heard of it."""
        now_ms = self._services.now_ms()
        for match_id in session.rooms:
            room = self._hub.registry.rooms.get(match_id)
            match = room.match if room else None
            if room is not None and match is not None and match.clock is not None:
                side = room.seats.side_of(session.player)
                if side is not None and match.clock.running == side:
                    match.count_from(now_ms)

    # This node's own fate.

    def _began(self) -> None:
        log.info("node %s is one of the cluster, epoch %d", self._ledger.node, self._ledger.epoch)
        self._in_touch_s = self._services.loop.time()

    def _ended(self) -> None:
        self._send_away()
        self._look_for_steward()

    def _send_away(self) -> None:
        """Close all connections with the code that means: come back, elsewhere if you can."""
        for connection in list(self._services.connections):
            connection.close(Closing.RESTART)
            if isinstance(connection.session, Session):
                self._hub.sessions.end(connection.session)

    # What is said and seen in rooms; lost now and then.

    def _pass_on(self, player: PlayerId, said: wire.Chatted) -> None:
        self._log.tell(_CHAT, msgspec.json.encode(_Said(self._ledger.node, player, wire.encode(said))))

    def _chatted(self, data: bytes) -> None:
        line = msgspec.json.decode(data, type=_Said)
        message = wire.decode_server_message(line.said)
        if line.node != self._ledger.node and isinstance(message, wire.Chatted):
            self._hub.chat.hear(line.player, message)

    def _tell_counts(self, now_s: float) -> None:
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
            self._log.tell(_WATCHING, msgspec.json.encode(_Watching(self._ledger.node, counts, is_all)))

    def _counted(self, data: bytes) -> None:
        told = msgspec.json.decode(data, type=_Watching)
        if told.node == self._ledger.node:
            return
        for match, count in told.matches.items():
            room = self._hub.registry.rooms.get(match)
            if room is not None:
                room.count_elsewhere(told.node, count)
        if told.is_all:  # that the last has gone may have been lost
            for match, room in list(self._hub.registry.rooms.items()):
                if match not in told.matches:
                    room.count_elsewhere(told.node, 0)

    def _tell_taken(self) -> None:
        """Tell the other nodes what was done here of what may be done only so often, by whichever node."""
        untold = self._services.rate_limiter.untold
        if untold:
            counts = [(act, holder, untold.pop((act, holder))) for act, holder in list(islice(untold, MOST_TAKEN))]
            self._log.tell(_TAKEN, msgspec.json.encode(_Taken(self._ledger.node, counts)))

    def _taken_elsewhere(self, data: bytes) -> None:
        told = msgspec.json.decode(data, type=_Taken)
        if told.node != self._ledger.node:
            for act, holder, count in told.counts:
                if act in TOLD:
                    self._services.rate_limiter.taken_elsewhere(act, holder, count)

    # The lobby.

    def _look_for_steward(self) -> None:
        """Hand over, or take over, if another node keeps the lobby now; seeks of players here stand with it again."""
        members = self._ledger.members()
        steward = members[0] if members else None
        if steward == self._steward:
            return
        own = Author(self._ledger.node, self._ledger.epoch)
        if self._steward == own:
            self._hub.lobby.hand_over()
        self._hub.lobby.count_on(self._told_seeks.last_number)
        self._steward = steward
        self._services.feed.changed("seeks")
        if steward is None:
            return  # every node was declared lost: the seeks wait for the first that is back
        seeks, self._seeks = self._seeks, {}
        for session in list(self._services.players.sessions.values()):  # made on another node, before they came here
            told = None if session.is_elsewhere else self._told_seeks.of(session.player)
            if told is not None:
                seeks.setdefault(session.player, (session, request_of(told)))
        for session, request in seeks.values():
            if self._services.players.get(session.player) is session:
                self._seek_again(session, request)

    def _seek_again(self, session: Session, request: wire.SeekRequest, tries: int = MOST_TRIES) -> None:
        if self._ledger.is_steward:
            try:
                self._hub.matchmaker.seek_again(session, request)
            except Refusal as refusal:
                log.info("a seek does not stand any more: %s", refusal)
            return
        self._seeks[session.player] = session, request
        answered = partial(self._answered_again, self._steward, session, request, tries - 1)
        self._ask(session, request, answered, is_again=True)

    def _answered_again(
        self, steward: Author | None, session: Session, request: wire.SeekRequest, tries: int, frames: bytes | None
    ) -> None:
        """Ask again for a seek to stand, if that was lost, or came before its time: its player counts on it."""
        if tries and (frames is None or not _says_ok(frames)):
            self._services.loop.call_later(AGAIN_S, self._seek_once_more, steward, session, request, tries)

    def _seek_once_more(self, steward: Author | None, session: Session, request: wire.SeekRequest, tries: int) -> None:
        is_wanted = self._seeks.get(session.player) == (session, request)
        if is_wanted and steward == self._steward and self._services.players.get(session.player) is session:
            self._seek_again(session, request, tries)

    def _act_in_lobby(self, session: Session, request: MatchmakingRequest) -> None:
        if isinstance(request, wire.WhoRequest | wire.LobbyRequest) or self._ledger.is_steward:
            self._hub.matchmaker.act(session, request)
        else:
            self._ask(session, request, partial(self._answered, session, request))

    def _ask(
        self,
        session: Session,
        request: MatchmakingRequest,
        answered: Callable[[bytes | None], None],
        *,
        is_again: bool = False,
    ) -> None:
        steward = next(iter(self._ledger.members()), None)
        if steward is None:
            raise _nobody_keeps_it()
        position, text = self._ledger.position, wire.encode(request)
        question = _Question(session.player, session.serial, position, text, is_again)
        self._log.ask(f"steward.{steward.node}", msgspec.json.encode(question), answered)

    def _answered(self, session: Session, request: MatchmakingRequest, frames: bytes | None) -> None:
        """Pass an answer of the steward on; without one, the player is to ask again."""
        if self._services.players.get(session.player) is not session:
            return
        if frames is None:
            session.refuse(request.id, _nobody_keeps_it())
            return
        session.connection.send(frames)
        if isinstance(request, wire.SeekRequest | wire.UnseekRequest) and _says_ok(frames):
            self._forget_seek(session.player)
            if isinstance(request, wire.SeekRequest):
                self._seeks[session.player] = session, request

    def _delivered(self, data: bytes) -> None:
        """Pass on what the steward has to say to a player here."""
        delivery = msgspec.json.decode(data, type=_Delivery)
        session = self._services.players.get(delivery.player)
        if session is None or session.is_elsewhere or session.serial != delivery.serial:
            return
        if delivery.closing is None:
            session.connection.send(delivery.frames)
        else:
            session.connection.close(_closing(delivery.closing), delivery.frames.decode())

    # The lobby, as its keeper.

    def _asked_as_steward(self, data: bytes, reply: Reply) -> None:
        self._answer(msgspec.json.decode(data, type=_Question), reply)

    def _answer(self, question: _Question, reply: Reply) -> None:
        if question.position > self._ledger.position:
            self._early.append((question, reply))
            return
        session = self._services.players.get(question.player)
        request = wire.decode_request(question.request)
        is_known = session is not None and session.is_elsewhere and session.serial == question.serial
        if session is None or not is_known or not self._ledger.is_steward or not self._ledger.is_fresh:
            reply(frame(wire.encode(refused(request.id, _nobody_keeps_it()))))
            return
        try:
            if question.is_again:
                assert isinstance(request, wire.SeekRequest), "only seeks stand"
                reply(frame(wire.encode(wire.Ok(request.id))))  # also if it may not stand: that is not to be repeated
                self._hub.matchmaker.seek_again(session, request)
                return
            key = question.player, question.serial, request.id
            is_under_way = key in self._asked
            self._asked[key] = reply
            if is_under_way:
                return  # it was asked again, as its answer took so long: that is the answer to both
            self._hub.matchmaker.act(session, request)  # type: ignore[arg-type]
        except Refusal as refusal:
            if not question.is_again:
                session.refuse(request.id, refusal)

    def _forward(self, node: NodeName, player: PlayerId, serial: int, data: bytes, closing: Closing | None) -> None:
        """Send a player of another node what the lobby has to say, once this turn of the loop is over."""
        if closing is not None:
            self._deliver(node, _Delivery(player, serial, data, closing.value))
            return
        key = node, player, serial
        if key not in self._outbox:
            self._outbox[key] = []
            self._services.loop.call_soon(self._flush, key)
        self._outbox[key].append(data)

    def _flush(self, key: tuple[NodeName, PlayerId, int]) -> None:
        """Send what was said in one turn: what follows the answer to a request goes with that answer."""
        node, player, serial = key
        send: Reply = partial(self._tell, node, player, serial)
        together = b""
        for each in self._outbox.pop(key):
            message = wire.decode_server_message(_payload(each))
            if isinstance(message, wire.Ok | wire.Refused) and message.id is not None:
                reply = self._asked.pop((player, serial, message.id), None)
                if reply is not None:
                    if together:
                        send(together)
                    send, together = reply, b""
            together += each
        send(together)

    def _tell(self, node: NodeName, player: PlayerId, serial: int, frames: bytes) -> None:
        self._deliver(node, _Delivery(player, serial, frames, None))

    def _deliver(self, node: NodeName, delivery: _Delivery) -> None:
        self._log.tell(f"node.{node}", msgspec.json.encode(delivery))

    def _tell_seeks(self, now_s: float) -> None:
        told_s, before = self._last_told
        told = tell_seeks(Author(self._ledger.node, self._ledger.epoch), self._hub.lobby)
        if told != before or now_s - told_s >= RETELL_S:
            self._last_told = now_s, told
            self._log.tell(_SEEKS, told)

    def _seeks_told(self, data: bytes) -> None:
        if not self._ledger.is_steward and self._told_seeks.hear(data, self._steward):
            self._services.feed.changed("seeks", "players")

    def _standing(self) -> ListedSeeks:
        return self._hub.lobby.seeks if self._ledger.is_steward else self._told_seeks

    def _forget_seek(self, player: PlayerId) -> None:
        self._seeks.pop(player, None)
        self._told_seeks.forget(player)


def _closing(number: int) -> Closing:
    return next(closing for closing in Closing if closing == number)


def _nobody_keeps_it() -> Refusal:
    return Refusal(Code.RESTARTING, "the lobby is being handed over; try again in a moment", 1_000)


def _payload(frames: bytes) -> bytes:
    """Return what is in the first of some text frames of ours."""
    ends = {126: 4, 127: 10}.get(frames[1], 2)
    size = frames[1] if ends == 2 else int.from_bytes(frames[2:ends], "big")
    return frames[ends : ends + size]


def _says_ok(frames: bytes) -> bool:
    """Tell whether the first of some frames says that a request was carried out."""
    return isinstance(wire.decode_server_message(_payload(frames)), wire.Ok)


def _unheard(_: object) -> None:
    """Do nothing with the answer."""
