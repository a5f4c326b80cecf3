"""The layout of every screen: what matters is in sight, fits its screen, can be touched, and never moves.

A test plays the server for these pages, so that each has the match and the lists that it is about.
"""

import itertools
import math
from datetime import date
from typing import Any

import pytest

from tests.page.place import PHONE, SMALL_PHONE, STANDING, Place, Scene, Stage, Visitor, wait_for
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES

LYING: dict[str, Any] = {"viewport": {"width": 740, "height": 360}}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
SCREENS = {"320 px": (320, 568), "200 % zoom": (640, 360)}
GAMES = ["connect4", "gomoku", "qubic", "ultimate"]
BOT = {"name": "Tom", "bot": "casual player", "level": 3, "any_level": True, "free": True, "seeking": ["connect4"]}
PEOPLE = {"type": "players", "online": 3, "players": [{"name": "Ben"}, {"name": "Cleo", "playing": 1}, BOT]}
SEEKS = {"type": "seeks", "count": 1, "seeks": [{"seek": 1, "by": {"name": "Ben"}, "games": ["qubic"], "rated": True}]}
WON = Scene("connect4", (38, 37, 31, 30, 24, 36, 17))
RATINGS = [{"before": 1500, "after": 1520}, {"before": 1500, "after": 1480}]
INSIDE = """(last) => {
    const [own, around] = [last.getBoundingClientRect(), last.parentElement.getBoundingClientRect()];
    return own.top >= around.top - 1 && own.bottom <= around.bottom + 1;
}"""


def box(visitor: Visitor, selector: str) -> dict[str, float]:
    found = visitor.page.locator(selector).first.bounding_box()
    assert found is not None, f"{selector} is not there"
    return dict(found)


def bottom(part: dict[str, float]) -> float:
    return part["y"] + part["height"]


def resize(visitor: Visitor, size: tuple[int, int] | dict[str, Any]) -> None:
    """Give the window a size, or that of a device."""
    viewport = size["viewport"] if isinstance(size, dict) else {"width": size[0], "height": size[1]}
    visitor.page.set_viewport_size(viewport)


def enlarge_letters(visitor: Visitor) -> None:
    """Have all letters be twice as large."""
    visitor.page.evaluate("document.documentElement.style.fontSize = '200%'")


def remember(visitor: Visitor, name: str, value: str) -> None:
    """Have the browser keep something from earlier visits."""
    visitor.page.add_init_script(f"localStorage.setItem('ttt_net.{name}', '{value}')")


