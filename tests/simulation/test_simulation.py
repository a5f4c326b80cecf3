"""A fixed set of worlds, and what makes a simulation worth its name: one seed, one history, and faults are found.

Many more worlds are lived through after the tests, by `make simulate`.
"""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from tests.simulation.__main__ import failure_of, main, shrink, swarm_of
from tests.simulation.bot import LADDER_S
from tests.simulation.network import Link
from tests.simulation.scene import bots_on_the_ladder
from tests.simulation.world import World
from ttt_net.server.journal import Journal
from ttt_net.server.rooms.audience import Audience

SEEDS = range(1, 21)
SAME = range(1, 9)
"""Seeds whose whole trace is compared between two runs."""
_TRACE = "from tests.simulation.__main__ import failure_of; import sys\nfor seed in range({}, {}):\n    trace = []\n    trace.append(failure_of(seed, None, trace))\n    sys.stdout.write(f'{{seed}} {{trace}}')"  # noqa: E501


@pytest.mark.parametrize("first", [1, pytest.param(11, marks=pytest.mark.long)])
def test_everything_that_must_hold_does(first: int) -> None:
    failures = {seed: failure_of(seed) for seed in range(first, first + 10)}
    assert {seed: failure for seed, failure in failures.items() if failure} == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_every_second_world_is_checked_after_each_step(seed: int) -> None:
    world, checked = World(seed), Counter[int]()
    check = world.check

    def counted() -> None:
        checked[seed] += 1
        check()

    world.check = counted  # type: ignore[method-assign]
    world.run()
    assert (checked[seed] >= world.steps) == (seed % World.each_step_of == 0)


def test_bots_on_the_ladder_meet_at_their_interval_and_leave_the_list_of_people_alone() -> None:
    world, bots = bots_on_the_ladder()
    world.wait(10 * LADDER_S)
    starts = [at for (at,) in world.truth.execute("SELECT started_ms FROM matches WHERE is_rated ORDER BY number")]
    assert 5 <= len(starts) <= 11
    assert all(later - earlier >= LADDER_S * 1000 for earlier, later in pairwise(starts))
    players = sorted(world.player_of(bot.token) or 0 for bot in bots)
    assert world.truth.execute("SELECT DISTINCT player FROM ratings ORDER BY player").fetchall() == [
        (player,) for player in players
    ]
    assert world.truth.execute("SELECT sum(people), sum(bots) FROM standings").fetchone() == (0, 2)
    world.check()
    world.check_at_rest()
    for bot in bots:
        bot.end()
    world.wait(1.0)


def test_one_seed_makes_one_history_whatever_the_hashes_are() -> None:
    program = _TRACE.format(SAME.start, SAME.stop)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": number},
        )
        for number in ("1", "2")
    ]
    first, second = (run.communicate()[0] for run in runs)
    assert first == second
    assert first.count(b"played") > 40


def test_one_seed_sends_the_same_bytes_masks_included(monkeypatch: pytest.MonkeyPatch) -> None:
    say, said = Link.say, list[bytes]()

    def noted(link: Link, data: bytes) -> None:
        said.append(data)
        say(link, data)

    monkeypatch.setattr(Link, "say", noted)
    World(6).run()
    first, said[:] = said.copy(), []
    World(6).run()
    assert len(first) > 100
    assert said == first


def test_a_failure_names_its_seed_and_how_to_replay_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tell, told = Audience.tell, iter(range(1_000_000))
    monkeypatch.setattr(Audience, "tell", lambda *args: tell(*args) if next(told) % 30 else None)
    monkeypatch.setattr("tests.simulation.__main__.MOST_TRIES", 1)
    assert main(["--seeds", "2", "--first", "3"]) == 1
    said = capsys.readouterr().out
    assert "make simulate SEED=" in said
    assert "<<" in said.partition("the smallest world found: ")[2]
    assert said.splitlines()[-1].startswith("2 seeds, ")


def test_hot_worlds_hold_and_a_failure_names_its_kind_of_world(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for is_hot in (False, True):
        trace: list[str] = []
        for seed in range(1, 6):  # of a single seed, few faults may be drawn either way
            assert failure_of(seed, swarm_of(seed, 1, is_hot=is_hot), trace) is None
        counts.append(sum(" world fault " in line for line in trace))
    assert counts[1] > 2 * counts[0] > 0
    assert main(["--hot", "--seeds", "2", "--first", "1"]) == 0
    monkeypatch.setattr("tests.simulation.__main__.MOST_TRIES", 1)
    monkeypatch.setattr(Journal, "append", lambda self, events, done, failed, seats=None: done(None))
    assert main(["--hot", "--seeds", "1", "--first", "3"]) == 1
    assert "make simulate HOT=1 SEED=" in capsys.readouterr().out


def test_a_failure_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "append", lambda self, events, done, failed, seats=None: done(None))
    seed = next(seed for seed in SEEDS if failure_of(seed))
    smaller = shrink(seed)
    assert failure_of(seed, smaller)
    assert len(smaller.faults) <= 1
