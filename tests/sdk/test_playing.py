"""Bots of ten lines: how `sdk.play` chooses, names itself and ends."""

import asyncio
import math
import os
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.fake_server import FakeLink, FakeServer, fake_server
from tests.client.samples import ANN, ok, played, snapshot, welcome
from ttt_net import sdk
from ttt_net.clock import TimeControl
from ttt_net.errors import Closing, Code, ConfigurationError, Refusal
from ttt_net.messages import (
    AbortRequest,
    ClockInfo,
    Ended,
    GameInfo,
    HelloRequest,
    OutcomeInfo,
    PlayerInfo,
    PlayRequest,
    Position,
    Refused,
    SeekRequest,
    Snapshot,
)
from ttt_net.sdk import identity
from ttt_net.sdk import playing as playing_module
from ttt_net.sdk.bots import turn_of
from ttt_net.sdk.client import DisconnectedError
from ttt_net.sdk.playing import Story, sandbox_server, say_aloud, think_by
from ttt_net.sdk.received import Answered, Back, ConnectionEvent, Lost, Parting, Retrying, Tally


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(identity.HOME_VARIABLE, str(tmp_path))
    return tmp_path


def match_of_ours(**changes: object) -> Snapshot:
    return replace(snapshot(you=1), players=(ANN, PlayerInfo("my-bot", "sdk")), **changes)


async def seated(server: FakeServer, name: str = "my-bot", token: str | None = None) -> FakeLink:
    link = await server.accepts()
    hello = await link.lets_in(token=token)
    assert (hello.name, hello.bot) == (name, "sdk")
    seek = await link.hears(SeekRequest)
    assert seek.games == ["tictactoe"]
    await link.tells(ok(seek.id), match_of_ours())
    return link


async def playing(server: FakeServer, choose: Any, lines: list[str], **settings: Any) -> Tally:
    """Play as a program does that has no event loop, one match long.

    A bot retries its server for ever. Its thread is a daemon, so that it does not hold up a test that has failed.
    """
    arguments: dict[str, Any] = {"name": "my-bot", "games": ["tictactoe"], "matches": 1, "url": server.url, **settings}
    result: Future[Tally] = Future()
    result.set_running_or_notify_cancel()  # or its thread could not end after the test

    def run() -> None:
        try:
            result.set_result(sdk.play(choose, write=lines.append, **arguments))
        except BaseException as error:  # noqa: BLE001 - the test that awaits it raises it
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(result)


def by_number(turn: sdk.Turn) -> int:
    return turn.legal[0]


def by_name(turn: sdk.Turn) -> str:
    return turn.names[0].upper()


async def in_its_time(turn: sdk.Turn) -> int:
    await asyncio.sleep(0)
    return turn.legal[0]


@pytest.mark.parametrize("choose", [by_number, by_name, in_its_time])
async def test_a_function_chooses_by_number_or_by_name_and_may_be_async(choose: Any) -> None:
    lines: list[str] = []
    async with fake_server() as server, asyncio.TaskGroup() as group:
        bot = group.create_task(playing(server, choose, lines))
        link = await seated(server)
        await link.tells(played("tictactoe", [0]))
        play = await link.hears(PlayRequest)
        assert (play.ply, play.move) == (1, 1)
        await link.tells(ok(play.id), played("tictactoe", [0, 1]), Ended("m1", 4, 0, winner=1, reason="line"))
        assert await link.is_closed() == 1000
    assert bot.result() == Tally(won=1)
    assert lines[0] == f"playing as Ann at {server.url}; Ctrl-C stops it"
    assert lines[-1] == "m1: won against Ann (line); 1 won, 0 drawn, 0 lost so far"


@pytest.mark.parametrize(
    ("settings", "opponents"),
    [
        ({"matches": 1}, "any"),
        ({"matches": None}, "people"),
        ({"matches": None, "opponents": "any"}, "any"),
        ({"matches": 1, "opponents": "people"}, "people"),
    ],
)
async def test_a_bot_without_an_end_plays_people_unless_told_otherwise(settings: Any, opponents: str) -> None:
    async with fake_server() as server, asyncio.TaskGroup() as group:
        bot = group.create_task(ended(playing(server, by_number, [], **settings)))
        link = await server.accepts()
        await link.lets_in()
        assert (await link.hears(SeekRequest)).opponents == opponents
        await link.closes(Closing.REPLACED)
        await bot


async def ended(play: Coroutine[Any, Any, Tally]) -> None:
    with pytest.raises(DisconnectedError):
        await play


