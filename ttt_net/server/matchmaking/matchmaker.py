"""Pair players: carry out seeks, challenges and requests to the lobby; the registry begins the matches."""

from functools import partial
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import game_name
from ttt_net.pairing.lobby import CHALLENGE_MS, Challenge, Lobby
from ttt_net.pairing.seeks import Seek
from ttt_net.server.accounts.session import Session
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.invitations import Invitations, start_of
from ttt_net.server.matchmaking.listing import Listing
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.services import Services

MatchmakingRequest = (
    wire.SeekRequest
    | wire.UnseekRequest
    | wire.AcceptRequest
    | wire.ChallengeRequest
    | wire.AnswerRequest
    | wire.InviteRequest
    | wire.JoinRequest
    | wire.WhoRequest
    | wire.LobbyRequest
)
"""The requests by which players find one another."""


class Matchmaker:
    """Carries out the requests by which players find one another. Each handler raises `Refusal` or answers `ok`."""

    def __init__(
        self, services: Services, registry: MatchRegistry, lobby: Lobby, eligibility: Eligibility, listing: Listing
    ) -> None:
        self.invitations = Invitations(services, registry, lobby, eligibility)
        self._services = services
        self._registry = registry
        self._lobby = lobby
        self._eligibility = eligibility
        self._listing = listing

    def act(self, session: Session, request: MatchmakingRequest) -> None:
        """Carry out one request."""
        match request:
            case wire.SeekRequest():
                self._seek(session, request)
            case wire.UnseekRequest():
                self._unseek(session, request)
            case wire.AcceptRequest():
                self._accept(session, request)
            case wire.ChallengeRequest():
                self._challenge(session, request)
            case wire.AnswerRequest():
                self._answer(session, request)
            case wire.InviteRequest():
                self.invitations.invite(session, request)
            case wire.JoinRequest():
                self.invitations.join(session, request)
            case wire.WhoRequest():
                session.ok(request.id)
                self._services.feed.show(session, "players")
            case wire.LobbyRequest():
                session.ok(request.id)
                if request.on:
                    self._services.feed.subscribe(session)
                else:
                    self._services.feed.unsubscribe(session)
            case _:
                assert_never(request)

    def leave(self, session: Session) -> None:
        """Remove a player who is gone; tell those whom they challenged and who challenged them."""
        on_purpose = session.connection.left_on_purpose
        for challenge in self._lobby.leave(session.player, self._services.now_ms(), on_purpose=on_purpose):
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, "gone"))
        self._seeks_changed()

    def seek_of(self, session: Session) -> wire.SeekInfo | None:
        """Return the seek that has waited for a player who is back, unless they came back as another kind or full."""
        seek = self._listing.standing().of(session.player)
        if seek is None:
            return None
        try:
            self._eligibility.may_play(session, against_bot=seek.opponents != "people")
        except Refusal:
            is_good = False
        else:
            is_good = seek.is_bot == session.is_bot
        if not is_good:
            self._lobby.seeks.withdraw(session.player)
        return self._listing.seek_info(seek) if is_good else None

    def returned(self, session: Session) -> None:
        """Let the seek of a player who is back be found again."""
        pairing = self._lobby.returned(session.player) if self._services.shutdown.lets_begin else None
        self._seeks_changed()
        if pairing:
            self._registry.start(pairing)

    def tick(self) -> None:
        """Look for whom waiting makes a difference; to be called about once a second."""
        now_ms = self._services.now_ms()
        for challenge in self._lobby.expired(now_ms):
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, "expired"))
        self._lobby.forget_old(self._services.wall_ms())
        if self._services.shutdown.lets_begin:
            for pairing in self._lobby.tick(now_ms):
                self._seeks_changed()
                self._registry.start(pairing)
            self._look_again(now_ms)
        for seek in self._lobby.seeks.alone(now_ms):  # a suggestion costs as much as several moves
            self._services.turns.join(partial(self._suggest, seek), "suggestions")

    def _look_again(self, now_ms: int) -> None:
        """Pair people whose seeks were kept from a bot or from one another, if they are not any more."""
        held_back = self._services.players.bot_places.held_back
        players = [*self._services.aborts.reunited(now_ms), *held_back]
        held_back.clear()
        for player in players:
            pairing = self._lobby.look_again(player)
            if pairing:
                self._seeks_changed()
                self._registry.start(pairing)

    def _suggest(self, seek: Seek) -> None:
        """Suggest bots to a player who waits still."""
        if self._lobby.seeks.of(seek.player) is not seek:
            return
        session = self._services.players.get(seek.player)
        bots = self._listing.bots_for(seek) if session else []
        if session and bots:
            session.tell(wire.Suggestion(bots))

    def seek_again(self, session: Session, request: wire.SeekRequest) -> None:
        """Let a seek stand that stood on the node that kept the lobby before. Raises `Refusal` if it may not."""
        self._stand(self._made(session, request))

    def _seek(self, session: Session, request: wire.SeekRequest) -> None:
        seek = self._made(session, request)
        session.ok(request.id)
        self._stand(seek)

    def _made(self, session: Session, request: wire.SeekRequest) -> Seek:
        games = tuple(dict.fromkeys(game_name(name) for name in request.games))
        may_be_rated = request.level is None and self._eligibility.may_be_rated((session,), games)
        is_rated = request.rated and (may_be_rated or not request.or_casual)
        if is_rated:
            self._eligibility.must_be_ratable(session, games)
        self._eligibility.must_be_casual(request.level, is_rated=is_rated)
        self._eligibility.may_play(session, against_bot=request.opponents == "bots")
        if request.opponents != "bots":
            self._eligibility.may_look(session)
        session.sought(games)
        return Seek(
            player=session.player,
            is_bot=session.is_bot,
            games=games,
            time=request.time,
            opponents=self._eligibility.welcome_of(session, request.opponents),
            is_rated=is_rated,
            or_casual=is_rated and request.or_casual,
            min_rating=request.min_rating,
            max_rating=request.max_rating,
            level=request.level,
        )

    def _stand(self, seek: Seek) -> None:
        pairing = self._lobby.seek(seek, self._services.now_ms())
        self._seeks_changed()
        if pairing:
            self._registry.start(pairing)

    def _unseek(self, session: Session, request: wire.UnseekRequest) -> None:
        if not self._lobby.seeks.withdraw(session.player):
            raise Refusal(Code.NOT_SEEKING, "you have no seek to take back")
        self._seeks_changed()
        session.ok(request.id)

    def _accept(self, session: Session, request: wire.AcceptRequest) -> None:
        seek = self._lobby.seeks.find(request.seek)
        if seek is None or not seek.is_bot:
            self._eligibility.may_look(session)
        if seek is None:
            self._eligibility.may_play(session, against_bot=False)
        else:
            self._eligibility.may_meet(session, self._services.players.sessions[seek.player])
        is_casual = seek is not None and seek.or_casual and not self._may_rate(session, seek)
        if seek is not None and seek.is_rated and not is_casual:
            self._eligibility.must_be_ratable(session, seek.games)
            self._eligibility.must_be_elsewhere(session.player, seek.player)
        if seek is not None and session.is_bot:
            self._eligibility.must_play_at(session, session, seek.level, is_rated=False)
        pairing = self._lobby.accept(request.seek, session.player, is_bot=session.is_bot, is_casual=is_casual)
        self._seeks_changed()
        session.ok(request.id)
        self._registry.start(pairing)

    def _may_rate(self, session: Session, seek: Seek) -> bool:
        sessions = (session, self._services.players.sessions[seek.player])
        return self._eligibility.may_be_rated(sessions, seek.games)

    def _seeks_changed(self) -> None:
        self._services.feed.changed("seeks", "players")

    def _challenge(self, session: Session, request: wire.ChallengeRequest) -> None:
        other = self._services.players.find(request.name)
        if other is None:
            raise Refusal(Code.UNKNOWN_PLAYER, "nobody of that name is connected")
        if not other.is_bot:
            self._eligibility.may_look(session)
        self._eligibility.may_meet(session, other)
        game = game_name(request.game)
        is_usual = request.level is None and request.start is None and request.side is None
        may_be_rated = is_usual and self._eligibility.may_be_rated((session, other), (game,))
        is_rated = request.rated and (may_be_rated or not request.or_casual)
        if is_rated:
            self._eligibility.must_be_ratable(session, (game,))
            self._eligibility.must_be_ratable(other, (game,))
            self._eligibility.must_be_elsewhere(session.player, other.player)
        self._eligibility.must_play_at(session, other, request.level, is_rated=is_rated)
        if request.start is not None or request.side is not None:
            self._eligibility.must_be_lesson(other, is_rated=is_rated)
        self._services.rate_limiter.spend("challenges", session.player, session.connection.metered_as)
        now_ms, level, start = self._services.now_ms(), request.level, start_of(game, request.start)
        challenge = self._lobby.challenge(
            session.player,
            other.player,
            game,
            request.time,
            now_ms,
            is_rated=is_rated,
            level=level,
            side=request.side,
            start=start,
        )
        session.ok(request.id)
        by, to = session.info_at(game, request.time), other.info_at(game, request.time)
        told = wire.Challenged(challenge.number, by, to, game, CHALLENGE_MS, request.time, is_rated, level, start)
        session.tell(told)
        other.tell(told)

    def _answer(self, session: Session, request: wire.AnswerRequest) -> None:
        challenge = self._lobby.challenge_of(request.challenge, session.player, self._services.now_ms())
        is_accepted = request.accept and challenge.to == session.player
        if is_accepted:
            self._eligibility.may_meet(session, self._services.players.sessions[challenge.by])
        self._lobby.answer(challenge)
        session.ok(request.id)
        if is_accepted:
            self._tell_both(challenge, wire.ChallengeAccepted(challenge.number))
            self._registry.start(self._lobby.accepted(challenge))
        else:
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, request.reason))

    def _tell_both(self, challenge: Challenge, told: wire.AnyServerMessage) -> None:
        for player in (challenge.by, challenge.to):
            session = self._services.players.get(player)
            if session:
                session.tell(told)
