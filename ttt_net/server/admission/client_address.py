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
"""The number of cached parsed addresses: a flooding one is looked up all the time."""
_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d{1,5})?|(?P<four>\d+\.\d+\.\d+\.\d+):\d{1,5}", re.ASCII)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return the parsed networks. Raises `ValueError`, with the text, if one is invalid."""
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
    """Return the /56 and the /48 around an IPv6 address, which a single customer may own; empty for IPv4."""
    found = _read(address)
    if not isinstance(found, IPv6Address):
        return ()
    return tuple(str(IPv6Network((found, length), strict=False)) for length in _WIDER)


def network_at(address: str, version: int, length: int) -> Network | None:
    """Return the network of an address with a prefix length; None for an address of the other IP version."""
    found = _read(address)
    return ip_network((found, length), strict=False) if found is not None and found.version == version else None


def coarse(address: str) -> str:
    """Return the coarse address for logs: the /24 of IPv4, the /48 of IPv6."""
    found = _read(address)
    return UNKNOWN if found is None else str(ip_network((found, 24 if found.version == 4 else 48), strict=False))


def shown(address: str) -> str:
    """Return the address for display: mapped IPv4 as IPv4, and without the interface."""
    found = _read(address)
    return address if found is None else str(found)


def caller_of(peer: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str:
    """Return the address that a connection comes from.

    `forwarded` are the values of `X-Forwarded-For`. Only the part written by listed proxies is trusted: the caller is
    the rightmost address that is not a listed proxy. Anybody may have written the rest.
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
    """Return the parsed address, with mapped IPv4 as IPv4; None for any other text."""
    with_port = _WITH_PORT.fullmatch(text)
    bare = (with_port["six"] or with_port["four"]) if with_port else text
    try:
        found = ip_address(bare.partition("%")[0])  # a link-local address includes its interface
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
