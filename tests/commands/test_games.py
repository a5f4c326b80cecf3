"""`games`, `replay` and `export` as a user meets them."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.patience import PATIENCE_S
from ttt_net.__main__ import VERBS, main
from ttt_net.games.catalogue import NAMES

RECORD = """\
Game: connect4
First: Ann
Second: Perfect
Second-bot: minimax
Result: 1-0
Reason: line

1. 4 [2:58]
2. 4
3. 3 {towards both ends}
4. 3
5. 5
6. 5
7. 6
"""
OTHER = "Game: qubic+swap\nFirst: Ann\nSecond: Bob\nResult: *\n\n1. 2:b2\n2. swap\n"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "match.txt"
    path.write_text(RECORD)
    return path


def test_games_lists_every_named_game_and_the_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    for name in (*NAMES, "mnk:WxH,K", "connect:WxH,K", "+swap"):
        assert name in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("connect4 ")]
    assert "7×6" in row
    assert " 69 " in row
    assert "the first player wins" in row


def test_games_shows_one_game_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "mnk:5x4,4"]) == 0
    shown = capsys.readouterr().out
    assert "5×4" in shown
    assert "draw" in shown
    assert "tictactoe" not in shown


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["games", "mnk:99x99,5"], "game 'mnk:99x99,5' is out of range; width and height 1 to 19"),
        (["games", "chess"], "unknown game 'chess'; there are: tictactoe"),
        (["replay", "ABC"], "ABC is neither a file nor the id of a match, which has 8 characters"),
        (["replay", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["export", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["replay", "{record}", "--at", "8"], "--at 8: the match has the plies 0 to 7"),
        (["replay", "{record}", "--at", "-1"], "--at -1: the match has the plies 0 to 7"),
        (["replay", "{record}", "--number", "2"], "--number 2: the file holds the records 1 to 1"),
        (["replay", "{record}", "--number", "0"], "--number 0: the file holds the records 1 to 1"),
        (["export", "{record}", "--to", "/nowhere/at/all"], "cannot write /nowhere/at/all"),
    ],
)
def test_invalid_arguments_are_one_line_on_stderr_with_exit_2(
    arguments: list[str], reason: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.format(record=record) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"ttt_net: {reason}")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"\xff", b"", RECORD.encode() + b"8. 1", b"{" * 1000])
def test_a_file_that_is_no_record_is_refused_with_its_name(
    content: bytes, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record.write_bytes(content)
    assert main(["replay", str(record)]) == 2
    assert str(record) in capsys.readouterr().err


@pytest.mark.usefixtures("examples")
def test_games_of_other_packages_are_listed_with_the_pie_rule_where_they_have_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    assert "\nhex          7×7" in shown
    assert "scorefour, hex, hex11, pente, pente19.\n" in shown


def test_replay_prints_one_position(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(record), "--at", "3"]) == 0
    shown = capsys.readouterr().out
    assert "Connect Four: Ann (X) - Perfect (bot) (O)" in shown
    assert "move 3 of 7: 3 towards both ends" in shown
    assert " 1  .  .  X  X  .  .  .\n" in shown
    assert "1-0" not in shown


LOST = "Game: tictactoe\nFirst: Ann\nSecond: Ben\nResult: 1-0\nReason: line\n\n1. b2\n2. a3\n3. c3\n4. b3\n5. a1\n"


@pytest.mark.parametrize(
    ("whose", "typed", "said"),
    [
        ([], "c1 nowhere b1 a1", "You found 1 of 3 moves of Ann, 2 as good as theirs."),
        (["second"], "b3 a1", "You found 0 of 2 moves of Ben, 1 as good, 1 worse."),
        ([], "c1  a1", "You found 1 of 3 moves of Ann, 1 as good, 1 shown."),
    ],
)
def test_the_moves_of_a_record_are_guessed_before_they_are_shown(
    whose: list[str],
    typed: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "lost.txt"
    path.write_text(LOST)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed.replace(" ", "\n")))
    assert main(["replay", str(path), "--guess", *whose]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"{said}\n")
    assert ("there is no cell 'nowhere'" in shown) == ("nowhere" in typed)


def test_replay_writes_a_film_for_terminals(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(record), "--cast"]) == 0
    head, *events = map(json.loads, capsys.readouterr().out.splitlines())
    assert head == {"version": 2, "width": 41, "height": 11, "title": "Connect Four: Ann - Perfect"}
    seconds, kinds, told = zip(*events, strict=True)
    assert (seconds[0], set(kinds), told[-1]) == (0.0, {"o"}, "")
    assert sorted(set(seconds)) == list(seconds), "in order, each later than the last"
    pictures = [each.removeprefix("\x1b[H\x1b[2J").split("\r\n") for each in told[:-1]]
    assert len(pictures) == 8
    assert all(each.startswith("\x1b[H\x1b[2J") and "\n" not in each.replace("\r\n", "") for each in told[:-1])
    plain = [[re.sub(r"\x1b\[[0-9;]*m", "", line) for line in picture] for picture in pictures]
    assert plain[3][1] == "move 3 of 7: 3 towards both ends"
    assert "1-0, line" in plain[7]
    assert all(len(line) <= head["width"] for picture in plain for line in picture)
    assert all(len(picture) < head["height"] + 1 for picture in plain)


def test_replay_into_a_pipe_prints_every_position(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(record)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Connect Four") == 8
    assert " 1  .  . [X][X][X][X] .\n" in shown
    assert "1-0, line" in shown
    assert "\x1b" not in shown


def test_replay_asks_which_of_many_records(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_text(RECORD + "\n" + OTHER)
    assert main(["replay", str(record)]) == 2
    assert "holds 2 records; choose one with --number" in capsys.readouterr().err
    assert main(["replay", str(record), "--number", "2", "--at", "2"]) == 0
    assert "Ann (O) - Bob (X)" in capsys.readouterr().out


def test_a_player_who_is_called_by_a_mark_is_named_once(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_text(RECORD.replace("First: Ann", "First: X"))
    assert main(["replay", str(record), "--at", "0"]) == 0
    assert "Connect Four: X - Perfect (bot) (O)" in capsys.readouterr().out


def test_export_writes_many_records_in_the_one_form(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = record.with_name("other.txt")
    other.write_text("second: Bob\nfirst: Ann\ngame: QUBIC+SWAP\n2:B2 swap")
    assert main(["export", str(record), str(other)]) == 0
    assert capsys.readouterr().out == RECORD + "\n" + OTHER
    target = record.with_name("all.txt")
    assert main(["export", str(record), str(other), "--to", str(target)]) == 0
    assert target.read_text() == RECORD + "\n" + OTHER


def test_a_verb_imports_no_other_verb() -> None:
    code = "import sys; from ttt_net.__main__ import main; main(['export', '/dev/null']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("ttt_net.commands.")}
    assert loaded == {"ttt_net.commands.export", "ttt_net.commands.recorded_matches"}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: python -m ttt_net {verb}")
    assert VERBS[verb][1][1:] in " ".join(told.split()), "what the list of verbs says of it"


@pytest.mark.parametrize("verb", ["games", "export {record}"])
def test_a_reader_that_leaves_early_sees_no_complaint(verb: str, record: Path) -> None:
    record.write_text("\n".join([RECORD] * 1000))
    done = subprocess.run(
        f"{sys.executable} -m ttt_net {verb.format(record=record)} | true; echo ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == "1\n"


def test_replay_steps_by_keys_in_a_terminal_and_leaves_it_as_it_was(record: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "ttt_net", "replay", str(record)],
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    child.expect_exact("before the first of 7 moves")
    child.send("\r")
    child.expect_exact("move 1 of 7: 4 [2:58]")
    child.send("\x1b[C")
    child.expect_exact("move 2 of 7")
    child.send("\x1b[D")
    child.expect_exact("move 1 of 7")
    child.send("\x1b[F")
    child.expect_exact("1-0, line")
    child.send("\x1b[H")
    child.expect_exact("before the first of 7 moves")
    child.send("q")
    child.expect_exact("\x1b[?1049l")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_unsupported_characters_are_replaced_on_a_terminal_and_reported_in_a_pipe() -> None:
    command, environment = (
        [sys.executable, "-m", "ttt_net", "games", "misere"],
        {**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    shown = pexpect.run(shlex.join(command), env=environment, timeout=PATIENCE_S).decode("ascii")
    assert "misere  3x3" in shown
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (2, "ttt_net: ascii has no '\\xd7'; set PYTHONIOENCODING=utf-8\n")
