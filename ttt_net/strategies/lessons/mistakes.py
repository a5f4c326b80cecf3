"""Find the fault of a move, and explain it: first what a beginner could have seen, then what a search has found."""

from enum import IntEnum
from typing import Any, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.line import LineState
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.heuristic import is_line_game, own_and_other
from ttt_net.strategies.lessons.explanation import (
    Explanation,
    ExplanationKind,
    MarkRow,
    names_of,
    row_of_double_threat,
    row_of_threat,
)
from ttt_net.strategies.lessons.sight import (
    LOSS_IN_2,
    LOSS_IN_4,
    WIN_IN_1,
    WIN_IN_3,
    Sight,
    is_fork,
    look,
    makes_two_rows,
)
from ttt_net.strategies.strategy import S, beneath, may_swap


class Kind(IntEnum):
    """The kinds of mistakes, the easiest to see first."""

    OVERLOOKED_WIN = 1
    """There was a win at once."""
    UNBLOCKED = 2
    """The other side threatened to win at its next move, and still does."""
    GAVE_WIN = 3
    """The move itself lets the other side win at once."""
    ALLOWED_DOUBLE = 4
    """The other side can make two threats at once, and that could have been stopped."""
    OVERLOOKED_DOUBLE = 5
    """Two threats at once would have won."""
    ALLOWED_FORK = 6
    """The other side can make two open rows at once, each of which grows into two threats."""
    SEARCHED = 7
    """It takes a search to see it."""


class Mistake(NamedTuple):
    """The fault of a move, and why it is one."""

    kind: Kind
    better: tuple[Move, ...]
    why: Explanation
    line: tuple[Move, ...] = ()
    """The continuation: the other side's moves and the answers, in turn."""

    @property
    def reason(self) -> str:
        """The explanation as a clause about "you" who made the move and "they" who answer."""
        return self.why.in_words()


def seen_mistake(game: Game[S], state: S, move: Move, sight: Sight, sound: tuple[Move, ...]) -> Mistake | None:
    """Return the fault in a move that a beginner could have seen, or None.

    `sound` are the moves known to be as good as the best.
    """
    value = sight.value(move)
    if value == WIN_IN_1:
        return None
    if _loses_at_once(game, state, move):
        return _completed_line(game, state, sound)
    if sight.wins:
        why = Explanation(ExplanationKind.MISSED_WIN, names_of(game, sight.wins))
        return Mistake(Kind.OVERLOOKED_WIN, sight.wins, why)
    holding = tuple(other for other in sound if sight.value(other) > LOSS_IN_4)
    later = tuple(other for other in sound or game.actions(state) if sight.value(other) > LOSS_IN_2)
    sound = holding or (later if value == LOSS_IN_2 else ())
    line = sight.replies.get(move, ())
    if value == LOSS_IN_2 and sound:
        line = line[:1]
        if line[0] in sight.threats:
            return Mistake(Kind.UNBLOCKED, sound, unblocked(game, state, sound, sight), line)
        return Mistake(Kind.GAVE_WIN, sound, gave_win(game, state, move, line[0]), line)
    if value == LOSS_IN_4 and sound:
        return Mistake(Kind.ALLOWED_DOUBLE, sound, allowed_double(game, state, move, sound, sight), line)
    return _overlooked_double(game, sight) if sight.double_threats and value != WIN_IN_3 else None


def _completed_line(game: Game[S], state: S, sound: tuple[Move, ...]) -> Mistake | None:
    """Return the mistake of completing a line where that loses; None if every move does."""
    others = tuple(other for other in game.actions(state) if not _loses_at_once(game, state, other))
    best = tuple(other for other in others if other in sound) or others
    why = Explanation(ExplanationKind.COMPLETED_LINE, names_of(game, best))
    return Mistake(Kind.GAVE_WIN, best, why) if best else None


def _overlooked_double(game: Game[S], sight: Sight) -> Mistake:
    """Return the mistake of not making two threats at once."""
    best = tuple(each.move for each in sight.double_threats)
    why = Explanation(ExplanationKind.MISSED_TWO_THREATS, names_of(game, best))
    return Mistake(Kind.OVERLOOKED_DOUBLE, best, why, sight.double_threats[0].line[1:] if len(best) == 1 else ())


def as_played(game: Game[S], state: S, move: Move, mistake: Mistake, sight: Sight, reply: Move) -> Mistake:
    """Return a mistake with the other side's reply in the match as what follows, where it won as soon."""
    value = sight.value(move)
    if mistake.kind not in (Kind.UNBLOCKED, Kind.GAVE_WIN, Kind.ALLOWED_DOUBLE) or reply in mistake.line[:1]:
        return mistake
    if value == LOSS_IN_2 and reply in sight.replies.get(move, ()):
        return mistake._replace(line=(reply,))
    if value == LOSS_IN_4:
        for threat in look(game, game.result(state, move)).double_threats:
            if threat.move == reply:
                return mistake._replace(line=threat.line)
    return mistake


