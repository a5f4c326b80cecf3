"""Opponents found for seeks, and when: in simulated time, without a server."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.pairing.objects import count_objects
from ttt_net.clock import TimeControl
from ttt_net.pairing.seeks import (
    ALONE_MS,
    ANY_GAME,
    BANDS,
    GRACE_MS,
    MAX_LOOKS,
    MOST_IN_TURN,
    MOST_TOLD,
    Seek,
    SeekMatch,
    StandingSeeks,
)

BLITZ = TimeControl(initial_ms=180_000, increment_ms=2_000)
GAMES = ("gomoku", "connect4", "qubic")


def by_number(player: int, game: str, time: TimeControl | None) -> int:
    """Let a player's number be their rating."""
    return player


def waiting(*seeks: Seek) -> StandingSeeks:
    """Return seeks that came one after the other and found nobody."""
    room = StandingSeeks(by_number, lambda one, other: True)
    for seek in seeks:
        assert room.seek(seek, 0) is None
    return room


def person(player: int, *games: str, **options: object) -> Seek:
    return Seek(player, False, games or ("gomoku",), **options)  # type: ignore[arg-type]


def found(match: SeekMatch | None) -> int | None:
    return match.found.player if match else None


def test_the_closest_rating_is_found_first_and_among_equals_the_longest_wait() -> None:
    room = waiting(person(1_300), person(1_900), person(1_600, opponents="bots"))
    assert found(room.seek(person(1_500), 0)) == 1_300
    room = waiting(person(1_650), person(1_500, time=BLITZ), person(1_350))
    assert found(room.seek(person(1_500), 0)) == 1_650


def test_the_band_widens_with_waiting() -> None:
    room = waiting(person(1_000), person(1_300), person(2_000))
    for since_ms, band in BANDS[1:]:
        pairs = [{match.seek.player, match.found.player} for match in room.tick(since_ms)]
        assert pairs == ([{1_000, 1_300}] if band == 400 else [])
        assert room.tick(since_ms) == []
    assert found(room.seek(person(4_000), 6_000)) == 2_000, "one who has waited for long takes anybody"
    assert room.tick(1_000_000) == []


def test_a_seek_is_found_by_the_rating_that_its_player_has_now() -> None:
    ratings = {1: 1_500, 2: 1_500, 3: 1_500}
    room = StandingSeeks(lambda player, game, time: ratings[player], lambda one, other: True)
    assert room.seek(person(1, min_rating=1_600), 0) is None
    assert room.seek(person(2, max_rating=1_400), 0) is None
    assert room.rated(2) is None
    ratings[2] = 1_650
    assert room.rated(2) is None, "who is in the range of one wants nobody of such a rating"
    room.withdraw(2)
    ratings[2] = 1_500
    assert room.seek(person(2), 0) is None
    ratings[2] = 1_650
    assert found(room.rated(2)) == 1
    assert len(room) == 0
    assert room.rated(3) is None


def test_people_seeking_people_are_paired_at_any_distance_even_if_a_bot_is_closer() -> None:
    room = StandingSeeks(by_number, lambda one, other: True)
    room.seek(Seek(1_500, True, ("gomoku",), opponents="people"), 0)
    assert room.seek(person(1_490, opponents="people"), 0) is None
    assert room.seek(person(2_900, opponents="people"), 0) is None
    met = [{match.seek.player, match.found.player} for since_ms, _ in BANDS[1:] for match in room.tick(since_ms)]
    assert met == [{1_490, 2_900}]


def test_a_hidden_seek_finds_nobody() -> None:
    room = waiting(person(1))
    room.hide(1, 0)
    assert room.seek(person(2), 0) is None
    assert (room.look_again(1), room.rated(1)) == (None, None)
    assert found(room.restore(1)) == 2


def test_a_seek_that_is_not_hidden_is_listed_once_though_its_player_comes_back() -> None:
    room = waiting(person(1))
    assert room.restore(1) is None
    assert room.withdraw(1)
    assert room.seek(person(2), 0) is None


def test_an_unwelcome_seek_does_not_hide_a_welcome_one() -> None:
    room = StandingSeeks(by_number, lambda one, other: True)
    room.seek(Seek(1_500, True, ("gomoku",), opponents="people"), 0)
    room.seek(person(1_490, opponents="people"), 0)
    assert found(room.seek(person(1_510, opponents="people"), 0)) == 1_490


def test_the_rules_of_the_host_also_separate_players_who_accept_any_game() -> None:
    room = StandingSeeks(by_number, lambda one, other: False)
    for player in (1, 2):
        assert room.seek(Seek(player, True, ()), 0) is None
    assert room.seek(person(3), 0) is None


