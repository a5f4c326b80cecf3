"""How a node comes into its cluster, or does not."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

import pytest

from tests.patience import PATIENCE_S
from ttt_net.errors import ConfigurationError
from ttt_net.server.cluster import process
from ttt_net.server.cluster.log import MemoryLog, MemoryStream
from ttt_net.server.cluster.process import caught_up, on
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.journal.ledger import Worker


class SilentLog(MemoryLog):
    """A log that is there, and whose servers have no majority: it answers nothing."""

    def get_snapshot(self, into: BinaryIO, done: Callable[[int | None], None]) -> None:
        """Answer nothing."""


async def test_a_log_that_does_not_answer_at_the_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "JOIN_S", 0.05)
    replica = Replica(None)
    with pytest.raises(ConfigurationError, match="the log did not tell its end, or a snapshot of it went no further"):
        await caught_up(SilentLog(MemoryStream(), lambda call: None), replica)
    replica.close()


async def test_a_job_on_a_thread_returns_its_result_or_raises_its_error() -> None:
    worker = Worker()
    with worker.working():
        assert await on(worker, lambda: 7) == 7
        with pytest.raises(LookupError, match="gone"):
            await on(worker, partial(fail, LookupError("gone")))


async def test_a_cancelled_wait_for_a_job_ends_with_the_job() -> None:
    worker, began, may_end, ended = Worker(), asyncio.Event(), threading.Event(), []
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        may_end.wait(PATIENCE_S)
        ended.append("job")

    async def wait() -> None:
        try:
            await on(worker, work)
        finally:
            ended.append("wait")

    with worker.working():
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(wait())
            await began.wait()
            waiting.cancel()
            loop.call_soon(may_end.set)
    assert ended == ["job", "wait"]


def fail(error: Exception) -> None:
    raise error
