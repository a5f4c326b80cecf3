"""Bounds by odd and even rows in Connect Four are true, by the slow solver, and useful."""

import random
from typing import Any

import pytest

from tests.strategies.slow_connect4 import EMPTY, Columns, play, random_columns, score

pytest.importorskip("numba")

import numpy as np

from tests.strategies.uncompiled import uncompiled
from ttt_net.strategies.compiled import connect4_solver
from ttt_net.strategies.compiled.connect4_solver import OFFSET

POSITIONS = 700


def words_of(columns: Columns, mark: str) -> np.uint64:
    return np.uint64(sum(1 << x * 7 + y for x in range(7) for y, here in enumerate(columns[x]) if here == mark))


def bounds_of(columns: Columns, names: dict[str, Any]) -> tuple[int, int] | None:
    """The bounds of a quiet position; none if a side can win at once or every move loses at once."""
    stones = sum(map(len, columns))
    own, other = (words_of(columns, "XO"[(stones + side) % 2]) for side in (0, 1))
    taken = own | other
    playable = (taken + names["BOTTOM"]) & names["BOARD"]
    threats = names["winning_cells"](other, taken)
    moves = playable & ~(threats >> np.uint64(1))
    if playable & (threats | names["winning_cells"](own, taken)) or not moves:
        return None
    move = np.array([moves & np.uint64(0b111111 << column * 7 if column < 7 else 0) for column in range(8)])
    after = move | taken
    replies = (after + names["BOTTOM"]) & names["BOARD"]
    cells = names["winning_cells"](move | own, after)
    return (
        int(names["lower_bound"](own, taken, move, cells, replies, stones, -OFFSET)),
        int(names["upper_bound"](own, taken, threats, stones, OFFSET)),
    )


def test_bounds_by_odd_and_even_rows_hold_and_each_kind_is_met() -> None:
    names, rng = uncompiled(connect4_solver), random.Random(5)
    met = set()
    with np.errstate(over="ignore"):
        for _ in range(POSITIONS):
            columns = EMPTY
            for number, move in enumerate(random_columns(rng.randint(30, 34), rng)):
                columns = play(columns, move - 1, "XO"[number % 2])
            if bounds := bounds_of(columns, names):
                lower, upper = bounds
                assert lower <= score(columns) <= upper
                side = sum(map(len, columns)) % 2
                met |= {(side, "at least", lower), (side, "at most", upper)}
    first, second = 0, 1
    assert met >= {
        *((first, "at most", value) for value in (-4, -3, -2, -1, 0, OFFSET)),
        *((first, "at least", value) for value in (-OFFSET, 1, 2, 3)),
        *((second, "at most", value) for value in (-3, -2, -1, OFFSET)),
        *((second, "at least", value) for value in (-OFFSET, 0, 1, 2, 3)),
    }
