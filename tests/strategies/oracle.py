"""The truth about small games, computed in the simplest way, to compare searches with."""

from typing import Any

from ttt_net.games import Game, Move


class Oracle:
    """The value of every position for the side to move: 1, 0 or -1, and how many plies until it comes about.

    The winner hurries and the loser stalls; the length of a draw is how long it takes to get there.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._known: dict[Any, tuple[int, int]] = {}

    def judge(self, state: Any) -> tuple[int, int]:
        """Return (value, plies) of a position."""
        if state not in self._known:
            self._known[state] = self._judge(state)
        return self._known[state]

    def _judge(self, state: Any) -> tuple[int, int]:
        game, side = self.game, self.game.to_move(state)
        if game.is_terminal(state):
            return game.utility(state, side), 0
        judged = [self.judge_move(state, move) for move in game.actions(state)]
        return max(judged, key=lambda value_plies: (value_plies[0], -value_plies[0] * value_plies[1]))

    def judge_move(self, state: Any, move: Move) -> tuple[int, int]:
        """Return (value, plies) of a move for who makes it."""
        child = self.game.result(state, move)
        value, plies = self.judge(child)
        same_side = self.game.to_move(child) == self.game.to_move(state)
        return (value if same_side else -value), plies + 1

    def best_moves(self, state: Any) -> set[Move]:
        """Return the moves that keep the value of the position, fast or slow."""
        value = self.judge(state)[0]
        return {move for move in self.game.actions(state) if self.judge_move(state, move)[0] == value}

    def positions(self) -> list[Any]:
        """Return every position that can be reached, the initial one first."""
        self.judge(self.game.initial)
        found = {self.game.initial: None}
        for state in (frontier := list(found)):
            for move in self.game.actions(state):
                child = self.game.result(state, move)
                if child not in found:
                    found[child] = None
                    frontier.append(child)
        return frontier
