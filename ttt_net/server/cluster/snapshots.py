"""Snapshots of the tables in the log: a node that is new, or was away for long, begins from one."""

import asyncio
import io
import logging
from collections.abc import Callable
from typing import NamedTuple

from ttt_net.errors import ConfigurationError, StorageError
from ttt_net.server.cluster.log import Log, Position
from ttt_net.server.cluster.replica import NewerFormError, Replica
from ttt_net.server.cluster.replicated_ledger import ReplicatedLedger, Work

log = logging.getLogger(__name__)

EVERY_PLACES = 2_000
"""After so many places of the log there is another snapshot."""
REST_S = 600.0
"""How long a snapshot stands at the least."""
KEPT_PLACES = 1_000
"""So many places before a snapshot stay in the log, for nodes that are a little behind."""


class _Taken(NamedTuple):
    position: Position
    data: io.BytesIO


class SnapshotKeeper:
    """Has the steward put a snapshot into the log now and then, and trim the log behind it."""

    def __init__(self, ledger: ReplicatedLedger, stream: Log, replica: Replica, work: Work) -> None:
        self._ledger, self._log, self._replica, self._work = ledger, stream, replica, work
        self._last: Position = ledger.position
        self._next_s = 0.0
        self._is_busy = False

    def tick(self, now_s: float) -> None:
        """Begin a snapshot if it is time; to be called about once a second."""
        is_due = self._ledger.position - self._last >= EVERY_PLACES and now_s >= self._next_s
        if is_due and not self._is_busy and self._ledger.is_steward:
            self._is_busy, self._next_s = True, now_s + REST_S
            self._work(self._take, self._taken)

    def _take(self) -> _Taken | StorageError:
        file = io.BytesIO()
        try:
            self._replica.write_to(file)
        except StorageError as error:
            return error
        return _Taken(self._replica.position, file)

    def _taken(self, taken: _Taken | StorageError) -> None:
        if isinstance(taken, StorageError):
            self._is_busy = False
            log.error("a snapshot could not be taken: %s", taken.cause)
            return

        size = taken.data.tell()
        taken.data.seek(0)

        def done(is_kept: bool) -> None:
            self._is_busy = False
            if is_kept:
                log.info("the log has a snapshot of place %d, of %d bytes", taken.position, size)
                self._last = taken.position
                self._ledger.trim(taken.position - KEPT_PLACES)

        self._log.put_snapshot(taken.position, taken.data, done)


async def catch_up(stream: Log, replica: Replica) -> None:
    """Put the newest snapshot in place of tables that are behind it, and see that these belong to this log.

    Raises `ConfigurationError` if they do not, or the log does not answer.
    """
    file = io.BytesIO()

    def ask(done: Callable[[Position | None], None]) -> None:
        nonlocal file
        file = io.BytesIO()  # into the last one may still be written
        stream.get_snapshot(file, done)

    position = await _answer_of(ask)
    if position > replica.position:
        file.seek(0)
        try:
            replica.read_from(file)
        except StorageError as error:
            raise ConfigurationError(error.cause) from None
        log.info("the tables were taken from a snapshot of place %d", position)
    if replica.in_force() > replica.form:
        raise ConfigurationError(str(NewerFormError(replica.in_force(), replica.form)))
    end = await _answer_of(stream.end)
    if end < replica.position:
        raise ConfigurationError(
            f"the log ends at place {end}, and this node's tables know {replica.position}: the log was lost or is "
            f"another one. If it was lost, `python -m ttt_net cluster reseed` begins it anew from these tables; "
            f"if these are of no use, delete them"
        )


async def _answer_of(ask: Callable[[Callable[[Position | None], None]], None]) -> Position:
    """Ask the log until it answers; it is the caller's patience that ends."""
    while True:
        answer: asyncio.Future[Position | None] = asyncio.get_running_loop().create_future()
        ask(lambda found, answer=answer: answer.done() or answer.set_result(found))  # type: ignore[misc]
        found = await answer
        if found is not None:
            return found
