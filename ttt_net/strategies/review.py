"""Review a finished match: the value and grade of each move, and the one move that decided it, with a lesson."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Generic, NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.strategies.alphabeta import deepening
from ttt_net.strategies.analysis import Analysis, Kept, Verdict, analyse, best_of, deepened, is_solvable
from ttt_net.strategies.engine import EXPLORATION, is_connect4, is_large, playout_tree
from ttt_net.strategies.explanation import (
    ENDS,
    FAR,
    LARGE_DROP,
    MOST_TO_END,
    SMALL_DROP,
    Explanation,
    ExplanationKind,
    Kind,
    Mistake,
    allowed_fork,
    as_played,
    drop_of,
    estimate_of,
    fault_of_boards,
    forced_end,
    names_of,
    searched_mistake,
    seen_mistake,
)
from ttt_net.strategies.heuristic import is_line_game
from ttt_net.strategies.hints import CLOSE, MOST_FOLLOWED, ThreatWins, played_out
from ttt_net.strategies.mcts import CERTAIN
from ttt_net.strategies.sight import Sight, look
from ttt_net.strategies.strategy import (
    WIN,
    Choice,
    Counts,
    Effort,
    Limit,
    S,
    Stopped,
    beneath,
    from_above,
    is_decided,
    is_first,
    may_swap,
)

MANY_PLIES = 4
"""A win that is this much later, or a loss that is this much sooner, gets a sign."""
SOON = 8
"""In a lost position, mistakes that cost fewer plies are not a lesson for a beginner."""
LINE_PLIES = 4
"""The number of moves of best play to show after a best move."""
TRUSTED_DEPTH = 4
"""The minimal depth of a search for its estimates to make a move doubtful."""
MOST_HELD = 12
"""The number of moves that wait for proofs about the positions after them."""
MOST_CHECKED = 12
"""The maximal number of moves against a threat to search one by one."""
LEAST_PLAYOUTS = 4_000
"""The number of playouts of each of two moves below which their difference may be chance."""
MOST_CERTAIN = 0.98
"""The largest mean result of playouts, from -1 to 1, that an estimate can hold."""


class Grade(StrEnum):
    """The grade of a move, as far as proved.

    Forced: there was no other. Only move: all others would have given something away. Best: none was better. Good: it
    kept a win or a loss, or nothing is known against it. Slower win, sooner loss: the same result, but not so well.
    Missed win: a win became a draw. Blunder: a win or a draw became a loss, or the other side was let win at once.
    Doubtful, mistake: worse by an estimate, by a threat that was overlooked, or by a loss that only a long search sees.
    Lost anyway: every move loses, and none is known to hold out longer.
    """

    FORCED = "forced"
    ONLY_MOVE = "only move"
    BEST = "best"
    GOOD = "good"
    SLOWER_WIN = "slower win"
    SOONER_LOSS = "sooner loss"
    MISSED_WIN = "missed win"
    BLUNDER = "blunder"
    LOST = "lost anyway"
    DOUBTFUL = "doubtful"
    MISTAKE = "mistake"


_SIGNS = {
    Grade.ONLY_MOVE: "!",
    Grade.DOUBTFUL: "?!",
    Grade.MISTAKE: "?",
    Grade.MISSED_WIN: "?",
    Grade.BLUNDER: "??",
}


class Reviewed(NamedTuple):
    """A move of the match and the best moves; verdicts are from the view of its player.

    `mistake` describes what was wrong with it, None if nothing is known.
    """

    ply: int
    side: Side
    move: Move
    was: Verdict
    could: Verdict
    best: tuple[Move, ...]
    grade: Grade
    mistake: Mistake | None = None
    keeping: tuple[Move, ...] = ()
    """The moves that are not known to give the result away; empty if no move is known to."""

    @property
    def lost(self) -> int | None:
        """The loss by the move: 1 a win for a draw or a draw for a loss, 2 a win for a loss; None if not known."""
        if self.was.result is None or self.could.result is None:
            return None
        return self.could.result - self.was.result

    @property
    def sign(self) -> str:
        """The grade as players write it: `!`, `?!`, `?` or `??`; empty for an ordinary move."""
        if self.grade in (Grade.SLOWER_WIN, Grade.SOONER_LOSS):
            return "?!" if abs((self.was.plies or 0) - (self.could.plies or 0)) >= MANY_PLIES else ""
        return _SIGNS.get(self.grade, "")


def glance(game: Game[S], moves: Sequence[Move], start: S | None = None) -> Iterator[Reviewed]:
    """Yield each move, judged without a search, in milliseconds for a match."""
    state = game.initial if start is None else start
    for ply, move in enumerate(moves, 1):
        sight = look(game, state)
        found = _seen(sight, tuple(game.actions(state)))
        yield _judged(game, Made(state, ply, move, found, sight), moves[ply] if ply < len(moves) else None)
        state = game.result(state, move)


def review(
    game: Game[S], moves: Sequence[Move], limit: Limit, start: S | None = None, total: Limit | None = None
) -> Iterator[Reviewed]:
    """Yield each move of a match from `start`, judged as well as time allows.

    `limit` is for each position, `total` for all of them together. A move is yielded once `MOST_HELD` positions after
    it have been judged too, because proofs about them apply to the move.
    """
    reviewer, effort, held = Reviewer(game), Effort(total or Limit()), list[Made]()
    state = game.initial if start is None else start
    for number, move in enumerate(moves):
        share = _share(limit, effort, len(moves) - number)
        found, sight = reviewer.judge(state, move, share)
        held.append(Made(state, number + 1, move, found, sight))
        reviewer.confirm(held, share)
        if len(held) > MOST_HELD:
            yield _judged(game, held.pop(0), held[0].move)
        state = game.result(state, move)
    if held and not game.is_terminal(state) and not held[-1].is_proved():
        share = _share(limit, effort, 1)
        after = reviewer.judge(state, None, share)[0]
        held[-1] = reviewer.rescued(held[-1], held[-1].confirmed(after), share)
        reviewer.confirm(held, share)
    for number, made in enumerate(held, 1):
        yield _judged(game, made, held[number].move if number < len(held) else None)


def _share(limit: Limit, effort: Effort, positions: int) -> Limit:
    """Return the limit of one of the remaining positions; unused time goes to the others."""
    left = effort.seconds_left()
    if left is None:
        return limit
    ms = max(1, round(1000 * left * min(1.0, 2 / (positions + 1))))
    return Limit(limit.depth, limit.nodes, ms if limit.ms is None else min(ms, limit.ms), limit.cancelled)


class Made(NamedTuple):
    """A move of a match, its position, and the position's analysis."""

    state: Any
    ply: int
    move: Move
    found: Analysis
    sight: Sight

    def is_proved(self) -> bool:
        """Tell whether the exact value of the move is known."""
        verdict = self.found.moves[self.move]
        return verdict.exact and verdict.result is not None

    def confirmed(self, after: Analysis) -> "Made":
        """Return it with the proof about the position after the move."""
        return self._replace(found=_confirmed(self.found, self.move, after))


