"""Lessons without a search agree with looking at all play of four plies."""

import random
from typing import Any

import pytest

from tests.strategies.positions import board, line_game
from ttt_net.games import Game, find_game
from ttt_net.laboratory.strategy_arena import random_opening
from ttt_net.strategies.sight import LOSS_IN_2, LOSS_IN_4, WIN_IN_1, WIN_IN_3, look, makes_two_rows

PLIES = {WIN_IN_1: 1, LOSS_IN_2: 2, WIN_IN_3: 3, LOSS_IN_4: 4}


def soonest(game: Game[Any], state: Any, plies: int) -> int:
    """Return in how many plies the side to move wins, or loses if that is below zero; 0 if in no so many."""
    results = []
    for move in game.actions(state):
        child = game.result(state, move)
        if game.is_terminal(child):
            if game.utility(child, game.to_move(state)) > 0:
                return 1
            results.append(0)
        elif plies == 1:
            results.append(0)
        else:
            found = -soonest(game, child, plies - 1)
            results.append(found + (found > 0) - (found < 0))
    wins = [result for result in results if result > 0]
    if wins:
        return min(wins)
    return min(results) if all(result < 0 for result in results) else 0


def value_of(game: Game[Any], state: Any, move: int) -> int:
    child = game.result(state, move)
    if game.is_terminal(child):
        return int(game.utility(child, game.to_move(state)) > 0)
    found = -soonest(game, child, 3)
    return found + (found > 0) - (found < 0)


@pytest.mark.parametrize(
    ("name", "plies", "is_complete"),
    [
        ("tictactoe", 3, True),
        ("mnk:4x4,3", 7, True),
        ("mnk:5x5,4", 14, True),
        ("tictactoe3d", 17, True),
        ("connect4", 12, False),
        ("connect:5x4,3", 5, False),
        ("scorefour", 50, False),
    ],
)
def test_visible_values_are_true_and_complete_on_flat_boards(name: str, plies: int, is_complete: bool) -> None:
    game, rng = find_game(name), random.Random(5)
    seen = 0
    for _ in range(25):
        state = game.initial
        for move in random_opening(game, plies, rng):
            state = game.result(state, move)
        sight = look(game, state)
        for move in game.actions(state):
            truth = value_of(game, state, move)
            value = sight.value(move)
            seen += value != 0
            if value:
                assert truth == (PLIES[value] if value > 0 else -PLIES[value]), (game.board(state), move)
            elif is_complete and not sight.wins:
                assert truth == 0, (game.board(state), move)
    assert seen > 10


@pytest.mark.parametrize("name", ["misere", "wild", "ultimate", "vanishing"])
def test_where_lines_do_not_say_all_the_next_two_plies_are_seen(name: str) -> None:
    game, rng = find_game(name), random.Random(2)
    for _ in range(10):
        state = game.initial
        for move in random_opening(game, 5 if name != "ultimate" else 40, rng):
            state = game.result(state, move)
        sight = look(game, state)
        for move in game.actions(state):
            child = game.result(state, move)
            if game.is_terminal(child):
                continue
            loses = any(
                game.is_terminal(after) and game.utility(after, sight.side) < 0
                for after in (game.result(child, reply) for reply in game.actions(child))
            )
            assert (sight.value(move) == LOSS_IN_2) == loses


@pytest.mark.parametrize(
    ("row", "column", "is_found"),
    [
        ("....*XX..", "....*XX..", True),
        ("..X.*X...", "...X*.X..", True),
        (".OXX*X...", "....*XX..", True),
        ("...O*XX..", "....*XX..", False),  # one of the rows has an end closed
        (".OXX*X...", "...O*XX..", False),
        ("..X.*....", ".........", False),
        (".OXX*X...", ".OXX*X...", False),  # two fours win at once, which is told otherwise
    ],
)
def test_a_move_makes_two_rows_if_each_becomes_a_win(row: str, column: str, is_found: bool) -> None:
    """The row and the column cross in the middle of an empty board, where the star stands for the move."""
    game, middle = line_game("gomoku"), 7
    cells = [["."] * 15 for _ in range(15)]
    for n in range(9):
        cells[middle + n - 4][middle] = column[n]
        if n != 4:
            cells[middle][middle + n - 4] = row[n]
    state = board("/".join("".join(each) for each in cells).replace("*", "."))
    assert makes_two_rows(game, state._replace(ply=0), 7 * 15 + 7) == is_found
