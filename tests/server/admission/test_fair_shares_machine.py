"""Shares of computing time beside a plain list of charges: the same peers are refused, for the same time."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ttt_net.errors import Refusal
from ttt_net.server.admission.client_address import network_of, wider_networks
from ttt_net.server.admission.fair_shares import Account, FairShares
from ttt_net.server.settings.configuration import Limits, Rate

ADDRESSES = (
    "192.0.2.1",
    "192.0.2.2",
    "2001:db8::1",
    "2001:db8:0:1::1",
    "2001:db8:0:2::1",
    "2001:db8:0:100::1",
    "2001:db9::1",
)
"""Two of IPv4; three of one /56, one more of its /48, and one of elsewhere."""
PLAYERS = (None, 1, 2)
EVERYBODY = [(address, player) for address in ADDRESSES for player in PLAYERS]
COSTS = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 20.0, 250.0, 500.0, 1_000.0, 1_500.0])
COUNT, PERIOD_MS = 1_000, 20_000
ALL_COUNT, ALL_PERIOD_MS = 3_000, 5_000
WIDE = (1, 2, 4)
"""How many shares of an address the address, the /56 and the /48 around it have."""


@dataclass
class Peer:
    """A connection, as far as it pays."""

    account: Account | None
    player: int | None = None
    owed_ms: float = 0.0

    def charge(self, ms: float) -> None:
        raise AssertionError("not called here")


@dataclass
class Used:
    """The use of one holder, as a list that is added up anew each time."""

    count: float
    period_ms: float
    made_ms: int
    charges: list[tuple[int, float]] = field(default_factory=list)
    owed_ms: float = 0.0
    is_heavy: bool = False

    def tokens(self, now_ms: int) -> float:
        if not self.charges:
            return self.count
        left, at_ms = self.count, self.made_ms
        for charged_ms, ms in (*self.charges, (now_ms, 0.0)):
            left = min(self.count, left + (charged_ms - at_ms) / self.period_ms * self.count)
            left = max(left - ms, -self.count - 1) if ms else left
            at_ms = charged_ms
        return left

    def take(self, now_ms: int, ms: float) -> None:
        self.charges.append((now_ms, ms))
        self.is_heavy = self.count - self.tokens(now_ms) > 2.0

    def lacks(self, now_ms: int, tokens: float = 1.0) -> float:
        return tokens - self.tokens(now_ms)


class Sharing(RuleBasedStateMachine):
    """Peers of some addresses who cause costs."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 7
        self.real = FairShares(Limits(work=Rate(COUNT, PERIOD_MS / 1000)), lambda: self.now_ms)
        self.peers = {key: self.peer(*key) for key in EVERYBODY}
        self.used: dict[object, Used] = {}
        self.owed: dict[object, float] = {}
        self.all = Used(ALL_COUNT, ALL_PERIOD_MS, 0)

    def peer(self, address: str, player: int | None) -> Peer:
        return Peer(self.real.account_of(network_of(address), wider_networks(address)), player)

    def of(self, key: object, times: float) -> Used:
        return self.used.setdefault(key, Used(COUNT * times, PERIOD_MS, self.now_ms))

    def around(self, address: str) -> list[Used]:
        """Return what the address and the networks around it have used, the nearest first."""
        networks = (network_of(address), *wider_networks(address))
        return [self.of(network, times) for network, times in zip(networks, WIDE, strict=False)]

    @rule(who=st.sampled_from(EVERYBODY), ms=COSTS)
    def charge(self, who: tuple[str, int | None], ms: float) -> None:
        address, _player = who
        self.real.charge(self.peers[who], ms)
        own, account, widest = ("peer", who), ("account", address), self.around(address)[-1]
        is_alone = len(self.around(address)) == 1
        self.owed[own] = self.owed.get(own, 0.0) + ms
        self.owed[account] = self.owed.get(account, 0.0) + ms
        widest.owed_ms += 0.0 if is_alone else ms
        if max(self.owed[own], self.owed[account], widest.owed_ms) > 1.0:
            self.settle(who)

    @rule(who=st.sampled_from(EVERYBODY))
    def leave(self, who: tuple[str, int | None]) -> None:
        self.real.settle(self.peers[who])
        self.settle(who)

    def settle(self, who: tuple[str, int | None]) -> None:
        address, player = who
        own_ms, account_ms = self.owed.pop(("peer", who), 0.0), self.owed.pop(("account", address), 0.0)
        *nearer, widest = self.around(address)
        self.all.take(self.now_ms, account_ms)
        for used in nearer:
            used.take(self.now_ms, account_ms)
        widest.take(self.now_ms, widest.owed_ms if nearer else account_ms)
        widest.owed_ms = 0.0
        if player is not None:
            self.of(player, 1 / 4).take(self.now_ms, own_ms)

    @rule(ms=st.sampled_from([1, 40, 1_000, 5_000, 20_000]))
    def time_passes(self, ms: int) -> None:
        self.now_ms += ms

    @precondition(lambda self: self.used)
    @rule()
    def limits_change(self) -> None:
        self.real.limits_changed()
        self.used.clear()

    @invariant()
    def the_same_peers_take_turns_and_are_refused(self) -> None:
        for (address, player), peer in self.peers.items():
            around = self.around(address)
            is_heavy = any(used.is_heavy for used in around)
            assert peer.account is not None
            assert peer.account.is_heavy == is_heavy
            owed = self.owed.get(("peer", (address, player)), 0.0), self.owed.get(("account", address), 0.0)
            assert (peer.owed_ms, peer.account.owed_ms) == owed
            wait_ms, why = self.expected(around, player) if is_heavy else (0, "")
            refusal = self.refusal_of(peer)
            assert abs(((refusal and refusal.retry_after_ms) or 0) - wait_ms) <= 1, (refusal, wait_ms)
            assert bool(refusal) == bool(wait_ms)
            assert str(refusal or "").startswith(why)
            rest_ms = self.expected_rest(around, player) if is_heavy else 0
            assert abs(self.real.rest_ms(peer) - rest_ms) <= 1

    def refusal_of(self, peer: Peer) -> Refusal | None:
        try:
            self.real.check(peer)
        except Refusal as refusal:
            return refusal
        return None

    def expected(self, around: list[Used], player: int | None) -> tuple[int, str]:
        """Return how long a heavy peer has to wait, and why."""
        lacks_ms = [used.lacks(self.now_ms) * PERIOD_MS / used.count for used in around]
        if max(lacks_ms) > 0:
            return int(max(lacks_ms)) + 1, "your address has used 1000 ms"
        if player is not None and self.of(player, 1 / 4).lacks(self.now_ms) > 0:
            return int(self.of(player, 1 / 4).lacks(self.now_ms) * PERIOD_MS / 250) + 1, "you have used 250 ms"
        if self.all.lacks(self.now_ms) > 0 and around[0].lacks(self.now_ms, COUNT / 2) > 0:
            return 1_000, "the server is busy"
        return 0, ""

    def expected_rest(self, around: list[Used], player: int | None) -> int:
        """Return how long a heavy peer has to rest: until each share has a hundredth, but at most 2 seconds."""
        lacks_ms = [used.lacks(self.now_ms, COUNT / 100) * PERIOD_MS / used.count for used in around]
        if player is not None:
            lacks_ms.append(self.of(player, 1 / 4).lacks(self.now_ms, COUNT / 400) * PERIOD_MS / (COUNT / 4))
        if self.all.lacks(self.now_ms) > 0 and around[0].lacks(self.now_ms, COUNT / 2) > 0:
            lacks_ms.append(self.all.lacks(self.now_ms) * ALL_PERIOD_MS / ALL_COUNT)
        return min(2_000, int(max(lacks_ms)) + 1) if max(lacks_ms) > 0 else 0

    @invariant()
    def nothing_new_begins_where_half_a_share_too_much_was_used(self) -> None:
        for address in ADDRESSES:
            used = self.around(address)
            is_over = any(each.count - each.tokens(self.now_ms) > 1.5 * each.count for each in used)
            assert self.real.is_overdrawn(network_of(address), wider_networks(address)) == is_over


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


