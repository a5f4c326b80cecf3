"""Carry out chat, mutes, blocks and reports.

The players of a match chat with each other, and its watchers with each other. A report keeps the last lines of a chat
for the host and moderators.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, assert_never

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.names.filtered import FilteredWords
from ttt_net.server.admission.rate_limiter import Bucket
from ttt_net.server.journal.entries import ChatLine, FileReport, SetBlock
from ttt_net.server.online_players import Session
from ttt_net.server.players import MAX_BLOCKS, Blocks, PlayerId
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services
from ttt_net.server.settings.configuration import Rate
from ttt_net.server.wire.frames import frame
from ttt_net.text import clean

log = logging.getLogger(__name__)

MAX_CELLS = 140
MAX_LINES = 20
"""The number of last chat lines kept in memory for reports."""
DELIVERIES = Rate(5_000)
"""The limit on messages to all watchers together, so that a busy room does not slow down the matches."""
MAX_OPEN = 2_000
"""The maximal number of open reports. A further one replaces one of less weight, or is rejected."""
PHRASES: dict[wire.Phrase, str] = {
    "hello": "Hello!",
    "good_luck": "Good luck!",
    "well_played": "Well played!",
    "good_game": "Good game!",
    "thanks": "Thanks!",
    "sorry": "Sorry!",
    "oops": "Oops!",
    "one_moment": "One moment, please.",
}

SocialRequest = wire.ChatRequest | wire.MuteRequest | wire.BlockRequest | wire.ReportRequest


class Chat:
    """Carries out `chat`, `mute`, `block` and `report`."""

    def __init__(self, services: Services, rooms: Mapping[str, MatchRoom]) -> None:
        self._services = services
        self._rooms = rooms
        self.deliveries = Bucket(DELIVERIES, services.now_ms())
        self.pass_on: Callable[[PlayerId, wire.Chatted], None] = _to_nobody
        """Called with each message and its author, for readers on other nodes of a cluster."""
        self.parted: Callable[[PlayerId, PlayerId | None], None] = lambda player, other: None
        """Called with a player whose list has changed, and the player they muted, blocked, unmuted or unblocked."""

        self.is_quiet: Callable[[str], bool] = lambda tournament: False
        """Tells whether only phrases are said in the matches of a tournament, by its code."""

    def act(self, session: Session, request: SocialRequest) -> None:
        """Carry out one request. Raises `Refusal` if it is not allowed."""
        match request:
            case wire.ChatRequest():
                self._say(session, request)
            case wire.MuteRequest() | wire.BlockRequest():
                self._block(session, request)
            case wire.ReportRequest():
                self._report(session, request)
            case _:
                assert_never(request)

    def _say(self, session: Session, request: wire.ChatRequest) -> None:
        self._may_say(session, request)
        room = self._rooms.get(request.match)
        if room is None or not (room.audience.plays(session) or room.audience.watches(session)):
            raise Refusal(Code.NOT_WATCHING, f"you do not hear match {request.match}, so nobody there would hear you")
        place = None if room.match is None else room.match.tournament
        if request.phrase is None and place is not None and self.is_quiet(place.tournament):
            raise Refusal(Code.CHAT_OFF, f"only phrases are said in this tournament: {', '.join(PHRASES)}")
        is_player = room.audience.plays(session)
        self._services.rate_limiter.spend("chats", session.player, session.connection.metered_as)
        text = _text(request, self._services.words)  # last, since cleaning a text may cost 50 times as much as a `ping`
        if not is_player:
            self._spend(room.audience.watchers)
        session.ok(request.id)
        heard_by: wire.Room = "players" if is_player else "watchers"
        said = wire.Chatted(request.match, heard_by, session.info, text, request.phrase)
        self._tell(room, session.player, said)
        self.pass_on(session.player, said)

    def hear(self, player: PlayerId, said: wire.Chatted) -> None:
        """Send a message written on another node to everybody in the match here."""
        room = self._rooms.get(said.match)
        if room is not None:
            self._tell(room, player, said)

    def _tell(self, room: MatchRoom, player: PlayerId, said: wire.Chatted) -> None:
        lines = room.said.setdefault(said.room, deque(maxlen=MAX_LINES))
        lines.append(ChatLine(self._services.wall_ms(), player, said.text))
        tell = room.audience.tell_players if said.room == "players" else room.audience.tell_watchers
        tell(frame(wire.encode(said)), lambda hearer: hearer.player == player or not hearer.has_muted(player))

    def _may_say(self, session: Session, request: wire.ChatRequest) -> None:
        """Raise `Refusal` if the player may not write at all."""
        mute = self._services.sanctions.on("mute", session.subject, session.connection.address)
        if mute:
            raise mute.refusal(self._services.wall_ms())
        if self._services.sanctions.are_missing:
            raise Refusal(Code.STORAGE, "the server cannot read yet who may chat; try again in a moment", 1_000)
        if (request.text is None) == (request.phrase is None):
            raise Refusal(Code.BAD_MESSAGE, "say either a text or a phrase")
        if request.phrase is None and not self._services.limits.allow_chat:
            raise Refusal(Code.CHAT_OFF, f"only phrases are said here: {', '.join(PHRASES)}")

    def _spend(self, hearers: int) -> None:
        now_ms = self._services.now_ms()
        wait_ms = self.deliveries.wait_ms(now_ms)
        if wait_ms:
            raise Refusal(Code.TOO_FAST, "too many talk at once; say it again in a moment", wait_ms)
        self.deliveries.take(now_ms, hearers)

    def _block(self, session: Session, request: wire.MuteRequest | wire.BlockRequest) -> None:
        """Mute or block a player, or end that, once it is in the journal."""
        self._services.rate_limiter.spend("blocks", session.player, session.connection.metered_as)
        players = self._services.players
        act: Literal["mute", "block"] = "mute" if isinstance(request, wire.MuteRequest) else "block"

        def found(player: tuple[PlayerId | None, str]) -> None:
            other, _ = player
            if other == session.player:
                session.refuse(request.id, Refusal(Code.BAD_MESSAGE, f"you cannot {act} yourself"))
                return
            apart: Counter[tuple[PlayerId, PlayerId]] = Counter()
            if act == "block" and request.on:
                assert other is not None, "only a mute is of everybody"
                apart[session.player, other] = 1
                players.blocking += apart  # no match begins while this is written
                self.parted(session.player, other)

            def done(blocks: Blocks) -> None:
                players.blocking -= apart
                session.ok(request.id)
                self.blocks_changed(session.player, other, blocks)

            def failed(refusal: Refusal) -> None:
                players.blocking -= apart
                session.refuse(request.id, refusal)
                self.parted(session.player, other)

            entry = SetBlock(session.player, other, act, request.on, MAX_BLOCKS)
            self._services.journal.block(entry, done, failed)

        online = players.find(request.name) if request.name is not None else None
        if request.side is not None:
            found((player_in_seat(self._rooms, session, request.match, request.side), ""))
        elif request.name is None:
            found((None, ""))
        elif online is not None:
            found((online.player, online.info.name))
        else:
            self._services.journal.player_named(request.name, found, partial(session.refuse, request.id))

    def blocks_changed(self, player: PlayerId, other: PlayerId | None, blocks: Blocks) -> None:
        """Apply a player's list of mutes and blocks from this node or another one of the cluster."""
        session = self._services.players.get(player)
        if session is not None:
            session.blocks = blocks
        self.parted(player, other)

    def _report(self, session: Session, request: wire.ReportRequest) -> None:
        """Store a report; `ok` follows once it is in the journal."""
        lines = self._lines_heard(session, request.match) if request.match is not None else ()
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
                self._network(session),
            )
            self._services.journal.report(entry, kept, failed)

        def kept(number: int) -> None:
            log.warning("a player was reported; to read report %d: admin reports show %d", number, number)
            session.ok(request.id)

        if request.side is None:
            self._services.journal.player_named(request.name, found, failed)
        else:
            found((player_in_seat(self._rooms, session, request.match, request.side), request.name))

    def _lines_heard(self, session: Session, match: str) -> tuple[ChatLine, ...]:
        """Return the last messages that the session received in a match. Raises `Refusal` if it received none there."""
        room = self._rooms.get(match)
        if room is None or not (room.audience.plays(session) or room.audience.watches(session)):
            raise Refusal(Code.NOT_WATCHING, f"you do not hear match {match}; report the player without it")
        return tuple(room.said.get("players" if room.audience.plays(session) else "watchers", ()))

    def _network(self, session: Session) -> str:
        """Return the keyed hash of a reporter's network; empty if many share it."""
        is_shared = session.connection.metered_as is None
        return "" if is_shared else self._services.sanctions.key_of_network(session.connection.address)

    def _address(self, player: PlayerId) -> str:
        """Return the keyed hash of a player's current address.

        It is empty for absent players, and for an address that many share (`limits.unmetered`).
        """
        online = self._services.players.get(player)
        if online is None or online.connection.metered_as is None:
            return ""
        return self._services.sanctions.key_of_address(online.connection.address) or ""


def player_in_seat(rooms: Mapping[str, MatchRoom], session: Session, match: str | None, side: int) -> PlayerId:
    """Return the player of a seat in a match that the session receives. Raises `Refusal` if it does not receive it."""
    room = rooms.get(match) if match is not None else None
    if room is None or not (room.audience.plays(session) or room.audience.watches(session)):
        raise Refusal(Code.NOT_WATCHING, "a seat goes with a match that you hear; name the player instead")
    assert room.seats.players is not None, "nobody hears a match that has not been read"
    return room.seats.players[side]


def _to_nobody(player: PlayerId, said: wire.Chatted) -> None:
    """Do nothing: a single server has all readers."""


def _text(request: wire.ChatRequest, words: FilteredWords) -> str:
    """Return the cleaned text. Raises `Refusal` if it is empty."""
    if request.phrase is not None:
        return PHRASES[request.phrase]
    assert request.text is not None, "either a text or a phrase is said"
    text = clean(request.text, MAX_CELLS)
    if not text:
        raise Refusal(Code.BAD_MESSAGE, "there is nothing to be seen in that text")
    words.check_text(text)
    return text
