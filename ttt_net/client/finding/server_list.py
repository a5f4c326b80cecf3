"""Hold the servers that were found or used before, for a person who gave no address.

A value and pure functions: sightings go in, the next value comes out. Knows no socket and no terminal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ttt_net.client.finding.address import (
    CODE,
    DEFAULT_PORT,
    DEFAULT_URL,
    Alone,
    Go,
    Host,
    LookOn,
    Place,
    Together,
    read_address,
)
from ttt_net.client.finding.discovery import Blocked, Found, Gone, Sighting
from ttt_net.client.finding.local_choices import LocalChoices
from ttt_net.client.finding.servers import Used
from ttt_net.errors import ConfigurationError
from ttt_net.programs import SERVER
from ttt_net.text import counted

_HERE = "here"
COMPUTER, TYPE = "computer", "type"
"""The keys of the match against the computer, and of what is typed."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Something to choose, known by `key` whatever else comes and goes."""

    key: str
    name: str
    detail: str
    url: str | None = None
    group: str = ""
    does: Alone | Together | LookOn | Host | None = None
    """What it leads to, if it is no server."""


_NOTHING: Mapping[str, Found] = MappingProxyType({})
_UNKNOWN: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServerList:
    """The servers that were found or used before, and the other places to go."""

    used: tuple[Used, ...] = ()
    found: Mapping[str, Found] = field(default_factory=lambda: _NOTHING)
    does_answer: Mapping[str, bool] = field(default_factory=lambda: _UNKNOWN)
    """Of the addresses that were tried, whether anything listens there."""
    blocked: str = ""
    has_looked: bool = False
    """Whether servers have had time enough to be found."""
    choices: LocalChoices = field(default_factory=LocalChoices)
    """What is played here."""
    is_explained: bool = False
    """Whether it is told why a server may not be found."""
    place: Place | None = None
    """Where to go, once it was chosen."""

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """The destinations to choose from, in order."""
        found = [*self._local(), *self._announced()]
        known = {row.url for row in found}
        others = (
            Destination("host", "Start a server here", "for friends on this network", group="or", does=Host()),
            Destination(TYPE, "Type an address or a code", "", group="or"),
        )
        return (*found, *self._used_before(known), *self._at_this_keyboard(), *others)

    @property
    def has_found(self) -> bool:
        """Whether there is a server on this machine or this network, or one that was used before answers."""
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
                "together", "Two at this keyboard", f"{chosen.title}{names}", group="keyboard", does=chosen.together
            ),
            Destination("watch", "Watch two bots play", watched, group="keyboard", does=chosen.looking_on),
        ]

    def _local(self) -> list[Destination]:
        announced = next((each for each in self.found.values() if _is_default_here(each)), None)
        if not self.does_answer.get(DEFAULT_URL) and announced is None:
            return []
        name = announced.announcement.name if announced else "A server"
        detail = _census(announced) if announced else ""
        return [Destination(_HERE, name, " ".join(("on this machine", detail)).strip(), DEFAULT_URL, "found")]

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


def _is_default_here(found: Found) -> bool:
    return found.is_here and found.announcement.port == DEFAULT_PORT and not found.announcement.is_secure


def _census(found: Found) -> str:
    said = found.announcement
    census = f"{counted(said.players, 'player')}, {counted(said.matches, 'match', 'matches')}"
    return f"{census}{', version ' * bool(said.version)}{said.version}"


def sighted(servers: ServerList, sighting: Sighting) -> ServerList:
    """Return the list after something was seen on the network."""
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
    """Return where a typed text leads: an address, a code, or an address and a code; else `ConfigurationError`."""
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
    """Return why a server may not have been found, and what to do; sentences for people."""
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
