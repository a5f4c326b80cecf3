"""Whole matches in real browsers, and what fingers, mice and keys do to the board."""

import math
import random
import re
from collections.abc import Sequence
from typing import Any

from tests.page.place import PATIENCE_MS, SMALL_PHONE, STANDING, Place, Scene, Stage, Visitor, in_turn, wait_for
from ttt_net.games import Game, find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.records import read_records

DOUBLE_TAP = """id => {
    const tap = { bubbles: true, pointerType: "touch", isPrimary: true, pointerId: 1 };
    const cell = document.getElementById(id);
    for (const kind of ["pointerdown", "pointerup", "click"]) cell.dispatchEvent(new PointerEvent(kind, tap));
    for (const kind of ["pointerdown", "pointerup", "click"]) cell.dispatchEvent(new PointerEvent(kind, tap));
}"""
"""Two taps within a millisecond: quicker than any finger, on any machine."""


def test_two_on_phones_play_a_whole_match_learn_from_it_look_back_on_it_and_begin_the_rematch(place: Place) -> None:
    winner, loser = place.pair(**STANDING)
    # The first move of the loser gives the draw away, and the second blocks no line.
    for turn, cell in enumerate((0, 1, 4, 2, 8)):
        (winner, loser)[turn % 2].play(cell)
    winner.until("You won: you completed a line.")
    loser.until("You lost")
    winner.sees(".cell.won", 3)
    assert winner.page.evaluate("document.getAnimations().length") == 0, "they want no motion"
    winner.page.get_by_role("slider", name="Move").fill("1")
    winner.sees(".cell .mark", 1)

    loser.page.locator(".deck.defeat").wait_for()
    for size in ((360, 740), (740, 360)):
        loser.page.set_viewport_size({"width": size[0], "height": size[1]})
        loser.page.locator(".deck .how").wait_for()
        board, slider = on_page(loser, ".boards"), on_page(loser, ".review")
        loser.press("Where did I go wrong?")
        loser.page.locator(".deck .learnt", has_text="you had to block at c1").wait_for()
        learnt = on_page(loser, ".learnt")
        assert learnt["y"] + learnt["height"] <= size[1], "the lesson stands below the board"
        loser.page.get_by_role("button", name="Try again from there").wait_for()
        assert (on_page(loser, ".boards"), on_page(loser, ".review")) == (board, slider), "it moves nothing"
        loser.press("one move forward")
        loser.until("You lost")
        assert (on_page(loser, ".boards"), on_page(loser, ".review")) == (board, slider)

    loser.page.locator(".moves-panel summary").click()
    with loser.page.expect_download() as saved:
        loser.press("Download")
    (record,) = read_records(saved.value.path().read_text(encoding="utf-8"))
    assert len(record.moves) == 5
    winner.press("Rematch")
    loser.press("Accept")
    loser.play(4)
    winner.await_turn()
    assert winner.cell(4).get_attribute("aria-label") == "b2, X, last move"
    assert winner.page.locator(".score").all_inner_texts() == ["0", "1"]


def on_page(visitor: Visitor, selector: str) -> dict[str, float]:
    """Return where something is on the page, however far a click has scrolled it."""
    place: dict[str, float] = visitor.page.locator(selector).first.evaluate(
        """each => {
            const { x, y, width, height } = each.getBoundingClientRect();
            return { x: x + scrollX, y: y + scrollY, width, height };
        }"""
    )
    return place


def test_a_finger_aims_first_where_cells_are_smaller_than_it(site: Place) -> None:
    stage = Stage(site.visitor(**SMALL_PHONE), Scene("ultimate").snapshot())
    ann = stage.open("/m/ultimate")
    ann.cell(40).tap()
    ann.until("Place at 5:b2?")
    ann.cell(30).tap()
    ann.until("Place at 5:a3?")
    ann.page.get_by_role("button", name="Place 5:a3").tap()
    wait_for(lambda: len(stage.of("play")) == 1, ann)
    stage.tell(Scene("ultimate", (30, 0)).snapshot())
    ann.page.locator("#cell-0.last").wait_for()
    assert ann.cell(40).get_attribute("aria-label") == "5:b2, empty, not in play"
    ann.page.evaluate(DOUBLE_TAP, "cell-1")
    ann.until("Place at 1:b3?")
    assert len(stage.of("play")) == 1, "a double tap only aims"

    def is_played() -> bool:
        """Tap the cell again: what comes too soon after the aiming does nothing."""
        ann.cell(1).tap()
        return len(stage.of("play")) == 2

    wait_for(is_played, ann, every_ms=100)


