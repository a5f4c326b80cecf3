"""The time of play stands still while the process does; the time of day is what the machine says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.running import running
from ttt_net.server.server_clock import BEAT_MS, MOST_CHARGED_MS, ServerClock


class Machine:
    """A machine whose clocks a test sets."""

    def __init__(self) -> None:
        self.monotonic_ms, self.wall_ms = 5_000, 1_700_000_000_000

    def clock(self) -> ServerClock:
        return ServerClock(lambda: self.monotonic_ms * 1_000_000, lambda: self.wall_ms)

    def pass_by(self, ms: int) -> None:
        self.monotonic_ms += ms
        self.wall_ms += ms


@given(st.lists(st.tuples(st.integers(0, 10_000_000), st.booleans()), max_size=20))
def test_a_pause_of_any_length_costs_at_most_100_ms_and_time_never_goes_back(pauses: list[tuple[int, bool]]) -> None:
    machine = Machine()
    clock = machine.clock()
    clock.beat()
    last_ms = clock.play_ms()
    for pause_ms, is_beat_first in pauses:
        machine.pass_by(pause_ms)
        if is_beat_first:
            clock.beat()
        assert 0 <= clock.play_ms() - last_ms <= min(pause_ms, 100)
        assert clock.play_ms() - last_ms >= min(pause_ms, BEAT_MS)
        last_ms = clock.play_ms()
        clock.beat()


def test_the_time_of_play_is_true_as_long_as_the_loop_turns() -> None:
    machine = Machine()
    clock = machine.clock()
    for _ in range(100):
        clock.beat()
        machine.pass_by(MOST_CHARGED_MS)
    assert clock.play_ms() == machine.wall_ms == clock.wall_ms()


@pytest.mark.parametrize("step_ms", [-86_400_000, 86_400_000])
def test_setting_the_machines_time_changes_only_the_time_of_day(step_ms: int) -> None:
    machine = Machine()
    clock = machine.clock()
    clock.beat()
    before_ms = clock.play_ms()
    machine.wall_ms += step_ms
    assert clock.play_ms() == before_ms
    assert clock.wall_ms() == before_ms + step_ms


async def test_journaled_times_are_times_of_day_and_never_go_back_within_a_match(tmp_path: Path) -> None:
    day_ms = 1_700_000_000_000
    async with running(tmp_path, wall_ms=lambda: day_ms) as server:
        ann, bob, match = await server.pair(games=["gomoku"], time={"initial_ms": 600_000})
        told = []
        for ply, step_ms in enumerate((0, 3_600_000, -86_400_000, 1_000, 100_000_000)):
            day_ms += step_ms
            mover, other = (ann, bob) if ply % 2 == 0 else (bob, ann)
            await mover.ok("play", match=match, ply=ply, move=ply)
            told.append(await other.hear("played", ply=ply + 1))
        stamps = [each["at_ms"] - 1_700_000_000_000 for each in told]
        assert stamps == [0, 3_600_000, 3_600_000, 3_600_000, 17_201_000]
        assert all(min(each["clock"]["remaining_ms"]) > 500_000 for each in told), "and clocks go by the time of play"
