"""One client's socket: frames in and out, heartbeats, and the bounds that keep a bad peer from hurting others.

The WebSocket protocol is the Sans-I/O layer of `websockets`. The socket is handled here, because `websockets.asyncio`
waits forever for a stalled reader, also in `close()` and in its keepalive. A connection here never waits: it buffers
unsent bytes up to a bound, and then drops the peer. `RemoteConnection` replaces it for players on other nodes.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Protocol as Interface
from typing import cast

from websockets.exceptions import InvalidMessage
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import Protocol, Side, State
from websockets.server import ServerProtocol

from ttt_net.errors import UNKNOWN, Closing, ProtocolError, Refusal, UnknownOutcomeError
from ttt_net.messages import MAX_MESSAGE_BYTES, encode, refused
from ttt_net.server.admission.client_address import coarse
from ttt_net.server.admission.fair_shares import MS_PER_MB, READ_MS, TURN_MS, Account, FairShares
from ttt_net.server.admission.rate_limiter import Bucket
from ttt_net.server.metrics import Dropped, Metrics
from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.frames import (
    EMPTY_PING,
    FrameBoundary,
    Heartbeat,
    LateBytes,
    ReadBuffer,
    Reader,
    TurnQueue,
    frame,
    is_empty_pong,
    short_text,
)
from ttt_net.server.wire.http import TurnedAway, refuse_opening

log = logging.getLogger(__name__)
_protocol_log = logging.getLogger("websockets.server")
"""The logger that `websockets` would look up for each connection, which takes 3 % of a handshake."""

_PAUSE_ABOVE_BYTES = 8_192
_FRAMES_OF_A_TURN = 8
"""A read of 64 KiB may contain 10,900 empty pings, which take a tenth of a second; so other connections get turns."""
_MOST_HELD_BYTES = 2_048
_GOODBYES = (1000, 1001)
_MOST_LINES = 42
"""The maximal lines of a request: its first and last, and 40 headers; browsers send about 20, and each costs 5 us."""
_EMPTY_PONG = Frame(Opcode.PONG, b"")
_REQUEST_END = b"\r\n\r\n"
_MOST_ANSWERS = 32
"""The maximal number of plain HTTP requests on one connection: a page needs a few, and responses may be large."""
_MAX_REASON = 123
"""The maximal bytes of a close reason in UTF-8."""


class ConnectionOwner(Interface):
    """Callbacks from a connection to its owner: the hub, or the admin's server."""

    limits: Limits
    metrics: Metrics
    now_ms: Callable[[], int]
    turns: TurnQueue
    shares: FairShares

    def opened(self, connection: "Connection", peer: str) -> None:
        """Add a new connection from an address."""

    def answer_http(
        self, connection: "Connection", request: Request, protocol: ServerProtocol
    ) -> "Response | LaterAnswer | None":
        """Answer a plain HTTP request, now or later, or return None for a WebSocket handshake."""

    def received(self, connection: "Connection", text: str) -> None:
        """Handle one text message; `ProtocolError` closes the connection."""

    def meter(self, connection: "Connection") -> None:
        """Count one frame. Raises `Refusal` if it exceeds the rate, `ProtocolError` if it is part of a flood."""

    def flooded(self, connection: "Connection") -> None:
        """Count a flood, for which the connection is about to be closed."""

    def closing(self, connection: "Connection") -> None:
        """End the session of a connection that has begun to close, although its socket may stay for a while."""

    def closed(self, connection: "Connection") -> None:
        """Remove a closed connection."""


class LaterAnswer:
    """A later response to a plain HTTP request, or a streamed body; see `Connection.answer`."""

    __slots__ = ("cancel",)

    def __init__(self, cancel: Callable[[], None]) -> None:
        self.cancel = cancel
        """Called if the client disconnects before the end of the response."""


