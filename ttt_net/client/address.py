"""Read addresses of servers, invitation codes and browser links, and remember the servers that were joined."""

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
CODE = re.compile(r"[BCDFGHJKMNPQRTVWXYZ2346789]{6}", re.IGNORECASE | re.ASCII)
"""The form of invitation codes: without vowels, so that hardly any host name matches."""
_SITES = {"http": "ws", "https": "wss"}
"""Schemes of browsers, and those of WebSocket that they correspond to."""
_INVITATION = re.compile(r"/j(?:/?#|/)([^/#]*)", re.ASCII)
"""The part of an invitation link after the server; in older links the code belongs to the path."""
_PORTS = range(1, 65_536)
HUMAN = "human"
COMPUTER = "Computer"
"""The name of a strategy that a person plays at this keyboard, and the word that asks for one without its name."""
YOU = "You"
"""The name of a person who plays a strategy at this keyboard, where their mark may change."""
EVERY_GAME = "alphabeta"
"""The strategy that is meant by that."""
ENGINE_NAME = "engine"
"""The name of an external engine at this keyboard."""
ENGINE_PREFIX = "engine:"
"""The prefix of its command."""
AT_HOME = "this keyboard"
"""The text shown in place of a server's address."""
MAX_LEVEL = 8
"""The highest level of strategies: full strength."""


@dataclass(frozen=True, slots=True)
class Go:
    """Join the server of that address, and there the match that an invitation code is for, if there is one."""

    url: str
    code: str | None = None


Order = Literal["first", "second", "lot"]
"""Whether a person against the computer moves first, second, or at random."""


@dataclass(frozen=True, slots=True)
class Alone:
    """Play the computer here, at a level from 1 up to `MAX_LEVEL`."""

    level: int
    game: str = "tictactoe"
    strategy: str = "alphabeta"
    order: Order = "first"


@dataclass(frozen=True, slots=True)
class Together:
    """Play here, two at one keyboard; X is named first."""

    game: str = "tictactoe"
    names: tuple[str, str] = ("X", "O")


@dataclass(frozen=True, slots=True)
class LookOn:
    """Look on at two strategies that play here under the names of people; X is named first."""

    game: str = "tictactoe"
    strategies: tuple[str, str] = ("alphabeta", "mcts")
    names: tuple[str, str] = ("Ada", "Max")


@dataclass(frozen=True, slots=True)
class Host:
    """Start a server here, and join it."""


@dataclass(frozen=True, slots=True)
class Local:
    """A match at this keyboard: by side, the player (a person or a strategy) and their name."""

    game: str
    players: tuple[str, str] = (HUMAN, HUMAN)
    names: tuple[str, str] = ("X", "O")
    start: str | None = None
    """The position to begin from, if it is not the usual one."""

    @property
    def is_for_people_alone(self) -> bool:
        """Whether no strategy plays."""
        return self.people == len(self.players)

    @property
    def people(self) -> int:
        """How many people sit at the keyboard."""
        return self.players.count(HUMAN)


class Served(NamedTuple):
    """A server of our own: its address and the folder of its journal."""

    url: str
    journal: str
    people: Callable[[], int]
    """Returns how many people are connected to it, ourselves among them."""
    wait: Callable[[], None]
    """Waits until it has ended."""
    stop: Callable[[], None]
    """Asks it to end."""

    def guests(self) -> int:
        """Return how many other people are connected to it."""
        return max(0, self.people() - 1)


Place = Go | Alone | Together | LookOn | Host


class Address(NamedTuple):
    """A server, and the invitation code that a link to it held."""

    url: str
    code: str | None = None


def read_address(text: str) -> Address:
    """Return the address that was typed or pasted. Raises `ConfigurationError` if it is none.

    The web address of a server is one of its addresses, and the link of an invitation has its code.
    """
    bare = text.strip()
    scheme, _, _ = bare.partition("://")
    if scheme.lower() not in _SITES:
        return Address(url_of(bare))
    parts = urlsplit(url_of(_SITES[scheme.lower()] + bare[len(scheme) :]))
    invited = _INVITATION.fullmatch(f"{parts.path}#{parts.fragment}" if parts.fragment else parts.path)
    return Address(f"{parts.scheme}://{parts.netloc}", code_of(invited[1]) if invited else None)


def url_of(text: str) -> str:
    """Return the address as a URL. Raises `ConfigurationError` if it is none."""
    allowed = f"{clean(text, 60)!r} is no address; write host, host:port, ws://host:port or wss://host:port"
    bare = text.strip()
    try:
        if "://" not in bare:
            bare = f"ws://{_with_port(bare)}"
        parts = urlsplit(bare)
        (parts.hostname or "").encode("idna")  # an empty or endless label is no name
        is_port = parts.port in _PORTS or (parts.port is None and not parts.netloc.endswith(":"))
        is_good = parts.scheme in ("ws", "wss") and parts.hostname and is_port
    except ValueError:
        is_good = False
    if not is_good or "@" in bare or not bare.isascii() or any(c.isspace() or not c.isprintable() for c in bare):
        raise ConfigurationError(allowed)
    return bare


def server_at(url: str) -> str:
    """Return the server at a URL as people see it and identities know it: host and port."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    return f"{parts.hostname}:{port}"


def site_of(url: str) -> str:
    """Return the web address of the server at a URL, for a browser."""
    scheme, _, rest = url.partition("://")
    return f"{'https' if scheme == 'wss' else 'http'}://{rest}"


def code_of(text: str) -> str:
    """Return the invitation code that was typed, in upper case. Raises `ConfigurationError` if it is none."""
    if CODE.fullmatch(text.strip()) is None:
        raise ConfigurationError(f"{clean(text, 20)!r} is no invitation code; one looks like BCD234")
    return text.strip().upper()


def _with_port(host: str) -> str:
    """Return a host with our port behind it, if it names none."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host if ":" in host else f"{host}:{DEFAULT_PORT}"
    return f"[{address}]:{DEFAULT_PORT}" if address.version == 6 else f"{address}:{DEFAULT_PORT}"


FILE_OF_SERVERS = "servers.json"
MAX_SERVERS = 8
MAX_TITLE_CELLS = 40


class Used(NamedTuple):
    """A server that was joined: its address and its name."""

    url: str
    title: str


def servers_used() -> tuple[Used, ...]:
    """Return the servers that were joined, newest first; lines of the file that name none are left out."""
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
    """Put the server in front of all others; a disk that refuses means only that it is typed again."""
    used, title = servers_used(), clean(title, MAX_TITLE_CELLS)
    others = [each for each in used if each.url != url]
    newest = (Used(url, title), *others)[:MAX_SERVERS]
    if newest != used:
        with suppress(OSError):
            write_private(identity.home() / FILE_OF_SERVERS, json.dumps(newest))
