"""Random plays agree move by move with OpenSpiel, an independent program."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from ttt_net.games import find_game
from ttt_net.games.game import Game

pyspiel = pytest.importorskip("pyspiel", reason="open-spiel is not installed: pip install open-spiel")

FLAT = [
    ("tictactoe", "tic_tac_toe", 200),
    ("mnk:3x3,3", "mnk(m=3,n=3,k=3)", 100),
    ("mnk:5x4,4", "mnk(m=5,n=4,k=4)", 100),
    ("mnk:7x7,5", "mnk(m=7,n=7,k=5)", 20),
    ("gomoku", "gomoku", 3),
    ("tictactoe3d", "gomoku(size=3,connect=3,dims=3)", 100),
    ("qubic", "gomoku(size=4,connect=4,dims=3)", 20),
]
"""Games in which a move is the number of its cell, there as here."""
FALLING = [
    ("connect4", "connect_four", 100),
    ("connect:5x4,3", "connect_four(rows=4,columns=5,x_in_row=3)", 100),
    ("connect:8x7,5", "connect_four(rows=7,columns=8,x_in_row=5)", 50),
]
"""Games in which a move is the number of its column there."""


def check_ending(game: Game[Any], state: Any, theirs: Any) -> None:
    assert game.is_terminal(state) == theirs.is_terminal()
    if theirs.is_terminal():
        assert [game.utility(state, side) for side in (0, 1)] == theirs.returns()
    else:
        assert game.to_move(state) == theirs.current_player()


def plays(name: str, number: int) -> Iterator[tuple[Game[Any], random.Random]]:
    rng = random.Random(name)
    for _ in range(number):
        yield find_game(name), rng


@pytest.mark.parametrize(("ours", "name", "number"), FLAT, ids=[row[1] for row in FLAT])
def test_plays_of_flat_games_and_cubes_agree(ours: str, name: str, number: int) -> None:
    for game, rng in plays(ours, number):
        state, theirs = game.initial, pyspiel.load_game(name).new_initial_state()
        while not theirs.is_terminal():
            check_ending(game, state, theirs)
            assert list(game.actions(state)) == theirs.legal_actions()
            move = rng.choice(game.actions(state))
            state = game.result(state, move)
            theirs.apply_action(move)
        check_ending(game, state, theirs)


@pytest.mark.parametrize(("ours", "name", "number"), FALLING, ids=[row[1] for row in FALLING])
def test_plays_of_falling_games_agree(ours: str, name: str, number: int) -> None:
    for game, rng in plays(ours, number):
        state, theirs = game.initial, pyspiel.load_game(name).new_initial_state()
        while not theirs.is_terminal():
            check_ending(game, state, theirs)
            columns = {int(game.move_names[move]) - 1: move for move in game.actions(state)}
            assert sorted(columns) == theirs.legal_actions()
            column = rng.choice(sorted(columns))
            state = game.result(state, columns[column])
            theirs.apply_action(column)
            assert game.board(state) == str(theirs).replace("\n", "")[: len(game.board(state))].upper()
        check_ending(game, state, theirs)


def test_plays_of_ultimate_agree() -> None:
    for game, rng in plays("ultimate", 60):
        state, theirs = game.initial, pyspiel.load_game("ultimate_tic_tac_toe").new_initial_state()
        while not theirs.is_terminal():
            check_ending(game, state, theirs)
            # There a free choice of board is a move of its own; here board and cell are one.
            names = [game.move_names[move] for move in game.actions(state)]
            boards = sorted({int(name[0]) - 1 for name in names})
            if "Choose" in theirs.action_to_string(theirs.current_player(), theirs.legal_actions()[0]):
                assert boards == theirs.legal_actions()
                board = rng.choice(boards)
                theirs.apply_action(board)
            else:
                (board,) = boards
            moves = {
                "321".index(game.move_names[move][3]) * 3 + "abc".index(game.move_names[move][2]): move
                for move in game.actions(state)
                if int(game.move_names[move][0]) == board + 1
            }
            assert sorted(moves) == theirs.legal_actions()
            place = rng.choice(sorted(moves))
            state = game.result(state, moves[place])
            theirs.apply_action(place)
        check_ending(game, state, theirs)
