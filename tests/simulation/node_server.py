"""One process of one node of a simulated cluster, and one node as the invariants of a single server see a world."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.simulation.log import SimulatedLog, SimulatedWorker
from tests.simulation.server import SimulatedServer
from ttt_net.server.cluster.log import FORM
from ttt_net.server.cluster.node import ClusterNode
from ttt_net.server.cluster.peers import STALE_S
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.replicated_ledger import Membership, ReplicatedLedger
from ttt_net.server.cluster.snapshots import SnapshotKeeper
from ttt_net.server.journal import Journal
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.settings.configuration import SnapshotSchedule

if TYPE_CHECKING:
    from tests.simulation.cluster import ClusterWorld

KNOWN_S = STALE_S + 0.6
"""How old what a node knows of the log may be when it answers."""
ASIDE_S = 5.0
"""How long a node stands aside after its disk was almost full."""
NEWER = FORM + 1
"""The form of a release that is still to come."""
OF_NEWER = "newer"
"""An entry that nodes of that release write once their form is in force."""


class NodeServer(SimulatedServer):
    """One process of one node; the disk outlives it."""

    def __init__(
        self,
        world: "ClusterWorld",
        name: str,
        replica: Replica,
        process: int,
        schedule: SnapshotSchedule | None = None,
    ) -> None:
        self.world, self.name, self.replica = world, name, replica
        rng = random.Random(world.rng.getrandbits(64))
        with world.loop.acting_as(process):
            loop = world.loop.as_asyncio
            self.log = SimulatedLog(world.stream, world.loop, process, rng, world.weather)
            self.worker = SimulatedWorker(world.loop, process, rng)
            self.ledger = ReplicatedLedger(
                name, self.log, replica, self.worker, loop, rng, wall_ms=lambda: self.wall_ms()
            )
            super().__init__(world, process, Journal(self.ledger), rng, name, Membership(self.ledger))
            self.hub.received = partial(self._received, self.hub.received)  # type: ignore[method-assign]
            self.node = ClusterNode(self.hub, self.ledger, self.log, replica, ASIDE_S)
            self.node.begin_anew = self._begin_anew
            self.is_to_begin_anew = False
            """Whether only a process that begins anew can go on as this node."""
            self.start()
            self.node.start()
            if schedule is not None:
                self._keep_snapshots(SnapshotKeeper(self.ledger, self.log, replica, self.worker, schedule))
            if replica.form == NEWER:
                self._write_newer()

    def _write_newer(self) -> None:
        """Write what only the newer release knows, as soon as all are said to know it."""
        if self.world.faults_are_on and self.replica.in_force() == NEWER:
            self.hub.services.journal.note(AuditNote(self.wall_ms(), OF_NEWER, ""))
        self.world.loop.call_later(1.0, self._write_newer)

    def _keep_snapshots(self, keeper: SnapshotKeeper) -> None:
        keeper.tick(self.world.loop.time())
        self.world.loop.call_later(0.5, self._keep_snapshots, keeper)

    def _begin_anew(self) -> None:
        self.is_to_begin_anew = True
        with self.world.loop.acting_as(0):
            self.world.loop.call_soon(self.world.begin_anew, self)

    def _received(self, received: Callable[..., None], *args: Any) -> None:
        """Check, whenever a request is carried out, that this node knows what was in the log two seconds before."""
        world, before = self.world, self.hub.metrics.requests
        known_s = world.loop.time() - KNOWN_S
        end = world.oracle.end_at(known_s)
        position = self.ledger.position
        received(*args)
        is_stale = self.hub.metrics.requests > before and position < end and not self.is_draining
        world.claim(not is_stale, f"node {self.name} answers from {position}, not {end}")

    def die(self) -> None:
        """Let the process be dead, and hear nothing more of the log."""
        super().die()
        self.log.is_gone = True


@dataclass
class _Disk:
    connection: Any


class NodeView:
    """One node as the invariants of one server see a world."""

    def __init__(self, world: "ClusterWorld", server: NodeServer) -> None:
        self.truth = server.replica.database.connection
        self.disk = _Disk(self.truth)
        self.peers, self.codes, self.swarm, self.loop = world.peers, world.codes, world.swarm, world.loop
        self.slept_ms, self.ahead_ms, self.clock_set_s = 0, world.ahead_ms, world.clock_set_s
        self.more_matches, self.unanswered_acts = world.more_matches, world.unanswered_acts
        self.learned = world.learned
        self.now_ms, self.latest_ms, self.causes = world.now_ms, world.latest_ms, world.causes
        self._world, self._name = world, server.name

    def claim(self, holds: bool, what: str) -> None:
        """Fail, and say on which node."""
        if not holds:
            self._world.claim(holds, f"node {self._name}: {what}")
