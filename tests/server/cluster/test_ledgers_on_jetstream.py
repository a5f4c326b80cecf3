"""Ledgers of three nodes on JetStream, while its servers and a node fail: what a caller was told is what all have."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.nats_servers import NatsServers
from tests.server.cluster.logs import WAIT_S
from tests.server.cluster.nodes import Node, names, running
from ttt_net.errors import Refusal
from ttt_net.server.cluster.jetstream import open_log
from ttt_net.server.players import Player


async def write_once_more(nodes: list[Node]) -> None:
    """Let each node write once more: by the time it is answered, it has applied all that was answered before."""
    for number, node in enumerate(nodes):
        await node.register(f"last{'abc'[number]}")


def acknowledged(given: dict[str, list[Any]]) -> set[str]:
    """Return the names that somebody was told they have."""
    return {name for name, answers in given.items() if any(isinstance(each, Player) for each in answers)}


async def test_names_are_taken_once_even_if_the_log_loses_its_leader_and_a_node_returns(
    servers: NatsServers, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        logs = [await stack.enter_async_context(open_log(servers.address, name, WAIT_S)) for name in "abc"]
        nodes = [
            await stack.enter_async_context(running(log, name, tmp_path / f"{name}.sqlite"))
            for log, name in zip(logs, "abc", strict=True)
        ]
        leader = int((await logs[0].leader()).removeprefix("n"))
        given: dict[str, list[Any]] = {}
        for number in count():
            if number >= 24 and len(acknowledged(given)) >= 16:  # while there is no leader, nobody may be told any
                break
            if number == 8:
                servers.kill(leader)
            if number == 16:
                servers.start_one(leader)
            name = f"{'xyz'[number % 3]}{chr(97 + number % 24)}{'nn' * (1 + number // 24)}"
            given[name] = await asyncio.gather(*(node.register(name) for node in nodes))
        await write_once_more(nodes)
        for name, answers in given.items():
            taken = [answer for answer in answers if isinstance(answer, Player)]
            assert len(taken) <= 1, f"{name} was given to two"
            assert all(isinstance(answer, Player | Refusal) for answer in answers)
        assert acknowledged(given) <= set(names(nodes[0].replica))
        assert names(nodes[0].replica) == names(nodes[1].replica) == names(nodes[2].replica)
    address = servers.address
    async with open_log(address, "d", WAIT_S) as log, running(log, "d", tmp_path / "d.sqlite") as newcomer:
        assert acknowledged(given) <= set(names(newcomer.replica))
