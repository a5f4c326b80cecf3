"""Tournaments on the screen: our next match first, the boards of the round, the standings, and the way in and out."""

import asyncio
from dataclasses import replace as replaced

import pytest
from msgspec.structs import replace

from tests.client.pressing import SEEK, drawn, keys_of, lobby, pressed, seen
from tests.client.samples import ANN, BEN, BLITZ, KING, OPENED, PLAYERS, RUNNING, knowing, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Display, Open, Page, Send
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.lines.typed_lines import command_of
from ttt_net.client.screens.screen import ListQuery
from ttt_net.client.screens.tournament_screen import own_state, told_in_lines
from ttt_net.client.update import update
from ttt_net.clock import TimeControl
from ttt_net.errors import Code
from ttt_net.messages import (
    AttendRequest,
    DirectRequest,
    EnterRequest,
    JoinRequest,
    ListedTournament,
    LobbyRequest,
    Ok,
    OrganiseRequest,
    OutcomeInfo,
    PlayerInfo,
    Refused,
    Request,
    RulesRequest,
    SeekRequest,
    Snapshot,
    TournamentBoard,
    TournamentList,
    TournamentPlace,
    TournamentReply,
    TournamentsRequest,
    TournamentStanding,
    UnseekRequest,
    WatchRequest,
    WithdrawRequest,
)
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Answered

CODE = OPENED.tournament
LISTED = TournamentList(
    2,
    [
        ListedTournament(CODE, "Friday", "swiss", "connect4", BLITZ, "open", 0, 5, 4),
        ListedTournament("BBBBB", "Last week", "knockout", "tictactoe", BLITZ, "over", 3, 3, 8),
    ],
)
DONE = replace(RUNNING, boards=[replace(RUNNING.boards[0], result="1-0"), *RUNNING.boards[1:]], open_boards=1)
RESTS = replace(DONE, boards=[replace(each, result=each.result or "1-0") for each in DONE.boards], open_boards=0)
OURS = replace(snapshot("connect4", opponent=BEN), tournament=TournamentPlace(CODE, 2, 1))


def at(told: TournamentReply, *events: Snapshot, now_ms: int = 0) -> Display:
    """Return the display of somebody who has opened that tournament."""
    display = seen(*events)
    display = replaced(display, pages=(*display.pages[:1], Page("tournament", about=CODE)))
    return update(display, told, now_ms)


def test_the_lobby_lists_what_can_be_entered_and_leads_there() -> None:
    display = lobby(PLAYERS, LISTED)
    page = drawn(display)
    assert "Tournaments" in page
    assert "Friday" in page
    assert "open, 4 players" in page
    assert "Last week" not in page
    display, requests = pressed(display, "t")
    assert (display.page.screen, display.page.about, requests) == ("tournament", CODE, (AttendRequest(0, CODE),))


def test_the_lobby_says_that_we_play_in_a_tournament() -> None:
    display = update(update(lobby(PLAYERS, OURS), RUNNING, 0), replace(OURS, outcome=OutcomeInfo(0, "resign")), 0)
    in_lobby, _ = pressed(display, "n", "escape")
    assert "You play in Friday: your next match begins by itself. t shows the tournament." in drawn(in_lobby)
    over = update(in_lobby, replace(RUNNING, state="over"), 0)
    assert "Welcome, Ann." in drawn(over)


def test_an_open_tournament_is_entered_with_one_key() -> None:
    display = at(OPENED)
    page = drawn(display)
    assert "Open: 2 players, code BCDFG." in page
    assert "It starts when the host says so." in page
    assert keys_of(display)[0] == "enter:"
    assert pressed(display, "c-m")[1] == pressed(display, "p")[1] == (EnterRequest(0, CODE),)
    entered = update(display, Answered(EnterRequest(1, CODE), Ok(1)), 0)
    assert "You have entered." in drawn(entered)
    assert "enter:" not in keys_of(entered)


def test_a_countdown_runs_from_the_arrival_of_the_tournament() -> None:
    display = at(replace(OPENED, starts_in_ms=70_000), now_ms=1_000)
    assert "It starts in 1:00." in draw(display, (80, 24), 11_000, BOXES).plain
    full = at(replace(OPENED, full=8))
    assert "It starts with 8 players." in drawn(full)
    display = at(replace(RESTS, next_in_ms=12_000), now_ms=1_000)
    assert "Round 3 begins in 0:12." in draw(display, (80, 24), 1_000, BOXES).plain
    assert "Round 3 begins in 0:09." in draw(display, (80, 24), 4_500, BOXES).plain


