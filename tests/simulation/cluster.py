"""A world of three servers on one log, from one seed: people come to any of them, and everything goes wrong.

Each is the product's: from the bytes of WebSocket frames to SQL. The log is simulated, and so is the network. An oracle
reads the log as it is, and knows at every moment what has happened.
"""

import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from io import BytesIO
from typing import Any, cast

from tests.server.journal.walk import canonical
from tests.simulation import invariants, tournaments
from tests.simulation.log import SimulatedLog, SimulatedStream, Weather
from tests.simulation.network import Link
from tests.simulation.node_server import KNOWN_S, NEWER, OF_NEWER, NodeServer, NodeView
from tests.simulation.oracle import Flag, Oracle, connected_to
from tests.simulation.peer import Peer
from tests.simulation.server import SimulatedServer
from tests.simulation.stage import START_MS, Stage
from tests.simulation.swarm import PEER_FAULTS, Swarm
from tests.simulation.upgrade import contents, of_release_before, reopen
from ttt_net.errors import StorageError
from ttt_net.server.cluster.log import FORM
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.cluster.segments import sha256_of
from ttt_net.server.settings.configuration import SnapshotSchedule

FAULTS = (
    *PEER_FAULTS, "hop",
    "cut_off", "pause", "crash", "power_cut", "drain", "late", "losing", "repeating", "slow", "skewed",
    "upgrade", "new_disk", "roll",
)  # fmt: skip
"""Faults: of people, who hop between nodes and connect twice, of nodes, and of their log."""
LATER_FAULTS = ("trim", "full", "refuse", "low_disk", "lose_segment")
"""Faults in some worlds only: a node misses trimmed batches, the log or a disk takes nothing, a disk fills, the store
of snapshots loses or damages a segment.
"""
SEGMENT_SIZE = 1
"""The matches of a segment, so that the few of a world make some."""
SCHEDULE = SnapshotSchedule(every_places=15, rest_s=1.0, kept_places=3, away_s=0.5)
"""How snapshots are kept where a node is to miss what was trimmed."""
_LIVES_S = 15.0
_SKEWS_MS = (0, 0, -20_000, -300, 300, 20_000)
"""How far the clocks of machines may be apart."""
_IMAGE_S = 1.0
"""How often the tables of a node are safe from a power cut."""


