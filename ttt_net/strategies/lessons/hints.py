"""Find hints and warnings for a position, explained as lessons are; milliseconds, and no search but for threats."""

from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineState
from ttt_net.strategies.engine import is_large
from ttt_net.strategies.lessons.explanation import Explanation, ExplanationKind, MarkRow
from ttt_net.strategies.lessons.forcing import ThreatWins
from ttt_net.strategies.lessons.sight import LOSS_IN_2, LOSS_IN_4, Sight, look
from ttt_net.strategies.lessons.words import names_of, row_of_double_threat, row_of_threat
from ttt_net.strategies.strategy import S
from ttt_net.strategies.swapping import beneath, is_first, may_swap
from ttt_net.strategies.threats import is_line_game, own_and_other


class Hint(NamedTuple):
    """The moves that a hint or warning is about, and why."""

    moves: tuple[Move, ...]
    why: Explanation

    @property
    def text(self) -> str:
        """The explanation as a sentence."""
        return self.why.in_words()


def hint(game: Game[S], state: S) -> Hint | None:
    """Return what the side to move should see first, or None if nothing can be seen without a search."""
    if game.is_terminal(state):
        return None
    sight = look(game, state)
    moves = tuple(game.actions(state))
    sound = tuple(move for move in moves if sight.value(move) >= 0)
    if sight.wins:
        return Hint(sight.wins, Explanation(ExplanationKind.WIN_NOW, names_of(game, sight.wins)))
    if sight.threats:
        return _against_threats(game, state, sight, sound)
    if sight.double_threats:
        best = tuple(each.move for each in sight.double_threats)
        return Hint(best, Explanation(ExplanationKind.TWO_THREATS, names_of(game, best)))
    if sight.their_double_threats and sound and len(sound) < len(moves):
        row, theirs = _double_row(game, state, sight), tuple(each.move for each in sight.their_double_threats)
        kind = ExplanationKind.SHOULD_BLOCK if row else ExplanationKind.SHOULD_PLAY
        return Hint(sound, Explanation(kind, names_of(game, sound), names_of(game, theirs), row))
    if sound and len(sound) < len(moves):
        bad = tuple(move for move in moves if move not in sound)
        return Hint(sound, Explanation(ExplanationKind.AVOID, names_of(game, bad)))
    return None


def _against_threats(game: Game[S], state: S, sight: Sight, sound: tuple[Move, ...]) -> Hint:
    row, theirs = _threat_row(game, state, sight), names_of(game, sight.threats)
    blocks = sound or tuple(move for move in game.actions(state) if sight.value(move) != LOSS_IN_2)
    if not blocks:
        return Hint(sight.threats, Explanation(ExplanationKind.CANNOT_STOP, (), theirs, row))
    return Hint(blocks, Explanation(ExplanationKind.MUST_BLOCK, names_of(game, blocks), theirs, row))


def warning(game: Game[S], state: S, side: Side) -> Hint | None:
    """Return what `side` has to beware of, on either side's turn; None if there is nothing that can be seen.

    In five in a row on large boards that includes a win by fours and open threes that they would have if they were to
    move, as soon as the engine is loaded, which is not waited for.
    """
    if game.is_terminal(state):
        return None
    sight = look(game, state)
    if sight.side == side:
        if sight.threats:
            return _of_theirs(game, ExplanationKind.THEY_THREATEN, sight.threats)
        if sight.their_double_threats:
            moves, row = tuple(each.move for each in sight.their_double_threats), _double_row(game, state, sight)
            return _of_theirs(game, ExplanationKind.BEWARE_ROW if row else ExplanationKind.BEWARE, moves, row)
        inner, position = beneath(game, state)
        is_open = not (sight.wins or is_first(state) or may_swap(state))
        if is_open and is_large(inner) and isinstance(position, LineState):
            first = ThreatWins(inner, ms=0).threat(position)[:1]
            return _of_theirs(game, ExplanationKind.THEY_THREATEN, first) if first else None
        return None
    if sight.wins:
        return _of_theirs(game, ExplanationKind.THEY_WIN_NOW, sight.wins)
    if sight.double_threats:
        moves = tuple(each.move for each in sight.double_threats)
        return _of_theirs(game, ExplanationKind.THEY_TWO_THREATS, moves)
    return None


def _of_theirs(game: Game[S], kind: ExplanationKind, moves: tuple[Move, ...], row: MarkRow | None = None) -> Hint:
    return Hint(moves, Explanation(kind, (), names_of(game, moves), row))


def warning_of_move(game: Game[S], state: S, move: Move) -> Hint | None:
    """Return what a move of the side to move lets the other side do, or None if nothing can be seen."""
    sight = look(game, state)
    value = sight.value(move)
    if value not in (LOSS_IN_2, LOSS_IN_4):
        return None
    replies = sight.replies[move][:1]
    kind = ExplanationKind.LETS_WIN if value == LOSS_IN_2 else ExplanationKind.LETS_TWO_THREATS
    return Hint(replies, Explanation(kind, names_of(game, (move,)), names_of(game, replies)))


def _threat_row(game: Game[S], state: S, sight: Sight) -> MarkRow | None:
    """Return what the other side has in the line that it threatens to complete; None in games without lines."""
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState):
        return row_of_threat(inner, own_and_other(position)[1], sight.threats[0])
    return None


def _double_row(game: Game[S], state: S, sight: Sight) -> MarkRow | None:
    """Return the open row that makes a double threat of the other side, or None if it is made otherwise."""
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    other = own_and_other(position)[1]
    rows = (row_of_double_threat(inner, other, threat) for threat in sight.their_double_threats)
    return next(filter(None, rows), None)
