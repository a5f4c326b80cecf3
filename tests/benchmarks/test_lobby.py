"""That the benchmark of the lobby works; never how fast anything is."""

import subprocess
import sys
from pathlib import Path

from benchmarks.lobby import rush
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent


def test_a_quick_run_prints_a_row_for_each_number_of_players() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.lobby", "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S,
    )
    assert run.returncode == 0, run.stderr
    rows = [line for line in run.stdout.splitlines() if line.startswith("|")]
    assert [row.split("|")[1].strip() for row in rows if "000" in row] == ["1,000", "5,000"] * 2
    assert "times the cost; log n: 1.23 times" in run.stdout


def test_in_a_rush_everybody_is_paired_with_somebody_of_similar_strength() -> None:
    p99_s, longest_s, apart, _ = rush(500)
    assert p99_s <= 1
    assert longest_s <= 8
    assert apart <= 200
