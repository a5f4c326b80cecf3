"""The full screen: prompt_toolkit's input layer reads keys beside rich, one loop turns mail into the next picture."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from ttt_net.client.actions import Do
from ttt_net.client.events import Key, Line, Mail, Resized, Stop
from ttt_net.client.keys import HANG_UP, action_for
from ttt_net.client.screen import Screen
from ttt_net.client.signals import post
from ttt_net.client.table import Table
from ttt_net.client.view import Overlay, View

ESCAPE_S = 0.05
"""After so long without another byte, an escape byte is the Escape key."""
LEAVE_S = 2.0
"""For so long the server may take to note that a player leaves."""
LOOK_S = 1.0
"""How often the size of the window is looked at where no signal tells it."""
_TENTHS_BELOW_MS = 20_000


async def play_on_screen(table: Table, screen: Screen, mailbox: asyncio.Queue[Mail]) -> None:
    """Play until the server or the player says farewell; `table.view` then tells how it ended."""
    with _keyboard(mailbox):
        async with asyncio.TaskGroup() as group:
            link = group.create_task(table.connection.run())
            while not table.is_done:
                now_ms = time.monotonic_ns() // 1_000_000
                screen.paint(table.view, now_ms)
                try:
                    async with asyncio.timeout(_wait_s(table.view, now_ms)):
                        letter = await mailbox.get()
                except TimeoutError:
                    if table.view.is_leaving:
                        break
                    continue
                if _is_hang_up(letter):
                    break
                _deal_with(letter, table)
            link.cancel()


def _wait_s(view: View, now_ms: int) -> float:
    """Return how long the picture stays true when no mail comes."""
    if view.is_leaving:
        return LEAVE_S
    match = view.match
    if match is None or match.clock is None or match.clock.running is None or view.frozen_at_ms is not None:
        return LOOK_S  # in time for the seconds until an absent opponent's match may be claimed, too
    left_ms = view.left_ms(match.clock.running, now_ms) or 0
    return 0.1 if left_ms < _TENTHS_BELOW_MS else (left_ms % 1000 + 1) / 1000


def _is_hang_up(letter: Mail) -> bool:
    return isinstance(letter, Stop) or (isinstance(letter, Key) and letter.name in HANG_UP)


def _deal_with(letter: Mail, table: Table) -> None:
    match letter:
        case Key():
            if table.view.overlay is Overlay.HELP:
                table.do(Do.BACK)
            elif (action := action_for(letter.name, table.view)) is not None:
                table.do(action)
            elif table.view.overlay is Overlay.LEAVE:
                table.do(Do.BACK)
        case Resized() | Line() | Stop():
            return  # the next picture has the new size
        case _:
            table.hear(letter, time.monotonic_ns() // 1_000_000)


@contextmanager
def _keyboard(mailbox: asyncio.Queue[Mail]) -> Iterator[None]:
    """Deliver the keys that are pressed until the context ends."""
    keyboard = create_input()
    reader = _Reader(keyboard, mailbox)
    with keyboard.raw_mode(), keyboard.attach(reader.read):
        yield


class _Reader:
    """Takes keys from the keyboard; what may be the start of a longer key waits a moment for the rest."""

    def __init__(self, keyboard: Input, mailbox: asyncio.Queue[Mail]) -> None:
        self._keyboard = keyboard
        self._mailbox = mailbox
        self._flush: asyncio.TimerHandle | None = None

    def read(self) -> None:
        self._deliver(self._keyboard.read_keys())
        if self._keyboard.closed:
            post(self._mailbox, Stop())
        if self._flush is not None:
            self._flush.cancel()
        flush = asyncio.get_running_loop().call_later
        self._flush = flush(ESCAPE_S, lambda: self._deliver(self._keyboard.flush_keys()))

    def _deliver(self, presses: list[KeyPress]) -> None:
        for press in presses:
            name = press.key.value if isinstance(press.key, Keys) else press.key
            post(self._mailbox, Key(name))
