"""The compiled alpha-beta search, as iterative deepening sees it."""

import random

import numpy as np

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import lines as kernel
from ttt_net.strategies.compiled.alphabeta import BUDGET
from ttt_net.strategies.compiled.kernel_driver import CompiledSearch, Kernel
from ttt_net.strategies.heuristic import line_worth, own_and_other, promise
from ttt_net.strategies.strategy import Effort

MOST_THREATS = 24
"""The longest win by threats that is looked for before all else has so many, and one move more."""

NODES_OF_THREATS = 200_000
"""The node limit of that search, about a twentieth of a second."""

LOG_BUCKETS = 16
"""A table of 131,072 positions."""


class LineSearch(CompiledSearch):
    """A search of a line game of up to 64 cells."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        block = block_of(game, effort, LOG_BUCKETS, kernel.TABLE + (2 * kernel.ENTRY << LOG_BUCKETS))
        block[kernel.THREATS] = kernel.DEPTH_OF_THREATS if effort.max_depth is None else 0
        worth = [*line_worth(game), 0]
        block[kernel.WORTH : kernel.WORTH + len(worth)] = worth
        for cell, lines in enumerate(promise(game)):
            for side in (0, 64):
                block[kernel.MERIT + side + cell] = 2 * lines + rng.randrange(2)
        functions = Kernel(kernel.win_by_threats, kernel.search, kernel.best_cell, kernel.PLAY)
        super().__init__(game, effort, functions, block, words)

    def ordered(self, state: LineState) -> list[Move]:
        """Return the legal moves, those first that have cut off most."""
        merits = kernel.MERIT + 64 * (state.ply & 1)
        return sorted(self.game.actions(state), key=lambda move: -int(self.block[merits + move]))

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by threats, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[kernel.THREATS_LEFT] = NODES_OF_THREATS
        return self.shortest_win(state, MOST_THREATS)


def block_of(game: LineGame, effort: Effort, log_buckets: int, words: int) -> "np.typing.NDArray[np.uint64]":
    """Return the memory of a kernel of line games, with what all of them have at its beginning."""
    block = np.zeros(words, dtype=np.uint64)
    block[kernel.LOG_BUCKETS] = log_buckets
    block[BUDGET] = effort.max_nodes
    block[kernel.FULL] = game.full
    block[kernel.FLOOR] = sum(1 << move for move in game.actions(game.initial))
    block[kernel.FALL] = game.fall % (1 << 64) if game.gravity else 0
    block[kernel.LINE_COUNT] = len(game.lines)
    block[kernel.LINES : kernel.LINES + len(game.lines)] = game.lines
    return block


def words(state: LineState) -> tuple[np.uint64, np.uint64]:
    """Return the boards of the side to move and of the other side."""
    own, other = own_and_other(state)
    return np.uint64(own), np.uint64(other)
