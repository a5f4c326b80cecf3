import asyncio
from dataclasses import replace

import pytest
from msgspec import structs

from tests.client.samples import BEN, BOT, knowing, layered, played, snapshot, swapping, welcome
from ttt_net.client import words
from ttt_net.client.act import act, answered
from ttt_net.client.client_controller import ClientController
from ttt_net.client.commands import AnyCommand, Begin, Choose, Command, Move, Point, Quick, Send, Show, Type
from ttt_net.client.display import Display, Overlay
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.events import WorldEvent
from ttt_net.client.keys import command_for
from ttt_net.client.pages import Entry
from ttt_net.client.screens.match import waiting
from ttt_net.client.screens.registry import screen_of
from ttt_net.client.update import update
from ttt_net.client.world import LinkState, World
from ttt_net.errors import Code
from ttt_net.messages import (
    AbortRequest,
    AwayInfo,
    Chatted,
    ClockInfo,
    Declined,
    DeclineRequest,
    Ended,
    LobbyRequest,
    Notice,
    Offered,
    OfferInfo,
    OfferRequest,
    Ok,
    OutcomeInfo,
    PlayerInfo,
    PlayRequest,
    Presence,
    Refused,
    Rematched,
    Request,
    ResignRequest,
    Restarting,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    UnwatchRequest,
    Watching,
    WatchRequest,
)
from ttt_net.sdk.connection import FOREVER, ClientConnection
from ttt_net.sdk.events import Answered, Back, Farewell, Garbled, Lost, Parting, Retrying
from ttt_net.sdk.matches import Tally
from ttt_net.sdk.session import ClientSession

SEEK = SeekRequest(0, ["tictactoe"])


def seen(*events: WorldEvent, at_ms: int = 0) -> Display:
    display = Display(World(address="localhost:8765"))
    for event in (welcome(), *events):
        display = update(display, event, at_ms)
    return display


def drawn(display: Display, now_ms: int) -> str:
    """Return the words on the screen, wherever their lines end."""
    return " ".join(draw(display, (80, 24), now_ms, BOXES).plain.split())


def done(display: Display, *commands: AnyCommand) -> tuple[Display, tuple[Request, ...]]:
    """Return the display after the actions, and what the last of them says."""
    requests: tuple[Request, ...] = ()
    for command in commands:
        display, requests = act(display, command, SEEK)
    return display, requests


def test_a_new_match_comes_on_the_screen_and_ends_the_search() -> None:
    display, requests = done(seen(), Command.NEW)
    assert requests == (SEEK,)
    assert screen_of(display).status(display) == "Looking for an opponent: Tic-tac-toe ..."
    display = update(display, snapshot(), 0)
    assert display.world.seeking is None
    assert display.is_my_turn
    assert display.cursor == 4
    assert words.status(display) == "Your turn: place X."


def test_an_unfinished_match_is_shown_at_once_and_said_to_be_one() -> None:
    display = update(update(Display(), welcome("m1"), 0), snapshot(moves=[4, 0]), 0)
    assert display.is_live
    assert words.notice(display) == "Your unfinished match goes on."
    assert words.notice(seen(snapshot(moves=[4, 0]))) == "", "it has just begun, however quick the other was"


def test_a_move_is_pending_until_its_fact_is_there() -> None:
    display, requests = done(seen(snapshot()), Command.PLACE)
    assert requests == (PlayRequest(0, match="m1", ply=0, move=4),)
    assert display.pending is not None
    assert not display.may_move
    assert "on its way" in words.status(display)
    _, requests = done(display, Command.PLACE)
    assert requests == ()
    display = update(display, played("tictactoe", [4]), 0)
    assert display.pending is None
    assert words.status(display) == "alphabeta [bot] is thinking ..."


def test_a_refused_move_is_taken_back_and_the_reason_shown() -> None:
    display, (play,) = done(seen(snapshot()), Command.PLACE)
    display = update(display, Answered(play, Refused(1, Code.STORAGE, "the disk is full")), 0)
    assert display.pending is None
    assert words.notice(display) == "The disk is full."


def test_a_fact_heard_twice_changes_nothing() -> None:
    display = seen(snapshot(), played("tictactoe", [4]))
    assert update(display, played("tictactoe", [4]), 0) == display


