"""A connection without a socket: bytes and times go in, bytes and events come out."""

from socket import gaierror
from ssl import PROTOCOL_TLS_CLIENT, MemoryBIO, SSLCertVerificationError, SSLContext, SSLError

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, WebSocketException
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request as HttpRequest
from websockets.http11 import Response
from websockets.server import ServerProtocol

from tests.client.samples import ok, snapshot, welcome
from ttt_net.errors import Advice, Closing, Code
from ttt_net.messages import (
    AnyRequest,
    AnyServerMessage,
    HelloRequest,
    Notice,
    PingRequest,
    Refused,
    RenameRequest,
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
    Disconnect,
    FrameReceived,
    ProtocolEvent,
    TokenIssued,
    closed_by,
    distrusted,
    unreachable,
)
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Answered, Farewell, Garbled, Parting


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


FOREIGN = "the server there is not a ttt_net server"


def in_clear() -> SSLError:
    """Return the error of a TLS handshake that was answered with plain text."""
    incoming, outgoing = MemoryBIO(), MemoryBIO()
    incoming.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(SSLError) as raised:
        SSLContext(PROTOCOL_TLS_CLIENT).wrap_bio(incoming, outgoing, server_hostname="example.org").do_handshake()
    return raised.value


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
        (answer(400, "use wss://"), "the server there refused the connection: use wss://", Advice.RETRY, True),
        (answer(400), FOREIGN, Advice.RETRY, True),
        (answer(404, "no page"), f"{FOREIGN}; it says: no page", Advice.RETRY, True),
        (answer(404), FOREIGN, Advice.RETRY, True),
        (InvalidHandshake("no"), FOREIGN, Advice.RETRY, True),
        (InvalidMessage("no"), FOREIGN, Advice.RETRY, True),
        (WebSocketException("no"), "the connection broke", Advice.RETRY, False),
        (TimeoutError(), "nothing answers there", Advice.RETRY, False),
        (ConnectionRefusedError(), "nothing listens there", Advice.RETRY, False),
        (gaierror(), "no computer of that name is known", Advice.RETRY, False),
        (SSLError(), "the server there does not speak TLS correctly", Advice.RETRY, False),
        (in_clear(), "the server there does not encrypt; its address begins with ws://", Advice.RETRY, False),
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


@pytest.mark.parametrize("closing", Closing)
def test_each_close_code_has_its_reason_and_its_advice(closing: Closing) -> None:
    assert closed_by(Close(closing, "")) == Disconnect(closing.meaning, closing.advice)
    assert closed_by(Close(closing, "because\x1b.")) == Disconnect("because", closing.advice)


def test_a_close_code_that_is_not_ours_is_named_and_the_client_comes_back() -> None:
    for code in (1001, 4999):
        found = closed_by(Close(code, "anything"))
        assert found == Disconnect(f"the server closed the connection with code {code}", Advice.RETRY)


def test_the_farewell_says_why_the_client_does_not_come_back() -> None:
    kicked = closed_by(Close(Closing.KICKED, "swears"))
    assert kicked.farewell == Farewell(Parting.GIVEN_UP, "The server closed the connection: swears.")
    assert BROKEN.farewell == Farewell(Parting.UNREACHABLE, "the connection broke")
    assert distrusted("no").farewell == Farewell(Parting.DISTRUSTED, "no")
    assert distrusted("no").is_foreign


def test_a_certificate_that_is_not_good_is_no_matter_of_the_network() -> None:
    error = SSLCertVerificationError()
    error.verify_message = "it has\x1b expired"
    sentence = (
        "its certificate is not trusted (it has expired); if the host gave you its fingerprint, add it "
        "with --tls-fingerprint"
    )
    assert unreachable(error) == distrusted(sentence)


