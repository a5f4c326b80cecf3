"""Alpha-beta with iterative deepening and a transposition table (origins B, D and E, and their promise kept).

A node's value matters only inside the window (alpha, beta): once a reply refutes a move, the other replies need no
look. (Knuth and Moore, "An analysis of alpha-beta pruning", 1975.) The table remembers positions, and with each
whether its value is exact or only a lower or an upper bound; origin D's notebook stored bounds as if they were exact,
and so played about one position in forty wrongly.

It searches one ply deep, then two, and so on: each pass finds the order of moves that makes the next one fast, and
there is a move to play whenever the limit is reached.
"""

import random
from enum import Enum
from typing import Any, Generic, NamedTuple

from ttt_net.games import Game, Move
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
    is_decided,
    plies_to_end,
    require_playable,
)

INFINITY = WIN + 1
COMPLETE = 1 << 30
"""The depth of a value that no deeper search can change."""

MAX_ENTRIES = 1 << 20
"""Positions that a table remembers; some 300 MB. When it is full it learns no new ones."""


class Bound(Enum):
    """What a remembered value says about the true one."""

    EXACT = "equal"
    LOWER = "at least"
    UPPER = "at most"


class Entry(NamedTuple):
    """What is remembered of a position: a value, as seen from there, that `depth` plies of search gave."""

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

    def objection(self, game: Game[Any]) -> str | None:
        """Return None: it plays every game."""
        return None

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the best move that it finds within the limit."""
        require_playable(self, game, state)
        return Search(game, limit, self._rng).choose(state)


class Search(Generic[S]):
    """One search: its table, its order of moves and its effort; made for one choice and then dropped."""

    def __init__(self, game: Game[S], limit: Limit, rng: random.Random) -> None:
        self.game = game
        self.table: dict[S, Entry] = {}
        self.effort = Effort(limit)
        self._max_depth = COMPLETE if limit.depth is None else limit.depth
        self._estimate = estimator(game)
        # Good moves of one position are often good in the next: what caused a cut is tried earlier ("history").
        self._merit = [[p + rng.random() / 2 for p in promise(game)] for _ in (0, 1)]
        self._guesses = 0

    def choose(self, state: S) -> Choice:
        """Search deeper and deeper until the value is known or the limit reached; return the best move."""
        moves = self._ordered(state, None)
        self._move, self._value, exact = moves[0], 0, False
        try:
            while not exact and self.effort.depth < self._max_depth:
                moves.sort(key=self._move.__ne__)
                exact = self._deepen(state, moves, self.effort.depth + 1)
                self.effort.depth += 1
        except Stopped:
            pass  # what the unfinished pass has found so far is better than what the one before it knew
        return Choice(self._move, self._value, self.line(state, self._move), self.effort.counts(), exact)

    def _deepen(self, state: S, moves: list[Move], depth: int) -> bool:
        """Find the best of the moves by looking `depth` plies ahead; return whether its value is now the truth."""
        guesses, best, best_move = self._guesses, -INFINITY, moves[0]
        for move in moves:
            if best <= -DECIDED:
                self._move = move  # should time run out now: rather a move not yet refuted than one that loses
            value = self._value_of_move(state, move, depth, best, INFINITY, 0)
            if value > best:
                best, best_move = value, move
            self._move, self._value = best_move, best
        return self._is_true(best, depth, guesses)

    def judge(self, state: S, move: Move, depth: int) -> tuple[int, bool]:
        """Return the value of one move for who makes it, `depth` plies ahead, and whether it is the truth."""
        guesses = self._guesses
        value = self._value_of_move(state, move, depth, -INFINITY, INFINITY, 0)
        return value, self._is_true(value, depth, guesses)

    def _is_true(self, value: int, depth: int, guesses_before: int) -> bool:
        """Tell whether a value needs no deeper search: it rests on no guess, or all that is shorter has been seen."""
        return guesses_before == self._guesses or (is_decided(value) and plies_to_end(value) <= depth)

    def _value_of_move(self, state: S, move: Move, depth: int, alpha: int, beta: int, ply: int) -> int:
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
            value = _seen_from(entry.value, ply)
            if entry.depth >= depth and _answers(entry.bound, value, alpha, beta):
                effort.hits += 1
                self._guesses += entry.depth < COMPLETE
                return value
        if depth == 0:
            self._guesses += 1
            return self._estimate(state)
        guesses, best, best_move, floor = self._guesses, -INFINITY, -1, alpha
        merit = self._merit[game.to_move(state)]
        for move in self._ordered(state, entry):
            value = self._value_of_move(state, move, depth, alpha, beta, ply)
            if value > best:
                best, best_move = value, move
                alpha = max(alpha, value)
                if alpha >= beta:
                    effort.cuts += 1
                    merit[move] += depth * depth
                    break
        bound = Bound.LOWER if best >= beta else Bound.UPPER if best <= floor else Bound.EXACT
        self._remember(state, depth, bound, best, best_move, ply, complete=guesses == self._guesses)
        return best

    def _ordered(self, state: S, entry: Entry | None) -> list[Move]:
        merit = self._merit[self.game.to_move(state)]
        moves = sorted(self.game.actions(state), key=merit.__getitem__, reverse=True)
        if entry is not None:
            moves.remove(entry.move)
            moves.insert(0, entry.move)
        return moves

    def _remember(
        self, state: S, depth: int, bound: Bound, value: int, move: Move, ply: int, *, complete: bool
    ) -> None:
        if len(self.table) < MAX_ENTRIES or state in self.table:
            from_here = _seen_from(value, -ply)
            if complete or (is_decided(from_here) and plies_to_end(from_here) <= depth):
                depth = COMPLETE
            self.table[state] = Entry(depth, bound, from_here, move)

    def line(self, state: S, move: Move) -> tuple[Move, ...]:
        """Return the play that is expected from a move on: what the table remembers as best."""
        line, seen = [move], {state}
        state = self.game.result(state, move)
        while state not in seen and (entry := self.table.get(state)) is not None:
            seen.add(state)
            line.append(entry.move)
            state = self.game.result(state, entry.move)
        return tuple(line)


def _seen_from(value: int, ply: int) -> int:
    """Return a value of a node `ply` plies below as its root sees it: the end is that much farther away."""
    if value >= DECIDED:
        return value - ply
    return value + ply if value <= -DECIDED else value


def _answers(bound: Bound, value: int, alpha: int, beta: int) -> bool:
    """Tell whether a bounded value settles the question that a window asks."""
    if bound is Bound.EXACT:
        return True
    return value >= beta if bound is Bound.LOWER else value <= alpha
