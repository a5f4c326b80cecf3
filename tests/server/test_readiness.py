"""A server whose disk fills says so in time, and stops matches in progress last."""

from pathlib import Path

import pytest

from tests.server.running import running, until
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.serving import disk_usage
from ttt_net.server.settings.configuration import Limits, Rate


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
    assert said == [
        "storage: the server's disk is almost full: no new matches begin (99 MB are free, limits.free_disk_mb is 100)",
        "storage: the server's disk is almost full: neither matches nor moves are written down "
        "(24 MB are free, limits.free_disk_mb is 100)",
        "storage: there is space again",
    ]


async def test_a_server_whose_disk_is_almost_full_is_not_ready_and_its_matches_go_on(tmp_path: Path) -> None:
    free_mb = 1_000
    limits = Limits(free_disk_mb=100)
    async with running(tmp_path, limits, measure=lambda: DiskUsage(free_mb * 1_000_000, 0)) as server:
        ann, _, match = await server.pair(games=["gomoku"])
        said = []
        await until(lambda: server.hub.unready is None)
        for free_mb in (100, 99, 100):  # noqa: B007 - the server measures it
            server.tick(0)
            peer = await server.raw()
            await peer.send(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            said.append((server.hub.unready, (await peer.read_head()).split()[1]))
        assert said == [(None, b"200"), ("the server's disk is almost full", b"503"), (None, b"200")]
        await ann.ok("play", match=match, ply=0, move=0)


async def test_a_server_that_starts_on_an_almost_full_disk_begins_no_match(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(free_disk_mb=100), measure=lambda: DiskUsage(20_000_000, 0)) as server:
        ann = await server.join("Ann")
        assert await ann.refused("seek") == "storage"


def test_the_usage_of_a_disk_is_measured(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(bytes(1_000))
    (tmp_path / "journal-wal").write_bytes(bytes(234))
    usage = disk_usage(tmp_path / "journal")
    assert usage
    assert usage.journal_bytes == 1_234
    assert usage.free_bytes > 0
    assert disk_usage(tmp_path / "nowhere" / "journal") is None


async def test_above_a_cap_on_the_journal_new_matches_are_refused_first_and_then_moves(tmp_path: Path) -> None:
    journal_mb = 1.0
    limits = Limits(journal_mb=10)
    async with running(tmp_path, limits, measure=lambda: DiskUsage(10**12, int(journal_mb * 1_000_000))) as server:
        ann, bob, match = await server.pair(games=["gomoku"])
        eve = await server.join("Eve")
        journal_mb = 9.1
        server.tick(0)
        refused = await eve.ask("seek", games=["qubic"])
        assert (refused["code"], "journal is almost as large" in refused["message"]) == ("storage", True)
        await ann.ok("play", match=match, ply=0, move=0)
        journal_mb = 10.1
        server.tick(0)
        assert await bob.refused("play", match=match, ply=1, move=1) == "storage"
        server.hub.services.disk.spare_bytes = 2_000_000  # what was forgotten has left room in the file
        server.tick(0)
        await bob.ok("play", match=match, ply=1, move=1)
        await eve.ok("seek", games=["qubic"])


async def test_journal_bytes_per_address_and_day_are_bounded(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(unmetered=(), daily_mb=1)) as server:
        server.clock.stand_still()
        ann, bob, match = await server.pair(games=["gomoku"])
        eve = await server.join("Eve")
        limiter, address = server.hub.services.rate_limiter, server.connection_of("Eve").metered_as
        limiter.wrote(address, 760_000)
        refused = await eve.ask("seek", games=["qubic"])
        assert (refused["code"], "limits.daily_mb" in refused["message"]) == ("too_fast", True)
        assert await eve.refused("invite", game="qubic") == "too_fast"
        await ann.ok("play", match=match, ply=0, move=0)
        limiter.wrote(address, 240_000)
        refused = await bob.ask("play", match=match, ply=1, move=1)
        assert (refused["code"], "no more moves" in refused["message"]) == ("too_fast", True)
        server.later(refused["retry_after_ms"])
        await bob.ok("play", match=match, ply=1, move=1)
        server.later(6 * 3_600_000 + 600_000)
        again = await server.join("Ada")
        await again.ok("seek", games=["qubic"])


async def test_a_move_counts_its_bytes_in_the_journal(tmp_path: Path) -> None:
    limits = Limits(unmetered=(), daily_mb=1, writes=Rate(10_000, 1.0))
    cells = sorted(range(225), key=lambda cell: (cell // 15 + cell % 15 // 2) % 2)  # nobody gets five in a row
    async with running(tmp_path, limits) as server:
        server.clock.stand_still()
        ann, bob, match = await server.pair(games=["gomoku"])
        before = (await server.execute("PRAGMA page_count"))[0][0]
        server.hub.services.rate_limiter.wrote(
            server.connection_of("Ann").metered_as, 980_000
        )  # 20 KB are left: 133 moves
        made, said = 0, {"type": "ok"}
        while said["type"] == "ok":
            peer, cell = ((ann, bob)[made % 2], cells[made // 2 + made % 2 * 113])
            said = await peer.ask("play", match=match, ply=made, move=cell)
            made += 1
        assert "limits.daily_mb" in said["message"]
        taken = ((await server.execute("PRAGMA page_count"))[0][0] - before) * 4_096
        assert 10_000 < taken < 20_000, f"{made} events"


async def test_deleted_rows_leave_room_in_the_journal(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await server.execute("CREATE TABLE big (bytes BLOB)")
        await server.execute("INSERT INTO big VALUES (zeroblob(100000))")
        await server.execute("DELETE FROM big")
        told: list[int] = []
        server.hub.services.journal.spare(told.append)
        await server.flushed()
        assert 90_000 < told[0] < 110_000
