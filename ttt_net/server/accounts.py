"""Log players in by `hello`, begin and end their sessions, and carry out requests about their accounts.

`AccountService` renames and forgets players; `HistoryService` answers questions about past matches.
"""

import base64
from collections.abc import Callable
from functools import partial
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.catalogue import SWAP, outside
from ttt_net.games.rules import is_always_casual, never_rated
from ttt_net.matches.description import checked_mistake, day_of
from ttt_net.names import TRIES, checked_name, is_like_an_office, made_up_name
from ttt_net.names.filtered import FilteredWords
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.cluster.log import Came
from ttt_net.server.journal import Asker, PastQuestion, queries, token_hash
from ttt_net.server.journal.entries import KeepMistake
from ttt_net.server.journal.past import PastAnswer
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.matchmaking.tournament_service import Tournaments
from ttt_net.server.online_players import Session
from ttt_net.server.players import FORGOTTEN, MAX_MISTAKES, Player, PlayerId, still_playing
from ttt_net.server.rooms.coach import AnalysisQueue, Coach
from ttt_net.server.services import Services
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.connection import Connection, RemoteConnection
from ttt_net.text import clean, name_key

Admit = Callable[[Connection, wire.HelloRequest, Player, str | None], None]
"""Called with an admitted player: their connection, hello, player, and the token if it is new."""

MIN_TOKEN = 32
"""The shortest token that a client may choose: 192 bits, if it is base64."""
_TOKEN_BYTES = 32
MAX_ABOUT_CELLS = 60
"""The longest line in which a bot describes how it plays."""


class Login:
    """Logs players in, one `hello` per connection at a time."""

    def __init__(self, services: Services, admit: Admit) -> None:
        self._services = services
        self._admit = admit
        self._entering: set[Connection] = set()

    def enter(self, connection: Connection, request: wire.AnyRequest) -> None:
        """Log a player in by token, or a new one by name. The reply follows the journal's answer."""
        if not isinstance(request, wire.HelloRequest) or connection in self._entering:
            raise Refusal(Code.HELLO_FIRST, "say hello first, and wait for its answer")
        if wire.PROTOCOL not in request.protocols:
            theirs = ", ".join(map(str, request.protocols))
            raise Refusal(Code.BAD_PROTOCOL, f"this server speaks protocol {wire.PROTOCOL}, this client {theirs}")
        if request.token:
            self._entering.add(connection)
            found, failed = partial(self._found, connection, request), partial(self._failed, connection, request)
            now_ms = self._services.wall_ms()
            self._services.journal.find(request.token, self._label(request), now_ms, found, failed)
        else:
            self._let_in(connection, request)

    def _found(self, connection: Connection, request: wire.HelloRequest, found: Player | None) -> None:
        """Answer a `hello` that has a token. If it is unknown and a name is given, register a new player with it."""
        if found is not None:
            self._entered(connection, request, None, found)
            return
        try:
            if request.name is None or not connection.is_open:
                raise Refusal(Code.UNKNOWN_TOKEN, "this server does not know that token; say hello with a name")
            self._let_in(connection, request)
        except Refusal as refusal:
            self._failed(connection, request, refusal)

    def _let_in(self, connection: Connection, request: wire.HelloRequest) -> None:
        if connection.lacks_place:
            connection.close(Closing.FULL)
            return
        name = None if request.name is None else checked_here(request.name, self._services, connection.metered_as)
        if request.token and len(request.token) < MIN_TOKEN:
            raise Refusal(Code.UNKNOWN_TOKEN, f"a token for a new player has {MIN_TOKEN} to 80 random characters")
        sanctions = self._services.sanctions
        ban = sanctions.on_token("ban", sanctions.key_of_token(token_hash(request.token))) if request.token else None
        if ban:
            raise ban.refusal(self._services.wall_ms())
        if name is None and not self._services.limits.allow_guests:
            raise Refusal(Code.NO_GUESTS, "guests are not allowed here; send hello with a name")
        self._services.rate_limiter.spend_of_address("registrations", connection.metered_as)
        self._entering.add(connection)
        self._register(connection, request, name, tries=TRIES)

    def _register(self, connection: Connection, request: wire.HelloRequest, name: str | None, tries: int) -> None:
        """Register a new player. Without a name, register a guest under a free one."""
        token = request.token or self._new_token()
        is_guest = name is None

        def failed(refusal: Refusal) -> None:
            if is_guest and refusal.code is Code.NAME_TAKEN and tries > 1 and connection.is_open:
                self._register(connection, request, None, tries - 1)
            else:
                self._failed(connection, request, refusal)

        registered = partial(self._entered, connection, request, None if request.token else token)
        chosen = name or made_up_name(self._services.rng, TRIES - tries)
        now_ms = self._services.wall_ms()
        label = self._label(request)
        self._services.journal.register(chosen, token, label, now_ms, registered, failed, is_guest=is_guest)

    def _label(self, request: wire.HelloRequest) -> str | None:
        return label_of(request, self._services.words)

    def _entered(self, connection: Connection, request: wire.HelloRequest, token: str | None, found: Player) -> None:
        self._entering.discard(connection)
        if connection.is_open:
            self._admit(connection, request, found, token)

    def _failed(self, connection: Connection, request: wire.HelloRequest, refusal: Refusal) -> None:
        self._entering.discard(connection)
        connection.refuse(request.id, refusal)

    def _new_token(self) -> str:
        return base64.urlsafe_b64encode(self._services.rng.randbytes(_TOKEN_BYTES)).rstrip(b"=").decode()


