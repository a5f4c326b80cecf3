"""Give hints, warnings and advice about a position, with reasons.

Hints and warnings take milliseconds, and search only threats; advice adds a short search. Wins by threats alone in five
in a row are proofs, and need numba.
"""

import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.games.vanishing import VanishingGame
from ttt_net.strategies.alphabeta import AlphaBeta, deepening
from ttt_net.strategies.analysis import Analysis, Kept, Verdict, analyse, is_solvable, limit_of_truth
from ttt_net.strategies.engine import EXPLORATION, is_connect4, is_large, playout_tree, threat_search
from ttt_net.strategies.explanation import (
    Explanation,
    ExplanationKind,
    MarkRow,
    merit_of_boards,
    names_of,
    row_of_double_threat,
    row_of_reply,
    row_of_threat,
    row_to_complete,
    vanishing_cell,
    winning_end,
)
from ttt_net.strategies.heuristic import completing_cells, is_line_game, own_and_other, promise
from ttt_net.strategies.mcts import CERTAIN
from ttt_net.strategies.sight import LOSS_IN_2, Sight, look, makes_two_rows
from ttt_net.strategies.strategy import (
    WIN,
    Choice,
    Counts,
    Effort,
    Limit,
    S,
    beneath,
    from_above,
    is_decided,
    is_first,
    may_swap,
    plies_to_end,
)

MOST_NODES = 20_000
"""The maximal number of positions of one search for such a win, about 20 ms: enough for nearly all."""
MOST_PLIES = 15
"""The longest win worth mentioning: a longer one that nobody sees is no lesson."""
MOST_DEFENCES = 10
"""The maximal number of moves against such a win to search."""


class ThreatWins:
    """Looks for wins by threats in positions of one game; finds none where there is no search for them.

    `ms` is how long loading the search may take.
    """

    def __init__(self, game: LineGame, ms: int | None = None) -> None:
        self._game = game
        self._search = threat_search(game, Effort(Limit(ms=ms)))

    def win(self, state: LineState) -> tuple[Move, ...]:
        """Return the play by which the side to move wins against the longest defence; empty if none is found."""
        return _worth_mentioning(self._look(state))

    def threat(self, state: LineState) -> tuple[Move, ...]:
        """Return the play by which the other side would win if it were to move; empty if none is found."""
        return _worth_mentioning(self._look(state._replace(ply=state.ply + 1)))

    def refutation(self, state: LineState, move: Move) -> tuple[Move, ...]:
        """Return the play by which the other side wins after a move, however long; empty if none is found."""
        return self._look(self._game.result(state, move))

    def _look(self, state: LineState, *, is_reply: bool = False) -> tuple[Move, ...]:
        if self._search is None or self._game.is_terminal(state):
            return ()
        look = self._search.loss_to_threats if is_reply else self._search.win_by_threats
        return look(state, MOST_NODES) or ()

    def judge(
        self, state: LineState, move: Move | None, moves: dict[Move, Verdict], limit: Limit
    ) -> dict[Move, Verdict]:
        """Return proofs about a move that was made, if any, and about better ones, where the verdicts know less.

        That is the win that there was; or, if there was none, that the move lets the other side win, and then one that
        does not, if the best one so far does, too. Only a short win speaks against the move that was made, but a win of
        any length against moves that may be named as better.
        """
        effort, best = Effort(limit), max(moves, key=lambda each: moves[each].value)
        if self._search is None or effort.is_over():
            return {}
        if moves[best].result is None and (line := self.win(state)):
            proved = {line[0]: Verdict(WIN - len(line), exact=False, line=line)}
            if move is not None and move != line[0]:
                after = _worth_mentioning(self._look(self._game.result(state, move), is_reply=True))
                if after:
                    proved[move] = Verdict(WIN - len(after) - 1, exact=False, line=(move, *after))
            return proved
        refuted, is_lost = dict[Move, Verdict](), True
        if move is not None:
            is_lost = self._refute(state, move, moves, refuted, MOST_PLIES)
        if move == best or self._refute(state, best, moves, refuted):
            lost = refuted.get(best, moves[best])
            for each in self._defences(state, lost) if is_lost else ():
                if effort.is_over():
                    break
                if each not in moves and not self._refute(state, each, moves, refuted):
                    return refuted | {each: Verdict(0, exact=False, line=(each,))}
        return refuted

    def unrefuted(self, state: LineState, moves: Iterable[Move], most: int, limit: Limit) -> list[Move]:
        """Return the first of the moves, up to a limit, after which no win of the other side is found."""
        effort, found = Effort(limit), list[Move]()
        for each in moves:
            if len(found) == most or effort.is_over():
                break
            if not self.refutation(state, each):
                found.append(each)
        return found

    def refuted(self, state: LineState, moves: Iterable[Move], limit: Limit) -> dict[Move, Verdict]:
        """Return those of the moves after which the other side is found to win before the limit is reached."""
        effort, refuted = Effort(limit), dict[Move, Verdict]()
        for each in moves:
            if effort.is_over():
                break
            self._refute(state, each, {}, refuted)
        return refuted

    def _refute(
        self,
        state: LineState,
        move: Move,
        moves: dict[Move, Verdict],
        refuted: dict[Move, Verdict],
        most: int | None = None,
    ) -> bool:
        """Tell whether the other side wins after a move, in at most so many plies, and put it down if that is new."""
        if move in moves and moves[move].result is not None:
            return moves[move].result == -1
        line = self.refutation(state, move)
        if not line or (most is not None and len(line) > most):
            return False
        refuted[move] = Verdict(len(line) + 1 - WIN, exact=False, line=(move, *line))
        return True

    def _defences(self, state: LineState, lost: Verdict) -> Iterator[Move]:
        """Yield moves that may help: the first cells of the play that wins."""
        legal = set(self._game.actions(state))
        yield from (cell for cell in dict.fromkeys(lost.line[1 : MOST_DEFENCES + 1]) if cell in legal)


