"""Flags, absences and first moves on simulated time: which node ends a match, and when."""

import pytest

from tests.server.house import TOKEN, Members
from tests.server.rooms.board import BOT, MINUTE, Board
from ttt_net import messages as wire
from ttt_net.clock import TimeControl
from ttt_net.errors import Overtaken
from ttt_net.server.rooms.room import MAX_DECISIONS


def test_a_place_that_a_bot_keeps_is_freed_though_another_node_wrote_first(board: Board, members: Members) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    match = board.begin(ann, bob)
    board.play(match, ann, bob, plies=2)
    board.leave(ann)
    held = board.hold_writes()
    board.go(61_999)
    assert held == []
    board.go(1)
    for _ in range(MAX_DECISIONS):
        ((events, _, failed),) = held
        held.clear()
        assert [type(each) for each in events] == [wire.Ended]
        failed(Overtaken())
        assert held == []
        board.go(0)
    held.pop()[2](Overtaken())
    board.go(999)
    assert held == []
    board.go(1)
    assert len(held) == 1, "after a second, it is decided again"


@pytest.mark.parametrize("other", ["here", "elsewhere"])
@pytest.mark.parametrize("mover", ["here", "elsewhere", "arriving", "away"])
@pytest.mark.parametrize("is_early", [True, False])
def test_a_flag_falls_on_the_node_of_the_mover_or_else_on_that_of_the_opponent(
    board: Board, members: Members, mover: str, other: str, is_early: bool
) -> None:
    ann, bob = board.people("Ann", "Bob")
    eve = board.enter(name="Eve")
    match = board.begin(ann, bob, "gomoku", time=MINUTE)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=2)
    first, second = board.by_side(match, ann, bob)
    board.go(10_000 if is_early else 59_000)
    for link, place in ((second, other), (first, mover)):
        if place == "away":
            board.leave(link)
        elif place != "here":
            board.depart(link, match if place == "elsewhere" else None)
    board.go(49_900 if is_early else 900)
    assert board.is_over(match) is None
    decides = mover == "here" or (mover in ("arriving", "away") and other == "here")
    is_late = mover == "arriving" and not is_early
    board.go(100)
    assert (board.is_over(match) is not None) == (decides and not is_late)
    board.room(match).look_at_clock()
    board.go(2_000)
    assert board.is_over(match) == (("time", 1) if decides else None)
    if other == "here" and not decides:
        assert board.tell(second, wire.OfferRequest(9, match, "draw")) == ["ok", "offered"], "the other node decides"


@pytest.mark.parametrize("bot", ["here", "elsewhere"])
@pytest.mark.parametrize("person", ["here", "away"])
def test_a_bot_that_waits_ends_the_match_on_its_own_node(board: Board, members: Members, bot: str, person: str) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    eve = board.enter(name="Eve")
    match = board.begin(ann, bob)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=2)
    if bot == "elsewhere":
        board.depart(bob, match)
    if person == "away":
        board.leave(ann)
    board.go(61_999)
    assert board.is_over(match) is None
    board.go(1)
    board.room(match).look_at_clock()
    board.go(10_000)
    assert board.is_over(match) == (("abandon", None) if (bot, person) == ("here", "away") else None)


def test_a_flag_falls_though_a_bot_waits_and_a_person_is_away(board: Board) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    match = board.begin(ann, bob, time=TimeControl(30_000))
    board.play(match, ann, bob, plies=2)
    board.go(29_000)
    board.leave(ann)
    board.go(1_000)
    assert board.is_over(match) == ("time", 1)


