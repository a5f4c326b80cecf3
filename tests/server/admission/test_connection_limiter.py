"""Limits of addresses, from accept on: over sockets, with the loopback metered like anybody."""

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.patience import PATIENCE_S
from tests.server.peer import HANDSHAKE, Peer, RawPeer, said
from tests.server.running import Server, running, until
from ttt_net.errors import Closing
from ttt_net.server.admission.connection_limiter import MODEST, MOST_LOOKED_AT, MOST_TAKEN, POLITE_TO_ONE, Acceptor
from ttt_net.server.settings.configuration import Configuration, Limits, Rate
from ttt_net.server.settings.listening import listen


def metered(**limits: object) -> Limits:
    """Return limits that apply to the loopback too."""
    return Limits(unmetered=(), **limits)  # type: ignore[arg-type]


async def answer(server: Server, *headers: bytes) -> tuple[int | None, bytes]:
    """Open a connection and let it be; return the status and the text of its refusal."""
    peer = await server.raw()
    await peer.send(HANDSHAKE.removesuffix(b"\r\n") + b"".join(line + b"\r\n" for line in headers) + b"\r\n")
    head = await peer.read_head()
    status = int(head.split()[1]) if head else None
    if status == 101:
        return status, b""
    body = await peer.read_to_end()
    peer.close()
    return status, body


async def test_connections_over_the_limit_of_an_address_are_told_which_and_far_over_it_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, metered(max_per_address=3)) as server:
        first = await server.join("Ann")
        for _ in range(2):
            assert await answer(server) == (101, b"")
        peers = [await server.raw() for _ in range(POLITE_TO_ONE + 5)]
        await until(lambda: server.hub.metrics.endings["address"] == 5)
        for peer in peers[:POLITE_TO_ONE]:
            await peer.send(HANDSHAKE)
            head = await peer.read_head()
            assert b" 429 " in head
            assert b"Retry-After: 1" in head
            body = await peer.read_to_end()
            assert body == b"your address has 3 connections already (limits.max_per_address); try again in 1 s\n"
            peer.close()
        for peer in peers[POLITE_TO_ONE:]:
            assert await peer.read_to_end() == b""
        await until(lambda: len(server.connections) == 3)
        await first.close()
        await until(lambda: len(server.connections) == 2)
        assert (await answer(server))[0] == 101, "the place of one who left is free"
        await until(lambda: server.hub.limiter.count_of("127.0.0.1") == 3)


async def test_new_connections_over_the_rate_of_an_address_hear_when_to_come_back(tmp_path: Path) -> None:
    async with running(tmp_path, metered(openings=Rate(3, 60.0))) as server:
        for _ in range(3):
            assert (await answer(server))[0] == 101
        status, body = await answer(server)
        assert status == 429
        assert body.startswith(b"too many openings: 3/min for one address (limits.openings); try again in ")
        for _ in range(3):
            await answer(server)
        assert server.hub.metrics.endings["address"] > 0, "in the end it is dropped without a word"


async def test_the_loopback_is_not_metered_unless_it_is_asked_for(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(max_per_address=1, openings=Rate(1, 60.0))) as server:
        for _ in range(5):
            assert (await answer(server))[0] == 101


async def test_behind_a_proxy_the_callers_are_counted_and_not_the_proxy(tmp_path: Path) -> None:
    behind = Configuration(name="test", behind_proxy=True)
    async with running(tmp_path, metered(max_per_address=2), configuration=behind) as server:
        for caller in (b"198.51.100.1", b"198.51.100.2", b"2001:db8::1"):
            for _ in range(2):
                assert (await answer(server, b"X-Forwarded-For: " + caller))[0] == 101
            assert (await answer(server, b"X-Forwarded-For: 192.0.2.9, " + caller))[0] == 429, "spoofed on the left"
        assert (await answer(server, b"X-Forwarded-For: 2001:db8::ffff"))[0] == 429, "the same /64"
        assert (await answer(server, b"X-Forwarded-For: 2001:db8:0:1::1"))[0] == 101
        await until(lambda: server.hub.limiter.count_of("198.51.100.1") == 2)


async def test_without_a_listed_proxy_the_header_is_ignored_and_that_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path, metered(max_per_address=2)) as server:
        for number in range(2):
            assert (await answer(server, b"X-Forwarded-For: 192.0.2.%d" % number))[0] == 101
        assert (await answer(server, b"X-Forwarded-For: 192.0.2.99"))[0] == 429
    assert caplog.text.count("is no listed proxy") == 1


async def test_one_newcomer_too_many_drops_the_oldest_and_no_player(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(max_newcomers=10)) as server:
        ann = await server.join("Ann")
        silent = [await server.raw() for _ in range(10)]
        await until(lambda: len(server.connections) == 11)
        bob = await server.join("Bob")
        await ann.ok("ping")
        await bob.ok("ping")
        assert await silent[0].read_to_end() == b""
        await until(lambda: len(server.connections) == 11)
        assert server.hub.metrics.endings["newcomers"] == 1