def _worth_mentioning(line: tuple[Move, ...]) -> tuple[Move, ...]:
    """Return a play that wins, or nothing if it is so long that nobody sees it."""
    return line if len(line) <= MOST_PLIES else ()


def unrefuted(game: Game[S], state: S, moves: tuple[Move, ...], ms: int | None) -> tuple[Move, ...]:
    """Return those of some moves after which no win by threats of the other side is found.

    All of them if none is left, or if there is no search for such wins or none loaded in time. In ultimate, those that
    playouts hold to be about as good as the best of them.
    """
    inner, position = beneath(game, state)
    if isinstance(inner, UltimateGame) and isinstance(position, UltimateState):
        values = played_out(inner, position, moves, Limit(ms=ms))
        least = max(values.values(), default=-WIN) - CLOSE
        return tuple(move for move in moves if values.get(move, least) >= least)
    if is_first(state) or may_swap(state) or not is_large(inner) or not isinstance(position, LineState):
        return moves
    return tuple(ThreatWins(inner, ms).unrefuted(position, moves, len(moves), Limit(ms=ms))) or moves


PLAYOUTS = 20_000
"""The playouts for each of some moves of ultimate, 30 ms."""
CLOSE = CERTAIN // 10
"""How much worse than the best one a move of ultimate may be to be named beside it: 5 matches in 100."""


def played_out(game: UltimateGame, state: UltimateState, moves: Iterable[Move], limit: Limit) -> dict[Move, int]:
    """Return the values of some moves by playouts, as far as the limit allows: proved, or the share of `CERTAIN`."""
    effort, values = Effort(limit), dict[Move, int]()
    tree = playout_tree(game, random.Random(0), effort)
    if tree is None:
        return values
    for move in moves:
        after, left = game.result(state, move), effort.seconds_left()
        if effort.is_over():
            break
        if game.is_terminal(after):
            values[move] = game.utility(after, game.to_move(state)) * (WIN - 1)
            continue
        ms = None if left is None else max(1, round(1000 * left))
        reply = tree.choose(after, EXPLORATION, Effort(Limit(nodes=PLAYOUTS, ms=ms)))
        values[move] = from_above(-(reply.value or 0), 1)
    return values


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
        row = row_to_complete(game, state, sight.wins[0])
        return Hint(sight.wins, Explanation(ExplanationKind.WIN_NOW, names_of(game, sight.wins), row=row))
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
        if vanishing_cell(game, state) in sight.threats:
            return Hint(sight.threats, Explanation(ExplanationKind.VANISHES_NOW, (), theirs, row))
        return Hint(sight.threats, Explanation(ExplanationKind.CANNOT_STOP, (), theirs, row))
    return Hint(blocks, Explanation(ExplanationKind.MUST_BLOCK, names_of(game, blocks), theirs, row))


