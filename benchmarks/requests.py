"""Cost of each request, carried out and refused: microseconds of CPU for one, and for each of its bytes.

`python -m benchmarks.requests` takes about half a minute and prints one table. A hub with its journal on the disk runs
in this process; bytes are handed to its connections as a socket would, and the CPU time of all threads is read around
each request, until its answer is there. Rates are lifted, so that what is refused is refused for its own sake; the
texts are the longest, and the costliest to look at, that the protocol lets through.
"""

import argparse
import asyncio
import itertools
import json
import random
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.server_clock import ServerClock
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.settings.setting import Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import ReadBuffer

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
UNMETERED = Rate(999_999_999)
ID = 9
COSTLY_TEXT = "\ufdfa" * 80
"""One character that stands for eighteen."""
MARKS = "e\u0301\u0302" * 180
LARGE = "mnk:19x19,5"
STONES = "/".join(("XO" if row % 2 else "OX") + "." * 17 for row in range(19))
Message = dict[str, Any]


class NoSocket:
    """A stand-in for the socket that a connection sets options on."""

    family = socket.AF_INET

    def setsockopt(self, *_: object) -> None:
        """Do nothing."""


class Wire(asyncio.Transport):
    """A stand-in for the transport of a connection."""

    def __init__(self, client: "Client") -> None:
        super().__init__({"socket": NoSocket(), "peername": ("127.0.0.1", 1)})
        self._client = client

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Hand it to the client."""
        self._client.hear(bytes(data))

    def get_write_buffer_size(self) -> int:
        """Return that everything is read at once."""
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Need no limits."""

    def is_closing(self) -> bool:
        """Tell that it never is."""
        return False

    def abort(self) -> None:
        """Do nothing."""

    def can_write_eof(self) -> bool:
        """Tell that there is no end."""
        return False


class Client:
    """A player's end of a connection that is only bytes; `heard` has what was said since the last request."""

    def __init__(self, hub: Hub) -> None:
        self.name = self.token = ""
        self.heard: list[Message] = []
        self._raw: list[bytes] = []
        self._answered = asyncio.Event()
        self._connection = Connection(hub, asyncio.get_running_loop(), ReadBuffer())
        self._connection.connection_made(Wire(self))
        self._connection.data_received(HANDSHAKE)

    def hear(self, data: bytes) -> None:
        """Take in what the server sends."""
        self._raw.append(data)
        if b'"id":%d' % ID in data or b'"id":null' in data:
            self._answered.set()

    async def ask(self, request: Message) -> tuple[float, int, bool]:
        """Send a request; return the CPU time in microseconds, its bytes, and whether it was carried out."""
        frame = framed(json.dumps({"id": ID} | request, ensure_ascii=False, separators=(",", ":")).encode())
        self._answered.clear()
        self._raw.clear()
        began_ns = time.process_time_ns()
        self._connection.data_received(frame)
        await self._answered.wait()
        took_us = (time.process_time_ns() - began_ns) / 1_000
        await asyncio.sleep(0)
        self.heard = list(messages(b"".join(self._raw)))
        answer = next(each for each in self.heard if each["type"] in ("ok", "refused"))
        return took_us, len(frame), answer["type"] == "ok"

    async def told(self, type_: str) -> Message:
        """Return what was told since the last request, as soon as it is."""
        while True:
            for each in messages(b"".join(self._raw)):
                if each["type"] == type_:
                    return each
            await asyncio.sleep(0)

    async def ok(self, type_: str, **more: object) -> None:
        """Send a request that must be carried out."""
        _, _, is_ok = await self.ask({"type": type_} | more)
        assert is_ok, (type_, self.heard)

    def leave(self) -> None:
        """Let the connection be lost."""
        self._connection.connection_lost(None)


def framed(payload: bytes) -> bytes:
    """Return a frame masked with zeros."""
    head = bytes((0x81, 0x80 | len(payload))) if len(payload) < 126 else b"\x81\xfe" + len(payload).to_bytes(2, "big")
    return head + bytes(4) + payload


