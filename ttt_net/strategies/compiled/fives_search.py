"""The compiled search of five in a row on large boards, as iterative deepening sees it."""

import random
from functools import lru_cache
from typing import Any

import numpy as np

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import fives as kernel
from ttt_net.strategies.compiled import shapes, threat_wins
from ttt_net.strategies.compiled.alphabeta import BUDGET, INFINITY, NO_MOVE
from ttt_net.strategies.compiled.kernel_driver import CompiledSearch, HeldPosition, Kernel
from ttt_net.strategies.strategy import UNLIMITED, WIN, Effort, is_decided

AT_ROOT = 60
"""Moves of the position to judge that are looked at, if not all of them lose."""
MOST_FOURS = 20
"""The longest win by continuous fours that is looked for before all else has so many, and one move more."""
NODES_OF_FOURS = 500_000
"""The node limit of that search, about half a second; nearly all searches need a hundredth of it."""
MOST_THREATS = 6
"""The longest win by fours and open threes has so many, and then a run of fours; many take 15,000 positions."""
SHARE_OF_THREATS = 0.1
"""The part of its limit that a search may take for such a win of its own, and as much for those of the other side."""
LOOKED_AT_IN_SECOND = 2_000_000
"""Positions that such a look takes in a second."""
NODES_AT_NODE = 300
"""The node limit of a look for wins by fours at each position, if the depth is not limited."""
REDUCED_AFTER, MUCH_REDUCED_AFTER, REDUCED_FROM = 6, 20, 5
"""After how many moves of the position to judge, and from which depth on, others are first looked at less deep."""


