"""Limits that the browser itself sets: no markup from text, and no connection for a foreign page."""

import http.server
import threading
from functools import partial
from pathlib import Path

from tests.page.place import Place, wait_for


def test_the_browser_makes_no_markup_of_text_and_connects_no_foreign_page(site: Place, tmp_path: Path) -> None:
    site.expect("TrustedHTML")
    visitor = site.visitor().come("Trusting")
    script = "() => { try { document.body.innerHTML = '<b>'; return 'made' } catch (error) { return error.name } }"
    assert visitor.page.evaluate(script) == "TypeError"
    wait_for(lambda: any("TrustedHTML" in line for line in site.complaints), visitor)

    site.expect("403")
    site.expect("404")  # its icon
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "index.html").write_text("<!doctype html><title>evil</title>", encoding="utf-8")
    handler = partial(QuietHandler, directory=str(tmp_path / "evil"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
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
