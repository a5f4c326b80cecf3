"""Weigh the shapes of an empty cell in the estimate of five in a row: fitted weights, two kinds at a time.

A cell has a kind of shape in each of four directions, as in `shapes`; it is worth the sum over its six pairs of
directions. A weight is in tenths of 1/256 of a logit of the chance to win, fitted by logistic regression to the values
that a search of 2,500 to 3,000 nodes gave 40,000 positions: such as occur in matches with itself, after up to three
random moves. docs/developing/experiments.md tells what was tried.
"""

PER_WORTH = 10
FINER = 2
"""By how many bits the worth of cells is finer than an estimate, which so has 64 to a logit."""

# fmt: off
TO_MOVE = (
    (-5,),
    (0, -1),
    (-4, 1, 1),
    (1, 1, 6, 1),
    (5, 3, 7, 8, 11),
    (9, 5, 14, 11, 29, 43),
    (11, 6, 17, 14, 27, 48, 17),
    (47, 99, 67, 67, 115, 248, 179, 865),
    (35, 45, 68, 41, 217, 279, 167, 1091, 1072),
    (57, 97, 70, 128, 352, 515, 302, 486, 479, 54),
    (-1, 0, 0, 1, 2, 5, 3, 26, 22, 27, 0),
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
"""By two kinds, the greater one first: for the side that is to move."""

NOT_TO_MOVE = (
    (-4,),
    (-2, 0),
    (-3, 0, 0),
    (-1, 3, 3, 4),
    (2, -3, 9, 14, 14),
    (13, -1, 15, 10, 27, 31),
    (4, 11, 9, 7, 27, 48, 24),
    (46, 56, 51, 41, 59, 83, 97, 316),
    (12, 1, 56, 92, 82, 128, 122, 214, 436),
    (45, 91, 52, 131, 188, 209, 347, 1310, 1167, 1221),
    (445, 355, 275, 618, 654, 454, 805, 831, 891, 559, 0),
    (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
"""The same for the other side."""
# fmt: on


def worth_of(kinds: tuple[int, ...]) -> tuple[int, int]:
    """Return what an empty cell with these kinds is worth to a side: if that is to move, and if it is not."""
    pairs = [(max(a, b), min(a, b)) for n, a in enumerate(kinds) for b in kinds[n + 1 :]]
    if_to_move, if_not = (sum(table[a][b] for a, b in pairs) / PER_WORTH for table in (TO_MOVE, NOT_TO_MOVE))
    return round(if_to_move), round(if_not)
