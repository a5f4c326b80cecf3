"""Build the services that the parts of a server share: a plain value, made before any of them.

Nothing in it needs anything above it, so whatever receives it receives it whole.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ttt_net.names.filtered import FilteredWords
from ttt_net.server.accounts.online_players import AbandonHistory, AbortHistory, OnlinePlayers
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanctions
from ttt_net.server.cluster.replicated_ledger import Membership
from ttt_net.server.journal import Archive, Journal
from ttt_net.server.matchmaking.lobby_feed import LobbyFeed
from ttt_net.server.metrics import Guard, Metrics
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
    """The server's name as players see it."""
    journal: Journal
    archive: Archive
    """Answers players' queries about the past."""
    loop: asyncio.AbstractEventLoop
    """The event loop that all of it runs on; timers and callbacks are asked of it."""
    now_ms: Callable[[], int]
    """The time of play: milliseconds since 1970, which never jump, and stand still while the process does."""
    wall_ms: Callable[[], int]
    """The machine's time of day in milliseconds since 1970, for everything that is stored."""
    beat: Callable[[], None]
    """Tells the clock that the event loop turns."""
    stopwatch_s: Callable[[], float]
    """A clock of seconds for measurements alone."""
    rng: random.Random
    """Match ids, invitation codes, guests' names and tokens come from it: `SystemRandom` where strangers play."""
    engine: Sequence[str] | None
    """The command that analyses a match, without the time for each move; None if nothing is analysed here."""
    coach: Sequence[str] | None
    """The command that answers questions about positions, a line of JSON each; None if there are no hints here."""
    metrics: Metrics
    guard: Guard
    rate_limiter: RateLimiter
    shares: FairShares
    sanctions: Sanctions
    connections: dict[Connection, None]
    """All connections, with or without a player, in the order in which they came; the hub's to change."""
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
    """Tells the cluster about this node's players; None for a single server."""


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
    """Return the services of a server that has no connection yet.

    `sanction_key` is the secret under which banned and muted people are recognised; empty where nobody is. `word_file`
    returns the file of unwanted words. `cost_s` measures the cost of requests, in seconds of the event loop's thread;
    by default they cost nothing.
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
        archive=Archive(journal.look, stopwatch_s, shares),
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
        feed=LobbyFeed(loop, now_ms, guard),
        words=FilteredWords(word_file),
        disk=DiskSpace(configuration.limits, measure),
        membership=membership,
        shutdown=ShutdownNotice(players, loop, now_ms),
    )
