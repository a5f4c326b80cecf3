"""Asking instead of playing: profiles, histories, lists, another name, and to be forgotten, from the command line."""

import asyncio
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.client.conftest import CLIENT, RealServer, Start
from tests.client.real_terminal import Open
from tests.patience import PATIENCE_S
from tests.server.peer import Peer
from ttt_net.client.inquire import lines_of
from ttt_net.client.options import Inquiry, Options, parse
from ttt_net.errors import ConfigurationError
from ttt_net.messages import FinishedMatch, HistoryReply, Leader, LeaderboardReply, PlayerInfo
from ttt_net.sdk import identity

Ask = Callable[..., tuple[int, str, str]]
TIME = {"initial_ms": 180_000, "increment_ms": 2_000}


@pytest.fixture
def ask(real_server: RealServer, environment: dict[str, str]) -> Ask:
    """Run the client on the server; return its exit code, and what it wrote to both ends."""

    def asked(*arguments: str) -> tuple[int, str, str]:
        ends: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with forked.start("client.py", real_server.address, *arguments, env=environment, **ends) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    return asked


@pytest.fixture
def club(real_server: RealServer, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> RealServer:
    """A server on which Ann has won a rated match against Bob; this machine has Ann's token."""

    async def play() -> None:
        ann, bob = [await Peer.connect(f"ws://{real_server.address}") for _ in range(2)]
        await ann.hello(name="Ann")
        await bob.hello(name="Bob", bot="rules")
        for peer in (ann, bob):
            await peer.ok("seek", games=["connect4"], time=TIME, rated=True)
        told = await ann.hear("snapshot")
        await bob.hear("snapshot")
        match, sides = told["match"], (ann, bob) if told["you"] == 0 else (bob, ann)
        for ply in range(4):  # a rated match counts from then on
            await sides[ply % 2].ok("play", match=match, ply=ply, move=35 + ply)
        await bob.ok("resign", match=match)
        await ann.hear("rated")
        for peer in (ann, bob):
            await peer.close()
        mine = identity.take(real_server.address, "Ann")
        assert mine is not None
        mine.keep_token(ann.token)
        mine.release()
        identity.remember_name("Ann")

    monkeypatch.setenv("TTT_NET_HOME", environment["TTT_NET_HOME"])
    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))
    return real_server


def test_a_profile_is_printed_in_lines(club: RealServer, ask: Ask) -> None:
    code, out, err = ask("--profile", "bob")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("Bob (bot): known since 20")
    assert "won 0, drawn 0, lost 1\nagainst you: won 0, drawn 0, lost 1\n" in out
    assert re.search(r"^connect4 +blitz +\d+\? +±\d+ +1$", out, re.MULTILINE)
    code, mine, _ = ask("--profile")
    assert code == 0
    assert "Ann: known since" in mine
    assert "won 1, drawn 0, lost 0" in mine
    assert "against" not in mine


def test_histories_and_lists_are_printed_as_tables(club: RealServer, ask: Ask) -> None:
    code, out, _ = ask("--history")
    assert code == 0
    assert "finished matches of Ann, page 1" in out
    assert re.search(r"connect4 .*(Ann|Bob \(bot\)) .* (1-0|0-1) +resign +4 +rated +\w{8}$", out, re.MULTILINE)
    code, out, _ = ask("--history", "Bob", "--page", "2")
    assert (code, out.splitlines()[-1]) == (0, "none")
    code, out, _ = ask("--leaderboard", "connect4", "--speed", "blitz")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [["1", "Ann"], ["2", "Bob"]]
    assert "you are number 1" in out
    code, out, _ = ask("--leaderboard", "connect4", "--speed", "blitz", "--people")
    assert "Bob" not in out
    code, out, _ = ask("--json", "--leaderboard", "connect4", "--speed", "blitz")
    assert [leader["player"]["name"] for leader in json.loads(out)["leaders"]] == ["Ann", "Bob"]


