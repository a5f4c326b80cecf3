"""Keep one connected player: their identity, connection, and the matches they play and follow."""

from collections.abc import Collection, Mapping, Set
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.errors import Refusal
from ttt_net.messages import AnyServerMessage, Ok, PlayerInfo, RatingChange, encode
from ttt_net.ratings import Rating
from ttt_net.server.admission.sanctions import Subject
from ttt_net.server.players import PlayerId
from ttt_net.server.wire.connection import Connection, RemoteConnection
from ttt_net.server.wire.frames import frame


class _Known(NamedTuple):
    """A rating as clients see it."""

    rating: int
    is_provisional: bool


Mutes = tuple[tuple[PlayerId, ...], bool]
MAX_MUTED = 100
"""The most players that one session can mute."""
_NEW = _Known(Rating().shown, is_provisional=True)


class Session:
    """One connected player, from their accepted `hello` to the end of the connection. Only its methods change it.

    Nothing of value lives here: a player who connects again gets a new session, and their matches, which live in the
    journal and in their rooms, take them back by their id.
    """

    __slots__ = (
        "_hears_nobody",
        "_live",
        "_muted",
        "_ratings",
        "_rooms",
        "about",
        "any_level",
        "connection",
        "info",
        "is_guest",
        "on_request",
        "places",
        "player",
        "plays",
        "reserved",
        "serial",
        "subject",
    )

    def __init__(
        self,
        connection: Connection | RemoteConnection,
        player: PlayerId,
        info: PlayerInfo,
        ratings: Mapping[tuple[str, Speed], Rating] = MappingProxyType({}),
        *,
        is_guest: bool = False,
        unfinished: Collection[str] = (),
        token_key: str = "",
        serial: int = 0,
    ) -> None:
        self.connection = connection
        self.player = player
        self.subject = Subject(player, token_key)
        """The player, as sanctions know them."""
        self.info = info
        """The player, without a rating, since they have many."""
        self.is_guest = is_guest
        self._ratings = {key: _Known(each.shown, each.is_provisional) for key, each in ratings.items()}
        self.serial = serial
        """Numbers the connections of one node of a cluster; 0 without a cluster."""
        self._rooms: dict[str, None] = {}
        self._live = dict.fromkeys(unfinished)
        self.places: int | None = None
        """The number of matches that a bot plays at once; None for people."""
        self.reserved = 0
        """The number of a bot's places that only people get."""
        self.any_level = False
        """Whether a bot plays at any requested level."""
        self.on_request = False
        """Whether a bot is paired only with seeks for bots."""
        self.about: str | None = None
        """A line in which a bot describes how it plays."""
        self.plays: tuple[str, ...] | None = None
        """The games of a bot's last seek; empty for any game, None before the first seek."""
        self._hears_nobody = False
        self._muted: tuple[PlayerId, ...] = ()
        """In the order in which they were muted."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether they are connected to another node of the cluster."""
        return isinstance(self.connection, RemoteConnection)

    @property
    def is_bot(self) -> bool:
        """Whether the player is a program."""
        return self.info.bot is not None

    @property
    def rooms(self) -> Set[str]:
        """The ids of the matches whose events they receive, oldest subscription first."""
        return self._rooms.keys()

    @property
    def live(self) -> Set[str]:
        """The ids of their unfinished matches."""
        return self._live.keys()

    def enter(self, room: str) -> None:
        """Receive the events of a match from now on."""
        self._rooms[room] = None

    def exit(self, room: str) -> None:
        """Stop receiving the events of a match."""
        self._rooms.pop(room, None)

    def began(self, match: str) -> None:
        """Add a match to the unfinished ones."""
        self._live[match] = None

    def finished(self, match: str) -> None:
        """Remove a match from the unfinished ones."""
        self._live.pop(match, None)

    def offer_places(self, places: int, reserved: int) -> None:
        """Set the number of matches that a bot plays at once, and how many of them are for people only."""
        self.places, self.reserved = places, reserved

    def describe(self, *, any_level: bool, on_request: bool, about: str | None) -> None:
        """Set how a bot plays, and for whom."""
        self.any_level, self.on_request, self.about = any_level, on_request, about

    def sought(self, games: tuple[str, ...]) -> None:
        """Remember the games of the last seek."""
        self.plays = games

    def rename(self, name: str) -> None:
        """Change the name; a guest becomes a registered player."""
        self.info = replace(self.info, name=name)
        self.is_guest = False

    def mute(self, player: PlayerId, *, on: bool) -> None:
        """Mute a player in the chat, or unmute them. Beyond `MAX_MUTED` the oldest mute is dropped."""
        others = tuple(each for each in self._muted if each != player)
        self._muted = (*others, player)[-MAX_MUTED:] if on else others

    def mute_all(self, *, on: bool) -> None:
        """Mute everybody in the chat, or only the muted players again."""
        self._hears_nobody = on

    @property
    def mutes(self) -> Mutes:
        """The players whom they do not want to hear, and whether that is everybody."""
        return self._muted, self._hears_nobody

    def recall_mutes(self, mutes: Mutes) -> None:
        """Mute those whom the player had muted on an earlier connection."""
        self._muted, self._hears_nobody = mutes

    def has_muted(self, player: PlayerId) -> bool:
        """Return whether the player is muted."""
        return self._hears_nobody or player in self._muted

    def rating_at(self, game: str, time: TimeControl | None) -> int:
        """Return their rating at a game and the speed of a time control, or the initial rating."""
        return self._ratings.get((game, speed(time)), _NEW).rating

    @property
    def best_rating(self) -> int | None:
        """Their highest rating, at any game and speed, that is not provisional; None if there is none."""
        return max((known.rating for known in self._ratings.values() if not known.is_provisional), default=None)

    def info_at(self, game: str, time: TimeControl | None) -> PlayerInfo:
        """Return the player with their rating at a game and the speed of a time control, if there is one."""
        known = self._ratings.get((game, speed(time)))
        if known is None:
            return self.info
        return replace(self.info, rating=known.rating, provisional=known.is_provisional)

    def info_for(self, game: str, time: TimeControl | None, level: int | None) -> PlayerInfo:
        """Return the player as `info_at` does, with the level that a bot was asked for, if any."""
        info = self.info_at(game, time)
        return replace(info, level=level) if self.any_level and level is not None else info

    def rated(self, game: str, time: TimeControl | None, change: RatingChange) -> None:
        """Keep a new rating."""
        self._ratings[game, speed(time)] = _Known(change.after, change.provisional)

    def tell(self, message: AnyServerMessage) -> None:
        """Send one message."""
        self.connection.send(frame(encode(message)))

    def ok(self, request: int) -> None:
        """Reply that a request was carried out."""
        self.tell(Ok(request))

    def refuse(self, request: int, refusal: Refusal) -> None:
        """Reply that a request was refused."""
        self.connection.refuse(request, refusal)
