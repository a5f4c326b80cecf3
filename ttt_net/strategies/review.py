"""A finished match looked at again: what each move was worth, and where the game turned; knows no terminal."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.strategies.analysis import Analysis, Verdict, analyse
from ttt_net.strategies.strategy import Limit, S


class Grade(StrEnum):
    """What kind of move it was, as far as that is proved.

    Forced: there was no other. Only move: all others would have given something away. Best: none was better. Good: it
    kept a win or a loss, and whether it was the best is not known. Slower win, sooner loss: the same result, but not
    so well. Missed win: a win became a draw. Blunder: a win or a draw became a loss.
    """

    FORCED = "forced"
    ONLY_MOVE = "only move"
    BEST = "best"
    GOOD = "good"
    SLOWER_WIN = "slower win"
    SOONER_LOSS = "sooner loss"
    MISSED_WIN = "missed win"
    BLUNDER = "blunder"


class Reviewed(NamedTuple):
    """A move that was made, as it was, and what was best; verdicts are from the view of who made it.

    `grade` is None if what was proved does not tell.
    """

    ply: int
    side: Side
    move: Move
    was: Verdict
    could: Verdict
    best: tuple[Move, ...]
    grade: Grade | None

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
        found = analyse(game, state, limit)
        grade = grade_of(found, move)
        yield Reviewed(ply, found.side, move, found.moves[move], found.verdict, found.best, grade)
        state = game.result(state, move)


def grade_of(analysis: Analysis, move: Move) -> Grade | None:
    """Return what kind of move it is in an analysed position, or None if what was proved does not tell."""
    was, could = analysis.moves[move], analysis.verdict
    others = [verdict.result for other, verdict in analysis.moves.items() if other != move]
    if not others:
        return Grade.FORCED
    if was.result is None or could.result is None:
        return None
    if was.result < could.result:
        return Grade.MISSED_WIN if was.result == 0 else Grade.BLUNDER
    if all(other is not None and other < was.result for other in others):
        return Grade.ONLY_MOVE
    if was.exact and could.exact:
        worse = Grade.SLOWER_WIN if was.result == 1 else Grade.SOONER_LOSS
        return Grade.BEST if was.value == could.value else worse
    return Grade.GOOD
