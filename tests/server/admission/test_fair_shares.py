"""Computing time is charged to its cause, and one address never uses up what others need."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.encrypted_peer import Authority
from tests.server.peer import CLOSE, HANDSHAKE, TEXT, client_frame
from tests.server.running import running, until
from ttt_net.errors import Closing, Refusal
from ttt_net.server import hub
from ttt_net.server.admission import fair_shares
from ttt_net.server.admission.client_address import network_of, wider_networks
from ttt_net.server.admission.fair_shares import SETTLED_MS, Account, FairShares
from ttt_net.server.rooms import audience
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.encryption import TlsLayer
from ttt_net.server.wire.frames import TurnQueue

WORK = Limits(work=Rate(1_000, 20.0))


@dataclass
class Peer:
    """A connection, as far as it pays."""

    account: Account | None
    player: int | None = None
    owed_ms: float = 0.0

    def charge(self, ms: float) -> None:
        raise AssertionError("not called here")


def test_those_who_are_sent_something_pay_in_equal_parts_and_the_sender_of_a_request_does_not() -> None:
    cost_s = 0.25
    shares = FairShares(WORK, lambda: 0, lambda: cost_s)
    asker, *told = (Peer(shares.account_of(f"192.0.2.{number}")) for number in range(3))
    shares.payer, began_s = asker, shares.clock_s()
    cost_s = 0.26
    shares.charge_all([], began_s)
    assert [asker.owed_ms, *(used_by(peer) for peer in told)] == [0, 0, 0], "nobody was sent anything"
    shares.charge_all(told, began_s)
    assert [used_by(peer) for peer in told] == pytest.approx([5.0, 5.0])
    assert asker.owed_ms == pytest.approx(-10.0), "what their request is charged includes it"
    shares.payer = None
    shares.charge_all(told, began_s)
    assert [used_by(peer) for peer in told] == pytest.approx([10.0, 10.0])


def used_by(peer: Peer) -> float:
    assert peer.account is not None
    return peer.account.shares[0].used(0)


class World:
    """The shares of a server, and its time."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.shares = FairShares(WORK, lambda: self.now_ms)

    def peer(self, address: str, player: int | None = None) -> Peer:
        return Peer(self.shares.account_of(network_of(address), wider_networks(address)), player)

    def spend(self, peer: Peer, ms: float) -> None:
        self.shares.charge(peer, ms)

    def wait_ms(self, peer: Peer) -> int | None:
        """Return when a request of the peer would be served; None if now."""
        try:
            self.shares.check(peer)
        except Refusal as refusal:
            return refusal.retry_after_ms
        return None


def test_an_address_that_has_used_its_share_is_served_again_at_the_announced_time() -> None:
    world = World()
    one, neighbour, other = world.peer("192.0.2.1"), world.peer("192.0.2.1"), world.peer("192.0.2.2")
    world.spend(one, 1_100)
    wait_ms = world.wait_ms(one)
    assert wait_ms is not None
    assert wait_ms == world.wait_ms(neighbour)
    assert world.wait_ms(other) is None
    world.now_ms += wait_ms - 2
    assert world.wait_ms(one) is not None
    world.now_ms += 2
    assert world.wait_ms(one) is None


def test_in_the_long_run_an_address_gets_a_twentieth_of_a_core() -> None:
    world = World()
    one, used_ms = world.peer("192.0.2.1"), 0.0
    while world.now_ms < 600_000:
        world.now_ms += 10
        if world.wait_ms(one) is None:
            world.spend(one, 5.0)
            used_ms += 5.0
    assert used_ms / world.now_ms == pytest.approx(0.05, rel=0.05)


