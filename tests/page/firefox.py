"""Firefox, driven by WebDriver BiDi over its own WebSocket: no driver between, which Debian has none of."""

import json
import os
import re
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.page.place import PATIENT
from tests.patience import PATIENCE_S

WAIT = """(selector, text) => new Promise(resolve => {
    const look = () => {
        const found = [...document.querySelectorAll(selector)].find(each => each.textContent.includes(text));
        if (!found) return;
        observer.disconnect();
        found.scrollIntoView({ block: "nearest" });
        const { x, y, width, height } = found.getBoundingClientRect();
        resolve(JSON.stringify([Math.round(x + width / 2), Math.round(y + height / 2), found.textContent]));
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    look();
})"""


class Firefox:
    """A Firefox without a screen; `errors` are what its pages complained of."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._last = 0
        self.errors: list[str] = []

    def __enter__(self) -> "Firefox":
        line = [
            self._program,
            "--headless",
            "--no-remote",
            "--profile",
            str(self._folder),
            "--remote-debugging-port",
            "0",
        ]
        home = {**os.environ, "HOME": str(self._folder)}
        self._process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=home)
        assert self._process.stderr is not None
        found = next(filter(None, (re.search(r"listening on (ws://\S+)", each) for each in self._process.stderr)))
        patient: dict[str, Any] = {"open_timeout": PATIENCE_S, "ping_interval": None}  # busy, it answers late
        self._socket: ClientConnection = connect(
            f"{found[1]}/session", proxy=None, max_size=None, **patient
        ).__enter__()
        self.call("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        self.call("script.addPreloadScript", functionDeclaration=f"() => {PATIENT}")
        self.call("session.subscribe", events=["log.entryAdded"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.communicate(timeout=PATIENCE_S)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask for something, and return the answer; keep what pages complain of meanwhile."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            heard = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if heard.get("method") == "log.entryAdded" and heard["params"]["level"] == "error":
                self.errors.append(heard["params"]["text"])
            if heard.get("id") == self._last:
                assert heard["type"] == "success", heard
                return dict(heard["result"])

    def window(self, url: str) -> "Window":
        """Open a page for somebody who is known to none of the other windows."""
        user = self.call("browser.createUserContext")["userContext"]
        window = Window(self, self.call("browsingContext.create", type="tab", userContext=user)["context"])
        window.open(url)
        return window


class Window:
    """One window with what a person does in it."""

    def __init__(self, firefox: Firefox, context: str) -> None:
        self._firefox = firefox
        self.context = context

    def open(self, url: str) -> None:
        """Open a page, and wait until it has loaded."""
        self._firefox.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def show(self) -> None:
        """Bring it to the front, where keys reach it."""
        self._firefox.call("browsingContext.activate", context=self.context)

    def await_worker(self) -> None:
        """Wait until the service worker has kept the page."""
        self._evaluate("navigator.serviceWorker.ready.then(() => 'kept')")

    def until(self, selector: str, text: str = "") -> str:
        """Wait for an element with a text in it, and return its text."""
        return str(self._find(selector, text)[2])

    def click(self, selector: str, text: str = "") -> None:
        """Click an element with a text in it, by the mouse."""
        x, y, _ = self._find(selector, text)
        steps = [
            {"type": "pointerMove", "x": x, "y": y},
            *({"type": f"pointer{each}", "button": 0} for each in ("Down", "Up")),
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": steps})

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        steps = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": steps})

    def _act(self, source: dict[str, Any]) -> None:
        self._firefox.call("input.performActions", context=self.context, actions=[source])

    def _find(self, selector: str, text: str) -> list[Any]:
        found: list[Any] = json.loads(self._evaluate(f"({WAIT})({json.dumps(selector)}, {json.dumps(text)})"))
        return found

    def _evaluate(self, script: str) -> str:
        target = {"context": self.context}
        answer = self._firefox.call("script.evaluate", expression=script, target=target, awaitPromise=True)
        return str(answer["result"]["value"])