def test_a_wide_screen_shows_boards_phrases_layers_lists_and_results_whole(site: Place) -> None:
    ann = site.visitor(viewport={"width": 1440, "height": 900})
    Stage(ann, Scene("tictactoe").snapshot()).open("/m/tictactoe")
    ann.await_turn()
    assert box(ann, ".boards")["width"] < 660, "a small board leaves room"
    resize(ann, DESK)
    ann.page.locator(".phrases").first.wait_for()
    assert ann.page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.phrases'))"
    ), "all phrases are in sight of a mouse"

    stage = Stage(ann, Scene("tictactoe3d", (0, 9, 1, 10)).snapshot())
    stage.open("/m/tictactoe3d")
    ann.press("Settings")
    ann.page.get_by_label("Layers of a cube side by side").check()
    ann.press("Close")
    rows = ann.page.evaluate(
        "[...document.querySelectorAll('.layer')].map(each => Math.round(each.getBoundingClientRect().y))"
    )
    assert len(rows) == 3
    assert len(set(rows)) == 1, "layers side by side stand in one row"
    resize(ann, (360, 740))
    stage.tell(Scene("tictactoe3d", (0, 9, 1, 10, 2)).snapshot())
    assert bottom(box(ann, "button:text('Rematch')")) <= 740, "the end of the match is in sight"

    resize(ann, (1280, 640))
    cells = (35, 36, 37, 38, 39, 40, 41, 28, 29, 30, 31, 32, 33, 34)
    stage = Stage(ann, Scene("connect4", cells[:-1]).snapshot())
    stage.open("/m/connect4")
    ann.page.locator(".moves li").nth(12).wait_for()
    stage.tell(Scene("connect4", cells).played())
    first, last = ann.page.locator(".moves li").first, ann.page.locator(".moves li").nth(13)
    wait_for(lambda: bool(last.evaluate(INSIDE)), ann)
    assert not first.evaluate(INSIDE), "the list is longer than its place"
    stage.tell({"type": "ended", "match": "connect4", "seq": 16, "at_ms": 0, "winner": 0, "reason": "resign"})
    ann.until("You won")
    ann.page.get_by_role("slider", name="Move").fill("1")
    wait_for(lambda: bool(first.evaluate(INSIDE)), ann)  # the move that is looked at

    resize(ann, DESK)
    Stage(ann, WON.snapshot(rated=True), {"type": "rated", "match": "connect4", "ratings": RATINGS}).open("/m/connect4")
    ann.page.locator(".gain").wait_for()
    enlarge_letters(ann)
    parts = [box(ann, each) for each in (".deck .how", ".deck .actions", ".deck .review")]
    for above, below in itertools.pairwise(parts):
        assert bottom(above) < below["y"], "letters twice as large hide nothing of the result"

    ann.page.emulate_media(forced_colors="active")
    Stage(ann, Scene("ultimate", (40, 30)).snapshot()).open("/m/ultimate")
    ann.page.locator("#cell-30.last").wait_for()
    colour = "id => getComputedStyle(document.getElementById(id)).borderTopColor"
    shown = [ann.page.evaluate(colour, f"cell-{cell}") for cell in (80, 30)]
    assert shown[0] == "rgba(0, 0, 0, 0)", "lines alone divide a small board"
    assert shown[1] != shown[0], "the last move has a border"


def test_on_a_phone_nothing_moves_the_board_and_large_letters_leave_it_to_play_on(site: Place) -> None:
    bob = site.visitor(**STANDING)
    stage = Stage(bob, Scene("tictactoe", (0,), you=1).snapshot())
    stage.open("/m/tictactoe")
    bob.await_turn()
    before = box(bob, ".boards")
    by = {"by": {"name": "Cleo"}, "to": {"name": "Bob"}, "game": "qubic"}
    stage.tell({"type": "challenged", "challenge": 1, "expires_in_ms": 90_000, **by})
    stage.tell({"type": "offered", "match": "tictactoe", "seq": 3, "at_ms": 0, "side": 0, "kind": "draw"})
    stage.tell({"type": "notice", "text": "new disks", "restart_in_ms": 3_600_000})
    bob.page.locator(".challenge").wait_for()
    bob.page.get_by_text("offers a draw.").wait_for()
    bob.page.locator(".banner").wait_for()
    assert box(bob, ".boards") == before
    stage.tell(Scene("tictactoe", (0, 4)).played() | {"seq": 4})
    bob.page.locator("#cell-4.last").wait_for()
    assert box(bob, ".boards") == before
    see_whole_defeat(bob, STANDING["viewport"]["height"])

    resize(bob, PHONE)
    for game, lowest, least in (("qubic", "#cell-12", 24), ("gomoku", "#cell-210", 18)):
        Stage(bob, Scene(game).snapshot()).open(f"/m/{game}")
        bob.await_turn()
        enlarge_letters(bob)
        cell = box(bob, lowest)
        assert cell["width"] >= least, "letters twice as large leave a board to play on"
        if game == "gomoku":
            name = box(bob, ".rows span:last-child")
            assert abs(name["y"] + name["height"] / 2 - cell["y"] - cell["height"] / 2) < cell["height"] / 3


