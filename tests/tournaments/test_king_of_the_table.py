"""King of the table: the winner stays, and nobody who came later plays earlier."""

from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ttt_net.tournaments.king_of_the_table import REIGN, KingTable, TableQueue


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
