"""Standings: scores and tie-breaks, by an example worked out by hand and by a slow count of the rules."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.tournaments.schedules import Entrant, round_robin
from ttt_net.tournaments.standings import (
    ORDERS,
    RoundOff,
    RoundResult,
    TieBreak,
    TournamentRow,
    early_leavers,
    in_points,
    standings,
)

EXAMPLE = [
    RoundResult(1, 1, 4, (2, 0)),
    RoundResult(1, 2, 3, (1, 1)),
    RoundResult(2, 4, 3, (0, 2)),
    RoundResult(2, 1, 2, (1, 1)),
    RoundResult(3, 2, 4, (2, 0)),
    RoundResult(3, 3, 1, (0, 2)),
]


@pytest.mark.parametrize(
    ("name", "value", "printed"),
    [("buchholz", 9, 4.5), ("sonneborn_berger", 9, 2.25), ("wins", 3, 3), ("opponents", 3_000, 1.5)],
)
def test_tables_print_tie_breaks_in_points_and_matches(name: TieBreak, value: int, printed: float) -> None:
    assert in_points(name, value) == printed


def places(rows: list[TournamentRow]) -> dict[Entrant, int]:
    return {row.entrant: row.place for row in rows}


def breaks(name: TieBreak, results: list[RoundResult], offs: list[RoundOff], count: int) -> list[int]:
    """Return one tie-break of the entrants 1 to `count`."""
    rows = standings(range(1, count + 1), results, offs, (name,))
    return [row.breaks[0] for row in sorted(rows, key=lambda row: row.entrant)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wins", [2, 1, 1, 0]),
        ("progressive", [10, 7, 7, 0]),
        ("buchholz", [7, 8, 9, 12]),
        ("buchholz_cut_1", [7, 8, 9, 9]),
        ("sonneborn_berger", [10, 8, 4, 0]),
        ("koya", [3, 2, 1, 0]),
        ("fewer_games", [-3, -3, -3, -3]),
        ("opponents", [2_333, 2_666, 3_000, 4_000]),
    ],
)
def test_the_tie_breaks_of_a_round_robin_of_four(name: TieBreak, expected: list[int]) -> None:
    assert breaks(name, EXAMPLE, [], 4) == expected
    assert [(row.entrant, row.score) for row in standings(range(1, 5), EXAMPLE)] == [(1, 5), (2, 4), (3, 3), (4, 0)]


def test_the_direct_encounter_counts_where_all_of_a_group_have_met() -> None:
    results = [RoundResult(1, 1, 2, (0, 2)), RoundResult(2, 1, 3, (2, 0)), RoundResult(3, 4, 2, (2, 0))]
    assert places(standings(range(1, 5), results, order=("direct",))) == {1: 1, 2: 1, 4: 1, 3: 4}, (
        "1 and 4 have not met"
    )
    rows = standings([1, 2, 4], [RoundResult(1, 1, 2, (0, 2)), RoundResult(2, 1, 4, (2, 0))], order=("direct",))
    assert places(rows) == {2: 1, 1: 2, 4: 3}
    cycle = [RoundResult(1, 1, 2, (2, 0)), RoundResult(2, 2, 3, (2, 0)), RoundResult(3, 3, 1, (2, 0))]
    assert places(standings([1, 2, 3], cycle, order=("direct",))) == {1: 1, 2: 1, 3: 1}


def test_equal_entrants_share_a_place_and_the_next_place_is_skipped() -> None:
    results = [RoundResult(1, 1, 3, (2, 0)), RoundResult(1, 2, 4, (2, 0))]
    assert places(standings([4, 3, 2, 1], results)) == {1: 1, 2: 1, 3: 3, 4: 3}


def test_an_unplayed_round_counts_as_an_opponent_of_the_own_score() -> None:
    results = [RoundResult(1, 1, 2, (2, 0)), RoundResult(2, 1, 3, (2, 0)), RoundResult(2, 2, 4, (2, 0), False)]
    offs = [RoundOff(1, 3, 2), RoundOff(1, 4, 0, True)]
    assert breaks("buchholz", results, offs, 4) == [2 + 2, 4 + 2, 2 + 4, 0]
    assert breaks("wins", results, offs, 4) == [2, 0, 0, 0]
    assert breaks("sonneborn_berger", results, offs, 4) == [2 * 2 + 2 * 2, 2 * 2, 2 * 2, 0]


def test_voluntary_absences_at_the_end_are_draws_for_the_opponents_and_are_cut_first() -> None:
    results = [RoundResult(1, 1, 2, (2, 0)), RoundResult(2, 1, 3, (2, 0))]
    offs = [
        RoundOff(1, 3, 2),
        RoundOff(2, 2, 0, True),
        RoundOff(3, 1, 0, True),
        RoundOff(3, 2, 0, True),
        RoundOff(3, 3, 1, True),
    ]
    assert breaks("buchholz", results, offs, 3) == [2 + 3 + 4, 5 + 0 + 0, 3 + 5 + 3]
    assert breaks("buchholz_cut_1", results, offs, 3) == [2 + 3, 5, 3 + 5]


def test_an_arena_is_ranked_by_its_points_and_the_mean_of_the_opponents() -> None:
    results = [RoundResult(1, 1, 2, (2, 0)), RoundResult(2, 3, 4, (2, 0)), RoundResult(3, 3, 2, (0, 2))]
    rows = standings(range(1, 5), results, order=ORDERS["arena"], points={1: 2, 2: 2, 3: 2})
    assert [(row.place, row.entrant) for row in rows] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert [row.breaks[0] for row in rows] == [2_000, 2_000, 1_000, 2_000]


def test_a_result_of_somebody_who_did_not_enter_is_refused() -> None:
    with pytest.raises(ValueError, match="entrant 9 has a result"):
        standings([1, 2], [RoundResult(1, 1, 9, (2, 0))])


def test_leavers_before_half_of_a_round_robin_do_not_count() -> None:
    rounds = 3
    assert early_leavers(EXAMPLE, [], rounds) == set()
    early, late = EXAMPLE[:2], EXAMPLE[:4]
    assert early_leavers(early, [4], rounds) == {4}
    assert early_leavers(late, [4], rounds) == set()


def slow_rows(
    entrants: list[Entrant], results: list[RoundResult], offs: list[RoundOff]
) -> dict[Entrant, dict[TieBreak, int]]:
    """Count the tie-breaks anew for each entrant, round by round, as the handbook tells them."""
    last = max([*(result.round for result in results), *(off.round for off in offs)], default=0)

    def round_of(entrant: Entrant, number: int) -> tuple[int, Entrant | None, bool]:
        for result in results:
            if result.round == number and entrant in (result.first, result.second):
                is_first = result.first == entrant
                points = result.points[0 if is_first else 1]
                other = result.second if is_first else result.first
                return points, other if result.is_played else None, not result.is_played and points == 0
        off = next(off for off in offs if (off.round, off.entrant) == (number, entrant))
        return off.points, None, off.is_voluntary

    def score(entrant: Entrant) -> int:
        return sum(round_of(entrant, number)[0] for number in range(1, last + 1))

    def adjusted(entrant: Entrant) -> int:
        total, number = score(entrant), last
        while number and round_of(entrant, number)[2]:
            total += 1 - round_of(entrant, number)[0]
            number -= 1
        return total

    found: dict[Entrant, dict[TieBreak, int]] = {}
    for entrant in entrants:
        rows = [round_of(entrant, number) for number in range(1, last + 1)]
        values = [score(entrant) if other is None else adjusted(other) for _, other, _ in rows]
        voluntary = [value for value, (_, _, is_voluntary) in zip(values, rows, strict=True) if is_voluntary]
        found[entrant] = {
            "wins": len([1 for points, other, _ in rows if other is not None and points == 2]),
            "progressive": sum(sum(points for points, _, _ in rows[:number]) for number in range(1, last + 1)),
            "buchholz": sum(values),
            "buchholz_cut_1": sum(values) - min(voluntary or values or [0]),
            "sonneborn_berger": sum(points * value for value, (points, _, _) in zip(values, rows, strict=True)),
            "koya": sum(points for points, other, _ in rows if other is not None and score(other) >= last),
        }
    return found


@given(st.integers(2, 9), st.integers(0, 8), st.randoms(use_true_random=False))
def test_tie_breaks_are_those_of_a_slow_count(count: int, most: int, rng: random.Random) -> None:
    entrants = list(range(1, count + 1))
    results: list[RoundResult] = []
    offs: list[RoundOff] = []
    for number, pairs in enumerate(round_robin(entrants)[:most], 1):
        away = {each for each in entrants if rng.random() < 0.2}
        for first, second in pairs:
            if not away & {first, second}:
                points, is_played = rng.choice([((2, 0), True), ((1, 1), True), ((0, 2), True), ((2, 0), False)])
                results.append(RoundResult(number, first, second, points, is_played))
        paired = {each for result in results if result.round == number for each in (result.first, result.second)}
        for entrant in set(entrants) - paired:
            is_voluntary = entrant in away
            offs.append(RoundOff(number, entrant, rng.choice([0, 1]) if is_voluntary else 2, is_voluntary))
    expected = slow_rows(entrants, results, offs)
    names = list(next(iter(expected.values())))
    for name in names:
        assert breaks(name, results, offs, count) == [expected[entrant][name] for entrant in entrants]
    rows = standings(entrants, results, offs, ORDERS["round_robin"])
    keys = [(row.score, *row.breaks) for row in rows]
    assert keys == sorted(keys, reverse=True)
    assert [row.place for row in rows] == [keys.index(key) + 1 for key in keys]


ORACLE = json.loads((Path(__file__).parent / "tie_breaks.json").read_text())
"""Results of some tournaments, and their tie-breaks in points as an independent program counts them."""


@pytest.mark.parametrize("number", range(len(ORACLE["tournaments"])))
def test_tie_breaks_are_those_of_a_program_of_fide(number: int) -> None:
    """Compare all entrants who have played every round.

    For own unplayed rounds the rules of 2026, which the program follows, differ from those of 2024.
    """
    told = ORACLE["tournaments"][number]
    results, offs, unplayed = list[RoundResult](), list[RoundOff](), set[Entrant]()
    for round_number, boards in enumerate(told["rounds"], 1):
        for first, second, points, is_played in boards:
            if second is None:
                offs.append(RoundOff(round_number, first, points[0]))
            else:
                results.append(RoundResult(round_number, first, second, tuple(points), is_played))
            if not is_played:
                unplayed |= {first, second}
    entrants = [int(each) for each in told["values"]]
    compared = [each for each in entrants if each not in unplayed]
    assert len(compared) >= 4
    for column, name in enumerate(ORACLE["tie_breaks"]):
        rows = {row.entrant: row.breaks[0] for row in standings(entrants, results, offs, [name])}
        expected = {each: told["values"][str(each)][column] for each in compared}
        assert {each: in_points(name, rows[each]) for each in compared} == expected, name