def test_only_the_pong_of_the_ping_that_waits_measures_the_round_trip() -> None:
    wire = Wire().welcomed()
    for data in (b"0", b"1", b""):
        wire.server.send_pong(data)
    wire.deliver(50)
    assert wire.client.latency_ms is None, "nobody has asked yet"
    wire.client.tick(PING_INTERVAL_MS)
    wire.server.send_pong(b"7")
    wire.deliver(PING_INTERVAL_MS + 5)
    assert wire.client.latency_ms is None
    wire.heard()
    wire.deliver(PING_INTERVAL_MS + 40)
    wire.server.send_pong(b"1")
    wire.deliver(PING_INTERVAL_MS + 500)
    assert wire.client.latency_ms == 40


@pytest.mark.parametrize(
    ("has_elsewhere", "matches", "every_ms"),
    [(False, (), PING_INTERVAL_MS), (True, (), PING_INTERVAL_MS), (False, ("m1",), PING_INTERVAL_MS),
     (True, ("m1",), HURRIED.ping_every_ms)],
)  # fmt: skip
def test_pings_come_in_their_rhythm(has_elsewhere: bool, matches: tuple[str, ...], every_ms: int) -> None:
    wire = Wire()
    wire.client.has_elsewhere = has_elsewhere
    wire.welcomed(*matches, now_ms=100)
    for _ in matches:
        wire.tell(snapshot(), now_ms=100)
    at_ms = 100 + PING_INTERVAL_MS
    for number in range(1, 4):
        assert wire.client.next_tick_ms == at_ms
        wire.client.tick(at_ms - 1)
        wire.heard()
        assert len(wire.pings) == number - 1
        wire.client.tick(at_ms)
        wire.heard()
        assert len(wire.pings) == number
        wire.deliver(at_ms)
        at_ms += every_ms


def test_a_server_that_only_talks_is_dropped_in_its_time_and_not_as_after_a_pause() -> None:
    wire = Wire().welcomed()
    wire.client.tick(PING_INTERVAL_MS)
    wire.tell(Notice("hello", None), now_ms=PING_INTERVAL_MS + 2_000)
    wire.client.tick(PING_INTERVAL_MS + PONG_TIMEOUT_MS + 500)
    assert wire.client.disconnect is BROKEN
    still = Wire().welcomed()
    still.client.tick(PING_INTERVAL_MS)
    still.client.tick(PING_INTERVAL_MS + PONG_TIMEOUT_MS)
    assert still.client.disconnect is BROKEN


def test_after_a_pause_the_server_is_asked_at_once() -> None:
    wire = Wire().welcomed()
    wire.client.tick(60_000)
    wire.heard()
    assert wire.pings == [b"1"]


def test_a_server_that_says_much_and_no_welcome_is_dropped_in_time() -> None:
    wire = Wire().opened()
    wire.tell(Notice("hello", None))
    wire.client.tick(WELCOME_TIMEOUT_MS)
    assert wire.client.disconnect is not None
    assert wire.client.disconnect.reason == "the server did not answer"


def test_a_postponed_request_is_repeated_once() -> None:
    wire = Wire().welcomed()
    wire.client.say(PingRequest(0))
    (ping,) = wire.heard()
    wire.tell(Refused(ping.id, Code.TOO_FAST, "slow down", retry_after_ms=500), now_ms=1_000)
    wire.client.tick(1_500)
    assert wire.heard() == [ping]
    wire.tell(Refused(ping.id, Code.TOO_FAST, "slow down", retry_after_ms=500), now_ms=1_500)
    wire.client.tick(1_501)
    assert wire.heard() == [], "the first wait is over, and the second not"
    wire.client.tick(2_000)
    assert wire.heard() == [ping]


