"""The display after each event."""

import asyncio
from dataclasses import replace

import pytest
from msgspec import structs

from tests.client.pressing import SEEK, done, seen
from tests.client.samples import BEN, knowing, played, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.act import answered
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Command, Display, Move, Quick, Send, Show
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import ReachableAt
from ttt_net.client.screens.board_play import waiting
from ttt_net.client.screens.registry import screen_of
from ttt_net.client.update import update
from ttt_net.client.world import LinkState, World
from ttt_net.errors import Code
from ttt_net.messages import (
    AwayInfo,
    ChallengeRequest,
    Chatted,
    ClockInfo,
    Declined,
    Ended,
    InvitationReply,
    LobbyRequest,
    Notice,
    Offered,
    OfferRequest,
    Ok,
    OutcomeInfo,
    PlayerInfo,
    PlayRequest,
    Presence,
    Refused,
    Rematched,
    Request,
    Restarting,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    UnwatchRequest,
    Watching,
    WatchRequest,
)
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Answered, Back, Farewell, Garbled, Lost, Parting, Retrying, Tally


def drawn(display: Display, now_ms: int) -> str:
    """Return the words on the screen, wherever their lines end."""
    return " ".join(draw(display, (80, 24), now_ms, BOXES).plain.split())


def second(clock: ClockInfo | None = None) -> Snapshot:
    return snapshot("connect4", [38], you=1, match="m2", opponent=BEN, clock=clock)


def test_a_new_match_comes_on_the_screen_and_ends_the_search() -> None:
    display, requests = done(seen(), Command.NEW)
    assert requests == (SEEK,)
    assert screen_of(display).status(display) == "Looking for a person: Tic-tac-toe ..."
    display = update(display, snapshot(), 0)
    assert display.world.seeking is None
    assert display.is_my_turn
    assert display.cursor == 4
    assert words.status(display) == "Your turn: place X."


def test_an_unfinished_match_is_shown_at_once_and_said_to_be_one() -> None:
    display = update(update(Display(), welcome("m1"), 0), snapshot(moves=[4, 0]), 0)
    assert display.is_live
    assert words.notice(display) == "Your unfinished match continues."
    assert words.notice(seen(snapshot(moves=[4, 0]))) == "", "it has just begun, however quick the other was"


def test_a_move_is_pending_until_its_event_arrives() -> None:
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
    away = update(display, Presence("m1", side=1, online=False), 0)
    assert words.status(away) == "alphabeta [bot] is to move, and away."


def test_a_refused_move_is_taken_back_and_the_reason_shown() -> None:
    display, (play,) = done(seen(snapshot()), Command.PLACE)
    display = update(display, Answered(play, Refused(1, Code.STORAGE, "the disk is full")), 0)
    assert display.pending is None
    assert words.notice(display) == "The disk is full."


def test_a_repeated_event_changes_nothing() -> None:
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
    assert waiting(display, display.match, 0) == "Ben offers a draw: press d to accept, x to decline."
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
    assert requests == (OfferRequest(0, match="m1", kind="rematch", ply=0),)
    display = update(display, Rematched("m1", 3, 0, next="m1-2"), 0)
    display = update(display, snapshot(match="m1-2", you=1), 0)
    assert display.shown == "m1-2"
    assert set(display.world.matches) == {"m1-2"}


def test_a_bot_that_has_gone_on_to_somebody_else_is_challenged_to_the_rematch() -> None:
    mia = PlayerInfo("Mia", "alphabeta", 3)
    for opponent, expected in (
        (mia, ChallengeRequest(0, "Mia", "connect4", level=3)),
        (BEN, OfferRequest(0, match="m1", kind="rematch", ply=0)),
    ):
        match = snapshot("connect4", opponent=opponent)
        display = seen(match, Ended("m1", 2, 0, winner=1, reason="resign"), Presence("m1", side=1, online=False))
        display, requests = done(display, Command.REMATCH)
        assert requests == (expected,)
    display = update(display, snapshot("connect4", match="m2", opponent=mia), 0)
    assert display.shown == "m2"


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


def welcomed() -> tuple[ClientController, list[Request]]:
    """Return what a server has let in, and what it says to that server."""
    said: list[Request] = []
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True)
    controller.hear(welcome(), 0)
    return controller, said


def test_watching_ends_on_the_server_when_a_match_of_ours_begins() -> None:
    controller, said = welcomed()
    controller.do(Send(WatchRequest(0, match="m1")))
    controller.hear(snapshot(you=None), 0)
    controller.hear(snapshot(match="m2"), 0)
    assert said == [SEEK, LobbyRequest(0, on=True), WatchRequest(0, match="m1"), UnwatchRequest(0, match="m1")]


