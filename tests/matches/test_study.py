"""Matches of strong bots for guessing moves: every judgement is true, and clients get all that they need."""

import datetime

import msgspec
import pytest

from tests.strategies.oracle import Oracle
from ttt_net import messages as wire
from ttt_net.games import find_game
from ttt_net.games.puzzles import FIRST_DAY, studies
from ttt_net.matches.study import describe_study

STUDIES = studies()


def described(number: int | None, today: datetime.date = FIRST_DAY) -> wire.StudyReply:
    return describe_study(wire.StudyRequest(0, number), today)


def test_there_are_matches_of_every_game_that_the_engine_solves() -> None:
    assert {study.game for study in STUDIES} == {
        *("connect4", "vanishing", "tictactoe", "misere", "mnk:5x5,4", "wild"),
    }
    assert len({study.moves for study in STUDIES}) == len(STUDIES) >= 20


@pytest.mark.parametrize("number", range(len(STUDIES)))
def test_a_study_is_a_whole_match_that_the_guessed_side_played_without_a_mistake(number: int) -> None:
    told = described(number)
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
    assert described(None) == described(0) == described(len(STUDIES))
    assert described(None, FIRST_DAY + datetime.timedelta(days=1)) == described(1) != described(0)
    assert described(None, FIRST_DAY - datetime.timedelta(days=1)) == described(len(STUDIES) - 1)


def test_a_study_fits_into_a_small_message() -> None:
    assert max(len(msgspec.json.encode(described(number))) for number in range(len(STUDIES))) < 25_000
