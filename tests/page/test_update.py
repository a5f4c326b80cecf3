"""An update whose link breaks or stalls halfway: a visitor sees the whole old page or the whole new one, no mixture."""

import re
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.end_to_end.process import ROOT, command
from tests.page.place import Place, Visitor, wait_for
from tests.patience import PATIENCE_S

ASKED = re.compile(rb"GET (\S+) HTTP/1\.1\r\n")
STATE = """async () => {
    const page = document.documentElement;
    const style = getComputedStyle(page);
    const kept = await caches.keys();
    const whole = await Promise.all(kept.map(async name => !!(await (await caches.open(name)).match("/"))));
    return {
        parts: {
            ...window.scripts, "index.html": page.dataset.release,
            "style.css": style.getPropertyValue("--style"), "later.css": style.getPropertyValue("--later"),
        },
        kept: kept.filter((_, number) => whole[number]).length,
    };
}"""
"""Tells of which release each part of the page is, and how many releases are kept whole."""
SETTLED = "async () => (await navigator.serviceWorker.getRegistration()).update().catch(() => null)"
"""Waits until no service worker is being installed: a browser does such work one after the other."""
CONTROLLER = "navigator.serviceWorker.controller?.scriptURL ?? ''"
"""The address of the service worker that answers the page, in the folder of its release."""
PARTS = {"index.html", "style.css", "later.css", "app.js", "more.js"}

BREAKS = [
    ("", 0.5),
    ("app.js", 0),
    ("app.js", 0.5),
    ("more.js", 0),
    ("later.css", 0.5),
    ("thinker.js", 0),
    ("worker.js", 0.5),
    ("sounds.js", 0),
]
"""The files at whose request the link breaks, and the part of their first bytes that still comes: the page itself, what
it loads, its service worker, and what only that loads."""
WHOLE_MS = {"old": 1_000 * PATIENCE_S, "new": 300, "newest": 300}
"""How long the service worker of a release waits for a page: the first is patient, since a busy machine may be slow."""


class Release(Place):
    """A server of one release after the other, on the same data."""

    def __init__(self, browser: Any, folder: Path, name: str) -> None:
        super().__init__(browser, folder)
        self._folder = folder
        self.name = name

    def launch(self) -> None:
        """Have the server of this release start."""
        folder = self._folder / self.name
        if not folder.exists():
            write_release(folder, self.name)
        _, _, *arguments = command(self.data, port=self.port)
        line = [sys.executable, str(folder / "server.py"), *arguments]
        self._process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)

    def update(self, name: str) -> None:
        """Have the server of another release in its place."""
        self.stop()
        self.name = name
        self.start()

    @property
    def assets(self) -> str:
        """The address of the folder of all files of this release but the page itself."""
        with urlopen(self.url, timeout=PATIENCE_S) as page:
            found = re.search(r"/assets/\w+/", page.read().decode())
        assert found is not None
        return found[0]


def write_release(folder: Path, name: str) -> None:
    """Write the product into a folder, with a page each of whose parts says that it is of this release."""
    (folder / "ttt_net" / "web").mkdir(parents=True)
    shutil.copy(ROOT / "server.py", folder)
    for each in (ROOT / "ttt_net").iterdir():
        if each.name != "web":
            (folder / "ttt_net" / each.name).symlink_to(each)
    built = folder / "ttt_net" / "web" / "built"
    shutil.copytree(ROOT / "ttt_net" / "web" / "built", built, ignore=shutil.ignore_patterns("*.br", "*.map"))
    marks = {part: f'(globalThis.scripts ??= {{}})["{part}"] = "{name}";\n' for part in ("app.js", "more.js")}
    marks |= {f"{part}.css": f":root {{ --{part}: {name}; }}\n" for part in ("style", "later")}
    worker = (built / "worker.js").read_text(encoding="utf-8")
    assert "=6e3;" in worker
    (built / "worker.js").write_text(worker.replace("=6e3;", f"={WHOLE_MS[name]};"), encoding="utf-8")
    for part, mark in marks.items():
        (built / part).write_text(mark + (built / part).read_text(encoding="utf-8"), encoding="utf-8")
    index = (built / "index.html").read_text(encoding="utf-8")
    (built / "index.html").write_text(index.replace("<html ", f'<html data-release="{name}" '), encoding="utf-8")


