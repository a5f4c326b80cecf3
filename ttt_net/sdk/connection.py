"""Keep a connection to a server up: notice a dead link, reconnect, and deliver events in order.

Events are delivered one at a time, the last is a `Farewell`. While a delivery waits, nothing more is read from the
socket: the server bounds what waits there, and closes with "come back and resume".
"""

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection as WebSocket
from websockets.exceptions import ConnectionClosed, WebSocketException

from ttt_net.errors import Advice, Refusal
from ttt_net.messages import Refused, Request, Welcome, decode_server_message, encode
from ttt_net.sdk.connect import open_websocket
from ttt_net.sdk.disconnect import Disconnect, closed_by, distrusted, unreachable
from ttt_net.sdk.events import Back, ConnectionEvent, Farewell, Garbled, Lost, Parting, Retrying
from ttt_net.sdk.session import MAX_PENDING, ClientSession, Reaction
from ttt_net.sdk.trust import Trust
from ttt_net.text import clean

DELAYS_MS = (50, 100, 250, 500, 1000, 2000, 5000)
LIVE_DELAY_MS = 1500
"""The longest wait while a match of ours goes on, so that everybody is back within two seconds of the server."""
SETTLED_MS = 1000
"""A link that stood for so long was a good one: after it the delays start again with the shortest."""
_OUTGOING = 2 * MAX_PENDING
WELCOME_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 5.0
_UNKNOWN_TYPE = re.compile(r"Invalid value .* - at `\$\.type`", re.DOTALL)


def delay_ms(attempt: int, *, is_live: bool, jitter: float) -> int:
    """Return how long to wait before try number `attempt` (from 1); `jitter` in 0..1 shortens it by up to half."""
    whole = DELAYS_MS[min(attempt, len(DELAYS_MS)) - 1]
    if is_live:
        whole = min(whole, LIVE_DELAY_MS)
    return round(whole * (1 - jitter / 2))


@dataclass(frozen=True, slots=True)
class ReconnectLimits:
    """How long to try to connect before giving up: at first, and after the server was reached. None is for ever."""

    first_ms: int | None
    later_ms: int | None


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


FOREVER = ReconnectLimits(None, None)


class ClientConnection:
    """The connection of one player: `run` it in a task and `say` requests; each event goes to `deliver`.

    `keep_token` is called with the token, and `joined` with the welcome, before the event is delivered; `tap` with
    every frame as it was received. `now_ms` and `jitter`, in 0..1, are replaced by tests.
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
        self._deliver = deliver
        self._session = session
        self._limits = limits
        self._keep_token = keep_token
        self._joined = joined or (lambda welcome: None)
        self._tap = tap
        self._now_ms, self._jitter = now_ms, jitter
        self.trust = trust or Trust()
        self._outgoing: asyncio.Queue[Request] | None = None
        self._rejected: Refused | None = None
        self._was_welcome = False
        self._is_away = False
        self._welcome_at_ms: int | None = None
        self._open: WebSocket | None = None

    @property
    def latency_ms(self) -> int | None:
        """The way to the server and back, as the last keepalive measured it; None before there was one."""
        seconds = self._open.latency if self._open is not None else 0.0
        return max(1, round(seconds * 1000)) if seconds > 0 else None

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that has no answer yet."""
        return self._session.is_asking

    def say(self, request: Request) -> None:
        """Send a request, now or when the link is back; raises `Refusal` when too many are unanswered."""
        self._send(self._session.say(request))

    async def run(self) -> None:
        """Keep the link up until there is no use; tells a `Farewell` at the end."""
        await self._deliver(await self._run())

    async def _run(self) -> Farewell:
        attempt, lost_at_ms = 0, self._now_ms()
        while True:
            loss = await self._link()
            now_ms = self._now_ms()
            if self._rejected is not None:
                sentence = clean(self._rejected.message, 200)
                return Farewell(Parting.REJECTED, sentence, self._rejected.code)
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
            wait_ms = delay_ms(attempt, is_live=self._session.has_live_match, jitter=self._jitter())
            wait_ms = min(wait_ms, left_ms)
            self._is_away = True
            await self._deliver(Retrying(attempt, wait_ms, loss.reason))
            await asyncio.sleep(wait_ms / 1000)

    def _patience_left_ms(self, away_ms: int) -> int:
        patience_ms = self._limits.later_ms if self._was_welcome else self._limits.first_ms
        return DELAYS_MS[-1] if patience_ms is None else patience_ms - away_ms

    async def _link(self) -> Disconnect:
        """Hold one link for as long as it lasts and return how it ended."""
        try:
            async with open_websocket(self.url, self.trust) as link:
                self._open = link
                try:
                    objection = self.trust.objection(link)
                    return distrusted(objection) if objection else await self._converse(link)
                finally:
                    self._open = None
                    await link.close()  # as done, even where the library would report our leaving as an error
        except (OSError, WebSocketException) as error:
            return unreachable(error)
        finally:
            self._outgoing = None
            self._session.closed()

    async def _converse(self, link: WebSocket) -> Disconnect:
        self._outgoing = asyncio.Queue(_OUTGOING)
        self._send(self._session.opened())
        async with asyncio.TaskGroup() as group:
            sender = group.create_task(self._send_all(link, self._outgoing))
            try:
                return await self._hear_all(link)
            finally:
                sender.cancel()

    async def _hear_all(self, link: WebSocket) -> Disconnect:
        try:
            async with asyncio.timeout(WELCOME_TIMEOUT_S) as patience:
                while self._rejected is None:
                    frame = await link.recv()
                    await self._heard(frame)
                    if self._session.is_welcome:
                        patience.reschedule(None)
        except ConnectionClosed as closed:
            return closed_by(closed)
        except TimeoutError:
            return Disconnect("the server did not answer")
        return Disconnect("the server refused")

    async def _heard(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            return  # the language is text only
        if self._tap is not None:
            self._tap(frame)
        try:
            message = decode_server_message(frame)
        except Refusal as refusal:
            if not _UNKNOWN_TYPE.fullmatch(str(refusal)):  # what only a newer client knows is no mistake
                await self._deliver(Garbled(str(refusal)))
            return
        await self._react(self._session.heard(message), message if isinstance(message, Welcome) else None)

    async def _react(self, reaction: Reaction, welcome: Welcome | None) -> None:
        if reaction.token is not None:
            self._keep_token(reaction.token)
        self._rejected = reaction.rejected
        self._send(reaction.say)
        for wait_ms, request in reaction.later:
            asyncio.get_running_loop().call_later(wait_ms / 1000, self._send_again, request)
        if welcome is not None:
            self._joined(welcome)
            self._was_welcome, self._welcome_at_ms = True, self._now_ms()
            if self._is_away:
                self._is_away = False
                await self._deliver(Back())
        for event in reaction.tell:
            await self._deliver(event)

    def _send_again(self, request: Request) -> None:
        if self._session.is_waiting(request):
            self._send([request])

    def _send(self, requests: list[Request]) -> None:
        for request in requests:
            if self._outgoing is not None:
                self._outgoing.put_nowait(request)  # the session bounds what is unanswered to less than the queue

    async def _send_all(self, link: WebSocket, outgoing: asyncio.Queue[Request]) -> None:
        try:
            while True:
                request = await outgoing.get()
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await link.send(encode(request).decode())
        except ConnectionClosed:
            return  # the reader of the same link says why
        except TimeoutError:
            link.transport.abort()
