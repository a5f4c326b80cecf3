"""Puzzles have one solution, by looking at all play, and are the same for all who have the seed."""

import json
import random
from datetime import date, timedelta
from functools import cache
from itertools import islice

import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import board
from ttt_net.__main__ import main
from ttt_net.errors import ConfigurationError
from ttt_net.games import find_game
from ttt_net.games.line import LineState
from ttt_net.games.notation import read_move, read_start
from ttt_net.games.puzzles import FIRST_DAY, puzzle_count, puzzle_of
from ttt_net.laboratory import puzzle_maker
from ttt_net.laboratory.puzzle_maker import (
    LEAST_DECISIONS,
    StudyMade,
    daily_puzzles,
    is_won_by_threats,
    puzzle_by_threats,
    puzzle_in,
    puzzles,
    studies_made,
)
from ttt_net.strategies import Limit
from ttt_net.strategies.alphabeta import deepening
from ttt_net.strategies.analysis import Kept, analyse

DAYS = [FIRST_DAY + timedelta(days=number) for number in range(puzzle_count())]


@pytest.mark.parametrize("name", ["tictactoe", "misere", "wild"])
def test_each_puzzle_has_one_solution(name: str) -> None:
    game = find_game(name)
    oracle = Oracle(game)
    found = list(islice(puzzles([game], 3), 25))
    assert len({puzzle.state for puzzle in found}) == 25
    for puzzle in found:
        worth = {move: oracle.judge_move(puzzle.state, move)[0] for move in game.actions(puzzle.state)}
        best = max(worth.values())
        assert (best > 0) == puzzle.is_win
        enough = [move for move, value in worth.items() if (value > 0 if puzzle.is_win else value >= 0)]
        assert enough == [puzzle.solution]
    assert {puzzle.is_win for puzzle in found} == {True, False}
    assert len({puzzle.grade for puzzle in found}) > 1


def test_the_same_seed_gives_the_same_puzzles_and_another_others() -> None:
    game = find_game("tictactoe")
    first, again, other = ([each.as_json() for each in islice(puzzles([game], seed), 6)] for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("picture", "solution", "kind", "grade", "why"),
    [
        ("OO./.X./..X", None, None, None, None),  # a block that also wins
        ("X../.O./..X", None, None, None, None),  # four moves hold the draw
        ("X.X/.O./...", 1, "save", 1, "You have to play b3: they have two in one line."),
        ("XX./OO./X..", 5, "win", 1, "You can win at once with c2."),
    ],
)
def test_a_position_is_a_puzzle_if_one_move_is_enough(
    picture: str, solution: int | None, kind: str | None, grade: int | None, why: str | None
) -> None:
    found = puzzle_in(find_game("tictactoe"), board(picture))
    if solution is None:
        assert found is None
        return
    assert found is not None
    told = found.as_json()
    assert (found.solution, told["kind"], found.grade, found.why.in_words()) == (solution, kind, grade, why)


def test_in_misere_a_win_that_only_the_solution_stops_is_one_after_every_other_move() -> None:
    game, checked = find_game("misere"), 0
    oracle = Oracle(game)
    for puzzle in map(puzzle_of, DAYS):
        if puzzle.game != "misere" or puzzle.explanation["kind"] != "must_block":
            continue
        state, checked = read_start(game, puzzle.position), checked + 1
        (win,) = (game.move_names.index(name) for name in puzzle.explanation["theirs"])
        for move in set(game.actions(state)) - {puzzle.solution}:
            after = game.result(state, move)
            if move == win or game.is_terminal(after):
                assert oracle.judge_move(state, move)[0] < 0
            else:
                assert oracle.judge_move(after, win)[0] > 0
    assert checked > 50


def test_a_win_that_only_the_solution_stops_is_one_after_every_other_move() -> None:
    pytest.importorskip("numba")
    checked = dict.fromkeys(("connect4", "mnk:5x5,4", "vanishing"), 0)
    for puzzle in map(puzzle_of, DAYS):
        why = puzzle.explanation
        if checked.get(puzzle.game, 5) == 5 or why["kind"] != "must_block" or "row" in why:
            continue
        game, kept = find_game(puzzle.game), Kept(line_plies=0)
        state, checked[puzzle.game] = read_start(game, puzzle.position), checked[puzzle.game] + 1
        (win,) = (read_move(game, state, name) for name in why["theirs"])
        for move in set(game.actions(state)) - {puzzle.solution}:
            found = analyse(game, game.result(state, move), Limit(), kept)
            assert found.verdict.result == 1
            assert move == win or found.moves[win].result == 1, puzzle.why
    assert set(checked.values()) == {5}


