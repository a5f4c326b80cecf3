"""Keep the open seeks of players who wait for opponents, and match those that fit.

Two seeks fit if their games, time, kind of match, kind of opponent and rating ranges do, and if their ratings are no
further apart than the wider of their two bands. A band is narrow at first and widens with waiting. One invariant holds:
**no two open seeks fit each other**. A new seek is matched immediately or fits nobody. After that, two seeks can only
begin to fit when a band widens, a rating changes, or a hidden seek returns; then that seek searches again.

`SeekIndex` finds the best seek for another without examining all of them: a seek has one place in a sorted list for
each of its games, and a search examines a fixed number of lists for each of its own. It skips at most `MAX_LOOKS` seeks
of a list that fit except for their own rating range, and fewer for a seek with many games.
"""

import heapq
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

from ttt_net.clock import TimeControl

Player = int
"""A player, by the caller's number."""
Opponents = Literal["any", "people", "bots"]

ANY_GAME = "tictactoe"
"""The game for two players who both accept any game."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An offer to play anybody who fits.

    `games` are in order of preference; empty means any that the other seek names.
    """

    player: Player
    is_bot: bool
    games: tuple[str, ...]
    time: TimeControl | None = None
    opponents: Opponents = "any"
    is_rated: bool = False
    or_casual: bool = False
    """Whether a casual match is acceptable if the opponent does not want a rated one."""
    min_rating: int | None = None
    max_rating: int | None = None
    """The range of acceptable ratings of opponents at the game."""
    level: int | None = None
    """The level requested of a bot; None: its own."""
    number: int = 0
    """The number by which others accept it; each open seek gets a new one."""

    @property
    def kinds(self) -> tuple[bool, ...]:
        """The acceptable kinds of match (True: rated), the preferred one first."""
        return (True, False) if self.is_rated and self.or_casual else (self.is_rated,)

    def welcomes(self, *, is_bot: bool) -> bool:
        """Tell whether a bot, or a person, is welcome as an opponent."""
        return self.opponents == "any" or (self.opponents == "bots") == is_bot

    def admits(self, rating: int) -> bool:
        """Tell whether an opponent with this rating is acceptable."""
        return (self.min_rating or 0) <= rating and (self.max_rating is None or rating <= self.max_rating)


RatingOf = Callable[[Player, str, TimeControl | None], int]
"""Returns a player's rating at a game and a time control."""
MayMeet = Callable[[Seek, Seek], bool]
"""Tells whether the server allows two players with fitting seeks to meet."""

MAX_LOOKS = 64
_ANYTHING, _EVERYBODY = "*", "**"
"""Lists without a game: of seeks for any game, and of all seeks; both are sorted by age only."""


class _Bucket:
    """Seeks in order of rating, and with equal ratings in order of number, which is the order of age."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, rating: int, number: int) -> None:
        """Insert a seek."""
        insort(self._entries, (rating, number))

    def remove(self, rating: int, number: int) -> None:
        """Remove a seek."""
        del self._entries[bisect_left(self._entries, (rating, number))]

    def near(self, rating: int) -> Iterator[tuple[int, int, int]]:
        """Yield distances, numbers and ratings: the nearest first, at equal distances the oldest."""
        return heapq.merge(self._below(rating), self._above(rating))

    def _above(self, rating: int) -> Iterator[tuple[int, int, int]]:
        for index in range(bisect_left(self._entries, (rating,)), len(self._entries)):
            other, number = self._entries[index]
            yield other - rating, number, other

    def _below(self, rating: int) -> Iterator[tuple[int, int, int]]:
        end = bisect_left(self._entries, (rating,))
        while end:
            other = self._entries[end - 1][0]
            start = bisect_left(self._entries, (other,))
            for index in range(start, end):
                yield rating - other, self._entries[index][1], other
            end = start


class _Place(NamedTuple):
    """The place of a seek in the lists of its kind, with its rating."""

    game: str
    stage: int
    rating: int


class _Candidate(NamedTuple):
    """A seek that fits; the smallest is the best: people before bots, then the nearest, then the longest waiting."""

    is_bot: bool
    distance: int
    number: int
    preference: int
    """The place of the game in their order of preference."""
    game: str


SeekLists = dict[tuple[bool, Opponents], dict[str, dict[int, _Bucket]]]
"""The seeks of one time control that are all rated, or all casual: by kind of seeker and opponents, game and stage.

