"""Carry bytes between a socket and a `ClientProtocol`: open, trust, read no faster than events are taken, close."""

import asyncio
from collections.abc import Callable

from websockets.uri import parse_uri

from ttt_net.sdk.protocol import ClientProtocol, ProtocolEvent
from ttt_net.sdk.trust import Trust

CLOSE_TIMEOUT_S = 1.0


async def open_transport(url: str, trust: Trust, now_ms: Callable[[], int], patience_ms: int) -> "SocketTransport":
    """Connect to the host and port of a URL, encrypted as `trust` says; nothing is sent yet but the TLS handshake.

    Waits no longer than `patience_ms`. Raises `OSError` if there is no connection, `InvalidURI` if the URL is none.
    """
    uri = parse_uri(url)
    loop = asyncio.get_running_loop()
    context = trust.context(url)
    async with asyncio.timeout(patience_ms / 1000):
        _, opened = await loop.create_connection(
            lambda: SocketTransport(now_ms),
            uri.host,
            uri.port,
            ssl=context,
            server_hostname=uri.host if context is not None else None,
        )
    return opened


class SocketTransport(asyncio.Protocol):
    """One socket. `begin` gives it its protocol; `events` returns what was received, and reads on."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._protocol: ClientProtocol | None = None
        self._has_changed = asyncio.Event()
        self._is_closed = asyncio.Event()
        self.socket = asyncio.Transport()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Read nothing before there is a protocol to read it."""
        assert isinstance(transport, asyncio.Transport)
        self.socket = transport
        transport.pause_reading()

    def begin(self, protocol: ClientProtocol) -> None:
        """Send the first bytes of the protocol, and read."""
        self._protocol = protocol
        self.flush()
        self.socket.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Pass bytes on; while the events of earlier ones are not taken, read no more."""
        assert self._protocol is not None
        if self._has_changed.is_set():
            self.socket.pause_reading()
        self._protocol.receive_data(data, self._now_ms())
        self.flush()
        self._has_changed.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Pass on that no more bytes will come."""
        if self._protocol is not None:
            self._protocol.receive_eof(self._now_ms())
        self._is_closed.set()
        self._has_changed.set()

    def flush(self) -> None:
        """Write what the protocol has to send."""
        assert self._protocol is not None
        for data in self._protocol.data_to_send():
            if data and not self.socket.is_closing():
                self.socket.write(data)

    def events(self) -> list[ProtocolEvent]:
        """Return the events since the last call, and let the socket be read again."""
        assert self._protocol is not None
        self._has_changed.clear()
        self.socket.resume_reading()
        return self._protocol.events_received()

    async def changed(self) -> None:
        """Wait until something was received; the ticks of the protocol are done meanwhile."""
        assert self._protocol is not None
        while not self._has_changed.is_set():
            due_ms = self._protocol.next_tick_ms
            wait_s = None if due_ms is None else max(0.0, (due_ms - self._now_ms()) / 1000)
            try:
                async with asyncio.timeout(wait_s):
                    await self._has_changed.wait()
            except TimeoutError:
                self._protocol.tick(self._now_ms())
                self.flush()
                if self._protocol.has_events or self._protocol.disconnect is not None:
                    return

    async def close(self) -> None:
        """Close the socket, after the closing handshake if the server takes part in one."""
        try:
            if self._protocol is not None and not self._is_closed.is_set():
                self._protocol.close()
                self.flush()
                self.socket.resume_reading()
                if self._protocol.awaits_close:
                    async with asyncio.timeout(CLOSE_TIMEOUT_S):
                        await self._is_closed.wait()
        except TimeoutError:
            pass
        finally:
            self.socket.abort()
