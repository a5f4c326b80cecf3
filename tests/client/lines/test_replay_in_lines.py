"""A finished match once more, where there are only lines: stepped through, and as an engine sees it."""

import asyncio
import datetime

import pytest
from msgspec import structs
from msgspec.structs import replace

from tests.client.fake_server import FakeLink, fake_server
from tests.client.lines.paper import Paper, plain_at
from tests.client.samples import BEN, BOT, FINISHED, HISTORY, ok, played, position_after, snapshot, welcome
from tests.patience import PATIENCE_S
from ttt_net.client.act import act
from ttt_net.client.display import Command, Display
from ttt_net.client.lines.line_renderer import ScreenReader
from ttt_net.client.screens import replay_screen
from ttt_net.client.screens.replay_screen import seen_at
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.matches.analyses import describe_study
from ttt_net.messages import (
    AnalysedMove,
    AnalyseRequest,
    AnalysisReply,
    ChallengeRequest,
    Ended,
    HelloRequest,
    HintReply,
    HintRequest,
    HistoryRequest,
    MatchLesson,
    PlayRequest,
    Refused,
    ReplayReply,
    ReplayRequest,
    ResumeRequest,
    SeekRequest,
    StudyRequest,
    UnwatchRequest,
    WatchRequest,
)

WON = [4, 0, 1, 2, 7]
"""X wins in the middle column: b2, a3, b3, c3, b1."""
TOLD = ReplayReply("m1", 0, [position_after("tictactoe", WON[:ply]) for ply in range(6)], 5)
REPLAY_HINT = "Type next, back, the number of a move, first, last, again (to play on from here), guess or stop."


async def comes_in(link: FakeLink, paper: Paper, *features: str) -> None:
    """Let Ann in, and show her a match that is over."""
    hello = await link.hears(HelloRequest)
    await link.tells(ok(hello.id), welcome(features=list(features)))
    await link.grants(SeekRequest)
    await link.tells(snapshot(moves=WON[:-1], opponent=BEN), played("tictactoe", WON))
    await link.tells(Ended("m1", 7, 0, winner=0, reason="line"))
    await paper.shows("You won: you completed a line.")


async def test_the_lesson_of_a_match_appears_by_itself_and_a_replay_begins_there() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(ok(hello.id), welcome(features=["analyse", "hint"]))
        await link.grants(SeekRequest)
        await link.tells(snapshot(moves=WON[:-1], you=1, opponent=BOT), played("tictactoe", WON))
        await link.tells(Ended("m1", 7, 0, winner=0, reason="line"))
        asked = await link.grants(AnalyseRequest)
        assert asked.brief
        lesson = MatchLesson(4, 1, ["b1"], "Move 4: you had to block at b1: they had two in a row. What follows: b1.")
        await link.tells(AnalysisReply("m1", [], exact=False, lesson=lesson, partial=True))
        await paper.shows("Move 4: you had to block at b1: they had two in a row. Type replay to see it.")
        paper.type("replay")
        await link.grants(ReplayRequest)
        await link.tells(structs.replace(TOLD, starts=[f"start {ply}" for ply in range(6)]))
        await paper.shows("Move 3 of 5: b3. Move 4: you had to block at b1: they had two in a row.")
        paper.type("again")
        asked_on = await link.grants(ChallengeRequest)
        assert (asked_on.name, asked_on.start, asked_on.side) == (BOT.name, "start 3", 1)
        paper.type("quit")


async def test_hints_are_printed_in_lines_mode() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(ok(hello.id), welcome(features=["hint"]))
        await link.grants(SeekRequest)
        await link.tells(snapshot(moves=WON[:4], opponent=BOT))
        await paper.shows("Your turn: place X.")
        paper.type("hint")
        assert (await link.grants(HintRequest)).kind == "move"
        await link.tells(HintReply("m1", 4, "move", [7], "You can win at once with b1."))
        await paper.shows("You can win at once with b1.")
        paper.type("warnings")
        assert (await link.grants(HintRequest)).kind == "warning"
        await link.tells(HintReply("m1", 4, "warning"))
        await paper.shows("Warnings are on.")


