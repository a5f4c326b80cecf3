"""The start of a client: which modules each mode loads, and its exit code, with a sentence that says why."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.conftest import CLIENT, RealServer, Start
from tests.patience import PATIENCE_S
from tests.ports import reserved
from ttt_net.client.mailbox import Mailbox
from ttt_net.client.options import parse
from ttt_net.client.server_link import Play, joined
from ttt_net.client.user_io import Ending, tell
from ttt_net.names import RULE
from ttt_net.sdk import identity
from ttt_net.sdk.client_connection import ClientConnection

WAYS = [["--plain"], ["--json"], ["--screen-reader"]]


def ended(start: Start, *arguments: str, typed: str = "") -> tuple[int, str]:
    client = start(*arguments)
    _, err = client.communicate(typed, timeout=PATIENCE_S)
    return client.returncode, err


@pytest.mark.parametrize("way", WAYS)
def test_0_when_all_is_well(start: Start, way: list[str]) -> None:
    assert ended(start, "--local", *way, typed="5\n1\n9\n2\n8\n3\n") == (0, "")


@pytest.mark.parametrize("way", [["--plain"], ["--screen-reader"]])
def test_0_when_nobody_reads_any_more(real_server: RealServer, start: Start, way: list[str]) -> None:
    client = start(real_server.address, "--name", "Ann", *way)
    assert client.stdin is not None
    assert client.stdout is not None
    assert client.stderr is not None
    assert client.stdout.readline().startswith("Connecting to")
    client.stdout.close()
    client.stdin.write("help\n")  # whose answer goes nowhere
    client.stdin.flush()
    assert (client.wait(PATIENCE_S), client.stderr.read()) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudoterminals")
@pytest.mark.parametrize("way", [[], ["--plain"]])
def test_0_when_the_terminal_is_closed(environment: dict[str, str], way: list[str]) -> None:
    ours, theirs = os.openpty()
    command = [*CLIENT, "127.0.0.1:1", "--name", "Ann", *way]
    client = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    heard = b""
    while b"No answer" not in heard:  # before that, the client may not handle signals yet
        heard += os.read(ours, 4096)
    client.send_signal(signal.SIGHUP)  # before the input ends, as the kernel does: once its loop has ended, it kills
    os.close(ours)
    assert client.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("way", [*WAYS, ["--bot", "deepblue"]])
def test_2_when_it_was_started_wrongly(start: Start, way: list[str]) -> None:
    code, err = ended(start, "example.org", *way, *([] if "--bot" in way else ["--time", "soon"]))
    assert code == 2
    assert len(err.splitlines()) == 1


def test_2_says_nothing_but_what_is_wrong_with_a_bot_that_goes_nowhere_yet(start: Start) -> None:
    code, err = ended(start, "--bot", "deepblue")
    assert code == 2
    assert err.startswith("client.py: unknown strategy 'deepblue'; there are: ")
    assert len(err.splitlines()) == 1


def test_3_when_nobody_answers(start: Start) -> None:
    with reserved() as port:
        ways = [*WAYS, ["--join", "BCD234"], ["--bot", "random", "--games", "1"]]
        clients = [start(f"127.0.0.1:{port}", "--name", "Ann", *way) for way in ways]
        for way, client in zip(ways, clients, strict=True):  # each of them tries for some seconds
            _, err = client.communicate("", timeout=PATIENCE_S)
            assert client.returncode == 3
            assert "cannot reach" in err
            assert ("use another address of that server" in err) == ("--join" in way)


@pytest.mark.parametrize("way", [*WAYS, ["--bot", "random", "--games", "1"]])
def test_4_when_the_server_says_no(real_server: RealServer, start: Start, way: list[str]) -> None:
    code, err = ended(start, real_server.address, "--name", "Ann", "--game", "chess", *way)
    assert code == 4
    assert "unknown game" in err


@pytest.mark.parametrize("way", [["--json"], ["--bot", "random"]])
def test_programs_learn_immediately_that_their_token_is_lost(
    real_server: RealServer, start: Start, environment: dict[str, str], tmp_path: Path, way: list[str]
) -> None:
    (tmp_path / "file").write_text("")
    environment["TTT_NET_HOME"] = str(tmp_path / "file" / "home")
    client = start(real_server.address, "--name", "Robin", *way)
    assert client.stderr is not None
    assert "Your player cannot be kept: " in client.stderr.readline()


def test_piped_lines_wait_until_a_name_is_free(
    real_server: RealServer, start: Start, environment: dict[str, str], tmp_path: Path
) -> None:
    assert ended(start, real_server.address, typed="quit\n") == (0, "")
    environment["TTT_NET_HOME"] = str(tmp_path / "another home")
    client = start(real_server.address)
    out, err = client.communicate("who\nquit\n", timeout=PATIENCE_S)
    assert client.returncode == 0
    assert "the name player belongs to somebody else; trying another" in err
    assert "Nobody else is here." in out, "which answers the first of them"


def loaded(*modules: str) -> set[str]:
    """Return the modules that a process has after it has imported these."""
    command = [sys.executable, "-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout.split())


def client(*names: str) -> set[str]:
    return {f"ttt_net.client.{name}" for name in names}


SCREEN = {"prompt_toolkit", *client("terminal.loop", "terminal.painter", "terminal.canvas")}
BOT = {"ttt_net.strategies", *client("bot")}
NETWORK = {"websockets", "zeroconf", "ttt_net.sdk.client_connection"}


@pytest.mark.parametrize(
    ("modules", "later"),
    [
        (["ttt_net.commands.play"], {"asyncio", "rich.text", "ttt_net.games", *SCREEN, *BOT, *NETWORK}),
        (
            ["ttt_net.commands.play", "ttt_net.client.terminal.canvas"],
            {"prompt_toolkit", "wcwidth", "logging.handlers", "ttt_net.games", *client("display", "screens"), *NETWORK},
        ),
        (["ttt_net.commands.play", "ttt_net.client.terminal.loop"], {"prompt_toolkit", *BOT, *NETWORK}),
        (["ttt_net.client.server_link"], {"rich.text", "ttt_net.games", *SCREEN, *BOT, *client("display")}),
        (
            ["ttt_net.client.online_play", "ttt_net.client.terminal.loop"],
            {"prompt_toolkit", "zeroconf", *BOT, *client("lines.line_client", "inquire")},
        ),
        (["ttt_net.client.online_play", "ttt_net.client.lines.line_client"], {*BOT, *SCREEN, *client("inquire")}),
        (["ttt_net.client.bot.seats"], {*SCREEN, *client("lines.line_client", "screens.registry", "inquire")}),
        (["ttt_net.client.inquire"], {*BOT, *SCREEN, *client("lines.line_client")}),
    ],
    ids=lambda value: value[-1].rpartition(".")[2] if isinstance(value, list) else "",
)
def test_a_mode_does_not_load_what_others_need(modules: list[str], later: set[str]) -> None:
    assert later & loaded(*modules, "ttt_net.bootstrap") == set()
    assert "ttt_net.server" not in loaded(*modules)


def test_the_handshake_is_on_its_way_while_the_rest_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE_S)
        address = f"127.0.0.1:{listening.getsockname()[1]}"

        def load() -> Play:
            connected, _ = listening.accept()
            with connected:
                connected.settimeout(PATIENCE_S)
                assert connected.recv(3) == b"GET"

            async def play(connection: ClientConnection, mailbox: Mailbox) -> Ending:
                return Ending(None, "played")

            return play

        mine = identity.take(address, "Ann")
        assert mine is not None
        assert joined(parse([address]), mine, load, later_ms=None).sentence == "played"
        mine.release()


def test_a_line_ends_with_a_whole_word_and_what_is_copied_stays_in_one_piece(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tell(f"You are Bob-the-2nd: a name is {RULE}.")
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines) == f"You are Bob-the-2nd: a name is {RULE}."
    assert max(map(len, lines)) < 80
    tell("  " + "c5a9 " * 8)
    assert capsys.readouterr().out.startswith("  c5a9 c5a9"), "groups of a fingerprint stand apart from the sentences"
    tell("a" * 100)
    assert capsys.readouterr().out == "a" * 100 + "\n"