def test_a_save_names_the_win_that_it_alone_stops() -> None:
    found = puzzle_in(find_game("misere"), board("X.O/.../..."))
    assert found is not None
    assert found.why.in_words() == "You have to play b3: they have a win with b3."
    found = puzzle_in(find_game("misere"), board(".XO/.../..."))
    assert found is not None
    told = "a3 holds the draw; after every other move you run out of safe moves and must complete a line."
    assert found.why.in_words() == told


def test_a_win_has_its_proved_length_where_the_first_search_has_only_a_bound() -> None:
    pytest.importorskip("numba")
    game = find_game("connect4")
    found = puzzle_in(game, read_start(game, "......./......./.X...../.O.X.O./.X.OOX./XO.XOXO"))
    assert found is not None
    assert (found.plies, len(found.line)) == (25, 24)
    assert found.why.in_words() == "Play column 4: you reach two threats at once with column 3."


@pytest.mark.parametrize("name", ["gomoku", "qubic", "scorefour"])
def test_a_puzzle_of_threats_wins_against_every_reply_and_all_else_loses(name: str) -> None:
    pytest.importorskip("numba")
    found = next(each for each in map(puzzle_of, DAYS) if each.game == name and each.plies < 10)
    game = find_game(name)
    state = read_start(game, found.position)
    assert isinstance(state, LineState)
    assert is_won_by_threats(game)
    made = puzzle_by_threats(game, state)
    assert made is not None
    assert (made.solution, made.plies) == (found.solution, found.plies)
    search = deepening(game, Limit(), random.Random(1)).search
    with search.running():
        for move in game.actions(state):
            after = game.result(state, move)
            replies = [game.result(after, reply) for reply in game.actions(after)]
            if move == found.solution:
                assert not any(map(game.is_terminal, replies))
                assert all(map(search.forced_win, replies))
            else:
                assert any(map(game.is_terminal, replies)) or search.forced_win(after)


def test_puzzles_of_the_day_rise_through_the_week_and_change_the_game() -> None:
    sunday = date(2026, 11, 22)
    hard, easy = daily_puzzles(sunday, 2, seed=2)
    assert (hard.grade, easy.grade) == (5, 2)
    assert (hard.game.name, easy.game.name) == ("connect4", "tictactoe"), "it would be the turn of connect4 again"


def test_puzzles_are_printed_one_a_line_or_as_boards(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["puzzles", "--count", "3", "--seed", "4", "--game", "tictactoe"]
    assert main([*asked, "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(told) == 3
    assert all(set(each) >= {"game", "position", "to_move", "solution", "why"} for each in told)
    assert main(asked) == 0
    shown = capsys.readouterr().out
    assert shown.count("Tic-tac-toe, ") == 3
    assert told[0]["why"] not in shown
    assert main([*asked, "--solution"]) == 0
    assert told[0]["why"] in capsys.readouterr().out


def test_without_a_seed_the_date_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["puzzles", "--game", "tictactoe", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "tictactoe"


@cache
def study(seed: int) -> StudyMade:
    return next(studies_made(seed, "tictactoe"))


def test_other_seeds_give_other_matches_in_which_the_guessed_side_gives_nothing_away() -> None:
    first = study(1)
    assert first.as_json() != study(2).as_json()
    assert first.decisions >= LEAST_DECISIONS
    game, state = find_game("tictactoe"), find_game("tictactoe").initial
    for each in first.reviewed:
        assert each.side != first.side or not each.keeping or each.move in each.keeping
        state = game.result(state, each.move)
    assert game.is_terminal(state)
    assert first.as_json()["players"] == (["Sophia", "Viktor"] if first.side == 0 else ["Viktor", "Sophia"])


def test_a_game_without_another_match_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(puzzle_maker, "LEAST_DECISIONS", 99)
    monkeypatch.setattr(puzzle_maker, "MOST_BATCHES", 1)
    monkeypatch.setattr(puzzle_maker, "BATCH", 2)
    with pytest.raises(ConfigurationError, match="no more matches"):
        next(studies_made(1, "tictactoe misere"))


def test_the_same_seed_gives_the_same_matches_which_are_printed_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(puzzle_maker, "STUDY_ROTA", "tictactoe")
    assert main(["puzzles", "--matches", "--seed", "1"]) == 0
    (told,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert told == study(1).as_json()
    assert len(told["values"]) == len(told["keeping"]) == len(told["moves"].split())
