"""Carry out `report`: keep what a player says of another for the host and moderators, with the last lines of chat."""

import logging
from collections.abc import Mapping
from functools import partial

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.accounts.session import Session
from ttt_net.server.journal.entries import ChatLine, FileReport
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.chat import MAX_CELLS, player_in_seat
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services
from ttt_net.text import clean

log = logging.getLogger(__name__)

MAX_OPEN = 2_000
"""Reports that may wait for a moderator; more are refused, so that a crowd cannot push out what others have said."""


class ReportService:
    """Carries out `report`; the answer comes once it is written down."""

    def __init__(self, services: Services, rooms: Mapping[str, MatchRoom]) -> None:
        self._services = services
        self._rooms = rooms

    def act(self, session: Session, request: wire.ReportRequest) -> None:
        """Carry out one request. Raises `Refusal` if it may not be."""
        lines = self._lines(session, request.match) if request.match is not None else ()
        self._services.rate_limiter.spend("reports", session.player, session.connection.metered_as)
        text = clean(request.text or "", MAX_CELLS)
        failed = partial(session.refuse, request.id)

        def found(player: tuple[PlayerId, str]) -> None:
            reported, _ = player
            if reported == session.player:
                failed(Refusal(Code.BAD_MESSAGE, "you cannot report yourself"))
                return
            entry = FileReport(
                self._services.wall_ms(),
                session.player,
                reported,
                request.reason,
                text,
                request.match,
                lines,
                self._address(reported),
                MAX_OPEN,
            )
            self._services.journal.report(entry, kept, failed)

        def kept(number: int) -> None:
            log.warning("report %d of a player is there to be looked at: admin reports show %d", number, number)
            session.ok(request.id)

        if request.side is None:
            self._services.journal.player_named(request.name, found, failed)
        else:
            found((player_in_seat(self._rooms, session, request.match, request.side), request.name))

    def _lines(self, session: Session, match: str) -> tuple[ChatLine, ...]:
        """Return the last lines that the session could hear in a match. Raises `Refusal` if it hears none there."""
        room = self._rooms.get(match)
        if room is None or not (room.audience.plays(session) or room.audience.watches(session)):
            raise Refusal(Code.NOT_WATCHING, f"you do not hear match {match}; report the player without it")
        return tuple(room.said.get("players" if room.audience.plays(session) else "watchers", ()))

    def _address(self, player: PlayerId) -> str:
        """Return the keyed hash of the address that a player comes from now.

        Empty for one who is not here, and for an address that many share (`limits.unmetered`).
        """
        online = self._services.players.get(player)
        if online is None or online.connection.metered_as is None:
            return ""
        return self._services.sanctions.key_of_address(online.connection.address) or ""
