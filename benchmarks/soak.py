"""Run hundreds of bots on unreliable connections for minutes or hours, and check that the server stays stable.

`python -m benchmarks.soak` plays for 10 minutes with 300 bots. They are the bots of this repository but for their
engines, which choose at random; between them and the server is a `BadLink`, which breaks in every way that links break.
At the end everybody leaves, and nothing of them may be left: no table, session, connection, descriptor or task, and no
error in the log. Linux only, as it reads /proc. The exit code is 1 if anything is.
"""

import argparse
import asyncio
import json
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from benchmarks.meter import cost, is_supported, open_descriptors, resident_bytes
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.commands.admin import reached
from ttt_net.errors import Code
from ttt_net.messages import SeekRequest
from ttt_net.sdk.bots import Bot, BotPlan, Think, Thought, Turn
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Farewell
from ttt_net.server.admin import protocol

FATES = ("reset", "close", "freeze", "deaf")
"""Both ends are told at once, or politely; neither is told; the client is there, but reads nothing more."""
FROZEN_S = 12.0
"""Longer than either end waits for the other."""
_CHUNK = 16_384


class BadLink:
    """Relays, and after a random time lets each connection meet its fate; `met` counts them."""

    def __init__(self, port: int, mean_s: float, rng: random.Random) -> None:
        self.met: Counter[str] = Counter()
        self._port = port
        self._mean_s = mean_s
        self._rng = rng
        self._links: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Relay inside the block; yield the port."""
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0, limit=_CHUNK)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            server.close()
            for link in self._links:
                link.cancel()
            await asyncio.gather(*self._links, return_exceptions=True)

    async def _relay(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        task.add_done_callback(self._links.discard)
        writers = [to_client]
        with suppress(OSError, asyncio.CancelledError):
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._port, limit=_CHUNK)
            writers.append(to_server)
            upward = asyncio.ensure_future(_pump(from_client, to_server))
            downward = asyncio.ensure_future(_pump(from_server, to_client))
            try:
                await self._meet_fate(upward, downward, writers)
            finally:
                upward.cancel()
                downward.cancel()
        for writer in writers:
            writer.transport.abort()

    async def _meet_fate(
        self, upward: "asyncio.Future[None]", downward: "asyncio.Future[None]", writers: list[asyncio.StreamWriter]
    ) -> None:
        pumps = (upward, downward)
        life_s = self._rng.expovariate(1 / self._mean_s)
        done, _ = await asyncio.wait(pumps, timeout=life_s, return_when=asyncio.FIRST_COMPLETED)
        if done:
            return
        fate = self._rng.choice(FATES)
        self.met[fate] += 1
        if fate == "close":
            for writer in writers:
                writer.close()
        elif fate == "freeze":
            upward.cancel()
            downward.cancel()
            await asyncio.sleep(FROZEN_S)
        elif fate == "deaf":
            downward.cancel()
            await asyncio.wait([upward], timeout=FROZEN_S)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()


ROOT = Path(__file__).parent.parent
GAMES = ("tictactoe", "connect4", "tictactoe3d", "ultimate")
_SAMPLE_S = 5.0
_LEAVING_S = 60.0
"""How long until nothing may be left: frozen links are noticed, and the journal answers, on a busy machine too."""

READER_DESCRIPTORS = 2
"""The tables and their log, which the thread for questions about the past opens with the first question."""


class Scale(NamedTuple):
    """How much, and for how long."""

    bots: int
    seconds: float
    link_s: float
    """How long a link holds, on average."""
    thought_s: float
    """How long a move takes, on average."""


class Sample(NamedTuple):
    """The server at one moment."""

    at_s: float
    resident_bytes: int
    descriptors: int
    report: protocol.Report


def thinking(rng: random.Random, thought_s: float) -> Think:
    """Return a way to choose any move, after a while."""

    async def think(turn: Turn) -> Thought:
        await asyncio.sleep(rng.uniform(0, 2 * thought_s))
        return Thought(rng.choice(turn.legal))

    return think


class Watch:
    """Samples of one server, each over a new line to it: an old one may have been silent on a machine that is busy."""

    def __init__(self, pid: int, data: Path) -> None:
        self._pid = pid
        self._data = data
        self._since_s = time.monotonic()
        self.samples: list[Sample] = []

    async def look(self) -> Sample:
        """Take a sample."""
        self.samples.append(await asyncio.to_thread(self._take))
        return self.samples[-1]

    def _take(self) -> Sample:
        with reached(self._data) as line:
            report = line.ask(protocol.Stats())
            assert isinstance(report, protocol.Report)
            at_s = time.monotonic() - self._since_s
            return Sample(at_s, resident_bytes(self._pid), open_descriptors(self._pid), report)

    async def until_empty(self, first: Sample) -> Sample:
        """Wait until nothing is left, or for as long as that may take; return the last sample."""
        end_s = time.monotonic() + _LEAVING_S
        while left_in(last := await self.look(), first) or last.report.jobs:
            if time.monotonic() > end_s:
                break
            await asyncio.sleep(0.5)
        return last


@asynccontextmanager
async def serving(
    data: Path, *settings: str, port: int = 0, log: BinaryIO | None = None
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Run a server inside the block, with its journal in a folder; yield it and its port once it listens."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "server.py"), "--host", "127.0.0.1", "--port", str(port)),
        *("--data", str(data), "--no-house-bots", *settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
    )
    try:
        assert process.stdout is not None
        yield process, int((await process.stdout.readline()).decode().rpartition(":")[2])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def play(scale: Scale, port: int, watch: Watch, rng: random.Random) -> BadLink:
    """Let the bots play over bad links for as long as the scale says, and leave."""
    link = BadLink(port, scale.link_s, rng)
    async with link.listening() as link_port, asyncio.TaskGroup() as tasks:
        bots = [
            tasks.create_task(_bot(f"ann-{number}", link_port, scale, random.Random(number)))
            for number in range(scale.bots)
        ]
        end_s = time.monotonic() + scale.seconds
        while time.monotonic() < end_s:
            await watch.look()
            await asyncio.sleep(min(_SAMPLE_S, scale.seconds / 4))
        for bot in bots:
            bot.cancel()
    return link


async def _bot(name: str, port: int, scale: Scale, rng: random.Random) -> None:
    """Play until cancelled. A bot whose first welcome is lost has lost that name, and takes another."""
    await asyncio.sleep(rng.uniform(0, min(5.0, scale.seconds / 4)))
    while (farewell := await _play_as(name, port, scale, rng)) and farewell.code == Code.NAME_TAKEN:
        name += "x"
    print(f"{name} left: {farewell}", file=sys.stderr)


async def _play_as(name: str, port: int, scale: Scale, rng: random.Random) -> Farewell | None:
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    dialogue = ClientSession(name, None, BotProfile("random"))
    connection = ClientConnection(f"ws://127.0.0.1:{port}", dialogue, mailbox.put, FOREVER, lambda token: None)
    plan = BotPlan(SeekRequest(0, [rng.choice(GAMES)]), None, move_ms=0)
    bot = Bot(connection, thinking(rng, scale.thought_s), plan, lambda text: None)
    await bot.play(mailbox)
    return bot.farewell


def slope_mib_per_h(samples: list[Sample]) -> float:
    """Return how fast memory grows, by least squares over the second half of the samples."""
    half = samples[len(samples) // 2 :]
    mean_at = sum(each.at_s for each in half) / len(half)
    mean_bytes = sum(each.resident_bytes for each in half) / len(half)
    above = sum((each.at_s - mean_at) * (each.resident_bytes - mean_bytes) for each in half)
    below = sum((each.at_s - mean_at) ** 2 for each in half) or 1.0
    return above / below * 3_600 / 2**20


def left_in(last: Sample, first: Sample) -> list[str]:
    """Return what is left of the players, compared with the server before."""
    left = last.report
    counts = (
        ("connections", left.connections, 0),
        ("sessions", left.people + left.bots, 0),
        ("tables", left.tables, 0),
        ("tasks", left.tasks, first.report.tasks),
        ("descriptors", last.descriptors, first.descriptors + READER_DESCRIPTORS),
    )
    return [f"{what}: {count}, at most {most} were expected" for what, count, most in counts if count > most]


def errors_in(log: Path) -> list[str]:
    """Return the lines of the log that tell of errors, and those that are none of the log's."""
    lines = log.read_text().splitlines()
    return [line for line in lines if not line.startswith("{") or json.loads(line)["level"] not in ("info", "warning")]


