"""Dispatch every event of a connection and every request of a client to the responsible part.

The hub only sends to connections and closes them. Everything runs on the event loop's thread, and nothing waits: slow
parts (the journal) answer through callbacks.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from typing import assert_never

from msgspec import Struct
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.matches.analyses import describe_study
from ttt_net.matches.description import day_of, describe_puzzle, describe_rules
from ttt_net.pairing.lobby import Lobby
from ttt_net.server.accounts import (
    AccountRequest,
    AccountService,
    HistoryService,
    Login,
    PastRequest,
    SessionService,
)
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.http_api import PREFIX, HttpApi
from ttt_net.server.journal.entries import AppointModerator, DismissModerator
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.listing import Listing
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker, MatchmakingRequest
from ttt_net.server.matchmaking.tournament_service import TournamentRequest, Tournaments
from ttt_net.server.online_players import Session
from ttt_net.server.readiness import COME_BACK_MS
from ttt_net.server.rooms.chat import Chat, SocialRequest
from ttt_net.server.rooms.coach import AnalysisQueue, Coach
from ttt_net.server.rooms.room import MatchRoom, RoomRequest
from ttt_net.server.services import Services
from ttt_net.server.wire.connection import Connection, LaterAnswer
from ttt_net.server.wire.http import (
    HEALTH,
    PUZZLES,
    READY,
    YEAR_S,
    Asset,
    TurnedAway,
    answer_http,
    coming_puzzles,
    find_asset,
    invitation_code,
    own_pages,
    turn_away,
)
from ttt_net.server.wire.previews import match_at, preview

_SingleRequest = (
    wire.MatchesRequest
    | wire.HintRequest
    | wire.AnalyseRequest
    | wire.RulesRequest
    | wire.PuzzleRequest
    | wire.StudyRequest
    | wire.HelloRequest
)
"""Requests in the union of no service, other than pings; mypy fails for a request that is in none at all."""
_HARMLESS = (
    PastRequest
    | wire.PingRequest
    | wire.HelloRequest
    | wire.MatchesRequest
    | wire.RulesRequest
    | wire.AnalyseRequest
    | wire.PuzzleRequest
    | wire.StudyRequest
)
"""Requests that the server answers while it is about to stop: they change nothing."""

_URGENT: frozenset[type[wire.AnyRequest]] = frozenset(
    {
        wire.PlayRequest,
        wire.PingRequest,
        wire.ResumeRequest,
        wire.ResignRequest,
        wire.AbortRequest,
        wire.OfferRequest,
        wire.DeclineRequest,
        wire.ClaimRequest,
        wire.UnseekRequest,
    }
)
"""Requests that continue a match or end something. They are cheap or have separate limits, so players whose address has
used up its share of computing time may still send them."""

REST_S = 1.0
"""How long to stop reading a connection of a player without a match after rejecting a request because of its share."""
_OVER_WITH_ADDRESS = 9
"""How many frames a frame of an address over its limit counts as.

