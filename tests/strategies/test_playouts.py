import random
from typing import Any

import pytest

from tests.strategies.positions import after_columns, after_names
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.strategy import WIN, Effort, is_decided, plies_to_end

pytest.importorskip("numba")

from ttt_net.strategies.compiled import playouts
from ttt_net.strategies.compiled.playouts import LargePlayouts, UltimatePlayouts


@pytest.fixture(scope="module", autouse=True)
def _loaded_before_any_clock_runs(connect4: Game[Any]) -> None:
    engine.playout_tree(connect4, random.Random(1), Effort(Limit()))


@pytest.mark.parametrize(("name", "value"), [("tictactoe3d", 1), ("mnk:6x4,3", 1), ("connect:6x3,3", 1)])
def test_a_small_game_is_solved_by_playouts(name: str, value: int) -> None:
    game = find_game(name)
    choice = find_strategy("mcts", seed=1)(game, game.initial, Limit())
    assert choice.value is not None
    assert is_decided(choice.value)
    assert (choice.value > 0) - (choice.value < 0) == value


def test_its_claims_about_late_positions_of_connect_four_are_true(connect4: LineGame) -> None:
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


@pytest.mark.parametrize("name", ["gomoku", "connect:12x8,4", "mnk:15x17,3"])
def test_playouts_of_a_large_board_end_as_its_rules_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel as it is written, without numba: board by board, from the empty one by the same moves."""
    game, rng = find_game(name), random.Random(8)
    assert isinstance(game, LineGame)
    rules = LargePlayouts(game)
    completes: Any = playouts.large_completes.py_func
    put: Any = playouts.put.py_func
    for _ in range(4):
        state = game.initial
        marks, side, places, steps, k, fall, legal = rules.arguments(state)
        open_cells, at, count = legal.copy(), [0] * game.size, [len(legal)]
        open_cells.resize(game.size)
        for number, cell in enumerate(legal):
            at[cell] = number
        while not game.is_terminal(state):
            assert marks.tolist() == rules.arguments(state)[0].tolist()
            assert sorted(open_cells[: count[0]]) == sorted(game.actions(state))
            move = rng.choice(game.actions(state))
            put(marks, move, side + 1, places, fall, open_cells, at, count)
            state = game.result(state, move)
            assert completes(marks, places[move], side + 1, steps, k) == state.has_line
            side = 1 - side
        assert count[0] == 0 or state.has_line


@pytest.mark.parametrize(
    ("name", "moves", "good"),
    [
        ("gomoku", "h8 a1 i8 a2 j8 a3 k8 o15", {"g8", "l8"}),
        ("gomoku", "h8 a1 i8 a2 j8 a3 k8 l8 o15", {"g8"}),
        ("connect:12x8,4", "6 1 6 1 6 1", {"6"}),
        ("tictactoe", "a1 b2 c1", {"b1"}),
    ],
)
def test_playouts_of_large_and_small_boards_take_a_win_and_stop_one(name: str, moves: str, good: set[str]) -> None:
    game = find_game(name)
    state = after_names(game, moves)
    choice = find_strategy("mcts", seed=1)(game, state, Limit(nodes=60_000))
    assert choice.counts.results == 0, "played in plain Python"
    assert game.move_names[choice.move] in good


def test_playouts_of_ultimate_end_as_its_rules_say() -> None:
    """The kernel as it is written, without numba: block by block, from the same position by the same moves."""
    game, rng = find_game("ultimate"), random.Random(8)
    assert isinstance(game, UltimateGame)
    rules = UltimatePlayouts(game)
    as_written: dict[str, Any] = {name: getattr(playouts, name).py_func for name in ("empty", "mark")}
    for _ in range(40):
        state = game.initial
        words, side = rules.arguments(state)
        while not game.is_terminal(state):
            assert words.tolist() == rules.arguments(state)[0].tolist()
            assert side == game.to_move(state)
            open_cells = {
                rules.move_of(9 * board + place)
                for board in range(9)
                for place in range(9)
                if as_written["empty"](words, board) >> place & 1
                and words[playouts.TARGET] in (board, playouts.ANY_BOARD)
            }
            assert open_cells == set(game.actions(state))
            move = rng.choice(game.actions(state))
            result = int(as_written["mark"](words, side, rules.number_of(move)))
            state, side = game.result(state, move), 1 - side
            assert result == (game.utility(state, 1 - side) if game.is_terminal(state) else playouts.UNKNOWN)


@pytest.mark.parametrize("name", ["mcts", "alphabeta"])
def test_a_win_at_ultimate_is_taken_and_reported_as_proved(name: str) -> None:
    game, rng, won = find_game("ultimate"), random.Random(3), 0
    while won < 10:
        state = game.initial
        while not game.is_terminal(state):
            before, state = state, game.result(state, rng.choice(game.actions(state)))
        if game.utility(state, game.to_move(before)) == 1:
            won += 1
            choice = find_strategy(name, seed=1)(game, before, Limit(nodes=2_000))
            assert (choice.value, choice.exact) == (WIN - 1, True)
            assert game.is_terminal(game.result(before, choice.move))


def test_ends_of_ultimate_that_playouts_prove_are_proved_by_the_rules() -> None:
    game, rng, proved = find_game("ultimate"), random.Random(5), 0
    while proved < 20:
        state = game.initial
        while not game.is_terminal(state) and state.closed.bit_count() < 7:
            state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state) and len(game.actions(state)) < 6:
            choice = find_strategy("mcts", seed=1)(game, state, Limit(nodes=20_000))
            if choice.value is not None and (is_decided(choice.value) or choice.exact):
                proved += 1
                assert (choice.value > 0) - (choice.value < 0) == _searched(game, state)


def _searched(game: Game[Any], state: Any) -> int:
    """Return what a position is worth to the side to move, by a search of all that can follow."""
    if game.is_terminal(state):
        return game.utility(state, game.to_move(state))
    best = -1
    for move in game.actions(state):
        best = max(best, -_searched(game, game.result(state, move)))
        if best == 1:
            break
    return best
