"""A short soak: on links that break in every way, the server stays as it was, and nothing of anybody is left."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bad_link import FATES
from benchmarks.meter import is_supported
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(not is_supported(), reason="needs Linux, with scheduler statistics in /proc")
def test_bots_on_bad_links_leave_nothing_behind() -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.soak",
        "--bots",
        "40",
        "--seconds",
        "20",
        "--link",
        "4",
        "--thought",
        "0.3",
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout + run.stderr
    assert all(f" {fate}" in run.stdout for fate in FATES), "each kind of break was met"
    assert "| afterwards |" in run.stdout
