"""Swiss rounds: the laws over whole tournaments, and the least cost among all rounds of small fields."""

import random
import subprocess
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tournaments.matching import by_trying, cost_of, library
from ttt_net.tournaments.schedules import Entrant, Pair
from ttt_net.tournaments.standings import RoundOff, RoundResult
from ttt_net.tournaments.swiss import (
    COMMAND,
    Strictness,
    SwissPlayer,
    SwissRound,
    answered,
    broken_laws,
    matched,
    pair_round,
    question,
    swiss_players,
)


class Evening:
    """A Swiss tournament whose matches end by lot; some players leave, miss a round or come late."""

    def __init__(self, count: int, seed: int, *, is_full: bool = False) -> None:
        self.rng = random.Random(seed)
        self.entrants = list(range(1, count + 1))
        self.is_full = is_full
        self.results: list[RoundResult] = []
        self.offs: list[RoundOff] = []
        self.gone: set[Entrant] = set()
        self.rounds: list[tuple[list[SwissPlayer], SwissRound, bool]] = []

    def play(self, rounds: int) -> None:
        for number in range(1, rounds + 1):
            absent = set() if self.is_full else {each for each in self.entrants if self.rng.random() < 0.05}
            present = [each for each in self.entrants if each not in self.gone | absent]
            if len(present) < 2:
                return
            players = swiss_players(present, self.results, self.offs)
            is_last = number == rounds
            proposal = pair_round(players, library, is_last=is_last, rounds_played=number - 1)
            assert broken_laws(players, proposal, is_last=is_last, rounds_played=number - 1) == []
            self.rounds.append((players, proposal, is_last))
            self._end(number, proposal)
            self.offs += [RoundOff(number, each, 0, True) for each in self.entrants if each not in present]
            if not self.is_full:
                self.gone |= {each for each in present if self.rng.random() < 0.02}

    def _end(self, number: int, proposal: SwissRound) -> None:
        for first, second in proposal.boards:
            points = self.rng.choice([(2, 0), (1, 1), (0, 2)])
            is_played = self.is_full or self.rng.random() > 0.03
            self.results.append(RoundResult(number, first, second, points if is_played else (2, 0), is_played))
        if proposal.bye is not None:
            self.offs.append(RoundOff(number, proposal.bye, 2))


def claims_of(sides: str) -> tuple[int | None, int]:
    """Return the side that is due to a player and the strength of the claim: F where they moved first, s where not."""
    player = SwissPlayer(1, 0, {}, tuple("Fs".index(side) for side in sides), 0)
    return player.due, player.claim


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ("", (None, 0)),
        ("F", (1, 2)),
        ("Fs", (0, 1)),
        ("sF", (1, 1)),
        ("sFF", (1, 3)),
        ("ssFF", (1, 3)),
        ("FFsF", (1, 3)),
        ("sFs", (0, 2)),
        ("ssFFs", (0, 2)),
    ],
)
def test_the_side_that_is_due_and_how_strongly(sides: str, expected: tuple[int | None, int]) -> None:
    assert claims_of(sides) == expected


def test_the_first_round_is_upper_half_against_lower_half_with_sides_in_turn() -> None:
    proposal = pair_round(swiss_players(range(1, 8), []), library)
    assert (proposal.boards, proposal.bye) == ([(1, 4), (5, 2), (3, 6)], 7)