def test_a_person_is_found_before_a_bot_however_close_the_bot_is() -> None:
    room = StandingSeeks(by_number, lambda one, other: True)
    room.seek(Seek(1_500, True, ("gomoku",), opponents="people"), 0)
    room.seek(person(1_350, opponents="people"), 0)
    assert found(room.seek(person(1_501), 0)) == 1_350


def test_ranges_hold_both_ways() -> None:
    room = waiting(person(1_500, min_rating=1_600), person(1_550, max_rating=1_580))
    assert room.seek(person(1_590), 0) is None
    assert found(room.seek(person(1_600), 0)) == 1_590, "nearer than 1500, who would do as well"
    assert found(room.seek(person(1_601, min_rating=1_000, max_rating=1_500), 0)) == 1_500
    assert room.seek(person(1_570, max_rating=1_540), 0) is None


def test_rated_seeks_do_not_match_casual_ones_nor_players_separated_by_the_host() -> None:
    room = StandingSeeks(by_number, lambda one, other: not one.is_rated or other.player - one.player != 1)
    room.seek(person(1, is_rated=True), 0)
    assert room.seek(person(2), 0) is None
    assert room.seek(person(2, is_rated=True), 0) is not None
    room.seek(person(2, is_rated=True), 0)
    assert room.seek(person(1, is_rated=True), 0) is None


def test_the_seek_of_a_dropped_player_is_hidden_until_they_return() -> None:
    room = waiting(person(1))
    (seek,) = room
    room.hide(1, 0)
    assert (len(room), list(room), room.find(seek.number), room.of(1)) == (0, [], None, seek)
    assert room.seek(person(2), 0) is None
    assert found(room.restore(1)) == 2
    room.seek(person(1), 0)
    room.hide(1, 0)
    assert room.tick(GRACE_MS - 1) == []
    assert room.restore(1) is None
    assert room.find(room.of(1).number) is not None  # type: ignore[union-attr]
    room.hide(1, GRACE_MS)
    room.tick(2 * GRACE_MS)
    assert room.of(1) is None
    assert room.restore(1) is None


def test_lonely_seekers_get_one_suggestion() -> None:
    room = waiting(person(1), Seek(2, True, ("qubic",)), person(3, "connect4"))
    room.withdraw(3)
    assert room.alone(ALONE_MS - 1) == []
    assert [seek.player for seek in room.alone(ALONE_MS)] == [1]
    assert room.alone(10 * ALONE_MS) == []


def test_withdrawn_seeks_leave_nothing_behind() -> None:
    room = waiting()
    room.seek(person(1_000, "gomoku", time=BLITZ), 0)
    assert count_objects(room) > count_objects(waiting())
    room.withdraw(1_000)
    for player in range(100):
        room.seek(person(player, "gomoku", "qubic", time=BLITZ), 0)
        room.withdraw(player)
    room.tick(60_000)
    room.alone(60_000)
    assert len(room) == 0
    assert count_objects(room) == count_objects(waiting())


