import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_net.clock import (
    LAG_QUOTA_GAIN_MS,
    LAG_QUOTA_MAX_MS,
    LAG_QUOTA_START_MS,
    Clock,
    TimeControl,
    grace_ms,
    speed,
    time_of,
)

FRESH = Clock.fresh(TimeControl(initial_ms=180_000, increment_ms=2_000))


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


def test_a_clock_per_move_gives_each_move_the_same_time() -> None:
    clock = Clock.fresh(TimeControl(initial_ms=10_000, per_move=True)).started(0, 0)
    assert clock.pressed(0, 9_000).remaining_ms == (10_000, 10_000)
    assert clock.flag_at_ms() == 10_000


def test_a_link_of_300_ms_costs_less_than_50_ms_a_move() -> None:
    clock, now = Clock.fresh(TimeControl(initial_ms=180_000)), 0
    for _ in range(60):
        clock = clock.started(0, now)
        now += 1_000 + 300
        clock = clock.pressed(0, now, clock.refund_ms(0, now, lag_ms=300))
    assert 180_000 - 60 * 1_000 - clock.remaining_ms[0] < 60 * 50


def test_feigned_lag_earns_no_more_than_the_quota() -> None:
    clock = FRESH.started(0, 0)
    assert clock.refund_ms(0, 10_000, lag_ms=9_000) <= LAG_QUOTA_MAX_MS
    assert clock.refund_ms(0, 100, lag_ms=9_000) == 100
    assert clock.refund_ms(1, 10_000, lag_ms=9_000) == 0


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 3_000)), max_size=30))
def test_refunds_for_lag_never_exceed_the_quota_and_its_gains(moves: list[tuple[int, int]]) -> None:
    clock, now, refunded = FRESH, 0, 0
    for count, (wait, lag) in enumerate(moves):
        clock = clock.started(0, now)
        now += wait
        refund = clock.refund_ms(0, now, lag)
        refunded += refund
        clock = clock.pressed(0, now, refund)
        assert 0 <= clock.lag_quota_ms[0] <= LAG_QUOTA_MAX_MS
        assert refunded <= LAG_QUOTA_START_MS + count * LAG_QUOTA_GAIN_MS


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("3+2", TimeControl(180_000, 2_000)),
        ("3", TimeControl(180_000)),
        ("0.5", TimeControl(30_000)),
        ("180+60", TimeControl(10_800_000, 60_000)),
        ("180.1", None),
        ("181", None),
        ("3+61", None),
        ("0", None),
        ("3+", None),
        ("three", None),
    ],
)
def test_a_time_control_is_read_as_people_write_it(text: str, time: TimeControl | None) -> None:
    assert time_of(text) == time


@given(st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 5_000)), max_size=20))
def test_a_clock_never_gains_more_than_its_increments(moves: list[tuple[int, int]]) -> None:
    clock, now, side = FRESH, 0, 0
    for wait, lag in moves:
        clock = clock.started(side, now)
        before = clock.remaining_ms[side]
        now += wait
        clock = clock.pressed(side, now, clock.refund_ms(side, now, lag))
        assert clock.remaining_ms[side] <= before + 2_000
        side = 1 - side


@given(st.lists(st.integers(0, 30_000), max_size=20))
def test_the_charged_time_equals_the_used_time(waits: list[int]) -> None:
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


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (None, "untimed"),
        (TimeControl(60_000), "bullet"),
        (TimeControl(20_000, 1_000), "bullet"),
        (TimeControl(60_000, 1_000), "blitz"),
        (TimeControl(180_000, 2_000), "blitz"),
        (TimeControl(300_000), "blitz"),
        (TimeControl(300_000, 1_000), "rapid"),
        (TimeControl(600_000), "rapid"),
        (TimeControl(1_000, per_move=True), "bullet"),
        (TimeControl(1_500, per_move=True), "bullet"),
        (TimeControl(5_000, per_move=True), "blitz"),
        (TimeControl(10_000, 5_000, per_move=True), "rapid"),
    ],
)
def test_a_time_control_has_the_speed_of_a_match_of_forty_moves(time: TimeControl | None, expected: str) -> None:
    assert speed(time) == expected


@pytest.mark.parametrize(
    ("initial_s", "on_purpose", "earlier", "grace_s"),
    [
        (None, False, 0, 60),
        (None, True, 0, 15),
        (None, False, 1, 30),
        (None, False, 3, 7.5),
        (None, False, 99, 5),
        (None, True, 2, 5),
        (180, False, 0, 30),
        (180, True, 0, 7.5),
        (600, False, 0, 60),
        (20, False, 0, 10),
        (20, True, 0, 5),
    ],
)
def test_the_grace_scales_with_the_clock_and_shrinks_for_leavers(
    initial_s: int | None, on_purpose: bool, earlier: int, grace_s: float
) -> None:
    time = None if initial_s is None else TimeControl(initial_s * 1000)
    assert grace_ms(time, on_purpose=on_purpose, earlier=earlier) == grace_s * 1000