LATE_TAPS = """id => {
    const cell = document.getElementById(id);
    const finger = { bubbles: true, pointerType: "touch" };
    const tap = () => ["pointerdown", "click"].map(kind => new PointerEvent(kind, finger));
    const first = tap();
    while (performance.now() - first[0].timeStamp < 300);
    for (const event of [...first, ...tap()]) cell.dispatchEvent(event);
}"""
"""Two taps, 300 ms apart, that a busy page handles together."""


def test_a_second_tap_plays_though_a_busy_page_handles_it_right_after_the_first(site: Place) -> None:
    stage = Stage(site.visitor(**SMALL_PHONE), Scene("ultimate").snapshot())
    stage.open("/m/ultimate").await_turn()
    stage.visitor.page.evaluate(LATE_TAPS, "cell-40")
    wait_for(lambda: len(stage.of("play")) == 1, stage.visitor)


def test_no_tap_plays_resigns_or_answers_what_it_was_not_meant_for(site: Place) -> None:
    ann = site.visitor()
    stage = Stage(ann, Scene("tictactoe", you=1).snapshot())
    stage.open("/m/tictactoe")
    box = ann.cell(8).bounding_box()
    assert box is not None
    ann.page.mouse.move(box["x"] + 20, box["y"] + 20)
    ann.page.mouse.down()
    stage.tell(Scene("tictactoe", (4,)).played())
    ann.await_turn()
    ann.page.mouse.up()
    ann.play(0)
    wait_for(lambda: len(stage.of("play")) > 0, ann)
    assert [play["move"] for play in stage.of("play")] == [0], "the first tap began before the opponent's move came"

    Stage(ann, Scene("wild").snapshot()).open("/m/wild")
    ann.play(4)
    ann.until("Which mark?")
    ann.page.get_by_role("button", name="Place O on b2").focus()
    ann.page.keyboard.press("Enter")
    ann.page.locator("#cell-4.pending").wait_for()
    assert focused(ann) == "cell-4", "the focus goes back to the board when the question is answered"

    Stage(ann, Scene("tictactoe", (4, 0)).snapshot()).open("/m/tictactoe")
    for width, height in ((320, 568), (360, 740), (740, 360), (1280, 800)):
        ann.page.set_viewport_size({"width": width, "height": height})
        tapped = ann.page.get_by_role("button", name="Resign", exact=True).bounding_box()
        assert tapped is not None
        ann.press("Resign")
        asked = ann.page.get_by_role("button", name="Yes, resign").bounding_box()
        assert asked is not None
        is_apart = asked["x"] + asked["width"] <= tapped["x"] or asked["y"] >= tapped["y"] + tapped["height"]
        assert is_apart, f"a second tap would resign at {width} px"
        ann.press("Play on")
    shielded = f"""() => new Promise(resolve => {{
        setTimeout(() => resolve("no shield"), {PATIENCE_MS});
        const deck = document.querySelector(".deck");
        new MutationObserver(() => "settling" in deck.dataset && resolve(getComputedStyle(deck).pointerEvents))
            .observe(deck, {{attributes: true}});
        [...deck.querySelectorAll("button")].find(each => /Resign/.test(each.textContent)).click();
    }})"""
    assert ann.page.evaluate(shielded) == "none", "what has just appeared takes no taps"


def test_a_match_is_played_with_the_keyboard_alone(place: Place) -> None:
    ann, bob = place.visitor(), place.visitor().come("Bob")
    keys = ann.page.keyboard
    ann.page.goto(place.url)
    ann.page.get_by_label("Choose a name").wait_for()
    tab_to(ann, "name")
    keys.type("Ann")
    keys.press("Enter")
    ann.page.locator("main.lobby").wait_for()
    keys.press("Shift")  # what has the focus now, a browser shows to people who use keys
    shown = "() => { const main = document.activeElement; return [main.tagName, getComputedStyle(main).outlineStyle]; }"
    assert ann.page.evaluate(shown) == ["MAIN", "none"], "a screen that takes the focus by itself has no ring"
    tab_to(ann, "Find an opponent")
    keys.press("Enter")
    bob.seek()
    ann.page.locator("main.match").wait_for()
    if in_turn(ann, bob)[0] is bob:
        bob.play(8)
    ann.await_turn()
    tab_to(ann, "b2")
    keys.press("ArrowUp")
    keys.press("ArrowLeft")
    keys.press("Enter")
    bob.await_turn()
    assert (bob.cell(0).get_attribute("aria-label") or "").endswith("last move")
    bob.play(5)
    ann.await_turn()
    assert focused(ann) == "cell-0", "the focus stays where it was when the board is drawn anew"
    keys.press("2")
    bob.await_turn()
    assert (bob.cell(1).get_attribute("aria-label") or "").endswith("last move")


def focused(visitor: Visitor) -> Any:
    return visitor.page.evaluate("document.activeElement.id")


