"""A fixed set of worlds of three servers on one log; and one seed makes one history there too."""

import os
import subprocess
import sys

import pytest

from tests.simulation.__main__ import failure_of

SEEDS = range(1, 11)
"""Some; .ci/run lives through two hundred by `make simulate NODES=3`."""
_TRACE = "from tests.simulation.__main__ import failure_of; import sys\nfor seed in range(1, 7):\n    trace = []\n    trace.append(failure_of(seed, None, trace, 3))\n    sys.stdout.write(f'{seed} {trace}')"  # noqa: E501


@pytest.mark.parametrize("first", SEEDS[::10])
def test_what_must_hold_among_three_servers_does(first: int) -> None:
    failures = {seed: failure_of(seed, nodes=3) for seed in range(first, first + 10)}
    assert {seed: failure for seed, failure in failures.items() if failure} == {}


def test_one_seed_makes_one_history_of_three_servers_whatever_the_hashes_are() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _TRACE], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": number}
        )
        for number in ("1", "2")
    ]
    first, second = (run.communicate()[0] for run in runs)
    assert first == second
    assert first.count(b"played") > 20
