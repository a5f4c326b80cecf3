"""Pair a round of a Swiss tournament by the basic rules of FIDE (Handbook C.04.1), as a matching of minimal cost.

The rules: nobody meets the same opponent twice, nobody gets a second bye or one after a forfeit win, and nobody moves
first three more times than second, or three times in a row; in the last round, players with more than half of the
points may. Among valid pairings, minimal differences of scores come first, then sides, then upper half against lower
half. If a small field has no valid pairing, `Strictness` relaxes the rules one by one until there is one.

The caller passes in the function that finds the matching (`Matching`). Ours, `matched`, is exact in small fields and
improves the ranking locally in large ones: most of the cost is between neighbours, so optimizing windows of a few
boards comes close to the minimal cost of the whole field.

This file is also the program that pairs large rounds in a separate process: it reads a `PairingQuestion` as JSON from
standard input, and writes the round as JSON to standard output.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from ttt_net.tournaments.schedules import Entrant, Pair
from ttt_net.tournaments.standings import WIN, RoundOff, RoundResult

Matching = Callable[[Mapping[Pair, int]], Iterable[Pair]]
"""Returns a maximum matching of minimal total cost, from the cost of each edge."""

DENSE = 100
"""With at most this many players, every pair is an edge."""
NEAREST = 16
"""In a larger field, the number of neighbours in the ranking to which each player first has edges."""
_NOBODY = -1
"""The vertex of the bye."""
_SCORE, _SIDES, _HALVES = 1_000_000, 20_000, 900
_BYE, _FORCED_SIDE, _SECOND_BYE, _REMATCH = 10**12, 10**16, 10**20, 10**24
"""The costs of a bye and of rule violations: each exceeds the total of all lower ones in a round of 1,000 players."""
_ANY_REMATCH = 1_000
"""The cost of a rematch in addition to its round number, so that few rematches come before old ones."""
_FORCED = 2
"""A player with this many more of one side than of the other, or in a row, must get the other one."""
FORCED = 3
"""The strength of such a player's claim."""


class Strictness(IntEnum):
    """How many rules are relaxed: each step is tried only if the previous one has no round."""

    ALL = 0
    LOOSE_SIDES = 1
    SECOND_BYE = 2
    REMATCH = 3
    """The oldest meetings are repeated first."""


class SwissPlayer(NamedTuple):
    """One entrant in the pairing of a round."""

    entrant: Entrant
    score: int
    """In half points."""
    met: Mapping[Entrant, int]
    """The opponents, with the last round in which they met."""
    sides: tuple[int, ...]
    """The sides of played matches, in order: 0 if the entrant moved first."""
    free_wins: int
    """Byes and forfeit wins."""

    @property
    def balance(self) -> int:
        """How many more matches the entrant moved first in than second."""
        return self.sides.count(0) - self.sides.count(1)

    @property
    def due(self) -> int | None:
        """The side that the entrant should have; None before the first match."""
        if not self.sides:
            return None
        if abs(self.balance) >= _FORCED or (self.balance and not self._is_repeated):
            return 1 if self.balance > 0 else 0
        return 1 - self.sides[-1]

    @property
    def claim(self) -> int:
        """The strength of the claim to that side: 0 none, 1 mild, 2 strong, or `FORCED`."""
        if abs(self.balance) >= _FORCED or self._is_repeated:
            return FORCED
        return 0 if self.due is None else 2 if self.balance else 1

    @property
    def _is_repeated(self) -> bool:
        return len(self.sides) >= _FORCED and len(set(self.sides[-_FORCED:])) == 1


class SwissRound(NamedTuple):
    """A proposal for a round."""

    boards: list[Pair]
    """The pairs, sorted by the higher score, then the lower; the former player moves first."""
    bye: Entrant | None
    strictness: Strictness
    """The strictness that was needed."""


