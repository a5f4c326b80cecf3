"""Ends a compiled search when its limit is reached: from a second thread, as the search itself holds no lock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ttt_net.strategies.strategy import Effort

POLL_SECONDS = 0.002
"""How often a running search is compared with its limit."""


@contextmanager
def watching(effort: Effort, words: Any, budget: int) -> Iterator[None]:
    """While the body runs, set the word number `budget` to nothing as soon as the limit is reached."""
    finished = threading.Event()
    if effort.is_over():
        words[budget] = 0

    def watch() -> None:
        while not finished.wait(POLL_SECONDS):
            if effort.is_over():
                words[budget] = 0
                return

    watcher = threading.Thread(target=watch, name="search limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
