"""Play as a bot from a program of ten lines; see docs/bots.md."""

import asyncio
import inspect
import logging
import math
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from ttt_net.clock import TimeControl, time_of
from ttt_net.command_line import beside_us
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.messages import MatchEvent, Opponents, Refused, SeekRequest, Snapshot, Welcome
from ttt_net.sdk import identity
from ttt_net.sdk.bots import MAX_EVENTS, Bot, BotPlan, Think, Thought, Turn
from ttt_net.sdk.client import DisconnectedError
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Answered, Back, ConnectionEvent, Farewell, Lost, Parting, Retrying, Tally, follow
from ttt_net.sdk.trust import Trust, trust_of
from ttt_net.text import clean

Choose = Callable[[Turn], Any]
"""Returns a number of `turn.legal` or the name of a legal move, or is `async` and does so."""
MOVE_MS = 1000
"""The default limit for a move of `play`, in milliseconds."""
LEAST_LADDER_S = 10
"""The minimal time between starts of matches on the ladder."""
SANDBOX_START_S = 30.0
"""How long the server of a sandbox may take to start."""
SANDBOX_STOP_S = 10.0
"""How long it may take to stop before it is killed."""
_LISTENING = "listening on "
"""The beginning of a server's first line."""
_LOG = logging.getLogger("ttt_net.bot")


async def _chosen(choose: Choose, turn: Turn) -> object:
    """Return the choice of a function; a synchronous one runs in a thread, so that it does not block the connection."""
    if inspect.iscoroutinefunction(choose):
        return await choose(turn)
    return await asyncio.to_thread(choose, turn)


async def think_by(choose: Choose, write: Callable[[str], None], turn: Turn) -> Thought:
    """Return the move that `choose` makes: a number of `turn.legal`, or the name of a legal move.

    If it raises or returns anything else, there is no move: the traceback is logged, and `write` gets a line.
    """
    try:
        choice = await _chosen(choose, turn)
    except Exception as error:  # noqa: BLE001 - an error in the user's code ends only its match
        _LOG.exception("choose failed in match %s", turn.match.id)
        return Thought(None, objection=f"choose raised {clean(repr(error), 120)}")
    if isinstance(choice, int) and choice in turn.legal:
        return Thought(int(choice))
    try:
        return Thought(turn.move_named(cast(str, choice)))
    except ValueError as error:
        return Thought(None, objection=f"choose returned {clean(str(error), 120)}")


