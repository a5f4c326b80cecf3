"""Send the lists of the lobby, or the page of a tournament, each encoded once for all its readers.

Subscribers get all three lists immediately, and then the latest state of each changed list: close changes are combined.
Each reader's address pays for it. Lists are sent completely: readers who are slow, or whose connections have to rest,
are skipped until they have caught up, and miss nothing.
"""

import asyncio
from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import Literal

from ttt_net.messages import AnyServerMessage, encode
from ttt_net.server.admission.fair_shares import FairShares, Payer
from ttt_net.server.admission.rate_limiter import Bucket
from ttt_net.server.metrics import Guard
from ttt_net.server.online_players import Session
from ttt_net.server.players import PlayerId
from ttt_net.server.settings.configuration import Rate
from ttt_net.server.wire.frames import frame

Subject = Literal["seeks", "players", "live", "tournaments", "tournament"]

PERIODS_MS: Mapping[Subject, int] = {
    **{"seeks": 250, "players": 2_000, "live": 2_000},
    **{"tournaments": 2_000, "tournament": 1_000},
}
"""How long to gather changes of a list before it is sent again."""
MAX_BYTES_PER_S = 4_000_000
"""Bytes per second of one list for all readers; a larger crowd gets it less often."""
MADE_AT_ONCE = Rate(10)
"""How often a list is built for requests; beyond that, they get one that is a tenth of a second old."""
SHARE = 1 / 20
"""The maximal share of the event loop's time in which one list is built; larger lists are built less often."""
CROWD = 100
"""The number of readers that get a list in one iteration of the event loop, because players' moves come first."""


