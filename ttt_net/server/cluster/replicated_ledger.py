"""The ledger of one node of a cluster: its entries go through the log, and take effect at their position there.

A node publishes one batch at a time, and repeats it until the log delivers it. Entries gathered meanwhile go into the
next batch. All batches, including its own, are applied in the order of the log, and callers get their answers only
then. So an answer is true whatever the log or other nodes did meanwhile. Safety depends on no clock: times decide only
when a node has to wait, or counts as lost.

`Membership` reports the players of this node to the cluster.
"""

import asyncio
import logging
import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ttt_net.errors import Refusal, StorageError, UnknownOutcomeError
from ttt_net.server.cluster.log import (
    AnyLoggedEntry,
    Author,
    Batch,
    BeginEpoch,
    Came,
    ClusterEntry,
    DeclareLost,
    Inbox,
    Log,
    NodeName,
    Outbox,
    Position,
    Sat,
    Waiting,
    Went,
    as_of_form,
    encode_batch,
)
from ttt_net.server.cluster.peers import Contact, Peers
from ttt_net.server.cluster.replica import Applied, EntryOutcome, NewerFormError, PastNeededError, Replica
from ttt_net.server.journal.database import Done, Failed, unheard
from ttt_net.server.journal.ledger import NEWEST, Hear, LedgerHealth, Read, Tell
from ttt_net.server.journal.queries import AnyQuery, Reading
from ttt_net.server.metrics import Histogram
from ttt_net.server.players import Player, PlayerId

log = logging.getLogger(__name__)

MAX_AT_ONCE = 64
"""The maximal number of batches in one transaction."""
TICK_S = 0.25
"""How often a node checks its own state and that of the others."""
BEAT_S = 0.5
"""How often a node writes at least an empty batch, so that others do not declare it lost."""
GIVE_UP_S = 5.0
"""After this time an entry's outcome is reported as unknown; it may still be written later."""
RETRY_S = 1.0
"""The wait before retrying a failed disk."""
_REMEMBERED = 4_096
"""The number of positions with a remembered running hash, for comparisons with other nodes."""
_WHATEVER_IT_WROTE = 2**53