def see_whole_defeat(visitor: Visitor, height: float) -> None:
    """Open a rated match that was lost: the rows of its end overlap nowhere, and the rematch is in sight."""
    lost = Scene("qubic", (0, 1, 21, 2, 42, 3, 63), you=1).snapshot(rated=True)
    Stage(visitor, lost, {"type": "rated", "match": "qubic", "ratings": RATINGS}).open("/m/qubic")
    visitor.page.locator(".deck.defeat .gain").wait_for()
    rows = [box(visitor, f".deck .{each}") for each in ("head", "how", "actions .large")]
    for upper, lower in itertools.pairwise(rows):
        assert bottom(upper) <= lower["y"] + 1
    assert bottom(rows[-1]) <= height


def test_on_a_phone_that_lies_on_its_side_all_that_matters_is_in_sight(site: Place) -> None:
    games = ("connect4", "qubic", "ultimate")
    ann = site.visitor(**LYING)
    stage = Stage(ann, *[Scene(game).snapshot() for game in games])
    for game in games:
        stage.open(f"/m/{game}")
        ann.await_turn()
        for size in ((740, 360), (640, 360)):  # the second is a window of 1280 by 720 at 200 %
            resize(ann, size)
            for selector in (".boards", ".status", ".deck button", ".seat >> nth=0", ".seat >> nth=1"):
                found = box(ann, selector)
                assert found["y"] >= 0, (game, selector)
                assert bottom(found) <= size[1], (game, selector)
                assert found["x"] + found["width"] <= size[0], (game, selector)
    resize(ann, LYING)
    see_whole_defeat(ann, LYING["viewport"]["height"])
    assert bottom(box(ann, ".deck")) <= box(ann, ".field + .seat")["y"] + 1


def test_on_a_small_phone_matches_and_lobby_fit_and_all_can_be_touched(site: Place) -> None:
    ann = site.visitor(**SMALL_PHONE)
    found: dict[tuple[str, str, str], list[str]] = {}
    stage = Stage(ann, *[Scene(game).snapshot() for game in (*GAMES, "scorefour")])
    for game in (*GAMES, "scorefour"):
        stage.open(f"/m/{game}").page.locator("main.match").wait_for()
        if game in ("qubic", "scorefour"):
            cell, boards = box(ann, "#cell-0"), box(ann, ".boards")
            assert min(cell["width"], cell["height"]) >= 24
            assert boards["width"] >= 240, "a cube uses the width"
            assert bottom(box(ann, ".deck .actions")) <= SMALL_PHONE["viewport"]["height"]
        found |= {(game, "match", screen): too_small_or_wide(ann, screen) for screen in SCREENS}
        resize(ann, SMALL_PHONE)

    Stage(ann, PEOPLE, SEEKS).open()
    for game in ("gomoku", "ultimate"):
        ann.choose(game, "3+2")
        ann.press("Find an opponent")
        ann.page.locator(".waiting").wait_for()
        found |= {(game, "lobby", screen): too_small_or_wide(ann, screen) for screen in SCREENS}
        resize(ann, SMALL_PHONE)
    assert {where: faults for where, faults in found.items() if faults} == {}

    Stage(ann, PEOPLE).open()
    for game in ("ultimate", "connect4", "tictactoe"):
        ann.choose(game)
        chosen = box(ann, ".shelf :checked")
        assert chosen["x"] >= 0
        assert chosen["x"] + chosen["width"] <= SMALL_PHONE["viewport"]["width"] + 1
    ann.choose("connect4")
    ann.press("Find an opponent")
    play = ann.page.locator(".waiting").get_by_role("button", name="Play Tom").bounding_box()
    assert play["y"] + 44 <= SMALL_PHONE["viewport"]["height"], "the bot that may be played is in sight"
    resize(ann, (1280, 720))
    name, play = box(ann, ".waiting .entry .what"), box(ann, ".waiting .entry button")
    assert name["height"] < 64, "the name of the bot is on one line"
    assert play["width"] < name["width"]

    resize(ann, SMALL_PHONE)
    Stage(ann, Scene("connect4", (38,)).snapshot(), PEOPLE).open("/m/connect4")
    ann.press("‹ Lobby")
    play_on = box(ann, "button:text('Play on')")
    assert bottom(play_on) <= SMALL_PHONE["viewport"]["height"]
    assert play_on["y"] < box(ann, "button:text('Find an opponent')")["y"], "own matches come first"
    ann.page.locator(".levels .option").first.wait_for()
    rows = "new Set([...document.querySelectorAll('.levels .option')].map(each => each.offsetTop)).size"
    assert ann.page.evaluate(rows) == 1, "strengths stand in one row"


