"""Keep the events of a client in a mailbox, and deliver signals to it, so that they are handled in turn.

Apart from `events` and `user_io`, which are loaded before anybody needs an event loop.
"""

import asyncio
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ttt_net.client.events import HANG_UP, MAX_QUEUED_EVENTS, MAX_QUEUED_KEYS, Event, Key, Resized, Stop, TerminalEvent
from ttt_net.client.user_io import ENDINGS


class Mailbox(asyncio.Queue[Event]):
    """The events of one client: those of the person and the system first, then those of the connection.

    A server that floods us can neither delay nor displace what a person does: keys have places of their own.
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
