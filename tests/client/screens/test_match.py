"""Commands and keys at a board, and what comes of them."""

from dataclasses import replace

import pytest

from tests.client.pressing import SEEK, done, seen
from tests.client.samples import BEN, knowing, layered, snapshot, swapping
from ttt_net.client import words
from ttt_net.client.act import act, answered, command_for
from ttt_net.client.display import (
    AnyCommand,
    Begin,
    Choose,
    Command,
    Entry,
    Move,
    Overlay,
    Point,
    Quick,
    Send,
    Show,
    Type,
)
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.update import update
from ttt_net.errors import Code
from ttt_net.messages import (
    AbortRequest,
    AgreeRequest,
    DeclineRequest,
    Ended,
    OfferInfo,
    OfferRequest,
    PlayRequest,
    Refused,
    ResignRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.received import Answered, Lost


def test_escape_goes_back_step_by_step_and_a_live_match_stays() -> None:
    display, _ = done(seen(snapshot()), Type("b"), Command.SIDE_PANEL)
    for overlay, typed in ((Overlay.NONE, "b"), (Overlay.NONE, "")):
        display, requests = done(display, Command.BACK)
        assert (display.overlay, display.typed, requests) == (overlay, typed, ())
    display, _ = done(display, Command.BACK)
    assert display.page.screen == "lobby"
    assert "m1" in display.world.matches
    display, _ = done(display, Command.PLACE)
    assert (display.page.screen, display.shown) == ("match", "m1"), "own matches come first"


def test_the_cursor_walks_over_the_edges() -> None:
    display, _ = done(seen(snapshot()), Command.RIGHT, Command.RIGHT)
    assert display.cursor == 3
    display, _ = done(display, Command.UP, Command.UP)
    assert display.cursor == 6


def test_in_layers_the_cursor_walks_from_board_to_board() -> None:
    display = seen(layered())
    assert display.cursor == 4
    display, _ = done(display, Command.RIGHT, Command.RIGHT)
    assert display.cursor == 9 + 3
    display, _ = done(display, Command.LEFT, Command.LEFT, Command.LEFT, Command.LEFT)
    assert display.cursor == 18 + 5


def test_digits_are_cells_in_reading_order_on_a_small_board() -> None:
    _, requests = done(seen(snapshot()), Quick(9))
    assert requests == (PlayRequest(0, match="m1", ply=0, move=8),)


def test_digits_are_columns_where_marks_fall() -> None:
    display = seen(snapshot("connect4"))
    _, requests = done(display, Quick(3))
    assert requests == (PlayRequest(0, match="m1", ply=0, move=37),)
    display, requests = done(display, Quick(8))
    assert requests == ()
    assert words.notice(display) == "8 is not on this board."


def test_where_marks_fall_any_free_cell_of_a_column_means_it() -> None:
    display = seen(snapshot("connect4"))
    assert display.cursor == 3
    _, requests = done(display, Command.PLACE)
    assert requests == (PlayRequest(0, match="m1", ply=0, move=38),)


def test_a_typed_cell_is_played_with_enter() -> None:
    display, requests = done(seen(snapshot()), Type("B"), Type("3"), Type("x"), Command.ERASE)
    assert (display.typed, requests) == ("B3", ())
    display, requests = done(display, Command.PLACE)
    assert requests == (PlayRequest(0, match="m1", ply=0, move=1),)
    assert display.typed == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("b2", "b2 is not possible now; possible: a3, b3, c3, a2, c2, a1, b1, c1"),
        ("z9", 'I don\'t know "z9"; possible: a3, b3, c3, a2, c2, a1, b1, c1'),
        ("5", "5 is taken."),
    ],
)
def test_an_impossible_move_is_not_sent_and_the_reason_said(name: str, reason: str) -> None:
    display, requests = done(seen(snapshot(moves=[4], you=1)), Move(name))
    assert requests == ()
    assert words.notice(display) == reason


def test_columns_are_named_in_their_order_to_who_names_none() -> None:
    display, _ = done(seen(snapshot("connect4", [36, 37], you=0)), Move("d"))
    assert words.notice(display) == 'I don\'t know "d"; possible: 1, 2, 3, 4, 5, 6, 7'


