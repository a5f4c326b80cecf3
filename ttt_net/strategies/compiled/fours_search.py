"""The compiled search of large boards, as iterative deepening sees it."""

import random
from functools import lru_cache
from typing import Any

import numpy as np

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import fours as kernel
from ttt_net.strategies.compiled.alphabeta import BUDGET, NO_MOVE
from ttt_net.strategies.compiled.kernel_driver import CompiledSearch, HeldPosition, Kernel
from ttt_net.strategies.heuristic import line_worth
from ttt_net.strategies.strategy import Effort

AT_ROOT = 40
"""Moves of the position to judge that are looked at, if not all of them lose."""

MOST_FOURS = 12
"""The longest win by continuous fours that is looked for before all else has so many, and one move more."""

NODES_OF_FOURS = 500_000
"""The node limit of that search, about a third of a second; nearly all searches need a hundredth of it."""


class FoursSearch(CompiledSearch):
    """A search of a line game on a large board."""

    exact_plies: int | None = 5
    """A win in three makes two lines lack one mark, and is never overlooked; so a win in five is the soonest."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        del rng  # its order of moves follows from the position
        block = empty_board(game).copy()
        block[BUDGET] = effort.max_nodes
        block[kernel.FOURS] = kernel.DEPTH_OF_FOURS if effort.max_depth is None else 0
        self.hold = HeldPosition(game, kernel.mark, block).hold
        functions = Kernel(kernel.win_by_fours, kernel.search, kernel.best_move, kernel.PLAY)
        super().__init__(game, effort, functions, block, self.hold)

    def ordered(self, state: LineState) -> list[Move]:
        """Return the moves worth a look, the most promising one first."""
        self.hold(state)
        moves = kernel.MOVES
        count = int(kernel.listed(state.ply & 1, moves, self._address))
        ranked = sorted((int(word) for word in self.block[moves : moves + count]), reverse=True)
        return [word & NO_MOVE for word in ranked[:AT_ROOT]] or list(self.game.actions(state))

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[kernel.FOURS_LEFT] = NODES_OF_FOURS
        return self.shortest_win(state, MOST_FOURS)


@lru_cache(maxsize=4)
def empty_board(game: LineGame) -> Any:
    """Return the block of memory of a game before its first move."""
    cells = [list_cells(line) for line in game.lines]
    number = {line: n for n, line in enumerate(game.lines)}
    through = [number[line] for lines in game.lines_through for line in lines]
    starts = np.cumsum([0, *map(len, game.lines_through)])
    cells_of, marks = kernel.LINES + len(through), kernel.LINES + len(through) + len(cells) * game.k
    block = np.zeros(marks + 2 * len(cells), dtype=np.uint64)
    block[kernel.SIZE], block[kernel.IN_LINE], block[kernel.OPEN] = game.size, game.k, len(cells)
    block[kernel.THROUGH], block[kernel.CELLS_OF], block[kernel.MARKS] = kernel.LINES, cells_of, marks
    block[kernel.HASH] = 1 << 63
    block[kernel.LINES : cells_of] = through
    block[cells_of:marks] = [cell for line in cells for cell in line]
    block[kernel.STARTS : kernel.STARTS + game.size + 1] = starts
    contributions = [4**n << int(kernel.RANK) for n in range(game.k)]
    contributions[-1] |= 1
    if game.k > 1:
        contributions[-2] |= 1 << 8
    block[kernel.CONTRIBUTION : kernel.CONTRIBUTION + game.k] = contributions
    worth = line_worth(game)
    block[kernel.WORTH : kernel.WORTH + len(worth)] = worth
    bits = np.random.default_rng(1).integers(1, 1 << 63, 2 * kernel.MOST_CELLS, dtype=np.uint64)
    block[kernel.RANDOM : kernel.RANDOM + len(bits)] = bits
    for side in (0, kernel.MOST_CELLS):
        for cell, lines in enumerate(game.lines_through):
            block[kernel.PATTERN + side + cell] = len(lines) * contributions[0]
    return block
