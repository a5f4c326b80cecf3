"""Search for servers on the local network and at the addresses used before, and keep the list of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from ttt_net.client.finding.address import DEFAULT_URL
from ttt_net.client.finding.discovery import does_answer, look_around
from ttt_net.client.finding.local_choices import LocalChoices
from ttt_net.client.finding.server_list import ServerList, sighted, tried
from ttt_net.client.finding.servers import servers_used

LOOK_S = 2.0
"""After so long, every server that announces itself has been found."""


class ServerSearch:
    """Searches for servers and keeps the list of them; `changed` is called after every change."""

    def __init__(self, changed: Callable[[], None], choices: LocalChoices) -> None:
        self.servers = ServerList(used=servers_used(), choices=choices)
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


def search_for_a_moment(choices: LocalChoices) -> ServerList:
    """Return the servers that were found within two seconds, with the choices for this keyboard."""

    async def search() -> ServerList:
        searching = ServerSearch(lambda: None, choices)
        async with searching.under_way():
            await asyncio.sleep(LOOK_S)
        return replace(searching.servers, has_looked=True)

    return asyncio.run(search())
