"""Begin and end sessions: what follows when a player is let in, and when their connection is gone."""

from ttt_net import messages as wire
from ttt_net.errors import Closing
from ttt_net.server.accounts.login import label_of
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.admission.filtered_words import FilteredWords
from ttt_net.server.journal import token_hash
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.players import Player
from ttt_net.server.rooms.analysis_queue import AnalysisQueue
from ttt_net.server.rooms.coach import Coach
from ttt_net.server.services import Services
from ttt_net.server.wire.connection import Connection
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

    def begin(self, connection: Connection, request: wire.HelloRequest, player: Player, token: str | None) -> None:
        """Welcome a player, who is told the token if it is new; refuse one who is banned."""
        services = self._services
        token_key = services.sanctions.key_of_token(token_hash(token or request.token or ""))
        session = _session(connection, request, player, token_key, services.words)
        ban = services.sanctions.on("ban", session.subject, connection.address)
        if ban:  # of an address too: it may have been banned since the handshake
            session.tell(ban.message(services.wall_ms()))
            session.refuse(request.id, ban.refusal(services.wall_ms()))
            return
        before = services.players.get(player.id)
        if before:
            before.connection.close(Closing.REPLACED)
            self.end(before)
        if player.is_guest:
            services.journal.seen(player.id, services.wall_ms())
        self._limiter.admitted(connection)
        services.players.add(session)
        services.feed.changed("players")
        connection.session = session
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
        }
        return [feature for feature, is_offered in offered.items() if is_offered]

    def end(self, session: Session) -> None:
        """Remove a player whose connection is gone from the lobby, and from every match that they heard."""
        if self._services.players.remove(session):
            self._matchmaker.leave(session)
            self._services.feed.unsubscribe(session)
            self._services.feed.changed("players")
        for match_id in list(session.rooms):
            self._registry.leave(session, match_id)


def _session(
    connection: Connection, request: wire.HelloRequest, player: Player, token_key: str, words: FilteredWords
) -> Session:
    label = label_of(request, words)
    info = wire.PlayerInfo(player.name, label, request.level if label else None)
    session = Session(
        connection,
        player.id,
        info,
        player.ratings,
        is_guest=player.is_guest,
        unfinished=player.unfinished,
        token_key=token_key,
    )
    if session.is_bot:
        session.offer_places(1 if request.places is None else request.places, request.reserved)
        about = clean(request.about or "", MAX_ABOUT_CELLS) or None
        session.describe(
            any_level=request.any_level,
            on_request=request.on_request,
            about=None if about and words.has(about) else about,
        )
    return session
