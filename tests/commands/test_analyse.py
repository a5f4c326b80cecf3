import io
import json
from typing import Any

import pytest

from ttt_net.__main__ import main
from ttt_net.commands.analyse import in_words
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.compiled.fives import ALMOST_LOST
from ttt_net.strategies.strategy import WIN


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["analyse", *arguments]) == 0
    return capsys.readouterr().out


def test_the_board_every_move_and_the_best_line_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "X../O../XOX")
    assert "O to move." in shown
    assert "loss in 2" in shown
    assert "Best: b2 (win in 3)" in shown


def test_a_finished_game_is_shown_with_its_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    assert "The game is over: won by X." in printed(capsys, "--moves", "a1 a2 b1 b2 c1")


def test_a_win_that_may_come_sooner_is_not_told_to_the_ply() -> None:
    value = WIN - 9
    assert in_words(Verdict(value, exact=True, line=())) == "win in 9"
    assert in_words(Verdict(value, exact=False, line=())) == "win in 9 at most"
    assert in_words(Verdict(-value, exact=False, line=())) == "loss in 9 at most"


def test_an_estimate_that_only_an_unseen_move_could_prove_wrong_is_told_in_words() -> None:
    assert in_words(Verdict(ALMOST_LOST - 5, exact=False, line=())) == "looks won"
    assert in_words(Verdict(9 - ALMOST_LOST, exact=False, line=())) == "looks lost"
    assert in_words(Verdict(-71, exact=False, line=())) == "about -71"


def test_states_are_listed_as_the_game_tree_project_listed_them(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "[O,O,X, ,X, ,O,X, ]", "--states", "--strategy", "minimax").splitlines()
    assert len(shown) == 14
    assert shown[0] == "State=[O,O,X, ,X, ,O,X, ], Value=0"
    pruned = printed(capsys, "--position", "[O,O,X, ,X, ,O,X, ]", "--states", "--strategy", "alphabeta").splitlines()
    assert len(pruned) < 14
    assert pruned[0] == shown[0]


def test_the_trace_lists_each_board_and_ends_with_the_move_and_its_utility(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "X../O../XOX", "--trace").splitlines()
    assert shown[0] == "1. X../O../XOX"
    assert "4. XOX/OO./XOX  utility 1" in shown
    assert shown[-1] == "O plays b2, utility 1"


def test_the_tree_of_the_lecture_shows_values_and_the_recommendation(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", ".X./O.X/O..", "--tree", "--strategy", "lookahead", "--depth", "2")
    for child in ("a3  XX./O.X/O.. = +0", "c3  .XX/O.X/O.. = -1", "b1  .X./O.X/OX. = -2", "recommended: a3"):
        assert child in shown


def test_the_tree_says_where_and_why_a_branch_was_cut(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "OOX/.X./OX.", "--tree")
    assert "c1 cut: O has -1 here already, and alpha +0 is not below beta -1" in shown


def test_strategies_are_compared_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "X../.O./..X", "--compare")
    assert "terminal" in shown
    assert "mcts" in shown


@pytest.mark.parametrize("order", ["centre", "random", "b2 a3 c3"])
def test_an_order_of_moves_changes_what_alpha_beta_costs_and_not_its_value(
    order: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = printed(capsys, "--moves", "a1 b2", "--compare", "--order", order, "--seed", "1")
    rows = [line.split() for line in shown.splitlines() if line.startswith("alpha-beta: ")]
    nodes = [int(row[-4].replace(",", "")) for row in rows]
    assert [" ".join(row[1:-8]) for row in rows] == ["rows", order]
    assert [row[-7] for row in rows] == ["draw", "draw"]
    assert nodes[0] != nodes[1]


def test_a_tree_tries_moves_in_the_order_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "OOX/.X./OX.", "--trace", "--order", "c1 c2")
    assert shown.splitlines()[1] == "2. OOX/.X./OXX"
    assert main(["analyse", "--tree", "--order", "d9"]) == 2
    assert "d9 is no order and no move; orders are rows, centre, random" in capsys.readouterr().err
    assert main(["analyse", "--order", "rows"]) == 2
    assert "--order is for --tree" in capsys.readouterr().err


def test_lines_of_standard_input_are_answered_in_order_and_a_bad_one_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("moves 5 1 9\n\nmoves 5 5\nX../O../XOX\nmoves\n"))
    first, empty, taken, second, start = map(json.loads, printed(capsys, "--position", "-").splitlines())
    assert (first["position"], first["to_move"], first["value"], first["best"]) == ("O../.X./..X", "O", 0, ["c3", "a1"])
    assert "error" in empty
    assert "b2 is taken" in taken["error"]
    assert (second["value"], second["score"], second["best"], second["exact"]) == (1, 1, ["b2"], True)
    assert second["moves"]["b2"] == {"value": 1, "plies": 3, "exact": True}
    assert start["value"] == 0


@pytest.mark.parametrize("where", [("--moves", "4 4"), ("--position", "-")])
def test_a_search_begins_when_the_engine_is_there(where: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr("sys.stdin", io.StringIO("moves 4 4\n"))
    monkeypatch.setattr("ttt_net.commands.searching.load", lambda game: done.append(f"loaded for {game.name}"))
    monkeypatch.setattr("ttt_net.commands.analyse.answer", lambda *_: done.append("answered"))
    assert main(["analyse", "--game", "connect4", *where, "--json"]) == 0
    assert done == ["loaded for connect4", "answered"]


def test_moves_of_connect_four_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    answer: dict[str, Any] = json.loads(
        printed(capsys, "--game", "connect4", "--moves", "3 3 4 4", "--json", "--depth", "4")
    )
    assert (answer["value"], answer["score"], answer["best"]) == (1, 18, ["2", "5"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--position", "XX"], "row 1: 2 cells, not 3"),
        (["--number", "2"], "--number and --data say which match; they go with --match"),
        (["--tree"], "the tree has more than 5,000 positions; limit it with --depth"),
        (["--tree", "--strategy", "mcts"], "mcts grows no tree"),
        (["--strategy", "table", "--game", "qubic"], "none of Qubic"),
        (["--game", "misere", "--tree", "--strategy", "lookahead"], "Misère tic-tac-toe is not won by those"),
    ],
)
def test_impossible_analyses_are_rejected_in_one_line(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_the_trace_marks_boards_that_are_visited_again(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--position", "X../.O./..X", "--strategy", "minimax", "--trace").splitlines()[:-1]
    boards = [line.split()[1] for line in shown]
    for number, (board, line) in enumerate(zip(boards, shown, strict=True)):
        before = boards.index(board) + 1
        assert line.endswith(f"  again, as {before}.") == (before <= number)
    assert len(set(boards)) < len(boards)


@pytest.mark.parametrize(
    ("game", "position", "sum_in_words"),
    [
        ("tictactoe", "XX./.O./...", "By subtraction: 15 - 8 - 3 = 4, at c3: stops a win"),
        ("tictactoe", "XX./OO./...", "By subtraction: 15 - 8 - 3 = 4, at c3: wins"),
        ("tictactoe", "X../.../...", ""),
    ],
)
def test_magic_prints_its_subtraction(
    game: str, position: str, sum_in_words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = printed(capsys, "--game", game, "--position", position, "--strategy", "magic")
    assert (sum_in_words in shown) if sum_in_words else ("subtraction" not in shown)
