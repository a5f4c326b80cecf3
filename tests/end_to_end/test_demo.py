"""`make demo` without the make: a server and two bots, each a process of its own."""

import re
import subprocess
import sys

import pexpect
import pytest

from tests.patience import PATIENCE_S


def test_the_demo_plays_a_whole_match_and_says_how_to_join_in() -> None:
    command = [sys.executable, "-m", "ttt_net", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    moves = [int(number) for number in re.findall(r"^Move (\d+): [1-7]$", done.stdout, flags=re.MULTILINE)]
    assert moves == list(range(1, len(moves) + 1)), "none is lost, and none is made twice"
    assert 7 <= len(moves) <= 42
    assert done.stdout.count("The plug is pulled: the server is killed in mid-match (kill -9) ...") == 1
    assert re.search(r"^The server is back: all \d+ moves are there, nothing is lost\.$", done.stdout, re.MULTILINE)
    assert re.search(
        r"^The proof: killed after move 6 .kill -9., back after \d+\.\d s, 0 moves lost\.$", done.stdout, re.MULTILINE
    )
    assert re.search(r"^The match is over\. (Mia|Leo) won: \w+ completed a line\.|A draw\.", done.stdout, re.MULTILINE)
    for line in ("python client.py --local --o computer", "python client.py --host", "python server.py"):
        assert line in done.stdout


@pytest.mark.long
def test_in_a_terminal_marks_fall_and_the_server_is_back_within_the_time_that_somebody_looks() -> None:
    child = pexpect.spawn(sys.executable, ["-m", "ttt_net", "demo"], dimensions=(24, 80), timeout=PATIENCE_S)
    child.expect_exact("The plug is pulled")
    child.expect_exact("The server is back")
    child.expect_exact("The match is over")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_an_unknown_game_ends_the_demo_with_a_sentence() -> None:
    command = [sys.executable, "-m", "ttt_net", "demo", "--game", "chess"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert "unknown game 'chess'" in done.stderr
    assert "Traceback" not in done.stderr