def checked_here(typed: str, services: Services, address: str | None) -> str:
    """Return a name in the form in which it is stored. Raises `Refusal` if it is not allowed.

    Rejected names are counted by address, since a check costs up to 50 times as much as a `ping`.
    """
    services.rate_limiter.check_of_address("mistakes", address)
    try:
        name = name_here(typed, services.limits)
        services.words.check_name(name)
    except Refusal:
        services.rate_limiter.spend_of_address("mistakes", address)
        raise
    return name


def name_here(typed: str, limits: Limits) -> str:
    """Return a name in the form in which it is stored. Raises `Refusal` with the rule if it is not allowed."""
    shown = clean(typed, wire.MAX_NAME_CELLS) if limits.free_names else ""
    return shown if shown and name_key(shown) != FORGOTTEN else checked_name(typed)


def label_of(request: wire.HelloRequest, words: FilteredWords) -> str | None:
    """Return the label of a bot as others see it; None for people.

    A label that reads like an official role, or contains a filtered word, becomes `bot`.
    """
    if request.bot is None:
        return None
    label = clean(request.bot, wire.MAX_NAME_CELLS)
    return label if label and not is_like_an_office(label) and not words.has(label) else "bot"


class SessionService:
    """Keeps one session for each connected player. A new session replaces the previous one."""

    def __init__(
        self,
        services: Services,
        registry: MatchRegistry,
        matchmaker: Matchmaker,
        limiter: ConnectionLimiter,
        analysis: AnalysisQueue,
        coach: Coach,
    ) -> None:
        self._services = services
        self._registry = registry
        self._matchmaker = matchmaker
        self._limiter = limiter
        self._analysis = analysis
        self._coach = coach
        self._arriving: set[Connection] = set()
        """Connections of players whose arrival is not in the log of the cluster yet."""

    def begin(self, connection: Connection, request: wire.HelloRequest, player: Player, token: str | None) -> None:
        """Begin the session of a player, and send them the token if it is new. Refuse a banned player.

        In a cluster the session begins once the arrival is in the log, with the player as they are at that moment.
        """
        if connection.lacks_place and not player.unfinished and not self._services.players.get(player.id):
            connection.close(Closing.FULL)
            return
        secret = token or request.token
        assert secret is not None, "a player is new, or known by a token"
        token_key = self._services.sanctions.key_of_token(token_hash(secret))
        membership = self._services.membership
        if membership is None:
            self._enter(connection, request, player, token, token_key, 0)
            return
        if connection in self._arriving:
            connection.refuse(request.id, Refusal(Code.HELLO_FIRST, "say hello once, and wait for its answer"))
            return
        serial = membership.next_serial()

        def done(known: Player) -> None:
            self._arriving.discard(connection)
            self.replaced(player.id)
            if connection.is_open:
                self._enter(connection, request, known, token, token_key, serial)
            if connection.session is None:
                membership.went(player.id, serial, on_purpose=False)

        def failed(refusal: Refusal) -> None:
            self._arriving.discard(connection)
            connection.refuse(request.id, refusal)

        self._arriving.add(connection)
        session = _session_here(connection, request, player, token_key, serial, self._services.words)
        address = self._services.sanctions.key_of_address(connection.address) or ""
        membership.came(_as_entry(session, address, self._services.wall_ms()), done, failed)

    def _enter(
        self,
        connection: Connection,
        request: wire.HelloRequest,
        player: Player,
        token: str | None,
        token_key: str,
        serial: int,
    ) -> None:
        services = self._services
        session = _session_here(connection, request, player, token_key, serial, services.words)
        ban = services.sanctions.on("ban", session.subject, connection.address)
        if ban:  # the address may have been banned since the handshake
            session.tell(ban.message(services.wall_ms()))
            session.refuse(request.id, ban.refusal(services.wall_ms()))
            return
        self.replaced(player.id)
        if player.is_guest:
            services.journal.seen(player.id, services.wall_ms())
        self._limiter.admitted(connection)
        services.players.add(session)
        connection.session, connection.player = session, session.player
        session.ok(
            request.id,
            wire.Welcome(
                protocol=wire.PROTOCOL,
                server=services.name,
                you=session.info,
                matches=list(player.unfinished),
                token=token,
                seek=self._matchmaker.seek_of(session),
                chat=services.limits.allow_chat,
                features=self._features(),
                nodes=services.membership.urls() if services.membership else [],
                games=_added_games(services.configuration.games.rated),
            ),
        )
        mute = services.sanctions.on("mute", session.subject, connection.address)
        if mute:
            session.tell(mute.message(services.wall_ms()))
        notice = services.shutdown.notice()
        if notice:
            session.tell(notice)
        self._matchmaker.returned(session)

    def _features(self) -> list[str]:
        limits = self._services.limits
        offered = {
            "chat": limits.allow_chat,
            "guests": limits.allow_guests,
            "analyse": self._analysis.is_open,
            "hint": self._coach.is_open,
            "puzzle": True,
            "study": True,
            "mistakes": True,
            "seats": True,
            "blocks": True,
            "tournaments": True,
            "organise": limits.allow_tournaments,
            "or_casual": True,  # an older node does not know the field
        }
        return [feature for feature, is_offered in offered.items() if is_offered]

    def begin_elsewhere(self, session: Session) -> None:
        """Add a player who has connected to another node of the cluster."""
        self.replaced(session.player)
        self._services.players.add(session)
        self._matchmaker.seek_of(session)  # withdrawn if they returned as another kind, or without a free place
        self._matchmaker.returned(session)

    def replaced(self, player: PlayerId) -> None:
        """End the previous session of a player who has reconnected, here or elsewhere."""
        before = self._services.players.get(player)
        if before:
            if not before.is_elsewhere:  # otherwise the other node closes the connection
                before.connection.close(Closing.REPLACED)
            self.end(before, is_replaced=True)

    def end(self, session: Session, *, is_replaced: bool = False) -> None:
        """Remove a disconnected player from the lobby and from every match they received.

        `is_replaced`: a new connection of the player took its place.
        """
        if self._services.players.remove(session):
            membership = self._services.membership
            if membership is not None and not session.is_elsewhere and not is_replaced:
                membership.went(session.player, session.serial, on_purpose=session.connection.left_on_purpose)
            self._matchmaker.leave(session)
            self._services.feed.unsubscribe(session)
        for match_id in list(session.rooms):
            self._registry.leave(session, match_id, is_replaced=is_replaced)


