"""Arenas: points with streaks, and who plays whom next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.tournaments.arena import PATIENCE_MS, ArenaResult, WaitingEntrant, arena_pairs, arena_points

RESULTS: dict[str, ArenaResult] = {"w": "win", "d": "draw", "e": "early_draw", "l": "loss", "v": "void"}


def points(letters: str) -> list[int]:
    return arena_points(RESULTS[letter] for letter in letters)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("wwwww", [2, 2, 4, 4, 4]),
        ("wwdww", [2, 2, 2, 2, 2]),
        ("wwlw", [2, 2, 0, 2]),
        ("dd", [1, 0]),
        ("dldwd", [1, 0, 0, 2, 1]),
        ("ed", [0, 0]),
        ("wwvw", [2, 2, 0, 4]),
        ("dvd", [1, 0, 0]),
        ("", []),
    ],
)
def test_points_are_doubled_on_a_streak_and_draws_in_a_row_are_worth_nothing(letters: str, expected: list[int]) -> None:
    assert points(letters) == expected


@given(st.text("wdelv", max_size=40))
def test_the_next_win_counts_double_after_two_wins_that_only_voids_separate(letters: str) -> None:
    assert points(f"{letters}w")[-1] == (4 if letters.replace("v", "").endswith("ww") else 2)


def waiting(*entrants: int, since_ms: int = 0, last: dict[int, int] | None = None) -> list[WaitingEntrant]:
    """Return entrants whose rank is their number; each has waited a little longer than the next."""
    return [WaitingEntrant(each, each, since_ms + at, (last or {}).get(each)) for at, each in enumerate(entrants)]


def test_a_few_wait_for_equals_until_one_has_waited_long() -> None:
    assert arena_pairs(waiting(1, 2, 3), present=9, now_ms=PATIENCE_MS - 1) == []
    assert arena_pairs(waiting(1, 2, 3), present=9, now_ms=PATIENCE_MS) == [(1, 2)]
    assert arena_pairs(waiting(1, 9, 2, 8), present=9, now_ms=0) == [(1, 2), (9, 8)]
    assert arena_pairs(waiting(1, 2, 3, 4), present=100, now_ms=0) == [], "of a hundred, thirteen are awaited"
    assert arena_pairs(waiting(1), present=1, now_ms=10**9) == []


def test_two_who_have_just_met_wait_for_others_if_there_are_any() -> None:
    met = {1: 2, 2: 1}
    assert arena_pairs(waiting(1, 2, last=met), present=3, now_ms=PATIENCE_MS) == []
    assert arena_pairs(waiting(1, 2, last=met), present=2, now_ms=PATIENCE_MS) == [(1, 2)]
    assert arena_pairs(waiting(1, 2, 3, last=met), present=3, now_ms=PATIENCE_MS) == [(1, 3)], (
        "the newest does not rest"
    )


def test_the_player_who_moved_first_less_often_begins() -> None:
    one, other = WaitingEntrant(1, 1, 0, firsts=1), WaitingEntrant(2, 2, 1, firsts=0)
    assert arena_pairs([one, other], present=2, now_ms=PATIENCE_MS) == [(2, 1)]


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.integers(0, 30_000), st.none() | st.integers(1, 30)), min_size=0, max_size=30
    ),
    st.integers(0, 60),
)
def test_nobody_is_paired_twice_and_somebody_who_waited_long_is_served(
    rows: list[tuple[int, int, int | None]], more: int
) -> None:
    field = [WaitingEntrant(number, rank, since_ms, last) for number, (rank, since_ms, last) in enumerate(rows, 1)]
    present = len(field) + more
    pairs = arena_pairs(field, present, now_ms=45_000)
    seats = [entrant for pair in pairs for entrant in pair]
    assert len(seats) == len(set(seats))
    assert set(seats) <= {each.entrant for each in field}
    last = {each.entrant: each.last_opponent for each in field}
    for one, other in pairs:
        assert present <= 2 or (last[one] != other and last[other] != one)
    resting = [each for each in field if each.entrant not in seats]
    free = [(one, other) for one in resting for other in resting if one.entrant < other.entrant]
    assert all(last[one.entrant] == other.entrant or last[other.entrant] == one.entrant for one, other in free)
