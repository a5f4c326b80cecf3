"""Keep a connection to a server: open sockets, detect dead connections, reconnect, and deliver events in order.

Events are delivered one at a time; the last is a `Farewell`. While a delivery waits, the socket is not read. The server
bounds its queue for us, and then closes with the advice to reconnect and resume.
"""

import asyncio
import hashlib
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException
from websockets.uri import parse_uri

from ttt_net.errors import Advice
from ttt_net.messages import Refused, Request, Welcome
from ttt_net.sdk.client_protocol import (
    HURRIED,
    PATIENT,
    ClientProtocol,
    Disconnect,
    FrameReceived,
    ProtocolEvent,
    TokenIssued,
    distrusted,
    unreachable,
)
from ttt_net.sdk.client_session import ClientSession
from ttt_net.sdk.received import Back, ConnectionEvent, Farewell, Lost, Parting, Retrying
from ttt_net.sdk.trust import Trust, encrypting
from ttt_net.text import clean

CLOSE_TIMEOUT_S = 1.0
CERTIFICATE_TIMEOUT_S = 3.0
MAX_UNREAD_BYTES = 2**20
"""A client drops the connection once more than this waits to be sent: the server has stopped reading."""


async def open_transport(url: str, trust: Trust, now_ms: Callable[[], int], patience_ms: int) -> "SocketTransport":
    """Connect to the host and port of a URL, encrypted as `trust` requires; send only the TLS handshake.

    Waits at most `patience_ms`. Raises `OSError` if the connection fails, `InvalidURI` if the URL is invalid.
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
        )
    return opened


class SocketTransport(asyncio.Protocol):
    """One socket. `begin` sets its protocol; `events` returns received events, and resumes reading."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._protocol: ClientProtocol | None = None
        self._has_changed = asyncio.Event()
        self._is_closed = asyncio.Event()
        self.socket: asyncio.Transport
        """Set by `connection_made`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pause reading until there is a protocol."""
        assert isinstance(transport, asyncio.Transport)
        self.socket = transport
        transport.pause_reading()

    def begin(self, protocol: ClientProtocol) -> None:
        """Send the first bytes of the protocol, and read."""
        self._protocol = protocol
        self.flush()
        self.socket.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Pass bytes to the protocol; pause reading until their events are taken."""
        assert self._protocol is not None
        if self._has_changed.is_set():
            self.socket.pause_reading()
        self._protocol.receive_data(data, self._now_ms())
        self.flush()
        self._has_changed.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Report the end of the stream to the protocol."""
        if self._protocol is not None:
            self._protocol.receive_eof(self._now_ms())
        self._is_closed.set()
        self._has_changed.set()

    def flush(self) -> None:
        """Write the protocol's output; drop the connection if the server does not read it."""
        assert self._protocol is not None
        for data in self._protocol.data_to_send():
            if data and not self.socket.is_closing():
                self.socket.write(data)
        if self.socket.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.socket.abort()

    def events(self) -> list[ProtocolEvent]:
        """Return the events since the last call, and resume reading."""
        assert self._protocol is not None
        self._has_changed.clear()
        self.socket.resume_reading()
        return self._protocol.events_received()

    async def changed(self) -> None:
        """Wait until something is received, and call the protocol's `tick` meanwhile."""
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


async def certificate_at(url: str) -> str | None:
    """Return the fingerprint of a server's certificate; send only the TLS handshake."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(CERTIFICATE_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 443, ssl=encrypting())
    except OSError:
        return None
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return hashlib.sha256(certificate).hexdigest()


DELAYS_MS = (50, 100, 250, 500, 1000, 2000, 5000)
LIVE_DELAY_MS = 1500
"""The maximal delay during a match of ours, so that all players reconnect within two seconds of the server's return."""
SETTLED_MS = 1000
"""A connection that lasted this long was stable: the delays start again with the shortest."""
MAX_NODES = 16
"""The maximal number of known addresses of one server."""


