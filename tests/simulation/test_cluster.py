"""A fixed set of worlds of three servers on one log; and one seed makes one history there too."""

import os
import subprocess
import sys

import pytest

from tests.server.cluster.evening import Evening
from tests.simulation.__main__ import failure_of
from ttt_net.clock import TimeControl

SEEDS = range(1, 6)
"""Some; .ci/run lives through two hundred by `make simulate NODES=3`."""
_TRACE = "from tests.simulation.__main__ import failure_of; import sys\nfor seed in range(4, 7):\n    trace = []\n    trace.append(failure_of(seed, None, trace, 3))\n    sys.stdout.write(f'{seed} {trace}')"  # noqa: E501


@pytest.mark.parametrize("first", SEEDS[::10])
def test_the_invariants_of_three_servers_hold(first: int) -> None:
    failures = {seed: failure_of(seed, nodes=3) for seed in range(first, first + 5)}
    assert {seed: failure for seed, failure in failures.items() if failure} == {}


@pytest.mark.long
def test_one_seed_makes_one_history_of_three_servers_whatever_the_hashes_are() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _TRACE], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": number}
        )
        for number in ("1", "2")
    ]
    first, second = (run.communicate()[0] for run in runs)
    assert first == second
    assert first.count(b"played") > 10


def test_a_flag_may_fall_elsewhere_while_the_log_lacks_the_resume_of_its_player(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evening = Evening("b", "c")
    match = evening.match(TimeControl(8_000))
    for _ in range(3):  # clocks run once both have moved; who plays last waits
        (mover,) = (who for who in (0, 1) if match in evening.people[who].turns())
        evening.people[mover].play(match)
        evening.go(0.5)
    mover = 1 - mover
    monkeypatch.setattr(evening.node("a").hub.services.membership, "sat", lambda *_: None)  # lost on its way to the log
    evening.move("a", mover)
    evening.world.check()
    evening.go(8.0)
    evening.world.check()
    (ended,) = evening.heard(1 - mover, "ended")
    assert ended["reason"] == "time"
