"""Queue the events of a client (from its connection, keys, lines and signals) in a mailbox."""

import asyncio
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from ttt_net.client.user_io import ENDINGS
from ttt_net.sdk.received import ConnectionEvent, Stop


@dataclass(frozen=True, slots=True)
class LocalNotice:
    """An event on this machine: a file was written, or could not be written."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ReachableAt:
    """Other people on the network reach the server at this address."""

    address: str


WorldEvent = ConnectionEvent | LocalNotice | ReachableAt
"""The events that change the world."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key was pressed; it has prompt_toolkit's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line was typed; None is the end of the input."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Clicked:
    """The mouse was clicked at a column and row, counted from 0."""

    column: int
    row: int


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text was pasted."""

    text: str


@dataclass(frozen=True, slots=True)
class Focused:
    """The window gained or lost the focus."""

    is_focused: bool


@dataclass(frozen=True, slots=True)
class Resized:
    """The window was resized."""


TerminalEvent = Key | Line | Resized | Clicked | Pasted | Focused
"""The events of a keyboard, a mouse and a window."""
Event = WorldEvent | TerminalEvent | Stop
"""The events that a client's loop handles."""

MAX_QUEUED_EVENTS = 256
"""The capacity for events of a connection; when it is full, the connection waits."""
MAX_QUEUED_KEYS = 64
"""The additional capacity for keys, clicks and lines; more are lost, as with any keyboard."""
HANG_UP = ("c-c", "<sigint>")
"""The keys that leave immediately."""


class Mailbox(asyncio.Queue[Event]):
    """The events of one client: those of the person and the system come before those of the connection.

    Keys have separate capacity, so a flooding server can neither delay nor displace a person's actions.
    """

    def __init__(self) -> None:
        super().__init__(MAX_QUEUED_EVENTS)
        self._is_posting = False

    def post(self, event: Event) -> bool:
        """Put an event of the person or the system into the mailbox; return whether there was room."""
        is_end = isinstance(event, Stop) or (isinstance(event, Key) and event.name in HANG_UP)
        if self._ahead >= MAX_QUEUED_KEYS + is_end:  # the last place is reserved for an event that ends the client
            return False
        self._is_posting = True
        try:
            self.put_nowait(event)
        finally:
            self._is_posting = False
        return True

    def full(self) -> bool:
        """Tell whether the connection has to wait."""
        return not self._is_posting and len(self._queue) - self._ahead >= self.maxsize

    def _init(self, maxsize: int) -> None:
        self._queue: deque[Event] = deque()
        self._ahead = 0

    def _put(self, item: Event) -> None:
        if isinstance(item, TerminalEvent | Stop):
            self._queue.insert(self._ahead, item)
            self._ahead += 1
        else:
            self._queue.append(item)

    def _get(self) -> Event:
        self._ahead = max(0, self._ahead - 1)
        return self._queue.popleft()


def post(mailbox: asyncio.Queue[Event], event: Event) -> bool:
    """Put an event into a mailbox if there is room; return whether there was."""
    if isinstance(mailbox, Mailbox):
        return mailbox.post(event)
    try:
        mailbox.put_nowait(event)
    except asyncio.QueueFull:
        return False
    return True


@contextmanager
def delivered(mailbox: asyncio.Queue[Event]) -> Iterator[None]:
    """Put `Stop` and `Resized` into the mailbox on signals of the system, until the context ends."""
    loop = asyncio.get_running_loop()
    events: dict[str, Event] = {**dict.fromkeys(ENDINGS, Stop()), "SIGWINCH": Resized()}
    present = {getattr(signal, name): event for name, event in events.items() if hasattr(signal, name)}
    for number, event in present.items():
        with suppress(NotImplementedError):  # on Windows, Ctrl-C interrupts the loop instead, which also cleans up
            loop.add_signal_handler(number, post, mailbox, event)
    try:
        yield
    finally:
        for number in present:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
