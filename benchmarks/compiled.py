"""The textbook's search of Connect Four in C++, for comparison: compiled when asked for, if there is a compiler."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ttt_net.games.line import LineState
from ttt_net.strategies.compiled.connect4_solver import by_column
from ttt_net.strategies.heuristic import own_and_other

SOURCE = Path(__file__).with_name("connect4.cpp")


def solved_in_cpp(states: Sequence[LineState], seconds: float) -> list[tuple[int, int, float] | None] | None:
    """Return the score, nodes and milliseconds of each position, None for one that takes longer than so many seconds.

    Without a C++ compiler there is no list.
    """
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        program = str(Path(folder) / "connect4")
        subprocess.run([compiler, "-O3", "-o", program, str(SOURCE)], check=True)
        questions = "".join(question(state, seconds) for state in states)
        answers = subprocess.run([program], input=questions, capture_output=True, text=True, check=True).stdout
    return [read(line) for line in answers.splitlines()]


def question(state: LineState, seconds: float) -> str:
    """Return the line that asks for a position's score."""
    own, other = (int(by_column(np.uint64(cells))) for cells in own_and_other(state))
    return f"{own} {own | other} {seconds}\n"


def read(line: str) -> tuple[int, int, float] | None:
    """Return what a line of the program's answer says."""
    if line == "-":
        return None
    score, nodes, microseconds = line.split()
    return int(score), int(nodes), float(microseconds) / 1000
