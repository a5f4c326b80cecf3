"""Prove whether one side can force a line on a board of up to 64 cells: the answer is yes or no, never an estimate.

Each question is about one side, the maker; the other is the breaker. The maker may place `left` more marks. So a yes
with the fewest marks tells in how many plies the game is won, and two questions, one for each side, give the value of
any position. Boards and lines are words with bit n for cell n, as in `LineState`.

A bound that needs no search makes it fast (Erdős and Selfridge, "On a combinatorial game", 1973). Let each line
that the breaker has not entered weigh 2^-n, where n is the number of its empty cells. A mark of the maker doubles the
weight of the lines through it; a mark of the breaker removes them. A breaker who always takes the heaviest cell removes
at least as much as the maker's next mark can add, so the sum, taken when the maker is to move, never rises. A complete
line would weigh 1, and one move before that 1/2. So if the sum is below 1/2 with the maker to move, or below 1 with the
breaker to move, no line is ever completed. The breaker has that reply whatever the maker threatens, since a line with
one empty cell weighs 1/2 by itself and is in the sum. A line of the breaker's own ends the game in their favour, so the
bound holds there too, but it does not tell whether they win. It does not hold where marks fall, because there they may
not play where they like.

Both sides try moves in the order of the total weight of both sides' lines through them: a breaker who stops a line by
making one of their own gains a move.
"""

from contextlib import AbstractContextManager

import numpy as np
from numba import njit, types

from ttt_net.games import Move
from ttt_net.games.geometry import list_cells, symmetries
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.compiled.kit import BUDGET, NODES, held_to
from ttt_net.strategies.compiled.lines import (
    FALL,
    FLOOR,
    FULL,
    LINE_COUNT,
    LINES,
    LOG_BUCKETS,
    MOST_LINES,
    block_of,
    legal_cells,
    mixed,
)
from ttt_net.strategies.compiled.machine import ONE, ZERO, U, count_ones, peek, poke
from ttt_net.strategies.heuristic import own_and_other, wins
from ttt_net.strategies.strategy import WIN, Effort, Stopped, is_decided, plies_to_end

NO, YES, STOPPED, OPEN = range(4)
"""Answers; the third if the budget was spent, the fourth if the lines alone do not decide."""
NEVER = 255
"""More marks than there are: a line that cannot be forced with any number of them."""
NO_CELL = 255

# The block of memory begins as in `lines`, and goes on with the weights of the cells, by ply, and the table, in buckets
# of two entries of three words. Two words more: how many answers "no" might be "yes" if more marks were left, and how
# many symmetries the board has; each of them lies before the table as the bit that every cell comes to.
SHORT, SYMMETRY_COUNT = 12, 13
WEIGHTS = LINES + MOST_LINES
SYMMETRIES = WEIGHTS + 128 * 65
TABLE = SYMMETRIES + 64 * 48
ENTRY = 3
ONE_LINE = 32
"""The weight of a complete line is 2 to the power of this."""
SHALLOW = 8
"""Marks on a board up to which positions that differ by a symmetry are taken for one."""


@njit(inline="always")
def survey(maker, breaker, left, block):
    """Return the weight of lines that `left` marks can complete, that of others, and the cells that end any line."""
    within, beyond, wins, stops = ZERO, ZERO, ZERO, ZERO
    for n in range(types.int64(peek(block, LINE_COUNT))):
        line = peek(block, LINES + n)
        if (line & breaker) == ZERO:
            missing = line & ~maker
            empty = count_ones(missing)
            if empty <= U(left):
                within += ONE << (U(ONE_LINE) - empty)
                wins |= missing if empty == ONE else ZERO
            else:
                beyond += ONE << (U(ONE_LINE) - empty)
        elif (line & maker) == ZERO:
            missing = line & ~breaker
            stops |= missing if (missing & (missing - ONE)) == ZERO else ZERO
    return within, beyond, wins, stops


@njit(inline="always")
def add_weight(cells, weight, weights, block):
    """Add a weight to those of the cells."""
    while cells != ZERO:
        low = cells & (ZERO - cells)
        cells ^= low
        at = weights + types.int64(count_ones(low - ONE))
        poke(block, at, peek(block, at) + weight)


@njit(inline="always")
def weigh(maker, breaker, left, weights, ranks, block):
    """Store the weight of the maker's lines through each cell, and as the cell's rank that of both sides' lines.

    Return the empty cells of lines open to one side alone.
    """
    for cell in range(64):
        poke(block, weights + cell, ZERO)
        poke(block, ranks + cell, ZERO)
    cells = ZERO
    for n in range(types.int64(peek(block, LINE_COUNT))):
        line = peek(block, LINES + n)
        if (line & maker) == ZERO:
            missing = line & ~breaker
            cells |= missing
            add_weight(missing, ONE << (U(ONE_LINE) - count_ones(missing)), ranks, block)
        if (line & breaker) == ZERO:
            missing = line & ~maker
            cells |= missing
            empty = count_ones(missing)
            if empty <= U(left):
                add_weight(missing, ONE << (U(ONE_LINE) - empty), weights, block)
                add_weight(missing, ONE << (U(ONE_LINE) - empty), ranks, block)
    return cells


