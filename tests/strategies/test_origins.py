"""The worked examples of the five pieces of course work that the strategies come from."""

import random
from typing import Any

import pytest

from tests.strategies.oracle import Oracle
from tests.strategies.positions import after, board
from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame
from ttt_net.strategies import Limit, find_strategy
from ttt_net.strategies.strategy import WIN, Effort
from ttt_net.strategies.textbook import Minimax, line_up, line_up_value, look
from ttt_net.strategies.tictactoe import (
    BLANK,
    CUBE,
    CUBE_SUM,
    ENTRIES,
    SQUARE,
    O,
    X,
    coded,
    move_table,
    number_of,
    third_in_square,
    winning_cell,
)


def play(name: str, state: Any, game: Game[Any]) -> int:
    return find_strategy(name, seed=1)(game, state, Limit()).move


# A. Game trees (a lecture on trees, 2008)


def test_a_line_up_is_worth_its_length_and_neighbours_must_touch(tictactoe: LineGame) -> None:
    assert line_up(tictactoe, board("XXX/.../...").first) == 3
    assert line_up(tictactoe, board("XX./.../...").first) == 2
    assert line_up(tictactoe, board("X.X/.../...").first) == 1
    assert line_up(tictactoe, board("... /...").first) == 0


def test_a_looks_two_plies_ahead_and_recommends_the_upper_left(tictactoe: LineGame) -> None:
    state = board(" X /O X/O  ")
    assert line_up_value(tictactoe, state, 0) == -1
    children = look(tictactoe, state, 2, Effort(Limit()))
    assert {child.move: child.value for child in children} == {0: 0, 2: -1, 4: -1, 7: -2, 8: -1}
    assert play("lookahead", state, tictactoe) == 0


# B. The game-tree project (minimax and alpha-beta)


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "table", "mcts"])
def test_b_the_one_move_that_draws_is_found(name: str, tictactoe: Game[Any]) -> None:
    choice = find_strategy(name, seed=1)(tictactoe, board("OOX/.X./OX."), Limit())
    assert (choice.move, choice.value, choice.exact) == (3, 0, True)


def test_b_the_whole_tree_has_14_states(tictactoe: Game[Any]) -> None:
    choice = Minimax(random.Random(), uses_table=False)(tictactoe, board("OOX/.X./OX."), Limit())
    assert choice.counts.nodes == 14


# C. Playing strategies in three approaches (a lecture on AI)


def test_c_the_table_has_an_entry_for_every_board_and_cell_1_is_the_most_significant_digit() -> None:
    assert len(move_table().replies) == ENTRIES == 19_683
    assert number_of("X........") == 6_561
    assert number_of("........O") == 2


def test_c_boards_that_need_no_reply_stay_as_they_are() -> None:
    for finished in ("XXXOO....", "XOXXOOOXX", "XXXXXXXXX"):
        assert move_table().replies[number_of(finished)] == number_of(finished)


def test_c_the_table_replies_in_the_centre_to_a_corner() -> None:
    assert move_table().replies[number_of("X........")] == number_of("X...O....")


def test_c_products_show_a_win_on_the_next_move() -> None:
    assert winning_cell(coded("XX......."), X) == 3
    assert winning_cell(coded("XX......."), O) is None
    assert winning_cell(coded("O...O...."), O) == 9
    assert BLANK * X * X == 18
    assert BLANK * O * O == 50


@pytest.mark.parametrize(
    ("picture", "cell"),
    [
        (".../.../...", 5),  # move 1: the centre
        (".../..X/...", 5),  # move 2: the centre if it is free,
        (".../.X./...", 1),  # else cell 1
        ("O../.X./...", 9),  # move 3: cell 9 if it is free,
        (".../.X./..O", 3),  # else 3
        ("O../.X./..X", 2),  # move 4: X cannot win, so make two: the centre is taken, a side is free
        ("XX./.O./...", 3),  # ... block X if X can win
        ("X../.O./X..", 4),
        ("OO./.X./..X", 3),  # move 5: X cannot win, so block
        ("O.O/.X./..X", 2),
        ("OX./.X./..O", 8),  # ... win
        ("O../.X./.OX", 7),  # ... else cell 7
        ("XX./OO./X..", 6),  # move 6: win,
        ("XOX/.O./X..", 8),  # ... and that by any line
        ("OX./.X./XO.", 3),  # ... else block
        ("XOX/XO./O.X", 8),  # move 8: win
        ("XOX/OXO/...", 9),  # move 7: win
        ("XOX/XXO/O.O", 8),  # move 9: any free cell
    ],
)
def test_c_each_move_has_its_rule(picture: str, cell: int, tictactoe: Game[Any]) -> None:
    assert play("rules", board(picture), tictactoe) == cell - 1


def test_c_three_cells_of_the_square_are_a_line_exactly_when_they_sum_to_15(tictactoe: LineGame) -> None:
    for one in range(9):
        for two in set(range(9)) - {one}:
            lines = [line for line in tictactoe.lines if line >> one & 1 and line >> two & 1]
            third = third_in_square(one, two)
            assert [1 << one | 1 << two | 1 << third] == lines if third is not None else not lines


