"""Cost of floods for players: reply times under each attack, compared with a quiet server, and what it adds to the CPU.

`python -m benchmarks.flood` takes some minutes and prints one table. The attacker is a process of its own at
127.0.0.2 (or at 62,500 addresses, as if they had so many machines); the players are at 127.0.0.1, which is not metered.
The server has a core to itself. Players and attacker are on another, and there the players go first, since on machines
of their own they would not wait for it: what is measured is the server, and not who gets a core. With `--shared` all
of them compete for all cores.

The answer to a move has been on the disk, that to a `ping` only on the event loop: its lateness is the server's own.

`--cpu` takes half a minute, needs no quiet machine and no sockets: how long a server computes until it has closed 200
connections of one address that flood together, how many frames it looked at, and the longest turn of its event loop.

`--past` takes some minutes: what questions about the past cost the thread that answers them, in a journal of 100,000
finished matches (`--matches`) of 2,000 players.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.load import Socket
from benchmarks.meter import cost, pin
from benchmarks.requests import NoSocket
from benchmarks.world import (
    GAME,
    LONG_IDS,
    LONG_MATCHES,
    MATCHES,
    SIXTEEN,
    seek_for_nobody,
    write_long_matches,
    write_world,
)
from ttt_net.messages import (
    LeaderboardRequest,
    ProfileRequest,
    RecordRequest,
    ReplayRequest,
)
from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, MemoryLedger, open_readonly, past
from ttt_net.server.journal.past import KeptMatches
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.wire.connection import Connection

ROOT = Path(__file__).parent.parent
ATTACKER, PLAYER = "127.0.0.2", "127.0.0.1"
OPENING = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
SWARM = 200
"""Connections of a swarm: as many as one address may have."""
PAIRS, MOVES_PER_S, PINGS_PER_S = 10, 20, 60
MOST_MOVES = 342
"""The moves of a match in order of the cells, before one would complete a diagonal: enough for 17 seconds in all."""
IP_BIND_ADDRESS_NO_PORT = 24
"""Of Linux; without it the attacker would be busy with looking for ports, and not with us."""


def frame(payload: bytes) -> bytes:
    """Return a frame masked with zeros."""
    head = bytes((0x81, 0x80 | len(payload))) if len(payload) < 126 else b"\x81\xfe" + len(payload).to_bytes(2, "big")
    return head + bytes(4) + payload


def attack(kind: str, port: int) -> None:
    """Attack until terminated, then print how often; whatever the server does to us, go on."""
    if kind in CURIOUS:
        asyncio.run(ask_about_the_past(*CURIOUS[kind], port))
        return
    kept: list[socket.socket] = []
    number = 0
    is_over = False

    def end(*_: object) -> None:
        nonlocal is_over
        is_over = True

    signal.signal(signal.SIGTERM, end)
    while kind in SWARMS and not is_over:
        number += swarm(SWARMS[kind], port)
    if kind in ASKING:
        said = [frame(json.dumps(each).encode()) for each in ASKING[kind]]
        number += ask_on(said, port, lambda: is_over, is_player=True)
    if kind in BROWSING:
        number += ask_on([BROWSING[kind]], port, lambda: is_over, is_player=False)
    if kind in FOLLOWING:
        number += follow(FOLLOWING[kind], port, lambda: is_over)
    while not is_over:
        number += 1
        with contextlib.suppress(OSError):
            kept.append(one := socket.socket())
            one.settimeout(5)
            one.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", number % 2, 0))  # some are reset
            one.bind((ATTACKER if kind != "addresses" else f"127.1.{number // 250 % 250}.{number % 250 + 1}", 0))
            one.connect((PLAYER, port))
            if kind == "openings":
                one.sendall(OPENING[: number % 60])
            elif kind not in ("connections", "addresses"):
                one.sendall(OPENING)
                _misbehave(kind, one, number)
        limit = {"connections": 1, "addresses": 100, "openings": 500, "mute readers": 50}.get(kind, 5)
        while len(kept) > limit:
            kept.pop(0).close()
    print(number)


def _misbehave(kind: str, one: socket.socket, number: int) -> None:
    if kind == "bombs":
        one.sendall(BOMBS[number % len(BOMBS)])
        return
    one.sendall(frame(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": f"Flood{number % 90}"}).encode()))
    for _ in range(200 if kind == "messages" else 20):
        one.sendall(frame(b'{"type":"who","id":2}') * 50)


def ask_on(said: list[bytes], port: int, is_over: Callable[[], bool], *, is_player: bool) -> int:
    """Ask by turns on as many connections, as fast as is allowed, until it is over; return how often.

    A connection that the server closes is opened anew. Each says hello first if `is_player`.
    """
    links: list[socket.socket | None] = [None] * ASKERS
    began_s, number = time.perf_counter(), 0
    while not is_over():
        due = int((time.perf_counter() - began_s) * ASKED_PER_S) - number
        for _ in range(due):
            at = number % ASKERS
            link = links[at] = links[at] or _entered(port, number, is_player=is_player)
            number += 1
            if link is not None:
                try:
                    while len(link.recv(65_536)) == 65_536:
                        pass
                except BlockingIOError:
                    pass
                except OSError:
                    links[at] = None
            if link is not None and not _goes_on(link, said[number // ASKERS % len(said)]):
                links[at] = None
        time.sleep(0.005)
    return number


def _entered(port: int, number: int, *, is_player: bool) -> socket.socket | None:
    """Return a connection from the attacker's address, of a player who has said hello; None if it is turned away."""
    one = socket.socket()
    try:
        one.settimeout(2)
        one.bind((ATTACKER, 0))
        one.connect((PLAYER, port))
        if is_player:
            one.sendall(OPENING)
            if not one.recv(4_096).startswith(b"HTTP/1.1 101"):
                raise ConnectionResetError
            one.sendall(frame(json.dumps({"type": "hello", "id": 1, "protocols": [1]}).encode()))
        one.setblocking(False)
    except OSError:
        one.close()
        time.sleep(0.01)
        return None
    return one