async def soak(scale: Scale, folder: Path) -> list[str]:
    """Run, print the table, and return what was found wrong."""
    rng = random.Random(20261121)
    settings = ("--rate", "10000", "--limits-matches", "10000/s", "--log-format", "json")
    with (folder / "log").open("wb") as log:
        async with serving(folder / "data", *settings, log=log) as (server, port):
            watch = Watch(server.pid, folder / "data")
            first = await watch.look()
            before = cost(server.pid)
            link = await play(scale, port, watch, rng)
            used = cost(server.pid).since(before)
            busy = watch.samples[1:]
            last = await watch.until_empty(first)
            server.send_signal(signal.SIGTERM)
            code = await asyncio.wait_for(server.wait(), 10)
    print_table(scale, first, busy, last, link, used.cpu_ns)
    found = errors_in(folder / "log") + left_in(last, first)
    if last.report.failures:
        found.append(f"failures of the journal: {last.report.failures}")
    if code:
        found.append(f"exit code: {code}")
    return found


def print_table(scale: Scale, first: Sample, busy: list[Sample], last: Sample, link: BadLink, cpu_ns: int) -> None:
    """Print what was played, and the server before, meanwhile and after."""
    report = last.report
    fates = ", ".join(f"{count:,} {fate}" for fate, count in sorted(link.met.items()))
    moves = report.move_s.since(None)
    print(
        f"{scale.bots} bots for {scale.seconds:,.0f} s: {report.moves:,} moves, {report.matches:,} matches,"
        f" {sum(link.met.values()):,} links broken ({fates}), {report.accepted:,} connections;"
        f" {cpu_ns / 1e9 / scale.seconds:.0%} of a core; 99 % of moves within {(moves.quantile(0.99) or 0) * 1000:g} ms"
    )
    middle = busy[len(busy) // 2]
    print("| server   | RSS MiB | descriptors | tasks | connections | tables |")
    print("|----------|--------:|------------:|------:|------------:|-------:|")
    for name, each in (("before", first), ("half-way", middle), ("at the end", busy[-1]), ("afterwards", last)):
        print(
            f"| {name} | {each.resident_bytes / 2**20:.1f} | {each.descriptors} | {each.report.tasks}"
            f" | {each.report.connections} | {each.report.tables} |"
        )
    print(f"memory over the second half: {slope_mib_per_h(busy):+.1f} MiB/h")


def main() -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.split("\n")[0])
    parser.add_argument("--bots", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--link", type=float, default=20.0, help="seconds that a link holds, on average")
    parser.add_argument("--thought", type=float, default=2.0, help="seconds that a move takes, on average")
    arguments = parser.parse_args()
    if not is_supported():
        print("benchmarks.soak: needs Linux", file=sys.stderr)
        return 2
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    scale = Scale(arguments.bots, arguments.seconds, arguments.link, arguments.thought)
    with tempfile.TemporaryDirectory(prefix="ttt_net-soak-") as folder:
        found = asyncio.run(soak(scale, Path(folder)))
    for each in found[:20]:
        print(f"wrong: {each}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
