"""Matches against Gomocup brains end whatever the brain does, and a forfeited game does not count."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.balanced_openings import GAME, Brain
from benchmarks.brains import Played, openings, play, summary

BRAIN = """
import os, sys, time
marks = 0
for line in sys.stdin:
    marks = -1 if line.startswith("BOARD") else marks + 1
    if line.startswith("DONE"):
        {answer}
"""
"""A brain with code that answers each board, where `marks` is the number of marks on it."""

PATIENT_S = 600.0
BUILDS_A_ROW = "print('Eval 7'); print(f'{(marks - 5) // 2},14', flush=True)"


@pytest.fixture
def brain(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Brain]:
    """Yield a brain with the parameter's code, which is killed after the parameter's seconds."""
    answer, patience_s = request.param
    script = tmp_path / "brain.py"
    script.write_text(BRAIN.format(answer=answer))
    brain = Brain(shlex.join([sys.executable, str(script)]), 100, patience_s)
    yield brain
    brain.end()


def played(brain: Brain, side: int) -> Played:
    """Play from an opening of five marks, with us filling the board from its first cell on."""
    return play(lambda state: min(GAME.actions(state)), brain, next(openings()), side)


@pytest.mark.parametrize("brain", [(BUILDS_A_ROW, PATIENT_S)], indirect=True)
def test_the_side_that_is_first_to_complete_a_row_wins(brain: Brain) -> None:
    theirs, ours = played(brain, 0), played(brain, 1)
    assert (theirs.utility, len(theirs.moves), theirs.ours, theirs.theirs) == (-1, 14, 4, 5)
    assert (ours.utility, len(ours.moves), ours.ours, ours.theirs) == (1, 14, 5, 4)
    assert brain.value(theirs.moves[:5]) == 7
    assert brain.cpu_seconds() >= 0


@pytest.mark.parametrize(
    ("brain", "why"),
    [
        (("time.sleep(3600)", 0.5), "sent no move within 0.5 s"),
        (("os.close(1); time.sleep(3600)", 0.5), "sent no move within 0.5 s"),
        (("sys.exit(3)", PATIENT_S), "ended with status 3"),
        (("print('5,5', flush=True)", PATIENT_S), "sent an illegal move"),
        (("print('15,3', flush=True)", PATIENT_S), "sent an illegal move"),
    ],
    indirect=["brain"],
)
def test_a_brain_that_sends_no_legal_move_forfeits(brain: Brain, why: str) -> None:
    forfeited = played(brain, 0)
    assert forfeited.forfeit == why
    assert forfeited.utility == 0


def test_forfeits_are_named_before_the_score_and_left_out_of_it() -> None:
    lost = Played(0, (), 3, 2, forfeit="ended with status 3")
    games = [Played(1, (), 5, 4), lost, Played(-1, (), 4, 5), lost, Played(0, (), 5, 5)]
    first, last = summary(games)
    assert first == "2 games left out: the brain ended with status 3"
    assert last.startswith("won 1, drawn 1, lost 1: +0 Elo (95 %: -")
    assert summary([lost])[-1] == "won 0, drawn 0, lost 0: unknown Elo (95 %: unknown to unknown)"
