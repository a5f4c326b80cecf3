"""However an address spends its share of the server's time, a move or ping of another waits for a slice of it at most.

The event loop is simulated: time passes only while requests are carried out, so that nothing depends on the machine.
"""

import asyncio
import json
import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.server.peer import HANDSHAKE, TEXT, client_frame
from tests.simulation.loop import SimulatedLoop
from ttt_net import messages as wire
from ttt_net.server.accounts.online_players import Session
from ttt_net.server.admission.fair_shares import SETTLED_MS, TURN_MS, TURNS_AFTER_MS, WIDER
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.settings.setting import Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import PASS_S

CONNECTIONS = 200
"""As many as one address may have."""
LONGEST_MS = 2.0
"""The longest request, in milliseconds of simulated work."""
SLICE_MS = PASS_S * 1_000 + TURN_MS + LONGEST_MS
"""The longest work between two looks at what has arrived: a pass may begin a last turn, and that a last request."""
BOUND_MS = TURNS_AFTER_MS + SETTLED_MS + LONGEST_MS + SLICE_MS
"""The work that may be done for an address before its connections take turns, and one slice."""
SECONDS = 30.0
FREE = Rate(999_999_999)
LIMITS = Limits(messages=FREE, registrations=FREE, openings=FREE, writes=FREE, unmetered=(), max_per_address=1_000)
REFUSAL_MS = 0.01
FLOOD = client_frame(TEXT, b'{"type":"who","id":7}') * 40
NEIGHBOURS = {
    "one address": (["192.0.2.1"], 1),
    "a /56": ([f"2001:db8:0:{number:x}::1" for number in range(CONNECTIONS)], WIDER[0]),
    "a /48": ([f"2001:db8:0:{number << 8:x}::1" for number in range(CONNECTIONS)], WIDER[1]),
}
"""Addresses of an attacker, and how many shares of one address they may use together."""


class WorkingLoop(SimulatedLoop):
    """A simulated loop whose time passes with the work of its callbacks."""

    def work(self, ms: float) -> None:
        self._now_s += ms / 1_000


class Wire(asyncio.Transport):
    """The socket of a client, whose kernel has a flood to be read, or what `say` adds."""

    def __init__(self, world: "World", address: str) -> None:
        super().__init__({"socket": self, "peername": (address, 1)})
        self.family, self.flood, self._is_paused = None, b"", False
        self._loop = world.loop
        self.connection = Connection(world.hub, world.loop.as_asyncio, world.hub.services.read_buffer)
        self.connection.connection_made(self)

    def read(self, data: bytes) -> None:
        """Have the server read bytes."""
        self.connection.get_buffer(-1)[: len(data)] = data
        self.connection.buffer_updated(len(data))

    def go_on(self) -> None:
        """Be read once more, as long as there is a flood and the server reads it."""
        if self.flood and not self._is_paused:
            self.read(self.flood)
            self._loop.call_soon(self.go_on)

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._loop.call_soon(self.go_on)

    def setsockopt(self, *_: object) -> None:
        """Take any option, as the socket."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send nothing: nobody waits for an answer."""

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Need no limits."""

    def is_closing(self) -> bool:
        return False

    def can_write_eof(self) -> bool:
        return False

    def abort(self) -> None:
        raise AssertionError("nobody is thrown out")


class World:
    """A server on a simulated loop, two players who play, and an attacker with two hundred connections."""

    def __init__(self, addresses: Sequence[str], seed: int) -> None:
        self.rng, self.loop = random.Random(seed), WorkingLoop()
        self.spent: list[tuple[float, float]] = []
        """When the attacker's work ended, and how many milliseconds it took."""
        self.waits_ms: list[float] = []
        """How long each move or ping of the others waited."""
        self._asked_s = 0.0
        services = build_services(
            Configuration(name="test", limits=LIMITS),
            Journal(MemoryLedger(is_instant=True)),
            self.loop.as_asyncio,
            lambda: int(self.loop.time() * 1_000),
            self.rng,
            cost_s=self.loop.time,
        )
        self.hub = WorkingHub(services, self)
        self.players = [Wire(self, f"198.51.100.{number}") for number in (1, 2)]
        self.attackers = [Wire(self, addresses[number % len(addresses)]) for number in range(CONNECTIONS)]
        self.own = {each.connection for each in self.attackers}
        for number, one in enumerate((*self.players, *self.attackers)):
            one.read(HANDSHAKE)
            one.read(said(type="hello", protocols=[1], name=f"Name{number}x"))
        for one in self.players:
            one.read(said(type="seek", games=["mnk:19x19,19"]))
        self.run(60.0)  # until nobody has used anything lately
        match = next(iter(self.hub.registry.rooms.values())).match
        assert match is not None
        self._match = match

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.run_until(self.loop.time() + seconds, 10**9)
        assert self.loop.errors == []

    def attack(self) -> None:
        """Let all connections of the attacker send as much as is read, from now on."""
        for one in self.attackers:
            one.flood = FLOOD
            self.loop.call_soon(one.go_on)

    def ask_later(self) -> None:
        """Have a player move or ping some time soon; it may come while something else is carried out."""
        self._asked_s = self.loop.time() + self.rng.expovariate(100.0)
        self.loop.call_at(self._asked_s, self._ask)

    def _ask(self) -> None:
        players = self._match.players
        ply = len(self._match.moves)
        if ply < 361 and self.rng.random() < 0.5:
            mover = next(each for each in self.players if name_of(each) == players[ply % 2].name)
            data = said(type="play", match=self._match.id, ply=ply, move=ply)
        else:
            mover, data = self.rng.choice(self.players), said(type="ping")
        mover.read(data)

    def served(self) -> None:
        """Note that the player was served."""
        self.waits_ms.append((self.loop.time() - self._asked_s) * 1_000)
        self.ask_later()


