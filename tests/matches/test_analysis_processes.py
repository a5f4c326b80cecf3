"""Lines of the processes that analyse, as clients are sent them."""

import json

import msgspec
import pytest

from ttt_net import messages as wire
from ttt_net.matches import analysis_processes
from ttt_net.matches.analysis_processes import (
    MAX_BEST,
    JudgedMove,
    described,
    has_engine,
    hint_question,
    lesson_question,
    read_line,
)
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide
from ttt_net.messages import HintRequest, MatchLesson


@pytest.mark.parametrize(
    ("value", "estimate", "told"),
    [
        (None, None, (0, None)),
        (1, None, (1, None)),
        (-1, 300, (-1, None)),
        (0, 300, (0, None)),
        (None, 0, (0, 0.0)),
        (None, 50, (0, 0.5)),
        (None, -150, (0, -0.75)),
        (None, 1, (0, 0.02)),
    ],
)
def test_an_estimate_becomes_a_score_unless_the_value_is_proved(
    value: int | None, estimate: int | None, told: tuple[int, float | None]
) -> None:
    move = described(JudgedMove(ply=1, side=0, move=4, best=["a1"], value=value, estimate=estimate))
    assert (move.value, move.score) == told


@pytest.mark.parametrize("count", [0, MAX_BEST - 1, MAX_BEST, MAX_BEST + 1])
def test_a_few_best_moves_are_named_and_the_others_counted(count: int) -> None:
    best = [str(number) for number in range(count)]
    move = described(JudgedMove(ply=1, side=0, move=4, best=best, value=None))
    assert (move.best, move.more) == (best[:MAX_BEST], max(0, count - MAX_BEST))


@pytest.mark.parametrize(("lost", "is_turning"), [(None, False), (0, False), (1, True)])
def test_a_move_that_gave_something_away_is_a_turning_point(lost: int | None, *, is_turning: bool) -> None:
    assert described(JudgedMove(ply=1, side=0, move=4, best=[], value=0, lost=lost)).turning is is_turning


def test_a_line_is_a_move_or_the_lesson() -> None:
    move = JudgedMove(ply=1, side=0, move=4, best=["a1"], value=0)
    lesson = MatchLesson(3, 0, ["a1"], "text")
    lines = [json.dumps(msgspec.to_builtins(each)).encode() for each in (move, lesson)]
    assert [read_line(line) for line in lines] == [move, lesson]
    with pytest.raises(msgspec.MsgspecError):
        read_line(b"warming up")


def test_the_coach_is_asked_about_the_moves_so_far_and_about_a_record() -> None:
    players = (wire.PlayerInfo("Ann"), wire.PlayerInfo("Bob"))
    match = Match(wire.Started("m", 1, 0, "connect4", players))
    for ply, move in enumerate([38, 31]):
        for event in decide(match, ply % 2, wire.PlayRequest(1, "m", ply, move), 0):
            match.evolve(event)
    assert hint_question(match, 1, HintRequest(1, "m", "warning"), 50) == {
        "kind": "warning", "game": "connect4", "start": None, "moves": [38, 31], "side": 1, "ms": 50,
    }  # fmt: skip
    assert lesson_question("record", 70) == {"kind": "lesson", "record": "record", "ms": 70}


@pytest.mark.parametrize("found", [None, "numba"])
def test_an_engine_exists_where_its_compiler_is_installed(found: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_processes, "find_spec", {"numba": found}.get)
    assert has_engine() == (found is not None)
