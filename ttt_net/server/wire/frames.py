"""Text frames by hand, where it pays: each move is one short frame that comes and one that goes to everybody.

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


def ends_with_frame(data: bytes) -> bool:
    """Tell whether `data`, which begins with a frame of a client, ends where a frame does; longer ones are refused."""
    at = 0
    while len(data) - at >= _MASK_ENDS:
        size = data[at + 1] & 0x7F
        if size > _SHORT + 1:
            return False
        at += _MASK_ENDS + size if size <= _SHORT else _MASK_ENDS + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return at == len(data)
