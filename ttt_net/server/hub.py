"""Who is here, who waits, who plays: every request of every client passes through, and is carried out here.

Knows connections as things that can be sent to and closed. All of it runs on the event loop's thread, and nothing
in it waits: what takes time (the journal) answers through a callback.
"""

import asyncio
import logging
import random
import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from ttt_net import messages as wire
from ttt_net.errors import Closing, Code, Refusal
from ttt_net.games import find_game
from ttt_net.lobby import Lobby, Pairing, Seek
from ttt_net.match import Command, Match
from ttt_net.server.connection import Connection, frame
from ttt_net.server.journal import Journal, Player, StorageError
from ttt_net.server.journal.sqlite import PlayerId
from ttt_net.server.limits import Limits
from ttt_net.server.session import Session
from ttt_net.server.table import Table
from ttt_net.text import clean

log = logging.getLogger(__name__)

MAX_LISTED = 100
COME_BACK_MS = 50
_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of match ids; none that is easily taken for another."""
_ID_LENGTH = 8
_FIRST_REQUESTS = 100
"""Connections above the limit that still get a polite answer; beyond them the socket is dropped."""


class Hub:
    """The owner of connections, sessions, the lobby and the tables."""

    def __init__(
        self, journal: Journal, name: str, limits: Limits, now_ms: Callable[[], int], rng: random.Random
    ) -> None:
        self.journal = journal
        self.now_ms = now_ms
        self.name = clean(name, 40)
        self.limits = limits
        self._rng = rng
        self._lobby = Lobby(self._rng)
        self._connections: set[Connection] = set()
        self._entering: set[Connection] = set()
        self._sessions: dict[PlayerId, Session] = {}
        self._tables: dict[str, Table] = {}
        self._is_draining = False
        self.emptied = asyncio.Event()
        """Set while draining, once the last connection is gone."""
        self._handlers: dict[type, Callable[[Session, wire.AnySaid], None]] = {
            wire.Seek: self._seek,
            wire.Unseek: self._unseek,
            wire.Who: self._who,
            wire.Ping: lambda session, said: session.ok(said.id),
        }

    # Connections.

    def opened(self, connection: Connection) -> None:
        """Count the connection; far above the limit, drop it at once."""
        self._connections.add(connection)
        if len(self._connections) > self.limits.max_connections + _FIRST_REQUESTS:
            connection.abort()

    def closed(self, connection: Connection) -> None:
        """Let go of the connection, and of the session that it was."""
        self._connections.discard(connection)
        self._entering.discard(connection)
        if isinstance(connection.session, Session):
            self._end(connection.session)
            connection.session = None
        if self._is_draining and not self._connections:
            self.emptied.set()

    def answer_http(self, request: Request, protocol: ServerProtocol) -> Response | None:
        """Answer what is not a WebSocket handshake, or comes from a foreign page, or is too much."""
        if "Upgrade" not in request.headers and request.method == "GET":
            if request.path == "/healthz":
                return protocol.reject(200, "ok\n")
            if request.path == "/":
                return protocol.reject(200, f"{self.name}: a ttt_net server. Join with: python client.py HOST:PORT\n")
            return protocol.reject(404, "not found\n")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
            return protocol.reject(403, "pages of other sites may not connect\n")
        if self._is_draining or len(self._connections) > self.limits.max_connections:
            response = protocol.reject(503, "the server is full or restarting; try again\n")
            response.headers["Retry-After"] = "1"
            return response
        return None

    def tick(self, now_s: float) -> None:
        """Look after every connection; to be called about once a second."""
        for connection in list(self._connections):
            connection.tick(now_s)

    # Requests.

    def received(self, connection: Connection, text: str) -> None:
        """Carry out one request; it gets exactly one answer."""
        session = connection.session
        try:
            connection.bucket.take(self.limits, self.now_ms())
            said = wire.decode_said(text)
            if isinstance(session, Session):
                self._act(session, said)
            else:
                self._enter(connection, said)
        except Refusal as refusal:
            answer = wire.Refused(wire.request_id(text), refusal.code.value, str(refusal), refusal.retry_after_ms)
            connection.send(frame(wire.encode(answer)))

    def _act(self, session: Session, said: wire.AnySaid) -> None:
        if isinstance(said, wire.Hello):
            raise Refusal(Code.HELLO_FIRST, "you have said hello on this connection already")
        if isinstance(said, Command | wire.Resume):
            if self._is_draining:
                raise Refusal(Code.RESTARTING, "the server is about to restart; your match is safe", COME_BACK_MS)
            table = self._tables.get(said.match)
            if table is None:
                table = self._tables[said.match] = Table(said.match, self)
            table.request(session, said)
        else:
            self._handlers[type(said)](session, said)

    def _enter(self, connection: Connection, said: wire.AnySaid) -> None:
        """Let a player in: known by his token, or new by his name."""
        if not isinstance(said, wire.Hello) or connection in self._entering:
            raise Refusal(Code.HELLO_FIRST, "say hello first, and wait for its answer")
        if wire.PROTOCOL not in said.protocols:
            raise Refusal(Code.BAD_PROTOCOL, f"this server speaks protocol {wire.PROTOCOL}, you {said.protocols}")
        name = clean(said.name or "", wire.MAX_NAME_CELLS)
        bot = None if said.bot is None else clean(said.bot, wire.MAX_NAME_CELLS) or "bot"
        token = said.token or secrets.token_urlsafe(32)

        def entered(found: Player | Refusal | StorageError | None) -> None:
            self._entering.discard(connection)
            if not connection.is_open:
                return
            if isinstance(found, Player):
                self._welcome(connection, said.id, found, bot, None if said.token else token)
                return
            if found is None:
                found = Refusal(Code.UNKNOWN_TOKEN, "this server does not know that token; say hello with a name")
            elif isinstance(found, StorageError):
                found = Refusal(Code.STORAGE, "the server cannot write to its disk; try again", 1_000)
            answer = wire.Refused(said.id, found.code.value, str(found), found.retry_after_ms)
            connection.send(frame(wire.encode(answer)))

        if not said.token and not name:
            raise Refusal(Code.BAD_NAME, f"a name has 1 to {wire.MAX_NAME_CELLS} visible characters")
        self._entering.add(connection)
        if said.token:
            self.journal.find(token, entered)
        else:
            self.journal.register(name, token, self.now_ms(), entered)

    def _welcome(
        self, connection: Connection, request: int, player: Player, bot: str | None, token: str | None
    ) -> None:
        before = self._sessions.get(player.id)
        if before:
            before.connection.close(Closing.REPLACED)
            self._end(before)
        session = Session(connection, player.id, wire.PlayerInfo(player.name, bot))
        session.live.update(player.unfinished)
        self._sessions[player.id] = session
        connection.session = session
        session.ok(request)
        session.tell(wire.Welcome(wire.PROTOCOL, self.name, session.info, list(player.unfinished), token))

    def _end(self, session: Session) -> None:
        if self._sessions.get(session.player) is session:
            del self._sessions[session.player]
            self._lobby.withdraw(session.player)
        for match_id in list(session.tables):
            self._leave(session, match_id)

    def _leave(self, session: Session, match_id: str) -> None:
        session.tables.discard(match_id)
        table = self._tables.get(match_id)
        if table:
            table.leave(session)

    # The lobby.

    def _seek(self, session: Session, said: wire.AnySaid) -> None:
        assert isinstance(said, wire.Seek)
        if self._is_draining:
            raise Refusal(Code.RESTARTING, "the server is about to restart; seek again in a moment", COME_BACK_MS)
        if len(session.live) >= self.limits.max_live_matches:
            raise Refusal(Code.TOO_MANY_MATCHES, f"you have {len(session.live)} unfinished matches; finish one first")
        games = tuple(find_game(name).name for name in said.games)
        seek = Seek(session.player, session.info.bot is not None, games, said.time, said.opponents)
        session.ok(said.id)
        pairing = self._lobby.seek(seek)
        if pairing:
            self._pair(pairing)

    def _unseek(self, session: Session, said: wire.AnySaid) -> None:
        if not self._lobby.withdraw(session.player):
            raise Refusal(Code.NOT_SEEKING, "you have no seek to take back")
        session.ok(said.id)

    def _who(self, session: Session, said: wire.AnySaid) -> None:
        rows = []
        for other in sorted(self._sessions.values(), key=lambda each: each.info.name)[:MAX_LISTED]:
            seek = self._lobby.seek_of(other.player)
            seeking = list(seek.games) if seek else None
            rows.append(wire.Listed(other.info.name, other.info.bot, len(other.live), seeking))
        session.ok(said.id)
        session.tell(wire.Players(len(self._sessions), rows))

    def _pair(self, pairing: Pairing) -> None:
        """Write the start of a match down, then seat both."""
        seats = [self._sessions[player] for player in (pairing.first, pairing.second)]
        started = wire.Started(
            match="".join(self._rng.choices(_ID_LETTERS, k=_ID_LENGTH)),
            seq=1,
            at_ms=self.now_ms(),
            game=pairing.game,
            players=(seats[0].info, seats[1].info),
            time=pairing.time,
        )
        ids = (seats[0].player, seats[1].player)

        def done(failure: StorageError | None) -> None:
            if failure is None:
                self._open(started, ids)
                return
            for session in seats:  # their seeks are spent; when they come back, they seek again
                session.connection.close(Closing.FAULT, "the server cannot write to its disk")

        self.journal.append([started], done, ids)

    def _open(self, started: wire.Started, seats: tuple[PlayerId, PlayerId]) -> None:
        match = Match(started)
        table = self._tables[match.id] = Table(match.id, self)
        sessions = [self._sessions[player] for player in seats if player in self._sessions]
        for session in sessions:
            self._lobby.withdraw(session.player)
            self._leave_finished(session)
            session.live.add(match.id)
            table.seat(session)
        table.open(match, seats)
        table.tell_start()

    def _leave_finished(self, session: Session) -> None:
        for match_id in list(session.tables):
            if match_id not in session.live:
                self._leave(session, match_id)

    # What tables tell.

    def may_rematch(self, table: Table) -> None:
        """Refuse a rematch unless both players are at the table and play nothing else."""
        for player in table.seats or ():
            session = self._sessions.get(player)
            if session is None or session.live or not table.is_present(player):
                raise Refusal(Code.OPPONENT_GONE, "your opponent has left or plays elsewhere")

    def ended(self, table: Table) -> None:
        """Count the match as finished for both."""
        for player in table.seats or ():
            session = self._sessions.get(player)
            if session:
                session.live.discard(table.id)

    def rematched(self, table: Table, started: wire.Started) -> None:
        """Seat both players, sides swapped, at the next match."""
        assert table.seats is not None
        self._open(started, (table.seats[1], table.seats[0]))

    def deserted(self, table: Table) -> None:
        """Forget a table that nobody sits at; the journal has the match."""
        if self._tables.get(table.id) is table:
            del self._tables[table.id]

    # The end.

    def drain(self) -> None:
        """Tell every client that the server restarts, and start nothing new."""
        self._is_draining = True
        told = frame(wire.encode(wire.Restarting(COME_BACK_MS)))
        for session in self._sessions.values():
            session.connection.send(told)

    def close_all(self) -> None:
        """Close every connection with the code that means: come back and resume; `emptied` is set at the end."""
        if not self._connections:
            self.emptied.set()
        for connection in list(self._connections):
            connection.close(Closing.RESTART)

    def abort_all(self) -> None:
        """Drop the connections that have not closed by now."""
        for connection in list(self._connections):
            connection.abort()
