"""Claims of searches are compared with the truth: on small games of all sizes, by each search, at any limit."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.oracle import Oracle
from ttt_net.games import Game, find_game
from ttt_net.strategies import Limit, alphabeta, engine, find_strategy
from ttt_net.strategies.analysis import Verdict, analyse

pytest.importorskip("numba")

from ttt_net.strategies.compiled.fours import FoursSearch

VARIANTS = ("misere", "wild", "mnk:3x3,3+swap", "connect:3x3,3+swap")
LIMITS = st.one_of(
    st.builds(Limit, nodes=st.integers(1, 3_000)), st.builds(Limit, depth=st.integers(1, 6)), st.just(Limit())
)


@st.composite
def line_games(draw: st.DrawFn, kinds: tuple[str, ...] = ("mnk", "connect")) -> Game[Any]:
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    return find_game(f"{draw(st.sampled_from(kinds))}:{width}x{height},{draw(st.integers(1, max(width, height)))}")


def late_position(game: Game[Any], seed: int) -> Any:
    """A position with 1 to 9 empty cells, or with more if play at random did not get there without an end."""
    rng, state = random.Random(seed), game.initial
    left = rng.randint(1, 9)
    while game.board(state).count(".") > left:
        after = [game.result(state, move) for move in game.actions(state)]
        after = [state for state in after if not game.is_terminal(state)]
        if not after:
            break
        state = rng.choice(after)
    return state


@contextmanager
def searching(way: str) -> Iterator[None]:
    """Have all positions searched in one way: in plain Python, or by one of the compiled searches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "SMALL", 64 if way == "plain" else 0)
        patch.setattr(engine, "PROVABLE", 64 if way == "proofs" else 0)
        if way == "fours":
            patch.setattr(alphabeta, "line_search", lambda game, effort, rng, _earlier: FoursSearch(game, effort, rng))
        yield


def check(verdict: Verdict, truth: tuple[int, int]) -> None:
    """Hold what is said of a position or of a move against (value, plies)."""
    value, plies = truth
    if verdict.result is not None:
        assert verdict.result == value
    if verdict.plies is not None:
        assert verdict.plies == plies if verdict.exact else verdict.plies >= plies
    elif verdict.exact:
        assert verdict.value == 0


def check_all(game: Game[Any], seed: int, way: str, limit: Limit) -> None:
    state, oracle = late_position(game, seed), Oracle(game)
    with searching(way):
        choices = [find_strategy("alphabeta", seed=seed)(game, state, limit)]
        if way != "fours":
            choices.append(find_strategy("mcts", seed=seed)(game, state, Limit(nodes=limit.nodes or 1_000)))
        analysis = analyse(game, state, limit)
    for choice in choices:
        assert choice.value is not None or not choice.line
        if choice.value is not None:
            check(Verdict(choice.value, choice.exact, choice.line), oracle.judge(state))
            if choice.exact or choice.value > 0:
                check(Verdict(choice.value, choice.exact, choice.line), oracle.judge_move(state, choice.move))
    check(analysis.verdict, oracle.judge(state))
    for move, verdict in analysis.moves.items():
        check(verdict, oracle.judge_move(state, move))
        for played in verdict.line:
            assert played in game.actions(state)
            state = game.result(state, played)
        state = late_position(game, seed)


@settings(max_examples=50)
@given(line_games(), st.integers(0, 1 << 30), st.sampled_from(["plain", "lines", "proofs"]), LIMITS)
def test_claims_about_line_games_are_true(game: Game[Any], seed: int, way: str, limit: Limit) -> None:
    check_all(game, seed, way, limit)


@settings(max_examples=50)
@given(line_games(("mnk",)), st.integers(0, 1 << 30), LIMITS)
def test_claims_of_the_search_of_large_boards_are_true(game: Game[Any], seed: int, limit: Limit) -> None:
    check_all(game, seed, "fours", limit)


@settings(max_examples=50)
@given(st.sampled_from(VARIANTS), st.integers(0, 1 << 30), LIMITS)
def test_claims_about_variants_are_true(name: str, seed: int, limit: Limit) -> None:
    check_all(find_game(name), seed, "plain", limit)
