"""Parts that all simulated worlds share: time, people, faults of theirs, and the oracle.

The truth of a world is what was written down: on the disk of the one server, in the log of several.
"""

import random
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Literal, cast
from unittest import mock

import msgspec
from websockets import frames, utils

from tests.server.journal.walk import know_events
from tests.simulation import invariants, tournaments
from tests.simulation.causes import Causes
from tests.simulation.chatter import Chatter
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Link
from tests.simulation.pairings import Pairings
from tests.simulation.peer import Peer
from tests.simulation.server import SimulatedServer
from tests.simulation.swarm import Swarm
from ttt_net import messages as wire
from ttt_net.clock import GRACE_MS
from ttt_net.matches.referee import FREE_AFTER_MS
from ttt_net.server.admin import protocol
from ttt_net.server.journal import token_hash

START_MS = 1_800_000_000_000
"""When every world begins, in milliseconds since 1970."""
MOST_TURNS = 20
_MOST_LULLS = 8
"""How often a world may only seem to be at rest."""
_MOST_STEPS = 50_000
"""In half a second."""
_SET_BY_MS = (-3_600_000, -40_000, -900, 900, 40_000, 3_600_000)
"""How far the time of day of a machine may be set, at once."""


_LONG_S = (GRACE_MS + FREE_AFTER_MS + invariants.LATE_MS) / 1000 + 5.0
"""How long a bot may be kept for somebody who is gone, and a little."""
_COMES_ABOUT_S = 10.0
"""Until when a sanction that an admin asked for is written down, if it ever is."""
_PLAYED = (
    "SELECT 1 FROM facts, json_each(events(fact)) WHERE match = (SELECT number FROM matches WHERE id = ?)"
    " AND value ->> 'type' = 'played' AND value ->> 'ply' = ? AND value ->> 'move' = ?"
)
"""The moves of a match at a ply."""


class InvariantError(AssertionError):
    """An invariant did not hold."""


