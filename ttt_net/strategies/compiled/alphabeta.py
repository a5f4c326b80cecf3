"""Share the parts of the compiled alpha-beta searches of small and of large boards.

Both keep the same five words at the beginning of their blocks, and the same second half of an entry in their tables:
one word that says of a position how deep the look was, its value or a bound of it, and the best move. A value tells
when the game ends: `WIN` less the number of marks on the board then, negative for a loss; what is smaller is an
estimate.

Where a block has a table, a list or slots is the kernel's own: it names the first word, and how many there are as a
power of two. All is taken in where it is called, so that these are constants of the machine code.
"""

import numpy as np
from numba import njit, types

from ttt_net.strategies.compiled.memory import peek, poke
from ttt_net.strategies.strategy import DECIDED, WIN

U = np.uint64
ZERO, ONE = U(0), U(1)
NODES, BUDGET, GUESSES, CUTS, HITS = range(5)
STOPPED = WIN + 2
"""No value: the budget of nodes was spent, or set to nothing from outside."""
UNKNOWN = WIN + 3
"""No value either: it takes a look ahead to find it."""
INFINITY = WIN + 1
COMPLETE = 255
"""The depth of a value that no deeper search can change."""
NO_MOVE = 511
EXACT, LOWER, UPPER = 0, 1, 2


@njit(inline="always")
def tally(word, block):
    """Add one to a word of the block."""
    poke(block, word, peek(block, word) + ONE)


@njit(inline="always")
def is_spent(block):
    """Tell whether there are no nodes left; if there are, take one."""
    spent = peek(block, NODES) >= peek(block, BUDGET)
    if not spent:
        tally(NODES, block)
    return spent


@njit(inline="always")
def entry_of(depth, bound, value, move):
    """Return the word that keeps what was found of a position; never 0."""
    return ONE | U(bound) << ONE | U(depth) << U(3) | U(move) << U(11) | U(value + INFINITY) << U(20)


@njit(inline="always")
def move_in(entry):
    """Return the best move that an entry keeps."""
    return types.int64((entry >> U(11)) & U(511))


@njit(inline="always")
def depth_in(entry):
    """Return how deep the look was that an entry keeps."""
    return types.int64((entry >> U(3)) & U(255))


@njit(inline="always")
def value_in(entry, depth, alpha, beta, block):
    """Return the value that an entry keeps if it answers the question, else `UNKNOWN`; and count what it was."""
    known, bound = depth_in(entry), types.int64((entry >> ONE) & U(3))
    value = types.int64(entry >> U(20)) - INFINITY
    if known < depth or (bound == LOWER and value < beta) or (bound == UPPER and value > alpha):
        return UNKNOWN
    tally(HITS, block)
    if known < COMPLETE:
        tally(GUESSES, block)
    return value


@njit(inline="always")
def entry_after(stones, depth, best, move, floor, beta, guesses, block):
    """Return the entry for a position after its moves have been looked at, from the window (floor, beta).

    `guesses` is how many there were before: if there are no more, or if all shorter play has been seen, it is complete.
    """
    bound = LOWER if best >= beta else UPPER if best <= floor else EXACT
    sure = guesses == peek(block, GUESSES) or (abs(best) >= DECIDED and WIN - abs(best) - stones <= depth)
    return entry_of(COMPLETE if sure else max(depth, 0), bound, best, move)


@njit(inline="always")
def find(key, table, log_entries, block):
    """Return where a table of two words an entry, the key and what was found, has that position, or 0."""
    at = table + 2 * types.int64(key >> U(64 - log_entries))
    return at if peek(block, at) == key and peek(block, at + 1) else 0


@njit(inline="always")
def remember(key, entry, table, log_entries, block):
    """Keep what was found of a position in such a table, in place of what was there."""
    at = table + 2 * types.int64(key >> U(64 - log_entries))
    poke(block, at, key)
    poke(block, at + 1, entry)


@njit(inline="always")
def has_failed(key, threats, slots, log_slots, block):
    """Tell whether a position is known to have no win by so many threats."""
    known = peek(block, slots + types.int64(key >> U(64 - log_slots)))
    return (known >> U(8)) == (key >> U(8)) and (known & U(255)) >= U(threats)


@njit(inline="always")
def note_failure(key, threats, slots, log_slots, block):
    """Keep that a position has no win by so many threats, in place of what was there."""
    poke(block, slots + types.int64(key >> U(64 - log_slots)), ((key >> U(8)) << U(8)) | U(threats))


@njit(inline="always")
def take_best(at, count, block):
    """Return the move of the highest rank in a list of ranks above moves, and put the last one in its place."""
    best, where = ZERO, 0
    for n in range(count):
        found = peek(block, at + n)
        if found > best:
            best, where = found, n
    poke(block, at + where, peek(block, at + count - 1))
    return types.int64(best & U(NO_MOVE))
