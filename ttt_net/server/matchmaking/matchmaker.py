"""Pair players: carry out seeks, challenges, invitations and requests to the lobby. The registry begins the matches.

An invitation is a code for a private match. It survives a restart, and attempts at codes are rate-limited.
"""

import logging
from functools import partial
from typing import assert_never

from msgspec import Struct

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.notation import read_start, write_position
from ttt_net.pairing.lobby import CHALLENGE_MS, INVITATION_MS, Lobby
from ttt_net.pairing.seeks import Seek
from ttt_net.server.admission.rate_limiter import MATCH_BYTES
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.listing import Listing
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
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
"""The requests with which players find opponents."""
log = logging.getLogger(__name__)
WAIT_S, MOST_WAITING = 1.5, 8
"""How long, and how many, players wait for a code with which another player is just starting a match."""
RETRY_S = 5.0
"""The wait before retrying to read invitations."""


class Matchmaker:
    """Carries out the requests with which players find opponents. Each handler raises `Refusal` or answers `ok`."""

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
        """Remove a player who has left, and notify everybody with an open challenge to or from them."""
        on_purpose = session.connection.left_on_purpose
        for challenge in self._lobby.leave(session.player, self._services.now_ms(), on_purpose=on_purpose):
            self._registry.tell_both(challenge, wire.ChallengeOver(challenge.number, "gone"))
        self._seeks_changed()

    def seek_of(self, session: Session) -> wire.SeekInfo | None:
        """Return the hidden seek of a returned player, unless they returned as another kind or without a free place."""
        seek = self._listing.standing().of(session.player)
        if seek is None:
            return None
        try:
            self._eligibility.may_play(session, against_bot=seek.opponents == "bots")
        except Refusal:
            is_good = False
        else:
            is_good = seek.is_bot == session.is_bot
        if not is_good:
            self._lobby.seeks.withdraw(session.player)
        return self._listing.seek_info(seek) if is_good else None

    def returned(self, session: Session) -> None:
        """List the seek of a returned player again, unless `seek_of` has withdrawn it."""
        pairing = self._lobby.returned(session.player)
        if pairing:
            self._registry.start(pairing)
        else:
            self._seeks_changed()

    def blocks_changed(self, player: PlayerId, other: PlayerId | None) -> None:
        """End the challenges between two players if one has blocked the other; otherwise allow their pairing again."""
        if other is None:
            return
        if self._services.players.have_blocked(player, other):
            for challenge in self._lobby.part(player, other):
                self._registry.tell_both(challenge, wire.ChallengeOver(challenge.number, "generic"))
        elif self._services.shutdown.lets_begin:
            pairing = self._lobby.look_again(player)
            if pairing:
                self._registry.start(pairing)

    def tick(self) -> None:
        """Pair players for whom waiting makes a difference. Call it about once a second."""
        now_ms = self._services.now_ms()
        for challenge in self._lobby.expired(now_ms):
            self._registry.tell_both(challenge, wire.ChallengeOver(challenge.number, "expired"))
        self._lobby.forget_old(self._services.wall_ms())
        self._widen()
        if self._services.shutdown.lets_begin:
            self._look_again(now_ms)
        for seek in self._lobby.seeks.alone(now_ms):  # a suggestion costs as much as several moves
            self._services.turns.join(partial(self._suggest, seek), "suggestions")

    def _widen(self) -> None:
        """Pair seeks whose range has widened: some now, the rest of a crowd in further turns, between requests."""
        if not self._services.shutdown.lets_begin:
            return
        now_ms = self._services.now_ms()
        for pairing in self._lobby.tick(now_ms):
            self._registry.start(pairing)
        if self._lobby.seeks.is_behind(now_ms):
            self._services.turns.join(partial(self._services.guard.attempt, "matchmaker", self._widen), "seeks")

    def _look_again(self, now_ms: int) -> None:
        """Match the seeks of people again that were kept apart from a bot or from each other until now."""
        held_back = self._services.players.bot_places.held_back
        players = [*self._services.aborts.reunited(now_ms), *held_back]
        held_back.clear()
        for player in players:
            pairing = self._lobby.look_again(player)
            if pairing:
                self._registry.start(pairing)

    def _suggest(self, seek: Seek) -> None:
        """Suggest bots to a player who is still waiting."""
        if self._lobby.seeks.of(seek.player) is not seek:
            return
        session = self._services.players.get(seek.player)
        if session and (bots := self._listing.bots_for(seek)):
            session.tell(wire.Suggestion(bots))

    def seek_again(self, session: Session, request: wire.SeekRequest) -> None:
        """Restore a seek from the node that had the lobby before. Raises `Refusal` if it is not allowed."""
        self._stand(self._checked(session, request))

    def _seek(self, session: Session, request: wire.SeekRequest) -> None:
        seek = self._checked(session, request)
        session.ok(request.id)
        self._stand(seek)

    def _checked(self, session: Session, request: wire.SeekRequest) -> Seek:
        seek = self._eligibility.checked_seek(session, request)
        session.sought(seek.games)
        return seek

    def _stand(self, seek: Seek) -> None:
        pairing = self._lobby.seek(seek, self._services.now_ms())
        if pairing:
            self._registry.start(pairing)
        else:
            self._seeks_changed()

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
            self._eligibility.may_ask(session, self._services.players.sessions[seek.player])
            self._eligibility.may_meet(session, self._services.players.sessions[seek.player])
        is_casual = seek is not None and seek.or_casual and not self._may_rate(session, seek)
        if seek is not None and seek.is_rated and not is_casual:
            self._eligibility.must_be_ratable(session, seek.games)
            self._eligibility.must_be_elsewhere(session.player, seek.player)
        if seek is not None and session.is_bot:
            self._eligibility.must_play_at(session, session, seek.level, is_rated=False)
        pairing = self._lobby.accept(request.seek, session.player, is_bot=session.is_bot, is_casual=is_casual)
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
        self._eligibility.may_ask(session, other)
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
        if request.accept:
            if challenge.by == session.player:
                raise Refusal(Code.NOT_YOURSELF, "that is your own challenge; the other player has to accept it")
            self._eligibility.may_meet(session, self._services.players.sessions[challenge.by])
        self._lobby.answer(challenge)
        session.ok(request.id)
        if request.accept:
            self._registry.tell_both(challenge, wire.ChallengeAccepted(challenge.number))
            self._registry.start(self._lobby.accepted(challenge))
        else:
            self._registry.tell_both(challenge, wire.ChallengeOver(challenge.number, request.reason))


