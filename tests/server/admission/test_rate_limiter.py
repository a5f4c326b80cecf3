"""Rates: those who wait as told are let, those who flood are held, and all of it in bounded memory."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ttt_net.errors import Code, Refusal
from ttt_net.server.admission.rate_limiter import Bucket, RateLimiter
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.settings.setting import Rate

RATES = st.builds(Rate, st.integers(1, 1_000), st.sampled_from([0.5, 1.0, 2.0, 60.0, 3_600.0]))
PAUSES_MS = st.lists(st.integers(0, 10_000), max_size=60)


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@given(RATES, PAUSES_MS)
@example(Rate(3, 60.0), [0, 0, 1, 1, 52])
def test_one_who_waits_as_told_is_let_the_next_time(rate: Rate, pauses_ms: list[int]) -> None:
    bucket, now_ms = Bucket(rate, 0), 0
    for pause_ms in pauses_ms:
        now_ms += pause_ms
        wait_ms = bucket.take(now_ms)
        if wait_ms:
            assert bucket.wait_ms(now_ms) == wait_ms
            now_ms += wait_ms
            assert bucket.take(now_ms) == 0


@given(RATES, PAUSES_MS)
def test_no_more_is_let_than_the_burst_and_what_came_back(rate: Rate, pauses_ms: list[int]) -> None:
    bucket, now_ms, let = Bucket(rate, 0), 0, 0
    for pause_ms in pauses_ms:
        now_ms += pause_ms
        let += bucket.take(now_ms) == 0
    assert let <= rate.count + now_ms / 1000 * rate.per_s


@given(RATES, st.integers(1, 5_000))
def test_a_flood_is_seen_and_forgiven_after_a_while(rate: Rate, count: int) -> None:
    bucket = Bucket(rate, 0)
    for _ in range(count):
        bucket.take(0)
    assert bucket.is_flooded == (count > 2 * rate.count)
    assert bucket.wait_ms(0) <= 2 * 1000 * (rate.count + 2) / rate.per_s, "however long it went on"


def test_a_refusal_names_the_limit_and_when_it_may_be_done() -> None:
    clock = Clock()
    quotas = RateLimiter(Limits(codes=Rate(2, 60.0), players_per_address=2), clock)
    quotas.spend("codes", 1, "192.0.2.7")
    quotas.spend("codes", 1, "192.0.2.7")
    with pytest.raises(Refusal, match=r"^too many codes: 2/min for one player \(limits\.codes\)$") as raised:
        quotas.spend("codes", 1, "192.0.2.7")
    assert raised.value.code is Code.TOO_FAST
    assert raised.value.retry_after_ms
    quotas.spend("codes", 2, "192.0.2.7")
    quotas.spend("codes", 3, "192.0.2.7")
    with pytest.raises(Refusal, match=r"^too many codes: 4/min for one address \(limits\.codes\)$"):
        quotas.spend("codes", 4, "192.0.2.7")
    quotas.spend("codes", 5, "192.0.2.8")
    quotas.spend("codes", 6, None)
    clock.now_ms += raised.value.retry_after_ms
    quotas.spend("codes", 1, None)


def test_looking_costs_nothing_and_says_what_the_next_would_hear() -> None:
    quotas = RateLimiter(Limits(wrong_codes=Rate(3, 60.0)), Clock())
    for _ in range(3):
        for _ in range(10):
            quotas.check_of_address("wrong_codes", "192.0.2.7")
        quotas.spend_of_address("wrong_codes", "192.0.2.7")
    with pytest.raises(Refusal, match=r"limits\.wrong_codes"):
        quotas.check_of_address("wrong_codes", "192.0.2.7")
    quotas.check_of_address("wrong_codes", "192.0.2.8")
    quotas.check_of_address("wrong_codes", None)


def test_a_million_addresses_cost_no_more_memory_than_the_most_that_are_kept() -> None:
    quotas = RateLimiter(Limits(wrong_codes=Rate(1, 60.0)), Clock(), most=100)
    quotas.spend_of_address("wrong_codes", "busy")
    for number in range(10_000):
        quotas.spend_of_address("wrong_codes", f"192.0.2.{number}")
        with pytest.raises(Refusal):
            quotas.spend_of_address("wrong_codes", "busy")  # who comes again and again is not forgotten
    assert len(quotas) == 100
