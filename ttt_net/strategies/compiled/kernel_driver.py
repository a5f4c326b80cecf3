"""Drive compiled kernels: hold a search to its limit, ask an alpha-beta kernel, keep the position in its memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled.alphabeta import BUDGET, COMPLETE, CUTS, GUESSES, HITS, NO_MOVE, NODES, STOPPED
from ttt_net.strategies.strategy import WIN, Effort, Stopped, from_above

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


class Kernel(NamedTuple):
    """The compiled functions: each takes a position as `CompiledSearch` was given it, then the block's address.

    `win` also takes the marks on the board and the most threats, `search` the marks, the depth and the window. The play
    of a win lies in the block from the word `play` on, by the marks on the board.
    """

    win: Callable[..., int]
    search: Callable[..., int]
    best_move: Callable[..., int]
    play: int


class CompiledSearch:
    """One compiled alpha-beta search of a line game, as iterative deepening uses it; made for one choice, then dropped.

    `block` is the memory of the kernel, whose words the kernel names. `position` returns a position as the kernel takes
    it. All questions raise `Stopped` when the limit is reached.
    """

    exact_plies: int | None = None

    def __init__(
        self,
        game: LineGame,
        effort: Effort,
        kernel: Kernel,
        block: Any,
        position: Callable[[LineState], tuple[Any, ...]],
    ) -> None:
        self.game, self.effort, self.block = game, effort, block
        self._kernel, self._position = kernel, position
        self._address = np.uint64(block.ctypes.data)

    @property
    def guesses(self) -> int:
        """The number of values so far that rest on an estimate, or on a look at the best moves only."""
        return int(self.block[GUESSES])

    def running(self) -> AbstractContextManager[None]:
        """Return a context that ends the search when its limit is reached."""
        return held_to(self.effort, self.block, BUDGET)

    def shortest_win(
        self, state: LineState, threats: int, win: Callable[..., int] | None = None
    ) -> tuple[Move, ...] | None:
        """Return the play of the win with the fewest threats, up to `threats`; `win` replaces the kernel's question."""
        position, ply, ask_win = self._position(state), state.ply, win or self._kernel.win
        for most in range(threats + 1):
            if won := self._ask(ask_win, *position, ply, most):
                return tuple(int(move) for move in self.block[self._kernel.play + ply : self._kernel.play + won])
        return None

    def value_of_move(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a move's value for the player who makes it; outside the window, a bound of it."""
        child = self.game.result(state, move)
        self.effort.results += 1
        if self.game.is_terminal(child):
            return WIN - 1 if child.has_line else 0
        window = -from_above(beta, state.ply), -from_above(alpha, state.ply)
        depth = min(depth - 1, COMPLETE - 1)
        value = self._ask(self._kernel.search, *self._position(child), child.ply, depth, *window)
        return from_above(-value, -state.ply)

    def remembered(self, state: LineState) -> Move | None:
        """Return the move that completes a line, is forced, or was found best, if one of these is known."""
        if self.game.is_terminal(state):
            return None
        found = int(self._kernel.best_move(*self._position(state), self._address))
        return None if found == NO_MOVE else found

    def _ask(self, question: Callable[..., int], *arguments: Any) -> int:
        self.block[NODES] = self.effort.nodes
        answer = int(question(*arguments, self._address))
        self.effort.nodes = int(self.block[NODES])
        self.effort.cuts, self.effort.hits = int(self.block[CUTS]), int(self.block[HITS])
        if answer == STOPPED:
            raise Stopped
        return answer


class HeldPosition:
    """The one position that the block of memory of a large board holds, that of the last question."""

    def __init__(self, game: LineGame, mark: Callable[..., None], block: Any) -> None:
        self._held = game.initial
        self._mark, self._address = mark, np.uint64(block.ctypes.data)

    def hold(self, state: LineState) -> tuple[int]:
        """Make it another position, by the marks in which the two differ; return the side to move."""
        held = self._held
        for side, before, after in ((0, held.first, state.first), (1, held.second, state.second)):
            for cell in list_cells(before & ~after):
                self._mark(cell, side, -1, self._address)
        for side, before, after in ((0, held.first, state.first), (1, held.second, state.second)):
            for cell in list_cells(after & ~before):
                self._mark(cell, side, 1, self._address)
        self._held = state
        return (state.ply & 1,)
