"""Play from a program: enter a server, ask, and hear what happens.

    async with connect("ws://localhost:8765", "Ann") as client:
        await client.ask(SeekRequest(0, ["tictactoe"]))
        async for event in client:
            ...

The connection is kept up meanwhile: after a lost link the player comes back by itself, and misses nothing.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from ttt_net.errors import Code, Refusal, TttNetError
from ttt_net.messages import Refused, Request, Welcome
from ttt_net.sdk.connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.events import Answered, ConnectionEvent, Farewell
from ttt_net.sdk.session import BotProfile, ClientSession
from ttt_net.sdk.trust import Trust
from ttt_net.text import clean

MAX_EVENTS = 256
"""How many events may wait to be heard; then nothing more is read."""
LIMITS = ReconnectLimits(0, 60_000)
Reply = TypeVar("Reply")


class DisconnectedError(TttNetError):
    """There is no connection, and there will be none; `farewell` says why."""

    def __init__(self, farewell: Farewell) -> None:
        super().__init__(farewell.sentence)
        self.farewell = farewell


class Client:
    """A player who has entered. Iterate over it for the events of the connection, until there will be no more."""

    welcome: Welcome
    """The server's greeting: who we are there."""

    def __init__(self, connection: ClientConnection, session: ClientSession) -> None:
        self._connection = connection
        self._session = session
        self._arriving: asyncio.Queue[ConnectionEvent] = asyncio.Queue(MAX_EVENTS)
        self._waiting: deque[ConnectionEvent] = deque()
        """What was heard while an answer was waited for."""

    async def deliver(self, event: ConnectionEvent) -> None:
        """Put an event where `ask` and the iteration find it."""
        await self._arriving.put(event)

    def say(self, request: Request) -> None:
        """Send a request whose answer is one of the events. Raises `Refusal` if too many wait for theirs."""
        self._connection.say(request)

    async def ask(self, request: Request) -> None:
        """Send a request and wait for its answer. Raises `Refusal` if the server refuses it, or `DisconnectedError`."""
        self._connection.say(request)
        number = self._session.last_id
        while True:
            event = await self._next()
            if not isinstance(event, Answered) or event.request.id != number:
                self._waiting.append(event)
            elif isinstance(event.answer, Refused):
                raise Refusal(_code(event.answer.code), clean(event.answer.message, 200))
            else:
                return

    async def ask_for(self, request: Request, kind: type[Reply]) -> Reply:
        """Send a request and return the reply of that kind. Raises as `ask` does."""
        await self.ask(request)
        async for event in self:
            if isinstance(event, kind):
                return event
        raise AssertionError("unreachable: without a connection `_next` raises")

    async def enter(self) -> None:
        """Wait until we are welcome. Raises `DisconnectedError` if that cannot be."""
        while not isinstance(event := await self._next(), Welcome):
            pass
        self.welcome = event

    def __aiter__(self) -> AsyncIterator[ConnectionEvent]:
        return self

    async def __anext__(self) -> ConnectionEvent:
        return self._waiting.popleft() if self._waiting else await self._next()

    async def _next(self) -> ConnectionEvent:
        event = await self._arriving.get()
        if isinstance(event, Farewell):
            raise DisconnectedError(event)
        return event


@asynccontextmanager
async def connect(
    url: str,
    name: str | None = None,
    token: str | None = None,
    *,
    bot: BotProfile | None = None,
    trust: Trust | None = None,
    limits: ReconnectLimits = LIMITS,
    keep_token: Callable[[str], None] = lambda token: None,
    is_visiting: bool = False,
) -> AsyncIterator[Client]:
    """Enter a server for as long as the context lasts; `name` None is a guest, `token` that of an earlier time.

    Raises `DisconnectedError` if it cannot be reached, is not to be trusted, or refuses us.
    """
    session = ClientSession(name, token, bot, is_visiting=is_visiting)
    client: Client

    async def deliver(event: ConnectionEvent) -> None:
        await client.deliver(event)

    connection = ClientConnection(url, session, deliver, limits, keep_token, trust=trust)
    client = Client(connection, session)
    running = asyncio.ensure_future(connection.run())
    try:
        await client.enter()
        yield client
    finally:
        running.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.result()  # a fault of ours is not to be lost


def _code(word: str) -> Code:
    return next((code for code in Code if code == word), Code.BAD_MESSAGE)
