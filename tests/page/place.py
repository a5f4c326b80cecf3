"""A server in a process of its own, and people who look at its page."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import to_builtins

from tests import forked
from tests.end_to_end.process import ROOT, command
from tests.page.build import WEB
from tests.patience import PATIENCE_S
from tests.ports import reserved
from ttt_net.games import find_game
from ttt_net.matches.description import describe_game, describe_position

PATIENCE_MS = 1000 * PATIENCE_S
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 780},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
STANDING: dict[str, Any] = PHONE | {"viewport": {"width": 360, "height": 740}}
SMALL_PHONE: dict[str, Any] = PHONE | {"viewport": {"width": 320, "height": 568}}


def _product_ms(module: str, name: str) -> int:
    """Return how long a timer of the page runs, from its source."""
    found = re.search(rf"const {name} = (\d+);", (WEB / "src" / module).read_text(encoding="utf-8"))
    assert found is not None, f"{module} has no {name}"
    return int(found[1])


LASTING = (
    *(("link.ts", "OPENING_MS"), ("link.ts", "WAIT_MS")),
    *(("actions.ts", "NOTICE_MS"), ("actions.ts", "BOT_MS"), ("welcome.ts", "ALONE_MS")),
)
PATIENT = f"""{{
    const begin = window.setTimeout;
    const lasting = [{", ".join(str(_product_ms(*each)) for each in LASTING)}];
    window.setTimeout = (act, ms, ...more) => begin(act, lasting.includes(ms) ? {PATIENCE_MS} : ms, ...more);
}}"""
"""Has the page wait for the server, and show a notice, for as long as a test waits: a busy machine may take longer than
people would."""

BROKEN = ("CONNECTION_", "SOCKET_NOT_CONNECTED", "EMPTY_RESPONSE", "INTERNET_DISCONNECTED", "NETWORK_CHANGED")
"""Names that Chromium may give a broken link, depending on its action on that connection."""
GIVEN_UP = "WebSocket is closed before the connection is established"
"""Its messages about a page that stops waiting, or is left, while it connects. Both are always in order."""

WITHOUT_WORKER = "Service Worker registration blocked by Playwright"
"""Its message where a test gives a page no service worker, which would answer requests that the test watches."""


class Visitor:
    """One person with a browser of their own."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.name = ""

    def come(self, name: str, path: str = "/") -> "Visitor":
        """Open the page and give a name."""
        self.name = name
        self.page.goto(self.url + path)
        self.page.get_by_label("Choose a name").fill(name)
        self.page.get_by_role("button", name="Play", exact=True).click()
        if path == "/":
            self.page.locator("main.lobby").wait_for()
        return self

    def hold(self, file: str) -> Callable[[], None]:
        """Hold back a file of the page until the returned function is called."""
        pattern, held = f"**/{file}", list[Any]()
        self.page.route(pattern, lambda route: held.append(route))

        def release() -> None:
            for route in held:
                route.continue_()
            self.page.unroute(pattern)

        return release

    def press(self, name: str) -> None:
        """Press the button of that name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def prefer(self, game: str, pace: str = "No clock") -> "Visitor":
        """Have a game and a clock chosen before the page is opened, as by somebody who was here before."""
        choice = json.dumps(json.dumps({"game": game, "pace": pace}))
        self.page.add_init_script(
            f"localStorage.getItem('ttt_net.choice') ?? localStorage.setItem('ttt_net.choice', {choice})"
        )
        return self

    def choose(self, game: str, pace: str = "No clock") -> None:
        """Choose a game and a clock as if by hand; the page remembers them."""
        choice = json.dumps({"game": game, "pace": pace})
        self.page.evaluate("choice => localStorage.setItem('ttt_net.choice', choice)", choice)
        self.page.reload()
        self.page.locator("main.lobby").wait_for()

    def seek(self, game: str = "tictactoe", pace: str = "No clock") -> None:
        self.choose(game, pace)
        self.press("Find an opponent")

    def cell(self, cell: int) -> Any:
        return self.page.locator(f"#cell-{cell}")

    @property
    def is_to_move(self) -> bool:
        return bool(self.page.locator(".boards.mine").count())

    def until(self, text: str) -> None:
        """Wait until the sentence below the board has that text in it."""
        self.page.locator(".status", has_text=text).first.wait_for()

    def await_turn(self) -> None:
        self.page.locator(".boards.mine").wait_for()

    def sees(self, selector: str, count: int) -> None:
        """Wait until so many things that a selector names are there."""
        wait_for(lambda: self.page.locator(selector).count() == count, self)

    def play(self, cell: int) -> None:
        """Wait for our turn, and play a cell."""
        self.await_turn()
        self.cell(cell).click()


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.data = folder / "data"
        self._flags = flags
        self._process: subprocess.Popen[str] | None = None
        self._held = ExitStack()
        self._port = self._held.enter_context(reserved())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.release()

    def release(self) -> None:
        """Let the port go, which no other may have while the server is down."""
        self._held.close()

    @property
    def url(self) -> str:
        scheme = "https" if "--tls-self-signed" in self._flags else "http"
        return f"{scheme}://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        """The port on this machine."""
        return self._port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def launch(self) -> None:
        """Have the server start, on the same port each time; it need not listen yet."""
        _, _, *arguments = command(self.data, "--name", "the lobby", *self._flags, port=self._port)
        self._process = forked.start("server.py", *arguments, stdout=subprocess.PIPE)

    def start(self) -> None:
        """Wait until the server listens, and start it before if it has not been."""
        if self._process is None:
            self.launch()
        assert self._process is not None
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        assert first.startswith("listening on ws"), first

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the server."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.communicate(timeout=PATIENCE_S)
            self._process = None

    def administer(self, *words: str) -> None:
        """Do what the host does with `ttt_net admin`."""
        line = [sys.executable, "-m", "ttt_net", "admin", "--data", str(self.data), *words]
        subprocess.run(line, cwd=ROOT, stdout=subprocess.DEVNULL, timeout=PATIENCE_S, check=True)


class Place(Server):
    """A server and its visitors."""

    def __init__(self, browser: Any, folder: Path, *flags: str) -> None:
        super().__init__(folder, *flags)
        self._browser = browser
        self._contexts: list[Any] = []
        self.complaints: list[str] = []
        """Messages of the browsers' consoles, and requests to other hosts."""
        self._expected: list[str] = [GIVEN_UP, WITHOUT_WORKER]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
        if self._process is not None:  # it is waited for by who has time
            self._process.terminate()

    def leave(self) -> None:
        """Close the windows of all visitors, and forget what they complained of."""
        for context in self._contexts:
            context.close()
        self._contexts.clear()
        self.complaints.clear()
        self._expected = [GIVEN_UP, WITHOUT_WORKER]

    def bury(self) -> None:
        """Wait for the end of the server."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE_S)
        self.release()

    def visitor(self, **options: Any) -> Visitor:
        """Return somebody with a browser window of their own; `options` say so if they want motion or a worker."""
        context = self._browser.new_context(**{"reduced_motion": "reduce", "service_workers": "block"} | options)
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        context.add_init_script(PATIENT)
        page = context.new_page()
        page.on("console", lambda message: self._note(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self._note(f"{error}"))
        page.on("request", lambda request: self._note_request(request.url))
        return Visitor(page, self.url)

    def _note(self, text: str) -> None:
        self.complaints.append(text)

    def _note_request(self, url: str) -> None:
        if not re.match(r"(http|ws)s?://127\.0\.0\.1:|data:|blob:", url):
            self.complaints.append(f"asked {url}")

    def expect(self, words: str) -> None:
        """Let browsers complain of that, whenever they do."""
        self._expected.append(words)

    def expect_broken_links(self) -> None:
        """Let browsers complain, in any of their words, of a server that is gone or a link that is cut."""
        self._expected += [
            "WebSocket connection to",
            "WebSocket is already in CLOSING",
            *(f"net::ERR_{what}" for what in BROKEN),
        ]

    def check(self) -> None:
        """Fail if a browser complained: of a fault, a breach of the content policy, or a request to elsewhere."""
        rest = [line for line in self.complaints if not any(words in line for words in self._expected)]
        assert rest == [], rest

    def pair(
        self,
        game: str = "tictactoe",
        pace: str = "No clock",
        names: tuple[str, str] = ("Ann", "Bob"),
        **options: Any,
    ) -> tuple[Visitor, Visitor]:
        """Return two visitors in a match with each other, the one to move in front."""
        visitors = [self.visitor(**options).prefer(game, pace).come(name) for name in names]
        for visitor in visitors:
            visitor.press("Find an opponent")
        for visitor in visitors:
            visitor.page.locator("main.match").wait_for()
        return in_turn(*visitors)


def in_turn(one: Visitor, other: Visitor) -> tuple[Visitor, Visitor]:
    """Wait until it is the turn of one of two visitors, and return them with that one in front."""
    wait_for(lambda: one.is_to_move or other.is_to_move, one)
    return (one, other) if one.is_to_move else (other, one)


def wait_for(is_so: Callable[[], bool], visitor: Visitor, every_ms: int = 20) -> None:
    """Wait for something that more than one page shows, or that has to be tried again."""
    for _ in range(PATIENCE_MS // every_ms):
        if is_so():
            return
        visitor.page.wait_for_timeout(every_ms)
    raise AssertionError("it never came to be so")


class Stage:
    """A server that the test plays for one page: it answers every request with ok, and tells what the test wants."""

    def __init__(
        self,
        visitor: Visitor,
        *messages: dict[str, Any],
        name: str = "Ann",
        features: Sequence[str] = ("chat",),
        is_known: bool = True,
    ) -> None:
        self.visitor = visitor
        self.heard: list[dict[str, Any]] = []
        """Every request of the page."""
        self.answers: dict[str, list[dict[str, Any]]] = {}
        """Messages that the page receives after `ok` to a request of that kind."""
        self._route: Any = None
        self._messages = messages
        self._welcome = {"type": "welcome", "protocol": 1, "server": name, "you": {"name": name}}
        # A match that is not named here has just begun, and the page goes to it from wherever it is.
        self._welcome["matches"] = [each["match"] for each in messages if each["type"] == "snapshot"]
        self._welcome["features"] = [*features]
        if is_known:
            visitor.page.add_init_script("localStorage.setItem('ttt_net.token', 'known')")
        visitor.page.route_web_socket("**", self._connect)

    def open(self, path: str = "/") -> Visitor:
        """Open the page at that place, and return the visitor."""
        self.visitor.page.goto(self.visitor.url + path)
        return self.visitor

    def tell(self, *messages: dict[str, Any]) -> None:
        """Have the page receive these messages."""
        for message in messages:
            self._route.send(json.dumps(message))

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the requests of one kind so far."""
        return [request for request in self.heard if request["type"] == kind]

    def _connect(self, route: Any) -> None:
        self._route = route
        route.on_message(self._hear)

    def _hear(self, text: str) -> None:
        request = json.loads(text)
        self.heard.append(request)
        self.tell({"type": "ok", "id": request["id"]})
        if request["type"] == "hello":
            self.tell(self._welcome, *self._messages)
        self.tell(*self.answers.get(request["type"], ()))


