"""Looking for servers on the local network: what announces itself by mDNS, and whether it answers.

The library is loaded when the looking starts, never before the first picture. What was heard is checked and bounded
(`announcement`), for anybody on the network can announce anything; of an address, no more is tried than to
connect to it.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ttt_net.announcement import SERVICE, Announcement, is_usable, read_announcement
from ttt_net.text import clean

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

MAX_SERVERS = 32
"""Announcements that are looked at; more of them are no network of friends."""
ANSWER_S = 0.7
"""How long a server on the local network may take to answer."""
_RESOLVE_MS = 1500
_CLOSE_S = 1.0
_MAX_REASON = 80
_SILENT = logging.getLogger("zeroconf")


@dataclass(frozen=True, slots=True)
class Found:
    """A server that announces itself as `key`; `host` is the address to use, and whether something answered there."""

    key: str
    announcement: Announcement
    host: str
    does_answer: bool
    is_here: bool
    """Whether it runs on this machine."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The server that announced itself as `key` has said goodbye."""

    key: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """The local network cannot be asked at all, for the reason given."""

    reason: str


Sighting = Found | Gone | Blocked


async def look_around(report: Callable[[Sighting], None]) -> None:
    """Report servers as they come and go, until cancelled; ends by itself only where nothing can be found."""
    _SILENT.setLevel(logging.CRITICAL)  # what goes wrong is reported; a line on stderr would tear the screen
    try:
        library = await asyncio.to_thread(import_module, "zeroconf.asyncio")
        network: AsyncZeroconf = library.AsyncZeroconf()
    except Exception as error:  # noqa: BLE001 - to be found is a comfort; whatever is wrong with it, addresses work
        report(Blocked(clean(str(getattr(error, "strerror", None) or error), _MAX_REASON)))
        return
    heard: asyncio.Queue[tuple[str, bool]] = asyncio.Queue(4 * MAX_SERVERS)

    def changed(*, name: str, state_change: object, **_: object) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            heard.put_nowait((name, getattr(state_change, "name", "") != "Removed"))

    browser = library.AsyncServiceBrowser(network.zeroconf, [SERVICE], handlers=[changed])
    try:
        async with asyncio.TaskGroup() as tasks:
            known: dict[str, asyncio.Task[None]] = {}
            while True:
                key, is_there = await heard.get()
                if (task := known.pop(key, None)) is not None:
                    task.cancel()
                if is_there and len(known) < MAX_SERVERS:
                    resolver = _Resolver(network, library.AsyncServiceInfo, report)
                    known[key] = tasks.create_task(resolver.resolve(key))
                elif not is_there:
                    report(Gone(key))
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await browser.async_cancel()
                await network.async_close()


@dataclass(frozen=True, slots=True)
class _Resolver:
    network: "AsyncZeroconf"
    make: "type[AsyncServiceInfo]"
    report: Callable[[Sighting], None]

    async def resolve(self, key: str) -> None:
        """Find out what the announcement says, and by which of its addresses the server answers."""
        announcement = await self._read(key)
        if announcement is None:
            return
        host = await first_answering(announcement.addresses, announcement.port)
        is_here = any(is_own_address(address) for address in announcement.addresses)
        shown = host or announcement.addresses[0]
        self.report(Found(key, announcement, shown, does_answer=host is not None, is_here=is_here))

    async def _read(self, key: str) -> Announcement | None:
        try:
            info = self.make(SERVICE, key)
            if not await info.async_request(self.network.zeroconf, _RESOLVE_MS):
                return None
            return read_announcement(info.port, info.parsed_addresses(), info.properties)
        except Exception:  # noqa: BLE001 - whatever a library makes of what a stranger sent, it is no server
            return None


async def first_answering(
    hosts: tuple[str, ...], port: int, answers: Callable[[str, int], Awaitable[bool]] | None = None
) -> str | None:
    """Return the first of the addresses, in their order, at which something listens; they are tried at once."""
    results = await asyncio.gather(*((answers or does_answer)(host, port) for host in hosts))
    return next((host for host, is_good in zip(hosts, results, strict=True) if is_good), None)


async def does_answer(host: str, port: int) -> bool:
    """Tell whether something listens there; nothing is said to it."""
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True


def is_own_address(address: str) -> bool:
    """Tell whether the address is one of this machine: only such a one can be bound."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.bind((address, 0))
        return True
    return False


def shareable(address: str) -> str:
    """Return an address as another machine can use it: of one on this machine, the machine's own on its network."""
    host, _, port = address.rpartition(":")
    if host not in ("localhost", "127.0.0.1", "::1"):
        return address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        # A documentation address: a route is looked up, nothing is sent. It fails without any network.
        probe.connect(("192.0.2.1", 9))
        return f"{probe.getsockname()[0]}:{port}"
    from ifaddr import get_adapters  # only on a network that leads nowhere else, such as two machines on a cable

    own = (str(each.ip) for adapter in get_adapters() for each in adapter.ips if each.is_IPv4)
    return f"{next((found for found in own if is_usable(found)), host)}:{port}"
