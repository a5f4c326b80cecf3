"""A whole world from one seed: a server, its disk, a network, people and bots, and everything that goes wrong.

The server is the product's: from the bytes of WebSocket frames to SQL. So is the clients' side of the talk. Time,
sockets, the disk's delays and faults and the scheduler are simulated. One seed makes one history.
"""

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing

from tests.simulation import invariants
from tests.simulation.disk import SimulatedDisk, SimulatedLedger
from tests.simulation.network import Link
from tests.simulation.peer import Peer
from tests.simulation.server import SimulatedServer
from tests.simulation.stage import Stage
from tests.simulation.swarm import PEER_FAULTS, Swarm
from tests.simulation.upgrade import fill_as_before, holds_newer, upgraded
from ttt_net.server.admin import protocol
from ttt_net.server.journal import Journal

FAULTS = (
    *PEER_FAULTS,
    "late_disk",
    "failing_disk",
    "full_disk",
    "pause",
    "crash",
    "sleep",
    "drain",
    "upgrade",
    "countdown",
    "call_off",
)
"""Faults: of people and links, of the disk and the process."""
_NIGHTS_MS = (86_400_000, 40 * 86_400_000, 400 * 86_400_000)
"""How long a server may sleep: so that guests and matches are too old, and ratings unsettled."""
_LIVES_STEPS = 1_000


class Server(SimulatedServer):
    """The process of the one server that there is."""

    def __init__(self, world: "World", process: int) -> None:
        self.ledger = SimulatedLedger(world.disk, world.loop, process)
        rng = random.Random(world.rng.getrandbits(64))
        with world.loop.acting_as(process):
            super().__init__(world, process, Journal(self.ledger), rng)
            self.start()

    def die(self) -> None:
        """Let the process be dead, and write nothing more."""
        self.ledger.is_cut_off = True
        super().die()


class World(Stage):
    """One server and its people."""

    def __init__(self, seed: int, swarm: Swarm | None = None, trace: Callable[[str], None] | None = None) -> None:
        """Make the world of a seed; a `swarm` of one's own is a shrink's."""
        super().__init__(seed, FAULTS, swarm, trace)
        self.disk = SimulatedDisk(self.loop, random.Random(self.rng.getrandbits(64)))
        self.server: Server | None = None
        self._boot()
        self._let_people_come(0.0)

    @property
    def truth(self) -> sqlite3.Connection:
        """The content of the disk."""
        return self.disk.connection

    @property
    def running(self) -> Sequence[Server]:
        """The server, if it runs."""
        return [] if self.server is None else [self.server]

    @property
    def thinks_s(self) -> float:
        """How long a person or bot thinks, on average."""
        return self.swarm.think_s

    def link(self, peer: Peer) -> Link | None:
        """Return a new link of the peer to the server; None if nobody listens."""
        server = self.server
        return None if server is None or server.is_draining else self.linked(peer, server)

    # How it goes on.

    def check(self) -> None:
        """Check what holds at every moment."""
        invariants.check(self)

    def check_at_rest(self) -> None:
        """Check what holds when nothing is under way."""
        invariants.check_at_rest(self)

    def live_in_trouble(self) -> None:
        """Let everything go wrong for a while."""
        self.live(lambda: self.steps >= _LIVES_STEPS * self.swarm.life, 600.0)

    def most_steps(self) -> int:
        """Return how many steps the next half second may have: trouble ends at the same step of every run."""
        return max(1, int(_LIVES_STEPS * self.swarm.life) - self.steps) if self.faults_are_on else super().most_steps()

    def mend(self) -> None:
        """Let every fault of the disk and the server end."""
        self.disk.failing, self.disk.slowest_s, self.disk.is_full = 0.0, 0.001, False
        if self.server is None:
            self._boot()
        self.live(lambda: self.server is not None and not self.server.is_draining, 5.0)
        if self.server is not None:
            self.server.ask(protocol.Drain(None))

    def is_quiet(self) -> bool:
        """Tell whether nothing is under way."""
        server = self.server
        return (
            server is not None
            and not server.is_draining
            and server.ledger.is_idle
            and all(peer.is_idle for peer in self.peers)
        )

    # What goes wrong with the server and its disk.

    def _fault_late_disk(self, peer: Peer) -> None:
        self.disk.slowest_s = self.rng.choice([0.001, 0.05, 1.0])

    def _fault_failing_disk(self, peer: Peer) -> None:
        self.disk.failing = self.rng.choice([0.0, 0.0, 0.1, 1.0])

    def _fault_full_disk(self, peer: Peer) -> None:
        self.disk.is_full = not self.disk.is_full

    def _fault_pause(self, peer: Peer) -> None:
        if self.server is not None:
            self.loop.pause(self.server.process, self.rng.choice([0.5, 3.0, 10.0]))

    def _fault_crash(self, peer: Peer) -> None:
        self.crash()

    def crash(self) -> None:
        """Kill the server, if it runs, and start it anew soon."""
        if self.server is not None:
            self._kill()
            self.loop.call_later(self.rng.random() * 2, self._boot)

    def _fault_sleep(self, peer: Peer) -> None:
        if self.server is not None:
            self._kill()
            self.slept_ms += self.rng.choice(_NIGHTS_MS)
            for each in self.peers:
                if self.rng.random() < 0.5:  # they have better things to do than to wait, and come some time later
                    each.die()
                    self.loop.call_later(self.rng.random() * 40, each.arrive)
            self.loop.call_later(self.rng.random() * 2, self._boot)

    def _fault_upgrade(self, peer: Peer) -> None:
        """Let the journal be that of an older program, which a newer one brings up to date when it starts."""
        if self.server is None or self.upgrades or holds_newer(self.disk.connection):
            return
        self._kill()
        invariants.entries_are_all_there_is_to_know(self)
        with closing(fill_as_before(self.disk.connection)) as before:
            self.trace(None, "the journal is of the schema before")
            upgraded(before, self.disk.connection, self.claim)
        self.disk.restart_replica()
        self.upgrades += 1
        self.chatter.note_mutes()
        self.loop.call_later(self.rng.random() * 2, self._boot)

    def _fault_drain(self, peer: Peer) -> None:
        if self.server is not None:
            self.drain(self.server)

    def drain(self, server: SimulatedServer) -> None:
        """Let the server end as it does, and start anew."""
        if server is not self.server or server.is_draining:
            return
        if server.is_paused():  # it hears of it when it goes on
            self.loop.call_later(0.5, self.drain, server)
            return
        server.begin_drain()
        self.loop.call_later(1.0, self._end_drain, server)

    def _end_drain(self, server: SimulatedServer) -> None:
        if server is self.server:
            self._kill()
            self._boot()

    def _fault_countdown(self, peer: Peer) -> None:
        self._ask(protocol.Drain(self.rng.choice([0, 2, 30])))

    def _fault_call_off(self, peer: Peer) -> None:
        self._ask(protocol.Drain(None))

    def _kill(self) -> None:
        server, self.server = self.server, None
        assert server is not None
        server.die()
        self.chatter.note_mutes()  # what was written down and not told

    def _boot(self) -> None:
        if self.server is None:
            self.processes += 1
            self.server = Server(self, self.processes)
