"""Classify addresses that need no encryption, and encode and decode a server's announcements on the local network.

This module knows no sockets. Anybody on the network can announce anything, so `read_announcement` returns clean,
bounded values or None.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ttt_net.text import clean

_PRIVATE = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
"""RFC 1918 and RFC 4193; Python's `is_private` includes more, such as addresses for documentation."""


def is_address(host: str) -> bool:
    """Tell whether the host is an address rather than a name."""
    return _parsed(host) is not None


def is_private(host: str) -> bool:
    """Tell whether the host is an address of this machine or of a local network, by its form alone; names are not."""
    found = _parsed(host)
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if found is None:
        return False
    return found.is_loopback or found.is_link_local or any(found in network for network in _PRIVATE)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach the host."""
    found = _parsed(host)
    return host == "localhost" if found is None else found.is_loopback


def without_login(url: str) -> str:
    """Return an address without user and password, for display."""
    scheme, mark, rest = url.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


def _parsed(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


SERVICE = "_ttt-net._tcp.local."
"""The kind of service under which servers announce themselves (RFC 6763)."""
MAX_NAME_CELLS = 40
MAX_ADDRESSES = 8
"""The number of a server's addresses to examine."""
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
        """Return everything except port and addresses, which have separate places in mDNS."""
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
    """Return a cleaned announcement; None if it has no usable address."""
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
    """Tell whether other machines can use this IPv4 address."""
    try:
        parsed = ipaddress.IPv4Address(address)
    except ValueError:
        return False
    return not (parsed.is_multicast or parsed.is_unspecified or parsed.is_loopback or parsed == _BROADCAST)


def _text(properties: Mapping[bytes, bytes | None], key: str) -> str:
    return (properties.get(key.encode()) or b"").decode(errors="replace")


def _number(text: str) -> int:
    return min(int(text), _MOST) if _NUMBER.fullmatch(text) else 0
