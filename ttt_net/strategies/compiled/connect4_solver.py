"""Connect Four, exactly: asks the compiled search the right questions within a limit."""

import numpy as np

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import connect4 as kernel
from ttt_net.strategies.compiled.watch import watching
from ttt_net.strategies.strategy import WIN, Effort, Stopped

LOG_BUCKETS = 17
"""2 MB of table. It is to fit the processor's cache: eight times as much makes the search slower, not faster."""

UNWATCHED_NODES = 20_000
"""About a millisecond: so short a search is not worth a second thread to watch over its limit."""

CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)

AFTER_TWO_STONES = (
    (1, -2, -1, -2, 1, -1, 2),
    (2, 0, -1, 0, 2, 2, 3),
    (2, 2, 0, 0, 0, 0, 3),
    (4, 2, 2, 1, 2, 2, 4),
)
"""The scores that take longest to find: by the column of the first stone, up to the middle, and of the second."""


class Connect4Solver:
    """Finds exact scores; its table is kept from one question to the next, as what it holds stays true."""

    def __init__(self) -> None:
        self._block = np.zeros(kernel.TABLE + (2 << LOG_BUCKETS), dtype=np.uint64)
        self._block[kernel.LOG] = LOG_BUCKETS

    def score(self, game: LineGame, state: LineState, effort: Effort, low: int = -21, high: int = 21) -> int:
        """Return the score of a position for the side to move, at least within low..high; raises `Stopped`.

        A score is one more than the stones that the winner has left at the end, below zero for a loss, 0 for a draw.
        """
        if game.is_terminal(state):
            return -((44 - state.ply) // 2) if state.has_line else 0
        if state.ply <= 2:
            return _opening_score(game, state)
        return self.searched_score(game, state, effort, low, high)

    def searched_score(self, game: LineGame, state: LineState, effort: Effort, low: int = -21, high: int = 21) -> int:
        """Return the same of a position that is not over, without what is known of the opening; raises `Stopped`."""
        question = (*columns_of(game, state), low, high, np.uint64(self._block.ctypes.data))
        self._block[kernel.NODES] = effort.nodes
        self._block[kernel.BUDGET] = min(effort.nodes + UNWATCHED_NODES, effort.max_nodes)
        score = kernel.STOPPED if effort.is_over() else kernel.solve(*question)
        if score == kernel.STOPPED and not effort.is_over():
            self._block[kernel.BUDGET] = effort.max_nodes
            with watching(effort, self._block, kernel.BUDGET):
                score = kernel.solve(*question)
        effort.nodes = int(self._block[kernel.NODES])
        if score == kernel.STOPPED:
            raise Stopped
        return int(score)

    def score_of_move(
        self, game: LineGame, state: LineState, move: Move, effort: Effort, low: int = -21, high: int = 21
    ) -> int:
        """Return the score of a move for who makes it, at least within low..high; raises `Stopped`."""
        effort.results += 1
        return -self.score(game, game.result(state, move), effort, -high, -low)

    def best_move(self, game: LineGame, state: LineState, score: int, effort: Effort) -> Move:
        """Return the move nearest the middle that has the position's score; raises `Stopped`."""
        moves = sorted(game.actions(state), key=lambda move: CENTRE_FIRST.index(move % 7))
        for move in moves[:-1]:
            if self.score_of_move(game, state, move, effort, score - 1, score) >= score:
                return move
        return moves[-1]

    def line(self, game: LineGame, state: LineState, score: int, effort: Effort) -> tuple[Move, ...]:
        """Return best play from a position whose score is known, as far as the limit lets it be found."""
        line: list[Move] = []
        try:
            while not game.is_terminal(state):
                line.append(self.best_move(game, state, score, effort))
                state, score = game.result(state, line[-1]), -score
        except Stopped:
            pass  # what has been found of the line is right
        return tuple(line)

    @staticmethod
    def value_of(score: int, state: LineState) -> int:
        """Return the value, which tells the plies to the end, of a position's score."""
        if score == 0:
            return 0
        winner = state.ply & 1 if score > 0 else 1 - (state.ply & 1)
        end = 2 * (22 - abs(score)) - (winner == 0)
        return WIN - (end - state.ply) if score > 0 else end - state.ply - WIN


def _opening_score(game: LineGame, state: LineState) -> int:
    """Return the score of a position of two stones or less."""
    if state.ply < 2:
        return max(-_opening_score(game, game.result(state, move)) for move in game.actions(state))
    first, second = (state.first.bit_length() - 1) % 7, (state.second.bit_length() - 1) % 7
    if first > 3:
        first, second = 6 - first, 6 - second
    return AFTER_TWO_STONES[first][second]


def columns_of(game: LineGame, state: LineState) -> tuple[np.uint64, np.uint64]:
    """Return the words of the side to move and of both, column by column from the bottom up, as the kernel has them."""
    own, other = (state.second, state.first) if state.ply & 1 else (state.first, state.second)
    return _by_column(own), _by_column(own | other)


def _by_column(cells: int) -> np.uint64:
    word = 0
    while cells:
        low = cells & -cells
        row, column = divmod(low.bit_length() - 1, 7)
        word |= 1 << column * 7 + 5 - row
        cells ^= low
    return np.uint64(word)