class LobbyFeed:
    """The lists as last encoded, and their subscribers."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        now_ms: Callable[[], int],
        guard: Guard,
        shares: FairShares,
    ) -> None:
        self._loop = loop
        self._shares = shares
        self._rest_s: dict[Subject, float] = {}
        """How long to wait before each list is built again, by what it cost last."""
        self._sources: dict[Subject, Callable[[], AnyServerMessage]] = {}
        self._now_ms = now_ms
        self._guard = guard
        self._readers: dict[PlayerId, Session] = {}
        self._late: dict[PlayerId, dict[Subject, None]] = {}
        """The lists that readers who were skipped still have to receive."""
        self._frames: dict[Subject, tuple[int, bytes, bytes]] = {}
        """The creation time, the frame and the JSON of each list."""
        self._changed: set[Subject] = set()
        """Lists that differ from their frames."""
        self._stale: set[Subject] = set()
        """The lists with changes for which new subscribers need a new frame."""
        self._makings: dict[Subject, Bucket] = {}
        self._untold: set[Subject] = set()
        """Lists that have changed since they were last sent."""
        self._told: dict[Subject, bytes] = {}
        """The last list of each kind that all readers received, if it was the same."""
        self._timers: dict[Subject, asyncio.TimerHandle] = {}

    @property
    def readers(self) -> Set[PlayerId]:
        """The subscribed players."""
        return self._readers.keys()

    @property
    def late_readers(self) -> Set[PlayerId]:
        """The subscribed players who were skipped."""
        return self._late.keys()

    def is_pending(self, subject: Subject) -> bool:
        """Tell whether a list has changed and will be sent soon."""
        return subject in self._timers

    def publish(self, sources: Mapping[Subject, Callable[[], AnyServerMessage]]) -> None:
        """Add lists, each with the function that builds it."""
        self._sources.update(sources)

    def subscribe(self, session: Session) -> None:
        """Send the lists now, and again whenever they change."""
        for subject in self._sources:
            told = self.frame(subject)
            if not self._readers:
                self._told[subject] = told
            elif told != self._told.get(subject):
                self._told.pop(subject, None)
            session.connection.send(told)
        self._readers[session.player] = session
        self.changed(*(subject for subject in self._sources if subject in self._changed), slightly=True)

    def show(self, session: Session, subject: Subject) -> None:
        """Tell one session a list as it is now."""
        told = self.frame(subject)
        if session.player in self._readers and told != self._told.get(subject):
            self._told.pop(subject, None)
        session.connection.send(told)

    def unsubscribe(self, session: Session) -> None:
        """Stop sending to this session."""
        if self._readers.get(session.player) is session:
            del self._readers[session.player]
            self._late.pop(session.player, None)

    def changed(self, *subjects: Subject, slightly: bool = False) -> None:
        """Mark lists as changed; if only `slightly`, the old one may be sent for a while."""
        self._changed.update(subjects)
        if not slightly:
            self._stale.update(subjects)
        if self._readers:
            self._untold.update(subjects)
            for subject in subjects:
                if subject not in self._timers:
                    self._tell_later(subject)

    def encoded(self, subject: Subject) -> bytes:
        """Return the list as JSON, encoded again if it has changed."""
        self.frame(subject)
        return self._frames[subject][2]

    def frame(self, subject: Subject) -> bytes:
        """Return the list as a frame, encoded again if it has changed."""
        made_ms, made, _ = self._frames.get(subject, (0, b"", b""))
        age_ms = self._now_ms() - made_ms
        is_old = subject in self._changed and age_ms >= PERIODS_MS[subject]
        has_rested = age_ms >= 1_000 * self._rest_s.get(subject, 0.0)
        if not made or (has_rested and (is_old or (subject in self._stale and self._may_make(subject)))):
            began_s = self._shares.clock_s()
            data = encode(self._sources[subject]())
            self._rest_s[subject] = (self._shares.clock_s() - began_s) / SHARE
            made = frame(data)
            self._frames[subject] = self._now_ms(), made, data
            self._changed.discard(subject)
            self._stale.discard(subject)
        return made

    def _may_make(self, subject: Subject) -> bool:
        """Count building a list; tell whether the rate allows it."""
        bucket = self._makings.setdefault(subject, Bucket(MADE_AT_ONCE, 0))
        now_ms = self._now_ms()
        return not bucket.wait_ms(now_ms) and not bucket.take(now_ms)

    def tick(self) -> None:
        """Send skipped lists to readers who have caught up. Call it about once a second."""
        for player, subjects in list(self._late.items()):
            for subject in list(subjects):
                if not self._must_wait(self._readers[player]):
                    self._guard.attempt(f"list of {subject}", partial(self._tell_late, player, subject))

    def _must_wait(self, session: Session) -> bool:
        """Tell whether a reader is behind, or has to rest until their share has come back."""
        return session.connection.is_behind or bool(self._shares.rest_ms(session.connection))

    def _tell_late(self, player: PlayerId, subject: Subject) -> None:
        began_s = self._shares.clock_s()
        self.show(self._readers[player], subject)
        self._shares.charge_all([self._readers[player].connection], began_s)
        self._late[player].pop(subject, None)
        if not self._late[player]:
            del self._late[player]

    def _tell_later(self, subject: Subject) -> None:
        size = len(self._told.get(subject, b"")) * len(self._readers)
        wait_s = max(PERIODS_MS[subject] / 1000, size / MAX_BYTES_PER_S, self._rest_s.get(subject, 0.0))
        self._timers[subject] = self._loop.call_later(wait_s, self._tell, subject)

    def _tell(self, subject: Subject) -> None:
        del self._timers[subject]
        self._guard.attempt(f"list of {subject}", partial(self._tell_anew, subject), partial(self._tell_again, subject))

    def _tell_anew(self, subject: Subject) -> None:
        if subject in self._changed:
            self._frames.pop(subject, None)
        told = self.frame(subject)
        self._untold.discard(subject)
        if told != self._told.get(subject):
            self._told[subject] = told
            self._tell_some(subject, told, list(self._readers.values()))

    def _tell_again(self, subject: Subject) -> None:
        """Retry a list that could not be built. Without subscribers, the next one gets it anyway."""
        if self._readers:
            self._tell_later(subject)

    def _tell_some(self, subject: Subject, told: bytes, readers: list[Session]) -> None:
        """Send to the next few readers, and to the others in the next iteration of the loop."""
        began_s, payers = self._shares.clock_s(), list[Payer]()
        for session in readers[-CROWD:]:
            if self._readers.get(session.player) is not session:
                continue
            if self._must_wait(session):
                self._late.setdefault(session.player, {})[subject] = None
            else:
                session.connection.send(told)
                payers.append(session.connection)
        self._shares.charge_all(payers, began_s)
        del readers[-CROWD:]
        if readers:
            self._timers[subject] = self._loop.call_later(0, self._tell_some, subject, told, readers)
            return
        self._timers.pop(subject, None)
        if subject in self._untold:
            self._tell_again(subject)
