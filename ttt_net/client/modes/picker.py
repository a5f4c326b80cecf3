"""Choose a server on the screen: the list as it is found, and then what reads keys."""

import asyncio
from collections.abc import Awaitable, Callable

from ttt_net.client.command_line.options import Options
from ttt_net.client.controller import Controller
from ttt_net.client.events import MAX_QUEUED_EVENTS, Event, Resized
from ttt_net.client.finding.address import Place
from ttt_net.client.finding.picker_controller import PickerController
from ttt_net.client.finding.server_search import ServerSearch
from ttt_net.client.signals import delivered, post
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.screen import TerminalScreen
from ttt_net.client.user_io import glyphs_of

PlayOnScreen = Callable[[Controller, TerminalScreen, asyncio.Queue[Event]], Awaitable[None]]


class ServerChoice:
    """A list of servers on the screen, from which a person chooses."""

    def __init__(self, options: Options, canvas: Canvas) -> None:
        """Show the list before anything is found."""
        self._mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self._search = ServerSearch(lambda: post(self._mailbox, Resized()))
        self._controller = PickerController(self._search)
        self._screen = TerminalScreen(canvas, glyphs_of(options))
        self._screen.paint(self._controller.display, 0)

    def take(self, play_on_screen: PlayOnScreen) -> Place | None:
        """Return where the person goes, or None if they leave."""
        return asyncio.run(self._take(play_on_screen))

    async def _take(self, play_on_screen: PlayOnScreen) -> Place | None:
        with delivered(self._mailbox):
            await play_on_screen(self._controller, self._screen, self._mailbox)
        return self._search.servers.place
