"""Find the address of a client: which addresses count as one, and which proxies are trusted."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network
UNKNOWN = "unknown"
"""Stands for all addresses that a listed proxy reported wrongly; they count as one."""
_WIDER = (56, 48)
_MAX_HOPS = 32
_MOST_REMEMBERED = 1_024
"""Addresses that need not be read again: one that floods is asked about all the time."""
_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d{1,5})?|(?P<four>\d+\.\d+\.\d+\.\d+):\d{1,5}", re.ASCII)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks; `ValueError` names the text that is none."""
    return tuple(map(ip_network, texts))


def is_among(address: str, among: Iterable[Network]) -> bool:
    """Tell whether the address is in one of the networks."""
    found = _read(address)
    return found is not None and any(found in network for network in among)


def network_of(address: str) -> str:
    """Return the address for limits: an IPv4 address, or the /64 that every IPv6 customer has."""
    found = _read(address)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((found, 64), strict=False))
    return UNKNOWN if found is None else str(found)


def wider_networks(address: str) -> tuple[str, ...]:
    """Return the /56 and the /48 around an IPv6 address, which one customer may have whole; none for IPv4."""
    found = _read(address)
    if not isinstance(found, IPv6Address):
        return ()
    return tuple(str(IPv6Network((found, length), strict=False)) for length in _WIDER)


def network_at(address: str, version: int, length: int) -> Network | None:
    """Return the network of that prefix length that the address is in; None for one of the other version."""
    found = _read(address)
    return ip_network((found, length), strict=False) if found is not None and found.version == version else None


def coarse(address: str) -> str:
    """Return the address as it may be logged: an IPv4 one as its /24, an IPv6 one as its /48."""
    found = _read(address)
    return UNKNOWN if found is None else str(ip_network((found, 24 if found.version == 4 else 48), strict=False))


def shown(address: str) -> str:
    """Return the address as people know it: of IPv4 as IPv4, and without the interface that it came over."""
    found = _read(address)
    return address if found is None else str(found)


def caller_of(peer: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str:
    """Return the address that a connection comes from.

    `forwarded` are the values of `X-Forwarded-For`, which are believed only as far as listed proxies wrote them: the
    caller is the rightmost address that is no proxy of ours. Anybody may have written the rest.
    """
    if not is_among(peer, proxies):
        return peer
    hops = ",".join(forwarded).rsplit(",", _MAX_HOPS)[-_MAX_HOPS:] if forwarded else []
    for hop in reversed(hops):
        found = _read(hop.strip())
        if found is None:
            return UNKNOWN
        if not any(found in network for network in proxies):
            return str(found)
    return peer if not hops else str(_read(hops[0].strip()))


@lru_cache(_MOST_REMEMBERED)
def _read(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address, an IPv4 one as such even where IPv6 carries it; None for any other text."""
    with_port = _WITH_PORT.fullmatch(text)
    bare = (with_port["six"] or with_port["four"]) if with_port else text
    try:
        found = ip_address(bare.partition("%")[0])  # a link-local address comes with its interface
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
