"""Keep the connected players: a session for each, found by number, name and address.

Aborted and abandoned matches are counted here, and the places of bots that each address holds.
"""

from bisect import bisect_left, insort
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Set
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from ttt_net.clock import Speed, TimeControl, speed
from ttt_net.errors import Refusal
from ttt_net.messages import AnyServerMessage, Ok, PlayerInfo, RatingChange, encode
from ttt_net.ratings import Rating
from ttt_net.server.admission.sanctions import Subject
from ttt_net.server.players import Blocks, PlayerId
from ttt_net.server.wire.connection import Connection, RemoteConnection
from ttt_net.server.wire.frames import frame
from ttt_net.text import name_key

REMEMBERED_MS = 3_600_000
"""How long after an abandoned match the next one is counted with it."""
MAX_REMEMBERED = 10_000
"""Players whose abandoned matches are counted; beyond them, the one with the oldest is forgotten."""
WAITS_MS = 60_000
"""How long a person who was refused a busy bot counts as waiting for one."""
MAX_TURNED_AWAY = 2
"""Addresses that are remembered as waiting: the newest, and one more in case the newest is the one that asks."""
FREE_ABORTS = 3
"""Matches that a person may abort, each less than an hour after the one before, without having to wait."""
FIRST_WAIT_MS = 30_000
MAX_WAIT_MS = 600_000
"""How long a person waits after the next abort, twice as long after each further one, and at most."""
APART_MS = 300_000
"""For how long two people whose match was aborted are not paired by their seeks again."""


class _Known(NamedTuple):
    """A rating as clients see it."""

    rating: int
    is_provisional: bool


_NEW = _Known(Rating().shown, is_provisional=True)


