"""Rates: those who wait as told are let, those who flood are held, and all of it in bounded memory."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ttt_net.errors import Code, Refusal
from ttt_net.server.admission.rate_limiter import EVENT_BYTES, Bucket, RateLimiter
from ttt_net.server.settings.configuration import AddressAct, Limits, PlayerAct, Rate

RATES = st.builds(Rate, st.integers(1, 1_000), st.sampled_from([0.5, 1.0, 2.0, 60.0, 3_600.0]))
PAUSES_MS = st.lists(st.integers(0, 10_000), max_size=60)


class Clock:
    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@given(RATES, PAUSES_MS)
@example(Rate(3, 60.0), [0, 0, 1, 1, 52])
def test_a_client_that_waits_as_requested_succeeds_next_time(rate: Rate, pauses_ms: list[int]) -> None:
    bucket, now_ms = Bucket(rate, 0), 0
    for pause_ms in pauses_ms:
        now_ms += pause_ms
        wait_ms = bucket.take(now_ms)
        if wait_ms:
            assert bucket.wait_ms(now_ms) == wait_ms
            now_ms += wait_ms
            assert bucket.take(now_ms) == 0


@given(RATES, PAUSES_MS)
def test_no_more_is_allowed_than_the_burst_and_the_refill(rate: Rate, pauses_ms: list[int]) -> None:
    bucket, now_ms, let = Bucket(rate, 0), 0, 0
    for pause_ms in pauses_ms:
        now_ms += pause_ms
        let += bucket.take(now_ms) == 0
    assert let <= rate.count + now_ms / 1000 * rate.per_s


@given(RATES, PAUSES_MS)
@example(Rate(2, 60.0), [0, 0])
@example(Rate(10, 1.0), [*[0] * 10, 150])
def test_a_bucket_has_a_token_exactly_if_nobody_has_to_wait_for_one(rate: Rate, pauses_ms: list[int]) -> None:
    bucket, now_ms = Bucket(rate, 0), 0
    for pause_ms in pauses_ms:
        now_ms += pause_ms
        assert bucket.has_one(now_ms) == (bucket.wait_ms(now_ms) == 0)
        bucket.take(now_ms)


@given(RATES, st.integers(1, 5_000))
def test_a_flood_is_seen_and_forgiven_after_a_while(rate: Rate, count: int) -> None:
    bucket = Bucket(rate, 0)
    for _ in range(count):
        bucket.take(0)
    assert bucket.is_flooded == (count > 2 * rate.count)
    assert bucket.wait_ms(0) <= 2 * 1000 * (rate.count + 2) / rate.per_s, "however long it went on"


@pytest.mark.parametrize(("count", "is_flooded"), [(19, False), (20, False), (21, True)])
def test_an_address_floods_from_the_first_act_beyond_twice_its_burst(count: int, is_flooded: bool) -> None:
    bucket = Bucket(Rate(10), 0)
    for _ in range(count):
        bucket.take(0)
    assert bucket.is_flooded == is_flooded


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


def test_a_look_costs_nothing_and_gives_the_answer_of_the_next_request() -> None:
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


@dataclass
class Jar:
    """A bucket in exact numbers."""

    count: int
    period_ms: int
    tokens: Fraction
    at_ms: int

    def left(self, now_ms: int) -> Fraction:
        return min(Fraction(self.count), self.tokens + Fraction((now_ms - self.at_ms) * self.count, self.period_ms))

    def take(self, now_ms: int, tokens: float) -> bool:
        left = self.left(now_ms) - Fraction(tokens)
        self.tokens, self.at_ms = (left if left >= 0 else max(left, Fraction(-self.count - 1))), now_ms
        return left >= 0

    def resize(self, count: int, now_ms: int) -> None:
        left = self.left(now_ms)
        used = self.count - left
        self.count, self.tokens, self.at_ms = count, max(count - used, min(Fraction(0), left)), now_ms

    def wait_ms(self, now_ms: int, tokens: int = 1) -> int:
        return max(0, ceil((tokens - self.left(now_ms)) * self.period_ms / self.count))


PER_ADDRESS = 2
RATED: dict[str, tuple[int, int]] = {
    "codes": (2, 60_000),
    "writes": (3, 1_000),
    "chats": (1, 7_000),
    "wrong_codes": (2, 3_600_000),
    "registrations": (3, 60_000),
    "openings": (2, 10_000),
    "bytes": (1_000_000, 86_400_000),
}
ACTS: st.SearchStrategy[PlayerAct] = st.sampled_from(["codes", "writes", "chats"])
ADDRESS_ACTS: st.SearchStrategy[AddressAct] = st.sampled_from(["wrong_codes", "registrations", "openings"])
SOMEBODY, SOMEWHERE = st.integers(1, 2), st.sampled_from(["192.0.2.7", "192.0.2.8", None])


class Quotas(RuleBasedStateMachine):
    """The limits of players and addresses beside exact sums of what each took."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 1_000_000
        rates = {act: Rate(count, ms / 1_000) for act, (count, ms) in RATED.items() if act != "bytes"}
        limits = Limits(daily_mb=1, players_per_address=PER_ADDRESS, **rates)  # type: ignore[arg-type]
        self.real = RateLimiter(limits, lambda: self.now_ms)
        self.real.untold = Counter()
        self.told: Counter[tuple[str, int | str]] = Counter()
        self.jars: dict[tuple[str, int | str], Jar] = {}
        self.crowds: dict[str, int] = {}

    def count(self, act: str, holder: int | str) -> int:
        """Return how many tokens a full jar has."""
        count, _ = RATED[act]
        crowd = self.crowds.get(holder, 0) if isinstance(holder, str) else 0
        if isinstance(holder, str) and act in ("codes", "writes", "chats"):
            return count * max(PER_ADDRESS, crowd)
        return max(count, {"registrations": 2, "openings": 20}.get(act, 0) * crowd)

    def jar(self, act: str, holder: int | str) -> Jar:
        count, period_ms = self.count(act, holder), RATED[act][1]
        return self.jars.setdefault((act, holder), Jar(count, period_ms, Fraction(count), self.now_ms))

    def take(self, act: str, holder: int | str | None, tokens: int = 1) -> str | None:
        """Take from the model; return the end of the sentence of a refusal, or None."""
        if holder is None:
            return None
        if not self.jar(act, holder).take(self.now_ms, tokens):
            return self.refused(act, holder)
        if act in ("codes", "writes", "wrong_codes", "registrations"):
            self.told[act, holder] += tokens
        return None

    def refused(self, act: str, holder: int | str) -> str:
        jar = self.jar(act, holder)
        self.wait_ms = jar.wait_ms(self.now_ms)
        rate = Rate(jar.count, jar.period_ms / 1_000)
        return f": {rate} for one {'player' if isinstance(holder, int) else 'address'} (limits.{act})"

    def looked_at(self, act: str, holder: int | str | None) -> str | None:
        if holder is None or (act, holder) not in self.jars or not self.jar(act, holder).wait_ms(self.now_ms):
            return None
        return self.refused(act, holder)

    def leads_to(self, expected: str | None, ask: Callable[[], object]) -> None:
        """Check that a request is refused with the sentence, and when to come back, or is not."""
        if expected is None:
            ask()
            return
        with pytest.raises(Refusal) as refused:
            ask()
        assert str(refused.value).endswith(expected)
        assert refused.value.code is (Code.UNKNOWN_CODE if "invitation" in expected else Code.TOO_FAST)
        told_ms = refused.value.retry_after_ms
        assert told_ms is None or self.wait_ms <= told_ms <= self.wait_ms + 1

    @rule(act=ACTS, player=SOMEBODY, address=SOMEWHERE)
    def spend(self, act: PlayerAct, player: int, address: str | None) -> None:
        self.leads_to(self.looked_at(act, player), lambda: self.real.check(act, player))
        expected = self.take(act, player) or self.take(act, address)
        self.leads_to(expected, lambda: self.real.spend(act, player, address))

    @rule(act=ACTS, address=SOMEWHERE, times=st.integers(1, 3))
    def share(self, act: PlayerAct, address: str | None, times: int) -> None:
        self.leads_to(self.looked_at(act, address), lambda: self.real.check_share(act, address))
        self.leads_to(self.take(act, address, times), lambda: self.real.share(act, address, times))

    @rule(act=ADDRESS_ACTS, address=SOMEWHERE)
    def spend_of_address(self, act: AddressAct, address: str | None) -> None:
        self.leads_to(self.looked_at(act, address), lambda: self.real.check_of_address(act, address))
        self.leads_to(self.take(act, address), lambda: self.real.spend_of_address(act, address))
        if address is not None:
            jar = self.jars[act, address]
            assert self.real.is_flooded(act, address) == (jar.tokens < -jar.count)

    @rule(player=SOMEBODY, address=SOMEWHERE, is_right=st.booleans())
    def try_code(self, player: int, address: str | None, *, is_right: bool) -> None:
        expected = self.take("codes", player) or self.take("codes", address) or self.looked_at("wrong_codes", address)
        if expected is None and not is_right:
            expected = self.take("wrong_codes", address) or (
                "no invitation has that code, or it was used or is too old; ask again"
            )
        self.leads_to(expected, lambda: self.real.try_code(player, address, is_right=is_right))

    def may_write(self, address: str | None, least: int) -> str | None:
        jar = self.jars.get(("bytes", address)) if address else None
        self.wait_ms = jar.wait_ms(self.now_ms, least) if jar else 0
        return "(limits.daily_mb)" if self.wait_ms else None

    @rule(address=SOMEWHERE, events=st.sampled_from([1, 100, 3_000]))
    def write(self, address: str | None, events: int) -> None:
        self.leads_to(self.may_write(address, 250_000), lambda: self.real.may_write(address, is_new=True))
        if address is not None:
            self.jar("bytes", address)
        expected = self.may_write(address, 1) or self.take("writes", address)
        self.leads_to(expected, lambda: self.real.write(address, events))
        if expected is None:
            self.wrote_down(address, EVENT_BYTES * events)

    @rule(address=SOMEWHERE, count=st.sampled_from([1, 250_000, 749_999, 750_000, 1_000_000]))
    def wrote(self, address: str | None, count: int) -> None:
        self.real.wrote(address, count)
        self.wrote_down(address, count)

    def wrote_down(self, address: str | None, count: int) -> None:
        if address is not None:
            self.jar("bytes", address).take(self.now_ms, count)
            self.told["bytes", address] += count

    @rule(act=st.sampled_from(sorted(RATED)), player=SOMEBODY, address=SOMEWHERE, count=st.sampled_from([1, 2.5]))
    def taken_elsewhere(self, act: str, player: int, address: str | None, count: float) -> None:
        holder = player if address is None else address
        if address is not None or act in ("codes", "writes", "chats"):
            self.real.taken_elsewhere(act, holder, count)
            self.jar(act, holder).take(self.now_ms, count)

    @rule(act=ACTS, player=SOMEBODY)
    def tell(self, act: PlayerAct, player: int) -> None:
        """Have the other nodes count an act that only this one saw."""
        self.real.tell(act, player)
        self.told[act, player] += 1

    @rule(names=st.sampled_from([{"codes"}, {"daily_mb", "openings"}, {"players_per_address"}, set[str]()]))
    def change_limits(self, names: set[str]) -> None:
        self.real.rates_changed(names)
        changed = {"bytes" if name == "daily_mb" else name for name in names}
        is_all = "players_per_address" in names
        self.jars = {key: jar for key, jar in self.jars.items() if not is_all and key[0] not in changed}

    @rule(crowds=st.dictionaries(st.sampled_from(["192.0.2.7", "192.0.2.8"]), st.integers(1, 4)))
    def crowds_come(self, crowds: dict[str, int]) -> None:
        self.real.crowds_are(crowds)
        self.crowds = crowds
        for (act, holder), jar in self.jars.items():
            jar.resize(self.count(act, holder), self.now_ms)

    @rule(later_ms=st.sampled_from([0, 1, 999, 1_000, 60_000, 3_600_000]))
    def time_passes(self, later_ms: int) -> None:
        self.now_ms += later_ms

    @invariant()
    def what_other_nodes_have_to_know_is_what_was_taken_here(self) -> None:
        assert self.real.untold == self.told
        assert len(self.real) == len(self.jars)