def follow(said: bytes, port: int, is_over: Callable[[], bool]) -> int:
    """Follow with as many players as one address may register in an hour, until it is over; return what came, in bytes.

    Each watches all live matches, and reads all that it gets.
    """
    links: dict[int, socket.socket] = {}
    known = dict[bytes, None]()
    poll = select.epoll()
    came, asked_s = 0, 0.0
    while not is_over():
        if len(links) < FOLLOWERS:
            link = _entered(port, 0, is_player=True)
            if link is not None and _goes_on(link, said + b"".join(map(_watch, known))):
                links[link.fileno()] = link
                poll.register(link.fileno(), select.EPOLLIN)
        elif time.perf_counter() > asked_s + 2:
            asked_s = time.perf_counter()
            for number, link in enumerate(links.values()):  # an unasked pong, or the server takes us for dead
                _goes_on(link, _PONG + _EMPTY if number else MATCHES_NOW)
        for number, _ in poll.poll(0.01):
            data = _received(links[number])
            came += len(data)
            if not data:
                links.pop(number).close()
            elif data.find(b'"type":"live"') >= 0 and said == WATCHING:
                new = {each: None for each in re.findall(rb'"match":"(\w+)"', data) if each not in known}
                known |= new
                for link in links.values() if new else ():
                    _goes_on(link, b"".join(map(_watch, new)))
    return came


def _received(link: socket.socket) -> bytes:
    try:
        return link.recv(1 << 20)
    except OSError:
        return b""


def _watch(match: bytes) -> bytes:
    return frame(b'{"type":"watch","id":4,"match":"%s"}' % match)


