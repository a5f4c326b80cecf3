import random
from typing import Any

import pytest

from tests.strategies.positions import after_names, line_game
from ttt_net.games import Game, find_game
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.attention import Attention, distance_between, opposite

GOMOKU = line_game("gomoku")


def blocks(names: str, cells: set[str], *, seed: int = 1, sees: float = 0.8, tries: int = 300) -> float:
    """The share of moves that stop what the last but one position had: O to move, X having moved last at the end."""
    rng = random.Random(seed)
    *before, last = names.split()
    found = 0
    for _ in range(tries):
        eye = Attention(rng)
        earlier = after_names(GOMOKU, " ".join(before[:-1]))
        eye.leave(GOMOKU, earlier, GOMOKU.moves_by_name[before[-1]][0])
        state = after_names(GOMOKU, names)
        move = eye.choose(GOMOKU, state, list(GOMOKU.actions(state)), sees)
        found += GOMOKU.move_names[move] in cells
    assert last
    return found / tries


ROW = "f8 a1 g8 a3 h8 a5 i8"
DIAGONAL = "f6 a1 g7 a3 h8 a5 i9"
FAR = "f8 a1 g8 a3 h8 a5 i8 a7 o15"


def test_a_diagonal_is_overlooked_more_often_than_a_row() -> None:
    in_a_row, on_a_diagonal = blocks(ROW, {"e8", "j8"}), blocks(DIAGONAL, {"e5", "j10"})
    assert in_a_row > on_a_diagonal + 0.05


def test_a_threat_far_from_the_last_move_is_overlooked_more_often() -> None:
    assert blocks(ROW, {"e8", "j8"}) > blocks(FAR, {"e8", "j8"}) + 0.05


def test_a_player_who_sees_everything_blocks_always() -> None:
    assert blocks(DIAGONAL, {"e5", "j10"}, sees=1.0, tries=100) > 0.97


@pytest.mark.parametrize("level", [1, 2])
def test_low_levels_play_near_the_action_and_extend_their_own_rows(level: int) -> None:
    game: Game[Any] = GOMOKU
    player = find_strategy("alphabeta", seed=3, level=level)
    near = rows = moves = 0
    for _ in range(4):
        state = game.initial
        while not game.is_terminal(state) and len(game.actions(state)) > 185:
            own = [cell for cell, mark in enumerate(game.board(state)) if mark == "XO"[game.to_move(state)]]
            marked = [cell for cell, mark in enumerate(game.board(state)) if mark != "."]
            move = player(game, state, Limit(nodes=500)).move
            if own:
                moves += 1
                near += min(distance_between(game, cell, move) for cell in marked) <= 2
                rows += min(distance_between(game, cell, move) for cell in own) <= 2
            state = game.result(state, move)
    assert near / moves > 0.9
    assert rows / moves > 0.5


def test_the_opposite_cell_is_across_the_middle_or_the_middle_column_where_marks_fall() -> None:
    connect4 = find_game("connect4")
    assert opposite(GOMOKU, GOMOKU.moves_by_name["a1"][0]) == GOMOKU.moves_by_name["o15"][0]
    assert opposite(connect4, 35) == 41
    assert opposite(connect4, 38) == 38
