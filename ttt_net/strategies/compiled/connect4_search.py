"""The compiled solver of Connect Four, held to a limit."""

from collections.abc import Callable

import numpy as np

from ttt_net.games.line import LineState
from ttt_net.strategies.compiled import connect4 as kernel
from ttt_net.strategies.compiled.kernel_driver import held_to
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.strategy import Effort, Stopped

LOG_BUCKETS = 15
"""512 KB of table. It is to fit the cache of one core with room to spare: more makes the search slower, not faster."""

EARLY = 4
"""A position of so few stones takes seconds, for which a table of twice the size is worth it."""

UNWATCHED_NODES = 60_000
"""About two milliseconds: as long as a limit goes unnoticed anyway, so not worth a second thread to watch over it."""


class Connect4Search:
    """Finds exact scores; its table is kept from one question to the next, as what it holds stays true.

    `on_long` is called whenever a search takes longer than two milliseconds, while it goes on.
    """

    def __init__(self, on_long: Callable[[], object]) -> None:
        self._on_long = on_long
        self._block = np.zeros(kernel.TABLE + (4 << LOG_BUCKETS), dtype=np.uint64)
        self._block[kernel.LOG] = LOG_BUCKETS
        self._address = np.uint64(self._block.ctypes.data)

    def forget(self) -> None:
        """Empty the table."""
        self._block[kernel.TABLE :] = 0
        self._block[kernel.LOG] = LOG_BUCKETS

    def score(self, state: LineState, effort: Effort, low: int, high: int) -> int:
        """Return the score of a position that is not over, at least within low..high; raises `Stopped`."""
        if state.ply <= EARLY and self._block[kernel.LOG] == LOG_BUCKETS:
            self.forget()  # its places hang on its size
            self._block[kernel.LOG] = LOG_BUCKETS + 1
        own, other = own_and_other(state)
        question = np.uint64(own), np.uint64(other), low, high, self._address
        self._block[kernel.NODES] = effort.nodes
        self._block[kernel.BUDGET] = min(effort.nodes + UNWATCHED_NODES, effort.max_nodes)
        score = kernel.STOPPED if effort.is_over() else kernel.solve(*question)
        if score == kernel.STOPPED and not effort.is_over():
            self._block[kernel.BUDGET] = effort.max_nodes
            self._on_long()
            with held_to(effort, self._block, kernel.BUDGET):
                score = kernel.solve(*question)
        effort.nodes = int(self._block[kernel.NODES])
        if score == kernel.STOPPED:
            raise Stopped
        return int(score)
