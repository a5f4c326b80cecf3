"""Search for servers: read mDNS announcements, and check whether these and previously used servers answer.

The mDNS library is loaded when the search begins, never before the first picture. Announcements are checked and bounded
(`announcement`), since anybody on the network can announce anything. The search only connects to an address, and sends
nothing. `ServerList` is a value: a sighting produces the next list.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import ttt_net
from ttt_net.client.address import (
    CODE,
    DEFAULT_PORT,
    DEFAULT_URL,
    Alone,
    Go,
    Host,
    LookOn,
    Place,
    Together,
    Used,
    read_address,
    servers_used,
)
from ttt_net.client.remembered import LocalChoices
from ttt_net.command_line import SERVER
from ttt_net.errors import ConfigurationError
from ttt_net.networks import SERVICE, Announcement, is_usable, read_announcement
from ttt_net.text import clean, counted

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf


MAX_ANNOUNCED = 32
"""The maximal number of announcements to resolve; more are not a friendly network."""
OWN_S = 0.2
"""How long an address of this machine may take to answer."""
ANSWER_S = 0.7
"""How long a server on the local network may take to answer."""
_RESOLVE_MS = 1500
_CLOSE_S = 1.0
_MAX_REASON = 80
_SILENT = logging.getLogger("zeroconf")


@dataclass(frozen=True, slots=True)
class Found:
    """A server announced as `key`; `host` is the address to use, `does_answer`: something listens there."""

    key: str
    announcement: Announcement
    host: str
    does_answer: bool
    is_here: bool
    """Whether it runs on this machine."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The server announced as `key` has gone."""

    key: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """The local network cannot be searched, for the given reason."""

    reason: str


Sighting = Found | Gone | Blocked


async def look_around(report: Callable[[Sighting], None]) -> None:
    """Report servers as they appear and disappear until cancelled; return early only if searching is impossible."""
    _SILENT.setLevel(logging.CRITICAL)  # failures are reported to the menu; a line on stderr would garble the screen
    try:
        library = await asyncio.to_thread(import_module, "zeroconf.asyncio")
        network: AsyncZeroconf = library.AsyncZeroconf()
    except Exception as error:  # noqa: BLE001 - the search is optional: without it, people type addresses
        report(Blocked(clean(str(getattr(error, "strerror", None) or error), _MAX_REASON)))
        return
    heard: asyncio.Queue[tuple[str, bool]] = asyncio.Queue(4 * MAX_ANNOUNCED)

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
                if is_there and len(known) < MAX_ANNOUNCED:
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
        """Read an announcement, and find the address at which the server answers."""
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
        except Exception:  # noqa: BLE001 - strangers' data may raise anything in the library
            return None


async def first_answering(hosts: tuple[str, ...], port: int) -> str | None:
    """Return the first address at which something listens; all are tried concurrently."""
    results = await asyncio.gather(*(does_answer(host, port) for host in hosts))
    return next((host for host, is_good in zip(hosts, results, strict=True) if is_good), None)


async def does_answer(host: str, port: int) -> bool:
    """Tell whether something listens at an address, without sending anything."""
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True


def is_own_address(address: str) -> bool:
    """Tell whether the address belongs to this machine: only such an address can be bound."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.bind((address, 0))
        return True
    return False


def shareable(address: str) -> str:
    """Return an address that other machines can use: for this machine, its own address on the network.

    A server that listens only on the loopback, as with `TTT_NET_HOST=127.0.0.1`, keeps its address.
    """
    host, _, port = address.rpartition(":")
    if host not in ("localhost", "127.0.0.1", "::1"):
        return address
    with contextlib.suppress(OSError), socket.create_connection((own := _own_address(), int(port)), OWN_S):
        return f"{own}:{port}"
    return address


def _own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        # This looks up the route to a documentation address and sends nothing. It fails without a network.
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    from ifaddr import get_adapters  # on an isolated network, such as two machines on a cable

    own = (str(each.ip) for adapter in get_adapters() for each in adapter.ips if each.is_IPv4)
    return next((found for found in own if is_usable(found)), "127.0.0.1")


_HERE, _TOGETHER, _WATCH, _HOST = "here", "together", "watch", "host"
COMPUTER, TYPE = "computer", "type"
"""The keys of the match against the computer, and of the entry for typing."""


def key_of(place: Place | None) -> str:
    """Return the key of the destination that leads to a place; empty without one."""
    match place:
        case Go(url):
            return _HERE if url == DEFAULT_URL else url
        case Alone():
            return COMPUTER
        case Together():
            return _TOGETHER
        case LookOn():
            return _WATCH
        case Host():
            return _HOST
        case None:
            return ""


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination to choose, identified by `key` while others appear and disappear."""

    key: str
    name: str
    detail: str
    url: str | None = None
    group: str = ""
    does: Alone | Together | LookOn | Host | None = None
    """The page or action that it opens, if it is not a server."""


