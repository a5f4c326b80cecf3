"""A connection without a socket: bytes and times go in, bytes and events come out."""

from socket import gaierror
from ssl import SSLError

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response
from websockets.server import ServerProtocol

from tests.client.samples import ok, snapshot, welcome
from ttt_net.errors import Advice, Closing, Code
from ttt_net.messages import (
    AnyRequest,
    AnyServerMessage,
    HelloRequest,
    PingRequest,
    Refused,
    ResumeRequest,
    Snapshot,
    Welcome,
    decode_request,
    encode,
)
from ttt_net.sdk.client_protocol import (
    BROKEN,
    HURRIED,
    OPEN_TIMEOUT_MS,
    PING_INTERVAL_MS,
    PONG_TIMEOUT_MS,
    WELCOME_TIMEOUT_MS,
    ClientProtocol,
    FrameReceived,
    ProtocolEvent,
    TokenIssued,
    unreachable,
)
from ttt_net.sdk.client_session import ClientSession


class Wire:
    """A client and the far end of its wire; `step` bytes at a time pass from one to the other."""

    def __init__(self, session: ClientSession | None = None, step: int = 65_536) -> None:
        self.session = session or ClientSession("Ann", None)
        self.client = ClientProtocol("ws://localhost:8765", self.session, now_ms=0)
        self.server = ServerProtocol()
        self.step = step
        self.events: list[ProtocolEvent] = []
        self.pings: list[bytes] = []
        self.closed_with: int | None = None

    def opened(self, now_ms: int = 0) -> "Wire":
        """Accept the opening handshake."""
        self.server.receive_data(b"".join(self.client.data_to_send()))
        (request,) = self.server.events_received()
        assert isinstance(request, HttpRequest)
        self.server.send_response(self.server.accept(request))
        self.deliver(now_ms)
        return self

    def welcomed(self, *matches: str, now_ms: int = 0) -> "Wire":
        """Accept the handshake and the `hello`."""
        self.opened(now_ms)
        (hello,) = self.heard()
        assert isinstance(hello, HelloRequest)
        self.tell(ok(hello.id), welcome(*matches, token="secret"), now_ms=now_ms)
        return self

    def tell(self, *messages: AnyServerMessage, now_ms: int = 0) -> None:
        """Send messages, and let them arrive."""
        for message in messages:
            self.server.send_text(encode(message))
        self.deliver(now_ms)

    def deliver(self, now_ms: int = 0) -> None:
        """Let arrive what the server has written."""
        data = b"".join(self.server.data_to_send())
        for at in range(0, len(data), self.step):
            self.client.receive_data(data[at : at + self.step], now_ms)
        self.events += self.client.events_received()

    def heard(self) -> list[AnyRequest]:
        """Return the requests that the client has sent since the last call."""
        self.server.receive_data(b"".join(self.client.data_to_send()))
        frames = [event for event in self.server.events_received() if isinstance(event, Frame)]
        self.pings += [bytes(frame.data) for frame in frames if frame.opcode is Opcode.PING]
        self.closed_with = self.server.close_rcvd.code if self.server.close_rcvd is not None else None
        return [decode_request(bytes(frame.data)) for frame in frames if frame.opcode is Opcode.TEXT]

    def told(self, kind: type[ProtocolEvent]) -> list[ProtocolEvent]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]


@pytest.mark.parametrize("step", [1, 7, 65_536])
def test_bytes_may_arrive_in_any_pieces(step: int) -> None:
    wire = Wire(step=step).welcomed("m1")
    assert wire.told(TokenIssued) == [TokenIssued("secret")]
    assert wire.told(Welcome) == [welcome("m1")]
    assert [type(request) for request in wire.heard()] == [ResumeRequest]
    wire.tell(snapshot())
    assert wire.told(Snapshot) == [snapshot()]
    assert len(wire.told(FrameReceived)) == 3


def test_a_message_in_fragments_is_one_message() -> None:
    wire = Wire().welcomed()
    text = encode(snapshot())
    wire.server.send_text(text[:10], fin=False)
    wire.server.send_continuation(text[10:20], fin=False)
    wire.server.send_continuation(text[20:], fin=True)
    wire.deliver()
    assert wire.told(Snapshot) == [snapshot()]


