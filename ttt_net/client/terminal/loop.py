"""Run the full screen: handle events of the keyboard and the connection, and paint a picture after each.

The start menu runs in the same loop: a search for servers takes the place of the connection.
"""

import asyncio
import os
import signal
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ttt_net.client.act import act, command_for
from ttt_net.client.address import Place
from ttt_net.client.client_controller import Answer, Controller
from ttt_net.client.display import AnyCommand, Command, Display, Entry, Overlay, Page, Step, Type
from ttt_net.client.mailbox import (
    HANG_UP,
    Clicked,
    Event,
    Focused,
    Key,
    Line,
    LocalNotice,
    Mailbox,
    Pasted,
    ReachableAt,
    Resized,
    WorldEvent,
    delivered,
    post,
)
from ttt_net.client.options import Options, meant_key
from ttt_net.client.remembered import Achievements, choices_for, load_achievements, save_achievements, save_choices
from ttt_net.client.saved_matches import save_record
from ttt_net.client.screens.screen import has_room_for_picture
from ttt_net.client.server_search import ServerSearch, key_of, shareable
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.painter import TerminalScreen, has_motion, screen_on
from ttt_net.client.update import update
from ttt_net.client.words import TENTHS_BELOW_MS
from ttt_net.messages import InvitationReply, Notice, RecordReply, SeekRequest, Snapshot
from ttt_net.sdk.received import Back, Stop
from ttt_net.text import clean

if TYPE_CHECKING:
    from prompt_toolkit.input import Input

try:
    import termios
except ImportError:  # Windows has neither terminal attributes nor jobs
    termios = None  # type: ignore[assignment]

_SCROLLING = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -10, "pagedown": 10, "home": -1000, "end": 1000}
"""How many lines each key scrolls the page of keys."""
LEAVE_S = 2.0
"""How long to wait for the server to confirm that a player leaves."""
LOOK_S = 1.0
"""How often to poll the size of the window on systems without a signal for it."""
_LOOP_MAX_PASTED = 200
_SUSPEND = Key("c-z")


Reading = Callable[[asyncio.Queue[Event]], AbstractContextManager["Input"]]
"""Delivers the events of the keyboard into the mailbox inside the context."""


async def show(
    options: Options,
    canvas: Canvas,
    load_keyboard: Callable[[], Reading],
    controller: Controller,
    mailbox: asyncio.Queue[Event],
) -> None:
    """Show what a controller displays, and pass it keys and clicks, until it is done."""
    with delivered(mailbox):
        screen = screen_on(canvas, options, has_motion=has_motion(os.environ))
        await play_on_screen(load_keyboard, controller, screen, mailbox)


async def play_on_screen(
    load_keyboard: Callable[[], Reading],
    controller: Controller,
    screen: TerminalScreen,
    mailbox: asyncio.Queue[Event],
) -> None:
    """Play until the server or the player ends the session; `controller.display` then says how it ended.

    `load_keyboard` is called in a thread after the first picture; keys that are pressed before wait in the terminal.
    """
    keyboard: Input | None = None

    async def listen() -> None:
        nonlocal keyboard
        keyboard = held.enter_context((await asyncio.to_thread(load_keyboard))(mailbox))

    with ExitStack() as held:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(controller.connection.run()), group.create_task(listen())]
            while not controller.is_done:
                now_ms = _now_ms()
                controller.look_at_link()
                controller.look_at_window(screen.size, now_ms)
                screen.paint(controller.display, now_ms)
                try:
                    wait_s = _wait_s(controller.display, now_ms)
                    if screen.wait_ms is not None and not controller.display.is_leaving:
                        wait_s = min(wait_s, screen.wait_ms / 1000)
                    async with asyncio.timeout(wait_s):
                        event = await mailbox.get()
                except TimeoutError:
                    if controller.display.is_leaving:
                        break
                    continue
                if _is_hang_up(event):
                    break
                if event == _SUSPEND and keyboard is not None and not controller.display.world.is_hosting:
                    _suspend(screen, keyboard)
                else:
                    _handle(event, controller, screen)
            for task in tasks:
                task.cancel()


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _wait_s(display: Display, now_ms: int) -> float:
    """Return how long the picture stays valid if no event arrives."""
    if display.is_leaving:
        return LEAVE_S
    match = display.match
    if match is None or match.clock is None or match.clock.running is None or display.world.frozen_at_ms is not None:
        return LOOK_S  # also in time for the countdown until an absent opponent's match may be claimed
    left_ms = display.left_ms(match.clock.running, now_ms) or 0
    return 0.1 if left_ms < TENTHS_BELOW_MS else (left_ms % 1000 + 1) / 1000


