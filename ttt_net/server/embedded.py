"""Run a server inside another program: on a thread and a loop of its own, so that neither keeps the other waiting.

It ends with the program, whatever ends that; matches are kept like those of any server.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager

from ttt_net.server.journal import Journal, LocalLedger
from ttt_net.server.main import JOURNAL_FILE, make_hub, serving
from ttt_net.server.process.house_bots import house_bots
from ttt_net.server.process.mdns import announced
from ttt_net.server.process.startup_banner import ServerAddress
from ttt_net.server.settings.addresses import is_loopback, listen
from ttt_net.server.settings.configuration import Configuration

END_S = 15.0
"""How long the end may take; a thread that hangs does not outlive the program either way."""


@contextmanager
def server_inside(configuration: Configuration) -> Iterator[ServerAddress]:
    """Run a server inside the block, which begins when it listens; `ConfigurationError` if it cannot."""
    with listen(configuration.host or None, configuration.port) as listening:
        ledger = LocalLedger(configuration.folder / JOURNAL_FILE)
        try:
            host = configuration.host or None
            where = ServerAddress(configuration.title, host, listening.getsockname()[1], configuration.folder)
            begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
            arguments = (configuration, ledger, listening, where, begun)
            thread = threading.Thread(target=_run, args=arguments, name="server", daemon=True)
            thread.start()
            loop, stop = begun.result()
            try:
                yield where
            finally:
                loop.call_soon_threadsafe(stop.set)
                thread.join(END_S)
        finally:
            ledger.close()


def _run(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]",
) -> None:
    try:
        asyncio.run(_serve(configuration, ledger, listening, where, begun))
    except BaseException as error:
        if begun.done():
            raise
        begun.set_exception(error)


async def _serve(
    configuration: Configuration,
    ledger: LocalLedger,
    listening: socket.socket,
    where: ServerAddress,
    begun: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]",
) -> None:
    stop = asyncio.Event()
    hub = make_hub(configuration, Journal(ledger), asyncio.get_running_loop())
    async with AsyncExitStack() as running:
        if configuration.announce and not is_loopback(where.host):
            await running.enter_async_context(announced(where, hub.census))
        await running.enter_async_context(serving(hub, ledger, listening))
        if configuration.house_bots:
            await running.enter_async_context(house_bots(where, configuration.folder, None))
        begun.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()
