"""`pytest --forks` reports what pytest reports, also of a process that crashes."""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent
CONFTEST = """
import os
import pytest

COLLECTED_BY = os.getpid()

@pytest.fixture(scope="session", autouse=True)
def session():
    yield
    with open("sessions", "a") as file:
        file.write(f"{COLLECTED_BY} {os.getpid()}\\n")
"""
TESTS = {
    "test_a.py": """
import os, pytest

def test_that_passes(tmp_path):
    assert not list(tmp_path.iterdir())

def test_that_fails():
    print("printed before")
    assert 1 + 1 == 3

@pytest.mark.skip(reason="for a reason")
def test_that_is_skipped():
    pass
""",
    "test_b.py": """
import os

def test_that_crashes():
    os.abort()

def test_in_a_crashed_file():
    pass
""",
    "test_c.py": """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_after_it(number):
    pass
""",
}


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in TESTS.items():
        (folder / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.forks", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def test_forks_report_passes_failures_skips_and_crashes(tmp_path: Path) -> None:
    told = run(tmp_path, "--forks", "2", "-ra")
    assert "2 failed, 4 passed, 1 skipped" in told.stdout, told
    assert "printed before" in told.stdout
    assert "assert (1 + 1) == 3" in told.stdout
    assert "SKIPPED [1] test_a.py:11: for a reason" in told.stdout
    assert "The process of this test was killed by SIGABRT; the rest of its file did not run." in told.stdout
    assert "FAILED test_b.py::test_that_crashes" in told.stdout
    assert told.returncode == 1
    for line in (tmp_path / "sessions").read_text().splitlines():
        collected_by, ended_by = line.split()
        assert collected_by != ended_by, "session fixtures live in the forks"


def test_forks_end_at_the_first_failure_if_asked(tmp_path: Path) -> None:
    told = run(tmp_path, "--forks", "1", "-x")
    assert "1 failed, 1 passed" in told.stdout, told
    assert told.returncode == 1
    assert (tmp_path / "sessions").read_text().count("\n") == 1, "it has ended its fixtures"