def delay_ms(attempt: int, *, is_live: bool, jitter: float) -> int:
    """Return how long to wait before try number `attempt` (from 1); `jitter` in 0..1 shortens it by up to half."""
    whole = DELAYS_MS[min(attempt, len(DELAYS_MS)) - 1]
    if is_live:
        whole = min(whole, LIVE_DELAY_MS)
    return round(whole * (1 - jitter / 2))


def addresses(url: str, nodes: Sequence[str]) -> list[str]:
    """Return the addresses of a server's nodes, `url` first; if that is encrypted, only encrypted ones."""
    parts = urlsplit(url)
    found = [url]
    for node in nodes[:MAX_NODES]:
        try:
            other = urlsplit(node)
            is_good = other.scheme in ("ws", "wss") and bool(other.hostname) and other.port != 0
        except ValueError:
            continue
        is_same = (other.scheme, other.netloc) == (parts.scheme, parts.netloc)
        if is_good and not is_same and (other.scheme == "wss" or parts.scheme == "ws") and node not in found:
            found.append(node)
    return found


@dataclass(frozen=True, slots=True)
class ReconnectLimits:
    """How long to try to connect before giving up: at first, and after the server was reached. None is forever."""

    first_ms: int | None
    later_ms: int | None


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


FOREVER = ReconnectLimits(None, None)


