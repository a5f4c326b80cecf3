"""Where to go when no address was given: sightings and keys in, the next doorway or a choice out."""

from dataclasses import replace

import pytest

from tests.client.conftest import RealServer
from tests.client.real_terminal import Terminal
from ttt_net.announcement import Announcement
from ttt_net.client.finding.address import DEFAULT_URL
from ttt_net.client.finding.discovery import Blocked, Found, Gone
from ttt_net.client.finding.doorway import (
    Alone,
    Doorway,
    Go,
    Host,
    entered,
    erased,
    levelled,
    moved,
    read_place,
    sighted,
    tried,
    typed,
)
from ttt_net.client.finding.doorway_draw import SMALLEST, doorway_lines, draw_doorway
from ttt_net.client.finding.servers import Used
from ttt_net.errors import ConfigurationError

FRIDAY = Found("a", Announcement("Friday", 8765, ("192.0.2.7",), 3, 1, "0.1.0"), "192.0.2.7", True, False)
SHUT = Found("b", Announcement("Shut", 7000, ("192.0.2.8",)), "192.0.2.8", False, False)
HERE = Found("c", Announcement("Mine", 8765, ("192.0.2.9",), 1, 0), "192.0.2.9", True, True)


OTHERS = ("computer", "host", "type")


def keys(door: Doorway) -> list[str]:
    return [row.key for row in door.rows]


def test_one_server_found_and_nothing_else_enter_joins_it() -> None:
    assert entered(sighted(Doorway(), FRIDAY))[1] == Go("ws://192.0.2.7:8765")


def test_a_server_on_this_machine_counts_as_found_at_once_and_is_listed_once() -> None:
    door = tried(Doorway(), DEFAULT_URL, does_answer=True)
    assert door.has_found
    assert entered(door)[1] == Go(DEFAULT_URL)
    door = sighted(door, HERE)
    assert keys(door) == ["here", *OTHERS]
    assert door.row.name == "Mine"
    assert door.row.detail == "on this machine 1 player, 0 matches"


def test_what_was_found_stands_before_what_was_used_and_no_server_stands_twice() -> None:
    door = Doorway(
        used=(Used("ws://192.0.2.7:8765", "Friday"), Used("ws://example.org:8765", "Far"), Used(DEFAULT_URL, ""))
    )
    assert keys(door) == ["ws://192.0.2.7:8765", "ws://example.org:8765", *OTHERS]
    door = sighted(sighted(door, SHUT), FRIDAY)
    assert keys(door) == ["ws://192.0.2.7:8765", "ws://192.0.2.8:7000", "ws://example.org:8765", *OTHERS]
    assert keys(sighted(door, Gone("a"))) == [
        "ws://192.0.2.8:7000",
        "ws://192.0.2.7:8765",
        "ws://example.org:8765",
        *OTHERS,
    ]


def test_a_row_stays_chosen_whatever_comes_before_it() -> None:
    door = moved(sighted(Doorway(), SHUT), 0)
    assert sighted(door, FRIDAY).row.key == "ws://192.0.2.8:7000"
    assert sighted(door, Gone("b")).row.key == "computer"
    assert moved(door, len(door.rows)).row.key == "ws://192.0.2.8:7000"


def test_a_server_that_does_not_answer_is_shown_with_what_that_may_mean() -> None:
    (line, *_) = doorway_lines(sighted(Doorway(), SHUT))
    assert line == "1. Shut, 192.0.2.8:7000, does not answer: a firewall?"


def test_an_address_can_be_typed_at_any_time() -> None:
    door = typed(typed(sighted(Doorway(), FRIDAY), "example.or"), "g")
    assert entered(door)[1] == Go("ws://example.org:8765")
    assert erased(door).typed == "example.or"
    assert erased(typed(door, "x" * 500)).typed is not None
    door, place = entered(typed(Doorway(), "nowhere:at all".replace(" ", "")))
    assert place is None
    assert "is no address" in door.notice


def test_where_a_server_was_found_the_explanation_does_not_say_that_none_was() -> None:
    door = replace(sighted(Doorway(), FRIDAY), is_explained=True)
    shown = draw_doorway(door, (80, 24)).plain
    assert "announced itself" not in shown
    assert "Not the server you look for?" in shown
    assert "Friday" in shown


def test_a_narrow_window_has_room_for_the_address_of_a_server() -> None:
    shown = draw_doorway(sighted(Doorway(), FRIDAY), (40, 16)).plain
    assert "Friday  192.0.2.7:8765" in shown
    assert "Play the computer here  level 4 of 8" in shown


