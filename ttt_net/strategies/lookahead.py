"""Look-ahead by line-up values (origin A, the lecture on trees).

A board's line-up value for a player is the length of the longest run of their marks, side by side on a winning line:
in tic-tac-toe 3 for three lined up, 2 for two lined-up neighbours, 1 for a mark. A position is worth one's own
line-up minus the opponent's. A tree of n plies is grown, its leaves get their line-up values, these travel up by
minimax, and the best child is the move.
"""

import random
from typing import Any, NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Effort, Limit, S, Stopped, require_playable

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
    """Looks n plies ahead and compares line-ups; `Limit.depth` is the n."""

    name = "lookahead"
    idea = "compares line-ups a few plies ahead"

    def __init__(self, rng: random.Random) -> None:
        """Take no notice of `rng`: among equal moves the first is played."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays line games only."""
        if is_line_game(game):
            return None
        return f"lookahead compares lines of one's own marks, and {game.title} is not won by those"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the first of the moves with the best value, looking as deep as the limit lets it."""
        require_playable(self, game, state)
        assert isinstance(game, LineGame)
        assert isinstance(state, LineState)
        effort, children = Effort(limit), [Child(game.actions(state)[0], 0, ())]
        try:
            for depth in range(1, (DEFAULT_DEPTH if limit.depth is None else limit.depth) + 1):
                children = look(game, state, depth, effort)
                effort.depth = depth
        except Stopped:
            pass  # the tree of one ply less has been seen in full
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
