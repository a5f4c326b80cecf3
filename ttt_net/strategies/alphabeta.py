"""Alpha-beta with iterative deepening and a transposition table (origins B, D and E, and their promise kept).

A node's value matters only inside the window (alpha, beta): once a reply refutes a move, the other replies need no
look. (Knuth and Moore, "An analysis of alpha-beta pruning", 1975.) The table remembers positions, and with each
whether its value is exact or only a lower or an upper bound; origin D's notebook stored bounds as if they were exact,
and so played about one position in forty wrongly.

Here is the search in plain Python, for every game. Vanishing tic-tac-toe is solved by a table. Where the engine is
installed, Connect Four is solved exactly, the values of line games of 13 to 36 cells are proved, and those of up to 64
are searched by the same algorithm compiled; and ultimate tic-tac-toe is left to compiled playouts.
"""

import random
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.games.vanishing import VanishingGame, VanishingState
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.deepening import INFINITY, Deepening, Search
from ttt_net.strategies.engine import (
    EXPLORATION,
    is_connect4,
    is_installed,
    is_large,
    is_loaded,
    is_provable,
    line_search,
    playout_tree,
    proof_search,
)
from ttt_net.strategies.heuristic import estimator, promise
from ttt_net.strategies.strategy import (
    ONE_SECOND,
    WIN,
    Choice,
    Effort,
    Limit,
    S,
    Stopped,
    beneath,
    from_above,
    is_decided,
    is_first,
    may_swap,
    or_swap,
    plies_to_end,
    require_playable,
)
from ttt_net.strategies.tactics import busiest_moves, urgent_moves
from ttt_net.strategies.vanishing import VanishingSolver

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.playouts import PlayoutTree

COMPLETE = 1 << 30
"""The depth of a value that no deeper search can change."""

MAX_ENTRIES = 1 << 20
"""Positions that a table remembers; some 300 MB. When it is full it learns no new ones."""


SOLVER_SHARE = 0.7
"""How much of its time it lets the exact solver try, before it looks ahead as far as it can in the rest."""

PROOF_SHARE = 0.4
"""How much of its limit it tries to prove the value of a position of a small game, before it estimates."""


class Bound(Enum):
    """How a remembered value bounds the true one."""

    EXACT = "equal"
    LOWER = "at least"
    UPPER = "at most"


class TableEntry(NamedTuple):
    """The entry of a position: a value, as seen from there, that `depth` plies of search gave."""

    depth: int
    bound: Bound
    value: int
    move: Move


