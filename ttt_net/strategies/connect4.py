"""Solve Connect Four exactly: by the book in the opening, and by the compiled search afterwards.

A score is one more than the stones that the winner has left at the end, below zero for a loss, 0 for a draw.
"""

from typing import TYPE_CHECKING

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.book import DEEPEST, shipped_book
from ttt_net.strategies.engine import connect4_search
from ttt_net.strategies.strategy import WIN, Effort, Stopped

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.connect4_solver import Connect4Search

CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)


class Connect4Solver:
    """Finds the scores of positions and of moves; without the engine, only those in the book."""

    def __init__(self) -> None:
        self._search: Connect4Search | None = None

    def score(self, game: LineGame, state: LineState, effort: Effort, low: int = -21, high: int = 21) -> int:
        """Return the score for the side to move, at least within low..high. Raises `Stopped` if time is over."""
        if game.is_terminal(state):
            return -((44 - state.ply) // 2) if state.has_line else 0
        known = shipped_book().score(state) if state.ply <= DEEPEST else None
        return self.searched_score(state, effort, low, high) if known is None else known

    def searched_score(self, state: LineState, effort: Effort, low: int = -21, high: int = 21) -> int:
        """Return the score of an unfinished position without the book. Raises `Stopped` if time is over."""
        self._search = self._search or connect4_search(effort)
        if self._search is None:
            raise Stopped
        return self._search.score(state, effort, low, high)

    def score_of_move(
        self, game: LineGame, state: LineState, move: Move, effort: Effort, low: int = -21, high: int = 21
    ) -> int:
        """Return the score of a move for who makes it, at least within low..high. Raises `Stopped` if time is over."""
        effort.results += 1
        return -self.score(game, game.result(state, move), effort, -high, -low)

    def best_move(self, game: LineGame, state: LineState, score: int, effort: Effort) -> Move:
        """Return the move nearest the middle that has the position's score. Raises `Stopped` if time is over."""
        moves = sorted(game.actions(state), key=lambda move: CENTRE_FIRST.index(move % 7))
        for move in moves[:-1]:
            if self.score_of_move(game, state, move, effort, score - 1, score) >= score:
                return move
        return moves[-1]

    def line(self, game: LineGame, state: LineState, score: int, effort: Effort, most: int) -> tuple[Move, ...]:
        """Return up to `most` moves of best play from a position with a known score, as far as the limit allows."""
        line: list[Move] = []
        try:
            while not game.is_terminal(state) and len(line) < most:
                line.append(self.best_move(game, state, score, effort))
                state, score = game.result(state, line[-1]), -score
        except Stopped:
            pass  # the moves found so far are correct
        return tuple(line)

    def best_play(self, game: LineGame, state: LineState, effort: Effort, most: int = 42) -> tuple[Move, ...]:
        """Return up to `most` moves of best play from a position, as far as the limit allows."""
        try:
            return self.line(game, state, self.score(game, state, effort), effort, most)
        except Stopped:
            return ()

    @staticmethod
    def value_of(score: int, state: LineState) -> int:
        """Return the value, which tells the plies to the end, of a position's score."""
        if score == 0:
            return 0
        winner = state.ply & 1 if score > 0 else 1 - (state.ply & 1)
        end = 2 * (22 - abs(score)) - (winner == 0)
        return WIN - (end - state.ply) if score > 0 else end - state.ply - WIN
