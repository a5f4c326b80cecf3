import json

import pytest

from ttt_net.__main__ import main


def test_puzzles_are_printed_one_a_line_or_as_boards(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["puzzles", "--count", "3", "--seed", "4", "--game", "tictactoe"]
    assert main([*asked, "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(told) == 3
    assert all(set(each) >= {"game", "position", "to_move", "solution", "why"} for each in told)
    assert main(asked) == 0
    shown = capsys.readouterr().out
    assert shown.count("Tic-tac-toe, ") == 3
    assert told[0]["why"] not in shown
    assert main([*asked, "--solution"]) == 0
    assert told[0]["why"] in capsys.readouterr().out


def test_without_a_seed_the_date_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["puzzles", "--game", "tictactoe", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "tictactoe"
