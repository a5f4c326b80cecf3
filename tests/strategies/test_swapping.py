from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from ttt_net.games import find_game
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.analysis import analyse
from ttt_net.strategies.strategy import WIN


@pytest.mark.parametrize("name", ["mnk:3x3,3+swap", "connect:5x3,3+swap", "mnk:2x2,2+swap"])
def test_the_first_move_is_taken_over_where_it_wins(name: str) -> None:
    game: Any = find_game(name)
    oracle, swaps = Oracle(game), set()
    for move in game.actions(game.initial):
        state = game.result(game.initial, move)
        value, plies = oracle.judge(state)
        choice = find_strategy("alphabeta", seed=1)(game, state, Limit())
        assert (choice.value, choice.exact) == (value * (WIN - plies), True)
        assert oracle.judge_move(state, choice.move) == oracle.judge(state) or value == 0
        swaps.add(choice.move == game.swap)
        analysis = analyse(game, state, Limit())
        assert (analysis.side, analysis.verdict.value) == (1, choice.value)
        for each, verdict in analysis.moves.items():
            value, plies = oracle.judge_move(state, each)
            assert (verdict.result, verdict.plies, verdict.exact) == (value, plies if value else None, True)
    assert swaps == {"mnk:3x3,3+swap": {False}, "connect:5x3,3+swap": {True, False}, "mnk:2x2,2+swap": {True}}[name]


@pytest.mark.parametrize("name", ["mnk:3x3,3+swap", "connect:5x3,3+swap", "mnk:3x1,2+swap", "mnk:2x1,1+swap"])
def test_the_value_of_a_first_move_includes_the_takeover(name: str) -> None:
    game: Any = find_game(name)
    oracle, analysis = Oracle(game), analyse(game, game.initial, Limit())
    for move, verdict in analysis.moves.items():
        value, plies = oracle.judge_move(game.initial, move)
        assert (verdict.result, verdict.plies, verdict.exact) == (value, plies if value else None, True)
        state = game.initial
        for played in verdict.line:
            state = game.result(state, played)
    assert (analysis.side, analysis.verdict.result) == (0, oracle.judge(game.initial)[0])


def test_connect_four_with_swap_begins_with_a_drawn_move() -> None:
    game = find_game("connect4+swap")
    chosen = {find_strategy("alphabeta", seed=seed)(game, game.initial, Limit(ms=1_000)) for seed in range(9)}
    assert {game.move_names[choice.move] for choice in chosen} == {"3", "5"}
    assert {(choice.value, choice.exact) for choice in chosen} == {(0, True)}


@pytest.mark.parametrize("strategy", ["alphabeta", "mcts"])
@pytest.mark.parametrize("name", ["connect4", "gomoku", "qubic"])
def test_after_two_moves_a_swap_game_is_played_as_well_as_its_base(name: str, strategy: str) -> None:
    game, base = find_game(f"{name}+swap"), find_game(name)
    engine.load(game)
    state, position = game.initial, base.initial
    for move in (base.actions(position)[3], base.actions(position)[2]):
        state, position = game.result(state, move), base.result(position, move)
    limit = Limit(nodes=2_000)
    choice = find_strategy(strategy, seed=1)(game, state, limit)
    assert choice[:3] == find_strategy(strategy, seed=1)(base, position, limit)[:3]
    assert choice.counts.nodes > 0


def test_a_swap_changes_the_side_to_move_and_not_the_analysis() -> None:
    game: Any = find_game("connect4+swap")
    first = game.result(game.initial, game.actions(game.initial)[3])
    swapped = game.result(first, game.swap)
    limit = Limit(nodes=20_000)
    before, after = analyse(game, first, limit), analyse(game, swapped, limit)
    assert (before.side, after.side) == (1, 0)
    assert before.best == (game.swap,)
    assert before.verdict.plies == 41  # who has taken the centre wins with the 41st stone, 40 later and a swap
    assert after.verdict.plies == 40
    assert {move: before.moves[move] for move in after.moves} == after.moves
