"""Commands and keys at a board, chat there, and the series of matches that a watcher follows."""

import asyncio
from dataclasses import replace

import msgspec
import pytest

from tests.client.pressing import SEEK, done, drawn, lobby, pressed, seen
from tests.client.samples import ANN, BEN, CHALLENGED, knowing, layered, snapshot, swapping, welcome
from ttt_net.client import words
from ttt_net.client.act import act, answered, command_for
from ttt_net.client.client_controller import ClientController
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
from ttt_net.client.mailbox import WorldEvent
from ttt_net.client.screens import replay_screen
from ttt_net.client.screens.offers import request_of
from ttt_net.client.update import MAX_CHAT, update
from ttt_net.errors import Code
from ttt_net.messages import (
    AbortRequest,
    AgreeRequest,
    ChatRequest,
    Chatted,
    DeclineRequest,
    Ended,
    JoinRequest,
    MuteRequest,
    OfferInfo,
    OfferRequest,
    OutcomeInfo,
    PlayerInfo,
    PlayerRenamed,
    PlayRequest,
    Refused,
    Rematched,
    Request,
    ResignRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession
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


def test_a_cell_is_named_without_the_cell_that_a_piece_comes_from() -> None:
    match = snapshot(moves=[4, 0])
    game = msgspec.structs.replace(match.game, move_names=[f"b2{name}" for name in match.game.move_names])
    display, requests = done(seen(msgspec.structs.replace(match, game=game)), Point(4))
    assert requests == ()
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


@pytest.mark.parametrize(("game", "keys"), [("connect4", "ez/8"), ("tictactoe", "ez/"), ("gomoku", "5z/")])
def test_a_key_that_begins_no_move_is_not_typed(game: str, keys: str) -> None:
    assert not any(isinstance(command_for(key, seen(snapshot(game))), Type) for key in keys)


@pytest.mark.parametrize("key", ["s", "m", "y"])
def test_at_one_keyboard_nothing_is_said_muted_or_linked(key: str) -> None:
    display, requests = pressed(replace(seen(snapshot("connect4")), has_lobby=False), key)
    assert (display.entry, display.copied, requests) == (Entry.MOVE, "", ())
    assert display.notice == "Chat, links and muting are for matches on a server."


def test_a_choice_takes_digits() -> None:
    display, _ = done(seen(swapping()), Command.PLACE)
    assert command_for("2", display) == Choose(1)


def test_resuming_our_own_match_ends_watching() -> None:
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


def test_the_question_about_leaving_lets_players_resign_and_stay() -> None:
    for moves, end in (([4], AbortRequest(0, match="m1")), ([4, 0], ResignRequest(0, match="m1"))):
        display, _ = done(replace(seen(snapshot(moves=moves)), has_server_picker=True), Command.LEAVE)
        command = command_for("r", display)
        assert command is Command.RESIGN
        display, requests = done(display, command)
        assert (requests, display.overlay, display.is_leaving) == ((end,), Overlay.NONE, False)
    rated = msgspec.structs.replace(snapshot(moves=[4, 0, 1]), rated=True)
    assert done(seen(rated), Command.LEAVE, Command.RESIGN)[1] == (AbortRequest(0, match="m1"),)
    assert done(seen(snapshot(moves=[4])), Command.RESIGN)[1] == (ResignRequest(0, match="m1"),), (
        "a word that was typed means itself"
    )


ENDED = Ended("m1", 2, 0, winner=1, reason="resign")
REMATCHED = Rematched("m1", 3, 0, next="m1-2")
WATCH = WatchRequest(0, match="m1", code="BCD234")
FOLLOWED = [UnwatchRequest(0, match="m1"), WatchRequest(0, match="m1-2", code="BCD234")]


def watcher(*events: WorldEvent) -> tuple[ClientController, list[Request]]:
    """Return the table of somebody who watches a private match, and what they say from then on."""
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    said: list[Request] = []
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True, is_seeking=False)
    controller.hear(welcome(), 0)
    controller.do(Send(WATCH))
    controller.hear(snapshot(you=None, opponent=BEN), 0)
    said.clear()
    for event in events:
        controller.hear(event, 0)
    return controller, said


def test_watchers_of_a_series_follow_its_next_match() -> None:
    controller, said = watcher(ENDED, REMATCHED)
    assert said == FOLLOWED
    assert controller.display.match is not None
    assert controller.display.match.match == "m1", "the old one is seen until the new one is there"
    controller.hear(snapshot(you=None, match="m1-2", opponent=BEN), 0)
    assert controller.display.shown == "m1-2"
    assert set(controller.display.world.matches) == {"m1-2"}
    controller.do(Command.BACK)
    assert said[-1] == UnwatchRequest(0, match="m1-2")


