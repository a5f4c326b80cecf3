"""A server in this process, on a free port of the loopback, with its journal in a folder of the test."""

import asyncio
import os
import random
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator, KeysView, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from email.message import Message
from email.parser import Parser
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from tests.patience import PATIENCE_S
from tests.server.encrypted_peer import Authority, EncryptedPeer
from tests.server.journal.jobs import before_commits, on_disk
from tests.server.peer import Peer, RawPeer
from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.journal.queries import SanctionsQuery
from ttt_net.server.online_players import Session
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.rooms.coach import installed_engine
from ttt_net.server.rooms.room import MatchRoom
from ttt_net.server.server_clock import ServerClock
from ttt_net.server.services import build_services
from ttt_net.server.serving import serving
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.settings.listening import listen
from ttt_net.server.wire.connection import Connection

ENGINE = installed_engine()
SOON_TURNS = 100
"""Turns of the loop in which most states come that tests wait for."""
LOOK_S = 0.002
"""Between two looks at a state that does not come at once: looking in each turn would keep a core from other tests."""


class SeededDice(random.Random):
    """Numbers by a seed; tokens are never the same, or a server that starts anew would give out those of the last."""

    def randbytes(self, n: int) -> bytes:
        return os.urandom(n)


class Clock:
    """The clock of the server, which a test can put forward, or stop."""

    def __init__(self) -> None:
        self.offset_ms = 0
        self._steady_ms = self._running_ms = ServerClock().play_ms

    def __call__(self) -> int:
        return self._steady_ms() + self.offset_ms

    def stand_still(self) -> None:
        now_ms = self._steady_ms()
        self._steady_ms = lambda: now_ms

    def go_on(self) -> None:
        """Run again, from where it stood."""
        behind_ms = self._running_ms() - self._steady_ms()
        self._steady_ms = lambda: self._running_ms() - behind_ms


