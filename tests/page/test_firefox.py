"""A whole match in Firefox, by mouse and keys."""

import shutil
from pathlib import Path

import pytest

from tests.page.firefox import Firefox
from tests.page.place import Server

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)

SETTLED = ".deck:not([data-settling]) button"
"""Elements that have been visible for long enough to accept taps."""


@pytest.mark.long
def test_two_play_a_whole_match_and_begin_the_rematch_in_firefox(tmp_path: Path) -> None:
    if FIREFOX is None:
        pytest.skip("needs firefox")
    (tmp_path / "profile").mkdir()
    with Server(tmp_path) as server, Firefox(FIREFOX, tmp_path / "profile") as firefox:
        people = [firefox.window(server.url), firefox.window(server.url)]
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
