"""One simulated process of the product's server: what it held in memory dies with it."""

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.simulation.network import Link
from ttt_net.errors import Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.admin_commands import AdminCommands
from ttt_net.server.admin.moderation import load_sanctions
from ttt_net.server.cluster.replicated_ledger import Membership
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal
from ttt_net.server.journal.entries import PackMatches
from ttt_net.server.maintenance import maintenance_jobs
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.server_clock import BEAT_MS, ServerClock
from ttt_net.server.services import build_services
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection

if TYPE_CHECKING:
    from tests.simulation.stage import Stage

TICK_S = 1.0
PACKED_WORLDS = 3
"""In one world of so many, matches are packed at once, which loses the order of their ends."""
_OFTEN = Rate(1_000_000)
_GENEROUS = Limits(
    codes=_OFTEN,
    inquiries=_OFTEN,
    matches=_OFTEN,
    renames=_OFTEN,
    chats=_OFTEN,
    reports=_OFTEN,
    challenges=_OFTEN,
    max_live_matches=6,
    tournament_players=1_000,
)
_STRICT = Limits(max_live_matches=2)
"""Limits for strangers, under which most frequent requests are refused."""


_FEW_MATCHES = replace(_GENEROUS, max_live_matches=2)
"""Limits where people are choosy: many have as many matches as they may."""


def settings(*, is_strict: bool, is_choosy: bool) -> Configuration:
    """Return how the servers of a world are set up."""
    limits = _STRICT if is_strict else _FEW_MATCHES if is_choosy else _GENEROUS
    return Configuration(
        name="simulated", limits=limits, retention_days=30, guest_days=30, report_days=7, audit_days=30
    )


class SimulatedServer:
    """One process: a hub with its clock, its admin and its links; `start` lets it begin to do things."""

    def __init__(
        self,
        stage: "Stage",
        process: int,
        journal: Journal,
        rng: random.Random,
        machine: str = "",
        membership: Membership | None = None,
    ) -> None:
        self.stage, self.process = stage, process
        self.links: list[Link] = []
        self.is_draining = False
        self.machine = machine
        self.played_ms: tuple[int, tuple[float, int]] | None = None
        """Its time of play when that was looked at last, and how long it had been awake: for the invariants."""
        loop = stage.loop.as_asyncio
        clock = ServerClock(lambda: int(stage.loop.time() * 1000) * 1_000_000, self.wall_ms)
        self.clock = clock
        configuration = settings(is_strict=stage.swarm.is_strict, is_choosy=stage.swarm.is_choosy)
        self.hub = Hub(
            build_services(
                configuration,
                journal,
                loop,
                clock.play_ms,
                rng,
                stopwatch_s=loop.time,
                wall_ms=clock.wall_ms,
                beat=clock.beat,
                measure=self._measure_disk,
                membership=membership,
            )
        )
        self._jobs = maintenance_jobs(self.hub)
        self.admin = AdminCommands(self.hub, self._stop, lambda _: 0)

    def wall_ms(self) -> int:
        """Return the time of day on this machine."""
        return self.stage.now_ms() + self.stage.skews_ms.get(self.machine, 0)

    def _measure_disk(self) -> DiskUsage:
        """Return what is free: enough, or half of what there is to be."""
        is_low = self.machine in self.stage.low_disks
        return DiskUsage(_GENEROUS.free_disk_mb * 500_000 if is_low else 10**12, 0)

    def start(self) -> None:
        """Do what a server does at its start, and again and again."""
        if self.stage.swarm.is_choosy:
            self.stage.pairings.watch(self)
        self.hub.recall()
        load_sanctions(self.hub.services)
        self.stage.loop.call_later(TICK_S, self._tick)
        if self.stage.swarm.is_timed:
            self._beat()

    def _tick(self) -> None:
        services = self.hub.services
        self.hub.tick(self.stage.loop.time())
        if services.keeps_lobby:
            for name, tick in self._jobs.items():
                services.guard.attempt(name, tick)
            if self.stage.seed % PACKED_WORLDS == 0:
                services.journal.maintain(PackMatches(self.wall_ms(), 20), lambda _: None, lambda _: None)
        self.stage.loop.call_later(TICK_S, self._tick)

    def _beat(self) -> None:
        self.hub.services.beat()
        self.stage.loop.call_later(BEAT_MS / 1000, self._beat)

    def _stop(self) -> None:
        """Restart, as a countdown that an admin began ends."""
        with self.stage.loop.acting_as(0):
            self.stage.loop.call_soon(self.stage.drain, self)

    def ask(self, request: protocol.AnyAdminRequest) -> None:
        """Let an admin ask for something; it must be answered once, as long as this process lives."""
        stage = self.stage
        answers: list[protocol.AnyAdminReply] = []

        def answer(reply: protocol.AnyAdminReply) -> None:
            answers.append(reply)
            if isinstance(request, protocol.MutePlayer | protocol.Unmute | protocol.SettleReport):
                stage.chatter.note_mutes()
            stage.trace(None, f"answers the admin: {reply}")
            stage.claim(len(answers) == 1, f"an admin heard two answers: {answers}")
            stage.unanswered_acts.discard(key)

        key = (self.process, stage.loop.time(), str(request))
        stage.unanswered_acts.add(key)
        with stage.loop.acting_as(self.process):
            try:
                self.admin.carry_out(request, answer)
            except Refusal as refusal:
                answer(protocol.Failed(str(refusal)))

    def accept(self, link: Link) -> None:
        """Take in a new link."""
        self.links = [each for each in self.links if each.is_waiting or each.server is not None]
        self.links.append(link)
        link.connect(lambda: Connection(self.hub, self.stage.loop.as_asyncio, self.hub.services.read_buffer))

    def begin_drain(self) -> None:
        """Begin to end, as a server does that is told to."""
        self.is_draining = True
        with self.stage.loop.acting_as(self.process):
            self.hub.services.shutdown.drain()
            self.stage.loop.call_later(0.2, self.hub.close_all)

    def die(self) -> None:
        """Let the process be dead."""
        self.stage.loop.kill(self.process)
        for link in self.links:
            link.vanish()

    def is_paused(self) -> bool:
        """Tell whether the process stands still."""
        return self.stage.loop.is_paused(self.process)


def hears(server: SimulatedServer, match_id: str) -> tuple[set[str], set[str]]:
    """Return the names of those connected here who hear a match as its players, and as watchers."""
    room = server.hub.registry.rooms.get(match_id)
    if room is None:
        return set(), set()
    players = {session.info.name for session in room.audience.players.values()}
    sessions = server.hub.services.players.sessions.values()
    return players, {each.info.name for each in sessions if room.audience.watches(each)}
