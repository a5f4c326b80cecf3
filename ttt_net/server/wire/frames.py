"""Read and write short text frames by hand, where it pays: a move is one that comes and one that goes to everybody.

All else about the protocol is `websockets`' business; what is read here is what it would read the same.
"""

try:
    from websockets.speedups import apply_mask
except ImportError:  # where `websockets` has no compiled part
    from websockets.utils import apply_mask

_WHOLE_TEXT = 0x81
_MASKED = 0x80
_SHORT = 125
_MASK_ENDS = 6
_CLOSE = 0x88
_LONGEST_HEAD = 10
"""In bytes, without the mask."""
_LONGEST_CLOSE = _MASK_ENDS + _SHORT
"""In bytes: a close frame of a client with the longest reason."""
_MOST_LATE = 65_536
"""In bytes: what is still read from a peer that is being closed, so that it hears why; beyond that it is reset."""


def frame(payload: bytes) -> bytes:
    """Return the bytes of one text frame, the same for every client that is to hear it."""
    size = len(payload)
    if size <= _SHORT:
        return bytes((_WHOLE_TEXT, size)) + payload
    if size < 65_536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def short_text(data: bytes) -> bytes | None:
    """Return the payload if `data` is one whole text frame of a client, of at most 125 bytes, and nothing else."""
    size = len(data) - _MASK_ENDS
    if not 0 <= size <= _SHORT or data[0] != _WHOLE_TEXT or data[1] != _MASKED | size:
        return None
    return apply_mask(data[_MASK_ENDS:], data[2:_MASK_ENDS])


def ends_with_close(data: bytes) -> bool:
    """Tell whether `data` may end with a close frame of a client; it is not parsed, so other bytes may look like it."""
    return any(data[-_MASK_ENDS - size :][:2] == bytes((_CLOSE, _MASKED | size)) for size in range(_SHORT + 1))


class LateBytes:
    """Bytes from a peer that is being closed: counted, and not parsed."""

    __slots__ = ("_count", "_end")

    def __init__(self) -> None:
        self._count = 0
        self._end = b""
        """The last of them, in which the peer may take part in the closing handshake."""

    def add(self, data: bytes) -> None:
        """Count bytes, and keep the last."""
        self._count += len(data)
        self._end = (self._end + data)[-_LONGEST_CLOSE:]

    @property
    def are_too_many(self) -> bool:
        """Whether the peer goes on for longer than it is listened to."""
        return self._count > _MOST_LATE

    @property
    def end_with_close(self) -> bool:
        """Whether they may end with a close frame."""
        return ends_with_close(self._end)


class FrameBoundary:
    """Follows where the frames of a client end, so that each can be acted on before the next is parsed."""

    __slots__ = ("_head", "_missing")

    def __init__(self) -> None:
        self._head = b""
        """The first bytes of a frame whose length is not known yet: at most 9."""
        self._missing = 0
        """How many bytes of a frame that has begun are still to come."""

    @property
    def is_between(self) -> bool:
        """Whether the next byte begins a frame."""
        return not self._missing and not self._head

    def end_of_frame(self, data: bytes, start: int) -> int:
        """Return where in `data` the frame ends whose next byte is at `start`; the end of `data` where it goes on."""
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
    """Return the length of the frame that begins with `head`, whatever it is; None if that is not enough to tell."""
    if len(head) < 2:
        return None
    size, before = head[1] & ~_MASKED, _MASK_ENDS if head[1] & _MASKED else 2
    if size <= _SHORT:
        return before + size
    more = 2 if size == _SHORT + 1 else 8
    if len(head) < 2 + more:
        return None
    return before + more + int.from_bytes(head[2 : 2 + more])