def _is_hang_up(event: Event) -> bool:
    return isinstance(event, Stop) or (isinstance(event, Key) and event.name in HANG_UP)


def _handle(event: Event, controller: Controller, screen: TerminalScreen) -> None:
    match event:
        case Key("c-z"):
            controller.hear(
                Notice("The server runs in here: it would stop, too, and keep your friends waiting."), _now_ms()
            )
        case Key(name):
            press(name, controller, screen.keys)
        case Clicked():
            target = screen.target_at(event.column, event.row)
            if isinstance(target, Key):
                press(target.name, controller)
            elif target is not None:
                controller.do(target)
            elif controller.display.overlay is not Overlay.NONE:
                controller.do(Command.BACK)
        case Pasted(text):
            if words := clean(text, _LOOP_MAX_PASTED):
                controller.do(Type(words))
        case Focused(is_focused):
            screen.is_focused = is_focused
        case Resized() | Line() | Stop():
            return  # the next picture uses the new size
        case InvitationReply():
            _note_address(controller)
            controller.hear(event, _now_ms())
        case Back(url) if url:
            controller.hear(event, _now_ms())
            _note_address(controller)
        case RecordReply():
            controller.hear(LocalNotice(save_record(event)), _now_ms())
        case _:
            controller.hear(event, _now_ms())


def _note_address(controller: Controller) -> None:
    """Look up the address that others type to connect, before it is shown: networks change."""
    controller.hear(ReachableAt(shareable(controller.display.world.address)), _now_ms())


def press(name: str, controller: Controller, keys: Mapping[str, str] = MappingProxyType({})) -> None:
    """Carry out the command of a key; replace remapped keys first, unless the player is typing."""
    if controller.display.entry is Entry.MOVE and not controller.display.typed:
        name = meant_key(name, keys)
    if controller.display.overlay is Overlay.HELP and name == "?":
        controller.do(Command.HELP)
    elif controller.display.overlay is Overlay.HELP and name in _SCROLLING:
        controller.do(Step(_SCROLLING[name]))
    elif controller.display.overlay in (Overlay.HELP, Overlay.SIDE_PANEL):
        controller.do(Command.BACK)
    elif (command := command_for(name, controller.display)) is not None:
        if command is Command.COPY:
            _note_address(controller)
        controller.do(command)
    elif controller.display.overlay is Overlay.LEAVE:
        controller.do(Command.BACK)


def _suspend(screen: TerminalScreen, keyboard: "Input") -> None:
    """Restore the terminal, stop, and redraw everything once the shell continues the process.

    Without a shell or such a signal, continue immediately. A connection that dropped during the pause is noticed later,
    and reconnects.
    """
    if not hasattr(signal, "SIGTSTP"):
        return
    with keyboard.detach(), keyboard.cooked_mode(), screen.given_back():
        os.kill(0, signal.SIGTSTP)  # the whole job, as a terminal would, so that child processes stop too
        with suppress(termios.error):  # where there is no shell, there is nothing to wait for
            termios.tcdrain(keyboard.fileno())  # stops us again after `bg`, while the terminal is as the shell needs it


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