Empty lists do not exist, so a search for many games examines few lists.
"""


class SeekIndex:
    """The seeks that others can find. `bands` are the maximal differences of ratings, by stage."""

    def __init__(self, rating_of: RatingOf, may_meet: MayMeet, bands: tuple[int, ...]) -> None:
        self._rating_of = rating_of
        self._may_meet = may_meet
        self._bands = bands
        self._lists: dict[tuple[TimeControl | None, bool], SeekLists] = {}
        self._seeks: dict[int, Seek] = {}
        self._places: dict[int, list[_Place]] = {}

    def __len__(self) -> int:
        return len(self._seeks)

    def add(self, seek: Seek, stage: int) -> None:
        """List a seek with the band of a stage."""
        places = [_Place(game, stage, self._rating_of(seek.player, game, seek.time)) for game in seek.games]
        for game in (_EVERYBODY,) if seek.games else (_EVERYBODY, _ANYTHING):
            places.append(_Place(game, 0, 0))
        for is_rated in seek.kinds:
            lists = self._lists.setdefault((seek.time, is_rated), {})
            games = lists.setdefault((seek.is_bot, seek.opponents), {})
            for game, stage_of_place, rating in places:
                stages = games.setdefault(game, {})
                stages.setdefault(stage_of_place, _Bucket()).add(rating, seek.number)
        self._seeks[seek.number] = seek
        self._places[seek.number] = places

    def remove(self, seek: Seek) -> None:
        """Remove a seek from the lists."""
        places = self._places.pop(seek.number)
        for is_rated in seek.kinds:
            lists = self._lists[seek.time, is_rated]
            games = lists[seek.is_bot, seek.opponents]
            for game, stage, rating in places:
                stages = games[game]
                stages[stage].remove(rating, seek.number)
                if not stages[stage]:
                    del stages[stage]
                    if not stages:
                        del games[game]
            if not games:
                del lists[seek.is_bot, seek.opponents]
            if not lists:
                del self._lists[seek.time, is_rated]
        del self._seeks[seek.number]

    def best(self, seek: Seek, stage: int) -> tuple[Seek, str] | None:
        """Return the best fitting seek, and the game for both."""
        best = min((each for kind in seek.kinds for each in self._candidates(seek, stage, is_rated=kind)), default=None)
        return best and (self._seeks[best.number], best.game)

    def admits(self, seek: Seek, player: Player, game: str) -> bool:
        """Tell whether a player's rating is in the range of a seek."""
        has_range = seek.min_rating is not None or seek.max_rating is not None
        return not has_range or seek.admits(self._rating_of(player, game, seek.time))

    def _candidates(self, seek: Seek, stage: int, *, is_rated: bool) -> Iterator[_Candidate]:
        """Return the best of each list of one kind that may contain a fitting seek."""
        lists = self._lists.get((seek.time, is_rated), {})
        for (is_bot, opponents), games in lists.items():
            if not seek.welcomes(is_bot=is_bot) or (opponents != "any" and (opponents == "bots") != seek.is_bot):
                continue
            if not seek.games:
                yield from self._oldest(games[_EVERYBODY][0], seek, None)
            anything = games.get(_ANYTHING)
            for game in seek.games:
                if anything:
                    yield from self._oldest(anything[0], seek, game)
                stages = games.get(game)
                if stages:
                    rating = self._rating_of(seek.player, game, seek.time)
                    for other_stage, bucket in stages.items():
                        yield from self._nearest(bucket, seek, game, rating, self._bands[max(stage, other_stage)])

    def _nearest(self, bucket: _Bucket, seek: Seek, game: str, rating: int, band: int) -> Iterator[_Candidate]:
        """Return the nearest fitting seek within the band."""
        for distance, number, others_rating in islice(bucket.near(rating), _looks(seek)):
            other = self._seeks[number]
            if distance > band:
                return
            is_fit = seek.player != other.player and seek.admits(others_rating) and other.admits(rating)
            if is_fit and self._may_meet(seek, other):
                yield _Candidate(other.is_bot, distance, number, other.games.index(game), game)
                return

    def _oldest(self, bucket: _Bucket, seek: Seek, game: str | None) -> Iterator[_Candidate]:
        """Return the longest waiting fitting seek, ignoring ratings: one of the two accepts any game."""
        for _, number, _ in islice(bucket.near(0), _looks(seek)):
            other = self._seeks[number]
            for preference, each in enumerate((game,) if game else other.games or (ANY_GAME,)):
                if self._fit(seek, other, each):
                    yield _Candidate(other.is_bot, 0, number, preference, each)
                    return

    def _fit(self, seek: Seek, other: Seek, game: str) -> bool:
        """Tell whether two players who both accept `game` also accept each other."""
        if seek.player == other.player or not self.admits(seek, other.player, game):
            return False
        return self.admits(other, seek.player, game) and self._may_meet(seek, other)