async def test_new_names_from_an_address_are_limited_and_known_players_are_not(tmp_path: Path) -> None:
    async with running(tmp_path, metered(registrations=Rate(2, 3_600.0))) as server:
        ann, _ = await server.join("Ann"), await server.join("Bob")
        peer = await server.connect()
        refused = await peer.ask("hello", protocols=[1], name="Eve")
        assert refused["code"] == "too_fast"
        assert refused["message"] == "too many registrations: 2/h for one address (limits.registrations)"
        assert refused["retry_after_ms"] > 1_000_000
        await ann.close()
        await peer.hello(token=ann.token)


async def test_wrong_codes_of_an_address_are_limited_no_matter_who_tries_and_good_ones_are_not_counted(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, metered(wrong_codes=Rate(4, 3_600.0))) as server:
        ann, bob = await server.join("Ann"), await server.join("Bob")
        guessers = [await server.join(f"Eve-{number}") for number in range(4)]
        for _ in range(5):
            await ann.ok("invite", game="tictactoe")
            code = (await ann.hear("invitation"))["code"]
            await bob.ok("join", code=code)
            match = (await bob.hear("snapshot"))["match"]
            await bob.ok("abort", match=match)
            await ann.hear("ended", match=match)
        for guesser in guessers:
            assert await guesser.refused("join", code="BCDFGH") == "unknown_code"
        await ann.ok("invite", game="tictactoe")
        code = (await ann.hear("invitation"))["code"]
        assert await guessers[0].refused("join", code=code) == "too_fast", "even the right one, or guessing would pay"


async def test_challenges_of_a_player_are_limited(tmp_path: Path) -> None:
    async with running(tmp_path, Limits(challenges=Rate(3, 60.0))) as server:
        server.clock.stand_still()
        ann, bob = await server.join("Ann"), await server.join("Bob")
        for _ in range(3):
            await ann.ok("challenge", name="Bob")
            number = (await bob.hear("challenged"))["challenge"]
            await bob.ok("answer", challenge=number, accept=False, reason="later")
        assert await ann.refused("challenge", name="Bob") == "too_fast"


async def test_messages_of_an_address_are_refused_and_nobody_is_closed_for_another(tmp_path: Path) -> None:
    async with running(tmp_path, metered(messages=Rate(200, 600.0), players_per_address=2)) as server:
        server.clock.stand_still()
        ann = await server.join("Ann")
        others: list[Peer] = [await server.join(f"Bob-{number}") for number in range(3)]
        for other in others:
            for _ in range(133):  # with each one's hello, a few more than the address has
                await other.ask("ping")
        assert await ann.refused("ping") == "too_fast"
        assert len(server.sessions) == 4


async def test_a_million_empty_fragments_take_no_memory(tmp_path: Path) -> None:
    from tests.server.peer import CONT, TEXT, client_frame

    async with running(tmp_path, Limits(messages=Rate(1_000_000), dead_after_s=600)) as server:
        peer: RawPeer = await server.raw()
        await peer.hello("Ann")
        await peer.send(client_frame(TEXT, b'{"type":', fin=False) + client_frame(CONT, fin=False) * 10_000)
        await peer.send(client_frame(CONT, b'"ping","id":9}'))
        assert (await peer.hear("ok"))["id"] == 9


async def test_an_address_of_many_floods_is_turned_away_for_a_while_and_its_players_stay(tmp_path: Path) -> None:
    async with running(tmp_path, metered(floods=Rate(2, 60.0), messages=Rate(5))) as server:
        ann = await server.join("Ann")
        for number in range(2):
            eve = await server.join(f"Eve{number}")
            for _ in range(30):
                await eve.say("ping")
            assert await eve.close_code() == 1008
        status, body = await answer(server)
        assert status == 429
        assert body.startswith(b"too many floods: 2/min for one address (limits.floods); try again in ")
        await ann.ok("ping")


async def test_when_full_the_oldest_idle_connection_of_the_largest_address_makes_room(tmp_path: Path) -> None:
    behind = Configuration(name="test", behind_proxy=True)
    limits = metered(max_connections=MODEST + 4, max_per_address=100)
    async with running(tmp_path, limits, configuration=behind) as server:

        async def come(address: str) -> RawPeer:
            peer = await server.raw()
            await peer.send(HANDSHAKE.removesuffix(b"\r\n") + b"X-Forwarded-For: " + address.encode() + b"\r\n\r\n")
            assert await peer.status() == 101
            return peer

        async def join(address: str, name: str) -> RawPeer:
            peer = await come(address)
            await peer.send(said("hello", protocols=[1], name=name))
            await peer.hear("welcome")
            return peer

        seeking = await join("192.0.2.1", "Seeker")
        await seeking.send(said("seek", games=["qubic"]))
        await seeking.hear("ok")
        crowd = [await join("192.0.2.1", f"Crowd{number}") for number in range(MODEST + 1)]
        modest = [await join("192.0.2.2", f"Modest{number}") for number in range(2)]
        newcomer = await join("192.0.2.3", "New")
        assert await crowd[0].close_code() == Closing.FULL
        for peer in (seeking, *crowd[1:], *modest, newcomer):
            await peer.send(said("ping"))
            await peer.hear("ok")


