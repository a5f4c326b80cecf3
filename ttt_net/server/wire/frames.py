"""The parts of a connection that need no socket: shared read buffer, turns, short frames, and pings.

- All connections of an event loop read into one buffer. Asyncio's plain protocol allocates 256 KiB for each read, which
  in a young process costs a third of a move's time without uvloop.
- Connections with much to read take turns.
- Short text frames are parsed and written here, because each move is one; the result is the same as with `websockets`.
- Pings measure how long a message and its answer take on the network.
"""

import asyncio
import math
from abc import abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable

try:
    from websockets.speedups import apply_mask
except ImportError:  # where `websockets` has no compiled part
    from websockets.utils import apply_mask

PASS_S = 0.000_5
"""The maximal time of short turns in one iteration of the event loop."""
_PINGED_ANYWAY = 5
"""An active peer is pinged this many times less often, since a ping costs as much as a move."""
_WHOLE_TEXT = 0x81
_MASKED = 0x80
_SHORT = 125
_HEADS = tuple(bytes((_WHOLE_TEXT, size)) for size in range(_SHORT + 1))
"""The heads of short text frames, by the size of the payload."""
_MASKED_HEADS = tuple(bytes((_WHOLE_TEXT, _MASKED | size)) for size in range(_SHORT + 1))
"""The same for frames of clients."""
_MASK_ENDS = 6
EMPTY_PING = b"\x89\x00"
"""The only ping that the server sends, as a frame."""
_EMPTY_PONG_HEAD = bytes((0x8A, _MASKED))
_CLOSE = 0x88
_LONGEST_HEAD = 10
"""The size of a short frame's head in bytes, without the mask."""
_LONGEST_CLOSE = _MASK_ENDS + _SHORT
"""The size of a client's close frame with the longest reason, in bytes."""
_MOST_LATE = 65_536
"""The maximal bytes to read from a closing peer, so that it receives the close frame; more cause a reset."""


class ReadBuffer:
    """The read buffer of one event loop, which fills it and reports before it serves another connection."""

    __slots__ = ("bytes", "view")

    def __init__(self, size: int = 65_536) -> None:
        self.bytes = bytearray(size)
        self.view = memoryview(self.bytes)


class Reader(asyncio.BufferedProtocol):
    """A protocol that reads from a shared buffer."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ReadBuffer) -> None:
        self._buffer = buffer

    def get_buffer(self, sizehint: int) -> bytearray:
        """Return the buffer to read into."""
        return self._buffer.bytes

    def buffer_updated(self, nbytes: int) -> None:
        """Process received bytes."""
        self.data_received(bytes(self._buffer.view[:nbytes]))

    @abstractmethod
    def data_received(self, data: bytes) -> None:
        """Handle bytes."""


class TurnQueue:
    """Turns of connections with much to read: one in each iteration of the event loop, or several within `PASS_S`.

    So a connection delays another by at most one turn, however much two hundred connections send at once. An unfinished
    connection joins the queue again, behind the others of its holder. Holders take turns too.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: OrderedDict[object, deque[Callable[[], None]]] = OrderedDict()
        """The waiting calls by holder; the first holder is next."""
        self._is_taken = False

    def __len__(self) -> int:
        """Return the number of waiting and running calls."""
        return sum(map(len, self._waiting.values())) + self._is_taken

    def join(self, take_turn: Callable[[], None], holder: object = None) -> None:
        """Call `take_turn` once, in one of the next iterations of the running event loop, fairly by `holder`."""
        is_first = not self._waiting and not self._is_taken
        self._waiting.setdefault(holder, deque()).append(take_turn)
        if is_first:
            self._pass_soon()

    def _pass_soon(self) -> None:
        """Continue in the next iteration of the loop; in asyncio's, after everything that has arrived by then."""
        self._loop.call_later(0, self._pass)

    def _pass(self) -> None:
        until_s = self._loop.time() + PASS_S
        try:
            # an iteration costs as much as a short turn, so turns of known holders share one
            while self._take_one() is not None and self._waiting and self._loop.time() < until_s:
                pass
        finally:
            if self._waiting:
                self._pass_soon()

    def _take_one(self) -> object:
        """Run the next turn; return its holder."""
        holder, calls = self._waiting.popitem(last=False)
        take_turn = calls.popleft()
        if calls:
            self._waiting[holder] = calls
        self._is_taken = True
        try:
            take_turn()
        finally:
            self._is_taken = False
        return holder


