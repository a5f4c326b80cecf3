"""Play from a program: log in to a server, send requests, and receive events.

    async with connect("ws://localhost:8765", "Ann") as client:
        await client.ask(SeekRequest(0, ["tictactoe"]))
        async for event in client:
            ...

The client reconnects after a dropped connection, and no event is missed.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar, cast

from ttt_net.errors import Code, Refusal, TttNetError
from ttt_net.messages import Refused, Request, Snapshot, Welcome
from ttt_net.sdk.client_connection import FOREVER, ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Answered, ConnectionEvent, Farewell, Lost, Parting, Retrying
from ttt_net.sdk.trust import Trust
from ttt_net.text import clean

MAX_EVENTS = 256
"""The capacity for events that wait for the iteration; when it is full, nothing is read, and no answer can arrive."""
LIMITS = ReconnectLimits(0, 60_000)
"""How long a person's program waits for its server; a bot waits forever."""
Reply = TypeVar("Reply")


class DisconnectedError(TttNetError):
    """The connection has ended for good; `farewell` says why."""

    def __init__(self, farewell: Farewell) -> None:
        super().__init__(farewell.sentence)
        self.farewell = farewell


@dataclass(eq=False, slots=True)
class _Asked:
    """A request that a task waits for: for its answer, and then for a reply of a `kind`, if one is given."""

    number: int
    kind: type | None
    answer: asyncio.Future[object] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    is_granted: bool = False

    def fail(self, error: Exception) -> None:
        """Raise the error in the waiting task."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Client:
    """A logged-in player. Iterate over it for the events of the connection, until its end.

    Several tasks may `ask` at the same time while another one iterates. Each answer goes to the task that asked; every
    event goes to the iteration, in order, except a reply that `ask_for` returns.
    """

    welcome: Welcome
    """The server's greeting, with our player."""

    def __init__(self, connection: ClientConnection, session: ClientSession) -> None:
        self._connection = connection
        self._session = session
        self._events: asyncio.Queue[ConnectionEvent] = asyncio.Queue(MAX_EVENTS)
        self._asked: list[_Asked] = []
        self._farewell: Farewell | None = None

    async def deliver(self, event: ConnectionEvent) -> None:
        """Handle an event of the connection. This waits while `MAX_EVENTS` wait for the iteration."""
        if self._is_answer(event):
            return
        if isinstance(event, Farewell):
            self._farewell = event
            self._fail(lambda _: True, lambda: DisconnectedError(event))
        elif isinstance(event, Lost):
            # A joined match is sent again on the next connection; any other reply is lost.
            self._fail(lambda asked: asked.is_granted and asked.kind is not Snapshot, _reply_lost)
        if self._events.full():
            self._fail(lambda _: True, lambda: _too_many_events(Code.UNKNOWN_OUTCOME))
        await self._events.put(event)

    def _is_answer(self, event: ConnectionEvent) -> bool:
        """Pass an answer or a reply to the task that waits for it; return False if none does."""
        for asked in self._asked:
            if asked.answer.done():
                continue
            if isinstance(event, Answered) and event.request.id == asked.number:
                if isinstance(event.answer, Refused):
                    refused = event.answer
                    message = clean(refused.message, 200)
                    asked.fail(Refusal(_code(refused.code), message, refused.retry_after_ms))
                elif asked.kind is None:
                    asked.answer.set_result(None)
                asked.is_granted = True
                return True
            if asked.kind is not None and asked.is_granted and isinstance(event, asked.kind):
                asked.answer.set_result(event)
                return True
        return False

    def _fail(self, which: Callable[[_Asked], bool], error: Callable[[], Exception]) -> None:
        for asked in self._asked:
            if which(asked):
                asked.fail(error())

    def say(self, request: Request) -> None:
        """Send a request whose answer is one of the events.

        Raises `Refusal` if too many requests are unanswered, or if the client is disconnected and a delayed request
        could do harm.
        """
        self._connection.say(request)

    async def ask(self, request: Request) -> None:
        """Send a request and wait for its answer.

        Raises `Refusal` if the server rejects it, with `retry_after_ms` if waiting helps; waits of less than two
        seconds are handled here. The code is `unknown_outcome` if the connection was lost before the answer. Raises
        `DisconnectedError` if the connection has ended.
        """
        await self._ask(request, None)

    async def ask_for(self, request: Request, kind: type[Reply]) -> Reply:
        """Send a request and return the first event of this kind after its answer. Raises the same errors as `ask`."""
        return cast(Reply, await self._ask(request, kind))

    async def _ask(self, request: Request, kind: type | None) -> object:
        if self._farewell is not None:
            raise DisconnectedError(self._farewell)
        if self._events.full():
            raise _too_many_events(Code.BUSY)
        self._connection.say(request)
        asked = _Asked(self._session.last_id, kind)
        self._asked.append(asked)
        try:
            return await asked.answer
        finally:
            self._asked.remove(asked)

    async def enter(self, said: Callable[[str], None]) -> None:
        """Wait until the server welcomes us, and report why that takes long. Raises `DisconnectedError` if it fails."""
        reason: str | None = None
        while not isinstance(event := await self._next(), Welcome):
            if isinstance(event, Retrying) and event.reason != reason:
                reason = event.reason
                said(f"waiting for a server at {self._connection.url}: {clean(reason, 200)}")
        self.welcome = event

    def __aiter__(self) -> AsyncIterator[ConnectionEvent]:
        return self

    async def __anext__(self) -> ConnectionEvent:
        return await self._next()

    async def _next(self) -> ConnectionEvent:
        if self._farewell is not None and self._events.empty():
            raise DisconnectedError(self._farewell)
        event = await self._events.get()
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
    limits: ReconnectLimits | None = None,
    keep_token: Callable[[str], None] = lambda token: None,
    is_visiting: bool = False,
    said: Callable[[str], None] | None = None,
) -> AsyncIterator[Client]:
    """Connect to a server and log in inside the context; `name` None is a guest, `token` that of an earlier login.

    A `bot` retries without end, at first as well as after a lost connection, unless `limits` say otherwise. Other
    programs do not retry at first, and then for a minute. `said` is called with a line that says what it waits for; for
    a bot, None prints these lines to the standard error.

    Raises `DisconnectedError` if the server cannot be reached, is not trusted, or refuses us.
    """
    if limits is None:
        limits = LIMITS if bot is None else FOREVER
    if said is None:
        said = _ignore if bot is None else _say_aloud
    session = ClientSession(name, token, bot, is_visiting=is_visiting)
    client: Client

    async def deliver(event: ConnectionEvent) -> None:
        await client.deliver(event)

    connection = ClientConnection(url, session, deliver, limits, keep_token, trust=trust)
    client = Client(connection, session)

    async def run() -> None:
        try:
            await connection.run()
        except (
            Exception
        ):  # such as one of `keep_token`; it is raised when the context ends, which must not wait forever
            await client.deliver(Farewell(Parting.GIVEN_UP, "The connection has failed by an error in this program."))
            raise

    running = asyncio.ensure_future(run())
    try:
        await client.enter(said)
        yield client
    finally:
        running.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.result()  # internal errors must not be lost


def _code(word: str) -> Code:
    return next((code for code in Code if code == word), Code.BAD_MESSAGE)


def _say_aloud(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _ignore(line: str) -> None:
    """Ignore the line."""


def _reply_lost() -> Refusal:
    return Refusal(Code.UNKNOWN_OUTCOME, "the connection was lost before the reply")


def _too_many_events(code: Code) -> Refusal:
    return Refusal(code, f"{MAX_EVENTS} events wait to be read; iterate over the client before you ask")