def test_our_match_comes_first_then_who_has_not_finished_then_the_standings() -> None:
    display = at(RUNNING, OURS)
    assert keys_of(display)[:3] == ["own:m1", "board:1", "board:2"]
    page = drawn(display)
    assert "Round 2 of 5: 2 boards still playing." in page
    assert "against Ben" in page
    assert "your turn" in page
    for said in ("Not finished: 2", "Ann (you)", "1.5 points", "Buchholz-1 1.5", "Eve (left)"):
        assert said in page
    whole = drawn(display, (80, 60))
    assert "Fay won by forfeit" in whole
    assert "no opponent" in whole
    assert "Equal points are separated by: Buchholz without the lowest opponent;" in whole
    assert pressed(display, "c-m")[0].shown == "m1"
    assert pressed(display, "down", "down", "c-m")[1] == (WatchRequest(0, match="m2"),)


def test_a_board_of_a_private_tournament_is_watched_with_its_code() -> None:
    display = at(replace(RUNNING, private=True), OURS)
    assert pressed(display, "down", "down", "c-m")[1] == (WatchRequest(0, match="m2", code=CODE),)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (OPENED, ""),
        (RUNNING, "You play Ben in round 2, board 1."),
        (DONE, "You won against Ben. You are number 2 of 5 with 1.5 points."),
        (
            replace(RUNNING, boards=[TournamentBoard(1, "Ann")]),
            "You have no opponent in round 2: that counts as a win.",
        ),
        (
            replace(RUNNING, boards=[TournamentBoard(1, "Ben", "Ann", "m1", "1-0", forfeit=True)]),
            "You lost against Ben by forfeit. You are number 2 of 5 with 1.5 points.",
        ),
        (replace(RUNNING, boards=[]), "You play from the next round on."),
        (replace(RUNNING, state="over"), "You are number 2 of 5 with 1.5 points."),
    ],
)
def test_our_part_in_a_round_is_one_sentence(told: TournamentReply, sentence: str) -> None:
    assert own_state(at(told).world, told) == sentence


def test_a_drawn_board_of_a_knockout_says_who_goes_through() -> None:
    boards = [TournamentBoard(1, "Gus", "Eva", "m1", "1/2-1/2"), TournamentBoard(2, "Finn", "Hal", "m2", "1-0")]
    told = replace(RESTS, kind="knockout", boards=boards)
    assert "draw, Eva goes through" in drawn(at(told), (80, 40))
    assert "Finn won, " not in drawn(at(told), (80, 40))
    assert "goes through" not in drawn(at(replace(told, kind="swiss")), (80, 40))


def test_between_rounds_it_says_whom_one_waits_for() -> None:
    page = drawn(at(DONE))
    assert "Not finished: Cleo and Dan." in page or "Not finished: 1" in page
    assert "You won against Ben." in page


def test_a_king_of_the_table_shows_its_queue_and_has_no_rounds() -> None:
    page = drawn(at(KING), (100, 40))
    for said in (
        "king of the table", "1 match being played.", "1 player before you. You are number 3 of 5 with 0 points.",
        "It lasts 1:30 more.", "Being played: 1", "Next at the table", "Dan, Ann (you)", "3 in a row",
        "Latest results", "does not count",
    ):  # fmt: skip
        assert said in page
    assert "Round" not in page
    lines = update(at(KING, OURS), replace(OURS, outcome=OutcomeInfo(0, "resign")), 0)
    assert told_in_lines(update(lines, KING, 0)) == "Friday: 1 player before you."
    first = replace(KING, waiting=["Ann"])
    assert own_state(at(first).world, first) == "You play next. You are number 3 of 5 with 0 points."


def test_an_arena_takes_late_comers() -> None:
    arena = replace(KING, kind="arena", waiting=None, standings=KING.standings[:2], boards=[])
    assert pressed(at(arena), "p")[1] == (EnterRequest(0, CODE),)
    assert "It lasts 1:30 more." in drawn(at(arena))


