"""Carry out invitations: private matches by a code, which outlives a restart and is tried slowly."""

import logging
from functools import partial

from msgspec import Struct

from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game, game_name
from ttt_net.games.notation import read_start, write_position
from ttt_net.pairing.lobby import INVITATION_MS, Lobby
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import MATCH_BYTES
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services

log = logging.getLogger(__name__)

WAIT_S, MOST_WAITING = 1.5, 8
"""How long, and how many, players wait for a code by which another is just beginning a match."""
RETRY_S = 5.0
"""When invitations that could not be read are read again."""


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
        """Those who have joined by a code while another was beginning a match by it."""
        lobby.settled = lambda code: services.loop.call_soon(self._settled, code)

    def recall(self) -> None:
        """Read the invitations that were made before a restart, and make them good again; try until it can be done."""
        services = self._services

        def failed(refusal: Refusal) -> None:
            log.error("invitations of before the start are not good: %s", refusal)
            services.loop.call_later(RETRY_S, self.recall)

        services.journal.invitations(services.wall_ms(), self._lobby.reinstate, failed)

    def invite(self, session: Session, request: wire.InviteRequest) -> None:
        """Make an invitation; once it is written down it is good, in place of their last, and its code is told."""
        self._eligibility.may_play(session, against_bot=False)
        self._services.rate_limiter.spend("challenges", session.player, session.connection.metered_as)
        self._services.rate_limiter.wrote(session.connection.metered_as, MATCH_BYTES)
        game = game_name(request.game)
        start = start_of(game, request.start)
        now_ms = self._services.wall_ms()
        invitation = self._lobby.invite(session.player, game, request.time, now_ms, request.side, start)

        def done() -> None:
            self._lobby.reinstate([invitation])
            session.ok(request.id)
            session.tell(wire.InvitationReply(invitation.code, game, INVITATION_MS, request.time))

        self._services.journal.invite(invitation, now_ms, done, partial(session.refuse, request.id))

    def preview(self, code: str, address: str | None) -> InvitationPreview | None:
        """Return what the invitation of that code offers, for one who has its link; None after too many wrong codes."""
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
        """Begin the match that a code stands for; if it cannot be written down, the code stays good.

        While another player is beginning it, wait until it is known whether that succeeds.
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
        """Refuse a request that has waited for long: the disk, or the log of a cluster, does not answer."""
        waiting = self._waiting.get(code, [])
        if (session, request) in waiting:
            waiting.remove((session, request))
            refusal = Refusal(Code.STORAGE, "a match is just being begun by that code; try again in a moment", 1_000)
            session.refuse(request.id, refusal)

    def forget(self, player: PlayerId) -> None:
        """Cancel the invitation of a player who is forgotten; the journal has lost it with their name."""
        self._lobby.uninvite(player)


def start_of(name: str, text: str | None) -> str | None:
    """Return the position in the one way in which it is written; None where it is the usual one."""
    if text is None:
        return None
    game = find_game(name)
    state = read_start(game, text)
    return None if state == game.initial else write_position(game, state)
