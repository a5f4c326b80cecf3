"""However an address spends its share of the server's time, a move or ping of another waits for a slice of it at most.

The attacker costs no more than its share and one burst, whatever mix of requests it sends, pings included.

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
from ttt_net.server.admission.fair_shares import MOST_REST_MS, SETTLED_MS, TURN_MS, TURNS_AFTER_MS, WIDER
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, MemoryLedger
from ttt_net.server.online_players import Session
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
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
LIMITS = Limits(
    messages=FREE, registrations=FREE, openings=FREE, writes=FREE, unmetered=(), max_per_address=1_000, dead_after_s=20
)
REFUSAL_MS = 0.01
WHO, PING = (client_frame(TEXT, b'{"type":"%s","id":7}' % name) for name in (b"who", b"ping"))
FLOODS = {"who": WHO * 40, "pings": PING * 40, "a mix": (PING * 3 + WHO) * 10}
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

    @property
    def name(self) -> str:
        """The name of its player."""
        session = self.connection.session
        assert isinstance(session, Session)
        return session.info.name

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


class Pair:
    """Two players of one match, who move or ping at random moments, each time after the answer to the last request."""

    def __init__(self, world: "World", addresses: Sequence[str], per_s: float) -> None:
        self.waits_ms: list[float] = []
        """How long each move or ping waited."""
        self.wires = [Wire(world, address) for address in addresses]
        self._world, self._per_s = world, per_s
        self._asked_s = 0.0

    def pair(self) -> None:
        """Begin the match."""
        before = set(self._world.hub.registry.rooms)
        for one in self.wires:
            one.read(said(type="seek", games=["mnk:19x19,19"]))
        self._world.run(60.0)  # until nobody has used anything lately
        (begun,) = set(self._world.hub.registry.rooms) - before
        match = self._world.hub.registry.rooms[begun].match
        assert match is not None
        self._match = match

    def ask_later(self) -> None:
        """Have a player move or ping some time soon; it may come while something else is carried out."""
        loop, rng = self._world.loop, self._world.rng
        self._asked_s = loop.time() + rng.expovariate(self._per_s)
        loop.call_at(self._asked_s, self._ask)

    def _ask(self) -> None:
        rng, players = self._world.rng, self._match.players
        ply = len(self._match.moves)
        if ply < 361 and rng.random() < 0.5:
            mover = next(each for each in self.wires if each.name == players[ply % 2].name)
            data = said(type="play", match=self._match.id, ply=ply, move=ply)
        else:
            mover, data = rng.choice(self.wires), said(type="ping")
        mover.read(data)

    def served(self) -> None:
        """Note that a player was served."""
        self.waits_ms.append((self._world.loop.time() - self._asked_s) * 1_000)
        self.ask_later()


class World:
    """A server on a simulated loop, an attacker with two hundred connections, and players there and elsewhere."""

    def __init__(self, addresses: Sequence[str], flood: bytes, seed: int) -> None:
        self.rng, self.loop = random.Random(seed), WorkingLoop()
        self.spent: list[tuple[float, float]] = []
        """When the attacker's work ended, and how many milliseconds it took."""
        self._flood = flood
        services = build_services(
            Configuration(name="test", limits=LIMITS),
            Journal(MemoryLedger(is_instant=True)),
            self.loop.as_asyncio,
            lambda: int(self.loop.time() * 1_000),
            self.rng,
            cost_s=self.loop.time,
        )
        self.hub = WorkingHub(services, self)
        self.others = Pair(self, ("198.51.100.1", "198.51.100.2"), per_s=100.0)
        self.neighbours = Pair(self, (addresses[0], addresses[0]), per_s=2.0)
        self._attackers = [Wire(self, addresses[number % len(addresses)]) for number in range(CONNECTIONS)]
        self.own = {each.connection for each in self._attackers}
        wires = (*self.others.wires, *self.neighbours.wires)
        for number, one in enumerate((*wires, *self._attackers)):
            one.read(HANDSHAKE)
            one.read(said(type="hello", protocols=[1], name=f"Name{number}x"))
        for pair in (self.others, self.neighbours):
            pair.pair()

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.run_until(self.loop.time() + seconds, 10**9)
        assert self.loop.errors == []

    def look_after(self) -> None:
        """Have the server look after its connections each second, which drops those that it takes for silent."""
        self.hub.tick(self.loop.time())
        self.loop.call_later(1.0, self.look_after)

    def attack(self) -> None:
        """Let all connections of the attacker send as much as is read, from now on."""
        for one in self._attackers:
            one.flood = self._flood
            self.loop.call_soon(one.go_on)


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
            for pair in (self._world.others, self._world.neighbours):
                if connection in [each.connection for each in pair.wires]:
                    pair.served()

    def _dispatch(self, session: Session, request: wire.AnyRequest, came_ms: int | None) -> None:
        if session.connection in self._world.own:
            self._spend(min(LONGEST_MS, self._world.rng.expovariate(5.0)))
        super()._dispatch(session, request, came_ms)

    def _spend(self, ms: float) -> None:
        world = self._world
        world.loop.work(ms)
        world.spent.append((world.loop.time(), ms))


ATTACKS = [
    pytest.param(
        (seed, neighbours, flood),
        id=f"{seed}-{neighbours}-{flood}",
        marks=[] if not seed and (neighbours == "a /48" or flood == "a mix") else [pytest.mark.long],
    )
    for seed in (0, 1)
    for neighbours in NEIGHBOURS
    for flood in FLOODS
]


@pytest.fixture(params=ATTACKS)
def attack(request: pytest.FixtureRequest) -> tuple[int, str, str]:
    """The seed of an attack, who its neighbours are, and what it sends."""
    seed, neighbours, flood = request.param
    return seed, neighbours, flood


@pytest.fixture
def attacked(attack: tuple[int, str, str]) -> World:
    return attacked_world(*attack)


@cache
def attacked_world(seed: int, neighbours: str, flood: str) -> World:
    """Run the attack once for all tests, which only look at what was noted."""
    addresses, _ = NEIGHBOURS[neighbours]
    world = World(addresses, FLOODS[flood], seed)
    world.others.ask_later()
    world.neighbours.ask_later()
    world.attack()
    world.loop.call_later(5.0, world.look_after)  # until then, nobody has said anything for minutes
    world.run(SECONDS)
    return world


def test_a_move_waits_for_one_slice_of_an_attackers_work_from_the_first_moment_on(attacked: World) -> None:
    waits_ms = attacked.others.waits_ms
    assert len(waits_ms) > 500
    assert max(waits_ms) <= BOUND_MS
    assert max(waits_ms[1:]) <= SLICE_MS, "once they take turns, one slice"


def test_an_attacker_uses_a_twentieth_of_any_time_and_one_burst(attacked: World, attack: tuple[int, str, str]) -> None:
    _, shares = NEIGHBOURS[attack[1]]
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


def test_many_moves_and_pings_of_the_attackers_neighbours_do_not_wait_and_none_waits_for_more_than_a_rest(
    attacked: World,
) -> None:
    waits_ms = attacked.neighbours.waits_ms
    assert len(waits_ms) > 20
    assert sum(each <= SLICE_MS for each in waits_ms) > len(waits_ms) / 3
    assert max(waits_ms) <= MOST_REST_MS + SLICE_MS