def session_elsewhere(came: Came, player: Player, connection: RemoteConnection) -> Session:
    """Return a session for a player who is connected to another node."""
    info = wire.PlayerInfo(player.name, came.bot, came.level)
    session = _session(connection, player, info, came.token_key, came.serial)
    session.offer_places(came.places, came.reserved)
    session.describe(any_level=came.any_level, on_request=came.on_request, about=came.about)
    return session


def _as_entry(session: Session, address: str, now_ms: int) -> Came:
    return Came(
        session.player,
        session.serial,
        session.subject.token_key,
        now_ms,
        address,
        session.info.bot,
        session.info.level,
        session.places,
        session.reserved,
        session.any_level,
        session.on_request,
        session.about,
        session.connection.metered_as is not None,
    )


def _session_here(
    connection: Connection,
    request: wire.HelloRequest,
    player: Player,
    token_key: str,
    serial: int,
    words: FilteredWords,
) -> Session:
    label = label_of(request, words)
    info = wire.PlayerInfo(player.name, label, request.level if label else None)
    session = _session(connection, player, info, token_key, serial)
    if session.is_bot:
        session.offer_places(1 if request.places is None else request.places, request.reserved)
        about = clean(request.about or "", MAX_ABOUT_CELLS) or None
        session.describe(
            any_level=request.any_level,
            on_request=request.on_request,
            about=None if about and words.has(about) else about,
        )
    return session


