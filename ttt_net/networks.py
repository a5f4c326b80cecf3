"""Tell which addresses may be spoken to in clear, and write one without the password in it. Knows no sockets."""

import ipaddress

_PRIVATE = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
"""RFC 1918 and RFC 4193; what Python calls private has more in it, such as addresses for documentation."""


def is_address(host: str) -> bool:
    """Tell whether the host is an address, and not a name."""
    return _parsed(host) is not None


def is_private(host: str) -> bool:
    """Tell whether the host is an address of this machine or of a local network, by its kind alone; no name is."""
    found = _parsed(host)
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if found is None:
        return False
    return found.is_loopback or found.is_link_local or any(found in network for network in _PRIVATE)


def without_login(url: str) -> str:
    """Return an address without the user and the password in it, as it may be shown."""
    scheme, mark, rest = url.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


def _parsed(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None
