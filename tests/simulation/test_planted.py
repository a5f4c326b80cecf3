"""Each fault that is put into the server on purpose is found."""

import pytest

from tests.simulation.planted import MOST_SEEDS, PLANTED, PLANTED_AMONG_LEDGERS, PLANTED_AMONG_NODES, seeds_until_found


@pytest.mark.parametrize("name", [*PLANTED, *PLANTED_AMONG_LEDGERS, *PLANTED_AMONG_NODES])
def test_a_planted_fault_is_found(name: str) -> None:
    found = seeds_until_found(name)
    assert found is not None, f"{name} is not found within {MOST_SEEDS} seeds"
