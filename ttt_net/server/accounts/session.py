"""A player's presence: who he is, over which connection, and at which tables he sits."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.errors import Refusal
from ttt_net.messages import Ok, PlayerInfo, RatingChange, ServerMessage, encode
from ttt_net.ratings import Rating
from ttt_net.server.players import PlayerId
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame


class _Known(NamedTuple):
    """A rating as it is told."""

    rating: int
    is_provisional: bool


_NEW = _Known(Rating().shown, is_provisional=True)


class Session:
    """One connected player, from his accepted `hello` to the end of the connection.

    Nothing of value lives here: a player who connects again gets a new session, and his matches, which live in the
    journal and at their tables, take him back by his id.
    """

    __slots__ = (
        "_ratings",
        "connection",
        "hears_nobody",
        "info",
        "is_guest",
        "live",
        "muted",
        "places",
        "player",
        "plays",
        "reserved",
        "tables",
    )

    def __init__(
        self,
        connection: Connection,
        player: PlayerId,
        info: PlayerInfo,
        ratings: Mapping[tuple[str, Speed], Rating] = MappingProxyType({}),
        *,
        is_guest: bool = False,
    ) -> None:
        self.connection = connection
        self.player = player
        self.info = info
        """Who he is, without a rating: he has many."""
        self.is_guest = is_guest
        self._ratings = {key: _Known(each.shown, each.is_provisional) for key, each in ratings.items()}
        self.tables: set[str] = set()
        """The matches whose facts he hears."""
        self.live: set[str] = set()
        """His unfinished matches."""
        self.places: int | None = None
        """How many matches at once a bot plays; people as many as they like."""
        self.reserved = 0
        """How many of a bot's places are for people."""
        self.plays: tuple[str, ...] | None = None
        """The games that a bot has sought, none if any; None if it has sought nothing."""
        self.hears_nobody = False
        self.muted: dict[PlayerId, None] = {}
        """Whom he does not want to hear in the chat, in the order in which he said so."""

    @property
    def is_bot(self) -> bool:
        """Whether this is a program that plays."""
        return self.info.bot is not None

    def is_deaf_to(self, player: PlayerId) -> bool:
        """Tell whether he does not want to hear that player in the chat."""
        return self.hears_nobody or player in self.muted

    def rating_at(self, game: str, time: TimeControl | None) -> int:
        """Return his rating at a game and the speed of a time control, or what everybody starts with."""
        return self._ratings.get((game, speed(time)), _NEW).rating

    def info_at(self, game: str, time: TimeControl | None) -> PlayerInfo:
        """Return who he is, with his rating at a game and the speed of a time control, if he has one there."""
        known = self._ratings.get((game, speed(time)))
        if known is None:
            return self.info
        return replace(self.info, rating=known.rating, provisional=known.is_provisional)

    def rated(self, game: str, time: TimeControl | None, change: RatingChange) -> None:
        """Take note of a new rating."""
        self._ratings[game, speed(time)] = _Known(change.after, change.provisional)

    def tell(self, message: ServerMessage) -> None:
        """Send him one message."""
        self.connection.send(frame(encode(message)))

    def ok(self, request: int) -> None:
        """Answer a request that was carried out."""
        self.tell(Ok(request))

    def refuse(self, request: int, refusal: Refusal) -> None:
        """Answer a request that was not carried out."""
        self.connection.refuse(request, refusal)