def too_small_or_wide(visitor: Visitor, screen: str) -> list[str]:
    """Return what sticks out of the screen, and what is smaller than 44 px; cells have a second tap instead."""
    resize(visitor, SCREENS[screen])
    found: list[str] = visitor.page.evaluate(
        """() => {
            const root = document.scrollingElement;
            const wide = root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} px wide`] : [];
            const touched = [...document.querySelectorAll("button:not(.cell), input[type=text], select, summary")];
            const small = touched.filter(each => {
                const { width, height } = each.getBoundingClientRect();
                return each.checkVisibility() && (width < 43.5 || height < 43.5);
            });
            return [...wide, ...small.map(each => each.outerHTML.slice(0, 120))];
        }"""
    )
    return found


def test_the_first_screen_and_the_puzzles_fit_a_phone_also_in_long_words(site: Place) -> None:
    ann = site.visitor(**STANDING)
    ann.page.goto(site.url)
    for selector in (".games .option", ".boards", "#name"):
        assert bottom(box(ann, selector)) <= 740, selector
    for size in ((390, 664), (360, 640), (320, 568)):  # of browsers with their bars
        resize(ann, size)
        assert bottom(box(ann, "button:text('Invite a friend')")) <= size[1], "friends come first"
    resize(ann, STANDING)
    ann.page.locator(".beckons #cell-4.ghost").wait_for()
    ann.page.get_by_role("radio", name="Gomoku").check()
    ann.page.locator(".boards.stones.stony").wait_for()

    resize(ann, SMALL_PHONE)
    ann.page.reload()
    for game, least in (("Qubic", 24), ("3-D tic-tac-toe", 24), ("Score Four", 24), ("Gomoku", 17)):
        ann.page.get_by_role("radio", name=game, exact=True).check()
        ann.page.locator(".layer").first.wait_for()
        size = ann.page.evaluate("document.querySelector('#cell-0').offsetWidth")
        assert size >= least, f"{game}: {size} px"
        assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), game

    enlarge_letters(ann)
    for device in (SMALL_PHONE, PHONE):
        resize(ann, device)
        for game in ("Tic-tac-toe", "Gomoku", "Connect Four", "Qubic", "Ultimate tic-tac-toe"):
            ann.page.get_by_role("radio", name=game, exact=True).check()
            name = next(each for each in NAMES if find_game(each).title == game)
            ann.sees(".cell", math.prod(find_game(name).shape))
            board, cell = box(ann, ".boards"), box(ann, "#cell-0")
            assert board["x"] >= 0, f"{game} at letters twice as large"
            assert board["x"] + board["width"] <= device["viewport"]["width"], f"{game} at letters twice as large"
            assert cell["width"] >= 13, f"{game} at letters twice as large: {cell['width']} px"

    ann.page.reload()
    ann.come("Puzzler")
    remember(ann, "language", "ru")
    ann.page.goto(f"{site.url}/#puzzle={date(2023, 1, 3)}")  # a day that has come on any machine
    ann.page.reload()
    board = ann.page.locator(".puzzle .boards")
    board.wait_for()
    assert board.evaluate("board => board.getBoundingClientRect().bottom <= innerHeight")
    for number in (0, 1):  # Connect Four and vanishing tic-tac-toe
        ann.page.goto(f"{site.url}/#guess={number}")
        ann.page.locator(".puzzle", has_text="Viktor – Sophia").wait_for()
        assert board.evaluate("board => board.getBoundingClientRect().bottom <= innerHeight")
    ann.page.goto(f"{site.url}/#here")
    title = ann.page.locator("h1 > span").first
    title.wait_for()
    assert title.evaluate("title => title.getBoundingClientRect().height < 30"), "no word is broken"