def messages(data: bytes) -> Iterator[Message]:
    """Return the messages of the text frames that a server sent."""
    while data:
        size, start = data[1], 2
        if size == 126:
            size, start = int.from_bytes(data[2:4], "big"), 4
        elif size == 127:
            size, start = int.from_bytes(data[2:10], "big"), 10
        if data[0] == 0x81:
            yield json.loads(data[start : start + size])
        data = data[start + size :]


class World:
    """A hub with players, and what the requests need to be carried out."""

    ann: Client
    """Plays Bob, and moves first."""
    bob: Client
    eve: Client
    """Plays nobody, and hears Ann's match."""
    live: str
    over: str

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._numbers = itertools.count(1)

    async def populate(self) -> None:
        """Let the players come, and begin their matches."""
        self.ann, self.bob, self.eve = [await self.player() for _ in range(3)]
        self.over = await self.match()
        await self.ann.ok("resign", match=self.over)
        await self.begin()

    def name(self) -> str:
        """Return a name that was not returned before."""
        return f"Player{next(self._numbers)}"

    async def player(self) -> Client:
        """Return a client that is welcome."""
        client = Client(self.hub)
        client.name = self.name()
        await client.ok("hello", protocols=[1], name=client.name)
        client.token = (await client.told("welcome"))["token"]
        return client

    async def match(self, game: str = "tictactoe") -> str:
        """Let Ann and Bob begin a match; Ann is made the one who moves first."""
        await self.ann.ok("seek", games=[game])
        await self.bob.ok("seek", games=[game])
        told = await self.bob.told("snapshot")
        if told["you"] == 0:
            self.ann, self.bob = self.bob, self.ann
        return str(told["match"])

    async def begin(self, game: str = "tictactoe") -> str:
        """Let Ann and Bob begin another match, and Eve watch it."""
        self.live = await self.match(game)
        await self.eve.ok("watch", match=self.live)
        return self.live

    async def end(self) -> None:
        """End the match of Ann and Bob, and let nobody hear it any more."""
        await self.ann.ask({"type": "resign", "match": self.live})
        await self.eve.ask({"type": "unwatch", "match": self.live})


Case = Callable[[World], Awaitable[tuple[Client, Message]]]


def by(who: str, type_: str, **request: object) -> Case:
    """Return a case in which a player says always the same, where LIVE and OVER stand for matches."""

    async def case(world: World) -> tuple[Client, Message]:
        for_now = {"LIVE": world.live, "OVER": world.over}
        named = {key: for_now.get(value, value) if isinstance(value, str) else value for key, value in request.items()}
        return getattr(world, who), {"type": type_, **named}

    return case


def after(before: tuple[str, str, Message], then: Case) -> Case:
    """Return a case before which a player says something else."""

    async def case(world: World) -> tuple[Client, Message]:
        who, type_, more = before
        client, said = await by(who, type_, **more)(world)
        await client.ask(said)
        return await then(world)

    return case


def anew(then: Case, game: str = "tictactoe") -> Case:
    """Return a case before which a match begins."""

    async def case(world: World) -> tuple[Client, Message]:
        await world.end()
        await world.begin(game)
        return await then(world)

    return case


async def aborted(world: World) -> tuple[Client, Message]:
    """Abort a match of two strangers: seeks do not pair them again for a while."""
    kept = world.ann, world.bob
    world.ann, world.bob = [await world.player() for _ in range(2)]
    match, mover = await world.match(), world.ann
    world.ann, world.bob = kept
    return mover, {"type": "abort", "match": match}


def stranger(**request: object) -> Case:
    """Return a case of a connection that says hello; NEW stands for a name that nobody has."""

    async def case(world: World) -> tuple[Client, Message]:
        named = {key: world.name() if value == "NEW" else value for key, value in request.items()}
        return Client(world.hub), {"type": "hello", "protocols": [1], **named}

    return case


async def known(world: World) -> tuple[Client, Message]:
    """Say hello with a token."""
    token = (await world.player()).token
    return Client(world.hub), {"type": "hello", "protocols": [1], "token": token}


async def accepted(world: World) -> tuple[Client, Message]:
    """Accept a seek for a large board that was not made before."""
    seeker, other = await world.player(), await world.player()
    await seeker.ok("seek", games=[f"mnk:19x19,{random.randint(2, 19)}"])
    await other.ok("lobby", on=True)
    listed = await other.told("seeks")
    await other.ok("lobby", on=False)
    return other, {"type": "accept", "seek": listed["seeks"][-1]["seek"]}


