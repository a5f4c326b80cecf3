"""Share the parts of compiled searches: alpha-beta kernels with their table, their drivers, and limits.

All alpha-beta kernels keep the same five words at the beginning of their blocks, and the same second word of an entry
in their tables: the depth of the search of a position, its value or a bound of it, and the best move. A decided value
is `WIN` less the number of marks on the board at the end, negative for a loss; smaller values are estimates.

Each kernel places its table, list or slots itself: it passes the first word, and the size as a power of two. All
functions are inlined, so that these are constants in the machine code.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, peek, poke
from ttt_net.strategies.strategy import DECIDED, WIN, Effort, Stopped, from_above

NODES, BUDGET, GUESSES, CUTS, HITS = range(5)
STOPPED = WIN + 2
"""No value: the budget of nodes was spent, or set to 0 from outside."""
UNKNOWN = WIN + 3
"""No value either: only a search can find it."""
INFINITY = WIN + 1
COMPLETE = 255
"""The depth of a value that no deeper search can change."""
NO_MOVE = 511
EXACT, LOWER, UPPER = 0, 1, 2


@njit(inline="always")
def tally(word, block):
    """Add one to a word of the block."""
    poke(block, word, peek(block, word) + ONE)


@njit(inline="always")
def is_spent(block):
    """Tell whether no nodes are left; otherwise count one."""
    spent = peek(block, NODES) >= peek(block, BUDGET)
    if not spent:
        tally(NODES, block)
    return spent


@njit(inline="always")
def entry_of(depth, bound, value, move):
    """Return the second word of the entry of a position; never 0."""
    return ONE | U(bound) << ONE | U(depth) << U(3) | U(move) << U(11) | U(value + INFINITY) << U(20)


@njit(inline="always")
def move_in(entry):
    """Return the best move in an entry."""
    return types.int64((entry >> U(11)) & U(511))


@njit(inline="always")
def depth_in(entry):
    """Return the depth in an entry."""
    return types.int64((entry >> U(3)) & U(255))


@njit(inline="always")
def value_in(entry, depth, alpha, beta, block):
    """Return the value in an entry if it answers the question, else `UNKNOWN`; count hits and guesses."""
    known, bound = depth_in(entry), types.int64((entry >> ONE) & U(3))
    value = types.int64(entry >> U(20)) - INFINITY
    if known < depth or (bound == LOWER and value < beta) or (bound == UPPER and value > alpha):
        return UNKNOWN
    tally(HITS, block)
    if known < COMPLETE:
        tally(GUESSES, block)
    return value


@njit(inline="always")
def entry_after(stones, depth, best, move, floor, beta, guesses, block):
    """Return the entry for a position whose moves have been searched with the window (floor, beta).

    `guesses` is how many there were before: if there are no more, or if all shorter play has been seen, it is complete.
    """
    bound = LOWER if best >= beta else UPPER if best <= floor else EXACT
    sure = guesses == peek(block, GUESSES) or (abs(best) >= DECIDED and WIN - abs(best) - stones <= depth)
    return entry_of(COMPLETE if sure else max(depth, 0), bound, best, move)


@njit(inline="always")
def find(key, table, log_entries, block):
    """Return where a table with two words an entry has the position, or 0 if it has not."""
    at = table + 2 * types.int64(key >> U(64 - log_entries))
    return at if peek(block, at) == key and peek(block, at + 1) else 0


@njit(inline="always")
def remember(key, entry, table, log_entries, block):
    """Store the entry of a position in such a table, replacing the one at its place."""
    at = table + 2 * types.int64(key >> U(64 - log_entries))
    poke(block, at, key)
    poke(block, at + 1, entry)


@njit(inline="always")
def has_failed(key, threats, slots, log_slots, block):
    """Tell whether a position is known to have no win by this number of threats."""
    known = peek(block, slots + types.int64(key >> U(64 - log_slots)))
    return (known >> U(8)) == (key >> U(8)) and (known & U(255)) >= U(threats)


@njit(inline="always")
def note_failure(key, threats, slots, log_slots, block):
    """Store that a position has no win by this number of threats, replacing the note at its place."""
    poke(block, slots + types.int64(key >> U(64 - log_slots)), ((key >> U(8)) << U(8)) | U(threats))


@njit(inline="always")
def take_best(at, count, block):
    """Return the move of the highest rank in a list of ranks above moves, and put the last one in its place."""
    best, where = ZERO, 0
    for n in range(count):
        found = peek(block, at + n)
        if found > best:
            best, where = found, n
    poke(block, at + where, peek(block, at + count - 1))
    return types.int64(best & U(NO_MOVE))


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
    """The compiled functions: each takes a position as `CompiledSearch` passes it, then the address of the block.

    `win` also takes the marks on the board and the most threats, `search` the marks, the depth and the window. The play
    of a win lies in the block from the word `play` on, by the marks on the board.
    """

    win: Callable[..., int]
    search: Callable[..., int]
    best_move: Callable[..., int]
    play: int


class CompiledSearch:
    """One compiled alpha-beta search of a line game, as iterative deepening uses it; used for one choice.

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
        """The number of values so far that rest on an estimate, or on a search of the best moves only."""
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
    """The position in the block of a large board: that of the last question."""

    def __init__(self, game: LineGame, mark: Callable[..., None], block: Any) -> None:
        self._held = game.initial
        self._mark, self._address = mark, np.uint64(block.ctypes.data)

    def hold(self, state: LineState) -> tuple[int]:
        """Change it to another position by the marks that differ; return the side to move."""
        held = self._held
        for side, before, after in ((0, held.first, state.first), (1, held.second, state.second)):
            for cell in list_cells(before & ~after):
                self._mark(cell, side, -1, self._address)
        for side, before, after in ((0, held.first, state.first), (1, held.second, state.second)):
            for cell in list_cells(after & ~before):
                self._mark(cell, side, 1, self._address)
        self._held = state
        return (state.ply & 1,)
