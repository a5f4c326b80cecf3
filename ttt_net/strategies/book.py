"""Read the opening book of Connect Four: the exact score of every position of a few stones, up to mirror, as data.

A position is written column by column from the left: the stones of each from the bottom up, 1 for the first player's
and 2 for the second's, and a 0 between columns. With a 1 in front that is a number to base 3, the position's key. Of
a position and its mirror image the smaller key counts.

The file is compressed by zlib: the differences of the ascending keys as 32-bit numbers, little end first, then a byte
for each score. `python -m ttt_net book` builds it; looking a position up needs nothing compiled.
"""

import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

from ttt_net.games.line import LineGame, LineState

SHIPPED = Path(__file__).with_name("connect4.book")
WIDTH, HEIGHT = 7, 6
DEEPEST = 8
"""The maximal number of stones in a book's positions."""
OFFSET = 32
"""The offset added to a score so that it fits an unsigned byte."""
LARGEST = 21
"""The maximal score of either side."""
ENTRY_BYTES = 5
"""The size of an entry before compression: four bytes of key, one of score."""


class Book:
    """Scores by position: one more than the stones that the winner has left at the end, below zero for a loss."""

    def __init__(self, packed: bytes) -> None:
        data = zlib.decompress(packed)
        count = len(data) // ENTRY_BYTES
        differences = array("I", data[: 4 * count])
        if sys.byteorder == "big":
            differences.byteswap()
        self._keys = array("I", accumulate(differences))
        self._scores = data[4 * count :]

    def __len__(self) -> int:
        return len(self._keys)

    def scores(self) -> dict[int, int]:
        """Return all scores by key."""
        return {key: score - OFFSET for key, score in zip(self._keys, self._scores, strict=True)}

    def score(self, state: LineState) -> int | None:
        """Return the score for the side to move, or None if the position is not in the book."""
        key = key_of(state)
        at = bisect_left(self._keys, key)
        return self._scores[at] - OFFSET if at < len(self._keys) and self._keys[at] == key else None


@cache
def shipped_book() -> Book:
    """Return the book of the package."""
    return Book(SHIPPED.read_bytes())


def packed(scores: Mapping[int, int]) -> bytes:
    """Return the content of a file with these scores by key."""
    keys = sorted(scores)
    differences = array("I", (after - before for before, after in pairwise([0, *keys])))
    if sys.byteorder == "big":
        differences.byteswap()
    return zlib.compress(differences.tobytes() + bytes(scores[key] + OFFSET for key in keys), level=9)


def key_of(state: LineState) -> int:
    """Return the key of a position, which is also that of its mirror image."""
    columns = [_written(state, column) for column in range(WIDTH)]
    return min(int("1" + "0".join(columns), 3), int("1" + "0".join(reversed(columns)), 3))


def _written(state: LineState, column: int) -> str:
    first, second, _, _ = state
    stones = ""
    for cell in range((HEIGHT - 1) * WIDTH + column, -1, -WIDTH):
        if first >> cell & 1:
            stones += "1"
        elif second >> cell & 1:
            stones += "2"
        else:
            break
    return stones


def positions(game: LineGame, plies: int) -> list[dict[int, LineState]]:
    """Return for each number of stones up to `plies` the positions that are not over, by key: one of each mirror pair.

    Neighbours in the order of a level share most of their subtrees.
    """
    levels = [{key_of(game.initial): game.initial}]
    for _ in range(plies):
        levels.append({key_of(after): after for before in levels[-1].values() for after in followers(game, before)})
    return levels


def followers(game: LineGame, state: LineState) -> Iterable[LineState]:
    """Return the positions one move on that are not over."""
    return (after for after in (game.result(state, move) for move in game.actions(state)) if not after.has_line)


def backed_up(game: LineGame, levels: list[dict[int, LineState]], known: Mapping[int, int]) -> dict[int, int]:
    """Return the scores of all levels that follow from the known ones.

    A score is the best that a move leads to. While some moves are unknown it has a lower and an upper bound, which
    often meet nevertheless.
    """
    bounds: dict[int, tuple[int, int]] = {}
    for level in reversed(levels):
        for key, state in level.items():
            after = list(followers(game, state))
            if len(after) < len(game.actions(state)):
                bounds[key] = ((43 - state.ply) // 2,) * 2  # an immediate win
            elif key in known:
                bounds[key] = known[key], known[key]
            elif level is levels[-1]:
                bounds[key] = -LARGEST, LARGEST
            else:
                below = [bounds[key_of(child)] for child in after]
                bounds[key] = max(-most for _, most in below), max(-least for least, _ in below)
    return {key: least for key, (least, most) in bounds.items() if least == most}
