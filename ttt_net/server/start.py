"""Carry out the command line. To serve, listen first, and only then load the server's modules.

Loading takes three times as long as everything before. Meanwhile, clients that reconnect to a restarting server wait in
the kernel's queue, and need not retry.
"""

import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from ttt_net.bootstrap import quick_to_end
from ttt_net.command_line import SERVER
from ttt_net.errors import ConfigurationError, SilentLogError
from ttt_net.server.check import named_for_nothing, refuse_faults, report
from ttt_net.server.logs import is_managed, set_up
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.settings.listening import certificate_for, inherited, listen
from ttt_net.server.settings.sources import LaunchOptions, as_file, read_order

log = logging.getLogger(__name__)

AGAIN = 75
"""The exit code of a temporary failure, after which a restart may succeed: EX_TEMPFAIL of sysexits.h."""

for _needed in ("msgspec", "websockets", "segno"):
    if find_spec(_needed) is None:  # the starting script can look elsewhere for it, but only before we listen
        raise ModuleNotFoundError(f"No module named '{_needed}'")


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out the command line; return the exit code: 0, 2 for a wrong command line, or `AGAIN`."""
    try:
        arguments = sys.argv[1:] if argv is None else argv
        return _carry_out(read_order(arguments, os.environ), lambda: read_order(arguments, os.environ).configuration)
    except ConfigurationError as error:
        print(f"{SERVER}: {error}", file=sys.stderr)
        return AGAIN if isinstance(error, SilentLogError) else 2


def _carry_out(order: LaunchOptions, reread: Callable[[], Configuration]) -> int:
    configuration = order.configuration
    set_up(configuration.log_format, configuration.log_level)
    if order.is_print:
        print(as_file(configuration), end="")
        return 0
    if order.is_check:
        return report(configuration)
    refuse_faults(configuration)
    for line in named_for_nothing(configuration):
        log.warning("%s", line)
    certificate = certificate_for(configuration.tls, configuration.folder)
    is_first, port = True, configuration.port
    while True:
        with inherited(os.environ) or listen(configuration.host or None, port) as listening:
            with quick_to_end():
                from ttt_net.server.serving import serve

            port = listening.getsockname()[1]  # the same port where any was requested
            try:
                if not serve(configuration, certificate, listening, reread if order.file else None):
                    return 0
            except SilentLogError as error:
                if is_first:
                    raise
                log.error("%s", error)
        if is_managed():
            return AGAIN  # the service manager holds our port, and limits the time of a start
        is_first = False
        gc.collect()  # the previous node left cycles, which would otherwise be frozen
