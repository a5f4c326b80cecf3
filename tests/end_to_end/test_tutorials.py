"""The commands and programs in docs/tutorials work as printed, in the order in which they are printed."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.process import ROOT
from tests.patience import PATIENCE_S
from ttt_net.command_line import beside_us

TUTORIALS = ROOT / "docs" / "tutorials"
INSTALLATION = ("git clone", "make install")
"""Commands that the tests of the README and of the package cover."""


def blocks(page: str, language: str = "") -> list[str]:
    text = (TUTORIALS / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [code for name, code in found if name == language]


def commands(page: str) -> list[list[str]]:
    lines = [line for block in blocks(page) for line in block.splitlines() if not line.startswith(INSTALLATION)]
    return [shlex.split(line.removesuffix(" &")) for line in lines]


class Reader:
    """Somebody who types what a tutorial says, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        self.environment = beside_us({
            **os.environ,
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "TTT_NET_HOME": str(folder / "client"),
            "TTT_NET_HOST": "127.0.0.1",
            "TTT_NET_PORT": "0",
        })  # fmt: skip
        for program in ("server.py", "client.py"):
            (folder / program).symlink_to(ROOT / program)

    def types(self, words: list[str], typed: str = "", exit_codes: tuple[int, ...] = (0,)) -> str:
        """Run a command to its end, and return what it prints."""
        output = None
        if ">" in words:
            words, output = words[: words.index(">")], self.folder / words[-1]
        done = subprocess.run(
            self._found(words), input=typed, capture_output=True, text=True, check=False,
            cwd=self.folder, env=self.environment, timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode in exit_codes, done.stdout + done.stderr
        if output is not None:
            output.write_text(done.stdout, encoding="utf-8")
        return done.stdout

    @contextmanager
    def runs(self, words: list[str]) -> Iterator["subprocess.Popen[str]"]:
        """Run a server, and end it with Ctrl-C if it has not ended by itself; it must exit with 0."""
        with subprocess.Popen(
            self._found(words), stdout=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment
        ) as server:
            assert server.stdout is not None
            try:
                self.url = server.stdout.readline().removeprefix("listening on ").strip()
                yield server
            finally:
                if server.poll() is None:
                    server.send_signal(signal.SIGINT)
                server.communicate(timeout=PATIENCE_S)
        assert server.returncode == 0

    def _found(self, words: list[str]) -> list[str]:
        python = words[0] in ("python", ".venv/bin/python")
        return [sys.executable, *words[1:]] if python else words


pytestmark = pytest.mark.long


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_the_tutorial_for_players_works_as_printed(reader: Reader) -> None:
    first, second, watched, replay, analyse, host, find, join = commands("players")
    assert "You played b2." in reader.types(first, "b2\nquit\n")
    assert "You played 4." in reader.types(second, "4\nquit\n")
    assert "won" in reader.types(watched)
    assert "alphabeta" in reader.types(replay)
    assert "best" in reader.types(analyse)
    assert "listening on" in reader.types([*host, "--port", "0"], "who\nquit\n")
    with reader.runs([sys.executable, "server.py", "--no-house-bots"]):
        assert "Nobody else is here." in reader.types([*find, reader.url, "--name", "Ben"], "who\nquit\n")
        refused = reader.types([*join[:2], reader.url, *join[3:], "--name", "Ann"], exit_codes=(4,))
        assert "No invitation has that code" in refused


def test_the_tutorial_for_bot_authors_works_as_printed(reader: Reader) -> None:
    alone, serve, ada, ben, arena = commands("bots")
    first, whole, better = blocks("bots", "python")
    (reader.folder / "bot.py").write_text(first, encoding="utf-8")
    reader.types(alone)
    (choose,) = re.findall(r"^def choose.*?\n\n\n", whole, flags=re.DOTALL | re.MULTILINE)
    for program in (whole, whole.replace(choose, f"{better}\n\n")):
        (reader.folder / "bot.py").write_text(program, encoding="utf-8")
        with reader.runs(serve):
            bots = [
                subprocess.Popen(
                    [sys.executable, "bot.py", reader.url, words[-1]],
                    stdout=subprocess.PIPE, text=True, cwd=reader.folder, env=reader.environment,
                )
                for words in (ada, ben)
            ]  # fmt: skip
            results = [bot.communicate(timeout=PATIENCE_S)[0].strip() for bot in bots]
        assert sorted(results) in (["lost", "won"], ["drew", "drew"])
    assert "alphabeta:6" in reader.types(arena)


def test_the_tutorial_for_hosts_works_as_printed(reader: Reader) -> None:
    serve, write, check, configured, *administration, backup, verify, drain, encrypted = commands("hosts")
    with reader.runs(serve):
        pass
    reader.types(write)
    settings = reader.folder / "server.toml"
    (chosen,) = blocks("hosts", "toml")
    settings.write_text(chosen + settings.read_text(encoding="utf-8"), encoding="utf-8")
    reader.types(check, exit_codes=(0, 1))
    with reader.runs(configured) as server:
        printed = [reader.types(words) for words in administration]
        assert len(printed) == 3
        reader.types(backup)
        assert "0 matches" in reader.types(verify)
        reader.types(drain)
        assert server.wait(timeout=PATIENCE_S) == 0
    with reader.runs(encrypted):
        assert reader.url.startswith("wss://")
