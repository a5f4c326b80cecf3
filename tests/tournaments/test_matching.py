"""Perfect matchings: the least cost in small fields, hardly more than a library's in large ones, laws in all."""

import random
import subprocess
from collections.abc import Mapping

import pytest

from tests.tournaments.matching import by_trying, cost_of, library
from ttt_net.tournaments.matching import COMMAND, answered, matched, question
from ttt_net.tournaments.schedules import Pair
from ttt_net.tournaments.swiss import SwissPlayer, broken_laws, pair_round


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
