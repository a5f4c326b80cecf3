import random
from itertools import pairwise
from typing import Any

import pytest

from tests.strategies.child import Child
from tests.strategies.positions import board, line_game, random_state
from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.level import ELO, LEVELS, SKILLS, level_of

FEW = Limit(nodes=300)


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
        return sum(strategy(tictactoe, state, Limit()).move != 2 for _ in range(400))

    misses = [overlooked(level) for level in (1, 3, 5, 8)]
    assert misses == sorted(misses, reverse=True)
    assert misses[0] > 100
    assert misses[-1] == 0


@pytest.mark.parametrize("level", [6, 7, 8])
def test_the_highest_levels_differ_at_tictactoe(level: int) -> None:
    game = line_game("tictactoe")
    stronger, weaker = (find_strategy("alphabeta", seed=each, level=each) for each in (level, level - 1))
    rng, balance = random.Random(level), 0
    for _ in range(200):
        opening = random_state(game, 2, rng)
        for side in (0, 1):
            state = opening
            while not game.is_terminal(state):
                player = stronger if game.to_move(state) == side else weaker
                state = game.result(state, player(game, state, Limit(nodes=2_000)).move)
            balance += game.utility(state, side)
    assert balance > 20, "of 400 games"


@pytest.mark.parametrize("name", NAMES)
def test_level_1_loses_to_no_careless_child(name: str) -> None:
    """A match of 60 games; of 30 in games of many moves. Chance alone would let an equal player pass half the time."""
    game, points = find_game(name), 0
    games = 60 if len(game.move_cells) < 60 else 30
    rng = random.Random(1)
    mia, child = find_strategy("alphabeta", seed=2, level=1), Child(rng)
    for number in range(games):
        state = game.initial
        while not game.is_terminal(state):
            is_mias_turn = game.to_move(state) == number % 2
            move = mia(game, state, FEW).move if is_mias_turn else child(game, state)
            state = game.result(state, move)
        points += game.utility(state, number % 2)
    assert points >= 0


def test_each_game_has_skills_that_rise_to_the_strategy_itself_and_measured_steps() -> None:
    assert set(NAMES) <= set(SKILLS)
    for name, skills in SKILLS.items():
        assert len(skills) == len(LEVELS), name
        assert all(one < two for one, two in pairwise(skills)), name
        assert skills[-1] == 1
    assert set(ELO) == set(NAMES)
    for name, elo in ELO.items():
        assert elo[0] == 0, name
        assert all(one < two for one, two in pairwise(elo)), name


def test_a_level_looks_no_deeper_than_it_may(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=6)
    depths = {strategy(connect4, connect4.initial, Limit(ms=500)).counts.depth for _ in range(30)}
    assert max(depths) == level_of(SKILLS["connect4"][5]).depth


def test_a_tighter_limit_of_depth_holds_at_any_level(connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta", seed=2, level=8)
    assert strategy(connect4, connect4.initial, Limit(depth=2)).counts.depth == 2