def raise_descriptor_limit() -> None:
    """Let this process open as many files and sockets as the system allows."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def crowd(port: int, count: int) -> None:
    """Connect a number of players until terminated, every other one with a seek that fits nobody."""
    raise_descriptor_limit()
    watched = select.epoll()
    links: dict[int, Socket] = {}

    def heard() -> bytes:
        return b"".join(b"".join(links[number].receive()) for number, _ in watched.poll())

    for number in range(count):
        link = Socket(port, "/")
        links[link.fileno()] = link
        watched.register(link.fileno(), select.EPOLLIN)
        link.send(b'{"type":"hello","id":1,"protocols":[1],"name":"Crowd%d"}' % number)
        while b'"welcome"' not in heard():
            pass
        if number % 2:
            seek = {"id": 2, **seek_for_nobody([SIXTEEN[number // 2 % 16]], 3_900)}
            link.send(json.dumps(seek, separators=(",", ":")).encode())
    print("here", flush=True)
    while True:
        heard()


@contextmanager
def crowded(port: int, count: int, is_shared: bool) -> Iterator[None]:
    """Have a crowd on the server inside the block."""
    if not count:
        yield
        return
    command = [sys.executable, "-m", "benchmarks.flood", "--crowd", str(count), "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        if not is_shared:
            pin(process.pid, -1)
        assert process.stdout.readline() == b"here\n"
        yield
    finally:
        process.kill()
        process.communicate()


def swarm(data: bytes, port: int) -> int:
    """Open as many connections as one address may have, then send `data` on all of them; return how many did.

    A connection is used until the server ends it. A rejected one tries again in a moment.
    """
    opened: list[socket.socket] = []
    for _ in range(SWARM):
        one = socket.socket()
        one.settimeout(1)
        with contextlib.suppress(OSError):
            one.bind((ATTACKER, 0))
            one.connect((PLAYER, port))
            one.sendall(OPENING)
            if one.recv(4_096).startswith(b"HTTP/1.1 101"):
                one.setblocking(False)
                opened.append(one)
                continue
        one.close()
        time.sleep(0.01)
    live = opened
    while live:
        live = [one for one in live if _goes_on(one, data)]
        time.sleep(0.02)
    return len(opened)


def _goes_on(one: socket.socket, data: bytes) -> bool:
    """Send what the kernel takes, and read nothing; return whether the server still bears it."""
    try:
        one.send(data)
    except BlockingIOError:
        return True
    except OSError:
        one.close()
        return False
    return True


PIECE = b"\xfe\x03\xe8" + bytes(4) + b" " * 1_000
_TEXT, _CONT, _CLOSE, _PING, _PONG = (bytes((0x80 | opcode,)) for opcode in (1, 0, 8, 9, 10))
_EMPTY = b"\x80" + bytes(4)
_READ = 65_536
"""Bytes that a server reads at once."""
SWARMS = {
    "tiny pings": (_PING + _EMPTY) * (_READ // 6),
    "empty fragments": b"\x01" + _EMPTY + (b"\x00" + _EMPTY) * (_READ // 6),
    "pongs": (_PONG + _EMPTY) * (_READ // 6),
    "one-byte messages": (_TEXT + b"\x81" + bytes(4) + b"1") * (_READ // 7),
    "late bytes": b"\x82" + _EMPTY + (_PING + _EMPTY) * (_READ // 3),
    "close and go on": _CLOSE + b"\x82" + bytes(4) + b"\x03\xe8" + (_PING + _EMPTY) * (_READ // 3),
}
"""Bytes that each of 200 connections of one address sends at the same time, as one segment if the kernel allows."""
CURIOUS = {
    "records": ("record", 1),
    "records by 5": ("record", 5),
    "replays": ("replay", 1),
    "replays by 5": ("replay", 5),
}
"""Guests who ask about long matches as often as they may: with which request, and from how many addresses."""
GUESTS = 20
"""How many of them come from each address."""
_SEEK = {"id": 2, **seek_for_nobody(["connect4"])}
ASKING: dict[str, list[dict[str, object]]] = {
    "pings": [{"type": "ping", "id": 2}],
    "seek and who": [_SEEK, {"type": "who", "id": 3}],
    "seek for 16": [{**_SEEK, "games": SIXTEEN}],
    "lists": [_SEEK, {"type": "lobby", "id": 3, "on": True}, {"type": "matches", "id": 4}],
    "mutes and blocks": [
        {"type": "mute", "id": 2, "name": None, "on": True},
        {"type": "block", "id": 3, "name": "Crowd1", "on": True},
        {"type": "blocks", "id": 4},
        {"type": "block", "id": 5, "name": "Crowd1", "on": False},
    ],
    "rules of games": [
        {"type": "rules", "id": 2, "game": f"mnk:{width}x{height},4"}
        for width in range(9, 20)
        for height in range(9, 20)
    ],
    "mix": [
        _SEEK,
        {"type": "who", "id": 3},
        {"type": "ping", "id": 4},
        {**_SEEK, "games": SIXTEEN},
        {"type": "matches", "id": 5},
        {"type": "profile", "id": 6},
        {"type": "leaderboard", "id": 7, "game": "connect4"},
        {"type": "invite", "id": 8, "game": "mnk:19x19,5"},
        {"type": "rules", "id": 9, "game": "qubic"},
    ],
}
"""The requests that each of `ASKERS` players of one address sends by turns, together `ASKED_PER_S` a second."""
ASKERS, ASKED_PER_S = 40, 1_900
"""As often as the limit of messages lets them."""
REQUEST = b"GET /nowhere HTTP/1.1\r\nHost: a\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(38)) + b"\r\n"
"""With as many headers as may be; it is asked for on connections that stay open."""
BROWSING = {"HTTP requests": REQUEST, "HTTP pipelining": b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 100}
"""HTTP that is sent at once on a connection that stays open."""
MATCHES_NOW = frame(b'{"type":"matches","id":2}')
WATCHING, READING = b"", frame(b'{"type":"lobby","id":2,"on":true}')
FOLLOWING = {"watching": WATCHING, "reading lists": READING}
"""The request of players who only follow: the live matches, which they look for, or the lists of the lobby."""
FOLLOWERS = 100
"""How many of them there are: as many as one address may register in an hour."""
ATTACKS = (
    *("connections", "addresses", "openings", "messages", "bombs", "mute readers"),
    *(*SWARMS, *CURIOUS, *ASKING, *BROWSING, *FOLLOWING),
)
BOMBS = (
    b"\x01" + PIECE + (b"\x00" + PIECE) * 50,
    b"\x81\xff" + (1_000_000).to_bytes(8, "big") + bytes(4 + 1_000_000),
    b"\xc1" + PIECE * 50,
)
"""In endless pieces; in one; compressed."""


async def ask_about_the_past(verb: str, addresses: int, port: int) -> None:
    """Ask until terminated, then print how often there was an answer."""
    is_over, given = asyncio.Event(), [0]
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, is_over.set)
    async with asyncio.TaskGroup() as tasks:
        guests = [
            tasks.create_task(_ask(verb, f"127.0.0.{2 + number % addresses}", number, port, given))
            for number in range(GUESTS * addresses)
        ]
        await is_over.wait()
        for guest in guests:
            guest.cancel()
    print(given[0])


async def _ask(verb: str, address: str, number: int, port: int, given: list[int]) -> None:
    async with connect(
        f"ws://{PLAYER}:{port}", proxy=None, compression=None, local_addr=(address, 0), ping_interval=None
    ) as link:
        await link.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": f"Curious{number}"}))
        await _hear(link, "welcome")
        for match in cycle(LONG_IDS):
            await link.send(json.dumps({"type": verb, "id": 9, "match": match}))
            told = json.loads(await link.recv())
            while told.get("id") != 9:
                told = json.loads(await link.recv())
            given[0] += told["type"] == "ok"
            assert told["type"] == "ok" or told["code"] in ("too_fast", "busy"), told
            await asyncio.sleep(told.get("retry_after_ms", 0) / 1000)


class Pair:
    """Two who play at a steady pace and take the time of each answer."""

    def __init__(self, sockets: tuple[ClientConnection, ClientConnection], match: str) -> None:
        self._sockets, self._match, self._ply = sockets, match, 0
        self.times_s: list[float] = []

    async def play(self, end_s: float) -> None:
        """Move until that time."""
        while time.perf_counter() < end_s and self._ply < MOST_MOVES:
            mover = self._sockets[self._ply % 2]
            said = {"type": "play", "id": 9, "match": self._match, "ply": self._ply, "move": self._ply}
            started_s = time.perf_counter()
            await mover.send(json.dumps(said))
            await _hear(mover, "ok", id=9)
            self.times_s.append(time.perf_counter() - started_s)
            self._ply += 1
            await asyncio.sleep(random.expovariate(MOVES_PER_S))


class Pinger:
    """One who only asks whether the server is there."""

    def __init__(self, link: ClientConnection) -> None:
        self._link = link
        self.times_s: list[float] = []

    async def enter(self, name: str) -> None:
        """Say hello."""
        await self._link.send(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": name}))
        await _hear(self._link, "welcome")

    async def play(self, end_s: float) -> None:
        """Ask until that time."""
        while time.perf_counter() < end_s:
            started_s = time.perf_counter()
            await self._link.send('{"type":"ping","id":9}')
            await _hear(self._link, "ok", id=9)
            self.times_s.append(time.perf_counter() - started_s)
            await asyncio.sleep(random.expovariate(PINGS_PER_S))


async def _hear(link: ClientConnection, type_: str, **fields: object) -> dict[str, object]:
    while True:
        told: dict[str, object] = json.loads(await link.recv())
        assert told["type"] != "refused", told
        if told["type"] == type_ and fields.items() <= told.items():
            return told


@asynccontextmanager
async def pairs(port: int, mark: str) -> AsyncIterator[list[Pair]]:
    """Seat the players inside the block."""
    async with contextlib.AsyncExitStack() as links:
        seated = []
        for number in range(PAIRS):
            sockets = []
            for name in ("Ann", "Bob"):
                link = await links.enter_async_context(
                    connect(f"ws://{PLAYER}:{port}", proxy=None, compression=None, max_queue=None)
                )
                await link.send(
                    json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": f"{name}{mark}{number}"})
                )
                await _hear(link, "welcome")
                await link.send(json.dumps({"type": "seek", "id": 2, "games": [GAME]}))
                sockets.append(link)
            told = [await _hear(link, "snapshot") for link in sockets]
            first, second = sockets if told[0]["you"] == 0 else reversed(sockets)
            seated.append(Pair((first, second), str(told[0]["match"])))
        yield seated


@contextmanager
def server(is_shared: bool, data: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server inside the block, on a core of its own unless all is shared; its journal is new unless given."""
    with tempfile.TemporaryDirectory() as folder:
        if data is None:
            write_long_matches(Path(folder) / JOURNAL_FILE)
        flags = [
            "--host",
            PLAYER,
            "--port",
            "0",
            "--data",
            str(data or folder),
            "--no-announce",
            "--limits-unmetered",
            PLAYER,
        ]
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "server.py"), "--no-house-bots", *flags, "--log-level", "error"],
            stdout=subprocess.PIPE,
        )
        try:
            if not is_shared:
                pin(process.pid, 0)  # while it has one thread; those that it starts stay with it
            yield process
        finally:
            process.terminate()
            process.communicate()


