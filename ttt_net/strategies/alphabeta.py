"""Alpha-beta with iterative deepening and a transposition table (origins B, D and E, and their promise kept).

`Deepening` searches one ply ahead, then two, and so on, and has a move to play whenever the limit is reached. Each pass
is cheap compared with the next, and finds the order of moves that makes the next one fast.

A node's value matters only inside the window (alpha, beta): once a reply refutes a move, the other replies need no
search. (Knuth and Moore, "An analysis of alpha-beta pruning", 1975.) The table remembers positions, and with each
whether its value is exact or only a lower or an upper bound; origin D's notebook stored bounds as if they were exact,
and so played about one position in forty wrongly.

This module has the search in plain Python, for every game. A table solves vanishing tic-tac-toe. If the engine is
installed, Connect Four is solved exactly, the values of line games of 13 to 36 cells are proved, line games of up to 64
cells are searched by the same algorithm, compiled, and ultimate tic-tac-toe is left to compiled playouts.
"""

import random
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.games.vanishing import VanishingGame, VanishingState
from ttt_net.strategies.connect4 import Connect4Solver
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
    DECIDED,
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
from ttt_net.strategies.vanishing_solver import VanishingSolver

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.playouts import PlayoutTree


INFINITY = WIN + 1
UNLIMITED_DEPTH = 1 << 30

S_contra = TypeVar("S_contra", contravariant=True)