def warning(game: Game[S], state: S, side: Side) -> Hint | None:
    """Return the threat against `side`, on either side's turn; None if none is visible.

    In five in a row on large boards that includes a win by fours and open threes that they would have if they were to
    move, as soon as the engine is loaded, which is not waited for.
    """
    if game.is_terminal(state):
        return None
    sight = look(game, state)
    if sight.side == side:
        if sight.threats:
            is_lost = vanishing_cell(game, state) in sight.threats and not sight.wins
            kind = ExplanationKind.VANISHES_NOW if is_lost else ExplanationKind.THEY_THREATEN
            return _of_theirs(game, kind, sight.threats, _threat_row(game, state, sight))
        if sight.their_double_threats:
            moves, row = tuple(each.move for each in sight.their_double_threats), _double_row(game, state, sight)
            return _of_theirs(game, ExplanationKind.BEWARE_ROW if row else ExplanationKind.BEWARE, moves, row)
        inner, position = beneath(game, state)
        is_open = not (sight.wins or is_first(state) or may_swap(state))
        if is_open and is_large(inner) and isinstance(position, LineState):
            line = ThreatWins(inner, ms=0).threat(position)
            kind, theirs = ExplanationKind.THEY_THREATEN_ROW, names_of(game, line[:1])
            return Hint(line[:1], Explanation(kind, (), theirs, plies=len(line), is_bound=True)) if line else None
        return None
    if sight.wins:
        return _of_theirs(game, ExplanationKind.THEY_WIN_NOW, sight.wins, row_to_complete(game, state, sight.wins[0]))
    if sight.double_threats:
        moves = tuple(each.move for each in sight.double_threats)
        return _of_theirs(game, ExplanationKind.THEY_TWO_THREATS, moves)
    return None


def _of_theirs(game: Game[S], kind: ExplanationKind, moves: tuple[Move, ...], row: MarkRow | None = None) -> Hint:
    return Hint(moves, Explanation(kind, (), names_of(game, moves), row))


def _threat_row(game: Game[S], state: S, sight: Sight) -> MarkRow | None:
    """Return what the other side has in the line that it threatens to complete; None in games without lines."""
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState):
        return row_of_threat(inner, own_and_other(position)[1], sight.threats[0])
    return row_of_reply(game, state, sight.threats[0]) if isinstance(inner, VanishingGame) else None


def _double_row(game: Game[S], state: S, sight: Sight) -> MarkRow | None:
    """Return the open row that makes a double threat of the other side, or None if it is made otherwise."""
    inner, position = beneath(game, state)
    assert is_line_game(inner)
    assert isinstance(position, LineState)
    other = own_and_other(position)[1]
    rows = (row_of_double_threat(inner, other, threat) for threat in sight.their_double_threats)
    return next(filter(None, rows), None)


FEW = 3
"""The maximal number of moves in a hint."""
JUDGE_SHARE = 0.8
"""How much of its limit advice takes to find the truth about every move, in games where that can be found."""


def advise(game: Game[S], state: S, limit: Limit, kept: Kept | None = None) -> Hint | None:
    """Return a good move and the reason for it; None if the game is over.

    A reason that one can see comes first, if it fits a few moves only; else one of the moves that the strongest source
    prefers. No move is named that is known to give away what the position is worth. `kept` comes from earlier advice
    about the same game.
    """
    if game.is_terminal(state):
        return None
    sight, seen = look(game, state), hint(game, state)
    judging = limit_of_truth(game, limit.share(JUDGE_SHARE))
    found = analyse(game, state, judging, kept) if is_solvable(game) else None
    if seen is not None and (held := _held(game, state, sight, seen, found, limit)) is not None:
        return held
    choice = _judged(game, found) if found is not None else _by_threats(game, state, limit)
    if choice is None:
        choice = _searched(game, state, limit, found)
    why = _proved(game, state, choice, sight)
    if why is not None and why.kind in _UNNAMED and is_solvable(game):
        why = _named_win(game, state, choice, limit, kept) or why
    return Hint((choice.move,), why or _reason(game, state, choice))


def _held(game: Game[S], state: S, sight: Sight, seen: Hint, found: Analysis | None, limit: Limit) -> Hint | None:
    """Return the visible hint about a threat, without moves that turn out to be bad; None if none or too many stay."""
    if not (sight.wins or sight.threats or sight.double_threats or sight.their_double_threats):
        return None
    legal = game.actions(state)
    if seen.why.kind is ExplanationKind.CANNOT_STOP and not all(move in legal for move in seen.moves):
        return None  # they win in a board of ultimate to which we were not sent
    moves = tuple(move for move in seen.moves if found is None or move in found.keeping)
    if 1 < len(moves) <= FEW and not sight.wins:
        moves = unrefuted(game, state, moves, limit.ms)
    if 0 < len(moves) <= FEW and sight.value(moves[0]) >= 0:
        return Hint(moves, seen.why._replace(moves=names_of(game, moves)))
    return None


