"""A screen is its own module and a line of the registry: terminal, keys and lines need no more to show it."""

import ast
import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

import ttt_net.client as client
from tests.client.pressing import SEEK, done, drawn, lobby, pressed
from tests.client.samples import snapshot, welcome
from ttt_net.client.act import act
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import AnyCommand, Command, Display, Open, Overlay, Page, Step
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.lines.typed_lines import NumberedMenu
from ttt_net.client.screens.lobby_screen import lobby_screen
from ttt_net.client.screens.registry import HELP, SCREENS, WORDS
from ttt_net.client.screens.screen import BACK, CHOOSE, ListQuery, Row, Screen, list_hints
from ttt_net.client.update import update
from ttt_net.messages import AnalysedMove, AnalyseRequest, AnalysisReply, Request
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession


def doing(display: Display, *commands: AnyCommand) -> Display:
    return done(display, *commands)[0]


CLIENT = Path(client.__path__[0])
REGISTRY = "screens/registry.py"


def sources() -> dict[str, str]:
    """The modules of the client that have screens: no questions from the command line, nothing in a server's place."""
    paths = (path for path in CLIENT.rglob("*.py") if path.stem != "inquire" and "local" not in path.parts)
    return {path.relative_to(CLIENT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def files_of(name: str) -> set[str]:
    """The files that name a screen, or a reply or request that is its alone."""
    screen = SCREENS[name]
    words = {reply.__name__ for reply in screen.replies} | {name.upper()}
    words |= {type(request).__name__ for request in screen.requests(Page(name))}
    return {
        file
        for file, source in sources().items()
        if any(isinstance(node, ast.Name) and node.id in words for node in ast.walk(ast.parse(source)))
    }


@pytest.mark.parametrize("name", ["leaders", "history", "profile"])
def test_a_screen_of_a_question_touches_its_own_module_and_the_registry(name: str) -> None:
    assert files_of(name) == {"screens/people.py", REGISTRY}


@pytest.mark.parametrize(("asked", "module"), [("AnalyseRequest", "advice"), ("RecordRequest", "replay_screen")])
def test_a_request_about_a_finished_match_touches_one_module_and_the_list_of_actions(asked: str, module: str) -> None:
    named = {file for file, source in sources().items() if re.search(rf"\b{asked}\b", source)}
    assert named - {"lines/typed_lines.py", "local/connection.py"} == {f"screens/{module}.py"}


def test_every_page_that_is_opened_is_of_a_registered_screen() -> None:
    calls = (
        node for source in sources().values() for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)
    )
    opening = ("Page", "page_about")
    pages = (
        call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in opening and call.args
    )
    named = {page.value for page in pages if isinstance(page, ast.Constant)}
    assert named <= SCREENS.keys()
    assert SCREENS.keys() <= named | {"lobby", "servers"}, "nobody comes there"


def test_no_screen_takes_a_key_of_the_lobby_or_a_word_that_means_something_already() -> None:
    entrances = [each.entrance for each in SCREENS.values() if each.entrance is not None]
    assert len({each.key for each in entrances}) == len(entrances)
    bare = lobby_screen([]).command
    assert bare is not None
    assert [each.key for each in entrances if bare(each.key, lobby()) is not None] == []
    assert len(WORDS) == sum(len(each.words) for each in SCREENS.values())


def test_every_word_is_listed_in_the_help() -> None:
    assert [
        word for word in WORDS if word not in HELP.replace(",", " ").replace(":", " ").replace(".", " ").split()
    ] == []


@pytest.mark.parametrize("name", SCREENS)
def test_the_page_of_keys_explains_them_in_sentences_that_fit_a_window_of_80_columns(name: str) -> None:
    display = replace(lobby(snapshot("connect4", [38])), pages=(Page("lobby"), Page(name)))
    explained = SCREENS[name].help(display)
    assert [each for each in explained if not re.fullmatch(r"[A-Z0-9].*\.", each.does)] == []
    page = drawn(replace(display, overlay=Overlay.HELP))
    assert [each for each in explained if each.keys not in page or each.does not in page] == []


def test_the_page_of_keys_scrolls_in_a_small_window_and_begins_at_its_top() -> None:
    small, display = (40, 12), doing(lobby(), Command.HELP)
    page = drawn(display, small)
    assert page.splitlines()[1].startswith("arrows j k")
    assert "below)  arrows scroll" in page
    assert "Ctrl-Z" not in page
    scrolled = doing(display, Step(1000))
    assert "Suspend" in drawn(scrolled, small)
    assert drawn(doing(scrolled, Step(-1000)), small) == page
    assert drawn(doing(scrolled, Command.BACK, Command.HELP), small) == page
    assert drawn(scrolled) == drawn(display), "where all has room, nothing scrolls"


def _rows(display: Display, now_ms: int) -> list[Row]:
    told = display.world.reply(AnalysisReply)
    if told is None:
        return [Row(("It is on its way ...",))]
    return [Row((f"Move {move.ply}", ", ".join(move.best)), f"move:{move.ply}", Command.BACK) for move in told.moves]


NEW = Screen(
    name="turns",
    title=lambda display: "Where it turned",
    rows=_rows,
    requests=lambda page: (AnalyseRequest(0, match=page.about),),
    replies=(AnalysisReply,),
    hints=lambda display: list_hints([CHOOSE, BACK], _rows(display, 0)),
)
OPEN = Open(Page("turns", about="m1"))
ASKED = (AnalyseRequest(0, match="m1"),)
TOLD = AnalysisReply("m1", [AnalysedMove(3, 1, -1, ["b2"]), AnalysedMove(5, 2, 0, ["a1", "c3"])], exact=True)


def test_a_new_screen_is_opened_drawn_walked_through_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCREENS, NEW.name, NEW)
    display, requests = act(lobby(), OPEN, SEEK)
    assert requests == ASKED
    assert "It is on its way ..." in draw(display, (80, 24), 0, BOXES).plain
    display, _ = pressed(update(display, TOLD, 0), "down")
    lines = draw(display, (80, 24), 0, BOXES).plain.split("\n")
    assert lines[0].startswith("Where it turned")
    assert "> Move 5  a1, c3" in lines
    assert lines[-1] == "Enter choose  Esc back  q leave  ? keys"
    display, _ = pressed(display, "c-m")
    assert display.page.screen == "lobby"


def test_a_new_screen_is_printed_in_lines_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCREENS, NEW.name, NEW)
    session, mailbox = ClientSession("Ann", None), asyncio.Queue[object]()
    connection = ClientConnection("ws://localhost:1", session, mailbox.put, FOREVER, print)
    said: list[Request] = []
    connection.say = said.append  # type: ignore[assignment, method-assign]
    controller = ClientController(connection, SEEK, "localhost:1", has_lobby=True, is_in_lines=True, is_seeking=False)
    controller.hear(welcome(), 0)
    menu = NumberedMenu()
    menu.ask(ListQuery(OPEN.page), controller)
    assert tuple(said) == ASKED
    assert menu.take(controller, 0) is None
    controller.hear(TOLD, 0)
    assert menu.take(controller, 0) == "\n".join(
        ["Where it turned.", "1. Move 3, b2", "2. Move 5, a1, c3", "Type a number to choose."]
    )
    assert menu.choice(2) is Command.BACK
