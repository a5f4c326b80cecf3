"""End a compiled search when its limit is reached: from a second thread, as the search itself holds no lock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ttt_net.strategies.strategy import Effort

POLL_SECONDS = 0.002
"""How often a running search is compared with its limit."""


@contextmanager
def held_to(effort: Effort, words: Any, budget: int) -> Iterator[None]:
    """Set the word number `budget` to 0 as soon as the limit is reached while the body runs."""
    finished = threading.Event()
    if effort.is_over():
        words[budget] = 0

    def poll() -> None:
        while not finished.wait(POLL_SECONDS):
            if effort.is_over():
                words[budget] = 0
                return

    poller = threading.Thread(target=poll, name="search limit", daemon=True)
    poller.start()
    try:
        yield
    finally:
        finished.set()
        poller.join()
