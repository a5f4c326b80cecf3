"""Glicko-2 as its paper has it, and what any rating must keep, whatever is played."""

import math

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ttt_net import ratings
from ttt_net.ratings import PERIOD_MS, Rating, aged, rated, updated_by

YEAR_MS = 365 * 24 * 3_600_000


def test_the_example_of_the_paper_gives_its_printed_numbers() -> None:
    """Glickman, Example of the Glicko-2 system, page 4: 1464.06, 151.52, 0.05999; it rounds on the way."""
    player = Rating(1500, 200, 0.06)
    results = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = updated_by(player, results)
    assert after.rating == pytest.approx(1464.06, abs=0.02)
    assert after.deviation == pytest.approx(151.52, abs=0.005)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)
    assert after.games == 3


def test_a_new_rating_settles_after_some_dozen_matches() -> None:
    one, other = Rating(), Rating()
    assert one.is_provisional
    matches = 0
    while one.is_provisional:
        matches += 1
        one, other = rated(one, other, (1, 0, 0.5)[matches % 3], matches * 60_000)
    assert 8 <= matches <= 16
    assert one.games == other.games == matches


def test_a_settled_rating_is_provisional_again_after_a_year() -> None:
    settled = Rating(1800, ratings.MIN_DEVIATION, 0.06, 80, at_ms=5)
    assert not aged(settled, 5 + YEAR_MS * 9 // 10).is_provisional
    assert aged(settled, 5 + YEAR_MS * 11 // 10).is_provisional
    assert aged(settled, 5 + 200 * YEAR_MS).deviation == ratings.MAX_DEVIATION
    assert aged(settled, 0) == settled, "a clock that went back makes nothing younger"


def test_after_a_long_absence_a_rating_moves_faster() -> None:
    settled = Rating(1500, 60, 0.06, 50, at_ms=0)
    soon = rated(settled, Rating(1500, 60, 0.06, 50), 1, 1)[0]
    late = rated(settled, Rating(1500, 60, 0.06, 50), 1, 100 * PERIOD_MS)[0]
    assert late.rating - 1500 > 1.5 * (soon.rating - 1500)


def test_settled_ratings_stand_before_provisional_ones() -> None:
    settled = [Rating(rating, 60) for rating in (100, 1500, 4000)]
    provisional = [Rating(rating, 111) for rating in (100, 1500, 4000)]
    assert sorted([*settled, *provisional], key=lambda each: each.standing) == [*provisional, *settled]


some_ratings = st.builds(
    Rating,
    rating=st.floats(ratings.LOWEST, ratings.HIGHEST),
    deviation=st.floats(ratings.MIN_DEVIATION, ratings.MAX_DEVIATION),
    volatility=st.floats(0.03, 0.1),
    games=st.integers(1, 10_000),
    at_ms=st.integers(0, 2**42),
)
scores = st.sampled_from([0.0, 0.5, 1.0])
times = st.integers(0, 2**43)
ROUNDED = 1e-4
"""Ratings are kept with four digits; the examples have more."""


@given(some_ratings, some_ratings, scores, times)
@example(Rating(100.0, 45.0, 0.0625, 1, 0), Rating(2753.935546875, 45.0, 0.0625, 1, 0), 0.0, 0)
def test_winning_costs_no_rating_and_ratings_keep_their_bounds(
    one: Rating, other: Rating, score: float, at_ms: int
) -> None:
    for before, after, scored in zip((one, other), rated(one, other, score, at_ms), (score, 1 - score), strict=True):
        assert all(map(math.isfinite, after))
        assert ratings.LOWEST <= after.rating <= ratings.HIGHEST
        assert ratings.MIN_DEVIATION <= after.deviation <= ratings.MAX_DEVIATION
        assert 0 < after.volatility < 1
        assert after.games == before.games + 1
        assert after.at_ms == at_ms
        if scored == 1:
            assert after.rating >= before.rating - ROUNDED
        if scored == 0:
            assert after.rating <= before.rating + ROUNDED


@given(some_ratings, some_ratings, scores, times)
def test_both_sides_of_a_match_are_treated_equally(one: Rating, other: Rating, score: float, at_ms: int) -> None:
    first, second = rated(one, other, score, at_ms)
    assert rated(other, one, 1 - score, at_ms) == (second, first)


@given(some_ratings, st.floats(ratings.LOWEST + 800, ratings.HIGHEST - 800), scores, times)
def test_between_equally_sure_ratings_one_gains_what_the_other_loses(
    one: Rating, rating: float, score: float, at_ms: int
) -> None:
    """The sum stays, but for the digits that are rounded away, as long as neither comes to a bound."""
    first = one._replace(rating=min(ratings.HIGHEST - 800, max(ratings.LOWEST + 800, one.rating)))
    second = first._replace(rating=rating)
    after = rated(first, second, score, at_ms)
    assume(all(ratings.LOWEST < each.rating < ratings.HIGHEST for each in after))
    assert after[0].rating + after[1].rating == pytest.approx(first.rating + second.rating, abs=1e-3)


def test_a_rating_at_its_bound_stays_there_while_the_other_changes_fully() -> None:
    first, second = Rating(1557.0, 45.0, 0.1, 1, 0), Rating(900.0, 45.0, 0.1, 1, 0)
    after = rated(first, second, 0.0, 795_791_092_981)  # after 25 years, nothing is sure
    assert after[0].rating == ratings.LOWEST
    assert after[1].rating == pytest.approx(2357.5, abs=1e-3)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), scores), max_size=60))
