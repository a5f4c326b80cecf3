"""Count the instructions of moves, a handshake and a `hello`: figures that the load of the machine does not change.

`python -m benchmarks.instructions` takes about a minute and needs valgrind, whose tool callgrind counts instructions in
user mode. One thread feeds bytes to the connections of a hub whose journal is in memory, or batches of a log to a node
of a cluster. Repeated runs agree to within half a per cent. Compare versions by running it in both trees with the same
interpreter.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from benchmarks.load import SCRIPTS
from benchmarks.requests import HANDSHAKE, Message, Wire, framed, messages
from ttt_net.server.cluster.log import (
    FORM,
    AnyLoggedEntry,
    Batch,
    BeginEpoch,
    Came,
    MemoryLog,
    MemoryStream,
    encode_batch,
)
from ttt_net.server.cluster.node import ClusterNode
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.replicated_ledger import Membership, ReplicatedLedger
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal
from ttt_net.server.journal.entries import AppendEvents, RegisterPlayer
from ttt_net.server.journal.ledger import Ledger, MemoryLedger
from ttt_net.server.services import Services, build_services
from ttt_net.server.serving import GC_THRESHOLDS
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

ROOT = Path(__file__).parent.parent
MATCHES = 32
FIRST_PLY, LAST_PLY = 4, 30
"""The counted plies of each match; no script is shorter."""
NEWCOMERS, WARM_UP = 60, 5
"""Players whose `hello` is counted, and those before, for whom modules are loaded; two of five have Cyrillic names."""
LOCAL, METERED = "127.0.0.{}", "192.0.2.{}"
"""Addresses without limits, and with."""
CLOCK = {"initial_ms": 300_000, "increment_ms": 2_000}
STEP_S = 0.000_02
"""Each look at the clock of costs adds this, since the time under valgrind would make every address a heavy one."""
_MARK = "getsid"
"""A function of libc that the server never calls: each time, callgrind writes its counts and begins anew."""
_UNLIMITED = Rate(999_999_999)
_BROWSER = HANDSHAKE.removesuffix(b"\r\n") + (
    b"Origin: http://127.0.0.1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0\r\n"
    b"Accept-Encoding: gzip, deflate\r\nAccept-Language: en-US,en;q=0.9\r\nCache-Control: no-cache\r\n"
    b"Pragma: no-cache\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
)


Case = Callable[[Callable[[], None]], int]
"""Does something, marks its begin and its end, and returns how often it was done."""


class Peer:
    """A client's end of a connection that is only bytes."""

    def __init__(self, stage: "Stage", address: str, handshake: bytes = HANDSHAKE) -> None:
        self.raw: list[bytes] = []
        self._buffer = stage.hub.services.read_buffer
        self._connection = Connection(stage.hub, cast(asyncio.AbstractEventLoop, stage.turn), self._buffer)
        self._connection.connection_made(Wire(self, address))
        self.feed(handshake)
        self.raw.clear()

    def hear(self, data: bytes) -> None:
        """Keep what the server sends."""
        self.raw.append(data)

    def send(self, **request: object) -> None:
        """Send a request."""
        self.feed(framed(json.dumps({"id": 9} | request, separators=(",", ":")).encode()))

    def feed(self, data: bytes) -> None:
        """Hand bytes to the connection as the event loop does."""
        self._buffer.view[: len(data)] = data
        self._connection.buffer_updated(len(data))

    def told(self, type_: str) -> Message:
        """Return the newest message of a type."""
        return [each for each in messages(b"".join(self.raw)) if each["type"] == type_][-1]


