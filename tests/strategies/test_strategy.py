import pickle
import random
from typing import Any

import pytest

from tests.strategies.positions import after
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.games import Game, find_game
from ttt_net.strategies import NAMES, Limit, find_strategy
from ttt_net.strategies.strategy import WIN, is_decided, plies_to_end


def test_a_decided_value_contains_its_plies() -> None:
    assert (is_decided(WIN - 5), plies_to_end(WIN - 5)) == (True, 5)
    assert (is_decided(4 - WIN), plies_to_end(4 - WIN)) == (True, 4)
    assert not is_decided(0)
    assert not is_decided(50_000)


def test_an_unknown_strategy_is_rejected_with_a_list_of_all() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown strategy 'genius'; there are: .*alphabeta"):
        find_strategy("genius")


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_game_has_no_move_to_choose(name: str, tictactoe: Game[Any]) -> None:
    with pytest.raises(Refusal, match="the game is over") as refused:
        find_strategy(name)(tictactoe, after(tictactoe, 0, 3, 1, 4, 2))
    assert refused.value.code is Code.MATCH_OVER


@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_can_be_sent_to_a_worker_process_and_says_how_it_thinks(name: str) -> None:
    strategy = pickle.loads(pickle.dumps(find_strategy(name, seed=1)))
    assert strategy.name == name
    assert strategy.idea


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_plays_the_same_game(name: str, tictactoe: Game[Any]) -> None:
    def played(seed: int) -> list[int]:
        strategy, state, moves = find_strategy(name, seed=seed), tictactoe.initial, []
        while not tictactoe.is_terminal(state):
            moves.append(strategy(tictactoe, state, Limit(nodes=1_000)).move)
            state = tictactoe.result(state, moves[-1])
        return moves

    assert played(3) == played(3)


def test_random_moves_reach_every_legal_move(tictactoe: Game[Any]) -> None:
    strategy, state = find_strategy("random", seed=5), after(tictactoe, 4, 0)
    assert {strategy(tictactoe, state).move for _ in range(200)} == set(tictactoe.actions(state))


def test_alphabeta_keeps_its_limits_of_nodes_and_of_depth(too_large: Game[Any]) -> None:
    assert find_strategy("alphabeta")(too_large, too_large.initial, Limit(nodes=1000)).counts.nodes == 1000
    assert find_strategy("alphabeta")(too_large, too_large.initial, Limit(depth=3)).counts.depth == 3


def test_alphabeta_has_a_legal_move_even_without_any_time(too_large: Game[Any]) -> None:
    choice = find_strategy("alphabeta")(too_large, too_large.initial, Limit(ms=0))
    assert choice.move in too_large.actions(too_large.initial)
    assert choice.counts.nodes == 0


@pytest.mark.parametrize("seed", range(3))
def test_alphabeta_plays_any_game_without_knowing_it(seed: int) -> None:
    rng = random.Random(seed)
    for name in ("tictactoe", "connect4", "mnk:7x7,4", "mnk:19x19,5", "mnk:1x1,1"):
        game = find_game(name)
        choice = find_strategy("alphabeta", seed=rng.randrange(100))(game, game.initial, Limit(nodes=1_000))
        assert choice.move in game.actions(game.initial)
        assert choice.line[0] == choice.move
