"""Playing at one keyboard, without a server anywhere: events, their order, saved matches, nobody to two people."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import Start, heard_until
from tests.client.real_terminal import Terminal
from tests.patience import PATIENCE_S
from ttt_net.client.local import local_connection
from ttt_net.client.local.local_connection import LocalCoach, LocalConnection, Series
from ttt_net.client.local.local_matches import Seating
from ttt_net.client.options import parse
from ttt_net.client.saved_matches import MAX_BYTES, OLD_FILE, keep_record, records_file
from ttt_net.clock import TimeControl
from ttt_net.errors import ConfigurationError
from ttt_net.games import Outcome, Reason
from ttt_net.games.records import read_records
from ttt_net.messages import (
    AnalyseRequest,
    AnalysisReply,
    Ended,
    HintRequest,
    OfferRequest,
    Played,
    PlayerInfo,
    PlayRequest,
    ResignRequest,
    Snapshot,
    Tookback,
    Welcome,
)
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell

ANN, BEN = PlayerInfo("Ann"), PlayerInfo("Ben")


class Listener:
    """Hears what a connection delivers, and what it tells as text."""

    def __init__(self, games: int | None = None, time: TimeControl | None = None) -> None:
        self.heard: asyncio.Queue[ConnectionEvent] = asyncio.Queue()
        self.lines: list[dict[str, object]] = []
        seating = Seating("tictactoe", (ANN, BEN), time)
        self.connection = LocalConnection(
            seating, Series(games), self.heard.put, lambda line: self.lines.append(json.loads(line))
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            task = group.create_task(self.connection.run())
            yield
            task.cancel()

    @property
    def id(self) -> str:
        assert self.connection.matches.match is not None
        return self.connection.matches.match.id

    def play(self, *cells: int) -> None:
        for cell in cells:
            assert self.connection.matches.match is not None
            self.connection.say(PlayRequest(7, self.id, len(self.connection.matches.match.moves), cell))

    async def until(self, kind: type[ConnectionEvent]) -> list[ConnectionEvent]:
        found = [await self.heard.get()]
        while not isinstance(found[-1], kind):
            found.append(await self.heard.get())
        return found


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


async def test_an_answer_comes_before_what_follows_and_an_offer_that_is_accepted_is_not_delivered() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.play(4)
        listener.connection.say(OfferRequest(8, listener.id, "takeback"))
        heard = [type(event) for event in await listener.until(Tookback)]
        assert heard == [Welcome, Snapshot, Answered, Played, Answered, Tookback]
        assert [line["type"] for line in listener.lines][-3:] == ["ok", "offered", "tookback"]
        seen = [line["seq"] for line in listener.lines if "seq" in line]
        assert seen == [1, 2, 3, 4], "what is written for programs has no gap"


async def test_a_refusal_is_an_answer() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.connection.say(ResignRequest(3, "elsewhere"))
        answered = (await listener.until(Answered))[-1]
        assert isinstance(answered, Answered)
        assert getattr(answered.answer, "code", None) == "unknown_match"


async def test_a_series_goes_on_by_itself_says_farewell_and_is_kept() -> None:
    listener = Listener(games=2)
    listener.connection.begin()
    async with listener.running():
        listener.play(4, 0, 8, 1, 7, 2)
        await listener.until(Ended)
        await listener.until(Snapshot)
        listener.play(4)
        listener.connection.say(ResignRequest(9, listener.id))
        assert isinstance((await listener.until(Farewell))[-1], Farewell)
    first, second = read_records(records_file().read_text(encoding="utf-8"))
    assert (len(first.moves), len(second.moves)) == (6, 1)


async def test_a_coach_that_ends_closes_its_pipe_before_the_loop_does(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[asyncio.subprocess.Process] = []
    start = asyncio.create_subprocess_exec

    async def noted(*command: str, **options: Any) -> asyncio.subprocess.Process:
        started.append(await start(*command, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    answers = 'import sys; sys.stdin.readline(); print(\'{"moves": [4], "text": "b2"}\', flush=True); sys.stdin.read()'
    monkeypatch.setattr(local_connection, "COACH", (sys.executable, "-c", answers))
    coach = LocalCoach()
    connection = Listener().connection
    connection.begin()
    match = connection.matches.match
    assert match is not None
    assert (await coach.hint(match, 0, HintRequest(0, match.id))).moves == [4]
    await coach.stop()
    (process,) = started
    assert process.stdin is not None
    assert process.stdin.is_closing()
    assert process.returncode is not None


async def test_a_match_of_hardly_any_moves_is_analysed_without_a_process() -> None:
    listener = Listener()
    listener.connection.begin()
    async with listener.running():
        listener.play(4)
        listener.connection.say(ResignRequest(1, listener.id))
        listener.connection.say(AnalyseRequest(2, listener.id))
        analysis = (await listener.until(AnalysisReply))[-1]
        assert isinstance(analysis, AnalysisReply)
        assert (analysis.match, analysis.moves, analysis.exact) == (listener.id, [], True)


async def test_a_flag_falls_by_itself() -> None:
    listener = Listener(time=TimeControl(20, 0))
    listener.connection.begin()
    async with listener.running():
        listener.play(4, 0)
        ended = (await listener.until(Ended))[-1]
        assert isinstance(ended, Ended)
        assert (ended.winner, ended.reason) == (1, "time")


def test_a_file_that_has_grown_too_large_becomes_the_old_one(home: Path) -> None:
    home.mkdir()
    records_file().write_text("x" * MAX_BYTES, encoding="utf-8")
    keep_record("Game: tictactoe\nFirst: Ann\nSecond: Ben\n\n1. b2\n")
    assert len(read_records(records_file().read_text(encoding="utf-8"))) == 1
    assert (home / OLD_FILE).stat().st_size == MAX_BYTES
    assert records_file().stat().st_mode & 0o777 == 0o600


def said(start: Start, *arguments: str, typed: str = "") -> tuple[int, str, str]:
    """Run a client with lines typed into it; return its exit code and what it wrote."""
    client = start("--local", *arguments)
    out, err = client.communicate(typed, timeout=PATIENCE_S)
    return client.returncode, out, err


def test_two_people_play_a_whole_match_in_turn_and_then_a_rematch_with_the_same_sides(start: Start) -> None:
    client = start("--local", "--plain", "--names", "Ann,Ben")
    assert client.stdin is not None
    client.stdin.write("5\n1\n9\n2\n8\n3\n")
    client.stdin.flush()
    heard = heard_until(client, "Ben won: ")
    assert heard.count("Tic-tac-toe: Ann (X) against Ben (O).") == 1
    assert [line for line in heard.splitlines() if " played " in line] == [
        f"{name} played {move}."
        for name, move in (("Ann", "b2"), ("Ben", "a3"), ("Ann", "c1"), ("Ben", "b3"), ("Ann", "b1"), ("Ben", "c3"))
    ]
    client.stdin.write("rematch\n")
    client.stdin.flush()
    assert "Ann to move: place X." in heard_until(client, "Ann to move: place X.")
    client.stdin.write("resign\n")
    client.stdin.flush()
    heard_until(client, "Ben won: Ann resigned.")
    heard_until(client, "Ann 0 : 2 Ben.")


def test_a_match_at_home_is_stepped_through_and_saved_no_matter_who_moved_last(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(start, "--plain", typed="5\n1\n9\n2\n8\n3\nreplay\n0\n2\nsave\nstop\n")
    assert (code, err) == (0, "")
    (kept,) = tmp_path.glob("ttt_net-*.txt")
    for line in ("Move 0 of 6.", "Move 2 of 6: a3.", f"Saved as {kept.name}"):
        assert line in out


@pytest.mark.parametrize("way", ["--plain", "--screen-reader"])
def test_help_at_home_names_nothing_that_takes_a_server(start: Start, way: str) -> None:
    code, out, err = said(start, way, typed="help\nquit\nquit\n")
    assert (code, err) == (0, "")
    (line,) = (line for line in out.splitlines() if line.startswith("Type a move") and "takeback" in line)
    assert "resign" in line
    for word in ("adjourn", "claim", "say", "mute", "report"):
        assert word not in line


def test_a_take_back_between_two_people_needs_no_answer(start: Start) -> None:
    client = start("--local", "--plain")
    assert client.stdin is not None
    client.stdin.write("5\n")
    client.stdin.flush()
    heard_until(client, "O to move.")
    client.stdin.write("1\n")
    client.stdin.flush()
    heard_until(client, "X to move.")
    for mark in "OX":  # the move of O, then that of X, is taken back by who has the keys
        client.stdin.write("takeback\n")
        client.stdin.flush()
        assert "(O)" not in heard_until(client, f"{mark} to move.")


@pytest.mark.parametrize(("sides", "mark"), [(["--o", "random"], "X"), (["--x", "random"], "O")])
def test_one_person_plays_a_strategy_on_the_side_that_was_asked_for(start: Start, sides: list[str], mark: str) -> None:
    client = start("--local", "--plain", "--seed", "1", *sides)
    assert f"Your turn: place {mark}." in heard_until(client, "Your turn")


def test_two_strategies_play_so_many_games_and_are_counted(start: Start) -> None:
    code, out, err = said(start, "--x", "minimax", "--o", "random", "--games", "3", "--json", "--seed", "2")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[-1]["type"] == "summary"
    assert lines[-1]["games"] == 3
    assert lines[-1]["lost"] == 0
    snapshots = [line for line in lines if line["type"] == "snapshot" and not line["moves"]]
    assert {line["you"] for line in snapshots} == {0}
    assert {player["name"] for line in snapshots for player in line["players"]} == {"minimax", "random"}


def test_a_match_begins_from_any_position(start: Start) -> None:
    code, out, _ = said(start, "--x", "alphabeta", "--o", "random", "--start", "XX./.../OO.", "--games", "1", "--json")
    ended = [json.loads(line) for line in out.splitlines() if '"ended"' in line]
    assert (code, [line["winner"] for line in ended]) == (0, [0])
    code, out, _ = said(start, "--start", "X../.O./..X", "--plain", typed="2\n")
    assert "O to move." in out


def test_games_end_a_match_between_people_when_they_are_played(start: Start) -> None:
    code, out, _ = said(start, "--games", "2", "--json", typed="5\n1\n9\n2\n8\n3\n" * 2)
    assert code == 0
    assert json.loads(out.splitlines()[-1])["games"] == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--x", "deepblue"], "alphabeta"),
        (["--x", "O"], "alphabeta"),
        (["--names", ""], "two different names"),
        (["--game", "chess"], "connect4"),
        (["--start", "XX"], "row 1"),
        (["--start", "XXX/OO./..."], "over"),
        (["--game", "connect4", "--o", "minimax"], "alphabeta"),
        (["--o", "random", "--level", "9"], "1 to 8"),
        (["--names", "Ann"], "two different names"),
        (["example.org"], "no server"),
        (["--name", "Ann"], "--names"),
    ],
)
def test_unknown_names_are_reported_in_one_line_with_the_known_ones(
    start: Start, arguments: list[str], word: str
) -> None:
    code, out, err = said(start, *arguments)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert word in line


@pytest.mark.parametrize(
    "arguments", [["--x", "random"], ["--start", "X../.../..."], ["--port", "1"], ["--games", "2"]]
)
def test_options_of_local_matches_are_rejected_elsewhere(arguments: list[str]) -> None:
    with pytest.raises(ConfigurationError, match=r"--(local|host)"):
        parse(arguments)


def test_two_people_share_one_screen(environment: dict[str, str]) -> None:
    terminal = Terminal(["--local", "--game", "connect4"], environment)
    terminal.shows("X to move.")
    terminal.press("4")
    terminal.shows("O to move.")
    for column, mark in zip("34343", "XOXOX", strict=True):
        terminal.press(column)
        terminal.shows(f"{mark} to move.")
    terminal.press("4")
    picture = terminal.shows("X won: X completed a line.")
    assert "X 1 : 0 O" in picture
    assert "you" not in picture.lower()
    terminal.press("r")
    terminal.shows("X to move.")
    terminal.press("\x03")
    assert terminal.ends() == 0


def test_two_strategies_are_watched_on_the_screen(environment: dict[str, str]) -> None:
    terminal = Terminal(["--local", "--x", "alphabeta", "--o", "random", "--start", "XX./.../OO."], environment)
    terminal.shows("alphabeta won: alphabeta completed a line.")
    assert "watching" not in terminal.picture, "who would it be"
    terminal.press("\x03")
    assert terminal.ends() == 0


def test_escape_leaves_a_watched_match_of_strategies(environment: dict[str, str]) -> None:
    terminal = Terminal(["--local", "--x", "alphabeta", "--o", "random", "--start", "XX./.../OO."], environment)
    terminal.shows("alphabeta won: alphabeta completed a line.")
    assert "say" not in terminal.picture.splitlines()[-1]
    terminal.press("v")
    terminal.shows("Move 0 of 1")
    terminal.press("\x1b")
    terminal.shows("alphabeta won: alphabeta completed a line.")
    terminal.press("\x1b")
    assert terminal.ends() == 0


def test_escape_asks_before_it_ends_a_match_at_home(environment: dict[str, str]) -> None:
    terminal = Terminal(["--local"], environment)
    terminal.shows("X to move.")
    terminal.press("\x1b")
    terminal.shows("Call it off and leave?")
    terminal.press("\x1b")
    terminal.shows("type b2")
    terminal.press("5")
    terminal.shows("O to move.")
    terminal.press("q")
    terminal.shows("and leave?")
    terminal.press("q")
    assert terminal.ends() == 0


def test_a_match_between_strategies_is_told_as_one_of_others(start: Start) -> None:
    code, out, _ = said(start, "--plain", "--x", "alphabeta", "--o", "random", "--start", "XX./.../OO.")
    assert code == 0
    assert out.splitlines()[-1] == "alphabeta won: alphabeta completed a line."


def test_nothing_is_left_behind(start: Start, environment: dict[str, str], tmp_path: Path) -> None:
    environment["TMPDIR"] = str(tmp_path / "tmp")
    (tmp_path / "tmp").mkdir()
    code, _, _ = said(start, "--plain", typed="5\nquit\nquit\n")
    assert code == 0
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_a_match_that_ended_is_kept_and_one_that_was_called_off_is_not(
    start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    moves = "5\n1\n9\n2\n8\n3\n"
    code, _, _ = said(start, "--plain", "--names", "Ann,Ben", typed=f"{moves}new\n5\nquit\nquit\n")
    assert code == 0
    (record,) = read_records((tmp_path / "home" / "matches.txt").read_text(encoding="utf-8"))
    assert [player.name for player in record.players] == ["Ann", "Ben"]
    assert record.outcome == Outcome(1, Reason.LINE)
    shown = subprocess.run(
        [sys.executable, "-m", "ttt_net", "replay", "local", "--at", "6"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout
    assert "Ann" in shown
    assert "c3" in shown
    code, out, err = said(start, "--history")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == [
        *("1", str(record.date), "tictactoe:", "Ann", "0-1", "Ben", "(line),", "6", "moves")
    ]
    code, out, _ = said(start, "--history", "Carl")
    assert out == "There is no such match.\n"
    code, out, _ = said(start, "--history", "ann", "--json")
    assert json.loads(out)["players"] == ["Ann", "Ben"]


def test_the_board_waits_for_no_server_and_for_no_strategy_where_two_people_play() -> None:
    command = "import sys, ttt_net.client.terminal.loop, ttt_net.client.local.local_connection; print(*sys.modules)"
    asked = [sys.executable, "-c", command]
    loaded = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout.split()
    assert {"ttt_net.server", "ttt_net.strategies", "websockets"} & set(loaded) == set()


def test_a_program_that_cannot_go_on_loses_and_it_is_said_why(start: Start, tmp_path: Path) -> None:
    silent = tmp_path / "silent.py"
    silent.write_text("print('ttiok', flush=True)\nfor line in __import__('sys').stdin:\n    assert 'go' not in line\n")
    engine = f"engine:{sys.executable} {silent}"
    code, out, err = said(start, "--x", engine, "--o", "random", "--plain", "--games", "1")
    assert (code, err) == (0, "")
    _, ended, why = out.splitlines()
    assert ended == "random won: engine resigned."
    assert why.startswith("engine cannot go on: ")