def test_a_click_moves_the_cursor_and_places_a_mark_or_says_why_not() -> None:
    display, requests = done(seen(snapshot()), Point(8))
    assert requests == (PlayRequest(0, match="m1", ply=0, move=8),)
    assert display.cursor == 8
    display, requests = done(seen(snapshot(moves=[4, 0])), Point(4))
    assert (display.cursor, requests) == (4, ())
    assert words.notice(display) == "b2 is taken."


def test_out_of_turn_nothing_is_sent() -> None:
    display, requests = done(seen(snapshot(you=1)), Command.PLACE)
    assert requests == ()
    assert words.notice(display) == "It is not your turn."


def test_a_cell_with_several_moves_and_moves_without_a_cell_are_chosen_by_name() -> None:
    display, requests = done(seen(swapping()), Command.PLACE)
    assert (display.overlay, display.choices, requests) == (Overlay.CHOICE, (0, 2), ())
    _, requests = done(display, Choose(1))
    assert requests == (PlayRequest(0, match="m4", ply=0, move=2),)
    display, _ = done(display, Command.BACK, Command.MOVES)
    assert display.choices == (4,)
    _, requests = done(display, Choose(0))
    assert requests == (PlayRequest(0, match="m4", ply=0, move=4),)
    _, requests = done(display, Choose(7))
    assert requests == ()
    _, requests = done(seen(swapping()), Move("swap"))
    assert requests == (PlayRequest(0, match="m4", ply=0, move=4),)


def test_leaving_a_live_match_asks_once() -> None:
    display, requests = done(seen(snapshot(moves=[4, 0])), Command.LEAVE)
    assert (display.overlay, requests) == (Overlay.LEAVE, ())
    stayed, requests = done(display, Command.UP)
    assert (stayed.overlay, stayed.is_leaving, requests) == (Overlay.NONE, False, ())
    left, requests = done(display, Command.LEAVE)
    assert left.is_leaving
    assert requests == (ResignRequest(0, match="m1"),)


def test_leaving_before_both_have_moved_calls_the_match_off() -> None:
    display, requests = done(seen(snapshot(moves=[4])), Command.LEAVE, Command.LEAVE)
    assert requests == (AbortRequest(0, match="m1"),)
    too_late = Answered(AbortRequest(5, match="m1"), Refused(5, Code.TOO_LATE, "too late"))
    assert answered(display, too_late) == (ResignRequest(0, match="m1"),)


def test_leaving_without_a_live_match_or_a_link_asks_and_says_nothing() -> None:
    assert done(seen(), Command.LEAVE)[0].is_leaving
    display, requests = done(seen(snapshot(), Lost("gone")), Command.LEAVE, Command.LEAVE)
    assert (display.is_leaving, requests) == (True, ())


def test_offers_need_their_moment() -> None:
    live = seen(snapshot())
    new, requests = done(live, Command.DRAW)
    assert (requests, new.notice) == ((), "There is nothing to draw yet; a bot wants to see some moves first.")
    draw = OfferRequest(0, match="m1", kind="draw", ply=0)
    assert done(seen(snapshot(opponent=BEN)), Command.DRAW)[1] == (draw,)
    assert done(seen(snapshot(moves=[4, 0])), Command.DRAW)[1] == (OfferRequest(0, match="m1", kind="draw", ply=2),)
    assert done(live, Command.REMATCH)[1] == ()
    assert done(live, Command.DECLINE)[1] == ()
    asked = seen(snapshot(offers=[OfferInfo(0, "takeback", 6), OfferInfo(1, "draw", 7)], moves=[4, 0]))
    assert done(asked, Command.DECLINE)[1] == (DeclineRequest(0, match="m1", kind="draw", offer=7),)
    assert done(asked, Command.DRAW)[1] == (AgreeRequest(0, match="m1", offer=7),)
    own = seen(snapshot(offers=[OfferInfo(0, "takeback", 6)]))
    assert done(own, Command.DECLINE)[1] == (DeclineRequest(0, match="m1", kind="takeback", offer=6),)
    assert done(live, Command.RESIGN)[1] == (ResignRequest(0, match="m1"),)
    assert done(seen(), Command.RESIGN)[1] == ()
    over = update(live, Ended("m1", 2, 0, winner=1, reason="time"), 0)
    assert done(over, Command.DRAW)[1] == ()


