import json
from pathlib import Path

import pytest

from ttt_net.__main__ import main
from ttt_net.strategies import engine

LOST = "Game: tictactoe\nFirst: Ann\nSecond: Bob\n\n1. b2\n2. b3\n3. a3\n4. c1\n5. a1\n"


def test_a_recorded_match_is_shown_with_its_turning_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "match.txt"
    file.write_text(LOST + "6. a2\n7. c3\n", encoding="utf-8")
    assert main(["analyse", "--match", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "Tic-tac-toe: Ann – Bob" in shown
    assert "Move 2: a3, c3, a1 or c1 held the draw; after this they reach two threats at once with a3." in " ".join(
        shown.split()
    )
    assert "b3??" in shown
    assert "Move 4" not in shown


def test_a_match_that_cannot_be_found_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "--match", "no such file"]) == 2
    assert "cannot read no such file" in capsys.readouterr().err


def test_after_a_swap_each_side_is_called_by_the_mark_that_it_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "match.txt"
    file.write_text(
        "Game: connect:5x3,3+swap\nFirst: Ann\nSecond: Bob\n\n1. 3\n2. swap\n3. 3\n4. 2\n", encoding="utf-8"
    )
    assert main(["analyse", "--match", str(file)]) == 0
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    told = [(row[1].strip(), row[3].strip(), row[6].strip()) for row in rows if row[0].strip()]
    x_wins = "O ······● X"
    assert told == [
        ("X", "loss in 10", "O ●······ X"),
        ("O", "win in 9", x_wins),  # Bob takes over X and its win
        ("O", "loss in 4", x_wins),
        ("X", "win in 3", x_wins),
    ]
    assert main(["analyse", "--game", "connect4+swap", "--moves", "4 swap", "--json", "--nodes", "9"]) == 0
    assert '"to_move": "O"' in capsys.readouterr().out


def test_json_has_a_lesson_at_once_then_each_move_and_ends_with_the_lesson(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "match.txt"
    file.write_text("Game: connect4\nFirst: Ann\nSecond: Bob\n\n1 7 1 7 1 7 1\n", encoding="utf-8")
    assert main(["analyse", "--match", str(file), "--json", "--match-time", "500"]) == 0
    first, *moves, last = map(json.loads, capsys.readouterr().out.splitlines())
    text = "Move 6: you had to block at column 1: they had three in a row. What follows: 1."
    lesson = {"type": "lesson", "ply": 6, "side": 1, "better": ["1"], "text": text}
    row = {"marks": 3, "open": False, "run": True, "cells": [21, 28, 35]}
    why = {"kind": "unblocked", "moves": ["1"], "row": row, "theirs": ["1"]}
    assert first == last == {**lesson, "follows": ["1"], "why": why}
    assert [(each["type"], each["ply"]) for each in moves] == [("move", ply) for ply in range(1, 8)]
    assert moves[5]["sign"] == "??"


def test_the_opening_of_connect_four_is_judged_by_the_book_and_no_engine_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(engine, "kernel_module", loaded.append)
    file = tmp_path / "match.txt"
    file.write_text("Game: connect4\nFirst: Ann\nSecond: Bob\n\n4 4 4 4 4 2 3 5\n", encoding="utf-8")
    assert main(["analyse", "--match", str(file), "--json"]) == 0
    first, *moves, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["text"] == "No clear mistake can be seen at a glance."
    assert [each["value"] for each in moves] == [1, -1, 1, -1, 1, -1, -1, 1]
    assert last["text"] == "Move 7: you had a win with column 2; after this they win in 17 moves."
    assert loaded == []


def test_a_bad_record_does_not_hide_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "matches.txt"
    bad = "Game: tictactoe\nFirst: Ann\nSecond: Bob\n\n1. b2\n2. b2\n\n"
    file.write_text(bad + LOST + "6. a2\n7. c3\n", encoding="utf-8")
    assert main(["analyse", "--match", str(file)]) == 0
    shown = capsys.readouterr()
    assert "Move 2: a3, c3, a1 or c1 held the draw" in shown.out
    assert "left out: record 1: " in shown.err
    assert main(["analyse", "--match", str(file), "--number", "2"]) == 0
    assert main(["analyse", "--match", str(file), "--number", "1"]) == 2
    assert "record 1: " in capsys.readouterr().err
