"""A connection at a server that says what a test wants, and all that it told."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from tests.client.fake_server import FakeServer
from tests.patience import PATIENCE_S
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.trust import Trust

T = TypeVar("T")


class Client:
    """A connection that runs, and what it tells."""

    def __init__(
        self,
        url: str,
        limits: ReconnectLimits,
        token: str | None = None,
        trust: Trust | None = None,
        now_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
    ) -> None:
        self.mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self.tokens: list[str] = []
        self.frames: list[str] = []
        tap = self.frames.append
        self.connection = ClientConnection(
            url,
            ClientSession("Ann", token),
            self.mailbox.put,
            limits,
            self.tokens.append,
            tap,
            trust,
            now_ms=now_ms,
            jitter=lambda: 1.0,
        )

    async def hears(self, kind: type[T]) -> T:
        """Return the next event, which is of that kind."""
        async with asyncio.timeout(PATIENCE_S):
            event = await self.mailbox.get()
        assert isinstance(event, kind), event
        return event

    async def comes_to(self, kind: type[T]) -> T:
        """Return the next event of that kind, whatever comes before."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                event = await self.mailbox.get()
                if isinstance(event, kind):
                    return event


@asynccontextmanager
async def client_of(
    server: FakeServer, limits: ReconnectLimits | None = None, token: str | None = None, trust: Trust | None = None
) -> AsyncIterator[Client]:
    client = Client(server.url, limits or ReconnectLimits(None, None), token, trust)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(client.connection.run())
        yield client
        running.cancel()