class ClusterWorld(Stage):
    """Several servers, one log, and their people."""

    settles_s = 6.0  # by then it is told again how many watch
    hears_late_s = KNOWN_S + 0.5
    each_step_of = 20  # nine times as long

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
        super().__init__(seed, FAULTS if is_troubled else (), swarm, trace, LATER_FAULTS if is_troubled else ())
        self.faults_are_on = is_troubled
        self.more_matches = nodes
        self.stream, self.weather = SimulatedStream(self.loop.time), Weather()
        self.oracle = Oracle(self.stream)
        self.places: dict[int, str] = {}
        """The node that a peer comes to, by its number; others come to any."""
        self.begun_anew = 0
        """How often a node had missed what was trimmed."""
        self.tables: dict[int, str] = {}
        """The tables after each place of the log, as the node had them that was there first."""
        self.replicas = {name: Replica(None, segment_size=SEGMENT_SIZE) for name in "abcde"[:nodes]}
        self.wholes: dict[str, Replica] = {}
        """The tables on the disk of each node that takes part with live tables."""
        self.completed = 0
        """How often such a node became whole."""
        self.lost_segments: dict[str, bytes] = {}
        """The segments that the store of snapshots has lost or damaged, as they were."""
        self.reader = Replica(None, NEWER)
        """The tables of one who reads the log up to the newest snapshot."""
        if "roll" in self.swarm.faults:  # some were renewed before the world began
            for replica in self.replicas.values():
                replica.form = self.rng.choice([FORM, NEWER, NEWER])
        self.images: dict[str, deque[bytes]] = {name: deque(maxlen=3) for name in self.replicas}
        """Of each node, its tables as they were some moments ago, which a power cut may go back to."""
        self.skews_ms = dict.fromkeys(self.replicas, 0)
        if "skewed" in self.swarm.faults:
            self.skews_ms = {name: self.rng.choice(_SKEWS_MS) for name in self.replicas}
            self.ahead_ms, self.clock_set_s = max(_SKEWS_MS), 0.0
        self.servers: dict[str, NodeServer | None] = dict.fromkeys(self.replicas)
        for name in self.servers:
            self._boot(name)
        self._let_people_come(1.0)
        if "power_cut" in self.swarm.faults:
            self._keep_images()

    @property
    def truth(self) -> sqlite3.Connection:
        """The content of the log, as the oracle reads it."""
        self._ask_the_oracle()
        return self.oracle.tables

    @property
    def running(self) -> Sequence[NodeServer]:
        """The nodes that run."""
        return [server for server in self.servers.values() if server is not None]

    @property
    def thinks_s(self) -> float:
        """How long a person or bot thinks, on average."""
        return 5 * self.swarm.think_s

    def link(self, peer: Peer) -> Link | None:
        """Return a new link of the peer to any node that listens."""
        open_ones = [each for each in self.running if not each.is_draining]
        places = [each for each in open_ones if each.name == self.places.get(peer.number, each.name)]
        if not places:
            return None
        server = self.rng.choice(places)
        self.trace(peer, f"comes to node {server.name}")
        return self.linked(peer, server)

    # How it goes on.

    def live_in_trouble(self) -> None:
        """Let everything go wrong for a while."""
        self.wait(_LIVES_S * self.swarm.life)

    def mend(self) -> None:
        """Let every fault of the nodes and their log end."""
        self.weather.slowest_s, self.weather.losing, self.weather.repeating = 0.002, 0.0, 0.0
        self.weather.is_full = False
        self.low_disks.clear()
        self.stream.segments |= {name: self.lost_segments[name] for name in self.stream.needs & {*self.lost_segments}}
        for name, server in list(self.servers.items()):
            if server is None:
                self._boot(name)
            else:
                server.worker.slowest_s = 0.001
                self._let_write(server.replica)
                self._reconnect(server.log)

    def is_quiet(self) -> bool:
        """Tell whether nothing is under way."""
        servers = self.running
        return (
            len(servers) == len(self.servers)
            and all(server.ledger.is_fresh and server.ledger.health().waiting == 0 for server in servers)
            and len({server.ledger.position for server in servers}) == 1
            and not any(server.is_draining for server in servers)
            and not self.wholes
            and all(peer.is_idle for peer in self.peers)
        )

    def _boot(self, name: str) -> None:
        if self.servers[name] is None:
            if not (self._takes_live_tables(name) or self._take_snapshot(self.replicas[name])):
                self.trace(None, f"node {name} cannot begin from the snapshot, and waits")
                self.loop.call_later(1.0, self._boot, name)
                return
            self.processes += 1
            schedule = SCHEDULE if "trim" in self.swarm.faults else None
            self.servers[name] = NodeServer(self, name, self.replicas[name], self.processes, schedule)

    def _take_snapshot(self, replica: Replica) -> bool:
        """Do what a node does as it starts: put the newest snapshot in place of tables that are behind it.

        Return whether it can go on: from there, or from the log.
        """
        position, image = self.stream.snapshot
        if position <= replica.position:
            return True
        form, replica.form = replica.form, NEWER
        try:
            with replica.reading(BytesIO(image)) as given:
                for segment in [*given.missing]:
                    data = self.stream.segments.get(segment.name, b"")
                    if sha256_of(data) != segment.sha256:
                        self.stream.segments.pop(segment.name, None)
                    given.add(segment, data)
                given.take_over()
        except StorageError as error:
            is_newest = position >= self.reader.position and not self.lost_segments
            self.claim(not is_newest, f"the snapshot of place {position} cannot be taken: {error.cause}")
            return bool(self.stream.let_go <= replica.position)
        finally:
            replica.form = form
        replica.form = max(form, replica.in_force())  # one of before has to be renewed first
        return True

    def _takes_live_tables(self, name: str) -> bool:
        """Let a node that lacks segments begin without them, or not; return whether it does."""
        position, image = self.stream.snapshot
        whole = self.replicas[name]
        if position <= whole.position or self.rng.random() < 0.2:
            return False
        form, whole.form = whole.form, NEWER
        try:
            with whole.reading(BytesIO(image)) as given:
                if not given.most_missing:
                    return False
                living = given.live()
        except StorageError:
            return False
        finally:
            whole.form = form
        living.form = whole.form = max(form, living.in_force())
        self.wholes[name], self.replicas[name] = whole, living
        self.trace(None, f"node {name} begins with live tables at place {position}")
        self.loop.call_later(self.rng.choice([0.2, 3.0, 20.0]), self._complete, name, living)
        return True

    def _complete(self, name: str, living: Replica) -> None:
        """Let a node become whole, now or later, unless it has died."""
        if self.replicas[name] is not living:
            return
        whole = self.wholes[name]
        whole.form = living.form
        is_done = False
        if self._take_snapshot(whole):
            with suppress(StorageError):  # the segments were lost, and it is still before the live tables
                while not whole.keep_up_with(living):
                    pass
                is_done = living.become(whole)
        if is_done:
            self.trace(None, f"node {name} is whole at place {living.position}")
            self.completed += 1
            del self.wholes[name]
        else:
            self.loop.call_later(0.3, self._complete, name, living)

    def begin_anew(self, server: NodeServer) -> None:
        """Let the process of a node end, and begin once more: it has missed what was trimmed."""
        self.trace(None, f"node {server.name} has missed what was trimmed, and begins anew")
        self.begun_anew += 1
        if self.servers[server.name] is server:
            self.crash(server)

    # What goes wrong with nodes and their log.

    def _any_node(self) -> Sequence[NodeServer]:
        server = self.rng.choice([*self.servers.values()])
        if server is not None:
            self.trace(None, f"on node {server.name}")
        return [] if server is None else [server]

    def _fault_cut_off(self, peer: Peer) -> None:
        for server in self._any_node():
            server.log.is_cut_off = True
            self.loop.call_later(self.rng.choice([0.5, 3.0, 8.0]), self._reconnect, server.log)

    def _fault_trim(self, peer: Peer) -> None:
        """Let a node miss what is trimmed meanwhile."""
        for server in self._any_node():
            server.log.is_cut_off = True
            self.loop.call_later(12.0, self._reconnect, server.log)

    def _fault_full(self, peer: Peer) -> None:
        """Let the log take nothing for a while, though it answers."""
        self.weather.is_full = True
        self.loop.call_later(self.rng.choice([2.0, 7.0, 12.0]), self._empty)

    def _fault_refuse(self, peer: Peer) -> None:
        """Let the disk of a node refuse to be written for a while."""
        for server in self._any_node():
            server.replica.database.connection.execute("PRAGMA query_only = ON")
            self.loop.call_later(self.rng.choice([0.5, 3.0, 8.0]), self._let_write, server.replica)

    def _fault_low_disk(self, peer: Peer) -> None:
        """Leave little room on the disk of a node for a while."""
        for server in self._any_node():
            self.low_disks.add(server.name)
            self.loop.call_later(self.rng.choice([3.0, 8.0, 30.0]), self.low_disks.discard, server.name)

    def _fault_lose_segment(self, peer: Peer) -> None:
        """Let the store of snapshots lose a segment, or damage it."""
        for name in sorted(self.stream.segments)[-1:]:
            data = self.stream.segments.pop(name)
            self.lost_segments.setdefault(name, data)
            if self.rng.random() < 0.5:
                self.stream.segments[name] = data[:-1]

    def _let_write(self, replica: Replica) -> None:
        replica.database.connection.execute("PRAGMA query_only = OFF")

    def _empty(self) -> None:
        self.weather.is_full = False

    def _reconnect(self, log: SimulatedLog) -> None:
        log.is_cut_off = False
        log.deliver()

    def _fault_pause(self, peer: Peer) -> None:
        for server in self._any_node():
            self.loop.pause(server.process, self.rng.choice([0.5, 3.0, 8.0]))

    def _fault_crash(self, peer: Peer) -> None:
        for server in self._any_node():
            self.crash(server)

    def crash(self, server: NodeServer) -> None:
        server.die()
        self._let_write(server.replica)
        if server.name in self.wholes:  # what lived is gone
            server.replica = self.replicas[server.name] = self.wholes.pop(server.name)
        self.servers[server.name] = None
        self.loop.call_later(self.rng.choice([0.1, 4.0]), self._boot, server.name)

    def _fault_power_cut(self, peer: Peer) -> None:
        """Let a node lose what it has applied last: its tables are behind what it said, and behind the log."""
        for server in self._any_node():
            self.crash(server)
            if self.images[server.name]:
                server.replica.read_from(BytesIO(self.rng.choice(self.images[server.name])))
                self.images[server.name].clear()
                self.trace(None, f"node {server.name} is back at place {server.replica.position}")

    def _keep_images(self) -> None:
        for name, replica in self.replicas.items():
            if replica.has_past:
                image = BytesIO()
                replica.write_to(image)
                self.images[name].append(image.getvalue())
        if self.faults_are_on:
            self.loop.call_later(_IMAGE_S, self._keep_images)

    def _fault_drain(self, peer: Peer) -> None:
        for server in self._any_node():
            self.drain(server)

    def drain(self, server: SimulatedServer) -> None:
        """Let a node end as it does, and start anew."""
        assert isinstance(server, NodeServer)
        if server.is_draining or server.is_paused():
            return
        server.begin_drain()
        with self.loop.acting_as(server.process):
            server.ledger.leave()
        self.loop.call_later(1.0, self._end_drain, server)

    def _end_drain(self, server: NodeServer) -> None:
        if self.servers[server.name] is server:
            self.crash(server)

    def _fault_upgrade(self, peer: Peer) -> None:
        """Let a node come back whose tables are those of the release before: they become what they were."""
        for server in self._any_node():
            self.crash(server)
            replica = server.replica
            before = contents(replica)
            reopen(of_release_before(replica.database.connection), replica)
            self.claim(contents(replica) == before, f"the upgrade of node {server.name} changes its tables")

    def _fault_new_disk(self, peer: Peer) -> None:
        """Let a node begin anew: with nothing, or from the snapshot of another, which may be of the release before."""
        for server in self._any_node():
            self.crash(server)
            self.images[server.name].clear()
            if self.rng.random() < 0.5:
                self.replicas[server.name] = Replica(None, server.replica.form, segment_size=SEGMENT_SIZE)
                continue
            source = self.replicas[self.rng.choice([name for name in self.replicas if name != server.name])]
            if not source.has_past:
                continue
            image = BytesIO()
            source.write_to(image)
            if self.rng.random() < 0.5:
                image = BytesIO(of_release_before(source.database.connection))
            replica = Replica(None, source.form, segment_size=SEGMENT_SIZE)
            image.seek(0)
            replica.read_from(image)
            self.claim(
                contents(replica) == contents(source),
                f"node {server.name} has other tables than the snapshot at place {source.position}",
            )
            replica.form = server.replica.form
            self.replicas[server.name] = replica

    def _fault_roll(self, peer: Peer) -> None:
        """Let a node become one of the newer release, or again of this one, as long as not all were renewed."""
        for server in self._any_node():
            forms = [NEWER] if self.oracle.replica.in_force() == NEWER else [NEWER, NEWER, FORM]
            self._renew(server, self.rng.choice(forms))

    def _renew(self, server: NodeServer, form: int) -> None:
        self.trace(None, f"node {server.name} becomes one of form {form}")
        self.crash(server)
        server.replica.form = form

    def _fault_late(self, peer: Peer) -> None:
        self.weather.slowest_s = self.rng.choice([0.002, 0.05, 0.5])

    def _fault_losing(self, peer: Peer) -> None:
        self.weather.losing = self.rng.choice([0.0, 0.1, 0.5])

    def _fault_repeating(self, peer: Peer) -> None:
        self.weather.repeating = self.rng.choice([0.0, 0.2, 0.8])

    def _fault_slow(self, peer: Peer) -> None:
        for server in self._any_node():
            server.worker.slowest_s = self.rng.choice([0.001, 0.05, 0.3])

    def _fault_skewed(self, peer: Peer) -> None:
        """Let nothing happen: that clocks are apart is so from the beginning."""

    def _fault_hop(self, peer: Peer) -> None:
        if peer.link is not None:
            link = peer.link
            link.hang_up()
            peer.lost(link)

    # What must hold.

    def check(self) -> None:
        """Check what holds at every moment."""
        self._ask_the_oracle()
        self.chatter.note_mutes()
        if self.swarm.has_tournaments:
            tournaments.check(self)
        if "roll" in self.swarm.faults:
            self._forms_are_known()
        self._the_snapshot_is_whole()
        for name, replica in self.replicas.items():
            server = self.servers[name]
            known = self.tables.get(replica.position)
            if not replica.has_past:
                pass  # it is compared once it is whole
            elif known is None or self.rng.random() < 0.1:
                tables = canonical(replica.database.connection)
                known = self.tables.setdefault(replica.position, tables)
                self.claim(known == tables, f"node {name} has other tables at place {replica.position}")
            is_behind = replica.form < self.oracle.replica.in_force()
            if server is not None and server.is_to_begin_anew:
                continue
            if server is not None and server.ledger.stopped is not None and is_behind:
                self._renew(server, NEWER)  # its host has read what to install
            elif server is not None:
                self.claim(server.ledger.stopped is None, f"node {name} stopped: {server.ledger.stopped}")
                invariants.check_server(cast(Any, NodeView(self, server)), server)
                self._who_is_elsewhere_is_known(server)

    def _the_snapshot_is_whole(self) -> None:
        """A snapshot has all its segments, and leads to the tables that the nodes had at its place."""
        early = self.stream.early - self.lost_segments.keys()
        self.claim(not early, f"a snapshot was stored before {early}")
        position, _ = self.stream.snapshot
        first = 1 + self.reader.position
        if position < first:  # a former steward's may arrive late
            return
        self.reader.apply(list(enumerate(self.stream.batches[first - 1 : position], first)))
        with closing(Replica(None, segment_size=SEGMENT_SIZE)) as restored:
            if self._take_snapshot(restored) and restored.position == position:
                tables = canonical(restored.database.connection), restored.state
                said = canonical(self.reader.database.connection), self.reader.state
                self.claim(tables == said, f"the snapshot of place {position} has not what the log says")

    def _forms_are_known(self) -> None:
        """A form is in force once all nodes know it, and what is of it comes to none that does not."""
        connection = self.oracle.tables
        behind = connection.execute("SELECT node FROM nodes WHERE form < (SELECT form FROM place)").fetchall()
        self.claim(not behind, f"the form in force is not known to {behind}")
        for name, replica in self.replicas.items():
            if replica.form < NEWER:
                written = replica.database.connection.execute("SELECT 1 FROM audit WHERE act = ?", (OF_NEWER,))
                self.claim(not written.fetchone(), f"node {name} has applied what it does not know")

    def _who_is_elsewhere_is_known(self, server: NodeServer) -> None:
        """A node has in memory who is connected to another, as its tables have it."""
        logged = {player: node for player, node in connected_to(server.replica).items() if node != server.name}
        sessions = server.hub.services.players.sessions
        held = {player: getattr(each.connection, "node", "") for player, each in sessions.items() if each.is_elsewhere}
        self.claim(held == logged, f"node {server.name} holds {held} for connected elsewhere, its tables {logged}")

    def _ask_the_oracle(self) -> None:
        """Let the oracle read the log up to its end, and see who let flags fall."""
        for flag in self.oracle.read(self.loop.time()):
            self._check_flag(flag)

    def was_called(self, player: int | None, name: str) -> bool:
        """Tell whether a player has that name, or had it."""
        self._ask_the_oracle()
        return (player, name) in self.oracle.names

    def _check_flag(self, flag: Flag) -> None:
        """A flag falls where its player hears the match; where they are nowhere, it may fall anywhere.

        A player who has come to another node, whose resume is not in the log after the two seconds that the others
        wait, is nowhere in this match: what their node writes may be lost on its way to the log for as long.
        """
        node = flag.node
        decided_s = (flag.at_ms - START_MS - self.skews_ms[node]) / 1000  # by what was known then
        if flag.at_ms == flag.since_ms or self.clock_set_s >= 0:
            decided_s = self.loop.time() - _LIVES_S  # by a clock that others do not share
        known = self.oracle.end_at(decided_s - KNOWN_S)
        sat = [self.oracle.connected.get(each, {}).get(flag.mover) for each in range(known, flag.position)]
        may_fall = node in sat or None in sat or flag.is_unheard
        self.claim(may_fall, f"node {node} let the flag fall of one who sat at {sat[-1]}")

    def check_at_rest(self) -> None:
        """Check what holds when nothing is under way."""
        self.check()
        for peer in self.peers:
            self.claim(peer.is_welcome, f"{peer.name} did not come back")
            self.claim(not peer.talk.asked, f"{peer.name} waits for answers")
        for server in self.running:
            reader = Replica(None, NEWER)
            reader.apply(list(enumerate(self.stream.batches[: server.replica.position], 1)))
            tables = canonical(server.replica.database.connection), server.replica.state
            said = canonical(reader.database.connection), reader.state
            self.claim(tables == said, f"node {server.name} has not what the log says")
            view = cast(Any, NodeView(self, server))
            invariants.check_server_at_rest(view, server)
            tournaments.check_at_rest(view, server)
            invariants.results_and_ratings_agree(view)
            invariants.time_never_goes_back(view)
            invariants.clocks_sum_up(view)
            left = server.node.unanswered
            self.claim(left == 0, f"node {server.name} has not answered {left} requests to the lobby")
            seeks = len(server.hub.lobby.seeks)
            keeps = server.ledger.is_steward
            self.claim(keeps or not seeks, f"node {server.name} keeps {seeks} seeks, and is not the steward")
            if keeps:
                invariants.who_could_play_is_paired(view, server)
            for connection in server.hub.services.connections:
                session: Any = connection.session
                is_here = session is None or server.hub.services.players.get(session.player) is session
                self.claim(is_here or not connection.is_open, f"node {server.name} keeps a connection of another time")
        self._everybody_is_at_one_node(self.running)
        self._everybody_counts_all_who_watch()
        self._everybody_is_listed_alike()

    def _everybody_is_listed_alike(self) -> None:
        """The seeks and the players of the lobby are the same on all nodes."""
        lists = [(server.hub.listing.seeks(), server.hub.listing.players()) for server in self.running]
        for each in lists[1:]:
            self.claim(each == lists[0], f"one node lists {lists[0]}, another {each}")

    def _everybody_counts_all_who_watch(self) -> None:
        """The number of those who watch a match is the same on all nodes, and right."""
        for match_id in self.started:
            rooms = [room for each in self.running if (room := each.hub.registry.rooms.get(match_id)) is not None]
            right = sum(room.audience.watchers_here for room in rooms)
            told = [room.audience.watchers for room in rooms]
            self.claim(set(told) <= {right}, f"{right} watch {match_id}, and nodes count {told}")

    def _everybody_is_at_one_node(self, servers: Sequence[NodeServer]) -> None:
        """All nodes agree on who is connected to which, and so does the log."""
        held = []
        for server in servers:
            held.append(
                {
                    player: getattr(session.connection, "node", server.name)
                    for player, session in server.hub.services.players.sessions.items()
                }
            )
        logged = connected_to(self.oracle.replica)
        for server, each in zip(servers, held, strict=True):
            self.claim(each == logged, f"node {server.name} holds {each} for connected, the log {logged}")
        self.claim(len(logged) >= len(self.peers), f"{len(logged)} are connected of {len(self.peers)}")
        self.claim(sum(server.ledger.is_steward for server in servers) == 1, "one node keeps the lobby")