def test_each_match_is_counted_once_however_its_end_is_heard() -> None:
    end = Ended("m1", 2, 0, winner=0, reason="resign")
    over = snapshot(outcome=None)
    display = seen(over, end, end)
    assert display.world.tally == Tally(won=1)
    assert seen(snapshot(moves=[4, 0, 2, 1]), snapshot(moves=[4, 0, 2, 1, 6])).world.tally == Tally(won=1)
    assert seen(snapshot(moves=[4, 0, 2, 1, 6])).world.tally == Tally(), "it had ended before we came"
    assert seen(snapshot(), Ended("m1", 2, 0, winner=None, reason="abort")).world.tally == Tally()
    assert seen(snapshot(), Ended("m1", 2, 0, winner=None, reason="agreement")).world.tally == Tally(drawn=1)
    assert seen(snapshot(you=1), Ended("m1", 2, 0, winner=0, reason="time")).world.tally.games == 1


def test_an_offer_is_said_and_lapses_with_the_next_move() -> None:
    display = seen(snapshot(opponent=BEN), Offered("m1", 2, 0, side=1, kind="draw"))
    assert display.match is not None
    assert waiting(display, display.match, 0) == "Ben offers a draw: d yes, x no."
    display = update(display, played("tictactoe", [4], seq=3), 0)
    assert display.match is not None
    assert display.match.offers == []


def test_a_declined_offer_is_said() -> None:
    display = seen(snapshot(), Offered("m1", 2, 0, side=0, kind="draw"), Declined("m1", 3, 0, side=1, kind="draw"))
    assert display.match is not None
    assert display.match.offers == []
    assert words.notice(display) == "Your draw offer was declined."


def test_a_rematch_comes_on_the_screen_when_the_old_match_is_over() -> None:
    display = seen(snapshot(), Ended("m1", 2, 0, winner=1, reason="resign"))
    display, requests = done(display, Command.REMATCH)
    assert requests == (OfferRequest(0, match="m1", kind="rematch"),)
    display = update(display, Rematched("m1", 3, 0, next="m1-2"), 0)
    display = update(display, snapshot(match="m1-2", you=1), 0)
    assert display.shown == "m1-2"
    assert set(display.world.matches) == {"m1-2"}


def test_another_live_match_waits_its_turn() -> None:
    display = seen(snapshot(), snapshot(match="m2"))
    assert display.shown == "m1"
    display = update(display, Ended("m1", 2, 0, winner=1, reason="resign"), 0)
    display, requests = done(display, Command.NEW)
    assert (display.shown, requests) == ("m2", ())


def test_a_match_of_others_comes_on_the_screen_only_if_it_was_asked_for() -> None:
    assert seen(snapshot(you=None)).match is None
    display, requests = done(seen(), Send(WatchRequest(0, match="m1")))
    assert requests == (WatchRequest(0, match="m1"),)
    display = update(display, snapshot(you=None, moves=[4]), 0)
    assert (display.is_watched, display.is_live, display.is_my_turn) == (True, False, False)
    assert words.status(display) == "alphabeta [bot] is thinking ..."
    display = update(display, Ended("m1", 9, 0, winner=0, reason="resign"), 0)
    assert words.status(display) == "Ann won: alphabeta resigned."
    assert display.world.tally == Tally()
    display, requests = done(display, Command.BACK)
    assert requests == (UnwatchRequest(0, match="m1"),)
    assert (display.match, display.page.screen) == (None, "lobby")


def test_a_match_of_ours_takes_the_place_of_one_that_is_watched() -> None:
    display, _ = done(seen(), Send(WatchRequest(0, match="m1")))
    display = update(update(display, snapshot(you=None), 0), snapshot(match="m2"), 0)
    assert (display.shown, display.world.watching, set(display.world.matches)) == ("m2", None, {"m2"})


def test_the_server_hears_that_we_watch_no_more_when_a_match_of_ours_begins() -> None:
    said: list[Request] = []
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True)
    controller.hear(welcome(), 0)
    controller.do(Send(WatchRequest(0, match="m1")))
    controller.hear(snapshot(you=None), 0)
    controller.hear(snapshot(match="m2"), 0)
    assert said == [SEEK, LobbyRequest(0, on=True), WatchRequest(0, match="m1"), UnwatchRequest(0, match="m1")]


