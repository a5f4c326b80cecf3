"""Where to go, when no address was given: what was found, what was used before, and what can be typed.

A value and pure functions: sightings and keys go in, the next value or the choice comes out. Knows no socket and no
terminal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ttt_net.client.finding.address import CODE, DEFAULT_PORT, DEFAULT_URL, read_address
from ttt_net.client.finding.discovery import Blocked, Found, Gone, Sighting
from ttt_net.client.finding.servers import Used
from ttt_net.errors import ConfigurationError
from ttt_net.programs import SERVER
from ttt_net.text import counted

MAX_TYPED = 80
MAX_LEVEL = 8
_HERE = "here"
_TYPE = "type"


@dataclass(frozen=True, slots=True)
class Go:
    """Join the server of that address, and there the match that an invitation code is for, if there is one."""

    url: str
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """Play the computer here, at a level from 1 up to 8."""

    level: int


@dataclass(frozen=True, slots=True)
class Host:
    """Start a server here, and join it."""


Place = Go | Alone | Host


@dataclass(frozen=True, slots=True)
class Row:
    """Something to choose, known by `key` whatever else comes and goes."""

    key: str
    name: str
    detail: str
    url: str | None = None
    group: str = ""
    does: Alone | Host | None = None
    """What it leads to, if it is no server."""


_NOTHING: Mapping[str, Found] = MappingProxyType({})
_UNKNOWN: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Doorway:
    """All that is known of where one could go. `typed` is what is being written, None while one chooses."""

    used: tuple[Used, ...] = ()
    found: Mapping[str, Found] = field(default_factory=lambda: _NOTHING)
    does_answer: Mapping[str, bool] = field(default_factory=lambda: _UNKNOWN)
    """Of the addresses that were tried, whether anything listens there."""
    blocked: str = ""
    has_looked: bool = False
    """Whether servers have had time enough to be found."""
    chosen: str | None = None
    """The key of the row that Enter means; None as long as nobody has moved: the first."""
    typed: str | None = None
    level: int = 4
    """How well the computer is to play."""
    notice: str = ""
    is_explained: bool = False

    @property
    def rows(self) -> tuple[Row, ...]:
        """What there is to choose, in order."""
        found = [*self._local(), *self._announced()]
        known = {row.url for row in found}
        level = f"level {self.level} of {MAX_LEVEL}"
        others = (
            Row("computer", "Play the computer here", level, group="or", does=Alone(self.level)),
            Row("host", "Start a server here", "for friends", group="or", does=Host()),
            Row(_TYPE, "Type an address or a code", "", group="or"),
        )
        return (*found, *self._used_before(known), *others)

    @property
    def row(self) -> Row:
        """The row that Enter means."""
        rows = self.rows
        return next((row for row in rows if row.key == self.chosen), rows[0])

    @property
    def has_found(self) -> bool:
        """Whether there is a server on this machine or this network."""
        return any(row.group == "found" for row in self.rows)

    def _local(self) -> list[Row]:
        announced = next((each for each in self.found.values() if _is_default_here(each)), None)
        if not self.does_answer.get(DEFAULT_URL) and announced is None:
            return []
        name = announced.announcement.name if announced else "A server"
        detail = _census(announced) if announced else ""
        return [Row(_HERE, name, " ".join(("on this machine", detail)).strip(), DEFAULT_URL, "found")]

    def _announced(self) -> list[Row]:
        rows: dict[str, Row] = {}
        for each in self.found.values():
            if _is_default_here(each):
                continue
            scheme = "wss" if each.announcement.is_secure else "ws"
            address = f"{each.host}:{each.announcement.port}"
            detail = _census(each) if each.does_answer else "does not answer: a firewall?"
            url = f"{scheme}://{address}"
            rows[url] = Row(url, each.announcement.name, f"{address}  {detail}", url, "found")
        return sorted(rows.values(), key=lambda row: (row.name, row.key))

    def _used_before(self, known: set[str | None]) -> list[Row]:
        rows = []
        for used in self.used:
            if used.url in known or used.url == DEFAULT_URL:
                continue
            answers = {True: "answers", False: "no answer now", None: ""}[self.does_answer.get(used.url)]
            rows.append(
                Row(used.url, used.title or "A server", f"{short(used.url)}  {answers}".strip(), used.url, "used")
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


def sighted(door: Doorway, sighting: Sighting) -> Doorway:
    """Return the doorway after something was seen on the network."""
    match sighting:
        case Found():
            return replace(door, found=MappingProxyType({**door.found, sighting.key: sighting}))
        case Gone():
            rest = {key: each for key, each in door.found.items() if key != sighting.key}
            return replace(door, found=MappingProxyType(rest))
        case Blocked():
            return replace(door, blocked=sighting.reason)


def tried(door: Doorway, url: str, *, does_answer: bool) -> Doorway:
    """Return the doorway after an address was tried."""
    return replace(door, does_answer=MappingProxyType({**door.does_answer, url: does_answer}))


def moved(door: Doorway, by: int) -> Doorway:
    """Return the doorway with another row chosen."""
    rows = door.rows
    index = (rows.index(door.row) + by) % len(rows)
    return replace(door, chosen=rows[index].key, typed=None, notice="")


def typed(door: Doorway, text: str) -> Doorway:
    """Return the doorway with more written."""
    return replace(door, chosen=_TYPE, typed=((door.typed or "") + text)[:MAX_TYPED], notice="")


def erased(door: Doorway) -> Doorway:
    """Return the doorway with one character less written."""
    return replace(door, typed=door.typed[:-1] if door.typed else None, notice="")


def levelled(door: Doorway, by: int) -> Doorway:
    """Return the doorway with a stronger or weaker computer."""
    return replace(door, level=min(max(1, door.level + by), MAX_LEVEL), chosen="computer", typed=None, notice="")


def entered(door: Doorway) -> tuple[Doorway, Place | None]:
    """Return what Enter leads to: another doorway, or where to go."""
    row = door.row
    if row.url is not None:
        return door, Go(row.url)
    if row.does is not None:
        return door, row.does
    if door.typed is None or not door.typed.strip():
        return replace(door, typed="", chosen=_TYPE), None
    try:
        return door, read_place(door, door.typed)
    except ConfigurationError as error:
        return replace(door, notice=str(error)), None


def read_place(door: Doorway, text: str) -> Go:
    """Return where a typed text leads: an address, a code, or an address and a code; else `ConfigurationError`."""
    words = text.split()
    code = words[-1].upper() if CODE.fullmatch(words[-1]) else None
    if len(words) > 2 or (len(words) == 2 and code is None):
        raise ConfigurationError("type an address, a code, or an address and a code")
    if len(words) == 2 or code is None:
        address = read_address(words[0])
        return Go(address.url, code or address.code)
    server = next((row.url for row in door.rows if row.url is not None), None)
    if server is None:
        raise ConfigurationError(f"no server is known to try {code} on; type its address, a space, and the code")
    return Go(server, code)


def explanation(door: Doorway) -> list[str]:
    """Return why a server may not have been found, and what to do; sentences for people."""
    why = "No server has announced itself on this network."
    if door.has_found:
        why = "Not the server you look for?"
    elif door.blocked:
        why = f"This network cannot be searched ({door.blocked})."
    return [
        why,
        "A firewall, a VPN, a guest network or another subnet can hide one.",
        f"Type the address that {SERVER} shows, such as 192.168.1.20, or start a server here.",
    ]
