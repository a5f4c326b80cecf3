"""Analyse a position: every legal move with its value, and the best play; knows no terminal."""

import random
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from ttt_net.games import Game, Move, Side
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.games.vanishing import VanishingGame, VanishingState
from ttt_net.strategies.alphabeta import SOLVER_SHARE, Deepening, deepening
from ttt_net.strategies.connect4 import Connect4Solver
from ttt_net.strategies.engine import is_connect4, is_installed, is_provable, proof_search
from ttt_net.strategies.heuristic import is_line_game, promise
from ttt_net.strategies.strategy import (
    WIN,
    Counts,
    Effort,
    Limit,
    S,
    Stopped,
    beneath,
    is_decided,
    is_first,
    may_swap,
    plies_to_end,
    value_of_swap,
)
from ttt_net.strategies.vanishing_solver import VanishingSolver

if TYPE_CHECKING:
    from ttt_net.strategies.compiled.proofs import ProofSearch


class Verdict(NamedTuple):
    """A value for the side to move, whether it is exact, and the line of play that supports it.

    An inexact win or loss is certain too, but it may come sooner than the value says.
    """

    value: int
    exact: bool
    line: tuple[Move, ...]

    @property
    def result(self) -> int | None:
        """1 for a win, 0 for a draw, -1 for a loss, None for not known."""
        if is_decided(self.value):
            return 1 if self.value > 0 else -1
        return 0 if self.exact else None

    @property
    def plies(self) -> int | None:
        """The number of plies until the win or the loss, fewer if not exact; None otherwise."""
        return plies_to_end(self.value) if is_decided(self.value) else None


class Analysis(NamedTuple):
    """The verdicts on a position and on each of its moves.

    A finished position has no moves, and its outcome as the verdict.
    """

    side: Side
    verdict: Verdict
    moves: dict[Move, Verdict]
    counts: Counts

    @property
    def best(self) -> tuple[Move, ...]:
        """The moves that are worth as much as the position, ascending."""
        return tuple(sorted(move for move, verdict in self.moves.items() if verdict.value == self.verdict.value))

    @property
    def keeping(self) -> frozenset[Move]:
        """The moves that are not known to give away what the position is worth."""
        results = {move: verdict.result for move, verdict in self.moves.items()}
        known = {result for result in results.values() if result is not None}
        least = max(known) if None not in results.values() else int(1 in known)
        return frozenset(move for move, result in results.items() if (least < 1 if result is None else result >= least))

    @property
    def given_away(self) -> frozenset[Move]:
        """The moves that are known to give away what the position is worth."""
        return frozenset(move for move, verdict in self.moves.items() if verdict.result is not None) - self.keeping


SMALL = 12
"""Boards with at most this many cells are searched to the end, move by move."""


def is_solvable(game: Game[Any]) -> bool:
    """Tell whether the truth about every move of most positions of a game can be found within a second."""
    game = game.base if isinstance(game, SwapGame) else game
    return is_connect4(game) or is_provable(game) or 0 < prod(game.shape) <= SMALL


MOST_SMALL_NODES = 200_000
"""More positions than a search to the end visits on such a board: at most 60,000, a fifth of a second of CPU."""


MOST_CONNECT4_NODES = 30_000_000
"""More positions than most answers of the solver take: of 2,000 sensible positions one took 18,900,000, in 0.6 s."""
MOST_CONNECT4_MS = 5_000
"""How long a very busy machine may take for these positions. A server waits twice as long for a hint."""


def limit_of_truth(game: Game[Any], limit: Limit) -> Limit:
    """Return the limit for finding the truth about a position.

    On small boards and in Connect Four it is a number of positions instead of a time, so that a busy machine finds the
    truth as well. In Connect Four that needs the compiled solver.
    """
    game = game.base if isinstance(game, SwapGame) else game
    if limit.ms is None:
        return limit
    if is_connect4(game) and is_installed():
        return replace(limit, ms=max(limit.ms, MOST_CONNECT4_MS), nodes=MOST_CONNECT4_NODES)
    return replace(limit, ms=None, nodes=MOST_SMALL_NODES) if 0 < prod(game.shape) <= SMALL else limit


