"""Ledgers of some nodes on simulated time, with the log of a simulation."""

import random
from typing import Any

from tests.server.journal.jobs import register
from tests.simulation.log import SimulatedLog, SimulatedStream, SimulatedWorker, Weather
from tests.simulation.loop import SimulatedLoop
from ttt_net.messages import Ended, PlayerInfo, Started
from ttt_net.server.cluster.log import FORM
from ttt_net.server.cluster.replica import EntryOutcome, Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.cluster.snapshots import SnapshotKeeper
from ttt_net.server.journal.entries import AnyEntry, AppendEvents, PackMatches
from ttt_net.server.settings.configuration import SnapshotSchedule

SEGMENT_SIZE = 4
"""The matches of a segment, so that few matches make some."""


class Node:
    """One node, and what it was told."""

    def __init__(self, nodes: "Nodes", name: str, process: int, clock_s: int, form: int) -> None:
        self.replica = Replica(None, form, segment_size=SEGMENT_SIZE)
        self.heard: list[EntryOutcome] = []
        self.lives: list[str] = []
        rng = random.Random(process)
        with nodes.loop.acting_as(process):
            self.log = SimulatedLog(nodes.stream, nodes.loop, process, rng, nodes.weather)
            self.worker = worker = SimulatedWorker(nodes.loop, process, rng)
            self.ledger = ReplicatedLedger(
                name,
                self.log,
                self.replica,
                worker,
                nodes.loop.as_asyncio,
                rng,
                f"ws://{name}",
                wall_ms=lambda: 1_000 * clock_s + int(nodes.loop.time() * 1_000),
            )
            hooks = NodeHooks(
                lambda outcome, _: self.heard.append(outcome),
                lambda: self.lives.append("began"),
                lambda: self.lives.append("ended"),
                missed=lambda: self.lives.append("missed"),
            )
            self.ledger.start(hooks)

    def entries(self) -> list[str]:
        return [type(outcome.entry).__name__ for outcome in self.heard]


class Nodes:
    """Some nodes on one log."""

    def __init__(
        self, *names: str, clocks_s: tuple[int, ...] = (0, 0, 0), forms: tuple[int, ...] = (FORM, FORM, FORM)
    ) -> None:
        self.loop, self.weather = SimulatedLoop(), Weather()
        self.stream = SimulatedStream(self.loop.time)
        self.nodes = [
            Node(self, name, process, clocks_s[process - 1], forms[process - 1])
            for process, name in enumerate(names, 1)
        ]
        self.go(2.0)

    def start(self, name: str, form: int) -> Node:
        """Start another process of a name, with tables of its own, and let time pass."""
        self.nodes.append(Node(self, name, 1 + len(self.nodes), 0, form))
        self.go(2.0)
        return self.nodes[-1]

    def append(self, node: Node, name: str) -> list[Any]:
        """Register a player at a node; return where the answer will be."""
        return self.write(node, register(name))

    def write(self, node: Node, entry: AnyEntry) -> list[Any]:
        """Write an entry at a node; return where the answer will be."""
        answers: list[Any] = []
        with self.loop.acting_as(1 + self.nodes.index(node)):
            node.ledger.append(entry, answers.append, answers.append)
        return answers

    @property
    def steward(self) -> Node:
        """The node that keeps the lobby."""
        return next(node for node in self.nodes if node.ledger.is_steward)

    def play(self, *matches: str) -> None:
        """Let matches begin and end at the steward, and be packed."""
        node = self.steward
        for name in ("ann", "bob"):
            self.append(node, name)
        players = PlayerInfo("ann"), PlayerInfo("bob")
        for number, match in enumerate(matches, 1):
            self.write(node, AppendEvents((Started(match, 1, number, "tictactoe", players),), (1, 2)))
            self.write(node, AppendEvents((Ended(match, 2, number, 0, "time"),)))
        packed = self.write(node, PackMatches(2**60, 1_000))
        self.go(2.0)
        assert sorted(packed[0]) == sorted(matches)

    def go(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.run_until(self.loop.time() + seconds, 1_000_000)
        assert self.loop.errors == []

    def cut(self, node: Node) -> None:
        node.log.is_cut_off = True

    def mend(self, node: Node) -> None:
        node.log.is_cut_off = False
        node.log.deliver()


def keeper_of(nodes: Nodes, node: Node, schedule: SnapshotSchedule) -> None:
    """Let a node of a simulation keep the snapshots while it runs."""
    keeper = SnapshotKeeper(node.ledger, node.log, node.replica, node.worker, schedule)

    def tick() -> None:
        keeper.tick(nodes.loop.time())
        nodes.loop.call_later(1.0, tick)

    with nodes.loop.acting_as(1 + nodes.nodes.index(node)):
        nodes.loop.call_soon(tick)