MOST_FOLLOWED = 26
"""The longest win to follow to its end."""
_UNNAMED = (ExplanationKind.WINNING, ExplanationKind.WINNING_IN)


def _named_win(game: Game[S], state: S, choice: Choice, limit: Limit, kept: Kept | None) -> Explanation | None:
    """Return how best play wins in the end after a move that is proved to win; None if that has no name."""
    inner, position = beneath(game, state)
    after, line = inner.result(position, choice.move), choice.line[1:]
    if is_connect4(inner) and isinstance(after, LineState) and plies_to_end(choice.value or 0) <= MOST_FOLLOWED:
        line = (kept or Kept()).solver.best_play(inner, after, Effort(limit.rest(choice.counts)))
    return winning_end(inner, position, choice.move, line)


def _judged(game: Game[S], found: Analysis) -> Choice | None:
    """Return the most promising of the best moves of a position, or None if its worth has not been found."""
    if found.verdict.result is None:
        return None
    first = promise(game)
    move = max(found.best, key=lambda each: first[each])
    return Choice(move, found.verdict.value, found.moves[move].line, found.counts, found.verdict.exact)


def _searched(game: Game[S], state: S, limit: Limit, found: Analysis | None) -> Choice:
    """Return the choice of a search in the rest of the limit, or a move that surely does not lose, if one is known."""
    if found is None:
        return AlphaBeta(random.Random(0))(game, state, limit)
    choice = AlphaBeta(random.Random(0))(game, state, limit.rest(found.counts))
    sure = [move for move, verdict in found.moves.items() if verdict.result in (0, 1)]
    return choice if not sure or choice.move in sure else Choice(sure[0], None, (), choice.counts)


def _by_threats(game: Game[S], state: S, limit: Limit) -> Choice | None:
    """Return the first move of a win by threats, or the choice of a search that prevents one by the other side.

    None if neither is known.
    """
    inner, position = beneath(game, state)
    if is_first(state) or may_swap(state) or not is_large(inner) or not isinstance(position, LineState):
        return None
    threats = ThreatWins(inner, limit.ms)
    if line := threats.win(position):
        return Choice(line[0], WIN - len(line), line, Counts())
    search = deepening(inner, limit, random.Random(0))
    choice = search.choose(position)
    judged = threats.judge(position, None, {choice.move: Verdict(choice.value or 0, choice.exact, ())}, limit)
    held = [move for move, verdict in judged.items() if verdict.result is None]
    if not held and choice.move in judged:
        others = (move for move in search.search.ordered(position) if move not in judged)
        held = threats.unrefuted(position, others, 1, limit)
    return Choice(held[0], None, (), choice.counts) if held else choice


def _proved(game: Game[S], state: S, choice: Choice, sight: Sight) -> Explanation | None:
    """Return what a search has proved of the move that it chose; None if it has proved nothing."""
    names, value = names_of(game, (choice.move,)), choice.value or 0
    if not is_decided(value):
        return None
    if value < 0 and sight.value(choice.move) == LOSS_IN_2:
        replies = sight.replies[choice.move]
        row = row_to_complete(game, game.result(state, choice.move), replies[0])
        return Explanation(ExplanationKind.NO_SAFE_MOVE, names, names_of(game, replies), row)
    if value < 0:
        return Explanation(ExplanationKind.LOSING, names)
    inner, position = beneath(game, state)
    if is_line_game(inner) and isinstance(position, LineState) and makes_two_rows(inner, position, choice.move):
        return Explanation(ExplanationKind.TWO_THREATS, names)
    if plies_to_end(value) > MOST_PLIES:
        return Explanation(ExplanationKind.WINNING, names)
    return Explanation(ExplanationKind.WINNING_IN, names, plies=plies_to_end(value), is_bound=not choice.exact)


def _reason(game: Game[S], state: S, choice: Choice) -> Explanation:
    """Return the reason for a move that a search has chosen."""
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
    if isinstance(inner, UltimateGame) and isinstance(position, UltimateState):
        return merit_of_boards(inner, position, move)
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
