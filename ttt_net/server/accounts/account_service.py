"""Who a player is: what he asks about his own name, and to be forgotten."""

from functools import partial
from typing import Protocol as Interface

from msgspec.structs import replace as restruct

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.names import checked_name
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.journal import Journal
from ttt_net.server.players import FORGOTTEN, PlayerId, still_playing
from ttt_net.server.settings.limits import Limits
from ttt_net.text import clean, name_key

AccountRequests = wire.RenameRequest | wire.ForgetRequest


class AccountServices(Interface):
    """What the registrar asks of the hub."""

    journal: Journal
    limits: Limits
    quotas: RateLimiter

    def renamed(self, player: PlayerId, name: str) -> None:
        """Let the player be called `name` wherever he is."""

    def leaving(self, session: Session) -> None:
        """Let nobody be paired with a player who is about to be forgotten."""

    def forgotten(self, player: PlayerId) -> None:
        """Let nobody call the player by his name any more, and send him away."""


class AccountService:
    """Carries out what a player asks about his own identity; the answer comes once it is written down."""

    def __init__(self, house: AccountServices) -> None:
        self._house = house
        self._leaving: set[PlayerId] = set()
        """Those who have said `forget`, until it is written down."""

    def act(self, session: Session, said: AccountRequests) -> None:
        """Carry out one request, or raise `Refusal`."""
        if isinstance(said, wire.RenameRequest):
            self._rename(session, said)
        else:
            self._forget(session, said)

    def _rename(self, session: Session, said: wire.RenameRequest) -> None:
        name = name_here(said.name, self._house.limits)
        self._house.quotas.spend("renames", session.player, session.connection.metered_as)

        def done() -> None:
            self._house.renamed(session.player, name)
            session.info = restruct(session.info, name=name)  # also of one who has left: a match of his may be starting
            session.ok(said.id)
            session.tell(wire.Renamed(session.info))

        self._house.journal.rename(session.player, name, done, partial(session.refuse, said.id))

    def _forget(self, session: Session, said: wire.ForgetRequest) -> None:
        if name_key(said.name) != name_key(session.info.name):
            raise Refusal(Code.BAD_NAME, f"to be forgotten, say your own name once more: {session.info.name}")
        if session.player in self._leaving:
            raise Refusal(Code.TOO_FAST, "you are being forgotten already; the connection ends when it is done", 1_000)
        if session.live:
            raise still_playing(len(session.live))

        def failed(refusal: Refusal) -> None:
            self._leaving.discard(session.player)
            session.refuse(said.id, refusal)

        def done() -> None:
            self._leaving.discard(session.player)
            session.ok(said.id)
            self._house.forgotten(session.player)

        self._leaving.add(session.player)  # a match that began now would have his name after he is forgotten
        self._house.leaving(session)
        self._house.journal.forget(session.player, done, failed)

    def is_leaving(self, player: PlayerId) -> bool:
        """Tell whether the player is about to be forgotten; no match of his begins any more."""
        return player in self._leaving


def name_here(typed: str, limits: Limits) -> str:
    """Return the name as it is kept here; one that may not be taken raises `Refusal`, which says what is allowed."""
    shown = clean(typed, wire.MAX_NAME_CELLS)
    is_free = limits.free_names and shown and name_key(shown) != FORGOTTEN
    return shown if is_free else checked_name(typed)
