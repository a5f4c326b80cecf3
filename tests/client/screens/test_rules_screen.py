"""The page of rules: what opens it, what is on it, and that it comes by itself once."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from tests.client.conftest import RealServer, Start
from tests.client.fake_server import fake_server
from tests.client.lines.paper import plain_at
from tests.client.pressing import drawn, lobby, pressed
from tests.client.real_terminal import Open
from tests.client.samples import BEN, ok, snapshot
from ttt_net.client.display import Display, Overlay
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.drawing.themes import DARK
from ttt_net.client.remembered import game_family, is_first_match_of
from ttt_net.client.screens.rules_screen import told
from ttt_net.client.update import update
from ttt_net.errors import Code
from ttt_net.games.catalogue import NAMES, SWAPPABLE
from ttt_net.matches.description import describe_rules
from ttt_net.messages import ClockInfo, Ended, Refused, RuleExample, RulesReply, RulesRequest, SeekRequest
from ttt_net.sdk.received import Answered

THEMED = replace(BOXES, theme=DARK)
EVIL = "\x1b[2J\x1b]0;PWNED\x07\u202e"
NAMED = [*NAMES, *(f"{name}+swap" for name in SWAPPABLE if ":" not in name)]


def page_of(game: str) -> Display:
    display, _ = pressed(lobby(snapshot(game, opponent=BEN)), "?")
    return update(display, describe_rules(game), 0)


def test_a_running_clock_is_mentioned_above_the_rules() -> None:
    match = snapshot("connect4", opponent=BEN, clock=ClockInfo((60_000, 60_000), 0))
    display = update(pressed(lobby(match), "?")[0], describe_rules("connect4"), 0)
    assert "Meanwhile the clocks run. Your turn: place X." in drawn(display)


def test_at_a_board_the_rules_come_first_then_the_keys_then_the_board() -> None:
    display, requests = pressed(lobby(snapshot("connect4", opponent=BEN)), "?")
    assert requests == (RulesRequest(0, game="connect4"),)
    display = update(display, describe_rules("connect4"), 0)
    assert "How to play Connect Four" in drawn(display)
    assert "Your match waits for you.\n" in drawn(display), "the board below is an example"
    assert "Your turn" not in drawn(display)
    display, _ = pressed(display, "?")
    assert (display.page.screen, display.overlay) == ("match", Overlay.HELP)
    assert "Move the cursor." in drawn(display)
    display, _ = pressed(display, "?")
    assert (display.page.screen, display.overlay) == ("match", Overlay.NONE)


@pytest.mark.parametrize("key", ["c-m", " ", "escape"])
def test_a_key_leads_back_to_the_board(key: str) -> None:
    display, requests = pressed(page_of("connect4"), key)
    assert (display.page.screen, requests) == ("match", ())


def test_elsewhere_the_keys_come_first_and_then_the_rules_of_what_is_chosen_or_sought() -> None:
    display, requests = pressed(lobby(), "?")
    assert (display.overlay, requests) == (Overlay.HELP, ())
    assert "? rules of a game" in drawn(display)
    display, requests = pressed(display, "?")
    assert (display.page.screen, requests) == ("rules", (RulesRequest(0, game="tictactoe"),))
    _, requests = pressed(lobby(), "p", "down", "down", "?", "?")
    assert requests == (RulesRequest(0, game="wild"),)


@pytest.mark.parametrize("name", NAMED)
def test_every_page_fits_a_screen_of_80_by_24(name: str) -> None:
    page = drawn(page_of(name))
    assert "below)" not in page
    flat = " ".join(page.split())
    assert flat.count(" - ") >= 2
    reply = describe_rules(name)
    assert reply.example is not None
    assert set(reply.example.caption.split()) <= set(flat.split())


def test_the_example_is_drawn_as_the_board_of_its_match_and_lights_the_line() -> None:
    page = draw(page_of("tictactoe"), (80, 24), 0, THEMED)
    lit = [span for span in page.spans if isinstance(span.style, str) and f"on {DARK.win}" in span.style]
    assert len({page.plain[: span.start].count("\n") for span in lit}) >= 3, "three large marks"
    assert "[X]" not in page.plain
    lines = drawn(page_of("connect4"), (120, 40)).splitlines()
    assert sum("█" in line for line in lines) >= 5


def test_an_example_of_another_board_is_told_as_text() -> None:
    reply = describe_rules("connect4")
    assert reply.example is not None
    assert reply.example.position is not None
    for example in (
        structs.replace(reply.example, position=structs.replace(reply.example.position, board="XO")),
        structs.replace(reply.example, game=None, position=None),
    ):
        display, _ = pressed(lobby(snapshot("connect4", opponent=BEN)), "?")
        page = drawn(update(display, structs.replace(reply, example=example), 0))
        assert "[X][X][X][X]" in page
        assert "X has four in a row" in page


def test_on_a_narrow_screen_the_page_is_read_by_scrolling() -> None:
    display = page_of("ultimate")
    assert "below)" in drawn(display, (40, 12))
    display, _ = pressed(display, "end")
    assert "above)" in drawn(display, (40, 12))
    assert "play anywhere" in " ".join(drawn(display, (40, 12)).split())


def test_a_server_that_tells_no_rules_leaves_the_board_as_it_is() -> None:
    display, (request,) = pressed(lobby(snapshot("connect4", opponent=BEN)), "?")
    display = update(display, Answered(request, Refused(1, Code.BAD_MESSAGE, "Invalid value 'rules'")), 0)
    assert display.page.screen == "match"
    assert "This server has no rules for games." in drawn(display)


def test_nothing_on_the_page_reaches_the_terminal_as_a_command() -> None:
    example = RuleExample([EVIL], [EVIL * 9, "x" * 500, *[EVIL] * 99], EVIL * 99)
    display, _ = pressed(lobby(snapshot("connect4", opponent=BEN)), "?")
    display = update(display, RulesReply("x", EVIL, EVIL, EVIL * 99, EVIL, [EVIL] * 999, example), 0)
    for size in ((80, 24), (40, 12), (24, 8)):
        text = drawn(display, size)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert max(map(len, text.split("\n"))) <= size[0]
    reply = display.world.reply(RulesReply)
    assert reply is not None
    assert not {"\x1b", "\x07", "\u202e"} & set(told(reply, has_drawing=True))


def test_for_the_ear_the_drawing_is_told_in_a_sentence() -> None:
    page = told(describe_rules("connect4"), has_drawing=False)
    assert "[X]" not in page
    assert "An example: X has four in a row at the bottom, in columns 3 to 6" in page
    assert page.count("Tip: ") == 2


async def test_in_lines_the_word_rules_tells_the_page_of_the_match_or_of_a_game() -> None:
    async with fake_server() as server, plain_at(server) as (paper, _):
        link = await server.accepts()
        await link.lets_in()
        seek = await link.hears(SeekRequest)
        await link.tells(ok(seek.id), snapshot("connect4", opponent=BEN))
        await paper.shows("Your turn: place X.")
        paper.type("rules")
        asked = await link.hears(RulesRequest)
        assert asked.game == "connect4"
        await link.tells(ok(asked.id), describe_rules("connect4"))
        await paper.shows(" 1  .  . [X][X][X][X] .")
        paper.type("? Ultimate")
        assert (await link.hears(RulesRequest)).game == "ultimate"
        await link.tells(Ended("m1", 9, 0, 0, "resign"))


def test_games_that_differ_in_size_alone_share_their_rules() -> None:
    assert game_family("mnk:5x4,4") == game_family("mnk:19x19,5") == "mnk"
    assert game_family("connect:7x6,4+swap") == "connect+swap"
    assert game_family("gomoku") == "gomoku"


def test_the_first_match_of_a_game_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TTT_NET_RULES")
    assert [is_first_match_of(name) for name in ("connect4", "connect4", "mnk:5x4,4", "mnk:6x6,5")] == [
        True,
        False,
        True,
        False,
    ]
    (tmp_path / "home" / "rules_seen.json").write_text("{broken")
    assert is_first_match_of("connect4")
    monkeypatch.setenv("TTT_NET_RULES", "off")
    assert not is_first_match_of("qubic")


def test_before_the_first_match_of_a_game_the_page_comes_by_itself_and_then_no_more(
    real_server: RealServer, open_terminal: Open, start: Start
) -> None:
    start(real_server.address, "--bot", "random")
    for is_first in (True, False):
        person = open_terminal(real_server.address, "--name", "Ann", "--opponents", "bots", TTT_NET_RULES="")
        if is_first:
            person.shows("How to play Tic-tac-toe")
            person.press("\r")
        assert "How to play" not in person.shows("┏")
        person.press("q")
        person.shows("and leave?")
        person.press("y")
        person.ends()