class Reviewer(Generic[S]):
    """Judges the positions of one match, and reuses results from one to the next."""

    def __init__(self, game: Game[S]) -> None:
        self.game = game
        self._kept = Kept(line_plies=0)
        self._threats: ThreatWins | None = None

    def judge(self, state: S, move: Move | None, limit: Limit) -> tuple[Analysis, Sight]:
        """Return the analysis of a position, including at least `move`, and its visible features."""
        game, sight = self.game, look(self.game, state)
        inner, position = beneath(game, state)
        if is_first(state) or may_swap(state) or is_solvable(inner):
            found = analyse(game, state, limit, self._kept)
            if is_connect4(inner) and isinstance(position, LineState) and move is not None:
                found = self._followed(inner, position, move, found, limit)
        elif isinstance(inner, UltimateGame) and isinstance(position, UltimateState):
            found = self._played_out(inner, position, move, limit)
            if move is not None and sight.value(move) < 0:
                found = self._with_answers(inner, position, sight, found, limit.share(0.5))
        else:
            found = self._focused(inner, position, move, sight, limit)
        return _with_sight(found, sight), sight

    def _followed(self, game: LineGame, state: LineState, move: Move, found: Analysis, limit: Limit) -> Analysis:
        """Return an analysis with the continuation of a losing move of Connect Four, if the loss is near or was none.

        Of a move that lost a draw or a win it reaches the end, which says why.
        """
        verdict, after = found.moves.get(move), game.result(state, move)
        if verdict is None or verdict.result != -1 or not verdict.exact:
            return found
        has_turned = found.verdict.result in (0, 1)
        if (verdict.plies or 0) > (MOST_FOLLOWED if has_turned else FAR):
            return found
        most = MOST_FOLLOWED if has_turned else LINE_PLIES
        line = self._kept.solver.best_play(game, after, Effort(limit), most)
        return found._replace(moves=found.moves | {move: verdict._replace(line=(move, *line))})

    def _focused(self, game: Game[S], state: S, move: Move | None, sight: Sight, limit: Limit) -> Analysis:
        """Search for the best move, then compare the actual move with it, without spending time on others."""
        best = self._best(game, state, sight, limit)
        counts, moves = best.counts, {best.move: Verdict(best.value or 0, best.exact, best.line)}
        if move is not None and move != best.move:
            moves[move] = Verdict(0, exact=False, line=(move,))
            if move not in sight.values:
                compared = {each: verdict._replace(exact=False) for each, verdict in moves.items()}
                rest = replace(limit.rest(counts), depth=max(1, counts.depth))
                counts = counts.and_then(deepened(state, compared, deepening(game, rest, random.Random(0))))
                moves = compared | {each: verdict for each, verdict in moves.items() if verdict.result is not None}
        moves |= self._refuted(game, state, sight, limit)
        is_quiet = not (sight.wins or sight.threats or sight.double_threats)
        if move is not None and is_quiet and is_large(game) and isinstance(state, LineState):
            self._threats = self._threats or ThreatWins(game, ms=0)
            moves |= self._threats.judge(state, move, moves, limit.share(0.2))
        return Analysis(sight.side, best_of(moves, 0), moves, counts)

    def confirm(self, held: list[Made], limit: Limit) -> None:
        """Apply proofs about each of these consecutive positions to the move before it, from the last one on."""
        for number in range(len(held) - 2, -1, -1):
            before = held[number]
            made = before.confirmed(held[number + 1].found)
            if made.found is before.found:
                return
            held[number] = self.rescued(before, made, limit)

    def rescued(self, before: Made, made: Made, limit: Limit) -> Made:
        """Return a move that the position after it has shown to lose, with the best of the moves not looked at so far.

        Without one, a move that a short search liked best would not be a mistake, as it was the best move known.
        """
        game, position = beneath(self.game, made.state)
        was_open = before.found.verdict.result is None and made.found.verdict.result == -1
        if not was_open or not is_line_game(game) or not isinstance(position, LineState):
            return made
        first = deepening(game, limit.share(0.5), random.Random(0))
        line = made.found.moves[made.move].line[1:]
        legal, known = game.actions(position), made.found.moves
        likely = (*(cell for cell in line if cell in legal), *first.search.ordered(position))
        others = dict.fromkeys(each for each in likely if each not in known)
        sound = list(others)[:MOST_CHECKED]
        if is_large(game):
            self._threats = self._threats or ThreatWins(game, ms=0)
            sound = self._threats.unrefuted(position, others, MOST_CHECKED, limit.share(0.2))
        if not sound:
            return made
        moves = {each: Verdict(0, exact=False, line=(each,)) for each in sound}
        deepened(position, moves, first)
        best = max(moves, key=lambda each: moves[each].value)
        if moves[best].result == -1:
            return made
        moves = known | {best: moves[best]}
        return made._replace(found=made.found._replace(moves=moves, verdict=best_of(moves, made.found.counts.depth)))

    def _played_out(self, game: UltimateGame, state: UltimateState, move: Move | None, limit: Limit) -> Analysis:
        """Compare the actual move with the best one by playouts, as no estimate of ultimate can be trusted.

        Without enough playouts of both, nothing is known of the move unless they proved it.
        """
        first, second = Effort(limit.share(0.5)), Effort(limit.share(0.5))
        tree = playout_tree(game, random.Random(0), first)
        if tree is None:
            return _unknown(game.to_move(state), tuple(game.actions(state)))
        best = tree.choose(state, EXPLORATION, first)
        moves = {best.move: _verdict_of_playouts(best, best.line)}
        if move is not None and move != best.move:
            after = game.result(state, move)
            if game.is_terminal(after):
                moves[move] = Verdict(game.utility(after, game.to_move(state)) * (WIN - 1), exact=True, line=(move,))
            else:
                reply = tree.choose(after, EXPLORATION, second)
                answered = _verdict_of_playouts(reply, (move, *reply.line))
                moves[move] = answered._replace(value=from_above(-answered.value, 1))
                if moves[move].result is None and min(first.nodes, second.nodes) < LEAST_PLAYOUTS:
                    moves[move] = moves[move]._replace(value=moves[best.move].value)
        counts = first.counts().and_then(second.counts())._replace(depth=first.depth)
        return Analysis(game.to_move(state), best_of(moves, 0), moves, counts)

    def _with_answers(
        self, game: UltimateGame, state: UltimateState, sight: Sight, found: Analysis, limit: Limit
    ) -> Analysis:
        """Return an analysis with what playouts tell of the moves that do not lose at once, if these are few."""
        sound = [each for each in game.actions(state) if sight.value(each) >= 0 and each not in found.moves]
        if len(sound) > MOST_CHECKED:
            return found
        values = played_out(game, state, sound, Limit(ms=limit.ms))
        answers = {each: Choice(each, value, (each,), Counts()) for each, value in values.items()}
        moves = {each: _verdict_of_playouts(choice, choice.line) for each, choice in answers.items()} | found.moves
        return found._replace(moves=moves, verdict=best_of(moves, 0))

    def _best(self, game: Game[S], state: S, sight: Sight, limit: Limit) -> Choice:
        """Return the best move by visible features, or else by a search with half of the limit."""
        decided = {move: value for move, value in sight.values.items() if value > 0}
        if decided:
            move = max(decided, key=lambda each: decided[each])
            return Choice(move, decided[move], (move,), Effort(limit).counts(), exact=True)
        choice = deepening(game, limit.share(0.5), random.Random(0)).choose(state)
        sound = [move for move in game.actions(state) if sight.value(move) >= 0]
        if sight.value(choice.move) < 0 and sound:  # there was not enough time even for that
            return Choice(sound[0], 0, (sound[0],), choice.counts)
        return choice

    def _refuted(self, game: Game[S], state: S, sight: Sight, limit: Limit) -> dict[Move, Verdict]:
        """Return the moves against a double threat that still lose, by a longer sequence of threats."""
        sound = [move for move in game.actions(state) if sight.value(move) >= 0]
        if not sight.their_double_threats or len(sound) > MOST_CHECKED:
            return {}
        search, lost = deepening(game, limit.share(0.2), random.Random(0)).search, dict[Move, Verdict]()
        try:
            with search.running():
                for move in sound:
                    line = search.forced_win(game.result(state, move))
                    if line is not None:
                        lost[move] = Verdict(len(line) + 1 - WIN, exact=False, line=(move, *line))
        except Stopped:
            pass  # the others are assumed to be sound, as far as threats alone do not refute them
        if is_large(game) and isinstance(state, LineState):
            self._threats = self._threats or ThreatWins(game, ms=0)
            lost |= self._threats.refuted(state, [move for move in sound if move not in lost], limit.share(0.2))
        return lost if len(lost) < len(sound) else {}


