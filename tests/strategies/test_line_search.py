import random
from typing import Any

import numpy as np
import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import after_names
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.notation import read_position
from ttt_net.laboratory.strategy_arena import Entrant, play, random_opening
from ttt_net.strategies import Limit, engine, find_strategy
from ttt_net.strategies.alphabeta import Deepening, PlainSearch
from ttt_net.strategies.heuristic import own_and_other, wins
from ttt_net.strategies.strategy import DECIDED, WIN, Effort, is_decided, plies_to_end

pytest.importorskip("numba")

from ttt_net.strategies.compiled.lines import LineSearch, stopping


def compiled(game: Game[Any], limit: Limit) -> Deepening[Any]:
    search = engine.line_search(game, Effort(limit), random.Random(1))
    assert search is not None
    return Deepening(game, search, limit)


def plain(game: Game[Any], limit: Limit) -> Deepening[Any]:
    return Deepening(game, PlainSearch(game, Effort(limit), random.Random(1)), limit)


def random_state(game: Game[Any], plies: int, rng: random.Random) -> Any:
    """A position after that many random moves, or before the game would have ended."""
    state = game.initial
    for _ in range(plies):
        after = [game.result(state, move) for move in game.actions(state)]
        quiet = [child for child in after if not game.is_terminal(child)]
        if not quiet:
            break
        state = rng.choice(quiet)
    return state


@pytest.mark.parametrize(
    ("name", "value", "plies"),
    [
        ("tictactoe3d", 1, 7),
        ("mnk:5x4,3", 1, 5),
        ("mnk:7x3,3", 1, 7),
        ("connect:5x4,3", 1, None),
        ("connect:6x3,4", 0, None),
        ("mnk:6x3,4", 0, None),
    ],
)
def test_games_of_up_to_64_cells_are_solved(name: str, value: int, plies: int | None) -> None:
    game = find_game(name)
    choice = compiled(game, Limit()).choose(game.initial)
    assert choice.exact
    assert (choice.value > 0) - (choice.value < 0) == value if choice.value is not None else False
    if plies is not None:
        assert choice.value == WIN - plies


@pytest.mark.parametrize("name", ["connect:6x3,3", "connect:5x4,4", "mnk:6x3,3"])
def test_it_agrees_with_exhaustive_search_in_value_and_in_plies(name: str) -> None:
    game, rng = find_game(name), random.Random(8)
    oracle = Oracle(game)
    for _ in range(25):
        state = random_state(game, rng.randrange(8, 16), rng)
        if not game.is_terminal(state):
            value, plies = oracle.judge(state)
            choice = compiled(game, Limit()).choose(state)
            assert (choice.value, choice.exact) == (value * (WIN - plies), True)
            assert oracle.judge_move(state, choice.move)[0] == value


@pytest.mark.parametrize("name", ["qubic", "scorefour", "mnk:7x7,4", "connect:8x7,4"])
def test_the_compiled_search_proves_everything_that_the_plain_one_proves_and_not_later(name: str) -> None:
    game, rng, decided = find_game(name), random.Random(5), 0
    for _ in range(12):
        state = random_state(game, rng.randrange(10, 22), rng)
        slow, fast = (make(game, Limit(depth=3)).choose(state) for make in (plain, compiled))
        assert slow.value is not None
        assert fast.value is not None
        if is_decided(slow.value):
            decided += 1
            assert is_decided(fast.value)
            assert (slow.value > 0) == (fast.value > 0)
            assert plies_to_end(fast.value) == plies_to_end(slow.value)
    assert decided > 0


def test_its_estimate_is_that_of_the_plain_search() -> None:
    game, rng, compared = find_game("mnk:8x8,5"), random.Random(6), 0
    for _ in range(20):
        state = random_state(game, 8, rng)
        slow, fast = (make(game, Limit(depth=1)).choose(state) for make in (plain, compiled))
        if not is_decided(fast.value or 0) and not is_decided(slow.value or 0):
            compared += 1
            assert slow.value == fast.value
    assert compared > 5


def test_its_expected_line_can_be_played() -> None:
    game, rng = find_game("qubic"), random.Random(7)
    for _ in range(10):
        state = random_state(game, 14, rng)
        for move in compiled(game, Limit(nodes=20_000)).choose(state).line:
            state = game.result(state, move)


def test_it_keeps_its_limit_of_nodes() -> None:
    game = find_game("qubic")
    assert compiled(game, Limit(nodes=1_000)).choose(game.initial).counts.nodes == 1_000


def test_it_beats_tactics_on_qubic_from_random_openings() -> None:
    game, rng = find_game("qubic"), random.Random(4)
    engine.load(game)
    for number in range(2):
        opening = random_opening(game, 2, rng)
        players = [Entrant(name, find_strategy(name, seed=number)) for name in ("alphabeta", "tactics")]
        for first in (0, 1):
            utility, moves, _ = play(game, (players[first], players[1 - first]), Limit(nodes=400_000), opening)
            assert utility == (-1 if first else 1), moves


def threat_of_the_other_side(game: LineGame, state: LineState) -> tuple[int, ...] | None:
    """The win by threats that the other side would have if it were to move, or None."""
    search = engine.line_search(game, Effort(Limit()), random.Random(1))
    assert search is not None
    return search.forced_win(LineState(state.second, state.first, state.ply, has_line=False))