def swiss_players(
    present: Sequence[Entrant], results: Iterable[RoundResult], offs: Iterable[RoundOff] = ()
) -> list[SwissPlayer]:
    """Return the players of the next round from the played rounds, in the order of `present`, which are the seeds."""
    scores, free = Counter[Entrant](), Counter[Entrant]()
    met: dict[Entrant, dict[Entrant, int]] = {entrant: {} for entrant in present}
    sides: dict[Entrant, list[int]] = {entrant: [] for entrant in present}
    for result in sorted(results, key=lambda each: each.round):
        for side, (entrant, opponent) in enumerate(((result.first, result.second), (result.second, result.first))):
            scores[entrant] += result.points[side]
            if result.is_played and entrant in met:
                met[entrant][opponent] = result.round
                sides[entrant].append(side)
            free[entrant] += not result.is_played and result.points[side] == WIN
    for off in offs:
        scores[off.entrant] += off.points
        free[off.entrant] += off.points == WIN
    return [SwissPlayer(each, scores[each], met[each], tuple(sides[each]), free[each]) for each in present]


def pair_round(
    players: Sequence[SwissPlayer],
    matching: Matching,
    *,
    is_last: bool = False,
    rounds_played: int = 0,
) -> SwissRound:
    """Return the next round of the players who are present, given in the order of their seeds.

    There is always one for two or more players, with a bye for an odd number. Raises `ValueError` if there are fewer.
    """
    if len(players) < 2:
        raise ValueError("a round needs at least two players")
    field = _Field(players, is_last=is_last, rounds_played=rounds_played)
    for strictness in Strictness:
        for reach in (NEAREST, 4 * NEAREST, len(players)) if len(players) > DENSE else (len(players),):
            found = list(matching(field.edges(strictness, reach)))
            if 2 * len(found) == len(players) + len(players) % 2:
                return field.round_of(found, strictness)
    raise AssertionError("the last step of the ladder allows every pair")


def broken_laws(
    players: Sequence[SwissPlayer],
    proposal: SwissRound,
    *,
    is_last: bool = False,
    rounds_played: int = 0,
) -> list[str]:
    """Return a sentence for each rule that a proposal breaks beyond its strictness; empty for a valid one.

    Another process may have created it, so nothing else in it is trusted. The caller decides which strictness to
    accept.
    """
    known = {player.entrant: player for player in players}
    found = _broken_attendance(known, proposal)
    if found:
        return found
    limit, strictness = _half(rounds_played), proposal.strictness
    for pair in proposal.boards:
        one, other = (known[entrant] for entrant in pair)
        if strictness < Strictness.REMATCH and other.entrant in one.met:
            found.append(f"{one.entrant} and {other.entrant} have met")
        is_top = is_last and max(one.score, other.score) > limit
        if strictness < Strictness.LOOSE_SIDES and not is_top:
            wronged = (player for side, player in enumerate((one, other)) if _must_change(player, side))
            found += [f"{player.entrant} must have the other side" for player in wronged]
    bye = None if proposal.bye is None else known[proposal.bye]
    if bye is not None and bye.free_wins and strictness < Strictness.SECOND_BYE:
        found.append(f"{bye.entrant} has had a bye or a forfeit win")
    return found


def _broken_attendance(known: Mapping[Entrant, SwissPlayer], proposal: SwissRound) -> list[str]:
    """Return a sentence for each seat of a stranger, and for each player who is not in the round exactly once."""
    seats = [entrant for pair in proposal.boards for entrant in pair]
    if proposal.bye is not None:
        seats.append(proposal.bye)
    counts = Counter(seats)
    strangers = [f"{entrant} is not present" for entrant in seats if entrant not in known]
    wrong = (entrant for entrant in known if counts[entrant] != 1)
    return strangers + [f"{entrant} is in the round {counts[entrant]} times" for entrant in wrong]


def _must_change(player: SwissPlayer, side: int) -> bool:
    return player.claim == FORCED and player.due != side


