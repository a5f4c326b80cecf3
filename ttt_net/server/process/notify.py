"""Notify the service manager: ready, alive, stopping (systemd's `sd_notify` protocol)."""

import asyncio
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

EXTENSION_S = 90.0
"""How long a start may take from each sign of progress on, at the least."""
_EVERY_S = 5.0
"""Signs of progress that come sooner after the last are not passed on."""


def notify(state: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell the service manager, if there is one; never waits and never raises. Returns whether it was told."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.connect(address.replace("@", "\0", 1) if address.startswith("@") else address)
            sender.send(state.encode())
    except OSError as error:
        log.warning("cannot notify the service manager: %s", error)
        return False
    return True


def is_managed(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a service manager runs this process, and starts it again when it asks for that.

    systemd sets `INVOCATION_ID` for each of its services. Shells in a desktop's terminals inherit it too, so it does
    not count where standard input is a terminal.
    """
    if "NOTIFY_SOCKET" in environment:
        return True
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    return "INVOCATION_ID" in environment and not has_terminal


class StartExtension:
    """Ask the service manager for more time to start, for as long as the start makes progress."""

    def __init__(
        self, environment: Mapping[str, str] = os.environ, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._environment, self._now_s = environment, now_s
        self._next_s = now_s() + _EVERY_S

    def __call__(self) -> None:
        """Take note of progress; each gives the start `EXTENSION_S` more, and a start that hangs gets none."""
        now_s = self._now_s()
        if now_s >= self._next_s:
            self._next_s = now_s + _EVERY_S
            notify(f"EXTEND_TIMEOUT_USEC={EXTENSION_S * 1_000_000:.0f}", self._environment)


def watchdog_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return how often the service manager wants to hear that we live, twice as often as it must; None for never."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    try:
        return int(environment["WATCHDOG_USEC"]) / 2_000_000
    except (KeyError, ValueError):
        return None


async def keep_alive(status: Callable[[], str]) -> None:
    """Tell the service manager from the event loop that we live, for as long as it turns."""
    every_s = watchdog_s()
    while every_s:
        notify(f"WATCHDOG=1\nSTATUS={status()}")
        await asyncio.sleep(every_s)