@pytest.mark.parametrize("name", ["qubic", "scorefour", "mnk:7x7,4", "connect:8x7,4"])
def test_a_win_by_threats_is_stopped_only_where_the_search_looks(name: str) -> None:
    game, rng, stopped = find_game(name), random.Random(12), 0
    assert isinstance(game, LineGame)
    while stopped < 10:
        state = random_state(game, rng.randrange(8, 28), rng)
        own, other = own_and_other(state)
        search = LineSearch(game, Effort(Limit()), rng)
        line = search.forced_win(LineState(state.second, state.first, state.ply, has_line=False))
        if line is None or wins(game, state, other, own):
            continue
        block = np.uint64(search.block.ctypes.data)
        cells = int(stopping(np.uint64(own), np.uint64(other), state.ply, state.ply + len(line), block))
        for move in game.actions(state):
            child = game.result(state, move)
            if not cells >> move & 1:
                assert LineSearch(game, Effort(Limit()), rng).forced_win(child) is not None
            elif not game.is_terminal(child):
                stopped += LineSearch(game, Effort(Limit()), rng).forced_win(child) is None


@pytest.mark.parametrize("name", ["qubic", "scorefour"])
def test_defensible_positions_are_defended(name: str) -> None:
    game, rng, threatened = find_game(name), random.Random(13), 0
    assert isinstance(game, LineGame)
    engine.load(game)
    for plies in [6, 8, 10] * 6:
        state = random_state(game, plies, rng)
        choice = find_strategy("alphabeta")(game, state, Limit(nodes=200_000))
        child = game.result(state, choice.move)
        if choice.value is not None and not is_decided(choice.value):
            threatened += threat_of_the_other_side(game, state) is not None
            assert LineSearch(game, Effort(Limit()), rng).forced_win(child) is None
    assert threatened > 0


@pytest.mark.parametrize(
    ("position", "plies"),
    [
        ("..O./..X./OXOO/..O.|..../..O./.OX./....|..../.XX./.XO./....|..../.X../...X/..X.", 15),
        ("..../..../.X../.O..|..../.XX./.O../....|..../.OX./.X../....|.X../..../..O./O...", 21),
        ("...X/..../..../....|..../..O./.XX./....|..../.X../.O../....|O.../O.../X.../O..X", 15),
    ],
)
def test_a_lost_position_of_qubic_is_defended_as_long_as_can_be(position: str, plies: int) -> None:
    # From games lost against `tactics`, which found its short wins: in these the move played lost in 7, 9 and 11 plies.
    game = find_game("qubic")
    assert isinstance(game, LineGame)
    state = read_position(game, position)
    engine.load(game)
    choice = find_strategy("alphabeta")(game, state, Limit(nodes=1_000_000))
    assert choice.value is not None
    assert choice.value < 0
    assert is_decided(choice.value)
    line = LineSearch(game, Effort(Limit()), random.Random(1)).forced_win(game.result(state, choice.move))
    assert line is not None
    assert len(line) >= plies


@pytest.mark.parametrize("name", ["qubic", "scorefour"])
def test_wins_by_threats_are_those_that_trying_all_of_them_finds(name: str) -> None:
    game, rng, found = find_game(name), random.Random(9), 0
    assert isinstance(game, LineGame)
    for plies in [10, 14, 18] * 6:
        state = random_state(game, plies, rng)
        search = engine.line_search(game, Effort(Limit()), rng)
        assert search is not None
        line, slow = search.forced_win(state), slow_win_by_threats(game, state, 2)
        found += slow is not None
        assert (line is not None and len(line) <= 5) == (slow is not None)
        if line is not None:
            assert slow is None or len(line) == slow
            for move in line:
                state = game.result(state, move)
            assert state.has_line
    assert 2 < found < 16


def slow_win_by_threats(game: LineGame, state: LineState, threats: int) -> int | None:
    """The fewest plies in which the side to move wins by threats alone, found by the rules; None without one."""
    if wins(game, state, *own_and_other(state)):
        return 1
    best = None
    for move in game.actions(state) if threats else ():
        child = game.result(state, move)
        own, other = own_and_other(child)
        replies = wins(game, child, other, own)
        if game.is_terminal(child) or not replies or wins(game, child, own, other):
            continue
        reply = game.result(child, min(replies))
        rest = slow_win_by_threats(game, reply, threats - 1 if len(replies) == 1 else 0)
        if rest is not None and (best is None or rest + 2 < best):
            best = rest + 2
    return best


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("d1 c2 c2 d4 a1 a4 c1 b1 c1 a2 c4 c2 c1 c1 b1 b2 d2 b4 b3 d1 b3 b3 d1", "d1"),
        ("b4 b3 b3 a4 a1 d1 c2 d3 c2 c2 a3 a4 d4 a4 a4 b3 b2 c3 c3 d3 b2 a1 b2", "b2"),
    ],
)
def test_a_lost_position_is_not_given_up_where_a_threat_can_still_be_blocked(text: str, block: str) -> None:
    game = find_game("scorefour")
    choice = compiled(game, Limit(nodes=20_000)).choose(after_names(game, text))
    assert choice.value is not None
    assert choice.value < -DECIDED
    assert game.move_names[choice.move] == block
