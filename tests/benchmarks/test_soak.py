"""A short soak: on links that break in every way, the server stays as it was, and nothing of anybody is left."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.meter import is_supported
from benchmarks.soak import FATES
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(not is_supported(), reason="needs Linux, with scheduler statistics in /proc")
@pytest.mark.parametrize(
    ("seconds", "link_s"), [("6", "1.2"), pytest.param("30", "4", marks=pytest.mark.long)], ids=["in short", "in full"]
)
def test_bots_on_bad_links_leave_nothing_behind(seconds: str, link_s: str) -> None:
    scale = ("--bots", "40", "--seconds", seconds, "--link", link_s, "--thought", "0.3")
    command = [sys.executable, "-m", "benchmarks.soak", *scale]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    assert all(f" {fate}" in run.stdout for fate in FATES), "each kind of break was met"
    assert "| afterwards |" in run.stdout