def test_a_tournament_is_printed_as_tables(real_server: RealServer, ask: Ask) -> None:
    async def hold() -> str:
        ann, bob = [await Peer.connect(f"ws://{real_server.address}") for _ in range(2)]
        await ann.hello(name="Ann")
        await bob.hello(name="Bob")
        await ann.ok("organise", name="Friday", kind="swiss", time=TIME, rounds=1)
        code = str((await ann.hear("tournament"))["tournament"])
        for peer in (ann, bob):
            await peer.ok("enter", tournament=code)
        await ann.ok("direct", tournament=code, act="start")
        await ann.hear("snapshot")
        for peer in (ann, bob):
            await peer.close()
        return code

    code = asyncio.run(asyncio.wait_for(hold(), PATIENCE_S))
    exit_code, out, _ = ask("--tournament")
    assert exit_code == 0
    assert f"{code}  Friday  swiss" in out
    exit_code, out, _ = ask("--tournament", code)
    assert exit_code == 0
    first, *_, last = out.splitlines()
    assert first == "Friday: swiss, tictactoe; running, round 1 of 1"
    assert last in ("not finished: Ann and Bob", "not finished: Bob and Ann")


def test_inquiries_do_not_disturb_a_running_client_and_leave_no_guest(club: RealServer, ask: Ask) -> None:
    mine = identity.take(club.address, "Ann")
    assert mine is not None, "as if a client of ours was playing"
    code, out, _ = ask("--profile")
    assert (code, "Ann: known since" in out) == (0, True)
    code, out, _ = ask("--profile", "Bob")
    assert (code, "against" in out) == (0, False)
    code, _, err = ask("--rename", "Annabel")
    assert (code, "end that client first" in err) == (2, True)
    mine.release()
    code, _, err = ask("--profile", "guest-agile-bear")
    assert (code, err) == (4, "client.py: no player here has that name\n")


def test_another_name_is_taken_and_its_token_goes_with_it(club: RealServer, ask: Ask) -> None:
    assert ask("--rename", "Annabel") == (0, "You are Annabel now.\n", "")
    assert identity.remembered_name() == "Annabel"
    assert not identity.is_known(club.address, "Ann")
    code, out, _ = ask("--history")
    assert (code, "Annabel" in out) == (0, True)
    assert ask("--rename", "bob")[0] == 4
    code, _, err = ask("--rename", "An!nabel")
    assert (code, "a name is 2 to 20 letters" in err) == (2, True)


def test_players_get_all_their_data_as_json_also_private_matches_and_many(club: RealServer, ask: Ask) -> None:
    async def play() -> None:
        ann, bob = [await Peer.connect(f"ws://{club.address}") for _ in range(2)]
        mine = identity.take(club.address, "Ann")
        assert mine is not None
        await ann.hello(token=mine.token())
        mine.release()
        await bob.hello(name="Ben")
        await ann.ok("block", name="Bob", on=True)
        for move in range(21):
            puzzle = {"game": "gomoku", "better": [200], "moves": [move]}
            await ann.ok("learn", mistake={"puzzle": puzzle})
        for number in range(20):
            if number < 3:
                await ann.ok("invite", game="tictactoe")
                await bob.ok("join", code=(await ann.hear("invitation"))["code"])
            else:
                for peer in (ann, bob):
                    await peer.ok("seek", games=["tictactoe"])
            match = (await ann.hear("snapshot"))["match"]
            await bob.hear("snapshot")
            await ann.ok("resign", match=match)
            await ann.hear("ended")
            await bob.hear("ended")
        for peer in (ann, bob):
            await peer.close()

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))
    code, out, err = ask("--my-data")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["server"], told["profile"]["player"]["name"]) == (club.address, "Ann")
    assert (told["profile"]["won"], told["profile"]["lost"]) == (1, 20)
    assert [each["game"] for each in told["profile"]["ratings"]] == ["connect4"]
    assert told["blocks"]["blocked"] == ["Bob"]
    assert [each["puzzle"]["moves"] for each in told["mistakes"]] == [[move] for move in range(21)]
    assert len({each["match"]["match"] for each in told["matches"]}) == 21, "more than a page, and more than a burst"
    assert [each["match"].get("private", False) for each in told["matches"]] == [False] * 17 + [True] * 3 + [False]
    assert "\n1. 1 [3:00]\n2. 2 [3:00]\n" in told["matches"][-1]["record"]
    code, _, err = ask("--my-data", "--name", "Zoe")
    assert (code, "'Zoe' is nobody" in err) == (2, True)


