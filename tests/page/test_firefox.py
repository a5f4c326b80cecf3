"""A whole match in Firefox, by mouse and keys: beside the server, and over TLS and a long way to it."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from benchmarks.page import SlowLink, SlowRelay
from tests.page.firefox import Firefox
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


@pytest.mark.long
@pytest.mark.parametrize("round_trip_ms", [None, 0, 300, 800])
def test_two_play_a_whole_match_and_begin_the_rematch_in_firefox(tmp_path: Path, round_trip_ms: int | None) -> None:
    if FIREFOX is None:
        pytest.skip("needs firefox")
    (tmp_path / "profile").mkdir()
    with server_at(tmp_path, round_trip_ms) as url, Firefox(FIREFOX, tmp_path / "profile") as firefox:
        people = [firefox.window(url), firefox.window(url)]
        for window, name in zip(people, ("Ann", "Bob"), strict=True):
            window.click("#name")
            window.type(name)
            window.click(".entrance .primary", "Play")
            window.click("main.lobby .primary", "Find an opponent")
        for window in people:
            window.until("main.match")
        turn = people[0].until(".status")
        first, second = people if turn.startswith("Your turn") else people[::-1]
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
