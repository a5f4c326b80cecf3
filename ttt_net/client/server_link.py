"""Connect to a server: ask whether to trust its certificate, store the token, and remember the server."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ttt_net.client.address import remember_server
from ttt_net.client.mailbox import Event, LocalNotice, Mailbox, post
from ttt_net.client.options import Options
from ttt_net.client.user_io import Ending, complain, delivering, json_writer_of, tap_of
from ttt_net.messages import Welcome
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits, certificate_at
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.trust import (
    note_vouched,
    pin,
    replace_pin,
    was_vouched,
)

_NO_QUESTION = (
    "This server had a certificate from a trusted authority when you were here last, and has none now. Somebody may be "
    "intercepting the connection, so nothing was sent."
)
_GROUP, _GROUPS_A_LINE = 4, 8


def with_new_pin(options: Options, why: str, ask: Callable[[str], str], write: Callable[[str], None]) -> Options | None:
    """Return the options with a certificate that the person accepts; `why` says why it is not trusted.

    Return None if the person rejects it, or must not be asked: without TLS, if another certificate is expected, or if
    an authority vouched for the server before, since an attacker in the middle would want that forgotten.
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
    return replace(options, trust=replace(options.trust, fingerprint=fingerprint))


def is_accepted(url: str, why: str, shown: str, ask: Callable[[str], str], write: Callable[[str], None]) -> bool:
    """Show the fingerprint of the certificate at an address; return whether the person confirms that it is right."""
    groups = [shown[at : at + _GROUP] for at in range(0, len(shown), _GROUP)]
    write(f"{url}: {why}. Its SHA-256 fingerprint is:")
    for at in range(0, len(groups), _GROUPS_A_LINE):
        write(f"  {' '.join(groups[at : at + _GROUPS_A_LINE])}")
    compare = "Compare it with the one that the server printed: by telephone, or on its own screen."
    write(f"{compare} If it differs, somebody is intercepting the connection.")
    return ask("Is it the same? Type yes to connect: ").strip().lower() in ("y", "yes")


FIRST_MS = 5_000
LATER_MS = 600_000
"""How long to retry a server: one that was never reached, and one that dropped, if nobody can watch and decide."""


Play = Callable[[ClientConnection, Mailbox], Awaitable[Ending]]
"""Plays on a server over a connection that has begun; the mailbox gets its events."""


def joined(options: Options, mine: Identity, load: Callable[[], Play], *, later_ms: int | None) -> Ending:
    """Connect to the server, and play there with what `load` returns.

    It is called in a thread, so that modules are loaded while the handshake is on its way.
    """
    return asyncio.run(_joined(options, mine, load, later_ms=later_ms))


async def _joined(options: Options, mine: Identity, load: Callable[[], Play], *, later_ms: int | None) -> Ending:
    mailbox = Mailbox()
    connection = connection_of(options, mine, mailbox, first_ms=FIRST_MS, later_ms=later_ms)
    async with asyncio.TaskGroup() as group:
        connecting = connection.begin(group)
        play = await asyncio.to_thread(load)
        ending = await play(connection, mailbox)
        connecting.cancel()
    return ending


def connection_of(
    options: Options, mine: Identity, mailbox: asyncio.Queue[Event], *, first_ms: int | None, later_ms: int | None
) -> ClientConnection:
    """Return the connection to the requested server; it delivers events into the mailbox."""
    bot = BotProfile(options.bot, options.level, options.places, options.reserve) if options.bot is not None else None
    session = ClientSession(None if options.is_guest else mine.name, mine.token(), bot)
    limits, tap = ReconnectLimits(first_ms, later_ms), tap_of(json_writer_of(options))
    joined = (lambda welcome: _remember(options, welcome)) if options.bot is None else None
    deliver = delivering(json_writer_of(options), mailbox.put)
    is_watched = options.bot is None and not options.is_json  # by a person, on a screen or in lines

    def say(sentence: str) -> None:
        if is_watched:
            post(mailbox, LocalNotice(sentence))
        else:
            complain(sentence)

    return ClientConnection(options.url, session, deliver, limits, mine.keeping(say), tap, options.trust, joined)


def _remember(options: Options, welcome: Welcome) -> None:
    """Remember a server that a person has joined, at the front of the list, and how it was trusted."""
    remember_server(options.url, welcome.server)
    if options.url.startswith("wss:"):
        if options.trust.fingerprint is not None:
            replace_pin(options.server, options.trust.fingerprint)
        else:
            note_vouched(options.server)
