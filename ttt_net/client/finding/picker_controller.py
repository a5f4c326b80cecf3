"""Drive the list of servers by the loop of every other screen: a search in place of a connection."""

import asyncio
from dataclasses import replace

from ttt_net.client.act import act
from ttt_net.client.commands import AnyCommand
from ttt_net.client.display import Display
from ttt_net.client.events import WorldEvent
from ttt_net.client.finding.server_search import ServerSearch
from ttt_net.client.pages import Page
from ttt_net.messages import SeekRequest


class SearchConnection:
    """Searches for servers for as long as it runs."""

    def __init__(self, search: ServerSearch) -> None:
        self._search = search

    @property
    def is_asking(self) -> bool:
        """Tell that nothing is asked of a server."""
        return False

    async def run(self) -> None:
        """Search until cancelled."""
        async with self._search.under_way():
            await asyncio.Event().wait()


class PickerController:
    """Keeps the display of the list of servers; `ServerSearch.servers` then has the place that was chosen."""

    def __init__(self, search: ServerSearch) -> None:
        self.connection = SearchConnection(search)
        self._search = search
        self._display = Display(pages=(Page("servers"),), has_lobby=False)

    @property
    def display(self) -> Display:
        """The list as far as the search has come."""
        return replace(self._display, servers=self._search.servers)

    @property
    def is_to_go_on(self) -> bool:
        """Tell that no match is asked for."""
        return False

    @property
    def wanted(self) -> SeekRequest:
        """A search that is never asked for."""
        return SeekRequest(0)

    @property
    def is_done(self) -> bool:
        """Whether something was chosen, or the person leaves."""
        return self._display.is_leaving

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Ignore an event: nothing is heard of a server here."""

    def do(self, command: AnyCommand) -> None:
        """Carry out what the person did."""
        self._display, _ = act(self.display, command, self.wanted)
        if self._display.servers is not None:
            self._search.become(self._display.servers)

    def look_at_link(self) -> None:
        """Take no note of a link that is not there."""

    def forget_notice(self) -> None:
        """Take the notice away."""
        self._display = replace(self._display, notice="")