@pytest.mark.parametrize(
    ("code", "is_wanted"), [(Code.UNKNOWN_GAME, False), (Code.ALWAYS_CASUAL, False), (Code.TOO_FAST, True)]
)
def test_what_there_is_not_is_not_sought_again(code: Code, *, is_wanted: bool) -> None:
    said: list[Request] = []
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True)
    controller.hear(welcome(), 0)
    other = SeekRequest(0, ["mnk:9x9,9"], rated=True)
    controller.do(Send(other))
    controller.hear(Answered(other, Refused(1, code, "no")), 0)
    controller.do(Command.NEW)
    assert said[-1] == (other if is_wanted else SEEK)


def test_the_score_of_a_series_counts_the_match_that_is_over() -> None:
    match = structs.replace(snapshot(), score=(1.0, 0.5))
    assert words.series(match) == "Series X 1 : 0.5 O"
    assert words.series(structs.replace(match, outcome=OutcomeInfo(1, "resign"))) == "Series X 1 : 1.5 O"
    assert words.series(structs.replace(match, outcome=OutcomeInfo(None, "draw"))) == "Series X 1.5 : 1 O"


def test_a_match_that_may_not_be_watched_is_not_waited_for() -> None:
    display, (watch,) = done(seen(), Send(WatchRequest(0, match="m1")))
    display = update(display, Answered(watch, Refused(1, Code.NOT_PUBLIC, "that match is private")), 0)
    assert display.world.watching is None
    assert words.notice(display) == "That match is private."


def test_escape_goes_back_step_by_step_and_a_live_match_stays() -> None:
    display, _ = done(seen(snapshot()), Type("b"), Command.HELP)
    for overlay, typed in ((Overlay.NONE, "b"), (Overlay.NONE, "")):
        display, requests = done(display, Command.BACK)
        assert (display.overlay, display.typed, requests) == (overlay, typed, ())
    display, _ = done(display, Command.BACK)
    assert display.page.screen == "lobby"
    assert "m1" in display.world.matches
    display, _ = done(display, Command.PLACE)
    assert (display.page.screen, display.shown) == ("match", "m1"), "own matches come first"


def test_presence_is_shown_in_words() -> None:
    display = seen(snapshot(opponent=BEN), Presence("m1", side=1, online=False))
    assert display.match is not None
    assert words.absence(display.match, None, "c") == "Ben is away."
    assert update(display, Presence("m1", side=5, online=False), 0) == display
    assert update(display, Presence("unknown", side=0, online=False), 0) == display


def test_a_lost_link_is_said_with_what_it_means_and_stops_the_clock() -> None:
    clock = ClockInfo((60_000, 60_000), running=0)
    display = seen(snapshot(clock=clock), at_ms=1000)
    assert display.left_ms(0, 11_000) == 50_000
    assert display.left_ms(1, 11_000) == 60_000
    display = update(update(display, Lost("the connection broke"), 11_000), Retrying(3, 250), 11_000)
    assert display.left_ms(0, 99_000) == 50_000
    assert words.banner(display) == "Reconnecting, try 3: your match is safe. The connection broke."
    said = words.banner(display, display.world.lost_for_ms(23_000))
    assert said == "Reconnecting for 12 s, try 3: your match is safe. The connection broke."
    display = update(update(display, Back(), 99_000), welcome("m1"), 99_000)
    assert display.world.link is LinkState.ONLINE
    assert words.banner(display) == ""


def test_an_answer_to_resume_that_knows_no_such_match_takes_it_away() -> None:
    display = seen(snapshot())
    display = update(display, Answered(ResumeRequest(3, "m1", 1), Refused(3, Code.UNKNOWN_MATCH, "gone")), 0)
    assert display.match is None


def test_good_answers_and_taken_back_seeks_need_no_words() -> None:
    display = seen(snapshot())
    assert update(display, Answered(SEEK, Ok(1)), 0) == display
    assert update(display, Answered(UnseekRequest(1), Refused(1, Code.NOT_SEEKING, "none")), 0) == display


def test_what_was_left_out_and_what_has_no_request_is_said() -> None:
    assert words.notice(seen(Garbled("nonsense"))) == "Left out: nonsense"
    assert words.notice(seen(Refused(None, Code.BAD_MESSAGE, "what?"))) == "What?"