@pytest.mark.parametrize("command", [Begin(Entry.CHAT), replay_screen.STEP_THROUGH.command, Command.SIDE_PANEL])
def test_nobody_is_taken_away_from_what_they_read_or_write(command: Begin | Command) -> None:
    controller, said = watcher(ENDED)
    controller.do(command)
    said.clear()
    controller.hear(REMATCHED, 0)
    assert said == []
    controller.do(Command.BACK)
    assert "n next match" in draw(controller.display, (80, 24), 0, BOXES).plain
    controller.do(Command.NEW)
    assert said == FOLLOWED


def test_a_finished_match_that_is_looked_up_leads_on_as_well() -> None:
    first = msgspec.structs.replace(snapshot(you=None), outcome=OutcomeInfo(0, "resign"), next="m1-2")
    controller, said = watcher(first, CHALLENGED)
    assert said == [], "only a step that is seen to be made is followed"
    display, requests = pressed(controller.display, "n")
    assert requests == tuple(FOLLOWED)
    assert display.world.watching == "m1-2"


def test_the_players_themselves_are_led_by_the_server() -> None:
    display = lobby(snapshot(opponent=BEN), ENDED, REMATCHED)
    assert "next match" not in draw(display, (120, 40), 0, BOXES).plain
    assert pressed(display, "n")[1] == (SEEK,)


WON = [4, 0, 2, 1, 6]


MATCH = snapshot("connect4", [38], opponent=BEN)


def told(text: str, by: PlayerInfo = BEN, match: str = "m1") -> Chatted:
    return Chatted(match, "players", by, text)


def test_a_phrase_takes_two_keys() -> None:
    display, _ = pressed(lobby(MATCH), "s")
    assert "2 good luck" in drawn(display)
    display, requests = pressed(display, "2")
    assert requests == (ChatRequest(0, match="m1", phrase="good_luck"),)
    assert "good luck" not in drawn(display)


def test_words_of_ones_own_are_typed_and_may_hold_digits() -> None:
    _, requests = pressed(lobby(MATCH), "s", *"b2?", "c-m")
    assert requests == (ChatRequest(0, match="m1", text="b2?"),)
    assert pressed(lobby(MATCH), "s", *"abc", "escape")[0].typed == ""
    assert pressed(lobby(MATCH), "s", "c-m")[1] == ()
    long = pressed(lobby(MATCH), "s", *("w" * 300))[0]
    assert max(map(len, drawn(long, (40, 12)).split("\n"))) <= 40


def test_chat_stays_within_a_series_of_matches() -> None:
    display = update(lobby(snapshot(moves=WON, opponent=BEN)), told("Again?"), 0)
    after = update(update(display, Rematched("m1", 9, 0, next="m1-2"), 0), snapshot(match="m1-2", opponent=BEN), 0)
    assert "Ben: Again?" in drawn(after)
    other = update(display, snapshot(match="m7", opponent=BEN), 0)
    assert (other.shown, other.chat) == ("m7", ())


def test_where_only_phrases_are_said_nothing_else_can_be_typed() -> None:
    display, _ = pressed(knowing(lobby(MATCH), may_write=False), "s")
    assert command_for("b", display) is None
    assert "send" not in drawn(display)
    _, requests = pressed(display, "2")
    assert requests == (ChatRequest(0, match="m1", phrase="good_luck"),)


def test_where_letters_are_columns_the_upper_case_letter_says() -> None:
    display = lobby(snapshot("mnk:19x19,5", opponent=BEN))
    assert pressed(display, "S")[0].entry is Entry.CHAT
    assert pressed(display, "s")[0].typed == "s"


def test_chat_is_shown_beside_the_board_or_as_a_notice_without_room() -> None:
    display = update(lobby(MATCH), told("Shall we play on, now that it has become so late?"), 0)
    page = drawn(display)
    assert "Ben: Shall we play on," in page
    assert "  now that it has become" in page
    assert "Ben: Shall we play on" in drawn(display, (40, 12))
    for number in range(2 * MAX_CHAT):
        display = update(display, told(f"no. {number}"), 0)
    assert len(display.chat) == MAX_CHAT
    assert "no. 99" in drawn(display)