@contextmanager
def attacked(kind: str | None, port: int, is_shared: bool) -> Iterator[list[int]]:
    """Attack inside the block; the list then holds how often."""
    if kind is None:
        yield []
        return
    command = [sys.executable, "-m", "benchmarks.flood", "--attack", kind, "--port", str(port)]
    attacker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    counts: list[int] = []
    try:
        if not is_shared:
            pin(attacker.pid, -1)  # and the players are preferred to it:
            os.sched_setscheduler(attacker.pid, os.SCHED_IDLE, os.sched_param(0))
        yield counts
    finally:
        attacker.terminate()
        counts.append(int(attacker.communicate()[0] or 0))


class Round(NamedTuple):
    """Measurements of one attack."""

    move_p50_ms: float
    move_p99_ms: float
    ping_p99_ms: float
    ping_max_ms: float
    cpu: float
    """Cores that the server used."""
    added: float
    """Cores that it used more than for the same players before the attack."""
    attacks_per_s: float


async def measure(
    port: int, process: "subprocess.Popen[bytes]", kind: str | None, mark: str, given: argparse.Namespace
) -> Round:
    """Return the reply times of players under an attack, some time after its beginning."""
    async with pairs(port, mark) as seated, connect(f"ws://{PLAYER}:{port}", proxy=None, compression=None) as link:
        pinger = Pinger(link)
        await pinger.enter(f"Cas{mark}")

        async def played() -> float:
            """Let all play for the given time, and return how many cores the server used for it."""
            before = cost(process.pid)
            began_s = time.perf_counter()
            async with asyncio.TaskGroup() as tasks:
                for one in seated:
                    tasks.create_task(one.play(began_s + given.seconds))
                tasks.create_task(pinger.play(began_s + given.seconds))
            return cost(process.pid).since(before).cpu_ns / 1e9 / (time.perf_counter() - began_s)

        await asyncio.sleep(given.settle)
        quiet = await played()
        pinger.times_s.clear()
        for pair in seated:
            pair.times_s.clear()
        began_s = time.perf_counter()
        with attacked(kind, port, given.shared) as counts:
            await asyncio.sleep(given.settle)
            cpu = await played()
            attacked_s = time.perf_counter() - began_s
    times = quantiles([each for pair in seated for each in pair.times_s], n=100)
    pings = quantiles(pinger.times_s, n=100)
    return Round(
        times[49] * 1000,
        times[98] * 1000,
        pings[98] * 1000,
        max(pinger.times_s) * 1000,
        cpu,
        cpu - quiet,
        sum(counts) / attacked_s,
    )


