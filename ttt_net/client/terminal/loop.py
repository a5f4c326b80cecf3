"""The full screen: prompt_toolkit's input layer reads keys beside rich, one loop turns mail into the next picture."""

import asyncio
import time

from ttt_net.client.actions import Do, Type
from ttt_net.client.bindings.hints import HANG_UP
from ttt_net.client.bindings.keys import action_for
from ttt_net.client.events import Clicked, Focused, Kept, Key, Line, Mail, Pasted, Resized, Stop
from ttt_net.client.seat import Seat
from ttt_net.client.terminal.keepsake import kept
from ttt_net.client.terminal.keyboard import reading
from ttt_net.client.terminal.screen import Screen
from ttt_net.client.terminal.suspension import SUSPEND, suspend
from ttt_net.client.view import Overlay, View
from ttt_net.client.words import TENTHS_BELOW_MS
from ttt_net.messages import Notice, RecordReply
from ttt_net.text import clean

LEAVE_S = 2.0
"""For so long the server may take to note that a player leaves."""
LOOK_S = 1.0
"""How often the size of the window is looked at where no signal tells it."""
_MAX_PASTED = 200


async def play_on_screen(table: Seat, screen: Screen, mailbox: asyncio.Queue[Mail]) -> None:
    """Play until the server or the player says farewell; `table.view` then tells how it ended."""
    with reading(mailbox) as keyboard:
        async with asyncio.TaskGroup() as group:
            link = group.create_task(table.connection.run())
            while not table.is_done:
                now_ms = _now_ms()
                table.look_at_link()
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
                if letter == SUSPEND and not table.view.is_hosting:
                    suspend(screen, keyboard)
                else:
                    _deal_with(letter, table, screen)
            link.cancel()


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _wait_s(view: View, now_ms: int) -> float:
    """Return how long the picture stays true when no mail comes."""
    if view.is_leaving:
        return LEAVE_S
    match = view.match
    if match is None or match.clock is None or match.clock.running is None or view.frozen_at_ms is not None:
        return LOOK_S  # in time for the seconds until an absent opponent's match may be claimed, too
    left_ms = view.left_ms(match.clock.running, now_ms) or 0
    return 0.1 if left_ms < TENTHS_BELOW_MS else (left_ms % 1000 + 1) / 1000


def _is_hang_up(letter: Mail) -> bool:
    return isinstance(letter, Stop) or (isinstance(letter, Key) and letter.name in HANG_UP)


def _deal_with(letter: Mail, table: Seat, screen: Screen) -> None:
    match letter:
        case Key("c-z"):
            table.hear(Notice("The server runs in here: it would stop, too, and keep your friends waiting."), _now_ms())
        case Key(name):
            _press(name, table)
        case Clicked():
            target = screen.target_at(letter.column, letter.row)
            if isinstance(target, Key):
                _press(target.name, table)
            elif target is not None:
                table.do(target)
            elif table.view.overlay is not Overlay.NONE:
                table.do(Do.BACK)
        case Pasted(text):
            if words := clean(text, _MAX_PASTED):
                table.do(Type(words))
        case Focused(is_focused):
            screen.is_focused = is_focused
        case Resized() | Line() | Stop():
            return  # the next picture has the new size
        case RecordReply():
            table.hear(Kept(kept(letter)), _now_ms())
        case _:
            table.hear(letter, _now_ms())


def _press(name: str, table: Seat) -> None:
    if table.view.overlay in (Overlay.HELP, Overlay.ASIDE):
        table.do(Do.BACK)
    elif (action := action_for(name, table.view)) is not None:
        table.do(action)
    elif table.view.overlay is Overlay.LEAVE:
        table.do(Do.BACK)
