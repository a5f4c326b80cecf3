"""Every search ends at its first look at the clock past its limit, and at the first that says it is cancelled.

The clock is one that goes on by a millisecond each time that somebody looks, so it tells how often a search has looked
since its limit, however busy the machine is. docs/developing/performance.md has what that is in real time.
"""

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from tests.strategies.positions import after_columns
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, engine, find_strategy, strategy
from ttt_net.strategies.analysis import analyse
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.strategy import Effort, Stopped

pytest.importorskip("numba")

pytestmark = pytest.mark.usefixtures("_without_a_book")
LIMIT_MS = 60
LOOKS = 10
"""How often a search may still look once its limit is reached: each of its parts, what it counts, its watcher."""
SEARCHES = [
    (name, game)
    for name in ("alphabeta", "mcts")
    for game in ("connect4", "qubic", "scorefour", "mnk:7x7,5", "gomoku", "ultimate")
]


@pytest.fixture(scope="module", autouse=True)
def _all_is_loaded_before_any_clock_runs() -> None:
    for name in {name for _, name in SEARCHES}:
        engine.load(find_game(name))


@pytest.fixture
def _a_clock_of_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr(strategy, "time", SimpleNamespace(monotonic=lambda: next(looks) / 1000))


def opening(name: str) -> tuple[Game[Any], Any]:
    """A game and a position of three moves, from which no end is in sight."""
    game = find_game(name)
    state = game.initial
    for number in (0, 2, 1):
        state = game.result(state, game.actions(state)[number])
    return game, state


@pytest.mark.usefixtures("_a_clock_of_looks")
@pytest.mark.parametrize(("name", "game"), SEARCHES)
def test_a_search_ends_at_its_first_look_past_its_limit(name: str, game: str) -> None:
    choice = find_strategy(name, seed=1)(*opening(game), Limit(ms=LIMIT_MS))
    assert not choice.exact
    assert LIMIT_MS <= choice.counts.ms <= LIMIT_MS + LOOKS


@pytest.mark.parametrize(("name", "game"), SEARCHES)
def test_a_search_ends_when_it_is_cancelled(name: str, game: str) -> None:
    looks = count()
    choice = find_strategy(name, seed=1)(*opening(game), Limit(cancelled=lambda: next(looks) >= LIMIT_MS))
    assert not choice.exact
    assert LIMIT_MS < next(looks) <= LIMIT_MS + LOOKS


@pytest.mark.usefixtures("_a_clock_of_looks")
def test_a_solver_out_of_time_has_no_score(connect4: LineGame) -> None:
    effort = Effort(Limit(ms=LIMIT_MS))
    with pytest.raises(Stopped):
        Connect4Solver().searched_score(after_columns(connect4, 1, 2, 3), effort)
    assert LIMIT_MS <= effort.counts().ms <= LIMIT_MS + LOOKS


@pytest.mark.usefixtures("_a_clock_of_looks")
def test_an_analysis_estimates_the_moves_that_could_not_be_solved_in_time(connect4: LineGame) -> None:
    analysis = analyse(connect4, after_columns(connect4, 1, 2, 3), Limit(ms=150))
    assert not analysis.verdict.exact
    assert {verdict.value for verdict in analysis.moves.values()} != {0}
    assert 150 <= analysis.counts.ms <= 150 + 3 * LOOKS