WHOLE_LINE = 1_000
"""More plies than a line of best play has."""


class Kept:
    """Results that analyses of one match share from one position to the next.

    Lines of play have at most `line_plies` plies, which saves time.
    """

    def __init__(self, line_plies: int = WHOLE_LINE) -> None:
        self.solver = Connect4Solver()
        self.line_plies = line_plies
        self.proofs: ProofSearch | None = None

    def proofs_of(self, game: LineGame, effort: Effort) -> "ProofSearch | None":
        """Return the proofs of a game with their earlier results, limited."""
        if self.proofs is None:
            self.proofs = proof_search(game, effort)
        else:
            self.proofs.hold_to(effort)
        return self.proofs


def analyse(game: Game[S], state: S, limit: Limit, kept: Kept | None = None) -> Analysis:
    """Return the value of a position and of each of its moves, as exact as the limit allows.

    `kept` comes from an earlier analysis of the same game.
    """
    kept = kept or Kept()
    side = game.to_move(state)
    if game.is_terminal(state):
        over = Verdict(game.utility(state, side) * WIN, exact=True, line=())
        return Analysis(side, over, {}, Effort(limit).counts())
    if isinstance(game, SwapGame) and (is_first(state) or may_swap(state)):
        return _with_swap(analyse(game.base, state.position, limit, kept), side, game.swap, before=is_first(state))
    game, state = beneath(game, state)
    moves = {move: Verdict(0, exact=False, line=(move,)) for move in game.actions(state)}
    watch = Effort(limit)
    if limit.depth is None and isinstance(game, VanishingGame) and isinstance(state, VanishingState):
        moves = _tabled(game, state)
        return Analysis(side, best_of(moves, 0), moves, watch.counts())
    if limit.depth is None and isinstance(state, LineState) and (is_connect4(game) or is_provable(game)):
        solving = Effort(limit.share(SOLVER_SHARE))
        moves |= _solved(game, state, solving, kept) if is_connect4(game) else _proved(game, state, solving, kept)
        if all(verdict.exact for verdict in moves.values()):
            return Analysis(side, best_of(moves, 0), moves, solving.counts())
        limit = limit.rest(solving.counts())
    search = deepening(game, limit, random.Random(0))
    counts = deepened(state, moves, search)
    return Analysis(side, best_of(moves, counts.depth), moves, counts._replace(ms=watch.counts().ms))


def deepened(state: S, moves: dict[Move, Verdict], search: Deepening[S]) -> Counts:
    """Update `moves` by deeper and deeper searches of the unsettled ones; return the cost."""
    unsettled, found = {move for move in moves if not moves[move].exact}, dict[Move, Verdict]()
    try:
        with search.search.running():
            while search.effort.depth < search.max_depth and unsettled:
                for move in sorted(unsettled, key=lambda move: (-moves[move].value, move)):
                    value, is_settled = search.judge(state, move, search.effort.depth + 1)
                    exact = search.is_exact(value, is_settled=is_settled)
                    verdict = Verdict(value, exact, search.line(state, move))
                    if moves[move].result is None or verdict.result is not None:
                        found[move] = verdict
                    if is_settled:
                        unsettled.remove(move)
                search.effort.depth += 1
                moves |= found
    except Stopped:
        # Estimates from different depths cannot be compared: of an unfinished round only proofs count.
        moves |= {move: verdict for move, verdict in found.items() if verdict.result is not None}
    return search.effort.counts()


def _with_swap(found: Analysis, side: Side, swap: Move, *, before: bool) -> Analysis:
    """Return the inner game's analysis as that of the choice to swap, or `before` it, of the swappable move."""
    if before:
        moves = {move: _taken_over(verdict, swap) for move, verdict in found.moves.items()}
    else:
        value, exact, line = found.verdict
        moves = found.moves | {swap: Verdict(value_of_swap(value), exact, (swap, *line))}
    return Analysis(side, best_of(moves, found.counts.depth), moves, found.counts)


