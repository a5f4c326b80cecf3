"""Step through a finished match, keep it, and have it analysed."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from tests.client.pressing import drawn, lobby, pressed
from tests.client.samples import position_after, snapshot, welcome
from ttt_net.client import words
from ttt_net.client.saved_matches import save_record
from ttt_net.client.screens.advice import turning_point
from ttt_net.client.update import update
from ttt_net.games import Outcome, Reason
from ttt_net.games.records import Record, RecordedMove, RecordedPlayer, write_record
from ttt_net.messages import (
    AnalysedMove,
    AnalyseRequest,
    AnalysisReply,
    RecordReply,
    RecordRequest,
    ReplayReply,
    ReplayRequest,
)

WON = [4, 0, 2, 1, 6]


def test_a_finished_match_is_stepped_through_position_by_position() -> None:
    display = lobby(snapshot(moves=WON[:-1]), snapshot(moves=WON))
    display, requests = pressed(display, "v")
    assert requests == (ReplayRequest(0, match="m1"),)
    assert "Move 0 of 5." in drawn(display)
    told = ReplayReply("m1", 0, [position_after("tictactoe", WON[:ply]) for ply in range(5)], 5)
    display = update(display, told, 0)
    assert "█" not in drawn(display)
    display, requests = pressed(display, "right", " ")
    assert requests == ()
    assert "Move 2 of 5: a3." in drawn(display)
    assert "(█▀   ▀█)" in drawn(display), "the last move is marked"
    display, _ = pressed(display, "end")
    assert "Move 5 of 5: a1.  You won: you completed a line." in drawn(display)
    assert pressed(display, "home", "left")[0].page.ply == 0
    assert pressed(display, "escape")[0].page.screen == "match"


def test_positions_that_are_missing_are_asked_for_in_pages_and_nonsense_is_left_out() -> None:
    moves = list(range(40))
    match = structs.replace(snapshot("mnk:15x15,5"), moves=moves, position=structs.replace(
        position_after("mnk:15x15,5", moves[:3]), to_move=None, legal=[]))  # fmt: skip
    match = structs.replace(match, outcome=snapshot(moves=WON).outcome)
    display, _ = pressed(lobby(match), "v")
    display = display.with_page(replace(display.page, ply=32))
    display, requests = pressed(display, "right")
    assert requests == (ReplayRequest(0, match="m1", ply=32),)
    before = display.world.lobby
    for told in (
        ReplayReply("m1", 500, [position_after("mnk:15x15,5", [])], 40),
        ReplayReply("m1", 0, [position_after("tictactoe", [])], 40),
        ReplayReply("another", 0, [position_after("mnk:15x15,5", [])], 40),
    ):
        assert update(display, told, 0).world.lobby == before


def test_only_what_is_over_can_be_stepped_through_or_saved() -> None:
    for key in ("v", "w"):
        display, requests = pressed(lobby(snapshot()), key)
        assert requests == ()
        assert "is over can be" in words.notice(display)
    assert pressed(lobby(snapshot(moves=WON)), "w")[1] == (RecordRequest(0, match="m1"),)


def test_a_record_is_kept_in_a_new_file_whatever_its_sender_calls_it(tmp_path: Path) -> None:
    told = RecordReply("../../etc/k3V9", "Game: tictactoe\n\n1. b2\x1b[2J\n")
    assert save_record(told, tmp_path).startswith("Saved as ttt_net-etck3V9.txt;")
    assert save_record(told, tmp_path).startswith("Saved as ttt_net-etck3V9-2.txt;")
    assert (tmp_path / "ttt_net-etck3V9.txt").read_text() == "Game: tictactoe\n\n1. b2[2J\n"
    assert "could not be saved" in save_record(told, tmp_path / "nowhere")
    assert not list(tmp_path.glob("*.svg")), "that is no record of a match"


WIN = Outcome(0, Reason.LINE)


def test_beside_a_record_a_picture_is_kept_that_moves(tmp_path: Path) -> None:
    match = Record("tictactoe", (RecordedPlayer("Ann"), RecordedPlayer("Ben")), tuple(map(RecordedMove, WON)), WIN)
    said = save_record(RecordReply("k3V9", write_record(match)), tmp_path)
    assert said.startswith("Saved as ttt_net-k3V9.txt, and to show in a browser ttt_net-k3V9.svg; ")
    assert (tmp_path / "ttt_net-k3V9.svg").read_text().startswith("<svg ")


def test_an_analysis_is_asked_for_where_there_is_an_engine_and_told_in_the_replay() -> None:
    display, requests = pressed(lobby(snapshot(moves=WON)), "a")
    assert requests == ()
    assert "no engine" in words.notice(display)
    with_engine = update(display, welcome(features=["analyse"]), 0)
    assert "a analyse" in drawn(with_engine, (120, 40))
    display, requests = pressed(with_engine, "a")
    assert requests == (AnalyseRequest(0, match="m1"),)
    moves = [AnalysedMove(1, 4, 0, ["b2"]), AnalysedMove(2, 0, -1, ["a1", "c1"], turning=True, side=1)]
    display = update(display, AnalysisReply("m1", moves, exact=True), 0)
    assert "the replay has a verdict" in words.notice(display)
    display, _ = pressed(display, "v", "right")
    assert display.page.screen == "replay"
    assert "With best play from here: a draw." in drawn(display)
    display, _ = pressed(display, "right")
    assert "With best play from here: X wins. A blunder; a1 or c1 held the draw." in drawn(display)
    display, _ = pressed(display, "right")
    assert "best play" not in drawn(display)


@pytest.mark.parametrize(
    ("before", "value", "sentence"),
    [
        (AnalysedMove(4, 0, -1, ["a1"], side=1), 0, "A missed win; b2 won."),
        (AnalysedMove(4, 0, -1, ["a1"], side=1), -1, "A blunder; b2 won."),
        (AnalysedMove(4, 0, 0, ["a1"], side=1), -1, "A blunder; b2 held the draw."),
        (AnalysedMove(4, 0, 1, ["a1"], side=0), -1, "A blunder; b2 won."),  # the same side moved twice
        (AnalysedMove(4, 0, 0, ["a1"], side=1, score=0.2), -1, "A blunder; b2 was better."),
        (None, -1, "A blunder; b2 was better."),
    ],
)
def test_a_turning_point_is_named_by_what_was_given_away(
    before: AnalysedMove | None, value: int, sentence: str
) -> None:
    assert turning_point(AnalysedMove(5, 8, value, ["b2"], turning=True), before) == sentence


@pytest.mark.parametrize(("sign", "word"), [("??", "A blunder"), ("?", "A mistake"), ("?!", "A doubtful move")])
def test_a_turning_point_has_the_word_of_its_sign(sign: str, word: str) -> None:
    move = AnalysedMove(5, 8, -1, ["b2"], turning=True, sign=sign)
    assert turning_point(move, None) == f"{word}; b2 was better."