def nothing(turn: sdk.Turn) -> None:
    """Forget to return a move."""


def broken(turn: sdk.Turn) -> int:
    raise ZeroDivisionError("by \x1b zero")


@pytest.mark.parametrize(
    ("choose", "why"),
    [
        (nothing, "choose returned None is no legal move; legal are b3, c3,"),
        (broken, "choose raised ZeroDivisionError('by \\x1b zero')"),
    ],
)
async def test_a_choice_that_cannot_be_played_ends_its_match_and_says_why(choose: Any, why: str) -> None:
    lines: list[str] = []
    async with fake_server() as server, asyncio.TaskGroup() as group:
        bot = group.create_task(playing(server, choose, lines))
        link = await seated(server)
        await link.tells(played("tictactoe", [0]))
        abort = await link.hears(AbortRequest)
        await link.tells(ok(abort.id), Ended("m1", 3, 0, winner=None, reason="abort"))
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), match_of_ours(match="m2"), Ended("m2", 2, 0, winner=1, reason="resign"))
    assert bot.result() == Tally(won=1), "an aborted match is none"
    assert [line for line in lines if why in line] == lines[2:3]


async def test_a_bot_is_remembered_and_a_name_that_is_taken_gets_a_number() -> None:
    async with fake_server() as server, asyncio.TaskGroup() as group:
        first = group.create_task(playing(server, by_number, []))
        link = await seated(server, token="secret")
        await link.tells(Ended("m1", 2, 0, winner=1, reason="resign"))
        assert await link.is_closed() == 1000
        await first  # until then it uses its name
        again = group.create_task(playing(server, by_number, []))
        link = await server.accepts()
        hello = await link.lets_in()
        assert (hello.name, hello.token) == (None, "secret"), "the second run is the same player"
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), match_of_ours(), Ended("m1", 2, 0, winner=1, reason="resign"))
        await again
        lines: list[str] = []
        other = group.create_task(playing(server, by_number, lines, name="taken"))
        link = await server.accepts()
        refused = await link.hears(HelloRequest)
        await link.tells(Refused(refused.id, Code.NAME_TAKEN, "it is taken"))
        link = await seated(server, name="taken-2")
        await link.tells(Ended("m1", 2, 0, winner=0, reason="resign"))
        assert await other == Tally(lost=1)
        assert lines[0] == f"taken belongs to another player at {server.url}"


async def test_a_rejected_bot_raises_the_refusal() -> None:
    async with fake_server() as server:
        bot = asyncio.ensure_future(playing(server, by_number, [], games=["chess"]))
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(Refused(seek.id, Code.UNKNOWN_GAME, "there is no game chess"))
        with pytest.raises(Refusal, match="there is no game chess") as raised:
            await bot
        assert raised.value.code is Code.UNKNOWN_GAME


async def test_a_bot_that_the_server_disconnects_for_good_raises_its_farewell() -> None:
    async with fake_server() as server:
        bot = asyncio.ensure_future(playing(server, by_number, []))
        link = await server.accepts()
        await link.lets_in()
        await link.closes(Closing.REPLACED)
        with pytest.raises(DisconnectedError) as raised:
            await bot
        assert raised.value.farewell.why is Parting.REPLACED


async def test_a_bot_seeks_by_its_settings() -> None:
    async with fake_server() as server, asyncio.TaskGroup() as group:
        bot = group.create_task(playing(server, by_number, [], time="3+2", opponents="people"))
        link = await server.accepts()
        await link.lets_in()
        seek = await link.grants(SeekRequest)
        assert seek == SeekRequest(seek.id, ["tictactoe"], TimeControl(180_000, 2_000), "people")
        await link.tells(match_of_ours(), Ended("m1", 2, 0, winner=None, reason="full"))
        assert await bot == Tally(drawn=1)


TURN = turn_of(match_of_ours(position=played("tictactoe", [4]).position), 100)


@pytest.mark.parametrize(
    ("choice", "move"),
    [(0, 0), (True, 1), ("a3", 0), ("A3", 0), (4, None), (9, None), (-1, None), (0.0, None), ("b2", None), ("", None)],
)
async def test_a_choice_is_a_legal_number_or_the_name_of_a_legal_move(choice: Any, move: int | None) -> None:
    thought = await think_by(lambda turn: choice, print, TURN)
    assert thought.move == move
    assert bool(thought.objection) is (move is None)


