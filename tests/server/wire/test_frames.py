"""Frames that our own parser reads: for any bytes, however split, the result equals that of `websockets`."""

import asyncio
import random
import socket
from functools import partial
from itertools import accumulate, pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE_S
from tests.server.peer import BINARY, CLOSE, CONT, HANDSHAKE, PING, PONG, TEXT, client_frame
from ttt_net.errors import Closing
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import (
    FrameBoundary,
    Heartbeat,
    ReadBuffer,
    Reader,
    TurnQueue,
    ends_with_close,
    frame,
    is_empty_pong,
    short_text,
)

MASK = b"\x01\x80\xff\x5a"


@pytest.mark.parametrize("size", [0, 1, 124, 125])
def test_a_short_text_is_read_through_its_mask(size: int) -> None:
    payload = bytes(number & 0xFF for number in range(size))
    head = client_frame(TEXT, payload)[:2]
    masked = bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))
    assert short_text(head + MASK + masked) == payload


@pytest.mark.parametrize(
    "data",
    [
        b"",
        client_frame(TEXT, b"x")[:-1],
        client_frame(TEXT, b"x") + b"\x81",
        client_frame(TEXT, b"x") * 2,
        client_frame(TEXT, b"x", masked=False) + bytes(4),
        client_frame(TEXT, b"x", fin=False),
        client_frame(TEXT, b"x", rsv=4),
        client_frame(TEXT, bytes(126)),
        client_frame(BINARY, b"x"),
        client_frame(CONT, b"x"),
        client_frame(PING, b"x"),
    ],
)
def test_nothing_else_is_read_by_hand(data: bytes) -> None:
    assert short_text(data) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        client_frame(PONG)[:-1],
        client_frame(PONG) * 2,
        client_frame(PONG, b"x"),
        client_frame(PONG, masked=False) + bytes(4),
        client_frame(PONG, rsv=4),
        client_frame(PING),
    ],
)
def test_only_one_whole_pong_of_a_client_is_an_empty_one(data: bytes) -> None:
    assert is_empty_pong(client_frame(PONG))
    assert not is_empty_pong(data)


@given(st.lists(st.tuples(st.integers(0, 4_096), st.booleans()), max_size=8), st.data())
def test_the_ends_of_frames_are_found_however_they_are_cut(frames: list[tuple[int, bool]], data: st.DataObject) -> None:
    each = [client_frame(TEXT, bytes(size), masked=masked) for size, masked in frames]
    each.append(b"\x82\xff" + (5).to_bytes(8, "big") + bytes(4 + 5))  # a short one with a long length
    stream, ends = b"".join(each), set(accumulate(map(len, each)))
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20))
    boundary, found, place = FrameBoundary(), set(), 0
    for start, end in pairwise(sorted({0, *cuts, len(stream)})):
        piece, at = stream[start:end], 0
        while at < len(piece):
            at = boundary.end_of_frame(piece, at)
            if boundary.is_between:
                found.add(start + at)
        place = start + at
    assert found == ends
    assert place == len(stream)


@pytest.mark.parametrize("reason", [b"", b"\x03\xe8", b"\x03\xe8" + b"r" * 123])
def test_a_close_is_recognized_at_the_end_of_a_read(reason: bytes) -> None:
    late = client_frame(TEXT, b"{}") + client_frame(CLOSE, reason)
    assert ends_with_close(late)
    assert not ends_with_close(late[:-1])
    assert not ends_with_close(client_frame(TEXT, b"{}"))


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_frame_says_its_size(size: int) -> None:
    written = frame(bytes(size))
    assert written == client_frame(TEXT, bytes(size), masked=False)