def test_nothing_typed_leads_nowhere() -> None:
    door, place = entered(moved(Doorway(), -1))
    assert (place, door.typed) == (None, "")
    assert entered(door)[1] is None


def test_where_nothing_is_found_the_computer_is_there_at_any_level_and_a_server_can_be_started() -> None:
    assert entered(Doorway())[1] == Alone(4)
    assert entered(levelled(Doorway(), 1))[1] == Alone(5)
    assert entered(levelled(Doorway(), 99))[1] == Alone(8)
    assert entered(levelled(Doorway(), -99))[1] == Alone(1)
    assert entered(moved(Doorway(), 1))[1] == Host()


def test_a_code_is_tried_on_the_server_that_is_there_or_the_one_that_is_typed_with_it() -> None:
    assert read_place(sighted(Doorway(), FRIDAY), "bcd234") == Go("ws://192.0.2.7:8765", "BCD234")
    assert read_place(Doorway(), "example.org BCD234") == Go("ws://example.org:8765", "BCD234")
    assert read_place(Doorway(), "laptop") == Go("ws://laptop:8765")
    for text in ("BCD234", "example.org friend", "a b c"):
        with pytest.raises(ConfigurationError):
            read_place(Doorway(), text)


def test_nothing_found_says_why_that_may_be_and_what_to_type() -> None:
    text = " ".join(doorway_lines(Doorway(has_looked=True)))
    for word in ("firewall", "VPN", "subnet", "192.168.1.20", "start a server here"):
        assert word in text
    assert "Network is unreachable" in " ".join(doorway_lines(sighted(Doorway(), Blocked("Network is unreachable"))))


FULL = Doorway(used=tuple(Used(f"ws://s{number}.example.org:8765", f"Server {number}") for number in range(8)))


@pytest.mark.parametrize("size", [(24, 8), (40, 12), (80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize(
    "door",
    [
        Doorway(),
        Doorway(has_looked=True),
        sighted(Doorway(), FRIDAY),
        FULL,
        typed(FULL, "x" * 80),
        entered(typed(FULL, ":"))[0],
    ],
    ids=["looking", "nothing", "one", "full", "typing", "wrong"],
)
def test_every_picture_fills_the_screen_and_no_line_is_too_wide(door: Doorway, size: tuple[int, int]) -> None:
    lines = draw_doorway(door, size).plain.split("\n")
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    for _ in door.rows:
        door = moved(door, 1)
        assert any(line.startswith("> ") for line in draw_doorway(door, size).plain.split("\n"))


@pytest.mark.parametrize("width", [24, 40, 80])
def test_the_way_out_is_shown_at_every_width(width: int) -> None:
    assert draw_doorway(Doorway(), (width, 12)).plain.endswith("? more   q leave")


def test_a_narrow_window_cuts_nothing_that_can_be_chosen_or_tried() -> None:
    page = " ".join(draw_doorway(Doorway(has_looked=True), (40, 16)).plain.split())
    for whole in ("or start a server here. Or >", "Start a server here for friends Type an address or a code Enter"):
        assert whole in page


def test_below_the_smallest_size_there_is_a_sentence() -> None:
    assert draw_doorway(Doorway(), (SMALLEST[0] - 1, 8)).plain.startswith("Make the window larger")


def test_on_a_screen_the_computer_is_one_key_away(environment: dict[str, str]) -> None:
    terminal = Terminal([], environment)
    terminal.shows("level 4 of 8")
    terminal.press("\x1b[C")
    terminal.shows("level 5 of 8")
    terminal.press("\r")
    assert "alphabeta [bot, level 5]" in terminal.shows("Your turn: place X.")
    terminal.press("\x03")
    assert terminal.ends() == 0


def test_escape_leads_back_to_where_one_came_in(environment: dict[str, str], real_server: RealServer) -> None:
    environment["TTT_NET_HOME"] = str(real_server.folder / "home")
    terminal = Terminal(["--name", "Ann"], environment)
    terminal.shows("level 4 of 8")
    terminal.press("\x1b[D", "\r")
    terminal.shows("Your turn: place X.")
    terminal.press("\x1b")
    terminal.shows("and leave?")
    terminal.press("q")
    terminal.shows("level 4 of 8")
    terminal.press(real_server.address, "\r")
    terminal.shows("Looking for a person")
    terminal.press("\x1b")
    terminal.shows("Esc servers")
    terminal.press("\x1b")
    terminal.shows(f"{real_server.address}")
    terminal.shows("level 4 of 8")
    terminal.press("q")
    assert terminal.ends() == 0
    assert terminal.is_restored()
