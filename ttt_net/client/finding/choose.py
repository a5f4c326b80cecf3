"""Ask a person where to go: look around for a moment, and take the answer, on a screen or line by line."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ttt_net.client.events import HANG_UP, MAX_QUEUED_EVENTS, Clicked, Event, Key, Pasted, Resized, Stop
from ttt_net.client.finding.address import DEFAULT_URL
from ttt_net.client.finding.discovery import does_answer, look_around
from ttt_net.client.finding.doorway import (
    MAX_LEVEL,
    MAX_TYPED,
    Alone,
    Doorway,
    Go,
    Place,
    entered,
    erased,
    levelled,
    moved,
    read_place,
    sighted,
    tried,
    typed,
)
from ttt_net.client.finding.doorway_draw import doorway_lines, draw_doorway, numbered, target_of
from ttt_net.client.finding.servers import servers_used
from ttt_net.client.signals import delivered, post
from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

if TYPE_CHECKING:
    from ttt_net.client.drawing.targets import Target
    from ttt_net.client.terminal.screen import Screen

GLANCE_S = 1.0
LOOK_S = 2.0
"""After so long, whoever wanted to be found has been."""

_LEAVE: tuple[Event, ...] = (Stop(), *(Key(name) for name in HANG_UP))
_Q = Key("q")


class Search:
    """Looks around, and keeps the doorway true to what is seen; `changed` is called after every change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.door = Doorway(used=servers_used())
        self._changed = changed

    def become(self, door: Doorway) -> None:
        """Take note of what is seen, or done."""
        if door != self.door:
            self.door = door
            self._changed()

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Look around inside the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(look_around(lambda sighting: self.become(sighted(self.door, sighting)))),
                group.create_task(self._settle()),
                *(group.create_task(self._try(url)) for url in (DEFAULT_URL, *(used.url for used in self.door.used))),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _settle(self) -> None:
        await asyncio.sleep(LOOK_S)
        self.become(replace(self.door, has_looked=True))

    async def _try(self, url: str) -> None:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "wss" else 80)
        answers = await does_answer(parts.hostname or "", port)
        self.become(tried(self.door, url, does_answer=answers))  # the door as it is by now


async def choose_on_screen(screen: "Screen") -> Place | None:
    """Show what there is as it is found, and return what was chosen; None for whoever leaves."""
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    search = Search(lambda: post(mailbox, Resized()))
    with delivered(mailbox), screen.opened():
        screen.show(draw_doorway(search.door, size := screen.size), size)
        from ttt_net.client.terminal.job_control import SUSPEND, suspend
        from ttt_net.client.terminal.keyboard import reading  # only now: the first picture does not wait for them

        with reading(mailbox) as keyboard:
            async with search.under_way():
                while True:
                    event = await _next(mailbox)
                    if event == SUSPEND:
                        suspend(screen, keyboard)
                    search.door, place = _handled(event, search.door, screen)
                    if place is not None or event in _LEAVE or (event == _Q and search.door.typed is None):
                        return place
                    screen.show(draw_doorway(search.door, size := screen.size), size)


async def _next(mailbox: "asyncio.Queue[Event]") -> Event:
    """Return the next event, or after a while one that has the window looked at, where no signal tells its size."""
    try:
        async with asyncio.timeout(GLANCE_S):
            return await mailbox.get()
    except TimeoutError:
        return Resized()


def _handled(event: Event, door: Doorway, screen: "Screen") -> tuple[Doorway, Place | None]:
    match event:
        case Key("c-m" | "c-j"):
            return entered(door)
        case Key("up" | "down"):
            return moved(door, 1 if event.name == "down" else -1), None
        case Key("left" | "right") if door.typed is None:
            return levelled(door, 1 if event.name == "right" else -1), None
        case Key("escape"):
            return replace(door, typed=None, notice="", is_explained=False), None
        case Key("c-h" | "backspace"):
            return erased(door), None
        case Key("?") if door.typed is None:
            return replace(door, is_explained=not door.is_explained), None
        case Key("q") if door.typed is None:
            return door, None
        case Key(character) if len(character) == 1 and character.isprintable():
            return typed(door, character), None
        case Pasted(text):
            return typed(door, clean(text, MAX_TYPED)), None
        case Clicked(column, row):
            return _clicked(door, screen.target_at(column, row))
        case _:
            return door, None


def _clicked(door: Doorway, target: "Target | None") -> tuple[Doorway, Place | None]:
    for row in door.rows:
        if target == target_of(row):
            return entered(replace(door, chosen=row.key))
    return door, None


def choose_by_lines(ask: Callable[[str], str], write: Callable[[str], None]) -> Place:
    """Look around for two seconds, print what there is with numbers, and return what was chosen.

    `ask` raises `EOFError` where there is nobody to answer.
    """
    write("Looking for servers on this network, for two seconds ...")
    door = asyncio.run(_look())
    for line in doorway_lines(door):
        write(line)
    rows = numbered(door)
    while True:
        answer = ask("A number, an address or a code, or Enter for 1: ").strip() or "1"
        try:
            if not (answer.isdecimal() and answer.isascii()):
                return read_place(door, answer)
            if not 1 <= int(answer) <= len(rows):
                raise ConfigurationError(f"{clean(answer, 10)} is none of the numbers, 1 to {len(rows)}")
            row = rows[int(answer) - 1]
            if isinstance(row.does, Alone):
                return Alone(_level(ask, door.level))
            return row.does or Go(row.url or DEFAULT_URL)
        except ConfigurationError as error:
            write(f"{error}.")


def _level(ask: Callable[[str], str], default: int) -> int:
    while True:
        answer = ask(f"Level, 1 to {MAX_LEVEL} [{default}]: ").strip() or str(default)
        if answer.isdecimal() and answer.isascii() and 1 <= int(answer) <= MAX_LEVEL:
            return int(answer)


async def _look() -> Doorway:
    search = Search(lambda: None)
    async with search.under_way():
        await asyncio.sleep(LOOK_S)
    return replace(search.door, has_looked=True)
