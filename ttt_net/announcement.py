"""Write and read what a server tells the local network: the properties of its mDNS service. Knows no sockets.

Anybody on the network can announce anything, so what was read is clean and within bounds, or it is nothing.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ttt_net.text import clean

SERVICE = "_ttt-net._tcp.local."
"""The kind of service under which servers announce themselves (RFC 6763)."""
MAX_NAME_CELLS = 40
MAX_ADDRESSES = 8
"""Addresses of one server that are looked at."""
_MOST = 1_000_000
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_NUMBER = re.compile(r"\d{1,7}", re.ASCII)
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Announcement:
    """A server on the local network: `players` connected now, `matches` live; addresses are IPv4, the best first."""

    name: str
    port: int
    addresses: tuple[str, ...] = ()
    players: int = 0
    matches: int = 0
    version: str = ""
    is_secure: bool = False
    """Whether the address is wss:// rather than ws://."""

    def properties(self) -> dict[str, str]:
        """Return all but port and addresses, which mDNS has places of its own for."""
        return {
            "txtvers": "1",
            "name": self.name,
            "players": str(self.players),
            "matches": str(self.matches),
            "version": self.version,
            "tls": "1" if self.is_secure else "0",
        }


def read_announcement(
    port: int | None, addresses: Iterable[str], properties: Mapping[bytes, bytes | None]
) -> Announcement | None:
    """Return what was announced, cleaned; None if there is nothing that one could connect to."""
    usable = tuple(dict.fromkeys(address for address in addresses if is_usable(address)))[:MAX_ADDRESSES]
    if port is None or not 1 <= port <= 65_535 or not usable:
        return None
    return Announcement(
        name=clean(_text(properties, "name"), MAX_NAME_CELLS) or "a server without a name",
        port=port,
        addresses=usable,
        players=_number(_text(properties, "players")),
        matches=_number(_text(properties, "matches")),
        version=found[0] if (found := _VERSION.fullmatch(_text(properties, "version"))) else "",
        is_secure=_text(properties, "tls") == "1",
    )


def is_usable(address: str) -> bool:
    """Tell whether the address is one of IPv4 by which another machine can be reached."""
    try:
        parsed = ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return not (parsed.is_multicast or parsed.is_unspecified or parsed.is_loopback or parsed == _BROADCAST)


def _text(properties: Mapping[bytes, bytes | None], key: str) -> str:
    return (properties.get(key.encode()) or b"").decode(errors="replace")


def _number(text: str) -> int:
    return min(int(text), _MOST) if _NUMBER.fullmatch(text) else 0
