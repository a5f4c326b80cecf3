"""Find a perfect matching of low cost: exact in small fields, by local improvement of the ranking in large ones.

A round of a Swiss is such a matching: its vertices are places in the ranking, and most of the cost is between
neighbours. So optimizing windows of a few boards comes close to the minimal cost of the whole field. This file is also
the program that pairs large rounds in a separate process: it reads a `PairingQuestion` as JSON from standard input, and
writes the round as JSON to standard output.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ttt_net.tournaments.schedules import Pair
from ttt_net.tournaments.swiss import Strictness, SwissPlayer, SwissRound, pair_round

EXACT = 14
"""Fields with at most this many vertices are matched optimally."""
_WINDOW, _LARGE_WINDOW = 6, 5
"""The boards in a window, and in a window of fields with more than `_LARGE` vertices."""
_LARGE = 120
_SWEEPS = 8
"""The maximal number of passes over the whole field."""
_FAR = 10**40
"""More than the cost of any round."""

COMMAND = (sys.executable, "-m", "ttt_net.tournaments.matching")
"""The command of the process that pairs a round."""


def matched(edges: Mapping[Pair, int]) -> list[Pair]:
    """Return a perfect matching of low cost, empty if none was found; a `swiss.Matching`."""
    costs: dict[int, dict[int, int]] = {}
    for (one, other), cost in edges.items():
        costs.setdefault(one, {})[other] = cost
        costs.setdefault(other, {})[one] = cost
    vertices = sorted(costs)
    if len(vertices) <= EXACT:
        return _least(vertices, costs) or []
    mates = _first_mates(vertices, costs)
    if mates is None:
        return []
    _improve(mates, costs)
    return [(one, other) for one, other in mates.items() if one < other]


def _least(vertices: Sequence[int], costs: Mapping[int, Mapping[int, int]]) -> list[Pair] | None:
    """Return the optimal perfect matching of a few vertices; None if there is none."""
    size = len(vertices)
    if size % 2:
        return None
    weights = [[costs[one].get(other, _FAR) for other in vertices] for one in vertices]
    known: dict[int, tuple[int, int]] = {0: (0, 0)}

    def best(left: int) -> int:
        """Return the minimal cost of the vertices in a bit set, trying each partner of the first vertex."""
        if left in known:
            return known[left][0]
        first = left & -left
        row, rest = weights[first.bit_length() - 1], left ^ first
        found, mate, others = _FAR, 0, rest
        while others:
            other = others & -others
            others ^= other
            cost = row[other.bit_length() - 1]
            if cost < found:
                cost += best(rest ^ other)
                if cost < found:
                    found, mate = cost, other
        known[left] = found, mate
        return found

    left = (1 << size) - 1
    if best(left) >= _FAR:
        return None
    pairs = []
    while left:
        first, mate = left & -left, known[left][1]
        pairs.append((vertices[first.bit_length() - 1], vertices[mate.bit_length() - 1]))
        left ^= first | mate
    return pairs


def _first_mates(vertices: Sequence[int], costs: Mapping[int, Mapping[int, int]]) -> dict[int, int] | None:
    """Return some perfect matching, by mates: greedily from the top, then by augmenting paths for the rest."""
    mates: dict[int, int] = {}
    for one in vertices:
        if one not in mates:
            free = [(cost, other) for other, cost in costs[one].items() if other not in mates]
            if free:
                _join(mates, one, min(free)[1])
    left = [one for one in vertices if one not in mates]
    while left:
        path = _augmenting(left[0], set(left[1:]), mates, costs)
        if path is None:
            return None
        for one, other in zip(path[::2], path[1::2], strict=True):
            _join(mates, one, other)
        left = [one for one in left if one not in mates]
    return mates


def _augmenting(
    start: int, goals: set[int], mates: Mapping[int, int], costs: Mapping[int, Mapping[int, int]]
) -> list[int] | None:
    """Return an augmenting path from an unmatched vertex to another one."""
    came: dict[int, tuple[int, int] | None] = {start: None}
    queue = [start]
    for one in queue:
        for other in sorted(costs[one], key=costs[one].__getitem__):
            if other in goals:
                path, step = [other, one], came[one]
                while step is not None:
                    path += step
                    step = came[step[1]]
                return path[::-1]
            mate = mates.get(other)
            if mate is not None and mate not in came and not _is_on_path(other, one, came):
                came[mate] = (other, one)
                queue.append(mate)
    return None


def _is_on_path(vertex: int, end: int, came: Mapping[int, tuple[int, int] | None]) -> bool:
    """Tell whether a path already visits a vertex."""
    if vertex == end:
        return True
    step = came[end]
    while step is not None:
        if vertex in step:
            return True
        step = came[step[1]]
    return False


def _join(mates: dict[int, int], one: int, other: int) -> None:
    mates[one], mates[other] = other, one


def _improve(mates: dict[int, int], costs: Mapping[int, Mapping[int, int]]) -> None:
    """Optimize windows of neighbouring boards until none improves."""
    width = _LARGE_WINDOW if len(mates) > _LARGE else _WINDOW
    tried: set[tuple[Pair, ...]] = set()
    for sweep in range(_SWEEPS):
        has_changed = False
        for at in range(sweep % 2, max(1, len(mates) // 2 - width + 2), 2):
            boards = _boards(mates)[at : at + width]
            key = tuple(boards)
            if key in tried:
                continue
            tried.add(key)
            before = sum(costs[one][other] for one, other in boards)
            found = _least(sorted(each for board in boards for each in board), costs)
            if found is not None and sum(costs[one][other] for one, other in found) < before:
                has_changed = True
                for one, other in found:
                    _join(mates, one, other)
        if not has_changed and sweep:
            return


def _boards(mates: Mapping[int, int]) -> list[Pair]:
    return sorted((one, other) for one, other in mates.items() if one < other)


class PairingQuestion(msgspec.Struct):
    """One round to pair: the arguments of `pair_round`."""

    players: list[tuple[int, int, dict[int, int], list[int], int]]
    is_last: bool
    rounds_played: int


def question(players: Sequence[SwissPlayer], *, is_last: bool, rounds_played: int) -> bytes:
    """Return the question for the process."""
    rows: list[Any] = [(each.entrant, each.score, dict(each.met), list(each.sides), each.free_wins) for each in players]
    return msgspec.json.encode(PairingQuestion(rows, is_last, rounds_played))


def answered(answer: bytes) -> SwissRound:
    """Return the round that the process proposes. Raises `ValueError` if it is invalid."""
    boards, bye, strictness = msgspec.json.decode(answer, type=tuple[list[tuple[int, int]], int | None, int])
    return SwissRound(boards, bye, Strictness(strictness))


def main() -> None:
    """Answer the question on standard input."""
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=PairingQuestion)
    players = [SwissPlayer(one, score, met, tuple(sides), free) for one, score, met, sides, free in asked.players]
    found = pair_round(players, matched, is_last=asked.is_last, rounds_played=asked.rounds_played)
    sys.stdout.buffer.write(msgspec.json.encode((found.boards, found.bye, int(found.strictness))))


if __name__ == "__main__":
    main()
