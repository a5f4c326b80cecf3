import json
from pathlib import Path

import pytest

from ttt_net.__main__ import main


def test_the_arena_prints_a_line_of_json_for_each_strategy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "random", "table", "alphabeta:3", "--rounds", "4", "--seed", "1", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["strategy"] for row in rows] == ["random", "table", "alphabeta:3"]
    assert rows[1]["lost"] == 0
    assert all(row["won"] + row["drawn"] + row["lost"] == 16 for row in rows)
    assert [score["strategy"] for score in rows[0]["against"]] == ["table", "alphabeta:3"]


def test_the_arena_prints_a_cross_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "random", "table", "--rounds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "Tic-tac-toe, 2 games" in printed
    assert "1 random" in printed


def test_the_arena_prints_games_that_can_be_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "table", "rules", "--rounds", "1", "--moves", "--json"]) == 0
    games = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:2]]
    assert [game["players"] for game in games] == [["table", "rules"], ["rules", "table"]]
    assert main(["arena", "table", "rules", "--rounds", "1", "--moves"]) == 0
    players, _, moves = capsys.readouterr().out.splitlines()[0].partition(" 1/2 ")
    assert (players, moves.split()) == ("table - rules", games[0]["moves"])
    assert games[0]["value"] == 0
    assert main(["analyse", "--moves", moves, "--json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["random"], "an arena needs two strategies or more"),
        (["random", "genius"], "unknown strategy 'genius'"),
        (["random", "table:x"], "'table:x' is not NAME or NAME:LEVEL"),
        (["random", "table", "--game", "connect4"], "none of Connect Four"),
        (["random", "table", "--game", "chess"], "unknown game 'chess'"),
    ],
)
def test_what_the_arena_cannot_do_it_says_in_one_line(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_an_arena_stops_when_its_test_is_decided(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["arena", "table", "random", "--rounds", "200", "--opening", "2", "--seed", "1", "--sprt", "0,200"]
    assert main([*asked, "--json"]) == 0
    *_, told = map(json.loads, capsys.readouterr().out.splitlines())
    assert told["accepted"] == 200
    assert told["games"] < 400
    assert main(asked) == 0
    assert "SPRT +0 or +200: +200 Elo accepted after " in capsys.readouterr().out


def test_games_are_kept_and_an_arena_goes_on_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    asked = ["arena", "table", "rules", "--opening", "2", "--results", str(file)]
    assert main([*asked, "--rounds", "1"]) == 0
    first = file.read_text().splitlines()
    assert len(first) == 2
    capsys.readouterr()
    assert main([*asked, "--rounds", "3"]) == 0
    assert "6 games" in capsys.readouterr().out
    assert file.read_text().splitlines()[:2] == first
    assert len(file.read_text().splitlines()) == 6
    assert main(["arena", "table", "magic", "--results", str(file)]) == 2
    assert "has games of another arena" in capsys.readouterr().err
