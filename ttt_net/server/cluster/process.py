"""Run one node of a cluster in this process: its connection to the log, its tables, and its membership."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ttt_net.errors import SilentLogError
from ttt_net.server.cluster.jetstream import JetStreamLog, open_log
from ttt_net.server.cluster.jetstream_connection import JetStreamAddress
from ttt_net.server.cluster.log import Log
from ttt_net.server.cluster.node import ClusterNode
from ttt_net.server.cluster.replica import Replica, clear_up, delete_living, living_beside
from ttt_net.server.cluster.replicated_ledger import Membership, ReplicatedLedger, Work
from ttt_net.server.cluster.snapshots import FEW, Completion, SnapshotKeeper, catch_up
from ttt_net.server.hub import Hub
from ttt_net.server.journal.ledger import JournalReader, Worker
from ttt_net.server.logs import StartExtension
from ttt_net.server.server_clock import ServerClock
from ttt_net.server.settings.configuration import Configuration

log = logging.getLogger(__name__)

JOIN_S = 60.0
"""How long a node that starts waits for an answer of the log, or for the next part of a snapshot."""
PAUSE_S = 10.0
"""How long a node waits before another restart, if it has not joined the cluster since the last one."""
_TICK_S = 1.0


class NodeParts(NamedTuple):
    """The components of a node; `completion` adds the finished matches that its tables lack, if any."""

    stream: JetStreamLog
    ledger: ReplicatedLedger
    replica: Replica
    membership: Membership
    snapshots: SnapshotKeeper
    completion: Completion | None = None


class RunningNode:
    """Runs the ledger of a node for the server: it takes part until it is stopped, and then announces its departure."""

    is_stuck = False
    """Whether to wait for the thread: SQLite does not wait for the disk here, since the log is durable."""

    def __init__(self, parts: NodeParts, hub: Hub, begin_anew: Callable[[], None]) -> None:
        """`begin_anew` is called when only a new process, started from a snapshot, can continue as this node."""
        self._parts = parts
        self._node = ClusterNode(hub, parts.ledger, parts.stream, parts.replica)
        self._node.begin_anew = self._begin_anew
        self._end = begin_anew
        self._has_left = asyncio.Event()
        self._has_given_up = False
        parts.stream.on_silence = self._give_up

    def _begin_anew(self) -> None:
        wait_s = 0.0 if self._parts.ledger.epoch else PAUSE_S  # the latest snapshot may not help
        asyncio.get_running_loop().call_later(wait_s, self._end)

    def _give_up(self) -> None:
        """Restart, discarding this connection to the log."""
        if not self._has_given_up:
            self._has_given_up = True
            log.error("the log has not answered for %.0f s: this node restarts", self._parts.stream.silence_s)
            self._end()

    async def run(self) -> None:
        """Take part until `stop`, and announce the departure to the other nodes."""
        self._node.start()
        async with asyncio.TaskGroup() as tasks:
            completing = tasks.create_task(self._complete())
            try:
                await self._keep_snapshots()
            finally:
                if self._parts.completion is not None:
                    self._parts.completion.stop()
                completing.cancel()

    async def _complete(self) -> None:
        """Add the finished matches that the tables lack, if any."""
        try:
            if self._parts.completion is not None:
                await self._parts.completion.run()
        except Exception as fault:
            log.exception("fault while the tables of this node were completed")
            self._parts.ledger.stop_for(fault)

    async def _keep_snapshots(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._has_left.is_set():
            self._parts.snapshots.tick(loop.time())
            try:
                async with asyncio.timeout(_TICK_S):
                    await self._has_left.wait()
            except TimeoutError:
                pass

    def stop(self) -> None:
        """Leave the cluster: players here reconnect to other nodes."""
        self._parts.ledger.leave(self._has_left.set)


def address_of(configuration: Configuration) -> JetStreamAddress:
    """Return the address of a cluster's log."""
    cluster = configuration.cluster
    return JetStreamAddress(cluster.ledger, cluster.stream, cluster.replicas, cluster.credentials, cluster.authority)


async def caught_up(stream: Log, replica: Replica) -> Replica:
    """Load a snapshot; return the tables to take part with, which are others while these lack many finished matches.

    Raises `SilentLogError` if no part of one arrives for `JOIN_S`.
    """
    try:
        return await catch_up(stream, replica, JOIN_S, FEW)
    except TimeoutError:
        raise SilentLogError(
            f"the log did not tell its end, or a snapshot of it went no further, for {JOIN_S:.0f} s: "
            f"has it a majority of its servers?"
        ) from None


@asynccontextmanager
async def joined(configuration: Configuration, journal: Path) -> AsyncIterator[NodeParts]:
    """Connect to the log, and bring the tables up to a snapshot of it.

    Raises `SilentLogError` if the log does not answer, and `ConfigurationError` if it or the tables cannot be used.
    """
    loop = asyncio.get_running_loop()
    whole = Replica(journal, moved=StartExtension())
    with ExitStack() as opened:
        opened.callback(whole.close)
        clear_up(journal)
        opened.callback(delete_living, living_beside(journal))
        async with open_log(address_of(configuration), configuration.node) as stream:
            replica = await caught_up(stream, whole)
            opened.callback(replica.close)
            worker, copier, reader = Worker(), Worker(), JournalReader(replica.path or journal)
            with worker.working(), copier.working(), reader.reading():
                rng, wall_ms = random.SystemRandom(), ServerClock().wall_ms
                ledger = ReplicatedLedger(
                    configuration.node,
                    stream,
                    replica,
                    worker,
                    loop,
                    rng,
                    configuration.public_url,
                    wall_ms,
                    reader.look,
                )
                ledger.cost_s = time.thread_time
                worker.on_fault = copier.on_fault = ledger.stop_for
                snapshots = SnapshotKeeper(ledger, stream, replica, copier, configuration.cluster.schedule)
                parts = NodeParts(stream, ledger, replica, Membership(ledger), snapshots)
                if replica is not whole:
                    parts = parts._replace(
                        completion=Completion(
                            stream,
                            replica,
                            whole,
                            partial(on, copier),
                            partial(on, worker),
                            partial(reader.turn_to, journal),
                            JOIN_S,
                        )
                    )
                yield parts


async def on(work: Work, do: Callable[[], Any]) -> Any:  # noqa: ANN401 - of the function
    """Run a function on a thread, and return its result or raise its error."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def attempt() -> tuple[Any, Exception | None]:
        try:
            return do(), None
        except Exception as error:  # noqa: BLE001 - of the caller
            return None, error

    def tell(outcome: tuple[Any, Exception | None]) -> None:
        found, error = outcome
        if error is None:
            done.set_result(found)
        else:
            done.set_exception(error)

    work(attempt, tell)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])  # what it uses must not be closed meanwhile
        raise