def test_a_player_makes_a_tournament_and_directs_it() -> None:
    display, _ = pressed(lobby(PLAYERS, LISTED), "t", "escape")
    display = update(replaced(display, pages=(*display.pages[:1], Page("tournaments"))), LISTED, 0)
    assert "make:" not in keys_of(display), "the host does not let players make any"
    display = update(display, welcome(features=["tournaments", "organise"]), 0)
    display = update(replaced(display, pages=(*display.pages[:1], Page("tournaments"))), LISTED, 0)
    assert "make:" in keys_of(display)
    display, _ = pressed(display, "m")
    assert "Make a tournament" in drawn(display)
    requests = pressed(display, "p", "down", "down", "down", "c-m")[1]
    assert "guests only" in drawn(pressed(display, "p")[0])
    assert [each.anonymous for each in requests if isinstance(each, OrganiseRequest)] == [True]
    display, _ = pressed(display, "g", "t")
    display, requests = pressed(display, "down", "down", "down", "c-m")
    assert requests == (
        OrganiseRequest(0, "Ann: Swiss", "swiss", TimeControl(180_000, 2_000), "misere", 3, legs=None),
    ), drawn(display)  # fmt: skip
    made = replace(OPENED, organiser="Ann")
    display = update(update(display, Answered(requests[0], Ok(1)), 0), made, 0)
    assert display.page == Page("tournament", about=CODE)
    assert "Play in this tournament" in drawn(display), "the organiser need not play"
    whole = drawn(display, (80, 40))
    assert "You are the organiser" in whole
    assert "direct:start" in keys_of(display)
    resting = at(replace(RESTS, organiser="Ann"))
    assert {"direct:next", "direct:pause", "direct:end"} <= set(keys_of(resting))
    asked, requests = pressed(resting, *["down"] * (keys_of(resting).index("direct:end")), "c-m")
    assert (asked.page.screen, requests) == ("end", ())
    assert pressed(asked, "n")[0].page.screen == "tournament"
    assert pressed(asked, "y")[1] == (DirectRequest(0, CODE, "end"),)
    assert "direct:resume" in keys_of(at(replace(RESTS, state="paused", organiser="Ann")))
    assert not [key for key in keys_of(at(RESTS)) if key.startswith("direct")]


def test_an_organiser_removes_a_player_after_a_question_and_takes_one_back() -> None:
    display = at(replace(RUNNING, organiser="Ann"))
    players, _ = pressed(display, *["down"] * keys_of(display).index("direct:remove"), "c-m")
    assert keys_of(players) == ["player:Cleo", "player:Ann", "player:Ben", "player:Dan", "player:Eve"]
    assert pressed(players, "end", "c-m")[1] == (DirectRequest(0, CODE, "add", "Eve"),)
    asked, requests = pressed(players, "down", "down", "c-m")
    assert requests == ()
    assert "Remove Ben?" in drawn(asked)
    assert pressed(asked, "c-m")[0].page == Page("remove", about=CODE, row="player:Ben", place=2)
    assert pressed(asked, "down", "c-m")[1] == (DirectRequest(0, CODE, "remove", "Ben"),)
    assert command_of("remove Ben", display, SEEK) == Send(DirectRequest(0, CODE, "remove", "Ben"))
    assert "direct:remove" not in keys_of(at(RUNNING))


def test_an_organiser_corrects_a_result() -> None:
    display = at(replace(DONE, organiser="Ann"))
    boards, _ = pressed(display, *["down"] * keys_of(display).index("direct:correct"), "c-m")
    assert keys_of(boards) == ["board:1", "board:3"]
    chosen, requests = pressed(boards, "c-m")
    assert requests == ()
    assert "Board 1, Ann - Ben: Ann won. Make it:" in drawn(chosen)
    assert keys_of(chosen) == ["result:1/2-1/2", "result:0-1", "result:0-0"]
    drawn_game = DirectRequest(0, CODE, "correct", None, 2, 1, "1/2-1/2")
    assert pressed(chosen, "c-m")[1] == (drawn_game,)
    typed = command_of("correct 1 1/2-1/2 both agreed", display, SEEK)
    assert typed == Send(replace(drawn_game, note="both agreed"))
    for words_typed in ("correct", "correct 1", "correct x 1-0", "correct 1 2-0"):
        assert "both agreed" in str(command_of(words_typed, display, SEEK))
    assert "direct:correct" not in keys_of(at(replace(OPENED, organiser="Ann")))


def test_leaving_a_tournament_is_asked_first() -> None:
    display, requests = pressed(at(RUNNING), "x")
    assert requests == ()
    assert "You get no more opponents." in drawn(display)
    assert pressed(display, "n")[0].page.screen == "tournament"
    stayed, requests = pressed(display, "c-m")
    assert (stayed.page.screen, requests) == ("tournament", ())
    left, requests = pressed(display, "y")
    assert (left.page.screen, requests) == ("tournament", (WithdrawRequest(0, CODE),))


