"""Answer admins, over connections like those of the players, from a listener of its own.

It is a second owner of `Connection`s, so bad peers are held here to the same bounds as those of players.
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
from ttt_net.server.admin.roles import THE_HOST, Admin, Moderators, check_allowed
from ttt_net.server.hub import Hub
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import frame
from ttt_net.text import name_key

log = logging.getLogger(__name__)

_UNKNOWN = "this needs the header Authorization: Bearer TOKEN; see admin.token\n"

LIMITS = replace(Limits(), max_connections=16, unsent_bytes=1_048_576, kernel_send_buffer=262_144)
"""An admin's connections: few, with long answers."""


class AdminServer:
    """Answers what an admin asks."""

    def __init__(self, hub: Hub, token: str, metrics_token: str, stop: Callable[[], None]) -> None:
        self.limits = LIMITS
        self.metrics = Metrics()
        self.now_ms = hub.now_ms
        self.turns = hub.turns
        self.shares = hub.shares
        self._hub = hub
        self._token = token
        self._metrics_token = metrics_token
        """Opens `/metrics` alone: a monitor of the server need not have its host's whole power."""
        self._shutdown = hub.services.shutdown
        self._moderators = Moderators(hub.services, self._dismiss)
        hub.moderators_changed = self._moderators.hear
        self._commands = AdminCommands(hub.services, stop, self._moderators)
        self._connections: dict[Connection, Admin | None] = {}
        """All connections, each with who it is once the handshake has shown their token."""
        self._since_ms = hub.now_ms()

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
        """Do nothing: an admin who floods is closed, and may come again."""

    def closed(self, connection: Connection) -> None:
        """Let go of the connection."""
        self._connections.pop(connection, None)

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
            unready = self._hub.unready
            return protocol.reject(503, f"{unready}\n") if unready else protocol.reject(200, "ready\n")
        token = _token_of(request)
        is_host, may_read = _is_same(token, self._token), _is_same(token, self._metrics_token)
        if not is_plain:
            admin = THE_HOST if is_host else self._moderators.find(token) if token else None
            self._connections[connection] = admin
            return None if admin else protocol.reject(401, _UNKNOWN)
        if not (is_host or (may_read and request.path == "/metrics")):
            return protocol.reject(401, _UNKNOWN)
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
        admin = self._connections.get(connection)

        def answer(told: protocol.AnyAdminReply) -> None:
            connection.send(frame(protocol.encode(told)))

        try:
            self.meter(connection)
            asked = protocol.decode_admin_request(text)
            if admin is None:
                raise Refusal(Code.BAD_MESSAGE, "you moderate no more")
            check_allowed(admin, asked)
            match asked:
                case protocol.Stats():
                    answer(self._report())
                case protocol.ListPlayers():
                    has_addresses = admin.is_host
                    answer(player_rows(self._hub, self._hub.services.loop.time(), has_addresses=has_addresses))
                case protocol.ListMatches():
                    answer(match_rows(self._hub))
                case _:
                    self._commands.carry_out(asked, answer, admin)
        except (msgspec.MsgspecError, RecursionError) as error:
            answer(protocol.Failed(f"this is no question: {error}"))
        except Refusal as refusal:
            answer(protocol.Failed(str(refusal)))

    def _dismiss(self, key: str) -> int:
        """Close the connections of a moderator who is one no more, by the key of their name; return how many."""
        own = [each for each, admin in self._connections.items() if admin and name_key(admin.name) == key]
        for connection in own:
            self._connections[connection] = None
            connection.close(Closing.KICKED, "you moderate no more")
        return len(own)

    def _report(self) -> protocol.Report:
        up_s = (self.now_ms() - self._since_ms) / 1000
        left_ms = self._shutdown.left_ms()
        left_s = None if left_ms is None else left_ms / 1000
        return report(self._hub, self._hub.services.journal.health(), up_s, self._hub.unready, left_s)


def _token_of(request: Request) -> str | None:
    """Return the token that a request brings; None if it brings none, or comes from a page of any site."""
    given = request.headers.get_all("Authorization")
    is_foreign = "Origin" in request.headers  # no page has business here
    is_one = not is_foreign and len(given) == 1 and given[0].startswith("Bearer ")
    return given[0].removeprefix("Bearer ") if is_one else None


def _is_same(given: str | None, token: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), token.encode())
