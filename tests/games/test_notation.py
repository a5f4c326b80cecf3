"""Moves and positions as text and back."""

import itertools
import random
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.plays import game_names, positions, random_play, seeds
from ttt_net.errors import Code, Refusal
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.game import Game
from ttt_net.games.notation import (
    MAX_MOVE_LENGTH,
    MAX_POSITION_LENGTH,
    read_move,
    read_position,
    write_move,
    write_position,
)

GameAndState = tuple[Game[Any], Any]


@given(positions())
def test_a_written_move_reads_as_the_same_move(found: GameAndState) -> None:
    game, state = found
    for move in game.actions(state):
        assert read_move(game, state, write_move(game, move)) == move
        assert read_move(game, state, f" {write_move(game, move).upper()} ") == move


@given(positions())
def test_a_written_position_reads_as_the_same_position(found: GameAndState) -> None:
    game, state = found
    text = write_position(game, state)
    assert "\n" not in text
    assert read_position(game, text) == state
    assert read_position(game, text.lower().replace(".", "-").replace("/", "\n")) == state


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("tictactoe", "b2", "b2"), ("tictactoe", " B 2\n", "b2"), ("tictactoe", "5", "b2"), ("tictactoe", "1", "a3"),
        ("tictactoe", "1,0", "a2"), ("tictactoe", "(1, 0)", "a2"), ("tictactoe", "9", "c1"), ("misere", "2,2", "c1"),
        ("gomoku", "O15", "o15"), ("gomoku", "225", "o1"), ("mnk:19x19,5", "s19", "s19"), ("mnk:4x2,3", "1,3", "d1"),
        ("connect4", "4", "4"), ("connect4", "D", "4"), ("connect4", "d1", "4"), ("connect4", "5,3", "4"),
        ("tictactoe3d", "2:B2", "2:b2"), ("tictactoe3d", "14", "2:b2"), ("tictactoe3d", "(2,0,1)", "3:b3"),
        ("scorefour", "b3", "b3"), ("scorefour", "1:b3", "b3"), ("qubic+swap", "4:d1", "4:d1"),
        ("wild", "xb2", "Xb2"), ("wild", "o 5", "Ob2"), ("wild", "X1,1", "Xb2"), ("vanishing", "b2", "b2"),
        ("ultimate", "5:b2", "5:b2"), ("ultimate", "5:5", "5:b2"), ("ultimate", "4,4", "5:b2"),
        ("ultimate", "a9", "1:a3"),
    ],
)  # fmt: skip
def test_a_first_move_reads_in_all_the_ways_that_people_write(name: str, text: str, written: str) -> None:
    game = find_game(name)
    assert write_move(game, read_move(game, game.initial, text)) == written


@pytest.mark.parametrize(
    ("name", "text", "code", "reason"),
    [
        ("tictactoe", "", Code.BAD_NOTATION, "'' is not a move; moves look like a3 or b2"),
        ("tictactoe", "b" * 25, Code.BAD_NOTATION, "is not a move"),
        ("tictactoe", "d1", Code.BAD_NOTATION, "there is no cell 'd1'; cells are a1 to c3"),
        ("tictactoe", "a0", Code.BAD_NOTATION, "there is no cell 'a0'"),
        ("tictactoe", "10", Code.BAD_NOTATION, "there is no cell '10'"),
        ("tictactoe", "0", Code.BAD_NOTATION, "there is no cell '0'"),
        ("tictactoe", "3,0", Code.BAD_NOTATION, "there is no cell '3,0'"),
        ("tictactoe", "xb2", Code.BAD_NOTATION, "there is no cell 'xb2'"),
        ("tictactoe", "٢", Code.BAD_NOTATION, "there is no cell"),
        ("connect4", "8", Code.BAD_NOTATION, "there is no cell '8'"),
        ("connect4", "h", Code.BAD_NOTATION, "there is no cell 'h'"),
        ("connect4", "d2", Code.ILLEGAL_MOVE, "a mark in column 4 does not land on d2"),
        ("tictactoe3d", "b2", Code.BAD_NOTATION, "cells are a1 to c3 in layers 1 to 3"),
        ("tictactoe3d", "0:b2", Code.BAD_NOTATION, "there is no cell '0:b2'"),
        ("tictactoe3d+swap", "swap", Code.ILLEGAL_MOVE, "swap is possible only in answer to the first move"),
        ("scorefour", "2:b3", Code.ILLEGAL_MOVE, "a mark in column b3 does not land on 2:b3"),
        ("wild", "b2", Code.BAD_NOTATION, "'b2' may be Xb2 or Ob2"),
        ("ultimate", "0:b2", Code.BAD_NOTATION, "there is no cell '0:b2'"),
    ],
)
def test_a_move_that_cannot_be_read_is_refused_with_the_reason(name: str, text: str, code: Code, reason: str) -> None:
    game = find_game(name)
    with pytest.raises(Refusal, match=re.escape(reason)) as refused:
        read_move(game, game.initial, text)
    assert refused.value.code is code


