"""A real server in a process of its own, and real clients against it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CLIENT = [sys.executable, str(ROOT / "client.py")]


class RealServer:
    """`server.py` on a port that stays the same when it is killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """What a person types."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens."""
        command = [sys.executable, str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--data", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first.startswith("listening on "), first
        self.port = int(first.rsplit(":", 1)[1])

    def end(self, *, is_killed: bool = False) -> None:
        """Stop it, or kill it with kill -9."""
        if self.process is None:
            return
        if is_killed:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.communicate(timeout=10)
        self.process = None


@pytest.fixture
def real_server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "data")
    server.start()
    try:
        yield server
    finally:
        server.end()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What clients are started with: a home of their own, and a terminal that everybody knows."""
    return {
        **{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES")},
        "TTT_NET_HOME": str(tmp_path / "home"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }
