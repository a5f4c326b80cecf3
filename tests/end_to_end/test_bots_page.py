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
from ttt_net.command_line import beside_us

ROOT = Path(__file__).parent.parent.parent


BOTS = ("websocket", "sdk")


def printed(folder: Path, which: str) -> Path:
    """Return a file with one of the bots as the page prints it."""
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    codes = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    bot = folder / f"{which}.py"
    bot.write_text(dict(zip(BOTS, codes, strict=True))[which], encoding="utf-8")
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
