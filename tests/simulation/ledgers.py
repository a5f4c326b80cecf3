"""A world of ledgers alone: three nodes write to one log, and all that can go wrong between them does.

Far quicker than whole servers, and closer to the fence: what was acknowledged is in the tables of all, once; what was
refused is in none; equal places have equal tables.
"""

import random
from collections.abc import Callable
from functools import partial

from tests.server.journal.walk import canonical
from tests.simulation.log import SimulatedLog, SimulatedStream, SimulatedWorker, Weather
from tests.simulation.loop import SimulatedLoop
from ttt_net.errors import Refusal, UnknownOutcomeError
from ttt_net.messages import Played, PlayerInfo, Started
from ttt_net.server.cluster.log import AnyLoggedEntry, Author, Came, Went
from ttt_net.server.cluster.replica import EntryOutcome, Replica
from ttt_net.server.cluster.replicated_ledger import NodeHooks, ReplicatedLedger
from ttt_net.server.journal.entries import AppendEvents, AuditNote, RegisterPlayer, WriteNote

_MATCHES = ("match111", "match222")
_MOST_STEPS = 100_000


class LedgerNode:
    """One node: what is on its disk outlives its process."""

    def __init__(self, world: "LedgerWorld", name: str) -> None:
        self.world, self.name = world, name
        self.replica = Replica(None)
        self.process = 0
        self.boot()

    def boot(self) -> None:
        """Start a process."""
        world = self.world
        world.processes += 1
        self.process = world.processes
        rng = random.Random(world.rng.getrandbits(64))
        with world.loop.acting_as(self.process):
            self.log = SimulatedLog(world.stream, world.loop, self.process, rng, world.weather)
            self.worker = SimulatedWorker(world.loop, self.process, rng)
            loop = world.loop.as_asyncio
            self.ledger = ReplicatedLedger(self.name, self.log, self.replica, self.worker, loop, rng)
            self.ledger.start(NodeHooks(self._heard, lambda: None, lambda: None))
            world.loop.call_later(rng.random(), self._write)

    def kill(self) -> None:
        """Kill the process."""
        self.world.loop.kill(self.process)
        self.log.is_gone = True

    def _heard(self, outcome: EntryOutcome, author: Author) -> None:
        assert not isinstance(outcome.result, Refusal)

    def _write(self) -> None:
        world = self.world
        if world.is_troubled:
            for _ in range(world.rng.choice([1, 1, 3])):
                self._write_one(world.rng.choice(["play", "play", "note", "come", "go"]))
            world.loop.call_later(world.rng.random() * 0.4, self._write)

    def _write_one(self, what: str) -> None:
        """Append an entry that can be told from all others."""
        world = self.world
        world.marks += 1
        mark = world.marks
        entry: AnyLoggedEntry
        if what == "play":
            match = world.rng.choice(_MATCHES)
            (seq,) = self.replica.database.connection.execute(
                "SELECT max(seq) FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?)", (match,)
            ).fetchone() or (None,)
            if seq is None:
                return
            entry = AppendEvents((Played(match=match, seq=seq + 1, at_ms=mark, side=0, ply=seq, move=0),))
        elif what == "note":
            entry = WriteNote(AuditNote(mark, "note", str(mark)))
        elif what == "come":
            entry = Came(world.rng.choice([1, 2]), mark, "", mark, "192.0.2.1")
        else:
            entry = Went(world.rng.choice([1, 2]), mark - 1)
        answers: list[object] = []
        self.ledger.append(entry, partial(self._answered, entry, answers), partial(self._answered, entry, answers))

    def _answered(self, entry: AnyLoggedEntry, answers: list[object], answer: object) -> None:
        world = self.world
        answers.append(answer)
        world.claim(len(answers) == 1, f"{entry} was answered twice: {answers}")
        if isinstance(entry, Came | Went):
            return  # in whose place others may have come
        if isinstance(answer, UnknownOutcomeError):
            return
        if isinstance(answer, Refusal):
            world.refused.append(entry)
        else:
            world.accepted.append((self, entry))


