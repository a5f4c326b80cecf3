"""Hints and warnings for a position, in the words of the lessons; milliseconds, and no search."""

from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineState
from ttt_net.strategies.lessons.sight import LOSS_IN_2, LOSS_IN_4, Sight, look
from ttt_net.strategies.lessons.words import double_threat_in_words, named, threat_in_words
from ttt_net.strategies.strategy import S
from ttt_net.strategies.swapping import beneath
from ttt_net.strategies.threats import is_line_game, own_and_other


class Hint(NamedTuple):
    """A sentence for a player, and the moves that it names."""

    moves: tuple[Move, ...]
    text: str


def hint(game: Game[S], state: S) -> Hint | None:
    """Return what the side to move should see first, or None if nothing can be seen without a search."""
    if game.is_terminal(state):
        return None
    sight = look(game, state)
    moves = tuple(game.actions(state))
    sound = tuple(move for move in moves if sight.value(move) >= 0)
    if sight.wins:
        return Hint(sight.wins, f"You can win at once with {named(game, sight.wins)}.")
    if sight.threats:
        had = _had(game, state, sight)
        blocks = sound or tuple(move for move in moves if sight.value(move) != LOSS_IN_2)
        if not blocks:
            return Hint(sight.threats, f"They have {had}, and you cannot stop every way to win.")
        return Hint(blocks, f"You have to play {named(game, blocks)}: they have {had}.")
    if sight.double_threats:
        best = tuple(each.move for each in sight.double_threats)
        return Hint(best, f"{named(game, best)} makes two threats at once, and they can stop one.")
    if sight.their_double_threats and sound and len(sound) < len(moves):
        return Hint(sound, f"You should play {named(game, sound)}: {_double_in_words(game, state, sight)}.")
    if sound and len(sound) < len(moves):
        bad = tuple(move for move in moves if move not in sound)
        return Hint(sound, f"Do not play {named(game, bad)}: that lets them win.")
    return None


def warning(game: Game[S], state: S, side: Side) -> Hint | None:
    """Return what `side` has to beware of, on either side's turn; None if nothing can be seen without a search."""
    if game.is_terminal(state):
        return None
    sight = look(game, state)
    if sight.side == side:
        if sight.threats:
            return Hint(sight.threats, f"They threaten to win with {named(game, sight.threats)}.")
        if sight.their_double_threats:
            moves = tuple(each.move for each in sight.their_double_threats)
            return Hint(moves, f"Beware of {named(game, moves)}: {_double_in_words(game, state, sight)}.")
        return None
    if sight.wins:
        return Hint(sight.wins, f"They can win at once with {named(game, sight.wins)}.")
    if sight.double_threats:
        moves = tuple(each.move for each in sight.double_threats)
        return Hint(moves, f"They can make two threats at once with {named(game, moves)}.")
    return None


def warning_of_move(game: Game[S], state: S, move: Move) -> Hint | None:
    """Return what a move of the side to move lets the other side do, or None if nothing can be seen."""
    sight = look(game, state)
    value = sight.value(move)
    if value not in (LOSS_IN_2, LOSS_IN_4):
        return None
    replies = sight.replies[move][:1]
    what = "win at once" if value == LOSS_IN_2 else "make two threats at once"
    return Hint(replies, f"{game.move_names[move]} lets them {what} with {named(game, replies)}.")


def _had(game: Game[S], state: S, sight: Sight) -> str:
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState):
        return threat_in_words(inner, own_and_other(position)[1], sight.threats[0])
    return f"a win with {named(game, sight.threats)}"


def _double_in_words(game: Game[S], state: S, sight: Sight) -> str:
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    for threat in sight.their_double_threats:
        if had := double_threat_in_words(inner, own_and_other(position)[1], threat):
            return f"they have {had}"
    return "there they make two threats at once, and you can stop one"