def test_deleted_players_do_not_exist_any_more(club: RealServer, ask: Ask) -> None:
    code, _, err = ask("--forget")
    assert (code, err) == (2, "client.py: to be forgotten, name yourself: --forget --name Ann\n")
    code, out, _ = ask("--forget", "--name", "Ann")
    assert code == 0
    assert "forgotten" in out
    assert not identity.is_known(club.address, "Ann")
    assert ask("--profile", "Ann")[0] == 4
    code, out, _ = ask("--history", "Bob")
    assert "deleted" in out
    assert ask("--forget", "--name", "Ann")[0] == 2


def test_in_a_terminal_one_types_ones_name_to_be_forgotten(club: RealServer, environment: dict[str, str]) -> None:
    for typed, code in (("Bob", 2), ("ann", 0)):
        leader, follower = pty.openpty()
        with subprocess.Popen(
            [*CLIENT, club.address, "--forget"], stdin=follower, stdout=follower, stderr=follower, env=environment
        ) as process:
            os.close(follower)
            os.write(leader, f"{typed}\n".encode())
            assert process.wait(PATIENCE_S) == code
        os.close(leader)


def test_without_an_address_the_server_is_asked_where_one_plays_at_this_moment(
    real_server: RealServer, start: Start, open_terminal: Open
) -> None:
    player = open_terminal(real_server.address, "--name", "Ann")
    player.shows("Looking for a person")
    out, err = start("--leaderboard", "connect4").communicate(timeout=PATIENCE_S)
    assert (out.splitlines()[0], err) == ("ratings at connect4, untimed: page 1 of 1", "")


def test_where_nothing_answers_it_is_said(tmp_path: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*CLIENT, "127.0.0.1:1", "--leaderboard", "connect4"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("client.py: cannot reach ws://127.0.0.1:1: nothing listens there. Check")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--profile", "--history"],
        ["--page", "2"],
        ["--profile", "Ann", "--page", "2"],
        ["--history", "Ann", "--page", "51"],
        ["--history", "Ann", "--speed", "blitz"],
        ["--leaderboard", "connect4", "--page", "0"],
        ["--leaderboard", "connect4", "--bot", "random"],
        ["--forget", "--invite"],
        ["--my-data", "--forget"],
    ],
)
def test_contradictory_options_are_rejected(arguments: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        parse(arguments)


HISTORY = HistoryReply(
    PlayerInfo("Ann\x1b[2J"),
    [
        FinishedMatch(
            f"m{number}",
            "mnk:19x19,5+swap",
            10**12,
            (PlayerInfo("名" * 10), PlayerInfo("[b]" * 6, "x")),
            None,
            "agreement",
            7,
        )
        for number in range(3)
    ],
    "more",
)
BOARD = LeaderboardReply("connect4", "blitz", 2, 5, [Leader(21, PlayerInfo("名" * 10, rating=1500), 3, 45)], 7)


@pytest.mark.parametrize("told", [HISTORY, BOARD])
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_none_is_wrapped(
    monkeypatch: pytest.MonkeyPatch, told: HistoryReply | LeaderboardReply, width: int
) -> None:
    from wcwidth import wcswidth

    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    inquiry = Inquiry("history" if told is HISTORY else "leaderboard", "connect4", 2)
    lines = lines_of(told, Options("ws://here:1"), inquiry)
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert all(wcswidth(line) <= width for line in shown), shown
    assert len(shown) == (6 if told is HISTORY else 5)
    assert not any("\x1b" in line for line in shown)


def test_in_a_pipe_nothing_is_cut_and_the_next_page_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    lines = lines_of(HISTORY, Options("ws://here:1"), Inquiry("history", "Ann"))
    assert "名" * 10 in lines[2]
    assert "[b]" * 6 in lines[2]
    assert lines[-1] == "more: python client.py here:1 --history Ann --page 2"
    assert "\x1b" not in "".join(lines)
    lines = lines_of(replace_page(BOARD, 5), Options("ws://here:1"), Inquiry("leaderboard", "connect4", 5))
    assert lines[-1] == "you are number 7"


def replace_page(told: LeaderboardReply, page: int) -> LeaderboardReply:
    return LeaderboardReply(told.game, told.speed, page, told.pages, told.leaders, told.you)
