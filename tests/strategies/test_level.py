from typing import Any

import pytest

from tests.strategies.positions import board
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game
from ttt_net.strategies import Limit, find_strategy


def test_a_level_out_of_range_is_refused_with_the_range() -> None:
    for level in (0, 9):
        with pytest.raises(ConfigurationError, match=f"level {level} is out of range; 1 to 8"):
            find_strategy("alphabeta", level=level)


def test_level_8_is_the_strategy_as_it_is(tictactoe: Game[Any]) -> None:
    state = board("X../O../XOX")
    plain, levelled = (
        find_strategy("alphabeta", seed=1, level=level)(tictactoe, state, Limit()) for level in (None, 8)
    )
    assert plain[:3] == levelled[:3]


def test_the_lower_the_level_the_more_often_a_win_at_hand_is_overlooked(tictactoe: Game[Any]) -> None:
    def overlooked(level: int) -> int:
        strategy, state = find_strategy("alphabeta", seed=4, level=level), board("XX./OO./...")
        return sum(strategy(tictactoe, state, Limit()).move != 2 for _ in range(200))

    misses = [overlooked(level) for level in (1, 2, 3, 5)]
    assert misses == sorted(misses, reverse=True)
    assert misses[0] > 60
    assert misses[-1] == 0


def test_a_level_looks_no_deeper_than_it_may(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=6)
    depths = {strategy(connect4, connect4.initial, Limit(ms=500)).counts.depth for _ in range(20)}
    assert max(depths) == 4


def test_a_tighter_limit_of_depth_holds_at_any_level(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=8)
    assert strategy(connect4, connect4.initial, Limit(depth=2)).counts.depth == 2