class Stage(ABC):
    """All that there is, and what is claimed of it: a claim that does not hold raises `InvariantError`."""

    peers: list[Peer]
    settles_s = 2.0
    """For how long nothing must be under way before a world is at rest."""
    each_step_of = 2
    """One world of so many is checked after each of its steps, which takes longer; the others every half second."""
    hears_late_s = 0.0
    """How old what a server knows may be, of what others decided."""

    def __init__(
        self,
        seed: int,
        faults: Sequence[str],
        swarm: Swarm | None,
        trace: Callable[[str], None] | None,
        later_faults: Sequence[str] = (),
    ) -> None:
        """Draw a world of the seed; a `swarm` of one's own is a shrink's."""
        self.seed = seed
        self.rng = random.Random(seed)
        drawn = Swarm.of(self.rng, faults, later_faults)
        self.swarm = swarm or drawn
        self.makers = self.swarm.makers()
        self.loop = SimulatedLoop()
        self._write_trace = trace
        self.names: dict[int, str] = {}
        self.codes: list[str] = []
        self.tournaments: list[str] = []
        """The codes of tournaments, as they were told."""
        self.started: list[str] = []
        self._new_names = 0
        self.processes = 0
        self.faults_are_on = True
        self.slept_ms = 0
        """How long no server ran, beside what the loop knows of: its clock does not jump."""
        self.low_disks: set[str] = set()
        """The machines whose disks are almost full."""
        self.skews_ms: dict[str, int] = {}
        """How far the time of day of each machine is ahead of the true one."""
        self.ahead_ms = 0
        """The furthest that the time of day of any machine was ever ahead."""
        self.shown_ms = START_MS
        """The latest time of day that any machine has shown, as of when one was set last."""
        self.clock_set_s = -1e9
        """When the time of day of a machine was set last."""
        self._broken: str | None = None
        """The first law that did not hold."""
        self.more_matches = 0
        """By how many matches two servers that begin some at once may exceed what is allowed."""
        self.upgrades = 0
        """How often the journal was brought up to date from a schema that had no reports."""
        self.steps = 0
        self.moves = 0
        self.events: dict[tuple[str, int], bytes] = {}
        """Of each match and seq, what was told."""
        self.chatter = Chatter(self)
        self.judged_s = -1e9
        """When an admin asked for a sanction last."""
        self.pairings = Pairings(self)
        self.learned: dict[tuple[int | None, str], tuple[str, int]] = {}
        """The most progress with each mistake of a player that was acknowledged."""
        self.tried: dict[tuple[object, ...], list[int]] = {}
        """How often each move and each name was asked for by a player, and how often that was refused."""
        self.causes = Causes(self)
        self.unanswered_acts: set[tuple[int, float, str]] = set()
        """Pending requests of admins, each with its process and moment."""

    def _let_people_come(self, after_s: float) -> None:
        self.peers = [Peer(self, number, random.Random(self.rng.getrandbits(64))) for number in range(self.swarm.peers)]
        for peer in self.peers:
            self.loop.call_later(after_s + self.rng.random(), peer.connect)
            self.loop.call_later(after_s + self.rng.random(), self._let_act, peer)
        if self.swarm.faults:
            self.loop.call_later(after_s + 1.0, self._go_wrong)

    # What a world has to say.

    @property
    @abstractmethod
    def truth(self) -> sqlite3.Connection:
        """The tables of all that was written down by now."""

    @property
    @abstractmethod
    def running(self) -> Sequence[SimulatedServer]:
        """The servers that run at this moment."""

    @property
    @abstractmethod
    def thinks_s(self) -> float:
        """How long a person or bot thinks, on average."""

    @abstractmethod
    def link(self, peer: Peer) -> Link | None:
        """Return a new link of the peer to a server; None if none listens."""

    @abstractmethod
    def drain(self, server: SimulatedServer) -> None:
        """Let a server end as it does, and start anew."""

    @abstractmethod
    def check(self) -> None:
        """Check what holds at every moment."""

    @abstractmethod
    def check_at_rest(self) -> None:
        """Check what holds when nothing is under way."""

    @abstractmethod
    def is_quiet(self) -> bool:
        """Tell whether nothing is under way."""

    # What others ask of it.

    def now_ms(self) -> int:
        """Return the true time of day."""
        return START_MS + self.slept_ms + int(self.loop.time() * 1000)

    def latest_ms(self) -> int:
        """Return the latest time of day that any machine has shown by now: by none is it later."""
        return max(self.shown_ms, self.now_ms() + max(self.skews_ms.values(), default=0))

    def new_name(self) -> str:
        """Return a name; where names are contested, it may be taken, or be taken at the same moment."""
        if self.swarm.is_contested and self.rng.random() < 0.5:
            return self.rng.choice([*self.names.values(), f"name{self._new_names}x"])
        self._new_names += 1
        return f"name{self._new_names}x"

    def linked(self, peer: Peer, server: SimulatedServer) -> Link:
        """Return a new link between the two."""
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
            said = f" {wire.encode(cast(Any, message)).decode()}" if isinstance(message, msgspec.Struct) else ""
            name = f"{who.number} {who.name}" if who else "world"
            self._write_trace(f"{self.loop.time():10.4f} {name} {what}{said}")

    def claim(self, holds: bool, what: str) -> None:
        """Fail with that sentence if it does not hold."""
        if not holds:
            self.trace(None, f"FAILED: {what}")
            self._broken = self._broken or what  # where it is raised, a server may take it for a fault of its own
            raise InvariantError(what)

    def told(self, event: Any) -> None:
        """Compare an event with what others were told: all hear the same."""
        key = (event.match, event.seq)
        said = wire.encode(event)
        before = self.events.setdefault(key, said)
        if before != said:
            self.claim(core_of(before) == core_of(said), f"event {key} was told in two ways: {before!r} and {said!r}")

    # What was acknowledged is written down.

    def acknowledged(self, peer: Peer, request: wire.Request) -> None:
        """Check, at once, that what was answered with `ok` is written down; a take-back may have followed a move."""
        if any(isinstance(each, wire.ForgetRequest) for each in peer.talk.asked.values()):
            return  # who they were may be forgotten by now
        match request:
            case wire.SeekRequest():
                self.pairings.agreed[peer.number] = request
                return
            case wire.PlayRequest():
                self.moves += 1
                is_there = self._has(_PLAYED, request.match, request.ply + 1, request.move)
                what = f"move {request.move} at ply {request.ply} of {request.match}"
            case wire.ResignRequest() | wire.AbortRequest():
                is_there = self._has("SELECT 1 FROM matches WHERE id = ? AND is_over", request.match)
                what = f"the end of {request.match}"
            case wire.ReportRequest():
                query = "SELECT 1 FROM reports WHERE reporter = ?"
                is_there = self.upgrades > 0 or self._has(query, self.player_of(peer.token))
                what = f"a report by {peer.name}"
                if is_there and request.side is not None and request.match is not None:
                    is_there = self.upgrades > 0 or self._concerns_seat(
                        "reporter", "reported", "reports", peer, request
                    )
                    what += f" of side {request.side} of {request.match}"
            case wire.MuteRequest(on=True):
                later = (
                    each for each in peer.talk.asked.values() if isinstance(each, wire.MuteRequest | wire.BlockRequest)
                )
                is_there = any(later) or self._concerns_seat("player", "other", "blocks", peer, request)
                what = f"a mute by {peer.name} of side {request.side} of {request.match}"
            case wire.LearnRequest(mistake=mistake):
                query = "SELECT 1 FROM mistakes WHERE player = ? AND puzzle = ? AND (due, times) >= (?, ?)"
                puzzle = msgspec.json.encode(mistake.puzzle).decode()
                is_there = self._has(query, self.player_of(peer.token), puzzle, *mistake.progress)
                what = f"{mistake} of {peer.name}"
                known = self.player_of(peer.token), puzzle
                self.learned[known] = max(self.learned.get(known, ("", 0)), mistake.progress)
            case wire.RenameRequest():
                is_newest = not any(isinstance(each, wire.RenameRequest) for each in peer.talk.asked.values())
                is_there = not is_newest or self.was_called(self.player_of(peer.token), request.name)
                what = f"the name {request.name}"
            case wire.ForgetRequest():
                is_there = self.player_of(peer.token) is None
                what = f"that {peer.name} is to be forgotten"
            case _:
                return
        self.claim(is_there, f"{what} was acknowledged and is not in the journal")

    # What was refused has changed nothing.

    def asked(self, peer: Peer, request: wire.Request) -> None:
        """Count a request that may come about later, if it came about although it was refused."""
        if key := self._key_of(peer, request):
            self.tried.setdefault(key, [0, 0])[0] += 1

    def refused(self, peer: Peer, request: wire.Request) -> None:
        """Count a refusal."""
        if key := self._key_of(peer, request):
            counts = self.tried.setdefault(key, [1, 0])
            counts[1] += 1
            if isinstance(request, wire.RenameRequest) and self.was_called(self.player_of(peer.token), request.name):
                counts[0] += 1  # they had it before, or an earlier one has come about

    def _key_of(self, peer: Peer, request: wire.Request) -> tuple[object, ...] | None:
        match request:
            case wire.PlayRequest():
                return peer.number, request.match, request.ply + 1, request.move
            case wire.RenameRequest() if peer.token:
                return self.player_of(peer.token), request.name
            case _:
                return None

    def _refusals_changed_nothing(self) -> None:
        """Claim that nothing has happened of which every request was refused."""
        for key, (sent, refused) in self.tried.items():
            if sent != refused:
                continue
            match key:
                case (_, match, ply, move):
                    has_happened = self._has(_PLAYED, match, ply, move)
                case (int() as player, str() as name):
                    has_happened = self.was_called(player, name)
                case _:
                    continue
            self.claim(not has_happened, f"{key} was refused, and has happened")

    def was_called(self, player: int | None, name: str) -> bool:
        """Tell whether a player has that name."""
        return self._has("SELECT 1 FROM players WHERE id = ? AND name = ?", player, name)

    def _concerns_seat(
        self, by: str, about: str, table: str, peer: Peer, request: wire.ReportRequest | wire.MuteRequest
    ) -> bool:
        """Tell whether a row of the table is about the player of the seat that was named, or was forgotten since."""
        seat = self.truth.execute(
            "SELECT iif(?, second, first) FROM matches WHERE id = ?", (request.side, request.match)
        ).fetchone()
        if (
            request.side is None
            or seat is None
            or not self._has("SELECT 1 FROM players WHERE id = ? AND token_hash IS NOT NULL", *seat)
        ):
            return True
        query = f"SELECT 1 FROM {table} WHERE {by} = ? AND {about} = ?"
        return self._has(query, self.player_of(peer.token), *seat)

    def _has(self, query: str, *values: object) -> bool:
        truth = self.truth
        know_events(truth)
        return truth.execute(query, values).fetchone() is not None

    def player_of(self, token: str | None) -> int | None:
        """Return the number of the player whose token it is; None if there is none."""
        query = "SELECT id FROM players WHERE token_hash = ?"
        row = self.truth.execute(query, (token_hash(token),)).fetchone() if token else None
        return None if row is None else int(row[0])

    # How it goes on.

    def run(self) -> None:
        """Live through trouble, come to rest, and check what must hold; raises `InvariantError` where it does not."""
        chance = SimpleNamespace(token_bytes=random.Random(self.seed).randbytes)
        # `websockets` draws keys and masks itself, and masked bytes may look like a close frame to the server
        with mock.patch.object(frames, "secrets", chance), mock.patch.object(utils, "secrets", chance):
            try:
                self._live_and_check()
            finally:
                for peer in self.peers:
                    peer.end()
                self.loop.run_until(self.loop.time(), _MOST_STEPS)

    def _live_and_check(self) -> None:
        self.live_in_trouble()
        self.faults_are_on = False
        self.settle()
        self.check_at_rest()
        self._refusals_changed_nothing()
        if self.swarm.is_played_out:
            self._play_out()
            self.settle()
            self.check_at_rest()
            for peer in self.peers:
                for match_id, seen in peer.matches.items():
                    is_next_round = seen.tournament is not None  # which began by itself
                    is_live = seen.you is not None and seen.outcome is None and not is_next_round
                    self.claim(not is_live, f"{match_id} of {peer.name} cannot be played to its end")
        if self.swarm.has_tournaments or any(peer.bot is not None for peer in self.peers):
            self._walk_away()
            self.settle()
            self.check_at_rest()
        if "chat" in self.swarm.requests:
            self.chatter.talk()
        if self.swarm.is_choosy:
            self.pairings.seek_at_last()
            self.check_at_rest()

    @abstractmethod
    def live_in_trouble(self) -> None:
        """Let everything go wrong for a while."""

    @abstractmethod
    def mend(self) -> None:
        """Let every fault of servers, disks and networks end."""

    def most_steps(self) -> int:
        """Return how many steps the next half second may have."""
        return _MOST_STEPS

    def live(self, until: Callable[[], bool], most_s: float) -> bool:
        """Let time pass until then, and check the world after each step or half second; False if it takes too long."""
        end_s = self.loop.time() + most_s
        while not until():
            if self.loop.time() >= end_s:
                return False
            steps = self._go_on(self.loop.time() + 0.5, self.most_steps())
            self.claim(steps < _MOST_STEPS, "half a second is as long as that: something calls itself again and again")
            self.steps += steps
            if self._broken is not None:
                raise InvariantError(self._broken)
            if self.loop.errors:
                raise self.loop.errors[0]
            self.check()
        return True

    def _go_on(self, until_s: float, most_steps: int) -> int:
        """Let everything happen until then, but no more than so many steps; return how many there were."""
        if self.seed % self.each_step_of:
            return self.loop.run_until(until_s, most_steps)
        steps = 0
        while steps < most_steps and self.loop.run_until(until_s, 1):
            steps += 1
            self.check()
        return steps

    def wait(self, wait_s: float) -> None:
        """Let time pass."""
        self.live(lambda: False, wait_s)

    def settle(self) -> None:
        """Let every fault end and everybody come back, until nothing is under way."""
        self.mend()
        self.shown_ms = self.latest_ms()
        held = any(server.hub.services.sanctions.in_force() for server in self.running)
        is_coming = self.loop.time() - self.judged_s < _COMES_ABOUT_S
        if held or is_coming or self._has("SELECT 1 FROM sanctions"):  # or one of some seconds may last for an hour
            self.skews_ms = dict.fromkeys(self.skews_ms, self.ahead_ms)
        for peer in self.peers:
            if peer.link is not None:
                peer.link.go_on()
            peer.arrive()
        self.wait(self.settles_s + 4.0)  # what could not be read at the start is read again by then
        self.live(lambda: not tournaments.lasting(self), 60.0)
        is_quiet = False
        for _ in range((8 if self.swarm.is_strict else 1) * _MOST_LULLS):  # who is too fast asks again, some time
            is_quiet = self.live(self.is_quiet, 120.0)
            steps = tournaments.steps(self)
            self.wait(self.settles_s)  # what was told last arrives; who has just been lost comes back
            self.live(self._lists_are_told, 10.0)
            is_quiet = is_quiet and self.is_quiet() and tournaments.steps(self) == steps
            if is_quiet:
                break
        waiting = [(peer.name, peer.is_welcome, list(peer.talk.asked.values())) for peer in self.peers]
        self.claim(is_quiet, f"the world does not come to rest: {waiting}")

    def _lists_are_told(self) -> bool:
        return not any(True for server in self.running for _ in invariants.differing_lists(self.peers, server))

    def _walk_away(self) -> None:
        """Let all people close their clients and not come back for long: no bot is kept for them."""
        people = [peer for peer in self.peers if peer.bot is None]
        for peer in people:
            peer.leave()
        self.wait(_LONG_S)
        for server in self.running:
            invariants.nobody_who_is_gone_keeps_a_bot(self, server)
        going_on = tournaments.running(self)
        self.claim(not going_on, f"nobody is here, and the tournaments {going_on} do not end")
        for peer in people:
            peer.arrive()

    def _play_out(self) -> None:
        """Play every match that goes on to its end; one that may go on for ever is resigned."""
        for _turn in range(MOST_TURNS):
            movers = [(peer, match) for peer in self.peers if peer.bot is None for match in peer.turns()]
            if not movers:
                break
            for peer, match in movers:
                peer.play(match)
            self.wait(0.5 + 2 * self.swarm.delay_s)
            self.live(self.is_quiet, 60.0)
        for peer in self.peers:
            for match, seen in list(peer.matches.items()):
                if seen.you is not None and seen.outcome is None:
                    peer.say(wire.ResignRequest(0, match=match))

    def _let_act(self, peer: Peer) -> None:
        if self.faults_are_on:
            peer.act()
            self.loop.call_later(self.thinks_s * (0.5 + self.rng.random()), self._let_act, peer)

    # What goes wrong with people and their links, and what admins do.

    def _go_wrong(self) -> None:
        if not self.faults_are_on:
            return
        fault = self.rng.choice(self.swarm.faults)
        peer = self.rng.choice(self.peers)
        self.trace(None, f"fault {fault}")
        getattr(self, f"_fault_{fault}")(peer)
        wait_s = self.rng.random()
        self.loop.call_later(0.05 + wait_s if self.swarm.is_hot else 0.2 + 3 * wait_s, self._go_wrong)

    def _fault_cut(self, peer: Peer) -> None:
        if peer.link is not None:
            peer.link.cut()

    def _fault_twice(self, peer: Peer) -> None:
        peer.come_twice()

    def _fault_silence(self, peer: Peer) -> None:
        """Let the link be half open: both ends find out by themselves that nothing comes any more."""
        link = peer.link
        if link is not None:
            link.is_silent = True

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

    def _fault_set_clock(self, peer: Peer) -> None:
        for server in self._one_that_runs():
            self.shown_ms = self.latest_ms()
            self.skews_ms[server.machine] = self.rng.choice(_SET_BY_MS)
            self.ahead_ms = max(self.ahead_ms, self.skews_ms[server.machine])
            self.clock_set_s = self.loop.time()

    def _one_that_runs(self) -> Sequence[SimulatedServer]:
        running = self.running
        return [self.rng.choice(running)] if running else []

    def _ask(self, request: protocol.AnyAdminRequest) -> None:
        for server in self._one_that_runs():
            if not server.is_draining and not server.is_paused():
                if isinstance(request, protocol.Ban | protocol.MutePlayer | protocol.SettleReport):
                    self.judged_s = self.loop.time()
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


def core_of(told: bytes) -> dict[str, Any]:
    """Return what must be the same for all in an event: not the clock at the moment of sending, nor names now."""
    core: dict[str, Any] = msgspec.json.decode(told)
    for changing in ("clock", "players", "position"):
        core.pop(changing, None)
    return core
