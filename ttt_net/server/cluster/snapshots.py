"""Keep snapshots of the tables in the log, for new nodes and nodes that were away for long."""

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.cluster.log import Log, Retained
from ttt_net.server.cluster.replica import GivenTables, NewerFormError, Replica, TablesImage
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger, Work
from ttt_net.server.cluster.segments import Part, Segment, sha256_of
from ttt_net.server.journal.database import unheard
from ttt_net.server.settings.configuration import SnapshotSchedule

log = logging.getLogger(__name__)
_T = TypeVar("_T")

SINCE_SEGMENTS = 9
"""The first form whose snapshots are split: nodes of older releases cannot read these."""
_TRIES = 2
"""How often to request a segment that arrives damaged: it may have been replaced meanwhile."""
FEW = 4
"""A node that may lack more segments than this takes part before it has them; fetching four takes about a second."""
AGAIN_S = 10.0
"""How long a node waits before it tries again to complete its tables."""
SOON_S = 0.1
"""How often the whole tables check which batches the live ones have applied meanwhile."""
LOOK_S = 5.0
"""How often the steward asks how much of the log is kept."""


class SnapshotKeeper:
    """As the steward, periodically puts a snapshot into the log, and trims the log before it.

    The contents of the log alone decide whether one is due, so a new steward knows it too. `work` takes snapshots
    beside the thread of the tables, because large ones take longer than other nodes wait.

    Since form 9 the finished matches are in segments, which are stored first, and only if the store lacks them. The
    snapshot names them and is stored last. Only then are unnamed segments deleted. So whatever a steward leaves when it
    dies is either complete or without effect.
    """

    def __init__(
        self,
        ledger: ReplicatedLedger,
        stream: Log,
        replica: Replica,
        work: Work,
        schedule: SnapshotSchedule = SnapshotSchedule(),  # noqa: B008 - a value
    ) -> None:
        self._ledger, self._log, self._replica, self._work = ledger, stream, replica, work
        self._schedule = schedule
        self._next_look_s = self._next_s = self._next_mend_s = 0.0
        self._is_busy = False

    def tick(self, now_s: float) -> None:
        """As the steward, take a snapshot or trim the log before one, if it is time. Call this about once a second."""
        is_able = self._ledger.is_steward and self._replica.has_past
        if is_able and now_s >= self._next_look_s and not self._is_busy:
            self._next_look_s = now_s + min(LOOK_S, self._schedule.rest_s)
            self._log.kept(partial(self._looked, now_s))

    def _looked(self, now_s: float, kept: Retained | None) -> None:
        """Trim the log before the existing snapshot, or begin another."""
        if kept is None or self._is_busy or not self._ledger.is_steward:
            return
        behind = kept.snapshot - self._schedule.kept_places
        is_rested = not kept.snapshot or kept.stands_s >= self._schedule.rest_s
        is_due = self._ledger.position - kept.snapshot >= self._schedule.every_places and is_rested
        if kept.missing:
            if now_s >= self._next_mend_s:
                log.error(
                    "the snapshot of place %d lacks %d segments: another is made", kept.snapshot, len(kept.missing)
                )
                self._begin(now_s)
        elif kept.stands_s >= self._schedule.away_s and behind >= kept.first:
            self._ledger.trim(behind)
        if is_due and now_s >= self._next_s and not self._is_busy:
            self._begin(now_s)

    def _begin(self, now_s: float) -> None:
        self._is_busy = True
        self._next_s, self._next_mend_s = now_s + self._schedule.rest_s, now_s + self._schedule.away_s
        if self._replica.last_in_force < SINCE_SEGMENTS:
            self._work(partial(_tried, self._replica.snapshot), partial(self._taken, frozenset()))
        else:
            self._log.segments(self._found)

    def _found(self, found: frozenset[str] | None) -> None:
        """Claim the ranges whose segments the store lacks, and then split the tables."""
        if found is None:
            self._is_busy = False
            return

        def claimed(failure: StorageError | None) -> None:
            if failure is not None:
                self._taken(found, failure)
            else:
                self._work(partial(_tried, partial(self._replica.split, found)), partial(self._taken, found))

        self._ledger.on_tables(partial(self._replica.claim_segments, found), claimed)

    def _taken(self, found: frozenset[str], taken: TablesImage | StorageError) -> None:
        if isinstance(taken, StorageError):
            self._is_busy = False
            log.error("a snapshot could not be taken: %s", taken.cause)
        else:
            new = [(segment, part) for segment, part in taken.segments if part is not None]
            self._put(found, taken, iter(new), True)

    def _put(
        self, found: frozenset[str], taken: TablesImage, new: Iterator[tuple[Segment, Part]], is_stored: bool
    ) -> None:
        """Store the new segments one after the other, and then the snapshot, unless one was not stored."""
        if not (is_stored and self._ledger.is_steward):
            self._end(taken)
        elif (segment_and_part := next(new, None)) is not None:
            segment, part = segment_and_part
            self._log.put_segment(segment.name, cast(BinaryIO, part), partial(self._put, found, taken, new))
        else:
            self._put_last(found, taken)

    def _put_last(self, found: frozenset[str], taken: TablesImage) -> None:
        size = taken.file.seek(0, io.SEEK_END)
        taken.file.seek(0)
        needs = frozenset(segment.name for segment, _ in taken.segments)

        def done(is_kept: bool) -> None:
            if is_kept:
                self._log.drop_segments(found - needs)
                log.info(
                    "the log has a snapshot of place %d, of %d bytes and %d segments", taken.position, size, len(needs)
                )
            self._end(taken)

        self._log.put_snapshot(taken.position, taken.file, done, needs)

    def _end(self, taken: TablesImage) -> None:
        taken.close()
        self._is_busy = False
        known = [segment for segment, _ in taken.segments]
        self._ledger.on_tables(partial(self._replica.note_segments, known), unheard)  # the next snapshot would do it


