"""Keep the servers that were joined from this machine, newest first, in a file beside the identities."""

import json
from contextlib import suppress
from typing import NamedTuple

from ttt_net.client.finding.address import url_of
from ttt_net.errors import ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean

FILE = "servers.json"
MAX_SERVERS = 8
MAX_TITLE_CELLS = 40


class Used(NamedTuple):
    """A server that was joined: its address, and what it called itself."""

    url: str
    title: str


def servers_used() -> tuple[Used, ...]:
    """Return the servers that were joined, newest first; lines of the file that name none are left out."""
    try:
        rows = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    found = []
    for row in rows if isinstance(rows, list) else []:
        match row:
            case [str(url), str(title)]:
                with suppress(ConfigurationError):
                    found.append(Used(url_of(url), clean(title, MAX_TITLE_CELLS)))
    return tuple(found[:MAX_SERVERS])


def remember_server(url: str, title: str) -> None:
    """Put the server in front of all others; a disk that refuses means only that it is typed again."""
    used, title = servers_used(), clean(title, MAX_TITLE_CELLS)
    others = [each for each in used if each.url != url]
    newest = (Used(url, title), *others)[:MAX_SERVERS]
    if newest != used:
        with suppress(OSError):
            write_private(identity.home() / FILE, json.dumps(newest))
