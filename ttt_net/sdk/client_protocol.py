"""Speak the protocol over one connection: take bytes, and return bytes and events. Knows no socket and no clock.

It connects the WebSocket protocol of RFC 6455 (`websockets.client`, without its I/O) to a `ClientSession`, which
outlives it. A program passes it received bytes and the time, writes what it returns, and calls `tick` when that is due.
A `Disconnect` says why the connection ended, and whether to retry.
"""

import logging
import re
import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from websockets.client import ClientProtocol as WebSocketProtocol
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from ttt_net.errors import Advice, Closing, Refusal
from ttt_net.messages import Refused, Request, Welcome, decode_server_message, encode
from ttt_net.sdk.client_session import ClientSession, Reaction
from ttt_net.sdk.received import BROKE, NO_ANSWER, NOT_LISTENING, ConnectionEvent, Farewell, Garbled, Parting
from ttt_net.text import clean

_LATER = (429, 502, 503, 504)
"""HTTP statuses after which a retry is worthwhile."""
_MAX_SENTENCE = 120
_IN_CLEAR = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")
"""OpenSSL's reasons when the answer to a TLS handshake is plain text."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """How a connection ended or failed; `advice` is the next step."""

    reason: str
    advice: Advice = Advice.RETRY
    is_foreign: bool = False
    """Whether the peer does not speak our protocol, or must not receive our token."""
    parting: Parting = Parting.UNREACHABLE
    """The reason of the farewell if this persists."""

    @property
    def farewell(self) -> Farewell:
        """The farewell if the client does not retry."""
        if self.advice is Advice.GIVE_UP:
            return Farewell(Parting.GIVEN_UP, f"The server closed the connection: {self.reason}.")
        return Farewell(self.parting, self.reason)


BROKEN = Disconnect(BROKE)


def closed_by(close: Close) -> Disconnect:
    """Return the meaning of the server's close frame."""
    closing = next((known for known in Closing if known == close.code), None)
    if closing is None:
        return Disconnect(f"the server closed the connection with code {close.code}")
    said = clean(close.reason, _MAX_SENTENCE).rstrip(".")  # such as the reason and the end of a ban
    return Disconnect(said or closing.meaning, closing.advice)


def distrusted(objection: str) -> Disconnect:
    """Return the end of a connection to a server that must not receive our token."""
    return Disconnect(objection, is_foreign=True, parting=Parting.DISTRUSTED)


def unreachable(error: Exception) -> Disconnect:
    """Return the reason why a connection failed or broke."""
    match error:
        case InvalidStatus() if error.response.status_code in _LATER:
            return Disconnect(_sentence_of(error) or f"the server is not ready (HTTP {error.response.status_code})")
        case InvalidStatus() if error.response.status_code == HTTPStatus.FORBIDDEN and _sentence_of(error):
            return Disconnect(_sentence_of(error), Advice.GIVE_UP)
        case InvalidStatus() if sentence := _sentence_of(error):
            # a ttt_net server with TLS answers ws:// like this, too
            may_be_ours = error.response.status_code == HTTPStatus.BAD_REQUEST
            what = "refused the connection" if may_be_ours else "is not a ttt_net server; it says"
            return Disconnect(f"the server there {what}: {sentence}", is_foreign=True)
        case InvalidMessage() if isinstance(error.__cause__, EOFError):
            return BROKEN
        case InvalidHandshake():
            return Disconnect("the server there is not a ttt_net server", is_foreign=True)
        case WebSocketException():
            return BROKEN
        case TimeoutError():
            return Disconnect(NO_ANSWER)
        case ConnectionRefusedError():
            return Disconnect(NOT_LISTENING)
        case socket.gaierror():
            return Disconnect("no computer of that name is known")
        case ssl.SSLCertVerificationError():
            why = clean(error.verify_message, 80)
            sentence = f"its certificate is not trusted ({why}); if the host gave you its fingerprint, add it"
            return distrusted(f"{sentence} with --tls-fingerprint")
        case ssl.SSLError() if getattr(error, "reason", "") in _IN_CLEAR:
            return Disconnect("the server there does not encrypt; its address begins with ws://")
        case ssl.SSLError():
            return Disconnect("the server there does not speak TLS correctly")
        case _:
            reason = error.strerror if isinstance(error, OSError) else None
            return Disconnect(clean(reason or "the network failed", 80).lower())


def _sentence_of(error: InvalidStatus) -> str:
    """Return the plain text of an HTTP response; empty if there is none."""
    if not error.response.headers.get("Content-Type", "").startswith("text/plain"):
        return ""
    return clean(bytes(error.response.body)[:_MAX_SENTENCE].decode(errors="replace"), _MAX_SENTENCE)


