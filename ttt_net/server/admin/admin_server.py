"""Answer admins, over connections like those of the players, from a listener of its own.

It is a second owner of `Connection`s, so bad peers are held here to the same bounds as at the players' door.
"""

import hmac
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import msgspec
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.commands import AdminCommands
from ttt_net.server.admin.report import match_rows, player_rows, report
from ttt_net.server.hub import Hub
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame

log = logging.getLogger(__name__)

LIMITS = replace(Limits(), max_connections=16, unsent_bytes=1_048_576, kernel_send_buffer=262_144)
"""An admin's connections: few, with long answers."""


class AdminServer:
    """Answers what an admin asks."""

    def __init__(self, hub: Hub, token: str, metrics_token: str, stop: Callable[[], None]) -> None:
        self.limits = LIMITS
        self.metrics = Metrics()
        self.now_ms = hub.now_ms
        self.turns = hub.turns
        self._hub = hub
        self._token = token
        self._metrics_token = metrics_token
        """Opens `/metrics` alone: a monitor of the server need not have its host's whole power."""
        self._shutdown = hub.services.shutdown
        self._commands = AdminCommands(hub.services, stop)
        self._connections: set[Connection] = set()
        self._since_ms = hub.now_ms()

    # As the owner of connections.

    def opened(self, connection: Connection, peer: str) -> None:
        """Count the connection; above the limit, drop it at once."""
        self._connections.add(connection)
        if len(self._connections) > self.limits.max_connections:
            connection.evict("full")

    def flooded(self, connection: Connection) -> None:
        """Do nothing: an admin who floods is closed, and may come again."""

    def closed(self, connection: Connection) -> None:
        """Let go of the connection."""
        self._connections.discard(connection)

    def excuse(self, late_s: float) -> None:
        """Blame nobody for a silence of ours, as the hub does."""
        for connection in self._connections:
            connection.excuse(max(0.0, late_s))

    def tick(self, now_s: float) -> None:
        """Look after every connection; to be called about once a second."""
        guard = self._hub.services.guard
        for connection in list(self._connections):
            guard.attempt("looking after an admin", partial(connection.tick, now_s), connection.abort)

    def close_all(self) -> None:
        """Drop all connections, and what they had asked for."""
        self._commands.stop()
        for connection in list(self._connections):
            connection.close(Closing.RESTART)
            connection.abort()

    def answer_http(self, connection: Connection, request: Request, protocol: ServerProtocol) -> Response | None:
        """Answer a plain request; let a handshake pass that brings the token."""
        is_plain = "Upgrade" not in request.headers
        if is_plain and request.path == "/healthz":
            return protocol.reject(200, "ok\n")
        if is_plain and request.path == "/readyz":
            unready = self._unready()
            return protocol.reject(503, f"{unready}\n") if unready else protocol.reject(200, "ready\n")
        may_read = is_plain and request.path == "/metrics" and _has_token(request, self._metrics_token)
        if not (may_read or _has_token(request, self._token)):
            return protocol.reject(401, "this needs the header Authorization: Bearer TOKEN; see admin.token\n")
        if not is_plain:
            return None
        if request.path != "/metrics":
            return protocol.reject(404, "not found\n")
        from ttt_net.server.admin.exposition import write  # with a library that not every start should wait for

        written = write(self._report())
        if written is None:
            return protocol.reject(501, "metrics need the extra: pip install 'ttt_net[metrics]'\n")
        kind, text = written
        response = protocol.reject(200, text)
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = kind
        return response

    def received(self, connection: Connection, text: str) -> None:
        """Answer one question, now or when the journal has answered."""
        connection.session = connection.session or self

        def answer(told: protocol.AnyAdminReply) -> None:
            connection.send(frame(protocol.encode(told)))

        try:
            if connection.meter():
                raise Refusal(Code.TOO_FAST, "too fast")
            asked = protocol.decode_admin_request(text)
            match asked:
                case protocol.Stats():
                    answer(self._report())
                case protocol.ListPlayers():
                    answer(player_rows(self._hub, self._hub.services.loop.time()))
                case protocol.ListMatches():
                    answer(match_rows(self._hub))
                case _:
                    self._commands.carry_out(asked, answer)
        except (msgspec.MsgspecError, RecursionError) as error:
            answer(protocol.Failed(f"this is no question: {error}"))
        except Refusal as refusal:
            answer(protocol.Failed(str(refusal)))

    def _report(self) -> protocol.Report:
        up_s = (self.now_ms() - self._since_ms) / 1000
        left_ms = self._shutdown.left_ms()
        left_s = None if left_ms is None else left_ms / 1000
        return report(self._hub, self._hub.services.journal.health(), up_s, self._unready(), left_s)

    def _unready(self) -> str | None:
        if self._shutdown.left_ms() is not None:
            return "the server is about to restart"
        return self._hub.services.journal.health().trouble


def _has_token(request: Request, token: str) -> bool:
    given = request.headers.get_all("Authorization")
    is_foreign = "Origin" in request.headers  # no page of any site has business here
    return not is_foreign and len(given) == 1 and hmac.compare_digest(given[0].encode(), f"Bearer {token}".encode())
