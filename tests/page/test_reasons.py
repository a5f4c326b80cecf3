"""Reasons are told in the language of the page, where the eye is; and what a match is played for is chosen."""

from typing import Any

import pytest

from tests.page.place import PHONE, Place, Visitor, lie

STANDING: dict[str, Any] = PHONE | {"viewport": {"width": 360, "height": 740}}
LYING: dict[str, Any] = PHONE | {"viewport": {"width": 740, "height": 360}}


def lose(place: Place, **options: Any) -> Visitor:
    """Return who lost at tic-tac-toe: their first move gave the draw away; their second blocked no line."""
    first, second = place.pair(**options)
    for turn, cell in enumerate((0, 1, 4, 2, 8)):
        (first, second)[turn % 2].play(cell)
    second.page.locator(".deck.defeat").wait_for()
    return second


def box(visitor: Visitor, selector: str) -> dict[str, float]:
    """Return where something is on the page, however far a click has scrolled it."""
    place: dict[str, float] = visitor.page.locator(selector).first.evaluate(
        """each => {
            const { x, y, width, height } = each.getBoundingClientRect();
            return { x: x + scrollX, y: y + scrollY, width, height };
        }"""
    )
    return place


@pytest.mark.parametrize("screen", [STANDING, LYING], ids=["standing", "lying"])
def test_a_phone_tells_the_lesson_below_the_board_and_moves_nothing(place: Place, screen: dict[str, Any]) -> None:
    loser = lose(place, **screen)
    board, slider = box(loser, ".boards"), box(loser, ".review")
    loser.press("Where did I go wrong?")
    loser.page.locator(".deck .learnt", has_text="you had to block at c1").wait_for()
    told = box(loser, ".learnt")
    assert told["y"] + told["height"] <= screen["viewport"]["height"]
    loser.page.get_by_role("button", name="Try again from there").wait_for()
    assert (box(loser, ".boards"), box(loser, ".review")) == (board, slider)
    loser.press("one move forward")
    loser.until("You lost")
    assert (box(loser, ".boards"), box(loser, ".review")) == (board, slider)
    loser.press("Where did I go wrong?")
    loser.page.locator(".deck .learnt").wait_for()


def test_what_was_better_is_shown_at_the_lesson_though_it_turned_before(place: Place) -> None:
    pytest.importorskip("numba")
    loser = lose(place)
    loser.press("Where did I go wrong?")
    loser.page.locator(".turns", has_text="Move 2, b3").wait_for()
    loser.page.locator("#cell-8.hint").wait_for()
    loser.page.locator(".better").wait_for()
    loser.until("Move 4 of 5")


def taught(place: Place, game: str, cells: tuple[int, ...], lesson: str) -> Visitor:
    """Return who lost by the last of the cells, and reads that they had to block there."""
    first, second = place.pair(game)
    for turn, cell in enumerate(cells):
        (first, second)[turn % 2].play(cell)
    second.press("Where did I go wrong?")
    second.page.locator(".deck .learnt", has_text=lesson).wait_for()
    second.page.locator(f"#cell-{cells[-1]}.hint").wait_for()
    return second


def test_an_arrow_leads_through_the_layers_to_what_was_better(place: Place) -> None:
    loser = taught(place, "qubic", (0, 1, 21, 2, 42, 3, 63), "you had to block at 4:d1")
    loser.page.locator(".stack > .better .tip").wait_for(state="attached")


def test_where_marks_fall_the_lesson_points_to_where_one_would_have_come_to_lie(place: Place) -> None:
    loser = taught(place, "connect4", (38, 37, 31, 30, 24, 36, 17), "you had to block at 4")
    loser.sees(".hint", 1)


def test_a_lesson_is_told_in_the_language_of_the_page(place: Place) -> None:
    first, second = place.pair()
    first.page.evaluate("localStorage.setItem('ttt_net.language', 'fr')")
    first.page.reload()
    for turn, cell in enumerate((0, 8, 1, 5, 4, 2)):
        (first, second)[turn % 2].play(cell)
    first.page.locator(".deck.defeat").wait_for()
    first.page.get_by_role("button", name="Où me suis-je trompé").click()
    told = "Coup 5, b2 : vous pouviez gagner tout de suite avec c3."
    first.page.locator(".learnt", has_text=told).wait_for()


def test_who_likes_no_ratings_plays_a_casual_match_with_one_who_likes_either(place: Place) -> None:
    ann = place.visitor().prefer("connect4").come("Ann")
    ann.press("Find an opponent")
    ann.page.get_by_role("status").get_by_text("rated or casual").wait_for()
    bob = place.visitor().prefer("connect4").come("Bob")
    bob.page.locator(".entry", has_text="Ann").get_by_text("rated or casual").wait_for()
    bob.page.get_by_role("radio", name="Casual").check()
    bob.press("Find an opponent")
    for visitor in (ann, bob):
        visitor.page.locator("main.match h1", has_text="no clock").wait_for()
        assert "rated" not in visitor.page.locator("h1").inner_text()


def test_a_bot_beside_who_waits_has_its_name_on_one_line(place: Place) -> None:
    bot = {"name": "Tom", "bot": "casual player", "level": 3, "any_level": True, "free": True, "seeking": ["connect4"]}
    ann = place.visitor()
    ann.page.route_web_socket("**", lambda route: lie(route, [{"type": "players", "players": [bot], "online": 1}]))
    ann.prefer("connect4").come("Ann")
    ann.press("Find an opponent")
    ann.page.locator(".waiting .entry").wait_for()
    name, play = (ann.page.locator(f".waiting .entry {each}").bounding_box() for each in (".what", "button"))
    assert name is not None
    assert play is not None
    assert name["height"] < 64
    assert play["width"] < name["width"]
