"""A fixed set of worlds of three ledgers on one log."""

import pytest

from tests.simulation.ledgers import failure_among_ledgers

SEEDS = range(1, 11)


@pytest.mark.parametrize("first", SEEDS[::10])
def test_the_invariants_of_three_ledgers_hold(first: int) -> None:
    failures = {seed: failure_among_ledgers(seed) for seed in range(first, first + 10)}
    assert {seed: failure for seed, failure in failures.items() if failure} == {}