Quotas.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestQuotas = Quotas.TestCase


def test_limits_of_one_node_are_not_shared_and_none_are_without_a_cluster() -> None:
    quotas = RateLimiter(Limits(), Clock())
    quotas.spend("codes", 1, "192.0.2.7")
    quotas.wrote("192.0.2.7", 1)
    quotas.tell("codes", 1)
    assert quotas.untold is None
    assert not quotas.is_flooded("openings", "192.0.2.7")


def test_the_wait_for_several_tokens_ends_when_they_are_there() -> None:
    bucket = Bucket(Rate(10, 1.0), 0)
    assert (bucket.wait_ms(0, 10), bucket.used(0)) == (0, 0)
    bucket.take(0, 9.5)
    assert [bucket.wait_ms(now_ms, 3) for now_ms in (0, 249, 250)] == [251, 2, 0]
    assert bucket.used(0) == 9.5
    assert bucket.used(3_600_000) == 0, "a full bucket does not fill further"


@pytest.mark.parametrize(
    ("act", "holder", "left"),
    [
        ("codes", 1, 1),
        ("codes", "192.0.2.7", 2 * PER_ADDRESS - 1),
        ("wrong_codes", "192.0.2.7", 1),
    ],
)
def test_limits_used_on_another_node_count_here(act: str, holder: int | str, left: int) -> None:
    limits = Limits(codes=Rate(2, 60.0), wrong_codes=Rate(2, 60.0), players_per_address=PER_ADDRESS)
    quotas = RateLimiter(limits, Clock())
    quotas.taken_elsewhere(act, holder, 1)
    for number in range(left + 1):
        is_refused = number == left
        try:
            if act == "wrong_codes":
                quotas.spend_of_address("wrong_codes", str(holder))
            elif isinstance(holder, str):
                quotas.share("codes", holder)
            else:
                quotas.spend("codes", holder, None)
        except Refusal:
            assert is_refused
        else:
            assert not is_refused


