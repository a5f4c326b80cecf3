"""One browser for all tests of the page, Debian's Chromium; a server of its own for each test."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.place import Place

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """A browser; the tests of this package take no event loop, for Playwright has its own."""
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture
def place(browser: Any, tmp_path: Path) -> Iterator[Place]:
    """A running server and the browsers that look at it; in the end nothing may have gone wrong in any of them."""
    with Place(browser, tmp_path) as place:
        yield place
        place.check()
