"""The ledger of one node of a cluster: what it appends goes through the log, and happens where the log has it.

A node puts one batch at a time into the log, and repeats it until it sees it there: what it gathers meanwhile goes
into the next. All batches, its own too, are applied in the order of the log, and only then is a caller answered: so
whatever the log or the others did meanwhile, an answer is true. Safety rests on no clock; the times here decide only
when a node is asked to wait, or taken for lost.
"""

import asyncio
import logging
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ttt_net.errors import Refusal, StorageError
from ttt_net.server.cluster.batch import Batch, encode_batch
from ttt_net.server.cluster.entries import AnyLoggedEntry, Author, BeginEpoch, ClusterEntry, DeclareLost, NodeName
from ttt_net.server.cluster.fence import EntryOutcome
from ttt_net.server.cluster.log import MAX_BATCH_BYTES, Log, Position
from ttt_net.server.cluster.replica import Applied, NewerFormError, Replica
from ttt_net.server.journal.database import Done, Failed
from ttt_net.server.journal.ledger import Hear, LedgerHealth
from ttt_net.server.journal.queries import AnyQuery
from ttt_net.server.metrics import Histogram

log = logging.getLogger(__name__)

MAX_ENTRIES = 256
"""The most entries in one batch."""
MAX_AT_ONCE = 64
"""The most batches in one transaction."""
TICK_S = 0.25
"""How often a node looks at its own state and that of the others."""
BEAT_S = 0.5
"""How often a node writes at least: an empty batch, so that nobody takes it for lost."""
POLL_S = 0.5
"""How often a node asks for the end of the log."""
STALE_S = 1.5
"""After so long without proof of contact a node holds requests: what it knows may be old."""
REPEAT_S = 1.0
"""After so long a batch that was not seen is published again."""
LOST_S = 2.0
"""After so long a silence a node is declared lost by the others."""
GIVE_UP_S = 5.0
"""After so long it is said of an entry that it may not have been written; it may be, later."""
RETRY_S = 1.0
"""After so long a disk that failed is tried again."""
MOST_SKEW_MS = 30_000
"""A clock that differs by more from those of most others is wrong: what is written down would have odd times."""
MOST_POLLS = 256
"""How many answers about the end are kept until this node has applied as far: those of two minutes. Of a node that is
further behind the oldest are let go, so its `silence_s` goes on to grow until it has caught up to the others.
"""
_REMEMBERED = 4_096
"""Places whose running hash is remembered, to compare with what others say of them."""
_WHATEVER_IT_WROTE = 2**53

Work = Callable[[Callable[[], Any], Callable[[Any], None]], None]
"""Has something done elsewhere, one after the other, and the result told on the event loop; what is done raises not."""


@dataclass(frozen=True, slots=True)
class NodeHooks:
    """What a ledger tells the server that stands on it."""

    heard: Callable[[EntryOutcome, Author], None]
    """Called with each accepted entry that no caller waits for, of other nodes or given up; and with who comes and goes
    of the nodes.
    """
    began: Callable[[], None]
    """Called when an epoch of this node has begun: from now on it is one of the cluster."""
    ended: Callable[[], None]
    """Called when this node was declared lost, or must not go on: none of its connections counts any more."""


class _Waiting:
    """An entry that was appended, and who waits for what comes of it."""

    __slots__ = ("done", "entry", "failed", "is_given_up", "since_s")

    def __init__(self, entry: AnyLoggedEntry, done: Done, failed: Failed, since_s: float) -> None:
        self.entry, self.done, self.failed, self.since_s = entry, done, failed, since_s
        self.is_given_up = False


@dataclass(slots=True)
class _Sent:
    """The batch that is under way."""

    number: int
    data: bytes
    waiting: list[_Waiting]
    began_s: float
    """When it was first published, or its first entry was appended."""
    published_s: float


