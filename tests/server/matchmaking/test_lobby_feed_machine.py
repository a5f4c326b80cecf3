"""The feed of lists on simulated time: when each reader is sent what, and that everybody has the newest in the end."""

import json
import random
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.simulation.loop import SimulatedLoop
from ttt_net import messages as wire
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.matchmaking.lobby_feed import CROWD, MADE_AT_ONCE, MAX_BYTES_PER_S, PERIODS_MS, LobbyFeed, Subject
from ttt_net.server.online_players import Session
from ttt_net.server.settings.configuration import Limits, Rate

Sent = tuple[int, str, int]
"""When a list was sent, in ms; its name, and its number."""


def attempt(_: str, work: Callable[[], object], otherwise: Callable[[], object] = lambda: None) -> None:
    """Do some work as a guard does, without a line in the log."""
    try:
        work()
    except ValueError:
        otherwise()


class Pinboard:
    """A feed whose lists are numbers; each reader notes what they are sent."""

    def __init__(self, readers: int = 1, *, cost_s: float = 0.0, cells: int = 0) -> None:
        self.loop = SimulatedLoop()
        self.start_s, self.spent_s, self.cost_s, self.cells = self.loop.time(), 0.0, cost_s, cells
        self.values: dict[Subject, int] = dict.fromkeys(PERIODS_MS, 0)
        self.built, self.send_s = 0, 0.0
        self.is_broken = False
        guard = cast(Any, SimpleNamespace(attempt=attempt))
        self.shares = FairShares(Limits(), lambda: self.now_ms, lambda: self.spent_s)
        self.feed = LobbyFeed(self.loop.as_asyncio, lambda: 1_000_000 + self.now_ms, guard, self.shares)
        self.feed.publish({subject: partial(self.build, subject) for subject in self.values})
        self.lines = [
            SimpleNamespace(is_behind=False, account=None, player=number, owed_ms=0.0, send=partial(self.send, number))
            for number in range(readers)
        ]
        self.sessions = [
            Session(cast(Any, line), number, wire.PlayerInfo(f"P{number}")) for number, line in enumerate(self.lines)
        ]
        self.sent: list[list[Sent]] = [[] for _ in range(readers)]
        self.last: list[dict[str, int]] = [{} for _ in range(readers)]
        """The newest list of each kind that a reader has."""

    @property
    def now_ms(self) -> int:
        return round((self.loop.time() - self.start_s) * 1_000)

    def build(self, subject: Subject) -> wire.Notice:
        self.built += 1
        self.spent_s += self.cost_s
        if self.is_broken:
            raise ValueError("no list today")
        return wire.Notice(f"{subject} {self.values[subject]} {'x' * self.cells}")

    def send(self, number: int, told: bytes) -> None:
        self.spent_s += self.send_s
        subject, value = json.loads(told[told.index(b"{") :])["text"].split()[:2]
        self.sent[number].append((self.now_ms, subject, int(value)))
        self.last[number][subject] = int(value)

    def change(self, subject: Subject, value: int, *, slightly: bool = False) -> None:
        self.values[subject] = value
        self.feed.changed(subject, slightly=slightly)

    def wait_until(self, at_ms: int) -> None:
        self.loop.run_until(self.start_s + at_ms / 1_000, 1_000_000)

    def told(self, number: int = 0) -> list[Sent]:
        """Return what a reader was sent since the last call."""
        news, self.sent[number] = self.sent[number], []
        return news


def test_the_periods_and_bounds_are_those_of_the_protocol() -> None:
    expected = {"seeks": 250, "players": 2_000, "live": 2_000, "tournaments": 2_000, "tournament": 1_000}
    assert (expected, 4_000_000, 100, Rate(10)) == (PERIODS_MS, MAX_BYTES_PER_S, CROWD, MADE_AT_ONCE)


