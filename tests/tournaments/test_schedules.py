"""Round robins as in FIDE's tables, and knockouts."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.tournaments.schedules import (
    KnockoutBoard,
    first_boards,
    knockout_places,
    next_boards,
    round_robin,
    third_place,
)

BERGER = {
    4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
    6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
    8: [
        "1-8 2-7 3-6 4-5",
        "8-5 6-4 7-3 1-2",
        "2-8 3-1 4-7 5-6",
        "8-6 7-5 1-4 2-3",
        "3-8 4-2 5-1 6-7",
        "8-7 1-6 2-5 3-4",
        "4-8 5-3 6-2 7-1",
    ],
}
"""The tables of the FIDE Handbook, C.05, annex 1."""


def numbered(count: int) -> list[int]:
    return list(range(1, count + 1))


@pytest.mark.parametrize("count", BERGER)
def test_a_round_robin_is_that_of_the_handbook(count: int) -> None:
    rounds = [" ".join(f"{first}-{second}" for first, second in each) for each in round_robin(numbered(count))]
    assert [set(each.split()) for each in rounds] == [set(each.split()) for each in BERGER[count]]


@given(st.integers(2, 33), st.integers(1, 2))
def test_everybody_meets_everybody_once_a_cycle_and_once_a_round(count: int, cycles: int) -> None:
    rounds = round_robin(numbered(count), cycles)
    for each in rounds:
        seats = [entrant for pair in each for entrant in pair]
        assert len(seats) == len(set(seats)) == count - count % 2
    pairs = Counter(frozenset(pair) for each in rounds for pair in each)
    assert pairs == dict.fromkeys(map(frozenset, combinations(numbered(count), 2)), cycles)
    firsts = Counter(first for each in rounds for first, _ in each)
    assert all(abs(2 * firsts[entrant] - cycles * (count - 1)) <= (cycles == 1) for entrant in numbered(count))


@pytest.mark.parametrize("count", [4, 6, 8, 10, 12])
def test_nobody_has_one_side_three_times_in_a_row_in_two_cycles(count: int) -> None:
    rounds = round_robin(numbered(count), 2)
    for entrant in numbered(count):
        sides = [pair.index(entrant) for each in rounds for pair in each if entrant in pair]
        assert all(len({*three}) == 2 for three in zip(sides, sides[1:], sides[2:], strict=False))


def test_one_alone_has_no_tournament() -> None:
    with pytest.raises(ValueError, match="at least two"):
        round_robin([7])
    with pytest.raises(ValueError, match="at least two"):
        first_boards([7])


def test_seeds_stand_in_a_bracket_so_that_the_best_meet_last() -> None:
    expected = [(1, 16), (8, 9), (4, 13), (5, 12), (2, 15), (7, 10), (3, 14), (6, 11)]
    assert first_boards(numbered(16)) == expected
    assert first_boards([30, 10, 20, 50, 40]) == [(30, None), (50, 40), (10, None), (20, None)]


@given(st.integers(2, 70), st.randoms())
def test_a_knockout_ends_with_one_winner_and_everybody_has_a_place(count: int, rng: random.Random) -> None:
    boards, rounds, winners = first_boards(numbered(count)), [], []
    while boards:
        won = {
            index: rng.choice([board.one, board.other]) for index, board in enumerate(boards) if board.other is not None
        }
        rounds.append(boards)
        winners.append(won)
        boards = next_boards(boards, won)
    assert sum(len(each) for each in winners) == count - 1, "everybody but the winner loses once"
    places = knockout_places(rounds, winners)
    assert Counter(places.values())[1] == 1
    assert sorted(places) == numbered(count)
    for better, worse in pairwise(sorted(set(places.values()))):
        assert worse == sum(place <= better for place in places.values()) + 1
    for seed in numbered(count):
        is_bye = KnockoutBoard(seed, None) in rounds[0]
        assert is_bye == (seed <= 2 * len(rounds[0]) - count), "the best seeds have the byes"


def test_the_losers_of_the_semifinals_play_for_third_place() -> None:
    semifinals = first_boards(numbered(4))
    won = {0: 4, 1: 2}
    assert third_place(semifinals, won) == (1, 3)
    final = next_boards(semifinals, won)
    assert final == [(4, 2)]
    assert next_boards(final, {0: 2}) == []
    assert knockout_places([semifinals, final], [won, {0: 2}]) == {2: 1, 4: 2, 1: 3, 3: 3}
    assert knockout_places([semifinals, final], [won, {0: 2}], third=3) == {2: 1, 4: 2, 3: 3, 1: 4}
    assert third_place(first_boards([1, 2, 3]), {1: 3}) is None, "one of two semifinals was a bye"
    assert third_place(final, {0: 2}) is None


def test_a_round_does_not_end_before_each_board_has_a_winner_of_its_own() -> None:
    boards = first_boards(numbered(4))
    for winners in ({0: 1}, {0: 1, 1: 4}):
        with pytest.raises(ValueError, match="2 and 3 has no winner"):
            next_boards(boards, winners)


def test_places_are_known_while_a_round_is_being_played() -> None:
    boards = first_boards(numbered(4))
    assert knockout_places([boards], [{1: 2}]) == {3: 3}