class Story:
    """Writes what a bot does, one line per important event."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write, self.url = write, ""
        self._was_welcome = False
        self._live: dict[str, Snapshot] = {}
        self.tally = Tally()

    def notice(self, event: ConnectionEvent) -> None:
        """Write a line about an event, if it is notable."""
        match event:
            case Welcome():
                if not self._was_welcome:
                    self.write(f"playing as {clean(event.you.name, 40)} at {self.url}; Ctrl-C stops it")
                self._was_welcome = True
            case Lost():
                self.write(f"the connection is lost: {clean(event.reason, 80)}; trying until it is back")
            case Retrying() if not self._was_welcome and event.attempt == 1:
                self.write(f"no server at {self.url}: {clean(event.reason, 80)}; trying until there is one")
            case Back() if self._was_welcome:
                self.write("connected again")
            case Snapshot() if event.you is not None:
                before = self._live.get(event.match)
                if before is None and event.outcome is None:
                    self.write(f"{clean(event.match, 32)}: {clean(event.game.name, 40)} against {_opponent(event)}")
                self._follow(before, event)
            case Answered(SeekRequest(), Refused(message=message)):
                self.write(f"no opponent can be sought now: {clean(message, 120)}")
            case _ if isinstance(event, MatchEvent) and event.match in self._live:
                before = self._live[event.match]
                if event.seq > before.seq:
                    self._follow(before, follow(before, event))
            case _:
                pass

    def _follow(self, before: Snapshot | None, after: Snapshot) -> None:
        if after.outcome is None:
            self._live[after.match] = after
            return
        if self._live.pop(after.match, None) is None:
            return
        self.tally = self.tally.counting(before, after)
        winner, reason = after.outcome.winner, after.outcome.reason
        how = (
            "aborted" if reason == "abort" else "drawn" if winner is None else "won" if winner == after.you else "lost"
        )
        so_far = f"{self.tally.won} won, {self.tally.drawn} drawn, {self.tally.lost} lost so far"
        self.write(f"{clean(after.match, 32)}: {how} against {_opponent(after)} ({clean(reason, 40)}); {so_far}")


def _opponent(match: Snapshot) -> str:
    return clean(match.players[1 - (match.you or 0)].name, 40)


def say_aloud(line: str) -> None:
    """Print a line to the standard error."""
    print(line, file=sys.stderr, flush=True)


def play(
    choose: Choose,
    url: str = "ws://localhost:8765",
    *,
    name: str = "my-bot",
    games: Sequence[str] = (),
    time: str | None = None,
    opponents: Opponents | None = None,
    places: int = 1,
    level: int | None = None,
    label: str = "sdk",
    about: str | None = None,
    move_ms: int = MOVE_MS,
    matches: int | None = None,
    ladder: float | None = None,
    tournament: str | None = None,
    fingerprint: str | None = None,
    is_insecure: bool = False,
    sandbox: bool = False,
    write: Callable[[str], None] = say_aloud,
) -> Tally:
    """Play as a bot until Ctrl-C, SIGTERM, or the end of `matches` matches; return how many were won, drawn and lost.

    `choose` takes a `Turn` and returns a number of `turn.legal`, or the name of a legal move. It may be `async`; if
    not, it runs in a thread. If it raises, or returns anything else, the bot resigns that match and says why.

    The bot stores the token of its name in the folder of identities, so the next run has the same name. If the name
    belongs to somebody else, or another process uses it, the bot plays as `name-2`. It retries its server forever,
    resumes its matches, seeks opponents in `games` (empty: all) while one of its `places` is free, accepts challenges
    and rematches, and answers offers. `write` gets a line for each notable event; by default it prints to standard
    error.

    Without `opponents`, a bot that plays a number of `matches` meets anybody, and one without end meets people: two
    bots without end would play each other without a pause, and nobody else could play them.

    With the code of a `tournament`, the bot plays only its matches, and ends when the tournament is over.

    `time` is the clock to seek, such as "3+2" for 3 minutes and 2 seconds a move. `level` (1 to 8), `label` and `about`
    are shown to others. `fingerprint` is the SHA-256 of the server's certificate, if no authority has signed it.
    With `ladder`, the bot also plays rated matches with other bots that do so: it seeks the next one this many seconds
    after the last one began. `games` must name rated games; matches with people stay casual. With `sandbox`, the bot
    starts its own server while it plays, and plays against a house bot there. `url` and `opponents` are ignored then,
    and nothing is stored.

    Raises `ConfigurationError` if an argument is invalid, `Refusal` if the server rejects the bot, and
    `DisconnectedError` if the server disconnected the bot for good.
    """
    if ladder is not None and (not games or not LEAST_LADDER_S <= ladder < math.inf):
        raise ConfigurationError(f"ladder needs `games`, and {LEAST_LADDER_S} seconds or more from match to match")
    sought: Opponents = "bots" if sandbox else opponents or ("people" if matches is None else "any")
    seek = SeekRequest(0, list(games), _clock(time), sought)
    order = _Order(
        think=partial(think_by, choose, write),
        name=name,
        plan=BotPlan(seek, matches, move_ms, places, ladder_s=ladder, tournament=tournament),
        profile=BotProfile(label, level, places, about=about),
        is_remembered=not sandbox,
        story=Story(write),
    )
    try:
        if sandbox:
            asyncio.run(_until_terminated(_play_in_sandbox(order)))
        else:
            trust = trust_of(url, fingerprint, is_insecure=is_insecure)
            asyncio.run(_until_terminated(_play_at(url, trust, order)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        write("stopped")
    return order.story.tally


@dataclass(frozen=True, slots=True)
class _Order:
    """A bot to seat, and how it plays."""

    think: Think
    name: str
    plan: BotPlan
    profile: BotProfile
    is_remembered: bool
    """Whether the token of the name is used and stored."""
    story: Story


async def _until_terminated(work: Coroutine[Any, Any, None]) -> None:
    """Run the work until it ends, or cancel it when the system asks the process to end."""
    task = asyncio.ensure_future(work)
    with suppress(NotImplementedError, RuntimeError, ValueError):  # on Windows, and outside the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task


async def _play_at(url: str, trust: Trust, order: _Order) -> None:
    server, taken = _server_at(url), frozenset[str]()
    while True:
        with _identity(server, order.name, taken, is_remembered=order.is_remembered) as mine:
            farewell = await _play_as(mine, url, trust, order)
        if farewell is None:
            return
        if farewell.code != Code.NAME_TAKEN or not order.is_remembered:
            break
        order.story.write(f"{mine.name} belongs to another player at {url}")
        taken |= {mine.name}
    if farewell.why is Parting.REJECTED:
        code = next((each for each in Code if each == farewell.code), Code.BAD_MESSAGE)
        raise Refusal(code, clean(farewell.sentence, 200))
    raise DisconnectedError(farewell)


async def _play_as(mine: identity.Identity, url: str, trust: Trust, order: _Order) -> Farewell | None:
    inbox: asyncio.Queue[ConnectionEvent] = asyncio.Queue(MAX_EVENTS)
    token = mine.token() if order.is_remembered else None
    keep = mine.keep_token if order.is_remembered else _forget
    session = ClientSession(mine.name, token, order.profile)
    connection = ClientConnection(url, session, inbox.put, FOREVER, keep, trust=trust)
    order.story.url = url
    bot = Bot(connection, order.think, order.plan, order.story.write, noticed=order.story.notice)
    await bot.play(inbox)
    return bot.farewell


def _clock(time: str | None) -> TimeControl | None:
    clock = time_of(time) if time is not None else None
    if clock is None and time is not None:
        raise ConfigurationError(f"time {clean(time, 40)}: minutes and seconds a move, such as 3+2")
    return clock


def _server_at(url: str) -> str:
    """Return the host and port of a URL, as identities name a server."""
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ConfigurationError(f"{clean(url, 80)}: an address begins with ws:// or wss://")
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'wss' else 80)}"


@contextmanager
def _identity(server: str, name: str, taken: frozenset[str], *, is_remembered: bool) -> Iterator[identity.Identity]:
    if not is_remembered:
        yield identity.Identity(identity.home(), server, name, None)
        return
    mine = identity.take_numbered(server, name, taken)
    try:
        yield mine
    finally:
        mine.release()


def _forget(token: str) -> None:
    """Do not store the token."""


async def _play_in_sandbox(order: _Order) -> None:
    with tempfile.TemporaryDirectory(prefix="ttt_net-sandbox-") as folder:
        async with sandbox_server(folder) as url:
            await _play_at(url, Trust(), order)


@asynccontextmanager
async def sandbox_server(folder: str) -> AsyncIterator[str]:
    """Run a server that is reachable only from this machine inside the context, and yield its address.

    It stores its data in the folder and has house bots. Raises `ConfigurationError` if it does not start.
    """
    command = f"-m ttt_net serve --host 127.0.0.1 --port 0 --house-bots --data {shlex.quote(folder)}"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *shlex.split(command),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=beside_us(os.environ),
        start_new_session=True,  # Ctrl-C ends the bot, which then ends the server
    )
    try:
        yield await _address_of(process)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(SANDBOX_STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(SANDBOX_START_S):
            first = (await process.stdout.readline()).decode()
    except TimeoutError:
        first = ""
    if not first.startswith(_LISTENING):
        raise ConfigurationError("the sandbox needs a server, which did not start; try `python -m ttt_net serve`")
    return first.removeprefix(_LISTENING).strip()
