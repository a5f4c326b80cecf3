"""Pin the certificates of servers: the fingerprints that a person here has compared and accepted are kept in a file.

Nothing is trusted at first sight, and nothing that was announced is: another certificate at an address whose
certificate is pinned is refused, and so is one that no authority vouches for where one did before.
"""

import asyncio
import hashlib
import json
import ssl
from contextlib import suppress
from urllib.parse import urlsplit

from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.sdk.trust import FINGERPRINT, encrypting

FILE = "certificates.json"
MAX_CERTIFICATES = 256
_VOUCHED = "vouched"
"""Stored in place of a fingerprint for a server whose certificate an authority signed."""
_TIMEOUT_S = 3.0


def pinned_fingerprint(server: str) -> str | None:
    """Return the fingerprint that is pinned for a host and port, or None."""
    fingerprint = _read_pins().get(server)
    return fingerprint if fingerprint is not None and FINGERPRINT.fullmatch(fingerprint) else None


def was_vouched(server: str) -> bool:
    """Tell whether an authority vouched for the host and port when it was joined last."""
    return _read_pins().get(server) == _VOUCHED


def note_vouched(server: str) -> None:
    """Remember that an authority vouched for the host and port: it has no need of a certificate of its own making."""
    if not was_vouched(server):
        pin(server, _VOUCHED)


def pin(server: str, fingerprint: str) -> None:
    """Pin a fingerprint for a host and port; where the disk refuses, it is asked for again."""
    others = {known: each for known, each in _read_pins().items() if known != server}
    newest = dict([*others.items(), (server, fingerprint)][-MAX_CERTIFICATES:])
    with suppress(OSError):
        write_private(identity.home() / FILE, json.dumps(newest))


def replace_pin(server: str, fingerprint: str) -> None:
    """Pin a fingerprint in place of another one: hosts make new certificates, and give out their fingerprints."""
    if _read_pins().get(server) not in (None, fingerprint):
        pin(server, fingerprint)


async def certificate_at(url: str) -> str | None:
    """Return the fingerprint of the certificate that a server shows; nothing is sent to it but the TLS handshake."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=encrypting())
    except (OSError, TimeoutError, ssl.SSLError):
        return None
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return hashlib.sha256(certificate).hexdigest() if certificate else None


def _read_pins() -> dict[str, str]:
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = kept.items() if isinstance(kept, dict) else ()
    return {server: fingerprint for server, fingerprint in pairs if isinstance(fingerprint, str)}
