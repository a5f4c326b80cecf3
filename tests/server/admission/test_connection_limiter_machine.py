"""The limiter of connections beside a plain list of them: it counts, answers and drops as documented."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from math import ceil
from types import MappingProxyType
from typing import cast
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ttt_net.errors import Closing, Refusal
from ttt_net.server.admission import connection_limiter
from ttt_net.server.admission.connection_limiter import ConnectionLimiter
from ttt_net.server.admission.fair_shares import Account, FairShares
from ttt_net.server.admission.rate_limiter import RateLimiter
from ttt_net.server.admission.sanctions import Sanction, Sanctions, network_to_ban
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.http import TurnedAway

PROXY, FRIEND, BANNED = "10.0.0.1", "10.9.0.1", "198.51.100.66"
CALLERS = (
    "192.0.2.1",
    "192.0.2.2",
    "2001:db8::1",
    "2001:db8::2",
    "2001:db8:0:1::1",
    "2001:db8:0:100::1",
    FRIEND,
    BANNED,
)
PEERS = st.sampled_from([*["192.0.2.1"] * 5, *["2001:db8::1"] * 2, *CALLERS, *[PROXY] * 4])
"""Some addresses come again and again, so that they meet their limits."""
MOST, MOST_OF_ADDRESS, NEWCOMERS, RESERVED, POLITE, POLITE_TO_ONE, MODEST = 2, 3, 9, 4, 4, 1, 1
SETTINGS = Configuration(
    behind_proxy=True,
    proxies=(PROXY,),
    limits=Limits(
        max_connections=MOST,
        max_per_address=MOST_OF_ADDRESS,
        max_newcomers=NEWCOMERS,
        unmetered=("10.9.0.0/16",),
        openings=Rate(4, 300.0),
        floods=Rate(2, 60.0),
    ),
)


@dataclass(eq=False)
class Line:
    """A connection, with what the limiter did to it and, beside that, what it should have done."""

    peer: str
    address: str = ""
    metered_as: str | None = None
    account: Account | None = None
    lacks_place: bool = False
    turned_away: TurnedAway | None = None
    is_open: bool = True
    is_closing: bool = False
    is_idle: bool = False
    is_aborted: bool = False
    dropped: str | None = None
    is_named: bool = False
    """Whether the handshake was read."""

    networks: tuple[str, ...] = ()
    status: int | None = None
    retry_s: int = 0
    lacks: bool = False
    is_newcomer: bool = True
    is_in_reserve: bool = False
    should_be_dropped: str | None = None
    should_be_aborted: bool = False

    def evict(self, why: str) -> None:
        self.dropped, self.is_open, self.is_closing = why, False, True

    def close(self, closing: Closing) -> None:
        self.dropped, self.is_open, self.is_closing = closing.name, False, True

    def abort(self) -> None:
        self.is_aborted = True

    def should_drop(self, why: str) -> None:
        self.should_be_dropped = why


class Crowd(RuleBasedStateMachine):
    """Connections that come, say who they are, and leave."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 5
        self.lines: list[Line] = []
        self.counted: list[Line] = []
        """All that were counted for an address, in that order: behind a proxy, when the request is there."""
        limits = SETTINGS.limits
        self.rates, self.model_rates = (RateLimiter(limits, lambda: self.now_ms) for _ in range(2))
        self.shares = FairShares(limits, lambda: self.now_ms)
        sanctions = Sanctions(lambda: self.now_ms, b"k")
        sanctions.impose([Sanction("ban", network_to_ban(BANNED) or "", "", "", 0, None)])
        changes = {"POLITE": POLITE, "POLITE_TO_ONE": POLITE_TO_ONE, "MODEST": MODEST, "RESERVED": RESERVED / MOST}
        self.patches = [mock.patch.object(connection_limiter, key, value) for key, value in changes.items()]
        self.patches.append(mock.patch.object(connection_limiter, "RESERVED_TO_ONE", 1))
        for patch in self.patches:
            patch.start()
        self.real = ConnectionLimiter(
            SETTINGS,
            self.rates,
            self.shares,
            sanctions,
            self.lines,
            lambda line: cast(Line, line).is_idle,
            lambda: self.now_ms,
        )
        self.idle_from_ms = 0
        """When somebody may be looked for again who is idle."""
        self.order: list[str] = []
        """Addresses with connections, the one that came first in front."""

    def teardown(self) -> None:
        for patch in self.patches:
            patch.stop()

    # The model.

    def count(self, network: str) -> int:
        return sum(network in line.networks for line in self.lines)

    def networks(self, address: str) -> tuple[str, ...]:
        if ip_address(address).version == 4:
            return (address,)
        return tuple(str(ip_network((address, length), strict=False)) for length in (64, 56, 48))

    def is_flooded(self, network: str) -> bool:
        return self.model_rates.is_flooded("openings", network)

    def counts(self, line: Line, address: str) -> None:
        """Count a connection for an address, and say what should come of it."""
        if address != FRIEND:
            line.networks = self.networks(address)
            self.counted.append(line)
            if line.networks[0] not in self.order:
                self.order.append(line.networks[0])
            if any(self.count(each) > MOST_OF_ADDRESS * 2**index for index, each in enumerate(line.networks)):
                line.status, line.retry_s = 429, 1
            own = line.networks[0]
            try:
                self.model_rates.check_of_address("floods", own)
                self.model_rates.spend_of_address("openings", own)
            except Refusal as refusal:
                line.status, line.retry_s = 429, ceil((refusal.retry_after_ms or 0) / 1000)
            if self.count(own) > MOST_OF_ADDRESS + POLITE_TO_ONE or self.is_flooded(own):
                line.should_drop("address")
        if address == BANNED:
            line.status, line.retry_s = 403, 0

    def finds_place(self, line: Line) -> None:
        of_address = {
            each: [one for one in self.counted if one in self.lines and one.networks[0] == each] for each in self.order
        }
        largest = max(of_address, key=lambda each: len(of_address[each]), default=None)
        if self.now_ms >= self.idle_from_ms:
            crowd = of_address[largest] if largest is not None else []
            is_large = len(crowd) > MODEST and line.networks[:1] != (largest,)
            idle = next((one for one in crowd if is_large and one.is_open and one.is_idle), None)
            if idle is not None:
                idle.should_drop("FULL")
                idle.should_be_aborted = True
                line.lacks = False
                return
            self.idle_from_ms = self.now_ms + 100
        is_room = len(self.lines) <= MOST + RESERVED
        is_first = not any(one.is_in_reserve and one.networks[:1] == line.networks[:1] for one in self.lines)
        if is_room and (is_first or not line.networks):
            line.is_in_reserve = True
        else:
            line.status, line.retry_s = 503, 1

    # What happens.

    @rule(peers=st.lists(PEERS, min_size=1, max_size=3), is_idle=st.booleans())
    def come(self, peers: list[str], is_idle: bool) -> None:
        for peer in peers:
            self.comes(peer, is_idle)

    def comes(self, peer: str, is_idle: bool) -> None:
        own = None if peer in (PROXY, FRIEND) else self.networks(peer)[0]
        shut = self.real.shut_to(peer)
        if len(self.lines) >= MOST + RESERVED + POLITE:
            assert shut == "full"
        elif own is not None and (self.count(own) >= MOST_OF_ADDRESS + POLITE_TO_ONE or self.is_flooded(own)):
            assert shut == "address"
        elif own is not None and self.shares.is_overdrawn(own, self.networks(peer)[1:]):
            assert shut == "work"
        else:
            assert shut is None
        if shut is not None:
            return
        line = Line(peer, is_idle=is_idle)
        self.lines.append(line)
        line.lacks = len(self.lines) > MOST
        newcomers = [each for each in self.lines if each.is_newcomer]
        if len(newcomers) > NEWCOMERS:
            newcomers[0].is_newcomer = False
            newcomers[0].should_drop("newcomers")
        if peer != PROXY:
            self.counts(line, peer)
        self.real.arrive(cast(Connection, line), peer)

    def is_waiting(self) -> bool:
        return any(not line.is_named for line in self.lines)

    @precondition(is_waiting)
    @rule(data=st.data(), caller=st.sampled_from(CALLERS))
    def is_read(self, data: st.DataObject, caller: str) -> None:
        waiting = [each for each in self.lines if not each.is_named]
        line = data.draw(st.sampled_from([each for each in waiting if each.lacks] or waiting))
        line.is_named = True
        if line.peer == PROXY:
            self.counts(line, caller)
        if line.lacks and line.status is None and not line.is_in_reserve:
            self.finds_place(line)
        answer = self.real.identify(cast(Connection, line), [f"203.0.113.9, {caller}"])
        assert (answer and answer.status) == line.status

    @precondition(lambda self: self.lines)
    @rule(data=st.data())
    def is_admitted(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from(self.lines))
        line.is_newcomer = line.is_in_reserve = line.lacks = False
        self.real.admitted(cast(Connection, line))

    @precondition(lambda self: self.lines)
    @rule(data=st.data(), is_idle=st.booleans())
    def does_something(self, data: st.DataObject, is_idle: bool) -> None:
        data.draw(st.sampled_from(self.lines)).is_idle = is_idle

    @precondition(lambda self: self.lines)
    @rule(data=st.data())
    def floods(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from(self.lines))
        with suppress(Refusal):
            self.model_rates.spend_of_address("floods", line.metered_as)
        self.real.flooded(cast(Connection, line))

    @precondition(lambda self: self.lines)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        for line in data.draw(st.lists(st.sampled_from(self.lines), min_size=1, max_size=4, unique=True)):
            self.lines.remove(line)
            self.order = [each for each in self.order if self.count(each)]
            self.real.leave(cast(Connection, line))

    @precondition(lambda self: self.lines)
    @rule(data=st.data(), ms=st.sampled_from([100.0, 8_000.0]))
    def costs(self, data: st.DataObject, ms: float) -> None:
        account = data.draw(st.sampled_from(self.lines)).account
        if account is not None:
            for share in account.shares:
                share.use(self.now_ms, ms)

    @rule(ms=st.sampled_from([1, 99, 100, 300_000]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms

    @invariant()
    def each_connection_is_treated_as_it_should_be(self) -> None:
        for line in self.lines:
            answer = line.turned_away
            assert (answer and (answer.status, answer.retry_after_s)) == (line.status and (line.status, line.retry_s))
            assert line.dropped == line.should_be_dropped
            assert line.is_aborted == line.should_be_aborted
            assert line.lacks_place == line.lacks
            assert line.metered_as == (line.networks[0] if line.networks else None)
        for caller in CALLERS:
            for network in self.networks(caller):
                assert self.real.count_of(network) == self.count(network)


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(max_examples=70, stateful_step_count=40, deadline=None)


def limiter_of(
    lines: list[Line],
    *,
    is_hashing: bool = False,
    is_behind_proxy: bool = False,
    now_ms: Callable[[], int] = lambda: 0,
    crowds: Mapping[str, int] = MappingProxyType({}),
    **limits: object,
) -> ConnectionLimiter:
    """Return a limiter whose time stands still unless it is given, with the connections that there are."""
    configuration = Configuration(
        behind_proxy=is_behind_proxy,
        proxies=(PROXY,),
        limits=Limits(**limits),  # type: ignore[arg-type]
    )
    rates = RateLimiter(configuration.limits, lambda: 0)
    rates.crowds_are(crowds)
    return ConnectionLimiter(
        configuration,
        rates,
        FairShares(configuration.limits, lambda: 0),
        Sanctions(lambda: 0, b"k"),
        lines,
        lambda line: cast(Line, line).is_idle,
        now_ms,
        is_hashing=is_hashing,
    )


def come(
    limiter: ConnectionLimiter, lines: list[Line], *addresses: str, is_idle: bool = False, forwarded: str = ""
) -> list[int | None]:
    """Let connections come and be read; return the status that each is turned away with, None if it is not."""
    statuses = []
    for address in addresses:
        line = Line(address, is_idle=is_idle)
        lines.append(line)
        limiter.arrive(cast(Connection, line), address)
        answer = limiter.identify(cast(Connection, line), [forwarded] if forwarded else [])
        statuses.append(answer and answer.status)
    return statuses


def test_in_a_cluster_addresses_are_counted_under_their_hash() -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, is_hashing=True)
    come(limiter, lines, "192.0.2.1")
    key = Sanctions(lambda: 0, b"k").key_of_address("192.0.2.1")
    assert (lines[0].metered_as, limiter.count_of(key or ""), limiter.count_of("192.0.2.1")) == (key, 1, 0)


def test_a_crowd_behind_one_address_has_two_connections_for_each_player() -> None:
    lines: list[Line] = []
    network = "2001:db8::/64"
    limiter = limiter_of(lines, crowds={"192.0.2.1": 5, network: 40}, max_per_address=3)
    assert come(limiter, lines, *["192.0.2.1"] * 12) == [None] * 10 + [429] * 2
    assert come(limiter, lines, *["192.0.2.2"] * 4) == [None] * 3 + [429]
    assert set(come(limiter, lines, *["2001:db8::1"] * 80)) == {None}, "its wider networks too"
    assert limiter.shut_to("192.0.2.1") is None
    come(limiter, lines, *["192.0.2.1"] * 6)
    assert limiter.shut_to("192.0.2.1") == "address"


def test_four_connections_of_one_address_wait_in_reserved_places_and_others_still_can() -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, max_connections=120, max_newcomers=1_000)
    assert set(come(limiter, lines, *(f"192.0.2.{number}" for number in range(120)))) == {None}
    assert come(limiter, lines, *["198.51.100.1"] * 5) == [None] * 4 + [503]
    assert come(limiter, lines, "198.51.100.2", "198.51.100.3") == [None, 503], "all six places are taken"
    for line in lines[120:125]:
        limiter.admitted(cast(Connection, line))
        limiter.leave(cast(Connection, line))
        lines.remove(line)
    assert come(limiter, lines, "198.51.100.1") == [None]