async def answered(world: World) -> tuple[Client, Message]:
    """Accept a challenge."""
    one, other = await world.player(), await world.player()
    await one.ok("challenge", name=other.name, game="qubic")
    return other, {"type": "answer", "challenge": (await one.told("challenged"))["challenge"], "accept": True}


async def joined(world: World) -> tuple[Client, Message]:
    """Join by a code."""
    one, other = await world.player(), await world.player()
    await one.ok("invite", game="qubic")
    return other, {"type": "join", "code": (await one.told("invitation"))["code"]}


async def forgotten(world: World) -> tuple[Client, Message]:
    """Be forgotten."""
    one = await world.player()
    return one, {"type": "forget", "name": one.name}


async def renamed(world: World) -> tuple[Client, Message]:
    """Take a name that nobody has, of digits."""
    return world.eve, {"type": "rename", "name": f"{random.randrange(10**19, 10**20)}"}


def large_boards() -> list[str]:
    """Return as many large boards as a seek may name."""
    return [f"mnk:19x19,{k}+swap" for k in range(2, 18)]


CASES: dict[str, tuple[Case | None, Case | None]] = {
    "ping": (by("ann", "ping"), None),
    "hello, new": (stranger(name="NEW"), stranger(name=COSTLY_TEXT)),
    "hello, guest": (stranger(), None),
    "hello, token": (known, stranger(token="0" * 43)),
    "seek": (by("eve", "seek", games=large_boards()), by("eve", "seek", games=[*large_boards()[1:], "x" * 40])),
    "unseek": (after(("eve", "seek", {"games": ["qubic"]}), by("eve", "unseek")), by("ann", "unseek")),
    "accept": (accepted, by("eve", "accept", seek=2**53 - 1)),
    "challenge": (by("eve", "challenge", name="BOB", game=LARGE), by("eve", "challenge", name=COSTLY_TEXT)),
    "answer": (answered, by("eve", "answer", challenge=2**53 - 1, accept=True)),
    "invite": (
        by("eve", "invite", game=LARGE, start=STONES),
        by("eve", "invite", game=LARGE, start=STONES.replace(".", "X", 9)),
    ),
    "join": (joined, by("eve", "join", code=COSTLY_TEXT)),
    "lobby": (by("eve", "lobby", on=True), None),
    "matches": (by("eve", "matches"), None),
    "who": (by("eve", "who"), None),
    "watch": (
        after(("eve", "unwatch", {"match": "LIVE"}), by("eve", "watch", match="LIVE")),
        by("eve", "watch", match="nothere1"),
    ),
    "unwatch": (
        after(("eve", "watch", {"match": "LIVE"}), by("eve", "unwatch", match="LIVE")),
        by("eve", "unwatch", match="nothere1"),
    ),
    "chat": (by("ann", "chat", match="LIVE", text=MARKS), by("ann", "chat", match="nothere1", text=MARKS)),
    "mute": (by("eve", "mute", name="BOB", on=True), by("eve", "mute", name=COSTLY_TEXT, on=True)),
    "report": (
        by("ann", "report", name="BOB", match="LIVE", text=MARKS),
        by("eve", "report", name=COSTLY_TEXT, text=MARKS),
    ),
    "play": (anew(by("ann", "play", match="LIVE", ply=0, move=0)), by("ann", "play", match="LIVE", ply=0, move=999)),
    "play, 19x19": (
        anew(by("ann", "play", match="LIVE", ply=0, move=180), LARGE),
        by("eve", "play", match="OVER", ply=0, move=0),
    ),
    "resign": (anew(by("ann", "resign", match="LIVE")), by("ann", "resign", match="OVER")),
    "abort": (aborted, by("ann", "abort", match="OVER")),
    "offer": (anew(by("ann", "offer", match="LIVE", kind="draw")), by("ann", "offer", match="OVER", kind="draw")),
    "agree": (
        anew(after(("ann", "offer", {"match": "LIVE", "kind": "draw"}), by("bob", "agree", match="LIVE", offer=2))),
        by("ann", "agree", match="OVER", offer=2),
    ),
    "decline": (
        anew(
            after(("ann", "offer", {"match": "LIVE", "kind": "draw"}), by("bob", "decline", match="LIVE", kind="draw"))
        ),
        by("ann", "decline", match="OVER", kind="draw"),
    ),
    "claim": (None, by("ann", "claim", match="LIVE", kind="win")),
    "resume": (by("ann", "resume", match="LIVE", seq=0), by("eve", "resume", match="nothere1", seq=0)),
    "rename": (renamed, by("eve", "rename", name=COSTLY_TEXT)),
    "forget": (forgotten, by("eve", "forget", name=COSTLY_TEXT)),
    "profile": (by("eve", "profile", name="BOB"), by("eve", "profile", name=COSTLY_TEXT)),
    "history": (by("eve", "history", name="BOB"), by("eve", "history", name=COSTLY_TEXT)),
    "leaderboard": (by("eve", "leaderboard", game="qubic"), by("eve", "leaderboard", game="x")),
    "rules": (by("eve", "rules", game=LARGE), by("eve", "rules", game="x")),
    "replay": (by("eve", "replay", match="OVER"), by("eve", "replay", match="nothere1")),
    "record": (by("eve", "record", match="OVER"), by("eve", "record", match="nothere1")),
    "analyse": (None, by("eve", "analyse", match="nothere1")),
    "hint": (None, by("eve", "hint", match="nothere1")),
    "puzzle": (by("eve", "puzzle", day="2026-01-04"), by("eve", "puzzle", day=COSTLY_TEXT)),
    "no message": (None, by("eve", "{" * 2_000)),
}
"""For each request one that is carried out and one that is refused, or None."""


