"""Share one lobby among the nodes of a cluster: one of them keeps it, and the others send it requests.

The steward, which is the oldest node, keeps seeks and challenges. The others forward requests to the lobby, and its
replies to players. If a reply is lost, the player reconnects and gets the current state. The seeks of connected players
move to the next steward.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from itertools import islice

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal, UnknownOutcomeError
from ttt_net.messages import refused
from ttt_net.pairing.lobby import Lobby
from ttt_net.pairing.seeks import Seek
from ttt_net.server.cluster.log import RETELL_S, Author, Log, NodeName, Reply
from ttt_net.server.cluster.node_messages import Delivery, LobbyQuestion, StewardSeeks, decode_message, encode_message
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger
from ttt_net.server.hub import Hub
from ttt_net.server.matchmaking.listing import MAX_CROWD, ListedSeeks
from ttt_net.server.matchmaking.matchmaker import MatchmakingRequest
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.wire.connection import RemoteConnection
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

SEEKS_S = 0.2
"""How often the steward checks for changed seeks, and sends them."""
AGAIN_S, MOST_TRIES = 1.0, 5
"""The wait before repeating the request to restore a seek after a change of the steward, and the number of attempts."""
MOST_EARLY = 1_000
"""The maximal number of questions that wait until the steward has caught up with their nodes."""
_SEEKS = "lobby.seeks"
UNTOLD = 1_000
"""More than the numbers given to seeks or challenges between two lists of the steward."""


class SharedLobby:
    """Sends requests of players here to the steward; if this node is the steward, handles those of other nodes."""

    def __init__(self, hub: Hub, ledger: ReplicatedLedger, stream: Log) -> None:
        self._hub, self._ledger, self._log = hub, ledger, stream
        self._services = hub.services
        self._steward: Author | None = None
        self._seeks: dict[PlayerId, tuple[Session, wire.SeekRequest]] = {}
        """The seeks of players here that are open at another node, as they were made here."""
        self._told_seeks = ToldSeeks(hub.services.players.sessions)
        """All seeks that are open at another node."""
        self._last_told: tuple[float, bytes] = (0.0, b"")
        """As the steward: the last sent seeks, and when."""
        self._next_seeks_s = 0.0
        self._asked: dict[tuple[PlayerId, int, int], Reply] = {}
        """As the steward: the callback for the answer to each request of another node."""
        self._outbox: dict[tuple[NodeName, PlayerId, int], list[bytes]] = {}
        self._early: list[tuple[LobbyQuestion, Reply]] = []
        """As the steward: questions from nodes that have applied more of the log."""

    def start(self) -> None:
        """Accept players' requests to the lobby, and messages of the other nodes."""
        self._hub.listing.standing = self._standing
        self._hub.act_in_lobby = self._act
        self._log.answer(f"steward.{self._ledger.node}", self._asked_as_steward)
        self._log.listen(f"node.{self._ledger.node}", self._delivered)
        self._log.listen(_SEEKS, self._seeks_told)

    def answer_early(self) -> None:
        """Answer, as the steward, requests that arrived before the entries they depend on."""
        early, self._early = self._early, []
        for question, reply in early:
            self._services.guard.attempt("an early request to the lobby", partial(self._answer, question, reply))

    @property
    def unanswered(self) -> int:
        """The number of requests of other nodes that this one has not answered yet."""
        return len(self._asked)

    def forget_answers(self) -> None:
        """Drop the callbacks of players who have left."""
        for key in [key for key in self._asked if self._asker(*key[:2]) is None]:
            del self._asked[key]

    def arrived_elsewhere(self, player: PlayerId) -> None:
        """Drop the seek that a player made here before they connected to another node."""
        self._seeks.pop(player, None)

    def look_for_steward(self) -> None:
        """Hand over or take over the lobby if its node has changed, and restore the seeks of players here."""
        members = self._ledger.peers.members()
        steward = members[0] if members else None
        if steward == self._steward:
            return
        own = Author(self._ledger.node, self._ledger.epoch)
        if self._steward == own:
            self._hub.lobby.hand_over()
        self._hub.lobby.count_on(self._told_seeks.last_number)
        self._steward = steward
        self._services.feed.changed("seeks")
        if steward == own:
            self._hub.tournaments.take_over()
        if steward is None:
            return  # every node was declared lost: the seeks wait for the first to return
        seeks, self._seeks = self._seeks, {}
        for session in list(self._services.players.sessions.values()):  # made on another node
            told = None if session.is_elsewhere else self._told_seeks.of(session.player)
            if told is not None:
                seeks.setdefault(session.player, (session, _request_of(told)))
        for session, request in seeks.values():
            if self._services.players.get(session.player) is session:
                self._seek_again(session, request)

    def _seek_again(self, session: Session, request: wire.SeekRequest, tries: int = MOST_TRIES) -> None:
        if self._ledger.is_steward:
            try:
                self._hub.matchmaker.seek_again(session, request)
            except Refusal as refusal:
                log.info("a seek was dropped: %s", refusal)
            return
        self._seeks[session.player] = session, request
        answered = partial(self._answered_again, self._steward, session, request, tries - 1)
        self._ask(session, request, answered, is_again=True)

    def _answered_again(
        self, steward: Author | None, session: Session, request: wire.SeekRequest, tries: int, frames: bytes | None
    ) -> None:
        """Repeat the request to restore a seek if it was lost or too early, because its player relies on it."""
        if tries and (not frames or not _says_ok(frames)):
            self._services.loop.call_later(AGAIN_S, self._seek_once_more, steward, session, request, tries)

    def _seek_once_more(self, steward: Author | None, session: Session, request: wire.SeekRequest, tries: int) -> None:
        is_wanted = self._seeks.get(session.player) == (session, request)
        if is_wanted and steward == self._steward and self._services.players.get(session.player) is session:
            self._seek_again(session, request, tries)

    def _act(self, session: Session, request: MatchmakingRequest) -> None:
        if isinstance(request, wire.WhoRequest | wire.LobbyRequest) or self._ledger.is_steward:
            self._hub.matchmaker.act(session, request)
        else:
            self._ask(session, request, partial(self._answered, session, request, frozenset(session.live)))

    def _ask(
        self,
        session: Session,
        request: MatchmakingRequest,
        answered: Callable[[bytes | None], None],
        *,
        is_again: bool = False,
    ) -> None:
        steward = next(iter(self._ledger.peers.members()), None)
        if steward is None:
            raise _nobody_keeps_it()
        position, text = self._ledger.position, wire.encode(request)
        question = LobbyQuestion(session.player, session.serial, position, text, is_again)
        self._log.ask(f"steward.{steward.node}", encode_message(question), answered)

    def _answered(self, session: Session, request: MatchmakingRequest, before: Set[str], frames: bytes | None) -> None:
        """Forward an answer of the steward.

        If no node received the question, the player has to repeat it; if that is unknown, their connection is closed. A
        seek with a late answer may already have started a match, which is not among the previous ones. If another seek
        is open, the steward says so.
        """
        if self._services.players.get(session.player) is not session:
            return
        if not frames:
            lost = UnknownOutcomeError("the node that keeps the lobby did not answer")
            session.refuse(request.id, lost if frames is None else _nobody_keeps_it())
            return
        session.connection.send(frames)
        if isinstance(request, wire.SeekRequest | wire.UnseekRequest) and _says_ok(frames):
            self.forget_seek(session.player)
            if isinstance(request, wire.SeekRequest) and session.live <= before:
                self._seeks[session.player] = session, request

    def _delivered(self, data: bytes) -> None:
        """Deliver the steward's messages to a player here."""
        delivery = decode_message(data, Delivery)
        session = None if delivery is None else self._services.players.get(delivery.player)
        if delivery is None or session is None or session.is_elsewhere or session.serial != delivery.serial:
            return
        if delivery.closing is None:
            session.connection.send(delivery.frames)
        else:
            session.connection.close(_closing(delivery.closing), delivery.frames.decode())

    # As the steward.

    def _asked_as_steward(self, data: bytes, reply: Reply) -> None:
        question = decode_message(data, LobbyQuestion)
        if question is not None:  # otherwise the asker's timeout reports it
            self._answer(question, reply)

    def _answer(self, question: LobbyQuestion, reply: Reply) -> None:
        """Answer a question, or let it wait if its node has applied more of the log."""
        is_early = question.position > self._ledger.position
        if is_early and len(self._early) < MOST_EARLY:
            self._early.append((question, reply))
            return
        session = None if is_early else self._asker(question.player, question.serial)
        try:
            request = wire.decode_request(question.request)
        except Refusal:  # of a newer release
            reply(frame(wire.encode(refused(wire.request_id(question.request), _of_a_newer_release()))))
            return
        if session is None or not self._ledger.is_steward or not self._ledger.is_fresh:
            reply(frame(wire.encode(refused(request.id, _nobody_keeps_it()))))
            return
        key = question.player, question.serial, request.id
        is_under_way = not question.is_again and key in self._asked
        if not question.is_again:
            self._asked[key] = reply
        if is_under_way:
            return  # it was repeated because its answer took long: one answer serves both
        try:
            self._carry_out(session, request, question, reply)
        except Refusal as refusal:
            if not question.is_again:
                session.refuse(request.id, refusal)
        except Exception:  # noqa: BLE001 - an internal error in one request must not affect others
            self._services.guard.note("a request to the lobby from another node")
            if not question.is_again and not self._is_answered(session, request.id):
                session.refuse(request.id, Refusal(Code.RESTARTING, "a fault of the server kept it from doing that"))

    def _carry_out(self, session: Session, request: wire.AnyRequest, question: LobbyQuestion, reply: Reply) -> None:
        """Carry out a request of a player of another node, and charge it to their address, as that node would.

        Raises `Refusal` if the request is refused, or if the address has used up its share of this node's time.
        """
        payer, shares = session.connection, self._services.shares
        began_s, shares.payer = shares.clock_s(), payer
        try:
            if question.is_again:
                assert isinstance(request, wire.SeekRequest), "only seeks stand"
                reply(frame(wire.encode(wire.Ok(request.id))))  # even if it is rejected: this must not be repeated
                self._hub.matchmaker.seek_again(session, request)
            else:
                assert isinstance(request, MatchmakingRequest), "other nodes pass on what concerns the lobby alone"
                if not isinstance(request, wire.UnseekRequest):
                    shares.check(payer)
                self._hub.matchmaker.act(session, request)
        finally:
            shares.payer = None
            payer.charge((shares.clock_s() - began_s) * 1000)

    def _is_answered(self, session: Session, request: int) -> bool:
        """Tell whether the answer to a request of another node is among the messages of this turn."""
        assert isinstance(session.connection, RemoteConnection)
        said = self._outbox.get((session.connection.node, session.player, session.serial), ())
        messages = (wire.decode_server_message(_payload(each)) for each in said)
        return any(isinstance(each, wire.Ok | wire.Refused) and each.id == request for each in messages)

    def _asker(self, player: PlayerId, serial: int) -> Session | None:
        """Return the session of a connection to another node; None if it has ended."""
        session = self._services.players.get(player)
        return session if session is not None and session.is_elsewhere and session.serial == serial else None

    def forward(self, node: NodeName, player: PlayerId, serial: int, data: bytes, closing: Closing | None) -> None:
        """Send the lobby's messages to a player of another node at the end of this iteration of the loop."""
        if closing is not None:
            self._deliver(node, Delivery(player, serial, data, closing.value))
            return
        key = node, player, serial
        if key not in self._outbox:
            self._outbox[key] = []
            self._services.loop.call_soon(self._flush, key)
        self._outbox[key].append(data)

    def _flush(self, key: tuple[NodeName, PlayerId, int]) -> None:
        """Send the messages of one iteration together, so that the consequences of a request arrive with its reply."""
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
        self._deliver(node, Delivery(player, serial, frames, None))

    def _deliver(self, node: NodeName, delivery: Delivery) -> None:
        self._log.tell(f"node.{node}", encode_message(delivery))

    def tell_seeks(self, now_s: float) -> None:
        """Send the open seeks to the other nodes, if it is time and this node keeps them."""
        if not self._ledger.is_steward or now_s < self._next_seeks_s:
            return
        self._next_seeks_s = now_s + SEEKS_S
        told_s, before = self._last_told
        told = _seeks_of(Author(self._ledger.node, self._ledger.epoch), self._hub.lobby)
        if told != before or now_s - told_s >= RETELL_S:
            self._last_told = now_s, told
            self._log.tell(_SEEKS, told)

    def _seeks_told(self, data: bytes) -> None:
        if not self._ledger.is_steward and self._told_seeks.hear(data, self._steward):
            self._services.feed.changed("seeks", "players")

    def _standing(self) -> ListedSeeks:
        return self._hub.lobby.seeks if self._ledger.is_steward else self._told_seeks

    def forget_seek(self, player: PlayerId) -> None:
        """Record that a player has no seek any more."""
        self._seeks.pop(player, None)
        self._told_seeks.forget(player)