def test_a_round_seats_us_at_once_and_its_end_leads_back_to_the_tournament() -> None:
    display = update(seen(LISTED), OURS, 0)
    assert [page.screen for page in display.pages] == ["lobby", "tournament", "match"]
    over = update(display, replace(OURS, outcome=OutcomeInfo(0, "resign")), 0)
    assert "n tournament" in drawn(over)
    assert "rematch" not in drawn(over)
    assert pressed(over, "n")[0].page == pressed(over, "escape")[0].page == Page("tournament", about=CODE)
    matches = {**over.world.matches, "m9": snapshot(match="m9")}
    with_another = knowing(over, matches=matches)
    assert "n other match" in drawn(with_another)
    assert pressed(with_another, "n")[0].shown == "m9"
    following = update(over, replace(OURS, match="m7", tournament=TournamentPlace(CODE, 3, 1)), 0)
    assert (following.shown, [page.screen for page in following.pages]) == ("m7", ["lobby", "tournament", "match"])


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize("told", [OPENED, RUNNING, DONE, RESTS, replace(RESTS, state="over", ended="finished")])
def test_a_small_window_shows_state_and_what_matters_to_us(told: TournamentReply, size: tuple[int, int]) -> None:
    page = draw(at(told), size, 0, BOXES).plain
    assert all(len(line) <= size[0] for line in page.split("\n"))
    assert ("against Ben" if told is RUNNING else own_state(at(told).world, told).split(".")[0]) in page


def test_a_match_of_a_tournament_offers_neither_hints_nor_taking_back() -> None:
    against_a_bot = replace(snapshot("connect4", opponent=PlayerInfo("Mia", bot="beginner", level=1)), match="m1")
    for tournament in (None, OURS.tournament):
        display = lobby(welcome(features=["hint", "tournaments"]), replace(against_a_bot, tournament=tournament))
        assert ("hint" in drawn(display), "take back" in drawn(display)) == ((tournament is None),) * 2
    assert pressed(display, "g")[1] == ()


def test_a_match_of_a_tournament_is_left_by_resigning_never_by_calling_it_off() -> None:
    display, _ = pressed(update(seen(), OURS, 0), "q")
    assert "Resign and leave? Or w: leave; the clock goes on" in " ".join(drawn(display).split())
    assert words.parting(display.world, "COMMAND").startswith("You left a match of a tournament: its clock goes on.")
    alone = update(display, replace(OURS, seq=2, present=(True, False)), 0)
    assert words.absence(alone.world, alone.match or OURS, 5_000, "press c") == "Ben is away; the clock goes on."


def controlled(*, may_be_guest: bool = False, seen: set[str] | None = None) -> tuple[ClientController, list[Request]]:
    """Return a controller that was welcomed by a server with tournaments, and what it has said since.

    `seen` are the games whose rules were shown; None: they are never shown.
    """

    def is_first(game: str) -> bool:
        assert seen is not None
        is_new = game not in seen
        seen.add(game)
        return is_new

    said: list[Request] = []
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(
        connection,
        SEEK,
        "localhost:1",
        has_lobby=True,
        is_seeking=False,
        may_be_guest=may_be_guest,
        is_first_match_of=None if seen is None else is_first,
    )
    controller.hear(welcome(features=["tournaments"]), 0)
    return controller, said


def test_the_lobby_subscribes_to_the_list_of_tournaments() -> None:
    _, said = controlled()
    assert said == [LobbyRequest(0, on=True), TournamentsRequest(0, on=True)]


def test_a_typed_code_of_a_tournament_opens_its_page_which_is_followed_from_then_on() -> None:
    controller, said = controlled()
    said.clear()
    controller.hear(Answered(JoinRequest(3, "bcdfg"), Ok(3)), 0)
    controller.hear(OPENED, 0)
    assert controller.display.page == Page("tournament", about=CODE)
    assert AttendRequest(0, CODE) in said
    said.clear()
    controller.hear(welcome(features=["tournaments"]), 0)
    assert AttendRequest(0, CODE) in said
    said.clear()
    controller.hear(replace(OPENED, seq=4), 0)
    assert said == []