def tab_to(visitor: Visitor, label: str) -> None:
    """Press Tab until what has the focus is called `label`, as far as one would have to."""
    for _ in range(40):
        visitor.page.keyboard.press("Tab")
        script = "(({ id, ariaLabel, textContent }) => [id, ariaLabel || textContent])(document.activeElement)"
        if any(str(each).startswith(label) for each in visitor.page.evaluate(script)):
            return
    raise AssertionError(f"{label} is not in the order of tabbing")


def whole_match(name: str) -> tuple[int, ...]:
    """Return the cells of a match that is played to its end."""
    if name in WON:
        return WON[name]
    game = find_game(name)
    state, luck, cells = game.initial, random.Random(71), list[int]()  # the shortest of 3,000 matches of ultimate
    while not game.is_terminal(state):
        move = luck.choice(game.actions(state))
        cells.append(game.move_cells[move])
        state = game.result(state, move)
    return tuple(cells)


WON = {
    "connect4": (38, 37, 31, 30, 24, 36, 17),
    "gomoku": (112, 97, 113, 98, 114, 99, 115, 100, 116),
    "qubic": (0, 1, 21, 2, 42, 3, 63),
    "scorefour": (0, 4, 1, 5, 2, 6, 3),
    "tictactoe3d": (0, 9, 1, 10, 2),
    "tictactoe": (0, 3, 1, 4, 2),
    "misere": (0, 3, 1, 4, 2),
    "vanishing": (0, 3, 1, 4, 2),
    "wild": (0, 4, 8),
}
SIDEWAYS = ("ArrowLeft", "ArrowRight")
LABELS = "[...document.querySelectorAll('.match .cell')].map(each => each.getAttribute('aria-label'))"
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? ''"


def walk(visitor: Visitor, shape: Sequence[int], there: int) -> None:
    """Move the focus by keys from the focused cell to another."""
    *_, height, width = shape
    here = int(visitor.page.evaluate("document.activeElement.id.slice(5)"))
    for size, back, on in ((width * height, "PageUp", "PageDown"), (width, "ArrowUp", "ArrowDown"), (1, *SIDEWAYS)):
        steps = there // size - here // size
        here += steps * size
        for _ in range(abs(steps)):
            visitor.page.keyboard.press(on if steps > 0 else back)


def place_name(game: Game[Any], cell: int, move: int) -> str:
    """Return how a cell is called: as in moves, or by its place where marks fall."""
    *_, height, width = game.shape
    if not game.gravity:
        return re.sub("^[XO](?=[a-z])", "", game.move_names[move])
    layer = f"layer {cell // (width * height) + 1} " if len(game.shape) == 3 else ""
    return f"{layer}row {cell // width % height + 1} column {cell % width + 1}"


ENDLESS = "document.getAnimations().filter(each => each.effect.getTiming().iterations === Infinity).length"
"""Counts motions without an end. Each frame of one delays a tap on a slow phone."""


def test_a_whole_match_of_each_game_is_played_by_keyboard_and_every_cell_says_its_name(site: Place) -> None:
    ann = site.visitor(viewport={"width": 1280, "height": 800})
    for name in NAMES:
        stage = Stage(ann, Scene(name).snapshot())
        ann.page.emulate_media(reduced_motion="no-preference")
        stage.open(f"/m/{name}")
        ann.page.locator(".cell:focus").wait_for()
        ann.await_turn()
        assert ann.page.evaluate(ENDLESS) == 0, name
        ann.page.emulate_media(reduced_motion="reduce")
        play_by_keyboard(stage, name)


def play_by_keyboard(stage: Stage, name: str) -> None:
    """Play a match that has just been opened to its end; the opponent answers at once."""
    ann, game, cells = stage.visitor, find_game(name), whole_match(name)
    wanted = [f"{place_name(game, cell, game.move_cells.index(cell))}, empty" for cell in range(math.prod(game.shape))]
    assert ann.page.evaluate(LABELS) == wanted, name
    for ply, cell in enumerate(cells):
        so_far = Scene(name, cells[: ply + 1])
        if ply % 2 == 0:
            ann.await_turn()
            walk(ann, game.shape, cell)
            said = ann.page.evaluate(FOCUSED)
            assert said.startswith(f"{place_name(game, cell, so_far.played()['move'])}, empty"), (name, said)
            ann.page.keyboard.press("Enter")
            if name == "wild":
                ann.page.get_by_role("button", name=re.compile("^Place X")).press("Enter")
            ann.page.locator(f"#cell-{cell}.pending").wait_for()
            assert stage.of("play")[-1]["move"] == so_far.played()["move"], name
        stage.tell(so_far.played())
        ann.page.locator(f"#cell-{cell}.last").wait_for()
    stage.tell({"type": "ended", "match": name, "seq": len(cells) + 2, "at_ms": 0, "winner": None, "reason": "draw"})
    ann.page.locator("#said", has_text="Draw").wait_for(state="attached")
