"""Minimax (origins B and D): the whole tree, leaf by leaf, with or without a table of what was seen before.

It skips nothing, so what it counts does not depend on the order of moves: from the empty board of tic-tac-toe 549,946
nodes without the table; with it 5,478 positions, reached by 16,167 moves.
"""

import random
from typing import Any, Generic

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Effort, Limit, S, Stopped, require_playable

MAX_CELLS = 12
"""On more cells than this the whole tree is more than anyone will wait for."""


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
        """Return the best move; if the limit ends the search, the best of those that were seen to the end."""
        require_playable(self, game, state)
        return Tree(game, limit, uses_table=self._uses_table).choose(state)


class Tree(Generic[S]):
    """One search: the values known, and what they cost."""

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
