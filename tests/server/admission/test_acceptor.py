"""Connections are taken a few at a time, so that those who are there already are not kept waiting."""

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tests.patience import PATIENCE_S
from tests.server.running import until
from ttt_net.server.admission.acceptor import MOST_LOOKED_AT, MOST_TAKEN, Acceptor
from ttt_net.server.settings.addresses import listen
from ttt_net.server.settings.rate import Rate


class Clock:
    """A clock that stands until it is put forward, and counts how often it was looked at."""

    def __init__(self) -> None:
        self.now_ms = self.looks = 0

    def __call__(self) -> int:
        self.looks += 1
        return self.now_ms


class Turns:
    """The number of the loop's turn."""

    def __init__(self) -> None:
        self.now = 0
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        self.now += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def stop(self) -> None:
        self._handle.cancel()


@asynccontextmanager
async def accepting(
    is_shut_to: Callable[[str], bool], waiting: int, arrivals: int = 1_000, clock: Clock | None = None
) -> AsyncIterator[tuple[Counter[int], Turns, list[socket.socket]]]:
    """Accept inside the block, with so many waiting at its beginning; count what is made in each turn of the loop."""
    made: Counter[int] = Counter()
    listening = listen("127.0.0.1", 0)
    callers = [socket.create_connection(listening.getsockname()[:2]) for _ in range(waiting)]
    turns = Turns()

    def protocol() -> asyncio.Protocol:
        made[turns.now] += 1
        return asyncio.Protocol()

    try:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            with Acceptor(listening, tasks, protocol, is_shut_to, Rate(arrivals), clock or Clock()).accepting():
                yield made, turns, callers
    finally:
        turns.stop()
        for caller in callers:
            caller.close()


async def test_of_a_hundred_who_come_at_once_a_few_are_taken_in_each_turn_of_the_loop() -> None:
    async with accepting(lambda _: False, waiting=100) as (made, _, _):
        await until(lambda: made.total() == 100)
    assert max(made.values()) <= MOST_TAKEN


async def test_nothing_is_made_for_those_who_may_not_come_in_and_they_are_reset() -> None:
    asked: list[str] = []

    def is_shut_to(address: str) -> bool:
        asked.append(address)
        return True

    async with accepting(is_shut_to, waiting=100) as (made, turns, callers):
        began = turns.now
        await until(lambda: len(asked) == 100)
        assert turns.now - began >= 100 // MOST_LOOKED_AT
        with pytest.raises(ConnectionResetError):
            callers[0].recv(1)
    assert made.total() == 0
    assert set(asked) == {"127.0.0.1"}


async def test_of_too_many_from_everywhere_most_wait_until_their_time_has_come() -> None:
    clock = Clock()
    async with accepting(lambda _: False, 30, 10, clock) as (made, _, _):
        await until(lambda: made.total() == 10)
        looks = clock.looks
        await until(lambda: clock.looks == looks + 3)  # it has asked again and again
        assert made.total() == 10
        clock.now_ms += 500
        await until(lambda: made.total() == 15)
        clock.now_ms += 5_000
        await until(lambda: made.total() == 25)


async def test_those_who_may_not_come_in_take_nothing_from_the_others() -> None:
    clock, answers = Clock(), iter([True] * 20)
    async with accepting(lambda _: next(answers, False), 30, 10, clock) as (made, _, _):
        await until(lambda: made.total() == 10)


async def test_without_a_free_descriptor_the_server_rests_and_goes_on_when_there_is_one(
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
