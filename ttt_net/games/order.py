"""Whether fallen marks can have fallen by turns: the one question of a gravity board that a glance cannot answer."""

_MAX_VISITS = 20_000
"""Positions tried before giving up; boards from play need a few hundred at most, made-up ones could need all."""


def has_order(columns: list[list[int]], first: int, last: int) -> bool:
    """Tell whether the marks can be taken off by turns, the last mover's first, starting with one of `last`.

    `columns` holds the taken cells of each column from the floor up, `first` the cells of the first side,
    `last` the cells that the play may have ended in. The search gives up (False) after 20,000 positions.
    """
    signs = [[1 if first >> cell & 1 else 0 for cell in column] for column in columns]
    start = tuple(map(len, columns))
    tops = [n for n, column in enumerate(columns) if last >> column[-1] & 1]
    pending = [_without(start, n) for n in tops]
    seen = set(pending)
    while pending:
        if len(seen) > _MAX_VISITS:
            return False
        heights = pending.pop()
        left = sum(heights)
        if left == 0:
            return True
        mark = left & 1  # the first side made the odd moves
        # The highest column is tried first (it is popped last in, first out): it holds the most back.
        for n in sorted(range(len(heights)), key=heights.__getitem__):
            if heights[n] and signs[n][heights[n] - 1] == mark:
                lower = _without(heights, n)
                if lower not in seen:
                    seen.add(lower)
                    pending.append(lower)
    return not columns


def _without(heights: tuple[int, ...], column: int) -> tuple[int, ...]:
    return (*heights[:column], heights[column] - 1, *heights[column + 1 :])
