"""The puzzle of a day: the same for everybody, answered without anything being kept."""

import datetime

import pytest

from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.notation import read_start
from ttt_net.games.puzzles import FIRST_DAY, puzzle_count, puzzle_of
from ttt_net.matches.daily import describe_puzzle, today
from ttt_net.messages import PuzzleRequest

NOW = datetime.date(2026, 11, 22)
DAYS = [FIRST_DAY + datetime.timedelta(days=number) for number in range(puzzle_count())]


def test_every_puzzle_can_be_read_and_its_solution_played() -> None:
    seen = set()
    for day in DAYS:
        puzzle = puzzle_of(day)
        game = find_game(puzzle.game)
        state = read_start(game, puzzle.position)
        assert puzzle.solution in game.actions(state)
        assert len(game.actions(state)) > 1
        assert puzzle.why.endswith(".")
        seen.add((puzzle.game, puzzle.position))
    assert len(seen) == len(DAYS) >= 365, "a year without the same one again"
    assert {game for game, _ in seen} == {"connect4", "tictactoe", "mnk:5x5,4"}


def test_after_the_last_they_begin_again_and_before_the_first_there_are_some() -> None:
    assert puzzle_of(DAYS[-1] + datetime.timedelta(days=1)) == puzzle_of(FIRST_DAY)
    assert puzzle_of(FIRST_DAY - datetime.timedelta(days=1)) == puzzle_of(DAYS[-1])


def test_the_solution_is_told_to_one_who_found_it_or_gives_up() -> None:
    puzzle = puzzle_of(NOW)
    asked = describe_puzzle(PuzzleRequest(1), NOW)
    assert (asked.day, asked.right, asked.solution, asked.text) == ("2026-11-22", None, None, "")
    assert asked.position.to_move is not None
    wrong = next(move for move in asked.position.legal if move != puzzle.solution)
    told = describe_puzzle(PuzzleRequest(1, move=wrong), NOW)
    assert (told.move, told.right, told.solution) == (wrong, False, None)
    assert told.text.endswith("Try another move.")
    told = describe_puzzle(PuzzleRequest(1, move=puzzle.solution), NOW)
    assert (told.right, told.solution, told.text) == (True, puzzle.solution, puzzle.why)
    told = describe_puzzle(PuzzleRequest(1, reveal=True), NOW)
    assert (told.right, told.solution, told.text) == (None, puzzle.solution, puzzle.why)
    assert told.why is not None
    assert told.why.kind == puzzle.explanation["kind"]
    assert asked.why is None


@pytest.mark.parametrize(
    ("day", "says"), [("2026-11-23", "has not come yet"), ("tomorrow", "is no day"), ("", "is no day")]
)
def test_what_is_no_day_or_has_not_come_is_refused(day: str, says: str) -> None:
    with pytest.raises(Refusal, match=says) as refused:
        describe_puzzle(PuzzleRequest(1, day=day), NOW)
    assert refused.value.code == "no_puzzle"


def test_an_illegal_answer_is_refused() -> None:
    with pytest.raises(Refusal):
        describe_puzzle(PuzzleRequest(1, day="2026-01-01", move=99_999), NOW)


def test_the_day_is_that_of_utc() -> None:
    assert today(1_795_305_599_000).isoformat() == "2026-11-21"
    assert today(1_795_305_600_000).isoformat() == "2026-11-22"