def _session(
    connection: Connection | RemoteConnection, player: Player, info: wire.PlayerInfo, token_key: str, serial: int
) -> Session:
    return Session(
        connection,
        player.id,
        info,
        player.ratings,
        is_guest=player.is_guest,
        unfinished=player.unfinished,
        token_key=token_key,
        serial=serial,
        blocks=player.blocks,
    )


def _added_games(rated: tuple[str, ...]) -> list[wire.AddedGame]:
    """Return the games of other packages, as sent to clients."""
    added = outside()
    return [
        wire.AddedGame(name, game.title, game.rule, swap=name + SWAP in added, rated=name in rated)
        for name, game in added.items()
        if not name.endswith(SWAP)
    ]


AccountRequest = wire.RenameRequest | wire.ForgetRequest | wire.LearnRequest
PastRequest = (
    wire.ProfileRequest
    | wire.HistoryRequest
    | wire.LeaderboardRequest
    | wire.ReplayRequest
    | wire.RecordRequest
    | wire.BlocksRequest
    | wire.MistakesRequest
)


class AccountService:
    """Carries out the requests. Each is answered once it is in the journal."""

    def __init__(
        self,
        services: Services,
        registry: MatchRegistry,
        matchmaker: Matchmaker,
        sessions: SessionService,
        tournaments: Tournaments,
    ) -> None:
        self._services = services
        self._tournaments = tournaments
        self._registry = registry
        self._matchmaker = matchmaker
        self._sessions = sessions

    def act(self, session: Session, request: AccountRequest) -> None:
        """Carry out one request. Raises `Refusal` if it is not allowed."""
        match request:
            case wire.RenameRequest():
                self._rename(session, request)
            case wire.ForgetRequest():
                self._forget(session, request)
            case wire.LearnRequest():
                self._learn(session, request)
            case _:
                assert_never(request)

    def _rename(self, session: Session, request: wire.RenameRequest) -> None:
        self._tournaments.must_keep_name(session)
        self._services.rate_limiter.check("renames", session.player)
        name = checked_here(request.name, self._services, session.connection.metered_as)
        self._services.rate_limiter.spend("renames", session.player, session.connection.metered_as)

        def done() -> None:
            session.ok(request.id)
            self.renamed(session.player, name)

        self._services.journal.rename(session.player, name, done, partial(session.refuse, request.id))

    def _forget(self, session: Session, request: wire.ForgetRequest) -> None:
        if name_key(request.name) != name_key(session.info.name):
            raise Refusal(Code.BAD_NAME, f"to be forgotten, say your own name once more: {session.info.name}")
        if session.player in self._services.players.leaving:
            raise Refusal(Code.TOO_FAST, "you are being forgotten already; the connection ends when it is done", 1_000)
        if session.live:
            raise still_playing(len(session.live))

        def failed(refusal: Refusal) -> None:
            self._services.players.leaving.discard(session.player)
            session.refuse(request.id, refusal)

        def done() -> None:
            self._services.players.leaving.discard(session.player)
            session.ok(request.id)
            self.forgotten(session.player, session.subject.token_key)

        self._services.players.leaving.add(session.player)
        self._registry.withdraw(session.player)  # a match that begins now would keep their name
        self._services.journal.forget(session.subject, done, failed)

    def _learn(self, session: Session, request: wire.LearnRequest) -> None:
        """Store a mistake of the player, or their progress with one; `ok` follows once it is in the journal."""
        limiter, address = self._services.rate_limiter, session.connection.metered_as
        limiter.spend("lessons", session.player, address)
        limiter.may_write(address, is_new=True)
        mistake = checked_mistake(request.mistake, day_of(self._services.wall_ms()))
        limiter.wrote(address, len(wire.encode(request)))
        self._services.journal.keep_mistake(
            KeepMistake(session.player, mistake, MAX_MISTAKES),
            partial(session.ok, request.id),
            partial(session.refuse, request.id),
        )

    def renamed(self, player: PlayerId, name: str) -> None:
        """Show a player under a name that this node or another one of the cluster has written, and send it to them."""
        self._show_as(player, name)
        self._tell_name(player)

    def _show_as(self, player: PlayerId, name: str) -> None:
        services = self._services
        services.players.rename(player, name)
        self._registry.renamed(player, name)
        services.sanctions.renamed(player, name)
        services.feed.changed("seeks", "players", "live")

    def _tell_name(self, player: PlayerId) -> None:
        """Send a player their new name if they are connected here, also after a reconnection."""
        session = self._services.players.get(player)
        if session is not None and not session.is_elsewhere:
            session.tell(wire.Renamed(session.info))

    def forgotten(self, player: PlayerId, token_key: str | None = None) -> None:
        """Remove a deleted player's name wherever it is shown, and close their connection."""
        self._services.sanctions.forgotten(player, token_key)
        self._show_as(player, FORGOTTEN)
        self._matchmaker.invitations.forget(player)
        session = self._services.players.get(player)
        if session:
            self._registry.withdraw(player)
            session.connection.close(Closing.FORGOTTEN)
            self._sessions.end(session)


