"""The inbox is bounded, and nothing of the log is lost by that."""

import pytest

from tests.server.cluster.simulated_nodes import Nodes
from ttt_net.server.cluster import log_queues
from ttt_net.server.cluster.log import MemoryLog, MemoryStream
from ttt_net.server.cluster.log_queues import Inbox


class Waiting:
    """An inbox at a log in memory, and what is called when something comes."""

    def __init__(self, places: int) -> None:
        self.soon: list[object] = []
        self.stream, self.told = MemoryStream(), 0
        for number in range(places):
            self.stream.append(b"%d" % number)
        self.inbox = Inbox(MemoryLog(self.stream, self.soon.append), self._tell)

    def _tell(self) -> None:
        self.told += 1

    def follow(self, position: int) -> None:
        """Follow from a place, and let what there is arrive."""
        self.inbox.follow(position)
        while self.soon:
            self.soon.pop(0)()  # type: ignore[operator]


def test_what_comes_beyond_the_bound_is_let_pass_and_read_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log_queues, "MOST_BYTES", 3 * 257)
    waiting = Waiting(8)
    waiting.follow(0)
    assert waiting.inbox.first(10) == [(1, b"0"), (2, b"1"), (3, b"2")]
    assert (len(waiting.inbox), waiting.inbox.is_followed) == (3, False)
    assert caplog.text.count("3 places of the log wait to be applied") == 1
    for _ in range(3):
        waiting.inbox.take()
    waiting.follow(3)
    assert waiting.inbox.first(2) == [(4, b"3"), (5, b"4")]
    assert len(waiting.inbox) == 3


def test_what_was_trimmed_is_told_once_and_nothing_comes_after_it() -> None:
    waiting = Waiting(3)
    waiting.stream.trimmed, waiting.stream.batches = 3, []
    waiting.follow(1)
    assert (waiting.inbox.is_trimmed, len(waiting.inbox), waiting.told) == (True, 0, 1)


def test_a_node_whose_disk_refuses_stops_following_and_says_so_and_catches_up_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_queues, "MOST_BYTES", 5_000)
    nodes = Nodes("a", "b")
    a, b = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    nodes.append(b, "ann")
    nodes.go(20.0)
    trouble = str(a.ledger.health().trouble)
    assert trouble.startswith("the disk refuses to be written; the log is not followed until it can be")
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(6.0)
    assert a.ledger.is_fresh
    assert a.replica.position == b.replica.position
    assert a.replica.state == b.replica.state


def test_a_node_whose_disk_refuses_does_not_begin_anew_until_it_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_queues, "MOST_BYTES", 5_000)
    nodes = Nodes("a", "b")
    a, _ = nodes.nodes
    a.replica.database.connection.execute("PRAGMA query_only = ON")
    nodes.go(20.0)
    nodes.cut(a)
    nodes.go(5.0)
    nodes.stream.let_go = nodes.stream.end
    nodes.go(5.0)
    nodes.mend(a)
    nodes.go(5.0)
    assert "missed" not in a.lives
    assert "disk refuses" in str(a.ledger.trouble())
    a.replica.database.connection.execute("PRAGMA query_only = OFF")
    nodes.go(3.0)
    assert a.lives[-1] == "missed"
    assert a.ledger.trouble() == "it has missed what the log keeps no more, and begins anew from a snapshot"
