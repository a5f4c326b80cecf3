"""Deliver signals as events, so that they are handled in turn with all others.

Apart from `user_io`, which is loaded before anybody needs an event loop.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ttt_net.client.events import Event, Resized, Stop, post
from ttt_net.client.user_io import ENDINGS


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