async def test_a_hint_that_a_program_asks_for_waits_until_it_is_our_turn() -> None:
    async with fake_server() as server, plain_at(server, "hint", is_typed=False) as (paper, _):
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(ok(hello.id), welcome("m1", features=["hint"]))
        await link.grants(ResumeRequest)
        await link.tells(snapshot(moves=WON[:3], opponent=BOT))
        await paper.shows("alphabeta [bot] is thinking ...")
        await link.tells(played("tictactoe", WON[:4]))
        assert (await link.grants(HintRequest)).kind == "move"
        await link.tells(HintReply("m1", 4, "move", [7], "You can win at once with b1."))
        await paper.shows("You can win at once with b1.")


async def test_a_finished_match_is_stepped_through_by_words_and_numbers() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await comes_in(link, paper)
        paper.type("next", "replay")
        await paper.shows("next is for a replay; once a match is over, replay begins one.")
        assert (await link.grants(ReplayRequest)).match == "m1"
        await link.tells(TOLD)
        await paper.shows("Move 0 of 5.")
        await paper.shows(REPLAY_HINT)
        for word, told in (
            ("next", "Move 1 of 5: b2."),
            ("4", "Move 4 of 5: c3."),
            ("BACK", "Move 3 of 5: b3."),
            ("99", "Move 5 of 5: b1. You won: you completed a line."),
            ("next", "Move 5 of 5: b1. You won: you completed a line."),
            ("first", "Move 0 of 5."),
            ("back", "Move 0 of 5."),
            ("nxt", 'I don\'t know "nxt". Did you mean next?'),
            ("last", "Move 5 of 5: b1. You won: you completed a line."),
        ):
            paper.type(word)
            await paper.shows(told)
        paper.type("2")
        await paper.shows("Move 2 of 5: a3.")
        before = len(paper.written)
        paper.type("board", "stop")
        await paper.shows("You won: you completed a line.")
        await paper.shows("Type rematch, new or quit; help lists the rest.")
        assert any("(O)" in line for line in paper.written[before:]), "the board as it was then"