@pytest.mark.parametrize("subject", PERIODS_MS)
def test_changes_are_gathered_for_a_period_and_sent_once(subject: Subject) -> None:
    board, period = Pinboard(), PERIODS_MS[subject]
    board.feed.subscribe(board.sessions[0])
    assert [each[1:] for each in board.told()] == [(name, 0) for name in PERIODS_MS]
    for at_ms, value in ((10, 1), (50, 2), (period, 3)):
        board.wait_until(at_ms)
        board.change(subject, value)
        assert board.feed.is_pending(subject)
    board.wait_until(3 * period)
    assert board.told() == [(10 + period, subject, 3)]
    assert not board.feed.is_pending(subject)
    board.change(subject, 4)
    board.wait_until(4 * period + 1)
    assert board.told() == [(4 * period, subject, 4)]
    board.change(subject, 5)
    board.change(subject, 4)
    board.wait_until(9 * period)
    assert board.told() == [], "it is as it was"


def test_a_large_crowd_gets_large_lists_as_often_as_the_bytes_allow() -> None:
    for readers, wait_ms in ((9, 250), (10, 250), (20, 500), (40, 1_000)):
        board = Pinboard(readers, cells=100_000)
        for session in board.sessions:
            board.feed.subscribe(session)
        board.change("seeks", 1)
        board.wait_until(5_000)
        for number in range(readers):
            (*_, (at_ms, _, value)) = board.told(number)
            assert value == 1
            assert wait_ms <= at_ms <= wait_ms + 5, "the frame has some bytes more"