MAX_FRAME_BYTES = 2**20
OPEN_TIMEOUT_MS = 3_000
"""How long the opening handshake may take."""
WELCOME_TIMEOUT_MS = 5_000
"""How long a server may take to answer `hello`."""
PING_INTERVAL_MS = 2_000
PONG_TIMEOUT_MS = 3_000


class Patience(NamedTuple):
    """How long a server may be silent, in milliseconds."""

    open_ms: int = OPEN_TIMEOUT_MS
    welcome_ms: int = WELCOME_TIMEOUT_MS
    ping_every_ms: int = PING_INTERVAL_MS
    pong_ms: int = PONG_TIMEOUT_MS


PATIENT = Patience()
HURRIED = Patience(2_000, 2_000, 500, 1_500)
"""The patience during a match of ours while another node of the same server is available."""
_UNKNOWN_TYPE = re.compile(r"Invalid value .* - at `\$\.type`", re.DOTALL)
_SILENT = logging.getLogger("ttt_net.sdk")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False  # failures are reported as events; a line on stderr would garble a full screen


@dataclass(frozen=True, slots=True)
class TokenIssued:
    """The token of a new player, to be stored."""

    token: str


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """A text frame as it was received."""

    text: str


ProtocolEvent = ConnectionEvent | TokenIssued | FrameReceived