_NOTHING: Mapping[str, Found] = MappingProxyType({})
_UNKNOWN: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServerList:
    """The servers that were found or used before, and the other destinations."""

    used: tuple[Used, ...] = ()
    found: Mapping[str, Found] = field(default_factory=lambda: _NOTHING)
    does_answer: Mapping[str, bool] = field(default_factory=lambda: _UNKNOWN)
    """Whether anything listens at each address that was tried."""
    blocked: str = ""
    has_looked: bool = False
    """Whether servers have had enough time to answer."""
    choices: LocalChoices = field(default_factory=LocalChoices)
    """The match to play here."""
    is_explained: bool = False
    """Whether to explain why a server may not be found."""
    place: Place | None = None
    """The chosen place, if any."""

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """The destinations to choose from, in order."""
        found = [*self._local(), *self._announced()]
        known = {row.url for row in found}
        others = (
            Destination(_HOST, "Start a server here", "for friends on this network", group="or", does=Host()),
            Destination(TYPE, "Type an address or a code", "", group="or"),
        )
        return (*found, *self._used_before(known), *self._at_this_keyboard(), *others)

    @property
    def has_found(self) -> bool:
        """Whether a server was found on this machine or network, or a previously used one answers."""
        return any(
            row.group == "found" or (row.url is not None and self.does_answer.get(row.url)) for row in self.destinations
        )

    def _at_this_keyboard(self) -> list[Destination]:
        chosen = self.choices
        alone = f"{chosen.title}, {chosen.strength}, {chosen.order_in_words}"
        names = f", {chosen.names[0]} and {chosen.names[1]}" * (chosen.names != LocalChoices().names)
        watched = f"{chosen.title}, {' and '.join(chosen.watched_names)}"
        return [
            Destination(COMPUTER, "Play the computer", alone, group="keyboard", does=chosen.alone),
            Destination(
                _TOGETHER, "Two at this keyboard", f"{chosen.title}{names}", group="keyboard", does=chosen.together
            ),
            Destination(_WATCH, "Watch two bots play", watched, group="keyboard", does=chosen.looking_on),
        ]

    def _local(self) -> list[Destination]:
        announced = next((each for each in self.found.values() if _is_default_here(each)), None)
        is_encrypted = any(_is_default_here(each, is_secure=True) for each in self.found.values())
        if announced is None and (is_encrypted or not self.does_answer.get(DEFAULT_URL)):
            return []  # what answers at the address may be the server that is announced with encryption
        name = announced.announcement.name if announced else "A server"
        detail = _census(announced) if announced else ""
        return [Destination(_HERE, name, ", ".join(filter(None, ("on this machine", detail))), DEFAULT_URL, "found")]

    def _announced(self) -> list[Destination]:
        rows: dict[str, Destination] = {}
        for each in self.found.values():
            if _is_default_here(each):
                continue
            scheme = "wss" if each.announcement.is_secure else "ws"
            address = f"{each.host}:{each.announcement.port}"
            detail = _census(each) if each.does_answer else "does not answer: a firewall?"
            url = f"{scheme}://{address}"
            rows[url] = Destination(url, each.announcement.name, f"{address}  {detail}", url, "found")
        return sorted(rows.values(), key=lambda row: (row.name, row.key))

    def _used_before(self, known: set[str | None]) -> list[Destination]:
        rows = []
        for used in self.used:
            if used.url in known or used.url == DEFAULT_URL:
                continue
            answers = {True: "answers", False: "no answer now", None: ""}[self.does_answer.get(used.url)]
            rows.append(
                Destination(
                    used.url, used.title or "A server", f"{short(used.url)}  {answers}".strip(), used.url, "used"
                )
            )
        return rows


