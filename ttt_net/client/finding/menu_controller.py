"""Drive the start menu by the loop of every other screen: a search in place of a connection."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from ttt_net.client.act import act
from ttt_net.client.commands import AnyCommand
from ttt_net.client.display import Display
from ttt_net.client.events import WorldEvent
from ttt_net.client.finding.server_search import ServerSearch
from ttt_net.client.pages import Page
from ttt_net.client.progress import Achievements
from ttt_net.client.update import update
from ttt_net.messages import AnyServerMessage, Request, SeekRequest

Answer = Callable[[Request], Sequence[AnyServerMessage]]
"""What can be told of a question without any server. Raises `Refusal` if it takes one."""


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


class MenuController:
    """Keeps the display of the start menu; `ServerSearch.servers` then has the place that was chosen."""

    def __init__(self, search: ServerSearch) -> None:
        self.connection = SearchConnection(search)
        self.answer: Answer = lambda request: ()
        """Answers what pages of the menu ask."""
        self._search = search
        self._display = Display(pages=(Page("start"),), has_lobby=False)

    @property
    def display(self) -> Display:
        """The menu as far as the search has come."""
        return replace(self._display, servers=self._search.servers)

    @property
    def achieved(self) -> Achievements:
        """The puzzles that were solved here."""
        return self._display.achieved

    @property
    def is_to_go_on(self) -> bool:
        """Tell that no match is asked for."""
        return False

    @property
    def wanted(self) -> SeekRequest:
        """A search that is never asked for, of the game that is chosen."""
        return SeekRequest(0, [self._search.servers.choices.game])

    @property
    def is_done(self) -> bool:
        """Whether something was chosen, or the person leaves."""
        return self._display.is_leaving

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Take in what was told."""
        self._display = update(self.display, event, now_ms)

    def remember(self, achieved: Achievements) -> None:
        """Take in which puzzles were solved before."""
        self._display = replace(self._display, achieved=achieved)

    def do(self, command: AnyCommand) -> None:
        """Carry out what the person did."""
        self._display, requests = act(self.display, command, self.wanted)
        if self._display.servers is not None:
            self._search.become(self._display.servers)
        for request in requests:
            for told in self.answer(request):
                self.hear(told, 0)

    def look_at_link(self) -> None:
        """Do nothing: nothing is sent."""

    def forget_notice(self) -> None:
        """Take the notice away."""
        self._display = replace(self._display, notice="")