class ClientProtocol:
    """One connection of a session. Times are milliseconds of any monotonic clock."""

    disconnect: Disconnect | None = None
    """Why the connection has ended; None while it is open."""
    rejected: Refused | None = None
    """The refusal of our `hello`, if that ended it."""
    latency_ms: int | None = None
    """The round trip of the last ping."""

    def __init__(self, url: str, session: ClientSession, now_ms: int, *, has_elsewhere: bool = False) -> None:
        """Begin the opening handshake. Raises `InvalidURI` if the URL is invalid."""
        self._session = session
        self.has_elsewhere = has_elsewhere
        """Whether the server has another node, so that waiting long for this one is unnecessary."""
        self._wire = WebSocketProtocol(parse_uri(url), max_size=MAX_FRAME_BYTES, logger=_SILENT)
        self._wire.send_request(self._wire.connect())
        self._events: list[ProtocolEvent] = []
        self._fragments: list[bytes] = []
        self._later: list[tuple[int, Request]] = []
        self._enter_by_ms: int | None = now_ms + self._patience.open_ms
        """The deadline of the handshake, then of the answer to `hello`; None after the welcome."""
        self._ping_at_ms: int | None = None
        self._pong_by_ms: int | None = None
        self._pinged_at_ms = 0
        self._pings = 0
        self._looked_at_ms = now_ms
        self._is_silent = False

    def data_to_send(self) -> list[bytes]:
        """Return and clear the bytes to write; an empty item ends our side of the connection."""
        return self._wire.data_to_send()

    def events_received(self) -> list[ProtocolEvent]:
        """Return the events since the last call, in order."""
        events, self._events = self._events, []
        return events

    @property
    def has_events(self) -> bool:
        """Whether there are events that `events_received` has not returned yet."""
        return bool(self._events)

    def say(self, request: Request) -> None:
        """Send a request, or keep it until the welcome. Raises `Refusal` if too many are unanswered."""
        self._send(self._session.say(request))

    def receive_data(self, data: bytes, now_ms: int) -> None:
        """Handle bytes from the server."""
        if self.disconnect is None:
            self._looked_at_ms = now_ms
            self._wire.receive_data(data)
            self._receive_events(now_ms)

    def receive_eof(self, now_ms: int) -> None:
        """Handle the end of the stream."""
        if self.disconnect is None:
            self._wire.receive_eof()
            self._receive_events(now_ms)
            self._end(BROKEN)

    @property
    def next_tick_ms(self) -> int | None:
        """When to call `tick` if nothing happens before; None after the end of the connection."""
        if self.disconnect is not None:
            return None
        later = [at_ms for at_ms, _ in self._later]
        dues = (self._enter_by_ms, self._ping_at_ms, self._pong_by_ms, *later)
        return min((due for due in dues if due is not None), default=None)

    def tick(self, now_ms: int) -> None:
        """Handle the passing of time: end a silent connection, ping, and repeat postponed requests."""
        if self.disconnect is not None:
            return None
        was_asleep = now_ms - self._looked_at_ms > PONG_TIMEOUT_MS  # this process was stopped
        self._looked_at_ms = now_ms
        if was_asleep and self._pong_by_ms is not None:
            self._pong_by_ms = now_ms + PONG_TIMEOUT_MS
        if self._enter_by_ms is not None and now_ms >= self._enter_by_ms:
            is_open = self._ping_at_ms is not None
            self._is_silent = True
            return self._end(Disconnect("the server did not answer" if is_open else NO_ANSWER))
        if self._pong_by_ms is not None and now_ms >= self._pong_by_ms:
            self._is_silent = True
            return self._end(BROKEN)
        if self._ping_at_ms is not None and now_ms >= self._ping_at_ms:
            self._ping(now_ms)
        due = [request for at_ms, request in self._later if at_ms <= now_ms]
        self._later = [(at_ms, request) for at_ms, request in self._later if at_ms > now_ms]
        for request in due:
            self._react(self._session.due(request), now_ms)
        return None

    def close(self) -> None:
        """Begin the closing handshake."""
        self._end(Disconnect("we left"))

    @property
    def awaits_close(self) -> bool:
        """Whether the server should close the connection now, at the end of the closing handshake."""
        return self._wire.state is State.CLOSING and not self._is_silent

    def _receive_events(self, now_ms: int) -> None:
        for event in self._wire.events_received():
            match event:
                case Response() if self._wire.handshake_exc is None:
                    self._enter_by_ms = now_ms + self._patience.welcome_ms
                    self._ping_at_ms = now_ms + self._patience.ping_every_ms
                    self._send(self._session.opened())
                case Frame():
                    self._receive_frame(event, now_ms)
        if self._wire.handshake_exc is not None:
            self._end(unreachable(self._wire.handshake_exc))
        elif self._wire.close_rcvd is not None:
            self._end(closed_by(self._wire.close_rcvd))
        elif self._wire.parser_exc is not None:
            self._end(BROKEN)

    def _receive_frame(self, frame: Frame, now_ms: int) -> None:
        match frame.opcode:
            case Opcode.TEXT if frame.fin:
                self._receive_text(bytes(frame.data), now_ms)
            case Opcode.TEXT:
                self._fragments = [bytes(frame.data)]
            case Opcode.CONT if self._fragments:
                self._fragments.append(bytes(frame.data))
                if frame.fin:
                    data, self._fragments = b"".join(self._fragments), []
                    self._receive_text(data, now_ms)
            case Opcode.PONG if self._pong_by_ms is not None and bytes(frame.data) == self._ping_data:
                self.latency_ms = max(1, now_ms - self._pinged_at_ms)
                self._pong_by_ms = None
            case _:
                pass  # our protocol has no binary frames; the WebSocket protocol handles the rest

    def _receive_text(self, data: bytes, now_ms: int) -> None:
        if self.disconnect is not None:
            return None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self._end(BROKEN)
        self._events.append(FrameReceived(text))
        try:
            message = decode_server_message(text)
        except Refusal as refusal:
            if not _UNKNOWN_TYPE.fullmatch(str(refusal)):  # a type for newer clients is not an error
                self._events.append(Garbled(str(refusal)))
            return None
        if isinstance(message, Welcome):
            self._enter_by_ms = None
        return self._react(self._session.heard(message), now_ms)

    def _react(self, reaction: Reaction, now_ms: int) -> None:
        if reaction.token is not None:
            self._events.append(TokenIssued(reaction.token))
        self._send(reaction.say)
        self._later += [(now_ms + wait_ms, request) for wait_ms, request in reaction.later]
        self._events += reaction.tell
        if reaction.rejected is not None:
            self.rejected = reaction.rejected
            self._end(Disconnect("the server refused"))

    def _send(self, requests: list[Request]) -> None:
        if self._wire.state is State.OPEN:
            for request in requests:
                self._wire.send_text(encode(request))

    @property
    def _patience(self) -> Patience:
        return HURRIED if self.has_elsewhere and self._session.has_live_match else PATIENT

    @property
    def _ping_data(self) -> bytes:
        return str(self._pings).encode()

    def _ping(self, now_ms: int) -> None:
        patience = self._patience
        self._ping_at_ms = now_ms + patience.ping_every_ms
        if self._pong_by_ms is None:
            self._pings += 1
            is_near = self.latency_ms is not None and 4 * self.latency_ms < patience.pong_ms
            self._pinged_at_ms = now_ms
            self._pong_by_ms = now_ms + (patience if is_near else PATIENT).pong_ms
            self._wire.send_ping(self._ping_data)

    def _end(self, why: Disconnect) -> None:
        if self.disconnect is None:
            self.disconnect = why
            self._events += self._session.closed()
            if self._wire.state is State.OPEN:
                self._wire.send_close(Closing.DONE)