class Connection(Reader):
    """A client's socket. `send` and `close` never wait and never raise."""

    __slots__ = (
        "_answered",
        "_awaits_answer",
        "_backlog",
        "_behind_since_s",
        "_boundary",
        "_bucket",
        "_closing_since_s",
        "_fragments",
        "_header_lines",
        "_heartbeat",
        "_held",
        "_is_paused",
        "_is_resting",
        "_late",
        "_later",
        "_loop",
        "_opening",
        "_owner",
        "_protocol",
        "account",
        "address",
        "has_said_hello",
        "heard_s",
        "is_open",
        "lacks_place",
        "lag_ms",
        "metered_as",
        "opened_s",
        "owed_ms",
        "player",
        "session",
        "transport",
        "turned_away",
        "unsent_messages",
    )

    def __init__(self, owner: ConnectionOwner, loop: asyncio.AbstractEventLoop, buffer: ReadBuffer) -> None:
        super().__init__(buffer)
        self._owner = owner
        self._loop = loop
        self._protocol: Protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES, logger=_protocol_log)
        """The protocol of the opening handshake, then a new one, since its parser would keep the request in memory."""
        self._fragments: bytearray | None = None
        self._boundary: FrameBoundary | None = None
        """The end of the partially received frame; None if the next byte begins one."""
        self._backlog = b""
        """Bytes that were read but not processed yet; while there are any, reading is paused."""
        self._held: bytes | None = None
        """Short answers of the current turn, combined, since separate writes cost as much as the rest of a flood."""
        self._is_paused = False
        self._is_resting = False
        """Whether nothing is handled for a while; what arrives waits."""
        self._awaits_answer = False
        """Whether that ends when something is sent."""
        self._opening = b""
        """The request so far, before the connection is a WebSocket."""
        self._header_lines = 0
        """The number of received lines of that request."""
        self._answered = 0
        """The number of answered plain HTTP requests after which this connection stayed open."""
        self._late: LateBytes | None = None
        """The bytes that arrived after the connection began to close, if any."""
        self._later: LaterAnswer | None = None
        """The pending or streamed response; the next request is read after its end."""
        self.unsent_messages = 0
        """Bytes sent since the peer fell behind."""
        self._behind_since_s: float | None = None
        self._closing_since_s: float | None = None
        self._heartbeat = Heartbeat()
        self.lag_ms = 0
        """The round trip, measured by pings."""
        self.opened_s = self.heard_s = loop.time()
        self._bucket = Bucket(owner.limits.messages, owner.now_ms())
        self.is_open = False
        """Whether the peer may still receive messages."""
        self.address = ""
        """The client's address; behind a proxy, known with its request."""
        self.metered_as: str | None = None
        """The address under which limits count it, if they apply."""
        self.account: Account | None = None
        """The payer of its computing time; None if it is not metered."""
        self.owed_ms = 0.0
        """The cost that is not charged to the player yet."""
        self.player: int | None = None
        """The player, after their accepted `hello`."""
        self.lacks_place = False
        """Whether it arrived when the server was full: then only a player with an unfinished match may stay."""
        self.has_said_hello = False
        """Whether the client has sent `hello`, accepted or not."""
        self.turned_away: TurnedAway | None = None
        """Why it is not admitted, if so."""
        self.session: object = None
        """The owner's record of this client, after its accepted `hello`."""

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Limit what the kernel buffers for this peer, and how long bytes may stay unacknowledged."""
        self.transport = cast(asyncio.Transport, transport)
        """The transport of the bytes: a socket's, or the layer of TLS over it."""
        limits = self._owner.limits
        peer: socket.socket = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.kernel_send_buffer)
        if peer.family in (socket.AF_INET, socket.AF_INET6):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does so only for some sockets
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(limits.dead_after_s * 1000))
        self.transport.set_write_buffer_limits(high=_PAUSE_ABOVE_BYTES)
        name = transport.get_extra_info("peername")
        self._owner.opened(self, name[0] if name else "")

    def buffer_updated(self, nbytes: int) -> None:
        """Process received bytes, and charge the cost."""
        if self.account is None and self.is_open:  # behind a proxy, the address arrives with the opening
            self.data_received(bytes(self._buffer.view[:nbytes]))
            return
        shares = self._owner.shares  # inlined instead of `metered`, which would cost another call per move
        began_s = shares.clock_s()
        self.data_received(bytes(self._buffer.view[:nbytes]))
        shares.charge(self, (shares.clock_s() - began_s) * 1000 + READ_MS)

    def data_received(self, data: bytes) -> None:
        """Handle bytes, and the messages that they complete."""
        self.heard_s = self._loop.time()
        is_heavy = self._is_resting or (self.account is not None and self.account.is_heavy)
        if self.is_open and not is_heavy and not self._backlog and self._boundary is None and self._fragments is None:
            payload = short_text(data)  # the usual case, since the parser costs as much as the rest of a move
            if payload is not None:
                self._act_on(payload)
                return
            if is_empty_pong(data):  # the parser takes three times as long
                self._take(_EMPTY_PONG)
                return
        if self._closing_since_s is not None:
            self._take_late(data)
        elif self._backlog:
            self._backlog += data
        elif data:
            self._backlog = data
            if self._is_resting:
                self._pause_reading(True)
                return
            if self._later is not None:
                self._pause_reading(True)
            elif is_heavy:
                self._wait_for_turn()
            else:
                self._take_turn()

    def _read_opening(self, data: bytes) -> int:
        """Read the opening handshake, or one plain request; return where it ends."""
        # `websockets` would misinterpret frames that arrive with a request. So it gets only the request: complete if it
        # arrives in one piece, as almost all do, else line by line until it is complete and answered.
        limit, whole = self._owner.limits.handshake_bytes, data.find(_REQUEST_END) + len(_REQUEST_END)
        is_short = len(_REQUEST_END) <= whole <= limit and data.count(b"\n", 0, whole) <= _MOST_LINES
        if is_short and not self._opening and self._behind_since_s is None:
            self._protocol.receive_data(data[:whole])
            if self._protocol.handshake_exc is None:
                self._answer_opening()
                return whole
            self._begin_opening()  # line by line, the response does not depend on how the bytes were split
        lines, answered = BytesIO(data), self._answered
        for line in lines:
            if self._answered and self._behind_since_s is not None:
                self.evict("unread_answers")  # another request while a response is unread
                break
            self._opening += line
            self._header_lines += line.endswith(b"\n")
            if len(self._opening) > limit or self._header_lines > _MOST_LINES:
                self._refuse_opening(is_long=True)
                break
            self._protocol.receive_data(line)
            self._answer_opening()
            is_complete = self._protocol.state is not State.CONNECTING or self._answered != answered
            if is_complete or self._later is not None or self._closing_since_s is not None:
                break
        return lines.tell()

    def _begin_opening(self) -> None:
        """Expect a request, as a new connection does."""
        self._drop_parser()
        self._protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES, logger=_protocol_log)

    def _refuse_opening(self, *, is_long: bool) -> None:
        """Reject bytes that are not an acceptable request; the parser would close without a response."""
        self._note_end("long_handshake" if is_long else "bad_request")
        self.transport.write(refuse_opening(self._opening, is_long=is_long).serialize())
        self._opening = b""
        self._write_eof()
        self._begin_to_close()
        self._flush()

    def _answer_opening(self) -> None:
        """Answer the request if it is complete, or reject it if it is invalid."""
        opening = self._protocol
        assert isinstance(opening, ServerProtocol)
        for request in opening.events_received():
            assert isinstance(request, Request)
            answer = self._owner.answer_http(self, request, opening)
            if isinstance(answer, LaterAnswer):
                self._later = answer
                return
            self._send_answer(answer or opening.accept(request))
        if isinstance(opening.handshake_exc, InvalidMessage):
            self._refuse_opening(is_long=False)
        else:
            self._flush()

    def _take_turn(self) -> None:
        """Handle a few frames; the others wait until other connections have had their turn.

        If the share of the address or player is nearly used up, handle one, and then rest. Each frame is handled before
        the next is parsed, so that the end of the connection does not depend on how the bytes were split.
        """
        data, start, self._held = self._backlog, 0, b""
        self.heard_s = self._loop.time()
        clock_s = self._owner.shares.clock_s
        rest_ms = self._owner.shares.rest_ms(self)
        until_s = clock_s() + TURN_MS / 1000
        try:
            for number in range(1 if rest_ms else _FRAMES_OF_A_TURN):
                if start >= len(data) or self._closing_since_s is not None or self._is_resting:
                    break
                if self._later is not None:
                    break
                if number and clock_s() > until_s:
                    break
                if self._protocol.state is State.CONNECTING:
                    start += self._read_opening(data[start:])
                elif self.is_open:
                    start = self._take_frame(data, start)
                else:
                    break
            self._flush()
        finally:
            self._held = None
        self._backlog = data[start:]
        if self._closing_since_s is not None:
            late, self._backlog = self._backlog, b""
            self._take_late(late)
        elif rest_ms:
            self.rest(rest_ms / 1000)
        self._go_on_reading()

    def _go_on_reading(self) -> None:
        if self._backlog and not self._is_resting and self._later is None:
            self._wait_for_turn()
        else:
            rests = self._is_resting and not self._awaits_answer
            self._pause_reading(rests or bool(self._backlog))

    def rest(self, seconds: float) -> None:
        """Pause reading for a while, unless it is paused for such a while already: what waits in the kernel is free."""
        if not self._is_resting:
            self._is_resting = True
            self._pause_reading(True)
            self._loop.call_later(seconds, self._end_rest)

    def hold(self) -> None:
        """Handle nothing until something is sent: what follows a `hello` waits for its answer.

        Reading is paused only once there are such bytes, since almost no client sends any.
        """
        self._awaits_answer = self._is_resting = True

    def _end_hold(self) -> None:
        self._awaits_answer = False
        if self._backlog or self._is_paused:
            self._loop.call_soon(self._end_rest)
        else:
            self._is_resting = False

    def _end_rest(self) -> None:
        self._is_resting = False
        self.charge(READ_MS)  # a timer and a turn cost as much
        self._go_on_reading()

    def _wait_for_turn(self) -> None:
        """Stop reading until the received bytes have been processed, in turn with others."""
        self._pause_reading(True)
        self.in_turn(self._take_turn)

    def in_turn(self, do: Callable[[], None]) -> None:
        """Call a function for this client in its turn, fairly among all addresses, and charge the cost."""
        self._owner.turns.join(partial(self.metered, do), self.account)

    def metered(self, do: Callable[[], None]) -> None:
        """Call a function for this client, and charge the cost."""
        clock_s = self._owner.shares.clock_s
        began_s = clock_s()
        do()
        self.charge((clock_s() - began_s) * 1000)

    def charge(self, ms: float) -> None:
        """Charge the cost of work for this client, in CPU milliseconds."""
        if self.account is not None:
            self._owner.shares.charge(self, ms)

    @property
    def is_heavy(self) -> bool:
        """Whether its address recently used so much that it has to take turns."""
        return self.account is not None and self.account.is_heavy

    def _take_frame(self, data: bytes, start: int) -> int:
        """Process the received part of the frame that begins or continues at `start`; return where it ends."""
        is_first = self._boundary is None and self._fragments is None
        boundary = self._boundary or FrameBoundary()
        end = boundary.end_of_frame(data, start)
        self._boundary = None if boundary.is_between else boundary
        payload = short_text(data[start:end]) if is_first else None
        if payload is None:
            self._advance(data[start:end])
        else:
            self._act_on(payload)
        return end

    def _pause_reading(self, is_paused: bool) -> None:
        if is_paused is self._is_paused:
            return
        self._is_paused = is_paused
        if is_paused:
            self.transport.pause_reading()
        elif not self.transport.is_closing():
            self.transport.resume_reading()

    def _take_late(self, data: bytes) -> None:
        """Drop what arrives from a closing peer, except for its part in the closing handshake."""
        late = self._late = self._late or LateBytes()
        late.add(data)
        if late.are_too_many:
            self.abort()
        elif not self._protocol.eof_sent and late.end_with_close:
            self._write_eof()

    def _advance(self, data: bytes) -> None:
        """Handle one frame or a part of it."""
        self._protocol.receive_data(data)
        self.is_open = self.is_open and self._protocol.state is State.OPEN  # it may have been a close frame
        for event in self._protocol.events_received():
            if self._closing_since_s is not None:
                break
            if isinstance(event, Frame):
                self._take(event)

    def _send_answer(self, answer: Response) -> None:
        """Send the response to an opening; then the connection becomes a WebSocket, stays open, or ends."""
        if answer.body:
            self.charge(len(answer.body) * MS_PER_MB / 1_000_000)
        if answer.headers.get("Connection") == "keep-alive":
            if self._stays():
                self.transport.write(answer.serialize())
                return
            del answer.headers["Connection"]
            answer.headers["Connection"] = "close"
        self._opening = b""
        if answer.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            self.transport.write(answer.serialize())
            self._drop_parser()
            self._protocol = Protocol(Side.SERVER, max_size=MAX_MESSAGE_BYTES, logger=_protocol_log)
            self.is_open = self._closing_since_s is None
        else:
            assert isinstance(self._protocol, ServerProtocol)
            self._protocol.send_response(answer)

    def answer(self, answer: Response) -> None:
        """Send a complete later response, then continue reading."""
        if self._later is None or self._closing_since_s is not None:
            return
        self._later = None
        self._send_answer(answer)
        self._flush()
        if self._closing_since_s is None:
            self._go_on_reading()

    def stream(self, head: Response) -> None:
        """Send the head of a later response; `send_more` sends its body, which closing ends."""
        if self._later is not None and self._closing_since_s is None:
            self.transport.write(head.serialize())

    def send_more(self, data: bytes) -> None:
        """Send a part of a streamed body, if the client has read the previous parts; charge its bytes."""
        if self._later is not None and self._closing_since_s is None and not self.is_behind:
            self.charge(len(data) * MS_PER_MB / 1_000_000)
            self.transport.write(data)

    def _stays(self) -> bool:
        """Reset the connection for the next request, unless it has had enough of them."""
        self._answered += 1
        if self._answered >= _MOST_ANSWERS:
            return False
        self._begin_opening()
        self._opening, self._header_lines = b"", 0
        self.opened_s = self._loop.time()
        return True

    def eof_received(self) -> None:
        """Close our side too."""
        self._begin_to_close()
        self._protocol.receive_eof()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the owner, and break reference cycles, so that no garbage collection is needed."""
        self._backlog = b""
        later, self._later = self._later, None
        if later is not None:
            later.cancel()
        self._owner.closed(self)
        self._begin_to_close()
        self._drop_parser()

    def _drop_parser(self) -> None:
        """Break the reference cycles of the protocol, which is not needed any more."""
        self._protocol.parser.close()
        del self._protocol.parser
        for error in (self._protocol.parser_exc, self._protocol.handshake_exc):
            _forget_way_of(error)

    def pause_writing(self) -> None:
        """Begin counting bytes: the peer is behind with reading."""
        self._behind_since_s = self._loop.time()

    def resume_writing(self) -> None:
        """Stop counting bytes: the peer has caught up."""
        self._behind_since_s = None
        self.unsent_messages = 0

    # Called by the owner.

    @property
    def unsent_bytes(self) -> int:
        """The bytes in our memory that this client has not read."""
        return self.transport.get_write_buffer_size()

    @property
    def fragment_bytes(self) -> int:
        """The received bytes of an incomplete fragmented message."""
        return 0 if self._fragments is None else len(self._fragments)

    @property
    def left_on_purpose(self) -> bool:
        """Whether the client closed the connection, rather than vanished."""
        close = self._protocol.close_rcvd
        return close is not None and close.code in _GOODBYES

    @property
    def is_behind(self) -> bool:
        """Whether sent bytes wait in our memory because the peer is not reading."""
        return self._behind_since_s is not None

    def send(self, frames: bytes) -> None:
        """Send complete frames, or drop a peer with too many unread bytes."""
        if not self.is_open:
            return
        if self._awaits_answer:
            self._end_hold()
        if self._behind_since_s is not None:
            limits = self._owner.limits
            self.unsent_messages += 1
            waiting = self.transport.get_write_buffer_size() + len(frames)
            if self.unsent_messages > limits.unsent_messages or waiting > limits.unsent_bytes:
                self.close(Closing.TOO_SLOW)
                return
        if self._held is None:
            self.transport.write(frames)
            return
        self._held += frames
        if len(self._held) > _MOST_HELD_BYTES:
            self._release()

    def _release(self) -> None:
        """Write the held answers."""
        if self._held:
            held, self._held = self._held, b""
            self.transport.write(held)

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        """Answer a request that was not carried out; if that is unknown, close, so that the client reconnects."""
        if isinstance(refusal, UnknownOutcomeError):
            self.close(Closing.RESTART, UNKNOWN)
            return
        self._owner.metrics.refusals[refusal.code] += 1
        self.send(frame(encode(refused(request, refusal))))

    def meter(self, times: int = 1) -> int:
        """Count frames; return 0, or the milliseconds until one may be sent again.

        Raises `ProtocolError` if it is a flood.
        """
        wait_ms = self._bucket.take(self._owner.now_ms(), times)
        if wait_ms and self._bucket.is_flooded:
            self._owner.flooded(self)
            raise ProtocolError(Closing.TOO_FAST, f"more than {self._owner.limits.messages} frames")
        return wait_ms

    def close(self, closing: Closing, reason: str = "") -> None:
        """Start the closing handshake; if the peer does not take part, `tick` ends it."""
        if self._awaits_answer:
            self._end_hold()
        if self.is_open:
            self._note_end(closing.name.lower())
            short = (reason or closing.meaning).encode()[:_MAX_REASON].decode(errors="ignore")
            self._protocol.send_close(closing, short)
            self._flush()
        elif self._closing_since_s is None:
            self.abort()

    @property
    def is_closing(self) -> bool:
        """Whether the end of the connection has begun."""
        return self._closing_since_s is not None

    def evict(self, reason: Dropped) -> None:
        """Drop the socket, and count the reason."""
        if self._closing_since_s is None:
            self._note_end(reason)
        self.abort()

    def _note_end(self, reason: str) -> None:
        self._owner.metrics.endings[reason] += 1
        if log.isEnabledFor(logging.INFO):
            log.info("a connection from %s was ended: %s", coarse(self.address), reason)

    def abort(self) -> None:
        """Drop the socket and all unsent bytes."""
        self._begin_to_close()
        self.transport.abort()

    def excuse(self, late_s: float) -> None:
        """Exclude a pause of this process from all timeouts."""
        self.opened_s += late_s
        self.heard_s += late_s
        self._heartbeat.excuse(late_s)
        if self._behind_since_s is not None:
            self._behind_since_s += late_s
        if self._closing_since_s is not None:
            self._closing_since_s += late_s

    def tick(self, now_s: float) -> None:
        """Check this connection about once a second: ping it, and drop it if it is dead, stalled or silent."""
        limits = self._owner.limits
        if self._closing_since_s is not None:
            if now_s - self._closing_since_s > limits.closing_s:
                self.abort()
        elif self._later is not None:
            if self._behind_since_s is not None and now_s - self._behind_since_s > limits.stalled_s:
                self.evict("unread_answers")
        elif self._protocol.state is State.CONNECTING:
            if now_s - self.opened_s > limits.handshake_s:
                if self._answered and self._behind_since_s is None and not self._opening:
                    self._begin_to_close()  # a browser that has its response
                    self.transport.close()
                else:
                    self.evict("no_handshake")
        elif self.session is None and now_s - self.opened_s > limits.hello_s:
            self.close(Closing.NO_HELLO)
        elif now_s - self.heard_s > limits.dead_after_s:
            self.evict("silent")
        elif self._behind_since_s is not None and now_s - self._behind_since_s > limits.stalled_s:
            self.close(Closing.TOO_SLOW)
            self.abort()
        elif self._heartbeat.is_due(now_s, self.heard_s, limits.ping_after_s):
            self._heartbeat.asked(now_s)
            self.transport.write(EMPTY_PING)

    def _take(self, event: Frame) -> None:
        if event.opcode is Opcode.BINARY:
            self.close(Closing.NOT_TEXT)
            return
        try:
            payload = self._message(event)
        except ProtocolError as error:
            self.close(error.closing, str(error))
            return
        if payload is not None:
            self._act_on(payload)

    def _act_on(self, payload: bytes | bytearray | memoryview) -> None:
        try:
            self._owner.received(self, str(payload, "utf-8"))
        except UnicodeDecodeError:
            self.close(Closing.BAD_TEXT)
        except ProtocolError as error:
            self.close(error.closing, str(error))
        except Exception:  # an internal error in one request closes one connection, and is logged
            self._owner.metrics.faults += 1
            log.exception("fault while acting on a message")
            self.close(Closing.FAULT)

    def _message(self, event: Frame) -> bytes | bytearray | memoryview | None:
        """Return the message that this frame completes; other frames are counted too."""
        if event.opcode is Opcode.PONG:
            self.lag_ms = self._heartbeat.answered(self._loop.time())
        is_data = event.opcode is Opcode.TEXT or event.opcode is Opcode.CONT
        if not is_data or not event.fin:
            with suppress(Refusal):  # there is no request to reject; a flood closes the connection
                self._owner.meter(self)
        if not is_data:
            return None
        if not event.fin:
            # In one piece, so that a million empty fragments take no memory.
            self._fragments = (self._fragments or bytearray()) + event.data
            return None
        data = event.data if self._fragments is None else self._fragments + event.data
        self._fragments = None
        return data

    def _flush(self) -> None:
        """Send the protocol's output; an empty piece means the end."""
        self._release()
        for piece in self._protocol.data_to_send():
            if piece:
                self.transport.write(piece)
            elif self.transport.can_write_eof():
                self._write_eof()
        if self.transport.get_write_buffer_size() > self._owner.limits.unsent_bytes:
            self.evict("unread_pongs")
        if self._closing_since_s is None and self._protocol.close_expected():
            self._begin_to_close()

    def _write_eof(self) -> None:
        """Send the end of the stream, unless the peer has just reset the connection."""
        with suppress(OSError):  # asyncio raises it, and still reports the end of the connection
            self.transport.write_eof()

    def _begin_to_close(self) -> None:
        self.is_open = False
        if self._closing_since_s is None:
            self._closing_since_s = self._loop.time()
            if self.session is not None:  # later, since the owner may be sending to its whole audience
                self._loop.call_soon(self._owner.closing, self)


