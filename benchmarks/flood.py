"""What floods cost those who play: the time of an answer under each attack, beside the quiet one.

`python -m benchmarks.flood` takes about a minute and prints one table. The attacker is a process of its own, with a
low priority, at 127.0.0.2; the players are at 127.0.0.1, which is not metered. Attacker and players share the machine
with the server, so the ratio is an upper bound of what a server feels that is attacked from elsewhere.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from statistics import median, quantiles

from websockets.asyncio.client import ClientConnection, connect

ROOT = Path(__file__).parent.parent
ATTACKER, PLAYER = "127.0.0.2", "127.0.0.1"
OPENING = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
ATTACKS = ("connections", "openings", "messages", "bombs", "mute readers")
PAIRS, MOVES_PER_S = 10, 20
GAME = "mnk:19x19,19"
"""361 moves, none of which ends the match when they are made in order."""


def frame(payload: bytes) -> bytes:
    """Return a frame masked with zeros."""
    head = bytes((0x81, 0x80 | len(payload))) if len(payload) < 126 else b"\x81\xfe" + len(payload).to_bytes(2, "big")
    return head + bytes(4) + payload


def attack(kind: str, port: int) -> None:
    """Attack until killed; whatever the server does to us, go on."""
    kept: list[socket.socket] = []
    number = 0
    while True:
        number += 1
        with contextlib.suppress(OSError):
            one = socket.create_connection((PLAYER, port), 5, (ATTACKER, 0))
            kept.append(one)
            if kind == "openings":
                one.sendall(OPENING[: number % 60])
            elif kind != "connections":
                one.sendall(OPENING)
                _misbehave(kind, one, number)
        limit = {"connections": 1, "openings": 500, "mute readers": 50}.get(kind, 5)
        while len(kept) > limit:
            kept.pop(0).close()


def _misbehave(kind: str, one: socket.socket, number: int) -> None:
    if kind == "bombs":
        one.sendall(b"\x01\xfe\x03\xe8" + bytes(4) + b" " * 1000 + (b"\x00\xfe\x03\xe8" + bytes(4) + b" " * 1000) * 50)
        return
    one.sendall(frame(json.dumps({"type": "hello", "id": 1, "protocols": [1], "name": f"Flood{number % 90}"}).encode()))
    for _ in range(200 if kind == "messages" else 20):
        one.sendall(frame(b'{"type":"who","id":2}') * 50)


class Pair:
    """Two who play at a steady pace and take the time of each answer."""

    def __init__(self, sockets: tuple[ClientConnection, ClientConnection], match: str) -> None:
        self._sockets, self._match, self._ply = sockets, match, 0
        self.times_s: list[float] = []

    async def play(self, end_s: float) -> None:
        """Move until that time."""
        while time.perf_counter() < end_s and self._ply < 361:
            mover = self._sockets[self._ply % 2]
            said = {"type": "play", "id": 9, "match": self._match, "ply": self._ply, "move": self._ply}
            started_s = time.perf_counter()
            await mover.send(json.dumps(said))
            await _hear(mover, "ok", id=9)
            self.times_s.append(time.perf_counter() - started_s)
            self._ply += 1
            await asyncio.sleep(random.expovariate(MOVES_PER_S))


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
def server() -> Iterator[int]:
    """Run a server inside the block; yield its port."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--host", PLAYER, "--port", "0", "--data", folder, "--no-announce", "--limits-unmetered", PLAYER]
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "server.py"), *flags, "--log-level", "error"], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().decode().rpartition(":")[2])
        finally:
            process.terminate()
            process.communicate()


async def measure(port: int, kind: str | None, mark: str, seconds: float) -> list[float]:
    """Return the times of answers under an attack; a second of it goes before."""
    async with pairs(port, mark) as seated:
        attacker = None
        if kind is not None:
            command = [sys.executable, "-m", "benchmarks.flood", "--attack", kind, "--port", str(port)]
            attacker = subprocess.Popen(command, cwd=ROOT)  # noqa: ASYNC220 - it starts at once
            os.setpriority(os.PRIO_PROCESS, attacker.pid, 15)
        try:
            await asyncio.sleep(1.0)
            end_s = time.perf_counter() + seconds
            async with asyncio.TaskGroup() as tasks:
                for pair in seated:
                    tasks.create_task(pair.play(end_s))
        finally:
            if attacker is not None:
                attacker.kill()
                attacker.wait()
        return [each for pair in seated for each in pair.times_s]


def main() -> int:
    """Print the table, or be the attacker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attack", choices=ATTACKS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each attack in each round")
    given = parser.parse_args()
    if given.attack:
        attack(given.attack, given.port)
    found: dict[str, list[tuple[float, float]]] = {}
    for turn in range(given.rounds):
        for number, kind in enumerate((None, *ATTACKS)):
            with server() as port:
                times = asyncio.run(measure(port, kind, f"{turn}x{number}x", given.seconds))
            cuts = quantiles(times, n=100)
            found.setdefault(kind or "quiet", []).append((cuts[49] * 1000, cuts[98] * 1000))
    quiet = median(p99 for _, p99 in found["quiet"])
    print(
        f"{PAIRS} pairs at {MOVES_PER_S} moves a second each; medians of {given.rounds} rounds; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'attack':<14}{'p50 ms':>9}{'p99 ms':>9}{'p99/quiet':>11}")
    for kind, rounds in found.items():
        p50, p99 = median(each[0] for each in rounds), median(each[1] for each in rounds)
        print(f"{kind:<14}{p50:>9.2f}{p99:>9.2f}{p99 / quiet:>11.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
