"""Run a server inside a client, open to everybody."""

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from logging.handlers import RotatingFileHandler

from ttt_net.client.address import Served
from ttt_net.client.options import Options
from ttt_net.command_line import SERVER
from ttt_net.errors import ConfigurationError
from ttt_net.server.announcing import greet
from ttt_net.server.serving import server_inside
from ttt_net.server.settings.sources import read_order

LOG_FILE = "host.log"
_MAX_LOG_BYTES = 1_000_000


@contextmanager
def serve(options: Options) -> Iterator[Served]:
    """Run the server like `server.py`, with the same output, but with its log in a file."""
    try:
        yield from _served(options)
    except ConfigurationError as error:
        raise ConfigurationError(_without_flags(str(error))) from None


def _without_flags(sentence: str) -> str:
    """Return a server's error with environment variables in place of flags that a client lacks."""
    flag = r"\bwith --(data|admin|host)\b( or TTT_NET_\w+)?"
    return re.sub(flag, lambda found: f"with the variable TTT_NET_{found[1].upper()}", sentence)


def _served(options: Options) -> Iterator[Served]:
    configuration = replace(read_order([], os.environ).configuration, port=options.port)
    if configuration.public or configuration.tls != type(configuration.tls)():
        raise ConfigurationError(
            f"--host is for your own network, in clear; for tls or public start {SERVER}, and join it"
        )
    log = logging.getLogger("ttt_net.server")
    with server_inside(configuration) as server:
        handler = RotatingFileHandler(
            configuration.folder / LOG_FILE, maxBytes=_MAX_LOG_BYTES, backupCount=1, delay=True
        )
        log.addHandler(handler)
        try:
            greet(server.where, sys.stderr if options.is_json else None)
            url, folder = f"ws://localhost:{server.where.port}", str(configuration.folder.resolve())
            yield Served(url, folder, server.people, server.wait, server.stop)
        finally:
            log.removeHandler(handler)
            handler.close()