class Sink(asyncio.Transport):
    """A stand-in for the transport of an attacker's connection, which reads everything at once."""

    def __init__(self) -> None:
        super().__init__({"socket": NoSocket(), "peername": (ATTACKER, 1)})

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Drop it."""

    def write_eof(self) -> None:
        """Do nothing."""

    def can_write_eof(self) -> bool:
        """Tell that there is an end."""
        return True

    def get_write_buffer_size(self) -> int:
        """Return that nothing waits."""
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Need no limits."""

    def pause_reading(self) -> None:
        """Send on all the same, when it is asked next."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def is_closing(self) -> bool:
        """Tell that it never is."""
        return False

    def abort(self) -> None:
        """Do nothing."""


class Closed(NamedTuple):
    """Cost of closing a swarm."""

    cpu_ms: float
    frames: int
    longest_turn_ms: float
    """In CPU time: how long another player's message may have waited for it."""


async def close_swarm(data: bytes) -> Closed:
    """Let 200 connections of one address send the same, again and again, until a hub has closed them all."""
    loop, frames = asyncio.get_running_loop(), 0
    limits = Limits(unmetered=("127.0.0.1/32",))
    rng = random.Random(1)

    def now_ms() -> int:
        return int(time.process_time() * 1000)  # or a machine that has much else to do would let them send for ever

    services = build_services(
        Configuration(name="test", limits=limits), Journal(MemoryLedger(is_instant=True)), loop, now_ms, rng
    )

    class CountingHub(Hub):
        """A hub that counts frames."""

        def meter(self, connection: Connection) -> None:
            """Count one."""
            nonlocal frames
            frames += 1
            super().meter(connection)

    hub = CountingHub(services)
    swarm = [Connection(hub, loop, services.read_buffer) for _ in range(SWARM)]
    for one in swarm:
        one.connection_made(Sink())
        one.data_received(OPENING)
    before_s, longest_s = time.process_time(), 0.0
    while any(one.is_open for one in swarm):
        for one in swarm:
            if one.is_open:
                began_s = time.process_time()
                one.data_received(data)
                longest_s = max(longest_s, time.process_time() - began_s)
        while len(services.turns):
            began_s = time.process_time()
            await asyncio.sleep(0)
            longest_s = max(longest_s, time.process_time() - began_s)
    return Closed((time.process_time() - before_s) * 1000, frames, longest_s * 1000)