def name_of(one: Wire) -> str:
    session = one.connection.session
    assert isinstance(session, Session)
    return session.info.name


def said(**request: object) -> bytes:
    return client_frame(TEXT, json.dumps({"id": 7} | request).encode())


class WorkingHub(Hub):
    """A hub of which the attacker's requests take a simulated time, those that are refused a short one."""

    def __init__(self, services: Any, world: World) -> None:
        super().__init__(services)
        self._world = world

    def received(self, connection: Connection, text: str, came_ms: int | None = None) -> None:
        """Note when a player was served."""
        if connection in self._world.own and '"hello"' not in text:
            self._spend(REFUSAL_MS)
        super().received(connection, text, came_ms)
        if '"ping"' in text or '"play"' in text:
            self._world.served()

    def _dispatch(self, session: Session, request: wire.AnyRequest, came_ms: int | None) -> None:
        if session.connection in self._world.own:
            self._spend(min(LONGEST_MS, self._world.rng.expovariate(5.0)))
        super()._dispatch(session, request, came_ms)

    def _spend(self, ms: float) -> None:
        world = self._world
        world.loop.work(ms)
        world.spent.append((world.loop.time(), ms))


@pytest.fixture
def attacked(seed: int, neighbours: str) -> World:
    return attacked_world(seed, neighbours)


@cache
def attacked_world(seed: int, neighbours: str) -> World:
    """Run the attack once for both tests, which only look at what was noted."""
    addresses, _ = NEIGHBOURS[neighbours]
    world = World(addresses, seed)
    world.ask_later()
    world.attack()
    world.run(SECONDS)
    return world


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_move_waits_for_one_slice_of_an_attackers_work_from_the_first_moment_on(attacked: World) -> None:
    assert len(attacked.waits_ms) > 500
    assert max(attacked.waits_ms) <= BOUND_MS
    after = attacked.waits_ms[1:]
    assert max(after) <= SLICE_MS, "once they take turns, one slice"


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_an_attacker_uses_a_twentieth_of_any_time_and_one_burst(attacked: World, neighbours: str) -> None:
    _, shares = NEIGHBOURS[neighbours]
    work = LIMITS.work
    surplus = least = most = 0.0
    before_s = attacked.spent[0][0]
    for at_s, ms in attacked.spent:
        surplus -= (at_s - before_s) * work.per_s * shares
        least = min(least, surplus)
        surplus += ms
        most = max(most, surplus - least)
        before_s = at_s
    assert most <= work.count * shares * 1.05
    total_ms = sum(ms for _, ms in attacked.spent)
    assert total_ms > work.count * shares, "it used its burst"
