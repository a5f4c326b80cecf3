"""Rank the entrants of a tournament by score and published tie-breaks. Equal entrants share a place; there is no lot.

The tie-breaks are those of the FIDE Handbook, C.07 (2024): direct encounter (6), wins, progressive score (7.5),
Buchholz (8.1) and its cuts (14), Sonneborn-Berger (9.1) and Koya (9.2), with unplayed rounds by 16. Scores are in half
points. Tie-breaks are integers, so Sonneborn-Berger is in quarter points.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, assert_never

from ttt_net.tournaments.schedules import Entrant

WIN, DRAW, LOSS = 2, 1, 0
"""Half points."""

TieBreak = Literal[
    "direct",
    "wins",
    "progressive",
    "buchholz",
    "buchholz_cut_1",
    "sonneborn_berger",
    "koya",
    "fewer_games",
    "opponents",
    "in_a_row",
]
"""`opponents` is the mean score of the opponents, in thousandths of a half point, for an arena."""
ORDERS: Mapping[str, tuple[TieBreak, ...]] = {
    "swiss": ("buchholz_cut_1", "buchholz", "direct", "wins"),
    "round_robin": ("direct", "wins", "sonneborn_berger", "koya"),
    "arena": ("opponents", "fewer_games"),
    "king": ("in_a_row", "fewer_games"),
}
"""The tie-breaks of each kind of tournament, in order."""


_UNITS: Mapping[TieBreak, int] = {"wins": 1, "in_a_row": 1, "fewer_games": 1, "sonneborn_berger": 4, "opponents": 2_000}
"""The units of a tie-break per point or match, if not 2."""


def in_points(name: TieBreak, value: int) -> float:
    """Return a tie-break for tables: in points, or as a number of matches."""
    return value / _UNITS.get(name, 2)


class RoundResult(NamedTuple):
    """The result of one pairing: `first` moved first; the points are those of `first` and `second`."""

    round: int
    """From 1."""
    first: Entrant
    second: Entrant
    points: tuple[int, int]
    is_played: bool = True
    """False if it was decided without play: a forfeit."""


class RoundOff(NamedTuple):
    """A round in which an entrant was not paired: a bye, or an absence."""

    round: int
    entrant: Entrant
    points: int
    is_voluntary: bool = False
    """Whether the entrant asked not to play, or was away. A bye because of an odd number is not voluntary."""


class TournamentRow(NamedTuple):
    """One row of the standings."""

    place: int
    """Entrants who are equal in all tie-breaks share the best of their places."""
    entrant: Entrant
    score: int
    breaks: tuple[int, ...]
    """The tie-breaks in their order; larger is better."""


class _Round(NamedTuple):
    """One round of one entrant. Without an opponent, or without play, it is unplayed."""

    number: int
    points: int
    opponent: Entrant | None
    is_played: bool
    is_voluntary: bool


def standings(
    entrants: Sequence[Entrant],
    results: Iterable[RoundResult],
    offs: Iterable[RoundOff] = (),
    order: Sequence[TieBreak] = ORDERS["swiss"],
    points: Mapping[Entrant, int] | None = None,
) -> list[TournamentRow]:
    """Return the rows of all entrants, the best first. Each has a result or a `RoundOff` for every round.

    `points` replaces the scores if they are not the sum of the results, as in an arena. Raises `ValueError` if a result
    names somebody who did not enter.
    """
    card = _Card(entrants, results, offs, points)
    keys: dict[Entrant, tuple[int, ...]] = {entrant: (card.score[entrant],) for entrant in entrants}
    for name in order:
        groups: dict[tuple[int, ...], list[Entrant]] = {}
        for entrant, key in keys.items():
            groups.setdefault(key, []).append(entrant)
        for group in groups.values():
            for entrant in group:
                keys[entrant] += (card.tie_break(name, entrant, group),)
    ranked = sorted(entrants, key=lambda entrant: keys[entrant], reverse=True)
    places: dict[tuple[int, ...], int] = {}
    for place, entrant in enumerate(ranked, 1):
        places.setdefault(keys[entrant], place)
    return [TournamentRow(places[keys[each]], each, card.score[each], keys[each][1:]) for each in ranked]


def early_leavers(results: Iterable[RoundResult], leavers: Collection[Entrant], rounds: int) -> set[Entrant]:
    """Return those who left a round robin before half of their rounds: none of their results count.

    Entrants who left later forfeit the rest; the caller adds these results.
    """
    played = dict.fromkeys(leavers, 0)
    for result in results:
        for entrant in (result.first, result.second):
            if entrant in played and result.is_played:
                played[entrant] += 1
    return {entrant for entrant, count in played.items() if 2 * count < rounds}


class _Card:
    """The rounds of each entrant, and the tie-breaks that follow from them."""

    def __init__(
        self,
        entrants: Sequence[Entrant],
        results: Iterable[RoundResult],
        offs: Iterable[RoundOff],
        points: Mapping[Entrant, int] | None,
    ) -> None:
        self.rounds: dict[Entrant, list[_Round]] = {entrant: [] for entrant in entrants}
        for result in results:
            pairs = ((result.first, result.second), (result.second, result.first))
            for (entrant, opponent), got in zip(pairs, result.points, strict=True):
                is_absent = not result.is_played and got == LOSS
                self._add(entrant, _Round(result.round, got, opponent, result.is_played, is_absent))
        for off in offs:
            self._add(off.entrant, _Round(off.round, off.points, None, False, off.is_voluntary))
        for rounds in self.rounds.values():
            rounds.sort(key=lambda each: each.number)
        self._last = max((each.number for rounds in self.rounds.values() for each in rounds), default=0)
        own = {entrant: sum(each.points for each in rounds) for entrant, rounds in self.rounds.items()}
        self.score = own if points is None else {entrant: points.get(entrant, 0) for entrant in entrants}
        self._played = {
            entrant: [each for each in rounds if each.is_played and each.opponent is not None]
            for entrant, rounds in self.rounds.items()
        }
        self._faced_by: dict[Entrant, list[tuple[bool, int]]] = {}
        """The result of `_faced`, which two tie-breaks need."""
        self._adjusted = {entrant: _adjusted(self.score[entrant], rounds) for entrant, rounds in self.rounds.items()}

    def _add(self, entrant: Entrant, each: _Round) -> None:
        if entrant not in self.rounds:
            raise ValueError(f"entrant {entrant} has a result, but did not enter")
        self.rounds[entrant].append(each)

    def tie_break(self, name: TieBreak, entrant: Entrant, group: Sequence[Entrant]) -> int:
        """Return one tie-break of an entrant among entrants who are equal so far."""
        rounds = self.rounds[entrant]
        played = self._played[entrant]
        match name:
            case "direct":
                return self._direct(entrant, group)
            case "wins":
                return sum(each.points == WIN for each in played)
            case "progressive":
                return sum(each.points * (self._last - each.number + 1) for each in rounds)
            case "buchholz":
                return sum(value for _, value in self._faced(entrant))
            case "buchholz_cut_1":
                faced = self._faced(entrant)
                cut = min((value for is_voluntary, value in faced if is_voluntary), default=None)
                cut = min((value for _, value in faced), default=0) if cut is None else cut
                return sum(value for _, value in faced) - cut
            case "sonneborn_berger":
                return sum(each.points * self._worth(entrant, each) for each in rounds)
            case "koya":
                return sum(each.points for each in played if 2 * self.score[_opponent(each)] >= WIN * self._last)
            case "opponents":
                return 1_000 * sum(self.score[_opponent(each)] for each in played) // len(played) if played else 0
            case "fewer_games":
                return -len(played)
            case "in_a_row":
                runs = groupby(each.points == WIN for each in rounds)
                return max((len(list(run)) for has_won, run in runs if has_won), default=0)
            case _:
                assert_never(name)

    def _direct(self, entrant: Entrant, group: Sequence[Entrant]) -> int:
        """Return the points against the others of a group; 0 unless all of them have played each other."""
        others = {each for each in group if each != entrant}
        if any(not (set(group) - {each}) <= self._opponents(each) for each in group):
            return 0
        return sum(each.points for each in self.rounds[entrant] if each.is_played and each.opponent in others)

    def _opponents(self, entrant: Entrant) -> set[Entrant]:
        return {_opponent(each) for each in self._played[entrant]}

    def _faced(self, entrant: Entrant) -> list[tuple[bool, int]]:
        """Return, for each round, whether it was a voluntary absence, and the opponent's contribution to Buchholz."""
        found = self._faced_by.get(entrant)
        if found is None:
            found = [(each.is_voluntary, self._worth(entrant, each)) for each in self.rounds[entrant]]
            self._faced_by[entrant] = found
        return found

    def _worth(self, entrant: Entrant, each: _Round) -> int:
        """Return the adjusted score of an opponent; for an unplayed round, the own score, as of a dummy opponent."""
        return self._adjusted[_opponent(each)] if each.is_played else self.score[entrant]


def _opponent(each: _Round) -> Entrant:
    assert each.opponent is not None, "a round that was played has an opponent"
    return each.opponent


def _adjusted(score: int, rounds: Sequence[_Round]) -> int:
    """Return the score of an entrant for their opponents: voluntary absences at the end count as draws."""
    for each in reversed(rounds):
        if not each.is_voluntary:
            break
        score += DRAW - each.points
    return score
