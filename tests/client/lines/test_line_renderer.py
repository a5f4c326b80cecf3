"""A match for the ear: what is said of a display, and what is answered; then a whole match in a terminal."""

import re
import sys
from dataclasses import replace

import pexpect
import pytest
from msgspec import structs

from tests.client.conftest import CLIENT, RealServer, Start, heard_until
from tests.client.samples import BEN, knowing, snapshot
from tests.patience import PATIENCE_S
from ttt_net.client.display import Display
from ttt_net.client.lines.line_renderer import ScreenReader
from ttt_net.client.update import update
from ttt_net.client.world import World
from ttt_net.messages import ClockInfo, PlayerInfo, Welcome

QUESTIONS = {
    "board": "Row 3",
    "row 2": "Row 2",
    "lines": "[Ll]ine|but for",
    "clock": "There is no clock",
    "repeat": "Your turn",
    "help": "To act",
}
"""Questions in a match, and parts of their answers."""


def seen(
    game: str = "tictactoe", moves: list[int] | None = None, clock: ClockInfo | None = None, you: int = 0
) -> Display:
    display = update(Display(World(address="here")), Welcome(1, "test", PlayerInfo("Ann"), []), 0)
    return update(display, snapshot(game, moves or [], opponent=BEN, clock=clock, you=you), 0)


def asked(question: str, display: Display) -> str:
    answer = ScreenReader().answer(question, display, 0)
    assert answer is not None
    return answer


def test_a_match_is_described_in_short_sentences_without_a_board() -> None:
    parts = ScreenReader().parts(seen())
    assert {part: text for part, text in parts.items() if text} == {
        "players": "Tic-tac-toe against Ben; you play X.",
        "status": "Your turn, move 1.",
        "next": "Type a move or a question; help lists them.",
    }
    over = ScreenReader().parts(seen(moves=[4, 1, 0, 2, 8]))
    assert over["next"] == "Type rematch, new or quit; help lists the rest."
    display = seen(moves=[4])
    shared = ScreenReader().parts(replace(display, world=replace(display.world, is_shared=True)))
    assert (shared["players"], shared["status"]) == ("Tic-tac-toe: Ann plays X, Ben plays O.", "Ben is to move.")
    match = structs.replace(snapshot(moves=[4]), players=(PlayerInfo("X"), PlayerInfo("O")))
    display = update(replace(display, world=replace(display.world, is_shared=True)), match, 0)
    assert ScreenReader().parts(display)["players"] == "Tic-tac-toe: X against O."


def test_a_bot_is_named_as_one_in_a_sentence_that_can_be_followed() -> None:
    display = update(knowing(seen(), watching="m2"), snapshot(match="m2", you=None), 0)
    parts = ScreenReader().parts(replace(display, shown="m2"))
    assert parts["players"] == "Tic-tac-toe: Ann plays X; alphabeta, a bot, plays O."


def test_the_board_is_described_row_by_row_from_the_top_or_a_single_row() -> None:
    display = seen(moves=[4, 0])
    assert asked("board", display) == "Row 3: O, empty, empty.\nRow 2: empty, X, empty.\nRow 1 is empty."
    assert asked("row 2", display) == "Row 2: empty, X, empty."
    assert asked("row 4", display) == "There is no row 4; rows are 3, at the top, to 1, at the bottom."


def test_a_wide_board_is_described_by_its_marks_and_a_cube_by_its_layers() -> None:
    assert asked("board", seen("gomoku")) == "The board is empty."
    assert asked("board", seen("gomoku", [112, 113])) == "Row 8: X at h, O at i."
    assert asked("row 2", seen("tictactoe3d", [13])) == "\n".join(
        ["Layer 1, row 2 is empty.", "Layer 2, row 2: empty, X, empty.", "Layer 3, row 2 is empty."]
    )
    assert "Row 1: empty, empty, empty, X, empty, empty, empty." in asked("board", seen("connect4", [38]))


