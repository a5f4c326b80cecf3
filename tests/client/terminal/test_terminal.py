"""The real client in a real terminal, at a real server: pexpect presses the keys, pyte shows what a person sees."""

import os
import re
import shlex
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.client.conftest import CLIENT, ROOT, RealServer, Start, heard_until, seated
from tests.client.real_terminal import LEFT_ALTERNATE_SCREEN, SHOWED_CURSOR, Open, Terminal
from tests.client.silent_wire import SilentWire

SABOTAGE = """
import ttt_net.client.words as words
banner = words.banner

def broken(view, *more):
    if view.world.server:
        raise RuntimeError("boom")
    return banner(view, *more)

words.banner = broken
"""


def is_over(picture: str) -> bool:
    return "r rematch" in picture


def free_digits(picture: str) -> list[str]:
    """Return the digits of free cells; the first word of a line of the board is the name of its row."""
    cells = [word for line in picture.split("\n") if "│" in line for word in line.replace("│", " ").split()[1:]]
    return [digit for digit in "537192846" if digit in cells]


def cell_of(free: str, picture: str) -> str:
    """Return the text of a free cell beside a line of the board."""
    found = re.search(rf"[│┃] +{free}\b|\b{free} +[│┃]", picture)
    assert found is not None
    return found[0]


def may_move(picture: str) -> bool:
    """Tell whether it is our turn, and the board is there too: a picture may be read while it is being drawn."""
    return "Your turn" in picture and free_digits(picture) != []


def test_a_picture_is_looked_at_when_it_is_drawn_to_its_end(open_terminal: Open) -> None:
    drawing = r"printf '\033[?1049h\033[HYour '; read -r _; printf 'turn\n          \n         .'; read -r _"
    terminal = open_terminal("-c", f"stty -echo; {drawing}", command=["sh"], columns=10, rows=3)
    while "Your" not in terminal.picture:
        assert terminal.reads()
    assert not terminal.is_whole
    terminal.press("\n")
    assert terminal.shows("Your").split("\n") == ["Your turn", "", "         ."]
    terminal.press("\n")
    assert terminal.ends() == 0


def test_a_whole_match_by_keys(real_server: RealServer, open_terminal: Open, start: Start) -> None:
    start(real_server.address, "--bot", "random", "--seed", "2")
    person = open_terminal(real_server.address)
    person.shows("Your name:")
    person.press("Ann\r")
    picture = person.shows("Play a bot right away: press b")
    assert "Looking for a person: Tic-tac-toe ..." in picture or "Nobody yet. Press b to play Tic-tac-toe" in picture, (
        "after five seconds"
    )
    person.press("b")
    picture = person.comes_to(lambda p: "random [bot]" in p and "Ann (you)" in p, "both names")
    assert len(picture.split("\n")) == 24
    while not is_over(person.comes_to(lambda p: is_over(p) or may_move(p), "our turn or the end")):
        free = free_digits(person.picture)[0]
        person.press(free)
        person.comes_to(lambda p, free=free: free not in free_digits(p) or is_over(p), "our mark")  # type: ignore[misc]
    picture = person.comes_to(is_over, "the end")
    assert any(words in picture for words in ("You won", "You lost", "A draw"))
    person.press("r")
    person.comes_to(lambda p: "Your turn" in p or "is thinking" in p, "the rematch")
    person.press("q", "q")
    assert person.ends() == 0
    assert person.is_restored()


