"""One browser for all tests of the page, Debian's Chromium; a server of its own for each test."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.place import Place

UNSEEN = (
    *("WebUIOmniboxPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "ThirdPartyStoragePartitioning"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
"""Features that no test sees. Those of the first line render an address bar and a page for later in processes of their
own for each window, two fifths of all that the browser costs; the others are what Playwright turns off, for Chromium
heeds the last such switch alone."""

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same engine without the windows around it, and takes a third less of the processor."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A browser; the tests of this package take no event loop, for Playwright has its own."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        options.append(f"--disable-features={','.join(UNSEEN)}")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


class Spares:
    """Servers that start while the test before runs, and end while the next does: each test has one of its own."""

    def __init__(self, browser: Any, folders: pytest.TempPathFactory) -> None:
        self._browser = browser
        self._folders = folders
        self._ended: list[Place] = []
        self._next = self._launched()

    def _launched(self) -> Place:
        place = Place(self._browser, self._folders.mktemp("server"))
        place.launch()
        return place

    def take(self) -> Place:
        """Return a server that is starting or has started, and have the next one start."""
        taken, self._next = self._next, self._launched()
        self._ended.append(taken)
        return taken

    def close(self) -> None:
        """End those that are left, and wait for all."""
        self._next.stop()
        self._next.release()
        for place in self._ended:
            place.bury()


@pytest.fixture(scope="package")
def spares(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spares]:
    """Servers for all tests of the page."""
    spares = Spares(browser, tmp_path_factory)
    yield spares
    spares.close()


@pytest.fixture(scope="package")
def house(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server for all tests whose players concern no other test."""
    with Place(browser, tmp_path_factory.mktemp("house")) as house:
        yield house
    house.bury()


@pytest.fixture
def site(house: Place) -> Iterator[Place]:
    """The pages of a running server that other tests use too; in the end nothing may have gone wrong in any of them."""
    yield house
    house.check()
    house.leave()


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have terminals and bots remember their servers here, and not in the home of who runs the tests."""
    monkeypatch.setenv("TTT_NET_HOME", str(tmp_path / "home"))


@pytest.fixture
def place(spares: Spares) -> Iterator[Place]:
    """A running server and the browsers that look at it; in the end nothing may have gone wrong in any of them."""
    with spares.take() as place:
        yield place
        place.check()