@pytest.mark.parametrize(
    ("name", "moves", "text", "reason"),
    [
        ("tictactoe", "b2", "B2", "cell b2 is taken; legal: a3, b3, c3, a2, c2, a1, b1, c1"),
        ("tictactoe", "a1 b1 a2 b2 a3", "c3", "legal: nothing, the game is over"),
        ("connect4", "1 1 1 1 1 1", "1", "column 1 is full"),
        ("ultimate", "5:a3", "5:a3", "cell 5:a3 is taken"),
        ("ultimate", "5:a3", "2:a3", "2:a3 is in board 2, and this move is in board 1"),
        ("qubic+swap", "1:a1 1:a2", "swap", "swap is possible only in answer to the first move"),
        ("wild", "Xb2", "Ob2", "cell Ob2 is taken"),
        ("gomoku", "a1", "a1", "and 212 more"),
    ],
)
def test_a_move_that_is_no_longer_legal_is_refused_with_the_reason(
    name: str, moves: str, text: str, reason: str
) -> None:
    game = find_game(name)
    state = game.initial
    for word in moves.split():
        state = game.result(state, read_move(game, state, word))
    with pytest.raises(Refusal, match=re.escape(reason)):
        read_move(game, state, text)


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(max_size=MAX_MOVE_LENGTH + 2))
def test_any_text_is_a_legal_move_or_a_refusal(name: str, text: str) -> None:
    game = find_game(name)
    try:
        move = read_move(game, game.initial, text)
    except Refusal:
        return
    assert move in game.actions(game.initial)


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("tictactoe", "X.O/.X./..O", "X.O/.X./..O"),
        ("tictactoe", " X \nO X\nO  ", ".X./O.X/O.."),
        ("tictactoe", "[O,O,X, ,X, ,O,X, ]", "OOX/.X./OX."),
        ("tictactoe", "x - o / _ x _ / . . o", "X.O/.X./..O"),
        ("wild", "OO./.../...", "OO./.../..."),
        ("scorefour", "|".join(["X.../..../..../....", *["/".join(["...."] * 4)] * 3]),
         "|".join(["X.../..../..../....", *["/".join(["...."] * 4)] * 3])),
        ("mnk:3x3,3+swap", "X../.../... Swapped", "X../.../... swapped"),
        ("vanishing", ".../.../.XO after b1, c1", ".../.../.XO after b1 c1"),
        ("ultimate", "/".join([*["." * 9] * 4, "....X....", *["." * 9] * 4]) + " NEXT 5",
         "/".join([*["." * 9] * 4, "....X....", *["." * 9] * 4]) + " next 5"),
    ],
)  # fmt: skip
def test_a_position_reads_in_all_the_ways_that_people_write(name: str, text: str, written: str) -> None:
    game = find_game(name)
    assert write_position(game, read_position(game, text)) == written


