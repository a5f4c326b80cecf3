"""The lobby, a challenge, an invitation, chat and watching: real clients in real terminals against a real server."""

import re
import signal
from functools import partial

from tests.client.conftest import RealServer, Start, seated
from tests.client.real_terminal import Open, Terminal


def has_board(picture: str) -> bool:
    return "┌─" in picture and ("Your turn" in picture or "to move" in picture)


def is_answered(digit: str, picture: str) -> bool:
    """Tell whether it is our turn again, after we have played the cell of that digit."""
    return "Your turn" in picture and f"  {digit}  " not in picture


def is_alone(picture: str) -> bool:
    """Tell whether somebody looks for a person, and for five seconds or more has found none."""
    return "Looking for a person: Tic-tac-toe" in picture or "Nobody yet for Tic-tac-toe: b plays" in picture


def test_a_seek_is_accepted_the_two_talk_and_a_third_looks_on(real_server: RealServer, open_terminal: Open) -> None:
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("Looking for a person: Tic-tac-toe")
    bob = open_terminal(real_server.address, "--name", "Bob", "--game", "connect4")
    bob.comes_to(lambda picture: "> Ann" in picture and "no clock" in picture, "the seek of Ann")
    bob.press("\r")
    bob.comes_to(has_board, "the board")
    ann.comes_to(has_board, "the board")
    cid = open_terminal(real_server.address, "--name", "Cid", "--game", "gomoku", columns=100, rows=30)
    cid.shows("Being played")
    cid.press("w")
    cid.comes_to(lambda picture: "┌─" in picture and "Bob" in picture and "Ann" in picture, "the match of the others")
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


def test_people_meet_though_a_bot_waits_and_who_is_alone_plays_it_with_one_key(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    seated(start, real_server, "random")
    ann = open_terminal(real_server.address, "--name", "Ann")
    ann.shows("A bot plays you at once: press b")
    bob = open_terminal(real_server.address, "--name", "Bob")
    for person in (ann, bob):
        picture = person.comes_to(has_board, "the board")
        assert "Ann" in picture
        assert "Bob" in picture
    cid = open_terminal(real_server.address, "--name", "Cid", columns=40, rows=16)
    assert is_alone(cid.shows("A bot plays you at once: press b"))
    cid.press("b")
    cid.comes_to(lambda picture: has_board(picture) or "is thinking" in picture, "the board")
    assert "random [bot]" in cid.picture
    dan = open_terminal(real_server.address, "--name", "Dan", "--game", "gomoku")
    dan.shows("Looking for a person: Gomoku")
    cid.shows("Your turn")
    for _ in range(2 if "X Cid" in cid.picture else 1):  # after three moves there is something to draw
        free = next(digit for digit in "4628" if f"  {digit}  " in cid.picture)
        cid.press(free)
        # no move of the bot's makes the offer lapse then
        cid.comes_to(partial(is_answered, free), "the bot's answer")
    cid.press("d")
    cid.shows("A draw, by agreement.")
    cid.shows("Esc: Dan waits for an opponent.")
    cid.press("n")
    cid.shows("Looking for a person; b plays a bot.")
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
    ann.comes_to(lambda picture: "1  2  3  4  5  6  7" in picture, "the board")
    bob.shows("┌─────┬")
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
