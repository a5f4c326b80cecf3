"""How a node comes into its cluster, or does not."""

from collections.abc import Callable
from typing import BinaryIO

import pytest

from ttt_net.errors import ConfigurationError
from ttt_net.server.cluster import process
from ttt_net.server.cluster.log import MemoryLog, MemoryStream
from ttt_net.server.cluster.process import caught_up
from ttt_net.server.cluster.replica import Replica


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
