"""Nodes of a cluster without the server: their ledgers and tables, on any log."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.server.cluster.logs import WAIT_S
from tests.server.journal.jobs import register
from ttt_net.server.cluster.log import Log
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.cluster.snapshots import catch_up
from ttt_net.server.journal.ledger import Worker


class Node:
    """One node's ledger."""

    def __init__(self, log: Log, worker: Worker, ledger: ReplicatedLedger, replica: Replica) -> None:
        self.log, self.worker, self.ledger, self.replica = log, worker, ledger, replica

    async def register(self, name: str) -> Any:
        """Register a player, and return what came of it."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        entry = replace(register(name), token_hash=f"{name} at {self.ledger.node}".encode())
        self.ledger.append(entry, answer.set_result, answer.set_result)
        async with asyncio.timeout(WAIT_S):
            return await answer


@asynccontextmanager
async def running(log: Log, name: str, file: Path | None = None) -> AsyncIterator[Node]:
    """Run one node until the end of the block, and leave nothing behind but its file."""
    loop = asyncio.get_running_loop()
    replica, worker, began = Replica(file), Worker(), asyncio.Event()
    try:
        await catch_up(log, replica, WAIT_S)
        with worker.working():
            ledger = ReplicatedLedger(name, log, replica, worker, loop, random.Random(name))
            ledger.start(NodeHooks(lambda *_: None, began.set, lambda: None))
            async with asyncio.timeout(WAIT_S):
                await began.wait()
            yield Node(log, worker, ledger, replica)
    finally:
        replica.close()


def names(replica: Replica) -> list[str]:
    """Return who is registered, but for those whose names begin with "last"."""
    rows = replica.database.connection.execute("SELECT name FROM players WHERE name NOT LIKE 'last%' ORDER BY id")
    return [name for (name,) in rows]


def snapshots_in(folder: Path) -> list[str]:
    """Return what was left of snapshots."""
    return [each.name for each in folder.iterdir() if "snapshot" in each.name or "arriving" in each.name]
