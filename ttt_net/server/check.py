"""Check a configuration for faults and risks: `server.py check`.

A server does not start with a wrong setting. A risky one may be intended, so the server starts.
"""

import ipaddress
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from ttt_net.errors import ConfigurationError
from ttt_net.networks import is_loopback
from ttt_net.server.admission.client_address import networks
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.settings.listening import certificate_for, expires, listen, local_addresses

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

EXAMPLE_HOST = "play.example.org"
"""The example host name in the files and pages of docs/."""
FINE, RISKY, WRONG = range(3)
"""The exit codes of a check."""
SOON = timedelta(days=14)
MIN_FREE_BYTES = 200_000_000
_CONNECTION_BYTES = 40_960
"""The memory of a connection with TLS, apart from unsent data."""
_MIN_PREFIX = {4: 8, 6: 32}
"""A network with a shorter prefix cannot consist of somebody's proxies only."""


def report(configuration: Configuration) -> int:
    """Print faults and risks; return the exit code."""
    wrong, risky = list(faults(configuration)), []
    if not wrong:
        risky = list(risks(configuration))
    for line in wrong:
        print(f"wrong: {line}")
    for line in risky:
        print(f"risky: {line}")
    if wrong:
        return WRONG
    if not risky:
        print("fine: nothing wrong and nothing risky was found")
    return RISKY if risky else FINE


def refuse_faults(configuration: Configuration) -> None:
    """Raise `ConfigurationError` for the first thing that is wrong."""
    for line in faults(configuration):
        raise ConfigurationError(line)


def faults(configuration: Configuration) -> Iterator[str]:
    """Yield the reasons why the server cannot start."""
    limits = configuration.limits
    if configuration.public and not configuration.tls.is_on and not configuration.behind_proxy:
        yield (
            "public: strangers' tokens would go over the Internet in clear; set tls.cert and tls.key, "
            "or behind_proxy if a proxy in front has the certificate"
        )
    if limits.ping_after_s >= limits.dead_after_s:
        yield (
            f"limits.ping_after_s is {limits.ping_after_s:g} and limits.dead_after_s is {limits.dead_after_s:g}: "
            "everybody who is silent would be dropped before being asked"
        )
    if urlsplit(configuration.public_url).hostname == EXAMPLE_HOST:
        yield f"public_url: {configuration.public_url} is the example of the documentation; write your server's address"
    yield from configuration.cluster.faults(configuration.node, configuration.public_url)
    try:
        certificate_for(configuration.tls, configuration.folder)
        if configuration.tls.cert and _ends(configuration.tls.cert) < datetime.now(UTC):
            yield f"tls.cert: {configuration.tls.cert} has expired, so that every client would refuse it"
    except ConfigurationError as error:
        yield str(error)


def risks(configuration: Configuration) -> Iterator[str]:
    """Yield settings that are allowed but risky, for `--check`."""
    yield from _on_the_network(configuration)
    yield from _of_the_proxy(configuration)
    yield from _of_the_certificate(configuration)
    yield from configuration.cluster.risks()
    yield from named_for_nothing(configuration)
    yield from _of_the_folder(configuration.folder)
    yield from _of_the_machine(configuration)
    if (configuration.house_bots or configuration.limits.analysis_s) and find_spec("numba") is None:
        yield (
            "the compiled engine is not installed: house bots play weaker, and no match is analysed move by move; "
            "in a clone: make install-host, elsewhere: pipx install 'ttt_net[host]'"
        )


def named_for_nothing(configuration: Configuration) -> Iterator[str]:
    """Yield the settings that name a missing file or no cluster: the server starts anyway, and reports it."""
    if (words := configuration.filtered_words) is not None and not words.is_file():
        yield f"filtered_words: there is no file {words}; nothing is filtered until there is"
    if (engines := configuration.house_engines) is not None and configuration.house_bots and not engines.is_file():
        yield f"house_engines: there is no file {engines}; the house bots play without engines"
    if configuration.node and not configuration.cluster.is_on:
        yield f"node: {configuration.node} is one of no cluster, and serves alone; set cluster.ledger"