def test_connections_of_an_unmetered_network_wait_in_any_reserved_place() -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, max_connections=120, max_newcomers=1_000, unmetered=("10.0.0.0/8",))
    come(limiter, lines, *(f"192.0.2.{number}" for number in range(120)))
    assert come(limiter, lines, *["10.0.0.1"] * 7) == [None] * 6 + [503]


def test_an_address_that_goes_on_after_refusals_is_shut_out() -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, openings=Rate(2, 60.0))
    shut = []
    for _ in range(6):
        shut.append(limiter.shut_to("192.0.2.1"))
        come(limiter, lines, "192.0.2.1")
        limiter.leave(cast(Connection, lines.pop()))
    assert shut == [None] * 5 + ["address"]
    assert limiter.shut_to("192.0.2.2") is None


def test_each_newcomer_too_many_drops_the_next_oldest() -> None:
    lines: list[Line] = []
    come(limiter_of(lines, max_newcomers=2), lines, *(f"192.0.2.{number}" for number in range(5)))
    assert [line.dropped for line in lines] == ["newcomers"] * 3 + [None] * 2


def test_only_a_header_of_a_stranger_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, is_behind_proxy=True)
    with caplog.at_level(logging.WARNING):
        come(limiter, lines, "192.0.2.1")
        come(limiter, lines, PROXY, forwarded="192.0.2.1")
        assert not caplog.records
        come(limiter, lines, "192.0.2.1", "192.0.2.2", forwarded="192.0.2.1")
    assert len(caplog.records) == 1


