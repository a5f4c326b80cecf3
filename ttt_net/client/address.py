"""Parse addresses of servers, invitation codes and browser links, and remember the servers that the player joined."""

import ipaddress
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from ttt_net.errors import ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean

DEFAULT_PORT = 8765
DEFAULT_URL = f"ws://localhost:{DEFAULT_PORT}"
CODE = re.compile(r"[BCDFGHJKMNPQRTVWXYZ2346789]{5,6}", re.IGNORECASE | re.ASCII)
"""The form of codes: six letters of an invitation, five of a tournament. Hardly any host name has no vowel."""
_SITES = {"http": "ws", "https": "wss"}
"""Schemes of web addresses, and the corresponding WebSocket schemes."""
_INVITATION = re.compile(r"/j(?:/?#|/)([^/#]*)", re.ASCII)
"""The part of an invitation link after the server; in older links the code is part of the path."""
_PORTS = range(1, 65_536)
HUMAN = "human"
COMPUTER = "Computer"
"""The name of the strategy that people play against at this keyboard, and the word for any strategy."""
YOU = "You"
"""The name of a person who plays against a strategy at this keyboard, in games where their mark may change."""
EVERY_GAME = "alphabeta"
"""The strategy that `COMPUTER` means."""
ENGINE_NAME = "engine"
"""The name of an external engine at this keyboard."""
ENGINE_PREFIX = "engine:"
"""The prefix of an engine's command."""
AT_HOME = "this keyboard"
"""The text shown in place of a server's address."""
MAX_LEVEL = 8
"""The highest level of strategies: full strength."""


@dataclass(frozen=True, slots=True)
class Go:
    """Join the server at an address, and there the match of an invitation code, if one is given."""

    url: str
    code: str | None = None


Order = Literal["first", "second", "lot"]
"""Whether a person against the computer moves first, second, or at random."""


@dataclass(frozen=True, slots=True)
class Alone:
    """Play against the computer here, at a level from 1 to `MAX_LEVEL`."""

    level: int
    game: str = "tictactoe"
    strategy: str = "alphabeta"
    order: Order = "first"


@dataclass(frozen=True, slots=True)
class Together:
    """Play here, two people at one keyboard; X is named first."""

    game: str = "tictactoe"
    names: tuple[str, str] = ("X", "O")


@dataclass(frozen=True, slots=True)
class LookOn:
    """Watch two strategies that play here under these names; X is named first."""

    game: str = "tictactoe"
    strategies: tuple[str, str] = ("alphabeta", "mcts")
    names: tuple[str, str] = ("Ada", "Max")


@dataclass(frozen=True, slots=True)
class Host:
    """Start a server here, and join it."""


@dataclass(frozen=True, slots=True)
class Local:
    """A match at this keyboard: the player (a person or a strategy) and the name, by side."""

    game: str
    players: tuple[str, str] = (HUMAN, HUMAN)
    names: tuple[str, str] = ("X", "O")
    start: str | None = None
    """The starting position, if it is not the usual one."""

    @property
    def is_for_people_alone(self) -> bool:
        """Whether no strategy plays."""
        return self.people == len(self.players)

    @property
    def people(self) -> int:
        """How many people sit at the keyboard."""
        return self.players.count(HUMAN)


class Served(NamedTuple):
    """Our own server: its address and the folder of its journal."""

    url: str
    journal: str
    people: Callable[[], int]
    """Returns how many people are connected to it, including ourselves."""
    wait: Callable[[], None]
    """Waits until it has ended."""
    stop: Callable[[], None]
    """Asks the server to end."""

    def guests(self) -> int:
        """Return how many other people are connected."""
        return max(0, self.people() - 1)


Place = Go | Alone | Together | LookOn | Host


class Address(NamedTuple):
    """A server, and the invitation code of the link to it."""

    url: str
    code: str | None = None


def read_address(text: str) -> Address:
    """Return a typed or pasted address. Raises `ConfigurationError` if it is invalid.

    Accepts the web address of a server, and the link of an invitation, which contains its code.
    """
    bare = text.strip()
    scheme, _, _ = bare.partition("://")
    if scheme.lower() not in _SITES:
        return Address(url_of(bare))
    parts = urlsplit(url_of(_SITES[scheme.lower()] + bare[len(scheme) :]))
    invited = _INVITATION.fullmatch(f"{parts.path}#{parts.fragment}" if parts.fragment else parts.path)
    return Address(f"{parts.scheme}://{parts.netloc}", code_of(invited[1]) if invited else None)


def url_of(text: str) -> str:
    """Return the address as a URL. Raises `ConfigurationError` if it is invalid."""
    allowed = f"{clean(text, 60)!r} is no address; write host, host:port, ws://host:port or wss://host:port"
    bare = text.strip()
    try:
        if "://" not in bare:
            bare = f"ws://{_with_port(bare)}"
        parts = urlsplit(bare)
        (parts.hostname or "").encode("idna")  # empty and overlong labels
        is_port = parts.port in _PORTS or (parts.port is None and not parts.netloc.endswith(":"))
        is_good = parts.scheme in ("ws", "wss") and parts.hostname and is_port
    except ValueError:
        is_good = False
    if not is_good or "@" in bare or not bare.isascii() or any(c.isspace() or not c.isprintable() for c in bare):
        raise ConfigurationError(allowed)
    return bare


def server_at(url: str) -> str:
    """Return the host and port of a URL, as people see a server and identities name it."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    return f"{parts.hostname}:{port}"


def site_of(url: str) -> str:
    """Return the web address of the server at a URL, for a browser."""
    scheme, _, rest = url.partition("://")
    return f"{'https' if scheme == 'wss' else 'http'}://{rest}"


def code_of(text: str) -> str:
    """Return a typed invitation code in upper case. Raises `ConfigurationError` if it is not one."""
    if CODE.fullmatch(text.strip()) is None:
        raise ConfigurationError(f"{clean(text, 20)!r} is no invitation code; one looks like BCD234")
    return text.strip().upper()


def _with_port(host: str) -> str:
    """Return the host with our default port added if it has none."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host if ":" in host else f"{host}:{DEFAULT_PORT}"
    return f"[{address}]:{DEFAULT_PORT}" if address.version == 6 else f"{address}:{DEFAULT_PORT}"


FILE_OF_SERVERS = "servers.json"
MAX_SERVERS = 8
MAX_TITLE_CELLS = 40


class Used(NamedTuple):
    """A server that the player has joined: its address and its name."""

    url: str
    title: str


def servers_used() -> tuple[Used, ...]:
    """Return the joined servers, newest first; ignore invalid lines of the file."""
    try:
        rows = json.loads((identity.home() / FILE_OF_SERVERS).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    found = []
    for row in rows if isinstance(rows, list) else []:
        match row:
            case [str(url), str(title)]:
                with suppress(ConfigurationError):
                    found.append(Used(url_of(url), clean(title, MAX_TITLE_CELLS)))
    return tuple(found[:MAX_SERVERS])


def remember_server(url: str, title: str) -> None:
    """Move the server to the front of the list. If the disk fails, the player only has to type the address again."""
    used, title = servers_used(), clean(title, MAX_TITLE_CELLS)
    others = [each for each in used if each.url != url]
    newest = (Used(url, title), *others)[:MAX_SERVERS]
    if newest != used:
        with suppress(OSError):
            write_private(identity.home() / FILE_OF_SERVERS, json.dumps(newest))
