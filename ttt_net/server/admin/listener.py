"""Listen for admins: on a Unix socket in the data folder, or a port of the loopback; and keep the tokens for it."""

import asyncio
import contextlib
import errno
import logging
import os
import re
import secrets
import socket
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.private_files import write_private
from ttt_net.server.admin.admin_server import AdminServer
from ttt_net.server.hub import Hub
from ttt_net.server.settings.listening import display, is_loopback, listen
from ttt_net.server.wire.connection import Connection

OFF = "off"
SOCKET_FILE = "admin.sock"
ADDRESS_FILE = "admin.address"
"""Holds the address of a server that runs, for `python -m ttt_net admin`."""
TOKEN_FILE = "admin.token"  # noqa: S105 - a name, not a secret
METRICS_TOKEN_FILE = "metrics.token"  # noqa: S105 - as above
"""Holds a token that `/metrics` can be read with, and nothing done."""
_MAX_PATH_BYTES = 100
"""Longer paths are too long for a Unix socket on some systems."""
_TOKEN = re.compile(r"[\x21-\x7e]{16,}")
_TICK_S = 1.0

log = logging.getLogger(__name__)


class AdminListener(NamedTuple):
    """An open listener, its address as it is written down, and the tokens for it."""

    listening: socket.socket
    address: str
    token: str
    metrics_token: str
    folder: Path
    file: tuple[int, int] | None
    """Which file a Unix socket is: at its path there may be another by the end."""


def open_listener(wanted: str, folder: Path) -> AdminListener | None:
    """Listen where the setting says; None if it says `off`. The folder must be held by this server alone.

    Empty is a Unix socket in the folder, or a free port of the loopback where there can be none. Where another server
    listens, or nobody can, `ConfigurationError` says so.
    """
    if wanted == OFF:
        return None
    path = Path(wanted) if "/" in wanted else folder / SOCKET_FILE
    has_unix = hasattr(socket, "AF_UNIX") and len(os.fsencode(path.absolute())) <= _MAX_PATH_BYTES
    if "/" in wanted and not has_unix:
        raise ConfigurationError(f"admin: {path} is too long for a Unix socket, or there are none here")
    token, metrics_token = private_token(folder / TOKEN_FILE), private_token(folder / METRICS_TOKEN_FILE)
    file = None
    if has_unix and (not wanted or "/" in wanted):
        listening, address = _listen_unix(path), str(path.absolute())
        file = _file_at(path)
    else:
        host, port = _loopback(wanted or "127.0.0.1:0")
        listening = listen(host, port, "--admin")
        address = display(*listening.getsockname()[:2])
    try:
        write_private(folder / ADDRESS_FILE, address + "\n")
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"cannot write {folder / ADDRESS_FILE}: {error.strerror}") from None
    return AdminListener(listening, address, token, metrics_token, folder, file)


def _loopback(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.strip("[]")
    try:
        number = int(port)
    except ValueError:
        raise ConfigurationError(f"admin: {text} is neither {OFF}, nor a path, nor HOST:PORT") from None
    if not is_loopback(host):
        raise ConfigurationError(f"admin: {host} can be reached from elsewhere; use 127.0.0.1, [::1] or a Unix socket")
    return host, number


def _listen_unix(path: Path) -> socket.socket:
    _leave_to_others(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        if path.is_socket():
            path.unlink()  # of a server that was killed
        listening.bind(str(path))
        listening.listen()
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"admin: cannot listen on {path}: {error.strerror}") from None
    finally:
        os.umask(before)
    return listening


def _leave_to_others(path: Path) -> None:
    """Refuse a Unix socket that is in use, even if who listens is busy or speaks otherwise, or that is not for us."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        found = probe.connect_ex(str(path))
    if found in (0, errno.EAGAIN, errno.EPROTOTYPE):
        raise ConfigurationError(f"admin: another program listens on {path}; choose another socket with --admin")
    if found == errno.EACCES:
        raise ConfigurationError(f"admin: cannot listen on {path}: {os.strerror(found)}")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return what tells the file at a path from all others there are at this moment; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def private_token(path: Path) -> str:
    """Return the token in the file, which is made if there is none, and replaced if it holds none.

    Raises `ConfigurationError` if others can read it, or it cannot be used.
    """
    try:
        if path.exists() and os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigurationError(f"{path} can be read by others; chmod 600 it, or remove it to have a new one")
        token = path.read_text(encoding="ascii", errors="replace").strip() if path.exists() else ""
        if _TOKEN.fullmatch(token):
            return token
        if path.exists():
            log.warning("%s held no token, after a power cut perhaps; it has a new one", path)
        token = secrets.token_urlsafe(32)
        write_private(path, token + "\n")
    except OSError as error:
        raise ConfigurationError(f"cannot use {path}: {error}") from None
    return token


@contextlib.asynccontextmanager
async def attending(listener: AdminListener | None, hub: Hub, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Answer the admin inside the block; `stop` is what ends the server."""
    if listener is None:
        yield
        return
    loop = asyncio.get_running_loop()
    admins = AdminServer(hub, listener.token, listener.metrics_token, stop)
    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(_tick(admins))
        is_unix = listener.listening.family not in (socket.AF_INET, socket.AF_INET6)
        create = loop.create_unix_server if is_unix else loop.create_server
        server = await create(lambda: Connection(admins, loop, hub.services.read_buffer), sock=listener.listening)
        try:
            yield
        finally:
            _take_down(listener)
            server.close()
            admins.close_all()
            ticking.cancel()
            listener.listening.close()


def _take_down(listener: AdminListener) -> None:
    """Remove the files of the listener. While it is open, the number of its socket's file is not given to another."""
    (listener.folder / ADDRESS_FILE).unlink(missing_ok=True)
    if listener.file is not None and _file_at(Path(listener.address)) == listener.file:
        Path(listener.address).unlink(missing_ok=True)


async def _tick(admins: AdminServer) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + _TICK_S
        await asyncio.sleep(_TICK_S)
        admins.excuse(loop.time() - due_s)
        admins.tick(loop.time())
