"""Playouts of line games on boards of more than 64 cells, compiled: marks as bytes, runs counted round each new one.

The board has a margin of one cell on every side that is never marked, so that no run goes round an edge. `marks` has 0,
1 or 2 (the side and one) for each place of that larger board; `places` has the place of each cell. The cells that can
be marked are listed in `open_cells`, `count[0]` of them, and `at` has where each stands in that list.
"""

import numpy as np
from numba import from_dtype, njit, types

from ttt_net.strategies.compiled.playouts import (
    BUDGET,
    EXPAND_AT,
    NODE,
    ONE,
    PLAYOUTS,
    SEED,
    UNKNOWN,
    USED,
    U,
    below,
    most_promising,
    next_random,
    solve,
)


@njit(inline="always")
def completes(marks, place, mark, steps, k):
    """Tell whether `mark` in a place would be part of k in a row."""
    for step in steps:
        length, ahead = 1, place + step
        while marks[ahead] == mark:
            length += 1
            ahead += step
        behind = place - step
        while marks[behind] == mark:
            length += 1
            behind -= step
        if length >= k:
            return True
    return False


@njit(inline="always")
def put(marks, cell, mark, places, fall, open_cells, at, count):
    """Mark a cell that can be marked; with gravity the one that rests on it can be marked then."""
    marks[places[cell]] = mark
    above = cell - fall
    if fall != 0 and 0 <= above < len(places):
        instead = above
    else:
        count[0] -= 1
        instead = open_cells[count[0]]
    open_cells[at[cell]] = instead
    at[instead] = at[cell]


@njit(inline="always")
def random_result(marks, side, places, steps, k, fall, open_cells, at, count, control):
    """Return 1, 0 or -1 for the side to move, after play at random to the end; the position is played on."""
    sign, bits = 0, control[SEED]
    while count[0]:
        bits = next_random(bits)
        cell = open_cells[np.int64(below(U(count[0]), bits))]
        put(marks, cell, np.uint8(side + 1), places, fall, open_cells, at, count)
        sign = 1 if sign <= 0 else -1
        if completes(marks, places[cell], np.uint8(side + 1), steps, k):
            control[SEED] = bits
            return sign
        side = 1 - side
    control[SEED] = bits
    return 0


@njit(inline="always")
def expand(node, marks, side, places, steps, k, fall, open_cells, count, control, tree):
    """Give a node its children, those that end the game solved; return whether there was room."""
    used = np.int64(control[USED])
    if used + count[0] > len(tree):
        return False
    tree[node].first_child, tree[node].children = used, count[0]
    for cell in open_cells[: count[0]]:
        child = tree[used]
        child.visits, child.rewards, child.children, child.plies = 0, 0, 0, 0
        child.cell, child.solved = cell, UNKNOWN
        if completes(marks, places[cell], np.uint8(side + 1), steps, k):
            child.solved = 1
        elif count[0] == 1 and (fall == 0 or not 0 <= cell - fall < len(places)):
            child.solved = 0
        used += 1
    control[USED] = U(used)
    return True


@njit(
    types.void(
        types.uint8[::1],
        types.int64,
        types.int16[::1],
        types.int16[::1],
        types.int64,
        types.int64,
        types.int16[::1],
        types.float64,
        types.uint64[::1],
        types.int64[::1],
        from_dtype(NODE)[::1],
    ),
    nogil=True,
    cache=True,
)
def play_out(root, mover, places, steps, k, fall, legal, exploration, control, path, tree):
    """Play out again and again, until the root is solved or the budget spent; the tree is changed in place.

    `root` are the marks, `mover` the side to move and `legal` the cells that can be marked at the root. Another thread
    may set the budget to nothing.
    """
    marks, open_cells = root.copy(), np.zeros(len(places), np.int16)
    first_at, count = np.zeros(len(places), np.int16), np.zeros(1, np.int64)
    for number, cell in enumerate(legal):
        first_at[cell] = number
    at = first_at.copy()
    while tree[0].solved == UNKNOWN and control[PLAYOUTS] < control[BUDGET]:
        control[PLAYOUTS] += ONE
        marks[:] = root
        open_cells[: len(legal)] = legal
        at[:] = first_at
        count[0] = len(legal)
        node, length, side = 0, 1, mover
        path[0] = 0
        while tree[node].solved == UNKNOWN:
            if tree[node].children == 0:
                if tree[node].visits + 1 < EXPAND_AT and node != 0:
                    break
                if not expand(node, marks, side, places, steps, k, fall, open_cells, count, control, tree):
                    break
                solve(node, tree)
                if tree[node].solved != UNKNOWN:
                    break
            node = most_promising(node, exploration, tree)
            put(marks, np.int64(tree[node].cell), np.uint8(side + 1), places, fall, open_cells, at, count)
            side = 1 - side
            path[length] = node
            length += 1
        result = np.int64(tree[node].solved)
        if result == UNKNOWN:
            result = -random_result(marks, side, places, steps, k, fall, open_cells, at, count, control)
        for at_node in range(length - 1, -1, -1):
            node = path[at_node]
            tree[node].visits += 1
            tree[node].rewards += result
            if at_node > 0 and tree[node].solved != UNKNOWN and tree[path[at_node - 1]].solved == UNKNOWN:
                solve(path[at_node - 1], tree)
            result = -result
