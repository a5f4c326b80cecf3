"""What a server does when its disk gets full: it says so in time, and the matches that are played come last."""

from pathlib import Path

import pytest

from tests.server.running import running
from ttt_net.server.disk_space import DiskUsage
from ttt_net.server.main import disk_usage
from ttt_net.server.settings.configuration import Limits


async def test_new_matches_are_refused_first_and_then_moves_until_there_is_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    free_mb = 1_000
    limits = Limits(free_disk_mb=100)
    async with running(tmp_path, limits, measure=lambda: DiskUsage(free_mb * 1_000_000, 0)) as server:
        ann, bob, match = await server.pair(games=["gomoku"])
        eve = await server.join("Eve")
        free_mb = 99
        server.tick(0)
        refused = await eve.ask("seek", games=["qubic"])
        assert (refused["code"], refused["retry_after_ms"]) == ("storage", 10_000)
        assert await eve.refused("invite", game="qubic") == "storage"
        assert await eve.refused("challenge", name="Ann") == "storage"
        await ann.ok("play", match=match, ply=0, move=0)
        free_mb = 24
        server.tick(0)
        assert await bob.refused("play", match=match, ply=1, move=1) == "storage"
        free_mb = 101
        server.tick(0)
        await bob.ok("play", match=match, ply=1, move=1)
        await eve.ok("seek", games=["qubic"])
    said = [record.getMessage() for record in caplog.records if "storage" in record.getMessage()]
    assert [line.partition("disk ")[2] for line in said] == [
        "is short of space: no new matches begin",
        "has space again",
    ]


def test_the_usage_of_a_disk_is_measured(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(bytes(1_000))
    (tmp_path / "journal-wal").write_bytes(bytes(234))
    usage = disk_usage(tmp_path / "journal")
    assert usage
    assert usage.journal_bytes == 1_234
    assert usage.free_bytes > 0
    assert disk_usage(tmp_path / "nowhere" / "journal") is None
