"""The first screen over TLS and a long way to the server: no tap is lost, and nothing else flashes up."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.page import SlowLink, SlowRelay
from tests.page.place import PHONE, Place, Visitor, wait_for

SEEN = """
    window.screens = [];
    const look = () => {
        const screen = document.querySelector("main")?.className;
        if (screen && screen !== window.screens.at(-1)) window.screens.push(screen);
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
"""
"""Remembers which screens were shown, one after the other."""

DRAWN = """() => new Promise(drawn => {
    document.querySelector("#cell-4").click();
    const look = () => drawn(!!document.querySelector("#cell-4.pending .mark-X"));
    requestAnimationFrame(look);
})"""

TAP_AGAIN = "document.querySelector('.kept') ?? document.querySelector('#cell-0').click()"
"""Taps another cell if the match has not begun, in one step with the look at it."""


@contextmanager
def far_away(browser: Any, folder: Path, round_trip_s: float) -> Iterator[tuple[Place, Visitor]]:
    """Yield a server with TLS and bots, and somebody with a phone who comes to it over a long way."""
    with Place(browser, folder, "--tls-self-signed", "--house-bots") as place:
        with closing(SlowRelay(place.port, SlowLink("far", round_trip_s, 200_000, 96_000))) as relay:
            visitor = place.visitor(**PHONE, ignore_https_errors=True)
            visitor.page.add_init_script(SEEN)
            yield place, Visitor(visitor.page, f"https://127.0.0.1:{relay.port}")
            visitor.page.close()
        place.check()
    place.bury()


@pytest.mark.parametrize("round_trip_ms", [300, *(pytest.param(each, marks=pytest.mark.long) for each in (0, 800))])
def test_the_first_tap_is_drawn_at_once_and_begins_a_match_over_one_connection(
    browser: Any, tmp_path: Path, round_trip_ms: int
) -> None:
    with far_away(browser, tmp_path, round_trip_ms / 1000) as (_, ann):
        sockets: list[str] = []
        ann.page.on("websocket", lambda socket: sockets.append(socket.url))
        ann.page.goto(ann.url)
        ann.cell(4).wait_for()
        before = ann.page.locator(".boards").bounding_box()
        assert ann.page.evaluate(DRAWN), "the mark is there in the next frame"
        for _ in range(12):
            ann.page.wait_for_timeout(100)
            ann.page.evaluate(TAP_AGAIN)  # changes the cell, and begins nothing anew
        ann.page.locator(".kept").wait_for()
        ann.await_turn()
        assert ann.page.locator(".boards").bounding_box() == before, "the board keeps its size and place"
        assert ann.page.locator(".cell .mark-X").count() == 1
        assert len(sockets) == 1, "one handshake"
        assert {screen.split()[0] for screen in ann.page.evaluate("screens")} == {"welcome"}, "nothing flashes up"
        ann.page.reload()
        ann.page.locator("main.match").wait_for()


def test_without_a_server_the_computer_of_the_page_answers_the_first_tap_on_the_same_board(
    browser: Any, tmp_path: Path
) -> None:
    with far_away(browser, tmp_path, 0.3) as (place, ann):
        place.expect_broken_links()
        ann.page.route_web_socket("**", lambda route: route.close(code=1011))
        ann.page.goto(ann.url)
        ann.cell(4).wait_for()
        before = ann.page.locator(".boards").bounding_box()
        ann.cell(4).click()
        told = ann.page.locator(".here .status", has_text="Your turn")
        told.wait_for()
        assert ann.page.locator(".cell:not(.ghost) .mark-X").count() == 1
        assert ann.page.locator(".cell .mark-O").count() == 1
        assert ann.page.locator(".boards").bounding_box() == before, "the board keeps its size and place"
        box = told.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= PHONE["viewport"]["height"], "in sight"
        ann.page.reload()
        told.wait_for()
        assert ann.page.locator(".cell:not(.ghost) .mark").count() == 2, "the match goes on"


def test_a_match_that_began_without_a_server_goes_on_at_the_same_place_on_one_that_starts_later(
    browser: Any, tmp_path: Path
) -> None:
    with far_away(browser, tmp_path, 0.8) as (place, ann):
        place.expect_broken_links()
        sent: list[str] = []
        ann.page.on("websocket", lambda socket: socket.on("framesent", lambda text: sent.append(str(text))))
        with ann.page.expect_event("requestfinished", lambda request: "thinker" in request.url):
            ann.page.goto(ann.url)
        place.stop()
        taken = ann.page.locator(".cell:not(.ghost) .mark")

        def tap() -> None:
            """Tap a cell; no three of these are in line."""
            next(ann.cell(cell) for cell in (0, 5, 7, 2, 6) if ann.page.locator(f"#cell-{cell}.free").count()).click()

        tap()
        ann.until("Your turn")
        before = ann.page.locator(".boards").bounding_box()
        tap()
        ann.sees(".cell:not(.ghost) .mark", 4)
        ann.until("Your turn")
        place.start()
        wait_for(lambda: any('"challenge"' in each for each in sent), ann)
        tap()  # before the answer, unless this machine is slower than the link, and then the same must hold
        ann.page.locator(".kept").wait_for()
        assert ann.page.locator(".boards").bounding_box() == before, "the board keeps its size and place"
        ann.sees(".cell:not(.ghost) .mark", 6)
        assert [taken.locator(f"xpath=self::*[contains(@class, 'mark-{mark}')]").count() for mark in "XO"] == [3, 3]
        assert len([each for each in sent if '"play"' in each]) == 1, "the move made on the way is played once"
        assert ann.page.locator(".boards").bounding_box() == before
        assert {screen.split()[0] for screen in ann.page.evaluate("screens")} == {"welcome"}, "no lobby flashes up"
