"""Listen for admins on a Unix socket in the data folder or a port of the loopback, check tokens, and answer.

The admin server is a second owner of `Connection`s, so the same bounds hold as for players.
"""

import asyncio
import contextlib
import errno
import hmac
import logging
import os
import re
import secrets
import socket
import stat
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net.errors import Closing, Code, ConfigurationError, Refusal
from ttt_net.networks import is_loopback
from ttt_net.private_files import write_private
from ttt_net.server.admin import protocol
from ttt_net.server.admin.admin_commands import AdminCommands
from ttt_net.server.admin.moderation import THE_HOST, Admin
from ttt_net.server.hub import Hub
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.settings.listening import display, listen
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame
from ttt_net.text import name_key

log = logging.getLogger(__name__)

OFF = "off"
SOCKET_FILE = "admin.sock"
ADDRESS_FILE = "admin.address"
"""Holds the address of a server that runs, for `python -m ttt_net admin`."""
TOKEN_FILE = "admin.token"  # noqa: S105 - a name, not a secret
METRICS_TOKEN_FILE = "metrics.token"  # noqa: S105 - as above
"""Holds the token that may only read `/metrics`."""
_MAX_PATH_BYTES = 100
"""Longer paths are too long for a Unix socket on some systems."""
TOKEN = re.compile(r"[\x21-\x7e]{16,}")
"""The form of tokens."""
TICK_S = 1.0
"""How often admin connections are checked."""
_UNKNOWN = "this needs the header Authorization: Bearer TOKEN; see admin.token\n"
LIMITS = replace(Limits(), max_connections=16, unsent_bytes=1_048_576, kernel_send_buffer=262_144)
"""An admin's connections: few, with long answers."""


class AdminListener(NamedTuple):
    """An open listener, its address as in `ADDRESS_FILE`, and its tokens."""

    listening: socket.socket
    address: str
    token: str
    metrics_token: str
    folder: Path
    file: tuple[int, int] | None
    """Identifies the file of a Unix socket: in the end, another file may have its path."""


