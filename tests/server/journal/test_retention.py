"""Old matches are forgotten in small bites, and what was counted of them is not."""

import sqlite3
from pathlib import Path
from typing import Any

from tests.server.running import Server, running
from ttt_net.server.journal.retention import BITE, REST_MS, Retention, prune

DAY_MS = 86_400_000


async def finished(server: Server, names: tuple[str, str], count: int) -> list[str]:
    """Let two players finish so many matches; return their ids."""
    first, second, match = await server.pair(*names)
    ids = []
    while True:
        ids.append(match)
        await first.ok("resign", match=match)
        await second.hear("ended", match=match)
        if len(ids) == count:
            return ids
        first, second, match = await server.match(first, second)


async def query(server: Server, sql: str) -> list[Any]:
    rows: list[Any] = []
    server.database.submit(lambda connection: connection.execute(sql).fetchall(), rows.extend)
    await server.flushed()
    return rows


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


async def test_what_ended_before_the_day_goes_and_what_was_counted_stays(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        old = await finished(server, ("Ann", "Bob"), 3)
        first, second, live = await server.pair("Cid", "Dan")
        clock, kept = Clock(), {old[1]}
        retention = Retention(server.database, 30, clock, lambda: kept)
        clock.now_ms = server.hub.now_ms() + 29 * DAY_MS
        retention.tick()
        assert len(await query(server, "SELECT id FROM matches")) == 4
        clock.now_ms += 2 * DAY_MS
        retention.tick()
        assert {match for (match,) in await query(server, "SELECT id FROM matches")} == {old[1], live}
        assert await query(server, "SELECT count(*) FROM results") == [(2,)]
        assert await query(server, "SELECT count(*) FROM facts") == [(3,)]
        assert await query(server, "SELECT won + lost FROM players ORDER BY id LIMIT 2") == [(3,), (3,)]
        assert await query(server, "SELECT won + lost FROM meetings") == [(3,), (3,)]
        assert await query(server, "PRAGMA foreign_key_check") == []
        await first.ok("resign", match=live)
        await second.hear("ended")
        peer = await server.join("Eve")
        assert await peer.refused("record", match=old[0]) == "unknown_match"
        await peer.ok("record", match=old[1])


async def test_a_bite_is_small_and_the_next_comes_with_the_next_tick(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await finished(server, ("Ann", "Bob"), BITE + 5)
        clock = Clock()
        clock.now_ms = server.hub.now_ms() + 2 * DAY_MS
        retention = Retention(server.database, 1, clock, tuple)
        left = []
        for _ in range(3):
            retention.tick()
            retention.tick()  # the one before has not been answered yet
            left += await query(server, "SELECT count(*) FROM matches")
        assert left == [(5,), (0,), (0,)]


async def test_when_there_is_nothing_to_forget_it_rests(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        clock = Clock()
        clock.now_ms = server.hub.now_ms() + 2 * DAY_MS
        asked: list[int] = []

        def in_use() -> tuple[str, ...]:
            asked.append(1)
            return ()

        retention = Retention(server.database, 1, clock, in_use)
        for step_ms in (0, 1_000, REST_MS - 1_001, 1):
            clock.now_ms += step_ms
            retention.tick()
            await server.flushed()
        assert len(asked) == 2


async def test_with_no_days_nothing_is_ever_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        await finished(server, ("Ann", "Bob"), 1)
        clock = Clock()
        clock.now_ms = server.hub.now_ms() + 100_000 * DAY_MS
        Retention(server.database, 0, clock, tuple).tick()
        assert await query(server, "SELECT count(*) FROM matches") == [(1,)]


async def test_no_step_of_it_reads_a_whole_table(tmp_path: Path) -> None:
    """A bite among a million matches costs what it costs among ten."""
    async with running(tmp_path) as server:
        plans: list[str] = []

        def explain(connection: sqlite3.Connection) -> None:
            seen: list[str] = []
            connection.set_trace_callback(seen.append)
            prune(connection, 2**60, ())
            connection.set_trace_callback(None)
            deletes = (
                "DELETE FROM results WHERE player = 1 AND is_private = 0 AND ended_ms = 1 AND match = 'x'",
                "DELETE FROM facts WHERE match = 1",
                "SELECT 1 FROM results WHERE match = 'x'",
                "SELECT 1 FROM facts WHERE match = 1",
            )
            for statement in [*(each for each in seen if each.startswith("SELECT")), *deletes]:
                plans.extend(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))

        server.database.submit(explain, lambda _: None)
        await server.flushed()
        assert len(plans) >= 5
        assert [plan for plan in plans if plan.startswith("SCAN")] == []