class CostClock:
    """A clock of CPU time that costs what the real one does, and does not depend on the machine."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def __call__(self) -> float:
        """Return the seconds so far."""
        time.thread_time()
        self._now_s += STEP_S
        return self._now_s


def services_on(ledger: Ledger, membership: Membership | None = None) -> Services:
    """Return the services of a hub without limits."""
    limits = Limits(
        messages=_UNLIMITED,
        writes=_UNLIMITED,
        registrations=_UNLIMITED,
        matches=_UNLIMITED,
        openings=_UNLIMITED,
        work=_UNLIMITED,
        max_per_address=9_999,
    )
    return build_services(
        Configuration(name="count", limits=limits),
        Journal(ledger),
        asyncio.get_running_loop(),
        lambda: time.monotonic_ns() // 1_000_000,
        random.Random(1),
        wall_ms=lambda: time.time_ns() // 1_000_000,
        cost_s=CostClock(),
        membership=membership,
    )


class Turn:
    """An event loop whose next turn is taken by hand; its timers never go off."""

    def __init__(self) -> None:
        self._due: list[Callable[[], object]] = []
        self.time = asyncio.get_running_loop().time

    def call_soon(self, callback: Callable[..., object], *args: object) -> None:
        """Call it in the next turn."""
        self._due.append(partial(callback, *args))

    def call_later(self, delay_s: float, callback: Callable[..., object], *args: object) -> None:
        """Never call it."""

    def take(self) -> None:
        """Call what is due."""
        due, self._due = self._due, []
        for call in due:
            call()


class Stage:
    """A hub with its ledger; nothing is committed before `deliver`."""

    def __init__(self) -> None:
        self.ledger = MemoryLedger()
        self.hub = Hub(services_on(self.ledger))
        self.turn = Turn()

    def deliver(self) -> None:
        """Commit what was written, and take the turn that begins with the answers."""
        self.ledger.deliver()
        self.turn.take()

    def welcome(self, address: str, name: str) -> Peer:
        """Return a new player."""
        peer = Peer(self, address)
        peer.send(type="hello", protocols=[1], name=name)
        self.deliver()
        return peer

    def match(self, number: int, address: str, clock: Message | None) -> list[Peer]:
        """Let two new players begin a match; return them by side."""
        players = [self.welcome(address.format(number + 1), f"Player{2 * number + side}") for side in (0, 1)]
        for player in players:
            player.send(type="seek", games=["connect4"], opponents="people", time=clock)
        self.deliver()
        return sorted(players, key=lambda player: int(player.told("snapshot")["you"]))

    def play(self, address: str, clock: Message | None, to_a_commit: int, mark: Callable[[], None]) -> int:
        """Play matches in step, `to_a_commit` moves in each commit; return the number of counted moves."""
        matches = [self.match(number, address, clock) for number in range(MATCHES)]
        frames = [moves_of(number, players) for number, players in enumerate(matches)]
        for ply in range(LAST_PLY):
            if ply == FIRST_PLY:
                mark()
            for number, players in enumerate(matches):
                players[ply % 2].feed(frames[number][ply])
                if (number + 1) % to_a_commit == 0:
                    self.deliver()
        mark()
        assert all(players[1].told("played")["ply"] == LAST_PLY for players in matches)
        return MATCHES * (LAST_PLY - FIRST_PLY)


def moves_of(number: int, players: list[Peer]) -> list[bytes]:
    """Return the requests of all moves of a match, the last of which ends it."""
    match = str(players[0].told("snapshot")["match"]).encode()
    return [
        framed(b'{"id":9,"type":"play","match":"%s","ply":%d,"move":%d}' % (match, ply, move))
        for ply, move in enumerate(SCRIPTS[number % len(SCRIPTS)][0])
    ]


class Follower:
    """A node of a cluster that applies what the node `a` writes, at which all players of its matches are connected."""

    def __init__(self, clock: Message | None, file: Path | None = None) -> None:
        """Let the players play until `FIRST_PLY`; the tables are in a file or in memory."""
        author = Stage()
        author.play(LOCAL, clock, MATCHES, lambda: None)
        written = author.ledger.entries
        self.moves = [entry for entry in written if isinstance(entry, AppendEvents) and entry.is_plain]
        """The moves of all matches in step."""
        self._stream, self._calls = MemoryStream(), deque[Callable[[], object]]()
        self._number = 0
        self.replica = Replica(file)
        log, loop = MemoryLog(self._stream, self._calls.append), asyncio.get_running_loop()
        self._ledger = ReplicatedLedger(
            "b", log, self.replica, lambda do, tell: self._calls.append(lambda: tell(do())), loop, random.Random(1)
        )
        hub = Hub(services_on(self._ledger, Membership(self._ledger)))
        self._rooms = hub.registry.rooms
        ClusterNode(hub, self._ledger, log, self.replica).start()
        self.hear(self.batch(BeginEpoch("secret", form=FORM)))
        players = 0
        for entry in written:
            if isinstance(entry, RegisterPlayer):
                players += 1
                self.hear(self.batch(entry, Came(players, players, "", entry.at_ms, "")))
            elif not (isinstance(entry, AppendEvents) and entry.is_plain):
                self.hear(self.batch(entry))
        assert len(self._rooms) == MATCHES
        self.hear(self.batch(*self.moves[: MATCHES * FIRST_PLY]))
        del self.moves[: MATCHES * FIRST_PLY]

    def batch(self, *entries: AnyLoggedEntry) -> bytes:
        """Return the next batch of the node `a`."""
        self._number += 1
        return encode_batch(Batch("a", 1, self._number, 0, "", entries, 1))

    def batches(self, size: int) -> list[bytes]:
        """Return the moves as batches of a size."""
        return [self.batch(*self.moves[first : first + size]) for first in range(0, len(self.moves), size)]

    def hear(self, batch: bytes) -> None:
        """Apply a batch."""
        self._stream.append(batch)
        while self._calls:
            self._calls.popleft()()
        assert self._ledger.position == self._stream.end

    def end(self) -> None:
        """Check that all moves are in the tables and in memory, and close the tables."""
        rows = self.replica.database.connection.execute("SELECT count(*) FROM facts").fetchone()
        assert rows == (MATCHES * (1 + LAST_PLY),)
        assert all(room.match is not None and len(room.match.moves) == LAST_PLY for room in self._rooms.values())
        self.replica.close()


def _followed(clock: Message | None, size: int) -> Case:
    def count(mark: Callable[[], None]) -> int:
        follower = Follower(clock)
        batches = follower.batches(size)
        mark()
        for batch in batches:
            follower.hear(batch)
        mark()
        follower.end()
        return len(follower.moves)

    return count


def _move(address: str, clock: Message | None, to_a_commit: int) -> Case:
    return lambda mark: Stage().play(address, clock, to_a_commit, mark)


def _next_match(*, is_end: bool) -> Case:
    """Count the last move of each match, or the two offers with which the next one begins."""

    def count(mark: Callable[[], None]) -> int:
        stage = Stage()
        matches = [stage.match(number, LOCAL, None) for number in range(MATCHES)]
        last = []
        for number, players in enumerate(matches):
            *moves, end = moves_of(number, players)
            for ply, move in enumerate(moves):
                players[ply % 2].feed(move)
                stage.deliver()
            last.append((players[len(moves) % 2], end))
        offer = b'{"id":9,"type":"offer","match":"%s","kind":"rematch"}'
        offers = [framed(offer % str(players[0].told("snapshot")["match"]).encode()) for players in matches]
        if is_end:
            mark()
        for player, end in last:
            player.feed(end)
        stage.deliver()
        mark()
        if not is_end:
            for side in (0, 1):
                for players, frame in zip(matches, offers, strict=True):
                    players[side].feed(frame)
                stage.deliver()
            mark()
            assert all(player.told("snapshot")["moves"] == [] for players in matches for player in players)
        assert all(player.told("ended") for players in matches for player in players)
        return MATCHES

    return count


def _handshake(request: bytes) -> Case:
    def count(mark: Callable[[], None]) -> int:
        stage = Stage()
        kept = [Peer(stage, LOCAL.format(1), request)]
        mark()
        kept += [Peer(stage, LOCAL.format(1), request) for _ in range(NEWCOMERS)]
        mark()
        return NEWCOMERS

    return count


def _hello(*, is_known: bool) -> Case:
    def count(mark: Callable[[], None]) -> int:
        stage = Stage()
        names = [f"{('Robert', 'Надежда')[number % 5 // 3]} {number}" for number in range(WARM_UP + NEWCOMERS)]
        peers = [Peer(stage, LOCAL.format(1)) for _ in names]
        hellos: list[Message] = [{"type": "hello", "protocols": [1], "name": name} for name in names]
        if is_known:
            known = [stage.welcome(LOCAL.format(1), name) for name in names]
            hellos = [{"type": "hello", "protocols": [1], "token": peer.told("welcome")["token"]} for peer in known]
        for number, (peer, hello) in enumerate(zip(peers, hellos, strict=True)):
            if number == WARM_UP:
                mark()
            peer.send(**hello)
            stage.deliver()
        mark()
        assert all(peer.told("welcome") for peer in peers)
        return NEWCOMERS

    return count


CASES: tuple[tuple[str, Case], ...] = (
    ("a move without a clock, 32 to a commit", _move(LOCAL, None, 32)),
    ("the same, each in a commit of its own", _move(LOCAL, None, 1)),
    ("the same, 32 to a commit, metered addresses", _move(METERED, None, 32)),
    ("a move with a clock, 32 to a commit", _move(LOCAL, CLOCK, 32)),
    ("the same, each in a commit of its own", _move(LOCAL, CLOCK, 1)),
    ("the same, 32 to a commit, metered addresses", _move(METERED, CLOCK, 32)),
    ("the last move of a match, 32 to a commit", _next_match(is_end=True)),
    ("a rematch with its two offers, 32 to a commit", _next_match(is_end=False)),
    ("a move of another node, 64 to a batch", _followed(None, 64)),
    ("the same, each in a batch of its own", _followed(None, 1)),
    ("the same with a clock, 64 to a batch", _followed(CLOCK, 64)),
    ("an opening handshake", _handshake(HANDSHAKE)),
    ("the same, with the headers of a browser", _handshake(_BROWSER)),
    ("`hello` of a new player, with its commit", _hello(is_known=False)),
    ("`hello` with a token", _hello(is_known=True)),
)


async def carry_out(mark: Callable[[], None]) -> list[int]:
    """Carry out every case, each between two marks; return how often each did what is counted."""
    counts = []
    for _, case in CASES:
        gc.collect()  # what the case before has left
        counts.append(case(mark))
    return counts


def mark() -> None:
    """Call `_MARK`."""
    os.getsid(0)


def count() -> list[int]:
    """Carry out the cases under valgrind; return the instructions of each. Raises `RuntimeError` if that fails."""
    with tempfile.TemporaryDirectory(prefix="ttt_net-instructions-") as folder:
        dumps = f"--callgrind-out-file={folder}/count"
        command = ["valgrind", "-q", "--tool=callgrind", f"--dump-before={_MARK}", dumps]
        done = subprocess.run(
            [*command, sys.executable, "-m", "benchmarks.instructions", "--counted"],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONHASHSEED": "0"},
            cwd=ROOT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"valgrind ended with {done.returncode}")
        spent = [total_of(Path(f"{folder}/count.{2 * number}")) for number in range(1, len(CASES) + 1)]
        return [total // times for total, times in zip(spent, json.loads(done.stdout), strict=True)]


def total_of(dump: Path) -> int:
    """Return the instructions since the dump before."""
    with dump.open(errors="replace") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("totals:"))


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__.split("\n")[0])
    parser.add_argument("--counted", action="store_true", help=argparse.SUPPRESS)
    if parser.parse_args().counted:
        gc.set_threshold(*GC_THRESHOLDS)  # as in a server, or one collection of everything falls into some case
        print(json.dumps(asyncio.run(carry_out(mark))))
        return 0
    if shutil.which("valgrind") is None:
        print("benchmarks.instructions: needs valgrind; on Debian: apt install valgrind", file=sys.stderr)
        return 2
    print("| instructions | each |\n|---|--:|")
    for (name, _), each in zip(CASES, count(), strict=True):
        print(f"| {name} | {each:,} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
