"""Maintain the journal while the server runs: delete and pack old matches, and the like, a few rows at a time."""

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

from ttt_net.errors import Refusal
from ttt_net.server.admission.sanctions import Act
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Journal
from ttt_net.server.journal.entries import (
    ForgetGuests,
    ForgetMatches,
    ForgetNotes,
    ForgetReports,
    ForgetSanctions,
    MaintenanceEntry,
    PackMatches,
    UnsettleRatings,
)
from ttt_net.server.players import PlayerId

DAY_MS = 86_400_000
BITE = 20
"""The rows handled in one transaction: so few that no move waits noticeably."""
REST_MS = 600_000
"""How long to pause when no work is left."""

PACKED_AFTER_MS = 600_000
"""How long after its end a match is packed."""
PACKED_PLIES = 200
"""About how many plies are packed in one transaction, which takes 2.6 ms of CPU."""

_SPARE_MS = 10_000
"""How often to query the unused space in the journal's files."""

T = TypeVar("T")


class PeriodicJob(Generic[T]):
    """Applies a small entry at each `tick`, while there is work left.

    `prepare` gets the time and returns the entry, which handles a few rows and whose result lists them; if there are
    none, the job rests. `then` gets each row once it is committed.
    """

    def __init__(
        self,
        journal: Journal,
        now_ms: Callable[[], int],
        prepare: Callable[[int], MaintenanceEntry],
        then: Callable[[T], None] = lambda _: None,
    ) -> None:
        self._journal = journal
        self._now_ms = now_ms
        self._prepare = prepare
        self._then = then
        self._next_ms = 0
        self._is_busy = False

    def tick(self) -> None:
        """Append the next entry, if it is time. Call this about once a second."""
        now_ms = self._now_ms()
        if not self._is_busy and now_ms >= self._next_ms:
            entry = self._prepare(now_ms)
            self._is_busy = True
            self._journal.maintain(entry, self._done, self._failed)

    def _done(self, did: list[Any]) -> None:
        self._is_busy = False
        if not did:
            self._rest()
        for each in did:
            self._then(each)

    def _failed(self, _: Refusal) -> None:
        self._is_busy = False
        self._rest()

    def _rest(self) -> None:
        self._next_ms = self._now_ms() + REST_MS


def maintenance_jobs(hub: Hub) -> dict[str, Callable[[], None]]:
    """Return the jobs by name; each is called about once a second."""
    wanted, journal = hub.services.configuration, hub.services.journal
    jobs: dict[str, Callable[[], None]] = {
        "stale ratings": stale_ratings(journal, hub.services.wall_ms).tick,
        "finished matches": unpacked_matches(journal, hub.services.wall_ms).tick,
        "spare space": spare_space(hub),
    }
    matches = old_matches(journal, hub.services.wall_ms, lambda: wanted.retention_days, hub.registry.rooms.keys)
    guests = old_guests(hub, lambda: wanted.guest_days)
    jobs["old matches"] = lambda: matches.tick() if wanted.retention_days else None
    jobs["old guests"] = lambda: guests.tick() if wanted.guest_days else None
    reports = old_reports(journal, hub.services.wall_ms, lambda: wanted.report_days)
    notes = old_notes(journal, hub.services.wall_ms, lambda: wanted.audit_days)
    jobs["old sanctions"] = old_sanctions(hub).tick
    jobs["old reports"] = reports.tick
    jobs["old notes"] = lambda: notes.tick() if wanted.audit_days else None
    return jobs


def spare_space(hub: Hub) -> Callable[[], None]:
    """Return the job that queries the unused space in the journal's files."""
    next_ms = 0

    def tick() -> None:
        nonlocal next_ms
        now_ms = hub.services.now_ms()
        if now_ms >= next_ms:
            next_ms = now_ms + _SPARE_MS
            hub.services.journal.spare(lambda count: setattr(hub.services.disk, "spare_bytes", count))

    return tick


def stale_ratings(journal: Journal, now_ms: Callable[[], int]) -> PeriodicJob[tuple[PlayerId, str, str]]:
    """Return the job that keeps leaderboards sorted while deviations grow with time."""
    return PeriodicJob(journal, now_ms, lambda now_ms: UnsettleRatings(now_ms, BITE))


def unpacked_matches(journal: Journal, now_ms: Callable[[], int]) -> PeriodicJob[str]:
    """Return the job that packs finished matches once a rematch, the last event of many, is unlikely."""
    return PeriodicJob(journal, now_ms, lambda now_ms: PackMatches(now_ms - PACKED_AFTER_MS, PACKED_PLIES))


def old_matches(
    journal: Journal, now_ms: Callable[[], int], days: Callable[[], int], in_use: Callable[[], Collection[str]]
) -> PeriodicJob[str]:
    """Return the job that deletes matches some days after their end, unless they are in use."""
    return PeriodicJob(
        journal, now_ms, lambda now_ms: ForgetMatches(now_ms - days() * DAY_MS, tuple(sorted(in_use())), BITE)
    )


def old_sanctions(hub: Hub) -> PeriodicJob[tuple[Act, str, PlayerId | None]]:
    """Return the job that deletes expired bans and mutes, so that no hash of a person remains.

    They are deleted from memory too; otherwise setting the clock back would put them in force again.
    """
    services = hub.services
    return PeriodicJob(
        services.journal,
        services.wall_ms,
        lambda now_ms: ForgetSanctions(now_ms, BITE),
        lambda ended: services.sanctions.ran_out(*ended),
    )


def old_reports(journal: Journal, now_ms: Callable[[], int], days: Callable[[], int]) -> PeriodicJob[int]:
    """Return the job that deletes reports of players some days after they were made."""
    return PeriodicJob(journal, now_ms, lambda now_ms: ForgetReports(now_ms - days() * DAY_MS, BITE))


def old_notes(journal: Journal, now_ms: Callable[[], int], days: Callable[[], int]) -> PeriodicJob[int]:
    """Return the job that deletes notes of the audit log some days after they were written."""
    return PeriodicJob(journal, now_ms, lambda now_ms: ForgetNotes(now_ms - days() * DAY_MS, BITE))


def old_guests(hub: Hub, days: Callable[[], int]) -> PeriodicJob[PlayerId]:
    """Return the job that deletes guests some days after their last visit."""

    def prepare(now_ms: int) -> ForgetGuests:
        here = tuple(session.player for session in hub.services.players.sessions.values() if session.is_guest)
        return ForgetGuests(now_ms - days() * DAY_MS, now_ms, here, tuple(sorted(hub.registry.rooms)), BITE)

    return PeriodicJob(hub.services.journal, hub.services.wall_ms, prepare, hub.accounts.forgotten)
