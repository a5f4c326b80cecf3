"""Signals as mail, so that they are dealt with in turn and every way of ending runs through the same door."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ttt_net.client.events import Mail, Resized, Stop

_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def delivered(mailbox: asyncio.Queue[Mail]) -> Iterator[None]:
    """Put `Stop` and `Resized` into the mailbox when the system says so, until the context ends."""
    loop = asyncio.get_running_loop()
    letters: dict[str, Mail] = {**dict.fromkeys(_ENDINGS, Stop()), "SIGWINCH": Resized()}
    present = {getattr(signal, name): letter for name, letter in letters.items() if hasattr(signal, name)}
    for number, letter in present.items():
        with suppress(NotImplementedError):  # Windows: Ctrl-C interrupts the loop instead, which also cleans up
            loop.add_signal_handler(number, post, mailbox, letter)
    try:
        yield
    finally:
        for number in present:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)


@contextmanager
def raised() -> Iterator[None]:
    """Let the signals that end a program raise `KeyboardInterrupt`, as Ctrl-C does, until the context ends."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for name in _ENDINGS if (number := getattr(signal, name, None))}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def post(mailbox: asyncio.Queue[Mail], letter: Mail) -> None:
    """Put a letter into the mailbox if there is room; a key too many is lost, as with any keyboard."""
    with suppress(asyncio.QueueFull):
        mailbox.put_nowait(letter)