def test_the_farewell_is_kept() -> None:
    farewell = Farewell(Parting.REPLACED, "elsewhere")
    assert seen(farewell).world.farewell == farewell


@pytest.mark.parametrize(
    ("winner", "reason", "sentence"),
    [
        (0, "line", "You won: you completed a line."),
        (1, "line", "You lost: Ben completed a line."),
        (0, "resign", "You won: Ben resigned."),
        (1, "resign", "You lost: you resigned."),
        (0, "time", "You won: Ben's time ran out."),
        (1, "time", "You lost: your time ran out."),
        (1, "abandon", "You lost: you left the match."),
        (1, "a reason of tomorrow", "You lost."),
        (None, "draw", "A draw."),
        (None, "agreement", "A draw, by agreement."),
        (None, "abort", "The match was called off; it does not count."),
    ],
)
def test_the_result_is_said_in_words(winner: int | None, reason: str, sentence: str) -> None:
    display = seen(snapshot(opponent=BEN), Ended("m1", 2, 0, winner=winner, reason=reason))
    assert display.match is not None
    assert words.result(display.match) == sentence


def test_names_are_cleaned_and_bots_marked() -> None:
    assert words.label_of(BOT) == "alphabeta [bot]"
    assert words.label_of(PlayerInfo("\x1b[31mEve\u202e\u200b")) == "[31mEve"
    assert words.label_of(PlayerInfo("\x1b\x07", bot="")) == "? [bot]"


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
    assert words.notice(display) == "8 is no place here."


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
        ("z9", "z9 is no move here; possible: a3, b3, c3, a2, c2, a1, b1, c1"),
        ("5", "5 is not free."),
    ],
)
def test_an_impossible_move_is_not_sent_and_the_reason_said(name: str, reason: str) -> None:
    display, requests = done(seen(snapshot(moves=[4], you=1)), Move(name))
    assert requests == ()
    assert words.notice(display) == reason


def test_a_click_moves_the_cursor_and_places_a_mark_or_says_why_not() -> None:
    display, requests = done(seen(snapshot()), Point(8))
    assert requests == (PlayRequest(0, match="m1", ply=0, move=8),)
    assert display.cursor == 8
    display, requests = done(seen(snapshot(moves=[4, 0])), Point(4))
    assert (display.cursor, requests) == (4, ())
    assert words.notice(display) == "That cell is not free."


def test_how_many_watch_is_kept() -> None:
    display = seen(snapshot(), Watching("m1", 3), Watching("elsewhere", 5))
    assert display.match is not None
    assert words.facts(display, display.match) == ["3 watching"]


@pytest.mark.parametrize(
    ("ms", "said"), [(None, ""), (12, "12 ms, good"), (250, "250 ms, fair"), (900, "900 ms, slow")]
)
def test_the_way_to_the_server_is_a_number_and_a_word(ms: int | None, said: str) -> None:
    assert words.latency(ms) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [(-1, "0 s"), (4_900, "4 s"), (119_000, "119 s"), (120_000, "2 min"), (3_600_000, "1 h"), (90_000_000, "1 d")],
)
def test_a_duration_is_short_and_has_a_unit(ms: int, said: str) -> None:
    assert words.duration(ms) == said


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
    assert done(live, Command.DRAW)[1] == (OfferRequest(0, match="m1", kind="draw"),)
    assert done(live, Command.REMATCH)[1] == ()
    assert done(live, Command.DECLINE)[1] == ()
    asked = seen(snapshot(offers=[OfferInfo(1, "draw")]))
    assert done(asked, Command.DECLINE)[1] == (DeclineRequest(0, match="m1", kind="draw"),)
    assert done(live, Command.RESIGN)[1] == (ResignRequest(0, match="m1"),)
    assert done(seen(), Command.RESIGN)[1] == ()
    over = update(live, Ended("m1", 2, 0, winner=1, reason="time"), 0)
    assert done(over, Command.DRAW)[1] == ()


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


def second(clock: ClockInfo | None = None) -> Snapshot:
    return snapshot("connect4", [38], you=1, match="m2", opponent=BEN, clock=clock)


