"""That the benchmarks of floods and of backups work; never how fast anything is."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.flood import SWARMS
from benchmarks.meter import is_supported
from tests.patience import PATIENCE_S
from tests.server.running import running
from ttt_net.messages import AnyRequest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.long
def test_the_cost_of_a_swarm_is_printed_for_each_shape() -> None:
    command = [sys.executable, "-m", "benchmarks.flood", "--cpu"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert run.returncode == 0, run.stderr
    assert [line.split("|")[1].strip() for line in run.stdout.splitlines()[2:]] == list(SWARMS)


@pytest.mark.long
def test_the_cost_of_each_query_of_the_past_is_printed() -> None:
    command = [sys.executable, "-m", "benchmarks.flood", "--past", "--matches", "200"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert run.returncode == 0, run.stderr
    kinds = {line.split("|")[1].split(",")[0].strip() for line in run.stdout.splitlines()[3:]}
    assert kinds == {"record", "replay", "history", "leaderboard", "profile"}


@pytest.mark.long
@pytest.mark.skipif(not is_supported(), reason="needs Linux, with scheduler statistics in /proc")
@pytest.mark.parametrize(
    ("benchmark", "more", "rows"),
    [
        ("flood", ["--only", "addresses", "bombs"], ["attack", "none", "addresses", "bombs"]),
        ("backup", ["--matches", "100"], ["backups by", "none", "command", "admin"]),
    ],
)
def test_a_quick_run_prints_a_row_for_each_kind(benchmark: str, more: list[str], rows: list[str]) -> None:
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", "--rounds", "1", "--seconds", "1", *more]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert run.returncode == 0, run.stderr
    printed = [line.split("|")[1].strip() for line in run.stdout.splitlines() if line.startswith("| ")]
    assert printed == rows


async def test_a_crowd_needs_more_descriptors_than_select_can_watch(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        program = (
            "import os, benchmarks.flood as flood; flood.raise_descriptor_limit();"
            f"taken = [os.dup(0) for _ in range(1_024)]; flood.crowd({server.port}, 2)"
        )
        crowd = await asyncio.create_subprocess_exec(sys.executable, "-c", program, cwd=ROOT, stdout=subprocess.PIPE)
        try:
            assert crowd.stdout is not None
            assert await asyncio.wait_for(crowd.stdout.readline(), PATIENCE_S) == b"here\n"
            assert len(server.connections) == 2
        finally:
            crowd.kill()
            await crowd.communicate()


def test_each_kind_of_request_has_its_row_of_costs() -> None:
    small = ["--people", "8", "--bots", "2", "--matches", "50"]
    command = [sys.executable, "-m", "benchmarks.requests", "--times", "2", *small]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert run.returncode == 0, run.stderr
    table = run.stdout.partition("\n\n")[0]
    printed = {line.split("|")[1].split(",")[0].strip() for line in table.splitlines() if line.startswith("| ")}
    kinds = {kind.__name__.removesuffix("Request").lower() for kind in get_args(AnyRequest)}
    assert printed == kinds | {"request", "no message"}
