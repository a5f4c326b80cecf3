"""Create the lists of the lobby: seeks, players, live matches, and free bots."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol, TypeVar

from ttt_net import messages as wire
from ttt_net.pairing.lobby import Lobby
from ttt_net.pairing.seeks import ANY_GAME, Seek
from ttt_net.server.matchmaking.eligibility import Eligibility
from ttt_net.server.online_players import Session, place_of
from ttt_net.server.players import PlayerId
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.services import Services

MAX_LISTED = 100
MAX_LIVE = 50
MAX_SUGGESTED = 10
MOVING_MS = 60_000
"""A match without events for this long is featured only if no other match is active."""
SHARE = 10
"""The rows of a crowded list for one address before all others get theirs; further rounds share the rest."""
MAX_CROWD = 2_000
"""The maximal number of seeks, players and matches to examine for a list; others have to wait for a row."""
_MAX_LOOKED_AT = 200
"""The maximal number of bots to check for a suggestion; with more, a player finds one anyway."""
_AT_ITS_BEST = 9
"""The assumed level of a bot that names none and plays as well as it can."""
_OF_LEVEL_1, _PER_LEVEL = 900, 150
"""The assumed ratings of unrated bots, by level."""
_OF_NEWCOMERS = 1000
"""The strength of a bot that suits an unrated player."""


class ListedSeeks(Protocol):
    """The open seeks, of the lobby here or as received from another node of a cluster."""

    def __len__(self) -> int:
        """Return the number of visible seeks."""

    def __iter__(self) -> Iterator[Seek]:
        """Iterate over the visible seeks, oldest first."""

    def of(self, player: PlayerId) -> Seek | None:
        """Return the player's seek, hidden or not."""


class Listing:
    """Builds the lists on request. Each is bounded, and its cost grows with its rows, not with the crowd."""

    def __init__(
        self, services: Services, rooms: Mapping[str, MatchRoom], lobby: Lobby, eligibility: Eligibility
    ) -> None:
        self._players = services.players
        self._wall_ms = services.wall_ms
        self._rooms = rooms
        self._eligibility = eligibility
        self.standing: Callable[[], ListedSeeks] = lambda: lobby.seeks
        """Returns the open seeks, in a cluster as received from the node with the lobby."""

    def seeks(self) -> wire.SeekList:
        """Return the open seeks, oldest first; of a crowd, each address's share."""
        seeks = self.standing()
        sessions = self._players.sessions
        shown = shared(islice(seeks, MAX_CROWD), lambda seek: _address(sessions[seek.player]), MAX_LISTED)
        return wire.SeekList(len(seeks), [self.seek_info(seek) for seek in shown])

    def seek_info(self, seek: Seek) -> wire.SeekInfo:
        """Return one row of the list of seeks."""
        session = self._players.sessions[seek.player]
        return wire.SeekInfo(
            seek=seek.number,
            by=session.info_at(seek.games[0], seek.time) if seek.games else session.info,
            games=list(seek.games),
            time=seek.time,
            rated=seek.is_rated,
            or_casual=seek.or_casual,
            opponents=seek.opponents,
            min_rating=seek.min_rating,
            max_rating=seek.max_rating,
            level=seek.level,
        )

    def players(self) -> wire.PlayerList:
        """Return the connected players by name; in a crowd, those who are most likely to play."""
        shown = shared(self._players.by_leisure(MAX_CROWD), _address, MAX_LISTED)
        return wire.PlayerList(len(self._players), [self._row(session) for session in sorted(shown, key=place_of)])

    def bots_for(self, seek: Seek) -> list[wire.ListedPlayer]:
        """Return the bots that would play the match of a person's seek, nearest in strength first."""
        game = seek.games[0] if seek.games else ANY_GAME
        own = self._players.sessions[seek.player].info_at(game, seek.time).rating
        wanted = _OF_NEWCOMERS if own is None else own
        have_blocked = self._players.have_blocked
        bots = (
            bot
            for bot in islice(self._players.bots, _MAX_LOOKED_AT)
            if _plays(bot, seek) and self._free(bot) and not have_blocked(seek.player, bot.player)
        )
        nearest = heapq.nsmallest(
            MAX_SUGGESTED,
            bots,
            key=lambda bot: (abs(_strength(bot, game, seek) - wanted), bot.info.level or 0, bot.info.name),
        )
        return [self._row(bot) for bot in nearest]

    def live(self) -> wire.LiveList:
        """Return the live public matches: first the featured one, then the most watched, active ones first.

        If there are more than `MAX_CROWD`, only the newest are examined.
        """
        since_ms = self._wall_ms() - MOVING_MS
        listed = [room for room in self._rooms.values() if room.is_listed]
        looked_at = listed[-MAX_CROWD:]
        ranked = [(room.audience.watchers, room.newest_ms >= since_ms, -at) for at, room in enumerate(looked_at)]

        def appeal(rank: tuple[int, bool, int]) -> tuple[bool, int, int, int]:
            watchers, is_moving, at = rank
            return is_moving, _rating(looked_at[-at]), watchers, at

        featured = max(ranked, key=appeal, default=None)
        others = heapq.nlargest(MAX_LIVE, ranked)
        shown = [featured, *(rank for rank in others if rank != featured)][:MAX_LIVE] if featured else []
        return wire.LiveList(
            len(listed), [_live_row(looked_at[-rank[2]], is_featured=rank is featured) for rank in shown]
        )

    def _row(self, session: Session) -> wire.ListedPlayer:
        seek = self.standing().of(session.player)
        return wire.ListedPlayer(
            name=session.info.name,
            bot=session.info.bot,
            playing=len(session.live),
            seeking=list(seek.games) if seek else None,
            level=session.info.level,
            places=session.places,
            free=self._free(session),
            any_level=session.any_level,
            about=session.about,
            rating=session.best_rating,
        )

    def _free(self, session: Session) -> int | None:
        """Return how many places of a bot are free for people; None for people."""
        if session.places is None:
            return None
        seek = self.standing().of(session.player)
        is_for_bots = seek is not None and seek.opponents == "bots"
        return 0 if is_for_bots else max(0, session.places - self._eligibility.occupied(session))


