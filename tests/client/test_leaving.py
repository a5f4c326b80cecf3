"""Leave a match or a server, come back, and see what happened meanwhile."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from websockets.frames import Close

from tests.client.pressing import SEEK, drawn, lobby, pressed, seen
from tests.client.samples import BEN, knowing, snapshot, welcome
from ttt_net import __version__
from ttt_net.client import words
from ttt_net.client.act import answered
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Command, Display, Overlay
from ttt_net.client.mailbox import LocalNotice, Mailbox
from ttt_net.client.options import parse
from ttt_net.client.remembered import load_unfinished, save_unfinished
from ttt_net.client.update import update
from ttt_net.client.user_io import REFUSED, complain_of
from ttt_net.clock import TimeControl
from ttt_net.errors import Advice, Closing, Code
from ttt_net.messages import (
    AbortRequest,
    AwayInfo,
    ClaimRequest,
    Ended,
    OfferRequest,
    OutcomeInfo,
    Presence,
    Refused,
    Request,
    ResignRequest,
    ResumeRequest,
    TournamentPlace,
)
from ttt_net.sdk.client_protocol import closed_by
from ttt_net.sdk.identity import take
from ttt_net.sdk.received import Answered, Farewell, Lost, Parting
from ttt_net.sdk.trust import Trust


def with_guests(number: int, display: Display) -> Display:
    return replace(display, world=replace(display.world, guests=number))


def test_a_host_with_guests_may_stay_end_the_server_or_let_it_run() -> None:
    asked, _ = pressed(with_guests(2, lobby()), "q")
    assert asked.overlay is Overlay.HOSTING
    assert "2 other people are here; end the server?" in drawn(asked)
    assert drawn(asked, (40, 12)).endswith("y end it  s let it run  Esc no")
    for key in ("escape", "c-m", "q", "x"):
        stays, _ = pressed(asked, key)
        assert (stays.overlay, stays.is_leaving) == (Overlay.NONE, False)
    ends, _ = pressed(asked, "y")
    assert (ends.is_leaving, ends.is_serving_on) == (True, False)
    goes_on, _ = pressed(asked, "S")
    assert (goes_on.is_leaving, goes_on.is_serving_on) == (True, True)


def test_nobody_is_asked_where_nobody_else_is() -> None:
    assert pressed(lobby(), "q")[0].is_leaving


def test_a_match_is_asked_about_after_the_server_and_staying_in_it_forgets_both_answers() -> None:
    display = with_guests(1, lobby(snapshot(opponent=BEN)))
    asked, _ = pressed(display, "q", "s")
    assert (asked.overlay, asked.is_leaving) == (Overlay.LEAVE, False)
    stays, _ = pressed(asked, "escape")
    assert (stays.overlay, stays.is_serving_on) == (Overlay.NONE, False)
    assert "Ben can claim the win in at most 15 s" in " ".join(drawn(asked).split())
    waits, _ = pressed(asked, "w")
    assert (waits.is_leaving, waits.is_match_kept, waits.is_serving_on) == (True, True, True)


@pytest.mark.parametrize("width", [40, 80])
def test_those_who_play_read_that_the_host_has_closed_the_server(width: int) -> None:
    lost = closed_by(Close(Closing.ENDED, Closing.ENDED.meaning))
    assert lost.advice is Advice.RETRY
    display = update(lobby(snapshot(opponent=BEN)), Lost(lost.reason), 0)
    assert "The host has closed the server" in drawn(display, (width, 24))


def test_a_host_can_resign_and_go_on_serving() -> None:
    asked, _ = pressed(with_guests(1, lobby(snapshot(moves=[4, 0], opponent=BEN))), "q")
    assert "r only resign" in drawn(asked)
    resigned, requests = pressed(asked, "r")
    assert requests == (ResignRequest(0, match="m1"),)
    assert (resigned.overlay, resigned.is_leaving) == (Overlay.NONE, False)
    begun = pressed(with_guests(1, lobby(snapshot(opponent=BEN))), "q", "r")[1]
    assert begun == (AbortRequest(0, match="m1"),)
    stays, requests = pressed(with_guests(1, lobby()), "q", "r")
    assert (stays.overlay, requests) == (Overlay.NONE, ()), "there is no match to resign"


@pytest.mark.parametrize("is_hosting", [False, True])
@pytest.mark.parametrize("moves", [[], [4, 0]])
def test_the_answers_to_whether_to_leave_fit_a_narrow_window(moves: list[int], *, is_hosting: bool) -> None:
    asked, _ = pressed(lobby(snapshot("tictactoe", moves)), "q")
    if is_hosting:
        asked = replace(asked, overlay=Overlay.HOSTING)
    *_, foot = drawn(asked, (40, 16)).split("\n")
    assert {"y", "Esc"} <= set(foot.split())
    assert len(foot) <= 40
    assert is_hosting or foot == f"y yes  Esc no  w leave  r {'resign' if moves else 'call it off'}"


def test_leaving_from_a_page_above_a_live_match_asks_as_at_its_board() -> None:
    playing = lobby(snapshot(opponent=BEN))
    for keys in (("?",), ("?", "?")):  # the rules, the keys
        asked, requests = pressed(playing, *keys, "q")
        assert (asked.page.screen, asked.overlay, asked.is_leaving, requests) == ("match", Overlay.LEAVE, False, ())
    ended = update(playing, Ended("m1", 2, 0, 0, "resign"), 0)
    assert pressed(ended, "?", "q")[0].is_leaving, "there is nothing to ask about"


def test_leaving_the_lobby_asks_about_a_match_that_the_opponent_could_claim() -> None:
    playing = lobby(snapshot(moves=[4, 0], opponent=BEN))
    asked, requests = pressed(playing, "escape", "q")
    assert (asked.page.screen, asked.shown, asked.overlay, requests) == ("match", "m1", Overlay.LEAVE, ())
    assert not asked.is_leaving
    kept, requests = pressed(asked, "w")
    assert (kept.is_leaving, kept.is_match_kept, requests) == (True, True, ())
    waits = lobby(structs.replace(snapshot(moves=[4, 0], opponent=BEN), adjourned=True))
    assert pressed(waits, "escape", "q")[0].is_leaving, "it stays as it is"
    assert pressed(update(playing, Lost("gone"), 0), "escape", "q")[0].is_leaving, "the opponent knows that we are away"


def test_a_player_who_leaves_reads_when_the_opponent_can_claim_the_match() -> None:
    match = snapshot(moves=[4, 0], opponent=BEN)
    asked = drawn(pressed(lobby(match), "q")[0])
    assert "Resign and leave? Or w: leave, and Ben can claim the win in at most 15 s." in asked
    assert "w only leave" in asked
    blitz = structs.replace(match, time=TimeControl(120_000, 0))
    assert "in at most 5 s" in " ".join(drawn(pressed(lobby(blitz), "q")[0]).split())


@pytest.mark.parametrize("waiting", [{"adjourned": True}, {"present": (True, False)}])
def test_a_match_that_waits_is_said_to_wait(waiting: dict[str, Any]) -> None:
    match = structs.replace(snapshot(moves=[4, 0], opponent=BEN), **waiting)
    asked = drawn(pressed(lobby(match), "q")[0])
    assert "the match waits until you are both back" in " ".join(asked.split())
    assert "w leave, the match waits" in asked
    assert words.parting(lobby(match).world, "client.py").startswith("Your match stays as it is.")


def test_before_both_have_moved_twice_a_rated_match_is_called_off_and_not_won() -> None:
    short = structs.replace(snapshot(moves=[4, 0, 1], opponent=BEN), rated=True)
    asked = " ".join(drawn(pressed(lobby(short), "q")[0]).split())
    assert "Call it off and leave? Or w: leave, and Ben can call off the match in at most 15 s." in asked
    assert "r only call it off" in asked
    away = Presence("m1", side=1, online=False, away=AwayInfo(1, on_purpose=True, claim_in_ms=0))
    left = lobby(short, away)
    assert "Ben is away: press C to call off the match." in drawn(left)
    claiming = pressed(left, "C")[0]
    assert drawn(claiming).endswith("1: call off the match\n1 choose  Esc back")
    assert pressed(claiming, "1")[1] == (ClaimRequest(0, match="m1", kind="win"),)
    for counts in (
        structs.replace(short, rated=False),
        structs.replace(snapshot(moves=[4, 0, 1, 2], opponent=BEN), rated=True),
    ):
        assert "press C to claim the win." in drawn(lobby(counts, away))


def test_leaving_a_rated_match_as_the_fourth_move_arrives_loses_nothing_and_says_how_to_return() -> None:
    for is_rated, kept in ((True, True), (False, False)):
        match = structs.replace(snapshot(moves=[4, 0, 1] if is_rated else [4], opponent=BEN), rated=is_rated)
        left, requests = pressed(lobby(match), "q", "q")
        assert (left.is_leaving, requests) == (True, (AbortRequest(0, match="m1"),))
        too_late = Answered(AbortRequest(5, match="m1"), Refused(5, Code.TOO_LATE, "it is too late"))
        left = update(left, too_late, 0)
        assert (left.is_leaving, left.is_match_kept) == (True, kept)
        assert answered(left, too_late) == (() if kept else (ResignRequest(0, match="m1"),))
    moved = structs.replace(snapshot(moves=[4, 0, 1, 2], opponent=BEN), rated=True)
    assert "Ben can claim the win in at most 15 s" in words.parting(lobby(moved).world, "client.py")


def test_a_match_of_a_tournament_is_resigned_from_its_first_move_on_and_says_so() -> None:
    match = structs.replace(snapshot(opponent=BEN), tournament=TournamentPlace("ABCDE", 1, 1))
    asked, _ = pressed(lobby(match), "q")
    assert "r only resign" in " ".join(drawn(asked).split())
    assert pressed(asked, "r")[1] == (ResignRequest(0, match="m1"),)


def test_two_at_one_keyboard_are_asked_before_they_draw() -> None:
    display = knowing(replace(seen(snapshot(moves=[4, 0], opponent=BEN)), has_lobby=False), is_shared=True)
    asked, requests = pressed(display, "d")
    assert (asked.overlay, requests) == (Overlay.DRAW, ())
    assert "End this match as a draw for both?" in drawn(asked)
    for key in ("y", "c-m"):
        agreed, requests = pressed(asked, key)
        assert [type(each) for each in requests] == [OfferRequest]
        assert agreed.overlay is Overlay.NONE
    for key in ("escape", "d", "q", "5"):
        goes_on, requests = pressed(asked, key)
        assert (goes_on.overlay, goes_on.is_leaving, requests) == (Overlay.NONE, False, ())


def test_without_a_link_nobody_is_asked_to_claim() -> None:
    away = Presence("m1", side=1, online=False, away=AwayInfo(1, on_purpose=True, claim_in_ms=0))
    display = lobby(snapshot(moves=[4, 0], opponent=BEN), away)
    assert "Ben is away: press C to claim the win." in drawn(display)
    display = update(display, Lost(closed_by(Close(Closing.ENDED, Closing.ENDED.meaning)).reason), 0)
    assert "claim" not in drawn(display)


class Link:
    """A connection that only notes what is said."""

    url, trust, latency_ms, is_asking = "", Trust(), None, False

    def __init__(self) -> None:
        self.said: list[Request] = []

    def say(self, request: Request) -> None:
        self.said.append(request)

    async def run(self) -> None:
        raise AssertionError("nothing runs here")


def test_a_match_that_ended_while_the_player_was_away_is_shown_on_return() -> None:
    kept: list[Collection[str]] = []
    link = Link()
    controller = ClientController(
        link, SEEK, "localhost", has_lobby=True, unfinished=("m1", "m7"), keep_unfinished=kept.append
    )
    controller.hear(welcome("m7"), 0)
    assert ResumeRequest(0, match="m1", seq=0) in link.said
    assert kept == [{"m7"}]
    ended = snapshot(moves=[4, 0], opponent=BEN, outcome=OutcomeInfo(1, "abandon"))
    controller.hear(ended, 0)
    assert "While you were away, your match against Ben ended." in drawn(controller.display)
    assert "You lost: you left the match." in drawn(controller.display)


def test_during_another_match_a_missed_one_is_reported_in_a_sentence() -> None:
    controller = ClientController(Link(), SEEK, "localhost", has_lobby=True, unfinished=("m1", "m7"))
    controller.hear(welcome("m7"), 0)
    controller.hear(snapshot(match="m7"), 0)
    controller.hear(snapshot(moves=[4, 0], opponent=BEN, outcome=OutcomeInfo(1, "abandon")), 0)
    told = "While you were away, your match against Ben ended. You lost: you left the match."
    assert controller.display.notice == told
    assert controller.display.shown == "m7"


def test_the_unfinished_matches_are_remembered_as_they_begin_and_end() -> None:
    kept: list[Collection[str]] = []
    controller = ClientController(Link(), SEEK, "localhost", has_lobby=True, keep_unfinished=kept.append)
    controller.hear(welcome(), 0)
    controller.hear(snapshot(), 0)
    controller.hear(Ended("m1", 2, 0, winner=0, reason="resign"), 0)
    assert kept == [{"m1"}, set()]


def test_the_unfinished_matches_of_each_player_are_kept_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path))
    assert load_unfinished("here:1", "Ann") == ()
    save_unfinished("here:1", "Ann", {"m2", "m1"})
    save_unfinished("here:1", "Ben", ["m3"])
    assert load_unfinished("here:1", "Ann") == ("m1", "m2")
    save_unfinished("here:1", "Ann", ())
    assert (load_unfinished("here:1", "Ann"), load_unfinished("here:1", "Ben")) == ((), ("m3",))
    (tmp_path / "unfinished.json").write_text('{"here:1 Ann": 5, "here:1 Ben": [7]}')
    assert (load_unfinished("here:1", "Ann"), load_unfinished("here:1", "Ben")) == ((), ("7",))


def test_a_host_ends_the_server_before_leaving_it_and_waits_until_it_has_ended() -> None:
    ended: list[str] = []
    controller = ClientController(Link(), SEEK, "localhost", has_lobby=True, end_server=lambda: ended.append("now"))
    controller.hear(welcome(), 0)
    controller.do(Command.LEAVE)
    assert (ended, controller.is_done) == (["now"], False)
    controller.hear(Lost("The host has closed the server"), 0)
    assert controller.is_done


def test_a_token_that_cannot_be_stored_is_reported_immediately(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "file" / "home"))
    mine = take("localhost:8765", "Ann")
    assert mine is not None
    mailbox = Mailbox()
    mine.keeping(lambda sentence: mailbox.put_nowait(LocalNotice(sentence)))("a token")
    told = mailbox.get_nowait()
    assert isinstance(told, LocalNotice)
    display = update(lobby(), told, 0)
    assert "Ann and the ratings here are lost to you" in " ".join(drawn(display).split())


def test_a_version_that_the_server_does_not_speak_comes_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    farewell = Farewell(Parting.REJECTED, "this server speaks protocol 2, this client 1", Code.BAD_PROTOCOL)
    assert complain_of(parse(["wss://play.example:444"]), farewell) == REFUSED
    person = " ".join(capsys.readouterr().err.split())
    what = f"wss://play.example:444 runs another version of ttt_net, and this one ({__version__}) cannot play there"
    assert what in person
    assert "this server speaks protocol 2, this client 1. Install the version that the server runs, or play" in person
    assert person.endswith("in a browser at https://play.example:444")
    assert complain_of(parse(["wss://play.example:444", "--bot", "random"]), farewell) == REFUSED
    assert capsys.readouterr().err.rstrip().endswith("the server runs")