def _verdict_of_playouts(choice: Choice, line: tuple[Move, ...]) -> Verdict:
    """Return the verdict of playouts: a proof, or the estimate that `scaled` turns into their mean result."""
    value = choice.value or 0
    if choice.exact or is_decided(value):
        return Verdict(value, choice.exact, line)
    mean = max(-MOST_CERTAIN, min(MOST_CERTAIN, value / CERTAIN))
    return Verdict(estimate_of(mean), exact=False, line=line)


def _seen(sight: Sight, moves: tuple[Move, ...]) -> Analysis:
    """Return the analysis of a position from visible features only."""
    return _with_sight(_unknown(sight.side, moves), sight)


def _unknown(side: Side, moves: tuple[Move, ...]) -> Analysis:
    """Return the analysis of a position of which nothing is known."""
    unknown = {move: Verdict(0, exact=False, line=(move,)) for move in moves}
    return Analysis(side, best_of(unknown, 0), unknown, Counts())


def _with_sight(found: Analysis, sight: Sight) -> Analysis:
    """Return an analysis with exact visible values in place of estimates."""
    seen = {
        move: Verdict(value, exact=True, line=(move, *sight.replies.get(move, ())))
        for move, value in sight.values.items()
        if move not in found.moves or not found.moves[move].exact
    }
    if not seen:
        return found
    moves = found.moves | seen
    return found._replace(moves=moves, verdict=best_of(moves, found.counts.depth))