def test_equal_players_who_play_on_keep_together(matches: list[tuple[int, int, float]]) -> None:
    """A state machine of a small club: only those who play change, and their ratings get no less sure by it."""
    club = [Rating() for _ in range(6)]
    for number, (one, other, score) in enumerate(matches, 1):
        if one == other:
            continue
        before = list(club)
        club[one], club[other] = rated(club[one], club[other], score, number)
        assert [each for seat, each in enumerate(club) if seat not in (one, other)] == [
            each for seat, each in enumerate(before) if seat not in (one, other)
        ]
        assert club[one].deviation <= max(before[one].deviation, ratings.MIN_DEVIATION) + 1
    assert sum(each.games for each in club) == 2 * sum(one != other for one, other, _ in matches)


@given(st.floats(45, 110), st.floats(0.03, 0.12), st.integers(0, 2**41))
def test_a_settled_rating_knows_when_it_becomes_provisional(deviation: float, volatility: float, at_ms: int) -> None:
    rating = Rating(1_500, deviation, volatility, 30, at_ms)
    until_ms = rating.settled_until_ms
    assert until_ms is not None
    assert not aged(rating, max(at_ms, until_ms - 1_000)).is_provisional or until_ms < at_ms + 1_000
    assert aged(rating, until_ms + 1_000).is_provisional
    assert aged(rating, until_ms + 1_000).settled_until_ms is None


def test_the_largest_deviation_of_a_settled_rating_is_settled() -> None:
    assert not Rating(deviation=ratings.SETTLED_DEVIATION).is_provisional
    assert Rating(deviation=ratings.SETTLED_DEVIATION + 0.0001).is_provisional


def test_the_deviation_of_an_unrated_player_does_not_grow_with_time() -> None:
    assert aged(Rating(deviation=100.0), 100 * PERIOD_MS).deviation == pytest.approx(100.0)
    assert aged(Rating(deviation=100.0, games=1), 100 * PERIOD_MS).deviation > 100.1


def volatility_by_bisection(player: Rating, opponent: Rating, score: float) -> float:
    """Return the new volatility after one match, from the equation of the paper's step 5 alone."""
    scale = 173.7178
    g = 1 / math.sqrt(1 + 3 * (opponent.deviation / scale) ** 2 / math.pi**2)
    expected = 1 / (1 + math.exp(-g * (player.rating - opponent.rating) / scale))
    variance = 1 / (g**2 * expected * (1 - expected))
    delta, deviation = variance * g * (score - expected), player.deviation / scale
    start = math.log(player.volatility**2)

    def f(x: float) -> float:
        square = deviation**2 + variance + math.exp(x)
        return math.exp(x) * (delta**2 - square) / (2 * square**2) - (x - start) / ratings.TAU**2

    low, high = start - 20.0, start + 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return math.exp(low / 2)


@given(
    st.floats(1_000, 2_000),
    st.floats(45, 350),
    st.floats(0.03, 0.2),
    st.floats(1_000, 2_000),
    st.floats(45, 350),
    scores,
)
@example(1_000.0, 45.0, 0.06, 2_000.0, 45.0, 1.0)
@example(1_500.0, 45.0, 0.06, 1_500.0, 45.0, 0.5)
def test_the_new_volatility_solves_the_equation_of_the_paper(
    rating: float, deviation: float, volatility: float, theirs: float, their_deviation: float, score: float
) -> None:
    player, opponent = Rating(rating, deviation, volatility, 5), Rating(theirs, their_deviation)
    expected = volatility_by_bisection(player, opponent, score)
    assert updated_by(player, [(opponent, score)]).volatility == pytest.approx(expected, rel=2e-6)


def test_a_rating_stays_provisional_until_its_player_has_met_five_opponents() -> None:
    settled = Rating(1_500, 60.0, 0.06, 40)
    few, enough = (rated(settled, settled, 1.0, 0, met=(met, 5))[0] for met in (4, 5))
    assert few.is_provisional
    assert few.deviation == ratings.FEW_OPPONENTS_DEVIATION
    assert not enough.is_provisional
