"""A world of three servers on one log, from one seed: people come to any of them, and everything goes wrong.

Each is the product's: from the bytes of WebSocket frames to SQL. The log is simulated, and so is the network. An oracle
reads the log as it is, and knows at every moment what has happened.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import msgspec

from tests.server.journal.walk import canonical
from tests.simulation import invariants
from tests.simulation.log import SimulatedLog, SimulatedWorker, Weather
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Link
from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from tests.simulation.world import MOST_TURNS, SETTINGS, START_MS, TICK_S, InvariantError, core_of
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.commands import AdminCommands
from ttt_net.server.admin.moderation import load_sanctions
from ttt_net.server.admin.roles import Moderators
from ttt_net.server.cluster.log import MemoryStream
from ttt_net.server.cluster.membership import Membership
from ttt_net.server.cluster.node import ClusterNode
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.replicated_ledger import STALE_S, ReplicatedLedger
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, read_match
from ttt_net.server.journal.entries import AppendEvents
from ttt_net.server.process.maintenance import maintenance_jobs
from ttt_net.server.services import build_services
from ttt_net.server.wire.connection import Connection

NODE_FAULTS = ("cut_off", "pause", "crash", "drain", "late", "losing", "repeating", "slow")
"""What goes wrong with nodes and their log."""
PEER_FAULTS = ("cut", "silence", "die", "leave", "hop", "twice", "kick", "ban", "mute")
"""What goes wrong with people and their links, and what admins do."""
_MOST_STEPS = 50_000
_LIVES_S = 15.0


class NodeServer:
    """One process of one node; the disk outlives it."""

    def __init__(self, world: "ClusterWorld", name: str, replica: Replica, process: int) -> None:
        self.world, self.name, self.replica, self.process = world, name, replica, process
        self.links: list[Link] = []
        self.is_draining = False
        rng = random.Random(world.rng.getrandbits(64))
        with world.loop.acting_as(process):
            loop = world.loop.as_asyncio
            self.log = SimulatedLog(world.stream, world.loop, process, rng, world.weather)
            self.worker = SimulatedWorker(world.loop, process, rng)
            self.ledger = ReplicatedLedger(name, self.log, replica, self.worker, loop, rng)
            membership, journal = Membership(self.ledger), Journal(self.ledger)
            self.hub = Hub(build_services(SETTINGS, journal, loop, world.now_ms, rng, membership=membership))
            self._jobs = maintenance_jobs(self.hub)
            self.admin = AdminCommands(self.hub.services, lambda: None, Moderators(self.hub.services, lambda _: 0))
            self.hub.received = partial(self._received, self.hub.received)  # type: ignore[method-assign]
            self.node = ClusterNode(self.hub, self.ledger, self.log, replica)
            self.hub.recall()
            load_sanctions(self.hub.services)
            self.node.start()
            world.loop.call_later(TICK_S, self._tick)

    def _received(self, received: Callable[..., None], *args: Any) -> None:
        """Check, whenever a request is carried out, that this node knows what was in the log two seconds before."""
        world, before = self.world, self.hub.metrics.requests
        known_s = world.loop.time() - STALE_S - 0.6
        end = max((position for at_s, position in world.ends if at_s <= known_s), default=0)
        position = self.ledger.position
        received(*args)
        is_stale = self.hub.metrics.requests > before and position < end and not self.is_draining
        world.claim(not is_stale, f"node {self.name} answers from {position}, not {end}")

    def _tick(self) -> None:
        self.hub.tick(self.world.loop.time())
        if self.ledger.is_steward:
            for name, tick in self._jobs.items():
                self.hub.services.guard.attempt(name, tick)
        self.world.loop.call_later(TICK_S, self._tick)

    def accept(self, link: Link) -> None:
        """Take in a new link."""
        self.links = [each for each in self.links if each.server is not None]
        self.links.append(link)
        link.connect(Connection(self.hub, self.world.loop.as_asyncio, self.hub.services.read_buffer))

    def ask(self, request: protocol.AnyAdminRequest) -> None:
        """Let an admin ask for something."""
        with self.world.loop.acting_as(self.process):
            try:
                self.admin.carry_out(request, lambda _: None)
            except Refusal as refusal:
                self.world.trace(None, f"refuses the admin: {refusal}")

    def kill(self) -> None:
        """Let the process be dead."""
        self.world.loop.kill(self.process)
        self.log.is_gone = True
        for link in self.links:
            link.vanish()


@dataclass
class _Disk:
    connection: Any


class _View:
    """One node as the invariants of one server see a world."""

    def __init__(self, world: "ClusterWorld", server: NodeServer) -> None:
        self.disk = _Disk(server.replica.database.connection)
        self.peers, self.codes, self.swarm, self.slept_ms = world.peers, world.codes, world.swarm, 0
        self.unanswered_acts: set[Any] = set()
        self.now_ms = world.now_ms
        self._world, self._name = world, server.name

    def claim(self, holds: bool, what: str) -> None:
        """Fail, and say on which node."""
        if not holds:
            self._world.claim(holds, f"node {self._name}: {what}")


class ClusterWorld:
    """All that there is, and what is claimed of it: a claim that does not hold raises `InvariantError`."""

    def __init__(
        self,
        seed: int,
        swarm: Swarm | None = None,
        trace: Callable[[str], None] | None = None,
        nodes: int = 3,
        *,
        is_troubled: bool = True,
    ) -> None:
        """Make the world of a seed; without trouble, nothing goes wrong and nobody does anything by themselves."""
        self.seed = seed
        self.rng = random.Random(seed)
        drawn = Swarm.of(self.rng)
        self.swarm = swarm or drawn
        self.faults = [fault for fault in (*NODE_FAULTS, *PEER_FAULTS) if self.rng.random() < 0.35]
        self.makers = self.swarm.makers()
        self.loop = SimulatedLoop()
        self._write_trace = trace
        self.stream, self.weather = MemoryStream(), Weather()
        self.oracle = Replica(None)
        self.names: dict[int, str] = {}
        self.codes: list[str] = []
        self.started: list[str] = []
        self._new_names = 0
        self._processes = 0
        self._faults_are_on = is_troubled
        self.steps = 0
        self.loses_words = True
        self.places: dict[int, str] = {}
        """The node that a peer comes to, by its number; others come to any."""
        self.connected: dict[int, dict[int, str]] = {}
        """Who was connected to which node after each place of the log."""
        self.mutes: dict[str, tuple[float, int]] = {}
        """Nobody, as far as it is checked here."""
        self.ends: list[tuple[float, int]] = []
        """When the log ended where, twice a second and oftener."""
        self.unchecked_plays: list[tuple[str, int, int]] = []
        self.events: dict[tuple[str, int], bytes] = {}
        self.tables: dict[int, str] = {}
        """The tables after each place of the log, as the node had them that was there first."""
        self.replicas = {name: Replica(None) for name in "abcde"[:nodes]}
        self.servers: dict[str, NodeServer | None] = dict.fromkeys(self.replicas)
        for name in self.servers:
            self._boot(name)
        self.peers = [
            Peer(cast(Any, self), number, random.Random(self.rng.getrandbits(64))) for number in range(self.swarm.peers)
        ]
        for peer in self.peers:
            self.loop.call_later(1.0 + self.rng.random(), peer.connect)
            self.loop.call_later(1.0 + self.rng.random(), self._let_act, peer)
        if self.faults:
            self.loop.call_later(2.0, self._go_wrong)

    # What peers ask of the world.

    def now_ms(self) -> int:
        """Return the time of day."""
        return START_MS + int(self.loop.time() * 1000)

    def new_name(self) -> str:
        """Return a name that nobody has had."""
        self._new_names += 1
        return f"name{self._new_names}x"

    def link(self, peer: Peer) -> Link | None:
        """Return a new link of the peer to any node that listens."""
        open_ones = [each for each in self.servers.values() if each is not None and not each.is_draining]
        if not open_ones:
            return None
        places = [each for each in open_ones if each.name == self.places.get(peer.number, each.name)]
        if not places:
            return None
        server = self.rng.choice(places)
        link = Link(
            self.loop,
            server.process,
            random.Random(self.rng.getrandbits(64)),
            peer.address,
            self.swarm.delay_s,
            lambda data: peer.heard(link, data),
            lambda: peer.lost(link),
        )
        server.accept(link)
        self.trace(peer, f"comes to node {server.name}")
        return link

    def trace(self, who: Peer | None, what: str, message: object = None) -> None:
        """Write a line of the trace, if it is wanted."""
        if self._write_trace is not None:
            said = f" {wire.encode(cast(Any, message)).decode()}" if isinstance(message, msgspec.Struct) else ""
            name = f"{who.number} {who.name}" if who else "world"
            self._write_trace(f"{self.loop.time():10.4f} {name} {what}{said}")

    def claim(self, holds: bool, what: str) -> None:
        """Fail with that sentence if it does not hold."""
        if not holds:
            self.trace(None, f"FAILED: {what}")
            raise InvariantError(what)

    def acknowledged(self, peer: Peer, request: wire.Request) -> None:
        """Take note that a request was answered with `ok`."""
        if isinstance(request, wire.PlayRequest):
            self.unchecked_plays.append((request.match, request.ply, request.move))

    def keys_of(self, token: str | None, address: str) -> list[str]:
        """Return nothing: who is muted is checked in worlds of one server."""
        return []

    def told(self, event: Any) -> None:
        """Compare an event with what others were told: all hear the same."""
        key = (event.match, event.seq)
        if isinstance(event, wire.Started) and event.match not in self.started:
            self.started.append(event.match)
        said = wire.encode(event)
        before = self.events.setdefault(key, said)
        if before != said:
            same = core_of(before) == core_of(said)
            self.claim(same, f"event {key} was told in two ways: {before!r} and {said!r}")

    # How it goes on.

    def run(self) -> None:
        """Live through trouble, come to rest, and check what must hold."""
        self._live(lambda: False, _LIVES_S)
        self._faults_are_on = False
        self._settle()
        self._check_at_rest()
        if self.swarm.is_played_out:
            self._play_out()
            self._settle()
            self._check_at_rest()
            invariants.check_played_out(cast(Any, self))

    def _live(self, until: Callable[[], bool], most_s: float) -> bool:
        end_s = self.loop.time() + most_s
        while not until():
            if self.loop.time() >= end_s:
                return False
            steps = self.loop.run_until(self.loop.time() + 0.5, _MOST_STEPS)
            self.steps += steps
            self.claim(steps < _MOST_STEPS, "half a second is as long as that: something calls itself again and again")
            if self.loop.errors:
                raise self.loop.errors[0]
            self._check()
        return True

    def _settle(self) -> None:
        """Let every fault end and everybody come back, until nothing is under way."""
        self.weather.slowest_s, self.weather.losing, self.weather.repeating = 0.002, 0.0, 0.0
        for name, server in list(self.servers.items()):
            if server is None:
                self._boot(name)
            else:
                server.worker.slowest_s = 0.001
                self._reconnect(server.log)
        for peer in self.peers:
            if peer.link is not None:
                peer.link.go_on()
            peer.arrive()
        self._live(lambda: False, 8.0)
        is_quiet = False
        for _ in range(5):
            is_quiet = self._live(self._is_quiet, 120.0)
            self._live(lambda: False, 3.0)  # what was told last arrives; who has just been lost comes back
            is_quiet = is_quiet and self._is_quiet()
            if is_quiet:
                break
        waiting = [(peer.is_welcome, list(peer.talk.asked.values())) for peer in self.peers]
        self.claim(is_quiet, f"the world does not come to rest: {waiting}")

    def _is_quiet(self) -> bool:
        servers = [server for server in self.servers.values() if server is not None]
        return (
            len(servers) == len(self.servers)
            and all(server.ledger.is_fresh and server.ledger.health().waiting == 0 for server in servers)
            and len({server.ledger.position for server in servers}) == 1
            and not any(server.is_draining for server in servers)
            and all(peer.is_welcome and not peer.talk.asked for peer in self.peers)
        )

    def _play_out(self) -> None:
        for _turn in range(MOST_TURNS):
            movers = [(peer, match) for peer in self.peers for match in peer.turns()]
            if not movers:
                break
            for peer, match in movers:
                peer.play(match)
            self._live(lambda: False, 0.5 + 2 * self.swarm.delay_s)
            self._live(self._is_quiet, 60.0)
        for peer in self.peers:
            for match, seen in list(peer.matches.items()):
                if seen.you is not None and not seen.is_over:
                    peer.say(wire.ResignRequest(0, match=match))

    def _let_act(self, peer: Peer) -> None:
        if self._faults_are_on:
            peer.act()
            self.loop.call_later(5 * self.swarm.think_s * (0.5 + self.rng.random()), self._let_act, peer)

    def _boot(self, name: str) -> None:
        if self.servers[name] is None:
            self._processes += 1
            self.servers[name] = NodeServer(self, name, self.replicas[name], self._processes)

    # What goes wrong.

    def _go_wrong(self) -> None:
        if not self._faults_are_on:
            return
        fault = self.rng.choice(self.faults)
        peer = self.rng.choice(self.peers)
        server = self.rng.choice([*self.servers.values()])
        if fault in PEER_FAULTS:
            self.trace(peer, f"fault {fault}")
            getattr(self, f"_fault_{fault}")(peer, server)
        elif server is not None:
            self.trace(None, f"fault {fault} of node {server.name}")
            getattr(self, f"_fault_{fault}")(server)
        self.loop.call_later(0.2 + 2 * self.rng.random(), self._go_wrong)

    def _fault_cut_off(self, server: NodeServer) -> None:
        server.log.is_cut_off = True
        self.loop.call_later(self.rng.choice([0.5, 3.0, 8.0]), self._reconnect, server.log)

    def _reconnect(self, log: SimulatedLog) -> None:
        log.is_cut_off = False
        log.deliver()

    def _fault_pause(self, server: NodeServer) -> None:
        self.loop.pause(server.process, self.rng.choice([0.5, 3.0, 8.0]))

    def _fault_crash(self, server: NodeServer) -> None:
        server.kill()
        self.servers[server.name] = None
        self.loop.call_later(self.rng.choice([0.1, 4.0]), self._boot, server.name)

    def _fault_drain(self, server: NodeServer) -> None:
        """Let a node end as it does, and start anew."""
        if server.is_draining or self.loop.is_paused(server.process):
            return
        server.is_draining = True
        with self.loop.acting_as(server.process):
            server.hub.services.shutdown.drain()
            server.ledger.leave()
            self.loop.call_later(0.2, server.hub.close_all)
        self.loop.call_later(1.0, self._end_drain, server)

    def _end_drain(self, server: NodeServer) -> None:
        if self.servers[server.name] is server:
            self._fault_crash(server)

    def _fault_late(self, server: NodeServer) -> None:
        self.weather.slowest_s = self.rng.choice([0.002, 0.05, 0.5])

    def _fault_losing(self, server: NodeServer) -> None:
        self.weather.losing = self.rng.choice([0.0, 0.1, 0.5])

    def _fault_repeating(self, server: NodeServer) -> None:
        self.weather.repeating = self.rng.choice([0.0, 0.2, 0.8])

    def _fault_slow(self, server: NodeServer) -> None:
        server.worker.slowest_s = self.rng.choice([0.001, 0.05, 0.3])

    def _fault_cut(self, peer: Peer, server: NodeServer | None) -> None:
        if peer.link is not None:
            peer.link.cut()

    def _fault_hop(self, peer: Peer, server: NodeServer | None) -> None:
        if peer.link is not None:
            link = peer.link
            link.hang_up()
            peer.lost(link)

    def _fault_silence(self, peer: Peer, server: NodeServer | None) -> None:
        if peer.link is not None:
            peer.link.is_silent = True
            self.loop.call_later(8.0, peer.lost, peer.link)

    def _fault_twice(self, peer: Peer, server: NodeServer | None) -> None:
        """Let the same person come once more, while the last link is open still."""
        if peer.link is not None:
            peer.lost(peer.link)

    def _fault_die(self, peer: Peer, server: NodeServer | None) -> None:
        peer.die()
        self.loop.call_later(self.rng.random() * 5, peer.arrive)

    def _fault_leave(self, peer: Peer, server: NodeServer | None) -> None:
        peer.leave()
        self.loop.call_later(self.rng.random() * 40, peer.arrive)

    def _ask(self, server: NodeServer | None, request: protocol.AnyAdminRequest) -> None:
        if server is not None and not server.is_draining and not self.loop.is_paused(server.process):
            server.ask(request)

    def _fault_kick(self, peer: Peer, server: NodeServer | None) -> None:
        self._ask(server, protocol.Kick(peer.name, "once"))

    def _fault_ban(self, peer: Peer, server: NodeServer | None) -> None:
        self._ask(server, protocol.Ban(self.rng.choice([peer.name, peer.address]), "for a while", 2))

    def _fault_mute(self, peer: Peer, server: NodeServer | None) -> None:
        self._ask(server, protocol.MutePlayer(peer.name, "", self.rng.choice([2, 20])))

    # What must hold.

    def _check(self) -> None:
        """Check what holds at every moment."""
        self._ask_the_oracle()
        while self.unchecked_plays:
            match, ply, move = self.unchecked_plays.pop()
            events = _events(self.oracle, match)
            is_there = any(
                isinstance(each, wire.Played) and (each.ply - 1, each.move) == (ply, move) for each in events
            )
            self.claim(is_there, f"move {move} at ply {ply} of {match} was acknowledged, and is not in the log")
        for name, replica in self.replicas.items():
            server = self.servers[name]
            known = self.tables.get(replica.position)
            if known is None or self.rng.random() < 0.1:
                tables = canonical(replica.database.connection)
                known = self.tables.setdefault(replica.position, tables)
                self.claim(known == tables, f"node {name} has other tables at place {replica.position}")
            if server is not None:
                self.claim(server.ledger.stopped is None, f"node {name} stopped: {server.ledger.stopped}")
                view = cast(Any, _View(self, server))
                invariants.memory_is_never_ahead_of_the_disk(view, cast(Any, server))
                invariants.nobody_is_here_twice(view, cast(Any, server))
                invariants.the_server_counts_no_fault(view, cast(Any, server))
                invariants.memory_is_bounded(view, cast(Any, server))
                self._who_is_elsewhere_is_known(server)

    def _who_is_elsewhere_is_known(self, server: NodeServer) -> None:
        """A node has in memory who is connected to another, as its tables have it."""
        logged = {each.player.id: each.node for each in server.replica.connected(0) if each.node != server.name}
        sessions = server.hub.services.players.sessions
        held = {player: getattr(each.connection, "node", "") for player, each in sessions.items() if each.is_elsewhere}
        self.claim(held == logged, f"node {server.name} holds {held} for connected elsewhere, its tables {logged}")

    def _ask_the_oracle(self) -> None:
        """Let the oracle read the log up to its end, and see who let flags fall."""
        self.ends.append((self.loop.time(), self.stream.end))
        for position in range(self.oracle.position + 1, self.stream.end + 1):
            (applied,) = self.oracle.apply([(position, self.stream.read(position))])
            for outcome in applied.outcomes or ():
                if isinstance(outcome.entry, AppendEvents) and not isinstance(outcome.result, Refusal):
                    assert applied.batch is not None
                    self._check_flag(outcome.entry.events[-1], applied.batch.node, position)
            self.connected[position] = {each.player.id: each.node for each in self.oracle.connected(0)}

    def _check_flag(self, event: Any, node: str, position: int) -> None:
        """A flag is let fall where its player sits; where they sit nowhere, it may be anywhere."""
        if isinstance(event, wire.Ended) and event.reason == "time" and event.winner is not None:
            mover = read_match(self.oracle.database.connection, event.match).seats[1 - event.winner]
            recently = range(max(0, position - 12), position)
            sat = [self.connected.get(each, {}).get(mover) for each in recently]
            self.claim(node in sat or None in sat, f"node {node} let the flag fall of one who sat at {sat[-1]}")

    def _check_at_rest(self) -> None:
        """Check what holds when nothing is under way."""
        self._check()
        for peer in self.peers:
            self.claim(peer.is_welcome, f"{peer.name} did not come back")
            self.claim(not peer.talk.asked, f"{peer.name} waits for answers")
        servers = [server for server in self.servers.values() if server is not None]
        for server in servers:
            reader = Replica(None)
            reader.apply(list(enumerate(self.stream.batches[: server.replica.position], 1)))
            tables = canonical(server.replica.database.connection), server.replica.state
            said = canonical(reader.database.connection), reader.state
            self.claim(tables == said, f"node {server.name} has not what the log says")
            view, one = cast(Any, _View(self, server)), cast(Any, server)
            invariants.the_lobby_agrees_with_the_journal(view, one)
            invariants.rooms_are_heard_and_flags_fall(view, one)
            invariants.clients_show_what_the_server_holds(view, one)
            invariants.results_and_ratings_agree(view)
            invariants.what_was_decided_is_in_force(view, one)
            invariants.what_was_promised_stands(view, one)
            invariants.time_never_goes_back(view)
            for connection in server.hub.services.connections:
                session: Any = connection.session
                is_here = session is None or server.hub.services.players.get(session.player) is session
                self.claim(is_here or not connection.is_open, f"node {server.name} keeps a connection of another time")
        self._everybody_is_at_one_node(servers)

    def _everybody_is_at_one_node(self, servers: list[NodeServer]) -> None:
        """All nodes agree on who is connected to which, and so does the log."""
        held = []
        for server in servers:
            held.append(
                {
                    player: getattr(session.connection, "node", server.name)
                    for player, session in server.hub.services.players.sessions.items()
                }
            )
        logged = {each.player.id: each.node for each in self.oracle.connected(self.now_ms())}
        for server, each in zip(servers, held, strict=True):
            self.claim(each == logged, f"node {server.name} holds {each} for connected, the log {logged}")
        self.claim(len(logged) >= len(self.peers), f"{len(logged)} are connected of {len(self.peers)}")
        self.claim(sum(server.ledger.is_steward for server in servers) == 1, "one node keeps the lobby")


def _events(replica: Replica, match: str) -> list[Any]:
    try:
        return list(read_match(replica.database.connection, match).events)
    except Refusal:
        return []
