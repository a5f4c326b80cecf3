"""Frames that are read by hand: whatever comes, and however it is cut, it is what `websockets` would have read."""

from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.peer import BINARY, CONT, HANDSHAKE, PING, TEXT, client_frame
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.limits import Limits
from ttt_net.server.settings.rate import Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import ends_with_frame, frame, short_text

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


@given(st.lists(st.integers(0, 4_096), max_size=8), st.integers(1, 5))
def test_the_end_of_the_last_frame_is_found(sizes: list[int], missing: int) -> None:
    data = b"".join(client_frame(TEXT, bytes(size)) for size in sizes)
    assert ends_with_frame(data)
    assert not ends_with_frame(data + client_frame(TEXT)[:-missing])


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_frame_says_its_size(size: int) -> None:
    written = frame(bytes(size))
    assert written == client_frame(TEXT, bytes(size), masked=False)


class Listener:
    """One who owns connections, and notes what they hear."""

    limits = Limits(messages=Rate(1_000_000))

    def __init__(self) -> None:
        self.meters = Metrics()
        self.heard: list[str] = []
        self.now_ms = lambda: 0

    def opened(self, connection: Connection, peer: str) -> None:
        """Welcome everybody."""

    def answer_http(self, *_: object) -> None:
        """Let everybody in."""

    def received(self, connection: Connection, text: str) -> None:
        self.heard.append(text)

    def flooded(self, connection: Connection) -> None:
        raise AssertionError("nobody is too fast")

    def closed(self, connection: Connection) -> None:
        """Mind nobody's going."""


def hear(chunks: list[bytes]) -> list[str]:
    """Return what a connection makes of bytes that come in these pieces, after its handshake."""
    listener = Listener()
    loop: Any = mock.Mock(**{"time.return_value": 0.0})
    transport: Any = mock.MagicMock(**{"get_write_buffer_size.return_value": 0})
    connection = Connection(listener, loop)
    connection.connection_made(transport)
    for chunk in [HANDSHAKE, *chunks]:
        connection.data_received(chunk)
    return listener.heard


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
def test_wherever_a_stream_is_cut_the_same_is_heard(messages: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    stream = b"".join(frames for _, frames in messages)
    ends = [len(b"".join(frames for _, frames in messages[:count])) for count in range(len(messages) + 1)]
    cuts = data.draw(st.lists(st.one_of(st.sampled_from(ends), st.integers(0, len(stream)))))
    chunks = [stream[start:end] for start, end in pairwise(sorted({0, *cuts, len(stream)}))]
    assert hear(chunks) == [payload.decode() for payload, _ in messages]


def test_a_text_between_the_pieces_of_another_is_refused_and_not_heard() -> None:
    first, second = client_frame(TEXT, b'{"type":', fin=False), client_frame(TEXT, b"{}")
    assert hear([first, second, client_frame(CONT, b'"ping"}')]) == []


def test_text_that_is_not_utf8_is_not_heard() -> None:
    assert hear([client_frame(TEXT, b"\xff"), client_frame(TEXT, b"late")]) == []


def test_what_looks_like_a_frame_within_a_frame_is_text() -> None:
    looks = client_frame(TEXT, b"{}")
    head = client_frame(TEXT, looks)[:2] + b"\xc3\xa9\x20\x20"
    assert hear([head, looks]) == ["B+  é[]"]