def frame(payload: bytes) -> bytes:
    """Return the bytes of one text frame; they are the same for every recipient."""
    size = len(payload)
    if size <= _SHORT:
        return _HEADS[size] + payload
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def short_text(data: bytes) -> bytes | None:
    """Return the payload if `data` is exactly one complete text frame of a client with at most 125 bytes."""
    size = len(data) - _MASK_ENDS
    if not 0 <= size <= _SHORT or not data.startswith(_MASKED_HEADS[size]):
        return None
    return apply_mask(data[_MASK_ENDS:], data[2:_MASK_ENDS])


def is_empty_pong(data: bytes) -> bool:
    """Tell whether `data` is exactly one pong of a client without a payload: the answer to `EMPTY_PING`."""
    return len(data) == _MASK_ENDS and data.startswith(_EMPTY_PONG_HEAD)


def ends_with_close(data: bytes) -> bool:
    """Tell whether `data` may end with a close frame of a client; it is not parsed, so other bytes may look like it."""
    return any(data[-_MASK_ENDS - size :][:2] == bytes((_CLOSE, _MASKED | size)) for size in range(_SHORT + 1))


class LateBytes:
    """Bytes from a peer that is being closed: counted, but not parsed."""

    __slots__ = ("_count", "_end")

    def __init__(self) -> None:
        self._count = 0
        self._end = b""
        """The last bytes, which may contain the peer's part in the closing handshake."""

    def add(self, data: bytes) -> None:
        """Count bytes, and keep the last."""
        self._count += len(data)
        self._end = (self._end + data)[-_LONGEST_CLOSE:]

    @property
    def are_too_many(self) -> bool:
        """Whether the peer keeps sending for too long."""
        return self._count > _MOST_LATE

    @property
    def end_with_close(self) -> bool:
        """Whether they may end with a close frame."""
        return ends_with_close(self._end)


class FrameBoundary:
    """Tracks the ends of a client's frames, so that each can be handled before the next is parsed."""

    __slots__ = ("_head", "_missing")

    def __init__(self) -> None:
        self._head = b""
        """The first bytes of a frame of unknown length: at most 9."""
        self._missing = 0
        """The number of missing bytes of the current frame."""

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a frame."""
        return not self._missing and not self._head

    def end_of_frame(self, data: bytes, start: int) -> int:
        """Return where in `data` the frame with its next byte at `start` ends; the end of `data` if it continues."""
        if not self._missing:
            head = self._head + data[start : start + _LONGEST_HEAD]
            size = _frame_bytes(head)
            if size is None:
                self._head = head
                return len(data)
            self._missing = size - len(self._head)
            self._head = b""
        end = min(start + self._missing, len(data))
        self._missing -= end - start
        return end


def _frame_bytes(head: bytes) -> int | None:
    """Return the length of the frame that begins with `head`; None if `head` is too short."""
    if len(head) < 2:
        return None
    size, before = head[1] & ~_MASKED, _MASK_ENDS if head[1] & _MASKED else 2
    if size <= _SHORT:
        return before + size
    more = 2 if size == _SHORT + 1 else 8
    if len(head) < 2 + more:
        return None
    return before + more + int.from_bytes(head[2 : 2 + more])


class Heartbeat:
    """The pings of one connection: when the next is due, and the measured round trip.

    The first ping is due immediately, because a player's clock may start soon.
    """

    __slots__ = ("_answered_ms", "_asked_s", "_waits_since_s")

    def __init__(self) -> None:
        self._asked_s = -math.inf
        """When the last ping was sent."""
        self._waits_since_s: float | None = None
        """When the unanswered ping was sent, if any."""
        self._answered_ms = 0

    def is_due(self, now_s: float, heard_s: float, after_s: float) -> bool:
        """Tell whether to ping a peer that last sent at `heard_s`: after a silence, and rarely without one."""
        if self._waits_since_s is not None:
            return False
        silent_s, asked_ago_s = now_s - max(self._asked_s, heard_s), now_s - self._asked_s
        return silent_s > after_s or asked_ago_s > after_s * _PINGED_ANYWAY

    def asked(self, now_s: float) -> None:
        """Record that a ping was sent."""
        self._waits_since_s = self._asked_s = now_s

    def answered(self, now_s: float) -> int:
        """Record a pong; return the mean of the last round trips in milliseconds."""
        if self._waits_since_s is not None:
            way_ms = int((now_s - self._waits_since_s) * 1000)
            self._answered_ms = way_ms if self._answered_ms == 0 else (7 * self._answered_ms + 3 * way_ms) // 10
            self._waits_since_s = None
        return self._answered_ms

    def excuse(self, late_s: float) -> None:
        """Exclude a pause of this process from the round trip and the silence."""
        self._asked_s += late_s
        if self._waits_since_s is not None:
            self._waits_since_s += late_s
