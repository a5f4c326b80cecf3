"""Round robins as in FIDE's tables, and knockouts."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ttt_net.tournaments.schedules import (
    PATIENCE_MS,
    REIGN,
    ArenaResult,
    KingTable,
    KnockoutBoard,
    TableQueue,
    WaitingEntrant,
    arena_pairs,
    arena_points,
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


def queue_of(*entrants: int) -> TableQueue:
    queue = TableQueue()
    for entrant in entrants:
        queue = queue.joined(entrant)
    return queue


def test_the_winner_stays_and_the_loser_goes_to_the_back() -> None:
    queue, pairs = queue_of(1, 2, 3, 4).started()
    assert pairs == [(2, 1)], "four players have one table, and the challenger moves first"
    queue, pairs = queue.ended((2, 1), winner=2).started()
    assert (pairs, queue.waiting) == ([(3, 2)], (4, 1))
    queue, pairs = queue.ended((3, 2), winner=2).started()
    assert (pairs, queue.waiting) == ([(4, 2)], (1, 3))


def test_a_king_who_has_won_three_times_gives_up_the_table() -> None:
    queue, pairs = queue_of(1, 2, 3, 4).started()
    for _ in range(REIGN):
        queue, pairs = queue.ended(pairs[0], winner=1).started()
    assert pairs == [(3, 2)], "who lost first is first again"
    assert queue.waiting == (1, 4), "the king stands before the last loser"


def test_after_a_draw_both_go_to_the_back() -> None:
    queue, pairs = queue_of(1, 2, 3, 4).started()
    queue, pairs = queue.ended(pairs[0], winner=None).started()
    assert (pairs, queue.waiting) == ([(4, 3)], (1, 2))


def test_two_play_on_and_three_have_a_second_table_once_they_are_five() -> None:
    queue, pairs = queue_of(1, 2).started()
    for winner in (1, 1, 1, 2, None):
        queue, pairs = queue.ended(pairs[0], winner).started()
        assert len(pairs) == 1
    assert len(queue_of(1, 2, 3, 4).started()[1]) == 1
    assert queue_of(1, 2, 3, 4, 5).started()[1] == [(2, 1), (4, 3)]


def test_a_table_too_many_is_given_up_and_its_king_plays_next() -> None:
    queue, pairs = queue_of(1, 2, 3, 4, 5).started()
    queue = queue.ended((4, 3), winner=4).left(5).left(3)
    queue, pairs = queue.started()
    assert (pairs, queue.waiting, queue.tables) == ([], (4,), (KingTable(1, 2),))


def test_one_who_does_not_come_is_passed_over_once_and_then_out() -> None:
    queue = queue_of(1, 2, 3).passed_over(1)
    assert queue.waiting == (2, 1, 3)
    again = queue.left(2).passed_over(1)
    assert again.waiting == (3,)
    played, pairs = queue.started()
    assert pairs == [(1, 2)]
    back = played.ended((1, 2), winner=2).left(3)
    assert back.passed_over(1).waiting == (1,), "the first time again, since they have played"


def test_impossible_steps_raise_an_error() -> None:
    queue, pairs = queue_of(1, 2, 3).started()
    refusals: list[Callable[[], object]] = [
        lambda: queue.joined(1),
        lambda: queue.joined(3),
        lambda: queue.left(1),
        lambda: queue.left(9),
        lambda: queue.passed_over(1),
        lambda: queue.ended((1, 2), 1),
        lambda: queue.ended((2, 1), 3),
    ]
    for refused in refusals:
        with pytest.raises(ValueError, match=r"is here already|is not waiting|not the turn|no such match"):
            refused()
    assert pairs == [(2, 1)]


class KingMachine(RuleBasedStateMachine):
    """Players come, go, play and do not come; the order of the queue is kept by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = TableQueue()
        self.playing: list[tuple[int, int]] = []
        self.last = 0

    @rule()
    def join(self) -> None:
        self.last += 1
        self.queue = self.queue.joined(self.last)

    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        busy = {each for pair in self.playing for each in pair}
        free = [each for each in self.queue.entrants if each not in busy]
        if free:
            self.queue = self.queue.left(data.draw(st.sampled_from(free)))

    @rule()
    def start(self) -> None:
        before = self.queue
        self.queue, pairs = before.started()
        self.playing += pairs
        kings = {table.king for table in before.tables}
        new = [each for pair in pairs for each in pair if each not in kings]
        expected = [each for each in before.waiting if each in new]
        assert expected == list(before.waiting[: len(expected)]), "those who came first play first"
        assert sorted(expected) == sorted(new)
        free = [table for table in self.queue.tables if table.challenger is None]
        assert not free or len(self.queue.waiting) < 1 + (free[0].king is None), "nobody waits for no reason"

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        if self.playing:
            pair = self.playing.pop(data.draw(st.integers(0, len(self.playing) - 1)))
            self.queue = self.queue.ended(pair, data.draw(st.sampled_from([*pair, None])))

    @rule()
    def do_not_come(self) -> None:
        if self.queue.waiting:
            self.queue = self.queue.passed_over(self.queue.waiting[0])

    @invariant()
    def everybody_is_in_one_place(self) -> None:
        entrants = self.queue.entrants
        assert len(entrants) == len(set(entrants))
        tables = {(table.challenger, table.king) for table in self.queue.tables if table.challenger is not None}
        assert tables == set(self.playing)
        assert all(0 <= table.wins < REIGN for table in self.queue.tables)
        assert self.queue.missed <= set(entrants)


TestKingMachine = KingMachine.TestCase
TestKingMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
