"""How players meet: seeks, challenges, invitations, and the lists of who is here and what is played.

The lobby decides; what it pairs is written down here, and then handed to the hub to be seated.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.games import game_name
from ttt_net.pairing.lobby import CHALLENGE_MS, Challenge, Lobby, Pairing
from ttt_net.pairing.seek import Seek
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Changes, Journal, with_names
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.invitations import Invitations
from ttt_net.server.matchmaking.listing import Listing
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.settings.limits import Limits

_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of match ids; none that is easily taken for another."""
_ID_LENGTH = 8


class MatchmakerServices(Interface):
    """What the reception asks of the hub."""

    journal: Journal
    limits: Limits
    quotas: RateLimiter
    now_ms: Callable[[], int]
    sessions: dict[PlayerId, Session]
    starting: Counter[PlayerId]
    roster: OnlinePlayers
    tables: dict[str, MatchRoom]
    noticeboard: LobbyFeed

    def occupied(self, session: Session) -> int:
        """Return how many matches keep a player busy."""

    def seat(self, started: wire.Started, seats: tuple[PlayerId, PlayerId]) -> None:
        """Open the table of a match that has been written down."""

    def may_begin(self) -> None:
        """Refuse a new match while a restart is counted down to."""

    def is_leaving(self, player: PlayerId) -> bool:
        """Tell whether it is being written down that the player is to be forgotten."""