class ReplicatedLedger:
    """A `Ledger` over a `Log`; see the module. All calls and callbacks are on the event loop."""

    def __init__(
        self, node: NodeName, stream: Log, replica: Replica, work: Work, loop: asyncio.AbstractEventLoop,
        rng: random.Random, url: str = "", wall_ms: Callable[[], int] | None = None,
    ) -> None:  # fmt: skip
        self.node = node
        self._url = url
        self.epoch = 0
        """That of this node, or of its last life; 0 before the first."""
        self.is_member = False
        """Whether this node's epoch has begun, and goes on."""
        self.stopped: str | None = None
        """Why this node must not go on, if so."""
        self.position: Position = replica.position
        """Up to which place of the log all was applied, and told."""
        self.refused = 0
        """Entries of this node that were refused so far."""
        self._log, self._replica, self._work, self._loop, self._rng = stream, replica, work, loop, rng
        self._wall_ms = wall_ms
        self._ahead_ms: dict[NodeName, int] = {}
        """How far the clock of each other node is ahead of ours, as of its newest batch."""
        self._hooks = NodeHooks(lambda *_: None, lambda: None, lambda: None)
        self._followers: list[Hear] = []
        self._is_leaving = False
        self._gathered: deque[_Waiting] = deque()
        self._is_gathering = False
        self._sent: _Sent | None = None
        self._number = 0
        self._inbox: deque[tuple[Position, bytes]] = deque()
        self._is_applying = False
        self._trouble: str | None = None
        self._round_trip_s = Histogram()
        self._secret = ""
        self._end: Position = 0
        self._polls: deque[tuple[float, Position]] = deque(maxlen=MOST_POLLS)
        self._is_polling_since_s: float | None = None
        self._contact_s: float | None = None
        self._ticked_s = 0.0
        self._authors: dict[Author, int] = {}
        self._urls: dict[NodeName, str] = {}
        self._heard_s: dict[Author, float] = {}
        self._states: OrderedDict[Position, str] = OrderedDict()
        self._claims: dict[NodeName, bool] = {}
        """Of each other node, whether its running hash agreed with ours when it last wrote."""

    def start(self, hooks: NodeHooks) -> None:
        """Follow the log; the epoch begins once all is applied that is in it by then. To be called once."""
        self._hooks = hooks
        self._authors = self._replica.authors()
        self._urls = self._replica.urls()
        self._states[self.position] = self._replica.state
        self._ticked_s = self._loop.time()
        self._log.follow(self.position, self._arrived, self._trimmed_away)
        self._tick()

    # What the journal asks.

    def append(self, entry: AnyLoggedEntry, done: Done, failed: Failed) -> None:
        """Put an entry into the next batch; the answer comes once it was applied here, or after `GIVE_UP_S`."""
        if self.stopped is not None:
            self._loop.call_soon(failed, StorageError(self.stopped))
            return
        self._gathered.append(_Waiting(entry, done, failed, self._loop.time()))
        if not self._is_gathering:
            self._is_gathering = True
            self._loop.call_soon(self._send)  # what is asked in one turn of the loop shares a batch

    def ask(self, query: AnyQuery, done: Done, failed: Failed) -> None:
        """Answer a query after all that was applied before."""

        def read() -> object:
            try:
                return self._replica.answer(query)
            except Refusal as refusal:
                return refusal.with_traceback(None)

        self._work(read, lambda found: failed(found) if isinstance(found, Refusal) else done(found))

    def follow(self, position: Position, hear: Hear) -> None:
        """Call `hear` with each entry of the journal that is accepted from now on, with its place in the log."""
        if position != self.position:
            raise LookupError(f"only what comes can be followed; this node is at {self.position}, not at {position}")
        self._followers.append(hear)

    def trim(self, position: Position) -> None:
        """Let the log go of what is before the position, which a snapshot has."""
        self._log.trim(position)

    def snapshot(self, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
        """Copy the tables into a new file."""
        return self._replica.back_up(file, is_wanted)

    def health(self) -> LedgerHealth:
        """Return how it does."""
        waiting = len(self._gathered) + (len(self._sent.waiting) if self._sent else 0)
        return LedgerHealth(self.trouble(), waiting, self._replica.database.failures, self._round_trip_s)

    def trouble(self) -> str | None:
        """Return what is wrong, for people; None: nothing."""
        if self.stopped or self._trouble:
            return self.stopped or self._trouble
        if not self.is_fresh:
            return "the ledger of the cluster does not answer"
        ahead_ms = sorted((0, *self._ahead_ms.values()), key=abs)  # of two that differ, neither is known to be wrong
        most_ms = ahead_ms[(len(ahead_ms) - 1) // 2]
        if abs(most_ms) > MOST_SKEW_MS:
            return f"the clock here is {-most_ms // 1000} s ahead of the others'; set it right"
        return None if self.is_member else "this node is not one of the cluster"

    @property
    def is_fresh(self) -> bool:
        """Whether this node is one of the cluster and knows all that was in the log a moment ago."""
        return self.is_member and self.stopped is None and self._has_contact()

    @property
    def is_steward(self) -> bool:
        """Whether this node keeps the lobby: the one that has been there for the longest."""
        return self.is_member and next(iter(self._authors), None) == Author(self.node, self.epoch)

    @property
    def lag(self) -> int:
        """How many places of the log were not applied yet when its end was last heard of."""
        return max(0, self._end - self.position)

    @property
    def ends_ahead(self) -> int:
        """How many answers about the end of the log wait for this node to have applied as far, `MOST_POLLS` at most."""
        return len(self._polls)

    @property
    def silence_s(self) -> float:
        """For how long there was no proof of contact."""
        return 0.0 if self._contact_s is None else self._loop.time() - self._contact_s

    @property
    def under_way(self) -> int:
        """The number of the batch that is under way, 0 if none is."""
        return self._sent.number if self._sent else 0

    def members(self) -> Sequence[Author]:
        """Return who may write, as far as this node knows; first who has been there for the longest."""
        return list(self._authors)

    def urls(self) -> list[str]:
        """Return where players reach the nodes that may write, this one too; only those that said it."""
        members = {author.node for author in self._authors}
        return [url for node, url in sorted(self._urls.items()) if url and node in members]

    def known_urls(self) -> list[str]:
        """Return where players reach, or reached, all nodes that there were: pages that came from a lost one go on."""
        return [url for _, url in sorted(self._urls.items()) if url]

    def leave(self, done: Callable[[], None] = lambda: None) -> None:
        """Give up the place in the cluster, so that nobody has to wait for this node; `done` once the others know."""
        self._is_leaving = True
        if not self.is_member:
            self._loop.call_soon(done)
            return
        farewell = DeclareLost(self.node, self.epoch, _WHATEVER_IT_WROTE)
        self.append(farewell, lambda _: done(), lambda _: done())

    def stop_for(self, fault: Exception) -> None:
        """Stop for a fault of ours on this node: what its tables say cannot be told from what they should."""
        if self.stopped is None:
            self._stop(f"a fault of this node ({type(fault).__name__}: {fault}); start it again")

    # To the log.

    def _send(self) -> None:
        """Publish what was gathered, unless a batch is under way."""
        self._is_gathering = False
        if self._sent is not None or not self.is_member or not self._gathered:
            return
        self._publish_next(self._next_bite())

    def _next_bite(self) -> list[_Waiting]:
        bite: list[_Waiting] = []
        size = 0
        while self._gathered and len(bite) < MAX_ENTRIES and size < MAX_BATCH_BYTES // 2:
            waiting = self._gathered.popleft()
            if not waiting.is_given_up:
                bite.append(waiting)
                size += len(msgspec.json.encode(waiting.entry)) if len(self._gathered) > MAX_ENTRIES else 1_024
        return bite

    def _publish_next(self, bite: list[_Waiting]) -> None:
        self._number += 1
        entries = tuple(each.entry for each in bite)
        state = self._states[self.position]
        at_ms = self._wall_ms() if self._wall_ms else None
        data = encode_batch(Batch(self.node, self.epoch, self._number, self.position, state, entries, at_ms))
        now_s = self._loop.time()
        self._sent = _Sent(self._number, data, bite, bite[0].since_s if bite else now_s, now_s)
        self._publish()

    def _publish(self) -> None:
        sent = self._sent
        if sent is not None:
            sent.published_s = self._loop.time()
            self._log.publish(sent.data, partial(self._published, sent))

    def _published(self, sent: _Sent, position: Position | None) -> None:
        """Publish again what may not have arrived; what has arrived will be seen."""
        if position is None and self._sent is sent and self.stopped is None:
            self._loop.call_later(TICK_S, self._publish_again, sent)

    def _publish_again(self, sent: _Sent) -> None:
        if self._sent is sent and self.stopped is None and self._loop.time() - sent.published_s >= TICK_S:
            self._publish()

    # From the log.

    def _arrived(self, position: Position, data: bytes) -> None:
        self._inbox.append((position, data))
        if not self._is_applying:
            self._apply_some()

    def _apply_some(self) -> None:
        if not self._inbox or self.stopped is not None:
            self._is_applying = False
            return
        self._is_applying = True
        some = [self._inbox[index] for index in range(min(MAX_AT_ONCE, len(self._inbox)))]

        def apply() -> list[Applied] | StorageError | NewerFormError:
            try:
                return self._replica.apply(some)
            except (StorageError, NewerFormError) as error:
                return error

        self._work(apply, self._applied)

    def _applied(self, applied: list[Applied] | StorageError | NewerFormError) -> None:
        if isinstance(applied, NewerFormError):
            self._stop(str(applied))
            return
        if isinstance(applied, StorageError):
            if self._trouble is None:
                log.error("storage: %s", applied.cause)
            self._trouble = f"the disk refuses to be written: {applied.cause}"
            self._loop.call_later(RETRY_S, self._apply_some)
            return
        self._trouble = None
        try:
            self._take_in(applied)
        except Exception as fault:
            log.exception("fault while hearing what was applied")
            self.stop_for(fault)  # or nothing would ever be applied here any more, and nobody would know why
            return
        if self.stopped is None:
            self._look_for_proof()
            self._apply_some()
            self._send()

    def _take_in(self, applied: list[Applied]) -> None:
        """Hear of what was applied, place by place."""
        for each in applied:
            self._inbox.popleft()
            self.position = each.position
            self._states[each.position] = each.state
            if len(self._states) > _REMEMBERED:
                self._states.popitem(last=False)
            if each.batch is not None:
                self._take_note(each, each.batch)
                if self.stopped is not None:
                    return

    def _take_note(self, applied: Applied, batch: Batch) -> None:
        """Tell callers and hooks what came of a batch."""
        if applied.outcomes is not None and self._is_of_the_process_before(batch):
            log.info("epoch %d of node %s was begun by the process before", batch.epoch, self.node)
            self._sent, self.epoch = None, 0  # the next one is begun with the next look
        is_ours = batch.author == (self.node, self.epoch)
        if applied.outcomes is not None and self._is_of_a_twin(batch):
            self._stop(f"another process runs as node {self.node}; give each a name of its own")
            return
        self._compare(batch)
        if applied.outcomes is None:
            if is_ours and not self.is_member and self._sent is not None and self._sent.number == batch.number:
                self._sent = None  # that epoch was fenced off before it began
            return
        if batch.number == 1 and isinstance(applied.outcomes[0].entry, BeginEpoch):
            self._urls[batch.node] = applied.outcomes[0].entry.url
            self._authors = {author: number for author, number in self._authors.items() if author.node != batch.node}
        self._authors[batch.author] = batch.number
        self._heard_s[batch.author] = self._loop.time()
        callers: list[_Waiting] = []
        if is_ours:
            assert self._sent is not None, "a batch of ours that is applied is the one that is under way"
            callers, began_s, self._sent = self._sent.waiting, self._sent.began_s, None
            self._round_trip_s.observe(self._loop.time() - began_s)
        for index, outcome in enumerate(applied.outcomes):
            self._attempt(self._tell, applied.position, outcome, batch.author, callers[index] if callers else None)

    def _tell(self, position: Position, outcome: EntryOutcome, author: Author, caller: _Waiting | None) -> None:
        entry, result = outcome.entry, outcome.result
        is_refused = isinstance(result, Refusal)
        if not is_refused and not isinstance(entry, ClusterEntry):
            for hear in self._followers:
                hear(position, entry)
        if is_refused and author.node == self.node:
            self.refused += 1
        if isinstance(entry, DeclareLost) and not is_refused:
            self._authors.pop(Author(entry.node, entry.epoch), None)
            self._ahead_ms.pop(entry.node, None)
        elif isinstance(entry, BeginEpoch) and author == (self.node, self.epoch) and not is_refused:
            self.is_member = True
        if caller is not None and not caller.is_given_up:
            (caller.failed if is_refused else caller.done)(result)
        if not is_refused and (caller is None or caller.is_given_up or isinstance(entry, BeginEpoch | DeclareLost)):
            self._hooks.heard(outcome, author)
        if isinstance(entry, BeginEpoch) and author == (self.node, self.epoch) and not is_refused:
            self._hooks.began()
        elif isinstance(entry, DeclareLost) and (entry.node, entry.epoch) == (self.node, self.epoch) and not is_refused:
            self._lost()

    def _lost(self) -> None:
        """End this epoch: nothing that waits will be written any more."""
        if self._is_leaving:
            log.info("node %s has left the cluster", self.node)
        else:
            log.warning("node %s was declared lost, and begins anew", self.node)
        self.is_member = False
        self._fail_all("this node was declared lost")
        self._hooks.ended()

    def _fail_all(self, why: str) -> None:
        waiting = [*(self._sent.waiting if self._sent else ()), *self._gathered]
        self._sent = None
        self._gathered.clear()
        for each in waiting:
            if not each.is_given_up:
                self._attempt(each.failed, StorageError(why))

    def _attempt(self, call: Callable[..., None], *args: object) -> None:
        try:
            call(*args)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one answer must not keep the others from theirs
            self._loop.call_exception_handler({"message": "fault while answering an entry", "exception": error})

    # What others say of themselves.

    def _is_of_the_process_before(self, batch: Batch) -> bool:
        """Tell whether a batch begins the epoch that we were about to begin: it was late, its author ended meanwhile.

        If it has not, it finds a twin in us when we begin the next epoch.
        """
        first = batch.entries[0] if batch.entries else None
        is_awaited = not self.is_member and self.epoch > 0 and batch.author == (self.node, self.epoch)
        return is_awaited and isinstance(first, BeginEpoch) and first.secret != self._secret

    def _is_of_a_twin(self, batch: Batch) -> bool:
        """Tell whether a batch was written under our name by another process, since this one began its first epoch."""
        if batch.node != self.node or not self.epoch or batch.epoch < self.epoch:
            return False
        first = batch.entries[0] if batch.entries else None
        is_other = isinstance(first, BeginEpoch) and first.secret != self._secret
        return is_other or batch.epoch > self.epoch or batch.number > self._number

    def _compare(self, batch: Batch) -> None:
        """Compare the running hash of another node with ours; where more differ than agree, we must not go on."""
        ours = self._states.get(batch.position)
        if batch.node == self.node or ours is None:
            return
        if self._wall_ms and batch.at_ms is not None and self.is_fresh:
            self._ahead_ms[batch.node] = batch.at_ms - self._wall_ms()
        self._claims[batch.node] = batch.state == ours
        if batch.state != ours:
            log.error("node %s is not at one with us about place %d", batch.node, batch.position)
        if list(self._claims.values()).count(False) > 1 + list(self._claims.values()).count(True):
            self._stop("this node's tables differ from those of the others; delete its journal, and start it again")

    def _stop(self, why: str) -> None:
        log.critical("node %s stops: %s", self.node, why)
        self.stopped, self.is_member = why, False
        self._fail_all(why)
        self._hooks.ended()

    def _trimmed_away(self) -> None:
        self._stop("the log has been trimmed further than this node has read; start it again, from a snapshot")

    # Time.

    def _tick(self) -> None:
        """Look after contact, what is under way, and who is silent; again and again."""
        if self.stopped is not None:
            return
        now_s = self._loop.time()
        if now_s - self._ticked_s > 4 * TICK_S or not self._has_contact():
            self._heard_s.clear()  # we were paused or cut off ourselves, and cannot tell who is silent
        self._ticked_s = now_s
        self._loop.call_later(TICK_S, self._tick)
        self._poll(now_s)
        self._give_up(now_s)
        if self._sent is not None and now_s - self._sent.published_s > REPEAT_S:
            self._publish()
        if self.is_member:
            self._beat(now_s)
            self._look_for_the_silent(now_s)
        elif self._has_contact() and self._sent is None and not self._is_leaving:
            self._begin_epoch()

    def _poll(self, now_s: float) -> None:
        since_s = self._is_polling_since_s
        if since_s is None or now_s - since_s > 2 * POLL_S:
            self._is_polling_since_s = now_s
            self._log.end(partial(self._polled, now_s))

    def _polled(self, asked_s: float, end: Position | None) -> None:
        if self._is_polling_since_s == asked_s:
            self._is_polling_since_s = None
        if end is not None:
            self._end = end
            self._polls.append((asked_s, end))
            self._look_for_proof()

    def _look_for_proof(self) -> None:
        """Take note of contact: at `asked_s` the log ended at a place that we have applied by now."""
        while self._polls and self._polls[0][1] <= self.position:
            asked_s, _ = self._polls.popleft()
            self._contact_s = max(asked_s, self._contact_s or asked_s)

    def _has_contact(self) -> bool:
        return self._contact_s is not None and self._loop.time() - self._contact_s < STALE_S

    def _give_up(self, now_s: float) -> None:
        """Answer callers who have waited for too long; their entries stay under way."""
        waiting = [*(self._sent.waiting if self._sent else ()), *self._gathered]
        for each in waiting:
            if now_s - each.since_s > GIVE_UP_S and not each.is_given_up:
                each.is_given_up = True
                self._attempt(each.failed, StorageError("the ledger of the cluster does not answer"))

    def _beat(self, now_s: float) -> None:
        author = Author(self.node, self.epoch)
        if self._sent is None and now_s - self._heard_s.setdefault(author, now_s) >= BEAT_S:
            self._publish_next(self._next_bite())

    def _look_for_the_silent(self, now_s: float) -> None:
        for author, number in list(self._authors.items()):
            silent_s = now_s - self._heard_s.setdefault(author, now_s)
            if author.node != self.node and silent_s > LOST_S:
                self._heard_s[author] = now_s  # declared once in a while
                self.append(DeclareLost(*author, number), _unheard, _unheard)

    def _begin_epoch(self) -> None:
        """Begin a new life, now that we know all that was written."""
        known = self._replica.form

        def begin(epoch: int) -> None:
            if self.is_member or self._sent is not None or self.stopped is not None:
                return
            self.epoch, self._number = epoch + 1, 0
            self._secret = f"{self._rng.getrandbits(128):032x}"
            first = _Waiting(BeginEpoch(self._secret, self._url, known), _unheard, _unheard, self._loop.time())
            self._publish_next([first])

        self._work(partial(self._replica.epoch_of, self.node), begin)


def _unheard(_: object) -> None:
    """Do nothing with the answer."""
