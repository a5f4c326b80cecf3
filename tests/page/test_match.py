"""Whole matches in real browsers: clicks, fingers, keys."""

from typing import Any

import pytest

from tests.page.place import SMALL_PHONE, Place, Visitor, in_turn, wait_for

DOUBLE_TAP = """id => {
    const tap = { bubbles: true, pointerType: "touch", isPrimary: true, pointerId: 1 };
    const cell = document.getElementById(id);
    for (const kind of ["pointerdown", "pointerup", "click"]) cell.dispatchEvent(new PointerEvent(kind, tap));
    for (const kind of ["pointerdown", "pointerup", "click"]) cell.dispatchEvent(new PointerEvent(kind, tap));
}"""
"""Two taps within a millisecond: quicker than any finger, on any machine."""


def finish(first: Visitor, second: Visitor) -> None:
    """Let the first player win at tic-tac-toe."""
    for turn, cell in enumerate((0, 3, 1, 4, 2)):
        (first, second)[turn % 2].play(cell)


def test_two_browsers_play_a_whole_match_and_a_rematch(place: Place) -> None:
    first, second = place.pair()
    finish(first, second)
    first.until("You won: you completed a line.")
    second.until("You lost")
    first.sees(".cell.won", 3)
    first.press("Rematch")
    second.press("Accept")
    second.play(4)
    first.await_turn()
    assert first.cell(4).get_attribute("aria-label") == "row 2 column 2, X, last move"
    assert first.page.locator(".score").all_inner_texts() == ["0", "1"]


def test_a_finger_aims_first_where_cells_are_smaller_than_it(place: Place) -> None:
    first, second = place.pair("ultimate", **SMALL_PHONE)
    first.cell(40).tap()
    first.until("Place at 5:b2?")
    first.cell(30).tap()
    first.until("Place at 5:a3?")
    first.page.get_by_role("button", name="Place 5:a3").tap()
    second.await_turn()
    second.page.evaluate(DOUBLE_TAP, "cell-0")
    second.until("Place at 1:a3?")
    assert not first.is_to_move, "a double tap only aims"

    def is_played() -> bool:
        """Tap the cell again: what comes too soon after the aiming does nothing."""
        second.cell(0).tap()
        return first.is_to_move

    wait_for(is_played, second, every_ms=100)
    assert first.page.locator(".cell.last").get_attribute("id") == "cell-0"
    assert first.cell(40).get_attribute("aria-label") == "board 5 row 2 column 2, empty, not in play"


def test_a_tap_that_began_before_the_opponents_move_came_plays_nothing(place: Place) -> None:
    first, second = place.pair()
    box = second.cell(8).bounding_box()
    assert box is not None
    second.page.mouse.move(box["x"] + 20, box["y"] + 20)
    second.page.mouse.down()
    first.play(4)
    second.await_turn()
    second.page.mouse.up()
    second.play(0)
    first.await_turn()
    first.page.locator("#cell-0.last").wait_for()
    assert first.cell(8).get_attribute("aria-label") == "row 3 column 3, empty"


def test_where_a_cell_means_two_moves_the_player_is_asked(place: Place) -> None:
    first, second = place.pair("wild")
    first.play(4)
    first.until("Which mark?")
    first.page.get_by_role("button", name="Place O on b2").focus()
    first.page.keyboard.press("Enter")
    second.await_turn()
    first.page.locator("#cell-4.last").wait_for()
    assert focused(first) == "cell-4", "the focus goes back to the board when the question is gone"
    assert second.cell(4).get_attribute("aria-label") == "row 2 column 2, O, last move"


def test_a_match_is_played_with_the_keyboard_alone(place: Place) -> None:
    ann, bob = place.visitor(), place.visitor().come("Bob")
    keys = ann.page.keyboard
    ann.page.goto(place.url)
    ann.page.get_by_label("Choose a name").wait_for()
    tab_to(ann, "name")
    keys.type("Ann")
    keys.press("Enter")
    ann.page.locator("main.lobby").wait_for()
    tab_to(ann, "Find an opponent")
    keys.press("Enter")
    bob.seek()
    ann.page.locator("main.match").wait_for()
    if in_turn(ann, bob)[0] is bob:
        bob.play(8)
    ann.await_turn()
    tab_to(ann, "row 2 column 2")
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


