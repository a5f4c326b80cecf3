"""Matches for guessing moves follow from a seed, and the guessed side finds what it has to."""

import json

import pytest

from ttt_net.__main__ import main
from ttt_net.errors import ConfigurationError
from ttt_net.games import find_game
from ttt_net.laboratory import study_maker
from ttt_net.laboratory.study_maker import LEAST_DECISIONS, studies_made


def test_the_same_seed_gives_the_same_matches_in_which_the_guessed_side_gives_nothing_away() -> None:
    first, again, other = (next(studies_made(seed, "tictactoe")) for seed in (1, 1, 2))
    assert first.as_json() == again.as_json() != other.as_json()
    assert first.decisions >= LEAST_DECISIONS
    game, state = find_game("tictactoe"), find_game("tictactoe").initial
    for each in first.reviewed:
        assert each.side != first.side or not each.keeping or each.move in each.keeping
        state = game.result(state, each.move)
    assert game.is_terminal(state)
    assert first.as_json()["players"] == (["Sophia", "Viktor"] if first.side == 0 else ["Viktor", "Sophia"])


def test_a_game_without_another_match_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_maker, "LEAST_DECISIONS", 99)
    monkeypatch.setattr(study_maker, "MOST_BATCHES", 1)
    monkeypatch.setattr(study_maker, "BATCH", 2)
    with pytest.raises(ConfigurationError, match="no more matches"):
        next(studies_made(1, "tictactoe misere"))


def test_matches_are_printed_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(study_maker, "ROTA", "tictactoe")
    assert main(["puzzles", "--matches", "--seed", "1"]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told == next(studies_made(1, "tictactoe")).as_json()
    assert len(told["values"]) == len(told["keeping"]) == len(told["moves"].split())
