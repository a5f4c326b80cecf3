"""Talk at the table: the players hear one another, those who watch hear one another, and nothing is kept."""

from collections.abc import Callable
from typing import Protocol as Interface

from ttt_net import messages as wire
from ttt_net.errors import Code, Refusal
from ttt_net.server.accounts.online_players import OnlinePlayers
from ttt_net.server.accounts.session import Session
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.settings.limits import Limits
from ttt_net.server.settings.rate import Bucket, Rate
from ttt_net.server.wire.frames import frame
from ttt_net.text import clean

MAX_CELLS = 140
MAX_MUTED = 100
"""Players whom one session does not want to hear; the first is forgotten for one more."""
DELIVERIES = Rate(5_000)
"""What all who watch may hear together: a room full of people who talk shall not slow the matches."""
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

ChatRequests = wire.ChatRequest | wire.MuteRequest


class ChatServices(Interface):
    """What the chat asks of the hub."""

    limits: Limits
    quotas: RateLimiter
    sanctions: Sanctions
    now_ms: Callable[[], int]
    roster: OnlinePlayers
    tables: dict[str, MatchRoom]


class Chat:
    """Carries out what is said to others, and whom somebody does not want to hear."""

    def __init__(self, house: ChatServices) -> None:
        self._house = house
        self._deliveries = Bucket(DELIVERIES, house.now_ms())

    def act(self, session: Session, said: ChatRequests) -> None:
        """Carry out one request, or raise `Refusal`."""
        if isinstance(said, wire.MuteRequest):
            self._mute(session, said)
        else:
            self._say(session, said)

    def _say(self, session: Session, said: wire.ChatRequest) -> None:
        text = self._text(session, said)
        table = self._house.tables.get(said.match)
        if table is None or not (table.audience.plays(session) or table.audience.watches(session)):
            raise Refusal(Code.NOT_WATCHING, f"you do not hear match {said.match}, so nobody there would hear you")
        is_player = table.audience.plays(session)
        self._house.quotas.spend("chats", session.player, session.connection.metered_as)
        if not is_player:
            self._spend(table.audience.watchers)
        session.ok(said.id)
        room: wire.Room = "players" if is_player else "watchers"
        told = frame(wire.encode(wire.Chatted(said.match, room, session.info, text, said.phrase)))
        tell = table.audience.tell_players if is_player else table.audience.tell_watchers
        tell(told, lambda hearer: hearer is session or not hearer.is_deaf_to(session.player))

    def _text(self, session: Session, said: wire.ChatRequest) -> str:
        """Return what is to be heard; raise `Refusal` if it may not be said."""
        mute = self._house.sanctions.of("mute", session.player)
        if mute:
            raise Refusal(Code.MUTED, mute.sentence(), mute.left_ms(self._house.now_ms()))
        if (said.text is None) == (said.phrase is None):
            raise Refusal(Code.BAD_MESSAGE, "say either a text or a phrase")
        if said.phrase is not None:
            return PHRASES[said.phrase]
        if not self._house.limits.allow_chat:
            raise Refusal(Code.CHAT_OFF, f"only phrases are said here: {', '.join(PHRASES)}")
        text = clean(said.text or "", MAX_CELLS)
        if not text:
            raise Refusal(Code.BAD_MESSAGE, "there is nothing to be seen in that text")
        return text

    def _spend(self, hearers: int) -> None:
        now_ms = self._house.now_ms()
        wait_ms = self._deliveries.wait_ms(now_ms)
        if wait_ms:
            raise Refusal(Code.TOO_FAST, "too many talk at once; say it again in a moment", wait_ms)
        self._deliveries.take(now_ms, hearers)

    def _mute(self, session: Session, said: wire.MuteRequest) -> None:
        if said.name is None:
            session.hears_nobody = said.on
        else:
            other = self._house.roster.find(said.name)
            if other is None:
                raise Refusal(Code.UNKNOWN_PLAYER, "nobody of that name is connected")
            session.muted.pop(other.player, None)
            if said.on:
                session.muted[other.player] = None
                if len(session.muted) > MAX_MUTED:
                    del session.muted[next(iter(session.muted))]
        session.ok(said.id)