class ClientConnection:
    """The connection of one player: run `run` in a task, and send requests with `say`; `deliver` gets each event.

    `keep_token` is called with the token, and `joined` with the welcome, before the event is delivered; `tap` with
    every frame as it was received. Tests replace `now_ms` and `jitter`, in 0..1.
    """

    def __init__(
        self,
        url: str,
        session: ClientSession,
        deliver: Callable[[ConnectionEvent], Awaitable[None]],
        limits: ReconnectLimits,
        keep_token: Callable[[str], None],
        tap: Callable[[str], None] | None = None,
        trust: Trust | None = None,
        joined: Callable[[Welcome], None] | None = None,
        now_ms: Callable[[], int] = _monotonic_ms,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.url = url
        """The address to which we are connected or connecting."""
        self._nodes: Sequence[str] = ()
        """Other addresses of the same server, from its welcome."""
        self._deliver = deliver
        self._session = session
        self._limits = limits
        self._keep_token = keep_token
        self._joined = joined or (lambda welcome: None)
        self._tap = tap
        self._now_ms, self._jitter = now_ms, jitter
        self.trust = trust or Trust()
        self._was_welcome = False
        self._welcomed_by = url
        self._is_away = False
        self._welcome_at_ms: int | None = None
        self._is_delivering = False
        self._link: tuple[ClientProtocol, SocketTransport] | None = None
        """The connection that is open or opening."""
        self._begun: asyncio.Task[Farewell] | None = None

    @property
    def latency_ms(self) -> int | None:
        """The round trip of the last keepalive; None before the first."""
        return self._link[0].latency_ms if self._link is not None else None

    @property
    def is_asking(self) -> bool:
        """Whether the answer to a request is not delivered yet."""
        has_more = self._link is not None and self._link[0].has_events
        return self._session.is_asking or has_more or self._is_delivering

    def say(self, request: Request) -> None:
        """Send a request, now or after reconnecting. Raises `Refusal` if too many are unanswered."""
        if self._link is None:
            self._session.say(request)
        else:
            protocol, transport = self._link
            protocol.say(request)
            transport.flush()

    def begin(self, group: asyncio.TaskGroup) -> "asyncio.Task[Farewell]":
        """Begin to connect before `run` is awaited; return the task, which the caller cancels at the end."""
        self._begun = group.create_task(self._run())
        return self._begun

    async def run(self) -> None:
        """Keep the connection up until reconnecting is pointless; deliver a `Farewell` at the end."""
        await self._deliver(await (self._begun or self._run()))

    async def _run(self) -> Farewell:
        attempt, lost_at_ms = 0, self._now_ms()
        while True:
            loss, rejected = await self._connect_once(is_first_round=attempt < len(addresses(self.url, self._nodes)))
            now_ms = self._now_ms()
            if rejected is not None:
                return Farewell(Parting.REJECTED, clean(rejected.message, 200), rejected.code)
            if loss.advice is Advice.REPLACED:
                return Farewell(Parting.REPLACED, "You connected from another place, so this client has stopped.")
            if loss.advice is Advice.GIVE_UP:
                return loss.farewell
            if self._welcome_at_ms is not None:
                attempt = 0 if now_ms - self._welcome_at_ms >= SETTLED_MS else attempt
                lost_at_ms, self._welcome_at_ms = now_ms, None
                await self._deliver(Lost(loss.reason))
            left_ms = self._patience_left_ms(now_ms - lost_at_ms)
            if left_ms <= 0 or (loss.is_foreign and not self._was_welcome):
                return loss.farewell
            attempt += 1
            self._turn_elsewhere()
            wait_ms = delay_ms(attempt, is_live=self._session.has_live_match, jitter=self._jitter())
            wait_ms = min(wait_ms, left_ms)
            self._is_away = True
            await self._deliver(Retrying(attempt, wait_ms, loss.reason))
            await asyncio.sleep(wait_ms / 1000)

    @property
    def _has_elsewhere(self) -> bool:
        return len(addresses(self.url, self._nodes)) > 1

    def _turn_elsewhere(self) -> None:
        """Switch to the next node, if the server has more than one."""
        known = addresses(self.url, self._nodes)
        if len(known) > 1:
            self._nodes = [*known[2:], self.url]
            self.url = known[1]

    def _patience_left_ms(self, away_ms: int) -> int:
        patience_ms = self._limits.later_ms if self._was_welcome else self._limits.first_ms
        return DELAYS_MS[-1] if patience_ms is None else patience_ms - away_ms

    async def _connect_once(self, *, is_first_round: bool) -> tuple[Disconnect, Refused | None]:
        """Run one connection until it ends; return how it ended, and the refusal of `hello`, if any.

        With several nodes, the first round through all has short timeouts; if it fails, the network is slow.
        """
        has_elsewhere = is_first_round and self._has_elsewhere
        patience = HURRIED if has_elsewhere else PATIENT
        try:
            transport = await open_transport(self.url, self.trust, self._now_ms, patience.open_ms)
        except (OSError, WebSocketException) as error:
            return unreachable(error), None
        try:
            objection = self.trust.objection(transport.socket)
            if objection is not None:
                return distrusted(objection), None
            protocol = ClientProtocol(self.url, self._session, self._now_ms(), has_elsewhere=has_elsewhere)
            self._link = protocol, transport
            transport.begin(protocol)
            return await self._converse(transport, protocol), protocol.rejected
        finally:
            self._link = None
            await transport.close()

    async def _converse(self, transport: SocketTransport, protocol: ClientProtocol) -> Disconnect:
        while True:
            events = transport.events()
            self._is_delivering = bool(events)
            for event in events:
                await self._take(event, protocol)
            if protocol.disconnect is not None and not events:
                return protocol.disconnect
            if not events:
                await transport.changed()

    async def _take(self, event: ProtocolEvent, protocol: ClientProtocol) -> None:
        match event:
            case FrameReceived(text):
                if self._tap is not None:
                    self._tap(text)
            case TokenIssued(token):
                self._keep_token(token)
            case Welcome():
                self._nodes = event.nodes
                protocol.has_elsewhere = self._has_elsewhere
                self._joined(event)
                self._was_welcome, self._welcome_at_ms = True, self._now_ms()
                if self._is_away:
                    self._is_away = False
                    await self._deliver(Back(self.url if self.url != self._welcomed_by else ""))
                self._welcomed_by = self.url
                await self._deliver(event)
            case _:
                await self._deliver(event)
