"""Monte Carlo tree search (origin D, the search its notebook left unfinished): UCT with solved nodes.

It repeatedly walks down its tree to the child with the best upper confidence bound, adds one node, plays at random to
the end, and credits the result to every node on the path. (Kocsis and Szepesvári, "Bandit based Monte-Carlo planning",
2006.) A node with a certain value is marked as solved, which propagates upwards, so the search turns into a proof where
one is near. (Winands and others, "Monte-Carlo tree search solver", 2008.) The tree is kept from move to move.
"""

import random
from collections.abc import Callable
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Generic

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.strategies.engine import (
    EXPLORATION,
    has_playouts,
    is_installed,
    is_large,
    is_small,
    own_playouts,
    playout_tree,
)
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.strategy import (
    ONE_SECOND,
    WIN,
    Choice,
    Effort,
    Limit,
    S,
    Stopped,
    beneath,
    is_soonest,
    may_swap,
    or_swap,
    plies_to_end,
    require_playable,
)
from ttt_net.strategies.tactics import busiest_moves, urgent_moves

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.playouts import PlayoutTree

CERTAIN = 1000
"""The value, as an estimate, of a node that all playouts have won."""


class Node(Generic[S]):
    """A position in the tree, with the results of playouts through it."""

    __slots__ = ("children", "reward", "side", "solved", "state", "untried", "visits")

    def __init__(self, game: Game[S], state: S, rng: random.Random) -> None:
        self.state = state
        self.side: Side = game.to_move(state)
        self.children: dict[Move, Node[S]] = {}
        self.untried = list(game.actions(state))
        rng.shuffle(self.untried)
        self.visits = 0
        self.reward = 0.0
        """The sum of the results of all playouts through here, from side 0's view."""
        self.solved = game.utility(state, 0) * WIN if game.is_terminal(state) else None
        """The value, once it is certain, from side 0's view."""

    def worth(self, side: Side) -> float:
        """Return the mean result for a side, from -1 to 1; a solved position counts as it will end."""
        mean = self.reward / self.visits if self.solved is None else (self.solved > 0) - (self.solved < 0)
        return -mean if side else mean

    def solve(self) -> None:
        """Mark the node as solved if its children determine the value: by one won child, or by all."""
        sign = -1 if self.side else 1
        known = [child.solved * sign for child in self.children.values() if child.solved is not None]
        best = max(known, default=-WIN)
        if best > 0 or (not self.untried and len(known) == len(self.children)):
            self.solved = sign * (best - (best > 0) + (best < 0))  # one ply further away


