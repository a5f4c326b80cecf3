"""Run the house bots: start their process, supervise it, and end it with the server.

The server knows no strategy: it starts `python -m ttt_net.client.bot.house`, an ordinary client with low priority, and
sends it the server's address. That process ends when its input ends, however the server ends.
"""

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ttt_net.command_line import beside_us
from ttt_net.server.announcing import ServerAddress
from ttt_net.server.settings.listening import display

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "ttt_net.client.bot.house")
BACKOFF_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""The waits before restarts; the last one applies to all further ones."""
SETTLED_S = 60.0
"""After a process that ran for this long, the waits begin again with the shortest."""
FOLDER = "house_bots"
"""The folder of their tokens, in the folder of the journal."""
_NICE = 15
_END_S = 5.0
"""How long the bots may take to leave."""


class HouseOrder(NamedTuple):
    """The process's configuration: the server's address, its certificate's fingerprint, and a file of engines."""

    url: str
    fingerprint: str | None = None
    engines: str | None = None


@contextlib.asynccontextmanager
async def house_bots(
    where: ServerAddress,
    folder: Path,
    fingerprint: str | None,
    command: Sequence[str] = COMMAND,
    backoff_s: Sequence[float] = BACKOFF_S,
    engines: Path | None = None,
) -> AsyncIterator[None]:
    """Keep the house bots of a server running inside the block."""
    url = f"{where.scheme}://{display(where.host or '127.0.0.1', where.port)}"
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(
            _keep(
                HouseOrder(url, fingerprint, None if engines is None else str(engines)),
                folder / FOLDER,
                command,
                backoff_s,
            )
        )
        try:
            yield
        finally:
            keeping.cancel()


async def _keep(order: HouseOrder, home: Path, command: Sequence[str], backoff_s: Sequence[float]) -> None:
    """Run the process, and restart it whenever it fails; if it exits with 0, the host has disconnected the bots."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        begun_s = loop.time()
        code = await _run(order, home, command)
        if code == 0:
            return
        failures = 0 if loop.time() - begun_s >= SETTLED_S else failures
        wait_s = backoff_s[min(failures, len(backoff_s) - 1)]
        failures += 1
        log.warning("the house bots ended with %d; they are started again in %g s", code, wait_s)
        await asyncio.sleep(wait_s)


async def _run(order: HouseOrder, home: Path, command: Sequence[str]) -> int:
    """Run the process until it ends, and return its exit code. On cancellation, end it gracefully."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL if order.engines is None else None,  # the server reports their errors
            env={**beside_us(os.environ), "TTT_NET_HOME": str(home)},
            start_new_session=True,  # Ctrl-C ends the server, which then ends the bots
        )
    except OSError as error:
        log.warning("the house bots cannot be started: %s", error)
        return 1
    assert process.stdin is not None
    try:
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such call
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)
        process.stdin.write(json.dumps(order).encode() + b"\n")
        return await process.wait()
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
