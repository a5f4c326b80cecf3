"""Help for searches that games of other packages bring: estimates, an order of moves, compiled random plays."""

import logging
import random
from typing import Any

import pytest

from ttt_net.errors import Code, Refusal
from ttt_net.games import Game, Playouts, find_game
from ttt_net.games.outside import OutsideGame
from ttt_net.strategies import Limit, engine
from ttt_net.strategies.heuristic import estimator, promise
from ttt_net.strategies.mcts import MonteCarlo
from ttt_net.strategies.strategy import DECIDED, Effort

pytestmark = pytest.mark.usefixtures("examples")


def with_parts(monkeypatch: pytest.MonkeyPatch, **parts: Any) -> Game[Any]:
    """Return Othello behind a guard, with other parts."""
    game = find_game("othello")
    assert isinstance(game, OutsideGame)
    for name, part in parts.items():
        monkeypatch.setattr(game.inner, name, part, raising=False)
    return OutsideGame(game.inner)


def random_play(game: Game[Any], rng: random.Random) -> list[Any]:
    """Return all positions of a random play."""
    states = [game.initial]
    while not game.is_terminal(states[-1]):
        states.append(game.result(states[-1], rng.choice(list(game.actions(states[-1])))))
    return states


def test_searches_try_moves_in_the_order_of_the_game_and_compare_its_estimates() -> None:
    game = find_game("othello")
    ranks = promise(game)
    corners = {game.move_names.index(name) for name in ("a1", "a8", "h1", "h8")}
    assert set(sorted(range(65), key=ranks.__getitem__)[-4:]) == corners
    assert min(range(65), key=ranks.__getitem__) == game.move_names.index("pass")
    assert promise(find_game("hex+swap"))[24] == max(promise(find_game("hex"))), "the middle, where no order is given"
    board = "X" + "." * 26 + "OX......XO" + "." * 27
    assert [estimator(game)(game.place(board, f"after 1 next {side}")) for side in "xo"] == [100, -100]


def test_an_estimate_never_counts_as_a_win_and_its_errors_are_those_of_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = with_parts(monkeypatch, estimate=lambda _: 10**12)
    assert estimator(game)(game.initial) == DECIDED - 1
    broken = with_parts(monkeypatch, estimate=lambda _: 1 // 0)
    with pytest.raises(Refusal, match="division") as refused:
        estimator(broken)(broken.initial)
    assert refused.value.code is Code.GAME_FAULT
    with pytest.raises(Refusal, match="order does not have each move once"):
        with_parts(monkeypatch, order=(1, 1))


def test_compiled_plays_end_as_the_rules_say() -> None:
    pytest.importorskip("numba")
    game = find_game("othello")
    play = engine.own_playouts(game, Effort(Limit(nodes=1)), random.Random(7))
    assert play is not None
    checked = 0
    for seed in range(20):
        *states, end = random_play(game, random.Random(seed))
        for state in reversed(states):
            if len(game.actions(state)) > 1:
                break
            assert play(state) == game.utility(end, 0)
            checked += 1
    assert checked > 20
    mean = sum(play(game.initial) for _ in range(2_000)) / 2_000
    assert -0.07 < mean < -0.03, "white wins a little more often: -0.050 in 200,000 plays"


def test_mcts_makes_only_the_moves_of_its_tree_where_plays_are_compiled() -> None:
    pytest.importorskip("numba")
    game = find_game("othello")
    assert MonteCarlo(random.Random(1))(game, game.initial, Limit(nodes=40)).counts.results <= 40


def test_plays_that_cannot_be_compiled_are_made_move_by_move(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("numba")
    playouts = Playouts(lambda state: (state.side,), lambda side, plays, seed: no_such_name)  # type: ignore[name-defined] # noqa: F821
    game = with_parts(monkeypatch, playouts=playouts)
    with caplog.at_level(logging.WARNING):
        choice = MonteCarlo(random.Random(1))(game, game.initial, Limit(nodes=4))
    assert choice.move in game.actions(game.initial)
    assert "the playouts of a game cannot be compiled" in caplog.text