def allowed_fork(
    game: Game[S], state: S, move: Move, line: tuple[Move, ...], better: tuple[Move, ...]
) -> Mistake | None:
    """Return that a move let the other side make two open rows at once, if what follows begins so; else None.

    The same is said of an open row and a four if `line` is a play that wins, and not the reply alone.

    `line` is what follows, `better` the moves that a search holds to be better; without one it is the same cell.
    """
    inner, position = beneath(game, state)
    if may_swap(state) or not line or not is_line_game(inner) or not isinstance(position, LineState):
        return None
    there, best = line[:1], better or line[:1]
    if not is_fork(inner, position, move, line[0]):
        after = inner.result(position, move)
        if len(line) == 1 or line[0] not in inner.actions(after) or not makes_two_rows(inner, after, line[0]):
            return None
        why = Explanation(ExplanationKind.GAVE_TWO_THREATS, (), names_of(game, there))
        return Mistake(Kind.ALLOWED_FORK, best, why, line)
    kind = ExplanationKind.FORK_THERE if best == there else ExplanationKind.FORK_AT
    row = MarkRow(inner.k - 2, is_run=True, is_open=True)
    why = Explanation(kind, names_of(game, best), names_of(game, there), row)
    return Mistake(Kind.ALLOWED_FORK, best, why, line)


def _loses_at_once(game: Game[S], state: S, move: Move) -> bool:
    """Tell whether a move ends the game for the other side to have won, as a line does in misère."""
    outcome = game.outcome(game.result(state, move))
    return outcome is not None and outcome.winner not in (None, game.to_move(state))


def unblocked(game: Game[S], state: S, sound: tuple[Move, ...], sight: Sight) -> Explanation:
    """Return why a threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    names, theirs = names_of(game, sound), names_of(game, sight.threats)
    if is_line_game(inner) and isinstance(position, LineState):
        row = row_of_threat(inner, own_and_other(position)[1], sight.threats[0])
        return Explanation(ExplanationKind.UNBLOCKED, names, theirs, row)
    return Explanation(ExplanationKind.UNSTOPPED, names, theirs)


def gave_win(game: Game[S], state: S, move: Move, reply: Move) -> Explanation:
    """Return how a move has let the other side win at once."""
    inner, _ = beneath(game, state)
    theirs = names_of(game, (reply,))
    if is_line_game(inner) and inner.gravity and reply == move - inner.fall:
        return Explanation(ExplanationKind.GAVE_WIN_ABOVE, (), theirs)
    if isinstance(inner, UltimateGame):
        return Explanation(ExplanationKind.GAVE_WIN_BOARD, (), theirs)
    return Explanation(ExplanationKind.GAVE_WIN, (), theirs)


def allowed_double(game: Game[S], state: S, move: Move, sound: tuple[Move, ...], sight: Sight) -> Explanation:
    """Return which double threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    _, other = own_and_other(position)
    names, theirs = names_of(game, sound), names_of(game, sight.replies[move][:1])
    for threat in sight.their_double_threats:
        if row := row_of_double_threat(inner, other, threat):
            return Explanation(ExplanationKind.UNBLOCKED, names, theirs, row)
    if sight.their_double_threats and len(sound) <= len(tuple(game.actions(state))) // 2:
        return Explanation(ExplanationKind.UNSTOPPED_TWO_THREATS, names, theirs)
    return Explanation(ExplanationKind.GAVE_TWO_THREATS, (), theirs)


def searched_mistake(game: Game[Any], was: Verdict, could: Verdict, best: tuple[Move, ...]) -> Mistake | None:
    """Return what a search has found to be wrong with a move; None if it gave nothing away that is known."""
    why = _searched(was, could, names_of(game, best))
    if why is None:
        return None
    return Mistake(Kind.SEARCHED, best, why, () if why.kind is ExplanationKind.SLOWER_WIN else was.line[1:])


def _searched(was: Verdict, could: Verdict, names: tuple[str, ...]) -> Explanation | None:
    """Return why a move was worse than the best ones, as far as a search has found it."""
    after = Explanation(ExplanationKind.LOST, names, plies=was.plies, is_bound=not was.exact)
    if was.result is not None and could.result is not None:
        if was.result < could.result:
            if was.result == 0:
                return Explanation(ExplanationKind.WIN_TO_DRAW, names)
            return after._replace(
                kind=ExplanationKind.WIN_TO_LOSS if could.result == 1 else ExplanationKind.DRAW_TO_LOSS
            )
        if was.plies is None or could.plies is None or was.result > could.result or was.plies == could.plies:
            return None
        if was.result == -1 and was.plies < could.plies:
            return after._replace(kind=ExplanationKind.SOONER_LOSS, instead=could.plies)
        if was.result == 1 and was.plies > could.plies and was.exact and could.exact:
            return after._replace(kind=ExplanationKind.SLOWER_WIN, instead=could.plies)
        return None
    if was.result == -1:
        return after
    if could.result == 1:
        return Explanation(ExplanationKind.HAD_WIN, names, plies=could.plies, is_bound=not could.exact)
    return Explanation(ExplanationKind.LOOKED_WORSE, names) if drop_of(was, could) >= SMALL_DROP else None


SMALL_DROP, LARGE_DROP = 0.25, 0.6
"""By how much an estimate between -1 and 1 falls with a doubtful move, and with a mistake."""
_EVEN = 50
"""An estimate of so much, in open lines, counts as half a win."""


def scaled(verdict: Verdict) -> float:
    """Return a verdict between -1 for a loss and 1 for a win."""
    return float(verdict.result) if verdict.result is not None else verdict.value / (abs(verdict.value) + _EVEN)


def drop_of(was: Verdict, could: Verdict) -> float:
    """Return by how much a move fell behind the best one."""
    return scaled(could) - scaled(was)
