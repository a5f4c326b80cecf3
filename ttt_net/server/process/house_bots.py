"""Seat the house bots: start their process, watch it, and end it with the server.

The server knows no strategy: it starts `python -m ttt_net.client.bot.house`, an ordinary client that gives way to
everything else on the machine, and tells it where the server is. It ends when its input does, whatever ends us.
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
from ttt_net.server.process.announcing import ServerAddress
from ttt_net.server.settings.listening import display

log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-m", "ttt_net.client.bot.house")
BACKOFF_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""How long to wait before each new start; the last is for all that follow."""
SETTLED_S = 60.0
"""A process that ran for so long was a good one: after it the waits begin again with the shortest."""
FOLDER = "house_bots"
"""Where they store their tokens, in the folder of the journal."""
_NICE = 15
_END_S = 5.0
"""How long they may take to leave."""


class HouseOrder(NamedTuple):
    """Orders for the process: where the server is, its certificate's fingerprint, and a file of engines to seat."""

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
    """Keep the house bots of a server seated inside the block."""
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
    """Run the process, and start it again whenever it fails; one that ends well has been sent away by the host."""
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
    """Run the process until it ends, and return its exit code. On cancellation, let it leave."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL if order.engines is None else None,  # we report their faults
            env={**beside_us(os.environ), "TTT_NET_HOME": str(home)},
            start_new_session=True,  # Ctrl-C is for the server, which then ends them
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
