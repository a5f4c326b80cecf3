"""How long the page takes to be playable over slow links, and how busy a large lobby keeps it; needs Chromium.

`python -m benchmarks.page` takes about a minute; `--lobby` and `--reload` take half a minute, `--taps` nine minutes.

A server with TLS runs behind a relay that lets bytes through late and slowly: a round trip of 300 ms with 10 and with
1.6 Mbit/s, and fast 3G (150 ms, 1.6 Mbit/s down, 0.768 up). A new connection costs a round trip more, as opening one
does. *First* is a visit with an empty cache, until a board and the name field can be used; *again* one with what the
browser has kept. Bytes are those on the wire, with TLS, down and up.

With `--taps`: the time from a tap to the next picture, as browsers measure it for *interaction to next paint*, on a
processor slowed down 6 times. Measured are the tap on the first screen that begins a match, and each tap of a match. A
finger aims and plays, a mouse plays at once.

With `--reload`: the time until the board of a match is back after the page was loaded again, at a round trip of 800 ms,
with what the browser has kept.

With `--lobby`: the CPU time of the page's main thread in 5 s in a lobby of 200 players and 50 matches. The lists come
as often as the server sends them: seeks 4 times a second, with others waiting each time; players and matches every 2 s,
with moves in most matches.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import random
import shutil
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.end_to_end.process import command
from tests.page.place import PHONE, Scene, Stage, Visitor
from ttt_net.games import find_game

_CHUNK = 4_096


class SlowLink(NamedTuple):
    """A link: its round trip in seconds, and bytes per second down and up."""

    name: str
    round_trip_s: float
    down_per_s: float
    up_per_s: float


LINKS = (
    SlowLink("300 ms, 10 Mb/s", 0.3, 1_250_000, 1_250_000),
    SlowLink("300 ms, 1.6 Mb/s", 0.3, 200_000, 96_000),
    SlowLink("fast 3G", 0.15, 200_000, 96_000),
)


class SlowRelay:
    """Relays connections to a port over a slow link, in a thread of its own; counts bytes."""

    def __init__(self, port: int, link: SlowLink) -> None:
        self._target = port
        self._link = link
        self.bytes = 0
        self.port = 0
        self._is_ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),), daemon=True)
        self._thread.start()
        self._is_ready.wait()

    async def _run(self) -> None:
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._is_ready.set()
        await self._over.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in the next turn

    def close(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    async def _relay(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        writers = [to_client]
        with suppress(asyncio.CancelledError, OSError):  # the measurement is over, or nobody listens
            await asyncio.sleep(self._link.round_trip_s)  # opening a connection
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
            writers.append(to_server)
            await asyncio.gather(
                self._pump(from_client, to_server, self._link.up_per_s),
                self._pump(from_server, to_client, self._link.down_per_s),
            )
        for writer in writers:
            writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, per_s: float) -> None:
        """Let each piece through after what was sent before it, and half a round trip later."""
        loop = asyncio.get_running_loop()
        free_s = loop.time()
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due_s, data = await on_the_way.get()
                await asyncio.sleep(max(0.0, due_s - loop.time()))
                if not data:
                    return
                writer.write(data)

        delivering = asyncio.ensure_future(deliver())
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                self.bytes += len(data)
                free_s = max(free_s, loop.time()) + len(data) / per_s
                on_the_way.put_nowait((free_s + self._link.round_trip_s / 2, data))
        on_the_way.put_nowait((loop.time() + self._link.round_trip_s / 2, b""))
        await delivering
        with suppress(OSError):
            writer.close()


class Visit(NamedTuple):
    """One visit: until it could be played, and what it took."""

    seconds: float
    requests: int
    bytes: int


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    """Run a server with house bots and a certificate of its own inside the block; yield its port."""
    line = command(folder / "data", "--tls-self-signed", "--house-bots")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.terminate()


def _trusting(port: int) -> str:
    """Return the option with which Chromium accepts the server's certificate at once, like one of an authority.

    Told to ignore errors of certificates, it connects twice, and caches no page.
    """
    certificate = x509.load_pem_x509_certificate(ssl.get_server_certificate(("127.0.0.1", port)).encode())
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"--ignore-certificate-errors-spki-list={base64.b64encode(hashlib.sha256(key).digest()).decode()}"


def _visit(page: Any, relay: SlowRelay) -> Visit:  # noqa: ANN401 - Playwright is not there for the type checker
    asked: list[str] = []
    count = lambda request: asked.append(request.url)  # noqa: E731
    page.on("request", count)
    before = relay.bytes
    page.goto(f"https://127.0.0.1:{relay.port}/", wait_until="commit")
    page.locator("#name").wait_for()
    page.locator(".cell").first.wait_for()
    shown_s = float(page.evaluate("performance.now()")) / 1000
    visit = Visit(shown_s, len([url for url in asked if not url.startswith("data:")]), relay.bytes - before)
    page.remove_listener("request", count)
    return visit


def measure(browser: Any, port: int, link: SlowLink) -> tuple[Visit, Visit]:  # noqa: ANN401 - as above
    """Visit for the first time, and again."""
    relay = SlowRelay(port, link)
    context = browser.new_context()
    try:
        page = context.new_page()
        first = _visit(page, relay)
        page.wait_for_load_state("networkidle")
        page.goto("about:blank")
        return first, _visit(page, relay)
    finally:
        context.close()
        relay.close()


FAR = SlowLink("800 ms, 1.6 Mb/s", 0.8, 200_000, 96_000)


def reloads_s(browser: Any, port: int, rounds: int) -> list[float]:  # noqa: ANN401 - as above
    """Begin a match with a house bot, and return how long its board is away each time that the page is loaded again."""
    relay = SlowRelay(port, FAR)
    context = browser.new_context(**PHONE)
    try:
        page = context.new_page()
        page.goto(f"https://127.0.0.1:{relay.port}/")
        page.locator(".cell").first.click()
        page.locator(".deck").wait_for()
        taken = []
        for _ in range(rounds):
            page.evaluate("navigator.serviceWorker.ready.then(() => true)")
            page.wait_for_timeout(2_000)
            page.reload(wait_until="commit")
            page.locator("main.match .boards.mine").wait_for()
            taken.append(float(page.evaluate("performance.now()")) / 1000)
        return taken
    finally:
        context.close()
        relay.close()


SLOWDOWN = 6
TAPPED = ("gomoku", "ultimate", "qubic")
PLIES = 11
OBSERVED = """() => {
    window.taps = new Map();
    const note = ({ interactionId: tap, duration }) => tap && taps.set(tap, Math.max(duration, taps.get(tap) ?? 0));
    const observer = new PerformanceObserver(list => list.getEntries().forEach(note));
    observer.observe({ type: "event", durationThreshold: 16 });
}"""
"""Remembers how long each tap took, in ms; a tap of less than 16 ms is not among them."""
AWAITED = """selector => new Promise(found => {
    const look = () => document.querySelector(selector) ? found() : setTimeout(look, 10);
    look();
})"""
"""Waits for an element. A locator would leave listeners of Playwright in the page, which run with every tap."""
CHOSEN = "name => [...document.querySelectorAll('.games label')].find(each => each.textContent.includes(name)).click()"
"""Chooses the game with a title on the first screen."""
MIDDLE = """cell => {
    const { x, y, width, height } = document.getElementById(`cell-${cell}`).getBoundingClientRect();
    return { x: x + width / 2, y: y + height / 2 };
}"""


def _cells(name: str) -> tuple[int, ...]:
    """Return the cells of the first moves of a match at random, which does not end with them."""
    game = find_game(name)
    state, luck, cells = game.initial, random.Random(1), list[int]()
    for _ in range(PLIES):
        move = luck.choice(game.actions(state))
        cells.append(game.move_cells[move])
        state = game.result(state, move)
    return tuple(cells)


class Hand:
    """A finger or a mouse on a page that a slow processor shows."""

    def __init__(self, browser: Any, *, is_touch: bool) -> None:  # noqa: ANN401 - as above
        self.context = browser.new_context(ignore_https_errors=True, **(PHONE if is_touch else {}))
        self.page = self.context.new_page()
        self._is_touch = is_touch
        self._devtools = self.context.new_cdp_session(self.page)  # Playwright's own taps run code in the page

    def slow_down(self) -> None:
        """Wait until all code is there, and measure from now on how long taps take on a slow processor."""
        self.page.wait_for_timeout(3_000)
        self.page.evaluate(OBSERVED)
        self._devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})

    def tap(self, place: dict[str, float]) -> None:
        """Tap, and wait until all is done."""
        send = self._devtools.send
        if self._is_touch:
            send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
            send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        else:
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                send("Input.dispatchMouseEvent", {"type": kind, "button": "left", "clickCount": 1, **place})
                self.page.wait_for_timeout(100)
        self.page.wait_for_timeout(700)

    def taken_ms(self) -> list[float]:
        """Return how long each tap took, in order, and close the page."""
        taken: list[float] = self.page.evaluate("[...taps.values()]")
        self.context.close()
        return taken


def first_tap_ms(browser: Any, url: str, game: str, *, is_touch: bool) -> float:  # noqa: ANN401 - as above
    """Begin a match from the first screen, and return how long the tap took."""
    hand = Hand(browser, is_touch=is_touch)
    Stage(Visitor(hand.page, url), is_known=False).open()
    cell = max(_cells(game))  # the board that is shown at first may have the others, too
    hand.page.evaluate(AWAITED, ".cell")
    hand.page.evaluate(CHOSEN, find_game(game).title)
    hand.page.evaluate(AWAITED, f"#cell-{cell}")
    place = hand.page.evaluate(MIDDLE, cell)
    hand.slow_down()
    hand.tap(place)
    return max(hand.taken_ms())


def taps_ms(browser: Any, url: str, game: str, *, is_touch: bool) -> list[float]:  # noqa: ANN401 - as above
    """Play a match against a server that answers at once, and return how long each tap took, in order."""
    hand = Hand(browser, is_touch=is_touch)
    page = hand.page
    cells = _cells(game)
    stage = Stage(Visitor(page, url), Scene(game).snapshot())
    stage.open(f"/m/{game}")
    page.evaluate(AWAITED, "main.match .boards.mine")
    places = [page.evaluate(MIDDLE, cell) for cell in cells]
    hand.slow_down()
    for ply, place in enumerate(places):
        if ply % 2 == 0:
            for _ in range(2 if is_touch else 1):  # a finger aims first
                hand.tap(place)
            assert len(stage.of("play")) == ply // 2 + 1, f"{game}: the tap at ply {ply} did not play"
        stage.tell(Scene(game, cells[: ply + 1]).played())
        page.evaluate(AWAITED, f"#cell-{cells[ply]}.last")  # a tap that begins before is ignored
        page.wait_for_timeout(500)
    return hand.taken_ms()


class Lobby:
    """Lists of a large lobby, which change as they do on a server."""

    def __init__(self) -> None:
        self._rng = random.Random(1)
        self._plies = [0] * 50

    def messages(self, tick: int) -> Iterator[dict[str, Any]]:
        """Yield what the server sends at a tick of 250 ms."""
        waiting = [n for n in range(100, 200) if self._rng.random() < 0.3]
        seeks = [{"seek": n, "by": _player(n), "games": ["gomoku"], "rated": True} for n in waiting]
        yield {"type": "seeks", "count": len(seeks), "seeks": seeks}
        if tick % 8 == 0:
            self._plies = [ply + self._rng.randrange(3) for ply in self._plies]
            players = [_player(n) | ({"playing": 1} if n < 100 else {}) for n in range(200)]
            yield {"type": "players", "online": 200, "players": players}
            matches = [
                {"match": f"m{n}", "game": "gomoku", "players": [_player(2 * n), _player(2 * n + 1)], "ply": ply}
                | {"watchers": 0}
                for n, ply in enumerate(self._plies)
            ]
            yield {"type": "live", "count": 50, "matches": matches}


def _player(number: int) -> dict[str, Any]:
    return {"name": f"Player {number}", "rating": 1000 + number}


def busy_ms(browser: Any, url: str, slowdown: int) -> int:  # noqa: ANN401 - as above
    """Return for how many of 5,000 ms a large lobby keeps the main thread busy."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    routes: list[Any] = []

    def answer(route: Any, text: str) -> None:  # noqa: ANN401 - as above
        request = json.loads(text)
        route.send(json.dumps({"type": "ok", "id": request["id"]}))
        if request["type"] == "hello":
            welcome = {"type": "welcome", "protocol": 1, "server": "here", "you": {"name": "Ann"}, "matches": []}
            route.send(json.dumps(welcome))
            routes.append(route)

    page.route_web_socket("**", lambda route: route.on_message(lambda text: answer(route, text)))
    page.goto(url)
    page.locator(".entrance form + button, .entrance button.large").last.click()
    page.locator("main.lobby").wait_for()
    lobby = Lobby()
    metrics = context.new_cdp_session(page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})

    def spent_s() -> float:
        found = metrics.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))

    before = 0.0
    for tick in range(28):
        if tick == 8:  # the lists were drawn for the first time before
            before = spent_s()
        for message in lobby.messages(tick):
            routes[-1].send(json.dumps(message))
        page.wait_for_timeout(250)
    after = spent_s()
    context.close()
    return round(1000 * (after - before))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.page")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lobby", action="store_true")
    parser.add_argument("--taps", action="store_true")
    parser.add_argument("--reload", action="store_true")
    options = parser.parse_args()
    rounds = options.rounds
    from playwright.sync_api import sync_playwright  # only this benchmark needs a browser

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if options.lobby:
        with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for slowdown in (1, 6):
                found = [busy_ms(browser, f"https://127.0.0.1:{port}/", slowdown) for _ in range(3)]
                print(f"CPU slowed down {slowdown} times: busy for {sorted(found)[1]} of 5,000 ms")
        return
    if options.taps:
        with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            print(f"a tap until the next picture, CPU slowed down {SLOWDOWN} times")
            for game in TAPPED:
                for is_touch in (True, False):
                    url = f"https://127.0.0.1:{port}"
                    matches = [taps_ms(browser, url, game, is_touch=is_touch) for _ in range(rounds)]
                    opening = median(first_tap_ms(browser, url, game, is_touch=is_touch) for _ in range(rounds))
                    first, *later = [median(each) for each in zip(*matches, strict=False)]
                    by, worst = "finger" if is_touch else "mouse", max(map(max, matches))
                    print(
                        f"{game:8} {by:6}: first screen {opening:.0f} ms, first tap {first:.0f}, later ones"
                        f" {median(later):.0f}, at most {max(later):.0f} (medians of {rounds} matches);"
                        f" worst of all {worst:.0f}",
                        flush=True,
                    )
        return
    if options.reload:
        with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", _trusting(port)])
            taken = reloads_s(browser, port, rounds)
            print(f"{FAR.name}: the board of a match is back after {median(taken):.2f} s, median of {rounds} reloads")
        return
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as port, sync_playwright() as playwright:
        print(f"median of {rounds} visits until a board and the name field can be used")
        print("| link             | visit | s    | requests | bytes on the wire |")
        print("|------------------|-------|-----:|---------:|------------------:|")
        arguments = ["--no-sandbox", _trusting(port)]
        for link in LINKS:
            visits = []
            for _ in range(rounds):
                browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
                visits.append(measure(browser, port, link))
                browser.close()
            for name, each in zip(("first", "again"), zip(*visits, strict=True), strict=True):
                seconds = median(visit.seconds for visit in each)
                row = max(each, key=lambda visit: visit.requests)
                print(f"| {link.name:16} | {name} | {seconds:.2f} | {row.requests:8} | {row.bytes:17,} |", flush=True)


if __name__ == "__main__":
    main()
