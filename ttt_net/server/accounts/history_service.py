"""Answer questions about the past: the journal reads, one question of a player at a time."""

from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.values import is_always_casual
from ttt_net.server.accounts.session import Session
from ttt_net.server.journal import queries
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services

PastRequest = (
    wire.ProfileRequest | wire.HistoryRequest | wire.LeaderboardRequest | wire.ReplayRequest | wire.RecordRequest
)


class HistoryService:
    """Answers questions about what was played; a player has one on its way at a time, and a rate."""

    def __init__(self, services: Services, registry: MatchRegistry) -> None:
        self._services = services
        self._registry = registry
        self._asking: set[PlayerId] = set()

    def act(self, session: Session, request: PastRequest) -> None:
        """Look the answer up; it comes once the journal has given it. Raises `Refusal` if they ask too much."""
        self._meter(session)
        query = self._query(session, request)

        def done(found: wire.AnyServerMessage) -> None:
            self._asking.discard(session.player)
            session.ok(request.id)
            session.tell(found)

        def failed(refusal: Refusal) -> None:
            self._asking.discard(session.player)
            session.refuse(request.id, refusal)

        self._asking.add(session.player)
        self._services.journal.ask(query, done, failed)

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
        if session.player in self._asking:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        self._services.rate_limiter.spend("inquiries", session.player, session.connection.metered_as)