class Server:
    """Actions and inspections that a test may use on a running server."""

    def __init__(
        self, hub: Hub, clock: Clock, ledger: LocalLedger, port: int, trusting: ssl.SSLContext | None = None
    ) -> None:
        self.hub = hub
        self.clock = clock
        self.ledger = ledger
        self.port = port
        self.url = f"{'wss' if trusting else 'ws'}://127.0.0.1:{port}"
        self._trusting = trusting
        self._polite: list[RawPeer] = []
        self._stubborn: list[RawPeer] = []

    async def connect(self) -> Peer:
        """Return a client that has not said hello yet."""
        return await Peer.connect(self.url, self._trusting)

    async def raw(self) -> RawPeer:
        """Return a bare connection, over TLS if the server has it, which hangs up before the server ends."""
        self._polite.append(await self._bare())
        return self._polite[-1]

    async def plain(self) -> RawPeer:
        """Return a bare TCP connection to a server that expects TLS."""
        self._polite.append(await RawPeer.connect(self.port))
        return self._polite[-1]

    async def _bare(self) -> RawPeer:
        if self._trusting:
            return await EncryptedPeer.start(self.port, self._trusting)
        return await RawPeer.connect(self.port)

    async def stalled(self, name: str) -> RawPeer:
        """Return a player over a bare connection with a small buffer, who does not read even when the server ends."""
        self._stubborn.append(await RawPeer.connect(self.port, receive_buffer=4_096))
        await self._stubborn[-1].hello(name)
        return self._stubborn[-1]

    def hang_up(self) -> None:
        """Close the bare connections, but for those who stay to the end."""
        for peer in self._polite:
            peer.close()

    def close(self) -> None:
        """Close all bare connections."""
        for peer in self._polite + self._stubborn:
            peer.close()

    async def fetch(self, path: str, *headers: str, method: str = "GET") -> tuple[int, Message, bytes]:
        """Return status, headers and body of the answer to one plain HTTP request."""
        peer = await self.raw()
        lines = (f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", "")
        await peer.send("\r\n".join(lines).encode())
        first, _, rest = (await peer.read_head()).decode().partition("\r\n")
        return int(first.split()[1]), Parser().parsestr(rest), await peer.read_to_end()

    async def join(self, name: str, **who: object) -> Peer:
        """Return a client that has been welcomed as a new player."""
        peer = await self.connect()
        await peer.hello(name=name, **who)
        return peer

    async def pair(self, *names: str, **seek: object) -> tuple[Peer, Peer, str]:
        """Return two clients of a fresh match, the one who moves first in front, and its id."""
        peers = [await self.join(name) for name in names or ("Ann", "Bob")]
        return await self.match(peers[0], peers[1], **seek)

    async def match(self, one: Peer, other: Peer, **seek: object) -> tuple[Peer, Peer, str]:
        """Let two clients seek; return the one who moves first, the other, and the id of their match."""
        for peer in (one, other):
            await peer.ok("seek", **({"games": ["tictactoe"]} | seek))
        snapshots = [await peer.hear("snapshot") for peer in (one, other)]
        first, second = (one, other) if snapshots[0]["you"] == 0 else (other, one)
        return first, second, str(snapshots[0]["match"])

    def tick(self, later_s: float) -> None:
        """Look after all connections as if it were `later_s` from now."""
        self.hub.tick(asyncio.get_running_loop().time() + later_s)

    def later(self, later_ms: int) -> None:
        """Let time pass at once for all that goes by the hub's clock, and look after everything."""
        self.clock.offset_ms += later_ms
        self.tick(0)

    @property
    def connections(self) -> KeysView[Connection]:
        return self.hub.services.connections.keys()

    @property
    def sessions(self) -> dict[int, Session]:
        return self.hub.services.players.sessions

    @property
    def rooms(self) -> dict[str, MatchRoom]:
        return self.hub.registry.rooms

    def player_of(self, name: str) -> int:
        """Return the number of a connected player."""
        (session,) = (session for session in self.sessions.values() if session.info.name == name)
        return session.player

    def connection_of(self, name: str) -> Connection:
        """Return the server's end of the player's connection."""
        (session,) = (session for session in self.sessions.values() if session.info.name == name)
        assert isinstance(session.connection, Connection)
        return session.connection

    @contextmanager
    def sends(self) -> Iterator[list[bytes]]:
        """Yield the list of what connections are given to send inside the block."""
        sent: list[bytes] = []
        send = Connection.send

        def noted(connection: Connection, frames: bytes) -> None:
            sent.append(frames)
            send(connection, frames)

        with mock.patch.object(Connection, "send", noted):
            yield sent

    @contextmanager
    def stopped_disk(self) -> Iterator[threading.Event]:
        """Let nothing be written down inside the block; all of it is once the block ends.

        Yields an event that is set once a write is held up.
        """
        release, held = threading.Event(), threading.Event()

        def hold() -> None:
            held.set()
            release.wait(PATIENCE_S)

        with before_commits(self.ledger, hold):
            try:
                yield held
            finally:
                release.set()

    @contextmanager
    def busy_reader(self) -> Iterator[None]:
        """Let nobody look anything up inside the block; what was asked meanwhile is answered once the block ends."""
        release = threading.Event()
        self.ledger.look(lambda _: release.wait(PATIENCE_S), lambda _: None)
        try:
            yield
        finally:
            release.set()

    async def flushed(self) -> None:
        """Wait until all that was submitted to the journal has been answered."""
        answered = asyncio.Event()
        self.ledger.ask(SanctionsQuery(), lambda _: answered.set(), lambda _: answered.set())
        await answered.wait()

    async def execute(self, statement: str, *values: object) -> list[Any]:
        """Run SQL after all that was asked before, and return the rows: so a test breaks a disk, or looks at it."""
        return await on_disk(self.ledger, lambda connection: connection.execute(statement, values).fetchall())

    async def until_empty(self) -> None:
        """Wait until nobody is connected, nor waits to be: connections are accepted in their order."""
        last = await self._bare()
        await last.send(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert await last.status() == 200
        last.close()
        await until(lambda: not self.connections)
        await self.flushed()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for a state of the server that no message tells of."""
    for _ in range(SOON_TURNS):
        if is_so():
            return
        await asyncio.sleep(0)
    while not is_so():  # noqa: ASYNC110 - there is no event either, and there should be none for the tests alone
        await asyncio.sleep(LOOK_S)


@cache
def empty_journal() -> bytes:
    """Return the file of a journal in which nothing is: to make its tables takes longer than many tests."""
    with TemporaryDirectory() as folder:
        LocalLedger(Path(folder) / JOURNAL_FILE).close()
        return (Path(folder) / JOURNAL_FILE).read_bytes()


def _begin_journal(path: Path) -> None:
    """Write an empty journal where there is none, as the server would."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(empty_journal())
        path.chmod(0o600)


@asynccontextmanager
async def running(
    folder: Path,
    limits: Limits | None = None,
    seed: int = 1,
    configuration: Configuration | None = None,
    authority: Authority | None = None,
    engine: Sequence[str] | None = ENGINE,
    rng: random.Random | None = None,
    wall_ms: Callable[[], int] | None = None,
    measure: Callable[[], DiskUsage | None] = lambda: None,
    word_file: Callable[[], Path | None] = lambda: None,
    coach: Sequence[str] | None = None,
    cost_s: Callable[[], float] = lambda: 0.0,
) -> AsyncIterator[Server]:
    """Run a server inside the block, with TLS if there is an authority; two in one folder in turn are a restart.

    `engine` is the command that makes analyses, `coach` that of hints; the time of day is the server's clock where
    `wall_ms` is not given. `cost_s` measures what requests cost; by default they cost nothing.
    """
    settings = replace(configuration or Configuration(name="test"), limits=limits or Limits())
    with listen("127.0.0.1", 0) as listening:
        _begin_journal(folder / JOURNAL_FILE)
        ledger = LocalLedger(folder / JOURNAL_FILE)
        try:
            clock = Clock()
            loop, dice = asyncio.get_running_loop(), rng or SeededDice(seed)
            services = build_services(
                settings,
                Journal(ledger),
                loop,
                clock,
                dice,
                engine,
                wall_ms=wall_ms,
                measure=measure,
                word_file=word_file,
                coach=coach,
                cost_s=cost_s,
            )
            hub = Hub(services)
            certificate, trusting = (authority.certificate, authority.trusting()) if authority else (None, None)
            with closing(Server(hub, clock, ledger, listening.getsockname()[1], trusting)) as server:
                async with serving(hub, ledger, listening, certificate), asyncio.timeout(PATIENCE_S):
                    yield server
                    server.hang_up()
        finally:
            ledger.close()
