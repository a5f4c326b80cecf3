"""Read keys, clicks and pastes from the terminal with prompt_toolkit, as events in the mailbox.

The loop loads this module after its first picture, which does not have to wait for prompt_toolkit then.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from ttt_net.client.mailbox import Clicked, Event, Focused, Key, Pasted, TerminalEvent, post
from ttt_net.sdk.received import Stop

ESCAPE_S = 0.05
"""After this time without another byte, an escape byte counts as the Escape key."""
_SGR_MOUSE = re.compile(r"\x1b\[<(\d{1,4});(\d{1,5});(\d{1,5})([Mm])")
_LEFT_BUTTON, _WHEEL_UP, _WHEEL_DOWN = 0, 64, 65
_MAX_PASTED = 4096

# prompt_toolkit does not know focus reports, so they get the names of keys that no keyboard has.
_FOCUS = {Keys.ControlF23: True, Keys.ControlF24: False}
ANSI_SEQUENCES |= {"\x1b[I": Keys.ControlF23, "\x1b[O": Keys.ControlF24}


@contextmanager
def reading(mailbox: asyncio.Queue[Event]) -> Iterator[Input]:
    """Deliver keys, clicks and pasted text as events until the context ends; yield the input that they come from."""
    keyboard = create_input()
    reader = _Reader(keyboard, mailbox)
    with keyboard.raw_mode(), keyboard.attach(reader.read):
        yield keyboard


def event_of(press: KeyPress) -> TerminalEvent | None:
    """Return the event of a key press, or None if it has none."""
    if press.key in _FOCUS:
        return Focused(_FOCUS[press.key])  # type: ignore[index]
    if press.key == Keys.BracketedPaste:
        return Pasted(press.data[:_MAX_PASTED])
    if press.key == Keys.Vt100MouseEvent:
        return _click(press.data)
    return Key(press.key.value if isinstance(press.key, Keys) else press.key)


def _click(data: str) -> TerminalEvent | None:
    found = _SGR_MOUSE.fullmatch(data)
    if found is None or found[4] == "m":
        return None
    button, column, row = int(found[1]), int(found[2]), int(found[3])
    if button == _LEFT_BUTTON:
        return Clicked(column - 1, row - 1)
    return {_WHEEL_UP: Key("up"), _WHEEL_DOWN: Key("down")}.get(button)


class _Reader:
    """Reads keys from the keyboard; the possible start of a longer sequence waits a moment for the rest."""

    def __init__(self, keyboard: Input, mailbox: asyncio.Queue[Event]) -> None:
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
            event = event_of(press)
            if event is not None:
                post(self._mailbox, event)
