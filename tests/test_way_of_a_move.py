"""A move takes the hops that docs/developing/architecture.md lists: from the key to the disk, and to the screen."""

import asyncio
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from prompt_toolkit.input import create_pipe_input

from tests.server.running import running
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Display
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import Event, Stop
from ttt_net.client.terminal import loop
from ttt_net.client.terminal.loop import play_on_screen
from ttt_net.clock import TimeControl
from ttt_net.messages import SeekRequest
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession

ROOT = Path(__file__).parent.parent
PRODUCT = f"{ROOT / 'ttt_net'}/"
Hop = tuple[str, str]
"""A file of the product, and a function in it."""


def told() -> list[Hop]:
    page = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| \d+ \| `([\w/]+\.py)`: `(\w+)` \|", page, re.MULTILINE)


class DrawnScreen:
    """A screen without a terminal: what would be painted is drawn."""

    is_focused = True
    wait_ms = None

    def __init__(self) -> None:
        self.painted: asyncio.Queue[Display] = asyncio.Queue()

    def paint(self, display: Display, now_ms: int) -> None:
        draw(display, (80, 24), now_ms, BOXES)
        self.painted.put_nowait(display)

    async def shows_moves(self, count: int) -> None:
        """Wait for a picture of a match after so many moves, none of ours on its way."""
        display = await self.painted.get()
        while display.match is None or len(display.match.moves) != count or display.pending is not None:
            display = await self.painted.get()


@contextmanager
def followed(hops: set[Hop], way: list[Hop]) -> Iterator[None]:
    """Note each call of the hops that this thread, or one that begins inside the block, makes."""

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            hop = frame.f_code.co_filename.removeprefix(PRODUCT), frame.f_code.co_name
            if hop in hops:
                way.append(hop)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def test_a_move_takes_the_way_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hops, way = told(), list[Hop]()
    screen, mailbox = DrawnScreen(), asyncio.Queue[Event]()
    with create_pipe_input() as keys, followed(set(hops), way):
        monkeypatch.setattr(loop, "create_input", lambda: keys)
        async with running(tmp_path) as server, asyncio.TaskGroup() as group:
            connection = ClientConnection(server.url, ClientSession("Ann", None), mailbox.put, FOREVER, lambda _: None)
            seek = SeekRequest(0, ["tictactoe"], TimeControl(60_000, 0))
            controller = ClientController(connection, seek, server.url)
            group.create_task(play_on_screen(controller, screen, mailbox))  # type: ignore[arg-type]
            bob = await server.join("Bob")
            await bob.ok("seek", games=["tictactoe"], time={"initial_ms": 60_000, "increment_ms": 0})
            snapshot = await bob.hear("snapshot")
            if snapshot["you"] == 0:
                await bob.ok("play", match=snapshot["match"], ply=0, move=0)
            await screen.shows_moves(1 - snapshot["you"])
            way.clear()
            keys.send_text("5")
            await screen.shows_moves(2 - snapshot["you"])
            taken = iter(way.copy())
            mailbox.put_nowait(Stop())
    assert len(hops) > 30
    assert [hop for hop in hops if hop not in taken] == []
