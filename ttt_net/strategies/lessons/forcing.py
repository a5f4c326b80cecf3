"""Find wins by threats alone in five in a row on large boards, fours and open threes: proofs, where numba is there."""

from collections.abc import Iterator

from ttt_net.games import Move
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.analysis import Verdict
from ttt_net.strategies.engine import threat_search
from ttt_net.strategies.strategy import WIN, Effort, Limit

MOST_NODES = 20_000
"""Positions that one look for such a win may take, some 20 ms; so nearly all are found that there are."""
MOST_PLIES = 15
"""The longest win that is told of: what nobody sees is no lesson."""
MOST_DEFENCES = 10
"""Moves against such a win that are looked at."""


class ThreatWins:
    """Looks for wins by threats in positions of one game; finds none where there is no search for them.

    `ms` is how long it may take until the search is loaded.
    """

    def __init__(self, game: LineGame, ms: int | None = None) -> None:
        self._game = game
        self._search = threat_search(game, Effort(Limit(ms=ms)))

    def win(self, state: LineState) -> tuple[Move, ...]:
        """Return the play by which the side to move wins against the longest defence; empty if none is found."""
        return self._look(state, is_reply=False)

    def threat(self, state: LineState) -> tuple[Move, ...]:
        """Return the play by which the other side would win if it were to move; empty if none is found."""
        return self._look(state._replace(ply=state.ply + 1), is_reply=False)

    def _look(self, state: LineState, *, is_reply: bool) -> tuple[Move, ...]:
        if self._search is None or self._game.is_terminal(state):
            return ()
        look = self._search.loss_to_threats if is_reply else self._search.win_by_threats
        found = look(state, MOST_NODES)
        return found if found and len(found) <= MOST_PLIES else ()

    def judge(self, state: LineState, move: Move, moves: dict[Move, Verdict], limit: Limit) -> dict[Move, Verdict]:
        """Return proofs about a move that was made and about better ones, where the verdicts so far know less.

        That is the win that there was; or, if there was none, that the move lets the other side win, and then one that
        does not, if the best one so far does, too.
        """
        effort, best = Effort(limit), max(moves, key=lambda each: moves[each].value)
        if self._search is None or effort.is_over():
            return {}
        if moves[best].result is None and (line := self.win(state)):
            proved = {line[0]: Verdict(WIN - len(line), exact=False, line=line)}
            after = self._look(self._game.result(state, move), is_reply=True)
            if move != line[0] and after:
                proved[move] = Verdict(WIN - len(after) - 1, exact=False, line=(move, *after))
            return proved
        refuted = dict[Move, Verdict]()
        for each in dict.fromkeys((move, best)):
            self._refute(state, each, moves, refuted)
        lost = refuted.get(best, moves[best])
        if lost.result == -1 and -1 in (refuted.get(move, lost).result, moves[move].result):
            for each in self._defences(state, lost):
                if effort.is_over():
                    break
                if each not in moves and not self._refute(state, each, moves, refuted):
                    return refuted | {each: Verdict(0, exact=False, line=(each,))}
        return refuted

    def _refute(self, state: LineState, move: Move, moves: dict[Move, Verdict], refuted: dict[Move, Verdict]) -> bool:
        """Tell whether the other side wins after a move, and put it down if that is new."""
        if move in moves and moves[move].result is not None:
            return moves[move].result == -1
        line = self.win(self._game.result(state, move))
        if line:
            refuted[move] = Verdict(len(line) + 1 - WIN, exact=False, line=(move, *line))
        return bool(line)

    def _defences(self, state: LineState, lost: Verdict) -> Iterator[Move]:
        """Yield moves that may help: the first cells of the play that wins."""
        legal = set(self._game.actions(state))
        yield from (cell for cell in dict.fromkeys(lost.line[1 : MOST_DEFENCES + 1]) if cell in legal)
