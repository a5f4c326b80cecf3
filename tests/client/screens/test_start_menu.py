"""The start menu: sightings and keys in, the next display or a place out."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.client.conftest import RealServer
from tests.client.pressing import pressed
from tests.client.real_terminal import Terminal
from ttt_net import __version__
from ttt_net.client.act import act, command_for
from ttt_net.client.address import DEFAULT_URL, Alone, Go, Host, LookOn, Place, Together, Used
from ttt_net.client.bot.engine_process import playable_games
from ttt_net.client.bot.house import CHARACTERS
from ttt_net.client.display import Display, Entry, Page, Type
from ttt_net.client.drawing.draw import SMALLEST, draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.lines.line_client import server_lines
from ttt_net.client.local.local_matches import answer_without_match, demonstration
from ttt_net.client.remembered import OPPONENTS, LocalChoices, choices_for, load_choices, save_choices
from ttt_net.client.screens.registry import rows_of
from ttt_net.client.screens.screen import cursor_of
from ttt_net.client.screens.start_menu import LOOKING
from ttt_net.client.server_search import (
    Blocked,
    Found,
    Gone,
    ServerList,
    ServerSearch,
    explanation,
    key_of,
    read_place,
    sighted,
    tried,
)
from ttt_net.client.terminal.loop import END_MS, PACE_MS, MenuController
from ttt_net.errors import ConfigurationError
from ttt_net.messages import SeekRequest
from ttt_net.networks import Announcement

FRIDAY = Found("a", Announcement("Friday", 8765, ("192.0.2.7",), 3, 1, "0.1.0"), "192.0.2.7", True, False)
SHUT = Found("b", Announcement("Shut", 7000, ("192.0.2.8",)), "192.0.2.8", False, False)
HERE = Found("c", Announcement("Mine", 8765, ("192.0.2.9",), 1, 0), "192.0.2.9", True, True)
OTHERS = ("computer", "together", "watch", "host", "type")
ENTER = "c-m"


def picking(servers: ServerList) -> Display:
    return Display(pages=(Page("start"),), servers=servers, has_lobby=False)


def typing(display: Display, text: str) -> Display:
    return act(display, Type(text), SeekRequest(0))[0]


def place_of(display: Display) -> Place | None:
    assert display.servers is not None
    return display.servers.place


def entered(display: Display) -> Place | None:
    return place_of(pressed(display, ENTER)[0])


def keys(servers: ServerList) -> list[str]:
    return [each.key for each in servers.destinations]


def chosen(display: Display) -> str:
    rows = rows_of(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    assert at is not None
    return rows[at].key


def shown(display: Display, size: tuple[int, int] = (80, 24)) -> str:
    return draw(display, size, 0, BOXES).plain


def test_one_server_found_and_nothing_else_enter_joins_it() -> None:
    assert entered(picking(sighted(ServerList(), FRIDAY))) == Go("ws://192.0.2.7:8765")


def test_a_server_on_this_machine_counts_as_found_at_once_and_is_listed_once() -> None:
    servers = tried(ServerList(), DEFAULT_URL, does_answer=True)
    assert servers.has_found
    assert entered(picking(servers)) == Go(DEFAULT_URL)
    servers = sighted(servers, HERE)
    assert keys(servers) == ["here", *OTHERS]
    first = servers.destinations[0]
    assert (first.name, first.detail) == ("Mine", "on this machine, 1 player, 0 matches")
    for version, said in ((__version__, ""), ("9.8.7", ", version 9.8.7")):
        other = replace(HERE, announcement=replace(HERE.announcement, version=version))
        detail = sighted(servers, other).destinations[0].detail
        assert detail == f"on this machine, 1 player, 0 matches{said}", "a version is news only if it is another one"


def test_an_encrypted_server_on_this_machine_is_listed_once_at_an_address_that_works() -> None:
    encrypted = replace(HERE, announcement=replace(HERE.announcement, is_secure=True))
    servers = sighted(tried(ServerList(), DEFAULT_URL, does_answer=True), encrypted)
    assert keys(servers) == ["wss://192.0.2.9:8765", *OTHERS]


def test_found_servers_come_before_used_ones_and_none_is_listed_twice() -> None:
    servers = ServerList(
        used=(Used("ws://192.0.2.7:8765", "Friday"), Used("ws://example.org:8765", "Far"), Used(DEFAULT_URL, ""))
    )
    friday, shut, far = "ws://192.0.2.7:8765", "ws://192.0.2.8:7000", "ws://example.org:8765"
    assert keys(servers) == [friday, far, *OTHERS]
    servers = sighted(sighted(servers, SHUT), FRIDAY)
    assert keys(servers) == [friday, shut, far, *OTHERS]
    assert keys(sighted(servers, Gone("a"))) == [shut, friday, far, *OTHERS]


def test_where_a_server_that_was_used_before_answers_none_is_missed() -> None:
    far = ServerList(used=(Used("ws://example.org:8765", "Far"),), has_looked=True)
    for does_answer, first in ((False, "No server was found on this network"), (True, "1. Far, example.org:8765")):
        servers = replace(far, does_answer={"ws://example.org:8765": does_answer})
        assert server_lines(servers)[0].startswith(first)
        assert ("No server here yet" in shown(picking(servers))) is not does_answer


def test_a_narrow_menu_says_how_well_the_computer_plays_while_its_row_is_chosen() -> None:
    display = picking(ServerList(has_looked=True))
    assert "Level 4, casual player; left and right" in draw(display, (40, 12), 0, BOXES).plain
    stronger, _ = pressed(display, "right", "right")
    assert "Level 6, expert; left and right" in draw(stronger, (40, 12), 0, BOXES).plain
    assert "left and right" not in draw(pressed(display, "down")[0], (40, 12), 0, BOXES).plain


def test_a_row_stays_chosen_whatever_comes_before_it() -> None:
    servers = sighted(ServerList(), SHUT)
    display, _ = pressed(picking(servers), "down", "up")
    assert chosen(replace(display, servers=sighted(servers, FRIDAY))) == "ws://192.0.2.8:7000"
    assert chosen(replace(display, servers=sighted(servers, Gone("b")))) == "computer"


def test_a_server_that_does_not_answer_is_shown_with_what_that_may_mean() -> None:
    (line, *_) = server_lines(sighted(ServerList(), SHUT))
    assert line == "1. Shut, 192.0.2.8:7000, does not answer: a firewall?"


def test_an_address_can_be_typed_at_any_time_and_a_wrong_one_be_mended() -> None:
    display, _ = pressed(picking(sighted(ServerList(), FRIDAY)), *"example.or", "g")
    assert "Address or code: example.org_" in shown(display)
    assert shown(display).endswith("Enter join  Esc back")
    assert entered(display) == Go("ws://example.org:8765")
    assert pressed(display, "backspace")[0].typed == "example.or"
    assert len(typing(picking(ServerList()), "x" * 500).typed) == 80
    display, _ = pressed(typing(picking(ServerList()), "nowhere:at"), ENTER)
    assert (place_of(display), display.entry, display.typed) == (None, Entry.ADDRESS, "nowhere:at")
    assert "is no address" in shown(display)
    display, _ = pressed(display, "backspace", "backspace", "8", "0", ENTER)
    assert place_of(display) == Go("ws://nowhere:80")


def test_letters_that_are_keys_elsewhere_are_typed() -> None:
    display, _ = pressed(picking(ServerList()), "j", "k", "?", "q")
    assert display.typed == "jk?q"


def test_where_a_server_was_found_the_explanation_does_not_say_that_none_was() -> None:
    display, _ = pressed(picking(sighted(ServerList(), FRIDAY)), "?")
    assert "announced itself" not in shown(display)
    assert "Not the server you look for?" in shown(display)
    assert "Friday" in shown(display)
    for key in ("?", "escape"):
        assert "Not the server" not in shown(pressed(display, key)[0])


def test_a_narrow_window_has_room_for_the_address_of_a_server() -> None:
    page = shown(picking(sighted(ServerList(), FRIDAY)), (40, 16))
    assert "Friday  192.0.2.7:8765" in page
    assert "Play the computer     Tic-tac-toe" in page


def test_nothing_typed_leads_nowhere() -> None:
    display, _ = pressed(picking(ServerList()), "end", ENTER)
    assert (place_of(display), display.entry) == (None, Entry.ADDRESS)
    assert entered(display) is None


def test_where_nothing_is_found_the_computer_is_there_at_any_level_and_a_server_can_be_started() -> None:
    display = picking(ServerList())
    assert entered(display) == Alone(4)
    assert entered(pressed(display, "right")[0]) == Alone(5)
    assert entered(pressed(display, *["right"] * 99)[0]) == Alone(8)
    assert entered(pressed(display, *["left"] * 99)[0]) == Alone(1)
    assert entered(pressed(display, "end", "up")[0]) == Host()


def test_q_leaves_without_a_place() -> None:
    display, _ = pressed(picking(ServerList()), "q")
    assert display.is_leaving
    assert place_of(display) is None


def test_a_code_is_tried_on_the_server_that_is_there_or_the_one_that_is_typed_with_it() -> None:
    assert read_place(sighted(ServerList(), FRIDAY), "bcd234") == Go("ws://192.0.2.7:8765", "BCD234")
    assert read_place(ServerList(), "example.org BCD234") == Go("ws://example.org:8765", "BCD234")
    assert read_place(ServerList(), "laptop") == Go("ws://laptop:8765")
    for text in ("BCD234", "example.org friend", "a b c"):
        with pytest.raises(ConfigurationError):
            read_place(ServerList(), text)


def test_nothing_found_says_why_that_may_be_and_what_to_type() -> None:
    assert "help explains why" in " ".join(server_lines(ServerList(has_looked=True)))
    text = " ".join(explanation(ServerList(has_looked=True)))
    for word in ("firewall", "VPN", "subnet", "192.168.1.20", "start a server here"):
        assert word in text
    blocked = sighted(ServerList(), Blocked("Network is unreachable"))
    assert "Network is unreachable" in " ".join(server_lines(blocked))


FULL = ServerList(used=tuple(Used(f"ws://s{number}.example.org:8765", f"Server {number}") for number in range(8)))


@pytest.mark.parametrize("size", [(24, 8), (40, 12), (80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize(
    "display",
    [
        picking(ServerList()),
        picking(ServerList(has_looked=True)),
        picking(sighted(ServerList(), FRIDAY)),
        picking(FULL),
        typing(picking(FULL), "x" * 80),
        pressed(typing(picking(FULL), ":"), ENTER)[0],
    ],
    ids=["looking", "nothing", "one", "full", "typing", "wrong"],
)
def test_every_picture_fills_the_screen_and_no_line_is_too_wide(display: Display, size: tuple[int, int]) -> None:
    lines = shown(display, size).split("\n")
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    display = replace(display, entry=Entry.MOVE, typed="")
    for _ in rows_of(display, 0):
        display, _ = pressed(display, "down")
        assert any(line.startswith("> ") for line in shown(display, size).split("\n"))


@pytest.mark.parametrize("width", [24, 40, 80])
def test_the_way_out_is_shown_at_every_width(width: int) -> None:
    assert shown(picking(ServerList()), (width, 12)).endswith("? more  q leave")


def test_a_narrow_window_cuts_nothing_that_can_be_chosen_or_tried() -> None:
    page = " ".join(shown(picking(ServerList(has_looked=True)), (40, 16)).split())
    for whole in ("No server here yet; ? explains why.", "> Play the computer", "Type an address or a code"):
        assert whole in page


def test_below_the_smallest_size_there_is_a_sentence() -> None:
    assert shown(picking(ServerList()), (SMALLEST[0] - 1, 8)).startswith("Make the window larger")
    assert shown(picking(ServerList()), (16, 5)).split() == ["Make", "the", "window", "larger:", "24x8."]


def test_on_a_screen_the_computer_is_one_key_away(environment: dict[str, str]) -> None:
    terminal = Terminal([], environment)
    terminal.shows("level 4 of 8")
    terminal.press("\x1b[C")
    terminal.shows("level 5 of 8")
    terminal.press("\r")
    assert "Computer [bot, level 5]" in terminal.shows("Your turn: place X.")
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
    terminal.shows("level 3 of 8")
    terminal.press(real_server.address, "\r")
    terminal.shows("Looking for a person")
    terminal.press("\x1b")
    terminal.shows("Esc servers")
    terminal.press("\x1b")
    terminal.shows(f"{real_server.address}")
    terminal.shows("level 3 of 8")
    terminal.press("q")
    assert terminal.ends() == 0
    assert terminal.is_restored()


def test_two_people_and_two_bots_are_a_row_each_and_play_what_is_shown() -> None:
    display = picking(ServerList(choices=LocalChoices(game="connect4", names=("Ann", "Bob"))))
    assert "Two at this keyboard  Connect Four, Ann and Bob" in shown(display)
    assert entered(pressed(display, "down")[0]) == Together("connect4", ("Ann", "Bob"))
    assert entered(pressed(display, "down", "down")[0]) == LookOn("connect4")


def setup(*keys: str) -> Display:
    return pressed(picking(ServerList()), "c-i", *keys)[0]


def test_local_choices_are_changed_row_by_row_and_then_played() -> None:
    display = setup("right", "down", "right", "down", "left", "down", "right", "escape")
    assert display.page.screen == "start"
    assert entered(display) == Alone(3, "misere", "mcts", "second")
    display = setup("left", "down", "left", "down", "right", "right", "down", ENTER, ENTER)
    for _ in range(4):
        display, _ = pressed(display, "down")
    assert place_of(pressed(display, ENTER)[0]) == Alone(6, "ultimate", "random", "lot")


def test_a_game_is_taken_from_a_list_by_its_digit_or_by_its_name() -> None:
    display = setup(ENTER, "6")
    assert (display.page.screen, choices_of(display).game) == ("setup", "connect4")
    display = typing(setup(ENTER, "end", ENTER), "mnk:3x3,9")
    display, _ = pressed(display, ENTER)
    assert "out of range" in shown(display)
    display, _ = pressed(replace(display, typed="mnk:7x7,4"), ENTER)
    assert (display.page.screen, choices_of(display).game) == ("setup", "mnk:7x7,4")


def test_two_people_are_called_as_they_say() -> None:
    display = typing(setup("down", "down", "down", "down", ENTER), "Ann")
    display, _ = pressed(display, ENTER)
    assert "two different names with a comma between them" in shown(display)
    assert display.typed == "Ann"
    display, _ = pressed(typing(display, ", Bob"), ENTER)
    assert choices_of(display).names == ("Ann", "Bob")


def test_the_rules_of_a_game_and_the_puzzle_are_answered_without_a_server() -> None:
    controller = menu_controller()
    for key in ("end", "up", "up", "up", "up", ENTER, "6"):
        command = command_for(key, controller.display)
        assert command is not None
        controller.do(command)
    assert "Get four of your marks in a" in shown(controller.display)
    for key in ("escape", "escape", "down", ENTER):
        command = command_for(key, controller.display)
        assert command is not None
        controller.do(command)
    assert "Puzzle of 1970-01-01" in shown(controller.display)
    for key in ("escape", "down", ENTER):
        command = command_for(key, controller.display)
        assert command is not None
        controller.do(command)
    assert "what did Sophia play?" in shown(controller.display)
    assert not controller.is_done


def test_the_chosen_game_plays_itself_beside_a_wide_menu() -> None:
    controller, wide = menu_controller(), (100, 30)
    controller.demonstrate = lambda game: demonstration(game, Random(3))
    controller.look_at_window(wide, 0)
    assert controller.display.featured is None, "nothing is loaded for it before the first second is over"
    controller.look_at_window((80, 24), PACE_MS)
    assert controller.display.featured is None, "a small window has no room"
    for number in range(1, 4):
        controller.look_at_window(wide, number * PACE_MS)
        controller.look_at_window(wide, number * PACE_MS + 1)
    page = draw(controller.display, wide, 0, BOXES).plain
    assert any(block in page for block in "▀▄█"), "two moves are drawn as marks"
    assert "Play the computer" in page
    assert len(controller.display.world.matches["demonstration"].moves) == 2
    now_ms = 4 * PACE_MS
    while controller.display.world.matches["demonstration"].outcome is None:
        controller.look_at_window(wide, now_ms)
        now_ms += PACE_MS
    controller.look_at_window(wide, now_ms)
    assert controller.display.world.matches["demonstration"].outcome is not None, "its end is visible for longer"
    for later_ms in (now_ms + END_MS, now_ms + END_MS + 1):
        controller.look_at_window(wide, later_ms)
    assert controller.display.world.matches["demonstration"].moves == [], "and then it begins again"


def test_without_motion_the_menu_shows_the_end_of_a_match() -> None:
    controller = menu_controller()
    controller.demonstrate, controller.has_motion = lambda game: demonstration(game, Random(3)), False
    for now_ms in (0, PACE_MS):
        controller.look_at_window((100, 30), now_ms)
    shown_match = controller.display.world.matches["demonstration"]
    assert shown_match.outcome is not None
    controller.look_at_window((100, 30), 100 * PACE_MS)
    assert controller.display.world.matches["demonstration"] is shown_match


def menu_controller() -> MenuController:
    search = ServerSearch(lambda: None, LocalChoices())
    controller = MenuController(search)
    controller.answer = lambda request: answer_without_match(request, 0)
    return controller


def choices_of(display: Display) -> LocalChoices:
    assert display.servers is not None
    return display.servers.choices


def test_every_opponent_plays_every_game_and_a_level_is_called_as_the_bots_of_a_server_call_it() -> None:
    for name in OPPONENTS:
        assert playable_games(name, 3) == [], name
    for each in CHARACTERS:
        assert LocalChoices(level=each.level).strength_in_words == each.label


@pytest.mark.parametrize("size", [(24, 8), (40, 12), (80, 24), (100, 30), (200, 60)])
@pytest.mark.parametrize(
    "keys", [[], [ENTER], ["escape", "end", "up", "up", "up", "up", ENTER]], ids=["setup", "games", "learn"]
)
def test_overlays_of_the_menu_fit_every_window(keys: list[str], size: tuple[int, int]) -> None:
    lines = shown(setup(*keys), size).split("\n")
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]
    assert any(line.startswith("> ") for line in lines)


def test_choices_are_remembered_and_a_broken_file_chooses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path))
    chosen = LocalChoices("connect4", "mcts", 7, "lot", ("Ann", "Bob"), ("random", "mcts"))
    save_choices(chosen)
    assert load_choices() == chosen
    assert choices_for("qubic").game == "qubic"
    assert choices_for("a game of tomorrow").game == "connect4"
    for text in ("{", "[]", '{"game": "chess", "level": "4", "order": "x", "names": ["a", "A"], "watched": [1, 2]}'):
        (tmp_path / "local.json").write_text(text)
        assert load_choices() == LocalChoices()


def choose(terminal: Terminal, words: str) -> None:
    """Click on a row of the start menu once servers are found, or none is: each of them moves it down."""
    terminal.comes_to(lambda picture: words in picture and LOOKING not in picture, words)
    terminal.click(words)


def test_two_who_sit_here_come_from_the_menu_to_the_board_and_back(environment: dict[str, str]) -> None:
    terminal = Terminal(["connect4"], environment)
    choose(terminal, "Two at this keyboard")
    terminal.shows("X to move.")
    terminal.press("\x1b")
    terminal.shows("and leave?")
    terminal.press("q")
    choose(terminal, "Watch two bots play")
    terminal.shows("Ada [bot]")
    terminal.press("\x1b")
    terminal.shows("Watch two bots play")
    terminal.press("q")
    assert terminal.ends() == 0


def test_the_cursor_returns_to_the_row_that_led_away() -> None:
    servers = sighted(sighted(ServerList(), HERE), FRIDAY)
    rows = [row for row in servers.destinations if row.does is not None or row.url is not None]
    assert len(rows) == 6
    for row in rows:
        place = row.does or Go(row.url or "")
        back = MenuController(ServerSearch(lambda: None, LocalChoices()), key_of(place)).display
        assert [each for each in shown(replace(back, servers=servers)).split("\n") if each.startswith(f"> {row.name}")]
    assert key_of(None) == ""
