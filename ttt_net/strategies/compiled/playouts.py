"""Monte Carlo tree search on line games of up to 64 cells, compiled: the tree in arrays, a playout in registers.

Node 0 is the root; the children of a node are numbered on from `first_child`. The fields of a node take the view
of the side that moved to it: `rewards` sum 1 for a win and -1 for a loss, `solved` is 1, 0, -1 or `UNKNOWN`, and
`plies` the number of plies from there to a solved end. Boards are words with bit n for cell n, as in `LineState`.
"""

import numpy as np
from numba import from_dtype, njit, types

from ttt_net.strategies.compiled.memory import count_ones, nth_bit

U = np.uint64
ZERO, ONE = U(0), U(1)
UNKNOWN = 2
EXPAND_AT = 3
"""A leaf gets children at this visit: sooner, and the tree would fill with nodes that are seen once."""

CERTAIN = 1000
"""The value, as an estimate, of a node that all playouts have won."""

# The words of `control`: playouts made, playouts allowed, nodes in use, and the state of the random numbers.
PLAYOUTS, BUDGET, USED, SEED = 0, 1, 2, 3

NODE = np.dtype(
    [
        ("visits", np.int32),
        ("rewards", np.int32),
        ("first_child", np.int32),
        ("children", np.uint8),
        ("cell", np.uint8),
        ("solved", np.int8),
        ("plies", np.uint8),
    ]
)
"""The fields of a node, 16 bytes: the seven children of a node of Connect Four lie in two lines of the cache."""

TOGETHER = 8
"""So many lines are compared at once; the table of lines has a row of them for each cell, a multiple of it long."""
NO_LINE = (1 << 64) - 1
"""The padding of the rows: no side can hold all of 64 cells."""


@njit(inline="always")
def next_random(bits):
    """Return the state of the random numbers after this one (xorshift64*; Vigna 2014)."""
    bits ^= bits >> U(12)
    bits ^= bits << U(25)
    return bits ^ (bits >> U(27))


@njit(inline="always")
def below(number, bits):
    """Return a random number from 0 to less than `number`, for a state of the random numbers."""
    return (((bits * U(0x2545F4914F6CDD1D)) >> U(32)) * number) >> U(32)


@njit(inline="always")
def legal(taken, full, floor, fall):
    """Return the cells that can be marked; `fall` is 0 without gravity."""
    if fall == 0:
        return full & ~taken
    above = taken >> U(fall) if fall > 0 else taken << U(-fall)
    return full & ~taken & (above | floor)


@njit(inline="always")
def completes(own, cell, lines):
    """Tell whether the mark in a cell is part of a line of `own`; without a branch, which could not be foreseen."""
    found = False
    for first in range(0, lines.shape[1], TOGETHER):
        for n in range(first, first + TOGETHER):
            found |= own & lines[cell, n] == lines[cell, n]
    return found


@njit(inline="always")
def cell_of(bit):
    """Return the number of the only bit that is set."""
    return np.int64(count_ones(bit - ONE))


@njit(inline="always")
def random_result(own, other, full, floor, fall, lines, control):
    """Return 1, 0 or -1 for the side to move, after play at random to the end."""
    sign, bits = 1, control[SEED]
    while True:
        moves = legal(own | other, full, floor, fall)
        number = count_ones(moves)
        if number == ZERO:
            sign = 0
            break
        bits = next_random(bits)
        bit = nth_bit(moves, below(number, bits))
        own |= bit
        if completes(own, cell_of(bit), lines):
            break
        own, other, sign = other, own, -sign
    control[SEED] = bits
    return sign