class FivesSearch(CompiledSearch):
    """A search of five in a row on a large board."""

    exact_plies: int | None = 5
    """A win in one or three is never overlooked; so a win in five is the soonest."""

    def __init__(self, game: LineGame, effort: Effort, rng: random.Random) -> None:
        del rng  # its order of moves follows from the position
        block = np.zeros(kernel.BLOCK_WORDS, dtype=np.uint64)
        board = empty_board(game)
        block[: len(board)] = board
        block[BUDGET] = effort.max_nodes
        block[shapes.FOURS_AT_NODE] = NODES_AT_NODE if effort.max_depth is None else 0
        self.hold = HeldPosition(game, shapes.mark, block).hold
        functions = Kernel(kernel.win_by_fours, kernel.search, kernel.best_move, kernel.PLAY)
        super().__init__(game, effort, functions, block, self.hold)
        self._looked_at = 0
        self._share_of_replies, self._spent_on_replies = self._share(), 0
        self._looks: dict[LineState, int] = {}
        """How many positions the last look after a move could take, `UNLIMITED` if it came to its end."""
        self._lost: dict[LineState, int] = {}
        """The values of moves after which the other side wins by threats, by the positions after them."""
        self._proved: dict[LineState, Move] = {}
        """The moves of those wins, and of the longest defence."""

    def ordered(self, state: LineState) -> list[Move]:
        """Return the moves worth a look, the most promising one first."""
        self.hold(state)
        count = int(kernel.list_moves(state.ply & 1, kernel.MOVES, self._address))
        ranked = sorted((int(word) for word in self.block[kernel.MOVES : kernel.MOVES + count]), reverse=True)
        return [word & NO_MOVE for word in ranked[:AT_ROOT]] or [min(self.game.actions(state), key=self._distance)]

    def _distance(self, cell: Move) -> int:
        """Return how far a cell is from the middle: where nothing is near, that is all there is to choose by."""
        height, width = self.game.shape
        return abs(2 * (cell // width) - height + 1) + abs(2 * (cell % width) - width + 1)

    def forced_win(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, or else by fours and open threes; raises `Stopped`."""
        return self.win_by_fours(state) or self.win_by_threats(state, self._share())

    def win_by_fours(self, state: LineState) -> tuple[Move, ...] | None:
        """Return the play of a win by continuous fours, the shortest of its kind, if there is one; raises `Stopped`."""
        self.block[shapes.FOURS_LEFT] = NODES_OF_FOURS
        return self.shortest_win(state, MOST_FOURS)

    def win_by_threats(self, state: LineState, nodes: int) -> tuple[Move, ...] | None:
        """Return the play of a win by fours and open threes against the longest defence; raises `Stopped`.

        It is one by the fewest threats before a run of fours, and looked for in so many positions at most.
        """
        self.block[shapes.LOOK_UNTIL] = self.effort.nodes + nodes
        return self.shortest_win(state, MOST_THREATS, threat_wins.win_by_threats)

    def loss_to_threats(self, state: LineState, nodes: int) -> tuple[Move, ...] | None:
        """Return the same for the side that has just moved, with a threat; raises `Stopped`."""
        self.block[shapes.LOOK_UNTIL] = self.effort.nodes + nodes
        return self.shortest_win(state, MOST_THREATS, threat_wins.loss_to_threats)

    def _share(self) -> int:
        """Return the most positions that a look for wins by threats may take, a part of the rest of the limit."""
        if self.effort.max_depth is not None:
            return 0
        nodes, seconds = self.effort.max_nodes - self.effort.nodes, self.effort.seconds_left()
        if seconds is not None:
            nodes = min(nodes, int(seconds * LOOKED_AT_IN_SECOND))
        return min(NODES_OF_FOURS, int(nodes * SHARE_OF_THREATS))

    def value_of_move(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a move's value for who makes it; outside the window, a bound of it; raises `Stopped`.

        A move that seems best is a loss if a look for wins by threats of the other side finds one.
        """
        child = self.game.result(state, move)
        if child not in self._lost:
            value = self._searched_value(state, move, depth, alpha, beta)
            if value <= alpha or is_decided(value) or not self._is_lost(child):
                return value
        return self._lost[child]

    def _is_lost(self, child: LineState) -> bool:
        """Tell whether the side to move is found to win by threats after a move of the other; raises `Stopped`.

        Such looks may take more as the search goes on. One that came to no end is repeated with four times as much.
        """
        before, share = self.effort.nodes, self._share_of_replies
        left = share + int(before * SHARE_OF_THREATS) - self._spent_on_replies
        is_too_little = left < max(share // 2, 4 * self._looks.get(child, 0))
        if share == 0 or is_too_little or self.game.is_terminal(child):
            return False
        line = self.win_by_threats(child, left)
        spent = self.effort.nodes - before
        self._spent_on_replies += spent
        self._looks[child] = left if spent >= left else UNLIMITED
        if line is None:
            return False
        self._lost[child] = len(line) + 1 - WIN
        for move in line:
            self._proved[child] = move
            child = self.game.result(child, move)
        return True

    def _searched_value(self, state: LineState, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return the same as `value_of_move` by the search alone."""
        self._looked_at = 1 if alpha == -INFINITY else self._looked_at + 1
        if alpha > -INFINITY and beta == INFINITY:  # it has to be better than another: first see whether it is
            less = (self._looked_at > REDUCED_AFTER) + (self._looked_at > MUCH_REDUCED_AFTER)
            for rest in (depth - less, depth) if less and depth >= REDUCED_FROM else (depth,):
                value = super().value_of_move(state, move, rest, alpha, alpha + 1)
                if value <= alpha:
                    return value
        return super().value_of_move(state, move, depth, alpha, beta)

    def remembered(self, state: LineState) -> Move | None:
        """Return the move that completes a line, or has to be made, or was found best, if one of these is known."""
        return self._proved[state] if state in self._proved else super().remembered(state)


@lru_cache(maxsize=4)
def empty_board(game: LineGame) -> Any:
    """Return the block of memory of a game before its first move, up to where the play begins."""
    block = np.zeros(shapes.END, dtype=np.uint64)
    address = np.uint64(block.ctypes.data)
    height, width = game.shape
    stride = width + shapes.MARGIN
    places = [(y + shapes.MARGIN) * stride + x for y in range(height) for x in range(width)]
    block[shapes.SIZE], block[shapes.HASH], block[shapes.STRIDE] = game.size, 1 << 63, stride
    block[shapes.SUMS : shapes.SUMS + 2] = shapes.BASE_OF_SUMS
    block[shapes.PLACE : shapes.PLACE + game.size] = places
    block[shapes.OWNER : shapes.OWNER + shapes.MOST_PLACES] = shapes.EDGE
    block[[shapes.OWNER + place for place in places]] = 0
    block[shapes.TABLE_OF_SHAPES : shapes.TABLE_OF_CELLS] = shapes.shape_table()
    block[shapes.TABLE_OF_CELLS : shapes.END] = shapes.cell_table()
    bits = np.random.default_rng(1).integers(1, 1 << 63, 2 * shapes.MOST_CELLS + 1, dtype=np.uint64)
    block[shapes.RANDOM : shapes.TABLE_OF_SHAPES] = bits
    inside = set(places)
    for cell, place in enumerate(places):
        code = 0
        for direction in range(shapes.DIRECTIONS):
            gap = 1 if direction == 0 else stride + direction - 2
            outside = (place + gap * (n - 4 if n < 4 else n - 3) not in inside for n in range(8))
            code |= sum(0x101 << n for n, is_outside in enumerate(outside) if is_outside) << 16 * direction
        block[shapes.CELL + place], block[shapes.CODE + place] = cell, code
        block[shapes.SHAPES + place] = kinds = shapes.shapes_at(place, address)
        for side in (0, 1):
            shapes.count_cell(place, side, shapes.ONE, kinds, address)
    return block
