"""That the benchmark of the server works and checks what it hears; never how fast anything is."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.load import GAME, SCRIPTS
from benchmarks.meter import is_supported
from tests.patience import PATIENCE_S
from ttt_net.games import find_game

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("moves", "winner"), SCRIPTS)
def test_a_script_ends_with_its_last_move_and_its_stated_result(moves: tuple[int, ...], winner: int | None) -> None:
    game = find_game(GAME)
    state = game.initial
    for move in moves:
        assert game.outcome(state) is None
        state = game.result(state, move)
    outcome = game.outcome(state)
    assert outcome is not None
    assert outcome.winner == winner


@pytest.mark.long
@pytest.mark.skipif(not is_supported(), reason="needs Linux, with scheduler statistics in /proc")
def test_a_quick_run_prints_a_row_for_each_server_and_the_ratios() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.server", "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S,
    )
    assert run.returncode == 0, run.stderr
    assert "|           ttt_net |" in run.stdout
    assert "|     relay to both |" in run.stdout
    assert "| relay to opponent |" in run.stdout
    assert "ttt_net / relay to both: " in run.stdout
    assert "ttt_net / relay to opponent: " in run.stdout
