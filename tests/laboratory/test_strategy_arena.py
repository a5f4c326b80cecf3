"""Arenas of strategies: what they play, how it is scored, and what is printed."""

import json
import random
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.client.conftest import RealServer, real_server
from ttt_net.__main__ import main
from ttt_net.games import Game, find_game
from ttt_net.laboratory.strategy_arena import (
    SPRT_BOUND,
    Entrant,
    Result,
    Score,
    elo,
    elo_interval,
    play,
    play_all,
    random_opening,
    read_openings,
    round_robin,
    sprt,
    standings,
)
from ttt_net.strategies import Limit, find_strategy


def entrants(*names: str) -> list[Entrant]:
    return [Entrant(name, find_strategy(name, seed=number)) for number, name in enumerate(names)]


def test_every_pair_plays_both_sides_in_every_round(tictactoe: Game[Any]) -> None:
    results = list(round_robin(tictactoe, 3, rounds=2, seed=1))
    pairs = [(result.first, result.second) for result in results]
    assert sorted(pairs) == sorted([(a, b) for a in range(3) for b in range(3) if a != b] * 2)


def test_on_a_ladder_each_meets_only_its_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    levels = ["tactics", "alphabeta:1", "alphabeta:8"]
    assert (
        main(["arena", *levels, "--ladder", "--rounds", "6", "--nodes", "500", "--move-time", "9000", "--moves"]) == 0
    )
    told = capsys.readouterr().out
    assert "tactics - alphabeta:8" not in told
    assert "alphabeta:8 - tactics" not in told
    assert told.count("alphabeta:1 - alphabeta:8") == 6
    (step,) = re.findall(r"^alphabeta:8 above alphabeta:1: (.*)$", told, re.MULTILINE)
    assert re.fullmatch(r"\+\d+ \([+-]\d+ to [+-]\d+\)", step)


def test_the_same_seed_plays_the_same_arena(tictactoe: Game[Any]) -> None:
    def results() -> list[Result]:
        pairings = round_robin(tictactoe, 2, rounds=5, opening_plies=2, seed=3)
        return list(play_all(tictactoe, entrants("random", "tactics"), Limit(), pairings))

    assert results() == results()


def test_a_game_continues_from_its_opening_and_stores_the_time_of_each_move(tictactoe: Game[Any]) -> None:
    winner, loser = entrants("table", "rules")
    utility, moves, is_forfeited = play(tictactoe, (winner, loser), Limit(), (4, 1, 0, 8, 6))
    assert (utility, len(moves), moves[:5], is_forfeited) == (1, 7, (4, 1, 0, 8, 6), False)
    assert (len(winner.move_ms), len(loser.move_ms)) == (1, 1)


@pytest.mark.parametrize("plies", [0, 3, 9])
def test_an_opening_ends_no_game_even_if_it_has_to_be_shorter(plies: int, tictactoe: Game[Any]) -> None:
    for seed in range(20):
        opening, state = random_opening(tictactoe, plies, random.Random(seed)), tictactoe.initial
        for move in opening:
            state = tictactoe.result(state, move)
        assert not tictactoe.is_terminal(state)
        assert len(opening) <= plies


def test_standings_count_each_game_from_both_sides(tictactoe: Game[Any]) -> None:
    both = entrants("random", "table")
    first, second = standings(both, [Result(0, 1, 1, ()), Result(1, 0, 1, ()), Result(1, 0, 0, ())])
    assert first.total == Score(won=1, drawn=1, lost=1)
    assert second.against == (Score(won=1, drawn=1, lost=1), Score())


def test_standings_leave_forfeited_games_out(tictactoe: Game[Any]) -> None:
    both = entrants("random", "table")
    first, second = standings(both, [Result(0, 1, 1, (), True), Result(1, 0, 0, ())])
    assert first.total == second.total == Score(drawn=1)


BRAIN = Path(__file__).parents[1] / "engines" / "brain.py"


def engine_file(folder: Path, mode: str) -> str:
    """Write engines.toml with a brain that fails as the mode says; return its path."""
    file = folder / "engines.toml"
    command = f"{sys.executable} {BRAIN} '{mode}' '{folder}'"
    file.write_text(f'[[engine]]\nname = "Brain"\ncommand = "{command}"\nprotocol = "piskvork"\nlog = "log"\n')
    return str(file)


