"""Ask a person where to go: search for a moment, and take the answer, on a screen or line by line."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ttt_net.client.events import MAX_QUEUED_EVENTS, Event, Resized
from ttt_net.client.finding.address import DEFAULT_URL
from ttt_net.client.finding.discovery import does_answer, look_around
from ttt_net.client.finding.server_list import (
    MAX_LEVEL,
    Alone,
    Destination,
    Go,
    Place,
    ServerList,
    explanation,
    read_place,
    sighted,
    tried,
)
from ttt_net.client.finding.servers import servers_used
from ttt_net.client.signals import delivered, post
from ttt_net.errors import ConfigurationError
from ttt_net.text import clean

if TYPE_CHECKING:
    from ttt_net.client.terminal.screen import TerminalScreen

LOOK_S = 2.0
"""After so long, every server that announces itself has been found."""


class ServerSearch:
    """Searches for servers and keeps the list of them; `changed` is called after every change."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.servers = ServerList(used=servers_used())
        self._changed = changed

    def become(self, servers: ServerList) -> None:
        """Replace the list."""
        if servers != self.servers:
            self.servers = servers
            self._changed()

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Look around inside the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(look_around(lambda sighting: self.become(sighted(self.servers, sighting)))),
                group.create_task(self._settle()),
                *(
                    group.create_task(self._try(url))
                    for url in (DEFAULT_URL, *(used.url for used in self.servers.used))
                ),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _settle(self) -> None:
        await asyncio.sleep(LOOK_S)
        self.become(replace(self.servers, has_looked=True))

    async def _try(self, url: str) -> None:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "wss" else 80)
        answers = await does_answer(parts.hostname or "", port)
        self.become(tried(self.servers, url, does_answer=answers))  # the list as it is by now


async def choose_on_screen(screen: "TerminalScreen") -> Place | None:
    """Show what there is as it is found, and return what was chosen; None if the person leaves."""
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox), screen.opened():
        screen.greet("Looking for servers on this network ...", row=1)
        from ttt_net.client.finding.picker_controller import PickerController  # after the first picture

        search = ServerSearch(lambda: post(mailbox, Resized()))
        controller = PickerController(search)
        screen.paint(controller.display, 0)
        from ttt_net.client.terminal.loop import play_on_screen  # after the list: what reads keys loads slowly

        await play_on_screen(controller, screen, mailbox)
    return search.servers.place


def search_for_a_moment() -> ServerList:
    """Return the servers that were found within two seconds."""

    async def search() -> ServerList:
        searching = ServerSearch(lambda: None)
        async with searching.under_way():
            await asyncio.sleep(LOOK_S)
        return replace(searching.servers, has_looked=True)

    return asyncio.run(search())


def choose_by_lines(
    ask: Callable[[str], str],
    write: Callable[[str], None],
    search: Callable[[], ServerList] = search_for_a_moment,
) -> Place:
    """ServerSearch for two seconds, print what there is with numbers, and return what was chosen.

    Raises `EOFError`, by `ask`, if there is nobody to answer.
    """
    write("Looking for servers on this network, for two seconds ...")
    servers = search()
    for line in server_lines(servers):
        write(line)
    rows = numbered(servers)
    while True:
        answer = ask("A number, an address or a code, or Enter for 1: ").strip() or "1"
        try:
            if not (answer.isdecimal() and answer.isascii()):
                return read_place(servers, answer)
            if not 1 <= int(answer) <= len(rows):
                raise ConfigurationError(f"{clean(answer, 10)} is none of the numbers, 1 to {len(rows)}")
            row = rows[int(answer) - 1]
            if isinstance(row.does, Alone):
                return Alone(_level(ask, servers.level))
            return row.does or Go(row.url or DEFAULT_URL)
        except ConfigurationError as error:
            write(f"{error}.")


def _level(ask: Callable[[str], str], default: int) -> int:
    while True:
        answer = ask(f"Level, 1 to {MAX_LEVEL} [{default}]: ").strip() or str(default)
        if answer.isdecimal() and answer.isascii() and 1 <= int(answer) <= MAX_LEVEL:
            return int(answer)


def numbered(servers: ServerList) -> list[Destination]:
    """Return the destinations that have a number where there are only lines: all but the one for typing."""
    return [each for each in servers.destinations if each.url is not None or each.does is not None]


def server_lines(servers: ServerList) -> list[str]:
    """Return the list where there are only lines: each destination with the number that chooses it."""
    lines = [] if servers.has_found else explanation(servers)
    for number, each in enumerate(numbered(servers), start=1):
        lines.append(f"{number}. {each.name}, {each.detail.replace('  ', ', ')}")
    return lines
