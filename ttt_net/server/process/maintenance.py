"""Maintain the journal while the server runs: forget old matches and guests, let ratings go stale."""

from collections.abc import Callable, Collection
from functools import partial

from ttt_net.server.hub import Hub
from ttt_net.server.journal import Database
from ttt_net.server.journal.periodic_job import PeriodicJob
from ttt_net.server.journal.rating import unsettle
from ttt_net.server.journal.retention import forget_guests, forget_matches
from ttt_net.server.players import PlayerId

DAY_MS = 86_400_000


def maintenance_jobs(hub: Hub, database: Database) -> dict[str, Callable[[], None]]:
    """Return what is to be called about once a second, by its name."""
    wanted = hub.services.configuration
    chores: dict[str, Callable[[], None]] = {"stale ratings": stale_ratings(database, hub.now_ms).tick}
    if wanted.retention_days:
        chores["old matches"] = old_matches(database, hub.now_ms, wanted.retention_days, hub.registry.rooms.keys).tick
    if wanted.guest_days:
        chores["old guests"] = old_guests(database, hub, wanted.guest_days).tick
    return chores


def stale_ratings(database: Database, now_ms: Callable[[], int]) -> PeriodicJob[tuple[int, str, str]]:
    """Return the job that keeps leaderboards in order while deviations grow with time."""
    return PeriodicJob(database, now_ms, lambda now_ms: partial(unsettle, now_ms=now_ms))


def old_matches(
    database: Database, now_ms: Callable[[], int], days: int, in_use: Callable[[], Collection[str]]
) -> PeriodicJob[str]:
    """Return the job that forgets matches so many days after their end, unless they are in use."""
    return PeriodicJob(
        database,
        now_ms,
        lambda now_ms: partial(forget_matches, before_ms=now_ms - days * DAY_MS, kept=frozenset(in_use())),
    )


def old_guests(database: Database, hub: Hub, days: int) -> PeriodicJob[PlayerId]:
    """Return the job that forgets guests so many days after they were last here."""
    return PeriodicJob(
        database,
        hub.now_ms,
        lambda now_ms: partial(
            forget_guests,
            before_ms=now_ms - days * DAY_MS,
            now_ms=now_ms,
            here=[session.player for session in hub.services.players.sessions.values() if session.is_guest],
            kept=frozenset(hub.registry.rooms),
        ),
        hub.accounts.forgotten,
    )
