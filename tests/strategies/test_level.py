import random
from typing import Any

import pytest

from tests.strategies.positions import board, line_game, random_state
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.level import Level, Levelled


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

    misses = [overlooked(level) for level in (1, 2, 3, 5, 7)]
    assert misses == sorted(misses, reverse=True)
    assert misses[0] > 60
    assert misses[-1] == 0


@pytest.mark.parametrize("level", [6, 7, 8])
def test_the_highest_levels_differ_at_tictactoe(level: int) -> None:
    """By the levels of large boards the higher of two won 2 to 4 of 100 games more than it lost."""
    game = line_game("tictactoe")
    stronger, weaker = (find_strategy("alphabeta", seed=each, level=each) for each in (level, level - 1))
    rng, balance = random.Random(level), 0
    for _ in range(150):
        opening = random_state(game, 2, rng)
        for side in (0, 1):
            state = opening
            while not game.is_terminal(state):
                player = stronger if game.to_move(state) == side else weaker
                state = game.result(state, player(game, state, Limit(nodes=2_000)).move)
            balance += game.utility(state, side)
    assert balance > 25, "of 300 games"


def test_a_level_looks_no_deeper_than_it_may(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=6)
    depths = {strategy(connect4, connect4.initial, Limit(ms=500)).counts.depth for _ in range(20)}
    assert max(depths) == 4


def test_a_tighter_limit_of_depth_holds_at_any_level(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=8)
    assert strategy(connect4, connect4.initial, Limit(depth=2)).counts.depth == 2


def test_a_far_corner_is_overlooked_and_a_near_threat_less_often() -> None:
    game = find_game("gomoku")
    near, far = (game.moves_by_name[name][0] for name in ("h8", "o15"))
    state = game.initial
    for name in ("i8", "h9", "j8", "h10", "k8", "h11", "l8", "a1"):
        state = game.result(state, game.moves_by_name[name][0])  # X wins with h8 and m8
    low = Level(1.0, 0.0, 0.0, 0.0, 1)
    chosen = {_levelled(low, seed)(game, state, Limit()).move for seed in range(60)}
    assert near in chosen
    assert far not in chosen, "nothing is there, and with no sight nobody looks"
    blind = sum(_levelled(low, seed)(game, state, Limit()).value is None for seed in range(60))
    assert 0 < blind < 60, "with the eye on a1 the win is overlooked"


def test_a_threat_in_view_is_answered_and_a_second_one_not_seen() -> None:
    game = find_game("connect:7x6,3")
    state = game.initial
    for column in ("4", "1", "5"):
        state = game.result(state, next(move for move in game.actions(state) if game.move_names[move] == column))
    wide = Level(1.0, 1.0, 1.0, 0.0, 1)  # X has two in the bottom row, open on both sides
    chosen = {_levelled(wide, seed)(game, state, Limit()).move for seed in range(40)}
    assert {game.move_names[move] for move in chosen} == {"3", "6"}, "it stops one of two"


def _levelled(level: Level, seed: int) -> Levelled:
    """Return a player at a level of its own kind."""
    player = Levelled(find_strategy("alphabeta"), 1, random.Random(seed))
    player.on_large = level
    return player