class FullHall:
    """A server with as many connections as it may have, most of them of one address."""

    def __init__(self, crowd: int) -> None:
        self.now_ms = 1_000
        self.lines: list[Line] = []
        self.limiter = limiter_of(
            self.lines, now_ms=lambda: self.now_ms, max_connections=crowd + 2, max_per_address=100
        )
        come(self.limiter, self.lines, *["192.0.2.1"] * crowd, is_idle=True)
        come(self.limiter, self.lines, "198.51.100.0", "198.51.100.1")

    def come(self, address: str = "203.0.113.1") -> int | None:
        (status,) = come(self.limiter, self.lines, address)
        return status

    @property
    def dropped(self) -> list[int]:
        return [place for place, line in enumerate(self.lines) if line.dropped]


@pytest.mark.parametrize(
    ("crowd", "comer", "dropped"),
    [(9, "203.0.113.1", []), (10, "203.0.113.1", []), (11, "203.0.113.1", [0]), (11, "192.0.2.1", [])],
)
def test_an_idle_connection_makes_room_if_its_address_has_more_than_ten_and_another_comes(
    crowd: int, comer: str, dropped: list[int]
) -> None:
    hall = FullHall(crowd)
    assert hall.come(comer) is None, "otherwise it waits in a reserved place"
    assert hall.dropped == dropped
    assert hall.lines[-1].lacks_place == (not dropped)


