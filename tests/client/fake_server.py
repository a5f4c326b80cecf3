"""A server that says what a test tells it to say, and hands over what it hears."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from msgspec.structs import replace
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tests.client.samples import ok, welcome
from tests.patience import PATIENCE_S
from ttt_net.messages import AnyRequest, AnyServerMessage, HelloRequest, decode_request, encode

T = TypeVar("T", bound=AnyRequest)


class FakeLink:
    """One connection of a client, seen from the server."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.done = asyncio.Event()

    async def hears(self, kind: type[T]) -> T:
        """Return the next request, which is of that kind."""
        async with asyncio.timeout(PATIENCE_S):
            said = decode_request(await self.socket.recv())
        assert isinstance(said, kind), said
        return said

    async def grants(self, kind: type[T]) -> T:
        """Return the next request, which is of that kind, and answer `ok`."""
        said = await self.hears(kind)
        await self.tells(ok(said.id))
        return said

    async def tells(self, *messages: AnyServerMessage) -> None:
        """Send messages."""
        for message in messages:
            await self.socket.send(encode(message).decode())

    async def sends(self, frame: str | bytes) -> None:
        """Send a frame as it is."""
        await self.socket.send(frame)

    async def lets_in(self, *matches: str, token: str | None = None, nodes: Sequence[str] = ()) -> HelloRequest:
        """Hear `hello`, answer it and welcome."""
        hello = await self.hears(HelloRequest)
        await self.tells(ok(hello.id), replace(welcome(*matches, token=token), nodes=list(nodes)))
        return hello

    async def closes(self, code: int, reason: str = "") -> None:
        """Close the connection with a code."""
        await self.socket.close(code, reason)
        self.done.set()

    async def breaks(self) -> None:
        """Cut the connection without a word."""
        self.socket.transport.abort()
        self.done.set()

    async def is_closed(self) -> int | None:
        """Wait until the client has closed, and return its code."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while True:
                    await self.socket.recv()
            except ConnectionClosed:
                self.done.set()
                return self.socket.close_code


class FakeServer:
    """Listens on a free port; every connection waits to be accepted by the test."""

    def __init__(self, scheme: str) -> None:
        self.port = 0
        self._scheme = scheme
        self.heard: list[str | bytes] = []
        """Messages that nobody asked for."""
        self._links: asyncio.Queue[FakeLink] = asyncio.Queue()

    @property
    def url(self) -> str:
        """Where to connect to."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    async def accepts(self) -> FakeLink:
        """Return the next connection."""
        async with asyncio.timeout(PATIENCE_S):
            return await self._links.get()

    async def handle(self, socket: ServerConnection) -> None:
        """Hand the connection to the test and keep it open until the test has done with it."""
        link = FakeLink(socket)
        await self._links.put(link)
        async with asyncio.TaskGroup() as group:
            ends = [group.create_task(end) for end in (link.done.wait(), socket.wait_closed())]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                end.cancel()
        with contextlib.suppress(ConnectionClosed):
            self.heard.append(await socket.recv())


class Listening(socket.socket):
    """A listening socket that remembers the connections it accepted.

    `websockets` closes its connections, but knows none that is still in its TLS handshake.
    """

    def __init__(self, port: int) -> None:
        super().__init__()
        self._accepted: list[socket.socket] = []
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.bind(("127.0.0.1", port))

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        """Accept a connection."""
        accepted, address = super().accept()
        self._accepted.append(accepted)
        return accepted, address

    async def until_closed(self) -> None:
        """Cut all connections, and wait until asyncio has closed them."""
        while remaining := [each for each in self._accepted if each.fileno() >= 0]:
            for each in remaining:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            await asyncio.sleep(0)


@asynccontextmanager
async def fake_server(port: int = 0, tls: ssl.SSLContext | None = None) -> AsyncIterator[FakeServer]:
    """Run a fake server for as long as the context lasts."""
    fake = FakeServer("wss" if tls else "ws")
    listening = Listening(port)
    fake.port = listening.getsockname()[1]
    async with serve(fake.handle, sock=listening, compression=None, close_timeout=0.2, ssl=tls):
        yield fake
    async with asyncio.timeout(PATIENCE_S):
        await listening.until_closed()
