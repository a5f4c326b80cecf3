"""Announce a server on the local network, by mDNS on every interface, for as long as it runs.

Nothing here may keep the server from serving: what goes wrong is a line in the log, and is tried again.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import ttt_net
from ttt_net.announcement import SERVICE, Announcement
from ttt_net.server.process.startup_banner import ServerAddress
from ttt_net.server.settings.addresses import local_addresses

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

log = logging.getLogger(__name__)

LOOK_S = 3.0
"""How often it is looked whether the numbers or the addresses have changed."""
RETRY_S = 30.0
_GOODBYE_S = 1.0
"""How long the end waits for the goodbye to be said."""


@asynccontextmanager
async def announced(
    where: ServerAddress, census: Callable[[], tuple[int, int]], look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """Keep the server announced inside the block; `census` tells how many players and live matches it has."""

    def describe() -> Announcement:
        addresses = local_addresses() if where.host is None else [where.host]
        players, matches = census()
        is_secure = where.scheme == "wss"
        return Announcement(where.name, where.port, tuple(addresses), players, matches, ttt_net.__version__, is_secure)

    async with asyncio.TaskGroup() as tasks:
        announcing = tasks.create_task(_keep_announced(describe, look_s))
        try:
            yield
        finally:
            announcing.cancel()


async def _keep_announced(describe: Callable[[], Announcement], look_s: float) -> None:
    complaint = ""
    while True:
        try:
            await _announce(describe, look_s)
        except Exception as error:  # noqa: BLE001 - a library between us and the network: whatever it is, play goes on
            if str(error) != complaint:
                complaint = str(error)
                log.warning("cannot announce this server on the local network: %s", error or type(error).__name__)
        await asyncio.sleep(RETRY_S)


async def _announce(describe: Callable[[], Announcement], look_s: float) -> None:
    """Announce the server, and keep the announcement true; returns only by an exception."""
    # Loading the library takes a tenth of a second, during which matches go on.
    library = await asyncio.to_thread(import_module, "zeroconf.asyncio")
    logging.getLogger("zeroconf").setLevel(logging.ERROR)
    network: AsyncZeroconf = library.AsyncZeroconf()
    try:
        name = f"ttt-net-{secrets.token_hex(4)}"
        announcement = describe()
        await network.async_register_service(_info(library.AsyncServiceInfo, name, announcement))
        while True:
            await asyncio.sleep(look_s)
            await network.async_update_interfaces()
            before, announcement = announcement, describe()
            if announcement != before:
                await network.async_update_service(_info(library.AsyncServiceInfo, name, announcement))
    finally:
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await network.async_close()
        except TimeoutError:
            log.info("the goodbye to the local network was cut short")


def _info(make: "type[AsyncServiceInfo]", name: str, announcement: Announcement) -> "AsyncServiceInfo":
    return make(
        SERVICE,
        f"{name}.{SERVICE}",
        port=announcement.port,
        parsed_addresses=list(announcement.addresses),
        properties=announcement.properties(),
        server=f"{name}.local.",
    )
