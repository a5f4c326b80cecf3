"""The thread of the tables, and what becomes of a job that fails as nobody expected."""

import asyncio

import pytest

from tests.server.cluster.logs import Heard
from ttt_net.server.cluster.worker import Worker


async def test_a_job_that_raises_is_told_and_those_after_it_are_done(caplog: pytest.LogCaptureFixture) -> None:
    worker, told, faults = Worker(asyncio.get_running_loop()), Heard(), Heard()
    worker.on_fault = faults

    def fail() -> None:
        raise LookupError("nobody thought of it")

    with worker.working():
        worker(fail, told)
        worker(lambda: 2, told)
        assert str(await faults.one()) == "nobody thought of it"
        assert await told.first(1) == [2]
    assert "nobody thought of it" in caplog.text
    caplog.clear()  # it was meant
