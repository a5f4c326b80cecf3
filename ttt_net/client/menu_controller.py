"""Run the start menu with the same loop as all other screens: a server search takes the place of the connection."""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from ttt_net.client.act import act
from ttt_net.client.address import Place
from ttt_net.client.client_controller import Answer, Controller
from ttt_net.client.display import AnyCommand, Display, Page
from ttt_net.client.mailbox import Event, Mailbox, Resized, WorldEvent, delivered, post
from ttt_net.client.options import Options
from ttt_net.client.remembered import Achievements, choices_for, load_achievements, save_achievements, save_choices
from ttt_net.client.screens.screen import has_room_for_picture
from ttt_net.client.server_search import ServerSearch, key_of
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.painter import TerminalScreen, has_motion, screen_on
from ttt_net.client.update import update
from ttt_net.messages import SeekRequest, Snapshot

Demonstrate = Callable[[str], Iterator[Snapshot]]
"""Returns the positions of a match of a game that plays itself."""
PACE_MS, END_MS = 900, 3000
"""The time between two moves of that match, and how much longer its end is visible."""


class SearchConnection:
    """Searches for servers while it runs."""

    def __init__(self, search: ServerSearch) -> None:
        self._search = search

    @property
    def is_asking(self) -> bool:
        """Always False: the search sends no requests."""
        return False

    async def run(self) -> None:
        """Search until cancelled."""
        async with self._search.under_way():
            await asyncio.Event().wait()


class MenuController:
    """Keeps the display of the start menu; in the end, `ServerSearch.servers` holds the chosen place."""

    def __init__(self, search: ServerSearch, row: str = "") -> None:
        self.connection = SearchConnection(search)
        self.answer: Answer = lambda request: ()
        """Answers the requests of the menu's pages."""
        self.demonstrate: Demonstrate = lambda game: iter(())
        """Plays a match of a game by itself."""
        self.has_motion = True
        """Whether that match goes on while the menu is open, instead of showing its end."""
        self._demonstration: tuple[str, Iterator[Snapshot]] = ("", iter(()))
        self._next_at_ms: int | None = None
        self._search = search
        self._display = Display(pages=(Page("start", row=row),), has_lobby=False)

    @property
    def display(self) -> Display:
        """The menu with the servers found so far."""
        return replace(self._display, servers=self._search.servers)

    @property
    def achieved(self) -> Achievements:
        """The puzzles solved on this machine."""
        return self._display.achieved

    @property
    def is_to_go_on(self) -> bool:
        """Always False: no match is requested."""
        return False

    @property
    def wanted(self) -> SeekRequest:
        """A seek of the chosen game, which is never sent."""
        return SeekRequest(0, [self._search.servers.choices.game])

    @property
    def is_done(self) -> bool:
        """Whether the person has chosen a place or leaves."""
        return self._display.is_leaving

    def hear(self, event: WorldEvent, now_ms: int) -> None:
        """Handle an event."""
        self._display = update(self.display, event, now_ms)

    def remember(self, achieved: Achievements) -> None:
        """Set the puzzles that were solved before."""
        self._display = replace(self._display, achieved=achieved)

    def do(self, command: AnyCommand) -> None:
        """Carry out a command."""
        self._display, requests = act(self.display, command, self.wanted)
        if self._display.servers is not None:
            self._search.become(self._display.servers)
        for request in requests:
            for told in self.answer(request):
                self.hear(told, 0)

    def hold_search(self) -> None:
        """Do nothing: the menu seeks no opponent."""

    def look_at_link(self) -> None:
        """Do nothing: the menu has no connection."""

    def look_at_window(self, size: tuple[int, int], now_ms: int) -> None:
        """Play the chosen game by itself in a picture beside the menu, from a second after the first picture on."""
        if not has_room_for_picture(size) or self._display.page.screen != "start":
            return
        game, before = self._search.servers.choices.game, self._demonstration[0]
        if self._next_at_ms is None:
            self._next_at_ms = now_ms + PACE_MS
        if now_ms < self._next_at_ms and before in ("", game):
            return
        if before != game:
            self._demonstration = game, self.demonstrate(game)
        elif not self.has_motion:
            return
        played = self._demonstration[1]
        match = next(played, None) if self.has_motion else next(iter(deque(played, maxlen=1)), None)
        self._next_at_ms = now_ms
        if match is None:
            self._demonstration = "", iter(())
        else:
            self._next_at_ms += PACE_MS + END_MS * (match.outcome is not None)
            world = self._display.world.with_match(match)
            self._display = replace(self._display, world=world, featured=match.match)

    def forget_notice(self) -> None:
        """Remove the notice."""
        self._display = replace(self._display, notice="")


PlayOnScreen = Callable[[Controller, TerminalScreen, asyncio.Queue[Event]], Awaitable[None]]


class StartMenu:
    """The start menu on the screen."""

    def __init__(self, options: Options, canvas: Canvas, before: Place | None = None) -> None:
        """Show the menu before any server is found, with the cursor at the place of `before`."""
        self._mailbox = Mailbox()
        self._search = ServerSearch(self._drawn_anew, choices_for(options.game))
        self._controller = MenuController(self._search, key_of(before))
        self._controller.has_motion = has_motion(os.environ)
        self._screen = screen_on(canvas, options)
        self._screen.paint(self._controller.display, 0)

    def take(self, play_on_screen: PlayOnScreen, answer: Answer, demonstrate: Demonstrate) -> Place | None:
        """Return the chosen destination, or None if the person leaves; remember their choices and solved puzzles."""
        before, solved = self._search.servers.choices, load_achievements()
        self._controller.answer, self._controller.demonstrate = answer, demonstrate
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
