import logging
import random
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.strategies.positions import after_columns, after_names
from tests.strategies.slow_connect4 import EMPTY, play, random_columns, score
from ttt_net.__main__ import main
from ttt_net.games import find_game
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.analysis import analyse, solver_score
from ttt_net.strategies.strategy import WIN, Effort, Stopped, is_decided

pytest.importorskip("numba")

from ttt_net.strategies.compiled.connect4_solver import Connect4Search
from ttt_net.strategies.connect4 import Connect4Solver


@pytest.fixture(scope="module")
def solver() -> Connect4Solver:
    return Connect4Solver()


@pytest.mark.parametrize("stones", [28, 30, 31, 33, 36, 39, 41])
def test_late_positions_agree_with_the_slow_solver(stones: int, connect4: LineGame, solver: Connect4Solver) -> None:
    rng = random.Random(stones)
    for _ in range(15 if stones > 28 else 4):  # the slow solver takes a third of a second for 14 empty cells
        moves, columns = random_columns(stones, rng), EMPTY
        for number, move in enumerate(moves):
            columns = play(columns, move - 1, "XO"[number % 2])
        state = after_columns(connect4, *moves)
        assert solver.score(connect4, state, Effort(Limit())) == score(columns)


@pytest.mark.parametrize(
    ("stones", "scores"),
    [
        (8, [2, 2, 3, 17, -4, 0, 17, -3]),
        (9, [15, 4, 2, -2, 2, 5, -5, 1]),
        (12, [15, 15, -5, 2, 15, 4, 15, 6]),
        (13, [4, -8, 15, 11, 15, -10, 15, 5]),
        (16, [-11, -1, -4, -8, 13, 10, -13, -4]),
        (17, [12, 5, 13, -12, 3, 2, -2, 12]),
        (20, [0, 11, 11, 11, 11, -11, 11, -9]),
        (25, [9, 9, 9, -7, -8, -8, 1, -8]),
    ],
)
def test_scores_are_those_found_by_search_without_bounds_by_odd_and_even_rows(
    stones: int, scores: list[int], connect4: LineGame, solver: Connect4Solver
) -> None:
    rng = random.Random(stones)
    for expected in scores:
        state = after_columns(connect4, *random_columns(stones, rng))
        assert solver.score(connect4, state, Effort(Limit())) == expected


@pytest.mark.parametrize("stones", [14, 17, 20])
def test_the_score_of_a_position_is_that_of_its_best_move(
    stones: int, connect4: LineGame, solver: Connect4Solver
) -> None:
    rng, effort = random.Random(stones), Effort(Limit())
    for _ in range(10):
        state = after_columns(connect4, *random_columns(stones, rng))
        scores = {move: solver.score_of_move(connect4, state, move, effort) for move in connect4.actions(state)}
        fresh = Connect4Solver()
        assert fresh.score(connect4, state, effort) == max(scores.values())
        assert scores[solver.best_move(connect4, state, max(scores.values()), effort)] == max(scores.values())


@pytest.mark.parametrize(("columns", "sign"), [("45461667", 1), ("35333571", -1)])
def test_published_positions_have_their_published_result(
    columns: str, sign: int, connect4: LineGame, solver: Connect4Solver
) -> None:
    state = after_columns(connect4, *map(int, columns))
    found = solver.score(connect4, state, Effort(Limit()))
    assert (found > 0) - (found < 0) == sign


def test_the_first_moves_are_known_without_a_search(connect4: LineGame, solver: Connect4Solver) -> None:
    effort = Effort(Limit(nodes=0))
    first = [solver.score_of_move(connect4, connect4.initial, m, effort) for m in connect4.actions(connect4.initial)]
    assert first == [-2, -1, 0, 1, 0, -1, -2]
    assert solver.score(connect4, after_columns(connect4, 7, 6), effort) == -2


def test_a_solved_choice_has_the_plies_to_the_end(connect4: LineGame) -> None:
    choice = find_strategy("alphabeta")(connect4, after_columns(connect4, 3, 3, 4, 4), Limit())
    assert (choice.value, choice.exact) == (WIN - 3, True)
    assert find_strategy("alphabeta")(connect4, connect4.initial, Limit()).value == WIN - 41


def test_every_move_is_scored_and_best_play_followed_to_its_end(connect4: LineGame) -> None:
    state = after_columns(connect4, 4, 4, 4, 4, 4, 2, 2, 5, 5, 6, 3, 1)
    analysis = analyse(connect4, state, Limit())
    assert analysis.verdict.exact
    assert all(verdict.exact for verdict in analysis.moves.values())
    assert solver_score(connect4, state, analysis.verdict) == max(
        solver_score(connect4, state, verdict) or 0 for verdict in analysis.moves.values()
    )
    end = state
    for move in analysis.verdict.line:
        end = connect4.result(end, move)
    assert connect4.is_terminal(end)
    assert connect4.utility(end, connect4.to_move(state)) == analysis.verdict.result


def test_a_search_that_was_stopped_has_remembered_nothing_wrong(connect4: LineGame) -> None:
    state = after_columns(connect4, 4, 4, 4, 4, 4, 2, 2, 5, 5, 6)
    truth = Connect4Solver().score(connect4, state, Effort(Limit()))
    interrupted = Connect4Solver()
    for nodes in range(1, 20_000, 1_000):
        with pytest.raises(Stopped):
            interrupted.score(connect4, state, Effort(Limit(nodes=nodes)))
    assert interrupted.score(connect4, state, Effort(Limit())) == truth