def test_games_that_an_engine_forfeits_are_reported_and_do_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["arena", "Brain", "random", "--engines", engine_file(tmp_path, "second"), "--game", "mnk:9x9,5"]
    file = tmp_path / "games.jsonl"
    assert main([*asked, "--rounds", "1", "--seed", "1", "--results", str(file)]) == 0
    told = capsys.readouterr()
    assert "0 games; 2 forfeited and not counted" in " ".join(told.out.split())
    assert "Brain forfeited 2 games: " in told.err
    assert [json.loads(line)["forfeited"] for line in file.read_text().splitlines()] == [True, True]
    assert main([*asked, "--rounds", "1", "--seed", "1", "--results", str(file)]) == 0
    assert "2 forfeited and not counted" in " ".join(capsys.readouterr().out.split())


def test_an_arena_does_not_begin_with_an_engine_that_sends_no_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["arena", "Brain", "random", "--engines", engine_file(tmp_path, "crash"), "--game", "mnk:9x9,5"]
    assert main(asked) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "no game was played: the engine Brain " in told.err
    assert "out of ideas" in told.err


def test_elo_of_three_points_in_four_is_191_with_its_error() -> None:
    difference, error = elo(Score(won=75, drawn=0, lost=25))
    assert difference == pytest.approx(190.8, abs=0.1)
    assert error == pytest.approx(40.1, abs=0.1)


def test_elo_is_unknown_when_all_games_were_won_or_none() -> None:
    assert elo(Score(won=5)) == (None, None)
    assert elo(Score()) == (None, None)


def test_an_interrupted_arena_continues_with_the_same_games(tictactoe: Game[Any]) -> None:
    def results(played: int) -> list[Result]:
        both = entrants("table", "rules")  # neither leaves anything to chance
        pairings = list(round_robin(tictactoe, 2, rounds=4, opening_plies=2, seed=3))
        return list(play_all(tictactoe, both, Limit(), pairings[played:]))

    assert results(5) == results(0)[5:]


def test_the_interval_of_all_wins_has_one_end_and_narrows_with_the_games() -> None:
    few, many = elo_interval(Score(won=5)), elo_interval(Score(won=100))
    assert few[1] is many[1] is None
    assert few[0] is not None
    assert few[0] == pytest.approx(45.9, abs=1)
    assert many[0] == pytest.approx(566, abs=5)
    high, low = elo_interval(Score(lost=5))
    assert high is None
    assert low == pytest.approx(-few[0])
    low, high = elo_interval(Score(won=75, lost=25))
    assert low is not None
    assert high is not None
    assert low < 190.8 < high
    assert elo_interval(Score()) == (None, None)