class MonteCarlo:
    """Plays every game, better with more time. `rng` decides the playouts."""

    name = "mcts"
    idea = "plays thousands of random games to the end, and the promising ones more often"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._game: Game[Any] | None = None
        self._root: Node[Any] | None = None
        self._tree: PlayoutTree | None = None
        self._plays: Callable[[Any], float] | None = None
        """Makes compiled random plays from a position, if the game has its own."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return None: it plays every game."""
        return None

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return a move solved as won, or else the most visited one."""
        require_playable(self, game, state)
        if isinstance(game, SwapGame) and may_swap(state):
            return or_swap(self._choose(game.base, state.position, limit), game.swap)
        return self._choose(*beneath(game, state), limit)

    def _choose(self, game: Game[S], state: S, limit: Limit) -> Choice:
        effort = Effort(limit)
        if has_playouts(game):
            assert isinstance(state, LineState | UltimateState)
            if (tree := self._compiled_tree(game, effort)) is not None:
                return tree.choose(state, EXPLORATION, effort)
            if isinstance(state, LineState) and (urgent := self._meanwhile(game, state, effort)) is not None:
                return urgent
        root = self._kept(game, state) or Node(game, state, self._rng)
        self._game, self._root = game, root
        self._plays = own_playouts(game, effort, self._rng)
        try:
            while root.solved is None:
                effort.spend()
                self._play_out(game, root, effort)
        except Stopped:
            pass  # every playout has left the tree in order
        return self._choice(root, effort)

    def _compiled_tree(self, game: LineGame | UltimateGame, effort: Effort) -> "PlayoutTree | None":
        """Return the compiled tree for the game, the same as last time, or None if there is none."""
        if self._tree is None or self._tree.game is not game:
            self._tree = playout_tree(game, self._rng, effort)
        return self._tree

    def _meanwhile(self, game: Game[Any], state: LineState, effort: Effort) -> Choice | None:
        """Return an urgent move while playouts are still being compiled, or on large boards a likely one; else None.

        On larger boards, plain Python makes only a hundred playouts a second, which overlook nearly everything.
        """
        if not is_line_game(game) or is_small(game) or not is_installed():
            return None
        moves = urgent_moves(game, state) or (busiest_moves(game, state) if is_large(game) else [])
        return Choice(self._rng.choice(moves), None, (), effort.counts()) if moves else None

    def _kept(self, game: Game[S], state: S) -> Node[S] | None:
        """Return the node of a position that has come up since the last choice, if the tree holds it."""
        if self._root is None or self._game is not game:
            return None
        generation = [self._root]
        for _ in range(3):
            for node in generation:
                if node.state == state:
                    return node
            generation = [child for node in generation for child in node.children.values()]
        return None

    def _play_out(self, game: Game[S], root: Node[S], effort: Effort) -> None:
        """Walk down, add one node, play at random to the end, and credit the result to every node on the path."""
        path = [root]
        while not (node := path[-1]).untried and node.solved is None:
            path.append(_most_promising(node))
        if node.solved is None:
            move = node.untried.pop()
            child = Node(game, game.result(node.state, move), self._rng)
            effort.results += 1
            node.children[move] = child
            path.append(child)
            node = child
        reward = node.worth(0) if node.solved is not None else self._random_result(game, node.state, effort)
        for node in reversed(path):
            node.visits += 1
            node.reward += reward
            if node.solved is None:
                node.solve()

    def _random_result(self, game: Game[S], state: S, effort: Effort) -> float:
        """Return the result for side 0 of a random continuation, or the mean of many."""
        if self._plays is not None:
            effort.tests += 1
            return self._plays(state)
        choice = self._rng.choice
        while True:
            effort.tests += 1
            if game.is_terminal(state):
                return game.utility(state, 0)
            state = game.result(state, choice(game.actions(state)))
            effort.results += 1

    def _choice(self, root: Node[S], effort: Effort) -> Choice:
        if not root.children:
            return Choice(root.untried[-1], None, (), effort.counts())
        line, node = [], root
        while node.children:
            move = _best_move(node)
            line.append(move)
            node = node.children[move]
        effort.depth = len(line)
        sign = -1 if root.side else 1
        value = round(root.children[line[0]].worth(root.side) * CERTAIN) if root.solved is None else root.solved * sign
        return Choice(line[0], value, tuple(line), effort.counts(), exact=root.solved is not None and is_soonest(value))


def _most_promising(node: Node[S]) -> Node[S]:
    """Return the child with the highest upper confidence bound among those that are not solved yet."""
    exploration, side = EXPLORATION * EXPLORATION * log(node.visits), node.side
    unsolved = (child for child in node.children.values() if child.solved is None)
    return max(unsolved, key=lambda child: child.worth(side) + sqrt(exploration / child.visits))


def _best_move(node: Node[S]) -> Move:
    """Return the move to play.

    The soonest certain win; else the most visited move, or a certain draw if that move seems to lose; else the latest
    certain loss.
    """
    sign = -1 if node.side else 1

    def merit(move: Move) -> tuple[int, int]:
        child = node.children[move]
        if child.solved is None:
            return (2 if child.worth(node.side) >= 0 else 0), child.visits
        value = child.solved * sign
        if value == 0:
            return 1, child.visits
        return (3, -plies_to_end(value)) if value > 0 else (-1, plies_to_end(value))

    return max(node.children, key=merit)
