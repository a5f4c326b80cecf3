"""A start costs the same however many unfinished matches there are; the benchmark of it works."""

import sqlite3
import subprocess
import sys
from pathlib import Path

from benchmarks.restart import SCRIPT, build, token_of
from tests.patience import PATIENCE_S
from tests.server.journal.jobs import on_disk
from tests.server.running import running
from ttt_net.server.journal import JOURNAL_FILE

ROOT = Path(__file__).parent.parent.parent
MATCHES = 500


async def test_no_table_is_scanned_between_the_start_and_the_first_move(tmp_path: Path) -> None:
    """So it is the same with ten unfinished matches as with ten thousand, or a million."""
    assert await build(tmp_path / JOURNAL_FILE, MATCHES, plies=4) == 5 * MATCHES
    seen: set[str] = set()
    async with running(tmp_path) as server:
        await on_disk(server.ledger, lambda connection: connection.set_trace_callback(seen.add))
        assert server.rooms == {}
        peers = [await server.connect() for _ in range(2)]
        for side, peer in enumerate(peers):
            assert (await peer.hello(token=token_of(321, side)))["matches"] == ["m0000321"]
            assert len((await peer.resume("m0000321"))["moves"]) == 4
        await peers[0].ok("play", match="m0000321", ply=4, move=SCRIPT[4])
        await peers[1].hear("played", ply=5)
        await on_disk(server.ledger, lambda connection: connection.set_trace_callback(None))
        assert list(server.rooms) == ["m0000321"]
    statements = {each for each in seen if each.split()[0] in ("SELECT", "UPDATE", "INSERT", "DELETE")}
    assert len(statements) >= 4
    assert scans(tmp_path / JOURNAL_FILE, statements) == []


def scans(journal: Path, statements: set[str]) -> list[str]:
    """Return the statements that would read one of the large tables from end to end."""
    found = []
    connection = sqlite3.connect(journal)
    for statement in statements:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        if any(step.startswith(("SCAN matches", "SCAN facts", "SCAN players", "SCAN results")) for step in plan):
            found.append(statement)
    connection.close()
    return found


def test_the_search_for_scans_finds_one(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "file")
    connection.execute("CREATE TABLE matches (id TEXT PRIMARY KEY, game TEXT)")
    connection.close()
    planted = "SELECT id FROM matches WHERE game = 'x'"
    assert scans(tmp_path / "file", {planted, "SELECT game FROM matches WHERE id = 'x'"}) == [planted]


def test_a_quick_run_prints_both_tables() -> None:
    command = [sys.executable, "-m", "benchmarks.restart", "--matches", "200", "--rounds", "1", "--pairs", "3"]
    run = subprocess.run(
        [*command, "--restarts", "1"], cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False
    )
    assert run.returncode == 0, run.stderr
    assert "200 unfinished matches, 2,600 events" in run.stdout
    assert "6 players in mid-play, 1 restarts" in run.stdout
