"""Grow the tree of a game in full view: every position that minimax or alpha-beta visits, and the cut-offs.

The searches that play are made to be fast; these are made to be looked at (origins A, B and E). Values are from
side 0's view: X maximises, O minimises, as the textbooks draw it.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move
from ttt_net.strategies.heuristic import promise
from ttt_net.strategies.strategy import S

MAX_NODES = 600_000
"""The whole tree of tic-tac-toe fits; a larger one is refused rather than grown until the memory is full."""

ORDERS = ("rows", "centre", "random")
"""The orders of moves that have a name: as cells are numbered, through most lines first, and by lot."""


@dataclass(slots=True)
class TreeNode(Generic[S]):
    """A visited position: the move that led to it, its value, what came of its moves, and which were cut off.

    When moves were cut off, `window` holds the (alpha, beta) that made them pointless.
    """

    state: S
    move: Move | None
    value: int = 0
    is_terminal: bool = False
    children: "list[TreeNode[S]]" = field(default_factory=list)
    cut: tuple[Move, ...] = ()
    window: tuple[float, float] | None = None

    def walk(self) -> "Iterator[TreeNode[S]]":
        """Yield this node and all below it, in the order in which they were visited."""
        yield self
        for child in self.children:
            yield from child.walk()


def ranks_of(game: Game[Any], order: str, rng: random.Random) -> list[float]:
    """Return the rank of each move, the least first, in an order that has a name or lists moves, parted by spaces.

    Moves that are not listed come after those that are, as cells are numbered. Raises `ConfigurationError` if a word is
    no move of the game.
    """
    match order:
        case "rows":
            return list(range(len(game.move_names)))
        case "centre":
            return [-worth for worth in promise(game)]
        case "random":
            return [rng.random() for _ in game.move_names]
    words = order.split()
    for word in words:
        if word not in game.move_names:
            raise ConfigurationError(
                f"{word} is no order and no move; orders are {', '.join(ORDERS)}, or moves: 'b2 a1'"
            )
    return [words.index(name) if name in words else len(words) for name in game.move_names]


def grow(
    game: Game[S],
    state: S,
    *,
    prune: bool,
    depth: int | None = None,
    worth: Callable[[S], int] | None = None,
    ranks: Sequence[float] | None = None,
) -> TreeNode[S]:
    """Return the tree from a position, by alpha-beta if `prune`, otherwise by minimax.

    Moves are tried by their `ranks`, the least first and equal ones as they are listed; without, all as listed.
    `worth` gives the value of a leaf to side 0; without it an ended game has its utility, and a position at the
    limit of `depth` counts 0. Raises `ConfigurationError` if the tree has more than `MAX_NODES`.
    """
    visited = 0

    def visit(node: TreeNode[S], alpha: float, beta: float, plies_left: float) -> None:
        nonlocal visited
        visited += 1
        if visited > MAX_NODES:
            raise ConfigurationError(f"the tree has more than {MAX_NODES:,} positions; limit its depth")
        node.is_terminal = game.is_terminal(node.state)
        if node.is_terminal or plies_left == 0:
            node.value = leaf(node)
            return
        moves, maximises = game.actions(node.state), game.to_move(node.state) == 0
        if ranks is not None:
            moves = sorted(moves, key=ranks.__getitem__)
        best = -float("inf") if maximises else float("inf")
        for number, move in enumerate(moves, 1):
            child = TreeNode(game.result(node.state, move), move)
            node.children.append(child)
            visit(child, alpha, beta, plies_left - 1)
            if maximises:
                best = max(best, child.value)
                alpha = max(alpha, best)
            else:
                best = min(best, child.value)
                beta = min(beta, best)
            if prune and alpha >= beta and number < len(moves):
                node.cut, node.window = tuple(moves[number:]), (alpha, beta)
                break
        node.value = int(best)

    def leaf(node: TreeNode[S]) -> int:
        if worth is not None:
            return worth(node.state)
        return game.utility(node.state, 0) if node.is_terminal else 0

    root: TreeNode[S] = TreeNode(state, None)
    visit(root, -float("inf"), float("inf"), float("inf") if depth is None else depth)
    return root


def recommended(root: TreeNode[Any]) -> tuple[Move, ...]:
    """Return the moves of a tree that are as good as its value, in order.

    Under alpha-beta only the first is sure to be so: of the others a bound is known.
    """
    return tuple(child.move for child in root.children if child.value == root.value and child.move is not None)