def test_the_sequential_test_accepts_the_hypothesis_that_the_games_support() -> None:
    assert sprt(Score(won=300, drawn=100, lost=200), 0, 30) > SPRT_BOUND
    assert sprt(Score(won=250, drawn=100, lost=250), 0, 30) < -SPRT_BOUND / 2
    assert abs(sprt(Score(won=6, drawn=2, lost=4), 0, 30)) < SPRT_BOUND
    assert sprt(Score(won=20), 0, 300) > SPRT_BOUND


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
def test_the_arena_reports_impossible_orders_in_one_line(
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


def test_games_are_stored_and_an_arena_continues_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_cross_table_is_drawn(tmp_path: Path) -> None:
    drawn = tmp_path / "table.svg"
    assert main(["arena", "random", "table", "rules", "--rounds", "3", "--picture", str(drawn)]) == 0
    root = ElementTree.fromstring(drawn.read_text(encoding="utf-8"))
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == "Tic-tac-toe, 18 games"
    assert {"1  random", "2  table", "3  rules"} <= set(words)
    assert len([word for word in words if word and word.count("-") == 2 and word[0].isdigit()]) == 6
    assert not [each for each in root.iter() if "href" in " ".join(each.attrib)]


def test_several_processes_play_the_same_games(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["arena", "table", "tactics:5", "--rounds", "3", "--opening", "2", "--json", "--moves", "--seed", "4"]
    played = []
    for processes in ("2", "3"):
        assert main([*asked, "--processes", processes]) == 0
        *games, _, standing = map(json.loads, capsys.readouterr().out.splitlines())
        played.append(games)
        assert standing["won"] + standing["drawn"] + standing["lost"] == 6
        assert standing["worst_ms"] > 0
    assert played[0] == played[1]
    assert len(played[0]) == 6


def test_games_begin_with_the_openings_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("b2 a1   # the centre\n\na1 b2 c3\n")
    assert main(["arena", "random", "table", "--rounds", "2", "--openings", str(file), "--moves", "--json"]) == 0
    games = [json.loads(line)["moves"] for line in capsys.readouterr().out.splitlines()[:4]]
    assert [" ".join(moves[:2]) for moves in games] == ["b2 a1", "b2 a1", "a1 b2", "a1 b2"]
    for wrong, sentence in (("b2 b2", "line 1: cell b2 is taken"), ("", "no opening"), ("a1 b1 a2 b2 a3", "over")):
        file.write_text(wrong)
        assert main(["arena", "random", "table", "--openings", str(file)]) == 2
        assert sentence in capsys.readouterr().err


def test_each_game_is_recorded_and_can_be_analysed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, results = tmp_path / "games.txt", tmp_path / "games.jsonl"
    asked = ["arena", "random", "table", "--seed", "2", "--results", str(results), "--records", str(records)]
    assert main([*asked, "--rounds", "1"]) == 0
    assert main([*asked, "--rounds", "2"]) == 0
    text = records.read_text(encoding="utf-8")
    assert text.count("Game: tictactoe\n") == 4
    assert text.count("First: random\nFirst-bot: random\nSecond: table\n") == 2
    capsys.readouterr()
    assert main(["analyse", "--match", str(records), "--number", "3", "--json"]) == 0
    *_, lesson = map(json.loads, capsys.readouterr().out.splitlines())
    assert lesson["type"] == "lesson"


def test_an_arena_that_was_killed_in_the_middle_of_a_line_plays_that_game_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "games.jsonl"
    asked = ["arena", "table", "rules", "--rounds", "3", "--seed", "1", "--results", str(file), "--json"]
    assert main(asked) == 0
    whole, told = file.read_text(encoding="utf-8"), capsys.readouterr().out
    file.write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert main(asked) == 0
    assert file.read_text(encoding="utf-8") == whole
    scores = [[json.loads(line)["against"] for line in text.splitlines()] for text in (told, capsys.readouterr().out)]
    assert scores[0] == scores[1]


def test_an_arena_whose_test_was_decided_plays_no_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    asked = ["arena", "table", "random", "--rounds", "200", "--opening", "2", "--seed", "1", "--sprt", "0,200"]
    assert main([*asked, "--results", str(file)]) == 0
    whole = file.read_text(encoding="utf-8")
    assert main([*asked, "--results", str(file)]) == 0
    assert file.read_text(encoding="utf-8") == whole
    assert "+200 Elo accepted" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--results", "--records", "--picture"])
def test_a_file_that_cannot_be_written_is_reported_in_one_line(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", "table", "rules", "--rounds", "1", option, str(tmp_path / "no" / "file")]) == 2
    error = capsys.readouterr().err
    assert "cannot write " in error
    assert error.count("\n") == 1


def test_the_balanced_openings_of_gomoku_are_different_positions_of_five_or_six_marks() -> None:
    game = find_game("gomoku")
    openings = read_openings(game, Path(__file__).parents[2] / "benchmarks" / "balanced_openings.txt")
    positions = {(frozenset(moves[::2]), frozenset(moves[1::2])) for moves in openings}
    assert len(positions) == len(openings) == 100
    assert {len(moves) for moves in openings} == {5, 6}


__all__ = ["real_server"]


def test_an_arena_on_a_server_is_a_tournament_of_bots_that_ends_with_its_standings(
    real_server: RealServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))
    assert main(["arena", "tactics", "random", "--on", real_server.address, "--time", "5+0"]) == 0
    told = capsys.readouterr()
    rows = [line.split() for line in told.out.splitlines()]
    assert sorted(name for _, name, _ in rows) == ["random", "tactics"]
    assert sum(float(points) for *_, points in rows) == 1, "one pairing of two matches"
    assert f"on {real_server.address}: watch it" in told.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("tactics random --on 127.0.0.1:1 --json", "--json is for an arena in this process; leave it out, or --on"),
        ("tactics random --on 127.0.0.1:1 --rounds 3", "--rounds 3: on a server, 1 or 2"),
        ("tactics random --on 127.0.0.1:1", "127.0.0.1:1: nothing listens there"),
        ("tactics random --time 1+0", "--time is the clock of a tournament on a server; add --on ADDRESS"),
    ],
)
def test_an_arena_on_a_server_names_what_does_not_go(
    options: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", *options.split()]) == 2
    assert capsys.readouterr().err == f"ttt_net: {sentence}\n"
