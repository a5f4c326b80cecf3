"""Find what is wrong with a move, and say why: first what a beginner could have seen, then what a search has found."""

from enum import IntEnum
from typing import Any, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.line import LineState
from ttt_net.games.ultimate import UltimateGame
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.lessons.sight import LOSS_IN_2, LOSS_IN_4, WIN_IN_1, WIN_IN_3, Sight, is_fork, look
from ttt_net.strategies.lessons.words import double_threat_in_words, named, number, threat_in_words
from ttt_net.strategies.strategy import S
from ttt_net.strategies.swapping import beneath, may_swap
from ttt_net.strategies.threats import is_line_game, own_and_other


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
    """What is wrong with a move; `reason` is a clause about "you" who made it and "they" who answer."""

    kind: Kind
    better: tuple[Move, ...]
    reason: str
    line: tuple[Move, ...] = ()
    """What follows: the other side's moves and the answers, in turn."""


def seen_mistake(game: Game[S], state: S, move: Move, sight: Sight, sound: tuple[Move, ...]) -> Mistake | None:
    """Return what a beginner could have seen to be wrong with a move; None if there is nothing.

    `sound` are the moves that were as good as the best, as far as that is known.
    """
    value = sight.value(move)
    if value == WIN_IN_1:
        return None
    if _loses_at_once(game, state, move):
        others = tuple(other for other in game.actions(state) if not _loses_at_once(game, state, other))
        best = tuple(other for other in others if other in sound) or others
        return (
            Mistake(Kind.GAVE_WIN, best, f"you completed a line, and that loses; {named(game, best)} did not")
            if best
            else None
        )
    if sight.wins:
        return Mistake(Kind.OVERLOOKED_WIN, sight.wins, f"you could have won at once with {named(game, sight.wins)}")
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
    if sight.double_threats and value != WIN_IN_3:
        best = tuple(each.move for each in sight.double_threats)
        first = sight.double_threats[0]
        reason = f"{named(game, best)} would have won: it makes two threats at once"
        return Mistake(Kind.OVERLOOKED_DOUBLE, best, reason, first.line[1:] if len(best) == 1 else ())
    return None


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

    `line` is what follows, `better` the moves that a search holds to be better; without one it is the same cell.
    """
    inner, position = beneath(game, state)
    if may_swap(state) or not line or not is_line_game(inner) or not isinstance(position, LineState):
        return None
    if not is_fork(inner, position, move, line[0]):
        return None
    there, best = game.move_names[line[0]], better or line[:1]
    where = "there" if best == line[:1] else f"at {there}"
    rows = f"two open rows of {number(inner.k - 2)}"
    reason = f"you had to play {named(game, best)}: {where} they make {rows} at once, and you can stop one"
    return Mistake(Kind.ALLOWED_FORK, best, reason, line)


def _loses_at_once(game: Game[S], state: S, move: Move) -> bool:
    """Tell whether a move ends the game for the other side to have won, as a line does in misère."""
    outcome = game.outcome(game.result(state, move))
    return outcome is not None and outcome.winner not in (None, game.to_move(state))


def unblocked(game: Game[S], state: S, sound: tuple[Move, ...], sight: Sight) -> str:
    """Return why a threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState):
        _, other = own_and_other(position)
        had = threat_in_words(inner, other, sight.threats[0])
        return f"you had to block at {named(game, sound)}: they had {had}"
    return f"you had to play {named(game, sound)}: they threatened to win at once with {named(game, sight.threats)}"


def gave_win(game: Game[S], state: S, move: Move, reply: Move) -> str:
    """Return how a move has let the other side win at once."""
    inner, _ = beneath(game, state)
    winning = game.move_names[reply]
    if is_line_game(inner) and inner.gravity and reply == move - inner.fall:
        return f"you let them win with {winning}, on top of your mark"
    if isinstance(inner, UltimateGame):
        return f"you sent them to a board where {winning} wins the game"
    return f"you let them win at once with {winning}"


def allowed_double(game: Game[S], state: S, move: Move, sound: tuple[Move, ...], sight: Sight) -> str:
    """Return which double threat had to be stopped, and where."""
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    _, other = own_and_other(position)
    for threat in sight.their_double_threats:
        if had := double_threat_in_words(inner, other, threat):
            return f"you had to block at {named(game, sound)}: they had {had}"
    there = game.move_names[sight.replies[move][0]]
    if sight.their_double_threats and len(sound) <= len(tuple(game.actions(state))) // 2:
        return f"you had to play {named(game, sound)}: at {there} they make two threats at once, and you can stop one"
    return f"you let them make two threats at once at {there}, of which you can stop one"


def searched_mistake(game: Game[Any], was: Verdict, could: Verdict, best: tuple[Move, ...]) -> Mistake | None:
    """Return what a search has found to be wrong with a move; None if it gave nothing away that is known."""
    names, line = named(game, best) if best else "another move", was.line[1:]
    end = f"they win {_in_moves(was)}" if was.result == -1 else ""
    if was.result is not None and could.result is not None:
        if was.result < could.result:
            if could.result == 1:
                left = end or "it is a draw"
                return Mistake(Kind.SEARCHED, best, f"you had a win with {names}; after this {left}", line)
            return Mistake(Kind.SEARCHED, best, f"{names} held the draw; after this {end}", line)
        if was.plies is None or could.plies is None or was.result > could.result or was.plies == could.plies:
            return None
        if was.result == -1 and was.plies < could.plies:
            reason = f"{end} instead of {could.plies}: {names} held out longer"
            return Mistake(Kind.SEARCHED, best, reason, line)
        if was.result == 1 and was.plies > could.plies and was.exact and could.exact:
            return Mistake(Kind.SEARCHED, best, f"you win {_in_moves(was)} instead of {could.plies} with {names}")
        return None
    if was.result == -1:
        return Mistake(Kind.SEARCHED, best, f"after this {end}; {names} looked better", line)
    if could.result == 1:
        return Mistake(Kind.SEARCHED, best, f"you had a win {_in_moves(could)} with {names}", line)
    if drop_of(was, could) >= SMALL_DROP:
        return Mistake(Kind.SEARCHED, best, f"{names} looks better to a search, though nothing is proved", line)
    return None


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


def _in_moves(verdict: Verdict) -> str:
    assert verdict.plies is not None
    return f"in {'' if verdict.exact else 'at most '}{verdict.plies} move{'s' * (verdict.plies != 1)}"
