"""What a position seems to be worth when there is no time to see its end, and which moves to look at first.

An estimate counts open lines: k cells in a row that hold marks of one side alone can still be completed, and the more
marks they hold the sooner. Where a game is not a line game nothing is estimated, and moves are ordered by their
distance from the middle of the board.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from ttt_net.games import Game
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.strategy import DECIDED

Estimate = Callable[[Any], int]
"""A position's estimated value for the side to move; always smaller than `DECIDED`."""


def estimator(game: Game[Any]) -> Estimate:
    """Return the estimate for positions of that game."""
    return _open_lines(game) if isinstance(game, LineGame) else lambda state: 0


@cache
def _open_lines(game: LineGame) -> Estimate:
    lines = game.lines
    # A line with one mark more is worth as much as four without it: two threes outweigh what seven twos can do.
    worth = [0, *(min(4**n, DECIDED // (2 * len(lines) + 1)) for n in range(game.k))]

    def estimate(state: LineState) -> int:
        own, other = (state.second, state.first) if state.ply & 1 else (state.first, state.second)
        total = 0
        for line in lines:
            mine, theirs = own & line, other & line
            if mine:
                if not theirs:
                    total += worth[mine.bit_count()]
            elif theirs:
                total -= worth[theirs.bit_count()]
        return total

    return estimate


@cache
def promise(game: Game[Any]) -> tuple[int, ...]:
    """Return how promising each move is at first sight: the lines through its cell, or its closeness to the middle."""
    if isinstance(game, LineGame):
        return tuple(len(lines) for lines in game.lines_through)
    strides = [1]
    for size in reversed(game.shape[1:]):
        strides.insert(0, strides[0] * size)

    def closeness(cell: int) -> int:
        if cell < 0:
            return -sum(game.shape)
        places = [cell // stride % size for stride, size in zip(strides, game.shape, strict=True)]
        return -sum(abs(2 * place - size + 1) for place, size in zip(places, game.shape, strict=True))

    return tuple(closeness(cell) for cell in game.move_cells)
