"""TLS between a socket and its connection, Sans-I/O like the WebSocket protocol above it.

asyncio's own TLS calls a protocol only after the handshake, and has two more buffers. So neither the limits at accept
nor the bound on unsent bytes would hold. Here the connection gets the socket immediately, and its output is encrypted
directly into the socket's buffer, the only one.
"""

import asyncio
import contextlib
import ssl
from functools import partial
from typing import cast

from ttt_net.server.settings.configuration import Limits
from ttt_net.server.wire.connection import Connection
from ttt_net.server.wire.frames import ReadBuffer, Reader

_READ_BYTES = 65_536
_NOT_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    b"this port speaks TLS; use https:// or wss://\n"
)


class TlsLayer(Reader):
    """The protocol of a socket, and the transport of the connection inside."""

    __slots__ = (
        "_arrived",
        "_incoming",
        "_inner",
        "_is_over",
        "_is_shaken",
        "_is_waiting",
        "_limits",
        "_outgoing",
        "_tls",
        "_transport",
    )

    def __init__(self, inner: Connection, context: ssl.SSLContext, limits: Limits, buffer: ReadBuffer) -> None:
        super().__init__(buffer)
        self._inner = inner
        self._is_waiting = False
        """Whether a step of the handshake waits for its turn."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._limits = limits
        self._arrived = 0
        self._is_shaken = False
        self._is_over = False

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Notify the connection immediately; it limits the time of the handshake."""
        self._transport = cast(asyncio.Transport, transport)
        self._inner.connection_made(cast(asyncio.Transport, self))

    def buffer_updated(self, nbytes: int) -> None:
        """Process received bytes, and charge the cost; a handshake may cost as much as fifty moves."""
        self._inner.metered(partial(self.data_received, bytes(self._buffer.view[:nbytes])))

    def data_received(self, data: bytes) -> None:
        """Decrypt received bytes and pass them on."""
        self._incoming.write(data)
        if self._is_shaken:
            self._proceed()
            return
        self._arrived += len(data)
        if not self._inner.is_heavy:
            self._proceed()
        elif not self._is_waiting:
            self._is_waiting = True
            self._transport.pause_reading()
            self._inner.in_turn(self._take_turn)

    def _take_turn(self) -> None:
        """Continue the handshake of an address that takes turns."""
        self._is_waiting = False
        if not self.is_closing():
            self._transport.resume_reading()
            self._proceed()

    def _proceed(self) -> None:
        try:
            if not self._is_shaken:
                self._tls.do_handshake()
                self._is_shaken = True
            self._read_all()
        except ssl.SSLWantReadError:
            if not self._is_shaken and self._arrived > self._limits.handshake_bytes:
                self.abort()
        except ssl.SSLError as error:
            self._break_off(error)
        self._flush()

    def _read_all(self) -> None:
        while not self._is_over:
            try:
                plain = self._tls.read(_READ_BYTES)
            except ssl.SSLZeroReturnError:
                plain = b""
            if not plain:
                self.eof_received()
                self._transport.close()
                return
            self._inner.data_received(plain)

    def eof_received(self) -> None:
        """Let the connection close its side too; without a return value the loop closes the socket."""
        self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the connection and release it, because the two refer to each other."""
        self._is_over = True
        self._inner.connection_lost(exc)
        del self._inner

    def pause_writing(self) -> None:
        """Forward the call."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Forward the call."""
        self._inner.resume_writing()

    # The transport, as the connection uses it.

    def write(self, data: bytes) -> None:
        """Encrypt and send."""
        if not self._is_shaken or self._is_over:
            return
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def write_eof(self) -> None:
        """Send the end of the stream, in TLS and in TCP."""
        if self._is_shaken and not self._is_over:
            with contextlib.suppress(ssl.SSLError):  # it expects the peer's close notice; we do not wait for it
                self._tls.unwrap()
            self._flush()
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def can_write_eof(self) -> bool:
        """Return True: `write_eof` works."""
        return True

    def close(self) -> None:
        """Send the end of the stream after all unsent bytes, and close."""
        self.write_eof()
        self._is_over = True
        self._transport.close()

    def abort(self) -> None:
        """Drop the socket and all unsent bytes."""
        self._is_over = True
        self._transport.abort()

    def is_closing(self) -> bool:
        """Tell whether the socket is closed, or about to be."""
        return self._is_over or self._transport.is_closing()

    def pause_reading(self) -> None:
        """Stop reading; received bytes are still passed on."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading."""
        self._transport.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return the number of unsent bytes, here and in the socket's transport."""
        return self._outgoing.pending + self._transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Forward the call."""
        self._transport.set_write_buffer_limits(high, low)

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return the socket's information; and `ssl_object`, as asyncio's own transports over TLS do."""
        return self._tls if name == "ssl_object" else self._transport.get_extra_info(name, default)

    def _flush(self) -> None:
        if self._outgoing.pending and not self._transport.is_closing():
            self._transport.write(self._outgoing.read())
            if self._transport.get_write_buffer_size() > 2 * self._limits.unsent_bytes:
                self.abort()  # a peer that requests new keys, or other answers of the library, and does not read

    def _break_off(self, error: ssl.SSLError) -> None:
        """End a connection that violated TLS. A peer that never used TLS gets a plain response."""
        if not self._is_shaken and error.reason == "HTTP_REQUEST":
            self._outgoing.read()
            self._transport.write(_NOT_TLS)
        self._flush()  # the alert
        self._is_over = True
        self._transport.close()