@njit(inline="always")
def heaviest(cells, weights, block):
    """Return the cell with the most weight."""
    best, most = NO_CELL, ZERO
    while cells != ZERO:
        low = cells & (ZERO - cells)
        cells ^= low
        cell = types.int64(count_ones(low - ONE))
        weight = peek(block, weights + cell)
        if best == NO_CELL or weight > most:
            best, most = cell, weight
    return best


@njit(inline="always")
def tell_short(is_short, block):
    """Count an answer "no" that holds for these few marks only."""
    if is_short:
        poke(block, SHORT, peek(block, SHORT) + ONE)


@njit(inline="always")
def bucket_of(maker, breaker, block):
    """Return where the table keeps a position."""
    return TABLE + 2 * ENTRY * types.int64(mixed(maker, breaker) >> (U(64) - peek(block, LOG_BUCKETS)))


@njit(inline="always")
def find(maker, breaker, turn, block):
    """Return where the entry of a position is, or 0."""
    at = bucket_of(maker, breaker, block)
    for entry in (at, at + ENTRY):
        word = peek(block, entry + 2)
        if peek(block, entry) == maker and peek(block, entry + 1) == breaker and (word & U(3)) == U(2 + turn):
            return entry
    return 0


@njit(inline="always")
def recall(maker, breaker, turn, block):
    """Return the entry of a position: the least marks for yes, the most marks for no, and a cell."""
    at = find(maker, breaker, turn, block)
    if at == 0:
        return NEVER, 0, NO_CELL
    word = peek(block, at + 2)
    byte = U(255)
    return types.int64(word >> U(8) & byte), types.int64(word >> U(16) & byte), types.int64(word >> U(24) & byte)


@njit(inline="always")
def remember(maker, breaker, turn, yes, no, cell, nodes, block):
    """Store the least marks for yes, the most marks for no, and a cell that proves one of them.

    Of the two entries in a bucket the one that took more work stays; the other is overwritten.
    """
    at = find(maker, breaker, turn, block)
    if at == 0:
        at = bucket_of(maker, breaker, block)
        at += ENTRY if (peek(block, at + 2) >> U(32)) > nodes else 0
    poke(block, at, maker)
    poke(block, at + 1, breaker)
    word = U(2 + turn) | U(yes) << U(8) | U(no) << U(16) | U(cell) << U(24)
    poke(block, at + 2, word | min(nodes, U(0xFFFFFFFF)) << U(32))


@njit(inline="always")
def image_of(cells, symmetry, block):
    """Return the places of the cells under a symmetry."""
    image = ZERO
    while cells != ZERO:
        low = cells & (ZERO - cells)
        cells ^= low
        image |= peek(block, SYMMETRIES + 64 * symmetry + types.int64(count_ones(low - ONE)))
    return image


@njit(inline="always")
def smallest_image(maker, breaker, block):
    """Return the position that stands for all that differ by a symmetry."""
    smallest = maker, breaker
    for symmetry in range(types.int64(peek(block, SYMMETRY_COUNT))):
        image = image_of(maker, symmetry, block), image_of(breaker, symmetry, block)
        if image < smallest:
            smallest = image
    return smallest


@njit(inline="always")
def judge(maker, breaker, turn, left, block):
    """Return the answer of the lines alone, the cells left to try, and the weights of the lines.

    The unit of weights is what the breaker, whose turn it is next, can just hold.
    """
    within, beyond, wins, stops = survey(maker, breaker, left, block)
    moves = legal_cells(maker | breaker, block)
    wins, stops = wins & moves, stops & moves
    own, forced = (wins, stops) if turn else (stops, wins)
    answer = OPEN
    if own != ZERO:
        answer = turn
    elif (forced & (forced - ONE)) != ZERO:
        answer = 1 - turn
    elif moves == ZERO:
        answer = NO
    elif forced != ZERO:
        moves = forced
    return answer, moves, within, beyond