async def test_an_error_of_a_choice_is_logged_with_its_match(caplog: pytest.LogCaptureFixture) -> None:
    assert (await think_by(broken, print, TURN)).move is None
    assert "choose failed in match m1" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_line_aloud_goes_to_the_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say_aloud("a line")
    assert capsys.readouterr() == ("", "a line\n")


Start = Callable[[str], None]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a shell script where the sandbox starts a server; it writes the number of its process to `number`."""

    def one(script: str) -> None:
        file = tmp_path / "server"
        file.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/number"\n{script}\n')
        file.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(file))

    return one


def is_over(folder: Path) -> bool:
    """Tell whether the script has ended, and nobody need wait for it."""
    try:
        os.kill(int((folder / "number").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


WAITS = "exec sleep 300"


async def test_a_sandbox_is_the_address_that_its_server_prints_and_ends_with_the_context(
    start: Start, tmp_path: Path
) -> None:
    start(f"echo listening on ws://x; {WAITS}")
    async with sandbox_server(str(tmp_path)) as url:
        assert url == "ws://x"
        assert not is_over(tmp_path)
    assert is_over(tmp_path)


@pytest.mark.parametrize("script", ["exit 1", f"echo usage; {WAITS}", "exec sleep 300"])
async def test_a_sandbox_without_a_server_says_so(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    if "exec" in script:
        monkeypatch.setattr(playing_module, "SANDBOX_START_S", 0.3)
    start(script)
    with pytest.raises(ConfigurationError, match="the sandbox needs a server, which did not start"):
        async with sandbox_server(str(tmp_path)):
            pass
    assert is_over(tmp_path)


async def test_a_server_of_a_sandbox_that_does_not_end_is_killed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing_module, "SANDBOX_STOP_S", 0.1)
    start("trap '' TERM; echo listening on ws://x; exec sleep 300")
    async with sandbox_server(str(tmp_path)):
        pass
    assert is_over(tmp_path)


@pytest.mark.parametrize("name", ["my-bot", "another"])
async def test_a_bot_in_a_sandbox_plays_bots_there_and_uses_and_stores_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setenv(identity.HOME_VARIABLE, str(kept))
    ended = Ended("m1", 2, 0, winner=1, reason="resign")
    async with fake_server() as server, asyncio.TaskGroup() as group:
        bot = group.create_task(playing(server, by_number, []))
        await (await seated(server, token="secret")).tells(ended)
        await bot
        before = {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()}
        start(f"echo listening on {server.url}; {WAITS}")
        elsewhere = {"sandbox": True, "url": "ws://127.0.0.1:1", "opponents": "people", "name": name}
        bot = group.create_task(playing(server, by_number, [], **elsewhere))
        link = await server.accepts()
        hello = await link.lets_in(token="another")
        assert (hello.name, hello.bot) == (name, "sdk")
        assert hello.token != "secret"
        seek = await link.grants(SeekRequest)
        assert seek.opponents == "bots"
        await link.tells(match_of_ours(), ended)
        assert await bot == Tally(won=1)
    assert before
    assert before == {file: file.read_bytes() for file in kept.rglob("*") if file.is_file()}


async def test_a_name_that_a_sandbox_refuses_is_not_tried_with_a_number(start: Start) -> None:
    async with fake_server() as server:
        start(f"echo listening on {server.url}; {WAITS}")
        bot = asyncio.ensure_future(playing(server, by_number, [], sandbox=True))
        link = await server.accepts()
        hello = await link.hears(HelloRequest)
        await link.tells(Refused(hello.id, Code.NAME_TAKEN, "it is taken"))
        with pytest.raises(Refusal, match="it is taken") as raised:
            await bot
        assert raised.value.code is Code.NAME_TAKEN


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"url": "localhost:8765"}, "begins with ws:// or wss://"),
        ({"ladder": 600}, "ladder needs `games`, and 10 seconds or more"),
        ({"ladder": 1, "games": ["gomoku"]}, "ladder needs `games`, and 10 seconds or more"),
        ({"time": "fast"}, "time fast: minutes and seconds a move, such as 3"),
        ({"url": "ws://203.0.113.1"}, "it is not encrypted"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused_before_anything_else(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        sdk.play(by_number, **arguments)


@pytest.mark.parametrize("ladder", [None, 10, 1e9])
def test_a_ladder_has_ten_seconds_or_more_from_match_to_match(ladder: float | None) -> None:
    with pytest.raises(ConfigurationError, match="time fast"):  # the next argument that is looked at
        sdk.play(by_number, ladder=ladder, games=["gomoku"] if ladder else [], time="fast")
    for wrong in (9.9, math.inf, math.nan, -10):
        with pytest.raises(ConfigurationError, match="ladder needs"):
            sdk.play(by_number, ladder=wrong, games=["gomoku"], time="fast")


@pytest.mark.parametrize("url", ["ws://", "ws:///path", "wss://:8765", "http://localhost", "localhost"])
def test_a_url_without_a_host_or_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        sdk.play(by_number, url, is_insecure=True)


def test_a_story_has_a_line_for_each_important_event_and_no_other() -> None:
    lines: list[str] = []
    story = Story(lines.append)
    story.url = "ws://x"

    def after(*events: ConnectionEvent) -> list[str]:
        lines.clear()
        for event in events:
            story.notice(event)
        return list(lines)

    assert after(Retrying(1, 50, "nothing listens there"), Retrying(2, 50, "nothing answers there")) == [
        "no server at ws://x: nothing listens there; trying until there is one"
    ]
    assert after(Back(), welcome(you=PlayerInfo("my-bot", "sdk"))) == ["playing as my-bot at ws://x; Ctrl-C stops it"]
    assert after(Lost("it broke"), Retrying(1, 50, "it broke"), Back(), welcome()) == [
        "the connection is lost: it broke; trying until it is back",
        "connected again",
    ]
    match = match_of_ours()
    later = Ended("m8", 9, 0, winner=0, reason="resign")
    shown = match_of_ours(match="m8", seq=9)
    assert after(shown, later, replace(later, seq=8)) == ["m8: tictactoe against Ann"], "both were heard before"
    assert after(replace(later, seq=10, reason="abort")) == [
        "m8: aborted against Ann (abort); 0 won, 0 drawn, 0 lost so far"
    ]
    assert after(match, match, replace(match, you=None, match="m9")) == ["m1: tictactoe against Ann"]
    ended = Ended("m1", 2, 0, winner=1, reason="resign")
    assert after(replace(ended, match="m9"), played("tictactoe", [4], seq=1)) == []
    assert after(ended, ended) == ["m1: won against Ann (resign); 1 won, 0 drawn, 0 lost so far"]
    assert after(replace(match, outcome=OutcomeInfo(0, "line")), match_of_ours(match="m2")) == [
        "m2: tictactoe against Ann"
    ], "a match that was over when it was first shown is no news"
    ends = [(0, "line", "lost", "1 won, 0 drawn, 1 lost"), (None, "full", "drawn", "1 won, 1 drawn, 1 lost")]
    ends.append((None, "abort", "aborted", "1 won, 1 drawn, 1 lost"))
    for winner, reason, how, so_far in ends:
        shown = replace(match_of_ours(match="m2"), outcome=OutcomeInfo(winner, reason), seq=9)
        assert after(shown, match_of_ours(match="m2"))[0] == f"m2: {how} against Ann ({reason}); {so_far} so far"
    refused = Answered(SeekRequest(7), Refused(7, Code.RESTARTING, "in a moment"))
    assert after(refused, Answered(SeekRequest(7), ok(7))) == ["no opponent can be sought now: in a moment"]
    assert story.tally == Tally(1, 1, 1)


def test_a_turn_in_a_game_with_gravity_has_columns() -> None:
    names = [str(cell % 3 + 1) for cell in range(6)]
    game = GameInfo("connect:3x2,3", "Connect", "3 in a row on 3x2", [2, 3], True, list(range(6)), names)
    position = Position(1, "....X.", 1, [3, 1, 5], [], ("X", "O"))
    match = match_of_ours(game=game, position=position, moves=[4], clock=ClockInfo((9_000, 8_000), 1))
    turn = turn_of(match, 500)
    assert (turn.columns, turn.names, list(turn.legal)) == ([1, 2, 3], ["1", "2", "3"], [3, 1, 5])
    assert turn.move_named(2) == turn.move_named("2") == 1
    assert (turn.position.rows, turn.position.width, turn.position.height) == (("...", ".X."), 3, 2)
    assert (turn.position.mark, turn.match.opponent, turn.ms) == ("O", "Ann", 500)
    assert turn.clock == (8_000, 9_000)
    with pytest.raises(ValueError, match="9 is no legal move; legal are 1, 2, 3"):
        turn.move_named(9)
    assert turn_of(replace(match, game=replace(game, gravity=False)), 500).columns == []
    swapping = replace(game, move_names=["swap", *names[1:]])
    assert turn_of(replace(match, game=swapping, position=replace(position, legal=[0, 1])), 500).columns == [2]
