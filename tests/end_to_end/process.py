"""A server in a process of its own, as a person starts it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tests.patience import PATIENCE_S
from tests.server.peer import Peer

ROOT = Path(__file__).parent.parent.parent


class Process:
    """A running server."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url
        self.port = int(url.rpartition(":")[2])

    async def join(self, name: str) -> Peer:
        peer = await Peer.connect(self.url)
        await peer.hello(name=name)
        return peer

    def send(self, number: signal.Signals) -> None:
        send(self.process, number)

    async def exit_code(self) -> int:
        """Wait for the end of the process."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.process.wait()


def send(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to a process of asyncio.

    Not by its own methods, which look whether it has ended, and so may take the exit code from asyncio.
    """
    os.kill(process.pid, number)


def command(data: Path, *more: str, port: int = 0, inside: Sequence[str] = ()) -> list[str]:
    """Return the command line that starts a server on the loopback; `inside` runs it somewhere else."""
    start = [*inside, sys.executable, str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", str(port)]
    return [*start, "--data", str(data), *more]


async def start(
    data: Path,
    *more: str,
    port: int = 0,
    scheme: str = "ws",
    errors: BinaryIO | None = None,
    inside: Sequence[str] = (),
    pass_fds: Sequence[int] = (),
) -> Process:
    """Start a server and wait until it listens."""
    process = await asyncio.create_subprocess_exec(
        *command(data, *more, port=port, inside=inside),
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        pass_fds=pass_fds,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        first = (await process.stdout.readline()).decode()
    assert first.startswith(f"listening on {scheme}://127.0.0.1:"), first
    return Process(process, first.removeprefix("listening on ").strip())


@asynccontextmanager
async def running(
    data: Path,
    *more: str,
    port: int = 0,
    scheme: str = "ws",
    errors: BinaryIO | None = None,
    inside: Sequence[str] = (),
) -> AsyncIterator[Process]:
    """Run a server inside the block; if it still runs at the end, kill it."""
    server = await start(data, *more, port=port, scheme=scheme, errors=errors, inside=inside)
    try:
        yield server
    finally:
        if server.process.returncode is None:
            with suppress(ProcessLookupError):
                server.send(signal.SIGKILL)
        await server.process.communicate()


def refused(data: Path, *more: str, port: int = 0, inside: Sequence[str] = ()) -> str:
    """Start a server that must refuse to; return the one line that it says why."""
    done = subprocess.run(
        command(data, *more, port=port, inside=inside), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 2, done
    assert done.stdout == ""
    (reason,) = done.stderr.splitlines()
    return reason
