"""Show the start menu: what there is as it is found, and then what reads keys and answers questions."""

import asyncio
from collections.abc import Awaitable, Callable

from ttt_net.client.controller import Controller
from ttt_net.client.events import Event, Resized
from ttt_net.client.finding.address import Place
from ttt_net.client.finding.local_choices import choices_for, save_choices
from ttt_net.client.finding.menu_controller import Answer, MenuController
from ttt_net.client.finding.server_search import ServerSearch
from ttt_net.client.mailbox import Mailbox, delivered, post
from ttt_net.client.options import Options
from ttt_net.client.progress import load_achievements, save_achievements
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.painter import TerminalScreen
from ttt_net.client.user_io import glyphs_of

PlayOnScreen = Callable[[Controller, TerminalScreen, asyncio.Queue[Event]], Awaitable[None]]


class StartMenu:
    """The menu on the screen, from which a person chooses."""

    def __init__(self, options: Options, canvas: Canvas) -> None:
        """Show the menu before anything is found."""
        self._mailbox = Mailbox()
        self._search = ServerSearch(self._drawn_anew, choices_for(options.game))
        self._controller = MenuController(self._search)
        self._screen = TerminalScreen(canvas, glyphs_of(options))
        self._screen.paint(self._controller.display, 0)

    def take(self, play_on_screen: PlayOnScreen, answer: Answer) -> Place | None:
        """Return where the person goes, or None if they leave; remember what they have chosen and solved."""
        before, solved = self._search.servers.choices, load_achievements()
        self._controller.answer = answer
        self._controller.remember(solved)
        asyncio.run(self._show(play_on_screen))
        if self._search.servers.choices != before:
            save_choices(self._search.servers.choices)
        if self._controller.achieved != solved:
            save_achievements(self._controller.achieved)
        return self._search.servers.place

    def _drawn_anew(self) -> None:
        post(self._mailbox, Resized())

    async def _show(self, play_on_screen: PlayOnScreen) -> None:
        with delivered(self._mailbox):
            await play_on_screen(self._controller, self._screen, self._mailbox)
