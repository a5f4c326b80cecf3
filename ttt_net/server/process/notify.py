"""Notify the service manager: ready, alive, stopping (systemd's `sd_notify` protocol)."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)


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