def _confirmed(found: Analysis, move: Move, after: Analysis) -> Analysis:
    """Return an analysis with proofs about the position after a move in place of an estimate of the move."""
    known, proved = found.moves[move], after.verdict
    if proved.result is None or (known.result is not None and (known.exact or not proved.exact)):
        return found
    sign = 1 if after.side == found.side else -1
    verdict = Verdict(from_above(sign * proved.value, 1), proved.exact, (move, *proved.line))
    moves = found.moves | {move: verdict}
    return found._replace(moves=moves, verdict=best_of(moves, found.counts.depth))


def _judged(game: Game[Any], made: Made, reply: Move | None) -> Reviewed:
    """Return a move with its grade and its mistake, by the analysis of the position.

    `reply` is the next move of the match.
    """
    state, ply, move, found, sight = made
    was, could = found.moves[move], found.verdict
    legal, wrong = game.actions(state), found.given_away
    mistake = seen_mistake(game, state, move, sight, _sound(game, state, found, sight))
    if mistake is None or (mistake.kind is Kind.ALLOWED_DOUBLE and _is_lost_anyway(was, could)):
        mistake = _searched(game, made, reply)
    elif reply is not None:
        mistake = as_played(game, state, move, mistake, sight, reply)
    grade = grade_of(found, move, len(legal))
    if mistake is not None and mistake.kind is not Kind.SEARCHED:
        grade = _grade_of_seen(mistake, was, grade)
    elif grade is None:
        grade = Grade.GOOD if mistake is None else grade_of_drop(was, could)
    elif grade is Grade.BLUNDER and (was.plies or 0) > FAR:
        grade = Grade.MISTAKE
    best = mistake.better if mistake is not None and mistake.kind is not Kind.SEARCHED else found.best
    keeping = tuple(each for each in legal if each not in wrong) if wrong else ()
    return Reviewed(ply, found.side, move, was, could, best, grade, mistake, keeping)