def test_a_day_s_bytes_leave_some_for_the_moves_of_matches_that_go_on() -> None:
    quotas = RateLimiter(Limits(daily_mb=1), Clock())
    quotas.wrote("192.0.2.7", 750_001)
    with pytest.raises(Refusal, match=r"^no more new matches: 1 MB"):
        quotas.may_write("192.0.2.7", is_new=True)
    quotas.may_write("192.0.2.7")
    quotas.wrote("192.0.2.7", 250_000)
    with pytest.raises(Refusal, match=r"^no more moves: 1 MB"):
        quotas.may_write("192.0.2.7")


def test_after_too_many_wrong_codes_of_an_address_a_right_one_is_refused_too() -> None:
    quotas = RateLimiter(Limits(wrong_codes=Rate(1, 60.0)), Clock())
    with pytest.raises(Refusal, match="no invitation"):
        quotas.try_code(1, "192.0.2.7", is_right=False)
    with pytest.raises(Refusal, match=r"limits\.wrong_codes"):
        quotas.try_code(2, "192.0.2.7", is_right=True)
    quotas.try_code(3, "192.0.2.8", is_right=True)


def test_an_address_that_flooded_and_went_away_is_forgiven() -> None:
    clock = Clock()
    quotas = RateLimiter(Limits(openings=Rate(2, 10.0)), clock)
    for _ in range(6):
        with suppress(Refusal):
            quotas.spend_of_address("openings", "192.0.2.7")
    assert quotas.is_flooded("openings", "192.0.2.7")
    clock.now_ms += 10_000
    assert not quotas.is_flooded("openings", "192.0.2.7")