def test_our_own_words_and_those_at_another_match_are_no_news() -> None:
    assert words.notice(update(lobby(MATCH), told("hello", ANN), 0)) == ""
    assert update(lobby(MATCH), told("hello", match="m2"), 0).chat == ()


def test_one_key_mutes_and_unmutes() -> None:
    display, requests = pressed(lobby(MATCH), "m")
    assert requests == (MuteRequest(0, name="Ben", on=True),)
    display = update(display, told("on its way before the mute"), 0)
    assert display.chat == ()
    display, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Ben", on=False),)
    assert update(display, told("hello"), 0).chat != ()


def test_a_mute_that_is_refused_is_undone() -> None:
    for keys, watched in ((("m",), False), (("m", "1"), True)):
        display = update(lobby(MATCH), told("hello"), 0)
        if watched:
            watching = replace(display, world=replace(display.world, watching="m1"))
            display = update(update(watching, snapshot("connect4", [38], you=None, opponent=BEN), 0), told("hello"), 0)
        muted, (request,) = pressed(display, *keys)
        refused = update(muted, Answered(request, Refused(request.id, "too_fast", "wait a little", 60_000)), 0)
        assert words.notice(refused) == "Wait a little."
        assert (refused.muted, refused.is_deaf) == (frozenset(), False)
        assert len(update(refused, told("and again"), 0).chat) == len(display.chat) + 1


def test_a_mute_names_the_seat_of_the_opponent_and_follows_them_through_a_rename() -> None:
    display = update(seen(welcome(features=["seats"]), MATCH), told("hello"), 0)
    display, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Ben", on=True, match="m1", side=1),)
    display = update(display, PlayerRenamed("m1", 1, "Benny"), 0)
    assert words.notice(display) == "Ben is now called Benny."
    assert [each.by.name for each in display.chat] == ["Benny"]
    assert update(display, told("still here", PlayerInfo("Benny")), 0).chat == display.chat
    _, requests = pressed(display, "m")
    assert requests == (MuteRequest(0, name="Benny", on=False, match="m1", side=1),)


def test_watchers_mute_one_talker_or_everybody() -> None:
    watched = lobby()
    watched = replace(watched, world=replace(watched.world, watching="m1"))
    watched = update(watched, snapshot("connect4", [38], you=None, opponent=BEN), 0)
    silent, requests = pressed(watched, "m")
    assert (requests, words.notice(silent)) == ((), "No messages here yet.")
    cleo, dora = PlayerInfo("Cleo"), PlayerInfo("Dora")
    heard = update(update(watched, told("so slow", cleo), 0), told("hush", dora), 0)
    asked, requests = pressed(heard, "m")
    assert requests == ()
    assert "Mute  1: everybody  2: Dora  3: Cleo" in drawn(asked)
    assert "1-3 choose" in drawn(asked)
    assert pressed(asked, "9")[1] == ()
    display, requests = pressed(asked, "3")
    assert requests == (MuteRequest(0, name="Cleo", on=True),)
    assert update(display, told("still slow", cleo), 0).chat == heard.chat
    assert len(update(display, told("indeed", dora), 0).chat) == 3
    assert "3: Cleo (muted)" in drawn(pressed(display, "m")[0])
    display, requests = pressed(display, "m", "3")
    assert requests == (MuteRequest(0, name="Cleo", on=False),)
    display, requests = pressed(display, "m", "1")
    assert requests == (MuteRequest(0, name=None, on=True),)
    assert update(display, told("hello", dora), 0).chat == heard.chat
    assert "1: everybody (muted)" in drawn(pressed(display, "m")[0])
    display, requests = pressed(display, "m", "1")
    assert requests == (MuteRequest(0, name=None, on=False),)
    assert len(update(display, told("hello", dora), 0).chat) == 3


def test_a_new_match_begins_without_the_words_of_the_last() -> None:
    display = update(lobby(snapshot(moves=WON, opponent=BEN)), told("well played"), 0)
    assert update(display, snapshot(match="m2"), 0).chat == ()


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("k7qmx2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/j#K7QMX2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/j/K7QMX2", JoinRequest(0, code="K7QMX2")),
        ("http://192.168.1.20:8765/m/k3V9pQ7x", WatchRequest(0, match="k3V9pQ7x")),
        ("https://example.org/m/k3V9pQ7x#K7QMX2", WatchRequest(0, match="k3V9pQ7x", code="K7QMX2")),
        ("/m/", WatchRequest(0, match="?")),
    ],
)
def test_a_code_or_a_link_is_understood(text: str, understood: Request) -> None:
    assert request_of(text) == understood
