"""Who is here and who plays: every request of every client passes through, and goes to whom it concerns.

Knows connections as things that can be sent to and closed. All of it runs on the event loop's thread, and nothing
in it waits: what takes time (the journal) answers through a callback.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Set
from functools import partial

from msgspec.structs import replace as restruct
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.accounts.account_service import AccountRequests as RegistrarRequest
from ttt_net.server.accounts.account_service import AccountService
from ttt_net.server.accounts.history_service import HistoryRequests as ArchiveRequest
from ttt_net.server.accounts.history_service import HistoryService
from ttt_net.server.accounts.login import Login, label_of
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.guard import Guard
from ttt_net.server.journal import Journal
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.matchmaking.shutdown_notice import COME_BACK_MS, ShutdownNotice
from ttt_net.server.metrics import Metrics
from ttt_net.server.players import FORGOTTEN, Player, PlayerId
from ttt_net.server.rooms.analysis_queue import AnalysisQueue
from ttt_net.server.rooms.chat import Chat
from ttt_net.server.rooms.chat import ChatRequests as ChatRequest
from ttt_net.server.rooms.room import RoomRequest as TableRequest
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame
from ttt_net.server.wire.http import HEALTH, answer_http, turn_away
from ttt_net.server.wire.turn_queue import TurnQueue
from ttt_net.text import clean

_HARMLESS = wire.PingRequest | wire.HelloRequest | wire.MatchesRequest | ArchiveRequest | wire.AnalyseRequest
"""What is answered while the server is about to stop: it changes nothing."""


class Hub:
    """The owner of connections and sessions; the tables are the hall's."""

    def __init__(
        self, journal: Journal, configuration: Configuration, now_ms: Callable[[], int], rng: random.Random
    ) -> None:
        self.journal = journal
        self.configuration = configuration
        self.name = clean(configuration.title, 40)
        self.limits = configuration.limits
        self.meters = Metrics()
        self.guard = Guard(self.meters)
        self.turns = TurnQueue()
        self.now_ms = now_ms
        self.sessions: dict[PlayerId, Session] = {}
        self.starting: Counter[PlayerId] = Counter()
        """How many matches of a player are being written down; he may come again meanwhile, as another session."""
        self.roster = OnlinePlayers()
        self.emptied = asyncio.Event()
        """Set while draining, once the last connection is gone."""
        self.quotas = RateLimiter(configuration.limits, now_ms)
        self.sanctions = Sanctions(now_ms)
        self._gate = ConnectionLimiter(configuration, self.quotas, self.sanctions, lambda: len(self._connections))
        self._entrance = Login(journal, self.quotas, self.limits, now_ms, self._welcome)
        self._reception = Matchmaker(self, rng)
        self._chat = Chat(self)
        self._archive = HistoryService(self)
        self._registrar = AccountService(self)
        self.analyst = AnalysisQueue(self)
        offered = {"chat": self.limits.allow_chat, "guests": self.limits.allow_guests, "analyse": self.analyst.is_open}
        self._features = [feature for feature, is_offered in offered.items() if is_offered]
        listing = self._reception.listing
        self.noticeboard = LobbyFeed(
            {"seeks": listing.seeks, "players": listing.players, "live": listing.live}, now_ms, self.guard
        )
        self._hall = MatchRegistry(self, self._reception)
        self.tables = self._hall.tables
        self._connections: set[Connection] = set()
        self._is_draining = False
        self._last_call = ShutdownNotice(now_ms)

    def census(self) -> tuple[int, int]:
        """Return how many players are connected, and how many matches they play."""
        matches = (table.match for table in self.tables.values())
        return len(self.sessions), sum(match is not None and not match.is_over for match in matches)

    # Connections.

    def is_shut_to(self, peer: str) -> bool:
        """Tell whether a connection from that address is to be dropped before anything is made of it; it is counted."""
        reason = self._gate.shut_to(peer)
        if reason:
            self.meters.accepted += 1
            self.meters.endings[reason] += 1
        return reason is not None

    def opened(self, connection: Connection, peer: str) -> None:
        """Count the connection from that address; far above a limit, drop it at once."""
        self._connections.add(connection)
        self.meters.accepted += 1
        self._gate.arrive(connection, peer)

    def flooded(self, connection: Connection) -> None:
        """Count the flood against the address."""
        self._gate.flooded(connection)

    def closed(self, connection: Connection) -> None:
        """Let go of the connection, and of the session that it was."""
        self._connections.discard(connection)
        self._gate.leave(connection)
        self._entrance.forget(connection)
        if isinstance(connection.session, Session):
            self._end(connection.session)
            connection.session = None
        if self._is_draining and not self._connections:
            self.emptied.set()

    @property
    def connections(self) -> Set[Connection]:
        """All connections, with or without a player."""
        return self._connections

    def answer_http(self, connection: Connection, request: Request, protocol: ServerProtocol) -> Response | None:
        """Answer what is no WebSocket handshake, or one too many."""
        turned_away = self._gate.identify(connection, request.headers.get_all("X-Forwarded-For"))
        if turned_away and request.path != HEALTH:  # whoever looks after the server still sees that it lives
            return turn_away(turned_away)
        return answer_http(request, self.configuration.origins, is_closed=self._is_draining)

    def tick(self, now_s: float) -> None:
        """Look after every connection; to be called about once a second."""
        for connection in list(self._connections):
            self.guard.attempt("looking after a connection", partial(connection.tick, now_s), connection.abort)
        self.guard.attempt("reception", self._reception.tick)
        self.guard.attempt("noticeboard", self.noticeboard.tick)

    # Requests.

    def received(self, connection: Connection, text: str) -> None:
        """Carry out one request; it gets exactly one answer."""
        session = connection.session
        self.meters.requests += 1
        try:
            wait_ms = connection.meter()
            if wait_ms:
                raise Refusal(Code.TOO_FAST, f"too many messages: {self.limits.messages} (limits.messages)", wait_ms)
            self.quotas.share("messages", connection.metered_as)
            said = wire.decode_request(text)
            if isinstance(session, Session):
                self._act(session, said)
            elif self._is_draining:
                raise Refusal(Code.RESTARTING, "the server is about to restart; come back in a moment", COME_BACK_MS)
            else:
                self._entrance.enter(connection, said)
        except Refusal as refusal:
            connection.refuse(wire.request_id(text), refusal)

    def _act(self, session: Session, said: wire.AnyRequest) -> None:
        if self._is_draining and not isinstance(said, _HARMLESS):
            raise Refusal(Code.RESTARTING, "the server is about to restart; your match is safe", COME_BACK_MS)
        if isinstance(said, TableRequest):  # which is nearly everything that is said
            table = self.tables.get(said.match) or self._hall.fetched(session, said.match)
            table.request(session, said)
        elif isinstance(said, wire.PingRequest):
            session.ok(said.id)
        elif isinstance(said, wire.HelloRequest):
            raise Refusal(Code.HELLO_FIRST, "you have said hello on this connection already")
        elif isinstance(said, wire.MatchesRequest):
            session.ok(said.id)
            session.connection.send(self.noticeboard.frame("live"))
        elif isinstance(said, ArchiveRequest):
            self._archive.act(session, said)
        elif isinstance(said, wire.AnalyseRequest):
            self.analyst.act(session, said)
        elif isinstance(said, ChatRequest):
            self._chat.act(session, said)
        elif isinstance(said, RegistrarRequest):
            self._registrar.act(session, said)
        else:
            self._reception.act(session, said)

    def _welcome(self, connection: Connection, said: wire.HelloRequest, player: Player, token: str | None) -> None:
        ban = self.sanctions.of("ban", player.id) or self.sanctions.ban_of_address(connection.address)
        if ban:  # of an address too: it may have been banned since the handshake
            connection.refuse(said.id, Refusal(Code.BANNED, ban.sentence(), ban.left_ms(self.now_ms())))
            return
        before = self.sessions.get(player.id)
        if before:
            before.connection.close(Closing.REPLACED)
            self._end(before)
        info = wire.PlayerInfo(player.name, label_of(said), said.level if label_of(said) else None)
        session = Session(connection, player.id, info, player.ratings, is_guest=player.is_guest)
        if session.is_bot:
            session.places = 1 if said.places is None else said.places
            session.reserved = said.reserved
        session.live.update(player.unfinished)
        self.sessions[player.id] = session
        if player.is_guest:
            self.journal.seen(player.id, self.now_ms())
        self._gate.admitted(connection)
        self.roster.add(session)
        self.noticeboard.changed("players")
        connection.session = session
        session.ok(said.id)
        session.tell(
            wire.Welcome(
                protocol=wire.PROTOCOL,
                server=self.name,
                you=session.info,
                matches=list(player.unfinished),
                token=token,
                seek=self._reception.seek_of(session),
                chat=self.limits.allow_chat,
                features=self._features,
            )
        )
        notice = self._last_call.notice()
        if notice:
            session.tell(notice)
        self._reception.returned(session)

    def _end(self, session: Session) -> None:
        if self.sessions.get(session.player) is session:
            del self.sessions[session.player]
            self.roster.remove(session)
            self._reception.leave(session)
            self.noticeboard.unsubscribe(session)
            self.noticeboard.changed("players")
        for match_id in list(session.tables):
            self._hall.leave(session, match_id)

    # What the others ask of the hub.

    def seat(self, started: wire.Started, seats: tuple[PlayerId, PlayerId]) -> None:
        """Open the table of a match that has been written down."""
        self._hall.seat(started, seats)

    def live_of(self, session: Session) -> list[str]:
        """Return the ids of his public live matches."""
        return self._hall.live_of(session)

    def occupied(self, session: Session) -> int:
        """Return how many matches keep a player busy."""
        return self._hall.occupied(session)

    def renamed(self, player: PlayerId, name: str) -> None:
        """Let the player be called `name` wherever he is."""
        session = self.sessions.get(player)
        if session:
            self.roster.remove(session)
            session.info = restruct(session.info, name=name)
            session.is_guest = False
            self.roster.add(session)
        for table in self.tables.values():
            table.rename(player, name)
        self.sanctions.renamed(player, name)
        self.noticeboard.changed("seeks", "players", "live")

    def forgotten(self, player: PlayerId) -> None:
        """Let nobody call the player by his name any more, and send him away."""
        self.sanctions.forgotten(player)
        self.renamed(player, FORGOTTEN)
        self._reception.invitations.forget(player)
        session = self.sessions.get(player)
        if session:
            self._reception.withdraw(session)
            session.connection.close(Closing.FORGOTTEN)
            self._end(session)

    def is_leaving(self, player: PlayerId) -> bool:
        """Tell whether it is being written down that the player is to be forgotten."""
        return self._registrar.is_leaving(player)

    def leaving(self, session: Session) -> None:
        """Let nobody be paired with a player who is about to be forgotten."""
        self._reception.withdraw(session)

    def recall(self) -> None:
        """Make good what was promised before a restart and is not of a match: invitations."""
        self._reception.invitations.recall()

    def may_begin(self) -> None:
        """Refuse a new match while a restart is counted down to, or under way."""
        if self._is_draining:
            raise Refusal(Code.RESTARTING, "the server is about to restart; come back in a moment", COME_BACK_MS)
        self._last_call.check()

    def announce(self, text: str) -> None:
        """Show a line to everybody."""
        self._tell_all(wire.Notice(text, self._last_call.left_ms()))

    def count_down(self, left_ms: int) -> None:
        """Tell everybody how long it is until the restart; begin no match from now on."""
        self._tell_all(self._last_call.begin(left_ms))

    def stay(self) -> None:
        """Tell everybody; begin matches again. Who was put off and does not play is sent round once, to ask again."""
        self._last_call.call_off()
        self.announce("The restart was called off.")
        for session in list(self.sessions.values()):
            if not session.live:
                session.connection.close(Closing.RESTART)

    # The end.

    def drain(self) -> None:
        """Tell every client that the server restarts, and start nothing new."""
        self._is_draining = True
        self._tell_all(wire.Restarting(COME_BACK_MS))

    def _tell_all(self, message: wire.ServerMessage) -> None:
        told = frame(wire.encode(message))
        for session in self.sessions.values():
            session.connection.send(told)

    def close_all(self) -> None:
        """Close every connection with the code that means: come back and resume; `emptied` is set at the end."""
        if not self._connections:
            self.emptied.set()
        for connection in list(self._connections):
            connection.close(Closing.RESTART)

    def abort_all(self) -> None:
        """Drop the connections that have not closed by now."""
        for connection in list(self._connections):
            connection.abort()