Work = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Runs jobs one by one on another thread, and reports results on the event loop; jobs do not raise."""


@dataclass(frozen=True, slots=True)
class NodeHooks:
    """Callbacks from a ledger to the server that uses it."""

    heard: Callable[[EntryOutcome, Author], None]
    """Called with each accepted entry without a waiting caller (of other nodes, or given up), and with epochs."""
    began: Callable[[], None]
    """Called when an epoch of this node has begun: from now on it is a member of the cluster."""
    ended: Callable[[], None]
    """Called when this node was declared lost, or must not continue: its connections are invalid."""
    refused: Callable[[AnyLoggedEntry], None] = lambda _: None
    """Called with each entry without a waiting caller that turns out not to have happened."""
    missed: Callable[[], None] = lambda: None
    """Called, after `ended`, when the next batches for this node were trimmed: it must restart from a snapshot."""


class ReplicatedLedger:
    """A `Ledger` over a `Log`; see the module. All calls and callbacks are on the event loop."""

    def __init__(
        self, node: NodeName, stream: Log, replica: Replica, work: Work, loop: asyncio.AbstractEventLoop,
        rng: random.Random, url: str = "", wall_ms: Callable[[], int] | None = None,
        look: Callable[[Read, Tell], None] | None = None,
    ) -> None:  # fmt: skip
        self.node = node
        self._url = url
        self.epoch = 0
        """The current or last epoch of this node; 0 before the first."""
        self.is_member = False
        """Whether this node's epoch has begun and not ended."""
        self.stopped: str | None = None
        """Why this node must not continue, if so."""
        self.aside: str | None = None
        """Why this node leaves the work to the others, if so; see `stand_aside`."""
        self.position: Position = replica.position
        """The position of the log up to which everything was applied and reported."""
        self.job_ms = 0.0
        """As in `Ledger`; only the author's node charges for an entry."""
        self.cost_s: Callable[[], float] = lambda: 0.0
        """Returns the CPU time of the calling thread, in seconds; by default, everything is free."""
        self.refused = 0
        """The number of rejected entries of this node so far."""
        self._log, self._replica, self._work, self._loop, self._rng = stream, replica, work, loop, rng
        self._wall_ms = wall_ms
        self._look = look if replica.database.can_be_read_beside else None
        """Reads on another thread than `work`; None if only one connection can use the tables."""
        self.contact = Contact(stream, loop, self.position)
        self.peers = Peers(node)
        self._outbox = Outbox(stream, loop)
        self._hooks = NodeHooks(lambda *_: None, lambda: None, lambda: None)
        self._followers: list[Hear] = []
        self._is_leaving = False
        self._is_stepping_aside = False
        self._is_needed = False
        """Whether this node takes part although it should stand aside, because no other node does."""
        self._is_gathering = False
        self._inbox = Inbox(stream, self._arrived)
        self._is_applying = False
        self._applying_ms = 0.0
        """The cost of the last application."""
        self._trouble: str | None = None
        self._round_trip_s = Histogram()
        self._secret = ""
        self._ticked_s = 0.0
        self._states: OrderedDict[Position, str] = OrderedDict()
        """The running hash after each of the last positions."""

    def start(self, hooks: NodeHooks) -> None:
        """Follow the log; the epoch begins once everything currently in it is applied. Call this once."""
        self._hooks = hooks
        self.peers.recall(self._replica.authors(), self._replica.urls())
        self._states[self.position] = self._replica.state
        self._ticked_s = self._loop.time()
        self._inbox.follow(self.position)
        self._tick()

    # Calls of the journal.

    @property
    def has_past(self) -> bool:
        """Whether the tables have all finished matches; any thread may ask."""
        return self._replica.has_past

    def append(self, entry: AnyLoggedEntry, done: Done, failed: Failed) -> None:
        """Put an entry into the next batch; the answer comes once it is applied here, or after `GIVE_UP_S`."""
        if self.stopped is not None:
            self._loop.call_soon(failed, StorageError(self.stopped))
            return
        try:
            entry = as_of_form(entry, self._replica.last_in_force)
        except Refusal as refusal:
            self._loop.call_soon(failed, refusal.with_traceback(None))
            return
        self._outbox.gather(Waiting(entry, done, failed, self._loop.time()))
        if not self._is_gathering:
            self._is_gathering = True
            self._loop.call_soon(self._send)  # calls of one iteration of the loop share a batch

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Answer a query after everything appended before."""

        def read() -> object:
            began_s = self.cost_s()
            try:
                return self._replica.answer(query)
            except Refusal as refusal:
                return refusal.with_traceback(None)
            finally:
                self._measure((self.cost_s() - began_s) * 1000, 1)

        self._work(read, lambda found: failed(found) if isinstance(found, Refusal) else done(found))

    def look(self, read: Read, tell: Tell) -> None:
        """Read beside the thread that applies the log, or on it if only one connection can use the tables."""
        if self._look is not None:
            self._look(read, tell)
        else:
            self.ask(Reading(read), tell, tell)

    def on_tables(self, act: Callable[[], Any], tell: Tell) -> None:
        """Do something on the thread that applies the log, between two batches."""
        self._work(act, tell)

    def follow(self, position: Position, hear: Hear) -> None:
        """Call `hear` with each journal entry accepted from now on, and its position in the log."""
        if position != self.position:
            raise LookupError(f"only what comes can be followed; this node is at {self.position}, not at {position}")
        self._followers.append(hear)

    def trim(self, position: Position) -> None:
        """Trim the log before the position, which a snapshot has."""
        self._log.trim(position)

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Copy the tables into a new file."""
        return self._replica.back_up(file, is_wanted)

    def health(self) -> LedgerHealth:
        """Return the state of the ledger."""
        return LedgerHealth(self.trouble(), len(self._outbox), self._replica.database.failures, self._round_trip_s)

    def trouble(self) -> str | None:
        """Return the problem, for people; None without one."""
        if self.stopped or self._trouble:
            return self.stopped or self._trouble
        if self.aside is not None and not self.is_member:
            return self.aside
        if not self.is_fresh:
            return "the ledger of the cluster does not answer"
        if self.peers.wrong_clock:
            return self.peers.wrong_clock
        return None if self.is_member else "this node is not one of the cluster"

    @property
    def is_fresh(self) -> bool:
        """Whether this node is a member of the cluster and recently knew the whole log."""
        return self.is_member and self.stopped is None and self.contact.is_fresh

    @property
    def is_steward(self) -> bool:
        """Whether this node keeps the lobby, as the oldest member."""
        return self.is_member and self.peers.is_first(Author(self.node, self.epoch))

    def leave(self, done: Callable[[], None] = lambda: None) -> None:
        """Leave the cluster, so that nobody has to wait for this node; call `done` once the others know."""
        self._is_leaving = True
        if not self.is_member:
            self._loop.call_soon(done)
            return
        farewell = DeclareLost(self.node, self.epoch, _WHATEVER_IT_WROTE)
        self.append(farewell, lambda _: done(), lambda _: done())

    def stand_aside(self, why: str | None) -> None:
        """Leave the cluster to the other nodes while there is a reason; with None, take part again.

        The lobby moves to the next node, and players here reconnect to other nodes. While no other node takes part,
        this one does, whatever the reason.
        """
        self.aside = why
        if why is None:
            self._is_needed = False

    def stop_for(self, fault: Exception) -> None:
        """Stop after an internal error on this node, because its tables may be wrong."""
        if self.stopped is None:
            self._stop(f"a fault of this node ({type(fault).__name__}: {fault}); start it again")

    # To the log.

    def _send(self) -> None:
        """Publish the gathered entries, unless a batch is in flight."""
        self._is_gathering = False
        if self._outbox.sent is None and self.is_member and self._outbox.has_gathered:
            self._publish_next(self._outbox.next_bite())

    def _publish_next(self, bite: list[Waiting]) -> None:
        number, entries = self._outbox.number + 1, tuple(each.entry for each in bite)
        state = self._states[self.position]
        at_ms = self._wall_ms() if self._wall_ms else None
        batch = Batch(self.node, self.epoch, number, self.position, state, entries, at_ms)
        self._outbox.publish(number, encode_batch(batch), bite)

    # From the log.

    def _arrived(self) -> None:
        if not self._is_applying:
            self._apply_some()

    def _apply_some(self) -> None:
        self._is_applying = bool(self._inbox) and self.stopped is None
        if not self._is_applying:
            self._go_on_following()
            return
        some = self._inbox.first(MAX_AT_ONCE)

        def apply() -> list[Applied] | StorageError | NewerFormError:
            began_s = self.cost_s()
            try:
                return self._replica.apply(some)
            except (StorageError, NewerFormError) as error:
                return error
            finally:
                self._applying_ms = (self.cost_s() - began_s) * 1000

        self._work(apply, self._applied)

    def _measure(self, ms: float, jobs: int) -> None:
        """Add the cost of some jobs to the mean."""
        if jobs:
            self.job_ms += (ms / jobs - self.job_ms) * NEWEST

    def _go_on_following(self) -> None:
        """With everything applied, follow again from the skipped batches, or stop if they were trimmed."""
        if self.stopped is not None:
            return
        if self._inbox.is_trimmed:
            why = "it has missed entries that the log no longer has, and restarts from a snapshot"
            self._stop(why, logging.WARNING)  # no action is needed
            self._hooks.missed()
        elif not self._inbox.is_followed:
            self._inbox.follow(self.position)

    def _applied(self, applied: list[Applied] | StorageError | NewerFormError) -> None:
        if isinstance(applied, NewerFormError):
            self._stop(str(applied))
            return
        if isinstance(applied, PastNeededError):
            if self._trouble is None:
                log.warning("this node waits for older matches: %s", applied.cause)
            self._trouble = applied.cause
            self._loop.call_later(RETRY_S, self._apply_some)
            return
        if isinstance(applied, StorageError):
            if self._trouble is None:
                log.error("storage: %s: this node waits until its disk can be written", applied.cause)
            follows = "" if self._inbox.is_followed else "; the log is not followed until it can be"
            self._trouble = f"the disk refuses to be written{follows}: {applied.cause}"
            self._loop.call_later(RETRY_S, self._apply_some)
            return
        self._trouble = None
        try:
            self._take_in(applied)
            self._measure(self._applying_ms, sum(len(each.batch.entries) for each in applied if each.batch is not None))
        except Exception as fault:
            log.exception("fault while hearing what was applied")
            self.stop_for(fault)  # otherwise this node would silently stop applying the log
            return
        if self.stopped is None:
            self.contact.reached(self.position)
            self._apply_some()
            self._send()

    def _take_in(self, applied: list[Applied]) -> None:
        """Process applied batches, position by position."""
        for each in applied:
            self._inbox.take()
            self.position = each.position
            self._states[each.position] = each.state
            if len(self._states) > _REMEMBERED:
                self._states.popitem(last=False)
            if each.batch is not None:
                self._take_note(each, each.batch)
                if self.stopped is not None:
                    return

    def _take_note(self, applied: Applied, batch: Batch) -> None:
        """Report the results of a batch to callers and hooks."""
        if applied.outcomes is not None and self._is_of_the_process_before(batch):
            log.info("epoch %d of node %s was begun by the process before", batch.epoch, self.node)
            self._outbox.sent, self.epoch = None, 0  # the next tick begins the next one
        is_ours = batch.author == (self.node, self.epoch)
        if applied.outcomes is not None and self._is_of_a_twin(batch):
            self._stop(f"another process runs as node {self.node}; give each a name of its own")
            return
        self._compare(batch)
        if applied.outcomes is None:
            sent = self._outbox.sent
            if is_ours and not self.is_member and sent is not None and sent.number == batch.number:
                self._outbox.sent = None  # that epoch was fenced off before it began
            return
        if batch.number == 1 and isinstance(applied.outcomes[0].entry, BeginEpoch):
            self.peers.began(batch.node, applied.outcomes[0].entry.url)
        self.peers.wrote(batch.author, batch.number, self._loop.time())
        callers: list[Waiting] = []
        if is_ours:
            sent, self._outbox.sent = self._outbox.sent, None
            assert sent is not None, "a batch of ours that is applied is the one that is under way"
            callers = sent.waiting
            self._round_trip_s.observe(self._loop.time() - sent.began_s)
        author = batch.author
        for index, outcome in enumerate(applied.outcomes):
            self._attempt(self._tell, applied.position, outcome, author, callers[index] if callers else None)

    def _tell(self, position: Position, outcome: EntryOutcome, author: Author, caller: Waiting | None) -> None:
        """Pass the outcome of an entry to its caller, the followers and the hooks."""
        if caller is None and outcome.has_only_appended:  # a move of another node
            for hear in self._followers:
                hear(position, outcome.entry)  # type: ignore[arg-type]
            self._hooks.heard(outcome, author)
            return
        is_awaited = caller is not None and not caller.is_given_up
        if isinstance(outcome.result, Refusal):
            self.refused += author.node == self.node
            if caller is not None:
                (self._hooks.refused(outcome.entry) if caller.is_given_up else caller.failed(outcome.result))
            return
        entry = outcome.entry
        if not isinstance(entry, ClusterEntry):
            for hear in self._followers:
                hear(position, entry)
        is_own_begin = isinstance(entry, BeginEpoch) and author == (self.node, self.epoch)
        if is_own_begin:
            self.is_member = True
        elif isinstance(entry, DeclareLost):
            self.peers.is_lost(Author(entry.node, entry.epoch))
        if caller is not None and is_awaited:
            caller.done(outcome.result)
        if not is_awaited or isinstance(entry, BeginEpoch | DeclareLost):
            self._hooks.heard(outcome, author)
        if is_own_begin:
            self._hooks.began()
        elif isinstance(entry, DeclareLost) and (entry.node, entry.epoch) == (self.node, self.epoch):
            self._lost()

    def _lost(self) -> None:
        """End this epoch: no waiting entry will be written any more."""
        if self._is_leaving:
            log.info("node %s has left the cluster", self.node)
        elif self._is_stepping_aside:
            log.warning("node %s leaves the cluster to the others: %s", self.node, self.aside)
        else:
            log.warning("node %s was declared lost, and restarts", self.node)
        self.is_member = False
        for given_up in self._fail_all("this node was declared lost"):
            self._attempt(self._hooks.refused, given_up)
        self._hooks.ended()

    def _fail_all(self, why: str, of_sent: type[StorageError] = StorageError) -> list[AnyLoggedEntry]:
        """Fail all waiting entries, and return those that were sent and given up before.

        `of_sent` is the error for sent entries; the others will certainly not be written.
        """
        sent = self._outbox.under_way()
        unknown, count = [each.entry for each in sent if each.is_given_up], len(sent)
        for number, each in enumerate(self._outbox.empty()):
            if not each.is_given_up:
                self._attempt(each.failed, of_sent(why) if number < count else StorageError(why))
        return unknown

    def _attempt(self, call: Callable[..., None], *args: object) -> None:
        try:
            call(*args)
        except Exception as error:  # noqa: BLE001 - an internal error in one answer must not affect the others
            self._loop.call_exception_handler({"message": "fault while answering an entry", "exception": error})

    # Entries about other nodes.

    def _is_of_the_process_before(self, batch: Batch) -> bool:
        """Tell whether a late batch of our ended predecessor begins the epoch that we were about to begin.

        If the predecessor still runs, it detects us as a twin when we begin the next epoch.
        """
        first = batch.entries[0] if batch.entries else None
        is_awaited = not self.is_member and self.epoch > 0 and batch.author == (self.node, self.epoch)
        return is_awaited and isinstance(first, BeginEpoch) and first.secret != self._secret

    def _is_of_a_twin(self, batch: Batch) -> bool:
        """Tell whether another process wrote a batch under our name after this one began its first epoch."""
        if batch.node != self.node or not self.epoch or batch.epoch < self.epoch:
            return False
        first = batch.entries[0] if batch.entries else None
        is_other = isinstance(first, BeginEpoch) and first.secret != self._secret
        return is_other or batch.epoch > self.epoch or batch.number > self._outbox.number

    def _compare(self, batch: Batch) -> None:
        """Compare the running hash of another node with ours; if more differ than agree, this node must stop."""
        ours = self._states.get(batch.position)
        if batch.node == self.node or ours is None:
            return
        if self._wall_ms and batch.at_ms is not None and self.is_fresh:
            self.peers.tell_time(batch.node, batch.at_ms - self._wall_ms())
        self.peers.compare(batch, ours)
        if self.peers.contradict_us:
            self._stop("this node's tables differ from those of the others; delete its journal, and start it again")

    def _stop(self, why: str, level: int = logging.CRITICAL) -> None:
        log.log(level, "node %s stops: %s", self.node, why)
        self.stopped, self.is_member, self._inbox.is_followed = why, False, False
        self._fail_all(why, UnknownOutcomeError)  # the rest of the log is unknown here
        self._hooks.ended()

    # Time.

    def _tick(self) -> None:
        """Periodically check contact, entries in flight, and silent nodes."""
        if self.stopped is not None:
            return
        now_s = self._loop.time()
        if now_s - self._ticked_s > 4 * TICK_S or not self.contact.is_fresh:
            self.peers.excuse()
        self._ticked_s = now_s
        self._loop.call_later(TICK_S, self._tick)
        self.contact.poll(now_s)
        self._give_up(now_s)
        self._outbox.repeat(now_s)
        if self.is_member:
            self._beat(now_s)
            self._look_for_the_silent(now_s)
            if self.aside is not None and not self._is_needed and self.peers.others_write(now_s):
                self._step_aside()
        elif self._may_take_part(now_s):
            self._is_needed = self.aside is not None
            self._begin_epoch()

    def _give_up(self, now_s: float) -> None:
        """Answer callers who have waited too long. Their sent entries stay in flight; all others are dropped."""
        why, sent = "the ledger of the cluster does not answer", set(self._outbox.under_way())
        for each in self._outbox.waiting():
            if now_s - each.since_s > GIVE_UP_S and not each.is_given_up:
                each.is_given_up = True
                self._attempt(each.failed, UnknownOutcomeError(why) if each in sent else StorageError(why))

    def _beat(self, now_s: float) -> None:
        silence_s = self.peers.silence_s(Author(self.node, self.epoch), now_s)
        if self._outbox.sent is None and silence_s >= BEAT_S:
            self._publish_next(self._outbox.next_bite())

    def _look_for_the_silent(self, now_s: float) -> None:
        for author, number in self.peers.silent(now_s):
            self.append(DeclareLost(*author, number), unheard, unheard)

    def _may_take_part(self, now_s: float) -> bool:
        """Tell whether this node, which has no epoch, should begin one."""
        if not self.contact.is_fresh or self._outbox.sent is not None or self._is_leaving:
            return False
        return self.aside is None or not self.peers.others_write(now_s)

    def _step_aside(self) -> None:
        """End this epoch, once."""
        if not self._is_stepping_aside:
            self._is_stepping_aside = True

            def done(_: object) -> None:
                self._is_stepping_aside = False

            self.append(DeclareLost(self.node, self.epoch, _WHATEVER_IT_WROTE), done, done)

    def _begin_epoch(self) -> None:
        """Begin a new epoch, now that everything written is known."""
        known = self._replica.form

        def begin(epoch: int) -> None:
            if self.is_member or self._outbox.sent is not None or self.stopped is not None:
                return
            self.epoch, self._outbox.number = epoch + 1, 0
            self._secret = f"{self._rng.getrandbits(128):032x}"
            first = Waiting(BeginEpoch(self._secret, self._url, known), unheard, unheard, self._loop.time())
            self._publish_next([first])

        self._work(partial(self._replica.epoch_of, self.node), begin)


