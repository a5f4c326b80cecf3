"""Advise a move with a reason: by what can be seen at a glance, or else by a short search."""

import random

from ttt_net.games import Game, Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.alphabeta import deepening
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.engine import is_large
from ttt_net.strategies.lessons.explanation import Explanation, ExplanationKind
from ttt_net.strategies.lessons.forcing import MOST_PLIES, ThreatWins
from ttt_net.strategies.lessons.hints import Hint, hint
from ttt_net.strategies.lessons.sight import look, makes_two_rows
from ttt_net.strategies.lessons.words import names_of
from ttt_net.strategies.strategy import WIN, Choice, Counts, Limit, S, is_decided, plies_to_end
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
    choice = _by_threats(game, state, limit) or deepening(game, limit, random.Random(0)).choose(state)
    return Hint((choice.move,), _proved(game, state, choice) or _reason(game, state, choice))


def _by_threats(game: Game[S], state: S, limit: Limit) -> Choice | None:
    """Return the first move of a win by threats, or the choice of a search that lets the other side have none.

    None if neither is known.
    """
    inner, position = beneath(game, state)
    if is_first(state) or may_swap(state) or not is_large(inner) or not isinstance(position, LineState):
        return None
    threats = ThreatWins(inner, limit.ms)
    if line := threats.win(position):
        return Choice(line[0], WIN - len(line), line, Counts())
    choice = deepening(inner, limit, random.Random(0)).choose(position)
    judged = threats.judge(position, choice.move, {choice.move: Verdict(choice.value or 0, choice.exact, ())}, limit)
    held = [move for move, verdict in judged.items() if verdict.result is None]
    return Choice(held[0], None, (), choice.counts) if held else choice


def _proved(game: Game[S], state: S, choice: Choice) -> Explanation | None:
    """Return what a search has proved of the move that it chose; None if it has proved nothing."""
    names, value = names_of(game, (choice.move,)), choice.value or 0
    if not is_decided(value):
        return None
    if value < 0:
        return Explanation(ExplanationKind.LOSING, names)
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState) and makes_two_rows(inner, position, choice.move):
        return Explanation(ExplanationKind.TWO_THREATS, names)
    if not choice.exact and plies_to_end(value) > MOST_PLIES:
        return Explanation(ExplanationKind.WINNING, names)
    plies = (plies_to_end(value) + 1) // 2
    return Explanation(ExplanationKind.WINNING_IN, names, plies=plies, is_bound=not choice.exact)


def _reason(game: Game[S], state: S, choice: Choice) -> Explanation:
    """Return what speaks for a move that a search has chosen."""
    names = names_of(game, (choice.move,))
    is_draw = choice.exact and choice.value == 0
    otherwise = ExplanationKind.TRY_DRAW if is_draw else ExplanationKind.TRY_SEARCH
    return _good_of(game, state, choice.move) or Explanation(otherwise, names)


def _good_of(game: Game[S], state: S, move: Move) -> Explanation | None:
    """Return the merit of a move, as far as it can be seen on the board; None if it cannot."""
    names = names_of(game, (move,))
    if is_first(state) or may_swap(state):
        return Explanation(ExplanationKind.TRY_EVEN, names)
    inner, position = beneath(game, state)
    if not is_line_game(inner) or not isinstance(position, LineState):
        return None
    own, other = own_and_other(position)
    threats = completing_cells(inner.lines_through[move], own | 1 << move, other) & ~(own | other)
    if threats:
        cells = tuple(cell for cell in range(inner.size) if threats >> cell & 1)
        return Explanation(ExplanationKind.TRY_THREAT, names, names_of(inner, cells))
    stopped = _open_lines(inner, move, other, own)
    made = _open_lines(inner, move, own, other)
    if stopped and stopped >= made:
        return Explanation(ExplanationKind.TRY_BLOCK, names)
    if made:
        return Explanation(ExplanationKind.TRY_ROW, names)
    most = max(len(inner.lines_through[each]) for each in game.actions(state) if each < inner.size)
    return Explanation(ExplanationKind.TRY_LINES, names) if len(inner.lines_through[move]) == most else None


def _open_lines(game: LineGame, move: Move, own: int, other: int) -> int:
    """Return the most marks that `own` has in a line through a cell in which the other side has none."""
    return max(((line & own).bit_count() for line in game.lines_through[move] if not line & other), default=0)
