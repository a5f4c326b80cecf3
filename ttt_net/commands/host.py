"""Run a server inside a client: for everybody, or for this keyboard alone."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ttt_net.client.command_line.local import AT_HOME
from ttt_net.client.command_line.options import Options
from ttt_net.client.served import Served
from ttt_net.errors import ConfigurationError
from ttt_net.programs import SERVER
from ttt_net.server.embedded import server_inside
from ttt_net.server.process.startup_banner import greet
from ttt_net.server.settings.configuration import Configuration, Limits
from ttt_net.server.settings.rate import Rate
from ttt_net.server.settings.sources import read_order

LOG_FILE = "host.log"
_MAX_LOG_BYTES = 1_000_000
_MANY = 1_000_000


def serve(options: Options) -> AbstractContextManager[Served]:
    """Run a server inside the block, for everybody or for this keyboard alone, and tell how to join it."""
    return _private_server() if options.local is not None else _public_server(options)


@contextmanager
def _private_server() -> Iterator[Served]:
    """Run a server for one match at this keyboard: on the loopback, and gone without a trace afterwards."""
    logging.getLogger("ttt_net.server").addHandler(logging.NullHandler())  # a line on stderr would tear the screen
    with tempfile.TemporaryDirectory(prefix="ttt_net-local-") as folder:
        limits = Limits(
            free_names=True, max_connections=8, codes=Rate(_MANY), matches=Rate(_MANY), messages=Rate(_MANY)
        )
        private = Configuration(
            host="127.0.0.1", port=0, data=Path(folder), name=AT_HOME, announce=False, house_bots=False, limits=limits
        )
        with server_inside(private) as where:
            yield Served(f"ws://127.0.0.1:{where.port}")


@contextmanager
def _public_server(options: Options) -> Iterator[Served]:
    """Run the server that `server.py` would run, and print what it prints, but for its log, which goes into a file."""
    configuration = replace(read_order([], os.environ).configuration, port=options.port)
    if configuration.public or configuration.tls != type(configuration.tls)():
        raise ConfigurationError(
            f"--host is for your own network, in clear; for tls or public start {SERVER}, and join it"
        )
    log = logging.getLogger("ttt_net.server")
    with server_inside(configuration) as where:
        handler = RotatingFileHandler(
            configuration.folder / LOG_FILE, maxBytes=_MAX_LOG_BYTES, backupCount=1, delay=True
        )
        log.addHandler(handler)
        try:
            greet(where, sys.stderr if options.is_json else None)
            yield Served(f"ws://localhost:{where.port}", str(configuration.folder.resolve()))
        finally:
            log.removeHandler(handler)
            handler.close()