So a group that floods together is closed as early as a single flooder.
"""

MAX_HELD = 4_096
"""Requests that a node of a cluster holds while it has no contact with the others."""
MOST_HELD_MS = 5_000
"""How long each is held."""

_OVER_RULES = 4
"""How many additional queries a request for rules counts as, because the first one creates a large board."""

_LOOKED_AFTER = 25
"""The number of connections checked in one iteration: pinging each takes 0.3 ms, and pinging 2,000 takes 24 ms."""

_LATE_S = 0.1
"""The tolerated delay of a check of all connections."""


def _not_in_touch() -> Refusal:
    return Refusal(Code.RESTARTING, "this server has lost touch with the others; come back in a moment", 1_000)


class Hub:
    """The owner of connections. The parts that it builds carry out their requests."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.limits = services.limits
        self.metrics = services.metrics
        self.now_ms = services.now_ms
        self.turns = services.turns
        self.shares = services.shares
        services.journal.charge_to(services.shares)
        configuration = services.configuration
        self._stays_encrypted = configuration.public and configuration.tls.cert is not None
        """Whether to send HSTS, which tells browsers to use only TLS; a proxy in front does that itself."""
        self._own_pages = own_pages(
            configuration.public_url, is_encrypted=configuration.tls.is_on, behind_proxy=configuration.behind_proxy
        )._replace(rated=configuration.games.rated, title=services.name)
        self.emptied = asyncio.Event()
        """Set while draining, once the last connection has closed."""
        self.limiter = ConnectionLimiter(
            services.configuration,
            services.rate_limiter,
            services.shares,
            services.sanctions,
            services.connections,
            self._is_idle,
            services.now_ms,
            is_hashing=services.membership is not None,
        )
        rooms: dict[str, MatchRoom] = {}
        eligibility = Eligibility(services, rooms)
        self.lobby = lobby = Lobby(
            services.rng, services.players.rating_of, eligibility.may_be_paired, eligibility.are_rivals
        )
        eligibility.standing = lambda: lobby.seeks
        self.listing = listing = Listing(services, rooms, lobby, eligibility)
        services.feed.publish({"seeks": listing.seeks, "players": listing.players, "live": listing.live})
        self.registry = MatchRegistry(services, rooms, eligibility, lobby)
        self.coach = Coach(services, rooms)
        self.analysis = AnalysisQueue(services, self.coach)
        self._rooms = rooms
        self.tournaments = Tournaments(services, self.registry, eligibility)
        self.matchmaker = Matchmaker(services, self.registry, lobby, eligibility, listing)
        self.act_in_lobby: Callable[[Session, MatchmakingRequest], None] = self.matchmaker.act
        """Carries out requests to the lobby, in a cluster on the node that keeps it."""
        self.moderators_changed: Callable[[AppointModerator | DismissModerator], None] = lambda _: None
        """Called with the host's changes on another node of the cluster, if there is a listener for admins."""
        self.chat = Chat(services, rooms)
        self.chat.parted = self.matchmaker.blocks_changed
        self.chat.is_quiet = self.tournaments.is_quiet
        self._history = HistoryService(services, self.registry)
        self.sessions = SessionService(
            services, self.registry, self.matchmaker, self.limiter, self.analysis, self.coach
        )
        self.accounts = AccountService(services, self.registry, self.matchmaker, self.sessions, self.tournaments)
        self._login = Login(services, self.sessions.begin)
        self.api = HttpApi(services, self.registry, self._is_closed, self._secured)
        self._to_look_after: list[Connection] = []
        """Connections that the last tick has not reached yet."""
        self._held: deque[tuple[Connection, str, int]] = deque()
        """Requests, with their time, that arrived while this node of a cluster was out of touch with the log."""

    def census(self) -> tuple[int, int]:
        """Return how many people are connected, and how many matches are live."""
        return self.services.players.people, sum(room.is_live for room in self._rooms.values())

    def recall(self) -> None:
        """Read the invitations and tournaments from before a restart."""
        self.matchmaker.invitations.recall()
        self.tournaments.recall()

    def settings_changed(self, keys: Collection[str]) -> None:
        """Update values derived from these settings; everything else reads settings when needed."""
        limits = {key.partition("limits.")[2] for key in keys}
        self.services.rate_limiter.rates_changed(limits)
        if "work" in limits:
            self.shares.limits_changed()
        self.limiter.limits_changed()

    # Connections.

    def is_shut_to(self, peer: str) -> bool:
        """Tell whether to drop a connection from an address before allocating anything for it, and count it."""
        reason = self.limiter.shut_to(peer)
        if reason:
            self.metrics.accepted += 1
            self.metrics.endings[reason] += 1
        return reason is not None

    def _is_idle(self, connection: Connection) -> bool:
        """Tell whether the client neither plays, watches nor seeks a match."""
        session = connection.session
        if not isinstance(session, Session):
            return session is None and not connection.has_said_hello
        return not (session.live or session.rooms or self.lobby.seeks.of(session.player))

    def opened(self, connection: Connection, peer: str) -> None:
        """Count the connection from an address; far above a limit, drop it immediately."""
        self.services.connections[connection] = None
        self.metrics.accepted += 1
        self.limiter.arrive(connection, peer)

    def meter(self, connection: Connection) -> None:
        """Count one frame against its connection and its address."""
        wait_ms, limiter = connection.meter(), self.services.rate_limiter
        if connection.metered_as is None and not wait_ms:
            return
        try:
            if wait_ms:
                limiter.check_share("messages", connection.metered_as)
            else:
                limiter.share("messages", connection.metered_as)
        except Refusal:
            connection.meter(_OVER_WITH_ADDRESS)
            raise
        if wait_ms:
            raise Refusal(Code.TOO_FAST, f"too many messages: {self.limits.messages} (limits.messages)", wait_ms)

    def flooded(self, connection: Connection) -> None:
        """Count the flood against the address."""
        self.limiter.flooded(connection)

    def closing(self, connection: Connection) -> None:
        """End the session, so that nobody is paired with a player who is leaving."""
        session = connection.session
        if isinstance(session, Session):
            self._history.left(session)
            self.tournaments.left(session)
            self.sessions.end(session)
            connection.session = None

    def closed(self, connection: Connection) -> None:
        """Release the connection and its session."""
        self.services.connections.pop(connection, None)
        self.limiter.leave(connection)
        self.closing(connection)
        if self.services.shutdown.is_draining and not self.services.connections:
            self.emptied.set()

    @property
    def unready(self) -> str | None:
        """Why new players should connect elsewhere, for people; None if they are welcome."""
        services = self.services
        if services.shutdown.left_ms() is not None:
            return "the server is about to restart"
        if not services.sanctions.are_read:
            return "bans and mutes are not in force yet"
        return services.journal.health().trouble or services.disk.fullness

    def read_page(self) -> None:
        """Read the files of the page."""
        find_asset("/", self._own_pages)

    def answer_http(
        self, connection: Connection, request: Request, protocol: ServerProtocol
    ) -> Response | LaterAnswer | None:
        """Answer a plain HTTP request, or a handshake beyond a limit; return None for an accepted handshake."""
        turned_away = self.limiter.identify(connection, request.headers.get_all("X-Forwarded-For"))
        if turned_away and request.path not in (HEALTH, READY):  # so a monitor still sees that the server lives
            return turn_away(turned_away)
        if "Upgrade" not in request.headers:
            if connection.lacks_place and request.path not in (HEALTH, READY):
                return turn_away(self.limiter.full())
            try:
                self.shares.check(connection)
            except Refusal as refusal:
                return turn_away(TurnedAway(429, str(refusal), -(-(refusal.retry_after_ms or 0) // 1000)))
            if request.path.startswith(PREFIX):
                return self.api.answer(connection, request)
        origins = self.services.configuration.origins
        code = invitation_code(request)
        preview = self._preview(code, connection.metered_as) if code else None
        membership = self.services.membership
        is_ready = request.path.partition("?")[0] != READY or self.unready is None
        nodes = membership.known_urls() if membership else ()
        answer = answer_http(
            request,
            origins,
            self._own_pages,
            preview,
            is_closed=self._is_closed(),
            is_ready=is_ready,
            nodes=nodes,
            made=self._made_for(request.path) if "Upgrade" not in request.headers else None,
        )
        return answer and self._secured(answer)

    def _preview(self, code: str, address: str | None) -> Struct | None:
        """Return what a code leads to, for its link: of a tournament, at most that only guests play in it."""
        if self.tournaments.has(code):
            return self.tournaments.preview(code, address)
        return self.matchmaker.invitations.preview(code, address)

    def _made_for(self, target: str) -> Asset | None:
        """Return what the server makes for an address in place of a file: the next puzzles, or a preview of a link."""
        if target == PUZZLES:
            return coming_puzzles(day_of(self.services.wall_ms()))
        match_id = match_at(target)
        room = self._rooms.get(match_id) if match_id else None
        match = room.match if room is not None and room.match is not None and not room.match.is_private else None
        return preview(target, match, self._own_pages)

    def _is_closed(self) -> bool:
        """Tell whether nothing may start here, temporarily or permanently."""
        membership = self.services.membership
        return self.services.shutdown.is_draining or (membership is not None and membership.is_aside)

    def _secured(self, answer: Response) -> Response:
        """Add the headers of all answers of this server."""
        if self._stays_encrypted:
            answer.headers["Strict-Transport-Security"] = f"max-age={YEAR_S}"
        return answer

    def excuse(self, late_s: float) -> None:
        """Excuse all peers after a pause of this process: everybody gets a fresh period to answer."""
        if late_s > _LATE_S:
            for connection in self.services.connections:
                connection.excuse(late_s)

    def tick(self, now_s: float) -> None:
        """Check every connection, the lobby and its lists. Call this about once a second."""
        guard = self.services.guard
        if not self._to_look_after:
            self._to_look_after = list(self.services.connections)
            self._look_after_some(now_s)
        guard.attempt("disk space", self.services.disk.look)
        guard.attempt("filtered words", self.services.words.look)
        guard.attempt("matchmaker", self.matchmaker.tick)
        guard.attempt("lobby feed", self.services.feed.tick)
        guard.attempt("streams", partial(self.api.tick, now_s))
        guard.attempt("tournaments", self.tournaments.tick)

    def _look_after_some(self, now_s: float) -> None:
        """Check the next few connections, and the others in further iterations, between requests."""
        for connection in self._to_look_after[-_LOOKED_AFTER:]:
            if connection in self.services.connections:
                look = partial(connection.tick, now_s)
                self.services.guard.attempt("looking after a connection", look, connection.abort)
        del self._to_look_after[-_LOOKED_AFTER:]
        if self._to_look_after:
            self.turns.join(partial(self._look_after_some, now_s), "connections")

    # Requests.

    def received(self, connection: Connection, text: str, came_ms: int | None = None) -> None:
        """Carry out one request, which gets exactly one answer. `came_ms`: when it arrived, if it was held."""
        membership = self.services.membership
        if membership is not None and came_ms is None and (self._held or not membership.is_fresh):
            self._hold(connection, text)
            return
        session, shares = connection.session, self.shares
        self.metrics.requests += 1
        shares.payer = connection
        try:
            self.meter(connection)
            request = wire.decode_request(text)
            if type(request) not in _URGENT:
                self._check_share(connection, request)
            if isinstance(session, Session):
                self._dispatch(session, request, came_ms)
            elif self.services.shutdown.is_draining:
                raise Refusal(Code.RESTARTING, "the server is about to restart; come back in a moment", COME_BACK_MS)
            else:
                connection.hold()
                self._login.enter(connection, request)
        except Refusal as refusal:
            connection.refuse(wire.request_id(text), refusal)
        finally:
            shares.payer = None

    def _check_share(self, connection: Connection, request: wire.AnyRequest) -> None:
        """Reject a request of a peer whose share of computing time is used up; such a request counts as many frames.

        The first `hello` of a connection is accepted, so that players dropped by a neighbour's flood can return.
        """
        if isinstance(request, wire.HelloRequest) and not connection.has_said_hello:
            connection.has_said_hello = True
            return
        try:
            self.shares.check(connection)
        except Refusal:
            connection.meter(_OVER_WITH_ADDRESS)
            if not (isinstance(connection.session, Session) and connection.session.live):
                connection.rest(REST_S)
            raise

    def _hold(self, connection: Connection, text: str) -> None:
        """Hold a request until this node has the other nodes' writes; reject it if too many are held."""
        if len(self._held) < MAX_HELD:
            self._held.append((connection, text, self.now_ms()))
        else:
            connection.refuse(wire.request_id(text), _not_in_touch())

    def release(self) -> None:
        """Carry out held requests if this node is fresh again; reject those that have waited too long."""
        membership = self.services.membership
        while self._held and membership is not None:
            connection, text, came_ms = self._held[0]
            is_late = self.now_ms() - came_ms > MOST_HELD_MS
            if not membership.is_fresh and not is_late:
                return
            self._held.popleft()
            if not connection.is_open:  # it was replaced or disconnected meanwhile
                continue
            if is_late:
                connection.refuse(wire.request_id(text), _not_in_touch())
            else:
                self.received(connection, text, came_ms)

    def _dispatch(self, session: Session, request: wire.AnyRequest, came_ms: int | None) -> None:
        """Pass a request to the service whose union contains it; common ones first."""
        if self.services.shutdown.is_draining and not isinstance(request, _HARMLESS):
            raise Refusal(Code.RESTARTING, "the server is about to restart; your match is safe", COME_BACK_MS)
        if isinstance(request, RoomRequest):
            room = self._rooms.get(request.match) or self.registry.fetched(session, request.match)
            room.request(session, request, came_ms)
        elif isinstance(request, wire.PingRequest):
            session.ok(request.id)
        elif isinstance(request, MatchmakingRequest):
            if isinstance(request, wire.JoinRequest) and self.tournaments.has(request.code):
                self.tournaments.join(session, request.id, request.code)
            else:
                self.act_in_lobby(session, request)
        elif isinstance(request, TournamentRequest):
            self.tournaments.act(session, request)
        elif isinstance(request, SocialRequest):
            self.chat.act(session, request)
        elif isinstance(request, PastRequest):
            self._history.act(session, request)
        elif isinstance(request, AccountRequest):
            self.accounts.act(session, request)
        else:
            self._dispatch_single(session, request)

    def _dispatch_single(self, session: Session, request: _SingleRequest) -> None:
        """Carry out a request that belongs to no union of a service."""
        match request:
            case wire.MatchesRequest():
                session.ok(request.id)
                self.services.feed.show(session, "live")
            case wire.HintRequest():
                self.coach.act(session, request)
            case wire.AnalyseRequest():
                self.analysis.act(session, request)
            case wire.RulesRequest():
                self._meter_inquiry(session)
                self.services.rate_limiter.share("inquiries", session.connection.metered_as, _OVER_RULES)
                rules = describe_rules(request.game)
                session.ok(request.id, rules)
            case wire.PuzzleRequest():
                self._meter_inquiry(session)
                if request.own is not None:
                    self.services.rate_limiter.share("inquiries", session.connection.metered_as, _OVER_RULES)
                puzzle = describe_puzzle(request, day_of(self.services.wall_ms()))
                session.ok(request.id, puzzle)
            case wire.StudyRequest():
                self._meter_inquiry(session)
                self.services.rate_limiter.share("inquiries", session.connection.metered_as, _OVER_RULES)
                study = describe_study(request, day_of(self.services.wall_ms()))
                session.ok(request.id, study)
            case wire.HelloRequest():
                raise Refusal(Code.HELLO_FIRST, "you have said hello on this connection already")
            case _:
                assert_never(request)

    def _meter_inquiry(self, session: Session) -> None:
        self.services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)

    # The end.

    def close_all(self, closing: Closing = Closing.RESTART) -> None:
        """Close every connection, by default with the code that asks clients to reconnect; then set `emptied`."""
        if not self.services.connections:
            self.emptied.set()
        for connection in list(self.services.connections):
            connection.close(closing)

    def abort_all(self) -> None:
        """Drop the connections that have not closed yet."""
        for connection in list(self.services.connections):
            connection.abort()
