"""When the link breaks, the server restarts, a second window opens, or a foreign page tries to connect."""

import http.server
import threading
from functools import partial
from pathlib import Path

from tests.page.place import Place, Visitor, in_turn, wait_for
from tests.page.wire import Wire


def test_a_cut_link_is_told_and_the_match_goes_on_when_it_is_back(place: Place) -> None:
    place.expect_broken_links()
    wire = Wire(int(place.address.rpartition(":")[2]))
    try:
        ann, bob = place.visitor(), place.visitor().come("Bob")
        Visitor(ann.page, f"http://127.0.0.1:{wire.port}").come("Ann").seek()
        bob.seek()
        ann.page.locator("main.match").wait_for()
        if in_turn(ann, bob)[0] is bob:
            bob.play(8)
        ann.await_turn()
        wire.cut()
        ann.page.locator(".banner", has_text="Your match is safe.").wait_for()
        bob.page.locator(".tag.away").wait_for()
        wire.mend()
        ann.page.locator(".banner").wait_for(state="detached")
        ann.play(4)
        bob.page.locator("#cell-4.last").wait_for()
        bob.sees(".tag.away", 0)
        ann.page.close()  # or she complains of the wire that is gone, some time
    finally:
        wire.close()


def test_a_server_that_restarts_in_mid_match_loses_nothing(place: Place) -> None:
    place.expect_broken_links()
    first, second = place.pair()
    first.play(4)
    second.await_turn()
    place.stop()
    for visitor in (first, second):
        visitor.page.locator(".banner").wait_for()
    place.start()
    for visitor in (first, second):
        visitor.page.locator(".banner").wait_for(state="detached")
    second.play(0)
    first.page.locator("#cell-0.last").wait_for()
    first.sees(".cell .mark", 2)


def test_an_invitation_is_shown_and_good_after_a_restart(place: Place) -> None:
    place.expect_broken_links()
    ann = place.visitor().come("Ann")
    ann.press("Invite a friend")
    code = ann.page.locator(".code").inner_text()
    place.stop()
    ann.page.locator(".banner").wait_for()
    place.start()
    ann.page.locator(".banner").wait_for(state="detached")
    assert ann.page.locator(".code").inner_text() == code
    place.visitor().come("Bob", f"/j/{code.replace(' ', '')}")
    ann.page.locator("main.match").wait_for()


def test_a_coming_restart_is_told_until_the_server_is_back(place: Place) -> None:
    place.expect_broken_links()
    ann = place.visitor().come("Ann")
    place.administer("drain", "3600")
    for visitor in (ann, place.visitor().come("Bob")):
        visitor.page.locator(".banner", has_text="The server restarts at").wait_for()
    place.stop()
    ann.page.locator(".banner", has_text="Reconnecting").wait_for()
    place.start()
    ann.page.locator(".banner").wait_for(state="detached")


def test_a_page_that_is_loaded_again_is_back_in_its_match(place: Place) -> None:
    first, second = place.pair()
    first.play(4)
    second.await_turn()
    second.page.reload()
    second.play(0)
    first.await_turn()
    first.page.goto(place.url)
    first.page.get_by_role("button", name="Play on against").click()
    first.play(8)
    second.await_turn()


def test_a_second_window_takes_over_and_gives_back(place: Place) -> None:
    ann = place.visitor().come("Ann")
    other = ann.page.context.new_page()
    other.goto(place.url)
    other.locator("main.lobby").wait_for()
    ann.page.get_by_text("You are playing in another tab").wait_for()
    ann.press("Play here")
    ann.page.locator("main.lobby").wait_for()
    other.get_by_text("You are playing in another tab").wait_for()


def test_the_token_is_in_no_address(place: Place) -> None:
    ann = place.visitor()
    addresses: list[str] = []
    ann.page.on("request", lambda request: addresses.append(request.url))
    ann.page.on("websocket", lambda socket: addresses.append(socket.url))
    ann.come("Ann")
    token = ann.page.evaluate("localStorage.getItem('ttt_net.token')")
    assert token
    assert len(addresses) > 3
    assert not [address for address in addresses if token in address]


def test_a_page_of_another_origin_cannot_connect(place: Place, tmp_path: Path) -> None:
    place.expect("403")
    place.expect("404")  # its icon
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "index.html").write_text("<!doctype html><title>evil</title>", encoding="utf-8")
    handler = partial(QuietHandler, directory=str(tmp_path / "evil"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            visitor = place.visitor()
            visitor.page.goto(f"http://127.0.0.1:{server.server_port}/")
            script = """address => new Promise(resolve => {
                const socket = new WebSocket(address);
                socket.onopen = () => resolve("open");
                socket.onerror = () => resolve("refused");
            })"""
            assert visitor.page.evaluate(script, f"ws://{place.address}/") == "refused"
        finally:
            server.shutdown()
            thread.join()
            wait_for(lambda: any("403" in line for line in place.complaints), visitor)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