def _on_the_network(configuration: Configuration) -> Iterator[str]:
    is_clear = not configuration.tls.is_on and not configuration.behind_proxy
    hosts = [configuration.host] if configuration.host else local_addresses()
    world = [host for host in hosts if _is_global(host)]
    if is_clear and world:
        yield f"host: anybody can reach {world[0]}, and nothing is encrypted; see public"
    if configuration.public and configuration.limits.messages.per_s > 1_000:
        yield f"limits.messages: {configuration.limits.messages} lets one stranger keep the server busy"
    if configuration.public and configuration.rates_same_address:
        yield "limits.rated_same_address: one person with many names can win a place on the leaderboard; leave it empty"
    for network in networks(configuration.limits.unmetered):
        if configuration.public and not network.is_loopback:
            yield f"limits.unmetered: nothing limits {network}; on a public server that is for tests"
    try:
        listen(configuration.host or None, configuration.port).close()
    except ConfigurationError as error:
        yield f"port: {error}"


def _of_the_proxy(configuration: Configuration) -> Iterator[str]:
    if not configuration.behind_proxy:
        return
    if not (configuration.host and is_loopback(configuration.host)) and not configuration.tls.is_on:
        yield "host: the server can be reached beside the proxy, in clear; if the proxy is here, listen on 127.0.0.1"
    for network in networks(configuration.proxies):
        if network.prefixlen < _MIN_PREFIX[network.version]:
            yield f"proxies: everybody in {network} may say who they are, and so get around every limit of addresses"


def _of_the_certificate(configuration: Configuration) -> Iterator[str]:
    tls = configuration.tls
    if tls.self_signed and configuration.public:
        yield "tls.self_signed: browsers warn of it, and clients need its fingerprint; it is for a trial"
    if tls.cert and _ends(tls.cert) < datetime.now(UTC) + SOON:
        yield f"tls.cert: {tls.cert} ends on {_ends(tls.cert):%Y-%m-%d}; renew it, and send SIGHUP"
    if tls.key and tls.key.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield f"tls.key: others on this machine can read {tls.key}, and so be this server; chmod 600 it"


def _of_the_folder(folder: Path) -> Iterator[str]:
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if there == folder and folder.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"data: others on this machine may look into {folder}; chmod 700 it"
    if not os.access(there, os.W_OK):
        yield f"data: {there} cannot be written to by this user"
    free = shutil.disk_usage(there).free
    if free < MIN_FREE_BYTES:
        yield f"data: {free // 1_000_000} MB are free for {folder}; when nothing is left, moves are refused"


def _of_the_machine(configuration: Configuration) -> Iterator[str]:
    limits = configuration.limits
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        yield "the server would run as root, and an intruder would be root; give it a user of its own"
    files = file_limit()
    if files is not None and files < limits.max_connections + 100:
        yield f"limits.max_connections: {limits.max_connections:,}, and the system allows {files:,} open files"
    most = limits.max_connections * (limits.unsent_bytes + 2 * limits.kernel_send_buffer + _CONNECTION_BYTES)
    if (memory := memory_bytes()) is not None and most > memory // 2:
        yield (
            f"limits.max_connections: if {limits.max_connections:,} clients stop to read, "
            f"{most // 1_000_000:,} MB of {memory // 1_000_000:,} are taken"
        )


def _ends(cert: Path) -> datetime:
    """Return when a certificate expires; the maximal date if the package that can read it is missing."""
    try:
        return expires(cert)
    except ImportError:
        return datetime.max.replace(tzinfo=UTC)


def _is_global(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def file_limit() -> int | None:
    """Return how many files the system lets a process open; None if unknown."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] if resource is not None else None


def memory_bytes() -> int | None:
    """Return the size of the machine's memory; None if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