@pytest.mark.usefixtures("_without_a_book")
def test_a_bot_out_of_time_for_the_truth_still_has_a_sensible_move(connect4: LineGame) -> None:
    engine.load(connect4)
    choice = find_strategy("alphabeta")(connect4, after_columns(connect4, 1, 2, 3), Limit(ms=300))
    assert not choice.exact
    assert choice.counts.depth >= 2


@pytest.mark.usefixtures("_without_a_book")
def test_without_numba_it_plays_on_in_plain_python_and_notes_so_once(
    connect4: LineGame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.is_installed.cache_clear()
    try:
        with caplog.at_level(logging.INFO):
            for _ in range(2):
                choice = find_strategy("alphabeta")(connect4, after_columns(connect4, 3, 3, 4, 4), Limit(depth=3))
                assert choice.value is not None
                assert is_decided(choice.value)
        assert [(record.levelname, record.message) for record in caplog.records] == [
            ("INFO", "numba is not installed, so searches are slower; pip install 'ttt_net[engine]' makes them fast")
        ], "the log of a server keeps it; a player at the terminal is not bothered"
    finally:
        engine.is_installed.cache_clear()


def test_an_engine_that_cannot_be_loaded_is_done_without(
    connect4: LineGame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(name: str) -> None:
        raise RuntimeError("no place for the cache")

    monkeypatch.setattr(engine, "import_module", refuse)
    monkeypatch.setattr(engine, "kernel_module", engine.kernel_module.__wrapped__)
    with pytest.raises(Stopped):
        Connect4Solver().searched_score(connect4.initial, Effort(Limit()))
    assert engine.playout_tree(connect4, random.Random(1), Effort(Limit())) is None
    assert "the engine cannot be loaded, so searches are slower: no place for the cache" in caplog.messages


def test_numba_is_imported_only_when_it_is_needed() -> None:
    program = """
import sys
from ttt_net.games import find_game
from ttt_net.strategies import NAMES, find_strategy
import ttt_net.commands.analyse, ttt_net.laboratory.strategy_arena
game = find_game("tictactoe")
for name in NAMES:
    find_strategy(name)(game, game.initial)
sys.exit("numba" in sys.modules or "numpy" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("name", ["qubic", "gomoku"])
def test_loaded_modules_serve_searches_without_time_to_wait(name: str) -> None:
    game = find_game(name)
    engine.load(game)
    assert engine.line_search(game, Effort(Limit(ms=0)), random.Random(1)) is not None


@pytest.mark.parametrize(
    ("moves", "sensible"),
    [
        ("", {"h8"}),
        ("h8", {"g8", "h7", "h9", "i8"}),
        ("h8 a1 i8", {"f8", "g8", "j8", "k8"}),
        ("h8 a1 h9 a2 h10", {"h6", "h7", "h11", "h12"}),
        ("h8 a1 h9 a3 h10 a5 h11", {"h7", "h12"}),
        ("h8 a1 h9 a3 h10 a5 h11 o1", {"h7", "h12"}),
    ],
)
def test_a_large_board_is_played_sensibly_while_its_search_is_compiled(
    moves: str, sensible: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = find_game("gomoku")
    state = after_names(game, moves)
    monkeypatch.setattr(engine, "kernel_module", lambda name: Future())
    choice = find_strategy("alphabeta", seed=1)(game, state, Limit(ms=50))
    assert game.move_names[choice.move] in sensible


@pytest.mark.parametrize(
    ("name", "moves", "sensible"),
    [
        ("gomoku", "h8 a1 i8 a2 j8", {"g8", "k8"}),
        ("qubic", "1:a1 2:a1 1:b1 2:b2 1:c1", {"1:d1"}),
        ("connect4", "4 1 4 1 4", {"4"}),
    ],
)
def test_threats_are_answered_while_playouts_are_compiled(
    name: str, moves: str, sensible: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = find_game(name)
    state = after_names(game, moves)
    monkeypatch.setattr(engine, "kernel_module", lambda name: Future())
    choice = find_strategy("mcts", seed=1)(game, state, Limit(ms=20))
    assert game.move_names[choice.move] in sensible


def test_a_version_that_nobody_has_compiled_is_cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert engine.is_cold()
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "search.nbi").touch()
    assert not engine.is_cold()
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    assert list(engine.compile_all()) == []


def test_the_engine_can_be_compiled_before_anybody_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile"]) == 0
    assert "the engine is ready: fours, fives, connect4_solver, lines, proofs" in capsys.readouterr().out
    assert not engine.is_cold()


def test_nothing_else_is_loaded_beside_short_searches(connect4: LineGame, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, load, search = list[str](), engine.kernel_module, Connect4Solver()

    def noted(name: str) -> object:
        asked.append(name)
        return load(name)

    monkeypatch.setattr(engine, "kernel_module", noted)
    search.searched_score(after_columns(connect4, *random_columns(30, random.Random(30))), Effort(Limit()))
    assert asked == [engine.CONNECT4]
    search.searched_score(after_columns(connect4, *random_columns(9, random.Random(1))), Effort(Limit()))
    assert asked == [engine.CONNECT4, engine.LINES]


def test_the_table_grows_for_an_early_position_and_scores_stay_the_same(connect4: LineGame) -> None:
    late = [after_columns(connect4, *random_columns(stones, random.Random(stones))) for stones in (18, 20, 22, 24)]
    search = Connect4Search(on_long=list)
    before = [search.score(state, Effort(Limit()), -21, 21) for state in late]
    with pytest.raises(Stopped):
        search.score(connect4.initial, Effort(Limit(nodes=50_000)), -21, 21)
    assert [search.score(state, Effort(Limit()), -21, 21) for state in late] == before
