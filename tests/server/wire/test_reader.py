"""That readers who share one buffer each get their own bytes."""

import asyncio
import random
import socket
from functools import partial

from tests.patience import PATIENCE_S
from ttt_net.server.wire.reader import ReadBuffer, Reader

CHUNKS = 200


class Listener(Reader):
    """It keeps what it is handed."""

    def __init__(self, buffer: ReadBuffer) -> None:
        super().__init__(buffer)
        self.heard: list[bytes] = []
        self.is_over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.heard.append(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_over.set()


def _given(listener: Listener) -> Listener:
    return listener


async def test_two_who_share_a_buffer_hear_their_own_bytes_and_keep_them() -> None:
    loop, rng = asyncio.get_running_loop(), random.Random(8)
    ends = [socket.socketpair() for _ in range(2)]
    buffer = ReadBuffer()
    listeners = [Listener(buffer) for _ in ends]
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