def short(url: str) -> str:
    """Return an address as people type it."""
    return url.removeprefix("ws://")


def _is_default_here(found: Found, *, is_secure: bool = False) -> bool:
    announcement = found.announcement
    return found.is_here and announcement.port == DEFAULT_PORT and announcement.is_secure is is_secure


def _census(found: Found) -> str:
    said = found.announcement
    census = f"{counted(said.players, 'player')}, {counted(said.matches, 'match', 'matches')}"
    return f"{census}, version {said.version}" if said.version not in ("", ttt_net.__version__) else census


def sighted(servers: ServerList, sighting: Sighting) -> ServerList:
    """Return the list after a sighting on the network."""
    match sighting:
        case Found():
            return replace(servers, found=MappingProxyType({**servers.found, sighting.key: sighting}))
        case Gone():
            rest = {key: each for key, each in servers.found.items() if key != sighting.key}
            return replace(servers, found=MappingProxyType(rest))
        case Blocked():
            return replace(servers, blocked=sighting.reason)


def tried(servers: ServerList, url: str, *, does_answer: bool) -> ServerList:
    """Return the list after an address was tried."""
    return replace(servers, does_answer=MappingProxyType({**servers.does_answer, url: does_answer}))


def read_place(servers: ServerList, text: str) -> Go:
    """Return the place of a typed text: an address, a code, or both. Raises `ConfigurationError` if it is neither."""
    words = text.split()
    code = words[-1].upper() if CODE.fullmatch(words[-1]) else None
    if len(words) > 2 or (len(words) == 2 and code is None):
        raise ConfigurationError("type an address, a code, or an address and a code")
    if len(words) == 2 or code is None:
        address = read_address(words[0])
        return Go(address.url, code or address.code)
    server = next((row.url for row in servers.destinations if row.url is not None), None)
    if server is None:
        raise ConfigurationError(f"no server is known to try {code} on; type its address, a space, and the code")
    return Go(server, code)


def explanation(servers: ServerList) -> list[str]:
    """Return sentences that explain why a server may not be found, and what to do."""
    why = "No server has announced itself on this network."
    if servers.has_found:
        why = "Not the server you look for?"
    elif servers.blocked:
        why = f"This network cannot be searched ({servers.blocked})."
    return [
        why,
        "A firewall, a VPN, a guest network or another subnet can hide one.",
        f"Type the address that {SERVER} shows, such as 192.168.1.20, or start a server here.",
    ]


LOOK_S = 2.0
"""After this time, every announced server has been found."""


class ServerSearch:
    """Searches for servers and keeps the list; `changed` is called after every change."""

    def __init__(self, changed: Callable[[], None], choices: LocalChoices) -> None:
        self.servers = ServerList(used=servers_used(), choices=choices)
        self._changed = changed

    def become(self, servers: ServerList) -> None:
        """Replace the list."""
        if servers != self.servers:
            self.servers = servers
            self._changed()

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """Run the search inside the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(look_around(lambda sighting: self.become(sighted(self.servers, sighting)))),
                group.create_task(self._settle()),
                *(
                    group.create_task(self._try(url))
                    for url in (DEFAULT_URL, *(used.url for used in self.servers.used))
                ),
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _settle(self) -> None:
        await asyncio.sleep(LOOK_S)
        self.become(replace(self.servers, has_looked=True))

    async def _try(self, url: str) -> None:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "wss" else 80)
        answers = await does_answer(parts.hostname or "", port)
        self.become(tried(self.servers, url, does_answer=answers))  # the current list


def search_for_a_moment(choices: LocalChoices) -> ServerList:
    """Return the servers found within two seconds, with the choices for this keyboard."""

    async def search() -> ServerList:
        searching = ServerSearch(lambda: None, choices)
        async with searching.under_way():
            await asyncio.sleep(LOOK_S)
        return replace(searching.servers, has_looked=True)

    return asyncio.run(search())