class HistoryService:
    """Answers queries about past matches: one at a time for each player, at a limited rate."""

    def __init__(self, services: Services, registry: MatchRegistry) -> None:
        self._services = services
        self._registry = registry
        self._asking: dict[PlayerId, tuple[Session, PastQuestion]] = {}
        """The question that each player waits for, and the session that asked it."""

    def act(self, session: Session, request: PastRequest) -> None:
        """Query the archive; the reply comes later. Raises `Refusal` if the player queries too often."""
        self._meter(session)

        def done(answer: PastAnswer) -> None:
            del self._asking[session.player]
            session.ok(request.id, answer.data)

        def failed(refusal: Refusal) -> None:
            del self._asking[session.player]
            session.refuse(request.id, refusal)

        if session.player in self._asking:  # with a connection that this one has replaced
            self.left(self._asking[session.player][0])
        asker = Asker(session.player, session.connection.metered_as)
        question = PastQuestion(self._query(session, request), asker, done, failed)
        self._asking[session.player] = session, question
        try:
            self._services.archive.ask(question)
        except Refusal:
            del self._asking[session.player]
            raise

    def left(self, session: Session) -> None:
        """Drop the question of a session that has ended."""
        asked = self._asking.get(session.player)
        if asked is not None and asked[0] is session:
            self._services.archive.cancel(self._asking.pop(session.player)[1])

    def _query(self, session: Session, request: PastRequest) -> queries.PastQuery:
        asker = session.player
        match request:
            case wire.ProfileRequest():
                other = session if request.name is None else self._services.players.find(request.name)
                online, live = (other.info, self._registry.live_of(other)) if other else (None, [])
                now_ms = self._services.wall_ms()
                return queries.ProfileQuery(request, asker, online, live, now_ms)
            case wire.HistoryRequest():
                game = None if request.game is None else game_name(request.game)
                return queries.HistoryQuery(request.name, game, request.before, asker)
            case wire.LeaderboardRequest():
                game = game_name(request.game)
                if is_always_casual(game, self._services.configuration.games.rated):
                    raise Refusal(Code.ALWAYS_CASUAL, never_rated(game))
                return queries.LeaderboardQuery(request, game, asker, self._services.wall_ms())
            case wire.ReplayRequest():
                return queries.ReplayQuery(request, asker, request.match in session.rooms)
            case wire.RecordRequest():
                return queries.RecordQuery(request, asker)
            case wire.BlocksRequest():
                return queries.BlocksQuery(asker)
            case wire.MistakesRequest():
                return queries.MistakesQuery(request, asker, day_of(self._services.wall_ms()).isoformat())
            case _:
                assert_never(request)

    def _meter(self, session: Session) -> None:
        asking = self._asking.get(session.player)
        if asking is not None and asking[0] is session:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)