def _searched(game: Game[Any], made: Made, reply: Move | None) -> Mistake | None:
    """Return the mistake of a move without a visible one, or None if none is known."""
    state, _, move, found, _ = made
    was, could = found.moves[move], found.verdict
    mistake = searched_mistake(game, was, could, found.best if move not in found.best else ())
    if not _is_trusted(game, found, was):
        mistake = None
    if was.result == -1 and mistake is not None:
        fork = allowed_fork(game, state, move, mistake.line, mistake.better)
        return fork or forced_end(game, state, move, mistake) or mistake
    if was.result is None and could.result is None and reply is not None:
        mistake = allowed_fork(game, state, move, (reply,), ()) or mistake
    if mistake is not None and mistake.why.kind is ExplanationKind.LOOKED_WORSE:
        inner, position = beneath(game, state)
        if isinstance(inner, UltimateGame) and isinstance(position, UltimateState):
            why = fault_of_boards(inner, position, move, mistake.better)
            return mistake if why is None else mistake._replace(why=why)
    return mistake


def _is_trusted(game: Game[Any], found: Analysis, was: Verdict) -> bool:
    """Tell whether a difference to the best move may count against a move.

    Estimates of very short searches, which see no plan, do not; nor in ultimate the proof of a loss that playouts had
    expected of the best move too.
    """
    could = found.verdict
    if was.result is could.result is None and found.counts.depth < TRUSTED_DEPTH:
        return False
    is_known = was.result is not None and could.result is not None
    return not isinstance(game, UltimateGame) or is_known or drop_of(was, could) >= SMALL_DROP