class Matchmaker:
    """Carries out the requests by which players find one another. Each handler raises `Refusal` or answers `ok`."""

    def __init__(self, house: MatchmakerServices, rng: random.Random) -> None:
        self._house = house
        self._rng = rng
        self.eligibility = Eligibility(house)
        self._lobby = Lobby(rng, self._rating_of, self.eligibility.may_be_paired)
        self.listing = Listing(house, self._lobby)
        self.invitations = Invitations(house, self._lobby, self.eligibility, self._start)

    def act(self, session: Session, said: wire.AnyRequest) -> None:
        """Carry out one request."""
        match said:
            case wire.SeekRequest():
                self._seek(session, said)
            case wire.UnseekRequest():
                self._unseek(session, said)
            case wire.AcceptRequest():
                self._accept(session, said)
            case wire.ChallengeRequest():
                self._challenge(session, said)
            case wire.AnswerRequest():
                self._answer(session, said)
            case wire.InviteRequest():
                self.invitations.invite(session, said)
            case wire.JoinRequest():
                self.invitations.join(session, said)
            case wire.WhoRequest():
                session.ok(said.id)
                session.connection.send(self._house.noticeboard.frame("players"))
            case wire.LobbyRequest():
                session.ok(said.id)
                if said.on:
                    self._house.noticeboard.subscribe(session)
                else:
                    self._house.noticeboard.unsubscribe(session)
            case _:
                raise AssertionError(f"{said} is not for the reception")

    def withdraw(self, session: Session) -> None:
        """Take back the seek of one who plays now."""
        if self._lobby.seeks.withdraw(session.player):
            self._seeks_changed()

    def reserve(self, *players: Session) -> Callable[[], None]:
        """Take back the seeks of those whose match is about to start, and count it; what is returned ends that."""
        for session in players:
            self.withdraw(session)
            self._house.starting[session.player] += 1
            with suppress(Refusal):  # which he meets with the next that he asks for
                self._house.quotas.spend("matches", session.player, None)

        def release() -> None:
            for session in players:
                self._house.starting[session.player] -= 1
                if not self._house.starting[session.player]:
                    del self._house.starting[session.player]

        return release

    def leave(self, session: Session) -> None:
        """Take note that somebody is gone, and tell whom he has challenged and who has challenged him."""
        on_purpose = session.connection.left_on_purpose
        for challenge in self._lobby.leave(session.player, self._house.now_ms(), on_purpose=on_purpose):
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, "gone"))
        self._seeks_changed()

    def seek_of(self, session: Session) -> wire.SeekInfo | None:
        """Return the seek that has waited for a player who is back, unless he has come back as another kind or full."""
        seek = self._lobby.seeks.of(session.player)
        if seek is None:
            return None
        try:
            self.eligibility.may_play(session, against_bot=seek.opponents != "people")
        except Refusal:
            is_good = False
        else:
            is_good = seek.is_bot == session.is_bot
        if not is_good:
            self._lobby.seeks.withdraw(session.player)
        return self.listing.seek_info(seek) if is_good else None

    def returned(self, session: Session) -> None:
        """Let the seek of a player who is back be found again."""
        pairing = self._lobby.returned(session.player) if self._may_begin() else None
        self._seeks_changed()
        if pairing:
            self._start(pairing)

    def freed(self, session: Session) -> None:
        """Let a seek that stands look again, now that there is a place for what it finds."""
        pairing = self._lobby.look_again(session.player)
        if pairing:
            self._seeks_changed()
            self._start(pairing)

    def tick(self) -> None:
        """Look for whom waiting makes a difference; to be called about once a second."""
        now_ms = self._house.now_ms()
        for challenge in self._lobby.expired(now_ms):
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, "expired"))
        if self._may_begin():
            for pairing in self._lobby.tick(now_ms):
                self._seeks_changed()
                self._start(pairing)
        for seek in self._lobby.seeks.alone(now_ms):
            self._suggest(seek)

    def _suggest(self, seek: Seek) -> None:
        session = self._house.sessions.get(seek.player)
        bots = self.listing.bots_for(seek) if session else []
        if session and bots:
            session.tell(wire.Suggestion(bots))

    def _seek(self, session: Session, said: wire.SeekRequest) -> None:
        games = tuple(dict.fromkeys(game_name(name) for name in said.games))
        if said.rated:
            self.eligibility.must_be_ratable(session, games)
        self.eligibility.may_play(session, against_bot=said.opponents == "bots")
        session.plays = games
        seek = Seek(
            player=session.player,
            is_bot=session.is_bot,
            games=games,
            time=said.time,
            opponents=self.eligibility.welcome_of(session, said.opponents),
            is_rated=said.rated,
            min_rating=said.min_rating,
            max_rating=said.max_rating,
        )
        session.ok(said.id)
        pairing = self._lobby.seek(seek, self._house.now_ms())
        self._seeks_changed()
        if pairing:
            self._start(pairing)

    def _unseek(self, session: Session, said: wire.UnseekRequest) -> None:
        if not self._lobby.seeks.withdraw(session.player):
            raise Refusal(Code.NOT_SEEKING, "you have no seek to take back")
        self._seeks_changed()
        session.ok(said.id)

    def _accept(self, session: Session, said: wire.AcceptRequest) -> None:
        seek = self._lobby.seeks.find(said.seek)
        self.eligibility.may_play(session, against_bot=seek is not None and seek.is_bot)
        if seek is not None:
            self.eligibility.may_play(self._house.sessions[seek.player], against_bot=session.is_bot)
        if seek is not None and seek.is_rated:
            self.eligibility.must_be_ratable(session, seek.games)
            self.eligibility.must_be_elsewhere(session.player, seek.player)
        pairing = self._lobby.accept(said.seek, session.player, is_bot=session.is_bot)
        self._seeks_changed()
        session.ok(said.id)
        self._start(pairing)

    def _rating_of(self, player: PlayerId, game: str, time: TimeControl | None) -> int:
        return self._house.sessions[player].rating_at(game, time)

    def _seeks_changed(self) -> None:
        self._house.noticeboard.changed("seeks", "players")

    def _challenge(self, session: Session, said: wire.ChallengeRequest) -> None:
        other = self._house.roster.find(said.name)
        if other is None:
            raise Refusal(Code.UNKNOWN_PLAYER, "nobody of that name is connected")
        self.eligibility.may_meet(session, other)
        game = game_name(said.game)
        if said.rated:
            self.eligibility.must_be_ratable(session, (game,))
            self.eligibility.must_be_ratable(other, (game,))
            self.eligibility.must_be_elsewhere(session.player, other.player)
        self._house.quotas.spend("challenges", session.player, session.connection.metered_as)
        challenge = self._lobby.challenge(
            session.player, other.player, game, said.time, self._house.now_ms(), is_rated=said.rated
        )
        session.ok(said.id)
        by, to = session.info_at(game, said.time), other.info_at(game, said.time)
        told = wire.Challenged(challenge.number, by, to, game, CHALLENGE_MS, said.time, said.rated)
        session.tell(told)
        other.tell(told)

    def _answer(self, session: Session, said: wire.AnswerRequest) -> None:
        challenge = self._lobby.challenge_of(said.challenge, session.player, self._house.now_ms())
        is_accepted = said.accept and challenge.to == session.player
        if is_accepted:
            self.eligibility.may_meet(session, self._house.sessions[challenge.by])
        self._lobby.answer(challenge)
        session.ok(said.id)
        if is_accepted:
            self._tell_both(challenge, wire.ChallengeAccepted(challenge.number))
            self._start(self._lobby.accepted(challenge))
        else:
            self._tell_both(challenge, wire.ChallengeOver(challenge.number, said.reason))

    def _may_begin(self) -> bool:
        try:
            self._house.may_begin()
        except Refusal:
            return False
        return True

    def _tell_both(self, challenge: Challenge, told: wire.ServerMessage) -> None:
        for player in (challenge.by, challenge.to):
            session = self._house.sessions.get(player)
            if session:
                session.tell(told)

    def _start(self, pairing: Pairing, failed: Callable[[], None] = lambda: None) -> None:
        """Write the start of a match down, then have both seated; call `failed` if it could not be written."""
        first, second = (self._house.sessions[player] for player in (pairing.first, pairing.second))
        started = wire.Started(
            match="".join(self._rng.choices(_ID_LETTERS, k=_ID_LENGTH)),
            seq=1,
            at_ms=self._house.now_ms(),
            game=pairing.game,
            players=(first.info_at(pairing.game, pairing.time), second.info_at(pairing.game, pairing.time)),
            time=pairing.time,
            private=pairing.is_private,
            rated=pairing.is_rated,
            code=pairing.code,
            start=pairing.start,
        )
        seats = (pairing.first, pairing.second)
        release = self.reserve(first, second)

        def done(_: Changes | None) -> None:
            release()
            self._house.seat(with_names(started, first.info.name, second.info.name), seats)

        def refused(_: Refusal) -> None:
            release()
            failed()
            for session in (first, second):  # their seeks are spent; when they come back, they seek again
                session.connection.close(Closing.FAULT, "the server cannot write to its disk")

        self._house.journal.append([started], done, refused, seats)
