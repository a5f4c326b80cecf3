"""The two scripts and the verbs, started by a Python that lacks what they need."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent
WAYS = {"server.py": ["server.py"], "client.py": ["client.py"], "ttt_net": ["-m", "ttt_net", "analyse"]}
"""The name of each program, and how it is started."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The scripts and the package in a folder of their own, as after a clone."""
    for script in ("server.py", "client.py"):
        shutil.copy(ROOT / script, tmp_path)
    shutil.copytree(ROOT / "ttt_net", tmp_path / "ttt_net", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def bare(checkout: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program with a Python that sees no installed packages."""
    command = [sys.executable, "-S", "-E", *WAYS[program], "--help"]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=checkout)


@pytest.mark.parametrize("program", WAYS)
def test_missing_tools_are_named_with_advice(checkout: Path, program: str) -> None:
    done = bare(checkout, program)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"{program}: No module named")
    assert "make install" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("program", WAYS)
def test_with_an_environment_beside_it_it_runs_by_that_one(checkout: Path, program: str) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = bare(checkout, program)
    assert done.returncode == 0
    assert program in done.stdout, "its own help"
    assert done.stderr == ""


HASTY = """
import runpy, sys

class Hasty:
    def find_spec(self, name, path=None, target=None):
        if name == interrupted:
            raise KeyboardInterrupt

del sys.argv[0]
interrupted = sys.argv.pop(0)
sys.modules.pop(interrupted, None)
sys.meta_path.insert(0, Hasty())
runpy.run_path(sys.argv[0], run_name="__main__") if sys.argv[0].endswith(".py") else runpy.run_module(
    sys.argv[0], run_name="__main__"
)
"""
"""Ctrl-C is pressed as a module is loaded."""


@pytest.mark.parametrize(
    ("module", "words", "code"),
    [
        ("ttt_net", ["client.py"], 130),
        ("pathlib", ["client.py"], 130),
        ("pathlib", ["server.py"], 130),
        ("ttt_net.games", ["client.py", "--local"], 0),
        ("ttt_net.games", ["server.py", "--port", "0"], 130),
        ("ttt_net.games", ["ttt_net", "analyse"], 130),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_interrupted_start_shows_no_traceback(module: str, words: list[str], code: int) -> None:
    command = [sys.executable, "-c", HASTY, module, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