@njit(inline="always")
def expand(node, own, other, full, floor, fall, lines, control, tree):
    """Give a node its children, those that end the game solved; return whether there was room."""
    moves = legal(own | other, full, floor, fall)
    number = np.int64(count_ones(moves))
    used = np.int64(control[USED])
    if used + number > len(tree):
        return False
    tree[node].first_child, tree[node].children = used, number
    control[USED] = U(used + number)
    while moves != ZERO:
        bit = moves & (ZERO - moves)
        moves ^= bit
        child = tree[used]
        child.visits, child.rewards, child.children, child.plies = 0, 0, 0, 0
        child.cell, child.solved = cell_of(bit), UNKNOWN
        if completes(own | bit, cell_of(bit), lines):
            child.solved = 1
        elif legal(own | other | bit, full, floor, fall) == ZERO:
            child.solved = 0
        used += 1
    return True


@njit(inline="always")
def most_promising(node, exploration, tree):
    """Return the unsolved child with the highest upper confidence bound; one never visited comes first."""
    best, best_bound = -1, np.float32(-1e30)
    spread = np.float32(exploration) * np.sqrt(np.log(np.float32(tree[node].visits + 1)))
    for number in range(tree[node].first_child, tree[node].first_child + tree[node].children):
        child = tree[number]
        if child.solved != UNKNOWN:
            continue
        if child.visits == 0:
            return number
        scale = np.float32(1) / np.sqrt(np.float32(child.visits))
        bound = (np.float32(child.rewards) * scale + spread) * scale
        if bound > best_bound:
            best, best_bound = number, bound
    return best


@njit(inline="always")
def solve(node, tree):
    """Mark a node as solved if its children tell its value: one that wins, or all of them known."""
    best, length, unknown = -1, 0, False
    for number in range(tree[node].first_child, tree[node].first_child + tree[node].children):
        child = tree[number]
        if child.solved == UNKNOWN:
            unknown = True
        elif child.solved > best or (child.solved == best and (child.plies + 1 < length) == (child.solved > 0)):
            best, length = child.solved, child.plies + 1
    if best == 1 or not unknown:
        tree[node].solved, tree[node].plies = -best, length


@njit(types.void(types.int64, types.uint64[::1], from_dtype(NODE)[::1]), nogil=True, cache=True)
def keep_only(root, control, tree):
    """Drop all nodes but one and those below it, which becomes the root.

    Children have higher numbers than their parents, so one walk marks what stays, and another moves it down.
    """
    used = np.int64(control[USED])
    place = np.full(used, -1, np.int32)
    place[root] = 0
    kept = 0
    for node in range(root, used):
        if place[node] >= 0:
            place[node] = kept
            kept += 1
            for child in range(tree[node].first_child, tree[node].first_child + tree[node].children):
                place[child] = 0
    for node in range(root, used):
        if place[node] >= 0:
            tree[place[node]] = tree[node]
            if tree[node].children:
                tree[place[node]].first_child = place[tree[node].first_child]
    control[USED] = U(kept)


@njit(
    types.void(
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.int64,
        types.uint64[:, ::1],
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        from_dtype(NODE)[::1],
    ),
    nogil=True,
    cache=True,
)
def play_out(own, other, full, floor, fall, lines, exploration, control, path, tree):
    """Play out again and again, until the root is solved or the budget spent; the tree is changed in place.

    `own` are the marks of the side to move at the root. Another thread may set the budget to nothing.
    """
    while tree[0].solved == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        node, length, mine, theirs = 0, 1, own, other
        path[0] = 0
        while tree[node].solved == UNKNOWN:
            if tree[node].children == 0:
                if tree[node].visits + 1 < EXPAND_AT and node != 0:
                    break
                if not expand(node, mine, theirs, full, floor, fall, lines, control, tree):
                    break
                solve(node, tree)
                if tree[node].solved != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            mine, theirs = theirs, mine | ONE << U(tree[node].cell)
            path[length] = node
            length += 1
        if tree[node].solved == UNKNOWN:
            result = -random_result(mine, theirs, full, floor, fall, lines, control)
        else:
            result = np.int64(tree[node].solved)
        for at in range(length - 1, -1, -1):
            node = path[at]
            tree[node].visits += 1
            tree[node].rewards += result
            if at > 0 and tree[node].solved != UNKNOWN and tree[path[at - 1]].solved == UNKNOWN:
                solve(path[at - 1], tree)
            result = -result
