"""Connect Four solved in the slowest honest way: columns of characters, and no idea but to try everything."""

import random
from functools import cache

Columns = tuple[str, ...]

EMPTY: Columns = ("",) * 7


def play(columns: Columns, column: int, mark: str) -> Columns:
    """The columns, each from the bottom up, after one more mark."""
    return (*columns[:column], columns[column] + mark, *columns[column + 1 :])


def has_four(columns: Columns, column: int) -> bool:
    """Whether the topmost mark of a column is part of four in a row."""
    row, mark = len(columns[column]) - 1, columns[column][-1]

    def is_mark(x: int, y: int) -> bool:
        return 0 <= x < 7 and 0 <= y < len(columns[x]) and columns[x][y] == mark

    def run(dx: int, dy: int) -> int:
        length = 0
        while is_mark(column + dx * (length + 1), row + dy * (length + 1)):
            length += 1
        return length

    return any(run(dx, dy) + run(-dx, -dy) >= 3 for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)))


@cache
def score(columns: Columns) -> int:
    """The score for the side to move: one more than the stones its winner has left, negative for a loss."""
    stones = sum(map(len, columns))
    mark = "XO"[stones % 2]
    best = -100
    for column in range(7):
        if len(columns[column]) < 6:
            after = play(columns, column, mark)
            best = max(best, 22 - (stones + 2) // 2 if has_four(after, column) else -score(after))
    return 0 if best == -100 else best


def random_columns(stones: int, rng: random.Random) -> list[int]:
    """Columns that were filled at random without a four, counted from 1; over and over until there is one."""
    while True:
        columns, moves = EMPTY, list[int]()
        while len(moves) < stones:
            column = rng.choice([n for n in range(7) if len(columns[n]) < 6])
            columns = play(columns, column, "XO"[len(moves) % 2])
            if has_four(columns, column):
                break
            moves.append(column + 1)
        if len(moves) == stones:
            return moves