class Listener:
    """One who owns connections, and notes what they hear."""

    limits = Limits(messages=Rate(1_000_000))

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.heard: list[str] = []
        self.now_ms = lambda: 0
        self.turns = TurnQueue(asyncio.get_running_loop())
        self.shares = FairShares(self.limits, self.now_ms)

    async def all_turns(self) -> None:
        """Wait until everything that was read has been acted on."""
        while len(self.turns):  # noqa: ASYNC110 - a turn is a pass of the loop
            await asyncio.sleep(0)

    def opened(self, connection: Connection, peer: str) -> None:
        """Welcome everybody."""

    def answer_http(self, *_: object) -> None:
        """Let everybody in."""

    def received(self, connection: Connection, text: str) -> None:
        self.heard.append(text)

    def meter(self, connection: Connection) -> None:
        connection.meter()

    def flooded(self, connection: Connection) -> None:
        raise AssertionError("nobody is too fast")

    def closing(self, connection: Connection) -> None:
        """Mind nobody's goodbye."""

    def closed(self, connection: Connection) -> None:
        """Mind nobody's going."""


def hear(chunks: list[bytes]) -> list[str]:
    """Return what a connection makes of bytes that come in these pieces, after its handshake."""
    return asyncio.run(_hear(chunks))[0]


async def _hear(chunks: list[bytes]) -> tuple[list[str], bytes]:
    """Return the messages, and the bytes that the connection sends in answer to them."""
    listener = Listener()
    connection, transport = connected(listener)
    for chunk in chunks:
        connection.data_received(chunk)
    await listener.all_turns()
    return listener.heard, sent_by(transport)


def connected(listener: Listener) -> tuple[Connection, Any]:
    """Return a connection after its handshake, and the transport that it writes to."""
    connection, transport = opened(listener, [HANDSHAKE])
    transport.write.reset_mock()
    return connection, transport


def opened(listener: Listener, pieces: list[bytes]) -> tuple[Connection, Any]:
    """Return a new connection that received these pieces, and the transport that it writes to."""
    transport: Any = mock.MagicMock(
        **{
            "get_write_buffer_size.return_value": 0,
            "get_extra_info.return_value": mock.MagicMock(),
            "is_closing.return_value": False,
        }
    )
    connection = Connection(listener, asyncio.get_running_loop(), ReadBuffer())
    connection.connection_made(transport)
    for piece in pieces:
        connection.data_received(piece)
    return connection, transport


def sent_by(transport: Any) -> bytes:
    """Return what was written since the handshake."""
    return b"".join(call.args[0] for call in transport.write.call_args_list)


PAYLOADS = st.text(max_size=200).map(str.encode)
MESSAGES = st.one_of(
    PAYLOADS.map(lambda payload: (payload, client_frame(TEXT, payload))),
    PAYLOADS.map(
        lambda payload: (
            payload,
            client_frame(TEXT, payload[:3], fin=False) + client_frame(PING, b"?") + client_frame(CONT, payload[3:]),
        )
    ),
)