class Search(Protocol[S_contra]):
    """A search to a given depth with a table of results, in plain Python or compiled."""

    effort: Effort
    exact_plies: int | None
    """The longest win or loss with an exact length; None: all within the searched depth."""

    @property
    def guesses(self) -> int:
        """The number of values so far that depend on an estimate."""

    def ordered(self, state: S_contra) -> list[Move]:
        """Return the legal moves worth searching, most promising first; include the others only if these all lose."""

    def forced_win(self, state: S_contra) -> tuple[Move, ...] | None:
        """Return a win by threats alone, if this search looks for one and finds it. Raises `Stopped` if time is over.

        It is the shortest of its kind, so a win within five plies is the shortest of all.
        """

    def value_of_move(self, state: S_contra, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a root move's value for who makes it; outside the window a bound. Raises `Stopped` if time is over."""

    def remembered(self, state: S_contra) -> Move | None:
        """Return the best known move of a position, if the table has it."""

    def running(self) -> AbstractContextManager[None]:
        """Return the context in which the search must run."""


class Deepening(Generic[S]):
    """Runs a search with increasing depth until a value is known or the limit is reached."""

    def __init__(self, game: Game[S], search: Search[S], limit: Limit) -> None:
        self.game, self.search, self.effort = game, search, search.effort
        self.max_depth = UNLIMITED_DEPTH if limit.depth is None else limit.depth
        self.is_hurried = limit.depth is None and (limit.ms is not None or limit.nodes is not None)
        """Whether to stop at a win even if there may be a shorter one; never at a limited depth."""

    def choose(self, state: S) -> Choice:
        """Return the best move of a position."""
        moves = self.search.ordered(state)
        self._move, self._value, is_settled = moves[0], 0, False
        try:
            with self.search.running():
                line = self.search.forced_win(state) if self.is_hurried else None
                if line is not None:
                    return Choice(line[0], WIN - len(line), line, self.effort.counts(), len(line) <= 5)
                while not is_settled and self.effort.depth < self.max_depth and not self._is_won():
                    moves.sort(key=self._move.__ne__)
                    is_settled = self._deepen(state, moves, self.effort.depth + 1)
                    self.effort.depth += 1
                    if (
                        self._value <= -DECIDED
                        and not is_settled
                        and self.is_hurried
                        and self._resists(state, moves[0])
                    ):
                        break
        except Stopped:
            pass  # the unfinished pass already knows more than the one before it
        exact = self.is_exact(self._value, is_settled=is_settled)
        return Choice(self._move, self._value, self.line(state, self._move), self.effort.counts(), exact)

    def _is_won(self) -> bool:
        """Tell whether a win is found and there is no time for a shorter one."""
        return self.is_hurried and self._value >= DECIDED

    def _resists(self, state: S, held: Move) -> bool:
        """Choose, among moves that all lose, the one with the longest win by threats for the other side.

        The values of the moves do not tell that: each comes from the win that the search found first. If the search is
        exact for short wins only (`exact_plies`), a move after which it finds no win by threats at all is better still,
        and of several such moves `held`, the best one until all were seen to lose. Otherwise such a move is better only
        than one that loses at once. If no move allows a win by threats, the choice stays as it was. Return whether a
        move allows one. Raises `Stopped` if time is over.
        """
        moves, unfound = self.search.ordered(state), 2
        if self.search.exact_plies is not None:
            moves, unfound = [held, *(move for move in moves if move != held)], UNLIMITED_DEPTH
        chosen, longest, has_win = self._move, 0, False
        for move in moves:
            line = self.search.forced_win(self.game.result(state, move))
            has_win = has_win or line is not None
            length = unfound if line is None else len(line)
            if length > longest:
                longest, self._move = length, move
        if not has_win:
            self._move = chosen
        return has_win

    def _deepen(self, state: S, moves: list[Move], depth: int) -> bool:
        """Find the best of the moves by looking `depth` plies ahead; return whether its value is now settled.

        If they all lose, add the other legal moves and search them too.
        """
        guesses, best, best_move = self.search.guesses, -INFINITY, moves[0]
        for number, move in enumerate(moves, 1):
            if best <= -DECIDED:
                self._move = move  # if time runs out now, prefer a move that is not refuted yet to a losing one
            value = self.search.value_of_move(state, move, depth, best, INFINITY)
            if value > best:
                best, best_move = value, move
            if best > -DECIDED:  # unless every move is known to lose, the position is not lost
                self._move, self._value = best_move, best
            elif number == len(moves):
                moves += [move for move in self.game.actions(state) if move not in moves]
        self._move, self._value = best_move, best
        return self._is_settled(best, depth, guesses)

    def judge(self, state: S, move: Move, depth: int) -> tuple[int, bool]:
        """Return the value of one move for who makes it, `depth` plies ahead, and whether it is settled."""
        guesses = self.search.guesses
        value = self.search.value_of_move(state, move, depth, -INFINITY, INFINITY)
        return value, self._is_settled(value, depth, guesses)

    def _is_settled(self, value: int, depth: int, guesses_before: int) -> bool:
        """Tell whether a deeper search cannot change the value: it had no guess, or everything shorter was searched."""
        return guesses_before == self.search.guesses or (is_decided(value) and plies_to_end(value) <= depth)

    def is_exact(self, value: int, *, is_settled: bool) -> bool:
        """Tell whether a value is exact to the ply."""
        if is_decided(value) and self.search.exact_plies is not None:
            return plies_to_end(value) <= self.search.exact_plies
        return is_settled

    def line(self, state: S, move: Move) -> tuple[Move, ...]:
        """Return the expected continuation after a move: the best moves in the table."""
        line, seen = [move], {state}
        state = self.game.result(state, move)
        while state not in seen and (reply := self.search.remembered(state)) is not None:
            seen.add(state)
            line.append(reply)
            state = self.game.result(state, reply)
        return tuple(line)


COMPLETE = 1 << 30
"""The depth of a value that no deeper search can change."""

MAX_ENTRIES = 1 << 20
"""The capacity of the table in positions, about 300 MB. A full table stores no new ones."""


SOLVER_SHARE = 0.7
"""The fraction of its time for the exact solver, before it searches as deep as it can in the rest."""

MOST_SEARCHES = 4
"""How many matches of five in a row a player may have at once and still keep the table of each, of 7 MB."""

PROOF_SHARE = 0.4
"""The fraction of its limit for proving the value of a position in a small game, before it estimates."""


class Bound(Enum):
    """How a remembered value bounds the true one."""

    EXACT = "equal"
    LOWER = "at least"
    UPPER = "at most"


class TableEntry(NamedTuple):
    """The entry of a position: its value from a search of `depth` plies."""

    depth: int
    bound: Bound
    value: int
    move: Move


class AlphaBeta:
    """Plays every game, perfectly if it can finish; `rng` breaks initial ties between moves."""

    name = "alphabeta"
    idea = "looks ahead deeper and deeper, and skips what cannot matter"

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._solver = Connect4Solver()
        self._tree: PlayoutTree | None = None
        self._searches: list[tuple[Game[Any], Any, Search[Any]]] = []
        """The last search of each of some matches of five in a row, with its game and position, the newest last."""

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
        if limit.depth is None:
            choice, effort = self._without_deepening(game, state, limit)
        if choice is None:
            spent = effort.counts()
            earlier = self._earlier(game, state) if limit.depth is None else None
            deeper = deepening(game, limit.rest(spent), self._rng, earlier)
            if is_large(game) and game.k == 5 and limit.depth is None:
                self._searches = [*self._searches[1 - MOST_SEARCHES :], (game, state, deeper.search)]
            choice = deeper.choose(state)
            choice = choice._replace(counts=spent.and_then(choice.counts))
        return choice

    def _earlier(self, game: Game[S], state: S) -> Search[Any] | None:
        """Return the last search of the match that has come to a position, and keep it no longer; None if none is."""
        found = [each for each in self._searches if each[0] is game and _goes_on(each[1], state)]
        if not found:
            return None
        last = max(found, key=lambda each: each[1].ply)
        self._searches.remove(last)
        return last[2]

    def _without_deepening(self, game: Game[S], state: S, limit: Limit) -> tuple[Choice | None, Effort]:
        """Return the choice of whatever knows the game better than a search, if anything does, and its effort."""
        effort = Effort(limit)
        if isinstance(game, VanishingGame) and isinstance(state, VanishingState):
            return VanishingSolver(game).choose(state, self._rng, effort), effort
        if isinstance(game, UltimateGame) and isinstance(state, UltimateState):
            return self._played_out(game, state, effort), effort
        if not isinstance(state, LineState):
            return None, effort
        choice = None
        if is_connect4(game) and limit.nodes is None:
            effort = Effort(limit.share(SOLVER_SHARE))
            choice = self._solved(game, state, effort)
        elif is_provable(game):
            effort = Effort(limit.share(PROOF_SHARE))
            choice = _proved(game, state, effort)
        if choice is None and is_large(game):
            choice = self._meanwhile(game, state, effort)
        return choice, effort

    def _solved(self, game: LineGame, state: LineState, effort: Effort) -> Choice | None:
        """Return a best move of Connect Four by the book or the compiled solver, or None if none is known in time."""
        try:
            score = self._solver.score(game, state, effort)
            move = self._solver.best_move(game, state, score, effort)
        except Stopped:
            return None
        return Choice(move, self._solver.value_of(score, state), (move,), effort.counts(), exact=True)

    def _meanwhile(self, game: LineGame, state: LineState, effort: Effort) -> Choice | None:
        """Return a move of a large board by its lines while its search is being compiled or is not installed.

        The search in plain Python is too slow there: it would overlook double threats, and begin anywhere. Return None
        if the search is available, or without numba if nothing is urgent.
        """
        if is_loaded(game, effort):
            return None
        moves = urgent_moves(game, state) or (busiest_moves(game, state) if is_installed() else [])
        return Choice(self._rng.choice(moves), None, (), effort.counts()) if moves else None

    def _played_out(self, game: UltimateGame, state: UltimateState, effort: Effort) -> Choice | None:
        """Return the choice of playouts in games without an estimate; None without compiled playouts."""
        if self._tree is None or self._tree.game is not game:
            self._tree = playout_tree(game, self._rng, effort)
        return None if self._tree is None else self._tree.choose(state, EXPLORATION, effort)

    def _drawn(self, game: LineGame, state: LineState, effort: Effort) -> Choice:
        """Return a first move of Connect Four that draws, by the book."""
        moves = [move for move in game.actions(state) if self._solver.score_of_move(game, state, move, effort) == 0]
        move = self._rng.choice(moves)
        return Choice(move, 0, (move,), effort.counts(), exact=True)


def _proved(game: LineGame, state: LineState, effort: Effort) -> Choice | None:
    """Return a best move of a small board, or None if it is not proved in time or the engine is missing."""
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


def _goes_on(before: object, state: object) -> bool:
    """Tell whether a position came from an earlier one by further marks, as in the same match."""
    if not isinstance(before, LineState) or not isinstance(state, LineState):
        return False
    return before.ply < state.ply and not (before.first & ~state.first or before.second & ~state.second)


def deepening(game: Game[S], limit: Limit, rng: random.Random, earlier: Search[Any] | None = None) -> Deepening[S]:
    """Return a new search of the game: a compiled one, if it exists and loads in time; else the plain one.

    It may go on with what an `earlier` one of the same match has found.
    """
    effort = Effort(limit)
    compiled: Search[Any] | None = line_search(game, effort, rng, earlier)
    return Deepening(game, compiled or PlainSearch(game, effort, rng), limit)


class PlainSearch(Generic[S]):
    """One search in plain Python: its table, its order of moves and its effort; it is created for one choice."""

    exact_plies: int | None = None

    def __init__(self, game: Game[S], effort: Effort, rng: random.Random) -> None:
        self.game, self.effort = game, effort
        self.table: dict[S, TableEntry] = {}
        self.guesses = 0
        self._estimate = estimator(game)
        # Good moves of one position are often good in the next: moves that caused a cut are tried earlier ("history").
        self._merit = [[p + rng.random() / 2 for p in promise(game)] for _ in (0, 1)]

    def running(self) -> AbstractContextManager[None]:
        """Return a null context: the search checks its limit itself."""
        return nullcontext()

    def remembered(self, state: S) -> Move | None:
        """Return the move that was found best in a position, if it is in the table."""
        entry = self.table.get(state)
        return None if entry is None else entry.move

    def ordered(self, state: S) -> list[Move]:
        """Return the legal moves, the one in the table first, then by number of cutoffs."""
        merit = self._merit[self.game.to_move(state)]
        moves = sorted(self.game.actions(state), key=merit.__getitem__, reverse=True)
        known = self.remembered(state)
        if known is not None:
            moves.remove(known)
            moves.insert(0, known)
        return moves

    def forced_win(self, state: S) -> None:
        """Return None: there is no special search for wins by threats."""

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
