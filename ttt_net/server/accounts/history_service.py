"""Take questions about the past from players: the archive answers them, one question of a player at a time."""

from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.values import is_always_casual
from ttt_net.server.accounts.session import Session
from ttt_net.server.journal import Asker, PastQuestion, queries
from ttt_net.server.journal.past import PastAnswer
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame

PastRequest = (
    wire.ProfileRequest | wire.HistoryRequest | wire.LeaderboardRequest | wire.ReplayRequest | wire.RecordRequest
)


class HistoryService:
    """Takes questions about what was played; a player has one on its way at a time, and a rate."""

    def __init__(self, services: Services, registry: MatchRegistry) -> None:
        self._services = services
        self._registry = registry
        self._asking: dict[PlayerId, tuple[Session, PastQuestion]] = {}
        """The question that each player waits for, and the session that asked it."""

    def act(self, session: Session, request: PastRequest) -> None:
        """Ask the archive; the answer comes later. Raises `Refusal` if the player asks too much."""
        self._meter(session)

        def done(answer: PastAnswer) -> None:
            del self._asking[session.player]
            session.ok(request.id)
            session.connection.send(frame(answer.data))

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
        asking, question = self._asking.get(session.player, (None, None))
        if asking is session and question is not None:
            del self._asking[session.player]
            self._services.archive.cancel(question)

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
                if is_always_casual(game):
                    raise Refusal(Code.ALWAYS_CASUAL, f"{game} is never rated: too little is to be found out in it")
                return queries.LeaderboardQuery(request, game, asker, self._services.wall_ms())
            case wire.ReplayRequest():
                return queries.ReplayQuery(request, asker, request.match in session.rooms)
            case wire.RecordRequest():
                return queries.RecordQuery(request, asker)
            case _:
                assert_never(request)

    def _meter(self, session: Session) -> None:
        asking = self._asking.get(session.player)
        if asking is not None and asking[0] is session:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)
