"""Begin and end sessions: what follows when a player is let in, and when their connection is gone."""

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.accounts.login import label_of
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.admission.filtered_words import FilteredWords
from ttt_net.server.cluster.entries import Came
from ttt_net.server.journal import token_hash
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.players import Player, PlayerId
from ttt_net.server.rooms.analysis_queue import AnalysisQueue
from ttt_net.server.rooms.coach import Coach
from ttt_net.server.services import Services
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.remote_connection import RemoteConnection
from ttt_net.text import clean

MAX_ABOUT_CELLS = 60
"""How long the line of a bot on how it plays may be."""


class SessionService:
    """Keeps one session for each connected player; a new one takes the place of the last."""

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
        """Connections of players whose coming is on its way through the log."""

    def begin(self, connection: Connection, request: wire.HelloRequest, player: Player, token: str | None) -> None:
        """Welcome a player, who is told the token if it is new; refuse one who is banned.

        In a cluster they are welcome once it is written down that they are here, and as they are at that moment.
        """
        if connection.lacks_place and not player.unfinished and not self._services.players.get(player.id):
            connection.close(Closing.FULL)
            return
        membership = self._services.membership
        if membership is None:
            self._enter(connection, request, player, token, 0)
            return
        if connection in self._arriving:
            connection.refuse(request.id, Refusal(Code.HELLO_FIRST, "say hello once, and wait for its answer"))
            return
        serial = membership.next_serial()

        def done(known: Player) -> None:
            self._arriving.discard(connection)
            self.replaced(player.id)
            if connection.is_open:
                self._enter(connection, request, known, token, serial)
            if connection.session is None:
                membership.went(player.id, serial, on_purpose=False)

        def failed(refusal: Refusal) -> None:
            self._arriving.discard(connection)
            if connection.is_open:
                connection.refuse(request.id, refusal)

        self._arriving.add(connection)
        token_key = self._services.sanctions.key_of_token(token_hash(token or request.token or ""))
        session = _session_here(connection, request, player, token_key, serial, self._services.words)
        address = self._services.sanctions.key_of_address(connection.address) or ""
        membership.came(_as_entry(session, address, self._services.wall_ms()), done, failed)

    def _enter(
        self, connection: Connection, request: wire.HelloRequest, player: Player, token: str | None, serial: int
    ) -> None:
        services = self._services
        token_key = services.sanctions.key_of_token(token_hash(token or request.token or ""))
        session = _session_here(connection, request, player, token_key, serial, services.words)
        ban = services.sanctions.on("ban", session.subject, connection.address)
        if ban:  # of an address too: it may have been banned since the handshake
            session.tell(ban.message(services.wall_ms()))
            session.refuse(request.id, ban.refusal(services.wall_ms()))
            return
        self.replaced(player.id)
        if player.is_guest:
            services.journal.seen(player.id, services.wall_ms())
        self._limiter.admitted(connection)
        services.players.add(session)
        services.feed.changed("players")
        connection.session, connection.player = session, session.player
        session.ok(request.id)
        session.tell(
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
            )
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
            "or_casual": True,  # an older server knows no such field
        }
        return [feature for feature, is_offered in offered.items() if is_offered]

    def begin_elsewhere(self, session: Session) -> None:
        """Take note of a player who is connected to another node of the cluster from now on."""
        self.replaced(session.player)
        self._services.players.add(session)
        self._services.feed.changed("players")
        self._matchmaker.seek_of(session)  # it is withdrawn if they came back as another kind, or full
        self._matchmaker.returned(session)

    def replaced(self, player: PlayerId) -> None:
        """End the session of a player who has come again, here or elsewhere."""
        before = self._services.players.get(player)
        if before:
            if not before.is_elsewhere:  # else their node closes the connection, where it hears of the same
                before.connection.close(Closing.REPLACED)
            self.end(before, is_replaced=True)

    def end(self, session: Session, *, is_replaced: bool = False) -> None:
        """Remove a player whose connection is gone from the lobby, and from every match that they heard.

        `is_replaced`: a new connection of the player took its place.
        """
        if self._services.players.remove(session):
            membership = self._services.membership
            if membership is not None and not session.is_elsewhere and not is_replaced:
                membership.went(session.player, session.serial, on_purpose=session.connection.left_on_purpose)
            self._matchmaker.leave(session)
            self._services.feed.unsubscribe(session)
            self._services.feed.changed("players")
        for match_id in list(session.rooms):
            self._registry.leave(session, match_id, is_replaced=is_replaced)


def session_elsewhere(came: Came, player: Player, connection: RemoteConnection) -> Session:
    """Return the session of a player who is connected to another node."""
    info = wire.PlayerInfo(player.name, came.bot, came.level)
    session = _session(connection, player, info, came.token_key, came.serial)
    if came.places is not None:
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
    )