def test_of_idle_connections_the_oldest_makes_room_that_is_not_closing_already() -> None:
    hall = FullHall(12)
    hall.lines[0].is_open = hall.lines[1].is_idle = False
    hall.come()
    assert hall.dropped == [2]


def test_connections_that_send_nothing_keep_no_player_out() -> None:
    hall = FullHall(12)
    for line in hall.lines:
        line.is_open = False
    hall.lines[0].is_closing = True
    assert hall.come() is None
    assert (hall.dropped, hall.lines[-1].lacks_place) == ([1], False)


def test_beyond_the_last_place_a_connection_that_sends_nothing_makes_room_at_accept() -> None:
    hall = FullHall(12)
    for line in hall.lines:
        line.is_idle = False
    come(
        hall.limiter, hall.lines, *(f"198.51.100.{100 + place // 9}" for place in range(1 + connection_limiter.POLITE))
    )
    assert hall.limiter.shut_to("203.0.113.1") == "full", "all are open"
    hall.now_ms += 100
    hall.lines[3].is_open = False
    assert hall.limiter.shut_to("192.0.2.1") == "full", "not for the address with the most"
    hall.now_ms += 100
    assert hall.limiter.shut_to("203.0.113.1") is None
    assert hall.lines[3].dropped == "full"


def test_a_second_request_of_one_that_waits_in_a_reserved_place_drops_nobody() -> None:
    hall = FullHall(12)
    for line in hall.lines:
        line.is_idle = False
    assert hall.come() is None
    hall.now_ms += 1_000
    hall.lines[0].is_idle = True
    assert hall.limiter.identify(cast(Connection, hall.lines[-1]), []) is None
    assert not hall.dropped
    assert hall.lines[-1].lacks_place