def test_nothing_is_done_after_the_end() -> None:
    wire = Wire().welcomed()
    assert not wire.client.awaits_close
    wire.client.say(RenameRequest(0, "Anna"))
    (rename,) = wire.heard()
    wire.events.clear()
    wire.client.events_received()
    assert not wire.client.has_events
    wire.client.close()
    assert wire.client.has_events
    (told,) = wire.client.events_received()
    assert isinstance(told, Answered)
    assert isinstance(told.answer, Refused)
    assert (told.request, told.answer.code) == (rename, Code.UNKNOWN_OUTCOME)
    assert wire.client.disconnect is not None
    assert wire.client.disconnect.reason == "we left"
    assert wire.client.awaits_close
    late = Wire().welcomed()
    late.server.send_text(encode(snapshot()))
    wire.client.receive_data(b"".join(late.server.data_to_send()), 0)
    wire.heard()
    assert wire.closed_with == Closing.DONE
    wire.client.tick(PING_INTERVAL_MS)
    wire.client.say(PingRequest(0))
    assert wire.client.data_to_send() == []
    for _ in range(2):
        wire.client.receive_eof(PING_INTERVAL_MS)
    assert wire.client.disconnect.reason == "we left"
    assert wire.client.events_received() == []


def test_at_the_end_of_the_stream_our_side_ends_too() -> None:
    wire = Wire().welcomed()
    wire.client.data_to_send()
    for _ in range(2):
        wire.client.receive_eof(0)
    assert wire.client.data_to_send()[-1] == b""
    wire.client.receive_data(b"late", 0)
    assert wire.client.disconnect is BROKEN


def test_nothing_is_said_after_a_close_that_came_with_the_welcome() -> None:
    wire = Wire().opened()
    (hello,) = wire.heard()
    for message in (ok(hello.id), welcome("m1", token="secret")):
        wire.server.send_text(encode(message))
    wire.server.send_close(Closing.RESTART)
    wire.deliver()
    assert wire.told(Welcome) == [welcome("m1")]
    assert wire.client.disconnect == closed_by(Close(Closing.RESTART, ""))
    assert wire.heard() == []


def test_a_refusal_that_ends_with_the_stream_is_read() -> None:
    wire = Wire()
    wire.client.receive_data(b"HTTP/1.1 503 Full\r\nContent-Type: text/plain\r\n\r\ncome back", 0)
    assert wire.client.disconnect is None
    wire.client.receive_eof(0)
    assert wire.client.disconnect is not None
    assert wire.client.disconnect.reason == "come back"


def test_a_rejected_handshake_says_hello_to_nobody() -> None:
    wire = Wire()
    wire.client.receive_data(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 0)
    assert wire.client.disconnect == Disconnect(FOREIGN, is_foreign=True)
    assert wire.client.next_tick_ms is None
    assert wire.session.opened()[0].id == 1, "no hello was made before"


def test_bytes_that_are_no_frames_break_the_connection() -> None:
    wire = Wire().welcomed()
    wire.client.receive_data(b"\xff\xff", 0)
    assert wire.client.disconnect is BROKEN


def test_binary_frames_are_no_messages_in_one_piece_or_in_several() -> None:
    wire = Wire().welcomed()
    text = encode(snapshot())
    wire.server.send_binary(text)
    wire.server.send_binary(text[:10], fin=False)
    wire.server.send_continuation(text, fin=True)
    wire.deliver()
    assert wire.told(Snapshot) == []
    assert wire.told(Garbled) == []


def test_nothing_is_read_after_a_frame_that_breaks_the_connection() -> None:
    wire = Wire().welcomed()
    wire.server.send_text(b"\xff")
    wire.server.send_text(encode(snapshot()))
    wire.deliver()
    assert wire.client.disconnect is BROKEN
    assert wire.told(Snapshot) == []


def test_a_message_for_newer_clients_is_ignored_and_an_invalid_one_is_told() -> None:
    wire = Wire().welcomed()
    wire.server.send_text(b'{"type":"future","x":1}')
    wire.deliver()
    assert wire.told(Garbled) == []
    wire.server.send_text(b'{"type":"snapshot"}')
    wire.deliver()
    assert len(wire.told(Garbled)) == 1


def test_a_refused_hello_ends_the_connection_with_the_refusal() -> None:
    wire = Wire().opened()
    (hello,) = wire.heard()
    wire.tell(Refused(hello.id, Code.BANNED, "you are banned"))
    assert wire.client.rejected is not None
    assert wire.client.rejected.code == Code.BANNED
    assert wire.client.disconnect is not None
    assert wire.client.disconnect.reason == "the server refused"