class NodeFigures(NamedTuple):
    """The state of a node in its cluster."""

    node: str
    epoch: int
    is_member: bool
    is_steward: bool
    """Whether it keeps the lobby."""
    members: int
    """The number of nodes that may write, as far as it knows."""
    position: int
    """The position up to which it has applied the log."""
    lag: int
    """The known positions of the log that it has not applied."""
    silence_s: float
    """The time since the last proof of contact with the log."""
    refused: int
    """Its rejected entries: others came first, or it was declared lost."""


class Membership:
    """Writes entries about the sessions of this node."""

    def __init__(self, ledger: ReplicatedLedger) -> None:
        self._ledger = ledger
        self._serials = count(1)
        self.recounted: dict[str, None] = {}
        """The matches whose number of watchers here differs from the last sent one."""

    @property
    def is_fresh(self) -> bool:
        """Whether this node may answer, because it recently knew the whole log."""
        return self._ledger.is_fresh

    @property
    def is_aside(self) -> bool:
        """Whether this node leaves players to the others because its disk is almost full."""
        return self._ledger.aside is not None and not self._ledger.is_member

    @property
    def keeps_lobby(self) -> bool:
        """Whether this node pairs the players of all."""
        return self._ledger.is_steward

    def urls(self) -> list[str]:
        """Return the addresses of the nodes for players."""
        return self._ledger.peers.urls()

    def known_urls(self) -> list[str]:
        """Return the addresses for players of all present and past nodes."""
        return self._ledger.peers.known_urls()

    def figures(self) -> NodeFigures:
        """Return the state of this node in the cluster."""
        ledger, members = self._ledger, self._ledger.peers.members()
        return NodeFigures(
            ledger.node, ledger.epoch, ledger.is_member, ledger.is_steward, len(members), ledger.position,
            ledger.contact.lag, ledger.contact.silence_s, ledger.refused,
        )  # fmt: skip

    def next_serial(self) -> int:
        """Return a number that no other connection of this process has."""
        return next(self._serials)

    def came(self, came: Came, done: Callable[[Player], None], failed: Callable[[Refusal], None]) -> None:
        """Connect a player here and nowhere else; `done` gets the player's state at that moment."""
        self._ledger.append(came, done, failed)

    def sat(self, player: PlayerId, serial: int, match: str) -> None:
        """Let a player receive a match of theirs."""
        self._ledger.append(Sat(player, serial, match), unheard, unheard)

    def went(self, player: PlayerId, serial: int, *, on_purpose: bool) -> None:
        """Disconnect a player from here."""
        self._ledger.append(Went(player, serial, on_purpose), unheard, unheard)