def _is_lost_anyway(was: Verdict, could: Verdict) -> bool:
    """Tell whether the best move would have lost not much later."""
    return could.result == was.result == -1 and (could.plies or 0) - (was.plies or 0) < SOON


def _sound(game: Game[S], state: S, found: Analysis, sight: Sight) -> tuple[Move, ...]:
    """Return the moves that are as good as the best one, as far as known."""
    if found.verdict.exact and len(found.moves) == len(game.actions(state)):
        return found.best
    sound = tuple(move for move in game.actions(state) if sight.value(move) >= 0)
    sound = tuple(move for move in sound if move not in found.moves or found.moves[move].result != -1) or sound
    if isinstance(game, UltimateGame):
        known, least = found.moves, CLOSE / CERTAIN
        close = tuple(move for move in sound if move in known and drop_of(known[move], found.verdict) <= least)
        sound = close or sound
    return sound if len(sound) <= MOST_CHECKED else tuple(move for move in found.best if move in sound) or sound


def _grade_of_seen(mistake: Mistake, was: Verdict, grade: Grade | None) -> Grade:
    """Return the grade of a visible mistake."""
    if grade is Grade.BLUNDER or mistake.kind in (Kind.UNBLOCKED, Kind.GAVE_WIN):
        return Grade.BLUNDER
    if was.result == 1:
        return Grade.SLOWER_WIN if grade is Grade.SLOWER_WIN else Grade.DOUBTFUL
    return grade if grade is Grade.MISSED_WIN else Grade.MISTAKE


def grade_of_drop(was: Verdict, could: Verdict) -> Grade:
    """Return the grade of a bad move, by its difference from the best one.

    A proved loss or missed win is at least doubtful, however bad the estimate of the best move.
    """
    drop, is_proved = drop_of(was, could), was.result == -1 or could.result == 1
    if drop >= LARGE_DROP:
        return Grade.MISTAKE
    return Grade.DOUBTFUL if is_proved or drop >= SMALL_DROP else Grade.GOOD


def grade_of(analysis: Analysis, move: Move, legal: int | None = None) -> Grade | None:
    """Return the grade of a move in an analysed position, or None if nothing proves one.

    `legal` is the number of legal moves, if the analysis did not judge all of them.
    """
    was, could = analysis.moves[move], analysis.verdict
    others = [verdict.result for other, verdict in analysis.moves.items() if other != move]
    is_complete = legal is None or legal == len(analysis.moves)
    if not others and is_complete:
        return Grade.FORCED
    if is_complete and was.result != -1 and set(others) == {-1}:
        return Grade.ONLY_MOVE
    if was.result is None or could.result is None:
        return None
    if was.result < could.result:
        return Grade.MISSED_WIN if was.result == 0 else Grade.BLUNDER
    if is_complete and all(other is not None and other < was.result for other in others):
        return Grade.ONLY_MOVE
    return _grade_of_kept_result(was, could)


