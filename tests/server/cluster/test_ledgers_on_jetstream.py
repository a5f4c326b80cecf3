"""Ledgers of three nodes on JetStream, while its servers and a node fail: what a caller was told is what all have."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks.nats_servers import NatsServers
from tests.server.cluster.logs import WAIT_S
from tests.server.journal.jobs import register
from ttt_net.errors import Refusal
from ttt_net.server.cluster.jetstream import JetStreamAddress, JetStreamLog, open_log
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.cluster.worker import Worker
from ttt_net.server.players import Player


class Node:
    """One node's ledger."""

    def __init__(self, log: JetStreamLog, ledger: ReplicatedLedger, replica: Replica) -> None:
        self.log, self.ledger, self.replica = log, ledger, replica

    async def register(self, name: str) -> Any:
        """Register a player, and return what came of it."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        entry = replace(register(name), token_hash=f"{name} at {self.ledger.node}".encode())
        self.ledger.append(entry, answer.set_result, answer.set_result)
        async with asyncio.timeout(WAIT_S):
            return await answer


@asynccontextmanager
async def running(urls: tuple[str, ...], name: str, file: Path) -> AsyncIterator[Node]:
    """Run one node until the end of the block, and leave nothing behind but its file."""
    loop = asyncio.get_running_loop()
    replica, worker, began = Replica(file), Worker(loop), asyncio.Event()
    try:
        async with open_log(JetStreamAddress(urls), name) as stream:
            with worker.working():
                ledger = ReplicatedLedger(name, stream, replica, worker, loop, random.Random(name))
                ledger.start(NodeHooks(lambda *_: None, began.set, lambda: None))
                async with asyncio.timeout(WAIT_S):
                    await began.wait()
                yield Node(stream, ledger, replica)
    finally:
        replica.close()


def names(replica: Replica) -> list[str]:
    rows = replica.database.connection.execute("SELECT name FROM players WHERE name NOT LIKE 'last%' ORDER BY id")
    return [name for (name,) in rows]


async def catch_up(nodes: list[Node]) -> None:
    """Let each node write once more: by the time it is answered, it has applied all that was answered before."""
    for number, node in enumerate(nodes):
        await node.register(f"last{'abc'[number]}")


async def test_names_are_taken_once_though_the_log_loses_its_leader_and_a_node_comes_back(
    servers: NatsServers, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        nodes = [
            await stack.enter_async_context(running(servers.urls, name, tmp_path / f"{name}.sqlite")) for name in "abc"
        ]
        leader = int((await nodes[0].log.leader()).removeprefix("n"))
        given: dict[str, list[Any]] = {}
        for number in range(24):
            if number == 8:
                servers.kill(leader)
            if number == 16:
                servers.start_one(leader)
            name = f"{'xyz'[number % 3]}{chr(97 + number)}nn"
            given[name] = await asyncio.gather(*(node.register(name) for node in nodes))
        await catch_up(nodes)
        for name, answers in given.items():
            taken = [answer for answer in answers if isinstance(answer, Player)]
            assert len(taken) <= 1, f"{name} was given to two"
            assert all(isinstance(answer, Player | Refusal) for answer in answers)
        acknowledged = {name for name, answers in given.items() if any(isinstance(a, Player) for a in answers)}
        assert len(acknowledged) >= 16
        assert acknowledged <= set(names(nodes[0].replica))
        assert names(nodes[0].replica) == names(nodes[1].replica) == names(nodes[2].replica)
    async with running(servers.urls, "d", tmp_path / "d.sqlite") as newcomer:
        assert acknowledged <= set(names(newcomer.replica))