def _forget_way_of(error: BaseException | None) -> None:
    """Release the frames of an error's traceback: they refer to the protocol, which refers to the error."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


class RemoteConnection:
    """The connection of a player on another node of a cluster, as a session uses it.

    Messages go to the player's node, and may be lost. Match events take another way: each node sends them to its own
    connections.
    """

    __slots__ = (
        "_forward",
        "_shares",
        "address",
        "left_on_purpose",
        "metered_as",
        "node",
        "opened_s",
        "owed_ms",
        "player",
        "session",
    )

    def __init__(
        self,
        node: str,
        address: str,
        player: int,
        opened_s: float,
        forward: Callable[[bytes, Closing | None], None],
        shares: FairShares,
        *,
        is_metered: bool,
    ) -> None:
        self.node = node
        """The node that the player is connected to."""
        self.address = address
        """The keyed hash of the address, as in sanctions; empty if unknown."""
        self.metered_as: str | None = address if is_metered else None
        self.opened_s = opened_s
        self.left_on_purpose = False
        """Whether the player closed the connection, rather than vanished."""
        self.session: object = None
        self.player: int | None = player
        self.owed_ms = 0.0
        """The uncharged cost of requests that their node forwarded to this one."""
        self._forward = forward
        self._shares = shares

    @property
    def account(self) -> Account | None:
        """The account on this node of the player's address; None if it is not metered."""
        return None if self.metered_as is None else self._shares.account_of(self.metered_as)

    @property
    def is_open(self) -> bool:
        """Return True: the log reports its end."""
        return True

    @property
    def is_behind(self) -> bool:
        """Return False: the player's node drops slow readers."""
        return False

    @property
    def lag_ms(self) -> int:
        """Return 0: the player's node measures it."""
        return 0

    @property
    def unsent_bytes(self) -> int:
        """Return 0: unsent messages wait on the player's node."""
        return 0

    def charge(self, ms: float) -> None:
        """Charge the work of this node for the player; the player's node charges the rest."""
        self._shares.charge(self, ms)

    def send(self, frames: bytes) -> None:
        """Send frames by way of the player's node."""
        self._forward(frames, None)

    def refuse(self, request: int | None, refusal: Refusal) -> None:
        """Refuse a request; if it is not known whether it was carried out, close."""
        if isinstance(refusal, UnknownOutcomeError):
            self.close(Closing.RESTART, UNKNOWN)
            return
        self.send(frame(encode(refused(request, refusal))))

    def close(self, closing: Closing, reason: str = "") -> None:
        """Ask the player's node to close the connection."""
        self._forward(reason.encode(), closing)