def _grade_of_kept_result(was: Verdict, could: Verdict) -> Grade:
    """Return the grade of a move that kept the result: by how soon the match ends, where that is known."""
    if was.exact and could.exact:
        worse = Grade.SLOWER_WIN if was.result == 1 else Grade.SOONER_LOSS
        return Grade.BEST if was.value == could.value else worse
    if was.result == -1:
        return Grade.SOONER_LOSS if (was.plies or 0) < (could.plies or 0) else Grade.LOST
    return Grade.GOOD


MOST_SHOWN = 5
"""The number of moves of the continuation in a lesson."""
NEVER = 10_000
"""More plies than any match has."""


class Lesson(NamedTuple):
    """The lesson of a match; `ply` and `side` are None if no move is known to have given anything away.

    `ply` counts from 1 and belongs to the wrong move; `better` has all best moves.
    """

    ply: int | None
    side: Side | None
    better: tuple[Move, ...]
    why: Explanation
    follows: tuple[Move, ...] = ()
    """The first moves of the continuation: the other side's moves and the answers, in turn."""

    def judged(self, game: Game[Any], found: Analysis) -> "Lesson":
        """Return the lesson without better moves that give the result away, by an analysis of the position."""
        return self.of_better(game, tuple(move for move in self.better if move in found.keeping) or found.best)

    def of_better(self, game: Game[Any], better: tuple[Move, ...]) -> "Lesson":
        """Return the lesson with these better moves."""
        return self._replace(better=better, why=self.why._replace(moves=names_of(game, better)))

    def in_words(self, game: Game[Any]) -> str:
        """Return the mistake of the move as a sentence, with a short continuation."""
        if self.ply is None:
            return self.why.in_words()
        after = f" What follows: {' '.join(names_of(game, self.follows))}." if self.follows else ""
        return f"Move {self.ply}: {self.why.in_words()}.{after}"

    def as_json(self, game: Game[Any]) -> dict[str, object]:
        """Return the object for programs, with moves in notation."""
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
    """Return the lesson of a match whose moves have been reviewed, and which `winner` (or nobody) has won.

    Only the loser's moves decided a match that was won. In any other, the lesson is for the player who missed most.
    """
    judged = [each for each in reviewed if each.mistake and (winner is None or each.side != winner)]
    wrong = [(each, each.mistake) for each in judged if each.mistake]
    if not wrong:
        known = ExplanationKind.NOTHING if is_searched else ExplanationKind.NOTHING_SEEN
        return Lesson(None, None, (), Explanation(known))
    each, mistake = min(wrong, key=lambda pair: _order(*pair))
    most = MOST_TO_END if mistake.why.kind in ENDS and len(mistake.line) <= MOST_TO_END else MOST_SHOWN
    return Lesson(each.ply, each.side, mistake.better, mistake.why, mistake.line[:most])


def _order(each: Reviewed, mistake: Mistake) -> tuple[float, ...]:
    """Rank a mistake: first the most visible, then the most costly, then the latest.

    A win that was given away in a position where every move loses about as soon decided nothing. Nor did a move that is
    proved to lose decide much, where the best one was nearly lost by estimate.
    """
    is_forced = mistake.kind is Kind.GAVE_WIN and _is_lost_anyway(each.was, each.could)
    if mistake.kind is not Kind.SEARCHED and not is_forced:
        return (mistake.kind, -each.ply)
    is_turn = each.lost is not None and each.lost > 0
    drop = drop_of(each.was, each.could)
    is_confirmed = each.was.result == -1 and each.could.result is None and drop >= LARGE_DROP
    plies = abs((each.could.plies or NEVER) - (each.was.plies or NEVER)) if each.lost == 0 else 0
    rank = 0 if is_turn or is_confirmed else 2 if plies else 1
    return (Kind.SEARCHED, rank, -plies, -drop if rank == 1 else 0, -each.ply)


def winner_of(game: Game[S], state: S) -> Side | None:
    """Return the winner by the rules of a final position, or None."""
    outcome = game.outcome(state)
    return None if outcome is None else outcome.winner
