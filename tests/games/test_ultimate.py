"""Small boards described for clients, which know no rules."""

from ttt_net.games import find_game
from ttt_net.games.notation import read_move


def test_the_small_boards_are_described_as_won_dead_or_open() -> None:
    game = find_game("ultimate")
    state = game.initial
    assert game.blocks(state) == "........."
    for word in ["5:a1", "7:c1", "9:b2", "5:b2", "5:c1", "9:a1", "7:a2", "4:b2", "5:b1"]:
        state = game.result(state, read_move(game, state, word))
    assert game.blocks(state) == "....X...."


def test_a_full_small_board_without_a_winner_is_described_as_dead() -> None:
    game = find_game("ultimate")
    rows = ["XOX......", "XOO......", "OXX......", *["........."] * 6]
    first = sum(1 << (y * 9 + x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "X")
    second = sum(1 << (y * 9 + x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "O")
    state = game.initial._replace(first=first, second=second, ply=9, closed=1)
    assert game.blocks(state) == "=........"


def test_other_games_have_no_small_boards() -> None:
    game = find_game("tictactoe")
    assert game.blocks(game.initial) == ""
