"""The strategies on the rest of the family: what they may play, and that what they claim there is true."""

import random
from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from ttt_net.games import Game, find_game
from ttt_net.games.catalogue import NAMES as GAMES
from ttt_net.strategies import NAMES, Limit, find_strategy
from ttt_net.strategies.strategy import WIN, is_decided, plies_to_end
from ttt_net.strategies.tictactoe import CUBE, CUBE_SUM, third_in_cube

EVERY_GAME = (*GAMES, "mnk:5x4,4", "connect:5x4,3", "connect4+swap")


@pytest.mark.parametrize("game_name", EVERY_GAME)
@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_plays_a_game_to_its_end_or_says_why_not(name: str, game_name: str) -> None:
    game, strategy, other = find_game(game_name), find_strategy(name, seed=1), find_strategy("random", seed=2)
    if objection := strategy.objection(game):
        assert name not in ("random", "alphabeta", "mcts")
        assert game.title in objection
        return
    state = game.initial
    for _ in range(12):
        if not game.is_terminal(state):
            player = strategy if game.to_move(state) == 0 else other
            state = game.result(state, player(game, state, Limit(ms=15, depth=2)).move)


@pytest.mark.parametrize("name", ["misere", "wild"])
def test_variants_on_3x3_are_solved_from_every_position(name: str) -> None:
    game = find_game(name)
    oracle, rng = Oracle(game), random.Random(5)
    positions = [state for state in oracle.positions() if not game.is_terminal(state)]
    for state in [game.initial, *rng.sample(positions, 150)]:
        value, plies = oracle.judge(state)
        choice = find_strategy("alphabeta", seed=1)(game, state, Limit())
        assert (choice.value, choice.exact) == (value * (WIN - plies), True)
        assert find_strategy("minimax")(game, state, Limit()).value == value * (WIN - plies)


@pytest.mark.parametrize(("name", "value"), [("misere", 0), ("wild", 1)])
def test_variants_on_3x3_have_their_known_value(name: str, value: int) -> None:
    game = find_game(name)
    assert Oracle(game).judge(game.initial)[0] == value
    assert (find_strategy("alphabeta")(game, game.initial, Limit()).value or 0) // (WIN // 2) == value


def brute_force(game: Game[Any], state: Any, depth: int) -> int:
    """Return the result that can be forced within `depth` plies: WIN - n, n - WIN, or 0."""
    if game.is_terminal(state):
        return game.utility(state, game.to_move(state)) * WIN
    if depth == 0:
        return 0
    best = max(-brute_force(game, game.result(state, move), depth - 1) for move in game.actions(state))
    return best - (best > 0) + (best < 0)


@pytest.mark.parametrize("name", ["vanishing", "ultimate", "connect:4x4,3", "mnk:4x3,3+swap"])
def test_forced_wins_in_four_plies_are_found_and_nothing_else_is_claimed(name: str) -> None:
    game, rng, decided = find_game(name), random.Random(3), 0
    for _ in range(25):
        state = game.initial
        for _ in range(rng.randrange(5, 60 if name == "ultimate" else 8)):
            after = [game.result(state, move) for move in game.actions(state)]
            state = rng.choice([a for a in after if not game.is_terminal(a)] or [state])
        depth = 4 if len(game.actions(state)) < 12 else 2
        truth = brute_force(game, state, depth)
        value = find_strategy("alphabeta")(game, state, Limit(depth=4)).value or 0
        decided += truth != 0
        assert (value if is_decided(value) and plies_to_end(value) <= depth else 0) == truth
    assert decided > 0


def test_the_magic_cube_finds_exactly_the_49_lines_of_the_cube() -> None:
    game = find_game("tictactoe3d")
    lines = {
        1 << a | 1 << b | 1 << c
        for a in range(27)
        for b in range(27)
        if a != b and (c := third_in_cube(a, b)) is not None
    }
    assert len(lines) == 49
    assert game.line_count == 49
    by_number = sum(sum(CUBE[n] for n in range(27) if line >> n & 1) == CUBE_SUM for line in lines)
    assert by_number == 37