@pytest.mark.parametrize(
    ("code", "is_wanted"), [(Code.UNKNOWN_GAME, False), (Code.ALWAYS_CASUAL, False), (Code.TOO_FAST, True)]
)
def test_impossible_seeks_are_not_repeated(code: Code, *, is_wanted: bool) -> None:
    controller, said = welcomed()
    other = SeekRequest(0, ["mnk:9x9,9"], rated=True)
    controller.do(Send(other))
    controller.hear(Answered(other, Refused(1, code, "no")), 0)
    controller.do(Command.NEW)
    assert said[-1] == (other if is_wanted else SEEK)


def test_a_match_that_may_not_be_watched_is_not_waited_for() -> None:
    display, (watch,) = done(seen(), Send(WatchRequest(0, match="m1")))
    display = update(display, Answered(watch, Refused(1, Code.NOT_PUBLIC, "that match is private")), 0)
    assert display.world.watching is None
    assert words.notice(display) == "That match is private."


def test_a_dropped_connection_is_explained_and_stops_the_clock() -> None:
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


def test_a_restart_is_blamed_only_as_long_as_nothing_else_is_known() -> None:
    display = update(seen(snapshot()), Restarting(1_000), 0)
    display = update(display, Lost("the server restarts"), 0)
    assert words.notice(display) == ""
    said = "Reconnecting for {}, try 2: your match is safe. {}"
    for attempt in (1, 2):
        display = update(display, Retrying(attempt, 50, "nothing listens there"), 100)
    assert words.banner(display, 2_000) == said.format("2 s", "The server is restarting.")
    assert words.banner(display, 30_000) == said.format("30 s", "The server has not come back from its restart.")
    display = update(display, Retrying(3, 50, "this port speaks TLS"), 200)
    assert words.banner(display, 2_000) == said.format("2 s", "This port speaks TLS.").replace("try 2", "try 3")
    closed = update(seen(snapshot()), Lost("the host has closed the server"), 0)
    assert words.banner(closed, 3_000) == "The host has closed the server; your match is kept. Reconnecting for 3 s."


def test_an_invitation_leads_to_the_node_where_its_player_is_now() -> None:
    display = update(Display(World(address="one:8765")), welcome(), 0)
    display = update(display, InvitationReply("BCD234", "tictactoe", 60_000), 0)
    display = update(update(display, ReachableAt("192.168.1.1:8765"), 0), Lost("the connection broke"), 1)
    display = update(update(display, Back("wss://two:8765"), 2), welcome(), 2)
    assert words.join_link(display, "BCD234") == "https://two:8765/j#BCD234"
    assert words.join_command(display, "BCD234").endswith(" wss://two:8765 --join BCD234")
    assert display.notice == "Connected again, at two:8765: friends join there by the same code."
    display = update(update(display, Lost("the connection broke"), 3), Back(), 4)
    assert words.join_link(display, "BCD234") == "https://two:8765/j#BCD234"
    assert display.notice == "Connected again; nothing is lost."


def test_an_answer_to_resume_that_knows_no_such_match_takes_it_away() -> None:
    display = seen(snapshot())
    display = update(display, Answered(ResumeRequest(3, "m1", 1), Refused(3, Code.UNKNOWN_MATCH, "gone")), 0)
    assert display.match is None


def test_good_answers_and_taken_back_seeks_need_no_words() -> None:
    display = seen(snapshot())
    assert update(display, Answered(SEEK, Ok(1)), 0) == display
    assert update(display, Answered(UnseekRequest(1), Refused(1, Code.NOT_SEEKING, "none")), 0) == display


def test_garbled_messages_and_unmatched_refusals_are_shown() -> None:
    assert words.notice(seen(Garbled("nonsense"))) == "The server sent something invalid: nonsense"
    assert words.notice(seen(Refused(None, Code.BAD_MESSAGE, "what?"))) == "What?"


def test_the_farewell_is_kept() -> None:
    farewell = Farewell(Parting.REPLACED, "elsewhere")
    assert seen(farewell).world.farewell == farewell


def test_the_number_of_watchers_is_kept() -> None:
    display = seen(snapshot(), Watching("m1", 3), Watching("elsewhere", 5))
    assert display.match is not None
    assert words.facts(display, display.match) == ["3 watching"]


