"""Ask a compiled alpha-beta search: the position it holds, its limit, the nodes it counts, the values it gives."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled.alphabeta import BUDGET, COMPLETE, CUTS, GUESSES, HITS, NO_MOVE, NODES, STOPPED
from ttt_net.strategies.compiled.deadline import held_to
from ttt_net.strategies.strategy import WIN, Effort, Stopped, from_above


class Kernel(NamedTuple):
    """The compiled functions: each takes a position as `KernelDriver` was given it, then the block's address.

    `win` also takes the marks on the board and the most threats, `search` the marks, the depth and the window. The play
    of a win lies in the block from the word `play` on, by the marks on the board.
    """

    win: Callable[..., int]
    search: Callable[..., int]
    best_move: Callable[..., int]
    play: int


class KernelDriver:
    """Ask a kernel about positions of a game; `position` tells what it is given of one. All may raise `Stopped`."""

    def __init__(
        self,
        game: LineGame,
        effort: Effort,
        kernel: Kernel,
        block: Any,
        position: Callable[[LineState], tuple[Any, ...]],
    ) -> None:
        self._game, self._effort, self._kernel, self._block, self._position = game, effort, kernel, block, position
        self._address = np.uint64(block.ctypes.data)

    @property
    def guesses(self) -> int:
        """How many values so far rest on an estimate, or on a look at the best moves only."""
        return int(self._block[GUESSES])

    def running(self) -> AbstractContextManager[None]:
        """Return what ends the search when its limit is reached."""
        return held_to(self._effort, self._block, BUDGET)

    def shortest_win(self, state: LineState, threats: int) -> tuple[Move, ...] | None:
        """Return the play of the win by the fewest threats, if there is one by so many."""
        position, ply = self._position(state), state.ply
        for most in range(threats + 1):
            if won := self._ask(self._kernel.win, *position, ply, most):
                return tuple(int(move) for move in self._block[self._kernel.play + ply : self._kernel.play + won])
        return None

    def value_of_move(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a move's value for who makes it; outside the window, a bound of it."""
        child = self._game.result(state, move)
        self._effort.results += 1
        if self._game.is_terminal(child):
            return WIN - 1 if child.has_line else 0
        window = -from_above(beta, state.ply), -from_above(alpha, state.ply)
        depth = min(depth - 1, COMPLETE - 1)
        value = self._ask(self._kernel.search, *self._position(child), child.ply, depth, *window)
        return from_above(-value, -state.ply)

    def best_move(self, state: LineState) -> Move | None:
        """Return the move that completes a line, or has to be made, or was found best, if one of these is known."""
        if self._game.is_terminal(state):
            return None
        found = int(self._kernel.best_move(*self._position(state), self._address))
        return None if found == NO_MOVE else found

    def _ask(self, question: Callable[..., int], *arguments: Any) -> int:
        self._block[NODES] = self._effort.nodes
        answer = int(question(*arguments, self._address))
        self._effort.nodes = int(self._block[NODES])
        self._effort.cuts, self._effort.hits = int(self._block[CUTS]), int(self._block[HITS])
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
