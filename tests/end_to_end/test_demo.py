"""`make demo` without the make: a server and two bots, each a process of its own."""

import re
import subprocess
import sys

from tests.patience import PATIENCE_S


def test_the_demo_plays_a_whole_match_and_says_how_to_join_in() -> None:
    command = [sys.executable, "-m", "ttt_net", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    moves = [int(number) for number in re.findall(r"^Move (\d+): [abc][123]$", done.stdout, flags=re.MULTILINE)]
    assert moves == list(range(1, len(moves) + 1))
    assert 5 <= len(moves) <= 9
    assert "The match is over: alphabeta won." in done.stdout or "The match is over: nobody won." in done.stdout
    assert "python client.py" in done.stdout


def test_a_game_that_there_is_not_ends_the_demo_with_a_sentence() -> None:
    command = [sys.executable, "-m", "ttt_net", "demo", "--game", "chess"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert "unknown game 'chess'" in done.stderr
    assert "Traceback" not in done.stderr
