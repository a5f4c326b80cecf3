"""Advice: a move that can be made, and a sentence with its name, in every game."""

import random

import pytest

from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.notation import read_position
from ttt_net.strategies.lessons.hints import advise
from ttt_net.strategies.strategy import Limit

LIMIT = Limit(nodes=2000)


@pytest.mark.parametrize("name", NAMES)
def test_in_every_game_a_legal_move_is_advised_and_named_until_the_end(name: str) -> None:
    game, rng = find_game(name), random.Random(1)
    state = game.initial
    for _ in range(12):
        found = advise(game, state, LIMIT)
        if game.is_terminal(state):
            assert found is None
            return
        assert found is not None
        assert set(found.moves) <= set(game.actions(state))
        assert game.move_names[found.moves[0]] in found.text
        assert found.text.endswith(".")
        state = game.result(state, rng.choice(list(game.actions(state))))


def test_a_fork_that_wins_is_advised_with_what_it_makes() -> None:
    pytest.importorskip("numba")
    game = find_game("gomoku")
    state = game.initial
    for name in ["h8", "a1", "i8", "g8", "j8", "o15", "l9", "o1", "l10", "a15"]:
        state = game.result(state, game.move_names.index(name))
    found = advise(game, state, Limit(nodes=6000))
    assert found is not None
    assert found.text == "l8 makes two threats at once, and they can stop one."


@pytest.mark.parametrize(
    ("position", "moves", "text"),
    [
        ("XX./OO./...", (2,), "You can win at once with c3."),
        ("XX./.O./...", (2,), "You have to play c3: they have two in a row."),
        ("X../.../..O", None, "you can win with it, in 3 moves of yours."),
        ("XOX/.O./.X.", None, "Try "),
        (".../.../...", (4,), "Try b2: many lines go through it."),
        ("X.X/O../XO.", None, "They can win whatever you do"),
    ],
)
def test_what_can_be_seen_or_proved_is_the_reason(position: str, moves: tuple[int, ...] | None, text: str) -> None:
    game = find_game("tictactoe")
    found = advise(game, read_position(game, position), LIMIT)
    assert found is not None
    assert text in found.text
    assert moves is None or found.moves == moves