def test_a_server_that_does_not_answer_is_dropped_in_time() -> None:
    silent = Wire()
    silent.client.data_to_send()
    assert silent.client.next_tick_ms == OPEN_TIMEOUT_MS
    silent.client.tick(OPEN_TIMEOUT_MS - 1)
    assert silent.client.disconnect is None
    silent.client.tick(OPEN_TIMEOUT_MS)
    assert silent.client.disconnect is not None
    assert silent.client.disconnect.reason == "nothing answers there"
    assert silent.client.next_tick_ms is None
    mute = Wire().opened(now_ms=100)
    mute.client.tick(100 + WELCOME_TIMEOUT_MS - 1)
    assert mute.client.disconnect is None
    mute.client.tick(100 + WELCOME_TIMEOUT_MS)
    assert mute.client.disconnect is not None
    assert mute.client.disconnect.reason == "the server did not answer"
    assert not mute.client.awaits_close, "it would not answer that either"
    mute.heard()
    assert mute.closed_with == Closing.DONE


def test_pings_measure_the_round_trip_and_find_a_dead_server() -> None:
    wire = Wire().welcomed()
    wire.client.tick(PING_INTERVAL_MS)
    assert not wire.heard()
    assert wire.pings == [b"1"]
    wire.deliver(PING_INTERVAL_MS + 40)  # the pong, which the far end has sent by itself
    assert wire.client.latency_ms == 40
    wire.client.tick(2 * PING_INTERVAL_MS)
    wire.heard()
    assert wire.pings == [b"1", b"2"]
    wire.client.tick(2 * PING_INTERVAL_MS + 2_900)
    assert wire.client.disconnect is None
    wire.client.tick(2 * PING_INTERVAL_MS + PONG_TIMEOUT_MS)
    assert wire.client.disconnect is BROKEN
    assert not wire.client.awaits_close, "a dead server closes nothing"


def asked_on_a_way_of(ms: int) -> tuple[Wire, int]:
    """Return a node that has a match and has been asked whether it lives, by who could go to another, and when."""
    wire = Wire().welcomed("m1")
    wire.client.has_elsewhere = True
    wire.tell(snapshot())
    wire.client.tick(PING_INTERVAL_MS)
    wire.heard()
    answered_ms = PING_INTERVAL_MS + ms
    wire.deliver(answered_ms)
    asked_ms = answered_ms + HURRIED.ping_every_ms
    wire.client.tick(asked_ms)
    return wire, asked_ms


def test_during_a_match_a_silent_node_is_left_sooner_if_there_is_another() -> None:
    wire, asked_ms = asked_on_a_way_of(40)
    wire.client.tick(asked_ms + HURRIED.pong_ms - 1)
    assert wire.client.disconnect is None
    wire.client.tick(asked_ms + HURRIED.pong_ms)
    assert wire.client.disconnect is BROKEN


def test_on_a_slow_link_a_node_has_its_time_even_if_there_is_another() -> None:
    wire, asked_ms = asked_on_a_way_of(800)
    wire.client.tick(asked_ms + PONG_TIMEOUT_MS - 1)
    assert wire.client.disconnect is None
    wire.client.tick(asked_ms + PONG_TIMEOUT_MS)
    assert wire.client.disconnect is BROKEN


@pytest.mark.parametrize(("ms", "is_hurried"), [(1, True), (374, True), (375, False), (376, False)])
def test_a_node_is_left_sooner_if_its_round_trip_is_below_a_quarter_of_the_time(ms: int, *, is_hurried: bool) -> None:
    wire, asked_ms = asked_on_a_way_of(ms)
    wire.client.tick(asked_ms + HURRIED.pong_ms)
    assert (wire.client.disconnect is BROKEN) == is_hurried


def answer(status: int, text: str = "", kind: str = "text/plain; charset=utf-8") -> InvalidStatus:
    return InvalidStatus(Response(status, "", Headers({"Content-Type": kind}), text.encode()))


FOREIGN = "what answers there is not a ttt_net server"


