"""Cost of each request on a busy server, carried out and rejected: microseconds of CPU by thread.

`python -m benchmarks.requests` takes some minutes. A hub with its journal on the disk runs in this process: 2,000
people and 500 bots are connected, 1,000 of them seek and 1,000 play 500 matches; 100,000 matches have ended. Bytes are
handed to connections as a socket would, and the CPU time of each thread is read around each request, until its answer
is there and the event loop has nothing left to do at once. Rates are lifted, so that what is refused is refused for its
own sake; the texts are the longest, and the costliest to look at, that the protocol lets through.

A second table lists the server's periodic work, for which nobody is charged. With `--write` both tables replace those
of docs/security.md.
"""

import argparse
import asyncio
import itertools
import json
import random
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Protocol

from benchmarks.world import (
    BOTS,
    LIVE_ID,
    LONG_IDS,
    LONG_MATCHES,
    MATCHES,
    PLAYERS,
    SIXTEEN,
    name_of,
    seek_for_nobody,
    token_of,
    write_world,
)
from ttt_net.pairing.seeks import BANDS
from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.server_clock import ServerClock
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
PAGE = Path(__file__).parent.parent / "docs" / "security.md"
UNMETERED = Rate(999_999_999)
ID = 9
_PASSES = 3
"""Passes of the event loop after an answer that are counted: what it led to, such as a match, begins in them."""
COSTLY_TEXT = "\ufdfa" * 80
"""One character that stands for eighteen."""
MARKS = "e\u0301\u0302" * 180
LARGE = "mnk:19x19,5"
_FILLED = [[cell for cell in range(180) if (cell % 19 // 2 + cell // 19) % 2 == side] for side in (0, 1)]
MISTAKE = {
    "puzzle": {
        "game": LARGE,
        "better": list(range(300, 360)),
        "moves": [cell for pair in zip(*_FILLED, strict=False) for cell in pair],
    },
    "text": "a" * 300,
}
STONES = "/".join(("XO" if row % 2 else "OX") + "." * 17 for row in range(19))
Message = dict[str, Any]


class Clock:
    """The clock of the server, which can be put forward."""

    def __init__(self) -> None:
        self.offset_ms = 0
        self._play_ms = ServerClock().play_ms

    def __call__(self) -> int:
        """Return the time of play in milliseconds."""
        return self._play_ms() + self.offset_ms


class NoSocket:
    """A stand-in for the socket that a connection sets options on."""

    family = socket.AF_INET

    def setsockopt(self, *_: object) -> None:
        """Do nothing."""


class Hearer(Protocol):
    """The end of a wire."""

    def hear(self, data: bytes) -> None:
        """Take in what the server sends."""


class Wire(asyncio.Transport):
    """A stand-in for the transport of a connection."""

    def __init__(self, client: Hearer, address: str) -> None:
        super().__init__({"socket": NoSocket(), "peername": (address, 1)})
        self._client = client

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Hand it to the client."""
        self._client.hear(bytes(data))

    def get_write_buffer_size(self) -> int:
        """Return that everything is read at once."""
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Need no limits."""

    def pause_reading(self) -> None:
        """Do nothing: the client waits for each answer anyway."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def is_closing(self) -> bool:
        """Tell that it never is."""
        return False

    def abort(self) -> None:
        """Do nothing."""

    def can_write_eof(self) -> bool:
        """Tell that there is no end."""
        return False


class Cost(NamedTuple):
    """Cost of one request, in microseconds of each thread."""

    loop_us: float
    writer_us: float
    reader_us: float
    is_ok: bool = True


class Threads:
    """CPU time of the event loop's thread, of the journal's writer and of its reader, in nanoseconds."""

    def __init__(self) -> None:
        clocks = {each.name: time.pthread_getcpuclockid(each.ident) for each in threading.enumerate() if each.ident}
        main = threading.main_thread().name
        writer = next(name for name in clocks if name.startswith("asyncio_"))
        reader = next(name for name in clocks if name not in (main, writer))
        self._clocks = [clocks[name] for name in (main, writer, reader)]

    def ns(self) -> list[int]:
        """Return the time of each until now."""
        return [time.clock_gettime_ns(clock) for clock in self._clocks]


class Client:
    """A player's end of a connection that is only bytes; `heard` has what was said since the last request."""

    def __init__(self, hub: Hub, address: str = "127.0.0.1", *, is_deaf: bool = False) -> None:
        self.name = self.token = ""
        self.heard: list[Message] = []
        self.is_deaf = is_deaf
        """Whether nothing is kept of what the server sends, but for the answer to a request."""
        self._hub = hub
        self._raw: list[bytes] = []
        self._answered = asyncio.Event()
        self._connection = Connection(hub, asyncio.get_running_loop(), hub.services.read_buffer)
        self._connection.connection_made(Wire(self, address))
        self._connection.data_received(HANDSHAKE)

    def hear(self, data: bytes) -> None:
        """Take in what the server sends."""
        if data.startswith(b"HTTP/"):  # the answer to the handshake may come together with the first frames
            data = data.partition(b"\r\n\r\n")[2]
        is_answer = b'"id":%d' % ID in data or b'"id":null' in data
        if is_answer or not self.is_deaf:
            self._raw.append(data)
        if is_answer:
            self._answered.set()

    async def ask(self, request: Message, threads: Threads | None = None) -> "Cost":
        """Send a request; return its cost until the answer is there and nothing is left to do at once."""
        frame = framed(json.dumps({"id": ID} | request, ensure_ascii=False, separators=(",", ":")).encode())
        self._answered.clear()
        self._raw.clear()
        began_ns = threads.ns() if threads else []
        self._connection.data_received(frame)
        await self._answered.wait()
        for _ in range(_PASSES):
            await asyncio.sleep(0)
        took_us = [(end - begin) / 1_000 for begin, end in zip(began_ns, threads.ns() if threads else [], strict=True)]
        self.heard = list(messages(b"".join(self._raw)))
        answer = next(each for each in self.heard if each["type"] in ("ok", "refused"))
        loop_us, writer_us, reader_us = took_us or (0.0, 0.0, 0.0)
        return Cost(loop_us, writer_us, reader_us, answer["type"] == "ok")

    async def told(self, type_: str) -> Message:
        """Return what was told since the last request, as soon as it is."""
        while True:
            for each in messages(b"".join(self._raw)):
                if each["type"] == type_:
                    return each
            await asyncio.sleep(0)

    async def ok(self, type_: str, **more: object) -> None:
        """Send a request that must be carried out."""
        assert (await self.ask({"type": type_} | more)).is_ok, (type_, self.heard)

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

    old: Client
    """Plays the live match of 3,000 events."""
    club: str
    """The code of Eve's tournament, which many have entered."""

    def __init__(self, hub: Hub, clock: Clock, past: int) -> None:
        self.hub, self.clock = hub, clock
        self.past = past
        """How many short matches the journal has."""
        self.watched = "nothere1"
        """The finished match that Eve has watched last."""
        self.turns = itertools.count()
        """Takes turns among the long ones."""
        self._numbers = itertools.count(1)

    async def fill(self, people: int, bots: int) -> None:
        """Let so many of the journal's players come: half of the people seek, the others play a match each."""
        crowd = [await self._known(number) for number in range(1, people + 1)]
        for number in range(PLAYERS + 1, PLAYERS + bots + 1):
            bot = await self._known(number, bot="bot", places=4)
            await bot.ok("seek", games=[], opponents="people", min_rating=3_900)
            await bot.ok("unseek")
        for number in range(0, people // 2, 2):
            one, other = crowd[number : number + 2]
            await one.ok("challenge", name=name_of(number + 2), game=SIXTEEN[number // 2 % 16])
            challenge = (await one.told("challenged"))["challenge"]
            await other.ok("answer", challenge=challenge, accept=True)
            one.is_deaf = other.is_deaf = True
        for number in range(people // 2, people):
            assert (await crowd[number].ask(seek_for_nobody([SIXTEEN[number % 16]], 3_900))).is_ok
            crowd[number].is_deaf = True
        self.old = await self._known(PLAYERS - 1)
        self._crowd = crowd

    async def _known(self, number: int, **more: object) -> Client:
        """Return a client of a player that the journal has; 50 of them have an address together."""
        client = Client(self.hub, f"10.0.{number // 50}.1")
        await client.ok("hello", protocols=[1], token=token_of(number), **more)
        client.name = name_of(number)
        return client

    async def populate(self) -> None:
        """Let the players come who ask, and begin their matches."""
        self.ann, self.bob, self.eve = [await self.player() for _ in range(3)]
        self.over = await self.match()
        await self.ann.ok("resign", match=self.over)
        await self.begin()
        await self.eve.ok("organise", **CLUB)
        self.club = (await self.eve.told("tournament"))["tournament"]
        for client in self._crowd[:ENTRANTS]:
            await client.ok("enter", tournament=self.club)

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
        await self.ann.ok("seek", games=[game], opponents="people")
        await self.bob.ok("seek", games=[game], opponents="people")
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
    """Return a case in which a player says always the same; words in capitals stand for matches, CLUB for a tournament.

    LIVE and OVER are those of Ann and Bob, PAST is any that the journal has, LONG one of those of 3,000 events.
    """

    async def case(world: World) -> tuple[Client, Message]:
        for_now = {
            "CLUB": world.club,
            "LIVE": world.live,
            "OVER": world.over,
            "PAST": f"m{random.randrange(world.past):07}",
            "LONG": LONG_IDS[next(world.turns) % LONG_MATCHES],
        }
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
    return other, {"type": "accept", "seek": world.hub.lobby.seeks.last_number}


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


async def watched_past(world: World) -> tuple[Client, Message]:
    """Watch a match that ended long ago, and no longer the one before."""
    await world.eve.ask({"type": "unwatch", "match": world.watched})
    world.watched = f"m{random.randrange(world.past):07}"
    return world.eve, {"type": "watch", "match": world.watched}


async def organised(world: World) -> tuple[Client, Message]:
    """Make the first tournament of a player."""
    return await world.player(), {"type": "organise"} | CLUB


def large_boards() -> list[str]:
    """Return as many large boards as a seek may name."""
    return [f"mnk:19x19,{k}+swap" for k in range(2, 18)]


CLUB: Message = {"name": "Club", "kind": "swiss", "time": {"initial_ms": 180_000}}
ENTRANTS = 400
"""Players of the tournament that is asked about."""

CASES: dict[str, tuple[Case | None, Case | None]] = {
    "ping": (by("ann", "ping"), None),
    "hello, new": (stranger(name="NEW"), stranger(name=COSTLY_TEXT)),
    "hello, guest": (stranger(), None),
    "hello, token": (known, stranger(token="0" * 43)),
    "seek": (by("eve", "seek", games=large_boards()), by("eve", "seek", games=[*large_boards()[1:], "x" * 40])),
    "seek, 16 games that are sought": (by("eve", "seek", games=SIXTEEN, opponents="people", min_rating=3_800), None),
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
    "watch, finished": (watched_past, None),
    "watch, 3,000 events": (after(("eve", "unwatch", {"match": LIVE_ID}), by("eve", "watch", match=LIVE_ID)), None),
    "unwatch": (
        after(("eve", "watch", {"match": "LIVE"}), by("eve", "unwatch", match="LIVE")),
        by("eve", "unwatch", match="nothere1"),
    ),
    "chat": (by("ann", "chat", match="LIVE", text=MARKS), by("ann", "chat", match="nothere1", text=MARKS)),
    "mute": (by("eve", "mute", name="BOB", on=True), by("eve", "mute", name=COSTLY_TEXT, on=True)),
    "block": (by("eve", "block", name="BOB", on=True), by("eve", "block", name=COSTLY_TEXT, on=True)),
    "blocks": (by("eve", "blocks"), None),
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
    "resume, 3,000 events": (by("old", "resume", match=LIVE_ID, seq=0), None),
    "rename": (renamed, by("eve", "rename", name=COSTLY_TEXT)),
    "forget": (forgotten, by("eve", "forget", name=COSTLY_TEXT)),
    "profile": (by("eve", "profile", name="BOB"), by("eve", "profile", name=COSTLY_TEXT)),
    "history": (by("eve", "history", name="BOB"), by("eve", "history", name=COSTLY_TEXT)),
    "history, 10,000 matches": (by("eve", "history", name="p1"), None),
    "leaderboard": (by("eve", "leaderboard", game="qubic"), by("eve", "leaderboard", game="x")),
    "organise": (organised, by("eve", "organise", **CLUB | {"game": "x"})),
    "tournaments": (by("eve", "tournaments"), None),
    "attend": (by("eve", "attend", tournament="CLUB"), by("eve", "attend", tournament="NNNNN")),
    "enter": (
        after(("eve", "withdraw", {"tournament": "CLUB"}), by("eve", "enter", tournament="CLUB")),
        by("eve", "enter", tournament="NNNNN"),
    ),
    "withdraw": (
        after(("eve", "enter", {"tournament": "CLUB"}), by("eve", "withdraw", tournament="CLUB")),
        by("eve", "withdraw", tournament="NNNNN"),
    ),
    "direct": (
        after(
            ("eve", "direct", {"tournament": "CLUB", "act": "resume"}),
            by("eve", "direct", tournament="CLUB", act="pause"),
        ),
        by("ann", "direct", tournament="CLUB", act="pause"),
    ),
    "rules": (by("eve", "rules", game=LARGE), by("eve", "rules", game="x")),
    "replay": (by("eve", "replay", match="PAST"), by("eve", "replay", match="nothere1")),
    "replay, 3,000 events": (by("eve", "replay", match="LONG"), None),
    "record": (by("eve", "record", match="PAST"), by("eve", "record", match="nothere1")),
    "record, 3,000 events": (by("eve", "record", match="LONG"), None),
    "analyse": (None, by("eve", "analyse", match="nothere1")),
    "hint": (None, by("eve", "hint", match="nothere1")),
    "puzzle": (by("eve", "puzzle", day="2026-01-04"), by("eve", "puzzle", day=COSTLY_TEXT)),
    "learn": (by("eve", "learn", mistake=MISTAKE), by("eve", "learn", mistake=MISTAKE | {"due": "never"})),
    "mistakes": (by("eve", "mistakes", all=True), None),
    "study": (by("eve", "study", number=0), by("eve", "study", number=-1)),
    "no message": (None, by("eve", "{" * 2_000)),
}
"""For each request one that is carried out and one that is refused, or None."""


LIMITED_BY = {
    "hello, new": "`registrations`; refused: `mistakes`",
    "hello, guest": "`registrations`",
    "hello, token": "`openings`",
    "seek": "`work`",
    "seek, 16 games that are sought": "`work`",
    "accept": "`matches`, `writes`",
    "challenge": "`challenges`",
    "answer": "`matches`, `writes`",
    "invite": "`challenges`",
    "join": "`codes`, `matches`, `writes`",
    "watch": "from the disk: `inquiries`",
    "watch, finished": "`inquiries`",
    "watch, 3,000 events": "`inquiries`",
    "unwatch": "from the disk: `inquiries`",
    "chat": "`chats`",
    "mute": "`blocks`",
    "block": "`blocks`",
    "blocks": "`inquiries`",
    "report": "`reports`",
    "play": "`writes`",
    "play, 19x19": "`writes`; from the disk: `inquiries`",
    "resign": "`writes`; from the disk: `inquiries`",
    "abort": "`writes`; from the disk: `inquiries`",
    "offer": "`writes`; from the disk: `inquiries`",
    "agree": "`writes`; from the disk: `inquiries`",
    "decline": "`writes`; from the disk: `inquiries`",
    "claim": "`writes`",
    "resume": "again: `inquiries`",
    "resume, 3,000 events": "again: `inquiries`",
    "rename": "`renames`; refused: `mistakes`",
    "forget": "`registrations`",
    "profile": "`inquiries`",
    "history": "`inquiries`",
    "history, 10,000 matches": "`inquiries`",
    "leaderboard": "`inquiries`",
    "organise": "`tournaments`, `challenges`",
    "tournaments": "`inquiries`",
    "attend": "`inquiries`",
    "enter": "`challenges`; refused: `codes`",
    "withdraw": "`challenges`; refused: `codes`",
    "direct": "`challenges`",
    "rules": "`inquiries`, five of an address; the first of a large board costs 1,700",
    "replay": "`inquiries`",
    "replay, 3,000 events": "`inquiries`",
    "record": "`inquiries`",
    "record, 3,000 events": "`inquiries`",
    "analyse": "one at a time",
    "hint": "`hints`",
    "puzzle": "`inquiries`",
    "learn": "`lessons`",
    "mistakes": "`inquiries`",
    "study": "`inquiries`, five of an address; the first one costs 18,000",
    "no message": "`work`",
}
"""The bounds of each request, besides `messages`."""


async def _measuring_us(threads: Threads, times: int) -> float:
    """Return what the measurement itself costs the event loop: waiting for an answer, and some passes."""
    took_us, loop = [], asyncio.get_running_loop()
    for _ in range(times):
        answered = asyncio.Event()
        began_ns = threads.ns()
        loop.call_soon(answered.set)
        await answered.wait()
        for _ in range(_PASSES):
            await asyncio.sleep(0)
        took_us.append((threads.ns()[0] - began_ns[0]) / 1_000)
    return median(took_us)


async def measure(world: World, threads: Threads, case: Case, times: int, own_us: float, *, is_ok: bool) -> Cost:
    """Return the median cost of a case, of each thread, without what the measurement costs."""
    found = []
    for _ in range(times):
        client, said = await case(world)
        if said.get("name") == "BOB":
            said["name"] = world.bob.name
        cost = await client.ask(said, threads)
        assert cost.is_ok is is_ok, (said, client.heard)
        found.append(cost[:3])
        if client not in (world.ann, world.bob, world.eve, world.old):
            client.leave()
    loop_us, writer_us, reader_us = map(median, zip(*found, strict=True))
    return Cost(max(1.0, loop_us - own_us), writer_us, reader_us)


async def run(given: argparse.Namespace) -> tuple[str, str]:
    """Return both tables."""
    lifted = {each.name: UNMETERED for each in fields(Limits) if each.type is Rate}
    limits = Limits(
        **lifted,  # type: ignore[arg-type]
        max_live_matches=1_000_000,
        max_per_address=1_000_000,
        tournament_players=1_000,
        open_tournaments=1_000,
        unmetered=(),
    )
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / JOURNAL_FILE
        if given.journal is None or not given.journal.exists():
            write_world(given.journal or journal, given.matches)
        if given.journal is not None:
            shutil.copy(given.journal, journal)
        with closing(LocalLedger(journal)) as ledger:
            configuration, loop = Configuration(name="test", limits=limits), asyncio.get_running_loop()
            clock, rng = Clock(), random.Random(1)
            hub = Hub(build_services(configuration, Journal(ledger), loop, clock, rng, cost_s=time.thread_time))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(ledger.run())
                try:
                    hub.recall()
                    world = World(hub, clock, given.matches)
                    await world.fill(given.people, given.bots)
                    await world.populate()
                    return await table_of_requests(world, given.times), table_of_chores(world, given.times)
                finally:
                    ledger.stop()


async def table_of_requests(world: World, times: int) -> str:
    """Return a table with a row for each kind of request."""
    await world.eve.ok("record", match=world.over)  # with which the reader's thread begins
    threads = Threads()
    own_us = await _measuring_us(threads, times)
    lines = [
        "| request | loop, us | writer, us | reader, us | refused, us | limited by, besides `messages` |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for name, (done, refused) in CASES.items():
        cost = await measure(world, threads, done, times, own_us, is_ok=True) if done else None
        cells = ["" if us < 1 else f"{us:,.0f}" for us in cost[:3]] if cost else [""] * 3
        loss = await measure(world, threads, refused, times, own_us, is_ok=False) if refused else None
        cells.append(f"{sum(loss[:3]):,.0f}" if loss else "")
        lines.append(f"| {name} | {' | '.join(cells)} | {LIMITED_BY.get(name, '')} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def table_of_chores(world: World, times: int) -> str:
    """Return a table of what the server does by itself."""
    hub, now_s = world.hub, asyncio.get_running_loop().time()
    seek = next(iter(hub.lobby.seeks))

    def look_after_all() -> None:
        for connection in hub.services.connections:
            connection.tick(now_s)

    chores: dict[str, tuple[Callable[[], object], str]] = {
        "making the list of seeks": (hub.listing.seeks, "ten times a second"),
        "making the list of players": (hub.listing.players, "ten times a second"),
        "making the list of matches": (hub.listing.live, "ten times a second"),
        "suggesting bots": (lambda: hub.listing.bots_for(seek), "one in each pass of the loop"),
        "looking after the lobby, while no seek is due": (hub.matchmaker.tick, "once a second"),
        "looking after all connections": (look_after_all, "once a second, in turns of 25"),
    }
    lines = ["| by itself | loop, us | at most |", "|---|--:|---|"]
    for name, (chore, how_often) in chores.items():
        took_us = []
        for _ in range(times):
            began_ns = time.thread_time_ns()
            chore()
            took_us.append((time.thread_time_ns() - began_ns) / 1_000)
        lines.append(f"| {name} | {median(took_us):,.0f} | {how_often} |")
    lines.insert(
        -1, f"| the same for a crowd of new seeks | {widening_us(world):,.0f} | one in each pass of the loop |"
    )
    return "\n".join(lines)


def widening_us(world: World) -> float:
    """Let all seeks be made at the same moment; return the median cost of a look at them until none is due.

    One look widens the bands of `MOST_IN_TURN` seeks of each age.
    """
    hub, clock = world.hub, world.clock
    now_ms = clock()
    for seek in list(hub.lobby.seeks):
        hub.lobby.seek(seek, now_ms)
    took_us: list[float] = []
    clock.offset_ms += BANDS[-1][0]
    while hub.lobby.seeks.is_behind(clock()):
        began_ns = time.thread_time_ns()
        hub.lobby.tick(clock())
        took_us.append((time.thread_time_ns() - began_ns) / 1_000)
    return median(took_us)


def write(tables: Sequence[str]) -> None:
    """Replace in the page the tables that begin like these."""
    page = PAGE.read_text(encoding="utf-8")
    for table in tables:
        begin = page.index(table.partition(" |")[0])
        end = page.find("\n\n", begin)
        page = page[:begin] + table + (page[end:] if end > 0 else "\n")
    PAGE.write_text(page, encoding="utf-8")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.requests", description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=100, help="of each request")
    parser.add_argument("--people", type=int, default=PLAYERS, help="how many are connected")
    parser.add_argument("--bots", type=int, default=BOTS, help="how many are connected")
    parser.add_argument("--matches", type=int, default=MATCHES, help="how many have ended")
    parser.add_argument("--journal", type=Path, help="keep the journal in this file for the next time")
    parser.add_argument("--write", action="store_true", help="replace the tables of docs/security.md")
    given = parser.parse_args()
    tables = asyncio.run(run(given))
    print("\n\n".join(tables))
    if given.write:
        write(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
