"""Show friends how to connect to a server: print a banner, and announce it on the local network by mDNS.

The first line of the banner is for scripts. The announcement is sent on every interface while the server runs. Failures
are logged and retried, and never affect the server.
"""

import asyncio
import logging
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

import ttt_net
from ttt_net.command_line import PLAY
from ttt_net.networks import SERVICE, Announcement, is_private
from ttt_net.server.settings.configuration import DEFAULT_PORT
from ttt_net.server.settings.listening import display, local_addresses

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf


log = logging.getLogger(__name__)

LOOK_S = 3.0
"""How often to check for changed numbers or addresses."""
RETRY_S = 30.0
_GOODBYE_S = 1.0
"""How long the end waits until the goodbye is sent."""
_MOST_ADDRESSES = 3
_QR_MARGIN = 2
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
"""The character of two vertically adjacent modules of the code, by which of them are dark."""
_BLACK_ON_WHITE, _RESET = "\x1b[30;107m", "\x1b[0m"


class ServerAddress(NamedTuple):
    """Where a server listens: `host` is None for every address of the machine."""

    name: str
    host: str | None
    port: int
    data: Path
    scheme: str = "ws"
    fingerprint: str | None = None
    """The fingerprint of our own certificate, with which people compare it if no authority has signed it."""
    is_self_signed: bool = False
    """Whether clients need the fingerprint, because the server made the certificate itself."""
    public_url: str = ""
    """The public address, if it differs: ws:// or wss://, without a path."""
    is_proxied: bool = False
    """Whether players come through a proxy, whose address is unknown without `public_url`."""


def greet(where: ServerAddress, out: TextIO | None = None) -> None:
    """Print the banner, with a QR code of the web address if the terminal is tall enough for it.

    Characters that the encoding lacks are escaped. Without a standard output, nothing is printed.
    """
    out = out or sys.stdout
    if not out:
        return
    lines = greeting(where)
    encoding = out.encoding or "utf-8"
    try:
        print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding), file=out, flush=True)
    except BrokenPipeError:  # the reader closed the pipe; unwritten output must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    is_known = where.public_url or not where.is_proxied
    if is_known and out.isatty() and os.environ.get("TERM", "") not in ("", "dumb"):
        size = os.get_terminal_size(out.fileno())
        code = qr_lines(web_address(where), out.encoding, has_color="NO_COLOR" not in os.environ)
        if code and len(lines) + len(code) < size.lines and max(map(len, code)) < size.columns:
            print("\n".join(code), file=out, flush=True)


def greeting(where: ServerAddress) -> list[str]:
    """Return the lines, the first of them for scripts."""
    at_home = display("127.0.0.1", where.port)
    suffix = "" if where.port == DEFAULT_PORT and where.scheme == "ws" else f" {_typed(where, at_home)}"
    lines = [
        f"listening on {where.scheme}://{display(where.host or '127.0.0.1', where.port)}",
        f"{where.name}; matches are kept in {_from_home(where.data)}",
    ]
    if where.public_url:
        lines.append(f"join with: {PLAY} {where.public_url}")
    elif where.is_proxied:
        lines.append("players join through your proxy: set public_url to its address, to see here what they type")
    elif where.host is None:
        lines.append(f"play from this machine:  {PLAY}{suffix}")
        lines += [f"friends on this network: {PLAY} {_typed(where, each)}" for each in _others(where)]
    else:
        lines.append(f"join with: {PLAY} {_typed(where, display(where.host, where.port))}")
    if where.public_url or not where.is_proxied:
        lines.append(f"in a web browser:        {web_address(where)}")
    if where.fingerprint:
        kind = "self-signed certificate" if where.is_self_signed else "certificate"
        lines.append(f"{kind}, SHA-256 fingerprint: {where.fingerprint}")
    lines.append("Ctrl-C stops the server; unfinished matches continue when it is back")
    return lines


def _from_home(folder: Path) -> str:
    """Return the folder relative to the home folder, so that the line fits a terminal."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):  # the folder is elsewhere, or the home is unknown
        return str(folder)


def _typed(where: ServerAddress, address: str) -> str:
    """Return the address as a player types it after the client's command."""
    if where.scheme == "ws":
        is_fine = is_private(address.rpartition(":")[0])
        return address if is_fine else f"{address} --insecure"  # otherwise the friend's client would reject it
    trust = f" --tls-fingerprint {where.fingerprint}" if where.is_self_signed else ""
    return f"{where.scheme}://{address}{trust}"


def _others(where: ServerAddress) -> list[str]:
    return [display(address, where.port) for address in local_addresses()[:_MOST_ADDRESSES]]


def web_address(where: ServerAddress) -> str:
    """Return the address to open in a browser, preferably one that other machines can reach."""
    if where.public_url:
        return f"http{where.public_url.removeprefix('ws')}/"
    scheme = "https" if where.scheme == "wss" else "http"
    host = display(where.host, where.port) if where.host is not None else next(iter(_others(where)), None)
    return f"{scheme}://{host or display('127.0.0.1', where.port)}/"


def qr_lines(text: str, encoding: str | None, *, has_color: bool) -> list[str]:
    """Return a QR code of the text as lines of half blocks; empty if the terminal lacks these or colours.

    A code must be dark on light whatever the terminal's colours are, so it sets its own colours.
    """
    if not has_color:
        return []
    try:
        "".join(_HALVES.values()).encode(encoding or "ascii")
    except UnicodeEncodeError:
        return []
    import segno  # imported here, because a server without a terminal does not need it

    matrix = segno.make(text, error="l", micro=False).matrix_iter(border=_QR_MARGIN)
    rows: list[Sequence[bool]] = [[bool(cell) for cell in row] for row in matrix]
    if len(rows) % 2:
        rows.append([False] * len(rows[0]))
    return [
        _BLACK_ON_WHITE + "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True)) + _RESET
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]


@asynccontextmanager
async def announced(
    where: ServerAddress, census: Callable[[], tuple[int, int]], look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """Keep the server announced inside the block; `census` returns its players and live matches."""

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
        except Exception as error:  # noqa: BLE001 - no error of the network library may affect play
            if str(error) != complaint:
                complaint = str(error)
                log.warning("cannot announce this server on the local network: %s", error or type(error).__name__)
        await asyncio.sleep(RETRY_S)


async def _announce(describe: Callable[[], Announcement], look_s: float) -> None:
    """Announce the server, and update the announcement; ends only by an exception."""
    # Loading the library takes a tenth of a second, during which matches continue.
    library = await asyncio.to_thread(import_module, "zeroconf.asyncio")
    logging.getLogger("zeroconf").setLevel(logging.ERROR)
    network: AsyncZeroconf = library.AsyncZeroconf()
    try:
        name = f"ttt-net-{secrets.token_hex(4)}"
        announcement = describe()
        await network.async_register_service(_info(library.AsyncServiceInfo, name, announcement))
        while True:
            await asyncio.sleep(look_s)
            if hasattr(network, "async_update_interfaces"):  # zeroconf before 0.150 uses those of its start only
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
