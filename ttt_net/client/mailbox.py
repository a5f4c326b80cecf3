"""Keep the events of a client in a mailbox (of its connection, keys, lines, signals), to be handled in turn."""

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
    """Something that happened on this machine: a file was written, or could not be."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ReachableAt:
    """Others on the network reach the server at this address."""

    address: str


WorldEvent = ConnectionEvent | LocalNotice | ReachableAt
"""The events that change the known world."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key was pressed, named as prompt_toolkit names it."""

    name: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line was typed, or None: no other will come."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Clicked:
    """The mouse was clicked, in a column and row counted from 0."""

    column: int
    row: int


@dataclass(frozen=True, slots=True)
class Pasted:
    """A text was pasted, whatever it holds."""

    text: str


@dataclass(frozen=True, slots=True)
class Focused:
    """The window came into focus, or went out of it."""

    is_focused: bool


@dataclass(frozen=True, slots=True)
class Resized:
    """The window has another size."""


TerminalEvent = Key | Line | Resized | Clicked | Pasted | Focused
"""The events of a keyboard, a mouse and a window."""
Event = WorldEvent | TerminalEvent | Stop
"""The events that reach the loop of a client."""

MAX_QUEUED_EVENTS = 256
"""The events of a connection that a mailbox holds; then the connection waits."""
MAX_QUEUED_KEYS = 64
"""The keys, clicks and lines that a mailbox holds besides; more are lost, as with any keyboard."""
HANG_UP = ("c-c", "<sigint>")
"""The keys that leave at once."""


class Mailbox(asyncio.Queue[Event]):
    """The events of one client: those of the person and the system first, then those of the connection.

    A flooding server can neither delay nor displace a person's actions: keys have separate places.
    """

    def __init__(self) -> None:
        super().__init__(MAX_QUEUED_EVENTS)
        self._is_posting = False

    def post(self, event: Event) -> bool:
        """Put an event of the person or the system into the mailbox; return whether there was room."""
        is_end = isinstance(event, Stop) or (isinstance(event, Key) and event.name in HANG_UP)
        if self._ahead >= MAX_QUEUED_KEYS + is_end:  # the last place is for an event that ends the client
            return False
        self._is_posting = True
        try:
            self.put_nowait(event)
        finally:
            self._is_posting = False
        return True

    def full(self) -> bool:
        """Return whether the connection has to wait."""
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
    """Put `Stop` and `Resized` into the mailbox when the system says so, until the context ends."""
    loop = asyncio.get_running_loop()
    events: dict[str, Event] = {**dict.fromkeys(ENDINGS, Stop()), "SIGWINCH": Resized()}
    present = {getattr(signal, name): event for name, event in events.items() if hasattr(signal, name)}
    for number, event in present.items():
        with suppress(NotImplementedError):  # Windows: Ctrl-C interrupts the loop instead, which also cleans up
            loop.add_signal_handler(number, post, mailbox, event)
    try:
        yield
    finally:
        for number in present:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
