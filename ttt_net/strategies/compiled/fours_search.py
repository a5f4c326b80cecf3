"""The compiled search of large boards, as iterative deepening sees it."""

import random
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import fours as kernel
from ttt_net.strategies.compiled import patterns
from ttt_net.strategies.compiled.alphabeta import BUDGET, NO_MOVE
from ttt_net.strategies.compiled.kernel_driver import HeldPosition, Kernel, KernelDriver
from ttt_net.strategies.heuristic import line_worth
from ttt_net.strategies.strategy import Effort

AT_ROOT = 40
"""Moves of the position to judge that are looked at, if not all of them lose."""

MOST_FOURS = 12
"""The longest win by continuous fours that is looked for before all else has so many, and one move more."""

NODES_OF_FOURS = 500_000
"""The node limit of that search, about a third of a second; nearly all searches need a hundredth of it."""


class FoursSearch:
    """One search of a line game on a large board; made for one choice and then dropped."""

    exact_plies: int | None = 5
    """A win in three makes two lines lack one mark, and is never overlooked; so a win in five is the soonest."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        del rng  # its order of moves follows from the position
        self.game, self.effort = game, effort
        self.block = empty_board(game).copy()
        """The memory of the kernel, whose words it names."""
        self.block[BUDGET] = effort.max_nodes
        self.block[patterns.FOURS] = kernel.DEPTH_OF_FOURS if effort.max_depth is None else 0
        self._address = np.uint64(self.block.ctypes.data)
        self.hold = HeldPosition(game, patterns.mark, self.block).hold
        functions = Kernel(kernel.win_by_fours, kernel.search, kernel.best_move, kernel.PLAY)
        self._driver = KernelDriver(game, effort, functions, self.block, self.hold)

    @property
    def guesses(self) -> int:
        """How many values so far rest on an estimate, or on a look at the best moves only."""
        return self._driver.guesses

    def running(self) -> AbstractContextManager[None]:
        """Return what ends the search when its limit is reached."""
        return self._driver.running()

    def ordered(self, state: LineState) -> list[Move]:
        """Return the moves worth a look, the most promising one first."""
        self.hold(state)
        moves = kernel.MOVES
        count = int(kernel.listed(state.ply & 1, moves, self._address))
        ranked = sorted((int(word) for word in self.block[moves : moves + count]), reverse=True)
        return [word & NO_MOVE for word in ranked[:AT_ROOT]] or list(self.game.actions(state))

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[patterns.FOURS_LEFT] = NODES_OF_FOURS
        return self._driver.shortest_win(state, MOST_FOURS)

    def value_of_move(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a move's value for who makes it; outside the window, a bound of it; raises `Stopped`."""
        return self._driver.value_of_move(state, move, depth, alpha, beta)

    def remembered(self, state: LineState) -> Move | None:
        """Return the move that completes a line, or has to be made, or was found best, if one of these is known."""
        return self._driver.best_move(state)


@lru_cache(maxsize=4)
def empty_board(game: LineGame) -> Any:
    """Return the block of memory of a game before its first move."""
    cells = [list_cells(line) for line in game.lines]
    number = {line: n for n, line in enumerate(game.lines)}
    through = [number[line] for lines in game.lines_through for line in lines]
    starts = np.cumsum([0, *map(len, game.lines_through)])
    cells_of, marks = kernel.LINES + len(through), kernel.LINES + len(through) + len(cells) * game.k
    block = np.zeros(marks + 2 * len(cells), dtype=np.uint64)
    block[patterns.SIZE], block[patterns.IN_LINE], block[patterns.OPEN] = game.size, game.k, len(cells)
    block[patterns.THROUGH], block[patterns.CELLS_OF], block[patterns.MARKS] = kernel.LINES, cells_of, marks
    block[patterns.HASH] = 1 << 63
    block[kernel.LINES : cells_of] = through
    block[cells_of:marks] = [cell for line in cells for cell in line]
    block[patterns.STARTS : patterns.STARTS + game.size + 1] = starts
    contributions = [4**n << int(patterns.RANK) for n in range(game.k)]
    contributions[-1] |= 1
    if game.k > 1:
        contributions[-2] |= 1 << 8
    block[patterns.CONTRIBUTION : patterns.CONTRIBUTION + game.k] = contributions
    worth = line_worth(game)
    block[patterns.WORTH : patterns.WORTH + len(worth)] = worth
    bits = np.random.default_rng(1).integers(1, 1 << 63, 2 * patterns.MOST_CELLS, dtype=np.uint64)
    block[patterns.RANDOM : patterns.RANDOM + len(bits)] = bits
    for side in (0, patterns.MOST_CELLS):
        for cell, lines in enumerate(game.lines_through):
            block[patterns.PATTERN + side + cell] = len(lines) * contributions[0]
    return block
