"""What may be asked about the past: the journal's thread reads and answers, a few questions at a time."""

from collections.abc import Callable
from typing import Protocol as Interface
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.values import is_always_casual
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Journal, queries
from ttt_net.server.players import PlayerId

HistoryRequests = (
    wire.ProfileRequest | wire.HistoryRequest | wire.LeaderboardRequest | wire.ReplayRequest | wire.RecordRequest
)


class HistoryServices(Interface):
    """What the archive asks of the hub."""

    journal: Journal
    quotas: RateLimiter
    roster: OnlinePlayers
    now_ms: Callable[[], int]

    def live_of(self, session: Session) -> list[str]:
        """Return the ids of his public live matches."""


class HistoryService:
    """Answers questions about what was played; a player has one on its way at a time, and a rate."""

    def __init__(self, house: HistoryServices) -> None:
        self._house = house
        self._asking: set[PlayerId] = set()

    def act(self, session: Session, said: HistoryRequests) -> None:
        """Look the answer up; it comes once the journal has given it. Raises `Refusal` to one who asks too much."""
        self._meter(session)
        query = self._query(session, said)

        def done(found: wire.ServerMessage) -> None:
            self._asking.discard(session.player)
            session.ok(said.id)
            session.tell(found)

        def failed(refusal: Refusal) -> None:
            self._asking.discard(session.player)
            session.refuse(said.id, refusal)

        self._asking.add(session.player)
        self._house.journal.ask(query, done, failed)

    def _query(self, session: Session, said: HistoryRequests) -> queries.PastQuery:
        asker = session.player
        match said:
            case wire.ProfileRequest():
                other = session if said.name is None else self._house.roster.find(said.name)
                online, live = (other.info, self._house.live_of(other)) if other else (None, [])
                now_ms = self._house.now_ms()
                return queries.ProfileQuery(said, asker, online, live, now_ms)
            case wire.HistoryRequest():
                game = None if said.game is None else game_name(said.game)
                return queries.HistoryQuery(said.name, game, said.before, asker)
            case wire.LeaderboardRequest():
                game = game_name(said.game)
                if is_always_casual(game):
                    raise Refusal(Code.ALWAYS_CASUAL, f"{game} is never rated: too little is to be found out in it")
                return queries.LeaderboardQuery(said, game, asker, self._house.now_ms())
            case wire.ReplayRequest():
                return queries.ReplayQuery(said, asker, said.match in session.tables)
            case wire.RecordRequest():
                return queries.RecordQuery(said, asker)
            case _:
                assert_never(said)

    def _meter(self, session: Session) -> None:
        if session.player in self._asking:
            raise Refusal(Code.TOO_FAST, "one question at a time; wait for the answer", 100)
        self._house.quotas.spend("inquiries", session.player, session.connection.metered_as)
