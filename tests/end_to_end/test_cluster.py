"""Three servers on three servers of NATS, each a process, while one after the other fails; more by `make cluster`."""

import asyncio
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from benchmarks.cluster import Cluster, differing_tables, judge, running
from benchmarks.cluster_checker import Account, Player, wait_for_end
from benchmarks.nats_servers import nats_server
from tests.end_to_end.process import ROOT
from tests.ports import reserved

pytestmark = pytest.mark.skipif(nats_server() is None, reason="nats-server is not installed")
PATIENCE_S = 60.0
"""How long players may take to get on, on a machine that has much else to do."""


@asynccontextmanager
async def playing(cluster: Cluster, account: Account, count: int) -> AsyncIterator[None]:
    """Let so many play within the block, and every match come to its end after it."""
    urls = [node.url for node in cluster.nodes]
    players = [Player(account, urls, random.Random(number)) for number in range(count)]
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(player.play()) for player in players]
        yield
        for player in players:
            player.is_last = True
        await wait_for_end(account, PATIENCE_S)
        for task in running:
            task.cancel()


async def get_on(account: Account, moves: int = 60) -> None:
    """Wait until so many more moves were acknowledged."""
    async with asyncio.timeout(PATIENCE_S):
        await account.come_to(len(account.moves) + moves)


async def test_nothing_acknowledged_is_lost_whatever_of_a_cluster_dies(tmp_path: Path) -> None:
    account = Account()
    async with running(tmp_path, 3, random.Random(1), is_alone=False) as cluster:
        async with playing(cluster, account, 8):
            await get_on(account)
            for fault in (cluster.kill_node, cluster.kill_server, cluster.restart_node, cluster.cut_link):
                await fault()
                await get_on(account)
        verdict = await judge(cluster, account)
        assert verdict.complaints == []
        assert (verdict.lost, verdict.doubled) == (0, 0)
        for node in cluster.nodes:
            await node.end(signal.SIGTERM)
        assert differing_tables([node.journal for node in cluster.nodes]) == []


async def test_a_node_without_its_log_says_so_in_a_line_and_does_not_start(tmp_path: Path) -> None:
    with reserved() as port:
        for arguments, expected in (
            (("--node", "a"), "public_url: players need to know"),
            (("--public-url", "ws://127.0.0.1:1"), "node: each node of a cluster needs a name"),
        ):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "server.py", "--data", tmp_path, "--port", "0", "--cluster-ledger",
                f"nats://127.0.0.1:{port}", *arguments, cwd=ROOT, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            _, errors = await process.communicate()
            assert process.returncode == 2
            assert expected in errors.decode()
            assert errors.count(b"\n") == 1
