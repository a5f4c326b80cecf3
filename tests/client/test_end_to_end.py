"""Real processes against a real server; every wait has an end, and nothing is timed."""

import asyncio
import json
import os
import select
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import CLIENT, RealServer, Start, heard_until, seated
from tests.patience import PATIENCE_S
from tests.ports import reserved
from ttt_net.clock import TimeControl
from ttt_net.messages import OrganiseRequest, TournamentReply
from ttt_net.sdk.client import connect


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def messages(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_output_in_one_piece_is_read_line_by_line_to_the_end() -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen(["printf", "one\\ntwo\\nthree\\n"], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    process.wait(PATIENCE_S)
    assert heard_until(process, "one") == "one\n"
    assert ended(process) == (0, "two\nthree\n", "")


def test_two_bots_play_their_games_and_leave(real_server: RealServer, start: Start) -> None:
    asked = ("--games", "3", "--game", "tictactoe", "--json")
    bots = [start(real_server.address, "--bot", name, *asked) for name in ("tactics", "random")]
    results = [ended(bot) for bot in bots]
    assert [code for code, _, _ in results] == [0, 0]
    assert [err for _, _, err in results] == ["", ""]
    first, second = (messages(out)[-1] for _, out, _ in results)
    assert first["type"] == second["type"] == "summary"
    assert first["games"] == second["games"] == 3
    assert (first["won"], first["drawn"], first["lost"]) == (second["lost"], second["drawn"], second["won"])
    assert first["lost"] == 0, "tactics never loses at tic-tac-toe"
    welcome = next(message for message in messages(results[0][1]) if message["type"] == "welcome")
    assert not welcome.get("token"), "what is told to scripts holds no token"
    assert welcome["you"] == {"name": "tactics", "bot": "tactics"}


def test_a_tournament_of_guests_is_played_as_the_same_guest_each_time(real_server: RealServer, start: Start) -> None:
    async def made() -> str:
        async with connect(f"ws://{real_server.address}", "Teacher") as client:
            terms = OrganiseRequest(0, "5b", "swiss", TimeControl(60_000), anonymous=True)
            return (await client.ask_for(terms, TournamentReply)).tournament

    code, names = asyncio.run(made()), []
    for options in (("--name", "Ann"), ("--guest",)):
        pupil = start(real_server.address, *options, "--join", code)
        said = heard_until(pupil, "You have entered as guest-")
        names.append(said.rpartition("as guest-")[2].split()[0])
        assert pupil.stdin is not None
        pupil.stdin.write("quit\n")
        pupil.stdin.flush()
        assert ended(pupil)[0] == 0
    assert names[0] == names[1] != ""


def test_bots_of_one_name_do_not_throw_one_another_off(real_server: RealServer, start: Start) -> None:
    bots = [start(real_server.address, "--bot", "random", "--games", "2", "--json") for _ in range(2)]
    names = set()
    for bot in bots:
        code, out, _ = ended(bot)
        assert code == 0
        names |= {message["you"]["name"] for message in messages(out) if message["type"] == "welcome"}
    assert names == {"random", "random-2"}


def test_a_person_plays_a_bot_through_a_pipe_without_an_escape_byte(real_server: RealServer, start: Start) -> None:
    bot = seated(start, real_server, "random", "--games", "1", "--seed", "3")
    person = start(real_server.address, "--name", "Ann")
    assert person.stdin is not None
    assert person.stdout is not None
    person.stdin.write("bot\n")
    person.stdin.flush()
    out = ""
    for line in person.stdout:
        out += line
        if line.startswith("Your turn"):
            board = out.rsplit("a   b   c", 1)[1]
            free = next(digit for digit in "123456789" if f" {digit} " in board)
            person.stdin.write(f"{free}\n")
            person.stdin.flush()
        if line.startswith(("You won", "You lost", "A draw")):
            person.stdin.write("quit\n")
            person.stdin.flush()
    assert ended(person)[0] == 0
    assert ended(bot)[0] == 0
    assert "Tic-tac-toe:" in out
    assert "random [bot]" in out
    assert "\x1b" not in out


def test_lines_that_are_there_before_it_begins_are_done_in_order(
    real_server: RealServer, start: Start, environment: dict[str, str]
) -> None:
    seated(start, real_server, "random", "--level", "1")
    person = start(real_server.address, "--name", "Ann", "--screen-reader", "--game", "connect4")
    # A game in which whatever the bot has done leaves this move possible, and the match going on.
    lines = ["bot", "board", "say Hello", "4", "resign", "bot", "board", "quit", "quit"]
    out, err = person.communicate("".join(f"{line}\n" for line in lines), timeout=PATIENCE_S)
    assert (person.returncode, err) == (0, "")
    told = [
        *("You challenge random [bot]: Connect Four. Type stop to take it back.", "Connect Four against random, a"),
        *("Row 1", "Said.", "You played", "You lost: you resigned.", "You challenge random [bot]"),
        *("Connect Four against random, a bot;", "Row 1", "This ends the match."),
    ]
    at = 0
    for words in told:
        assert words in out[at:], f"{words!r} in {out}"
        at = out.index(words, at) + len(words)


def test_a_client_without_input_says_that_its_match_stays(
    real_server: RealServer, start: Start, environment: dict[str, str]
) -> None:
    bot = start(real_server.address, "--bot", "random")
    person = subprocess.run(
        [*CLIENT, real_server.address, "--name", "Ann", "--opponents", "any"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=PATIENCE_S,
    )
    assert person.returncode == 0
    assert "You left a match" in person.stdout
    again = start(real_server.address, "--name", "Ann")
    heard_until(again, "Your unfinished match continues.")
    again.communicate("quit\nquit\n", timeout=PATIENCE_S)
    assert again.returncode == 0
    bot.send_signal(signal.SIGTERM)
    assert ended(bot)[0] == 0


@pytest.mark.parametrize("is_killed", [True, False], ids=["kill -9", "restart"])
def test_a_server_that_goes_is_waited_for_and_the_games_go_on(
    real_server: RealServer, start: Start, is_killed: bool
) -> None:
    how = ("--games", "2", "--json", "--game", "connect4", "--move-time", "60")
    other = seated(start, real_server, "random", *how)
    other.send_signal(signal.SIGSTOP)  # no match is over before the server goes
    bot = start(real_server.address, "--bot", "tactics", *how)
    before = heard_until(bot, '"snapshot"')
    real_server.end(is_killed=is_killed)
    other.send_signal(signal.SIGCONT)
    real_server.start()
    code, rest, err = ended(bot)
    assert (code, err) == (0, "")
    assert ended(other)[0] == 0
    heard = messages(before + rest)
    assert heard[-1]["games"] == 2
    assert sum(message["type"] == "welcome" for message in heard) >= 2, "it came back"
    seqs: dict[str, list[int]] = {}
    for message in heard:
        if "at_ms" in message:
            seqs.setdefault(message["match"], []).append(message["seq"])
    for numbers in seqs.values():
        assert sorted(set(numbers)) == list(range(2, max(numbers) + 1)), "no event is missing"


def test_nothing_of_a_bot_outlives_it(real_server: RealServer, start: Start) -> None:
    bot = start(real_server.address, "--bot", "random")
    heard_until(bot, "Playing as")
    children = Path(f"/proc/{bot.pid}/task/{bot.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc")
    (mind,) = children.read_text().split()
    watched = os.pidfd_open(int(mind))
    bot.kill()
    ended(bot)
    assert select.select([watched], [], [], PATIENCE_S)[0], "the mind ended"
    os.close(watched)


def test_tokens_are_kept_in_private_and_never_printed(real_server: RealServer, start: Start, tmp_path: Path) -> None:
    bots = [
        start(real_server.address, "--bot", name, "--games", "1", *how)
        for name, how in (("random", ["--json"]), ("alphabeta", []))
    ]
    printed = "".join("".join(map(str, ended(bot))) for bot in bots)
    files = list((tmp_path / "home").glob("*.json"))
    assert len(files) == 4, "one of each bot for every name of this machine"
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["token"] not in printed


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["{server}", "--bot", "deepblue"], 2, "unknown strategy 'deepblue'"),
        (["ftp://x"], 2, "is no address"),
        (["--games", "x"], 2, "is no whole number"),
        (["{server}", "--bot", "random", "--game", "chess"], 4, "unknown game"),
        (["{server}", "--name", "Ann", "--game", "chess"], 4, "unknown game"),
        (["{server}", "--name", "Bot1"], 2, "'Bot1' is reserved, as is all that looks like 'bot'; a name is"),
        (["{server}", "--bot", "rules", "--game", "connect4"], 2, "none for Connect Four"),
    ],
)
def test_any_error_is_one_line_and_an_exit_code(
    real_server: RealServer, start: Start, arguments: list[str], code: int, words: str
) -> None:
    found, out, err = ended(start(*(argument.replace("{server}", real_server.address) for argument in arguments)))
    assert found == code, err
    assert words in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err


def test_where_nothing_listens_it_says_what_to_do(environment: dict[str, str]) -> None:
    with reserved() as port:
        done = subprocess.run(
            [*CLIENT, f"127.0.0.1:{port}", "--name", "Ann"],
            input="",
            capture_output=True,
            text=True,
            env=environment,
            timeout=PATIENCE_S,
        )
    assert done.returncode == 3
    assert "nothing listens there" in done.stderr
    assert "python server.py" in done.stderr
    assert done.stderr.count("\n") == 1