def test_arrows_and_enter_and_a_typed_cell_make_moves(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    person.shows("Your turn")
    seen_at = person.shows("┏")
    person.press("\x1b[B")
    person.comes_to(lambda picture: picture != seen_at, "the cursor elsewhere")
    free = free_digits(person.comes_to(may_move, "our turn"))[0]
    cell = "abc"[(int(free) - 1) % 3] + "321"[(int(free) - 1) // 3]
    person.press(*cell)
    person.shows(f"Move: {cell}_")
    person.press("\r")
    person.comes_to(lambda picture: free not in free_digits(picture) and "Move:" not in picture, "our mark")


def test_a_click_on_a_cell_plays_there_and_a_click_on_a_key_presses_it(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    free = free_digits(person.comes_to(may_move, "our turn"))[0]
    person.click(cell_of(free, person.picture))
    person.comes_to(lambda picture: free not in free_digits(picture), "our mark")
    person.comes_to(may_move, "our turn again")
    person.click("? rules")
    person.shows("How to play Tic-tac-toe")
    person.click("? keys")
    person.shows("Move the cursor.")
    person.click("any key: back")
    person.comes_to(may_move, "the board again")
    person.click("q leave")
    person.shows("and leave?")


def test_a_pasted_text_is_typed_and_its_line_ends_press_nothing(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    person.comes_to(may_move, "our turn")
    person.press("\x1b[200~b\r\n\x1b[2J2\x1b[201~")
    person.shows("Move: b [2J2_")
    person.press("\x1b")
    person.comes_to(lambda picture: "Move:" not in picture, "nothing typed")


def test_the_terminal_rings_when_it_is_our_turn_and_nobody_looks(real_server: RealServer, open_terminal: Open) -> None:
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("Looking for a person")
    bob = open_terminal(real_server.address, "--name", "Bob")
    first, second = (ann, bob) if "Your turn" in both_see_the_board(ann, bob) else (bob, ann)
    second.press("\x1b[O", "?")
    second.shows("How to play Tic-tac-toe")  # so it has read that nobody looks
    second.press("\x1b")
    second.comes_to(lambda picture: "to move" in picture, "the board again")
    first.press("5")
    second.comes_to(may_move, "the first move")
    assert b"\x1b]2;* your turn - ttt_net\x07\x07" in second.raw
    first.comes_to(lambda picture: "to move" in picture, "our move made")
    second.press("1")
    first.comes_to(may_move, "the answer")
    assert b"your turn - ttt_net\x07\x07" not in first.raw, "they look at it"


@pytest.mark.parametrize("how", ["key", signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_however_it_is_ended_the_terminal_is_given_back_and_the_match_stays(
    real_server: RealServer, open_terminal: Open, start: Start, how: "str | signal.Signals"
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    person.shows("Your turn")
    if isinstance(how, signal.Signals):
        os.kill(person.child.pid, how)
    else:
        person.press("\x03")
    assert person.ends() == 0
    assert person.is_restored()
    assert b"You left a match: random can claim the win" in person.raw
    again = open_terminal(real_server.address, "--name", "Ann")
    again.shows("Your unfinished match continues.")


def test_ctrl_z_restores_the_terminal_and_missed_events_are_shown_afterwards(
    real_server: RealServer, open_terminal: Open, start: Start, tmp_path: Path
) -> None:
    if shutil.which("bash") is None:
        pytest.skip("needs a shell with jobs: bash")
    start(real_server.address, "--bot", "random")
    shell = open_terminal("--norc", "--noprofile", "-i", command=["bash"], PS1="$ ")

    def modes(name: str) -> str:
        """Return how the terminal is set up while a program runs."""
        shell.press(f"stty -g > {tmp_path}/{name}; echo {name}-$((40 + 2))\r")
        shell.shows(f"{name}-42")
        return (tmp_path / name).read_text()

    before = modes("before")
    shell.press(f"{shlex.join(CLIENT)} {real_server.address} --name Ann --opponents bots\r")
    shell.comes_to(may_move, "our turn")
    shell.press("\x1a")
    shell.shows("Stopped")
    left, showed = shell.raw.rindex(LEFT_ALTERNATE_SCREEN), shell.raw.rindex(SHOWED_CURSOR)
    assert left > shell.raw.rindex(b"\x1b[?1049h")
    assert showed > shell.raw.rindex(b"\x1b[?25l")
    assert shell.raw.rindex(b"\x1b[?1000l") > shell.raw.rindex(b"\x1b[?1000h")
    assert modes("stopped") == before
    real_server.end(is_killed=True)
    real_server.start()
    shell.press("fg\r")
    shell.shows("Connected again; nothing is lost.")
    free = free_digits(shell.comes_to(may_move, "our turn"))[0]
    shell.press(free)
    shell.comes_to(lambda picture: free not in free_digits(picture), "our mark")
    shell.press("\x1a")
    shell.shows("Stopped")
    shell.press("fg\r")
    shell.comes_to(lambda _: shell.raw.count(b"\x1b[?1049h") == 3, "the screen, taken once more")
    shell.press("\x03")
    shell.shows("You left a match")
    assert modes("after") == before
    shell.press("exit\r")
    assert shell.ends() == 0


def test_in_the_background_it_waits_for_the_terminal_and_leaves_it_as_it_was_found(
    real_server: RealServer, open_terminal: Open, tmp_path: Path
) -> None:
    if shutil.which("bash") is None:
        pytest.skip("needs a shell with jobs: bash")
    shell = open_terminal("--norc", "--noprofile", "-i", command=["bash"], columns=240, rows=60, PS1="$ ")
    before, after = (tmp_path / name for name in ("before", "after"))
    client = f"{shlex.join(CLIENT)} {real_server.address} --name Ann"
    shell.press(f"(stty -g > {before}; {client}; stty -g > {after}; echo ended-$((40 + 2)))\r")
    shell.shows("Looking for a person")
    shell.press("\x1a")
    shell.shows("Stopped")
    shell.press("bg\r")
    shell.comes_to(lambda picture: picture.rstrip().endswith("$") and "&" in picture, "the line that is edited")

    def says_that_it_waits_again(_: str) -> bool:
        """Ask for one prompt after the other: before which of them the shell says so depends on the client."""
        if shell.raw.count(b"Stopped") >= 2:
            return True
        shell.press("\r")
        return False

    shell.comes_to(says_that_it_waits_again, "that it waits again")
    shell.press("fg\r")
    shell.comes_to(lambda _: shell.raw.count(b"\x1b[?1049h") == 2, "the screen, taken once more")
    shell.press("\x03")
    shell.shows("ended-42")
    assert after.read_text() == before.read_text()
    shell.press("exit\r")
    assert shell.ends() == 0


def test_where_nobody_could_have_it_go_on_ctrl_z_only_draws_anew(real_server: RealServer, open_terminal: Open) -> None:
    person = open_terminal(real_server.address, "--name", "Ann")
    person.shows("Looking for a person")
    person.press("\x1a")
    person.comes_to(lambda _: person.raw.count(b"\x1b[?1049h") == 2, "the screen, given back and taken again")
    assert person.raw.count(LEFT_ALTERNATE_SCREEN) == 1
    person.press("p")
    person.shows("Choose a game")


def test_an_internal_error_restores_the_terminal_and_shows_no_traceback(
    real_server: RealServer, open_terminal: Open, tmp_path: Path
) -> None:
    folder = tmp_path / "sabotage"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SABOTAGE)
    person = open_terminal(real_server.address, "--name", "Ann", PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]))
    assert person.ends() == 1
    assert person.is_restored()
    assert b"a fault in the client" in person.raw
    assert b"Traceback" not in person.raw


def test_a_resized_window_is_redrawn_and_nothing_wraps(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    person.shows("Your turn")
    huge, large, medium, none = *(f" {'─' * columns}┼" for columns in (19, 9, 5)), "Make the window"
    for columns, rows, corner in ((40, 12, medium), (120, 40, huge), (20, 6, none), (80, 24, large)):
        person.resize(columns, rows)
        picture = person.comes_to(lambda p, corner=corner: corner in p, f"{columns}x{rows}")  # type: ignore[misc]
        assert len(picture.split("\n")) == rows


def test_a_killed_server_is_waited_for_on_the_screen(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots")
    person.shows("Your turn")
    real_server.end(is_killed=True)
    person.shows("your match is safe")
    real_server.start()
    person.shows("Connected again; nothing is lost.")
    person.shows("Your turn")


def test_a_second_client_of_the_same_person_is_asked_for_another_name(
    real_server: RealServer, open_terminal: Open
) -> None:
    first = open_terminal(real_server.address, "--name", "Ann")
    first.shows("Looking for a person")
    second = open_terminal(real_server.address, "--name", "Ann")
    second.shows("Another name [Ann-2]:")
    second.press("\r")
    second.shows("Ann-2 (you)")
    assert "Ann (you)" in first.comes_to(lambda picture: "Ann-2" in picture, "the opponent")


def test_a_name_that_belongs_to_somebody_else_is_asked_for_again(
    real_server: RealServer, open_terminal: Open, start: Start, tmp_path: Path
) -> None:
    other = start(real_server.address, "--name", "Ann")
    heard_until(other, "Looking for a person")
    person = open_terminal(real_server.address, "--name", "Ann", TTT_NET_HOME=str(tmp_path / "elsewhere"))
    person.shows("Another name [Ann-2]:")
    person.press("Eve\r")
    person.shows("Eve (you)")


@pytest.mark.parametrize(
    ("changes", "needs_ascii"),
    [
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm-256color", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, True),
        ({"TERM": "vt100", "NO_COLOR": "1"}, False),
        ({"TERM": "linux"}, False),
    ],
    ids=lambda value: value["TERM"] if isinstance(value, dict) else "",
)
def test_every_terminal_can_show_a_match(
    real_server: RealServer, open_terminal: Open, start: Start, changes: dict[str, str], needs_ascii: bool
) -> None:
    start(real_server.address, "--bot", "random")
    person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots", **changes)
    person.shows("Your turn")
    if changes["TERM"] == "dumb":
        assert b"\x1b" not in person.raw
    if needs_ascii:
        assert person.raw.isascii()
    if "NO_COLOR" in changes:
        assert b"[38;" not in person.raw
    person.press("q\r", "q\r") if changes["TERM"] == "dumb" else person.press("q", "q")
    if changes["TERM"] != "dumb":
        assert person.ends() == 0
        assert person.is_restored()


def test_a_link_that_goes_silent_in_mid_match_is_shown_and_comes_back_to_the_same_seat(
    real_server: RealServer, open_terminal: Open
) -> None:
    wire = SilentWire(real_server.port)
    try:
        ann = open_terminal(f"127.0.0.1:{wire.port}", "--name", "Ann")
        ann.shows("Looking for a person")
        bob = open_terminal(real_server.address, "--name", "Bob")
        first, second = (ann, bob) if "Your turn" in both_see_the_board(ann, bob) else (bob, ann)
        first.press("5")
        second.comes_to(may_move, "the first move")
        second.press("1")
        first.comes_to(lambda p: "Your turn" in p and "1" not in free_digits(p), "the answer")
        wire.cut()
        ann.shows("Reconnecting")
        assert "your match is safe" in ann.picture
        bob.shows("(away)")
        wire.mend()
        ann.shows("Connected again; nothing is lost.")
        bob.comes_to(lambda p: "(away)" not in p, "the opponent's return")
        first.press("9")
        second.comes_to(lambda p: may_move(p) and "  9  " not in p, "the third move")
    finally:
        wire.close()


def both_see_the_board(ann: Terminal, bob: Terminal) -> str:
    """Wait until both see the board; return Ann's picture."""
    bob.comes_to(lambda p: ("Ann" in p and "to move" in p) or may_move(p), "the board")
    return ann.comes_to(lambda p: ("Bob" in p and "to move" in p) or may_move(p), "the board")


def has_board(picture: str) -> bool:
    is_drawn = any(line in picture for line in ("┌─", "─┼─", "▄▄▄", "1    2    3    4    5    6    7"))
    return is_drawn and ("Your turn" in picture or "to move" in picture)


def is_answered(digit: str, picture: str) -> bool:
    """Tell whether it is our turn again, after we have played the cell of that digit."""
    return "Your turn" in picture and digit not in free_digits(picture)


def is_alone(picture: str, game: str = "Tic-tac-toe") -> bool:
    """Tell whether somebody looks for a person, and maybe for five seconds or more has found none."""
    return f"Looking for a person: {game}" in picture or f"Nobody yet. Press b to play {game}" in picture


def test_two_players_meet_by_a_seek_and_chat_while_a_third_watches(
    real_server: RealServer, open_terminal: Open
) -> None:
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("Looking for a person: Tic-tac-toe")
    bob = open_terminal(real_server.address, "--name", "Bob", "--game", "connect4")
    bob.comes_to(lambda picture: "> Ann" in picture and "no clock" in picture, "the seek of Ann")
    bob.press("\r")
    bob.comes_to(has_board, "the board")
    ann.comes_to(has_board, "the board")
    cid = open_terminal(real_server.address, "--name", "Cid", "--game", "gomoku", columns=90, rows=30)
    cid.shows("Being played")
    cid.press("w")
    cid.comes_to(
        lambda picture: has_board(picture) and "Bob" in picture and "Ann" in picture, "the match of the others"
    )
    ann.shows("1 watching")
    first, second = (ann, bob) if "Your turn" in ann.picture else (bob, ann)
    first.press("5")
    second.comes_to(lambda picture: "1. b2" in picture and "Your turn" in picture, "the move")
    cid.shows("1. b2")
    second.press("s", "2")
    first.shows("Good luck!")
    cid.press("\x1b")
    cid.shows("Looking for a person: Gomoku")
    ann.comes_to(lambda picture: "1 watching" not in picture, "nobody watching")


def test_people_are_paired_first_and_a_lonely_one_plays_a_bot_with_one_key(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    seated(start, real_server, "random")
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("Play a bot right away: press b")
    bob = open_terminal(real_server.address, "--name", "Bob")
    for person in (ann, bob):
        picture = person.comes_to(has_board, "the board")
        assert "Ann" in picture
        assert "Bob" in picture
    cid = open_terminal(real_server.address, "--name", "Cid", columns=40, rows=16)
    assert is_alone(cid.shows("Play a bot right away: press b"))
    cid.press("b")
    cid.comes_to(lambda picture: has_board(picture) or "is thinking" in picture, "the board")
    assert "random [bot]" in cid.picture
    dan = open_terminal(real_server.address, "--name", "Dan", "--game", "gomoku")
    dan.comes_to(partial(is_alone, game="Gomoku"), "that Dan waits")
    cid.shows("Your turn")
    for _ in range(2 if "X Cid" in cid.picture else 1):  # after three moves there is something to draw
        free = next(digit for digit in "4628" if digit in free_digits(cid.picture))
        cid.press(free)
        # no move of the bot's makes the offer lapse then
        cid.comes_to(partial(is_answered, free), "the bot's answer")
    cid.press("d")
    cid.shows("A draw, by agreement.")
    cid.comes_to(
        lambda picture: "Esc: Dan waits for an opponent." in picture or "v shows it." in picture,
        "that Dan waits, or the lesson if a move was a mistake, which hides that",
    )
    cid.press("n")
    cid.shows("Looking for a person; n stops, b plays a")  # the window is 40 columns wide
    cid.press("b")
    cid.comes_to(lambda picture: "agreement" not in picture and has_board(picture), "the next match")
    assert "random [bot]" in cid.picture


def test_a_challenge_is_made_and_taken_and_the_match_outlives_a_kill(
    real_server: RealServer, open_terminal: Open
) -> None:
    ann = open_terminal(real_server.address, "--name", "Ann", columns=120, rows=40)
    ann.shows("Looking for a person")
    ann.press("\x1b")
    ann.shows("Welcome, Ann.")
    bob = open_terminal(real_server.address, "--name", "Bob")
    bob.comes_to(lambda picture: "> Ann" in picture, "Ann among the players")
    bob.press("\r")
    bob.shows("Challenge Ann")
    bob.click("Connect Four")
    ann.shows("Bob challenges you: Connect Four, rated.")
    ann.resize(40, 12)
    ann.comes_to(lambda picture: "s left" not in picture or "Bob challenges you" in picture, "a narrow lobby")
    ann.press("a")
    ann.comes_to(lambda picture: "1    2    3    4" in picture, "the board")
    bob.shows("▄▄▄▄▄▄")
    ann.child.kill(signal.SIGTERM)
    assert ann.ends() == 0
    assert ann.is_restored()
    bob.shows("(away)")


def test_a_friend_joins_with_the_code_of_an_invitation(real_server: RealServer, open_terminal: Open) -> None:
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("Looking for a person")
    ann.press("\x1b", "i", "1")
    picture = ann.shows("A friend types:")
    found = re.search(r"--join ([A-Z0-9]+)", picture)
    assert found is not None
    bob = open_terminal(real_server.address, "--name", "Bob", "--game", "gomoku")
    bob.shows("Looking for a person")
    bob.press("c", f"\x1b[200~{found[1].lower()}\x1b[201~")
    bob.shows(f"Code or link: {found[1].lower()}_")
    bob.press("\r")
    bob.comes_to(has_board, "the board")
    ann.comes_to(has_board, "the board")
    ann.shows("A private match")


def test_every_way_of_leaving_gives_the_terminal_back_from_the_lobby_too(
    real_server: RealServer, open_terminal: Open
) -> None:
    def opened(name: str, game: str) -> Terminal:
        terminal = open_terminal(real_server.address, "--name", name, "--game", game)
        terminal.shows("Looking for a person")
        return terminal

    asked, hung_up, killed = opened("Ann", "qubic"), opened("Bob", "gomoku"), opened("Cid", "wild")
    asked.press("q")
    hung_up.press("\x03")
    killed.child.kill(signal.SIGTERM)
    for terminal in (asked, hung_up, killed):
        assert terminal.ends() == 0
        assert terminal.is_restored()
        assert b"\x1b[?1000l" in terminal.raw, "clicks are the terminal's own again"
