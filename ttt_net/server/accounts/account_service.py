"""Carry out `rename` and `forget`, which change a player's account."""

from functools import partial
from typing import assert_never

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.accounts.session import Session
from ttt_net.server.accounts.session_service import SessionService, checked_here
from ttt_net.server.matchmaking.match_registry import MatchRegistry
from ttt_net.server.matchmaking.matchmaker import Matchmaker
from ttt_net.server.players import FORGOTTEN, PlayerId, still_playing
from ttt_net.server.services import Services
from ttt_net.text import name_key

AccountRequest = wire.RenameRequest | wire.ForgetRequest


class AccountService:
    """Carries out the requests. Each is answered once it is in the journal."""

    def __init__(
        self, services: Services, registry: MatchRegistry, matchmaker: Matchmaker, sessions: SessionService
    ) -> None:
        self._services = services
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
            case _:
                assert_never(request)

    def _rename(self, session: Session, request: wire.RenameRequest) -> None:
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
        self._registry.withdraw(session.player)  # a match that began now would keep their name
        self._services.journal.forget(session.subject, done, failed)

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
