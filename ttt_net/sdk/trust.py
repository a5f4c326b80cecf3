"""Decide whether to trust a server, so that nobody in between reads messages or steals the token.

An address of the local network needs no encryption. Any other needs TLS, with a certificate that the system trusts or
that has the fingerprint given by the host, or an explicit flag to allow plain text.

A certificate that a person has compared and accepted is pinned: its fingerprint is stored in a file. Nothing is trusted
on first use. Another certificate at an address with a pin is rejected, and so is a self-signed one at an address that
had a signed one before.
"""

import hashlib
import ipaddress
import json
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ttt_net.errors import ConfigurationError
from ttt_net.networks import is_address, is_private
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean

if TYPE_CHECKING:  # loaded later, so that the first picture does not wait
    import asyncio
    import ssl

FINGERPRINT = re.compile(r"(?:[0-9a-f]{2}:?){31}[0-9a-f]{2}", re.ASCII)
IN_CLEAR = (
    "it is not encrypted and not on your network: anybody on the way could read your token and play as you; "
    "use wss://, or add --insecure"
)


@dataclass(frozen=True, slots=True)
class Trust:
    """Requirements that a server must meet before the client logs in."""

    fingerprint: str | None = None
    """The SHA-256 of the server's certificate, which replaces a signature by an authority."""
    is_insecure: bool = False
    """Whether to allow plain text beyond the local network."""

    def context(self, url: str) -> "ssl.SSLContext | None":
        """Return the TLS context of the connection; None without encryption."""
        if urlsplit(url).scheme != "wss":
            return None
        return checking() if self.fingerprint is None else encrypting()

    def objection(self, transport: "asyncio.BaseTransport") -> str | None:
        """Return why nothing may be sent over this connection; None if it is trusted."""
        encryption = transport.get_extra_info("ssl_object")
        if encryption is None:
            peer = transport.get_extra_info("peername")
            is_fine = self.is_insecure or is_local(peer[0] if peer else "")
            return None if is_fine else IN_CLEAR
        if self.fingerprint is not None:
            shown = hashlib.sha256(encryption.getpeercert(binary_form=True) or b"").hexdigest()
            if shown != self.fingerprint:
                return f"its certificate has another fingerprint, {shown}; ask its host, then add --tls-fingerprint"
        return None


def trust_of(url: str, fingerprint: str | None, *, is_insecure: bool) -> Trust:
    """Return the trust requested by the command line. Raises `ConfigurationError` if it is contradictory."""
    parts = urlsplit(url)
    if fingerprint is not None:
        given = fingerprint.strip().lower()
        if not FINGERPRINT.fullmatch(given):
            raise ConfigurationError(f"--tls-fingerprint {clean(fingerprint, 80)}: 64 hexadecimal digits")
        if parts.scheme != "wss":
            raise ConfigurationError("--tls-fingerprint is for encrypted servers; write wss://host:port")
        return Trust(given.replace(":", ""), is_insecure)
    host = parts.hostname or ""
    if parts.scheme == "ws" and not is_insecure and is_address(host) and not is_local(host):
        raise ConfigurationError(f"{url}: {IN_CLEAR}")
    return Trust(None, is_insecure)


def is_local(address: str) -> bool:
    """Tell whether the address is on this machine, of any kind, or on its network: private or link-local."""
    return is_private(address) or (is_address(address) and _is_ours(ipaddress.ip_address(address.partition("%")[0])))


def _is_ours(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Tell whether this machine has the address: then packets to it would also come from it."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))  # this looks up a route and sends nothing
            return ipaddress.ip_address(probe.getsockname()[0].partition("%")[0]) == address
    except OSError:
        return False


@cache
def checking() -> "ssl.SSLContext":
    """Return the TLS context for a server whose certificate the system trusts."""
    import ssl

    return ssl.create_default_context()


@cache
def encrypting() -> "ssl.SSLContext":
    """Return a TLS context without checks: `objection` checks before anything is sent."""
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


FILE = "certificates.json"
MAX_CERTIFICATES = 256
_VOUCHED = "vouched"
"""Stored in place of a fingerprint for a server whose certificate an authority signed."""


def pinned_fingerprint(server: str) -> str | None:
    """Return the fingerprint that is pinned for a host and port, or None."""
    fingerprint = _read_pins().get(server)
    return fingerprint if fingerprint is not None and FINGERPRINT.fullmatch(fingerprint) else None


def was_vouched(server: str) -> bool:
    """Tell whether an authority vouched for the host and port when it was joined last."""
    return _read_pins().get(server) == _VOUCHED


def note_vouched(server: str) -> None:
    """Remember that an authority vouched for the host and port, which therefore need no self-signed certificate."""
    if not was_vouched(server):
        pin(server, _VOUCHED)


def pin(server: str, fingerprint: str) -> None:
    """Pin a fingerprint for a host and port; if the disk fails, the person is asked again next time."""
    others = {known: each for known, each in _read_pins().items() if known != server}
    newest = dict([*others.items(), (server, fingerprint)][-MAX_CERTIFICATES:])
    with suppress(OSError):
        write_private(identity.home() / FILE, json.dumps(newest))


def replace_pin(server: str, fingerprint: str) -> None:
    """Replace a pinned fingerprint: hosts create new certificates, and publish their fingerprints."""
    if _read_pins().get(server) not in (None, fingerprint):
        pin(server, fingerprint)


def _read_pins() -> dict[str, str]:
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = kept.items() if isinstance(kept, dict) else ()
    return {server: fingerprint for server, fingerprint in pairs if isinstance(fingerprint, str)}
