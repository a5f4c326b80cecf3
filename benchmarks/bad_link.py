"""A relay between clients and a server whose links break in every way that links break."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

FATES = ("reset", "close", "freeze", "deaf")
"""Both ends are told at once, or politely; neither is told; the client is there, but reads nothing more."""
FROZEN_S = 12.0
"""Longer than either end waits for the other."""
_CHUNK = 16_384


class BadLink:
    """Relays, and after a random time lets each connection meet its fate; `met` counts them."""

    def __init__(self, port: int, mean_s: float, rng: random.Random) -> None:
        self.met: Counter[str] = Counter()
        self._port = port
        self._mean_s = mean_s
        self._rng = rng
        self._links: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """Relay inside the block; yield the port."""
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0, limit=_CHUNK)
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            server.close()
            for link in self._links:
                link.cancel()
            await asyncio.gather(*self._links, return_exceptions=True)

    async def _relay(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        task.add_done_callback(self._links.discard)
        writers = [to_client]
        with suppress(OSError, asyncio.CancelledError):
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self._port, limit=_CHUNK)
            writers.append(to_server)
            upward = asyncio.ensure_future(_pump(from_client, to_server))
            downward = asyncio.ensure_future(_pump(from_server, to_client))
            try:
                await self._meet_fate(upward, downward, writers)
            finally:
                upward.cancel()
                downward.cancel()
        for writer in writers:
            writer.transport.abort()

    async def _meet_fate(
        self, upward: "asyncio.Future[None]", downward: "asyncio.Future[None]", writers: list[asyncio.StreamWriter]
    ) -> None:
        pumps = (upward, downward)
        life_s = self._rng.expovariate(1 / self._mean_s)
        done, _ = await asyncio.wait(pumps, timeout=life_s, return_when=asyncio.FIRST_COMPLETED)
        if done:
            return
        fate = self._rng.choice(FATES)
        self.met[fate] += 1
        if fate == "close":
            for writer in writers:
                writer.close()
        elif fate == "freeze":
            upward.cancel()
            downward.cancel()
            await asyncio.sleep(FROZEN_S)
        elif fate == "deaf":
            downward.cancel()
            await asyncio.wait([upward], timeout=FROZEN_S)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
