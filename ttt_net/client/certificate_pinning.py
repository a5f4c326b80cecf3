"""Pin a certificate that only the person here can vouch for: asked once, by its fingerprint, then remembered.

Nothing is trusted at first sight, and nothing that was announced is: what is shown is the certificate that was met, and
the answer is a person's. Another certificate at the same address is refused, and not asked about again.
"""

import asyncio
import hashlib
import json
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

from ttt_net.client.command_line.options import Options
from ttt_net.client.link import identity
from ttt_net.client.link.trust import FINGERPRINT, encrypting

FILE = "certificates.json"
MAX_CERTIFICATES = 64
_TIMEOUT_S = 3.0
_GROUP, _GROUPS_A_LINE = 4, 8


def vouched(server: str) -> str | None:
    """Return the fingerprint that somebody here has vouched for at that host and port."""
    fingerprint = _kept().get(server)
    return fingerprint if fingerprint is not None and FINGERPRINT.fullmatch(fingerprint) else None


def vouch(server: str, fingerprint: str) -> None:
    """Remember it; a disk that refuses means only that it is asked again."""
    others = {known: each for known, each in _kept().items() if known != server}
    newest = dict([*others.items(), (server, fingerprint)][-MAX_CERTIFICATES:])
    with suppress(OSError):
        identity.write_private(identity.home() / FILE, json.dumps(newest))


def vouch_anew(server: str, fingerprint: str) -> None:
    """Remember it in place of another one: hosts make new certificates, and give out their fingerprints."""
    if vouched(server) not in (None, fingerprint):
        vouch(server, fingerprint)


def _kept() -> dict[str, str]:
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    pairs = kept.items() if isinstance(kept, dict) else ()
    return {server: fingerprint for server, fingerprint in pairs if isinstance(fingerprint, str)}


def as_vouched(options: Options) -> Options:
    """Return the options with the certificate that was vouched for at an earlier time, unless another is asked for."""
    if options.trust.fingerprint is not None:
        return options
    return _trusting(options, vouched(options.server))


def vouched_now(options: Options, why: str, ask: Callable[[str], str], write: Callable[[str], None]) -> Options | None:
    """Return the options with a certificate that the person here vouches for; `why` says what is wrong with it.

    None where the person does not, or where it is no question: in clear, and where another certificate is expected.
    """
    if not options.url.startswith("wss:") or options.trust.fingerprint is not None:
        return None
    fingerprint = asyncio.run(certificate_at(options.url))
    if fingerprint is None or not ask_to_vouch(options.url, why, fingerprint, ask, write):
        return None
    vouch(options.server, fingerprint)
    return _trusting(options, fingerprint)


def _trusting(options: Options, fingerprint: str | None) -> Options:
    return replace(options, trust=replace(options.trust, fingerprint=fingerprint))


def ask_to_vouch(url: str, why: str, shown: str, ask: Callable[[str], str], write: Callable[[str], None]) -> bool:
    """Show the fingerprint of the certificate at an address, and tell whether a person says that it is the host's."""
    groups = [shown[at : at + _GROUP] for at in range(0, len(shown), _GROUP)]
    write(f"{url}: {why}. Its SHA-256 fingerprint is:")
    for at in range(0, len(groups), _GROUPS_A_LINE):
        write(f"  {' '.join(groups[at : at + _GROUPS_A_LINE])}")
    compare = "Compare it with the one that the server printed: by telephone, or on its own screen."
    write(f"{compare} If it differs, somebody stands between you and the server.")
    return ask("Is it the same? yes, or else nothing is sent: ").strip().lower() in ("y", "yes")


async def certificate_at(url: str) -> str | None:
    """Return the fingerprint of the certificate that is met there; nothing is said to whoever shows it."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=encrypting())
    except (OSError, TimeoutError, ssl.SSLError):
        return None
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return hashlib.sha256(certificate).hexdigest() if certificate else None
