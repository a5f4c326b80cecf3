"""Play as in textbooks: at random, by looking some plies ahead, or by the whole tree; and draw such a tree.

`RandomMoves` (origin D, the notebook's random player) is the least that a strategy can be.

`LookAhead` (origin A, the lecture on trees) compares line-up values. A board's line-up value for a player is the length
of the longest run of their marks, side by side on a winning line: in tic-tac-toe 3 for three lined up, 2 for two
lined-up neighbours, 1 for a mark. A position is worth one's own line-up minus the opponent's. A tree of n plies is
grown, its leaves get their line-up values, these travel up by minimax, and the best child is the move.

`Minimax` (origins B and D) sees the whole tree, leaf by leaf, with or without a table of what was seen before. It skips
nothing, so what it counts does not depend on the order of moves: from the empty board of tic-tac-toe 549,946 nodes
without the table; with it 5,478 positions, reached by 16,167 moves.

`grow` shows the tree of a game: every position that minimax or alpha-beta visits, and the cut-offs. The searches that
play are made to be fast; this one is made to be looked at (origins A, B and E). Values are from side 0's view: X
maximises, O minimises, as the textbooks draw it.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import is_line_game, promise
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Counts, Effort, Limit, S, Stopped, require_playable


class RandomMoves:
    """Plays any legal move; `rng` decides which."""

    name = "random"
    idea = "any legal move, with equal chances"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def objection(self, game: Game[Any]) -> str | None:
        """Return None: it plays every game."""
        return None

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return one of the legal moves, unjudged."""
        require_playable(self, game, state)
        return Choice(self._rng.choice(game.actions(state)), None, (), Counts())


DEFAULT_DEPTH = 2


def line_up(game: LineGame, marks: int) -> int:
    """Return the length of the longest run of marks, given as a bitboard, on a winning line."""
    longest = 0
    for line in game.lines:
        run = 0
        here = line & marks
        while line and here:
            cell = line & -line
            line ^= cell
            run = run + 1 if here & cell else 0
            here &= ~cell
            longest = max(longest, run)
    return longest


def line_up_value(game: LineGame, state: LineState, side: Side) -> int:
    """Return a position's static value for a side: its own line-up minus the other's."""
    value = line_up(game, state.first) - line_up(game, state.second)
    return -value if side else value


class LookAhead:
    """Looks n plies ahead and compares line-ups; `Limit.depth` is n."""

    name = "lookahead"
    idea = "compares line-ups a few plies ahead"

    def __init__(self, rng: random.Random) -> None:
        """Ignore `rng`: among equal moves, play the first."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays line games only."""
        if is_line_game(game):
            return None
        return f"lookahead compares lines of one's own marks, and {game.title} is not won by those"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the first of the moves with the best value, looking as deep as the limit allows."""
        require_playable(self, game, state)
        assert isinstance(game, LineGame)
        assert isinstance(state, LineState)
        effort, children = Effort(limit), [Child(game.actions(state)[0], 0, ())]
        try:
            for depth in range(1, (DEFAULT_DEPTH if limit.depth is None else limit.depth) + 1):
                children = look(game, state, depth, effort)
                effort.depth = depth
        except Stopped:
            pass  # the tree of one ply less was searched completely
        move, value, line = max(children, key=lambda child: child.value)
        return Choice(move, value, (move, *line), effort.counts())


class Child(NamedTuple):
    """A move, its value for who makes it, and the play that both expect after it."""

    move: Move
    value: int
    line: tuple[Move, ...]


def look(game: LineGame, state: LineState, depth: int, effort: Effort) -> list[Child]:
    """Return all moves of a position with their values `depth` plies ahead."""
    side, children = game.to_move(state), []
    for move in game.actions(state):
        effort.spend()
        effort.results += 1
        effort.tests += 1
        state_after = game.result(state, move)
        if depth == 1 or game.is_terminal(state_after):
            children.append(Child(move, line_up_value(game, state_after, side), ()))
        else:
            reply = max(look(game, state_after, depth - 1, effort), key=lambda child: child.value)
            children.append(Child(move, -reply.value, (reply.move, *reply.line)))
    return children


MAX_CELLS = 12
"""The maximal number of cells for a search of the whole tree."""


class Minimax:
    """Plays games with small trees, perfectly; `uses_table` says whether it remembers positions."""

    name = "minimax"
    idea = "looks at every line of play to its end"

    def __init__(self, rng: random.Random, *, uses_table: bool = True) -> None:
        self._uses_table = uses_table

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays small games only."""
        if isinstance(game, LineGame) and game.size <= MAX_CELLS:
            return None
        return f"minimax looks at the whole tree, and that of {game.title} is too big; alphabeta plays it"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the best move; if the limit ends the search, the best of the completely searched ones."""
        require_playable(self, game, state)
        return Tree(game, limit, uses_table=self._uses_table).choose(state)


class Tree(Generic[S]):
    """One search: the known values and their cost."""

    def __init__(self, game: Game[S], limit: Limit, *, uses_table: bool) -> None:
        self.game = game
        self.effort = Effort(limit)
        self._uses_table = uses_table
        self._values: dict[S, int] = {}
        self._replies: dict[S, Move] = {}

    def choose(self, state: S) -> Choice:
        """Return the best move, with the play that follows from it."""
        self._replies[state] = self.game.actions(state)[0]
        try:
            value = self.value(state)
        except Stopped:
            return Choice(self._replies[state], None, (), self.effort.counts())
        return Choice(self._replies[state], value, self._line(state), self.effort.counts(), exact=True)

    def _line(self, state: S) -> tuple[Move, ...]:
        line = []
        while state in self._replies:
            line.append(self._replies[state])
            state = self.game.result(state, line[-1])
        return tuple(line)

    def value(self, state: S) -> int:
        """Return the value for the side to move, by the values of all that can follow."""
        if self._uses_table and state in self._values:
            self.effort.hits += 1
            return self._values[state]
        game, effort = self.game, self.effort
        effort.spend()
        effort.tests += 1
        side = game.to_move(state)
        if game.is_terminal(state):
            value = game.utility(state, side) * WIN
        else:
            value = -WIN
            for move in game.actions(state):
                effort.results += 1
                child = game.result(state, move)
                after = self.value(child) if game.to_move(child) == side else -self.value(child)
                after -= (after > 0) - (after < 0)  # one ply farther away
                if after > value:
                    value, self._replies[state] = after, move
        if self._uses_table:
            self._values[state] = value
        return value


MAX_NODES = 600_000
"""The whole tree of tic-tac-toe fits; larger trees are rejected, so that they do not fill the memory."""

ORDERS = ("rows", "centre", "random")
"""The orders of moves that have a name: as cells are numbered, through most lines first, and by lot."""


@dataclass(slots=True)
class TreeNode(Generic[S]):
    """A visited position: the move to it, its value, its children, and the moves that were cut off.

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