class Unwelcoming:
    """A house that lets nobody meet, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, one: Seek, other: Seek) -> bool:
        self.asked += 1
        return False


@pytest.mark.parametrize("count", [1, 3, 16])
def test_a_search_gives_up_after_a_few_of_many_players_who_exclude_the_seeker(count: int) -> None:
    games = [f"game-{number}" for number in range(count)]
    house = Unwelcoming()
    room = StandingSeeks(by_number, house)
    for player in range(4 * MAX_LOOKS):
        room.seek(person(player, *games), 0)
    house.asked = 0
    room.seek(person(4 * MAX_LOOKS, *games), 0)
    assert MAX_LOOKS - count < house.asked <= MAX_LOOKS


def test_a_crowd_that_fits_nobody_has_its_bands_widened_in_turns() -> None:
    house = Unwelcoming()
    room = StandingSeeks(by_number, house)
    for player in range(2 * MOST_IN_TURN):
        room.seek(person(player), 0)
    house.asked = 0
    assert room.tick(BANDS[1][0]) == []
    first = house.asked
    assert 0 < first <= MOST_IN_TURN * 2 * MAX_LOOKS, "in the lists of both bands"
    assert room.is_behind(BANDS[1][0])
    assert room.tick(BANDS[1][0]) == []
    both = house.asked
    assert first < both, "the other half"
    assert not room.is_behind(BANDS[1][0])
    assert room.is_behind(BANDS[2][0])
    assert room.tick(BANDS[1][0]) == []
    assert house.asked == both, "nobody is left whose band is due"


def test_a_crowd_gets_suggestions_of_bots_in_batches() -> None:
    room = StandingSeeks(by_number, Unwelcoming())
    for player in range(2 * MOST_TOLD):
        room.seek(person(player), 0)
    told = [[seek.player for seek in room.alone(ALONE_MS)] for _ in range(3)]
    assert told == [[*range(MOST_TOLD)], [*range(MOST_TOLD, 2 * MOST_TOLD)], []]


@dataclass
class Waiting:
    """A seek as the model knows it."""

    seek: Seek
    since_ms: int
    hidden_until_ms: int | None = None


class Room(RuleBasedStateMachine):
    """Standing seeks beside a model that compares everybody with everybody."""

    seeks = st.builds(
        Seek,
        player=st.integers(0, 9),
        is_bot=st.booleans(),
        games=st.lists(st.sampled_from(GAMES), max_size=2, unique=True).map(tuple),
        time=st.sampled_from([None, BLITZ]),
        opponents=st.sampled_from(["any", "any", "people", "bots"]),
        is_rated=st.booleans(),
        or_casual=st.booleans(),
        min_rating=st.none() | st.integers(900, 2_300),
        max_rating=st.none() | st.integers(900, 2_300),
    )
    players = st.integers(0, 9)

    def __init__(self) -> None:
        super().__init__()
        self.ratings = {player: 1_000 + player * 170 % 1_100 for player in range(10)}
        self.apart: set[frozenset[int]] = set()
        """Pairs of players whom the house keeps apart."""
        self.room = StandingSeeks(self.rating, lambda one, other: {one.player, other.player} not in self.apart)
        self.model: dict[int, Waiting] = {}
        self.now_ms = self.ticked_ms = 0

    def rating(self, player: int, game: str, time: TimeControl | None) -> int:
        return self.ratings[player] + 10 * len(game)

    def common(self, one: Seek, other: Seek, band: int) -> Iterator[tuple[int, str]]:
        """Return how far apart the two are, in each game in which they may meet."""
        is_welcome = one.welcomes(is_bot=other.is_bot) and other.welcomes(is_bot=one.is_bot)
        is_of_kind = one.is_rated == other.is_rated or any(each.is_rated and each.or_casual for each in (one, other))
        if one.player == other.player or one.time != other.time or not is_of_kind or not is_welcome:
            return
        if {one.player, other.player} in self.apart:
            return
        is_open = not one.games or not other.games
        games = (one.games or other.games or (ANY_GAME,)) if is_open else set(one.games) & set(other.games)
        for game in games:
            mine, theirs = self.rating(one.player, game, one.time), self.rating(other.player, game, one.time)
            if one.admits(theirs) and other.admits(mine) and (is_open or abs(mine - theirs) <= band):
                yield (0 if is_open else abs(mine - theirs)), game

    def band(self, waiting: Waiting) -> int:
        return max(band for since_ms, band in BANDS if since_ms <= max(0, self.ticked_ms - waiting.since_ms))

    def fits(self, one: Waiting, other: Waiting) -> list[tuple[int, str]]:
        return list(self.common(one.seek, other.seek, max(self.band(one), self.band(other))))

    def take(self, match: SeekMatch) -> None:
        """Check a match, and take both out of the model."""
        one = self.model.pop(match.seek.player)
        other = self.model.pop(match.found.player)
        assert other.hidden_until_ms is None
        assert match.game in [game for _, game in self.fits(one, other)]

    @rule(seek=seeks)
    def seek(self, seek: Seek) -> None:
        self.model.pop(seek.player, None)
        mine = Waiting(seek, self.now_ms)
        best = min(
            (
                (other.seek.is_bot, distance, other.seek.number)
                for other in self.model.values()
                if other.hidden_until_ms is None
                for distance, _ in self.fits(mine, other)
            ),
            default=None,
        )
        match = self.room.seek(seek, self.now_ms)
        if match is None:
            assert best is None
            standing = self.room.of(seek.player)
            assert standing is not None
            self.model[seek.player] = Waiting(standing, self.now_ms)
            return
        assert best is not None
        assert match.found.number == best[2]
        self.model[seek.player] = mine
        self.take(match)

    @rule(player=players)
    def withdraw(self, player: int) -> None:
        assert self.room.withdraw(player) == (self.model.pop(player, None) is not None)

    @rule(player=players)
    def hide(self, player: int) -> None:
        self.room.hide(player, self.now_ms)
        waiting = self.model.get(player)
        if waiting and waiting.hidden_until_ms is None:
            waiting.hidden_until_ms = self.now_ms + GRACE_MS

    @rule(player=players)
    def restore(self, player: int) -> None:
        match = self.room.restore(player)
        if player in self.model:
            self.model[player].hidden_until_ms = None
        if match:
            self.take(match)

    @rule(player=players, rating=st.integers(900, 2_300))
    def is_rated_anew(self, player: int, rating: int) -> None:
        """Give a player another rating, which may bring them into somebody's range, or out of it."""
        self.ratings[player] = rating
        match = self.room.rated(player)
        if match:
            self.take(match)

    @rule(pair=st.lists(players, min_size=2, max_size=2, unique=True))
    def keep_apart(self, pair: list[int]) -> None:
        self.apart.add(frozenset(pair))

    @rule(pair=st.lists(players, min_size=2, max_size=2, unique=True))
    def let_meet(self, pair: list[int]) -> None:
        self.apart.discard(frozenset(pair))
        for player in pair:
            match = self.room.look_again(player)
            if match:
                self.take(match)

    @rule(player=players, away_ms=st.integers(1, GRACE_MS - 1))
    def leave_twice(self, player: int, away_ms: int) -> None:
        """Lose a link twice: the second grace is whole, whatever is left of the first."""
        self.hide(player)
        self.restore(player)
        self.time_passes(away_ms)
        self.hide(player)

    @rule(
        pair=st.lists(players, min_size=2, max_size=2, unique=True),
        stage=st.integers(0, len(BANDS) - 2),
        beyond=st.integers(-1, 1),
        apart_ms=st.sampled_from([0, 500]),
    )
    def nearly_fit(self, pair: list[int], stage: int, beyond: int, apart_ms: int) -> None:
        """Let two people seek whose ratings are about as far apart as the older seek's next band is wide."""
        since_ms, band = BANDS[stage + 1]
        for player, rating in zip(pair, (1_000, 1_000 + min(band, 1_000) + beyond), strict=True):
            self.withdraw(player)
            self.ratings[player] = rating
        self.seek(Seek(pair[0], False, ("gomoku",)))
        self.time_passes(since_ms - apart_ms)
        self.seek(Seek(pair[1], False, ("gomoku",)))
        self.time_passes(apart_ms)

    @rule(later_ms=st.sampled_from([0, 300, 1_000, 2_500, 12_000]))
    def time_passes(self, later_ms: int) -> None:
        self.now_ms += later_ms
        self.ticked_ms = self.now_ms
        gone = [p for p, each in self.model.items() if (each.hidden_until_ms or self.now_ms + 1) <= self.now_ms]
        for player in gone:
            del self.model[player]
        for match in self.room.tick(self.now_ms):
            self.take(match)

    @rule(which=st.integers(0, 9), near_ms=st.sampled_from([-1, 0, 1]))
    def time_passes_to_a_deadline(self, which: int, near_ms: int) -> None:
        """Stop just before, at or just after the time when a band widens or a grace ends."""
        due = {
            *(each.since_ms + since_ms for each in self.model.values() for since_ms, _ in BANDS[1:]),
            *(each.hidden_until_ms for each in self.model.values() if each.hidden_until_ms is not None),
        }
        later = sorted(at_ms for at_ms in due if at_ms + near_ms >= self.now_ms)
        if later:
            self.time_passes(later[which % len(later)] + near_ms - self.now_ms)

    @invariant()
    def those_who_wait_are_those_of_the_model(self) -> None:
        visible = {each.seek.number for each in self.model.values() if each.hidden_until_ms is None}
        assert {seek.number for seek in self.room} == visible
        assert {seek.number for seek in self.room.hidden()} == {e.seek.number for e in self.model.values()} - visible
        assert len(self.room) == len(visible)
        assert all(self.room.of(player) == each.seek for player, each in self.model.items())

    @invariant()
    def no_two_who_wait_fit_each_other(self) -> None:
        visible = [each for each in self.model.values() if each.hidden_until_ms is None]
        for one, other in combinations(visible, 2):
            assert not self.fits(one, other)


Room.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestRoom = Room.TestCase


def test_seeks_for_both_kinds_match_seeks_for_either_kind() -> None:
    for is_rated in (True, False):
        room = waiting(person(1, is_rated=is_rated))
        match = room.seek(person(2, is_rated=True, or_casual=True), 0)
        assert match is not None
        assert match.found.player == 1
        room = waiting(person(1, is_rated=True, or_casual=True))
        assert room.seek(person(2, is_rated=is_rated), 0) is not None
        assert len(room) == 0
        assert room.seek(person(3, is_rated=True), 0) is None, "the one who took both kinds is in no list any more"
        assert room.seek(person(4), 0) is None