def test_c_the_magic_square_plays_the_worked_game(tictactoe: Game[Any]) -> None:
    cells = {number: SQUARE.index(number) for number in SQUARE}
    moves = [cells[8], cells[5], cells[3]]
    for reply, next_of_x in ((4, 6), (1, 2), (9, None)):
        moves.append(play("magic", after(tictactoe, *moves), tictactoe))
        assert SQUARE[moves[-1]] == reply
        if next_of_x is not None:
            moves.append(cells[next_of_x])
    assert tictactoe.utility(after(tictactoe, *moves), 1) == 1


def test_c_the_magic_cube_holds_each_number_once_and_its_rows_columns_and_pillars_sum_to_42() -> None:
    assert sorted(CUBE) == list(range(1, 28))
    straight = [range(n, n + 3) for n in range(0, 27, 3)]
    straight += [range(z + x, z + x + 7, 3) for z in (0, 9, 18) for x in range(3)]
    straight += [range(n, n + 19, 9) for n in range(9)]
    assert len(straight) == 27
    assert all(sum(CUBE[cell] for cell in line) == CUBE_SUM for line in straight)
    assert sum(CUBE[cell] for cell in (0, 4, 8)) != CUBE_SUM  # the diagonal of a face


# D. Game-tree search (a notebook to a standard AI textbook)


def test_d_minimax_with_a_table_makes_16167_moves_and_5478_tests(tictactoe: Game[Any]) -> None:
    counts = find_strategy("minimax")(tictactoe, tictactoe.initial, Limit()).counts
    assert (counts.results, counts.tests) == (16_167, 5_478)


def test_d_plain_minimax_visits_549946_nodes(tictactoe: Game[Any]) -> None:
    counts = Minimax(random.Random(), uses_table=False)(tictactoe, tictactoe.initial, Limit()).counts
    assert (counts.nodes, counts.results, counts.tests) == (549_946, 549_945, 549_946)


def test_d_every_exact_strategy_agrees_on_every_position(tictactoe: Game[Any], oracle: Oracle) -> None:
    minimax, table = find_strategy("minimax"), find_strategy("table")
    for state in oracle.positions():
        if not tictactoe.is_terminal(state):
            value, plies = oracle.judge(state)
            for strategy in (minimax, table):
                choice = strategy(tictactoe, state, Limit())
                assert choice.value == value * (WIN - plies)
                assert choice.move in oracle.best_moves(state)
                assert len(choice.line) == plies or value == 0


def test_d_tactics_reaches_for_each_aim_in_turn(tictactoe: Game[Any]) -> None:
    assert play("tactics", board("XX./OO./..."), tictactoe) == 2  # wins rather than stops a win
    assert play("tactics", board("X../OO./X.."), tictactoe) == 5  # stops a win
    assert play("tactics", board("X.O/.../O.X"), tictactoe) == 4  # ... with the cell that also wins next
    assert play("tactics", board("X../.O./..X"), tictactoe) in (1, 3, 5, 7)  # two forks: a threat answers both
    assert play("tactics", board(".../.../..X"), tictactoe) == 4  # the centre
    assert play("tactics", board("O../.X./..."), tictactoe) == 8  # the opposite corner
    assert play("tactics", board(".../.X./..."), tictactoe) in (0, 2, 6, 8)  # a corner


def test_d_tactics_makes_a_fork(tictactoe: Game[Any]) -> None:
    state = board("X../.O./O.X")
    move = play("tactics", state, tictactoe)
    assert move == 2


# E. A practical report (alpha-beta against a person)


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "table", "mcts", "tactics", "magic", "rules"])
def test_e_o_wins_in_the_centre(name: str, tictactoe: Game[Any]) -> None:
    choice = find_strategy(name, seed=1)(tictactoe, board("X../O../XOX"), Limit())
    assert choice.move == 4


def test_e_any_other_move_loses(tictactoe: Game[Any], oracle: Oracle) -> None:
    state = board("X../O../XOX")
    assert {move: oracle.judge_move(state, move)[0] for move in tictactoe.actions(state)} == {1: -1, 2: -1, 4: 1, 5: -1}


def test_e_the_first_move_takes_no_noticeable_time(tictactoe: Game[Any]) -> None:
    counts = find_strategy("alphabeta")(tictactoe, tictactoe.initial, Limit()).counts
    assert counts.nodes < 6_000, "20 ms on a machine that does nothing else"


# What each of them cannot do


@pytest.mark.parametrize("name", ["table", "rules", "magic", "minimax"])
def test_a_strategy_made_for_small_boards_refuses_a_large_one_with_a_sentence(name: str) -> None:
    game = find_game("connect4")
    objection = find_strategy(name).objection(game)
    assert objection is not None
    assert "Connect Four" in objection