def test_draws_take_backs_and_resigning_are_asked_and_answered(place: Place) -> None:
    first, second = place.pair()
    first.play(0)
    second.await_turn()
    first.page.get_by_role("button", name="Take back your move").click()
    second.press("Accept")
    first.await_turn()
    first.sees(".cell .mark", 0)
    first.play(4)
    second.play(0)
    first.page.get_by_role("button", name="Offer a draw").click()
    second.page.get_by_text("offers a draw.").wait_for()
    second.press("No")
    first.page.get_by_text("You offered a draw.").wait_for(state="detached")
    for width, height in ((320, 568), (360, 740), (740, 360), (1280, 800)):
        first.page.set_viewport_size({"width": width, "height": height})
        tapped = first.page.get_by_role("button", name="Resign", exact=True).bounding_box()
        assert tapped is not None
        first.press("Resign")
        asked = first.page.get_by_role("button", name="Yes, resign").bounding_box()
        assert asked is not None
        is_apart = asked["x"] + asked["width"] <= tapped["x"] or asked["y"] >= tapped["y"] + tapped["height"]
        assert is_apart, f"a second tap would resign at {width} px"
        first.press("Play on")
    first.press("Resign")
    first.press("Yes, resign")
    second.until("You won")


def test_one_who_is_left_alone_is_told_for_how_long_and_claims_the_match_then(place: Place) -> None:
    first, second = place.pair("tictactoe", "3+2")
    first.play(4)
    second.page.context.close()
    first.page.get_by_text("You can claim the win in").wait_for()
    first.sees(".tag.away", 1)
    first.page.get_by_role("button", name="Claim the win", exact=True).wait_for()

    def is_claimed() -> bool:
        """Press the button while it is there: a server that was paused grants the other as much more time."""
        first.page.evaluate(
            "[...document.querySelectorAll('button')].find(b => b.innerText === 'Claim the win')?.click()"
        )
        return bool(first.page.locator(".status", has_text="left the match.").count())

    wait_for(is_claimed, first, every_ms=500)
    assert first.page.locator(".status").inner_text().startswith("You won")


def test_a_finished_match_is_looked_back_on_move_by_move(place: Place) -> None:
    first, second = place.pair()
    finish(first, second)
    first.until("You won")
    first.page.get_by_role("button", name="one move back").click()
    first.until("Move 4 of 5")
    first.page.locator("#cell-2[aria-label='row 1 column 3, empty']").wait_for()
    first.page.get_by_role("slider", name="Move").fill("1")
    first.page.locator("#cell-3[aria-label='row 2 column 1, empty']").wait_for()
    first.sees(".cell .mark", 1)
    first.page.get_by_role("slider", name="Move").fill("5")
    first.until("You won")


def test_an_engine_says_where_the_match_turned(place: Place) -> None:
    pytest.importorskip("numba")
    first, second = place.pair()
    for turn, cell in enumerate((4, 0, 1, 2, 7)):  # the fourth move leaves a row of two open
        (first, second)[turn % 2].play(cell)
    first.press("Analyse")
    first.page.get_by_role("heading", name="Analysis").wait_for()
    first.sees("circle.turn", 1)
    first.until("Move 4 of 5")  # it opens at the move that decided
    first.page.locator(".cell.hint").first.wait_for()  # what was better is shown on the board
    first.page.locator(".moves .sign").first.wait_for()
    first.page.get_by_role("slider", name="Move").fill("5")
    first.page.locator(".turns").get_by_role("button", name="Move 4, c3").click()
    first.until("Move 4 of 5")
    loser = second.page.locator(".seat").nth(1).locator("bdi").inner_text()
    first.page.locator(".learnt", has_text=f"Move 4, c3 by {loser}, decided the match").wait_for()
    assert first.page.get_by_role("button", name="Try again from there").count() == 0
    second.press("Where did I go wrong?")
    second.page.locator(".learnt", has_text="you had to block at b1: they had two in a row").wait_for()
    second.page.get_by_role("button", name="Try again from there").wait_for()
