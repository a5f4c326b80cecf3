"""The tree of the compiled Monte Carlo search, as its strategy sees it."""

from collections.abc import Callable
from itertools import product
from typing import Any, Protocol

import numpy as np

from ttt_net.games import Game, Move
from ttt_net.games.geometry import cells_of, list_cells
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.ultimate import ANY, UltimateGame, UltimateState
from ttt_net.strategies.compiled import large_playouts as large
from ttt_net.strategies.compiled import playouts as kernel
from ttt_net.strategies.compiled import ultimate_playouts as ultimate
from ttt_net.strategies.compiled.kernel_driver import held_to
from ttt_net.strategies.heuristic import own_and_other
from ttt_net.strategies.strategy import WIN, Choice, Effort, is_soonest

CAPACITY = 1 << 21
"""Nodes of a tree, in 32 MB. When it is full, playouts go on from its leaves."""

WORD_CELLS = 64
"""A side of a board of so many cells at most is a word of bits."""


class PlayoutRules(Protocol):
    """A game as its kernel is asked about it."""

    play_out: Callable[..., None]
    """Takes what `arguments` returns, and then what belongs to the tree."""

    def arguments(self, state: Any) -> tuple[Any, ...]:
        """Return a position as the kernel takes it."""

    def number_of(self, move: Move) -> int:
        """Return the number that the kernel has for a move."""

    def move_of(self, number: int) -> Move:
        """Return the move of such a number."""


class LinePlayouts:
    """A line game of up to 64 cells: its moves have their own numbers."""

    play_out = staticmethod(kernel.play_out)

    def __init__(self, game: LineGame) -> None:
        self._game = game
        most = max(map(len, game.lines_through))
        width = most + -most % kernel.TOGETHER
        rows = [[*lines, *[kernel.NO_LINE] * (width - len(lines))] for lines in game.lines_through]
        self._lines = np.array(rows, dtype=np.uint64)
        self._floor = sum(1 << move for move in game.actions(game.initial))

    def arguments(self, state: LineState) -> tuple[Any, ...]:
        """Return the marks of the side to move and of the other, and what the game is."""
        game = self._game
        own, other = map(np.uint64, own_and_other(state))
        fall = game.fall if game.gravity else 0
        return own, other, np.uint64(game.full), np.uint64(self._floor), fall, self._lines

    def number_of(self, move: Move) -> int:
        """Return the move itself."""
        return move

    def move_of(self, number: int) -> Move:
        """Return the number itself."""
        return number


class LargePlayouts:
    """A line game of more than 64 cells: its moves have their own numbers."""

    play_out = staticmethod(large.play_out)

    def __init__(self, game: LineGame) -> None:
        self._game = game
        wide = [size + 2 for size in game.shape]
        inner = product(*(range(1, size + 1) for size in game.shape))
        self._places = np.array([np.ravel_multi_index(cell, wide) for cell in inner], np.int16)
        centre = (1,) * len(wide)
        around = product(*(range(3) for _ in wide))
        here = np.ravel_multi_index(centre, wide)
        steps = {int(abs(np.ravel_multi_index(cell, wide) - here)) for cell in around if cell != centre}
        self._steps = np.array(sorted(steps), np.int16)
        self._board = np.zeros(np.prod(wide), np.uint8)

    def arguments(self, state: LineState) -> tuple[Any, ...]:
        """Return the marks, the side to move, what the game is, and the legal moves."""
        game, board = self._game, self._board.copy()
        for side, marks in enumerate((state.first, state.second)):
            board[self._places[list(list_cells(marks))]] = side + 1
        fall, legal = game.fall if game.gravity else 0, np.array(list(game.actions(state)), np.int16)
        return board, state.ply & 1, self._places, self._steps, game.k, fall, legal

    def number_of(self, move: Move) -> int:
        """Return the move itself."""
        return move

    def move_of(self, number: int) -> Move:
        """Return the number itself."""
        return number


class UltimatePlayouts:
    """Ultimate tic-tac-toe: a move is numbered nine times its small board and its place in that."""

    play_out = staticmethod(ultimate.play_out)

    def __init__(self, game: UltimateGame) -> None:
        self._moves = [
            row // 3 * 27 + row % 3 * 3 + place // 3 * 9 + place % 3 for row in range(9) for place in range(9)
        ]
        self._numbers = {move: number for number, move in enumerate(self._moves)}

    def arguments(self, state: UltimateState) -> tuple[Any, ...]:
        """Return the block of words that a position is, and the side to move."""
        words = np.zeros(ultimate.WORDS, np.int64)
        for side, marks in enumerate((state.first, state.second)):
            for cell in cells_of(marks):
                board, place = divmod(self._numbers[cell], 9)
                words[9 * side + board] |= 1 << place
        words[ultimate.WON : ultimate.WON + 2] = state.won_first, state.won_second
        words[ultimate.CLOSED] = state.closed
        words[ultimate.TARGET] = ultimate.ANY if state.target == ANY else state.target
        return words, state.ply & 1

    def number_of(self, move: Move) -> int:
        """Return the number of a cell of the large board."""
        return self._numbers[move]

    def move_of(self, number: int) -> Move:
        """Return the cell of the large board."""
        return self._moves[number]