def test_a_match_that_begins_while_another_is_played_is_told_and_one_key_away() -> None:
    display = seen(snapshot(), second())
    assert (display.shown, display.elsewhere) == ("m1", display.world.matches["m2"])
    assert words.notice(display) == "Another match has begun, against Ben: Connect Four."
    display, _ = done(display, Command.UP)
    assert display.match is not None
    assert waiting(display, display.match, 0) == "It is your turn against Ben, too: n goes there."
    display, requests = done(replace(display, cursor=8, typed="b"), Command.NEW)
    assert (display.shown, display.typed, requests) == ("m2", "", ())
    assert display.cursor == 3, "a cursor of its own, where marks fall"
    display = update(display, Ended("m1", 2, 0, winner=0, reason="resign"), 0)
    assert words.notice(display) == "The match against alphabeta [bot] is over. You won: alphabeta resigned."
    assert display.elsewhere is None
    assert done(display, Command.NEW)[0].notice == "Finish this match first, or leave it."


def test_what_stands_in_the_line_for_notices_hides_no_turn_elsewhere() -> None:
    display, _ = done(seen(snapshot(), snapshot("connect4", [38, 31], you=1, match="m2", opponent=BEN)), Command.NEW)
    assert words.notice(display) == "Finish this match first, or leave it."
    display = update(display, played("connect4", [38, 31, 37], match="m2"), 0)
    assert "It is your turn against Ben, too: n goes there." in draw(display, (80, 24), 0, BOXES).plain


def test_whoever_goes_on_with_his_own_match_looks_on_no_more() -> None:
    watched = snapshot("gomoku", [112], you=None, match="m9", opponent=BEN)
    display, _ = done(seen(snapshot()), Command.BACK)
    display = update(act(display, Send(WatchRequest(0, match="m9")), SEEK)[0], watched, 0)
    assert display.is_watched
    for command in (Command.NEW, Show("m1")):
        own, requests = done(display, command)
        assert (own.shown, own.world.watching, requests) == ("m1", None, (UnwatchRequest(0, match="m9"),))
        assert "m9" not in own.world.matches, "its end is no news of ours"


def test_only_who_plays_is_told_that_his_match_stays_as_it_is() -> None:
    display = knowing(seen(), watching="m9")
    onlooker = update(display, snapshot("gomoku", [112], you=None, match="m9", opponent=BEN), 0)
    for others in (display, onlooker):
        assert words.parting(others.world, "client.py") == ""
        assert words.notice(update(others, Restarting(1_000), 0)) == "The server restarts; please wait."
    player = seen(snapshot())
    assert words.parting(player.world, "client.py").startswith("Your match stays as it is.")
    assert words.notice(update(player, Restarting(1_000), 0)) == "The server restarts; your match waits as it is."


def test_before_the_first_link_it_is_said_what_keeps_us_from_it() -> None:
    display = update(
        Display(World(address="example.org:8765")), Retrying(3, 10, "no computer of that name is known"), 0
    )
    assert "No answer from example.org:8765, try 3. No computer of that name is known." in drawn(display, 0)
    assert "No computer of that name is known." in draw(display, (40, 16), 0, BOXES).plain
    assert words.banner(update(display, Retrying(4, 10), 0)) == "No answer from example.org:8765, try 4 ..."


def test_what_is_said_does_not_hide_an_offer() -> None:
    display = update(seen(snapshot(moves=[4, 0], opponent=BEN)), Chatted("m1", "players", BEN, "Good luck!"), 0)
    for events in ((), (Chatted("m1", "players", BEN, "What do you say?"),)):
        offered = update(display, Offered("m1", 4, 0, side=1, kind="draw"), 0)
        for event in events:
            offered = update(offered, event, 0)
        assert "Ben offers a draw: d yes, x no. Ben: " in drawn(offered, 0)


def test_a_sentence_has_room_where_there_are_blank_lines() -> None:
    display = replace(seen(snapshot()), notice="You have not moved yet, so there is nothing to take back.")
    lines = draw(display, (40, 16), 0, BOXES).plain.split("\n")
    assert lines[-3:-1] == ["You have not moved yet, so there is", "nothing to take back."]


def test_a_list_of_moves_is_not_shown_where_each_has_a_digit_of_its_own() -> None:
    for game, most in (("connect4", 7), ("tictactoe", 9)):
        display, requests = done(seen(snapshot(game)), Command.MOVES)
        assert (display.overlay, requests) == (Overlay.NONE, ())
        assert f"Press a digit, 1 to {most}, or go there" in words.notice(display)


