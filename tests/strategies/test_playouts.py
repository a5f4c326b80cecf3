import random
from typing import Any

import pytest

from tests.strategies.positions import after_columns
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.strategy import Effort, is_decided, plies_to_end

pytest.importorskip("numba")


@pytest.fixture(scope="module", autouse=True)
def _loaded_before_any_clock_runs(connect4: Game[Any]) -> None:
    engine.playout_tree(connect4, 1, Effort(Limit()))


@pytest.mark.parametrize(("name", "value"), [("tictactoe3d", 1), ("mnk:6x4,3", 1), ("connect:6x3,3", 1)])
def test_a_small_game_is_solved_by_playouts(name: str, value: int) -> None:
    game = find_game(name)
    choice = find_strategy("mcts", seed=1)(game, game.initial, Limit())
    assert choice.value is not None
    assert is_decided(choice.value)
    assert (choice.value > 0) - (choice.value < 0) == value


def test_what_it_claims_of_late_positions_of_connect_four_is_true(connect4: LineGame) -> None:
    solver, rng, proved = Connect4Solver(), random.Random(4), 0
    for _ in range(100):
        state = connect4.initial
        while state.ply < 26 and not connect4.is_terminal(state):
            state = connect4.result(state, rng.choice(connect4.actions(state)))
        if connect4.is_terminal(state):
            continue
        choice = find_strategy("mcts", seed=2)(connect4, state, Limit(nodes=50_000))
        assert choice.value is not None
        if choice.exact or is_decided(choice.value):
            proved += 1
            score = solver.score(connect4, state, Effort(Limit()))
            kept = solver.score_of_move(connect4, state, choice.move, Effort(Limit()))
            assert (choice.value > 0) - (choice.value < 0) == (score > 0) - (score < 0) == (kept > 0) - (kept < 0)
    assert proved > 10


def test_the_tree_is_kept_so_a_solved_game_needs_no_more_playouts() -> None:
    game = find_game("tictactoe3d")
    strategy, rng, state = find_strategy("mcts", seed=1), random.Random(3), game.initial
    first = strategy(game, state, Limit())
    assert first.value is not None
    expected = plies_to_end(first.value)
    while True:
        choice = strategy(game, state, Limit(nodes=20_000))
        assert choice.value is not None
        assert is_decided(choice.value)
        assert plies_to_end(choice.value) <= expected
        state = game.result(state, choice.move)
        if game.is_terminal(state):
            break
        state = game.result(state, rng.choice(game.actions(state)))
        expected = plies_to_end(choice.value) - 2
    assert game.utility(state, 0) == 1


def test_it_takes_a_win_and_stops_one(connect4: Game[Any]) -> None:
    for columns, cell in (((1, 7, 1, 7, 1, 6), "1"), ((1, 7, 1, 7, 1), "1")):
        choice = find_strategy("mcts", seed=1)(connect4, after_columns(connect4, *columns), Limit(nodes=2_000))
        assert connect4.move_names[choice.move] == cell


def test_the_same_seed_and_as_many_playouts_make_the_same_choice() -> None:
    game = find_game("qubic")
    first, second = (find_strategy("mcts", seed=7)(game, game.initial, Limit(nodes=20_000)) for _ in range(2))
    assert first[:3] == second[:3]
    assert first.counts.nodes == 20_000


def test_another_game_or_a_new_one_begins_a_new_tree(connect4: Game[Any]) -> None:
    strategy, qubic = find_strategy("mcts", seed=1), find_game("qubic")
    for game in (connect4, qubic, connect4, connect4):
        choice = strategy(game, game.initial, Limit(nodes=3_000))
        assert choice.move in game.actions(game.initial)