def test_a_board_of_small_boards_is_described_by_them_with_the_names_of_moves() -> None:
    assert asked("board", seen("ultimate")) == "The board is empty."
    display = seen("ultimate", [2, 6])
    assert asked("board", display) == "Board 1: X at c3.\nBoard 3: O at a3."
    assert display.match is not None
    position = structs.replace(display.match.position, blocks="X.=......")
    display = update(display, structs.replace(display.match, position=position), 0)
    assert asked("board", display) == "Board 1 is won by X.\nBoard 3 is nobody's."


def test_lines_that_lack_one_mark_are_listed() -> None:
    assert asked("lines", seen()) == "No line lacks only one mark."
    assert asked("lines", seen(moves=[4, 1, 0])) == "X has a3 to c1 but for c1."
    assert asked("lines", seen(moves=[4, 1, 0, 2, 8])) == "The line is a3, b2, c1."
    assert asked("lines", seen("ultimate")) == "This game has no list of lines; type board."


def test_the_clock_and_the_moves_are_printed() -> None:
    assert asked("clock", seen()) == "There is no clock."
    display = seen(clock=ClockInfo((178_400, 60_000), 0))
    assert asked("clock", display) == "You have 2 minutes 58 seconds; Ben has 1 minute 0 seconds."
    assert asked("moves", seen(moves=[4, 0])) == "Possible: b3, c3, a2, c2, a1, b1, c1."


def test_requirements_of_a_position_are_printed_with_the_turn() -> None:
    reader = ScreenReader()

    def told(game: str, moves: list[int], you: int) -> str:
        return reader.parts(seen(game, moves, you=you))["status"]

    assert told("vanishing", [0, 2, 4, 7, 3, 5], 0) == "Your turn, move 7; a3 vanishes."
    assert told("ultimate", [2], 1) == "Your turn, move 2 in board 3, top right."
    assert told("connect4+swap", [38], 1) == "Your turn, move 2, or take over X (type swap)."


@pytest.mark.parametrize("question", ["board", "row 1", "lines", "clock", "moves"])
def test_before_the_match_there_is_nothing_to_print(question: str) -> None:
    assert asked(question, Display()) == "There is no match yet."


def test_other_words_are_not_answered() -> None:
    assert ScreenReader().answer("b2", seen(), 0) is None
    assert ScreenReader().answer("row x", seen(), 0) is None


def test_a_whole_match_in_a_terminal_takes_not_one_escape_byte(
    real_server: RealServer, start: Start, environment: dict[str, str]
) -> None:
    friend = start(real_server.address, "--json", "--name", "Ben")
    heard_until(friend, "welcome")
    client = pexpect.spawn(
        CLIENT[0],
        [*CLIENT[1:], real_server.address, "--screen-reader"],
        env={**environment, "TTT_NET_HOME": environment["TTT_NET_HOME"] + "-Ann"},
        timeout=PATIENCE_S,
        encoding="utf-8",
    )
    client.logfile_read = log = _Log()
    client.expect("Your name: ")
    client.sendline("Ann")
    client.expect("Tic-tac-toe against Ben; you play ([XO])")
    assert friend.stdin is not None
    is_first = client.match[1] == "X"
    mine, theirs = (["b2", "a3", "c1"], ["b3", "c3"]) if is_first else (["b3", "c3"], ["b2", "a3", "c1"])
    for ply in range(5):
        if (ply % 2 == 0) == is_first:
            client.expect(f"Your turn, move {ply + 1}.")
            for question, answer in QUESTIONS.items():
                client.sendline(question)
                client.expect(answer)
            client.sendline(mine[ply // 2])
            client.expect(f"You played {mine[ply // 2]}.")
        else:
            friend.stdin.write(f"{theirs[ply // 2]}\n")
            friend.stdin.flush()
            client.expect(f"Ben played {theirs[ply // 2]}.")
    client.expect("You won|You lost")
    client.sendline("quit")
    client.expect(pexpect.EOF)
    client.close()
    assert client.exitstatus == 0
    assert "\x1b" not in log.text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", log.text)


class _Log:
    """Keeps all that a terminal was sent."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        sys.stdout.flush()
