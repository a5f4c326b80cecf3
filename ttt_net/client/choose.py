"""Ask a person where to go: look around for a moment, and take the answer, on a screen or line by line."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from ttt_net.client.discovery import does_answer, look_around
from ttt_net.client.doorway import Doorway, Go, read_place, sighted, tried
from ttt_net.client.doorway_draw import doorway_lines
from ttt_net.client.options import DEFAULT_URL
from ttt_net.client.servers import servers_used
from ttt_net.errors import ConfigurationError

LOOK_S = 2.0
"""After so long, whoever wanted to be found has been."""


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
        self.become(tried(self.door, url, does_answer=await does_answer(parts.hostname or "", port)))


def choose_by_lines(ask: Callable[[str], str], write: Callable[[str], None]) -> Go:
    """Look around for two seconds, print what there is with numbers, and return what was chosen.

    `ask` raises `EOFError` where there is nobody to answer.
    """
    write("Looking for servers on this network, for two seconds ...")
    door = asyncio.run(_look())
    for line in doorway_lines(door):
        write(line)
    places = [row.url for row in door.rows if row.url is not None]
    hint = "A number, an address or a code" + (", or Enter for 1" if places else "")
    while True:
        answer = ask(f"{hint}: ").strip()
        try:
            if not answer and places:
                return Go(places[0])
            if answer.isdecimal() and answer.isascii() and 1 <= int(answer) <= len(places):
                return Go(places[int(answer) - 1])
            if answer:
                return read_place(door, answer)
        except ConfigurationError as error:
            write(f"{error}.")


async def _look() -> Doorway:
    search = Search(lambda: None)
    async with search.under_way():
        await asyncio.sleep(LOOK_S)
    return replace(search.door, has_looked=True)
