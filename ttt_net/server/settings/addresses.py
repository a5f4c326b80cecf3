"""Listen, and list the addresses under which friends find the server."""

import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import MutableMapping
from urllib.parse import urlsplit

from ttt_net.errors import ConfigurationError

_FIRST_INHERITED = 3
"""The number of the first socket that a service manager hands over: SD_LISTEN_FDS_START."""
_FIRST_FREE_PORT = 1024
"""The ports below are for root alone, as a rule."""
BACKLOG = 1024
"""Connections that may wait to be accepted; with the usual 100, a rush is turned away and retries a second later."""


def listen(host: str | None, port: int, flag: str = "--port") -> socket.socket:
    """Return a listening socket on `host` (None: all interfaces, IPv4 and IPv6); port 0 picks a free one.

    Where that cannot be, `ConfigurationError` names the flag that another is chosen with.
    """
    if not 0 <= port <= 65_535:  # some systems would take the port modulo 65,536
        raise ConfigurationError(f"port {port} is out of range; ports are 0 to 65535")
    try:
        if host is None and socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
        family, _, _, _, address = socket.getaddrinfo(
            host or "0.0.0.0",  # noqa: S104 - a game for the whole network listens to the whole network
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:  # which a name is that no DNS could have
        where = f"port {port}" if host is None else f"{host}:{port}"
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise ConfigurationError(
                f"{where} is taken, perhaps by a server that runs already; choose another with {flag}"
            ) from None
        advice = _advice(error, host, port, "--host" if flag == "--port" else flag)
        raise ConfigurationError(f"cannot listen on {where}: {advice}") from None


def _advice(error: OSError | UnicodeError, host: str | None, port: int, flag: str) -> str:
    """Return what a system's complaint about an address means, and what to do."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return f"there is no address of that name; name one of this machine's own with {flag}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"this machine has no address {host}; name one of its own with {flag}"
    if error.errno == errno.EACCES and 0 < port < _FIRST_FREE_PORT:
        return f"this user may not use ports below {_FIRST_FREE_PORT}; choose another, and let a proxy in front have it"
    return error.strerror or str(error)


def check_url(text: str) -> None:
    """Check that `text` is what a client takes as an address, with its scheme. Raises `ValueError` if it is not."""
    url = urlsplit(text)
    if (
        url.scheme not in ("ws", "wss")
        or not url.hostname
        or url.path
        or url.query
        or url.fragment
        or "@" in url.netloc
    ):
        raise ValueError(f"{text!r} is no address of a server; write wss://play.example.org or ws://192.0.2.7:8765")
    _ = url.port  # raises too, where it is none


def inherited(environment: MutableMapping[str, str]) -> socket.socket | None:
    """Return the listening socket that the service manager has opened for this process; None if there is none.

    This is systemd's protocol (sd_listen_fds(3)): while a server restarts, the manager keeps the socket open, and who
    connects waits in the kernel. The variables are taken out of the environment, since they are for no child. Raises
    `ConfigurationError` if what was handed over cannot be served.
    """
    process, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if process != str(os.getpid()):
        return None
    if count != "1":
        raise ConfigurationError(f"the service manager hands over {count or 'no'} sockets; one is served")
    try:
        listening = socket.socket(fileno=_FIRST_INHERITED)
    except OSError as error:
        raise ConfigurationError(f"what the service manager hands over is no socket: {error.strerror}") from None
    is_stream = listening.family in (socket.AF_INET, socket.AF_INET6) and listening.type == socket.SOCK_STREAM
    if not is_stream or not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise ConfigurationError("the socket that the service manager hands over listens to no TCP port")
    listening.set_inheritable(False)
    return listening


def display(host: str, port: int) -> str:
    """Return host and port as they stand in an address, IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def local_addresses() -> list[str]:
    """Return the addresses of this machine on its networks, the one of the default route first; IPv4 only."""
    import ifaddr  # after the start: it takes a while, and not every server needs it

    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        # A documentation address: a route is looked up, nothing is sent. It fails without any network.
        probe.connect(("192.0.2.1", 9))
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += [str(each.ip) for adapter in ifaddr.get_adapters() for each in adapter.ips if each.is_IPv4]
    return [address for address in dict.fromkeys(found) if not address.startswith("127.")]


def is_loopback(host: str | None) -> bool:
    """Tell whether only this machine can reach a server on that host."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