@pytest.mark.parametrize("readers", [99, 100, 101, 200, 201, 250])
def test_a_crowd_is_told_a_hundred_at_a_time_and_each_reader_once(readers: int) -> None:
    board = Pinboard(readers)
    for session in board.sessions:
        board.feed.subscribe(session)
    for number in range(readers):
        board.told(number)
    board.change("seeks", 1)
    board.wait_until(249)
    turns: list[int] = []
    while board.feed.is_pending("seeks"):
        before = sum(map(len, board.sent))
        board.loop.run_until(board.start_s + 0.25, 1)
        turns += [sum(map(len, board.sent)) - before]
        if readers > CROWD and sum(turns) == CROWD:
            board.feed.unsubscribe(board.sessions[0])  # in the middle of it
    left_out = int(readers > CROWD)
    sizes = [turn for turn in turns if turn]
    assert (sum(sizes), max(sizes), len(sizes)) == (
        readers - left_out,
        min(readers, CROWD),
        -(-(readers - left_out) // CROWD),
    )
    assert [len(sent) for sent in board.sent] == [1 - left_out] + [1] * (readers - 1)


def test_a_change_while_a_crowd_is_told_is_told_in_its_turn() -> None:
    board = Pinboard(CROWD + 1)
    for session in board.sessions:
        board.feed.subscribe(session)
    board.change("seeks", 1)
    board.wait_until(249)
    while not any(value for _, _, value in board.sent[-1]):
        board.loop.run_until(board.start_s + 0.25, 1)
    board.change("seeks", 2)
    board.wait_until(1_000)
    for number in range(CROWD + 1):
        assert [each for each in board.told(number) if each[2]] == [(250, "seeks", 1), (500, "seeks", 2)]


def test_readers_who_are_behind_are_told_once_they_have_caught_up() -> None:
    board = Pinboard(2)
    for session in board.sessions:
        board.feed.subscribe(session)
        board.told(session.player)
    board.lines[0].is_behind = True
    for value in (1, 2):
        board.change("seeks", value)
        board.wait_until(value * 1_000)
    board.change("live", 1)
    board.wait_until(5_000)
    assert board.told(0) == []
    assert board.told(1) == [(250, "seeks", 1), (1_250, "seeks", 2), (4_000, "live", 1)]
    board.feed.tick()
    assert (board.told(0), {*board.feed.late_readers}) == ([], {0})
    board.lines[0].is_behind = False
    board.feed.tick()
    assert board.told(0) == [(5_000, "seeks", 2), (5_000, "live", 1)]
    assert not board.feed.late_readers
    board.feed.tick()
    assert board.told(0) == []
    board.lines[0].is_behind = True
    board.change("seeks", 3)
    board.wait_until(6_000)
    board.feed.unsubscribe(board.sessions[0])
    assert not board.feed.late_readers
    board.feed.tick()
    assert board.told(0) == []


def test_readers_pay_for_their_lists_and_wait_while_their_address_has_used_its_share() -> None:
    board = Pinboard(2)
    account = board.shares.account_of("192.0.2.1")
    for session in board.sessions:
        board.feed.subscribe(session)
        board.told(session.player)
    board.lines[0].account, board.send_s = account, 0.01
    board.change("seeks", 1)
    board.wait_until(250)
    assert account.shares[0].used(board.now_ms) == pytest.approx(10.0)
    account.shares[0].use(board.now_ms, 1_010.0)
    board.change("seeks", 2)
    board.wait_until(501)
    board.feed.tick()
    assert (board.told(0), board.told(1)) == ([(250, "seeks", 1)], [(250, "seeks", 1), (500, "seeks", 2)])
    assert {*board.feed.late_readers} == {0}
    board.wait_until(2_000)
    used_ms = account.shares[0].used(board.now_ms)
    board.feed.tick()
    assert board.told(0) == [(2_000, "seeks", 2)]
    assert account.shares[0].used(board.now_ms) == pytest.approx(used_ms + 10.0)


def test_a_list_that_could_not_be_built_is_tried_again_while_somebody_reads() -> None:
    board = Pinboard()
    board.feed.subscribe(board.sessions[0])
    board.told()
    board.change("seeks", 1)
    board.is_broken = True
    board.wait_until(1_100)
    assert board.told() == []
    assert board.feed.is_pending("seeks")
    board.is_broken = False
    board.wait_until(1_500)
    assert board.told() == [(1_250, "seeks", 1)]
    board.change("seeks", 2)
    board.is_broken = True
    board.wait_until(2_000)
    board.feed.unsubscribe(board.sessions[0])
    board.wait_until(3_000)
    assert not board.feed.is_pending("seeks"), "nobody waits for it"
    board.is_broken = False
    board.feed.subscribe(board.sessions[0])
    assert board.last[0]["seeks"] == 2


def test_the_session_before_ends_nothing_of_the_one_that_replaced_it() -> None:
    board = Pinboard()
    before = Session(cast(Any, board.lines[0]), 0, wire.PlayerInfo("P0"))
    board.feed.subscribe(before)
    board.feed.subscribe(board.sessions[0])
    board.feed.unsubscribe(before)
    assert {*board.feed.readers} == {0}
    board.feed.unsubscribe(board.sessions[0])
    assert not board.feed.readers
    board.change("seeks", 1)
    assert not board.feed.is_pending("seeks")


@pytest.mark.parametrize(("cost_s", "rest_ms"), [(0.0, 250), (0.01, 250), (0.0125, 250), (0.05, 1_000), (0.5, 10_000)])
def test_dear_lists_are_built_in_a_twentieth_of_the_time(cost_s: float, rest_ms: int) -> None:
    board = Pinboard(cost_s=cost_s)
    board.feed.subscribe(board.sessions[0])
    board.told()
    board.wait_until(100_000)
    built = board.built
    for number in range(1, 41):
        board.change("seeks", number)
        board.wait_until(100_000 + 1_000 * number)
    board.wait_until(200_000)
    times = [at_ms for at_ms, _, _ in board.told()]
    assert times[0] == 100_000 + rest_ms
    assert board.last[0]["seeks"] == 40
    assert all(later - earlier >= rest_ms for earlier, later in pairwise(times))
    assert board.built - built <= 1 + 41_000 // max(rest_ms, 1_000) + 1


@pytest.mark.parametrize(("later_ms", "is_anew"), [(9_999, False), (10_000, True)])
def test_a_dear_list_that_is_asked_for_is_as_old_as_it_has_to_be(later_ms: int, is_anew: bool) -> None:
    board = Pinboard(cost_s=0.5)
    board.feed.show(board.sessions[0], "live")
    board.change("live", 1)
    board.wait_until(later_ms)
    board.feed.show(board.sessions[0], "live")
    assert (board.built, board.last[0]["live"]) == ((2, 1) if is_anew else (1, 0))
    assert json.loads(board.feed.encoded("live"))["text"].split() == ["live", str(board.last[0]["live"])]


def test_readers_are_not_told_what_they_have_because_somebody_asked_in_between() -> None:
    board = Pinboard(2)
    board.feed.subscribe(board.sessions[0])
    board.told()
    board.change("seeks", 1)
    board.feed.show(board.sessions[1], "seeks")
    board.change("seeks", 0)
    board.wait_until(1_000)
    assert board.told(1) == [(0, "seeks", 1)]
    assert board.told(0) == []
    board.change("seeks", 1)
    board.change("seeks", 0)
    board.feed.show(board.sessions[0], "seeks")
    board.wait_until(2_000)
    assert board.told(0) == [(1_000, "seeks", 0)]
    board.change("seeks", 1)
    board.feed.show(board.sessions[0], "seeks")
    board.change("seeks", 0)
    board.wait_until(3_000)
    assert board.told(0) == [(2_000, "seeks", 1), (2_250, "seeks", 0)], "what they were shown is not what all have"
    assert json.loads(board.feed.encoded("seeks"))["text"].split() == ["seeks", "0"]
    board.change("seeks", 4)
    board.feed.show(board.sessions[1], "seeks")
    built = board.built
    board.wait_until(4_000)
    assert board.told(0) == [(3_250, "seeks", 4)]
    assert board.built == built, "it was built when somebody asked"
    board.change("seeks", 5)
    assert json.loads(board.feed.encoded("seeks"))["text"].split() == ["seeks", "5"]


def test_a_list_that_many_ask_for_is_built_ten_times_a_second_at_most() -> None:
    board = Pinboard()
    for number in range(30):
        board.change("seeks", number)
        board.feed.show(board.sessions[0], "seeks")
    assert 10 <= board.built <= 11
    assert board.told()[-1][2] == board.built - 1
    board.wait_until(99)
    board.feed.show(board.sessions[0], "seeks")
    assert board.told()[-1][2] < 29
    board.wait_until(200)
    board.feed.show(board.sessions[0], "seeks")
    assert board.told()[-1][2] == 29
    built = board.built
    board.wait_until(5_000)
    board.feed.show(board.sessions[0], "seeks")
    assert board.built == built, "nothing has changed"
    board.change("seeks", 30, slightly=True)
    board.feed.show(board.sessions[0], "seeks")
    assert board.told()[-1][2] == 30, "what was built a period ago or more is built anew"
    board.change("seeks", 31, slightly=True)
    board.wait_until(5_249)
    board.feed.show(board.sessions[0], "seeks")
    assert board.told()[-1][2] == 30, "a slight change can wait"
    board.wait_until(5_250)
    board.feed.show(board.sessions[0], "seeks")
    assert board.told()[-1][2] == 31


@pytest.mark.parametrize("seed", range(60))
def test_every_reader_has_the_newest_lists_in_the_end(seed: int) -> None:
    rng, subjects = random.Random(seed), (*PERIODS_MS,)
    board = Pinboard(4, cost_s=rng.choice([0.0, 0.0, 0.02]))
    for _ in range(rng.randrange(10, 60)):
        who, subject = rng.randrange(4), rng.choice(subjects)
        match rng.randrange(9):
            case 0 | 1:
                board.change(subject, rng.randrange(2), slightly=rng.random() < 0.3)
            case 2:
                board.feed.subscribe(board.sessions[who])
            case 3:
                board.feed.unsubscribe(board.sessions[who])
                board.last[who].clear()
            case 4:
                board.lines[who].is_behind = not board.lines[who].is_behind
            case 5:
                board.feed.show(board.sessions[who], subject)
            case 6:
                board.feed.tick()
            case 7:
                board.is_broken = False if board.is_broken else rng.random() < 0.3
                if board.is_broken:
                    board.is_broken = bool(board.feed.readers)
            case _:
                board.wait_until(board.now_ms + rng.choice([1, 100, 249, 250, 1_000, 2_000]))
        if board.is_broken:  # a list that was never built cannot be shown
            board.change(subject, rng.randrange(2))
            board.wait_until(board.now_ms + 300)
            board.is_broken = False
    for line in board.lines:
        line.is_behind = False
    for _ in range(3):
        board.wait_until(board.now_ms + 5_000)
        board.feed.tick()
    for who in board.feed.readers:
        assert board.last[who] == board.values, who
    assert board.loop.errors == []
    assert not any(map(board.feed.is_pending, subjects))