@given(
    costs_ms=st.lists(st.sampled_from([0.1, 0.2, 0.5, 1.0]), min_size=1, max_size=9),
    connections=st.integers(1, 40),
    players=st.integers(1, 40),
)
@settings(max_examples=25, deadline=None)
def test_whatever_an_address_sends_it_costs_its_share_one_burst_and_a_request_of_each_connection(
    costs_ms: list[float], connections: int, players: int
) -> None:
    """Each request is urgent, so none is refused; each connection sends as soon as it is read."""
    world = World()
    peers = [world.peer("192.0.2.1", number % players) for number in range(connections)]
    rested_ms, costs, spent_ms, now_ms = [0.0] * connections, cycle(costs_ms), 0.0, 0.0
    while now_ms < 40_000:
        number = rested_ms.index(min(rested_ms))
        now_ms, cost_ms = max(now_ms, rested_ms[number]), next(costs)
        now_ms += cost_ms
        spent_ms += cost_ms
        world.now_ms = int(now_ms)
        world.spend(peers[number], cost_ms)
        rested_ms[number] = now_ms + world.shares.rest_ms(peers[number])
    share_ms = WORK.work.count + WORK.work.per_s * now_ms / 1_000
    assert spent_ms <= share_ms + connections * max(costs_ms) + SETTLED_MS


def test_pings_leave_something_of_a_share_to_other_requests() -> None:
    world = World()
    flooder, neighbour = world.peer("192.0.2.1", player=1), world.peer("192.0.2.1", player=2)
    world.spend(world.peer("192.0.2.1"), 900)
    while not world.shares.rest_ms(flooder):
        world.spend(flooder, 1.5)
    assert world.wait_ms(neighbour) is None


def test_a_player_who_sends_a_lot_rests_and_a_neighbour_does_not() -> None:
    world = World()
    greedy, modest = world.peer("192.0.2.1", player=1), world.peer("192.0.2.1", player=2)
    world.spend(greedy, 249)
    assert world.shares.rest_ms(greedy) > 0
    assert world.shares.rest_ms(modest) == 0


def test_one_player_leaves_three_quarters_to_the_others_of_an_address() -> None:
    world = World()
    greedy, modest = world.peer("192.0.2.1", player=1), world.peer("192.0.2.1", player=2)
    world.spend(greedy, 300)
    assert world.wait_ms(greedy) is not None
    assert world.wait_ms(modest) is None


@pytest.mark.parametrize(("subnets", "is_neighbour_served"), [(range(0, 2), False), (range(256, 258), True)])
def test_many_64s_of_one_56_share_what_two_of_them_may_use(subnets: range, is_neighbour_served: bool) -> None:
    """`subnets` are used up; the neighbour is in the /56 of the first 256."""
    world = World()
    for subnet in subnets:
        world.spend(world.peer(f"2001:db8:0:{subnet:x}::1"), 1_000)
    assert (world.wait_ms(world.peer("2001:db8:0:7::1")) is None) is is_neighbour_served


def test_many_56s_of_one_48_share_what_four_addresses_may_use() -> None:
    world = World()
    for subnet in range(0, 5 * 256, 256):
        world.spend(world.peer(f"2001:db8:0:{subnet:x}::1"), 1_000)
    assert world.wait_ms(world.peer("2001:db8:0:ff00::1")) is not None
    assert world.wait_ms(world.peer("2001:db8:1::1")) is None


def test_nothing_new_begins_for_any_address_of_a_network_that_used_too_much() -> None:
    world = World()
    for subnet in range(4):
        world.spend(world.peer(f"2001:db8:0:{subnet:x}::1"), 900)
    unknown = "2001:db8:0:77::1"
    assert world.shares.is_overdrawn(network_of(unknown), wider_networks(unknown))
    elsewhere = "2001:db8:0:ff00::1"
    assert not world.shares.is_overdrawn(network_of(elsewhere), wider_networks(elsewhere))


def test_new_limits_hold_for_networks_around_known_addresses_too() -> None:
    world = World()
    known = [world.peer(f"2001:db8:0:{subnet:x}::1") for subnet in range(3)]
    world.shares.limits_changed()
    for peer in known[:2]:
        world.spend(peer, 1_000)
    assert world.wait_ms(known[2]) is not None


