"""Three servers on three servers of NATS, each a process, while one after the other fails; more by `make cluster`."""

import asyncio
import random
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from benchmarks import cluster as benchmark
from benchmarks.cluster import Cluster, Node, NotReadyError, differing_tables, judge, running
from benchmarks.cluster_checker import Account, Player, wait_for_end
from benchmarks.nats_servers import NatsServers, nats_server
from tests.end_to_end.process import ROOT
from tests.ports import reserved
from ttt_net.server.cluster.jetstream import open_log
from ttt_net.server.cluster.log import FORM, Log, Retained

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


async def get_on(account: Account) -> None:
    """Wait until thirty more moves were acknowledged."""
    async with asyncio.timeout(PATIENCE_S):
        await account.come_to(len(account.moves) + 30)


async def test_nothing_acknowledged_is_lost_whatever_of_a_cluster_dies(tmp_path: Path) -> None:
    account = Account()
    async with running(tmp_path, 3, random.Random(1), is_alone=False) as cluster:
        async with playing(cluster, account, 4):
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


def begin_with(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    """Let each Python process that is started from now on run some code first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))


SOON = {"SNAPSHOT_PLACES": "30", "SNAPSHOT_REST_S": "1", "KEPT_PLACES": "5", "AWAY_S": "0.5"}
"""Settings that have snapshots taken and the log trimmed every second instead of every ten minutes."""


async def miss_what_is_trimmed(stream: Log, node: Node) -> None:
    """Wait until the log has let go of what a node that is cut off has to apply next."""
    with closing(sqlite3.connect(node.journal)) as tables:
        while True:
            kept: asyncio.Future[Retained | None] = asyncio.get_running_loop().create_future()
            stream.kept(kept.set_result)
            found = await kept
            (position,) = tables.execute("SELECT position FROM place").fetchone()
            if found is not None and found.first > position + 1:
                return


@pytest.mark.long
async def test_a_node_that_missed_trimmed_entries_recovers_by_itself_in_the_same_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in SOON.items():
        monkeypatch.setenv(f"TTT_NET_CLUSTER_{key}", value)
    account = Account()
    async with running(tmp_path, 3, random.Random(1), is_alone=False) as cluster:
        assert cluster.servers is not None
        node = cluster.nodes[1]
        async with (
            open_log(cluster.servers.address, "watcher", PATIENCE_S) as stream,
            playing(cluster, account, 8),
        ):
            await get_on(account)
            for link in node.links:
                link.break_off()
            async with asyncio.timeout(PATIENCE_S):
                await node.wait_ready(is_wanted=False)
                await miss_what_is_trimmed(stream, node)
            for link in node.links:
                link.mend()
            await node.wait_ready()
            await get_on(account)
        assert "restarts from a snapshot" in (node.folder / "server.log").read_text()
        assert node.process is not None
        assert node.process.returncode is None
        verdict = await judge(cluster, account)
        assert verdict.complaints == []
        assert (verdict.lost, verdict.doubled) == (0, 0)
        for each in cluster.nodes:
            await each.end(signal.SIGTERM)
            assert each.process is not None
            assert each.process.returncode == 0
        assert differing_tables([each.journal for each in cluster.nodes]) == []


@pytest.mark.long
async def test_nodes_begin_anew_by_themselves_after_all_servers_of_nats_were_gone_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = "import ttt_net.server.cluster.jetstream as jetstream\njetstream.SILENT_S, jetstream.RENEW_S = 3.0, 1.5"
    begin_with(monkeypatch, tmp_path / "first", soon)
    account = Account()
    async with running(tmp_path, 2, random.Random(1), is_alone=False) as cluster:
        async with playing(cluster, account, 6):
            await get_on(account)
            await cluster.lose_servers(5.0)
            await get_on(account)
        for node in cluster.nodes:
            assert "this node restarts" in (node.folder / "server.log").read_text()
            assert node.process is not None
            assert node.process.returncode is None
        verdict = await judge(cluster, account)
        assert verdict.complaints == []
        assert (verdict.lost, verdict.doubled) == (0, 0)


async def test_nothing_is_lost_while_the_log_is_full_and_matches_continue_when_there_is_room(tmp_path: Path) -> None:
    account = Account()
    async with running(tmp_path, 2, random.Random(1), is_alone=False) as cluster:
        async with playing(cluster, account, 6):
            await get_on(account)
            await cluster.fill_log(4.0)
            await get_on(account)
        assert account.longest_pause_s() > 2.0, "nothing was acknowledged meanwhile"
        verdict = await judge(cluster, account)
        assert verdict.complaints == []
        assert (verdict.lost, verdict.doubled) == (0, 0)


FENCE = "a fence left out: what a lost node writes counts"


@pytest.mark.long
async def test_a_missing_fence_is_found_by_a_client_that_knows_only_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"from tests.simulation.planted import planted\nfault = planted({FENCE!r})\nfault.__enter__()"
    begin_with(monkeypatch, tmp_path / "first", code)
    monkeypatch.setattr(benchmark, "START_S", PATIENCE_S / 2)
    account = Account()
    found: list[str] = []
    async with running(tmp_path, 3, random.Random(1), is_alone=False) as cluster, playing(cluster, account, 8):
        await get_on(account)
        try:
            while not found and len(cluster.events) < 5:
                await cluster.cut_link()
                found += account.wrong
        except NotReadyError as error:
            found.append(str(error))
    assert found


@pytest.mark.long
async def test_nodes_are_upgraded_one_by_one_during_play_and_an_older_node_is_then_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = Account()
    async with running(tmp_path, 3, random.Random(1), is_alone=False) as cluster:
        async with playing(cluster, account, 8):
            await get_on(account)
            newer = "import ttt_net.server.cluster.log as entries\nentries.FORM += 1"
            begin_with(monkeypatch, tmp_path / "first", newer)
            for _ in cluster.nodes:
                await cluster.restart_in_turn()
                await get_on(account)
        verdict = await judge(cluster, account)
        assert verdict.complaints == []
        assert (verdict.lost, verdict.doubled) == (0, 0)
        monkeypatch.delenv("PYTHONPATH")
        older = cluster.nodes[0]
        await older.end(signal.SIGTERM)
        await older.start()
        assert older.process is not None
        async with asyncio.timeout(PATIENCE_S):
            assert await older.process.wait() == 2
        (sentence,) = older.last_words().splitlines()[-1:]
        assert sentence.endswith(
            f"the log is of form {FORM + 1}, this release knows {FORM}; install the release of the others"
        )


async def test_a_nats_server_that_does_not_start_is_reported_with_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = NatsServers(tmp_path)
    monkeypatch.setattr(benchmark, "SERVER_START_S", 0.1)
    monkeypatch.setattr(servers, "start_one", lambda number: None)
    for number in range(3):
        NatsServers.start_one(servers, number)
    try:
        with pytest.raises(NotReadyError, match=r"nats-server \d is not ready after 0 s: .*refused"):
            await Cluster([], servers, random.Random(1)).kill_server()
    finally:
        servers.close()


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
