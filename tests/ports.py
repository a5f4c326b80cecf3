"""Ports that are ours although nobody listens there: for servers that are yet to start, or start again."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved() -> Iterator[int]:
    """Hold a free port of the loopback: until the end the system gives it to nobody who asks for any port.

    Bound and not listening, it is in nobody's way who asks for that very port, as servers do, to use it again.
    """
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])