def test_a_match_that_begins_during_another_is_shown_and_one_key_away() -> None:
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


def test_a_notice_does_not_hide_our_turn_in_another_match() -> None:
    display, _ = done(seen(snapshot(), snapshot("connect4", [38, 31], you=1, match="m2", opponent=BEN)), Command.NEW)
    assert words.notice(display) == "Finish this match first, or leave it."
    display = update(display, played("connect4", [38, 31, 37], match="m2"), 0)
    assert "It is your turn against Ben, too: n goes there." in draw(display, (80, 24), 0, BOXES).plain


def test_the_first_screen_says_why_there_is_no_connection_yet() -> None:
    display = update(
        Display(World(address="example.org:8765")), Retrying(3, 10, "no computer of that name is known"), 0
    )
    assert "No answer from example.org:8765, try 3. No computer of that name is known." in drawn(display, 0)
    assert "No computer of that name is known." in draw(display, (40, 16), 0, BOXES).plain
    assert words.banner(update(display, Retrying(4, 10), 0)) == "No answer from example.org:8765, try 4 ..."


def test_chat_does_not_hide_an_offer() -> None:
    display = update(seen(snapshot(moves=[4, 0], opponent=BEN)), Chatted("m1", "players", BEN, "Good luck!"), 0)
    for events in ((), (Chatted("m1", "players", BEN, "What do you say?"),)):
        offered = update(display, Offered("m1", 4, 0, side=1, kind="draw"), 0)
        for event in events:
            offered = update(offered, event, 0)
        assert "Ben offers a draw: press d to accept, x to decline. Ben: " in drawn(offered, 0)


def test_a_sentence_has_room_where_there_are_blank_lines() -> None:
    display = replace(seen(snapshot()), notice="You have not moved yet, so there is nothing to take back.")
    lines = draw(display, (40, 16), 0, BOXES).plain.split("\n")
    assert lines[-3:-1] == ["You have not moved yet, so there is", "nothing to take back."]


def test_a_restart_that_is_announced_is_counted_down_until_it_comes_or_is_called_off() -> None:
    told = Notice("The server restarts in 30 seconds; your matches are safe.", 30_000)
    display = update(seen(snapshot(moves=[4, 0])), told, 1_000)
    assert "The server restarts in 30 s; your match is safe." in drawn(display, 1_000)
    assert "The server restarts in 4 s; your match is safe." in drawn(display, 26_500)
    assert "30 seconds" not in drawn(display, 26_500)
    said = update(display, Notice("tea at five", 20_000), 11_000)
    assert "Tea at five. The server restarts in 19 s; your match is safe." in drawn(said, 12_000)
    offered = update(display, Offered("m1", 4, 0, side=1, kind="draw"), 2_000)
    assert "offers a draw: press d to accept, x to decline. The server restarts in 29 s" in drawn(offered, 2_000)
    assert "no match begins until it is back." in drawn(update(seen(), told, 1_000), 1_000)
    off = update(display, Notice("The restart was called off."), 9_000)
    assert "The restart was called off." in drawn(off, 9_000)
    for over in (off, update(display, Lost("gone"), 9_000), update(display, welcome("m1"), 9_000)):
        assert "restarts in" not in drawn(over, 9_000)


def test_only_a_new_match_is_announced_as_begun() -> None:
    resumed = update(Display(World(address="localhost:8765")), welcome("m1", "m2"), 0)
    for match in (snapshot(), second()):
        resumed = update(resumed, match, 0)
    assert (words.notice(resumed), resumed.elsewhere) == (
        "Your unfinished match continues.",
        resumed.world.matches["m2"],
    )
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


def test_a_pending_move_in_one_match_does_not_affect_another() -> None:
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


def test_the_cursor_goes_to_the_small_board_that_one_has_to_play_in_and_stays_if_it_is_there() -> None:
    match = snapshot("ultimate", [], you=1)
    names = match.game.move_names
    display = seen(match)
    away = replace(display, cursor=0)
    display = update(away, played("ultimate", [names.index("5:c1")]), 0)
    assert names[match.game.move_cells.index(display.cursor)] == "9:b2"
    there = replace(away, cursor=match.game.move_cells[names.index("9:a1")])
    assert update(there, played("ultimate", [names.index("5:c1")]), 0).cursor == there.cursor
    theirs = update(
        replace(seen(snapshot("ultimate", [], you=0)), cursor=0), played("ultimate", [names.index("5:c1")]), 0
    )
    assert theirs.cursor == 0, "it is not our turn"