def _rules_of(game: LineGame | UltimateGame) -> PlayoutRules:
    if isinstance(game, UltimateGame):
        return UltimatePlayouts(game)
    return LinePlayouts(game) if game.size <= WORD_CELLS else LargePlayouts(game)


class PlayoutTree:
    """Grows a tree by playouts, and keeps the part of it that play has led to."""

    def __init__(self, game: LineGame | UltimateGame, seed: int) -> None:
        self.game: Game[Any] = game
        self.rules = _rules_of(game)
        self.nodes = np.zeros(CAPACITY, kernel.NODE)
        """The tree; its root is node 0."""
        self.control = np.array([0, 0, 0, seed | 1], dtype=np.uint64)
        """The words `PLAYOUTS`, `BUDGET`, `USED` (nodes) and `SEED` of the kernel."""
        self.path = np.zeros(game.size + 2, dtype=np.int64)
        """Where the kernel notes the nodes of one playout."""
        self._root: LineState | UltimateState | None = None

    def choose(self, state: LineState | UltimateState, exploration: float, effort: Effort) -> Choice:
        """Return the move that is solved as won, or else the one that was tried most often."""
        position, control = self.hold(state), self.control
        control[kernel.PLAYOUTS], control[kernel.BUDGET] = 0, effort.max_nodes
        with held_to(effort, control, kernel.BUDGET):
            self.rules.play_out(*position, exploration, control, self.path, self.nodes)
        effort.nodes = int(control[kernel.PLAYOUTS])
        return self._choice(state, effort)

    def hold(self, state: LineState | UltimateState) -> tuple[Any, ...]:
        """Move the root of the tree to a position, and return what the kernel takes of it and its game.

        The part of the tree below the position is kept if it is there; else the tree begins with the position alone.
        """
        node = self._find(state)
        if node is None:
            self.nodes[0] = 0
            self.nodes[0]["solved"] = kernel.UNKNOWN
            self.control[kernel.USED] = 1
        else:
            kernel.keep_only(node, self.control, self.nodes)
        self._root = state
        return self.rules.arguments(state)

    def _find(self, state: LineState | UltimateState) -> int | None:
        """Return the node of a position that came about from the root by the moves of the one or the two sides."""
        root = self._root
        if root is None or root.first & ~state.first or root.second & ~state.second or state.ply > root.ply + 2:
            return None
        node, moves = 0, [list_cells(state.first ^ root.first), list_cells(state.second ^ root.second)]
        for ply in range(root.ply, state.ply):
            cell = self.rules.number_of(moves[ply & 1][0])
            node = next((child for child in self._below(node) if self.nodes[child]["cell"] == cell), -1)
            if node < 0:
                return None
        return node

    def _below(self, node: int) -> range:
        first = int(self.nodes[node]["first_child"])
        return range(first, first + int(self.nodes[node]["children"]))

    def _choice(self, state: LineState | UltimateState, effort: Effort) -> Choice:
        nodes, line, node = self.nodes, list[Move](), 0
        if not nodes[0]["children"]:
            return Choice(self.game.actions(state)[0], None, (), effort.counts())
        best = max(self._below(0), key=self._merit)
        while nodes[node]["children"] and nodes[node]["visits"]:
            node = max(self._below(node), key=self._merit)
            line.append(self.rules.move_of(int(nodes[node]["cell"])))
        effort.depth = len(line)
        solved = int(nodes[0]["solved"])
        if solved == kernel.UNKNOWN:
            mean = nodes[best]["rewards"] / max(1, nodes[best]["visits"])
            return Choice(line[0], round(float(mean) * kernel.CERTAIN), tuple(line), effort.counts())
        value = -solved * (WIN - int(nodes[0]["plies"]))
        return Choice(line[0], value, tuple(line), effort.counts(), exact=is_soonest(value))

    def _merit(self, node: int) -> tuple[int, int]:
        """Rank a move: the soonest certain win, the most tried, a certain draw if that one loses, the latest loss."""
        visits, rewards, solved, plies = (
            int(self.nodes[node][name]) for name in ("visits", "rewards", "solved", "plies")
        )
        if solved == kernel.UNKNOWN:
            return (2 if rewards >= 0 else 0), visits
        if solved == 0:
            return 1, visits
        return (3, -plies) if solved > 0 else (-1, plies)