def test_a_bot_that_waits_is_free_before_the_flag_would_fall(board: Board) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    board.leave(ann)
    board.go(11_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("abandon", None)


def test_a_person_who_left_before_the_match_began_frees_the_bot(board: Board) -> None:
    (ann,), bob = board.people("Ann"), board.enter(name="Bob", **BOT)
    board.ask_to_play(ann, bob)
    board.leave(ann)
    (match,) = board.registry.rooms
    board.go(61_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("abort", None)


def test_a_flag_falls_at_the_end_of_the_time_that_later_moves_left(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    first, second = board.by_side(match, ann, bob)
    board.go(30_000)
    board.tell(first, wire.PlayRequest(9, match, 2, 2))
    board.go(20_000)
    board.tell(second, wire.PlayRequest(9, match, 3, 3))
    board.go(29_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("time", 1)


def test_no_timer_is_left_while_nobody_plays_or_after_the_end(board: Board) -> None:
    ann = board.enter(name="Ann", token=TOKEN)
    bob, eve = board.people("Bob", "Eve")
    match = board.begin(ann, bob, time=MINUTE)
    board.tell(eve, wire.WatchRequest(9, match))
    board.play(match, ann, bob, plies=2)
    board.go(10_000)
    for link in (ann, bob):
        board.leave(link)
    board.go(2_000)
    assert board.pass_by(100_000) == 0
    ann = board.enter(token=TOKEN)
    board.tell(ann, wire.ResumeRequest(9, match, 0))
    board.go(49_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("time", 1)
    other = board.begin(ann, eve, "gomoku", time=MINUTE)
    board.play(other, ann, eve, plies=2)
    board.tell(eve, wire.ResignRequest(9, other))
    board.go(2_000)
    board.registry.leave(eve.known_as, other)
    assert board.pass_by(100_000) == 0


def test_a_flag_that_falls_while_something_is_written_falls_once_and_afterwards(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    first, second = board.by_side(match, ann, bob)
    board.go(59_000)
    board.ask(second, wire.OfferRequest(9, match, "draw"))
    board.ask(first, wire.PlayRequest(9, match, 2, 2))
    board.pass_by(2_000)
    board.ledger.deliver(1)
    first.take()
    second.take()
    board.deliver()
    assert first.take() == ["ok", "played"], "it came in time"
    board.go(59_000)
    board.ask(first, wire.OfferRequest(9, match, "takeback"))
    board.pass_by(2_000)
    first.take()
    board.deliver()
    board.go(0)
    assert first.take() == ["ok", "offered", "ended"]
    assert board.is_over(match) == ("time", 0)


def test_a_move_after_the_flag_is_refused_though_no_timer_has_looked(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    first, _ = board.by_side(match, ann, bob)
    board.now_ms += 60_000
    assert board.tell(first, wire.PlayRequest(9, match, 2, 2)) == ["ended", "match_over"]


def test_a_node_that_is_not_in_touch_lets_no_flag_fall_until_it_is(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin(ann, bob, time=MINUTE)
    board.play(match, ann, bob, plies=2)
    members.is_fresh = False
    board.go(63_500)
    assert board.is_over(match) is None
    members.is_fresh = True
    board.go(499)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("time", 1)


# Matches of tournaments.


@pytest.mark.parametrize("is_steward", [True, False])
@pytest.mark.parametrize("present", ["both", "one", "nobody"])
@pytest.mark.parametrize("plies", [0, 1])
def test_a_first_move_that_is_overdue_loses_the_match(
    monkeypatch: pytest.MonkeyPatch, board: Board, members: Members, plies: int, present: str, is_steward: bool
) -> None:
    members.keeps_lobby = is_steward
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob)
    if plies:
        board.go(50_000)
        assert board.tell(ann, wire.PlayRequest(9, match, 0, 4))[0] == "ok"
    late, other = (bob, ann) if plies else (ann, bob)
    for link in {"both": (), "one": (late,), "nobody": (late, other)}[present]:
        board.leave(link)
    board.go(59_999)
    assert board.is_over(match) is None
    assert match in board.registry.rooms
    board.go(1)
    winner = None if present == "nobody" and not plies else 1 - plies
    assert board.is_over(match) == (("forfeit", winner) if present == "both" or is_steward else None)
    assert (match in board.registry.rooms) == (present != "nobody" or not is_steward)


def test_a_first_move_is_not_overdue_where_the_player_is_on_another_node(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob)
    board.depart(ann, match)
    board.go(60_000)
    board.room(match).look_at_clock()
    board.go(10_000)
    assert board.is_over(match) is None


def test_a_match_that_is_held_in_memory_has_its_time_for_first_moves_from_then_on(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob)
    board.go(50_000)
    board.room(match).hold(30_000)
    board.go(29_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("forfeit", 1)


def test_time_runs_in_a_match_of_a_tournament_that_both_have_left(board: Board) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob)
    board.play(match, ann, bob, plies=2)
    board.go(30_000)
    for link in (ann, bob):
        board.leave(link)
    board.go(29_999)
    assert board.is_over(match) is None
    board.go(1)
    assert board.is_over(match) == ("time", 1)
    assert board.registry.rooms == {}


def test_a_room_of_a_tournament_is_dropped_when_another_node_ends_its_match(board: Board, members: Members) -> None:
    ann, bob = board.people("Ann", "Bob")
    match = board.begin_board(ann, bob)
    for link in (ann, bob):
        board.leave(link)
    assert board.room(match).known is not None
    board.hear(wire.Ended(match, 2, board.now_ms, 0, "forfeit"))
    assert board.registry.rooms == {}
