"""Compare what a connection makes of frames with what `websockets` does: `python -m tests.hostile.differential`.

A stream of frames, most of them good, some cut, doubled or spoilt, goes to a connection in pieces of any size, and
whole to the parser of `websockets`, with the few rules of ours on top that it has no part in: text only, and UTF-8.
Both must hear the same texts, send the same pongs and close with the same code. One seed makes one stream.
"""

import argparse
import random
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from tests.server.peer import BINARY, CLOSE, CONT, HANDSHAKE, PING, PONG, TEXT, client_frame
from ttt_net.messages import MAX_MESSAGE_BYTES
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.metrics import Metrics
from ttt_net.server.settings.configuration import Limits, Rate
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import FrameBoundary, ReadBuffer, TurnQueue

_NOT_TEXT, _BAD_TEXT, _NO_CODE = 1003, 1007, 1005
_TEXTS = (
    b"",
    b"{}",
    b'{"type":"ping","id":1}',
    "ç€😀".encode(),
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xff",
    b"x" * 125,
    b"x" * 126,
)
_LONG = (4_000, 4_096, 4_097, 70_000)
_CLOSES = (
    b"",
    b"\x03\xe8",
    b"\x03\xe9bye",
    b"\x03",
    b"\x03\xed",
    b"\x0f\xa1",
    b"\x03\xe8\xff",
    b"\x00\x00",
    b"\xff\xff",
)


class Heard(NamedTuple):
    """The result of a stream."""

    texts: list[str]
    pongs: list[bytes]
    code: int | None
    """The close code; None if the connection stays open, 1005 for a close without a code."""


# What is sent.


def stream_of(rng: random.Random) -> bytes:
    """Return the bytes of some frames, in every third stream spoilt."""
    stream = b"".join(_frame(rng) for _ in range(rng.choice([1, 2, 3, 5, 12, 40])))
    if rng.random() < 1 / 3:
        for _ in range(rng.choice([1, 1, 2, 5])):
            stream = _spoilt(rng, stream)
    return stream


def _frame(rng: random.Random) -> bytes:
    what = rng.random()
    if what < 0.45:
        return _masked(rng, TEXT, _text(rng))
    if what < 0.6:  # a message in pieces, with control frames between them
        text, pieces = _text(rng), rng.choice([2, 3, 5])
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(pieces - 1))
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        frames = []
        for number, part in enumerate(parts):
            frames.append(_masked(rng, CONT if number else TEXT, part, fin=number == len(parts) - 1))
            if rng.random() < 0.3:
                frames.append(_masked(rng, PING, rng.randbytes(rng.randrange(4))))
        return b"".join(frames)
    if what < 0.8:
        return _masked(rng, rng.choice([PING, PONG]), rng.randbytes(rng.choice([0, 0, 1, 8, 125])))
    if what < 0.83:
        return _masked(rng, CLOSE, rng.choice(_CLOSES))
    if what < 0.86:
        return _masked(rng, rng.choice([BINARY, CONT, TEXT]), b"{}", fin=rng.random() < 0.5)
    if what < 0.88:
        return client_frame(rng.randrange(16), b"ab", fin=rng.random() < 0.5, rsv=rng.choice([0, 0, 1, 4]))
    if what < 0.9:
        return client_frame(rng.choice([TEXT, PING]), rng.randbytes(rng.choice([0, 3, 126, 127])), masked=False)
    return _masked(rng, TEXT, b'{"type":"ping","id":1}')


def _text(rng: random.Random) -> bytes:
    return b"y" * rng.choice(_LONG) if rng.random() < 0.05 else rng.choice(_TEXTS[:4] if rng.random() < 0.9 else _TEXTS)


def _masked(rng: random.Random, opcode: int, payload: bytes, *, fin: bool = True) -> bytes:
    """Return a frame with a mask of its own, which changes all that is in it."""
    mask = rng.randbytes(4)
    plain = client_frame(opcode, payload, fin=fin)
    head = plain[: len(plain) - len(payload) - 4]
    return head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def _spoilt(rng: random.Random, stream: bytes) -> bytes:
    place, length = rng.randrange(len(stream) + 1), rng.choice([1, 1, 2, 7])
    match rng.randrange(5):
        case 0:
            return stream[:place] + rng.randbytes(length) + stream[place:]
        case 1:
            return stream[:place] + stream[place + length :]
        case 2:
            return stream[:place]
        case 3:
            return stream[:place] + stream[max(0, place - 20) :]
        case _:
            return stream[:place] + rng.randbytes(length) + stream[place + length :]


# What `websockets` makes of it.


