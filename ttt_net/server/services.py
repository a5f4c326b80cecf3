"""Build the services that the parts of a server share: a plain value that is created before the parts.

The services depend on none of the parts, so each part receives all of them.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ttt_net.names.filtered import FilteredWords
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.cluster.replicated_ledger import Membership
from ttt_net.server.journal import Archive, Journal
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.metrics import Guard, Metrics
from ttt_net.server.online_players import AbandonHistory, AbortHistory, OnlinePlayers
from ttt_net.server.readiness import DiskSpace, DiskUsage, ShutdownNotice
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import ReadBuffer, TurnQueue
from ttt_net.text import clean


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one server; made by `build_services`."""

    configuration: Configuration
    limits: Limits
    name: str
    """The server's name for players."""
    journal: Journal
    archive: Archive
    """Answers players' queries about the past."""
    loop: asyncio.AbstractEventLoop
    """The server's event loop, for timers and callbacks."""
    now_ms: Callable[[], int]
    """The time of play: milliseconds since 1970, which never jump, and stand still while the process does."""
    wall_ms: Callable[[], int]
    """The machine's time of day in milliseconds since 1970, for everything that is stored."""
    beat: Callable[[], None]
    """Records that the event loop runs."""
    stopwatch_s: Callable[[], float]
    """A clock in seconds, only for measurements."""
    rng: random.Random
    """The source of match ids, invitation codes, guests' names and tokens: `SystemRandom` for public servers."""
    engine: Sequence[str] | None
    """The command that analyses a match, without the time for each move; None if nothing is analysed here."""
    coach: Sequence[str] | None
    """The command that answers questions about positions, one line of JSON each; None without hints."""
    metrics: Metrics
    guard: Guard
    rate_limiter: RateLimiter
    shares: FairShares
    sanctions: Sanctions
    connections: dict[Connection, None]
    """All connections, with or without a player, in order of arrival; only the hub changes it."""
    read_buffer: ReadBuffer
    turns: TurnQueue
    players: OnlinePlayers
    abandons: AbandonHistory
    aborts: AbortHistory
    feed: LobbyFeed
    shutdown: ShutdownNotice
    disk: DiskSpace
    words: FilteredWords
    membership: Membership | None
    """Reports this node's players to the cluster; None for a single server."""

    @property
    def keeps_lobby(self) -> bool:
        """Whether this server pairs the players and directs tournaments: alone, or as the steward of its cluster."""
        return self.membership is None or self.membership.keeps_lobby


def build_services(
    configuration: Configuration,
    journal: Journal,
    loop: asyncio.AbstractEventLoop,
    now_ms: Callable[[], int],
    rng: random.Random,
    engine: Sequence[str] | None = None,
    stopwatch_s: Callable[[], float] = time.perf_counter,
    wall_ms: Callable[[], int] | None = None,
    beat: Callable[[], None] = lambda: None,
    measure: Callable[[], DiskUsage | None] = lambda: None,
    membership: Membership | None = None,
    coach: Sequence[str] | None = None,
    sanction_key: bytes = b"",
    word_file: Callable[[], Path | None] = lambda: None,
    cost_s: Callable[[], float] = lambda: 0.0,
) -> Services:
    """Return the services of a new server.

    `sanction_key` is the secret for recognizing banned and muted people; may be empty if there are none. `word_file`
    returns the file of forbidden words. `cost_s` measures the cost of requests, in CPU seconds of the event loop's
    thread; by default they are free.
    """
    metrics = Metrics()
    guard = Guard(metrics)
    shares = FairShares(configuration.limits, now_ms, cost_s)
    players = OnlinePlayers()
    return Services(
        configuration=configuration,
        limits=configuration.limits,
        name=clean(configuration.title, 40),
        journal=journal,
        archive=Archive(journal.look, stopwatch_s, shares, lambda: journal.has_past),
        loop=loop,
        now_ms=now_ms,
        wall_ms=wall_ms or now_ms,
        beat=beat,
        stopwatch_s=stopwatch_s,
        rng=rng,
        engine=engine,
        coach=coach,
        metrics=metrics,
        guard=guard,
        rate_limiter=RateLimiter(configuration.limits, now_ms),
        shares=shares,
        sanctions=Sanctions(wall_ms or now_ms, sanction_key),
        connections={},
        read_buffer=ReadBuffer(),
        turns=TurnQueue(loop),
        players=players,
        abandons=AbandonHistory(),
        aborts=AbortHistory(),
        feed=LobbyFeed(loop, now_ms, guard, shares),
        words=FilteredWords(word_file),
        disk=DiskSpace(configuration.limits, measure),
        membership=membership,
        shutdown=ShutdownNotice(players, loop, now_ms),
    )
