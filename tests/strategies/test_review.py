from typing import Any

import pytest

from tests.strategies.positions import board
from ttt_net.games import Game
from ttt_net.strategies import Limit
from ttt_net.strategies.analysis import Analysis, Verdict, analyse
from ttt_net.strategies.review import Grade, grade_of, grade_of_drop, review
from ttt_net.strategies.strategy import WIN, Counts


def test_a_match_without_a_mistake_gave_away_nothing(tictactoe: Game[Any]) -> None:
    assert {each.lost for each in review(tictactoe, (4, 0, 8, 2, 1, 7, 3, 5, 6), Limit())} == {0}


def test_the_move_that_lost_a_drawn_game_is_found_with_the_moves_that_held(tictactoe: Game[Any]) -> None:
    reviewed = list(review(tictactoe, (4, 1, 0, 8, 6), Limit()))
    mistakes = {each.ply: each.lost for each in reviewed if each.lost}
    assert mistakes == {2: 1}
    assert reviewed[1].best == (0, 2, 6, 8)
    assert [each.was.result for each in reviewed] == [0, -1, 1, -1, 1]


def test_unproved_moves_are_no_turning_points(connect4: Game[Any]) -> None:
    assert {each.lost for each in review(connect4, (38, 31, 24), Limit(depth=2))} == {None}


@pytest.mark.parametrize(
    ("picture", "cell", "grade"),
    [
        (".../.X./...", 0, Grade.BEST),
        (".../.X./...", 1, Grade.BLUNDER),  # a draw is lost
        ("XO./.../...", 3, Grade.BEST),
        ("XO./.../...", 2, Grade.MISSED_WIN),
        (".X./O../...", 2, Grade.BLUNDER),  # a win is lost
        ("X../O../X..", 4, Grade.ONLY_MOVE),
        ("XOO/X../...", 6, Grade.BEST),
        ("XOO/X../...", 4, Grade.SLOWER_WIN),
        ("X.O/X../...", 6, Grade.BEST),
        ("X.O/X../...", 4, Grade.SOONER_LOSS),
        ("XOX/OXO/OX.", 8, Grade.FORCED),
    ],
)
def test_each_kind_of_move_has_its_grade(picture: str, cell: int, grade: Grade, tictactoe: Game[Any]) -> None:
    assert grade_of(analyse(tictactoe, board(picture), Limit()), cell) is grade


def test_no_grade_claims_more_than_is_proved() -> None:
    won, longer = Verdict(WIN - 9, exact=True, line=(0,)), Verdict(WIN - 11, exact=False, line=(1,))
    unknown, lost = Verdict(12, exact=False, line=(2,)), Verdict(4 - WIN, exact=False, line=(3,))
    found = Analysis(0, won._replace(exact=False), {0: won, 1: longer, 2: unknown, 3: lost}, Counts())
    assert [grade_of(found, move) for move in range(4)] == [Grade.GOOD, Grade.GOOD, None, Grade.BLUNDER]


@pytest.mark.parametrize(
    ("was", "could", "grade"),
    [
        (8 - WIN, -200, Grade.DOUBTFUL),  # what was better is thought to be nearly lost, too
        (8 - WIN, 20, Grade.MISTAKE),
        (200, WIN - 7, Grade.DOUBTFUL),
        (0, WIN - 7, Grade.MISTAKE),
        (10, 12, Grade.GOOD),
        (0, 30, Grade.DOUBTFUL),
    ],
)
def test_a_move_that_allowed_a_loss_or_missed_a_win_is_never_good(was: int, could: int, grade: Grade) -> None:
    verdicts = (Verdict(value, exact=False, line=(0,)) for value in (was, could))
    assert grade_of_drop(*verdicts) is grade