def test_when_many_addresses_use_much_those_that_used_little_are_served() -> None:
    world = World()
    greedy = [world.peer(f"192.0.2.{number}") for number in range(10)]
    for peer in greedy:
        world.spend(peer, 600)
    modest = world.peer("192.0.2.99")
    world.spend(modest, 100)
    assert [world.wait_ms(peer) for peer in greedy] == [1_000] * len(greedy)
    assert world.wait_ms(modest) is None


def test_accounts_are_bounded() -> None:
    shares = FairShares(WORK, lambda: 0, most=10)
    accounts = {shares.account_of(f"192.0.2.{number % 25}") for number in range(100)}
    assert len(accounts) == 100, "an account that is evicted is made anew"
    assert shares.account_of("192.0.2.24") in accounts


class Price:
    """A clock by which each thing that is measured takes so many milliseconds."""

    def __init__(self) -> None:
        self.ms = 0.0
        self._now_s = 0.0

    def __call__(self) -> float:
        self._now_s += self.ms / 1000
        return self._now_s


def metered(**limits: object) -> Limits:
    return Limits(unmetered=(), **limits)  # type: ignore[arg-type]


async def test_moves_and_pings_are_served_to_an_address_that_has_used_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_shares, "MOST_REST_MS", 1)
    price = Price()
    async with running(tmp_path, metered(players_per_address=1_000), cost_s=price) as server:
        server.clock.stand_still()
        first, second, match = await server.pair()
        third = await server.join("Third")
        price.ms = 50
        while (refused := await third.ask("who"))["type"] == "ok":
            pass
        price.ms = 0
        assert (refused["code"], "limits.work" in refused["message"]) == ("too_fast", True)
        assert await third.refused("seek", games=["qubic"]) == "too_fast"
        for type_ in ("leaderboard", "invite"):
            assert await third.refused(type_, game="qubic") == "too_fast"
        await first.ok("play", match=match, ply=0, move=0)
        await second.ok("ping")
        fourth = await server.connect()
        await fourth.hello(name="Fourth")
        server.later(40_000)
        await third.ok("who")


async def test_http_is_charged_and_refused_with_when_to_come_back(tmp_path: Path) -> None:
    price = Price()
    async with running(tmp_path, metered(), cost_s=price) as server:
        server.clock.stand_still()
        peer = await server.raw()
        price.ms = 50
        get = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
        await peer.send(get)
        while b" 200 " in (head := await peer.read_head()):
            await peer.read(len(b"ok\n"))
            await peer.send(get)
        price.ms = 0
        assert b" 429 " in head
        assert b"Retry-After: " in head
        assert (await peer.read_to_end()).startswith(b"your address has used 1000 ms")
        later = await server.raw()
        await later.send(HANDSHAKE)
        assert b" 101 " in await later.read_head(), "a player may come back all the same"