def test_an_address_that_is_not_metered_pays_nothing_and_is_never_refused() -> None:
    shares = FairShares(Limits(work=Rate(1, 1.0)), lambda: 0)
    peer = Peer(None, player=1)
    shares.charge(peer, 1_000.0)
    shares.settle(peer)
    shares.check(peer)
    assert (peer.owed_ms, shares.rest_ms(peer)) == (0.0, 0)
    assert not shares.is_overdrawn("192.0.2.1")


def test_the_debt_of_an_address_is_charged_though_a_neighbour_has_just_paid_that_of_the_network() -> None:
    shares = FairShares(Limits(), lambda: 0)
    one, other, neighbour = (
        Peer(shares.account_of(network_of(address), wider_networks(address)))
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
    )
    for peer, ms in ((one, 0.5), (neighbour, 0.9), (other, 0.6)):
        shares.charge(peer, ms)
    assert one.account is other.account
    assert one.account is not None
    assert one.account.owed_ms == 0.0


def test_the_account_that_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    shares = FairShares(Limits(), lambda: 0, most=3)
    a, b, c = (shares.account_of(name) for name in "abc")
    assert shares.account_of("a") is a
    shares.account_of("d")
    assert [shares.account_of(name) is known for name, known in zip("ac", (a, c), strict=True)] == [True, True]
    assert shares.account_of("b") is not b


def test_the_shares_of_players_are_forgotten_in_the_same_order() -> None:
    shares = FairShares(Limits(work=Rate(1_000, 20.0)), lambda: 0, most=3)
    peers = [Peer(shares.account_of(f"192.0.2.{player}"), player) for player in range(4)]
    for player in (0, 1, 2, 0, 3):
        shares.charge(peers[player], 300.0)
    for peer in (peers[0], peers[2], peers[3]):
        with pytest.raises(Refusal, match="you have used"):
            shares.check(peer)
    shares.check(peers[1])  # what they had used is forgotten
