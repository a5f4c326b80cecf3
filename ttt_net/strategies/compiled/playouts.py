"""Monte Carlo tree search on line games of up to 64 cells, compiled: the tree in arrays, a playout in registers.

Node 0 is the root; the children of a node are numbered on from `first_child`. What a node holds is from the view of
the side that moved to it: `rewards` sum 1 for a win and -1 for a loss, `solved` is 1, 0, -1 or `UNKNOWN`, and `plies`
the number of plies from there to a solved end. Boards are words with bit n for cell n, as in `LineState`.
"""

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, njit, types

from ttt_net.strategies.compiled.memory import count_ones

U = np.uint64
ZERO, ONE = U(0), U(1)
UNKNOWN = 2
EXPAND_AT = 3
"""A leaf gets children at this visit: sooner, and the tree would fill with nodes that are seen once."""

CERTAIN = 1000
"""The value, as an estimate, of a node that all playouts have won."""

# The words of `control`: playouts made, playouts allowed, nodes in use, and the state of the random numbers.
PLAYOUTS, BUDGET, USED, SEED = 0, 1, 2, 3


class Nodes(NamedTuple):
    """The tree: a column for each thing that a node holds."""

    first_child: Any
    children: Any
    cells: Any
    visits: Any
    rewards: Any
    solved: Any
    plies: Any


KINDS = Nodes(np.int32, np.uint8, np.uint8, np.int32, np.float32, np.int8, np.int16)
"""The type of the numbers in each column."""
_NODES = types.NamedTuple([from_dtype(np.dtype(kind))[::1] for kind in KINDS], Nodes)


@njit(inline="always")
def next_random(control):
    """Return 64 random bits (xorshift64*; Vigna 2014)."""
    bits = U(control[SEED])
    bits ^= bits >> U(12)
    bits ^= bits << U(25)
    bits ^= bits >> U(27)
    control[SEED] = bits
    return bits * U(0x2545F4914F6CDD1D)


@njit(inline="always")
def legal(taken, full, floor, fall):
    """Return the cells that can be marked; `fall` is 0 without gravity."""
    if fall == 0:
        return full & ~taken
    above = taken >> U(fall) if fall > 0 else taken << U(-fall)
    return full & ~taken & (above | floor)


@njit(inline="always")
def completes(own, cell, starts, lines):
    """Tell whether the mark in a cell is part of a line of `own`."""
    for n in range(starts[cell], starts[cell + 1]):  # noqa: SIM110 - numba compiles no generators
        if own & lines[n] == lines[n]:
            return True
    return False


@njit(inline="always")
def cell_of(bit):
    """Return the number of the only bit that is set."""
    return np.int64(count_ones(bit - ONE))


@njit(inline="always")
def random_result(own, other, full, floor, fall, starts, lines, control):
    """Return 1, 0 or -1 for the side to move, after play at random to the end."""
    sign = 1
    while True:
        moves = legal(own | other, full, floor, fall)
        number = count_ones(moves)
        if number == ZERO:
            return 0
        chosen = ((next_random(control) >> U(32)) * number) >> U(32)
        while chosen != ZERO:
            moves &= moves - ONE
            chosen -= ONE
        bit = moves & (ZERO - moves)
        own |= bit
        if completes(own, cell_of(bit), starts, lines):
            return sign
        own, other, sign = other, own, -sign


@njit(inline="always")
def expand(node, own, other, full, floor, fall, starts, lines, control, tree):
    """Give a node its children, those that end the game solved; return whether there was room."""
    moves = legal(own | other, full, floor, fall)
    number = np.int64(count_ones(moves))
    used = np.int64(control[USED])
    if used + number > len(tree.visits):
        return False
    tree.first_child[node], tree.children[node] = used, number
    control[USED] = U(used + number)
    while moves != ZERO:
        bit = moves & (ZERO - moves)
        moves ^= bit
        cell = cell_of(bit)
        tree.cells[used], tree.children[used], tree.visits[used], tree.rewards[used], tree.plies[used] = (
            cell,
            0,
            0,
            0.0,
            0,
        )
        tree.solved[used] = UNKNOWN
        if completes(own | bit, cell, starts, lines):
            tree.solved[used] = 1
        elif legal(own | other | bit, full, floor, fall) == ZERO:
            tree.solved[used] = 0
        used += 1
    return True


@njit(inline="always")
def most_promising(node, exploration, tree):
    """Return the unsolved child with the highest upper confidence bound; one never visited comes first."""
    best, best_bound = -1, -1e30
    spread = exploration * sqrt(log(tree.visits[node] + 1.0))
    for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
        if tree.solved[child] != UNKNOWN:
            continue
        if tree.visits[child] == 0:
            return child
        bound = tree.rewards[child] / tree.visits[child] + spread / sqrt(float(tree.visits[child]))
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@njit(inline="always")
def solve(node, tree):
    """Mark a node as solved if its children tell its value: one that wins, or all of them known."""
    best, length, unknown = -1, 0, False
    for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
        value = tree.solved[child]
        if value == UNKNOWN:
            unknown = True
        elif value > best or (value == best and (tree.plies[child] + 1 < length) == (value > 0)):
            best, length = value, tree.plies[child] + 1
    if best == 1 or not unknown:
        tree.solved[node], tree.plies[node] = -best, length


@njit(types.void(types.int64, types.uint64[::1], _NODES), nogil=True, cache=True)
def keep(root, control, tree):
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
            for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
                place[child] = 0
    for node in range(root, used):
        new = place[node]
        if new >= 0:
            tree.first_child[new] = place[tree.first_child[node]] if tree.children[node] else 0
            tree.children[new], tree.cells[new], tree.visits[new] = (
                tree.children[node],
                tree.cells[node],
                tree.visits[node],
            )
            tree.rewards[new], tree.solved[new], tree.plies[new] = (
                tree.rewards[node],
                tree.solved[node],
                tree.plies[node],
            )
    control[USED] = U(kept)


@njit(
    types.void(
        types.uint64,
        types.uint64,
        types.uint64,
        types.uint64,
        types.int64,
        types.int64[::1],
        types.uint64[::1],
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        _NODES,
    ),
    nogil=True,
    cache=True,
)
def grow(own, other, full, floor, fall, starts, lines, exploration, control, path, tree):
    """Play out again and again, until the root is solved or the budget spent; the tree is changed in place.

    `own` are the marks of the side to move at the root. Another thread may set the budget to nothing.
    """
    while tree.solved[0] == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        node, length, mine, theirs = 0, 1, own, other
        path[0] = 0
        while tree.solved[node] == UNKNOWN:
            if tree.children[node] == 0:
                if tree.visits[node] + 1 < EXPAND_AT and node != 0:
                    break
                if not expand(node, mine, theirs, full, floor, fall, starts, lines, control, tree):
                    break
                solve(node, tree)
                if tree.solved[node] != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            mine, theirs = theirs, mine | ONE << U(tree.cells[node])
            path[length] = node
            length += 1
        if tree.solved[node] == UNKNOWN:
            result = -random_result(mine, theirs, full, floor, fall, starts, lines, control)
        else:
            result = tree.solved[node]
        for at in range(length - 1, -1, -1):
            node = path[at]
            tree.visits[node] += 1
            tree.rewards[node] += result
            if at > 0 and tree.solved[node] != UNKNOWN and tree.solved[path[at - 1]] == UNKNOWN:
                solve(path[at - 1], tree)
            result = -result