def _looks(seek: Seek) -> int:
    return max(1, MAX_LOOKS // max(1, len(seek.games)))


BANDS = ((0, 200), (1_000, 400), (3_000, 800), (6_000, 10_000))
"""The maximal difference of ratings by milliseconds of waiting; the last one is unlimited."""
ALONE_MS = 5_000
"""How long a player waits alone before the server suggests other opponents."""
GRACE_MS = 10_000
"""How long the seek of a disconnected player is kept hidden."""
MOST_IN_TURN = 20
"""The number of seeks of each age whose bands one `tick` widens; a search among many that nearly fit takes 70 us."""
MOST_TOLD = 100
"""The number of players who get a suggestion of bots at a time; in a larger crowd, the rest get theirs next time."""


@dataclass(slots=True)
class _Standing:
    """An open seek: its start, the stage of its band, and until when it is hidden, if it is."""

    seek: Seek
    since_ms: int
    stage: int = 0
    hidden_until_ms: int | None = None


class SeekMatch(NamedTuple):
    """Two seeks that fit, and the game for both; `found` was open already."""

    seek: Seek
    found: Seek
    game: str


class StandingSeeks:
    """The open seeks; a player has at most one, and is never matched with themselves."""

    def __init__(self, rating_of: RatingOf, may_meet: MayMeet) -> None:
        self.index = SeekIndex(rating_of, may_meet, tuple(band for _, band in BANDS))
        """The seeks that can be found: all except the hidden ones."""
        self._of_player: dict[Player, _Standing] = {}
        self._numbered: dict[int, _Standing] = {}
        self.last_number = 0
        """The last given number."""
        self._narrow: tuple[deque[int], ...] = tuple(deque() for _ in BANDS[1:])
        """The seeks of each band that may widen, in the order in which that is due."""
        self._alone: deque[int] = deque()
        self._hidden: deque[tuple[int, int]] = deque()
        """The players with hidden seeks: until when to wait for them, and the number of their seek."""

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Seek]:
        """Iterate over the seeks that are not hidden, the oldest first."""
        return (each.seek for each in self._numbered.values() if each.hidden_until_ms is None)

    def of(self, player: Player) -> Seek | None:
        """Return the player's seek, hidden or not."""
        standing = self._of_player.get(player)
        return standing.seek if standing else None

    def hidden(self) -> Iterator[Seek]:
        """Yield the hidden seeks, whose players may return soon."""
        return (each.seek for each in self._numbered.values() if each.hidden_until_ms is not None)

    def find(self, number: int) -> Seek | None:
        """Return the seek with this number, if it is open and not hidden."""
        standing = self._numbered.get(number)
        return standing.seek if standing and standing.hidden_until_ms is None else None

    def seek(self, seek: Seek, now_ms: int) -> SeekMatch | None:
        """Match the seek with the best fitting one, and remove that; otherwise list the seek."""
        self.withdraw(seek.player)
        self.last_number += 1
        standing = _Standing(replace(seek, number=self.last_number), now_ms)
        match = self._matched(standing)
        if match is None:
            self._of_player[seek.player] = self._numbered[self.last_number] = standing
            self._narrow[0].append(self.last_number)
            self._alone.append(self.last_number)
            self.index.add(standing.seek, standing.stage)
        return match

    def withdraw(self, player: Player) -> bool:
        """Forget the player's seek; tell whether there was one."""
        standing = self._of_player.pop(player, None)
        if standing is None:
            return False
        del self._numbered[standing.seek.number]
        if standing.hidden_until_ms is None:
            self.index.remove(standing.seek)
        return True

    def hide(self, player: Player, now_ms: int) -> None:
        """Hide the seek of a disconnected player until they return or their grace is over."""
        standing = self._of_player.get(player)
        if standing and standing.hidden_until_ms is None:
            self.index.remove(standing.seek)
            standing.hidden_until_ms = now_ms + GRACE_MS
            self._hidden.append((standing.hidden_until_ms, standing.seek.number))

    def restore(self, player: Player) -> SeekMatch | None:
        """List the player's hidden seek again, or match it with a seek made meanwhile."""
        standing = self._of_player.get(player)
        if standing is None or standing.hidden_until_ms is None:
            return None
        standing.hidden_until_ms = None
        self.index.add(standing.seek, standing.stage)
        return self._matched(standing)

    def look_again(self, player: Player) -> SeekMatch | None:
        """Match the player's seek if `may_meet` has changed its answer."""
        standing = self._of_player.get(player)
        return None if standing is None or standing.hidden_until_ms is not None else self._matched(standing)

    def rated(self, player: Player) -> SeekMatch | None:
        """List the player's seek with their new rating, and match it if it now fits another."""
        standing = self._of_player.get(player)
        if standing is None or standing.hidden_until_ms is not None:
            return None
        self._list_anew(standing)
        return self._matched(standing)

    def tick(self, now_ms: int) -> list[SeekMatch]:
        """Widen the bands that are due, and return the resulting matches; forget players who have not returned."""
        while self._hidden and self._hidden[0][0] <= now_ms:
            until_ms, number = self._hidden.popleft()
            standing = self._numbered.get(number)
            if standing and standing.hidden_until_ms == until_ms:
                self.withdraw(standing.seek.player)
        matches = []
        for stage, queue in enumerate(self._narrow, 1):
            for standing in islice(self._due(queue, now_ms - BANDS[stage][0]), MOST_IN_TURN):
                match = self._widened(standing, stage)
                if match:
                    matches.append(match)
                elif stage < len(self._narrow):
                    self._narrow[stage].append(standing.seek.number)
        return matches

    def is_behind(self, now_ms: int) -> bool:
        """Tell whether more bands are due than one `tick` could widen."""
        queues = zip(self._narrow, BANDS[1:], strict=True)
        return any(queue and self._is_due(queue[0], now_ms - after_ms) for queue, (after_ms, _) in queues)

    def alone(self, now_ms: int) -> list[Seek]:
        """Return, once each and some at a time, the seeks of people who have waited for `ALONE_MS`."""
        due = [standing.seek for standing in islice(self._due(self._alone, now_ms - ALONE_MS), MOST_TOLD)]
        return [seek for seek in due if not seek.is_bot]

    def _due(self, queue: deque[int], since_ms: int) -> Iterator[_Standing]:
        """Take from a queue the seeks that have waited since a time, without those that are no longer open."""
        while queue and self._is_due(queue[0], since_ms):
            standing = self._numbered.get(queue.popleft())
            if standing:
                yield standing

    def _is_due(self, number: int, since_ms: int) -> bool:
        standing = self._numbered.get(number)
        return standing is None or standing.since_ms <= since_ms

    def _widened(self, standing: _Standing, stage: int) -> SeekMatch | None:
        standing.stage = stage
        if standing.hidden_until_ms is not None:
            return None
        self._list_anew(standing)
        return self._matched(standing)

    def _list_anew(self, standing: _Standing) -> None:
        self.index.remove(standing.seek)
        self.index.add(standing.seek, standing.stage)

    def _matched(self, standing: _Standing) -> SeekMatch | None:
        """Return the best match of a seek, and remove both."""
        best = self.index.best(standing.seek, standing.stage)
        if best is None:
            return None
        found, game = best
        self.withdraw(found.player)
        self.withdraw(standing.seek.player)
        return SeekMatch(standing.seek, found, game)