def test_the_rules_are_shown_while_one_waits_in_a_tournament_and_never_over_a_running_clock() -> None:
    controller, said = controlled(seen=set())
    controller.hear(Answered(JoinRequest(3, CODE), Ok(3)), 0)
    controller.hear(OPENED, 0)
    assert controller.display.page == Page("rules", about=OPENED.game)
    assert RulesRequest(0, game=OPENED.game) in said
    controller.hear(replace(OURS, time=BLITZ), 0)
    assert controller.display.page.screen == "match"

    seen: set[str] = set()
    late, said = controlled(seen=seen)
    late.hear(replace(OURS, time=BLITZ), 0)
    assert (late.display.page.screen, late.display.notice) == ("match", "Is Connect Four new to you? ? explains it.")
    assert seen == {"connect4"}
    assert RulesRequest(0, game="connect4") not in said


def test_somebody_with_a_name_plays_as_a_guest_in_a_tournament_of_guests_who_see_their_made_up_name() -> None:
    told = replace(OPENED, standings=[], anonymous=True)
    display = at(told)
    assert "Play as a guest, under a made-up name" in drawn(display)
    display, requests = pressed(display, "p")
    assert (display.is_leaving, display.guest_of, requests) == (True, CODE, ())
    fox = replaced(display, world=replaced(display.world, you=PlayerInfo("guest-blue-fox")))
    assert "Play in this tournament" in drawn(fox)
    row = TournamentStanding(1, "guest-blue-fox", 0, [])
    assert own_state(fox.world, replace(told, standings=[row])) == "You have entered as guest-blue-fox."


def test_a_code_for_guests_leads_there_as_a_guest_but_for_a_program() -> None:
    answer = Answered(JoinRequest(3, CODE), Refused(3, Code.GUESTS_ONLY, "only guests"))
    controller, _ = controlled(may_be_guest=True)
    controller.hear(answer, 0)
    assert (controller.is_done, controller.display.guest_of) == (True, CODE)
    program, _ = controlled()
    program.hear(answer, 0)
    assert (program.is_done, program.display.guest_of) == (False, "")


def test_somebody_who_enters_a_tournament_looks_for_no_other_match() -> None:
    controller, said = controlled()
    controller.do(Send(SEEK))
    said.clear()
    controller.hear(Answered(EnterRequest(3, CODE), Ok(3)), 0)
    assert UnseekRequest(0) in said
    assert controller.display.world.seeking is None


def test_a_tournament_that_one_only_looked_at_is_not_followed_any_more() -> None:
    controller, said = controlled()
    controller.do(Open(Page("tournament", about=CODE)))
    controller.hear(Answered(AttendRequest(5, CODE), Refused(5, Code.UNKNOWN_TOURNAMENT, "no such")), 0)
    assert controller.display.page.screen == "lobby"
    assert said[-2:] == [AttendRequest(0, CODE), AttendRequest(0, CODE, on=False)]


def test_words_ask_for_parts_of_our_tournament_or_of_one_by_its_code() -> None:
    display = seen()
    assert "Which tournament?" in str(command_of("standings", display, SeekRequest(0, ["tictactoe"])))
    asked = command_of("standings bcdfg", display, SEEK)
    assert isinstance(asked, ListQuery)
    assert asked.page == Page("tournament", about=CODE)
    entered = at(RUNNING, OURS)
    asked = command_of("pairings", entered, SEEK)
    assert isinstance(asked, ListQuery)
    assert asked.page.about == CODE
    assert command_of("withdraw", entered, SEEK).request == WithdrawRequest(0, CODE)  # type: ignore[union-attr]


def test_lines_say_what_has_changed_for_us_and_no_more() -> None:
    playing = at(RUNNING, OURS)
    assert told_in_lines(playing) == ""
    over = update(playing, replace(OURS, outcome=OutcomeInfo(0, "resign")), 0)
    done = update(over, DONE, 0)
    won = "You won against Ben. You are number 2 of 5 with 1.5 points."
    assert told_in_lines(done) == f"Friday: round 2 of 5. {won} You wait for other boards; pairings lists them."
    assert told_in_lines(update(over, RESTS, 0)) == f"Friday: round 2 of 5 is over. {won}"
    ended = replace(RESTS, state="over", ended="finished")
    assert told_in_lines(update(over, ended, 0)) == "Friday is over. You are number 2 of 5 with 1.5 points."
    assert ANN.name in drawn(done)


def test_each_part_of_a_tournament_has_columns_of_its_own() -> None:
    boards = [replace(RUNNING.boards[0], board=100), *RUNNING.boards[1:]]
    page = drawn(at(replace(RUNNING, boards=boards)), (100, 40))
    assert "board 100  Ann (you) - Ben" in page
    assert "  1.  Cleo        2 points    Buchholz-1 2    Buchholz 3.5  direct 0  wins 2" in page
