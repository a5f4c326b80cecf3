"""Advise a move with a reason: by what can be seen at a glance, or else by a short search."""

import random
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.alphabeta import deepening
from ttt_net.strategies.lessons.hints import Hint, hint
from ttt_net.strategies.lessons.sight import look
from ttt_net.strategies.lessons.words import named
from ttt_net.strategies.strategy import Choice, Limit, S, is_decided, plies_to_end
from ttt_net.strategies.swapping import beneath, is_first, may_swap
from ttt_net.strategies.threats import completing_cells, is_line_game, own_and_other

FEW = 3
"""Moves that a hint may name and still be one."""


def advise(game: Game[S], state: S, limit: Limit) -> Hint | None:
    """Return a good move and the reason for it; None if the game is over.

    What can be seen comes first, if it comes to a few moves; else one of the moves that a search likes best.
    """
    if game.is_terminal(state):
        return None
    sight, seen = look(game, state), hint(game, state)
    is_clear = sight.wins or sight.threats or sight.double_threats or sight.their_double_threats
    if seen is not None and is_clear and len(seen.moves) <= FEW and sight.value(seen.moves[0]) >= 0:
        return seen
    choice = deepening(game, limit, random.Random(0)).choose(state)
    return Hint((choice.move,), _proved(game, choice) or _reason(game, state, choice))


def _proved(game: Game[Any], choice: Choice) -> str:
    """Return what a search has proved of the move that it chose; empty if it has proved nothing."""
    name, value = game.move_names[choice.move], choice.value or 0
    if not is_decided(value):
        return ""
    if value < 0:
        return f"They can win whatever you do; {name} holds out longest."
    own_moves = (plies_to_end(value) + 1) // 2
    return f"Play {name}: you can win with it{f', in {own_moves} moves of yours' if choice.exact else ''}."


def _reason(game: Game[S], state: S, choice: Choice) -> str:
    """Return as a sentence what speaks for a move that a search has chosen."""
    is_draw = choice.exact and choice.value == 0
    otherwise = "it keeps the draw" if is_draw else "a short look ahead likes it best"
    return f"Try {game.move_names[choice.move]}: {_good_of(game, state, choice.move) or otherwise}."


def _good_of(game: Game[S], state: S, move: Move) -> str:
    """Return what is good about a move, as far as it can be seen on the board; empty if it cannot."""
    if is_first(state) or may_swap(state):
        return "it leaves both of you about the same chances"
    inner, position = beneath(game, state)
    if not is_line_game(inner) or not isinstance(position, LineState):
        return ""
    own, other = own_and_other(position)
    threats = completing_cells(inner.lines_through[move], own | 1 << move, other) & ~(own | other)
    if threats:
        cells = tuple(cell for cell in range(inner.size) if threats >> cell & 1)
        return f"then you threaten to win with {named(inner, cells)}"
    stopped = _open_lines(inner, move, other, own)
    made = _open_lines(inner, move, own, other)
    if stopped and stopped >= made:
        return "it stands in the way of their marks"
    if made:
        return "it goes with marks of yours that nobody has blocked"
    most = max(len(inner.lines_through[each]) for each in game.actions(state) if each < inner.size)
    return "many lines go through it" if len(inner.lines_through[move]) == most else ""


def _open_lines(game: LineGame, move: Move, own: int, other: int) -> int:
    """Return the most marks that `own` has in a line through a cell in which the other side has none."""
    return max(((line & own).bit_count() for line in game.lines_through[move] if not line & other), default=0)
