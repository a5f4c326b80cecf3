"""Run a server inside another program: on a thread and a loop of its own, so that neither keeps the other waiting.

It ends with the program, whatever ends that; matches are kept like those of any server. Its admin may look after it,
and end it sooner.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import NamedTuple

from ttt_net.errors import Closing
from ttt_net.server.admin.listener import attending, open_listener
from ttt_net.server.hub import Hub
from ttt_net.server.journal import JOURNAL_FILE, Journal, LocalLedger
from ttt_net.server.main import make_hub, serving
from ttt_net.server.process.announcing import ServerAddress, announced
from ttt_net.server.process.house_bots import house_bots
from ttt_net.server.settings.configuration import Configuration
from ttt_net.server.settings.listening import is_loopback, listen

END_S = 15.0
"""How long the end may take; a thread that hangs does not outlive the program either way."""


_LOOK_S = 0.5
"""How often it is looked whether the server goes on."""


class _Begun(NamedTuple):
    """The objects that the thread of a server has made."""

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    hub: Hub


class EmbeddedServer:
    """A server that runs on a thread of this program; the methods may be called from any other."""

    def __init__(self, where: ServerAddress, begun: _Begun, thread: threading.Thread) -> None:
        self.where = where
        self._begun, self._thread = begun, thread

    def people(self) -> int:
        """Return how many people are connected, nobody once it has ended; bots are not counted."""
        return self._begun.hub.census()[0] if self._thread.is_alive() else 0

    def stop(self) -> None:
        """Ask the server to end; it may have ended already."""
        with suppress(RuntimeError):  # an admin has ended it already
            self._begun.loop.call_soon_threadsafe(self._begun.stop.set)

    def wait(self) -> None:
        """Wait until the server has ended: by its admin, or by a fault."""
        while self._thread.is_alive():
            self._thread.join(_LOOK_S)  # signals are heard in between


@contextmanager
def server_inside(configuration: Configuration) -> Iterator[EmbeddedServer]:
    """Run a server inside the block, which begins when it listens. Raises `ConfigurationError` if it cannot."""
    with listen(configuration.host or None, configuration.port) as listening:
        ledger = LocalLedger(configuration.folder / JOURNAL_FILE)
        try:
            host = configuration.host or None
            where = ServerAddress(configuration.title, host, listening.getsockname()[1], configuration.folder)
            begun: Future[_Begun] = Future()
            arguments = (configuration, ledger, listening, where, begun)
            thread = threading.Thread(target=_run, args=arguments, name="server", daemon=True)
            thread.start()
            server = EmbeddedServer(where, begun.result(), thread)
            try:
                yield server
            finally:
                server.stop()
                thread.join(END_S)
        finally:
            ledger.close()


def _run(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: Future[_Begun],
) -> None:
    try:
        asyncio.run(_serve(configuration, ledger, listening, where, begun))
    except BaseException as error:  # whatever it is, it is raised where somebody waits for the server
        if begun.done():
            raise
        begun.set_exception(error)


async def _serve(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: Future[_Begun],
) -> None:
    stop = asyncio.Event()
    hub = make_hub(configuration, Journal(ledger), asyncio.get_running_loop())
    async with AsyncExitStack() as running:
        if configuration.announce and not is_loopback(where.host):
            await running.enter_async_context(announced(where, hub.census))
        await running.enter_async_context(serving(hub, ledger, listening, closing=Closing.ENDED))
        admin = open_listener(configuration.admin, configuration.folder)
        await running.enter_async_context(attending(admin, hub, stop.set))
        if configuration.house_bots:
            await running.enter_async_context(house_bots(where, configuration.folder, None))
        begun.set_result(_Begun(asyncio.get_running_loop(), stop, hub))
        await stop.wait()
