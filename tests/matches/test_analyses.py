"""Lines of the processes that analyse, as clients are sent them."""

import datetime
import json

import msgspec
import pytest

from tests.strategies.oracle import Oracle
from ttt_net import messages as wire
from ttt_net.games import find_game
from ttt_net.games.puzzles import FIRST_DAY, studies
from ttt_net.matches import analyses
from ttt_net.matches.analyses import (
    MAX_BEST,
    JudgedMove,
    describe_study,
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
    monkeypatch.setattr(analyses, "find_spec", {"numba": found}.get)
    assert has_engine() == (found is not None)


STUDIES = studies()


def study_of(number: int | None, today: datetime.date = FIRST_DAY) -> wire.StudyReply:
    return describe_study(wire.StudyRequest(0, number), today)


def test_there_are_matches_of_every_game_that_the_engine_solves() -> None:
    assert {study.game for study in STUDIES} == {
        *("connect4", "vanishing", "tictactoe", "misere", "mnk:5x5,4", "wild"),
    }
    assert len({study.moves for study in STUDIES}) == len(STUDIES) >= 20


@pytest.mark.parametrize("number", range(len(STUDIES)))
def test_a_study_is_a_whole_match_that_the_guessed_side_played_without_a_mistake(number: int) -> None:
    told = study_of(number)
    study, names = STUDIES[number], told.snapshot.game.move_names
    assert told.snapshot.outcome is not None
    assert told.snapshot.outcome.winner in (told.side, None)
    assert [each.move for each in told.moves] == list(study.moves) == told.snapshot.moves
    assert [len(position.legal) > 0 for position in told.positions] == [True] * len(study.moves) + [False]
    decisions = 0
    for position, each in zip(told.positions, told.moves, strict=False):
        assert each.side == position.to_move
        assert each.move in position.legal
        legal = {names[move] for move in position.legal}
        assert set(each.keeping) < legal, "another move is known to give the result away"
        if each.side == told.side:
            assert not each.turning
            decisions += 0 < 2 * len(each.keeping) <= len(legal)
        assert each.turning == (bool(each.keeping) and names[each.move] not in each.keeping)
    assert decisions >= 2, "otherwise there is nothing to find"


@pytest.mark.parametrize("name", ["tictactoe", "misere", "wild"])
def test_the_moves_that_keep_the_result_are_those_that_all_play_confirms(name: str) -> None:
    game, oracle = find_game(name), Oracle(find_game(name))
    for study in (each for each in STUDIES if each.game == name):
        state = game.initial
        for move, keeping, value in zip(study.moves, study.keeping, study.values, strict=True):
            worth = {each: oracle.judge_move(state, each)[0] for each in game.actions(state)}
            right = {game.move_names[each] for each in worth if worth[each] == max(worth.values())}
            assert set(keeping) == (right if len(right) < len(worth) else set())
            assert value == (worth[move] > 0) - (worth[move] < 0)
            state = game.result(state, move)


def test_the_study_of_the_day_is_the_next_one_each_day_and_the_list_begins_again() -> None:
    assert study_of(None) == study_of(0) == study_of(len(STUDIES))
    assert study_of(None, FIRST_DAY + datetime.timedelta(days=1)) == study_of(1) != study_of(0)
    assert study_of(None, FIRST_DAY - datetime.timedelta(days=1)) == study_of(len(STUDIES) - 1)


def test_a_study_fits_into_a_small_message() -> None:
    assert max(len(msgspec.json.encode(study_of(number))) for number in range(len(STUDIES))) < 25_000