@given(st.lists(MESSAGES), st.data())
def test_a_stream_reads_the_same_wherever_it_is_split(messages: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    stream = b"".join(frames for _, frames in messages)
    ends = [len(b"".join(frames for _, frames in messages[:count])) for count in range(len(messages) + 1)]
    cuts = data.draw(st.lists(st.one_of(st.sampled_from(ends), st.integers(0, len(stream)))))
    chunks = [stream[start:end] for start, end in pairwise(sorted({0, *cuts, len(stream)}))]
    assert hear(chunks) == [payload.decode() for payload, _ in messages]


def test_a_text_between_the_fragments_of_another_is_rejected() -> None:
    first, second = client_frame(TEXT, b'{"type":', fin=False), client_frame(TEXT, b"{}")
    assert hear([first, second, client_frame(CONT, b'"ping"}')]) == []


def test_text_that_is_not_utf8_is_not_handled() -> None:
    assert hear([client_frame(TEXT, b"\xff"), client_frame(TEXT, b"late")]) == []


def test_bytes_like_a_frame_inside_a_frame_are_text() -> None:
    looks = client_frame(TEXT, b"{}")
    head = client_frame(TEXT, looks)[:2] + b"\xc3\xa9\x20\x20"
    assert hear([head, looks]) == ["B+  é[]"]


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (client_frame(BINARY, b"{}") + client_frame(CLOSE, b"\x03\xe8"), 1003),
        (client_frame(TEXT, b"\xff") + client_frame(CLOSE, b"\x03\xe8"), 1007),
        (client_frame(TEXT, b"{}") * 10 + client_frame(BINARY) + client_frame(3), 1003),
        (client_frame(PING) * 10 + client_frame(CLOSE, b"\x03\xe9") + client_frame(BINARY), 1001),
    ],
    ids=["binary", "no UTF-8", "binary after texts", "a close before binary"],
)
def test_the_first_fault_ends_the_connection_wherever_its_bytes_are_cut(stream: bytes, code: int) -> None:
    for cut in range(len(stream)):
        _, sent = asyncio.run(_hear([stream[:cut], stream[cut:]] if cut else [stream]))
        closes = sent[sent.index(b"\x88") :]
        assert int.from_bytes(closes[2:4]) == code, cut
        assert len(closes) == 2 + closes[1], "and nothing is said after it"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (HANDSHAKE, 101),
        (HANDSHAKE.replace(b"Upgrade: websocket\r\n", b""), 426),
        (HANDSHAKE.replace(b"Version: 13", b"Version: 8"), 400),
        (HANDSHAKE.replace(b"Host: ", b"Host "), 400),
        (HANDSHAKE.replace(b"Host: ", b"Host ").replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"), 400),
        (HANDSHAKE.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n"), 413),
        (HANDSHAKE.replace(b"\r\n", b"\n", 1), 400),
        (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/3"), 505),
        (HANDSHAKE.replace(b"Host: ", b"X: 1\r\n" * 41 + b"Host: "), 431),
        (b"\r\n\r\n" + HANDSHAKE, 400),
    ],
)
async def test_the_answer_to_a_request_does_not_depend_on_how_its_bytes_are_cut(request_: bytes, status: int) -> None:
    def answer(pieces: list[bytes]) -> list[bytes]:
        _, transport = opened(Listener(), pieces)
        return [line for line in sent_by(transport).split(b"\r\n") if not line.startswith(b"Date:")]

    whole = answer([request_])
    assert whole[0].split()[1] == b"%d" % status
    lines = request_.splitlines(keepends=True)
    assert answer(lines) == whole
    assert answer([bytes([each]) for each in request_]) == whole
    for cut in range(1, len(lines)):
        assert answer([b"".join(lines[:cut]), b"".join(lines[cut:])]) == whole
        assert answer([b"".join(lines[:cut]) + lines[cut][:1], lines[cut][1:] + b"".join(lines[cut + 1 :])]) == whole


async def test_of_a_segment_of_tiny_frames_a_few_are_acted_on_before_others_have_their_turn() -> None:
    listener = Listener()
    flood, transport = connected(listener)
    other, _ = connected(listener)
    flood.data_received(client_frame(PING) * 10_900)
    assert sent_by(transport).count(b"\x8a\x00") == 8
    transport.pause_reading.assert_called_once()
    other.data_received(client_frame(TEXT, b"mine"))
    assert listener.heard == ["mine"], "who has not sent much does not wait at all"
    while sent_by(transport).count(b"\x8a\x00") == 8:  # noqa: ASYNC110 - a turn is a pass of the loop
        await asyncio.sleep(0)
    assert sent_by(transport).count(b"\x8a\x00") == 16
    transport.resume_reading.assert_not_called()
    await listener.all_turns()
    assert sent_by(transport) == b"\x8a\x00" * 10_900, "in the end each is answered"
    transport.resume_reading.assert_called_once()


async def test_received_bytes_are_read_before_the_next_turn() -> None:
    loop, order = asyncio.get_running_loop(), []
    turns = TurnQueue(loop)
    near, far = socket.socketpair()
    with near, far:
        loop.add_reader(near, lambda: order.append(near.recv(8)))
        turns.join(lambda: order.append(b"turn"))
        far.send(b"move")
        while len(order) < 2:  # noqa: ASYNC110 - a turn is a pass of the loop
            await asyncio.sleep(0)
        loop.remove_reader(near)
    assert order == [b"move", b"turn"]


async def test_two_floods_take_turns() -> None:
    listener = Listener()
    for name in (b"A", b"B"):
        connection, _ = connected(listener)
        connection.data_received(client_frame(TEXT, name) * 24)
    await listener.all_turns()
    assert "".join(listener.heard) == ("A" * 8 + "B" * 8) * 3


async def test_late_bytes_are_not_parsed_except_for_the_closing_handshake() -> None:
    connection, transport = connected(Listener())
    connection.close(Closing.REPLACED)
    transport.write.reset_mock()
    connection.data_received(client_frame(PING) * 1_000 + client_frame(BINARY))
    assert sent_by(transport) == b""
    transport.write_eof.assert_not_called()
    answer = client_frame(CLOSE, b"\x0f\xa1")
    connection.data_received(answer[:3])
    connection.data_received(answer[3:])
    transport.write_eof.assert_called_once()


async def test_frames_after_a_violation_are_dropped_and_reading_resumes() -> None:
    listener = Listener()
    connection, transport = connected(listener)
    connection.data_received(client_frame(TEXT, b"A") * 20 + client_frame(BINARY) + client_frame(TEXT, b"B") * 20)
    await listener.all_turns()
    assert listener.heard == ["A"] * 20
    transport.resume_reading.assert_called_once()


AFTER_S = 10.0


def test_the_first_ping_is_due_at_once_and_none_before_it_is_answered() -> None:
    beat = Heartbeat()
    assert beat.is_due(100.0, heard_s=100.0, after_s=AFTER_S)
    beat.asked(100.0)
    assert not beat.is_due(1_000.0, heard_s=100.0, after_s=AFTER_S)
    beat.answered(100.3)
    assert beat.is_due(1_000.0, heard_s=100.3, after_s=AFTER_S)


def test_a_silent_peer_is_pinged_after_a_while_and_an_active_one_a_fifth_as_often() -> None:
    beat = Heartbeat()
    beat.asked(0.0)
    beat.answered(0.0)
    assert [beat.is_due(now_s, heard_s=3.0, after_s=AFTER_S) for now_s in (13.0, 13.1)] == [False, True]
    assert [beat.is_due(now_s, heard_s=now_s, after_s=AFTER_S) for now_s in (50.0, 50.1)] == [False, True]


def test_the_way_is_a_mean_in_which_the_newest_weighs_three_tenths() -> None:
    beat, ways_ms = Heartbeat(), []
    for now_s, way_s in ((0, 0.5), (10, 1.0), (20, 0.0)):
        beat.asked(now_s)
        ways_ms.append(beat.answered(now_s + way_s))
    assert ways_ms == [500, 650, 455]
    assert beat.answered(30.0) == 455, "a pong that nobody asked for says nothing"


def test_a_time_in_which_the_process_stood_still_is_no_part_of_the_way() -> None:
    beat = Heartbeat()
    beat.asked(5.0)
    beat.excuse(60.0)
    assert beat.answered(65.25) == 250
    assert not beat.is_due(75.0, heard_s=65.25, after_s=AFTER_S)


CHUNKS = 200


class BufferListener(Reader):
    """It keeps the bytes that it receives."""

    def __init__(self, buffer: ReadBuffer) -> None:
        super().__init__(buffer)
        self.heard: list[bytes] = []
        self.is_over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_over.set()


def _given(listener: BufferListener) -> BufferListener:
    return listener


async def test_connections_that_share_a_buffer_get_and_keep_their_own_bytes() -> None:
    loop, rng = asyncio.get_running_loop(), random.Random(8)
    ends = [socket.socketpair() for _ in range(2)]
    buffer = ReadBuffer()
    listeners = [BufferListener(buffer) for _ in ends]
    for (ours, theirs), listener in zip(ends, listeners, strict=True):
        theirs.setblocking(False)
        await loop.connect_accepted_socket(partial(_given, listener), ours)
    sent = [bytearray(), bytearray()]
    for _ in range(CHUNKS):
        who = rng.randrange(2)
        chunk = rng.randbytes(rng.choice((1, 100, 70_000)))
        sent[who] += chunk
        await loop.sock_sendall(ends[who][1], chunk)
    for _, theirs in ends:
        theirs.close()
    for listener, said in zip(listeners, sent, strict=True):
        await asyncio.wait_for(listener.is_over.wait(), PATIENCE_S)
        assert b"".join(listener.heard) == said
        assert len(listener.heard) > 1
