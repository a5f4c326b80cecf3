"""Old matches and guests are deleted in small steps, but their counts stay."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.server.journal.jobs import on_disk
from tests.server.peer import Peer
from tests.server.running import Server, running, until
from ttt_net.server.admission.sanctions import Sanction
from ttt_net.server.journal.apply import apply
from ttt_net.server.journal.entries import (
    AuditNote,
    ForgetGuests,
    ForgetMatches,
    ForgetNotes,
    ForgetReports,
    ForgetSanctions,
    PackMatches,
)
from ttt_net.server.maintenance import (
    BITE,
    DAY_MS,
    PACKED_AFTER_MS,
    REST_MS,
    maintenance_jobs,
    old_guests,
    old_matches,
)
from ttt_net.server.settings.configuration import Configuration


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


class Clock:
    now_ms = 0

    def __call__(self) -> int:
        return self.now_ms


async def test_old_matches_are_deleted_but_their_counts_stay(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        old = await finished(server, ("Ann", "Bob"), 3)
        first, second, live = await server.pair("Cid", "Dan")
        clock, kept = Clock(), {old[1]}
        retention = old_matches(server.hub.services.journal, clock, lambda: 30, lambda: kept)
        clock.now_ms = server.hub.now_ms() + 29 * DAY_MS
        retention.tick()
        assert len(await server.execute("SELECT id FROM matches")) == 4
        clock.now_ms += 2 * DAY_MS
        retention.tick()
        assert {match for (match,) in await server.execute("SELECT id FROM matches")} == {old[1], live}
        assert await server.execute("SELECT count(*) FROM results") == [(2,)]
        assert await server.execute("SELECT count(*) FROM facts") == [(3,)]
        assert await server.execute("SELECT won + lost FROM players ORDER BY id LIMIT 2") == [(3,), (3,)]
        assert await server.execute("SELECT won + lost FROM meetings") == [(3,), (3,)]
        assert await server.execute("PRAGMA foreign_key_check") == []
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
        retention = old_matches(server.hub.services.journal, clock, lambda: 1, tuple)
        left = []
        for _ in range(3):
            retention.tick()
            retention.tick()  # the one before has not been answered yet
            left += await server.execute("SELECT count(*) FROM matches")
        assert left == [(5,), (0,), (0,)]


async def test_a_match_is_packed_ten_minutes_after_its_end_and_can_still_be_read(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, second, match = await server.pair("Ann", "Bob")
        await first.ok("resign", match=match)
        await second.hear("ended", match=match)
        packing, packed = maintenance_jobs(server.hub)["finished matches"], "SELECT is_packed FROM matches"
        server.clock.offset_ms += PACKED_AFTER_MS - 1_000
        packing()
        assert await server.execute(packed) == [(0,)]
        server.clock.offset_ms += REST_MS
        packing()
        assert await server.execute(packed) == [(1,)]
        assert await server.execute("SELECT count(*) FROM facts") == [(1,)]
        await first.ok("record", match=match)
        assert "Ann" in (await first.hear("record"))["text"]


async def test_maintenance_rests_when_there_is_nothing_to_delete(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        clock = Clock()
        clock.now_ms = server.hub.now_ms() + 2 * DAY_MS
        asked: list[int] = []

        def in_use() -> tuple[str, ...]:
            asked.append(1)
            return ()

        retention = old_matches(server.hub.services.journal, clock, lambda: 1, in_use)
        for step_ms in (0, 1_000, REST_MS - 1_001, 1):
            clock.now_ms += step_ms
            retention.tick()
            await server.flushed()
        assert len(asked) == 2


async def test_with_no_days_nothing_is_forgotten_until_there_are_some(tmp_path: Path) -> None:
    configuration = Configuration(retention_days=0, guest_days=0)
    async with running(tmp_path, configuration=configuration) as server:
        await finished(server, ("Ann", "Bob"), 2)  # the last is heard still, and stays
        server.clock.offset_ms += 400 * DAY_MS
        jobs = maintenance_jobs(server.hub)
        for days, left in ((0, (2,)), (401, (2,)), (399, (1,))):
            server.hub.services.configuration.retention_days = days
            server.clock.offset_ms += REST_MS
            for job in jobs.values():
                job()
            assert await server.execute("SELECT count(*) FROM matches") == [left]


async def guest(server: Server, token: str | None = None) -> Peer:
    peer = await server.connect()
    await peer.hello(**({} if token is None else {"token": token}))
    return peer


async def test_guests_who_stay_away_are_deleted_and_their_matches_are_kept(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        ann, gone, here = await server.join("Ann"), await guest(server), await guest(server)
        first, second, over = await server.match(ann, gone)
        await first.ok("resign", match=over)
        await second.hear("ended")
        _, _, live = await server.match(ann, gone)
        _, _, nobodys = await server.match(gone, here, games=["connect4"])
        name = gone.name
        await gone.close()
        await until(lambda: len(server.sessions) == 2)
        chore = old_guests(server.hub, lambda: 30)
        server.clock.offset_ms += 29 * DAY_MS
        chore.tick()
        await server.flushed()
        assert await server.execute("SELECT count(*) FROM players WHERE is_guest") == [(2,)]
        server.clock.offset_ms += 2 * DAY_MS
        chore.tick()
        await server.flushed()
        assert await server.execute("SELECT name FROM players ORDER BY id") == [("Ann",), ("deleted",), (here.name,)]
        assert {player["name"] for player in (await ann.resume(live))["players"]} == {"Ann", "deleted"}
        await ann.ok("record", match=over)
        assert name not in (await ann.hear("record"))["text"]
        again = await server.connect()
        assert await again.refused("hello", protocols=[1], token=gone.token) == "unknown_token"
        await ann.ok("resign", match=live)
        await here.close()
        await until(lambda: len(server.sessions) == 1)
        server.clock.offset_ms += 31 * DAY_MS
        chore.tick()
        await server.flushed()
        assert await server.execute("SELECT count(*) FROM players WHERE is_guest") == [(0,)]
        assert {match for (match,) in await server.execute("SELECT id FROM matches")} == {over, live}
        assert nobodys not in server.rooms
        assert await server.execute("PRAGMA foreign_key_check") == []


async def test_a_returning_guest_is_kept_and_a_named_player_is_never_deleted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        named, comes = await guest(server), await guest(server)
        await named.ok("rename", name="Gus")
        for peer in (named, comes):
            await peer.close()
        await until(lambda: not server.sessions)
        chore = old_guests(server.hub, lambda: 30)
        for _ in range(3):
            server.clock.offset_ms += 20 * DAY_MS
            again = await guest(server, comes.token)
            await again.close()
            await until(lambda: not server.sessions)
            chore.tick()
            await server.flushed()
        assert await server.execute("SELECT name FROM players ORDER BY id") == [("Gus",), (comes.name,)]
        server.clock.offset_ms += 31 * DAY_MS
        chore.tick()
        await server.flushed()
        assert await server.execute("SELECT name FROM players ORDER BY id") == [("Gus",), ("deleted",)]


async def test_many_guests_are_forgotten_a_bite_at_a_time(tmp_path: Path) -> None:
    async with running(tmp_path, configuration=Configuration(guest_days=0)) as server:  # its own job deletes none
        insert = (
            "INSERT INTO players (name, name_key, token_hash, created_ms, is_guest, seen_ms)"
            " SELECT key, key, randomblob(32), 0, 1, 0 FROM json_each(?)"
        )
        await server.execute(insert.replace("?", f"'{json.dumps([0] * (BITE + 5))}'"))
        chore = old_guests(server.hub, lambda: 30)
        left = []
        for _ in range(3):
            chore.tick()
            left += await server.execute("SELECT count(*) FROM players WHERE is_guest")
        assert left == [(5,), (0,), (0,)]


async def test_no_step_of_it_reads_a_whole_table(tmp_path: Path) -> None:
    """A bite among a million matches costs what it costs among ten."""
    async with running(tmp_path) as server:
        await guest(server)
        plans: list[str] = []

        def explain(connection: sqlite3.Connection) -> None:
            seen: list[str] = []
            connection.set_trace_callback(seen.append)
            apply(connection, PackMatches(2**60, BITE))
            apply(connection, ForgetMatches(2**60, (), BITE))
            apply(connection, ForgetGuests(2**60, 2**60, (99,), (), BITE))
            apply(connection, ForgetReports(2**60, BITE))
            apply(connection, ForgetNotes(2**60, BITE))
            apply(connection, ForgetSanctions(2**60, BITE))
            connection.set_trace_callback(None)
            deletes = (
                "DELETE FROM results WHERE player = 1 AND is_private = 0 AND ended_ms = 1 AND match = 'x'",
                "DELETE FROM facts WHERE match = 1",
                "DELETE FROM facts WHERE match = 1 AND seq < 5",
                "UPDATE facts SET id = (SELECT 1 + max(id) FROM facts), fact = '' WHERE match = 1 AND seq = 5",
                "SELECT 1 FROM results WHERE match = 'x'",
                "SELECT 1 FROM facts WHERE match = 1",
                "DELETE FROM looks WHERE player = 1",
                "DELETE FROM ratings WHERE player = 1",
                "DELETE FROM sanctions WHERE player = 1 AND whom = 'player:1'",
                "DELETE FROM reports WHERE number = 1",
                "DELETE FROM audit WHERE id = 1",
            )
            asked = [each for each in seen if each.startswith(("SELECT", "UPDATE players"))]
            for statement in [*asked, *deletes]:
                plans.extend(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}"))

        await on_disk(server.ledger, explain)
        assert len(plans) >= 12
        assert {plan for plan in plans if plan.startswith("SCAN")} == {"SCAN json_each VIRTUAL TABLE INDEX 1:"}


def files(folder: Path) -> bytes:
    """Return all that is on the disk."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_reports_and_notes_are_forgotten_when_their_time_is_up(tmp_path: Path) -> None:
    days = Configuration(report_days=2, audit_days=3)
    async with running(tmp_path, configuration=days) as server:
        ann, bob, match = await server.pair()
        await ann.ok("chat", match=match, text="unheard of")
        await bob.ok("report", name=ann.name, match=match)
        jobs = maintenance_jobs(server.hub)
        server.hub.services.journal.note(AuditNote(server.clock(), "announce", "tea"))

        async def left() -> Any:
            for job in ("old reports", "old notes"):
                jobs[job]()
            await server.flushed()
            (counts,) = await server.execute("SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM audit)")
            return counts

        assert await left() == (1, 1)
        server.clock.offset_ms += REST_MS
        for after_days, expected in ((1, (1, 1)), (1.1, (0, 1)), (1, (0, 0))):
            server.clock.offset_ms += int(after_days * DAY_MS)
            assert await left() == expected
    assert b"unheard of" not in files(tmp_path)


async def test_a_sanction_that_has_run_out_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        jobs, journal = maintenance_jobs(server.hub), server.hub.services.journal
        short = Sanction("mute", "address:99", "", "rude", 0, server.clock() + 1_000)
        kept = short._replace(whom="192.0.2.0/24", until_ms=server.clock() + 10**9)
        note = AuditNote(server.clock(), "mute", "")
        journal.impose([short, kept], note, lambda: None, lambda _: None)
        server.clock.offset_ms += REST_MS
        jobs["old sanctions"]()
        await server.flushed()
        assert await server.execute("SELECT whom FROM sanctions") == [("192.0.2.0/24",)]


async def test_a_sanction_that_has_run_out_holds_nobody_after_the_clock_is_set_back(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        jobs, services = maintenance_jobs(server.hub), server.hub.services
        short = Sanction("mute", "192.0.2.0/24", "192.0.2.0/24", "rude", 0, server.clock() + 1_000)
        services.journal.impose([short], AuditNote(server.clock(), "mute", ""), lambda: None, lambda _: None)
        services.sanctions.impose([short])
        server.clock.offset_ms += REST_MS
        jobs["old sanctions"]()
        await server.flushed()
        server.clock.offset_ms -= REST_MS
        assert services.sanctions.in_force() == []
