"""The proofs of who can force a line, against exhaustive search; and that a bot and an analysis live by them."""

import random
from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import line_game, random_state
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.rules import DRAW, FIRST, known_value
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.analysis import analyse
from ttt_net.strategies.strategy import WIN, Effort, Stopped

pytest.importorskip("numba")


def proofs(game: LineGame, limit: Limit | None = None) -> Any:
    search = engine.proof_search(game, Effort(limit or Limit()))
    assert search is not None
    return search


@pytest.mark.parametrize("name", ["tictactoe", "mnk:4x3,3", "connect:4x3,3"])
def test_every_position_of_a_small_game_has_the_value_and_the_plies_that_exhaustive_search_finds(name: str) -> None:
    game = line_game(name)
    oracle, search = Oracle(game), proofs(game)
    positions = [state for state in oracle.positions() if not game.is_terminal(state)]
    rng = random.Random(1)
    for state in positions if len(positions) < 2000 else rng.sample(positions, 100):
        value, plies = oracle.judge(state)
        found = search.value(state)
        assert found == value * (WIN - plies)
        best = search.best_move(state, found)
        assert search.value_of_move(state, best) == found
        assert len(search.line(state, best, found)) == (plies if value else 1)


@pytest.mark.parametrize(
    ("name", "fewest"),
    [("mnk:4x4,4", 6), ("mnk:4x4,3", 7), ("mnk:6x3,3", 10), ("mnk:5x4,4", 10), ("connect:5x4,4", 8), ("mnk:5x5,4", 16)],
)
def test_positions_of_larger_games_have_the_value_that_exhaustive_search_finds(name: str, fewest: int) -> None:
    game, rng = line_game(name), random.Random(2)
    oracle, search, values = Oracle(game), proofs(game), set()
    for _ in range(12):
        state = random_state(game, rng.randrange(fewest, fewest + 4), rng)
        value, plies = oracle.judge(state)
        assert search.value(state) == value * (WIN - plies)
        values.add(value)
        for move in game.actions(state):
            value, plies = oracle.judge_move(state, move)
            assert search.value_of_move(state, move) == value * (WIN - plies)
    assert len(values) > 1


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("tictactoe3d", 7), ("mnk:4x4,4", None), ("mnk:5x4,4", None), ("mnk:6x4,4", None), ("mnk:4x7,4", None),
        ("mnk:5x5,4", None), ("mnk:6x5,4", 11), ("mnk:5x5,5", None), ("mnk:6x5,5", None), ("mnk:6x6,5", None),
    ],
)  # fmt: skip
def test_the_values_that_the_catalogue_gives_are_proved(name: str, plies: int | None) -> None:
    game = line_game(name)
    assert proofs(game).value(game.initial) == (WIN - plies if plies else 0)
    assert known_value(game.name).value == (FIRST if plies else DRAW)


@pytest.mark.parametrize(("name", "cell"), [("mnk:6x5,4", 13), ("mnk:6x5,4", 2), ("mnk:7x4,4", 0), ("mnk:5x5,4", 0)])
def test_draws_after_a_weak_first_move_are_proved_within_a_few_million_positions(name: str, cell: int) -> None:
    game = line_game(name)
    search = proofs(game, Limit(nodes=3_000_000))
    assert search.value(game.result(game.initial, cell)) == 0


def test_a_position_is_judged_the_same_whatever_was_asked_before() -> None:
    game, rng = line_game("mnk:4x4,3"), random.Random(3)
    search = proofs(game)
    for _ in range(30):
        state = random_state(game, rng.randrange(2, 9), rng)
        assert search.value(state) == proofs(game).value(state)


def test_proofs_keep_their_limit() -> None:
    game = line_game("mnk:5x5,4")
    search = proofs(game, Limit(nodes=1_000))
    with pytest.raises(Stopped), search.running():
        search.value(game.initial)
    assert search.effort.nodes == 1_000


def test_a_bot_plays_the_best_proved_move() -> None:
    game = line_game("mnk:4x4,3")
    choice = find_strategy("alphabeta")(game, game.initial, Limit())
    assert choice.exact
    assert choice.value == WIN - len(choice.line)
    state = game.initial
    for move in choice.line:
        state = game.result(state, move)
    assert state.has_line


def test_a_bot_loses_as_late_as_can_be() -> None:
    game, rng = line_game("mnk:4x4,3"), random.Random(4)
    search = proofs(game)
    for _ in range(10):
        state = game.result(game.initial, rng.randrange(16))
        value = search.value(state)
        if value < 0:
            choice = find_strategy("alphabeta")(game, state, Limit())
            assert (choice.value, len(choice.line)) == (value, WIN + value)
            assert search.value_of_move(state, choice.move) == value


def test_an_analysis_knows_every_move_of_a_small_board() -> None:
    game = line_game("mnk:5x4,4")
    state = random_state(game, 8, random.Random(5))
    oracle, analysis = Oracle(game), analyse(game, state, Limit())
    assert set(analysis.best) == oracle.best_moves(state) or analysis.verdict.result != 0
    for move, verdict in analysis.moves.items():
        value, plies = oracle.judge_move(state, move)
        assert verdict.exact
        assert (verdict.result, verdict.plies) == (value, plies if value else None)


def test_an_analysis_cut_short_does_not_call_the_win_that_it_has_proved_the_soonest() -> None:
    game = line_game("mnk:4x4,3")
    state = LineState(1 << 7, 1 << 13, 2, has_line=False)
    early, late = (analyse(game, state, Limit(nodes=nodes)).verdict for nodes in (50, 5_000))
    assert (late.result, late.plies, late.exact) == (1, 3, True)
    assert early.result == 1
    assert early.plies == 5
    assert not early.exact
