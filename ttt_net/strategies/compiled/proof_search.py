"""The compiled proofs of who can force a line, put together to the true values of positions and moves."""

from contextlib import AbstractContextManager

import numpy as np

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells, symmetries
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled import lines, proof
from ttt_net.strategies.compiled.alphabeta import BUDGET, NODES
from ttt_net.strategies.compiled.kernel_driver import held_to
from ttt_net.strategies.compiled.line_search import block_of
from ttt_net.strategies.heuristic import own_and_other, wins
from ttt_net.strategies.strategy import WIN, Effort, Stopped, is_decided, plies_to_end

LOG_BUCKETS = 18
"""A table of half a million positions, 12 MB. (Four times as many: 7x4, four in a row, takes as long.)"""


class ProofSearch:
    """Proofs about positions of one line game, which remember what they have found. All of them raise `Stopped`."""

    def __init__(self, game: LineGame, effort: Effort) -> None:
        self.game, self.effort = game, effort
        self.block = block = block_of(game, effort, LOG_BUCKETS, proof.TABLE + (2 * proof.ENTRY << LOG_BUCKETS))
        """The memory of the kernel, whose words it names."""
        floor = set(list_cells(int(block[lines.FLOOR])))
        images = [image for image in symmetries(game.shape) if {image[cell] for cell in floor} == floor]
        block[proof.SYMMETRY_COUNT] = len(images)
        for number, image in enumerate(images):
            at = proof.SYMMETRIES + 64 * number
            block[at : at + game.size] = [1 << cell for cell in image]

    def hold_to(self, effort: Effort) -> None:
        """Go on with another limit, and with what has been found."""
        self.effort = effort
        self.block[NODES], self.block[BUDGET] = effort.nodes, effort.max_nodes

    def running(self) -> AbstractContextManager[None]:
        """Return what ends the search when its limit is reached."""
        return held_to(self.effort, self.block, BUDGET)

    def value(self, state: LineState) -> int:
        """Return the true value of a position for the side to move, with the plies to the end.

        Of both sides by turns: the winner does so soon, as a rule, and to see that the other never does takes long.
        """
        own, other = own_and_other(state)
        questions, marks = [(own, other, 1), (other, own, 0)], 1
        while questions:
            for question in tuple(questions):
                if self._asked(*question, marks):
                    fewest, turn = self._fewest(*question, marks), question[2]
                    return WIN - 2 * fewest + 1 if turn else 2 * fewest - WIN
                if not self.block[proof.SHORT] or marks > self.game.size:
                    questions.remove(question)
            marks *= 2
        return 0

    def value_of_move(self, state: LineState, move: Move) -> int:
        """Return the true value of a move for who makes it."""
        child = self.game.result(state, move)
        if self.game.is_terminal(child):
            return WIN - 1 if child.has_line else 0
        value = -self.value(child)
        return value - (value > 0) + (value < 0) if is_decided(value) else 0

    def best_move(self, state: LineState, value: int) -> Move:
        """Return the most promising of the moves that are worth as much as the position, whose true value is given."""
        own, other = own_and_other(state)
        if value == WIN - 1:
            return wins(self.game, state, own, other)[0]
        moves = sorted(self.game.actions(state), key=self._promise(own, other).__getitem__, reverse=True)
        marks = (plies_to_end(value) + 1) // 2 if is_decided(value) else self.game.size
        for move in moves:
            if value > 0:
                is_best = self._asked(own | 1 << move, other, 0, marks - 1)
            else:
                is_best = not self._asked(other, own | 1 << move, 1, marks - is_decided(value))
            if is_best:
                return move
        raise AssertionError(f"no move of {state} is worth {value}")

    def line(self, state: LineState, move: Move, value: int) -> tuple[Move, ...]:
        """Return the best play by both from a move on whose value is given; of a draw the move alone."""
        played = [move]
        try:
            while is_decided(value) and plies_to_end(value) > 1:
                state = self.game.result(state, played[-1])
                value = -value - 1 if value > 0 else 1 - value
                played.append(self.best_move(state, value))
        except Stopped:
            pass  # what is known of it is true
        return tuple(played)

    def _fewest(self, maker: int, breaker: int, turn: int, enough: int) -> int:
        """Return with how many marks the maker can force a line, at the least; `enough` are, but not half of them."""
        too_few = enough // 2
        while enough - too_few > 1:
            between = (too_few + enough) // 2
            if self._asked(maker, breaker, turn, between):
                enough = between
            else:
                too_few = between
        return enough

    def _asked(self, maker: int, breaker: int, turn: int, marks: int) -> bool:
        """Return whether the maker can force a line with so many marks; `turn` is 1 if they are to move."""
        self.block[NODES], self.block[proof.SHORT] = self.effort.nodes, 0
        address = np.uint64(self.block.ctypes.data)
        answer = int(proof.can_force(np.uint64(maker), np.uint64(breaker), turn, marks, address))
        self.effort.nodes = int(self.block[NODES])
        if answer == proof.STOPPED:
            raise Stopped
        return answer == proof.YES

    def _promise(self, own: int, other: int) -> list[float]:
        """Return how much each cell does for one's own lines and against the others', as the bound weighs them."""
        promise = [0.0] * self.game.size
        for mine, theirs in ((own, other), (other, own)):
            for line in self.game.lines:
                if not line & theirs:
                    missing = line & ~mine
                    for cell in list_cells(missing):
                        promise[cell] += 0.5 ** missing.bit_count()
        return promise
