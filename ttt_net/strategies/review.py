"""A finished match looked at again: what each move was worth, and where the game turned; knows no terminal."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.strategies.analysis import Verdict, analyse
from ttt_net.strategies.strategy import Limit, S


class Reviewed(NamedTuple):
    """A move that was made, as it was, and what was best; verdicts are from the view of who made it."""

    ply: int
    side: Side
    move: Move
    was: Verdict
    could: Verdict
    best: tuple[Move, ...]

    @property
    def lost(self) -> int | None:
        """What the move gave away: 1 a win for a draw or a draw for a loss, 2 a win for a loss; None if not known."""
        if self.was.result is None or self.could.result is None:
            return None
        return self.could.result - self.was.result


def review(game: Game[S], moves: Sequence[Move], limit: Limit, start: S | None = None) -> Iterator[Reviewed]:
    """Yield each move of a match that began in `start`, judged as well as the limit for each position lets it be."""
    state = game.initial if start is None else start
    for ply, move in enumerate(moves, 1):
        analysis = analyse(game, state, limit)
        yield Reviewed(ply, analysis.side, move, analysis.moves[move], analysis.verdict, analysis.best)
        state = game.result(state, move)
