"""Strategies that play at this keyboard, each in a process of its own."""

import asyncio
from typing import cast

from tests.patience import PATIENCE_S
from ttt_net.client.bot.engine_process import EngineProcess
from ttt_net.client.local.local_connection import LocalConnection
from ttt_net.client.local.seated_strategies import SeatedStrategies


class SlowEngine:
    """An engine whose process takes a while to end."""

    def __init__(self) -> None:
        self.has_started, self.is_ending, self.may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def start(self) -> None:
        self.has_started.set()

    async def stop(self) -> None:
        self.is_ending.set()
        await self.may_end.wait()


async def test_each_engine_is_stopped_although_the_match_is_cancelled_twice() -> None:
    class IdleConnection:
        class matches:  # noqa: N801
            match = None

        async def moved(self) -> None:
            await asyncio.Event().wait()

    first, second = SlowEngine(), SlowEngine()
    strategies = SeatedStrategies({0: cast(EngineProcess, first), 1: cast(EngineProcess, second)}, 100, 0.0)
    async with asyncio.timeout(PATIENCE_S):
        playing = asyncio.ensure_future(strategies.play(cast(LocalConnection, IdleConnection())))
        await first.has_started.wait()
        await second.has_started.wait()
        playing.cancel()
        await second.is_ending.wait()
        playing.cancel()
        await first.is_ending.wait()
        first.may_end.set()
        await asyncio.wait([playing])