class BreakingLink(socketserver.ThreadingTCPServer):
    """A link to a port, which breaks when a certain address is requested, and stays broken until it is mended."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)
        self._target = port
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._breaks_at = b""
        self._passing = 0.0
        self._is_stalling = False
        self.is_broken = threading.Event()
        self.is_stalled = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def mend(self, breaks_at: str = "", passing: float = 0) -> None:
        """Let all through, until an address is requested; then break when a part of the first bytes has passed."""
        self._breaks_at, self._passing, self._is_stalling = breaks_at.encode(), passing, False
        self.is_broken.clear()

    def stall(self, at: str) -> None:
        """Let all through but the answer to this address, which never ends."""
        self.mend(at, 0.5)
        self._is_stalling = True
        self.is_stalled.clear()

    def cut(self, asked_by: socket.socket | None = None) -> None:
        """Break now, unless whoever asks for it was cut off before."""
        with self._lock:
            if asked_by is not None and asked_by not in self._open:
                return
            self.is_broken.set()
            for each in self._open:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Relay one connection."""
        with socket.socket() as server:
            with self._lock:
                if self.is_broken.is_set():
                    return
                try:
                    server.connect(("127.0.0.1", self._target))
                except OSError:  # the server is being replaced
                    return
                self._open |= {request, server}
            is_last = threading.Event()
            answering = threading.Thread(target=self._answer, args=(server, request, is_last))
            answering.start()
            with suppress(OSError):
                while data := request.recv(65_536):
                    if (asked := ASKED.match(data)) and asked[1] == self._breaks_at and b"Upgrade:" not in data:
                        is_last.set()
                    server.sendall(data)
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            answering.join()
            with self._lock:
                self._open -= {request, server}

    def _answer(self, server: socket.socket, client: socket.socket, is_last: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if is_last.is_set():
                    client.sendall(data[: int(len(data) * self._passing)])
                    if self._is_stalling:
                        self.is_stalled.set()
                        self.is_broken.wait()
                    self.cut(client)
                    break
                client.sendall(data)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def link_to(place: Place) -> Iterator[BreakingLink]:
    """Yield a link to a server."""
    with BreakingLink(place.port) as link:
        thread = threading.Thread(target=link.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield link
        finally:
            link.cut()
            link.shutdown()
            thread.join()


def shows(visitor: Visitor, release: str, kept: int = 1) -> None:
    """Wait until all parts of the page are there and so many releases are kept; no part may be of another release."""

    def is_whole() -> bool:
        state = state_of(visitor)
        assert set(state["parts"].values()) <= {release}, state
        return bool(state["parts"].keys() >= PARTS and state["kept"] == kept)

    visitor.page.locator("main").wait_for()
    wait_for(is_whole, visitor)


def state_of(visitor: Visitor) -> dict[str, Any]:
    """Return what a visitor sees, and what the browser keeps."""
    state: dict[str, Any] = visitor.page.evaluate(STATE)
    state["parts"] = {part: release for part, release in state["parts"].items() if release}
    return state


def test_a_link_that_fails_in_an_update_leaves_the_old_page_or_the_new_one(browser: Any, tmp_path: Path) -> None:
    with Release(browser, tmp_path, "old") as place, link_to(place) as link:
        place.expect_broken_links()
        place.expect("Failed to load resource: net::ERR_FAILED")
        place.expect("An unknown error occurred when fetching the script")
        ann = Visitor(place.visitor(service_workers="allow").page, link.url).come("Ann")
        shows(ann, "old")
        place.update("new")
        devtools = ann.page.context.new_cdp_session(ann.page)
        for file, passing in BREAKS:
            devtools.send("Network.clearBrowserCache")
            link.mend(f"{place.assets}{file}" if file else "/", passing)
            ann.page.goto(link.url)
            assert link.is_broken.wait(PATIENCE_S)
            if file in ("", "app.js"):
                shows(ann, "old")
            else:
                ann.page.locator("main").wait_for()
                assert set(state_of(ann)["parts"].values()) == {"new"}
            ann.page.evaluate(SETTLED)
            ann.page.reload()
            shows(ann, "old")
        link.mend()
        ann.page.goto(link.url)
        shows(ann, "new", kept=2)
        folder = place.assets
        wait_for(lambda: folder in ann.page.evaluate(CONTROLLER), ann)  # the worker before it would wait longer
        place.update("newest")
        for file in ("", "app.js"):
            devtools.send("Network.clearBrowserCache")
            link.stall(f"{place.assets}{file}" if file else "/")
            ann.page.goto(link.url)
            assert link.is_stalled.wait(PATIENCE_S)
            shows(ann, "new", kept=2)
            link.cut()
        ann.page.reload()
        shows(ann, "new", kept=2)
        place.check()
    place.bury()