@pytest.mark.parametrize(
    ("error", "reason", "advice", "is_foreign"),
    [
        (answer(503, "full"), "full", Advice.RETRY, False),
        (answer(503), "the server is not ready (HTTP 503)", Advice.RETRY, False),
        (answer(502, "<p>", "text/html"), "the server is not ready (HTTP 502)", Advice.RETRY, False),
        (answer(504, "slow"), "slow", Advice.RETRY, False),
        (answer(429, "slow down"), "slow down", Advice.RETRY, False),
        (answer(403, "you are banned"), "you are banned", Advice.GIVE_UP, False),
        (answer(403), FOREIGN, Advice.RETRY, True),
        (answer(403, "<p>", "text/html"), FOREIGN, Advice.RETRY, True),
        (answer(404, "no page"), f"{FOREIGN}; it says: no page", Advice.RETRY, True),
        (answer(404), FOREIGN, Advice.RETRY, True),
        (InvalidHandshake("no"), FOREIGN, Advice.RETRY, True),
        (InvalidMessage("no"), FOREIGN, Advice.RETRY, True),
        (WebSocketException("no"), "the connection broke", Advice.RETRY, False),
        (TimeoutError(), "nothing answers there", Advice.RETRY, False),
        (ConnectionRefusedError(), "nothing listens there", Advice.RETRY, False),
        (gaierror(), "no computer of that name is known", Advice.RETRY, False),
        (SSLError(), "what answers there does not speak TLS as it should", Advice.RETRY, False),
        (OSError(101, "Network is unreachable"), "network is unreachable", Advice.RETRY, False),
        (OSError(), "the network failed", Advice.RETRY, False),
        (ValueError("a bug"), "the network failed", Advice.RETRY, False),
    ],
)
def test_why_a_connection_failed_is_said_in_words(
    error: Exception, reason: str, advice: Advice, *, is_foreign: bool
) -> None:
    found = unreachable(error)
    assert (found.reason, found.advice, found.is_foreign) == (reason, advice, is_foreign)


def test_a_connection_that_ends_in_the_opening_handshake_has_dropped() -> None:
    error = InvalidMessage("did not receive a valid HTTP response")
    error.__cause__ = EOFError()
    assert unreachable(error) is BROKEN


def test_a_client_that_was_stopped_gives_the_server_its_time_again() -> None:
    wire = Wire().welcomed()
    wire.client.tick(PING_INTERVAL_MS)
    wire.heard()
    wire.client.tick(60_000)  # Ctrl-Z, and fg a minute later: the pong waits in the kernel
    assert wire.client.disconnect is None
    wire.deliver(60_001)
    wire.client.tick(60_000 + PONG_TIMEOUT_MS)
    assert wire.client.disconnect is None


def test_postponed_requests_are_repeated_when_due() -> None:
    wire = Wire().welcomed()
    wire.client.say(PingRequest(0))
    (ping,) = wire.heard()
    wire.tell(Refused(ping.id, Code.TOO_FAST, "slow down", retry_after_ms=500), now_ms=1_000)
    wire.client.tick(1_499)
    assert wire.heard() == []
    wire.client.tick(1_500)
    assert wire.heard() == [ping]


def test_the_end_of_a_connection_has_its_reason_and_the_session_outlives_it() -> None:
    session = ClientSession("Ann", None)
    cut = Wire(session).welcomed("m1")
    cut.tell(snapshot())
    cut.client.receive_eof(10)
    assert cut.client.disconnect is BROKEN
    again = Wire(session).opened()
    (hello,) = again.heard()
    assert isinstance(hello, HelloRequest)
    assert hello.token == "secret"
    again.server.send_close(Closing.RESTART, "back soon")
    again.deliver()
    assert again.client.disconnect is not None
    assert again.client.disconnect.reason == "back soon"
    assert again.client.awaits_close


def test_text_that_is_not_utf_8_breaks_the_connection_and_not_the_client() -> None:
    wire = Wire().welcomed()
    wire.server.send_text(b"\xff\xfe")
    wire.deliver()
    assert wire.client.disconnect is BROKEN


def test_a_visitor_takes_up_no_match() -> None:
    wire = Wire(ClientSession(None, "secret", is_visiting=True)).welcomed("m1")
    assert wire.heard() == []
    assert wire.told(Welcome) == [welcome("m1")]
    assert wire.told(TokenIssued) == []
    guest = Wire(ClientSession(None, None)).opened()
    (hello,) = guest.heard()
    assert isinstance(hello, HelloRequest)
    assert (hello.name, hello.token) == (None, None)
