"""The engines that docs/engines.md prints or links to are run: by the client on a real server, and in the arena."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.client.conftest import heard_until
from tests.patience import PATIENCE_S
from ttt_net.__main__ import main

ROOT = Path(__file__).parent.parent.parent


def printed(folder: Path, language: str) -> str:
    """Return the command that starts an engine of the page: the one that it prints in Python, or links to in C."""
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    if language == "python":
        (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
        assert code.count("\n") <= 35
        (folder / "engine.py").write_text(code, encoding="utf-8")
        return f"{sys.executable} {folder / 'engine.py'}"
    (source,) = re.findall(r"\(\.\./(\S+\.c)\)", page)
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    subprocess.run([compiler, "-Wall", "-Werror", "-o", folder / "engine", ROOT / source], check=True)
    return str(folder / "engine")


@pytest.mark.parametrize("language", ["python", "c"])
@pytest.mark.parametrize("game", ["vanishing", "connect:5x4,3+swap"])
def test_the_printed_engines_play_in_the_arena(
    language: str, game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"engine:{printed(tmp_path, language)}"
    assert main(["arena", "random", command, "--game", game, "--rounds", "2", "--nodes", "100", "--json"]) == 0
    heard = capsys.readouterr()
    rows = [json.loads(line) for line in heard.out.splitlines()]
    assert [row["strategy"] for row in rows] == ["random", "engine"]
    assert [row["won"] + row["drawn"] + row["lost"] for row in rows] == [4, 4]
    assert "gave" not in heard.err


def test_an_engine_that_gives_up_begins_no_arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("print('ttiok', flush=True)\ninput()\ninput()\nraise SystemExit('nothing comes to mind')")
    assert main(["arena", "random", f"engine:{sys.executable} {broken}", "--rounds", "1", "--json"]) == 2
    heard = capsys.readouterr()
    assert heard.out == ""
    assert "no game was played: the engine broken ended with 1: nothing comes to mind" in heard.err
    assert main(["analyse", "--strategy", f"engine:{sys.executable} {broken}"]) == 2
    assert "nothing comes to mind" in capsys.readouterr().err


def heard(person: ClientConnection, kind: str) -> dict[str, object]:
    """Return the next message of that type."""
    while True:
        message: dict[str, object] = json.loads(person.recv(timeout=PATIENCE_S))
        if message["type"] == kind:
            return message


def enters(person: ClientConnection, *names: str) -> None:
    """Come in, and wait until all of them are there."""
    person.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": "Ann"}))
    heard(person, "welcome")
    person.send(json.dumps({"type": "lobby", "id": 2, "on": True}))
    missing = set(names)
    while missing:
        players = str(heard(person, "players"))
        missing = {name for name in names if name not in players}
    person.send(json.dumps({"type": "lobby", "id": 3, "on": False}))


def test_one_engine_plays_its_game_and_says_once_how_it_went(tmp_path: Path) -> None:
    environment = {**os.environ, "TTT_NET_HOME": str(tmp_path / "home")}
    server = [sys.executable, str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen([*server, "--no-house-bots"], stdout=subprocess.PIPE, text=True, env=environment) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().removeprefix("listening on ").strip()
        once = [sys.executable, str(ROOT / "client.py"), url, "--games", "1", "--game", "connect4"]
        engine = [
            *once,
            "--engine",
            printed(tmp_path, "python"),
            "--name",
            "Ada",
            "--engine-log",
            str(tmp_path / "log"),
        ]
        try:
            with subprocess.Popen(engine, stdout=subprocess.PIPE, text=True, env=environment) as seated:
                other = subprocess.run([*once, "--bot", "random"], env=environment, capture_output=True, check=True)
                told, _ = seated.communicate(timeout=PATIENCE_S)
        finally:
            serving.terminate()
    assert seated.returncode == 0
    assert "Connect Four" in told
    assert told.count("Played 1 game: ") == 1
    assert b"Ada" in other.stdout
    assert "< bestmove " in (tmp_path / "log").read_text()


def test_the_engines_of_a_file_play_and_leave_on_request(tmp_path: Path) -> None:
    command = printed(tmp_path, "python")
    crashing = tmp_path / "crashing.py"
    crashing.write_text(
        "import sys\nfor line in sys.stdin:\n    print('ttiok', flush=True)\n    assert not line.startswith('go')"
    )
    (tmp_path / "engines.toml").write_text(
        f'[[engine]]\nname = "Ada"\ncommand = "{command}"\nlog = "ada.log"\n'
        f'[[engine]]\nname = "Bab"\ncommand = "{sys.executable} {crashing}"\n'
        f'openings = ["tictactoe: b2", "tictactoe: a1 b2"]\n'
    )
    environment = {**os.environ, "TTT_NET_HOME": str(tmp_path / "home"), "PYTHONUNBUFFERED": "1"}
    server = [sys.executable, str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen([*server, "--no-house-bots"], stdout=subprocess.PIPE, text=True, env=environment) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().removeprefix("listening on ").strip()
        client = [sys.executable, str(ROOT / "client.py"), url, "--engines", str(tmp_path / "engines.toml")]
        with (
            subprocess.Popen(client, stdout=subprocess.PIPE, text=True, env=environment) as bots,
            connect(url, proxy=None, open_timeout=PATIENCE_S) as ann,
        ):
            try:
                enters(ann, "Ada", "Bab")
                ann.send(json.dumps({"type": "challenge", "id": 4, "name": "Ada"}))
                match = heard(ann, "snapshot")
                if match["position"]["to_move"] == match["you"]:  # type: ignore[index]
                    ann.send(json.dumps({"type": "play", "id": 5, "match": match["match"], "ply": 0, "move": 0}))
                    heard(ann, "played")
                heard(ann, "played")
                ann.send(json.dumps({"type": "resign", "id": 6, "match": match["match"]}))
                heard(ann, "ended")
                ann.send(json.dumps({"type": "challenge", "id": 7, "name": "Bab"}))
                match = heard(ann, "snapshot")
                ply = 0
                while True:
                    if match["position"]["to_move"] == match["you"]:  # type: ignore[index]
                        move = match["position"]["legal"][0] if ply else 6  # type: ignore[index]
                        words = {"type": "play", "id": 8 + ply, "match": match["match"], "ply": ply, "move": move}
                        ann.send(json.dumps(words))
                        match["position"] = heard(ann, "played")["position"]
                    elif ply < 2:
                        match["position"] = heard(ann, "played")["position"]
                    else:
                        break
                    ply += 1
                assert "my engine cannot go on" in str(heard(ann, "chat"))
                assert heard(ann, "ended")["reason"] == "resign"
                told = heard_until(bots, "Bab: Against Ann: ")  # which its bot may hear later than Ann
            finally:
                bots.send_signal(signal.SIGINT)
                rest, _ = bots.communicate(timeout=PATIENCE_S)
                serving.terminate()
    told += rest
    assert bots.returncode == 0
    assert "Ada: Playing as Ada" in told
    assert "Bab: Leaving the match: the engine Bab ended with 1: AssertionError; started again" in told
    assert "Played 2 games: 1 won, 0 drawn, 1 lost." in told
    assert "> go " in (tmp_path / "ada.log").read_text()