def test_a_restart_that_is_announced_is_counted_down_until_it_comes_or_is_called_off() -> None:
    told = Notice("The server restarts in 30 seconds; your matches are safe.", 30_000)
    display = update(seen(snapshot(moves=[4, 0])), told, 1_000)
    assert "The server restarts in 30 s; your match is safe." in drawn(display, 1_000)
    assert "The server restarts in 4 s; your match is safe." in drawn(display, 26_500)
    assert "30 seconds" not in drawn(display, 26_500)
    said = update(display, Notice("tea at five", 20_000), 11_000)
    assert "Tea at five. The server restarts in 19 s; your match is safe." in drawn(said, 12_000)
    offered = update(display, Offered("m1", 4, 0, side=1, kind="draw"), 2_000)
    assert "offers a draw: d yes, x no. The server restarts in 29 s" in drawn(offered, 2_000)
    assert "no match begins until it is back." in drawn(update(seen(), told, 1_000), 1_000)
    off = update(display, Notice("The restart was called off."), 9_000)
    assert "The restart was called off." in drawn(off, 9_000)
    for over in (off, update(display, Lost("gone"), 9_000), update(display, welcome("m1"), 9_000)):
        assert "restarts in" not in drawn(over, 9_000)


def test_only_what_begins_is_told_to_have_begun() -> None:
    resumed = update(Display(World(address="localhost:8765")), welcome("m1", "m2"), 0)
    for match in (snapshot(), second()):
        resumed = update(resumed, match, 0)
    assert (words.notice(resumed), resumed.elsewhere) == ("Your unfinished match goes on.", resumed.world.matches["m2"])
    busy = knowing(seen(snapshot()), watching="m2")
    over = structs.replace(second(), outcome=OutcomeInfo(0, "time"))
    for match in (structs.replace(second(), you=None), over):
        assert words.notice(update(busy, match, 0)) == ""


def test_every_match_has_a_clock_of_its_own_whichever_is_seen() -> None:
    display = update(seen(snapshot()), second(ClockInfo((180_000, 180_000), 1)), 10_000)
    display = update(display, played("tictactoe", [4]), 20_000)
    display, _ = done(display, Show("m2"))
    assert display.left_ms(1, 40_000) == 150_000
    away = Presence("m1", 1, online=False, away=AwayInfo(1, on_purpose=False, claim_in_ms=60_000))
    display, _ = done(update(display, away, 50_000), Show("m1"))
    assert display.claim_in_ms(70_000) == 40_000
    assert "m2" not in update(display, Ended("m2", 3, 0, winner=0, reason="time"), 80_000).world.heard_at_ms


def test_a_move_on_its_way_in_one_match_is_no_matter_of_another() -> None:
    display, _ = done(seen(snapshot("mnk:19x19,5"), second()), Move("s19"))
    assert "Your move s19 is on its way" in words.status(display)
    display, requests = done(display, Command.NEW, Quick(4))
    assert words.status(replace(display, pending=PlayRequest(0, "m1", 0, 18))) == "Your turn: place O."
    assert requests == (PlayRequest(0, match="m2", ply=1, move=31),)


def test_a_search_that_is_refused_takes_back_the_one_before_it() -> None:
    refused = Answered(SeekRequest(2, ["foo"]), Refused(2, "unknown_game", "unknown game 'foo'"))
    display = update(knowing(seen(), seeking=SeekRequest(0, ["foo"])), refused, 0)
    assert display.world.seeking is None
    assert answered(display, refused) == (UnseekRequest(0),)
    assert answered(display, Answered(SeekRequest(2, ["connect4"]), Ok(2))) == ()


def test_whoever_is_asked_whether_to_leave_may_end_the_match_and_stay() -> None:
    for moves, end in (([4], AbortRequest(0, match="m1")), ([4, 0], ResignRequest(0, match="m1"))):
        display, _ = done(replace(seen(snapshot(moves=moves)), has_server_picker=True), Command.LEAVE)
        command = command_for("r", display)
        assert command is Command.RESIGN
        display, requests = done(display, command)
        assert (requests, display.overlay, display.is_leaving) == ((end,), Overlay.NONE, False)
    assert done(seen(snapshot(moves=[4])), Command.RESIGN)[1] == (ResignRequest(0, match="m1"),), (
        "a word that was typed means itself"
    )