class Session:
    """One connected player, from the accepted `hello` to the end of the connection. Only its methods change it.

    Nothing of value lives here: a reconnecting player gets a new session, and resumes matches in the journal and in
    their rooms by id.
    """

    __slots__ = (
        "_live",
        "_ratings",
        "_rooms",
        "about",
        "any_level",
        "blocks",
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
        blocks: Blocks = MappingProxyType({}),
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
        self.blocks = blocks
        """The players whom they have muted or blocked, as in the journal."""

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

    def offer_places(self, places: int | None, reserved: int) -> None:
        """Set the number of matches that a bot plays at once, None for people, and how many are for people only."""
        self.places, self.reserved = places, reserved

    def describe(self, *, any_level: bool, on_request: bool, about: str | None) -> None:
        """Set how a bot plays, and with whom."""
        self.any_level, self.on_request, self.about = any_level, on_request, about

    def sought(self, games: tuple[str, ...]) -> None:
        """Remember the games of the last seek."""
        self.plays = games

    def rename(self, name: str) -> None:
        """Change the name; a guest becomes a registered player."""
        self.info = replace(self.info, name=name)
        self.is_guest = False

    def has_muted(self, player: PlayerId) -> bool:
        """Return whether they do not receive the player's messages."""
        return player in self.blocks or None in self.blocks

    def has_blocked(self, player: PlayerId) -> bool:
        """Return whether they have blocked the player."""
        return self.blocks.get(player, False)

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

    def ok(self, request: int, *asked_for: AnyServerMessage | bytes) -> None:
        """Reply that a request was carried out, and send what it asked for, encoded or not, in the same write."""
        told = [each if isinstance(each, bytes) else encode(each) for each in (Ok(request), *asked_for)]
        self.connection.send(b"".join(map(frame, told)))

    def refuse(self, request: int, refusal: Refusal) -> None:
        """Reply that a request was refused."""
        self.connection.refuse(request, refusal)


class OnlinePlayers:
    """The sessions of connected players, one for each."""

    def __init__(self) -> None:
        self.sessions: dict[PlayerId, Session] = {}
        """By number. Only this class changes it."""
        self.starting: Counter[PlayerId] = Counter()
        """The number of matches of each player whose start is being written. It survives a new session."""
        self.bot_places = BotPlaces()
        self.leaving: set[PlayerId] = set()
        """Players whose deletion is being written."""
        self.blocking: Counter[tuple[PlayerId, PlayerId]] = Counter()
        """Blocks that are being written, by the player who blocks and the other. They count as if they were."""
        self._order: list[tuple[str, PlayerId]] = []
        self._sessions: dict[tuple[str, PlayerId], Session] = {}
        self._of_address: dict[str, set[Session]] = {}
        self._free: dict[PlayerId, Session] = {}
        """People without a live match, in the order in which they became free."""
        self._bots: dict[PlayerId, Session] = {}
        self._playing: dict[PlayerId, Session] = {}
        """People with a live match."""

    def __len__(self) -> int:
        return len(self._order)

    def add(self, session: Session) -> None:
        """Add the only session of a player."""
        self.sessions[session.player] = session
        if session.connection.metered_as is not None:
            self._of_address.setdefault(session.connection.metered_as, set()).add(session)
        place = place_of(session)
        insort(self._order, place)
        self._sessions[place] = session
        self._shelf(session)[session.player] = session

    def remove(self, session: Session) -> bool:
        """Remove a session; return whether it was there."""
        is_here = self.sessions.get(session.player) is session
        if is_here:
            del self.sessions[session.player]
            self._forget_address(session)
            self._unlist(session)
        return is_here

    def _forget_address(self, session: Session) -> None:
        address = session.connection.metered_as
        if address is not None:
            self._of_address[address].remove(session)
            if not self._of_address[address]:
                del self._of_address[address]

    def of_address(self, address: str) -> Collection[Session]:
        """Return the sessions of one address."""
        return self._of_address.get(address, ())

    def rename(self, player: PlayerId, name: str) -> None:
        """Change the name of a player, if they are connected."""
        session = self.sessions.get(player)
        if session:
            self._unlist(session)
            session.rename(name)
            self.add(session)

    def get(self, player: PlayerId) -> Session | None:
        """Return the session of a player; None if they are not connected."""
        return self.sessions.get(player)

    def have_blocked(self, one: PlayerId, other: PlayerId) -> bool:
        """Return whether one of two connected players has blocked the other."""
        return self.has_blocked(one, other) or self.has_blocked(other, one)

    def has_blocked(self, one: PlayerId, other: PlayerId) -> bool:
        """Return whether a connected player has blocked the other, or is about to."""
        session = self.sessions.get(one)
        return (session is not None and session.has_blocked(other)) or (one, other) in self.blocking

    def rating_of(self, player: PlayerId, game: str, time: TimeControl | None) -> int:
        """Return the rating of a connected player at a game and the speed of a time control."""
        return self.sessions[player].rating_at(game, time)

    def _unlist(self, session: Session) -> None:
        place = place_of(session)
        del self._sessions[place]
        del self._order[bisect_left(self._order, place)]
        self._unshelve(session)

    def moved(self, session: Session) -> None:
        """Sort a session again after one of its matches has begun or ended."""
        shelf = self._shelf(session)
        if self.sessions.get(session.player) is session and session.player not in shelf:
            self._unshelve(session)
            shelf[session.player] = session

    def _shelf(self, session: Session) -> dict[PlayerId, Session]:
        if session.info.bot is not None:
            return self._bots
        return self._playing if session.live else self._free

    def _unshelve(self, session: Session) -> None:
        for shelf in (self._free, self._bots, self._playing):
            shelf.pop(session.player, None)

    @property
    def people(self) -> int:
        """The number of connected people, without bots."""
        return len(self._order) - len(self._bots)

    @property
    def bots(self) -> Collection[Session]:
        """The sessions of bots."""
        return self._bots.values()

    def by_leisure(self, most: int) -> Iterator[Session]:
        """Yield up to `most` sessions: free people, then bots, then people who play.

        In each group the latest to come, or to end a match, is first, so that everybody is listed for a while.
        """
        shelves = (reversed(shelf.values()) for shelf in (self._free, self._bots, self._playing))
        return islice(chain.from_iterable(shelves), most)

    def find(self, name: str) -> Session | None:
        """Return the player whose name has the same key; None if there is none."""
        key = name_key(name)
        index = bisect_left(self._order, (key, 0))
        if index < len(self._order) and self._order[index][0] == key:
            return self._sessions[self._order[index]]
        return None


def place_of(session: Session) -> tuple[str, PlayerId]:
    """Return the sort key of a session in a list by names."""
    return name_key(session.info.name), session.player


class BotPlaces:
    """Count the places of bots that people hold, by address: one address must not take the places of all others.

    An address counts as the limits of addresses have it: a /64 for IPv6. A connection without one is not counted.
    """

    def __init__(self) -> None:
        self.holders: dict[str, str] = {}
        """For each match against a bot, the address of the person."""
        self._held: Counter[str] = Counter()
        self._turned_away: OrderedDict[str, int] = OrderedDict()
        """The addresses that were refused a busy bot last, each with the time."""
        self.held_back: dict[PlayerId, None] = {}
        """People whose seeks were not paired with a bot because their address holds enough places."""

    def hold(self, match: str, address: str | None) -> None:
        """Count a match against a bot for the address of the person."""
        if address is not None and match not in self.holders:
            self.holders[match] = address
            self._held[address] += 1

    def free(self, match: str) -> None:
        """Stop counting a match that has ended, was adjourned, or is no longer in memory."""
        address = self.holders.pop(match, None)
        if address is not None:
            self._held[address] -= 1
            if not self._held[address]:
                del self._held[address]

    def held_by(self, address: str) -> int:
        """Return how many places the people of an address hold."""
        return self._held[address]

    def turn_away(self, address: str | None, now_ms: int) -> None:
        """Note that somebody of an address asked for a bot that has no place."""
        if address is not None:
            self._turned_away[address] = now_ms
            self._turned_away.move_to_end(address)
            if len(self._turned_away) > MAX_TURNED_AWAY:
                self._turned_away.popitem(last=False)

    def others_were_turned_away(self, address: str, now_ms: int) -> bool:
        """Tell whether somebody of another address was refused a busy bot within `WAITS_MS`."""
        return any(other != address and now_ms - at_ms < WAITS_MS for other, at_ms in self._turned_away.items())


class AbandonHistory:
    """Counts abandoned matches: a player with some gets less grace in the next match."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[int, tuple[int, int]] = OrderedDict()
        """By player, the number of abandoned matches and when the last one ended."""

    def add(self, player: PlayerId, now_ms: int) -> None:
        """Count a match that has ended now because of the player."""
        self._known[player] = self.count(player, now_ms) + 1, now_ms
        self._known.move_to_end(player)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def count(self, player: PlayerId, now_ms: int) -> int:
        """Return how many matches ended because of them, each less than an hour after the one before."""
        count, last_ms = self._known.get(player, (0, 0))
        return count if now_ms - last_ms < REMEMBERED_MS else 0


class AbortHistory(AbandonHistory):
    """Counts aborted matches: a person with many waits for the next one, and is not paired with the same opponent."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        super().__init__(most)
        self._apart: OrderedDict[tuple[PlayerId, PlayerId], int] = OrderedDict()
        """Until when two people are not paired again, the pair that is due first in front."""

    def part(self, one: PlayerId, other: PlayerId, now_ms: int) -> None:
        """Keep the seeks of two people apart for a while, because their match was aborted."""
        pair = min(one, other), max(one, other)
        self._apart[pair] = now_ms + APART_MS
        self._apart.move_to_end(pair)
        if len(self._apart) > self._most:
            self._apart.popitem(last=False)

    def are_apart(self, one: PlayerId, other: PlayerId, now_ms: int) -> bool:
        """Tell whether the seeks of two people are kept apart."""
        return self._apart.get((min(one, other), max(one, other)), 0) > now_ms

    def reunited(self, now_ms: int) -> list[PlayerId]:
        """Forget the pairs that may meet again, and return one player of each."""
        players = []
        while self._apart:
            pair, until_ms = next(iter(self._apart.items()))
            if until_ms > now_ms:
                break
            del self._apart[pair]
            players.append(pair[0])
        return players

    def wait_ms(self, player: PlayerId, now_ms: int) -> int:
        """Return how long a player has to wait for another match; 0 if they may play."""
        beyond = self.count(player, now_ms) - FREE_ABORTS
        if beyond <= 0:
            return 0
        _, last_ms = self._known[player]
        return max(0, last_ms + min(MAX_WAIT_MS, FIRST_WAIT_MS << min(beyond - 1, 10)) - now_ms)
