"""Iterative deepening: look one ply ahead, then two, and so on, and have a move to play whenever the limit is reached.

Each pass costs little beside the next, and finds the order of moves that makes the next one fast.
"""

from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

from ttt_net.games import Game, Move
from ttt_net.strategies.strategy import DECIDED, WIN, Choice, Effort, Limit, S, Stopped, is_decided, plies_to_end

INFINITY = WIN + 1
UNLIMITED_DEPTH = 1 << 30

S_contra = TypeVar("S_contra", contravariant=True)


class Search(Protocol[S_contra]):
    """A search to a given depth, which remembers what it has found: in plain Python, or compiled."""

    effort: Effort
    exact_plies: int | None
    """Up to how many plies a win or a loss comes as soon as it is told to; None: as many as have been looked ahead."""

    @property
    def guesses(self) -> int:
        """How many values so far rest on an estimate."""

    def ordered(self, state: S_contra) -> list[Move]:
        """Return the legal moves worth a look, the most promising one first; the others only if these all lose."""

    def forced_win(self, state: S_contra) -> tuple[Move, ...] | None:
        """Return the play of a win by threats alone, if one is looked for and found. Raises `Stopped` if time is over.

        It is the shortest of its kind, so one of five plies or less is the shortest of all.
        """

    def value_of_move(self, state: S_contra, move: Move, depth: int, alpha: int, beta: int) -> int:
        """Return a root move's value for who makes it; outside the window a bound. Raises `Stopped` if time is over."""

    def remembered(self, state: S_contra) -> Move | None:
        """Return the move that was found best in a position, if it is remembered."""

    def running(self) -> AbstractContextManager[None]:
        """Return what has to surround the use of the search."""


class Deepening(Generic[S]):
    """Asks a search for more and more depth until a value is known or the limit reached."""

    def __init__(self, game: Game[S], search: Search[S], limit: Limit) -> None:
        self.game, self.search, self.effort = game, search, search.effort
        self.max_depth = UNLIMITED_DEPTH if limit.depth is None else limit.depth
        self.is_hurried = limit.depth is None and (limit.ms is not None or limit.nodes is not None)
        """Whether a win is good enough to stop at, even if there may be a shorter one; never at a limited depth."""

    def choose(self, state: S) -> Choice:
        """Return the best move of a position."""
        moves = self.search.ordered(state)
        self._move, self._value, is_settled = moves[0], 0, False
        try:
            with self.search.running():
                line = self.search.forced_win(state) if self.is_hurried else None
                if line is not None:
                    return Choice(line[0], WIN - len(line), line, self.effort.counts(), len(line) <= 5)
                while not is_settled and self.effort.depth < self.max_depth and not self._is_won():
                    moves.sort(key=self._move.__ne__)
                    is_settled = self._deepen(state, moves, self.effort.depth + 1)
                    self.effort.depth += 1
                    if (
                        self._value <= -DECIDED
                        and not is_settled
                        and self.is_hurried
                        and self._resists(state, moves[0])
                    ):
                        break
        except Stopped:
            pass  # what the unfinished pass has found so far is better than what the one before it knew
        exact = self.is_exact(self._value, is_settled=is_settled)
        return Choice(self._move, self._value, self.line(state, self._move), self.effort.counts(), exact)

    def _is_won(self) -> bool:
        """Tell whether a win has been found and there is no time for a shorter one."""
        return self.is_hurried and self._value >= DECIDED

    def _resists(self, state: S, held: Move) -> bool:
        """Choose, of moves that all lose, the one after which the other side's win by threats is longest.

        The values of the moves do not tell that: each comes from the win that the search found first. If the search is
        exact for short wins only (`exact_plies`), a move after which it finds no win by threats at all is better still,
        and of several such moves `held`, the best one until all were seen to lose. If no move allows a win by threats,
        the choice stays as it was. Return whether a move allows one. Raises `Stopped` if time is over.
        """
        moves, unfound = self.search.ordered(state), 0
        if self.search.exact_plies is not None:
            moves, unfound = [held, *(move for move in moves if move != held)], UNLIMITED_DEPTH
        chosen, longest, has_win = self._move, 0, False
        for move in moves:
            line = self.search.forced_win(self.game.result(state, move))
            has_win = has_win or line is not None
            length = unfound if line is None else len(line)
            if length > longest:
                longest, self._move = length, move
        if not has_win:
            self._move = chosen
        return has_win

    def _deepen(self, state: S, moves: list[Move], depth: int) -> bool:
        """Find the best of the moves by looking `depth` plies ahead; return whether its value is now settled.

        If they all lose, the legal moves that are not among them are added to them, and looked at too.
        """
        guesses, best, best_move = self.search.guesses, -INFINITY, moves[0]
        for number, move in enumerate(moves, 1):
            if best <= -DECIDED:
                self._move = move  # should time run out now: rather a move not yet refuted than one that loses
            value = self.search.value_of_move(state, move, depth, best, INFINITY)
            if value > best:
                best, best_move = value, move
            if best > -DECIDED:  # as long as not every move has been seen to lose, the position is not lost
                self._move, self._value = best_move, best
            elif number == len(moves):
                moves += [move for move in self.game.actions(state) if move not in moves]
        self._move, self._value = best_move, best
        return self._is_settled(best, depth, guesses)

    def judge(self, state: S, move: Move, depth: int) -> tuple[int, bool]:
        """Return the value of one move for who makes it, `depth` plies ahead, and whether it is settled."""
        guesses = self.search.guesses
        value = self.search.value_of_move(state, move, depth, -INFINITY, INFINITY)
        return value, self._is_settled(value, depth, guesses)

    def _is_settled(self, value: int, depth: int, guesses_before: int) -> bool:
        """Tell whether a deeper search can change nothing: there was no guess, or all that is shorter was looked at."""
        return guesses_before == self.search.guesses or (is_decided(value) and plies_to_end(value) <= depth)

    def is_exact(self, value: int, *, is_settled: bool) -> bool:
        """Tell whether a value is the truth, to the ply."""
        if is_decided(value) and self.search.exact_plies is not None:
            return plies_to_end(value) <= self.search.exact_plies
        return is_settled

    def line(self, state: S, move: Move) -> tuple[Move, ...]:
        """Return the play that is expected from a move on: what the search remembers as best."""
        line, seen = [move], {state}
        state = self.game.result(state, move)
        while state not in seen and (reply := self.search.remembered(state)) is not None:
            seen.add(state)
            line.append(reply)
            state = self.game.result(state, reply)
        return tuple(line)
