"""The logs that the contract suite is run against, and what waits for their callbacks.

To add a backend: a class with the methods of `Cluster` here, and its name in `BACKENDS`.
"""

import asyncio
import itertools
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol

import pytest

from benchmarks.nats_servers import NatsServers
from tests.patience import PATIENCE_S
from ttt_net.server.cluster.jetstream import open_log
from ttt_net.server.cluster.log import Log, MemoryLog, MemoryStream

WAIT_S = float(PATIENCE_S)
"""How long a test waits for what must come; no test waits that long when all is well."""


class Cluster(Protocol):
    """One log, and as many nodes at it as a test needs."""

    async def node(self) -> Log:
        """Return another node's connection to the log."""

    def another(self) -> "Cluster":
        """Return another log, which is empty; to be ended, too."""

    async def end(self) -> None:
        """End all of them, and delete the log."""


class MemoryCluster:
    """A log in memory."""

    def __init__(self) -> None:
        self._stream = MemoryStream()

    async def node(self) -> Log:
        """Return another connection."""
        return MemoryLog(self._stream, asyncio.get_running_loop().call_soon)

    def another(self) -> "Cluster":
        """Return another log."""
        return MemoryCluster()

    async def end(self) -> None:
        """Do nothing: it goes with the last who knows it."""


class JetStreamCluster:
    """A stream of its own on three servers of NATS; each node is connected to another of them first."""

    _numbers = itertools.count(1)

    def __init__(self, servers: NatsServers) -> None:
        self._servers = servers
        self._stream = f"t{next(self._numbers)}"
        self._opened = AsyncExitStack()
        self._nodes = 0

    async def node(self) -> Log:
        """Return another connection."""
        self._nodes += 1
        urls = self._servers.urls
        turned = urls[self._nodes % len(urls) :] + urls[: self._nodes % len(urls)]
        address = self._servers.address._replace(servers=turned, stream=self._stream)
        return await self._opened.enter_async_context(open_log(address, f"node{self._nodes}", WAIT_S))

    def another(self) -> "Cluster":
        """Return another stream on the same servers."""
        return JetStreamCluster(self._servers)

    async def end(self) -> None:
        """Leave all of them; the stream goes with the servers."""
        await self._opened.aclose()


BACKENDS: dict[str, Callable[[pytest.FixtureRequest], Cluster]] = {
    "memory": lambda _: MemoryCluster(),
    "jetstream": lambda request: JetStreamCluster(request.getfixturevalue("nats_servers")),
}
"""Each makes a new and empty log."""


class Heard:
    """Arguments of a callback, in order."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self._changed = asyncio.Event()

    def __call__(self, *args: object) -> None:
        """Take note of a call: of its one argument, or of all."""
        self.calls.append(args[0] if len(args) == 1 else args)
        self._changed.set()

    async def first(self, count: int) -> list[Any]:
        """Return the first so many calls, once they have come."""
        async with asyncio.timeout(WAIT_S):
            while len(self.calls) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.calls[:count]

    async def one(self) -> Any:
        """Return the first call, once it has come."""
        return (await self.first(1))[0]


def following(log: Log, position: int = 0) -> Heard:
    """Let a log be followed, and return what is heard."""
    heard = Heard()
    log.follow(position, heard, not_gone)
    return heard


def not_gone() -> None:
    """Fail: nothing was trimmed."""
    raise AssertionError("nothing was trimmed")


async def published(log: Log, *batches: bytes) -> list[Any]:
    """Publish batches, and return their places once all are known."""
    done = Heard()
    for batch in batches:
        log.publish(batch, done)
    return await done.first(len(batches))


async def end_of(log: Log) -> Any:
    """Return the end of a log."""
    done = Heard()
    log.end(done)
    return await done.one()


async def trimmed(cluster: Cluster, position: int) -> None:
    """Wait until the batch after the position is kept no more: a node that would follow from there is told so."""
    async with asyncio.timeout(WAIT_S):
        while True:
            said = Heard()
            (await cluster.node()).follow(position, said, said)
            if await said.one() == ():
                return