@pytest.mark.parametrize(("ms", "dropped"), [(99, []), (100, [0])])
def test_after_a_search_for_idle_connections_in_vain_the_next_begins_a_tenth_of_a_second_later(
    ms: int, dropped: list[int]
) -> None:
    hall = FullHall(12)
    for line in hall.lines:
        line.is_idle = False
    hall.come()
    hall.lines[0].is_idle = True
    hall.now_ms += ms
    hall.come("203.0.113.2")
    assert hall.dropped == dropped


@pytest.mark.parametrize("is_admitted", [True, False])
def test_one_that_is_admitted_or_leaves_no_longer_waits_in_a_reserved_place(is_admitted: bool) -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, max_connections=200, max_newcomers=1_000)
    come(limiter, lines, *(f"192.0.2.{number}" for number in range(200)))
    assert come(limiter, lines, *["198.51.100.1"] * 5) == [None] * 4 + [503]
    for line in lines[200:204]:
        if is_admitted:
            limiter.admitted(cast(Connection, line))
        else:
            limiter.leave(cast(Connection, line))
            lines.remove(line)
    assert come(limiter, lines, "198.51.100.1") == [None]


def test_connections_of_one_address_share_an_account() -> None:
    lines: list[Line] = []
    come(limiter_of(lines), lines, "192.0.2.1", "192.0.2.1", "192.0.2.2")
    assert lines[0].account is lines[1].account is not None
    assert lines[2].account is not lines[0].account


def test_a_caller_far_over_the_limit_is_dropped_behind_a_proxy_too() -> None:
    lines: list[Line] = []
    limiter = limiter_of(lines, is_behind_proxy=True, max_per_address=3)
    come(limiter, lines, *[PROXY] * 13, forwarded="192.0.2.1")
    assert [line.dropped for line in lines] == [None] * 11 + ["address"] * 2