class InvitationPreview(Struct, frozen=True, omit_defaults=True):
    """An invitation as shown to people who open its link, before they log in."""

    by: wire.PlayerInfo | None
    """Name of the inviting player; None while they are away."""
    title: str
    game: str
    time: TimeControl | None = None


class Invitations:
    """Carries out `invite` and `join`."""

    def __init__(self, services: Services, registry: MatchRegistry, lobby: Lobby, eligibility: Eligibility) -> None:
        self._services = services
        self._registry = registry
        self._lobby = lobby
        self._eligibility = eligibility
        self._waiting: dict[str, list[tuple[Session, wire.JoinRequest]]] = {}
        """Players who joined with a code while another player's match with it was being written."""
        lobby.settled = lambda code: services.loop.call_soon(self._settled, code)

    def recall(self) -> None:
        """Read the invitations from before a restart, and make them valid again; retry until it succeeds."""
        services = self._services

        def failed(refusal: Refusal) -> None:
            log.error("invitations of before the start are not good: %s", refusal)
            services.loop.call_later(RETRY_S, self.recall)

        services.journal.invitations(services.wall_ms(), self._lobby.reinstate, failed)

    def invite(self, session: Session, request: wire.InviteRequest) -> None:
        """Create an invitation. Once it is journaled, it replaces the previous one, and its code is sent."""
        self._eligibility.may_play(session, against_bot=False)
        self._services.rate_limiter.spend("challenges", session.player, session.connection.metered_as)
        self._services.rate_limiter.wrote(session.connection.metered_as, MATCH_BYTES)
        game = game_name(request.game)
        start = start_of(game, request.start)
        now_ms = self._services.wall_ms()
        invitation = self._lobby.invite(session.player, game, request.time, now_ms, request.side, start)

        def done() -> None:
            self._lobby.reinstate([invitation])
            session.ok(request.id, wire.InvitationReply(invitation.code, game, INVITATION_MS, request.time))

        self._services.journal.invite(invitation, now_ms, done, partial(session.refuse, request.id))

    def preview(self, code: str, address: str | None) -> InvitationPreview | None:
        """Return the preview of an invitation for its link; None after too many wrong codes."""
        limiter = self._services.rate_limiter
        now_ms = self._services.wall_ms()
        try:
            limiter.check_of_address("wrong_codes", address)
            if not self._lobby.is_code(code, now_ms):
                limiter.spend_of_address("wrong_codes", address)
                return None
        except Refusal:
            return None
        offered = self._lobby.offered(code)
        host = self._services.players.get(offered.by)
        by = host.info_at(offered.game, offered.time) if host is not None else None
        return InvitationPreview(by, find_game(offered.game).title, offered.game, offered.time)

    def join(self, session: Session, request: wire.JoinRequest) -> None:
        """Start the match of a code; if it cannot be journaled, the code stays valid.

        If another player's match with the code is being journaled, wait for the outcome.
        """
        code = request.code.strip()
        if self._lobby.is_being_spent(code):
            self._wait(session, request, code.upper())
            return
        is_right = self._lobby.is_code(code, self._services.wall_ms())
        self._services.rate_limiter.try_code(session.player, session.connection.metered_as, is_right=is_right)
        invitation = self._lobby.invitation(code, session.player, self._services.wall_ms())
        host = self._services.players.get(invitation.by)
        if host is None:
            raise Refusal(Code.OPPONENT_GONE, "the player who invited you is away; the code stays good", 1_000)
        self._eligibility.may_meet(session, host)
        session.ok(request.id)
        self._registry.start(self._lobby.joined(invitation, session.player))

    def _wait(self, session: Session, request: wire.JoinRequest, code: str) -> None:
        waiting = self._waiting.setdefault(code, [])
        if len(waiting) >= MOST_WAITING:
            raise Refusal(Code.TOO_FAST, "many try that code at once; try again in a moment", 1_000)
        waiting.append((session, request))
        self._services.loop.call_later(WAIT_S, self._give_up, code, session, request)

    def _settled(self, code: str) -> None:
        """Carry out the requests that waited for a code."""
        for session, request in self._waiting.pop(code, ()):
            if self._services.players.get(session.player) is session:
                try:
                    self.join(session, request)
                except Refusal as refusal:
                    session.refuse(request.id, refusal)

    def _give_up(self, code: str, session: Session, request: wire.JoinRequest) -> None:
        """Reject a request that has waited too long: the disk, or the log of a cluster, does not answer."""
        waiting = self._waiting.get(code, [])
        if (session, request) in waiting:
            waiting.remove((session, request))
            refusal = Refusal(Code.STORAGE, "a match is just being begun by that code; try again in a moment", 1_000)
            session.refuse(request.id, refusal)

    def forget(self, player: PlayerId) -> None:
        """Cancel the invitation of a deleted player; the journal has already deleted it."""
        self._lobby.uninvite(player)


def start_of(name: str, text: str | None) -> str | None:
    """Return the canonical notation of a position; None for the usual one."""
    if text is None:
        return None
    game = find_game(name)
    state = read_start(game, text)
    return None if state == game.initial else write_position(game, state)
