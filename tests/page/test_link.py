"""When the link breaks, the server restarts, or a foreign page tries to connect."""

import http.server
import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from tests.page.place import Place, wait_for
from ttt_net.games import find_game
from ttt_net.games.puzzles import puzzle_of


def test_a_server_that_restarts_in_mid_match_loses_nothing(place: Place) -> None:
    place.expect_broken_links()
    first, second = place.pair()
    first.play(4)
    second.await_turn()
    place.administer("drain", "3600")
    for visitor in (first, second):
        visitor.page.locator(".banner", has_text="The server restarts at").wait_for()
    place.stop()
    for visitor in (first, second):
        visitor.page.locator(".banner", has_text="Reconnecting").wait_for()
    place.start()
    for visitor in (first, second):
        visitor.page.locator(".banner").wait_for(state="detached")
    second.page.reload()
    second.play(0)
    first.page.locator("#cell-0.last").wait_for()
    first.sees(".cell .mark", 2)
    first.page.goto(place.url)
    first.page.get_by_role("button", name="Play on against").click()
    first.play(8)
    second.await_turn()


KEPT = """async () => {
    await navigator.serviceWorker.ready;
    const names = await caches.keys();
    return names.length === 1 && !!(await (await caches.open(names[0])).match("/puzzles"));
}"""
"""Tells whether the service worker is at work and keeps the page and the puzzles."""


def test_the_page_opens_without_a_server_for_two_on_one_device_and_for_puzzles_to_come(place: Place) -> None:
    place.expect_broken_links()
    ann = place.visitor(service_workers="allow").come("Ann")
    wait_for(lambda: bool(ann.page.evaluate(KEPT)), ann)
    place.stop()
    ann.page.reload()
    ann.press("Two on this device")
    for cell in (0, 3, 1, 4, 2):
        ann.cell(cell).click()
    ann.page.locator(".status", has_text="X won").wait_for()
    coming = (datetime.now(UTC).date() + timedelta(days=number) for number in range(20, 30))
    day = next(day for day in coming if puzzle_of(day).game != "wild")  # there a cell has two moves
    puzzle = puzzle_of(day)
    ann.page.goto(f"{place.url}/#puzzle={day}")
    ann.page.locator(".puzzle").wait_for()
    ann.cell(find_game(puzzle.game).move_cells[puzzle.solution]).click()
    ann.page.locator(".verdict.won").wait_for()
    place.start()
    ann.page.goto(place.url)
    ann.page.locator("main.lobby").wait_for()


def test_a_page_of_another_origin_cannot_connect(site: Place, tmp_path: Path) -> None:
    site.expect("403")
    site.expect("404")  # its icon
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "index.html").write_text("<!doctype html><title>evil</title>", encoding="utf-8")
    handler = partial(QuietHandler, directory=str(tmp_path / "evil"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            visitor = site.visitor()
            visitor.page.goto(f"http://127.0.0.1:{server.server_port}/")
            script = """address => new Promise(resolve => {
                const socket = new WebSocket(address);
                socket.onopen = () => resolve("open");
                socket.onerror = () => resolve("refused");
            })"""
            assert visitor.page.evaluate(script, f"ws://{site.address}/") == "refused"
        finally:
            server.shutdown()
            thread.join()
            wait_for(lambda: any("403" in line for line in site.complaints), visitor)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