class LedgerWorld:
    """Three nodes, one log, and what is claimed of them: a claim that does not hold raises `AssertionError`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loop = SimulatedLoop()
        self.stream, self.weather = SimulatedStream(self.loop.time), Weather()
        self.processes = 0
        self.marks = 0
        self.accepted: list[tuple[LedgerNode, AnyLoggedEntry]] = []
        """Acknowledged entries with their node; checked and removed now and then."""
        self.refused: list[AnyLoggedEntry] = []
        self.is_troubled = True
        self.tables: dict[int, str] = {}
        """The tables after each place, of the node that was there first."""
        self.nodes = [LedgerNode(self, name) for name in "abc"]
        self.faults = self.rng.sample(["cut", "pause", "crash", "late", "losing", "repeating", "slow"], 4)
        self.steps = 0

    def claim(self, holds: bool, what: str) -> None:
        """Fail with that sentence if it does not hold."""
        if not holds:
            raise AssertionError(what)

    def run(self) -> None:
        """Live through trouble, come to rest, and check what must hold."""
        self._live(lambda: any(node.ledger.is_fresh for node in self.nodes), 20.0)
        first = next(node for node in self.nodes if node.ledger.is_fresh)
        self._prepare(first)
        self.loop.call_later(0.5, self._go_wrong)
        self._live(lambda: False, 20.0)
        self.is_troubled = False
        self._mend()
        is_quiet = self._live(self._is_quiet, 60.0)
        self.claim(is_quiet, "the nodes do not come to rest")
        self._check_at_rest()

    def _prepare(self, node: LedgerNode) -> None:
        """Register two players, and start matches that nobody has to be steward for."""
        infos = (PlayerInfo("Ann"), PlayerInfo("Bob"))
        entries: list[AnyLoggedEntry] = [
            RegisterPlayer(info.name, info.name.lower(), (), info.name.encode(), 1) for info in infos
        ]
        entries += [
            AppendEvents(
                (Started(match=each, seq=1, at_ms=1, game="tictactoe", players=infos, time=None, previous="x"),), (1, 2)
            )
            for each in _MATCHES
        ]
        with self.loop.acting_as(node.process):
            for entry in entries:
                node.ledger.append(entry, lambda _: None, lambda _: None)

    def _live(self, until: Callable[[], bool], most_s: float) -> bool:
        end_s = self.loop.time() + most_s
        while not until():
            if self.loop.time() >= end_s:
                return False
            steps = self.loop.run_until(self.loop.time() + 0.25, _MOST_STEPS)
            self.steps += steps
            self.claim(steps < _MOST_STEPS, "something calls itself again and again")
            if self.loop.errors:
                raise self.loop.errors[0]
            self._check()
        return True

    def _is_quiet(self) -> bool:
        ends = {node.ledger.position for node in self.nodes}
        is_idle = all(node.ledger.health().waiting == 0 and node.ledger.is_fresh for node in self.nodes)
        return is_idle and len(ends) == 1

    # What goes wrong.

    def _go_wrong(self) -> None:
        if self.is_troubled:
            getattr(self, f"_{self.rng.choice(self.faults)}")(self.rng.choice(self.nodes))
            self.loop.call_later(self.rng.random() * 3, self._go_wrong)

    def _cut(self, node: LedgerNode) -> None:
        node.log.is_cut_off = True
        self.loop.call_later(self.rng.choice([0.5, 3.0, 8.0]), self._reconnect, node.log)

    def _reconnect(self, log: SimulatedLog) -> None:
        log.is_cut_off = False
        log.deliver()

    def _pause(self, node: LedgerNode) -> None:
        self.loop.pause(node.process, self.rng.choice([0.5, 3.0, 8.0]))

    def _crash(self, node: LedgerNode) -> None:
        node.kill()
        self.loop.call_later(self.rng.choice([0.1, 4.0]), self._boot, node, node.process)

    def _boot(self, node: LedgerNode, process: int) -> None:
        if node.process == process:
            node.boot()

    def _late(self, node: LedgerNode) -> None:
        self.weather.slowest_s = self.rng.choice([0.002, 0.05, 0.5])

    def _losing(self, node: LedgerNode) -> None:
        self.weather.losing = self.rng.choice([0.0, 0.1, 0.5])

    def _repeating(self, node: LedgerNode) -> None:
        self.weather.repeating = self.rng.choice([0.0, 0.2, 0.8])

    def _slow(self, node: LedgerNode) -> None:
        node.worker.slowest_s = self.rng.choice([0.001, 0.05, 0.5])

    def _mend(self) -> None:
        self.weather.slowest_s, self.weather.losing, self.weather.repeating = 0.002, 0.0, 0.0
        for node in self.nodes:
            node.worker.slowest_s = 0.001
            self._reconnect(node.log)

    # What must hold.

    def _check(self) -> None:
        for node in self.nodes:
            self.claim(node.ledger.stopped is None, f"node {node.name} stopped: {node.ledger.stopped}")
            position, tables = node.replica.position, canonical(node.replica.database.connection)
            known = self.tables.setdefault(position, tables)
            self.claim(known == tables, f"node {node.name} has other tables at place {position}")
        for node, entry in self.accepted:
            self.claim(_is_written(node, entry), f"{entry} was acknowledged by {node.name} and is not in its tables")

    def _check_at_rest(self) -> None:
        node = self.nodes[0]
        for _, entry in self.accepted:
            self.claim(_is_written(node, entry), f"{entry} was acknowledged and is not in the tables of all")
        for entry in self.refused:
            self.claim(not _is_written(node, entry), f"{entry} was refused and is in the tables")
        notes = [mark for (mark,) in node.replica.database.connection.execute("SELECT at_ms FROM audit")]
        self.claim(len(notes) == len(set(notes)), f"a note was written twice: {sorted(notes)}")
        self.claim(len(self.accepted) > 10, "nothing much was written")


def _is_written(node: LedgerNode, entry: AnyLoggedEntry) -> bool:
    connection = node.replica.database.connection
    match entry:
        case AppendEvents():
            event = entry.events[0]
            found = connection.execute(
                "SELECT 1 FROM facts WHERE match = (SELECT number FROM matches WHERE id = ?) AND seq = ?"
                " AND fact ->> 'at_ms' = ?",
                (event.match, event.seq, event.at_ms),
            )
        case WriteNote():
            found = connection.execute("SELECT 1 FROM audit WHERE at_ms = ?", (entry.note.at_ms,))
        case _:
            raise AssertionError(f"{entry} leaves no mark")
    return found.fetchone() is not None


def failure_among_ledgers(seed: int) -> str | None:
    """Run one world of ledgers; return what is wrong with it, or None."""
    try:
        LedgerWorld(seed).run()
    except Exception as error:  # noqa: BLE001 - whatever is raised in a world is its failure
        return f"{type(error).__name__}: {error}"
    return None