@njit(types.int64(types.uint64, types.uint64, types.int64, types.int64, types.uint64), nogil=True, cache=True)
def can_force(maker, breaker, turn, left, block):
    """Return whether the maker completes a line with at most `left` marks; `turn` is 1 on their turn, else 0."""
    before, taken = peek(block, NODES), maker | breaker
    if before >= peek(block, BUDGET):
        return STOPPED
    poke(block, NODES, before + ONE)
    if count_ones(taken) <= U(SHALLOW):
        maker, breaker = smallest_image(maker, breaker, block)
    room = (types.int64(count_ones(peek(block, FULL) & ~taken)) + turn) // 2
    left = min(left, room)
    answer, moves, within, beyond = judge(maker, breaker, turn, left, block)
    if answer != OPEN:
        return answer
    falls = peek(block, FALL) != ZERO
    enough = ONE if falls else ONE << U(ONE_LINE - turn)
    if within < enough or left <= turn:
        tell_short(left < room and within + beyond >= enough, block)
        return NO
    yes, no, hint = recall(maker, breaker, turn, block)
    if yes <= left:
        return YES
    if no >= left:
        tell_short(no != NEVER and left < room, block)
        return NO
    weights = WEIGHTS + 128 * types.int64(count_ones(taken))
    ranks = weights + 64
    cells = weigh(maker, breaker, left, weights, ranks, block)
    short, reply, relief = peek(block, SHORT), NO_CELL, ZERO
    if not falls:
        # A cell on no such line is as good as a pass, and an additional own mark never does harm.
        moves &= cells
        reply = heaviest(cells, weights, block)
        relief = peek(block, weights + reply)
    best, answer = hint, 1 - turn
    while moves != ZERO and answer != turn:
        cell = hint
        if hint == NO_CELL or (moves >> U(hint)) & ONE == ZERO:
            cell = heaviest(moves, ranks, block)
        hint = NO_CELL
        bit = ONE << U(cell)
        moves ^= bit
        added = peek(block, weights + cell)
        if turn == 1 and not falls and cell != reply and within + added - relief < enough:
            # The breaker replies with the heaviest cell, and that is the end of it.
            tell_short(left < room and within + beyond + beyond + added - relief >= enough, block)
            continue
        mine, theirs = (maker | bit, breaker) if turn == 1 else (maker, breaker | bit)
        answer = can_force(mine, theirs, 1 - turn, left - turn, block)
        if answer == STOPPED:
            return STOPPED
        if answer == turn:
            best = cell
    if answer == YES:
        yes = left
    else:
        no = NEVER if peek(block, SHORT) == short else left
    remember(maker, breaker, turn, yes, no, best, peek(block, NODES) - before, block)
    return answer


TABLE_BITS = 18
"""A table of half a million positions, 12 MB. (Four times as many: 7x4, four in a row, takes as long.)"""


class ProofSearch:
    """Proofs about positions of one line game, with a table that is kept. All of them raise `Stopped`."""

    def __init__(self, game: LineGame, effort: Effort) -> None:
        self.game, self.effort = game, effort
        self.block = block = block_of(game, effort, TABLE_BITS, TABLE + (2 * ENTRY << TABLE_BITS))
        """The memory of the kernel."""
        floor = set(list_cells(int(block[FLOOR])))
        images = [image for image in symmetries(game.shape) if {image[cell] for cell in floor} == floor]
        block[SYMMETRY_COUNT] = len(images)
        for number, image in enumerate(images):
            at = SYMMETRIES + 64 * number
            block[at : at + game.size] = [1 << cell for cell in image]

    def hold_to(self, effort: Effort) -> None:
        """Continue with another limit and the same table."""
        self.effort = effort
        self.block[NODES], self.block[BUDGET] = effort.nodes, effort.max_nodes

    def running(self) -> AbstractContextManager[None]:
        """Return a context that ends the search when its limit is reached."""
        return held_to(self.effort, self.block, BUDGET)

    def value(self, state: LineState) -> int:
        """Return the true value of a position for the side to move, with the plies to the end.

        Questions alternate between the sides, since a win is usually found soon and its absence proved late.
        """
        own, other = own_and_other(state)
        questions, marks = [(own, other, 1), (other, own, 0)], 1
        while questions:
            for question in tuple(questions):
                if self._asked(*question, marks):
                    fewest, turn = self._fewest(*question, marks), question[2]
                    return WIN - 2 * fewest + 1 if turn else 2 * fewest - WIN
                if not self.block[SHORT] or marks > self.game.size:
                    questions.remove(question)
            marks *= 2
        return 0

    def value_of_move(self, state: LineState, move: Move) -> int:
        """Return the true value of a move for the player who makes it."""
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
        """Return the best play of both sides from a move with the given value; for a draw only the move."""
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
        """Return the fewest marks with which the maker can force a line: at most `enough`, more than half of them."""
        too_few = enough // 2
        while enough - too_few > 1:
            between = (too_few + enough) // 2
            if self._asked(maker, breaker, turn, between):
                enough = between
            else:
                too_few = between
        return enough

    def _asked(self, maker: int, breaker: int, turn: int, marks: int) -> bool:
        """Return whether the maker can force a line with this number of marks; `turn` is 1 if they are to move."""
        self.block[NODES], self.block[SHORT] = self.effort.nodes, 0
        address = np.uint64(self.block.ctypes.data)
        answer = int(can_force(np.uint64(maker), np.uint64(breaker), turn, marks, address))
        self.effort.nodes = int(self.block[NODES])
        if answer == STOPPED:
            raise Stopped
        return answer == YES

    def _promise(self, own: int, other: int) -> list[float]:
        """Return the weight of each cell for the own lines and against the other side's, as in the bound."""
        promise = [0.0] * self.game.size
        for mine, theirs in ((own, other), (other, own)):
            for line in self.game.lines:
                if not line & theirs:
                    missing = line & ~mine
                    for cell in list_cells(missing):
                        promise[cell] += 0.5 ** missing.bit_count()
        return promise