class ToldSeeks:
    """The steward's open seeks, as it sent them to this node; a `ListedSeeks`."""

    def __init__(self, sessions: Mapping[PlayerId, Session]) -> None:
        self._sessions = sessions
        """All connected players of the cluster; seeks of others are not listed."""
        self.last_number = 0
        """The highest number that the steward can have given; 0 before its first list."""
        self._total = 0
        self._found: dict[PlayerId, Seek] = {}
        self._hidden: dict[PlayerId, Seek] = {}

    def hear(self, data: bytes, steward: Author | None) -> bool:
        """Replace the list by a received one, and return whether it has changed.

        A list from a node other than the steward is ignored. An unreadable list clears the old one.
        """
        told = decode_message(data, StewardSeeks)
        if told is None:
            self._total = 0
            self._found.clear()
            self._hidden.clear()
            return True
        if told.by != steward:
            return False
        self._total, self.last_number = told.total, told.last + UNTOLD
        self._found = {seek.player: seek for seek in told.seeks}
        self._hidden = {seek.player: seek for seek in told.hidden}
        return True

    def forget(self, player: PlayerId) -> None:
        """Remove the seek of a player who withdrew it, or plays."""
        self._total -= self._found.pop(player, None) is not None
        self._hidden.pop(player, None)

    def __len__(self) -> int:
        return self._total

    def __iter__(self) -> Iterator[Seek]:
        return (seek for seek in self._found.values() if seek.player in self._sessions)

    def of(self, player: PlayerId) -> Seek | None:
        """Return the seek of a player, hidden or not; None if there is none."""
        return self._found.get(player) or self._hidden.get(player)