@dataclass(frozen=True)
class Scene:
    """A match of Ann and Ben after these cells were marked by turns, as the server describes it.

    Its id is the name of the game.
    """

    game: str
    cells: tuple[int, ...] = ()
    you: int = 0
    is_timed: bool = True

    def position(self, plies: int | None = None) -> dict[str, Any]:
        """Return the position after so many moves, or after all."""
        state, _ = self._played(plies)
        game = find_game(self.game)
        ply = len(self.cells) if plies is None else plies
        described = describe_position(game, ply, state, is_over=game.is_terminal(state))
        return dict(to_builtins(described))

    def _played(self, plies: int | None = None) -> tuple[Any, list[int]]:
        game = find_game(self.game)
        state, moves = game.initial, list[int]()
        for cell in self.cells[:plies]:
            moves.append(next(move for move in game.actions(state) if game.move_cells[move] == cell))
            state = game.result(state, moves[-1])
        return state, moves

    def snapshot(self, **more: Any) -> dict[str, Any]:
        """Return the snapshot; a match whose last move completed a line is over."""
        _, moves = self._played()
        position = self.position()
        outcome = {"winner": 1 - len(moves) % 2, "reason": "line"} if position.get("line") else None
        time = {"time": {"initial_ms": 180_000, "increment_ms": 2000}, "clock": {"remaining_ms": [180_000, 180_000]}}
        return {
            **{"type": "snapshot", "match": self.game, "seq": len(moves) + 1, "offers": [], "present": [True, True]},
            **{"game": to_builtins(describe_game(self.game)), "players": [{"name": "Ann"}, {"name": "Ben"}]},
            **{"moves": moves, "last": moves[-1] if moves else None, "position": position, "you": self.you},
            **(time if self.is_timed else {}),
            **({"outcome": outcome} if outcome else {}),
            **more,
        }

    def played(self) -> dict[str, Any]:
        """Return the event of the last move."""
        _, moves = self._played()
        ply = len(moves)
        side = (ply - 1) % 2
        event = {"type": "played", "match": self.game, "seq": ply + 1, "at_ms": 0, "side": side, "ply": ply}
        return {**event, "move": moves[-1], "position": self.position()}
