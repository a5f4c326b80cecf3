"""A server in this process with its admin listener, and an admin who knows nothing of ttt_net but the protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect, unix_connect

from tests.patience import PATIENCE_S
from tests.server.running import Server, running
from ttt_net.server.admin.admin_server import AdminListener, attending, open_listener
from ttt_net.server.readiness import DiskUsage
from ttt_net.server.settings.configuration import Configuration, Limits


class Admin:
    """A connection to the admin listener."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def ask(self, ask: str, **fields: object) -> dict[str, Any]:
        """Ask one question and return the answer."""
        await self.socket.send(json.dumps({"ask": ask, **fields}))
        answer: dict[str, Any] = json.loads(await self.socket.recv())
        return answer

    async def done(self, ask: str, **fields: object) -> str:
        """Have something done that must be done; return what is said of it."""
        answer = await self.ask(ask, **fields)
        assert answer["answer"] == "done", answer
        return str(answer["text"])

    async def failed(self, ask: str, **fields: object) -> str:
        """Ask for something that cannot be; return why."""
        answer = await self.ask(ask, **fields)
        assert answer["answer"] == "failed", answer
        return str(answer["text"])


class Attended:
    """A running server with an admin listener."""

    def __init__(self, server: Server, listener: AdminListener) -> None:
        self.server = server
        self.listener = listener
        self.stopped = asyncio.Event()
        """Set when an admin has ended the server."""

    async def http(self, path: str, *headers: str) -> tuple[int, str]:
        """Ask a plain question; return status and body."""
        head, _, body = await self.asked(path, *headers)
        return int(head.split()[1]), body

    async def asked(self, path: str, *headers: str) -> tuple[str, str, str]:
        """Ask a plain question; return the head of the answer, the empty line, and the body."""
        if "/" in self.listener.address:
            reader, writer = await asyncio.open_unix_connection(self.listener.address)
        else:
            reader, writer = await asyncio.open_connection(*self.listener.address.rsplit(":", 1))
        lines = (f"GET {path} HTTP/1.1", "Host: admin", *headers, "", "")
        writer.write("\r\n".join(lines).encode())
        answer = (await reader.read()).decode()
        writer.close()
        return answer.partition("\r\n\r\n")

    @property
    def authorization(self) -> str:
        return f"Authorization: Bearer {self.listener.token}"

    @asynccontextmanager
    async def admin(self, token: str | None = None) -> AsyncIterator[Admin]:
        """Connect with the host's token, or a moderator's, inside the block."""
        headers = {"Authorization": f"Bearer {token or self.listener.token}"}
        if "/" in self.listener.address:
            connecting = unix_connect(self.listener.address, "ws://admin/", additional_headers=headers)
        else:
            connecting = connect(f"ws://{self.listener.address}/", additional_headers=headers, proxy=None)
        async with connecting as socket:
            yield Admin(socket)


@asynccontextmanager
async def attended(
    folder: Path,
    wanted: str = "",
    configuration: Configuration | None = None,
    limits: Limits | None = None,
    measure: Callable[[], DiskUsage | None] = lambda: None,
) -> AsyncIterator[Attended]:
    """Run a server with an admin listener inside the block."""
    async with running(folder, limits, configuration=configuration, measure=measure) as server:
        listener = open_listener(wanted, folder)
        assert listener is not None
        each = Attended(server, listener)
        async with attending(listener, server.hub, each.stopped.set), asyncio.timeout(PATIENCE_S):
            await server.flushed()  # sanctions and moderators are read
            yield each
