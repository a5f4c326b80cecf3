"""A whole world from one seed: a server, its disk, a network, people and bots, and everything that goes wrong.

The server is the product's: from the bytes of WebSocket frames to SQL. So is the clients' side of the talk. Time,
sockets, the disk's delays and faults and the scheduler are simulated. One seed makes one history.
"""

import random
from collections.abc import Callable
from typing import Any, Literal, cast

import msgspec

from tests.simulation.disk import SimulatedDisk, SimulatedLedger
from tests.simulation.invariants import check, check_at_rest, check_played_out
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Link
from tests.simulation.peer import Peer
from tests.simulation.swarm import Swarm
from ttt_net import messages as wire
from ttt_net.errors import Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.commands import AdminCommands
from ttt_net.server.admin.moderation import load_sanctions
from ttt_net.server.admin.roles import Moderators
from ttt_net.server.admission.sanctions import of_player
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal, token_hash
from ttt_net.server.process.maintenance import maintenance_jobs
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.settings.rate import Rate
from ttt_net.server.wire.connection import Connection

START_MS = 1_800_000_000_000
"""When every world begins, in milliseconds since 1970."""
_OFTEN = Rate(1_000_000)
_LIMITS = Limits(
    codes=_OFTEN,
    inquiries=_OFTEN,
    matches=_OFTEN,
    renames=_OFTEN,
    chats=_OFTEN,
    reports=_OFTEN,
    challenges=_OFTEN,
    max_live_matches=6,
)
SETTINGS = Configuration(
    name="simulated", limits=_LIMITS, retention_days=30, guest_days=30, report_days=7, audit_days=30
)
_NIGHTS_MS = (86_400_000, 40 * 86_400_000, 400 * 86_400_000)
"""How long a server may sleep: so that guests and matches are too old, and ratings unsettled."""
TICK_S = 1.0
MOST_TURNS = 20
_MOST_LULLS = 5
"""How often the world may only seem to be at rest."""
_MOST_STEPS = 20_000
"""In half a second."""


class InvariantError(AssertionError):
    """An invariant did not hold."""


class Server:
    """One process of the server; what it held in memory dies with it."""

    def __init__(self, world: "World", process: int) -> None:
        self.world, self.process = world, process
        self.ledger = SimulatedLedger(world.disk, world.loop, process)
        self.links: list[Link] = []
        self.is_draining = False
        with world.loop.acting_as(process):
            journal = Journal(self.ledger)
            rng = random.Random(world.rng.getrandbits(64))
            self.hub = Hub(build_services(SETTINGS, journal, world.loop.as_asyncio, world.now_ms, rng))
            self._jobs = maintenance_jobs(self.hub)
            self.admin = AdminCommands(self.hub.services, self._stop, Moderators(self.hub.services, lambda _: 0))
            self.hub.recall()
            load_sanctions(self.hub.services)
            world.loop.call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        self.hub.tick(self.world.loop.time())
        for name, tick in self._jobs.items():
            self.hub.services.guard.attempt(name, tick)
        self.world.loop.call_later(TICK_S, self._tick)

    def _stop(self) -> None:
        """Restart, as a countdown that an admin began ends."""
        with self.world.loop.acting_as(0):
            self.world.loop.call_soon(self.world.drain, self)

    def ask(self, request: protocol.AnyAdminRequest) -> None:
        """Let an admin ask for something; it must be answered once, as long as this process lives."""
        world = self.world
        answers: list[protocol.AnyAdminReply] = []

        def answer(reply: protocol.AnyAdminReply) -> None:
            answers.append(reply)
            if isinstance(request, protocol.MutePlayer | protocol.Unmute | protocol.SettleReport):
                world.note_mutes()
            world.trace(None, f"answers the admin: {reply}")
            world.claim(len(answers) == 1, f"an admin heard two answers: {answers}")
            world.unanswered_acts.discard(key)

        key = (self.process, world.loop.time(), str(request))
        world.unanswered_acts.add(key)
        with world.loop.acting_as(self.process):
            try:
                self.admin.carry_out(request, answer)
            except Refusal as refusal:
                answer(protocol.Failed(str(refusal)))

    def accept(self, link: Link) -> None:
        """Take in a new link."""
        self.links = [each for each in self.links if each.server is not None]
        self.links.append(link)
        link.connect(Connection(self.hub, self.world.loop.as_asyncio, self.hub.services.read_buffer))