def by_websockets(stream: bytes) -> Heard:
    """Return what its parser hears in the stream, read whole, with our rules of texts on top."""
    protocol = ServerProtocol(max_size=MAX_MESSAGE_BYTES)
    protocol.receive_data(HANDSHAKE)
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    protocol.data_to_send()
    protocol.receive_data(stream)
    texts: list[str] = []
    pongs: list[bytes] = []
    text = b""
    for frame in protocol.events_received():
        match frame.opcode:  # type: ignore[union-attr]
            case Opcode.BINARY:
                return Heard(texts, pongs, _NOT_TEXT)
            case Opcode.TEXT | Opcode.CONT:
                text += frame.data  # type: ignore[union-attr]
                if frame.fin:  # type: ignore[union-attr]
                    try:
                        texts.append(text.decode())
                    except UnicodeDecodeError:
                        return Heard(texts, pongs, _BAD_TEXT)
                    text = b""
            case Opcode.PING:
                pongs.append(bytes(frame.data))  # type: ignore[union-attr]
            case _:
                pass
    return Heard(texts, pongs, None if protocol.close_sent is None else protocol.close_sent.code)


# What a connection of ours makes of it.


class _Loop:
    """An event loop whose passes are made by hand, and whose time stands still."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()

    def time(self) -> float:
        return 0.0

    def call_soon(self, call: Callable[..., None], *args: object) -> None:
        self._waiting.append(partial(call, *args))

    def call_later(self, delay_s: float, call: Callable[[], None]) -> None:
        assert delay_s == 0
        self._waiting.append(call)

    def turn(self) -> None:
        while self._waiting:
            self._waiting.popleft()()


class _Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written = b""

    def get_extra_info(self, name: str) -> Any:
        return _Socket() if name == "socket" else ("127.0.0.1", 1)

    def write(self, data: bytes) -> None:
        self.written += data

    def can_write_eof(self) -> bool:
        return True

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def _do_nothing(self, *_: object, **__: object) -> None:
        pass

    set_write_buffer_limits = write_eof = pause_reading = resume_reading = abort = close = _do_nothing


class _Socket:
    family = 0

    def setsockopt(self, *_: object) -> None:
        pass


class _Owner:
    """Lets everybody in, and notes what is said."""

    limits = Limits(messages=Rate(1_000_000))
    metrics = Metrics()

    def __init__(self, loop: _Loop) -> None:
        self.texts: list[str] = []
        self.turns = TurnQueue(loop)  # type: ignore[arg-type]
        self.now_ms = lambda: 0
        self.shares = FairShares(self.limits, self.now_ms)

    def received(self, _: Connection, text: str) -> None:
        self.texts.append(text)

    def _do_nothing(self, *_: object) -> None:
        pass

    opened = closing = closed = flooded = meter = answer_http = _do_nothing


def by_us(stream: bytes, cuts: list[int]) -> Heard:
    """Return what a connection hears in the stream, which comes in pieces that end at `cuts`."""
    loop, transport = _Loop(), _Transport()
    owner = _Owner(loop)
    connection = Connection(owner, loop, ReadBuffer())  # type: ignore[arg-type]
    connection.connection_made(transport)  # type: ignore[arg-type]
    connection.data_received(HANDSHAKE)
    transport.written = b""
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        if start < end:
            connection.data_received(stream[start:end])
        loop.turn()
    pongs, code = _read(transport.written)
    return Heard(owner.texts, pongs, code)


def _read(sent: bytes) -> tuple[list[bytes], int | None]:
    """Return the pongs and the code of the close in what a server sent; nothing may follow the close."""
    pongs: list[bytes] = []
    while sent:
        opcode, payload, sent = sent[0] & 15, sent[2 : 2 + sent[1]], sent[2 + sent[1] :]
        if opcode == CLOSE:
            assert not sent, f"after the close comes {sent!r}"
            return pongs, int.from_bytes(payload[:2]) if payload else _NO_CODE
        assert opcode == PONG, f"opcode {opcode}"
        pongs.append(payload)
    return pongs, None


def difference(seed: int) -> str | None:
    """Return how the two differ over the stream of a seed, or None."""
    rng = random.Random(seed)
    stream = stream_of(rng)
    cuts = _cuts(rng, stream)
    ours, theirs = by_us(stream, cuts), by_websockets(stream)
    if ours == theirs:
        return None
    return f"seed {seed}: {stream.hex()} cut at {cuts}\n  ours   {ours}\n  theirs {theirs}"


def _cuts(rng: random.Random, stream: bytes) -> list[int]:
    """Return where the stream is cut: anywhere, or between its frames, as those come who say one thing at a time."""
    if rng.random() < 0.5:
        return sorted(rng.randrange(len(stream) + 1) for _ in range(rng.choice([0, 1, 3, 20])))
    boundary, ends = FrameBoundary(), [0]
    while ends[-1] < len(stream):
        ends.append(boundary.end_of_frame(stream, ends[-1]))
    return [end for end in ends if rng.random() < 0.8]


def main() -> int:
    """Compare for so many seconds; print the first difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    options = parser.parse_args()
    seed, end_s = options.first, time.monotonic() + options.seconds
    while time.monotonic() < end_s:
        found = difference(seed)
        if found:
            print(found)
            return 1
        seed += 1
    print(f"{seed - options.first:,} streams: no difference from the parser of websockets")
    return 0


if __name__ == "__main__":
    sys.exit(main())
