"""The ledgers that the contract suite is run against.

To add a backend: a function that runs it on a new file until the end of its block, and its name in `LEDGERS`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from tests.server.cluster import nodes
from tests.server.journal import jobs
from ttt_net.server.cluster.log import MemoryLog, MemoryStream
from ttt_net.server.journal import MemoryLedger
from ttt_net.server.journal.ledger import Ledger


@asynccontextmanager
async def _local(file: Path) -> AsyncIterator[Ledger]:
    async with jobs.running(file) as ledger:
        yield ledger


@asynccontextmanager
async def _in_memory(file: Path) -> AsyncIterator[Ledger]:
    ledger = MemoryLedger(is_instant=True)
    yield ledger
    ledger.database.close()


@asynccontextmanager
async def _replicated(file: Path) -> AsyncIterator[Ledger]:
    log = MemoryLog(MemoryStream(), asyncio.get_running_loop().call_soon)
    async with nodes.running(log, "a", file) as node:
        yield node.ledger


LEDGERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Ledger]]] = {
    "local": _local,
    "in memory": _in_memory,
    "replicated": _replicated,
}