def _taken_over(verdict: Verdict, swap: Move) -> Verdict:
    """Return what a first move is worth when the other side takes it over if it is good and does not end the game."""
    value, exact, line = verdict
    if value <= 0 or verdict.plies == 1:
        return verdict
    return Verdict(value_of_swap(value), exact, (line[0], swap, *line[1:]))


def best_of(moves: dict[Move, Verdict], depth: int) -> Verdict:
    """Return the verdict on the position: the best one on a move, exact if nothing unknown can be better.

    All moves have been searched `depth` plies deep, so no unknown move wins within that many plies.
    """
    best = max(moves.values(), key=lambda verdict: verdict.value)
    is_soonest = best.result == 1 and plies_to_end(best.value) <= depth + 1
    return best._replace(exact=best.exact and (is_soonest or all(verdict.exact for verdict in moves.values())))


def _solved(game: LineGame, state: LineState, effort: Effort, kept: Kept) -> dict[Move, Verdict]:
    """Return the verdicts on moves of Connect Four that can be found within the limit.

    First comes one move that keeps the result, then who wins after each move, in a third of the time that the scores
    take. Together all of it takes no longer than the scores alone, as one search remembers what the other has found.
    """
    solver, verdicts = kept.solver, dict[Move, Verdict]()
    last = game.size - state.ply

    def tell(move: Move, score: int) -> None:
        value = 0 if score == 0 else WIN - last if score > 0 else last - WIN
        verdicts[move] = Verdict(value, exact=score == 0, line=(move,))

    try:
        score = solver.score(game, state, effort, -1, 1)
        tell(solver.best_move(game, state, max(-1, min(score, 1)), effort), score)
        for move in game.actions(state):
            if move not in verdicts:
                tell(move, solver.score_of_move(game, state, move, effort, -1, 1))
        scores = {move: solver.score_of_move(game, state, move, effort) for move in verdicts}
        verdicts |= {
            move: Verdict(solver.value_of(score, state), exact=True, line=(move,)) for move, score in scores.items()
        }
        best = max(scores, key=scores.__getitem__)
        line = solver.line(game, game.result(state, best), -scores[best], effort, kept.line_plies)
        verdicts[best] = verdicts[best]._replace(line=(best, *line))
    except Stopped:
        pass  # the remaining moves are left to a search that can estimate them
    return verdicts


def _tabled(game: VanishingGame, state: VanishingState) -> dict[Move, Verdict]:
    """Return the exact verdicts on all moves of vanishing tic-tac-toe."""
    solver = VanishingSolver(game)
    return {
        move: Verdict(value, exact=True, line=(move, *solver.line(game.result(state, move), value)))
        for move, value in solver.values(state)
    }


def _proved(game: LineGame, state: LineState, effort: Effort, kept: Kept) -> dict[Move, Verdict]:
    """Return the exact verdicts on moves of a small board that can be proved within the limit."""
    search, proved = kept.proofs_of(game, effort), dict[Move, Verdict]()
    if search is None:
        return proved
    try:
        with search.running():
            for move in sorted(game.actions(state), key=promise(game).__getitem__, reverse=True):
                value = search.value_of_move(state, move)
                proved[move] = Verdict(value, exact=True, line=search.line(state, move, value))
    except Stopped:
        pass  # as above
    return proved


def solver_score(game: Game[S], state: S, verdict: Verdict) -> int | None:
    """Return a verdict as solvers of Connect Four score it, for the side to move; None if not defined or not exact.

    A win is worth one more than the stones that its winner has left once the line is complete, a loss the same
    below zero, and a draw 0: so 1 is a win with the very last stone.
    """
    if not is_line_game(game) or verdict.result is None or not verdict.exact:
        return None
    if verdict.plies is None:
        return 0
    assert isinstance(state, LineState)
    end = state.ply + verdict.plies
    winner = (end - 1) & 1
    stones_in_all, stones_used = (game.size + 1 - winner) // 2, (end + 1 - winner) // 2
    return verdict.result * (stones_in_all - stones_used + 1)
