"""A plain client that writes into memory, at a server that says what a test wants."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.client.fake_server import FakeServer
from tests.patience import PATIENCE_S
from ttt_net.client.client_controller import ClientController
from ttt_net.client.drawing.glyphs import ASCII
from ttt_net.client.lines.line_client import LineClient
from ttt_net.client.lines.line_renderer import BoardRenderer
from ttt_net.client.mailbox import Line, Mailbox
from ttt_net.messages import SeekRequest
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession


class Paper:
    """The output of a plain client, line by line, and its mailbox to type into."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        self.written: list[str] = []
        self.mailbox = Mailbox()

    def write(self, text: str) -> None:
        for line in text.split("\n"):
            self.written.append(line)
            self.lines.put_nowait(line)

    def type(self, *lines: str | None) -> None:
        for line in lines:
            self.mailbox.put_nowait(Line(line))

    async def shows(self, line: str) -> None:
        """Wait until the line has been written."""
        async with asyncio.timeout(PATIENCE_S):
            while await self.lines.get() != line:
                pass


@asynccontextmanager
async def plain_at(
    server: FakeServer, *ahead: str | None, is_typed: bool = True
) -> AsyncIterator[tuple[Paper, "asyncio.Task[None]"]]:
    """Run a plain client; the lines `ahead` are there before it begins."""
    paper = Paper()

    def begin_reading() -> bool:
        paper.type(*ahead)
        return bool(ahead)

    dialogue = ClientSession("Ann", None)
    connection = ClientConnection(server.url, dialogue, paper.mailbox.put, FOREVER, lambda token: None)
    controller = ClientController(
        connection, SeekRequest(0, ["tictactoe"]), "localhost:8765", has_lobby=True, is_in_lines=True
    )
    async with asyncio.TaskGroup() as group:
        plain = LineClient(
            controller, BoardRenderer(ASCII), paper.write, is_typed=is_typed, begin_reading=begin_reading
        )
        playing = group.create_task(plain.play(paper.mailbox))
        yield paper, playing
        playing.cancel()
