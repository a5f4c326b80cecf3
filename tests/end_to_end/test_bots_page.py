"""The bots that docs/bots.md prints are run, as printed, against a real server."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.patience import PATIENCE_S
from ttt_net import sdk
from ttt_net.command_line import beside_us

ROOT = Path(__file__).parent.parent.parent


BOTS = ("websocket", "sdk")
PRINTED = ("ten lines", *BOTS)


def printed(folder: Path, which: str) -> Path:
    """Return a file with one of the bots as the page prints it."""
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    bot = folder / f"{which}.py"
    bot.write_text(dict(zip(PRINTED, codes, strict=True))[which], encoding="utf-8")
    return bot


def started(bot: Path, url: str, name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, bot, url, name], stdout=subprocess.PIPE, text=True, env=beside_us(os.environ)
    )


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run a server, and return its address; it has to end well."""
    command = [sys.executable, str(ROOT / "server.py"), "--port", "0", "--data", str(folder / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().removeprefix("listening on ").strip()
        finally:
            server.terminate()
    assert server.returncode == 0


def heard(person: ClientConnection, kind: str) -> dict[str, object]:
    """Return the next message of that type."""
    while True:
        message: dict[str, object] = json.loads(person.recv(timeout=PATIENCE_S))
        if message["type"] == kind:
            return message


def test_the_printed_bots_play_a_whole_match(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        players = [started(printed(tmp_path, bot), url, name) for bot, name in zip(BOTS, ("Ann", "Bob"), strict=True)]
        results = {player.communicate(timeout=PATIENCE_S)[0].strip() for player in players}
    assert results in ({"won", "lost"}, {"drawn"})


@pytest.mark.parametrize("which", BOTS)
def test_the_printed_bot_is_played_by_a_person_who_chooses_it_from_the_list(tmp_path: Path, which: str) -> None:
    with serving(tmp_path) as url, connect(url, proxy=None, open_timeout=PATIENCE_S) as ann:
        bot = started(printed(tmp_path, which), url, "Bob")
        ann.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": "Ann"}))
        heard(ann, "welcome")
        ann.send(json.dumps({"type": "lobby", "id": 2, "on": True}))
        while "Bob" not in str(heard(ann, "players")):
            pass
        ann.send(json.dumps({"type": "challenge", "id": 3, "name": "Bob"}))
        match = heard(ann, "snapshot")["match"]
        ann.send(json.dumps({"type": "resign", "id": 4, "match": match}))
        heard(ann, "ended")
        assert bot.communicate(timeout=PATIENCE_S)[0].strip() == "won"


def test_a_bot_tries_itself_in_a_sandbox_that_ends_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path))
    lines: list[str] = []
    tally = sdk.play(lambda turn: turn.legal[0], games=["tictactoe"], sandbox=True, matches=1, write=lines.append)
    assert tally.games == 1
    assert lines[1].endswith(": tictactoe against Mia")
    assert not list(tmp_path.iterdir()), "nothing is remembered"
    url = lines[0].split()[4].rstrip(";")
    with pytest.raises(ConnectionRefusedError):
        connect(url, proxy=None)


def test_a_bot_that_is_terminated_takes_its_sandbox_along(tmp_path: Path) -> None:
    code = "from ttt_net import sdk; sdk.play(lambda turn: turn.legal[0], sandbox=True)"
    environment = {**beside_us(os.environ), "TTT_NET_HOME": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stderr is not None
        url = running.stderr.readline().split()[4].rstrip(";")
        running.terminate()
        assert list(lines_of(running))[-1] == "stopped\n"
    assert running.returncode == 0
    with pytest.raises(ConnectionRefusedError):
        connect(url, proxy=None)


def lines_of(bot: "subprocess.Popen[str]") -> Iterator[str]:
    assert bot.stderr is not None
    return iter(bot.stderr.readline, "")


def test_the_ten_lines_of_readme_and_page_play_twice_under_one_name(tmp_path: Path) -> None:
    code = printed(tmp_path, "ten lines").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in (ROOT / "README.md").read_text(encoding="utf-8")
    with serving(tmp_path) as url:
        bot = tmp_path / "ten.py"
        bot.write_text(code.replace("ws://localhost:8765", url), encoding="utf-8")
        environment = {**beside_us(os.environ), "TTT_NET_HOME": str(tmp_path / "home")}
        for turn in (1, 2):
            with subprocess.Popen([sys.executable, bot], stderr=subprocess.PIPE, text=True, env=environment) as running:
                said = lines_of(running)
                assert next(said) == f"playing as my-bot at {url}; Ctrl-C stops it\n"
                with connect(url, proxy=None, open_timeout=PATIENCE_S) as ann:
                    ann.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": f"Ann{turn}"}))
                    heard(ann, "welcome")
                    challenge = {"type": "challenge", "id": 2, "name": "my-bot", "game": "connect4"}
                    ann.send(json.dumps(challenge))
                    match = heard(ann, "snapshot")
                    if match["you"] == 0:
                        ann.send(json.dumps({"type": "play", "id": 3, "match": match["match"], "ply": 0, "move": 38}))
                        heard(ann, "played")
                    heard(ann, "played")
                    ann.send(json.dumps({"type": "resign", "id": 4, "match": match["match"]}))
                    heard(ann, "ended")
                assert next(said) == f"{match['match']}: connect4 against Ann{turn}\n"
                assert next(said).startswith(f"{match['match']}: won against Ann{turn} (resign); 1 won")
                running.terminate()  # a test in the background ignores SIGINT, and so do its children
                assert list(said) == ["stopped\n"]
            assert running.returncode == 0