def test_a_crowd_behind_one_address_has_the_limits_of_its_size_and_what_it_used_stays_used() -> None:
    clock = Clock()
    quotas = RateLimiter(Limits(registrations=Rate(3, 60.0), codes=Rate(1, 60.0), players_per_address=2), clock)

    def count(spend: Callable[[], None]) -> int:
        """Return how often something is allowed until it is refused."""
        for number in range(100):
            try:
                spend()
            except Refusal:
                return number
        raise AssertionError("it is never refused")

    def allowed(address: str) -> tuple[int, int]:
        """Return how many registrations and codes are still allowed."""
        registered = count(lambda: quotas.spend_of_address("registrations", address))
        return registered, count(lambda: quotas.share("codes", address))

    assert allowed("school") == (3, 2)
    quotas.crowds_are({"school": 10})
    assert quotas.crowd_of("school") == 10
    assert allowed("school") == (16, 7), "twenty and ten, less those of before and the refused ones"
    assert allowed("home") == (3, 2)
    quotas.crowds_are({})
    clock.now_ms += 120_000
    assert allowed("school") == (3, 2)


def test_a_crowd_never_lowers_a_limit() -> None:
    quotas = RateLimiter(Limits(registrations=Rate(100, 60.0), codes=Rate(1, 60.0), players_per_address=20), Clock())
    quotas.crowds_are({"school": 2})
    for _ in range(100):
        quotas.spend_of_address("registrations", "school")
    for _ in range(20):
        quotas.share("codes", "school")
    with pytest.raises(Refusal, match="100/min"):
        quotas.spend_of_address("registrations", "school")
