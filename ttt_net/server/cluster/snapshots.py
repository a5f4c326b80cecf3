"""Keep snapshots of the tables in the log, for new nodes and nodes that were away for long."""

import asyncio
import io
import logging
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import BinaryIO, cast

from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.cluster.log import Log, Position, Retained
from ttt_net.server.cluster.replica import NewerFormError, Replica, TablesImage
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger, Work
from ttt_net.server.settings.configuration import SnapshotSchedule

log = logging.getLogger(__name__)

LOOK_S = 5.0
"""How often the steward asks how much of the log is kept."""


class SnapshotKeeper:
    """As the steward, periodically puts a snapshot into the log, and trims the log before it.

    The contents of the log alone decide whether one is due, so a new steward knows it too. `work` takes snapshots
    beside the thread of the tables, because large ones take longer than other nodes wait.
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
        self._next_look_s = self._next_s = 0.0
        self._is_busy = False

    def tick(self, now_s: float) -> None:
        """As the steward, take a snapshot or trim the log before one, if it is time. Call this about once a second."""
        if self._ledger.is_steward and now_s >= self._next_look_s:
            self._next_look_s = now_s + min(LOOK_S, self._schedule.rest_s)
            self._log.kept(partial(self._looked, now_s))

    def _looked(self, now_s: float, kept: Retained | None) -> None:
        """Trim the log before the existing snapshot, or begin another."""
        if kept is None or self._is_busy or not self._ledger.is_steward:
            return
        behind = kept.snapshot - self._schedule.kept_places
        if kept.stands_s >= self._schedule.away_s and behind >= kept.first:
            self._ledger.trim(behind)
        is_rested = not kept.snapshot or kept.stands_s >= self._schedule.rest_s
        is_due = self._ledger.position - kept.snapshot >= self._schedule.every_places and is_rested
        if is_due and now_s >= self._next_s:
            self._is_busy, self._next_s = True, now_s + self._schedule.rest_s
            self._work(self._take, self._taken)

    def _take(self) -> TablesImage | StorageError:
        try:
            return self._replica.snapshot()
        except StorageError as error:
            return error

    def _taken(self, taken: TablesImage | StorageError) -> None:
        if isinstance(taken, StorageError):
            self._is_busy = False
            log.error("a snapshot could not be taken: %s", taken.cause)
            return

        size = taken.file.seek(0, io.SEEK_END)
        taken.file.seek(0)

        def done(is_kept: bool) -> None:
            taken.file.close()
            self._is_busy = False
            if is_kept:
                log.info("the log has a snapshot of place %d, of %d bytes", taken.position, size)

        self._log.put_snapshot(taken.position, taken.file, done)


async def catch_up(stream: Log, replica: Replica, patience_s: float) -> None:
    """Replace tables that are behind the latest snapshot, and verify that they belong to this log.

    Raises `ConfigurationError` if they do not, and `TimeoutError` if the log sends nothing for `patience_s`.
    """
    async with asyncio.timeout(patience_s) as limit:
        await _take_newest(stream, replica, limit, patience_s)
        if replica.in_force() > replica.form:
            raise ConfigurationError(str(NewerFormError(replica.in_force(), replica.form)))
        end = await _answer_of(stream.end)
    if end < replica.position:
        raise ConfigurationError(
            f"the log ends at place {end}, and this node's tables know {replica.position}: the log was lost or is "
            f"another one. If it was lost, `python -m ttt_net cluster reseed` begins it anew from these tables; "
            f"if these are of no use, delete them"
        )


async def _take_newest(stream: Log, replica: Replica, limit: asyncio.Timeout, patience_s: float) -> None:
    """Replace tables that are behind the latest snapshot."""
    with ExitStack() as files:
        tried: list[BinaryIO] = []
        furthest = 0

        def moved(size: int) -> None:
            nonlocal furthest
            if size > furthest:  # a repeated transfer makes no progress
                furthest = size
                replica.moved()

        def ask(done: Callable[[Position | None], None]) -> None:
            if tried:
                tried[-1].truncate(0)  # not closed, since it may still be written to
            tried.append(files.enter_context(replica.room_for_snapshot()))
            arriving = ArrivingFile(tried[-1], limit, patience_s, asyncio.get_running_loop(), moved)
            stream.get_snapshot(cast(BinaryIO, arriving), done)  # it is not written to any more

        position = await _answer_of(ask)
        if position > replica.position:
            tried[-1].seek(0)
            try:
                replica.read_from(tried[-1])
            except StorageError as error:
                raise ConfigurationError(error.cause) from None
            limit.reschedule(asyncio.get_running_loop().time() + patience_s)  # nothing was heard meanwhile
            log.info("the tables were taken from a snapshot of place %d", position)


async def _answer_of(ask: Callable[[Callable[[Position | None], None]], None]) -> Position:
    """Ask the log until it answers; the caller has the timeout."""
    while True:
        answer: asyncio.Future[Position | None] = asyncio.get_running_loop().create_future()
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
