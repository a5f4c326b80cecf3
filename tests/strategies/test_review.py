from typing import Any

from ttt_net.games import Game
from ttt_net.strategies import Limit
from ttt_net.strategies.review import review


def test_a_match_without_a_mistake_gave_away_nothing(tictactoe: Game[Any]) -> None:
    assert {each.lost for each in review(tictactoe, (4, 0, 8, 2, 1, 7, 3, 5, 6), Limit())} == {0}


def test_the_move_that_lost_a_drawn_game_is_found_with_what_held(tictactoe: Game[Any]) -> None:
    reviewed = list(review(tictactoe, (4, 1, 0, 8, 6), Limit()))
    mistakes = {each.ply: each.lost for each in reviewed if each.lost}
    assert mistakes == {2: 1}
    assert reviewed[1].best == (0, 2, 6, 8)
    assert [each.was.result for each in reviewed] == [0, -1, 1, -1, 1]


def test_what_was_not_proved_is_no_turning_point(connect4: Game[Any]) -> None:
    assert {each.lost for each in review(connect4, (38, 31, 24), Limit(depth=2))} == {None}