def print_cpu() -> None:
    """Print what each shape of a swarm takes."""
    print("| what each of 200 sends | CPU, ms | frames | longest turn, ms |")
    print("|------------------------|--------:|-------:|-----------------:|")
    for kind, data in SWARMS.items():
        took = asyncio.run(close_swarm(data[:_READ]))
        print(f"| {kind:<22} | {took.cpu_ms:>7.0f} | {took.frames:>6,} | {took.longest_turn_ms:>16.1f} |", flush=True)


def print_past(matches: int) -> None:
    """Print what each question costs: the median, and the 99th of 100."""
    rng = random.Random(2)
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / JOURNAL_FILE
        write_world(journal, matches)
        with closing(open_readonly(journal)) as tables:
            kept = KeptMatches()
            some = [f"m{rng.randrange(matches):07}" for _ in range(200)]
            questions: dict[str, Callable[[int], object]] = {
                "record": lambda i: past.record(tables, kept, RecordRequest(1, some[i]), 1),
                "record, kept": lambda i: past.record(tables, kept, RecordRequest(1, some[i]), 1),
                "record, 3,000 events": lambda i: past.record(
                    tables, KeptMatches(), RecordRequest(1, LONG_IDS[i % LONG_MATCHES]), 1
                ),
                "replay": lambda i: past.replay(tables, kept, ReplayRequest(1, some[i]), 1, False),
                "replay, 3,000 events": lambda i: past.replay(
                    tables, KeptMatches(), ReplayRequest(1, LONG_IDS[i % LONG_MATCHES]), 1, False
                ),
                "history": lambda i: past.history(tables, f"p{2 + i}", None, None, 1),
                "history, 10,000 matches": lambda _: past.history(tables, "p1", "gomoku", None, 2),
                "leaderboard": lambda i: past.leaderboard(
                    tables, LeaderboardRequest(1, "gomoku", "blitz", page=1 + i % 100), "gomoku", 1, 10**9
                ),
                "profile": lambda i: past.profile(tables, kept, ProfileRequest(1, f"p{2 + i}"), 1, None, [], 10**9),
            }
            print(f"{matches:,} matches, {journal.stat().st_size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
            print("| question                | p50 us | p99 us |")
            print("|-------------------------|-------:|-------:|")
            for name, ask in questions.items():
                times_s = []
                for number in range(len(some)):
                    began_s = time.thread_time()
                    ask(number)
                    times_s.append(time.thread_time() - began_s)
                cuts = quantiles(times_s, n=100)
                print(f"| {name:<23} | {cuts[49] * 1e6:>6,.0f} | {cuts[98] * 1e6:>6,.0f} |", flush=True)


def main() -> int:
    """Print the table, or be the attacker."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flood", description=__doc__.split("\n")[0])
    parser.add_argument("--attack", choices=ATTACKS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="before and under each attack in each round, 8 at most"
    )
    parser.add_argument("--shared", action="store_true", help="let all compete for all cores")
    parser.add_argument("--only", nargs="+", choices=ATTACKS, help="these attacks")
    parser.add_argument("--settle", type=float, default=1.0, help="seconds not measured, of quiet and of each attack")
    parser.add_argument("--full", type=int, default=0, metavar="N", help="players in the lobby; half of them seek")
    parser.add_argument("--crowd", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--cpu", action="store_true", help="how long a server computes until it has closed a swarm")
    parser.add_argument("--past", action="store_true", help="what questions cost in a journal of many matches")
    parser.add_argument("--matches", type=int, default=MATCHES, help="how many, with --past")
    given = parser.parse_args()
    if given.cpu:
        print_cpu()
        return 0
    if given.past:
        print_past(given.matches)
        return 0
    if given.crowd:
        crowd(given.port, given.crowd)
    if given.attack:
        attack(given.attack, given.port)
        return 0
    if not given.shared:
        pin(os.getpid(), -1)
    found: dict[str, list[Round]] = {}
    for turn in range(given.rounds):
        for number, kind in enumerate((None, *(given.only or ATTACKS))):
            with server(given.shared) as process:
                assert process.stdout is not None
                port = int(process.stdout.readline().decode().rpartition(":")[2])
                with crowded(port, given.full, given.shared):
                    one = asyncio.run(measure(port, process, kind, f"{turn}x{number}x", given))
            found.setdefault(kind or "none", []).append(one)
    print_table(found, given.rounds)
    return 0


def print_table(found: dict[str, list[Round]], rounds: int) -> None:
    """Print a row for each attack."""
    medians = {kind: Round(*map(median, zip(*each, strict=True))) for kind, each in found.items()}
    quiet = medians["none"]
    print(
        f"{PAIRS} pairs at {MOVES_PER_S} moves a second each; medians of {rounds} rounds; load {os.getloadavg()[0]:.1f}"
    )
    print(
        "| attack            | a second | move p50 ms | p99 ms | p99/quiet | ping p99 ms | p99/quiet | max ms |"
        " server's core | added |"
    )
    print(
        "|-------------------|---------:|------------:|-------:|----------:|------------:|----------:|-------:|"
        "--------------:|------:|"
    )
    for kind, one in medians.items():
        print(
            f"| {kind:<17} | {one.attacks_per_s:>8,.0f} | {one.move_p50_ms:>11.2f} | {one.move_p99_ms:>6.2f}"
            f" | {one.move_p99_ms / quiet.move_p99_ms:>9.1f} | {one.ping_p99_ms:>11.2f}"
            f" | {one.ping_p99_ms / quiet.ping_p99_ms:>9.1f} | {one.ping_max_ms:>6.1f} | {one.cpu:>13.1%}"
            f" | {one.added:>+5.1%} |"
        )


if __name__ == "__main__":
    sys.exit(main())