LEFT_OF_LAST = """name => {
    const x = (at) => {
        const one = document.createRange();
        one.setStart(name.firstChild, at);
        one.setEnd(name.firstChild, at + 1);
        return one.getBoundingClientRect().x;
    };
    return x(0) < x(name.firstChild.length - 1);
}"""
"""Tells whether a text on one line begins on the left."""


BEGUN_ON = ((SMALL_PHONE, "gomoku"), (DESK, "ultimate"), (PHONE, "tictactoe"), (PHONE, "connect4"), (DESK, "qubic"))
PLACES = """() => {
    window.places = new Set();
    const note = () => {
        const { x, y, width, height } = document.querySelector(".boards").getBoundingClientRect();
        window.places.add([x, y, width, height].map(Math.round).join());
        requestAnimationFrame(note);
    };
    note();
}"""
"""Notes the place and the size of the board in every frame, in pixels."""


@pytest.mark.parametrize(("answers", "games"), [("at once", 5), ("late", 2), ("before the code of matches", 2)])
def test_the_board_of_the_first_screen_keeps_its_size_and_place_in_the_match_that_a_tap_begins(
    site: Place, answers: str, games: int
) -> None:
    ann = site.visitor(**PHONE)
    stage = Stage(ann, PEOPLE | {"players": [BOT | {"seeking": []}]}, name="Guest 1", is_known=False)
    held: list[Any] = []
    if answers.startswith("before"):
        ann.page.route("**/more.js*", lambda route: held.append(route))
    for size, name in BEGUN_ON[:games]:
        resize(ann, size)
        begun = Scene(name, is_timed=False).snapshot(players=[{"name": "Guest 1"}, BOT])
        stage.heard.clear()
        stage.answers["challenge"] = [] if answers == "late" else [begun]
        stage.open("/").page.evaluate("localStorage.removeItem('ttt_net.token')")
        ann.page.locator(".shelf .option input").nth(NAMES.index(name)).dispatch_event("click")
        ann.sees(".cell", math.prod(find_game(name).shape))
        ann.sees("[data-settling]", 0)
        ann.page.evaluate(PLACES)
        cell = find_game(name).move_cells[-1]
        ann.cell(cell).click()
        ann.page.locator(f"#cell-{cell}.pending").wait_for()
        wait_for(lambda: bool(stage.of("challenge")), ann)
        if answers == "late":
            stage.tell(begun)
        if answers.startswith("before"):
            wait_for(lambda: bool(held and stage.of("play")), ann)
            assert ann.page.locator(f"#cell-{cell}.pending").count() == 1, "the mark stays while the code is awaited"
            held.pop().continue_()
        ann.page.locator(".kept .deck").wait_for()
        stage.tell(Scene(name, (cell,)).played())
        ann.page.locator(f"#cell-{cell}.last").wait_for()
        stage.tell({"type": "ended", "match": name, "seq": 3, "at_ms": 0, "winner": 1, "reason": "resign"})
        ann.page.get_by_role("button", name="Rematch").wait_for()
        places = ann.page.evaluate("[...places]")
        assert len(places) == 1, (name, places)


def test_other_languages_fit_and_arabic_is_written_from_the_right_but_for_its_moves(site: Place) -> None:
    mia = site.visitor(locale="ar", **SMALL_PHONE)
    mia.page.goto(site.url)
    mia.page.get_by_role("heading", name="إكس أو وعائلتها").wait_for()
    assert mia.page.evaluate("getComputedStyle(document.body).direction") == "rtl"
    assert mia.page.evaluate("document.scrollingElement.scrollWidth") <= SMALL_PHONE["viewport"]["width"]
    stage = Stage(mia, Scene("ultimate", (40, 30)).snapshot())
    stage.open("/m/ultimate")
    summary = mia.page.locator(".moves-panel summary")
    summary.click()
    name = mia.page.locator(".moves bdi").nth(1)
    name.wait_for()
    assert name.inner_text() == "5:a3"
    assert name.evaluate(LEFT_OF_LAST)
