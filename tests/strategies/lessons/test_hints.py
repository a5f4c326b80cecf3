from typing import Any

import pytest

from tests.strategies.positions import after_names
from ttt_net.games import Game, find_game
from ttt_net.games.notation import read_move
from ttt_net.strategies.lessons.hints import hint, warning, warning_of_move


def after(name: str, text: str) -> tuple[Game[Any], Any]:
    game = find_game(name)
    return game, after_names(game, text)


@pytest.mark.parametrize(
    ("name", "text", "moves", "sentence"),
    [
        ("tictactoe", "a1 b1 a2 b2", "a3", "You can win at once with a3."),
        ("tictactoe", "b2 b3 a3", "c1", "You have to play c1: they have two in a row."),
        ("connect4", "4 1 3 1", "5", "5 makes two threats at once, and they can stop one."),
        ("connect4", "4 1 3", "2 5 6", "You should play 2, 5 or 6: they have two in a row with both ends open."),
        (
            "gomoku",
            "h8 a1 i8 a2 j8",
            "g8 k8",
            "You should play g8 or k8: they have three in a row with both ends open.",
        ),
    ],
)
def test_a_hint_says_what_to_see_first(name: str, text: str, moves: str, sentence: str) -> None:
    game, state = after(name, text)
    found = hint(game, state)
    assert found is not None
    assert found.text == sentence
    assert [game.move_names[move] for move in found.moves] == moves.split()


def test_a_quiet_position_has_no_hint_and_no_warning() -> None:
    game, state = after("gomoku", "h8")
    assert hint(game, state) is None
    assert warning(game, state, 0) is None
    assert warning(game, state, 1) is None


def test_each_side_is_warned_of_the_other() -> None:
    game, state = after("connect4", "4 1 3")
    theirs, ours = warning(game, state, 1), warning(game, state, 0)
    assert theirs is not None
    assert theirs.text == "Beware of 5: they have two in a row with both ends open."
    assert ours is None
    game, state = after("connect4", "4 1 4 1 4 2")
    assert (found := warning(game, state, 1)) is not None
    assert found.text == "They can win at once with 4."


def test_a_move_that_hands_over_a_win_is_warned_of() -> None:
    game, state = after("connect4", "4 1 3")
    found = warning_of_move(game, state, read_move(game, state, "7"))
    assert found is not None
    assert found.text.startswith("7 lets them make two threats at once with ")
    assert warning_of_move(game, state, read_move(game, state, "2")) is None


def test_a_game_that_is_over_has_neither() -> None:
    game, state = after("tictactoe", "a1 b1 a2 b2 a3")
    assert hint(game, state) is None
    assert warning(game, state, 0) is None