def test_a_match_that_is_left_to_wait_is_neither_resigned_nor_called_off() -> None:
    asked, _ = done(seen(snapshot(moves=[4, 0])), Command.LEAVE)
    left, requests = done(asked, Command.LET_WAIT)
    assert (left.is_leaving, left.is_match_kept, requests) == (True, True, ())
    stayed, requests = done(seen(snapshot(moves=[4, 0])), Command.LET_WAIT)
    assert (stayed.is_leaving, requests) == (False, ()), "only where it was asked"


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("left", Command.LEFT),
        ("h", Command.LEFT),
        ("c-m", Command.PLACE),
        (" ", Command.PLACE),
        ("5", Quick(5)),
        ("b", Type("b")),
        ("r", Command.REMATCH),
        ("q", Command.LEAVE),
        ("?", Command.HELP),
        ("c-i", Command.MOVES),
        ("<scroll-up>", None),
        ("\x1b", None),
    ],
)
def test_keys_mean_actions(key: str, command: AnyCommand | None) -> None:
    assert command_for(key, seen(snapshot())) == command


def test_letters_that_are_columns_begin_a_move_and_upper_case_letters_are_keys() -> None:
    display = seen(snapshot("mnk:15x15,5"))
    assert command_for("d", display) == Type("d")
    assert command_for("D", display) is Command.DRAW
    assert command_for("q", display) is Command.LEAVE
    display, _ = done(display, Type("d"))
    assert command_for("1", display) == Type("1")
    assert command_for("q", display) == Type("q")


def test_no_key_is_lost_in_a_move_that_nobody_can_make() -> None:
    playing, _ = done(seen(snapshot("gomoku", [112], you=1)), Type("h"))
    over = update(playing, Ended("m1", 3, 0, winner=0, reason="resign"), 0)
    watching = knowing(seen(), watching="m9")
    watching = update(watching, snapshot("gomoku", [112], you=None, match="m9", opponent=BEN), 0)
    assert command_for("5", playing) == Type("5")
    for display in (over, watching):
        assert [command_for(key, display) for key in "5g"] == [None, None]
        assert command_for("n", display) is Command.NEW
        assert "Move:" not in draw(display, (80, 24), 0, BOXES).plain
    chatting, _ = done(playing, Begin(Entry.CHAT), Type("Well"))
    assert update(chatting, Ended("m1", 3, 0, winner=0, reason="resign"), 0).typed == "Well"


def test_a_choice_takes_digits() -> None:
    display, _ = done(seen(swapping()), Command.PLACE)
    assert command_for("2", display) == Choose(1)


def test_who_goes_on_with_their_own_match_looks_on_no_more() -> None:
    watched = snapshot("gomoku", [112], you=None, match="m9", opponent=BEN)
    display, _ = done(seen(snapshot()), Command.BACK)
    display = update(act(display, Send(WatchRequest(0, match="m9")), SEEK)[0], watched, 0)
    assert display.is_watched
    for command in (Command.NEW, Show("m1")):
        own, requests = done(display, command)
        assert (own.shown, own.world.watching, requests) == ("m1", None, (UnwatchRequest(0, match="m9"),))
        assert "m9" not in own.world.matches, "its end is no news of ours"


def test_a_list_of_moves_is_not_shown_where_each_has_a_digit_of_its_own() -> None:
    for game, most in (("connect4", 7), ("tictactoe", 9)):
        display, requests = done(seen(snapshot(game)), Command.MOVES)
        assert (display.overlay, requests) == (Overlay.NONE, ())
        assert f"Press a digit, 1 to {most}, or go there" in words.notice(display)


def test_who_is_asked_whether_to_leave_may_end_the_match_and_stay() -> None:
    for moves, end in (([4], AbortRequest(0, match="m1")), ([4, 0], ResignRequest(0, match="m1"))):
        display, _ = done(replace(seen(snapshot(moves=moves)), has_server_picker=True), Command.LEAVE)
        command = command_for("r", display)
        assert command is Command.RESIGN
        display, requests = done(display, command)
        assert (requests, display.overlay, display.is_leaving) == ((end,), Overlay.NONE, False)
    assert done(seen(snapshot(moves=[4])), Command.RESIGN)[1] == (ResignRequest(0, match="m1"),), (
        "a word that was typed means itself"
    )