def open_listener(wanted: str, folder: Path) -> AdminListener | None:
    """Listen on the configured address; return None if it is `off`. This server must hold the lock of the folder.

    Empty means a Unix socket in the folder, or a free loopback port where Unix sockets do not exist. Raises
    `ConfigurationError` if another server listens there, or listening fails.
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
    """Refuse a Unix socket that another process uses, even a busy or foreign one, or that we may not use."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        found = probe.connect_ex(str(path))
    if found in (0, errno.EAGAIN, errno.EPROTOTYPE):
        raise ConfigurationError(f"admin: another program listens on {path}; choose another socket with --admin")
    if found == errno.EACCES:
        raise ConfigurationError(f"admin: cannot listen on {path}: {os.strerror(found)}")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return a value that identifies the file at a path among all present files; None if there is none."""
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
        if TOKEN.fullmatch(token):
            return token
        if path.exists():
            log.warning("%s held no token, after a power cut perhaps; it has a new one", path)
        token = secrets.token_urlsafe(32)
        write_private(path, token + "\n")
    except OSError as error:
        raise ConfigurationError(f"cannot use {path}: {error}") from None
    return token


class AdminServer:
    """Answers admins: WebSocket requests, health checks and `/metrics`."""

    def __init__(self, hub: Hub, token: str, metrics_token: str, stop: Callable[[], None]) -> None:
        self.limits = LIMITS
        self.metrics = Metrics()
        self.now_ms = hub.now_ms
        self.turns = hub.turns
        self.shares = hub.shares
        self._hub = hub
        self._token = token
        self._metrics_token = metrics_token
        """Reads `/metrics`, and nothing else: a monitor does not need the host's power."""
        self._commands = AdminCommands(hub, stop, self._dismiss)
        self._connections: dict[Connection, Admin | None] = {}
        """All connections, each with its admin once the handshake has shown a token."""

    # As the owner of connections.

    def opened(self, connection: Connection, peer: str) -> None:
        """Count the connection; above the limit, drop it at once."""
        self._connections[connection] = None
        if len(self._connections) > self.limits.max_connections:
            connection.evict("full")

    def meter(self, connection: Connection) -> None:
        """Count one frame."""
        if connection.meter():
            raise Refusal(Code.TOO_FAST, "too fast")

    def flooded(self, connection: Connection) -> None:
        """Do nothing: the connection of a flooding admin is closed, and may come back."""

    def closing(self, connection: Connection) -> None:
        """Do nothing until the socket is closed."""

    def closed(self, connection: Connection) -> None:
        """Release the connection."""
        self._connections.pop(connection, None)

    def excuse(self, late_s: float) -> None:
        """Excuse all peers after a pause of our own process, as the hub does."""
        for connection in self._connections:
            connection.excuse(max(0.0, late_s))

    def tick(self, now_s: float) -> None:
        """Check every connection; call this about once a second."""
        guard = self._hub.services.guard
        for connection in list(self._connections):
            guard.attempt("looking after an admin", partial(connection.tick, now_s), connection.abort)

    def close_all(self) -> None:
        """Drop all connections and their pending requests."""
        self._commands.stop()
        for connection in list(self._connections):
            connection.close(Closing.RESTART)
            connection.abort()

    def answer_http(self, connection: Connection, request: Request, protocol: ServerProtocol) -> Response | None:
        """Answer a plain request; accept a handshake with the token."""
        is_plain = "Upgrade" not in request.headers
        if request.path == "/healthz":
            return protocol.reject(200, "ok\n")
        if request.path == "/readyz":
            unready = self._hub.unready
            return protocol.reject(503, f"{unready}\n") if unready else protocol.reject(200, "ready\n")
        token = _token_of(request)
        is_host, may_read = _is_same(token, self._token), _is_same(token, self._metrics_token)
        if not is_plain:
            admin = THE_HOST if is_host else self._commands.moderators.find(token) if token else None
            self._connections[connection] = admin
            return None if admin else protocol.reject(401, _UNKNOWN)
        if not (is_host or (may_read and request.path == "/metrics")):
            return protocol.reject(401, _UNKNOWN)
        if request.path != "/metrics":
            return protocol.reject(404, "not found\n")
        from ttt_net.server.admin.exposition import write  # imported here, because not every start needs the library

        written = write(self._commands.report())
        if written is None:
            return protocol.reject(501, "metrics need the extra: pip install 'ttt_net[metrics]'\n")
        kind, text = written
        response = protocol.reject(200, text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = kind
        return response

    def received(self, connection: Connection, text: str) -> None:
        """Carry out one request; the reply follows now, or with the journal's."""
        connection.session = self
        admin = self._connections[connection]
        assert admin is not None, "a request comes after the handshake, and none after the close"

        def answer(told: protocol.AnyAdminReply) -> None:
            connection.send(frame(protocol.encode(told)))

        try:
            self.meter(connection)
            asked = protocol.decode_admin_request(text)
            self._commands.carry_out(asked, answer, admin)
        except (msgspec.MsgspecError, RecursionError) as error:
            what, _, place = str(error).partition(" - at `$.")
            answer(protocol.Failed(f"{place.rstrip('`') or 'the request'} is not allowed: {what}"))
        except Refusal as refusal:
            answer(protocol.Failed(str(refusal)))

    def _dismiss(self, key: str) -> int:
        """Close the connections of a dismissed moderator, by the key of their name; return how many."""
        own = [each for each, admin in self._connections.items() if admin and name_key(admin.name) == key]
        for connection in own:
            connection.close(Closing.KICKED, "you moderate no more")
        return len(own)


def _token_of(request: Request) -> str | None:
    """Return the token of a request; None without one, or if the request comes from a page of any site."""
    given = request.headers.get_all("Authorization")
    is_foreign = "Origin" in request.headers  # browsers' pages have no access
    is_one = not is_foreign and len(given) == 1 and given[0].startswith("Bearer ")
    return given[0].removeprefix("Bearer ") if is_one else None


def _is_same(given: str | None, token: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(errors="surrogateescape"), token.encode())


@contextlib.asynccontextmanager
async def attending(listener: AdminListener | None, hub: Hub, stop: Callable[[], None]) -> AsyncIterator[None]:
    """Answer admins inside the block; `stop` ends the server."""
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
    """Remove the files of the listener. While it is open, no other file gets the inode number of its socket."""
    (listener.folder / ADDRESS_FILE).unlink(missing_ok=True)
    if listener.file is not None and _file_at(Path(listener.address)) == listener.file:
        Path(listener.address).unlink(missing_ok=True)


async def _tick(admins: AdminServer) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + TICK_S
        await asyncio.sleep(TICK_S)
        admins.excuse(loop.time() - due_s)
        admins.tick(loop.time())
