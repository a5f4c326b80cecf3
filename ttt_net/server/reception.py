"""How players meet: seeks, challenges, invitations, and the lists of who is here and what is played.

The lobby decides; what it pairs is written down here, and then handed to the hub to be seated.
"""

import random
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.notation import read_start, write_position
from ttt_net.lobby import CHALLENGE_MS, INVITATION_MS, Challenge, Lobby, Pairing, Seek
from ttt_net.server.journal import Changes, Journal, StorageError
from ttt_net.server.journal.sqlite import PlayerId
from ttt_net.server.limits import Limits
from ttt_net.server.noticeboard import Noticeboard
from ttt_net.server.quotas import Quotas
from ttt_net.server.roster import Roster
from ttt_net.server.session import Session

MAX_LISTED = 100
_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of match ids; none that is easily taken for another."""
_ID_LENGTH = 8


class House(Interface):
    """What the reception asks of the hub."""

    journal: Journal
    limits: Limits
    quotas: Quotas
    now_ms: Callable[[], int]
    sessions: dict[PlayerId, Session]
    roster: Roster
    noticeboard: Noticeboard

    def seat(self, started: wire.Started, seats: tuple[PlayerId, PlayerId]) -> None:
        """Open the table of a match that has been written down."""

    def may_begin(self) -> None:
        """Refuse a new match while a restart is counted down to."""


class Reception:
    """Carries out the requests by which players find one another. Each handler raises `Refusal` or answers `ok`."""

    def __init__(self, house: House, rng: random.Random) -> None:
        self._house = house
        self._rng = rng
        self._lobby = Lobby(rng)

    def act(self, session: Session, said: wire.AnySaid) -> None:
        """Carry out one request."""
        match said:
            case wire.Seek():
                self._seek(session, said)
            case wire.Unseek():
                self._unseek(session, said)
            case wire.Accept():
                self._accept(session, said)
            case wire.Challenge():
                self._challenge(session, said)
            case wire.Answer():
                self._answer(session, said)
            case wire.Invite():
                self._invite(session, said)
            case wire.Join():
                self._join(session, said)
            case wire.Who():
                session.ok(said.id)
                session.connection.send(self._house.noticeboard.frame("players"))
            case wire.Lobby():
                session.ok(said.id)
                if said.on:
                    self._house.noticeboard.subscribe(session)
                else:
                    self._house.noticeboard.unsubscribe(session)
            case _:
                raise AssertionError(f"{said} is not for the reception")

    def withdraw(self, session: Session) -> None:
        """Take back the seek of one who plays now."""
        if self._lobby.withdraw(session.player):
            self._seeks_changed()

    def leave(self, session: Session) -> None:
        """Forget one who is gone, and tell whom he has challenged and who has challenged him."""
        self.withdraw(session)
        for challenge in self._lobby.leave(session.player):
            self._over(challenge, "gone")

    def tick(self) -> None:
        """End what nobody has answered in time; to be called about once a second."""
        now_ms = self._house.now_ms()
        for challenge in self._lobby.expired(now_ms):
            self._over(challenge, "expired")

    def _seek(self, session: Session, said: wire.Seek) -> None:
        self._may_play_more(session)
        games = tuple(game_name(name) for name in said.games)
        seek = Seek(session.player, session.info.bot is not None, games, said.time, said.opponents)
        session.ok(said.id)
        pairing = self._lobby.seek(seek)
        self._seeks_changed()
        if pairing:
            self._start(pairing)

    def _unseek(self, session: Session, said: wire.Unseek) -> None:
        if not self._lobby.withdraw(session.player):
            raise Refusal(Code.NOT_SEEKING, "you have no seek to take back")
        self._seeks_changed()
        session.ok(said.id)

    def _accept(self, session: Session, said: wire.Accept) -> None:
        self._may_play_more(session)
        pairing = self._lobby.accept(said.seek, session.player, is_bot=session.info.bot is not None)
        self._seeks_changed()
        session.ok(said.id)
        self._start(pairing)

    def _seeks_changed(self) -> None:
        self._house.noticeboard.changed("seeks", "players")

    def _challenge(self, session: Session, said: wire.Challenge) -> None:
        self._may_play_more(session)
        other = self._house.roster.find(said.name)
        if other is None:
            raise Refusal(Code.UNKNOWN_PLAYER, "nobody of that name is connected")
        game = game_name(said.game)
        self._house.quotas.spend("challenges", session.player, session.connection.metered_as)
        challenge = self._lobby.challenge(session.player, other.player, game, said.time, self._house.now_ms())
        session.ok(said.id)
        told = wire.Challenged(challenge.number, session.info, other.info, game, CHALLENGE_MS, said.time)
        session.tell(told)
        other.tell(told)

    def _answer(self, session: Session, said: wire.Answer) -> None:
        if said.accept:
            self._may_play_more(session)
        challenge = self._lobby.answer(said.challenge, session.player, self._house.now_ms())
        if said.accept:
            self._may_play_more(self._house.sessions[challenge.by])
        session.ok(said.id)
        if said.accept and challenge.to == session.player:
            self._start(self._lobby.accepted(challenge))
        else:
            self._over(challenge, said.reason)

    def _invite(self, session: Session, said: wire.Invite) -> None:
        self._may_play_more(session)
        game = game_name(said.game)
        start = _start_of(game, said.start) if said.start is not None else None
        now_ms = self._house.now_ms()
        invitation = self._lobby.invite(session.player, game, said.time, now_ms, said.side, start)
        session.ok(said.id)
        session.tell(wire.Invitation(invitation.code, game, INVITATION_MS, said.time))

    def _join(self, session: Session, said: wire.Join) -> None:
        self._may_play_more(session)
        quotas, address = self._house.quotas, session.connection.metered_as
        quotas.spend("codes", session.player, address)
        quotas.check_of_address("wrong_codes", address)
        try:
            invitation = self._lobby.invitation(said.code.strip(), session.player, self._house.now_ms())
        except Refusal:
            quotas.spend_of_address("wrong_codes", address)
            raise
        if invitation.by not in self._house.sessions:
            raise Refusal(Code.OPPONENT_GONE, "whoever invited you is away at the moment; the code stays good", 1_000)
        self._may_play_more(self._house.sessions[invitation.by])
        session.ok(said.id)
        self._start(self._lobby.joined(invitation, session.player))

    def _may_play_more(self, session: Session) -> None:
        self._house.may_begin()
        if len(session.live) >= self._house.limits.max_live_matches:
            raise Refusal(
                Code.TOO_MANY_MATCHES,
                f"{session.info.name} has {len(session.live)} unfinished matches; one has to end first",
            )

    def seeks(self) -> wire.Seeks:
        """Return the list of standing seeks."""
        sessions = self._house.sessions
        rows = [
            wire.SeekInfo(seek.number, sessions[seek.player].info, list(seek.games), seek.time, seek.opponents)
            for seek in islice(self._lobby.seeks, MAX_LISTED)
        ]
        return wire.Seeks(self._lobby.seek_count, rows)

    def players(self) -> wire.Players:
        """Return the list of who is here."""
        roster, rows = self._house.roster, []
        for other in roster.first(MAX_LISTED):
            seek = self._lobby.seek_of(other.player)
            seeking = list(seek.games) if seek else None
            rows.append(wire.Listed(other.info.name, other.info.bot, len(other.live), seeking))
        return wire.Players(len(roster), rows)

    def _over(self, challenge: Challenge, reason: wire.ChallengeEnd) -> None:
        for session in self._present((challenge.by, challenge.to)):
            session.tell(wire.ChallengeOver(challenge.number, reason))

    def _present(self, players: Iterable[PlayerId]) -> list[Session]:
        return [self._house.sessions[player] for player in players if player in self._house.sessions]

    def _start(self, pairing: Pairing) -> None:
        """Write the start of a match down, then have both seated."""
        first, second = (self._house.sessions[player] for player in (pairing.first, pairing.second))
        started = wire.Started(
            match="".join(self._rng.choices(_ID_LETTERS, k=_ID_LENGTH)),
            seq=1,
            at_ms=self._house.now_ms(),
            game=pairing.game,
            players=(first.info, second.info),
            time=pairing.time,
            private=pairing.is_private,
            start=pairing.start,
        )
        seats = (pairing.first, pairing.second)

        def done(written: StorageError | Changes | None) -> None:
            if not isinstance(written, StorageError):
                self._house.seat(started, seats)
                return
            for session in (first, second):  # their seeks are spent; when they come back, they seek again
                session.connection.close(Closing.FAULT, "the server cannot write to its disk")

        self._house.journal.append([started], done, seats)


def _start_of(name: str, text: str) -> str | None:
    """Return the position in the one way in which it is written; None where it is the usual one."""
    game = find_game(name)
    state = read_start(game, text)
    return None if state == game.initial else write_position(game, state)
