"""Firefox: a match by mouse, over TLS and a long way; one by keys, across a restart; and a page without its server."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from benchmarks.page import SlowLink, SlowRelay
from tests.page.firefox import Firefox, Window
from tests.page.place import Server

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)

SETTLED = ".deck:not([data-settling]) button"
"""Elements that have been visible for long enough to accept taps."""


@contextmanager
def server_at(folder: Path, round_trip_ms: int | None) -> Iterator[str]:
    """Yield the address of a server: over TLS and a round trip, or beside it."""
    if round_trip_ms is None:
        with Server(folder) as server:
            yield server.url
        return
    link = SlowLink("far", round_trip_ms / 1000, 200_000, 96_000)
    with Server(folder, "--tls-self-signed") as server, closing(SlowRelay(server.port, link)) as relay:
        yield f"https://127.0.0.1:{relay.port}"


@contextmanager
def started(folder: Path) -> Iterator[Firefox]:
    """Yield a Firefox with a profile of its own."""
    if FIREFOX is None:
        pytest.skip("needs firefox")
    (folder / "profile").mkdir()
    with Firefox(FIREFOX, folder / "profile") as firefox:
        yield firefox


def paired(firefox: Firefox, url: str) -> list[Window]:
    """Return the windows of two who have begun a match, in the order of their moves."""
    people = [firefox.window(url), firefox.window(url)]
    for window, name in zip(people, ("Ann", "Bob"), strict=True):
        window.click("#name")
        window.type(name)
        window.click(".entrance .primary", "Play")
        window.click("main.lobby .primary", "Find an opponent")
    for window in people:
        window.until("main.match")
    turn = people[0].until(".status")
    return people if turn.startswith("Your turn") else people[::-1]


@pytest.mark.long
@pytest.mark.parametrize("round_trip_ms", [None, 0, 300, 800])
def test_two_play_a_whole_match_and_begin_the_rematch_in_firefox(tmp_path: Path, round_trip_ms: int | None) -> None:
    with server_at(tmp_path, round_trip_ms) as url, started(tmp_path) as firefox:
        first, second = paired(firefox, url)
        for ply, cell in enumerate((4, 0, 3, 1, 5)):
            mover = (first, second)[ply % 2]
            mover.until(".boards.mine")
            mover.click(f"#cell-{cell}")
            mover.until(f"#cell-{cell}.last")
        assert first.until(".status", "You won") == "You won: You completed a line."
        second.until(".status", "You lost")
        first.until(".strike")
        first.click(SETTLED, "Rematch")
        second.click(SETTLED, "Accept")
        second.until(".boards.mine")
        assert firefox.errors == []


UP, LEFT, ENTER = "\ue013", "\ue012", "\ue007"
"""Keys, as WebDriver names them."""
GONE = ("can’t establish a connection", "was interrupted while the page was loading", "NetworkError", "ServiceWorker")
"""Complaints of Firefox about a server that is gone."""


@pytest.mark.long
def test_keys_play_a_restart_loses_nothing_and_the_page_opens_without_its_server_in_firefox(tmp_path: Path) -> None:
    with Server(tmp_path) as server, started(tmp_path) as firefox:
        first, second = paired(firefox, server.url)
        first.until(".boards.mine")
        first.show()
        first.type(UP + LEFT + ENTER)
        second.until("#cell-0.last")
        server.stop()
        for window in (first, second):
            window.until(".banner", "Reconnecting")
        server.start()
        second.until(".boards.mine")
        second.click("#cell-8")
        first.until("#cell-8.last")
        first.await_worker()
        server.stop()
        first.open(server.url)
        first.click("button", "Two on this device")
        for cell in (0, 3, 1, 4, 2):
            first.click(f"#cell-{cell}")
        first.until(".status", "X won")
        assert [each for each in firefox.errors if not any(words in each for words in GONE)] == []
