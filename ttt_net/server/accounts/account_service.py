"""Carry out requests about accounts: `rename`, `forget`, and queries about past matches."""

from functools import partial
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.games import game_name
from ttt_net.games.values import is_always_casual, never_rated
from ttt_net.matches.description import checked_mistake, day_of
from ttt_net.server.accounts.online_players import Session
from ttt_net.server.accounts.session_service import SessionService, checked_here
from ttt_net.server.journal import Asker, PastQuestion, queries
from ttt_net.server.journal.entries import KeepMistake
from ttt_net.server.journal.past import PastAnswer
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.matchmaking.tournament_service import Tournaments
from ttt_net.server.players import FORGOTTEN, MAX_MISTAKES, PlayerId, still_playing
from ttt_net.server.services import Services
from ttt_net.server.wire.frames import frame
from ttt_net.text import name_key

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