NINE = "." * 9


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("tictactoe", "", "row 1: 0 cells, not 3"),
        ("tictactoe", "X.O/.X.", "2 rows; the board has 3"),
        ("tictactoe", "X.O/.X./..O/...", "4 rows; the board has 3"),
        ("tictactoe", "X.O/.XX./..O", "row 2: 4 cells, not 3"),
        ("tictactoe", "X.O/.Z./..O", "row 2: 'Z' is not a mark"),
        ("tictactoe", "[X,O]", "a list of 2 cells; the board has 9"),
        ("tictactoe", "X" * (MAX_POSITION_LENGTH + 1), "more than 2000 characters"),
        ("tictactoe", "X.O/.X./..O next 5", "tictactoe needs no words there"),
        ("tictactoe", "O../.../...", "0 X and 1 O; X begins"),
        ("tictactoe", "XX./.../...", "2 X and 0 O; X begins"),
        ("tictactoe", "XXX/OOO/...", "both sides have a line"),
        ("tictactoe", "XXX/OO./O..", "play went on after a line was complete"),
        ("tictactoe", "OOO/XX./XX.", "play went on after a line was complete"),
        ("mnk:6x3,3", "XXX.../OO.OO./XXX.O.", "play went on after a line was complete"),
        ("wild", "XXX/XXX/OO.", "play went on after a line was complete"),
        ("wild", "XXX/.../OOO", "there is a line of X and one of O"),
        ("mnk:6x3,3", "XXXXXX/OO.OO./O.....", "play went on after a line was complete"),
        ("connect4", "......./......./......./......./...X.../.......", "a mark floats in the air: d2"),
        ("connect4", "......./......./X....../X....../O....../O......", "there is no order of moves"),
        ("connect4", "......./......./O....../XXXX.../OOXO.../XOXOO..", "play went on after a line was complete"),
        ("scorefour", "|".join(["/".join(["...."] * 4), "X.../..../..../....", *["/".join(["...."] * 4)] * 2]),
         "a mark floats in the air: 2:a4"),
        ("mnk:3x3,3+swap", ".../.../... swapped", "there is no first move to take over"),
        ("vanishing", "X../.../...", "the moves lead to ........."),
        ("vanishing", "X../.../... after b2", "the moves lead to ....X...."),
        ("vanishing", "X../.../... after b2 b2", "move 2: cell b2 is taken"),
        ("vanishing", "X../.../... after z9", "move 1: there is no cell 'z9'"),
        ("vanishing", "X../.../... next 1", "expected: after b2 a1 ..."),
        ("ultimate", "/".join([*[NINE] * 4, "....X....", *[NINE] * 4]), "the next board is missing"),
        ("ultimate", "/".join([*[NINE] * 4, "....X....", *[NINE] * 4]) + " next 4", "cannot have led to board 4"),
        ("ultimate", "/".join([*[NINE] * 4, "....X....", *[NINE] * 4]) + " next 0", "expected: next 1 to next 9"),
        ("ultimate", "/".join([NINE] * 9) + " next 1", "there is no next board 1 here"),
        ("ultimate", "/".join(["XXX......", "OOO......", *[NINE] * 7]), "board 1 has two winners"),
        ("ultimate", "/".join(["XX.......", *[NINE] * 8]), "2 X and 0 O"),
    ],
)  # fmt: skip
def test_an_impossible_position_is_refused_with_the_reason(name: str, text: str, reason: str) -> None:
    with pytest.raises(Refusal, match=re.escape(reason)) as refused:
        read_position(find_game(name), text)
    assert refused.value.code is Code.BAD_NOTATION


@given(game_names, seeds)
def test_marks_thrown_at_random_are_a_position_of_the_game_or_a_refusal(name: str, seed: int) -> None:
    game, rng = find_game(name), random.Random(seed)
    cells = len(game.board(game.initial))
    board = "".join(rng.choices("XO.", weights=(2, 2, rng.choice((1, 4, 12))), k=cells))
    try:
        state = game.place(board, "")
    except Refusal:
        return
    assert game.board(state) == board
    assert game.is_terminal(state) == (not game.actions(state))


@pytest.mark.parametrize("name", ["tictactoe", "connect:5x2,3"])
def test_reading_boards_of_a_small_game_accepts_exactly_the_reachable_ones(name: str) -> None:
    game = find_game(name)
    cells = len(game.board(game.initial))
    reachable, level = set(), {game.initial}
    while level:
        reachable |= level
        level = {game.result(state, move) for state in level for move in game.actions(state)}
    read = set()
    for board in map("".join, itertools.product(".XO", repeat=cells)):
        if abs(board.count("X") - board.count("O")) < 2:
            with suppress(Refusal):
                read.add(game.place(board, ""))
    assert read == reachable


@pytest.mark.parametrize("name", ["connect:19x19,5", "connect4", "scorefour"])
def test_long_plays_of_gravity_games_are_read_back(name: str) -> None:
    game, rng = find_game(name), random.Random(name)
    for _ in range(5):
        _, state = random_play(game, rng)
        assert read_position(game, write_position(game, state)) == state