class AlphaBeta:
    """Plays every game, perfectly where it can finish; `rng` chooses among moves that look alike at first."""

    name = "alphabeta"
    idea = "looks ahead deeper and deeper, and skips what cannot matter"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._solver = Connect4Solver()
        self._tree: PlayoutTree | None = None

    def objection(self, game: Game[Any]) -> str | None:
        """Return None: it plays every game."""
        return None

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the best move that it finds within the limit."""
        require_playable(self, game, state)
        if isinstance(game, SwapGame) and may_swap(state):
            return or_swap(self._choose(game.base, state.position, limit), game.swap)
        if isinstance(game, SwapGame) and is_first(state) and is_connect4(game.base) and limit.depth is None:
            return self._drawn(game.base, state.position, Effort(limit))
        return self._choose(*beneath(game, state), limit)

    def _choose(self, game: Game[S], state: S, limit: Limit) -> Choice:
        choice, effort = None, Effort(limit)
        if limit.depth is None and isinstance(game, VanishingGame) and isinstance(state, VanishingState):
            return VanishingSolver(game).choose(state, self._rng, effort)
        if limit.depth is None and isinstance(game, UltimateGame) and isinstance(state, UltimateState):
            choice = self._played_out(game, state, effort)
        if limit.depth is None and isinstance(state, LineState):
            if is_connect4(game) and limit.nodes is None:
                effort = Effort(limit.share(SOLVER_SHARE))
                choice = self._solved(game, state, effort)
            elif is_provable(game):
                effort = Effort(limit.share(PROOF_SHARE))
                choice = _proved(game, state, effort)
        if choice is None and limit.depth is None and isinstance(state, LineState) and is_large(game):
            choice = self._meanwhile(game, state, effort)
        if choice is None:
            spent = effort.counts()
            choice = deepening(game, limit.rest(spent), self._rng).choose(state)
            choice = choice._replace(counts=spent.and_then(choice.counts))
        return choice

    def _solved(self, game: LineGame, state: LineState, effort: Effort) -> Choice | None:
        """Return a best move of Connect Four by the book or the compiled solver, or None if neither tells in time."""
        try:
            score = self._solver.score(game, state, effort)
            move = self._solver.best_move(game, state, score, effort)
        except Stopped:
            return None
        return Choice(move, self._solver.value_of(score, state), (move,), effort.counts(), exact=True)

    def _meanwhile(self, game: LineGame, state: LineState, effort: Effort) -> Choice | None:
        """Return a move of a large board by its lines while its search is still being compiled, or is not there.

        The search in plain Python does not even look one ply ahead there: it would overlook what two threats at once
        come to, and begin anywhere. None if the search is there, or without numba if nothing is urgent.
        """
        if is_loaded(game, effort):
            return None
        moves = urgent_moves(game, state) or (busiest_moves(game, state) if is_installed() else [])
        return Choice(self._rng.choice(moves), None, (), effort.counts()) if moves else None

    def _played_out(self, game: UltimateGame, state: UltimateState, effort: Effort) -> Choice | None:
        """Return what playouts choose where no estimate tells who is ahead; None if there are no compiled ones."""
        if self._tree is None or self._tree.game is not game:
            self._tree = playout_tree(game, self._rng, effort)
        return None if self._tree is None else self._tree.choose(state, EXPLORATION, effort)

    def _drawn(self, game: LineGame, state: LineState, effort: Effort) -> Choice:
        """Return a first move of Connect Four after which neither side would win; the book knows all scores there."""
        moves = [move for move in game.actions(state) if self._solver.score_of_move(game, state, move, effort) == 0]
        move = self._rng.choice(moves)
        return Choice(move, 0, (move,), effort.counts(), exact=True)


def _proved(game: LineGame, state: LineState, effort: Effort) -> Choice | None:
    """Return a best move of a small board, or None if it is not proved in time or the engine is not there."""
    search = proof_search(game, effort)
    if search is None:
        return None
    try:
        with search.running():
            value = search.value(state)
            move = search.best_move(state, value)
            line = search.line(state, move, value)
    except Stopped:
        return None
    return Choice(move, value, line, effort.counts(), exact=True)


def deepening(game: Game[S], limit: Limit, rng: random.Random) -> Deepening[S]:
    """Return a new search of the game: the compiled one, if there is one and it loads in time; else the plain one."""
    effort = Effort(limit)
    compiled: Search[Any] | None = line_search(game, effort, rng)
    return Deepening(game, compiled or PlainSearch(game, effort, rng), limit)


class PlainSearch(Generic[S]):
    """One search in plain Python: its table, its order of moves and its effort; made for one choice, then dropped."""

    exact_plies: int | None = None

    def __init__(self, game: Game[S], effort: Effort, rng: random.Random) -> None:
        self.game, self.effort = game, effort
        self.table: dict[S, TableEntry] = {}
        self.guesses = 0
        self._estimate = estimator(game)
        # Good moves of one position are often good in the next: what caused a cut is tried earlier ("history").
        self._merit = [[p + rng.random() / 2 for p in promise(game)] for _ in (0, 1)]

    def running(self) -> AbstractContextManager[None]:
        """Return nothing special: the search looks at its limit by itself."""
        return nullcontext()

    def remembered(self, state: S) -> Move | None:
        """Return the move that was found best in a position, if it is in the table."""
        entry = self.table.get(state)
        return None if entry is None else entry.move

    def ordered(self, state: S) -> list[Move]:
        """Return the legal moves, the one in the table first, then those that have cut off most."""
        merit = self._merit[self.game.to_move(state)]
        moves = sorted(self.game.actions(state), key=merit.__getitem__, reverse=True)
        known = self.remembered(state)
        if known is not None:
            moves.remove(known)
            moves.insert(0, known)
        return moves

    def forced_win(self, state: S) -> None:
        """Return None: it looks for wins by threats no other way than for all else."""

    def value_of_move(self, state: S, move: Move, depth: int, alpha: int, beta: int, ply: int = 0) -> int:
        """Return the value of a move for who makes it; outside the window, a bound of it."""
        game = self.game
        child = game.result(state, move)
        self.effort.results += 1
        if game.to_move(child) == game.to_move(state):
            return self.value(child, depth - 1, alpha, beta, ply + 1)
        return -self.value(child, depth - 1, -beta, -alpha, ply + 1)

    def value(self, state: S, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Return the value for the side to move, `ply` plies from the root; outside the window, a bound of it."""
        game, effort = self.game, self.effort
        effort.spend()
        effort.tests += 1
        if game.is_terminal(state):
            return game.utility(state, game.to_move(state)) * (WIN - ply)
        entry = self.table.get(state)
        if entry is not None:
            value = from_above(entry.value, ply)
            if entry.depth >= depth and answers(entry.bound, value, alpha, beta):
                effort.hits += 1
                self.guesses += entry.depth < COMPLETE
                return value
        if depth == 0:
            self.guesses += 1
            return self._estimate(state)
        guesses, best, best_move, floor = self.guesses, -INFINITY, -1, alpha
        merit = self._merit[game.to_move(state)]
        for move in self.ordered(state):
            value = self.value_of_move(state, move, depth, alpha, beta, ply)
            if value > best:
                best, best_move = value, move
                alpha = max(alpha, value)
                if alpha >= beta:
                    effort.cuts += 1
                    merit[move] += depth * depth
                    break
        bound = Bound.LOWER if best >= beta else Bound.UPPER if best <= floor else Bound.EXACT
        self._remember(state, depth, bound, best, best_move, ply, complete=guesses == self.guesses)
        return best

    def _remember(
        self, state: S, depth: int, bound: Bound, value: int, move: Move, ply: int, *, complete: bool
    ) -> None:
        if len(self.table) < MAX_ENTRIES or state in self.table:
            from_here = from_above(value, -ply)
            if complete or (is_decided(from_here) and plies_to_end(from_here) <= depth):
                depth = COMPLETE
            self.table[state] = TableEntry(depth, bound, from_here, move)


def answers(bound: Bound, value: int, alpha: int, beta: int) -> bool:
    """Tell whether a bounded value settles the question that a window asks."""
    if bound is Bound.EXACT:
        return True
    return value >= beta if bound is Bound.LOWER else value <= alpha