class _Field:
    """The players of a round, ranked, with the cost of each pair."""

    def __init__(
        self,
        players: Sequence[SwissPlayer],
        *,
        is_last: bool,
        rounds_played: int,
    ) -> None:
        seeds = {player.entrant: seed for seed, player in enumerate(players)}
        self._ranked = sorted(players, key=lambda each: (-each.score, seeds[each.entrant]))
        self._is_last, self._limit = is_last, _half(rounds_played)
        groups: dict[int, list[Entrant]] = {}
        for player in self._ranked:
            groups.setdefault(player.score, []).append(player.entrant)
        self._places = {each: (place, len(group)) for group in groups.values() for place, each in enumerate(group)}

    def edges(self, strictness: Strictness, reach: int) -> dict[Pair, int]:
        """Return the cost of each pair that may meet, by places in the ranking; the bye is with `_NOBODY`."""
        found = {}
        for place, one in enumerate(self._ranked):
            for other_place in range(place + 1, min(len(self._ranked), place + reach + 1)):
                cost = self._cost(one, self._ranked[other_place], strictness)
                if cost is not None:
                    found[place, other_place] = cost
        if len(self._ranked) % 2:
            found.update(self._byes(strictness))
        return found

    def _byes(self, strictness: Strictness) -> Iterator[tuple[Pair, int]]:
        """Yield the costs of a bye: the lowest score first, then the fewest matches played, then the lowest rank."""
        rows = [(each.score, len(each.sides), -place) for place, each in enumerate(self._ranked)]
        order = {row: number for number, row in enumerate(sorted(rows))}
        for place, (row, player) in enumerate(zip(rows, self._ranked, strict=True)):
            if not player.free_wins or strictness >= Strictness.SECOND_BYE:
                yield (_NOBODY, place), _BYE * order[row] + _SECOND_BYE * player.free_wins

    def _cost(self, one: SwissPlayer, other: SwissPlayer, strictness: Strictness) -> int | None:
        """Return the cost of a pair; None if a rule forbids it."""
        cost = 0
        if other.entrant in one.met:
            if strictness < Strictness.REMATCH:
                return None
            cost += _REMATCH * (_ANY_REMATCH + one.met[other.entrant])
        conflict = min(one.claim, other.claim) if one.due == other.due else 0
        is_top = self._is_last and max(one.score, other.score) > self._limit
        if conflict == FORCED and not is_top:
            if strictness < Strictness.LOOSE_SIDES:
                return None
            cost += _FORCED_SIDE
        return cost + _SCORE * (one.score - other.score) ** 2 + _SIDES * conflict + self._halves(one, other)

    def _halves(self, one: SwissPlayer, other: SwissPlayer) -> int:
        """Return how far two players with one score are from upper half against lower half, as part of `_HALVES`."""
        if one.score != other.score:
            return 0
        (place, size), (other_place, _) = self._places[one.entrant], self._places[other.entrant]
        return min(_HALVES, abs(abs(place - other_place) - size // 2) * _HALVES // size)

    def round_of(self, pairs: Iterable[Pair], strictness: Strictness) -> SwissRound:
        """Return the round of a perfect matching."""
        bye, places = None, []
        for one, other in (sorted(pair) for pair in pairs):
            if one == _NOBODY:
                bye = self._ranked[other].entrant
            else:
                places.append((one, other))
        ranked = self._ranked
        places.sort(key=lambda pair: (-ranked[pair[0]].score, -ranked[pair[1]].score, pair))
        boards = [_seated(ranked[one], ranked[other], board) for board, (one, other) in enumerate(places)]
        return SwissRound(boards, bye, strictness)


def _seated(one: SwissPlayer, other: SwissPlayer, board: int) -> Pair:
    """Return two players, beginning with the one who moves first; `one` is ranked higher.

    The stronger claim is granted. Of equal ones, the sides of the last round in which they differed are reversed. Then
    the higher rank gets the side that is due. Without any claim, the higher ranks begin on every second board.
    """
    if one.due is None and other.due is None:
        side = board % 2
    elif one.due != other.due:
        side = one.due if one.due is not None else 1 - (other.due or 0)
    else:
        assert one.due is not None, "two who are due the same side are due one"
        stronger, weaker = (one.claim, abs(one.balance)), (other.claim, abs(other.balance))
        if stronger != weaker:
            side = one.due if stronger > weaker else 1 - one.due
        else:
            pairs = zip(reversed(one.sides), reversed(other.sides), strict=False)
            differing = next((mine for mine, theirs in pairs if mine != theirs), None)
            side = one.due if differing is None else 1 - differing
    return (one.entrant, other.entrant) if side == 0 else (other.entrant, one.entrant)


def _half(rounds_played: int) -> int:
    """Return half of the maximal points so far."""
    return rounds_played * WIN // 2


EXACT = 14
"""Fields with at most this many vertices are matched optimally."""
_WINDOW, _LARGE_WINDOW = 6, 5
"""The boards in a window, and in a window of fields with more than `_LARGE` vertices."""
_LARGE = 120
_SWEEPS = 8
"""The maximal number of passes over the whole field."""
_FAR = 10**40
"""More than the cost of any round."""

COMMAND = (sys.executable, "-m", "ttt_net.tournaments.swiss")
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
