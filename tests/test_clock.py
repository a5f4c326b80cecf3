from hypothesis import given
from hypothesis import strategies as st

from ttt_net.clock import Clock

FRESH = Clock(increment_ms=2_000, remaining_ms=(180_000, 180_000))


def test_a_halted_clock_charges_nobody() -> None:
    assert FRESH.read(10**9) == (180_000, 180_000)
    assert FRESH.flag_at_ms() is None


def test_a_move_is_charged_its_time_and_credited_the_increment() -> None:
    assert FRESH.started(0, 1_000).pressed(0, 6_000).remaining_ms == (177_000, 180_000)


def test_a_move_before_the_clock_ran_earns_no_increment() -> None:
    assert FRESH.pressed(0, 6_000).remaining_ms == (180_000, 180_000)


def test_the_flag_falls_to_the_millisecond() -> None:
    running = FRESH.started(1, 1_000)
    assert running.flag_at_ms() == 181_000
    assert running.left_ms(1, 180_999) == 1
    assert running.left_ms(1, 181_000) == 0
    assert running.left_ms(1, 999_000) == 0


def test_time_that_goes_backwards_gives_nothing_back() -> None:
    assert FRESH.started(0, 5_000).left_ms(0, 4_000) == 180_000


@given(st.lists(st.integers(0, 30_000), max_size=20))
def test_a_clock_never_gains_more_than_its_increments(waits: list[int]) -> None:
    clock, now, side = FRESH, 0, 0
    for wait in waits:
        clock = clock.started(side, now)
        now += wait
        clock = clock.pressed(side, now)
        side = 1 - side
    total = sum(clock.remaining_ms)
    assert total <= 360_000 + 2_000 * len(waits)
    assert all(left >= 0 for left in clock.read(now))
    if sum(waits) < 180_000:
        assert total == 360_000 + 2_000 * len(waits) - sum(waits)