_Item = TypeVar("_Item")


def shared(items: Iterable[_Item], address_of: Callable[[_Item], str | None], most: int) -> list[_Item]:
    """Return up to `most` items in their order: `SHARE` of each address, then the same number again, and so on.

    Items without an address have no such limit.
    """
    seen: dict[str, int] = {}
    first: list[tuple[int, _Item]] = []
    later: list[tuple[int, int, _Item]] = []
    for at, item in enumerate(items):
        address = address_of(item)
        turn = 0
        if address is not None:
            count = seen.get(address, 0)
            turn, seen[address] = count // SHARE, count + 1
        if turn:
            later.append((turn, at, item))
            continue
        first.append((at, item))
        if len(first) == most:  # all later items come after these
            return [item for _, item in first]
    more = heapq.nsmallest(most - len(first), later, key=lambda each: each[:2])
    return [item for _, item in sorted((*first, *(each[1:] for each in more)), key=lambda each: each[0])]


def _address(session: Session) -> str | None:
    """Return the session's address for sharing; None if limits per address do not apply."""
    return session.connection.metered_as


def _plays(bot: Session, seek: Seek) -> bool:
    if bot.plays is None:
        return False
    return not bot.plays or not seek.games or not set(bot.plays).isdisjoint(seek.games)


def _strength(bot: Session, game: str, seek: Seek) -> int:
    """Return a bot's rating at the game and speed of the seek, or the strength of its level."""
    rating = bot.info_at(game, seek.time).rating
    return _OF_LEVEL_1 + _PER_LEVEL * ((bot.info.level or _AT_ITS_BEST) - 1) if rating is None else rating


def _rating(room: MatchRoom) -> int:
    """Return the sum of both ratings in a rated match; 0 for a casual one."""
    match = room.known
    assert match is not None, "a match is read before it is ranked"
    return sum(player.rating or 0 for player in match.players) if match.is_rated else 0


def _live_row(room: MatchRoom, *, is_featured: bool) -> wire.LiveMatch:
    match = room.match
    assert match is not None, "a match is read before it is listed"
    return wire.LiveMatch(
        match=match.id,
        game=match.game.name,
        players=match.players,
        ply=len(match.moves),
        watchers=room.audience.watchers,
        time=match.time,
        rated=match.is_rated,
        featured=is_featured,
    )
