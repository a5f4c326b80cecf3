"""The package and the slow rules agree on every position of random plays, and count the same."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest

from tests.games.slow import GAMES, Slow, SlowUltimate, slow_play
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.game import Game

PLAYS = {"gomoku": 1, "qubic": 3, "scorefour": 4, "ultimate": 5}
DEPTHS = {"gomoku": 2, "qubic": 2, "ultimate": 3, "tictactoe3d": 3, "tictactoe3d+swap": 2, "wild": 3, "connect4": 4}


def check(game: Game[Any], state: Any, slow: Slow | SlowUltimate) -> None:
    legal = game.actions(state)
    assert [game.move_names[move] for move in legal] == ordered(slow.legal(), game, legal)
    assert list(legal) == sorted(legal)
    assert game.board(state) == slow.board()
    assert list(game.line(state)) == slow.line()
    ending = game.outcome(state)
    assert (ending and (ending.winner, str(ending.reason))) == slow.ending()
    assert game.is_terminal(state) == (ending is not None)
    if ending is None:
        assert game.to_move(state) == slow.player()
    else:
        values = {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[ending.winner]
        assert (game.utility(state, 0), game.utility(state, 1)) == values


def ordered(names: list[str], game: Game[Any], legal: Sequence[int]) -> list[str]:
    """The names, in the package's order if they are the same ones: order is checked by number, not by name."""
    shown = [game.move_names[move] for move in legal]
    return shown if Counter(names) == Counter(shown) else names


@pytest.mark.parametrize("name", GAMES)
def test_every_position_of_random_play_agrees_with_the_slow_rules(name: str) -> None:
    game, rng = find_game(name), random.Random(name)
    for _ in range(PLAYS.get(name, 20)):
        state, slow = game.initial, slow_play(name)
        check(game, state, slow)
        while not game.is_terminal(state):
            move = rng.choice(game.actions(state))
            state = game.result(state, move)
            slow.play(game.move_names[move])
            check(game, state, slow)


def test_every_game_of_the_catalogue_has_slow_rules() -> None:
    assert set(NAMES) <= set(GAMES)


def after(game: Game[Any], states: Counter[Any]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for state, times in states.items():
        for move in game.actions(state):
            found[game.result(state, move)] += times
    return found


def slow_perft(slow: Slow | SlowUltimate, depth: int, counts: Callable[[int, str], None], ply: int = 0) -> None:
    counts(ply, slow.board())
    if ply < depth:
        for name in slow.legal():
            child = deepcopy(slow)
            child.play(name)
            slow_perft(child, depth, counts, ply + 1)


@pytest.mark.parametrize("name", [name for name in GAMES if name not in ("gomoku", "qubic")])
def test_the_numbers_of_paths_and_boards_by_ply_agree_with_the_slow_rules(name: str) -> None:
    depth = DEPTHS.get(name, 3)
    paths: Counter[int] = Counter()
    boards: dict[int, set[str]] = {}

    def count(ply: int, board: str) -> None:
        paths[ply] += 1
        boards.setdefault(ply, set()).add(board)

    slow_perft(slow_play(name), depth, count)
    game = find_game(name)
    states = Counter([game.initial])
    for ply in range(depth + 1):
        assert states.total() == paths[ply]
        assert {game.board(state) for state in states} == boards[ply]
        states = after(game, states)
