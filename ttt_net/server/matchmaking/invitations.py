"""Matches for whoever has the code: invitations are made, outlive a restart, and their codes are tried slowly."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.notation import read_start, write_position
from ttt_net.pairing.lobby import INVITATION_MS, Lobby, Pairing
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Journal
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.players import PlayerId

log = logging.getLogger(__name__)


class InvitationServices(Interface):
    """What invitations ask of the hub."""

    journal: Journal
    quotas: RateLimiter
    now_ms: Callable[[], int]
    sessions: dict[PlayerId, Session]


class Invitations:
    """Carries out `invite` and `join`; `start` gets the match of one, and whom to tell if it cannot be written."""

    def __init__(
        self,
        house: InvitationServices,
        lobby: Lobby,
        eligibility: Eligibility,
        start: Callable[[Pairing, Callable[[], None]], None],
    ) -> None:
        self._house = house
        self._lobby = lobby
        self._eligibility = eligibility
        self._start = start

    def recall(self) -> None:
        """Make the invitations good that were made before a restart."""

        def failed(refusal: Refusal) -> None:
            log.error("invitations of before the start are not good: %s", refusal)

        self._house.journal.invitations(self._house.now_ms(), self._lobby.reinstate, failed)

    def invite(self, session: Session, said: wire.InviteRequest) -> None:
        """Make an invitation; once it is written down it is good, in place of his last, and its code is told."""
        self._eligibility.may_play(session, against_bot=False)
        self._house.quotas.spend("challenges", session.player, session.connection.metered_as)
        game = game_name(said.game)
        start = _start_of(game, said.start) if said.start is not None else None
        now_ms = self._house.now_ms()
        invitation = self._lobby.invite(session.player, game, said.time, now_ms, said.side, start)

        def done() -> None:
            self._lobby.reinstate([invitation])
            session.ok(said.id)
            session.tell(wire.InvitationReply(invitation.code, game, INVITATION_MS, said.time))

        self._house.journal.invite(invitation, now_ms, done, partial(session.refuse, said.id))

    def join(self, session: Session, said: wire.JoinRequest) -> None:
        """Begin the match that a code stands for; if it cannot be written down, the code stays good."""
        code = said.code.strip()
        self.meter_code(session, is_right=self._lobby.is_code(code, self._house.now_ms()))
        invitation = self._lobby.invitation(code, session.player, self._house.now_ms())
        if invitation.by not in self._house.sessions:
            raise Refusal(Code.OPPONENT_GONE, "whoever invited you is away at the moment; the code stays good", 1_000)
        self._eligibility.may_meet(session, self._house.sessions[invitation.by])
        session.ok(said.id)
        self._start(self._lobby.joined(invitation, session.player), lambda: self._lobby.unspent(invitation))

    def forget(self, player: PlayerId) -> None:
        """Let the code of one who is forgotten be good no more; the journal has lost it with his name."""
        self._lobby.uninvite(player)

    def meter_code(self, session: Session, *, is_right: bool) -> None:
        """Count one try of a code; refuse a wrong one, and one too many."""
        quotas, address = self._house.quotas, session.connection.metered_as
        quotas.spend("codes", session.player, address)
        quotas.check_of_address("wrong_codes", address)
        if not is_right:
            quotas.spend_of_address("wrong_codes", address)
            raise Refusal(Code.UNKNOWN_CODE, "no invitation has that code, or it was used or is too old; ask again")


def _start_of(name: str, text: str) -> str | None:
    """Return the position in the one way in which it is written; None where it is the usual one."""
    game = find_game(name)
    state = read_start(game, text)
    return None if state == game.initial else write_position(game, state)
