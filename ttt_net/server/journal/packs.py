"""Pack the events of a finished match into one value, and read them back byte for byte.

A row of `facts` holds one event as JSON, or a pack: the lines of all events up to that row's number, compressed. A pack
keeps the last number of its match, so the next event still has to be the next. Packed, a match of Connect Four takes a
quarter of the space, which every backup and snapshot has to carry.
"""

import zlib
from collections.abc import Sequence

_LEVEL = 6


def pack(facts: Sequence[bytes]) -> bytes:
    """Return events, each a line of JSON, as one value. Different builds of zlib may return different bytes."""
    return zlib.compress(b"\n".join(facts), _LEVEL)


def unpacked(fact: bytes) -> list[bytes]:
    """Return the events in a row of `facts`. Raises `zlib.error` if the row is damaged."""
    return [fact] if fact.startswith(b"{") else zlib.decompress(fact).split(b"\n")
