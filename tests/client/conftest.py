"""A real server in a process of its own, and real clients against it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from websockets.sync.client import connect

from tests import forked
from tests.patience import PATIENCE_S
from tests.ports import reserved

if TYPE_CHECKING:
    from tests.client.real_terminal import Open

ROOT = Path(__file__).parent.parent.parent
Start = Callable[..., "subprocess.Popen[str]"]
CLIENT = [sys.executable, str(ROOT / "client.py")]


class RealServer:
    """`server.py` on a port that stays the same when it is killed and started again."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Keys that a person types."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens."""
        arguments = ["--host", "127.0.0.1", "--port", str(self.port), "--data", str(self.folder)]
        self.process = forked.start("server.py", *arguments, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first == f"listening on ws://127.0.0.1:{self.port}\n"

    def end(self, *, is_killed: bool = False) -> None:
        """Stop it, or kill it with kill -9."""
        if self.process is None:
            return
        if is_killed:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)
        self.process = None


@pytest.fixture
def real_server(tmp_path: Path) -> Iterator[RealServer]:
    with reserved() as port:
        server = RealServer(tmp_path / "data", port)
        server.start()
        try:
            yield server
        finally:
            server.end()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of clients: a home of their own, and a common terminal."""
    return {
        **{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")},
        "TTT_NET_HOME": str(tmp_path / "home"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    """Start clients whose ends are pipes; whatever still runs after the test, or for too long, is killed."""
    processes: list[subprocess.Popen[str]] = []
    timers: list[threading.Timer] = []

    def started(*arguments: str) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        process = forked.start("client.py", *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
        timer = threading.Timer(3 * PATIENCE_S, process.kill)
        timer.start()
        processes.append(process)
        timers.append(timer)
        return process

    yield started
    for timer in timers:
        timer.cancel()
    for process in processes:
        process.kill()
        process.communicate()


def seated(start: Start, server: RealServer, *arguments: str) -> "subprocess.Popen[str]":
    """Start a bot, and wait until the server tells others that it plays: it says who it is before it seeks."""
    bot = start(server.address, "--bot", *arguments)
    with connect(f"ws://{server.address}", proxy=None, open_timeout=PATIENCE_S) as looker:
        looker.send('{"type": "hello", "id": 1, "protocols": [1]}')
        is_listening = False
        while True:
            told = json.loads(looker.recv(timeout=PATIENCE_S))
            if told["type"] == "ok" and not is_listening:
                looker.send('{"type": "lobby", "id": 2, "on": true}')
                is_listening = True
            bots = [row for row in told.get("players", ()) if row.get("bot")]
            if any("seeking" in row and row.get("free") != 0 for row in bots):
                return bot


def _line_of(source: int) -> str:
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(source, 1)):
        line += byte
    return line.decode()


def heard_until(process: "subprocess.Popen[str]", words: str) -> str:
    """Return what the process writes up to the line with these words, and leave all that follows to `communicate`.

    That reads past the buffer of `stdout`: what a line took there with it would be lost.
    """
    assert process.stdout is not None
    heard = ""
    for line in iter(partial(_line_of, process.stdout.fileno()), ""):
        heard += line
        if words in line:
            return heard
    raise AssertionError(f"never said {words!r}: {heard!r}")


@pytest.fixture
def open_terminal(environment: dict[str, str]) -> "Iterator[Open]":
    """Open clients in terminals of their own; what still runs after the test is killed."""
    from tests.client.real_terminal import Terminal, end

    terminals: list[Terminal] = []

    def opened(
        *arguments: str, command: Sequence[str] = CLIENT, columns: int = 80, rows: int = 24, **changes: str
    ) -> Terminal:
        terminals.append(Terminal(arguments, {**environment, **changes}, columns, rows, command))
        return terminals[-1]

    yield opened
    for terminal in terminals:
        end(terminal.child)
