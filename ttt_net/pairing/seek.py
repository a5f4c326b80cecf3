"""Declare seeks, what a player who waits for an opponent asks for, and index those that stand.

The index lists them so that the best one for another is found without looking at all of them. A seek has one place in
a sorted list for each of its games, and a search looks into a fixed number of lists for each of its own. Of those in a
list who would do but for their own range of ratings, it puts up with `MAX_LOOKS`, fewer where it has many games.
"""

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from ttt_net.clock import TimeControl

Player = int
"""A player, by the number that the caller knows them by."""
Opponents = Literal["any", "people", "bots"]

ANY_GAME = "tictactoe"
"""The game of two players who would both play anything."""


@dataclass(frozen=True, slots=True)
class Seek:
    """An offer to play anybody who fits. `games` in order of preference; none means any that the other names."""

    player: Player
    is_bot: bool
    games: tuple[str, ...]
    time: TimeControl | None = None
    opponents: Opponents = "any"
    is_rated: bool = False
    or_casual: bool = False
    """Whether a casual match will do, too, where the other one wants no rated one."""
    min_rating: int | None = None
    max_rating: int | None = None
    """The opponents that are welcome, by their rating at the game."""
    level: int | None = None
    """The level that a bot is to play at; None: at its own."""
    number: int = 0
    """The number that others use for it; each standing seek gets a new one."""

    @property
    def kinds(self) -> tuple[bool, ...]:
        """Whether the match may be rated, the kind that is preferred first."""
        return (True, False) if self.is_rated and self.or_casual else (self.is_rated,)

    def welcomes(self, *, is_bot: bool) -> bool:
        """Tell whether a bot, or a person, is welcome as an opponent."""
        return self.opponents == "any" or (self.opponents == "bots") == is_bot

    def admits(self, rating: int) -> bool:
        """Tell whether an opponent of that rating is welcome."""
        return (self.min_rating or 0) <= rating and (self.max_rating is None or rating <= self.max_rating)


RatingOf = Callable[[Player, str, TimeControl | None], int]
"""Tells a player's rating at a game and a time control."""
MayMeet = Callable[[Seek, Seek], bool]
"""Tells whether the house lets two players meet at all, where what they ask for fits."""

MAX_LOOKS = 64
_ANYTHING, _EVERYBODY = "*", "**"
"""Lists that are no game's: of those who would play anything, and of all; both by age alone."""


class _Bucket:
    """Seeks in the order of their ratings, and of equal ones by number, which is by age."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, rating: int, number: int) -> None:
        """Put a seek in its place."""
        insort(self._entries, (rating, number))

    def remove(self, rating: int, number: int) -> None:
        """Take a seek out."""
        del self._entries[bisect_left(self._entries, (rating, number))]

    def near(self, rating: int) -> Iterator[tuple[int, int, int]]:
        """Return distances, numbers and ratings: the nearest first, of those equally near the oldest."""
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
    """Where a seek is listed among those of its kind, and with which rating."""

    game: str
    stage: int
    rating: int


class _Candidate(NamedTuple):
    """One who fits; the least is the best: people before bots, then the nearest, then who has waited longest."""

    is_bot: bool
    distance: int
    number: int
    preference: int
    """How far back the game stands in their own order."""
    game: str


SeekLists = dict[tuple[bool, Opponents], dict[str, dict[int, _Bucket]]]
"""The seeks of one time control that are all rated, or all casual: by kind of seeker and opponents, game and stage.

Only lists with seeks in them exist, so a search for many games looks at few.
"""


class SeekIndex:
    """The seeks that others can find. `bands` are, by stage, how far apart two ratings may be."""

    def __init__(self, rating_of: RatingOf, may_meet: MayMeet, bands: tuple[int, ...]) -> None:
        self._rating_of = rating_of
        self._may_meet = may_meet
        self._bands = bands
        self._lists: dict[tuple[TimeControl | None, bool], SeekLists] = {}
        self._seeks: dict[int, Seek] = {}
        self._places: dict[int, list[_Place]] = {}

    def __len__(self) -> int:
        return len(self._seeks)

    def __contains__(self, number: int) -> bool:
        return number in self._seeks

    def add(self, seek: Seek, stage: int) -> None:
        """List a seek whose band is that of the stage."""
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
        """Take a seek off the lists."""
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
        """Return the best of those who fit, and the game for both."""
        best = min((each for kind in seek.kinds for each in self._candidates(seek, stage, is_rated=kind)), default=None)
        return best and (self._seeks[best.number], best.game)

    def admits(self, seek: Seek, player: Player, game: str) -> bool:
        """Tell whether a player's rating is in the range that a seek asks for."""
        has_range = seek.min_rating is not None or seek.max_rating is not None
        return not has_range or seek.admits(self._rating_of(player, game, seek.time))

    def _candidates(self, seek: Seek, stage: int, *, is_rated: bool) -> Iterator[_Candidate]:
        """Return the best of each list of one kind in which somebody who fits may stand."""
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
        """Return the nearest who fits and is no further away than the band."""
        for distance, number, others_rating in islice(bucket.near(rating), _looks(seek)):
            other = self._seeks[number]
            if distance > band:
                return
            is_fit = seek.player != other.player and seek.admits(others_rating) and other.admits(rating)
            if is_fit and self._may_meet(seek, other):
                yield _Candidate(other.is_bot, distance, number, other.games.index(game), game)
                return

    def _oldest(self, bucket: _Bucket, seek: Seek, game: str | None) -> Iterator[_Candidate]:
        """Return who has waited longest of those who fit, whatever the ratings: one of the two would play anything."""
        for _, number, _ in islice(bucket.near(0), _looks(seek)):
            other = self._seeks[number]
            for preference, each in enumerate((game,) if game else other.games or (ANY_GAME,)):
                if self._fit(seek, other, each):
                    yield _Candidate(other.is_bot, 0, number, preference, each)
                    return

    def _fit(self, seek: Seek, other: Seek, game: str) -> bool:
        """Tell whether each of two players, who would both play `game`, is welcome to the other."""
        if seek.player == other.player or not self.admits(seek, other.player, game):
            return False
        return self.admits(other, seek.player, game) and self._may_meet(seek, other)


def _looks(seek: Seek) -> int:
    return max(1, MAX_LOOKS // max(1, len(seek.games)))