@pytest.mark.parametrize("count", [12, 13, 25, 40])
@pytest.mark.parametrize("seed", range(4))
def test_a_tournament_with_enough_players_keeps_all_laws(count: int, seed: int) -> None:
    evening = Evening(count, seed, is_full=True)
    evening.play(5)
    assert {proposal.strictness for _, proposal, _ in evening.rounds} == {Strictness.ALL}
    pairs = [frozenset((result.first, result.second)) for result in evening.results]
    assert len(pairs) == len(set(pairs)) == 5 * (count // 2)
    byes = [off.entrant for off in evening.offs]
    assert len(byes) == len(set(byes)) == 5 * (count % 2)
    for entrant in evening.entrants:
        sides = [[each.first, each.second].index(entrant) for each in evening.results if entrant in each[1:3]]
        before = sides[:-1]  # in the last round, those in the lead may have any side
        assert abs(before.count(0) - before.count(1)) <= 2
        assert all(len({*three}) == 2 for three in zip(before, before[1:], before[2:], strict=False))


@given(st.integers(2, 11), st.integers(1, 9), st.integers(0, 10**6))
@settings(deadline=None, max_examples=60)
def test_there_is_always_a_round(count: int, rounds: int, seed: int) -> None:
    evening = Evening(count, seed)
    evening.play(rounds)
    for _, proposal, _ in evening.rounds:
        assert len(proposal.boards) + (proposal.bye is not None) > 0


@given(st.integers(3, 9), st.integers(2, 8), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_no_other_round_of_a_small_field_costs_less_or_needs_a_lower_step(count: int, rounds: int, seed: int) -> None:
    evening = Evening(count, seed, is_full=True)
    evening.play(rounds)
    for number, (players, proposal, is_last) in enumerate(evening.rounds):
        asked: list[dict[Pair, int]] = []

        def noting(edges: dict[Pair, int], asked: list[dict[Pair, int]] = asked) -> list[Pair]:
            asked.append(edges)
            return by_trying(edges)

        best = pair_round(players, noting, is_last=is_last, rounds_played=number)  # type: ignore[arg-type]
        assert best.strictness == proposal.strictness == len(asked) - 1
        edges = asked[-1]
        assert cost_of(edges, library(edges)) == cost_of(edges, by_trying(edges))


def test_the_bye_goes_to_the_lowest_score_without_one() -> None:
    players = [
        SwissPlayer(1, 4, {2: 1, 3: 2}, (0, 1), 0),
        SwissPlayer(2, 2, {1: 1}, (1,), 1),
        SwissPlayer(3, 0, {1: 2}, (0,), 1),
    ]
    proposal = pair_round(players, library, rounds_played=2)
    assert (proposal.bye, set(proposal.boards[0]), proposal.strictness) == (1, {2, 3}, Strictness.ALL)


def test_of_several_rematches_the_oldest_is_played() -> None:
    players = [SwissPlayer(each, 2, {}, (), 0) for each in (1, 2, 3, 4)]
    met = {frozenset((1, 2)): 3, frozenset((3, 4)): 3, frozenset((1, 3)): 1, frozenset((2, 4)): 1}
    met |= {frozenset((1, 4)): 2, frozenset((2, 3)): 2}
    known = [
        each._replace(
            met={
                other: number for pair, number in met.items() if each.entrant in pair for other in pair - {each.entrant}
            }
        )
        for each in players
    ]
    proposal = pair_round(known, library, rounds_played=3)
    assert proposal.strictness is Strictness.REMATCH
    assert {frozenset(board) for board in proposal.boards} == {frozenset((1, 3)), frozenset((2, 4))}


def test_a_proposal_that_breaks_a_law_is_found() -> None:
    results = [RoundResult(1, 1, 2, (2, 0)), RoundResult(1, 3, 4, (2, 0)), RoundResult(2, 1, 3, (1, 1))]
    players = swiss_players([1, 2, 3, 4, 5], results, [RoundOff(1, 5, 2)])
    good = pair_round(players, library, rounds_played=2)
    assert broken_laws(players, good, rounds_played=2) == []
    found = [
        broken_laws(players, SwissRound(boards, bye, Strictness.ALL), rounds_played=2)
        for boards, bye in (
            ([(2, 1), (3, 5)], 4),
            ([(2, 5), (4, 1)], None),
            ([(2, 5), (4, 1), (3, 1)], None),
            ([(2, 9), (4, 1)], 3),
            ([(2, 3), (4, 1)], 5),
            ([(1, 4), (2, 3)], 5),
        )
    ]
    assert found == [
        ["2 and 1 have met"],
        ["3 is in the round 0 times"],
        ["1 is in the round 2 times"],
        ["9 is not present", "5 is in the round 0 times"],
        ["5 has had a bye or a forfeit win"],
        ["1 must have the other side", "5 has had a bye or a forfeit win"],
    ]


def test_a_single_player_has_no_round() -> None:
    with pytest.raises(ValueError, match="at least two"):
        pair_round(swiss_players([1], []), library)


@pytest.mark.parametrize("seed", range(2))
def test_a_field_of_120_is_paired_by_its_neighbours(seed: int) -> None:
    evening = Evening(121, seed)
    evening.play(4)
    for players, proposal, _ in evening.rounds:
        scores = {player.entrant: player.score for player in players}
        assert max(abs(scores[one] - scores[other]) for one, other in proposal.boards) <= 2
        assert proposal.strictness is Strictness.ALL
        leaders = [max(scores[one], scores[other]) for one, other in proposal.boards]
        assert leaders == sorted(leaders, reverse=True)


def some_edges(rng: random.Random, count: int, share: float) -> dict[Pair, int]:
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    return {pair: rng.randrange(1_000) * (pair[1] - pair[0]) for pair in pairs if rng.random() < share}


def is_perfect(edges: Mapping[Pair, int], pairs: list[Pair], count: int) -> bool:
    return sorted(each for pair in pairs for each in pair) == list(range(count)) and all(p in edges for p in pairs)


@pytest.mark.parametrize("seed", range(30))
def test_a_small_field_is_matched_at_least_cost(seed: int) -> None:
    edges = some_edges(random.Random(seed), 8, 0.6)
    best = by_trying(edges)
    assert cost_of(edges, matched(edges)) == cost_of(edges, best)
    assert len(matched(edges)) == len(best)


@pytest.mark.parametrize("seed", range(10))
def test_a_large_field_is_matched_whenever_it_can_be(seed: int) -> None:
    edges = some_edges(random.Random(seed), 60, 0.12)
    is_possible = len(library(edges)) == 30
    found = matched(edges)
    assert is_perfect(edges, found, 60) if is_possible else not found


def an_evening(count: int, rounds: int, seed: int) -> list[SwissPlayer]:
    """Return the players after some rounds whose matches ended by lot."""
    rng = random.Random(seed)
    players = [SwissPlayer(each, 0, {}, (), 0) for each in range(1, count + 1)]
    for number in range(1, rounds + 1):
        found = pair_round(players, matched, rounds_played=number - 1)
        assert broken_laws(players, found, rounds_played=number - 1) == []
        known = {player.entrant: player for player in players}
        for pair in found.boards:
            points = rng.choice([(2, 0), (1, 1), (0, 2)])
            for side, entrant in enumerate(pair):
                old = known[entrant]
                met = {**old.met, pair[1 - side]: number}
                known[entrant] = SwissPlayer(entrant, old.score + points[side], met, (*old.sides, side), old.free_wins)
        if found.bye is not None:
            old = known[found.bye]
            known[found.bye] = old._replace(score=old.score + 2, free_wins=old.free_wins + 1)
        players = list(known.values())
    return players


def test_large_rounds_keep_all_laws_and_pair_near_scores() -> None:
    players = an_evening(301, 6, seed=1)
    found = pair_round(players, matched, rounds_played=6)
    scores = {player.entrant: player.score for player in players}
    assert broken_laws(players, found, rounds_played=6) == []
    assert max(abs(scores[first] - scores[second]) for first, second in found.boards) <= 2


def test_differences_of_scores_are_those_of_the_library() -> None:
    for seed in range(6):
        players = an_evening(25, 5, seed)
        scores = {player.entrant: player.score for player in players}
        ours, theirs = (pair_round(players, each, rounds_played=5) for each in (matched, library))
        sums = [sum((scores[one] - scores[other]) ** 2 for one, other in each.boards) for each in (ours, theirs)]
        assert ours.strictness == theirs.strictness
        assert sums[0] <= sums[1] + 4


def test_the_process_proposes_the_same_round() -> None:
    players = an_evening(21, 3, seed=2)
    asked = question(players, is_last=False, rounds_played=3)
    answer = subprocess.run(COMMAND, input=asked, stdout=subprocess.PIPE, check=True, timeout=60).stdout
    assert answered(answer) == pair_round(players, matched, rounds_played=3)


def test_nonsense_of_the_process_is_no_round() -> None:
    for answer in (b"", b"[]", b"[[[1, 2]], null, 9]", b"[[[1]], null, 0]"):
        with pytest.raises(ValueError, match=r".+"):
            answered(answer)