async def test_bytes_of_answers_have_a_price(tmp_path: Path) -> None:
    async with running(tmp_path, metered()) as server:
        peer = await server.raw()
        await until(lambda: len(server.connections) == 1)
        connection = next(iter(server.connections))
        server.clock.stand_still()  # what is used comes back with time
        await peer.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        head = await peer.read_head()
        size = next(int(line.split()[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        assert connection.account is not None
        charged = connection.account.owed_ms + connection.account.shares[0].used(server.clock())
        assert charged == pytest.approx(size * 20 / 1_000_000, abs=0.02)


async def test_a_request_with_41_headers_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        for count, status in ((40, b" 200 "), (41, b" 431 ")):
            peer = await server.raw()
            headers = b"".join(b"X-%d: 1\r\n" % number for number in range(count))
            await peer.send(b"GET /healthz HTTP/1.1\r\n" + headers + b"\r\n")
            assert status in await peer.read_head()


async def test_an_address_that_used_much_takes_turns_and_another_does_not(tmp_path: Path) -> None:
    """One address at a time has a turn in each pass of the event loop, whatever the others have sent."""
    passes: list[str] = []
    loop = asyncio.get_running_loop()
    turns = TurnQueue(loop)
    for _ in range(3):
        turns.join(lambda: passes.append("crowd"), "crowd")
    turns.join(lambda: passes.append("other"), "other")
    while len(turns):  # noqa: ASYNC110 - a turn is a pass of the loop
        await asyncio.sleep(0)
    assert passes == ["crowd", "other", "crowd", "crowd"]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of those that have waited for their turn."""
    waited: list[str] = []
    in_turn = Connection.in_turn

    def noted(self: Connection, do: object) -> None:
        waited.append(type(getattr(do, "__self__", None)).__name__)
        in_turn(self, do)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "in_turn", noted)
    return waited


async def test_moves_that_nobody_pays_for_are_not_measured(tmp_path: Path) -> None:
    looks = 0

    def look() -> float:
        nonlocal looks
        looks += 1
        return 0.0

    async with running(tmp_path, Limits(ping_after_s=60, dead_after_s=600), cost_s=look) as server:
        first, second, match = await server.pair()
        server.tick(0)  # the first heartbeats, whose answers are measured as other frames than requests are
        for one in (first, first, second, second):
            await one.ok("ping")
        before = looks
        await first.ok("play", match=match, ply=0, move=0)
        await second.hear("played", ply=1)
        assert looks == before


async def test_the_match_that_a_watcher_has_read_from_the_disk_is_charged_to_the_watcher(tmp_path: Path) -> None:
    price = Price()
    async with running(tmp_path, metered(), cost_s=price) as server:
        first, second, match = await server.pair()
        for peer in (first, second):
            peer.abort()
        await until(lambda: match not in server.rooms)
        eve = await server.join("Eve")
        server.clock.stand_still()
        account = server.connection_of("Eve").account
        assert account is not None
        own = account.shares[0]
        used_ms = own.used(server.clock())
        ask, held = server.ledger.ask, list[Callable[[], None]]()
        with mock.patch.object(
            server.ledger,
            "ask",
            lambda query, done, failed: ask(query, lambda found: held.append(partial(done, found)), failed),
        ):
            watching = await eve.say("watch", match=match)
            await until(lambda: bool(held))
        price.ms = 40
        held[0]()
        price.ms = 0
        assert own.used(server.clock()) - used_ms >= 40
        assert (await eve.answer(watching))["type"] == "ok"


async def test_a_watcher_over_the_share_receives_the_whole_match_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "LATE_S", 0.01)
    monkeypatch.setattr(fair_shares, "MOST_REST_MS", 1)
    async with running(tmp_path, metered(), cost_s=Price()) as server:
        first, second, match = await server.pair()
        eve = await server.join("Eve")
        await eve.ok("watch", match=match)
        await eve.hear("snapshot")
        server.clock.stand_still()
        account = server.connection_of("Eve").account
        assert account is not None
        account.shares[0].use(server.clock(), 2_000)
        for ply, mover in enumerate((first, second)):
            await mover.ok("play", match=match, ply=ply, move=ply)
        server.later(60_000)
        snapshot = await eve.hear("snapshot")
        assert (snapshot["moves"], snapshot["watchers"], snapshot.get("you")) == ([0, 1], 1, None)
        await first.ok("play", match=match, ply=2, move=2)
        assert (await eve.hear("played"))["ply"] == 3


async def test_a_handshake_of_tls_is_charged_to_its_address(tmp_path: Path) -> None:
    price = Price()
    async with running(tmp_path, metered(), cost_s=price, authority=Authority(tmp_path)) as server:
        server.clock.stand_still()
        price.ms = 5
        await server.raw()
        price.ms = 0
        account = next(iter(server.connections)).account
        assert account is not None
        assert account.shares[0].used(server.clock()) >= 5.0, "one read at least"


async def test_cheap_requests_of_many_connections_are_charged_together(tmp_path: Path) -> None:
    """However little each of them owes, and though all of them leave, the address pays."""
    price = Price()
    async with running(tmp_path, metered(), cost_s=price) as server:
        server.clock.stand_still()
        await server.join("Ann")
        account = next(iter(server.connections)).account
        assert account is not None
        used_ms = account.shares[0].used(server.clock())
        price.ms = 0.3
        for _ in range(20):
            peer = await server.raw()
            await peer.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            await peer.read_to_end()
        assert account.shares[0].used(server.clock()) - used_ms > 4.0


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "TLS"])
async def test_connections_of_an_address_that_used_much_wait_for_their_turn(
    tmp_path: Path, waits: list[str], *, is_encrypted: bool
) -> None:
    price = Price()
    authority = Authority(tmp_path) if is_encrypted else None
    async with running(tmp_path, metered(), cost_s=price, authority=authority) as server:
        server.clock.stand_still()
        ann = await server.join("Ann")
        price.ms = 30
        await ann.ok("ping")
        price.ms = 0
        assert waits == []
        await ann.ok("ping")
        assert waits.pop() == Connection.__name__
        bob = await server.join("Bob")
        assert (TlsLayer.__name__ in waits) is is_encrypted, "a handshake waits too"
        await bob.ok("ping")


async def test_a_connection_that_is_refused_for_its_share_is_not_read_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "REST_S", 3_600.0)
    price = Price()
    async with running(tmp_path, metered(), cost_s=price) as server:
        server.clock.stand_still()
        ann = await server.join("Ann")
        price.ms = 50
        while (await ann.ask("who"))["type"] == "ok":
            pass
        price.ms = 0
        requests = server.hub.metrics.requests
        for _ in range(20):
            await ann.say("who")
        bob = await server.join("Bob")
        await bob.ok("ping")
        assert server.hub.metrics.requests == requests + 2, "only Bob was read"


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "TLS"])
async def test_a_connection_of_an_address_over_its_share_rests_after_each_ping_and_its_neighbours_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_encrypted: bool
) -> None:
    monkeypatch.setattr(fair_shares, "MOST_REST_MS", 3_600_000)
    authority = Authority(tmp_path) if is_encrypted else None
    async with running(tmp_path, metered(), cost_s=lambda: 0.0, authority=authority) as server:
        server.clock.stand_still()
        ann, bob = await server.join("Ann"), await server.join("Bob")
        account = server.connection_of("Ann").account
        assert account is not None
        account.shares[0].use(server.clock(), 1_000)
        await ann.ok("ping")
        requests = server.hub.metrics.requests
        for _ in range(20):
            await ann.say("ping")
        await bob.ok("ping")
        assert server.hub.metrics.requests == requests + 1, "only Bob was read"


async def test_what_was_sent_during_a_rest_is_served_after_it_and_a_close_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_shares, "MOST_REST_MS", 1)
    async with running(tmp_path, metered(closing_s=60), cost_s=lambda: 0.0) as server:
        server.clock.stand_still()
        peer = await server.raw()
        await peer.hello("Ann")
        connection = server.connection_of("Ann")
        assert connection.account is not None
        connection.account.shares[0].use(server.clock(), 1_000)
        await peer.send(client_frame(TEXT, b'{"type":"ping","id":7}') * 3)
        for _ in range(3):
            assert await peer.read_frame() == (TEXT, b'{"type":"ok","id":7}')
        connection.rest(0.001)
        connection.close(Closing.RESTART)
        await peer.send(client_frame(CLOSE, Closing.RESTART.to_bytes(2, "big")))
        assert await peer.close_code() == Closing.RESTART
        assert await peer.read_to_end() == b""