class Cost(NamedTuple):
    """Cost of one kind of request, as the median of many."""

    us: float
    bytes: float


async def measure(world: World, case: Case, times: int, *, is_ok: bool) -> Cost:
    """Return what a case costs."""
    found = []
    for _ in range(times):
        client, said = await case(world)
        if said.get("name") == "BOB":
            said["name"] = world.bob.name
        us, size, was_ok = await client.ask(said)
        assert was_ok is is_ok, (said, client.heard)
        found.append(Cost(us, size))
        if client not in (world.ann, world.bob, world.eve):
            client.leave()
    return Cost(*map(median, zip(*found, strict=True)))


async def run(times: int) -> None:
    """Print the table."""
    lifted = {each.name: UNMETERED for each in fields(Limits) if each.type is Rate}
    limits = Limits(**lifted, max_live_matches=1_000_000)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder, closing(LocalLedger(Path(folder) / JOURNAL_FILE)) as ledger:
        configuration, loop = Configuration(name="test", limits=limits), asyncio.get_running_loop()
        hub = Hub(build_services(configuration, Journal(ledger), loop, ServerClock().play_ms, random.Random(1)))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ledger.run())
            try:
                await print_table(hub, times)
            finally:
                ledger.stop()


async def print_table(hub: Hub, times: int) -> None:
    """Print a row for each kind of request."""
    world = World(hub)
    await world.populate()
    ping_us = (await measure(world, by("ann", "ping"), times, is_ok=True)).us
    print("| request      | done us | / ping | us / byte | refused us | / ping | us / byte |")
    print("|--------------|--------:|-------:|----------:|-----------:|-------:|----------:|")
    for name, cases in CASES.items():
        cells = [name.ljust(12)]
        for case, is_ok, width in zip(cases, (True, False), (7, 10), strict=True):
            cost = await measure(world, case, times, is_ok=is_ok) if case else None
            cells += row(cost, ping_us, width)
        print("|", " | ".join(cells), "|", flush=True)


def row(cost: Cost | None, ping_us: float, width: int) -> list[str]:
    """Return the cells of one cost."""
    if cost is None:
        return [" " * width, " " * 6, " " * 9]
    return [f"{cost.us:>{width},.0f}", f"{cost.us / ping_us:>6.1f}", f"{cost.us / cost.bytes:>9.2f}"]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.requests", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=100, help="of each request")
    asyncio.run(run(parser.parse_args().times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
