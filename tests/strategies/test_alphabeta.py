import random
from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import after_columns
from ttt_net.games import Game, find_game
from ttt_net.strategies import Choice, Limit, alphabeta, find_strategy
from ttt_net.strategies.alphabeta import Deepening, PlainSearch
from ttt_net.strategies.heuristic import estimator
from ttt_net.strategies.strategy import WIN, Effort, is_decided, plies_to_end


def verdict(value: int) -> int:
    return (value > 0) - (value < 0)


def test_the_first_move_of_tictactoe_is_known_within_a_few_thousand_nodes(tictactoe: Game[Any]) -> None:
    choice = find_strategy("alphabeta")(tictactoe, tictactoe.initial, Limit())
    assert (choice.value, choice.exact, choice.counts.depth) == (0, True, 9)
    assert choice.counts.nodes < 10_000


def test_every_position_of_tictactoe_gets_its_true_value_in_plies_and_a_best_move(
    tictactoe: Game[Any], oracle: Oracle
) -> None:
    strategy = find_strategy("alphabeta", seed=1)
    positions = [state for state in oracle.positions() if not tictactoe.is_terminal(state)]
    assert len(positions) == 5_478 - 958
    for state in positions:
        value, plies = oracle.judge(state)
        choice = strategy(tictactoe, state, Limit())
        assert choice.exact
        assert choice.value == value * (WIN - plies)
        assert oracle.judge_move(state, choice.move)[0] == value


def plain_minimax(game: Game[Any], state: Any, depth: int, ply: int = 0) -> int:
    """The value that any correct search to `depth` must come to, with neither window nor table."""
    if game.is_terminal(state):
        return game.utility(state, game.to_move(state)) * (WIN - ply)
    if depth == 0:
        return estimator(game)(state)
    return max(-plain_minimax(game, game.result(state, move), depth - 1, ply + 1) for move in game.actions(state))


def differences_from_plain_minimax(depth: int) -> int:
    """In how many of 40 random positions a search to that depth comes to another value than plain minimax."""
    game, rng, wrong = find_game("mnk:4x4,4"), random.Random(11), 0
    for _ in range(40):
        state = game.initial
        for _ in range(7):
            state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state):
            limit = Limit(depth=depth)
            choice = Deepening(game, PlainSearch(game, Effort(limit), random.Random(1)), limit).choose(state)
            wrong += choice.value != plain_minimax(game, state, depth)
    return wrong


def test_a_search_to_a_depth_finds_the_value_of_plain_minimax_to_that_depth() -> None:
    assert differences_from_plain_minimax(depth=4) == 0


def test_a_table_that_took_bounds_for_exact_values_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alphabeta, "answers", lambda bound, value, alpha, beta: True)
    assert differences_from_plain_minimax(depth=4) > 0


@pytest.mark.parametrize(("name", "value"), [("mnk:4x3,3", 1), ("mnk:4x4,3", 1), ("mnk:3x3,3", 0), ("mnk:2x2,2", 1)])
def test_solved_games_have_their_known_value(name: str, value: int) -> None:
    game = find_game(name)
    choice = find_strategy("alphabeta")(game, game.initial, Limit())
    assert choice.exact
    assert verdict(choice.value or 0) == value


def test_a_larger_game_agrees_with_the_oracle_from_any_position() -> None:
    game = find_game("mnk:3x4,3")
    oracle, rng = Oracle(game), random.Random(7)
    for state in rng.sample(oracle.positions(), 40):
        if not game.is_terminal(state):
            choice = find_strategy("alphabeta")(game, state, Limit())
            value, plies = oracle.judge(state)
            assert choice.value == value * (WIN - plies)


@pytest.mark.parametrize("depth", [2, 3, 6])
def test_a_win_at_hand_is_taken_and_a_threat_is_stopped(depth: int, connect4: Game[Any]) -> None:
    strategy = find_strategy("alphabeta")
    win = strategy(connect4, after_columns(connect4, 1, 7, 1, 7, 1, 6), Limit(depth=depth))
    assert (connect4.move_names[win.move], win.value, win.exact) == ("1", WIN - 1, True)
    stop = strategy(connect4, after_columns(connect4, 1, 7, 1, 7, 1), Limit(depth=depth))
    assert connect4.move_names[stop.move] == "1"


def test_an_open_three_on_the_floor_is_known_to_be_won_and_lost(connect4: Game[Any]) -> None:
    winner = find_strategy("alphabeta")(connect4, after_columns(connect4, 3, 3, 4, 4), Limit(depth=3))
    assert (winner.value, winner.exact) == (WIN - 3, True)
    loser = find_strategy("alphabeta")(connect4, after_columns(connect4, 3, 3, 4, 4, 5), Limit(depth=3))
    assert (loser.value, loser.exact) == (2 - WIN, True)
    assert len(winner.line) == 3


def test_a_known_win_is_carried_through_move_by_move_and_never_forgotten() -> None:
    game = find_game("mnk:4x4,3")
    strategy, rng, state = find_strategy("alphabeta", seed=2), random.Random(2), game.initial
    expected = strategy(game, state, Limit()).value
    while not game.is_terminal(state):
        choice = strategy(game, state, Limit())
        assert choice.value is not None
        assert expected is not None
        assert is_decided(choice.value)
        assert plies_to_end(choice.value) <= plies_to_end(expected)
        state = game.result(state, choice.move)
        if not game.is_terminal(state):
            state = game.result(state, rng.choice(game.actions(state)))
            expected = choice.value + 2
    assert game.utility(state, 0) == 1


def test_a_search_cut_short_prefers_a_move_not_yet_refuted_to_one_that_loses(connect4: Game[Any]) -> None:
    def searched(limit: Limit) -> Choice:
        return Deepening(connect4, PlainSearch(connect4, Effort(limit), random.Random(0)), limit).choose(state)

    state = after_columns(connect4, 1, 7, 1, 7, 1)
    for nodes in range(searched(Limit(depth=2)).counts.nodes):
        choice = searched(Limit(nodes=nodes))
        refuted = choice.value == 2 - WIN and len(choice.line) == 2
        assert not refuted


def test_a_search_cut_short_claims_no_loss_before_every_move_has_been_seen_to_lose(
    tictactoe: Game[Any], oracle: Oracle
) -> None:
    for state in [state for state in oracle.positions() if not tictactoe.is_terminal(state)][::7]:
        for nodes in range(1, 12):
            choice = find_strategy("alphabeta", seed=1)(tictactoe, state, Limit(nodes=nodes))
            if choice.value is not None and is_decided(choice.value):
                assert verdict(choice.value) == oracle.judge(state)[0]