def _tried(take: Callable[[], TablesImage]) -> TablesImage | StorageError:
    try:
        return take()
    except StorageError as error:
        return error


async def catch_up(stream: Log, replica: Replica, patience_s: float, few: int | None = None) -> Replica:
    """Replace tables that are behind the latest snapshot, and verify that they belong to this log.

    Return the tables to take part with. If `replica` may lack more than `few` segments, it stays unchanged, and live
    tables are returned; see `Completion`.

    Raises `ConfigurationError` if they do not belong to it, and `TimeoutError` if the log sends nothing for
    `patience_s`.
    """
    async with asyncio.timeout(patience_s) as limit:
        taken = await _Newest(stream, replica, limit, patience_s).take(few)
        try:
            if taken.in_force() > taken.form:
                raise ConfigurationError(str(NewerFormError(taken.in_force(), taken.form)))
            end = await _answer_of(stream.end)
            if end < taken.position:
                raise ConfigurationError(
                    f"the log ends at place {end}, and this node's tables know {taken.position}: the log was lost or "
                    f"is another one. If it was lost, `python -m ttt_net cluster reseed` begins it anew from these "
                    f"tables; if these are of no use, delete them"
                )
        except BaseException:
            if taken is not replica:
                taken.close()
            raise
    return taken


Beside = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a function, perhaps on another thread, and returns its result or raises its error."""


async def at_once(do: Callable[[], Any]) -> Any:  # noqa: ANN401 - of the function
    """Run a function here, before the event loop goes on."""
    return do()


class _Newest:
    """Takes the newest snapshot in place of tables that are behind it."""

    def __init__(
        self, stream: Log, replica: Replica, limit: asyncio.Timeout, patience_s: float, beside: Beside = at_once
    ) -> None:
        self._stream, self._replica, self._limit, self._patience_s = stream, replica, limit, patience_s
        self._beside = beside

    async def take(self, few: int | None = None) -> Replica:
        """Replace the tables, or return live ones if they may lack more than `few` segments.

        Raises `ConfigurationError` if the snapshot cannot be used, and the log does not have everything after these
        tables.
        """
        stream, replica = self._stream, self._replica
        lacking = 0
        while True:
            with ExitStack() as files:
                arriving = _Arriving(replica, files, self._limit, self._patience_s)
                position = await _answer_of(partial(arriving.ask, stream.get_snapshot))
                if position <= replica.position:
                    return replica
                try:
                    with ExitStack() as opened:
                        reading = replica.reading(arriving.file)
                        given: GivenTables = await self._work(partial(opened.enter_context, reading))
                        if few is not None and given.most_missing > few:
                            living: Replica = await self._work(given.live)
                            log.info("this node takes part with live tables, from a snapshot of place %d", position)
                            return living
                        gone = await self._complete(given)
                except StorageError as error:
                    trouble = error.cause
                else:
                    if gone is None:
                        log.info("the tables were taken from a snapshot of place %d", position)
                        return replica
                    if position != lacking:  # a newer one may be replacing it at this moment
                        lacking = position
                        continue
                    stream.drop_segments([gone.name])  # a tool may have left its entry, which the steward would trust
                    trouble = (
                        f"the snapshot of place {position} cannot be used: its {gone.name} is missing. The steward"
                        f" makes another within minutes: start this node again then. If no node runs, begin with the"
                        f" one whose tables are furthest"
                    )
            if replica.last_in_force < SINCE_SEGMENTS or (await _answer_of(stream.kept)).first > replica.position + 1:
                raise ConfigurationError(trouble)
            log.warning("%s; this node goes on from the log, which still has everything after its tables", trouble)
            return replica

    async def _work(self, do: Callable[[], Any]) -> Any:  # noqa: ANN401 - of the function
        """Do something slow, and restart the timeout after it: meanwhile this thread may have received nothing."""
        self._limit.reschedule(None)
        try:
            return await self._beside(do)
        finally:
            self._limit.reschedule(asyncio.get_running_loop().time() + self._patience_s)

    async def _complete(self, given: GivenTables) -> Segment | None:
        """Take over a snapshot with the segments that the tables lack; return one that is not in the store, if any.

        Raises `StorageError` if one is damaged, and deletes it, so that the steward stores it again.
        """
        missing = await self._work(lambda: [*given.missing])
        for segment in missing:
            with ExitStack() as files:
                arriving = _Arriving(self._replica, files, self._limit, self._patience_s)
                for _ in range(_TRIES):
                    get = partial(self._stream.get_segment, segment.name)
                    if not await _answer_of(partial(arriving.ask, get)):
                        return cast(Segment, segment)
                    if await self._work(partial(_add_arrived, given, segment, arriving.file)):
                        break
                else:
                    self._stream.drop_segments([segment.name])
                    raise StorageError(
                        f"the snapshot cannot be used: {segment.name} is damaged. It was deleted, and the steward"
                        f" stores it again within minutes: start this node again then"
                    )
        await self._work(given.take_over)
        return None


def _add_arrived(given: GivenTables, segment: Segment, file: BinaryIO) -> bool:
    """Add a segment; return False if it arrived damaged."""
    data = file.read()
    if sha256_of(data) != segment.sha256:
        return False
    given.add(segment, data)
    return True


class Completion:
    """Completes the tables of a node that takes part with live tables, which lack the matches in segments.

    Another thread makes whole tables from the newest snapshot with all its segments, and applies the batches that the
    node has applied since. Once both are at the same place, the whole tables replace the live ones.
    """

    def __init__(
        self,
        stream: Log,
        living: Replica,
        whole: Replica,
        beside: Beside,
        on_tables: Beside,
        turn: Callable[[], None],
        patience_s: float,
    ) -> None:
        """`beside` runs jobs on a thread of their own, `on_tables` on the one that applies the log.

        `turn` is called on the latter just before the whole tables are used.
        """
        self._stream, self._living, self._whole = stream, living, whole
        self._beside, self._on_tables, self._turn, self._patience_s = beside, on_tables, turn, patience_s
        self._is_over = False
        whole.moved = self._moved

    def stop(self) -> None:
        """Make a job on another thread end soon. Call this before `run` is cancelled."""
        self._is_over = True

    def _moved(self) -> None:
        if self._is_over:
            raise StorageError("this node stops")

    async def run(self) -> None:
        """Work until the tables are whole."""
        while not self._living.has_past:
            try:
                async with asyncio.timeout(self._patience_s) as limit:
                    await _Newest(self._stream, self._whole, limit, self._patience_s, self._beside).take()
                while not await self._beside(partial(self._whole.keep_up_with, self._living)):
                    pass
                await self._finish()
            except (ConfigurationError, StorageError, TimeoutError) as error:
                trouble = error.cause if isinstance(error, StorageError) else str(error)
                log.warning("older matches cannot be fetched yet: %s", trouble or "the log does not answer")
                await asyncio.sleep(AGAIN_S)
        log.info("this node has all finished matches")

    async def _finish(self) -> None:
        while True:  # the newest snapshot may be ahead of what was applied here
            if await self._on_tables(self._have_replaced):
                return
            await asyncio.sleep(SOON_S)

    def _have_replaced(self) -> bool:
        """Replace the live tables by the whole ones, unless these are ahead; return whether they were replaced."""
        while not self._whole.keep_up_with(self._living):
            pass
        if self._whole.position == self._living.position:
            self._turn()
        return self._living.become(self._whole)


class _Arriving:
    """Receives a file from the log, which is requested until it has arrived completely."""

    def __init__(self, replica: Replica, files: ExitStack, limit: asyncio.Timeout, patience_s: float) -> None:
        self._replica, self._files, self._limit, self._patience_s = replica, files, limit, patience_s
        self._tried: list[BinaryIO] = []
        self._furthest = 0

    @property
    def file(self) -> BinaryIO:
        """The complete file, at its beginning."""
        self._tried[-1].seek(0)
        return self._tried[-1]

    def ask(self, get: Callable[[BinaryIO, Callable[[Any], None]], None], done: Callable[[Any], None]) -> None:
        """Ask once more, with an empty file."""
        if self._tried:
            self._tried[-1].truncate(0)  # not closed, since it may still be written to
        self._tried.append(self._files.enter_context(self._replica.room_for_snapshot()))
        loop = asyncio.get_running_loop()
        arriving = ArrivingFile(self._tried[-1], self._limit, self._patience_s, loop, self._moved)
        get(cast(BinaryIO, arriving), done)

    def _moved(self, size: int) -> None:
        if size > self._furthest:  # a repeated transfer makes no progress
            self._furthest = size
            self._replica.moved()


async def _answer_of(ask: Callable[[Callable[[_T | None], None]], None]) -> _T:
    """Ask the log until it answers; the caller has the timeout."""
    while True:
        answer: asyncio.Future[_T | None] = asyncio.get_running_loop().create_future()
        ask(lambda found, answer=answer: answer.done() or answer.set_result(found))  # type: ignore[misc]
        found = await answer
        if found is not None:
            return found


class ArrivingFile:
    """A file that another thread writes; each write postpones a timeout."""

    def __init__(
        self,
        file: BinaryIO,
        limit: asyncio.Timeout,
        patience_s: float,
        loop: asyncio.AbstractEventLoop,
        moved: Callable[[int], None],
    ) -> None:
        """Call `moved` on the event loop with the size after each write, perhaps later than the last write."""
        self._file, self._limit, self._patience_s, self._loop, self._moved = file, limit, patience_s, loop, moved
        self._size = 0

    def write(self, data: bytes) -> int:
        """Write on any thread, and postpone the timeout."""
        self._size += len(data)
        self._loop.call_soon_threadsafe(self._go_on, self._size)
        return self._file.write(data)

    def _go_on(self, size: int) -> None:
        self._moved(size)
        with suppress(RuntimeError):  # it is over
            self._limit.reschedule(self._loop.time() + self._patience_s)


class DepartingFile(io.RawIOBase):
    """A binary file that supports reading into a buffer, as the object store requires.

    `moved` is called with each read.
    """

    def __init__(self, source: BinaryIO, moved: Callable[[], object]) -> None:
        self._source, self._moved = source, moved

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # what it is called with
        """Read into a buffer, and return the number of bytes."""
        self._moved()  # the data read before has arrived
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
