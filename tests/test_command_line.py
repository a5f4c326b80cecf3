"""Printed commands work where they are printed: in a clone, and where the command is installed."""

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from ttt_net import command_line

ROOT = Path(__file__).parent.parent
GREETING = """
from pathlib import Path
from ttt_net.server.announcing import ServerAddress, greeting
print(*greeting(ServerAddress("test", "127.0.0.1", 7001, Path("data"))), sep="\\n")
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package without the scripts, as among the packages of a Python."""
    (tmp_path / "ttt_net").symlink_to(ROOT / "ttt_net")
    return tmp_path


def said(folder: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True, cwd=folder).stdout


def test_in_a_clone_the_scripts_are_named() -> None:
    assert (command_line.PLAY, command_line.SERVE, command_line.VERBS) == (
        "python client.py",
        "python server.py",
        "python -m ttt_net",
    )


def test_where_it_is_installed_the_command_is_named(installed: Path) -> None:
    assert "ttt_net" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert "\njoin with: ttt_net play 127.0.0.1:7001\n" in said(installed, "-c", GREETING)
    help_of_client = said(installed, "-m", "ttt_net", "play", "--help")
    assert "\n  ttt_net play ADDRESS --invite " in help_of_client
    assert all(len(line) < 80 for line in help_of_client.splitlines())
    assert said(installed, "-m", "ttt_net", "serve", "--help").startswith("usage: ttt_net serve [check]")
    assert said(installed, "-m", "ttt_net", "--help").startswith("usage: ttt_net ")


HASTY = """
import os, signal
from ttt_net.bootstrap import quick_to_end

signal.signal(signal.SIGINT, signal.SIG_IGN if {is_background} else signal.default_int_handler)
with quick_to_end():
    os.kill(os.getpid(), signal.SIGINT)
print("goes on", signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
"""
"""A program that is interrupted as it loads."""


@pytest.mark.parametrize(("is_background", "code", "said"), [(False, -signal.SIGINT, ""), (True, 0, "goes on True\n")])
def test_an_interrupt_ends_a_program_that_loads_unless_it_ignores_them(
    is_background: bool, code: int, said: str
) -> None:
    command = [sys.executable, "-c", HASTY.format(is_background=is_background)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (code, said, "")