class Clock:
    """A clock that stands until it is put forward, and counts how often it was looked at."""

    def __init__(self) -> None:
        self.now_ms = self.looks = 0

    def __call__(self) -> int:
        self.looks += 1
        return self.now_ms


class Turns:
    """The number of the loop's turn, and what was put off."""

    def __init__(self) -> None:
        self.now = 0
        self.rests: list[asyncio.TimerHandle] = []
        """The pauses that were begun."""
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self.now += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def stop(self) -> None:
        self._handle.cancel()


class Served(asyncio.Protocol):
    """The server's end of a connection, which is in a set while it is open."""

    def __init__(self, served: set[asyncio.Protocol]) -> None:
        self._served = served

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._served.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._served.remove(self)


@asynccontextmanager
async def accepting(
    is_shut_to: Callable[[str], bool], waiting: int, arrivals: int = 1_000, clock: Clock | None = None
) -> AsyncIterator[tuple[Counter[int], Turns, list[socket.socket]]]:
    """Accept inside the block, with so many waiting at its beginning; count what is made in each turn of the loop.

    At its end nothing of the acceptor may be left in the loop.
    """
    made, served = Counter[int](), set[asyncio.Protocol]()
    listening = listen("127.0.0.1", 0)
    loop, number = asyncio.get_running_loop(), listening.fileno()

    def call_later(*call: Any) -> asyncio.TimerHandle:
        turns.rests.append(loop.call_at(loop.time() + call[0], *call[1:]))
        return turns.rests[-1]

    callers = [socket.create_connection(listening.getsockname()[:2]) for _ in range(waiting)]
    turns = Turns()

    def protocol() -> asyncio.Protocol:
        made[turns.now] += 1
        return Served(served)

    try:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            with (
                mock.patch.object(loop, "call_later", call_later),
                Acceptor(listening, tasks, protocol, is_shut_to, Rate(arrivals), clock or Clock()).accepting(),
            ):
                yield made, turns, callers
        assert not loop.remove_reader(number), "the loop does not look at a closed socket"
        assert all(rest.cancelled() or rest.when() <= loop.time() for rest in turns.rests)
    finally:
        turns.stop()
        for caller in callers:
            caller.close()
        await until(lambda: not served)


async def test_of_a_hundred_simultaneous_connections_each_turn_of_the_loop_accepts_a_few() -> None:
    async with accepting(lambda _: False, waiting=100) as (made, _, _):
        await until(lambda: made.total() == 100)
    assert max(made.values()) == MOST_TAKEN


async def test_rejected_connections_are_reset_without_allocating_anything() -> None:
    asked: list[str] = []
    looks: Counter[int] = Counter()

    def is_shut_to(address: str) -> bool:
        asked.append(address)
        looks[turns.now] += 1
        return True

    async with accepting(is_shut_to, waiting=100) as (made, turns, callers):
        await until(lambda: len(asked) == 100)
        assert max(looks.values()) == MOST_LOOKED_AT
        with pytest.raises(ConnectionResetError):
            callers[0].recv(1)
    assert made.total() == 0
    assert set(asked) == {"127.0.0.1"}


async def test_of_too_many_from_everywhere_most_wait_until_their_time_has_come() -> None:
    clock = Clock()
    async with accepting(lambda _: False, 30, 10, clock) as (made, turns, _):
        await until(lambda: made.total() == 10)
        looks, rests = clock.looks, len(turns.rests)
        while clock.looks < looks + 3:  # noqa: ASYNC110 - it asks again and again, and nothing else rests meanwhile
            await asyncio.sleep(0)
        assert len(turns.rests) == rests + 3, "with a rest in between, so not in each turn of the loop"
        assert made.total() == 10
        clock.now_ms += 500
        await until(lambda: made.total() == 15)
        clock.now_ms += 5_000
        await until(lambda: made.total() == 25)


async def test_one_that_has_disconnected_before_it_is_handed_over_is_closed() -> None:
    gone = mock.AsyncMock(side_effect=OSError)
    with mock.patch.object(asyncio.get_running_loop(), "connect_accepted_socket", gone):
        async with accepting(lambda _: False, waiting=1) as (made, _, callers):
            await until(lambda: gone.await_count == 1)
            assert callers[0].recv(1) == b""
            assert not made


async def test_rejected_connections_cost_the_others_nothing() -> None:
    clock, answers = Clock(), iter([True] * 20)
    async with accepting(lambda _: next(answers, False), 30, 10, clock) as (made, _, _):
        await until(lambda: made.total() == 10)


async def test_without_a_free_descriptor_the_server_pauses_and_continues_when_there_is_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with accepting(lambda _: False, waiting=3) as (made, _, _):
        try:
            with socket.socket() as spare:
                lowest_free = spare.fileno()
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
            await until(lambda: "cannot take connections: Too many open files" in caplog.text)
            await asyncio.sleep(0)
            assert caplog.text.count("cannot take connections") == 1, "it is not asked again at once"
            assert made.total() == 0
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        await until(lambda: made.total() == 3)