def _seeks_of(by: Author, lobby: Lobby) -> bytes:
    """Return the steward's list of seeks."""
    shown, hidden = islice(lobby.seeks, MAX_CROWD), islice(lobby.seeks.hidden(), MAX_CROWD)
    return encode_message(StewardSeeks(by, lobby.last_number, len(lobby.seeks), list(shown), list(hidden)))


def _request_of(seek: Seek) -> wire.SeekRequest:
    """Return the request that creates the same seek at another node."""
    return wire.SeekRequest(
        0,
        games=list(seek.games),
        time=seek.time,
        opponents=seek.opponents,
        rated=seek.is_rated,
        or_casual=seek.or_casual,
        min_rating=seek.min_rating,
        max_rating=seek.max_rating,
        level=seek.level,
    )


def _closing(number: int) -> Closing:
    """Return the close code with a number; for an unknown one of a newer release, the one that means "reconnect"."""
    return next((closing for closing in Closing if closing == number), Closing.RESTART)


def _nobody_keeps_it() -> Refusal:
    return Refusal(Code.RESTARTING, "the lobby is being handed over; try again in a moment", 1_000)


def _of_a_newer_release() -> Refusal:
    return Refusal(Code.RESTARTING, "the servers are being renewed, and cannot do that yet; try again later", 10_000)


def _payload(frames: bytes) -> bytes:
    """Return the payload of the first of some text frames of ours."""
    ends = {126: 4, 127: 10}.get(frames[1], 2)
    size = frames[1] if ends == 2 else int.from_bytes(frames[2:ends], "big")
    return frames[ends : ends + size]


def _says_ok(frames: bytes) -> bool:
    """Tell whether the first of some frames says that a request was carried out."""
    try:
        return isinstance(wire.decode_server_message(_payload(frames)), wire.Ok)
    except Refusal:  # of a newer release
        return False