class World:
    """All that there is, and what is claimed of it: a claim that does not hold raises `InvariantError`."""

    def __init__(self, seed: int, swarm: Swarm | None = None, trace: Callable[[str], None] | None = None) -> None:
        """Make the world of a seed; a `swarm` of one's own is a shrink's."""
        self.seed = seed
        self.rng = random.Random(seed)
        drawn = Swarm.of(self.rng)
        self.swarm = swarm or drawn
        self.makers = self.swarm.makers()
        self.loop = SimulatedLoop()
        self._write_trace = trace
        self.disk = SimulatedDisk(self.loop, random.Random(self.rng.getrandbits(64)))
        self.names: dict[int, str] = {}
        self.codes: list[str] = []
        self.started: list[str] = []
        self._new_names = 0
        self._processes = 0
        self._faults_are_on = True
        self.slept_ms = 0
        """How long no server ran, beside what the loop knows of: its clock does not jump."""
        self.steps = 0
        self.loses_words = False
        """Whether what the lobby has to say to somebody may be lost on its way between nodes."""
        self.moves = 0
        self.unchecked_plays: list[tuple[str, int, int]] = []
        """Match, ply and move that a player was told `ok` for, and the journal was not asked for yet."""
        self.events: dict[tuple[str, int], bytes] = {}
        """Of each match and seq, what was told."""
        self.mutes: dict[str, tuple[float, int]] = {}
        """Whom the admin has muted, as sanctions name them: since when it is known to be so, and until when."""
        self.unanswered_acts: set[tuple[int, float, str]] = set()
        """What admins asked for and have no answer to, each with its process and moment."""
        self.server: Server | None = None
        self._boot()
        self.peers = [Peer(self, number, random.Random(self.rng.getrandbits(64))) for number in range(self.swarm.peers)]
        for peer in self.peers:
            self.loop.call_later(self.rng.random(), peer.connect)
            self.loop.call_later(self.rng.random(), self._let_act, peer)
        if self.swarm.faults:
            self.loop.call_later(1.0, self._go_wrong)

    # What the others ask of the world.

    def now_ms(self) -> int:
        """Return the time of day."""
        return START_MS + self.slept_ms + int(self.loop.time() * 1000)

    def new_name(self) -> str:
        """Return a name that nobody has had."""
        self._new_names += 1
        return f"name{self._new_names}x"

    def link(self, peer: Peer) -> Link | None:
        """Return a new link of the peer to the server; None if nobody listens."""
        server = self.server
        if server is None or server.is_draining:
            return None
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
        return link

    def trace(self, who: Peer | None, what: str, message: object = None) -> None:
        """Write a line of the trace, if it is wanted."""
        if self._write_trace is not None:
            said = ""
            if isinstance(message, msgspec.Struct):
                said = f" {wire.encode(cast(Any, message)).decode()}"
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
            self.moves += 1
            self.unchecked_plays.append((request.match, request.ply, request.move))

    def note_mutes(self) -> None:
        """Take note of who is muted by now, as the journal has it."""
        rows = self.disk.connection.execute("SELECT whom, until_ms FROM sanctions WHERE act = 'mute'").fetchall()
        before, now_s = self.mutes, self.loop.time()
        self.mutes = {
            whom: (before[whom][0] if before.get(whom, (0, 0))[1] == until_ms else now_s, until_ms)
            for whom, until_ms in rows
        }

    def keys_of(self, token: str | None, address: str) -> list[str]:
        """Return all that a sanction of a player may go by."""
        player = self.player_of(token)
        keys = [f"{address}/32"] if player is None else [f"{address}/32", of_player(player)]
        if self.server is not None and token:
            sanctions = self.server.hub.services.sanctions
            keys += [sanctions.key_of_token(token_hash(token)), sanctions.key_of_address(address) or ""]
        return keys

    def player_of(self, token: str | None) -> int | None:
        """Return the number of the player whose token it is; None if there is none."""
        query = "SELECT id FROM players WHERE token_hash = ?"
        row = self.disk.connection.execute(query, (token_hash(token),)).fetchone() if token else None
        return None if row is None else int(row[0])

    def told(self, event: Any) -> None:
        """Compare an event with what others were told: all hear the same."""
        key = (event.match, event.seq)
        if isinstance(event, wire.Started) and event.match not in self.started:
            self.started.append(event.match)
        said = wire.encode(event)
        before = self.events.setdefault(key, said)
        if before != said:
            self.claim(core_of(before) == core_of(said), f"event {key} was told in two ways: {before!r} and {said!r}")

    # How it goes on.

    def run(self) -> None:
        """Live through trouble, come to rest, and check what must hold; raises `InvariantError` where it does not."""
        self._live(until=lambda: self.steps >= self.swarm.max_steps, most_s=600.0)
        self._faults_are_on = False
        self._settle()
        check_at_rest(self)
        if self.swarm.is_played_out:
            self._play_out()
            self._settle()
            check_at_rest(self)
            check_played_out(self)

    def _live(self, until: Callable[[], bool], most_s: float) -> bool:
        """Let time pass until then, and check the world every half second of its own; False if it takes too long."""
        end_s = self.loop.time() + most_s
        while not until():
            if self.loop.time() >= end_s:
                return False
            most = max(1, self.swarm.max_steps - self.steps) if self._faults_are_on else _MOST_STEPS
            steps = self.loop.run_until(self.loop.time() + 0.5, most)
            self.claim(steps < _MOST_STEPS, "half a second is as long as that: something calls itself again and again")
            self.steps += steps
            if self.loop.errors:
                raise self.loop.errors[0]
            check(self)
        return True

    def _settle(self) -> None:
        """Let every fault end and everybody come back, until nothing is under way."""
        self.disk.failing, self.disk.slowest_s = 0.0, 0.001
        if self.server is None:
            self._boot()
        self._live(lambda: self.server is not None and not self.server.is_draining, 5.0)
        if self.server is not None:
            self.server.ask(protocol.Drain(None))
        for peer in self.peers:
            if peer.link is not None:
                peer.link.go_on()
            peer.arrive()
        self._live(lambda: False, 6.0)  # what could not be read at the start is read again by then
        is_quiet = False
        for _ in range(_MOST_LULLS):
            is_quiet = self._live(self._is_quiet, 120.0)
            self._live(lambda: False, 2.0)  # what was told last arrives; who has just been lost comes back
            is_quiet = is_quiet and self._is_quiet()
            if is_quiet:
                break
        waiting = [list(peer.talk.asked.values()) for peer in self.peers]
        self.claim(is_quiet, f"the world does not come to rest: {waiting}")

    def _is_quiet(self) -> bool:
        server = self.server
        return (
            server is not None
            and not server.is_draining
            and server.ledger.is_idle
            and all(peer.is_welcome and not peer.talk.asked for peer in self.peers)
        )

    def _play_out(self) -> None:
        """Play every match that goes on to its end; one that may go on for ever is resigned."""
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
            self.loop.call_later(self.swarm.think_s * (0.5 + self.rng.random()), self._let_act, peer)

    # What goes wrong.

    def _go_wrong(self) -> None:
        if not self._faults_are_on:
            return
        fault = self.rng.choice(self.swarm.faults)
        self.trace(None, fault)
        peer = self.rng.choice(self.peers)
        getattr(self, f"_fault_{fault}")(peer)
        self.loop.call_later(0.2 + 3 * self.rng.random(), self._go_wrong)

    def _fault_cut(self, peer: Peer) -> None:
        if peer.link is not None:
            peer.link.cut()

    def _fault_silence(self, peer: Peer) -> None:
        link = peer.link
        if link is not None:
            link.is_silent = True
            self.loop.call_later(8.0, self._give_up, peer, link)

    def _give_up(self, peer: Peer, link: Link) -> None:
        """Let the client find out by itself that nothing comes any more."""
        peer.lost(link)

    def _fault_stall(self, peer: Peer) -> None:
        link = peer.link
        if link is not None:
            link.stall()
            self.loop.call_later(self.rng.choice([0.5, 20.0]), link.go_on)

    def _fault_die(self, peer: Peer) -> None:
        peer.die()
        self.loop.call_later(self.rng.random() * 5, peer.arrive)

    def _fault_leave(self, peer: Peer) -> None:
        peer.leave()
        self.loop.call_later(self.rng.random() * 40, peer.arrive)

    def _fault_late_disk(self, peer: Peer) -> None:
        self.disk.slowest_s = self.rng.choice([0.001, 0.05, 1.0])

    def _fault_failing_disk(self, peer: Peer) -> None:
        self.disk.failing = self.rng.choice([0.0, 0.0, 0.1, 1.0])

    def _fault_pause(self, peer: Peer) -> None:
        if self.server is not None:
            self.loop.pause(self.server.process, self.rng.choice([0.5, 3.0, 10.0]))

    def _fault_crash(self, peer: Peer) -> None:
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

    def _fault_drain(self, peer: Peer) -> None:
        if self.server is not None:
            self.drain(self.server)

    def drain(self, server: Server) -> None:
        """Let the server end as it does, and start anew."""
        if server is not self.server or server.is_draining:
            return
        server.is_draining = True
        with self.loop.acting_as(server.process):
            server.hub.services.shutdown.drain()
            self.loop.call_later(0.2, server.hub.close_all)
        self.loop.call_later(1.0, self._end_drain, server)

    def _ask(self, request: protocol.AnyAdminRequest) -> None:
        server = self.server
        if server is not None and not server.is_draining and not self.loop.is_paused(server.process):
            server.ask(request)

    def _fault_kick(self, peer: Peer) -> None:
        self._ask(protocol.Kick(peer.name, "once"))

    def _fault_ban(self, peer: Peer) -> None:
        whom = self.rng.choice([peer.name, peer.name, peer.address])
        with_address = whom == peer.name and self.rng.random() < 0.4
        self._ask(protocol.Ban(whom, "for a while", self.rng.choice([2, 20]), with_address))
        if self.rng.random() < 0.5:
            self.loop.call_later(1.0, self._ask, protocol.Unban(whom))

    def _fault_mute(self, peer: Peer) -> None:
        whom = self.rng.choice([peer.name, peer.name, peer.address])
        with_address = whom == peer.name and self.rng.random() < 0.4
        self._ask(protocol.MutePlayer(whom, "", self.rng.choice([2, 20]), with_address))
        if self.rng.random() < 0.3:
            self.loop.call_later(2.0, self._ask, protocol.Unmute(whom))

    def _fault_judge(self, peer: Peer) -> None:
        acts: list[Literal["kick", "mute", "ban"] | None] = [None, "kick", "mute", "ban"]
        number, with_address = self.rng.randint(1, 8), self.rng.random() < 0.3
        self._ask(protocol.SettleReport(number, "seen", self.rng.choice(acts), "", 2, with_address))
        self._ask(protocol.ShowReport(self.rng.randint(1, 8)))

    def _fault_announce(self, peer: Peer) -> None:
        self._ask(protocol.Announce("good evening"))

    def _fault_countdown(self, peer: Peer) -> None:
        self._ask(protocol.Drain(self.rng.choice([0, 2, 30])))

    def _fault_call_off(self, peer: Peer) -> None:
        self._ask(protocol.Drain(None))

    def _end_drain(self, server: Server) -> None:
        if server is self.server:
            self._kill()
            self._boot()

    def _kill(self) -> None:
        server, self.server = self.server, None
        assert server is not None
        server.ledger.is_cut_off = True
        self.loop.kill(server.process)
        self.note_mutes()  # what was written down and not told
        for link in server.links:
            link.vanish()

    def _boot(self) -> None:
        if self.server is None:
            self._processes += 1
            self.server = Server(self, self._processes)


def core_of(told: bytes) -> dict[str, Any]:
    """Return what must be the same for all in an event: not the clock at the moment of sending, nor names now."""
    core: dict[str, Any] = msgspec.json.decode(told)
    for changing in ("clock", "players", "position"):
        core.pop(changing, None)
    return core
