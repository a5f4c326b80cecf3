"""Ask a person whether a certificate that no authority has signed is the host's, and pin it if they say so."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from ttt_net.client.options import Options
from ttt_net.sdk.certificate_pinning import certificate_at, pin, pinned_fingerprint, was_vouched

_NO_QUESTION = (
    "An authority vouched for this server when you were here last, and none does now: somebody may stand between you "
    "and it, so nothing was sent."
)
_GROUP, _GROUPS_A_LINE = 4, 8


def with_pin(options: Options) -> Options:
    """Return the options with the pinned certificate of their server, unless another one is asked for."""
    if options.trust.fingerprint is not None:
        return options
    return _trusting(options, pinned_fingerprint(options.server))


def with_new_pin(options: Options, why: str, ask: Callable[[str], str], write: Callable[[str], None]) -> Options | None:
    """Return the options with a certificate that the person here accepts; `why` says why it is not trusted.

    None where they do not, or where it is no question: in clear, where another certificate is expected, and where an
    authority vouched for the server before, as somebody in between would have it forgotten.
    """
    if not options.url.startswith("wss:") or options.trust.fingerprint is not None:
        return None
    if was_vouched(options.server):
        write(f"{options.url}: {why}. {_NO_QUESTION}")
        return None
    fingerprint = asyncio.run(certificate_at(options.url))
    if fingerprint is None or not is_accepted(options.url, why, fingerprint, ask, write):
        return None
    pin(options.server, fingerprint)
    return _trusting(options, fingerprint)


def _trusting(options: Options, fingerprint: str | None) -> Options:
    return replace(options, trust=replace(options.trust, fingerprint=fingerprint))


def is_accepted(url: str, why: str, shown: str, ask: Callable[[str], str], write: Callable[[str], None]) -> bool:
    """Show the fingerprint of the certificate at an address, and tell whether a person says that it is the host's."""
    groups = [shown[at : at + _GROUP] for at in range(0, len(shown), _GROUP)]
    write(f"{url}: {why}. Its SHA-256 fingerprint is:")
    for at in range(0, len(groups), _GROUPS_A_LINE):
        write(f"  {' '.join(groups[at : at + _GROUPS_A_LINE])}")
    compare = "Compare it with the one that the server printed: by telephone, or on its own screen."
    write(f"{compare} If it differs, somebody stands between you and the server.")
    return ask("Is it the same? yes, or else nothing is sent: ").strip().lower() in ("y", "yes")