async def test_a_number_that_was_meant_for_a_replay_is_no_move_in_a_match_that_begins_meanwhile() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await comes_in(link, paper)
        paper.type("new", "replay")
        await link.grants(SeekRequest)
        await link.grants(ReplayRequest)
        await link.tells(TOLD, snapshot(match="m2", opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("4")
        await paper.shows("A match has begun, where 4 is a move; type it again to make it.")
        paper.type("4")
        assert (await link.hears(PlayRequest)).move == 3


async def test_words_of_a_program_wait_for_the_positions() -> None:
    async with fake_server() as server, plain_at(server, is_typed=False) as (paper, playing):
        link = await server.accepts()
        await comes_in(link, paper)
        paper.type("replay", "3", "next", None)
        replay = await link.hears(ReplayRequest)
        await link.tells(ok(replay.id))
        assert "Move 0 of 5." not in paper.written, "the positions are not here yet"
        await link.tells(TOLD)
        async with asyncio.timeout(PATIENCE_S):
            await playing
        told = [line for line in paper.written if line.startswith("Move ")]
        assert told == ["Move 0 of 5.", "Move 3 of 5: b3.", "Move 4 of 5: c3."]


async def test_positions_that_are_refused_are_missed_and_asked_for_again() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await comes_in(link, paper)
        paper.type("replay")
        replay = await link.hears(ReplayRequest)
        await link.tells(Refused(replay.id, "storage", "the disk is full"))
        await paper.shows("The disk is full.")
        paper.type("next")
        await link.grants(ReplayRequest)
        await link.tells(TOLD)
        await paper.shows("Move 1 of 5: b2.")


async def test_a_match_of_others_is_found_in_a_history_and_stepped_through() -> None:
    async with fake_server() as server, plain_at(server, "history Ben", is_typed=False) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(HistoryRequest)
        await link.tells(replace(HISTORY, player=BEN, matches=[replace(FINISHED, match="m7", players=(BEN, BOT))]))
        await paper.shows("Type a number to choose.")
        paper.type("replay", "1")
        await paper.shows("There is no match; history lists your finished ones, to choose one by its number.")
        assert (await link.grants(WatchRequest)).match == "m7"
        await link.tells(snapshot(moves=WON, match="m7", you=None, opponent=BEN))
        await paper.shows("Type replay to step through it, or stop; help lists the rest.")
        paper.type("replay", "1", "stop", "stop")
        await link.grants(ReplayRequest)
        await link.tells(replace(TOLD, match="m7"))
        await paper.shows("Move 1 of 5: b2.")
        assert (await link.grants(UnwatchRequest)).match == "m7"


async def test_an_analysis_is_summarized_by_the_turning_points() -> None:
    moves = [
        *(AnalysedMove(1, 4, 0, ["b2"]), AnalysedMove(2, 0, 0, ["a3"], side=1)),
        *(AnalysedMove(3, 1, 0, ["b3"]), AnalysedMove(4, 2, -1, ["b1"], turning=True, side=1)),
        AnalysedMove(99, 999, -1, ["b1"], turning=True),
    ]
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await comes_in(link, paper, "analyse")
        paper.type("analyse")
        assert (await link.grants(AnalyseRequest)).match == "m1"
        await paper.shows("An engine looks at every move; this may take half a minute.")
        await link.tells(AnalysisReply("another", moves, exact=True), AnalysisReply("m1", moves, exact=False))
        await paper.shows("Move 4, c3: A blunder; b1 held the draw.")
        await paper.shows("Some of this is estimated.")
        paper.type("replay", "4")
        await link.grants(ReplayRequest)
        await link.tells(TOLD)
        await paper.shows("Move 4 of 5: c3. With best play from here: X wins. A blunder; b1 held the draw.")
        await link.tells(AnalysisReply("m1", moves[:3], exact=True))
        await paper.shows("The engine found no mistake.")
        await link.tells(AnalysisReply("m1", [], exact=False))
        await paper.shows("The engine did not finish in time.")
        assert len([line for line in paper.written if "The analysis is done" in line]) == 1, "the other one"


def test_a_replay_for_screen_readers_prints_moves_and_the_board_on_request() -> None:
    display = update(update(Display(World(address="here")), welcome(), 0), snapshot(moves=WON, opponent=BEN), 0)
    seek = SeekRequest(0, ["tictactoe"])
    display = act(display, replay_screen.STEP_THROUGH.command, seek)[0]
    display = act(update(display, TOLD, 0), Command.RIGHT, seek)[0]
    parts = ScreenReader().parts(seen_at(display))
    assert "board" not in parts
    assert (parts["status"], parts["next"]) == ("Move 1 of 5: b2.", REPLAY_HINT)
    assert (
        ScreenReader().answer("board", seen_at(display), 0)
        == "Row 3 is empty.\nRow 2: empty, X, empty.\nRow 1 is empty."
    )


@pytest.mark.parametrize("word", ["replay", "analyse", "save"])
async def test_only_finished_matches_can_be_replayed(word: str) -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        await link.grants(SeekRequest)
        await link.tells(snapshot(opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type(word)
        what = {"replay": "stepped through", "analyse": "analysed", "save": "saved"}[word]
        await paper.shows(f"Only a match that is over can be {what}.")


async def test_the_moves_of_a_replay_are_guessed_and_then_judged() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await comes_in(link, paper, "study", "analyse")
        paper.type("replay")
        await link.grants(ReplayRequest)
        await link.tells(TOLD)
        await paper.shows("Move 0 of 5.")
        paper.type("guess")
        asked = await link.grants(ReplayRequest)
        assert asked.legal
        await link.grants(AnalyseRequest)
        legal = [position_after("tictactoe", WON[:ply]) for ply in range(5)]
        assert all(position.legal for position in legal)
        await link.tells(replace(TOLD, positions=[*legal, TOLD.positions[5]]))
        judged = [AnalysedMove(ply, move, 0, []) for ply, move in enumerate(WON, start=1)]
        await link.tells(AnalysisReply("m1", judged, exact=True))
        await paper.shows("Move 1 of 5: what did Ann play?")
        await paper.shows("Type a move, show, stop.")
        paper.type("9")
        await paper.shows("c1 is as good. Ann played b2. Move 1 of 5: b2.")
        paper.type("next")
        await paper.shows("Move 3 of 5: what did Ann play?")
        paper.type("show")
        await paper.shows("Ann played b3. Move 3 of 5: b3.")
        paper.type("quit")


async def test_a_match_of_strong_bots_is_studied_from_the_lobby() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(ok(hello.id), welcome(features=["study"]))
        await link.grants(SeekRequest)
        paper.type("study")
        await link.grants(StudyRequest)
        study = describe_study(StudyRequest(0, 0), datetime.date(2026, 11, 27))
        await link.tells(study)
        await paper.shows("Type a move, show, another, stop.")
        paper.type("show")
        asked = next(each for each in study.moves if each.side == study.side)
        name = study.snapshot.game.move_names[asked.move]
        await paper.shows(f"Sophia played {name}. Move {asked.ply} of {len(study.moves)}: {name}.")
        paper.type("stop")
        paper.type("quit")
