"""Choose the one move of a match that most decided it, and say in a sentence what was wrong with it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.strategies.lessons.explanation import Explanation, ExplanationKind
from ttt_net.strategies.lessons.mistakes import Kind, Mistake, drop_of
from ttt_net.strategies.lessons.words import names_of
from ttt_net.strategies.review import Reviewed
from ttt_net.strategies.strategy import S

MOST_SHOWN = 5
"""Moves of what follows that a lesson tells."""
NEVER = 10_000
"""More plies than any game has."""


class Lesson(NamedTuple):
    """What to learn from a match; `ply` and `side` are None if no move gave anything away that is known.

    `ply` counts from 1 and is that of the move that was wrong; `better` has every move that was as good as the best.
    """

    ply: int | None
    side: Side | None
    better: tuple[Move, ...]
    why: Explanation
    follows: tuple[Move, ...] = ()
    """The other side's moves and the answers that come after it, in turn, a few."""

    def in_words(self, game: Game[Any]) -> str:
        """Return what was wrong with the move as a sentence, with a short line of what follows."""
        if self.ply is None:
            return self.why.in_words()
        after = f" What follows: {' '.join(names_of(game, self.follows))}." if self.follows else ""
        return f"Move {self.ply}: {self.why.in_words()}.{after}"

    def as_json(self, game: Game[Any]) -> dict[str, object]:
        """Return the object that programs read; the moves are written as people write them."""
        return {
            "type": "lesson",
            "ply": self.ply,
            "side": self.side,
            "better": list(names_of(game, self.better)),
            "text": self.in_words(game),
            "why": self.why.as_json(),
            "follows": list(names_of(game, self.follows)),
        }


def lesson_of(reviewed: Sequence[Reviewed], winner: Side | None, *, is_searched: bool = True) -> Lesson:
    """Return the lesson of a match whose moves have been reviewed, and which `winner` has won, or nobody.

    Only the loser's moves decided a match that was won; in any other the one who missed most is told of it.
    """
    judged = [each for each in reviewed if each.mistake and (winner is None or each.side != winner)]
    wrong = [(each, each.mistake) for each in judged if each.mistake]
    if not wrong:
        known = ExplanationKind.NOTHING if is_searched else ExplanationKind.NOTHING_SEEN
        return Lesson(None, None, (), Explanation(known))
    each, mistake = min(wrong, key=lambda pair: _order(*pair))
    return Lesson(each.ply, each.side, mistake.better, mistake.why, mistake.line[:MOST_SHOWN])


def _order(each: Reviewed, mistake: Mistake) -> tuple[float, ...]:
    """Rank a mistake: what can be seen most easily, then what gave away most, then what came last."""
    if mistake.kind is not Kind.SEARCHED:
        return (mistake.kind, -each.ply)
    is_turn = each.lost is not None and each.lost > 0
    is_confirmed = each.was.result == -1 and each.could.result is None
    plies = abs((each.could.plies or NEVER) - (each.was.plies or NEVER)) if each.lost == 0 else 0
    rank = 0 if is_turn or is_confirmed else 1 if plies else 2
    return (mistake.kind, rank, -plies, -drop_of(each.was, each.could) if rank == 2 else 0, -each.ply)


def winner_of(game: Game[S], state: S) -> Side | None:
    """Return who has won by the rules in a final position, or None."""
    outcome = game.outcome(state)
    return None if outcome is None else outcome.winner
