"""A move and a seek take the hops that docs/developing/architecture.md lists, and seldom go back to a file."""

import asyncio
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import ClassVar

import pytest
from prompt_toolkit.input import create_pipe_input

from tests.server.running import running
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Display
from ttt_net.client.drawing.draw import draw
from ttt_net.client.drawing.glyphs import BOXES
from ttt_net.client.mailbox import Event
from ttt_net.client.terminal import keyboard
from ttt_net.client.terminal.loop import play_on_screen
from ttt_net.clock import TimeControl
from ttt_net.messages import SeekRequest
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Stop

ROOT = Path(__file__).parent.parent
PRODUCT = f"{ROOT / 'ttt_net'}/"
Hop = tuple[str, str]
"""A file of the product, and a function in it."""


def told(title: str) -> list[Hop]:
    """Return the hops in the tables of a section of the page."""
    page = (ROOT / "docs" / "developing" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| \d+ \| `([\w/]+\.py)`: `(\w+)` \|", section, re.MULTILINE)


def way_of_a_move() -> list[Hop]:
    """Return the hops of a move on the server."""
    return [hop for hop in told("A move's way") if hop[0].startswith(("server/", "messages/", "matches/"))]


def way_of_a_seek() -> list[Hop]:
    """Return the hops of a seek on the server: those of a move as far as the hub, then its own."""
    move = way_of_a_move()
    return [*move[: move.index(("server/hub.py", "_dispatch")) + 1], *told("A seek's way")]


def returns(hops: Sequence[Hop]) -> int:
    """Count how often a way goes back to a file that it has left."""
    files = [file for file, _ in groupby(file for file, _ in hops)]
    return len(files) - len(set(files))


def not_taken(hops: Iterable[Hop], way: Iterable[Hop]) -> list[Hop]:
    """Return the hops that a way does not take in their order."""
    taken = iter(way)
    return [hop for hop in hops if hop not in taken]


class DrawnScreen:
    """A screen without a terminal: what would be painted is drawn."""

    is_focused = True
    wait_ms = None
    size = (80, 24)
    keys: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.painted: asyncio.Queue[Display] = asyncio.Queue()

    def paint(self, display: Display, now_ms: int) -> None:
        draw(display, self.size, now_ms, BOXES)
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
    hops, way = told("A move's way"), list[Hop]()
    screen, mailbox = DrawnScreen(), asyncio.Queue[Event]()
    with create_pipe_input() as keys, followed(set(hops), way):
        monkeypatch.setattr(keyboard, "create_input", lambda: keys)
        async with running(tmp_path) as server, asyncio.TaskGroup() as group:
            connection = ClientConnection(server.url, ClientSession("Ann", None), mailbox.put, FOREVER, lambda _: None)
            seek = SeekRequest(0, ["tictactoe"], TimeControl(60_000, 0))
            controller = ClientController(connection, seek, server.url)
            group.create_task(
                play_on_screen(lambda: keyboard.reading, controller, screen, mailbox)  # type: ignore[arg-type]
            )
            bob = await server.join("Bob")
            await bob.ok("seek", games=["tictactoe"], time={"initial_ms": 60_000, "increment_ms": 0})
            snapshot = await bob.hear("snapshot")
            if snapshot["you"] == 0:
                await bob.ok("play", match=snapshot["match"], ply=0, move=0)
            await screen.shows_moves(1 - snapshot["you"])
            way.clear()
            keys.send_text("5")
            await screen.shows_moves(2 - snapshot["you"])
            taken = way.copy()
            mailbox.put_nowait(Stop())
    assert len(hops) > 30
    assert not_taken(hops, taken) == []


async def test_a_seek_takes_the_way_that_is_told(tmp_path: Path) -> None:
    hops, way = way_of_a_seek(), list[Hop]()
    with followed(set(hops), way):
        async with running(tmp_path) as server:
            ann, bob = await server.join("Ann"), await server.join("Bob")
            await ann.ok("seek", games=["tictactoe"])
            way.clear()
            await bob.ok("seek", games=["tictactoe"])
            for player in (ann, bob):
                await player.hear("snapshot")
            taken = way.copy()
    assert len(hops) > 20
    assert not_taken(hops, taken) == []


def test_neither_way_goes_back_more_often_than_it_is_told() -> None:
    assert (returns(way_of_a_move()), returns(way_of_a_seek())) == (3, 5)
    assert returns([("a", "x"), ("b", "x"), ("a", "y"), ("a", "z"), ("b", "y")]) == 2
