"""The clients of this repository, each behind the few things that a scenario asks of its player."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import pytest
from websockets.exceptions import ConnectionClosed

from tests import forked
from ttt_net.client.client_controller import ClientController
from ttt_net.client.display import Command, Move, Send
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event, TerminalEvent
from ttt_net.commands.new_bot import NAME, PROJECTS
from ttt_net.errors import Refusal
from ttt_net.messages import (
    AgreeRequest,
    ChallengeRequest,
    Chatted,
    DeclineRequest,
    MatchEvent,
    MuteRequest,
    OfferRequest,
    PlayRequest,
    Refused,
    Request,
    SeekRequest,
    Snapshot,
    UnseekRequest,
)
from ttt_net.sdk.bots import Bot, BotPlan, Thought, Turn
from ttt_net.sdk.client import Client, DisconnectedError, connect
from ttt_net.sdk.client_connection import FOREVER, ClientConnection
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.received import Answered, Stop, follow

SEEK = SeekRequest(0, ["tictactoe"])


class Player(Protocol):
    """A client with somebody who plays by it."""

    told: list[str]
    """The codes, or the sentences, of refusals that the player was told of."""
    changed: asyncio.Event
    """Set whenever the client has taken something in."""

    @property
    def is_welcome(self) -> bool:
        """Whether the client knows that it was let in."""

    @property
    def chat_lines(self) -> int:
        """How many lines of chat the client shows."""

    def do(self, action: str, what: dict[str, Any]) -> None:
        """Act as the player."""

    def known(self) -> Snapshot | None:
        """Return what the client shows of the match."""


class SdkPlayer:
    """A program on `ttt_net.sdk.client`."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._match: Snapshot | None = None
        self.told: list[str] = []
        self.changed = asyncio.Event()
        self.chat_lines = 0

    @property
    def is_welcome(self) -> bool:
        """Whether the player has entered."""
        return self._client is not None

    def known(self) -> Snapshot | None:
        """Return the match as the events say."""
        return self._match

    def do(self, action: str, what: dict[str, Any]) -> None:
        """Send the request that the action stands for."""
        assert self._client is not None, "nobody is welcome yet"
        self._client.say(self._request(action, what))

    def _request(self, action: str, what: dict[str, Any]) -> Request:
        match action, self._match:
            case "seek", _:
                return SEEK
            case "unseek", _:
                return UnseekRequest(0)
            case "challenge", _:
                return ChallengeRequest(0, what["name"])
            case "mute", _:
                return MuteRequest(0, what["name"], on=True)
            case "play", Snapshot() as match:
                return PlayRequest(0, match.match, match.position.ply, what["move"])
            case "offer", Snapshot() as match:
                return OfferRequest(0, match.match, what["kind"], match.position.ply)
            case "agree", Snapshot() as match:
                return AgreeRequest(0, match.match, match.offers[0].seq)
            case "decline", Snapshot() as match:
                return DeclineRequest(0, match.match, match.offers[0].kind, match.offers[0].seq)
        raise AssertionError(f"nobody can {action} here")

    async def listen(self, client: Client) -> None:
        """Follow the match until there is no connection any more."""
        self._client = client
        self.changed.set()
        try:
            async for event in client:
                if isinstance(event, Snapshot):
                    self._match = event
                elif isinstance(event, MatchEvent) and self._match is not None:
                    self._match = follow(self._match, event)
                elif isinstance(event, Chatted):
                    self.chat_lines += 1
                elif isinstance(event, Answered) and isinstance(event.answer, Refused):
                    self.told.append(event.answer.code)
                self.changed.set()
        except DisconnectedError:
            return


@asynccontextmanager
async def sdk(url: str, folder: Path) -> AsyncIterator[Player]:
    """Play by the SDK."""
    player = SdkPlayer()

    async def play() -> None:
        async with connect(url, "Ann", limits=FOREVER) as client:
            await player.listen(client)

    async with asyncio.TaskGroup() as group:
        playing = group.create_task(play())
        yield player
        playing.cancel()


class TerminalPlayer:
    """A person before the terminal client: keys become commands, and the display is what they see."""

    def __init__(self, controller: ClientController) -> None:
        self._controller = controller
        self.told: list[str] = []
        self.changed = asyncio.Event()

    @property
    def is_welcome(self) -> bool:
        """Whether the player is in the lobby."""
        return self._controller.display.world.you is not None

    @property
    def chat_lines(self) -> int:
        """How many lines of chat are on the screen."""
        return len(self._controller.display.chat)

    def known(self) -> Snapshot | None:
        """Return the match on the screen."""
        return self._controller.display.match

    def do(self, action: str, what: dict[str, Any]) -> None:
        """Give the command that the keys of the action stand for."""
        offers = {"draw": Command.DRAW, "takeback": Command.TAKE_BACK, "rematch": Command.REMATCH}
        match action:
            case "seek":
                self._controller.do(Send(SEEK))
            case "unseek":
                self._controller.do(Send(UnseekRequest(0)))
            case "challenge":
                self._controller.do(Send(ChallengeRequest(0, what["name"])))
            case "play":
                match = self.known()
                assert match is not None
                self._controller.do(Move(match.game.move_names[what["move"]]))
            case "offer" | "agree":
                self._controller.do(offers[what["kind"]])
            case "decline":
                self._controller.do(Command.DECLINE)
            case "mute":
                self._controller.do(Command.MUTE)
            case _:
                raise AssertionError(f"nobody can {action} here")
        self.note()

    def note(self) -> None:
        """Read the notice on the screen."""
        if notice := self._controller.display.notice:
            self.told.append(notice)


@asynccontextmanager
async def terminal(url: str, folder: Path) -> AsyncIterator[Player]:
    """Play by the terminal client."""
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    connection = ClientConnection(url, ClientSession("Ann", None), mailbox.put, FOREVER, lambda token: None)
    controller = ClientController(connection, SEEK, "the test", is_seeking=False)
    player = TerminalPlayer(controller)

    async def look() -> None:
        while True:
            event = await mailbox.get()
            assert not isinstance(event, TerminalEvent | Stop)
            controller.hear(event, 0)
            player.note()
            player.changed.set()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in (connection.run(), look())]
        yield player
        for task in tasks:
            task.cancel()


class SelfPlayer:
    """A bot, which acts by itself: it is asked for nothing, and tells its match if it can be looked into."""

    is_welcome = True
    chat_lines = 0

    def __init__(self, known: Callable[[], Snapshot | None] = lambda: None) -> None:
        self.known = known
        self.told: list[str] = []
        self.changed = asyncio.Event()

    def do(self, action: str, what: dict[str, Any]) -> None:
        """Leave the bot to do it by itself."""


class _FourEngine:
    """An engine that knows the one legal move of the scenarios."""

    async def think(self, turn: Turn) -> Thought:
        """Choose it, or another one later."""
        return Thought(4 if not turn.match.moves else 8)


@asynccontextmanager
async def house_bot(url: str, folder: Path) -> AsyncIterator[Player]:
    """Play by the bot that the client seats, and the server in its house."""
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    session = ClientSession("Ann", None, BotProfile("random"))
    connection = ClientConnection(url, session, mailbox.put, FOREVER, lambda token: None)
    bot = Bot(connection, _FourEngine().think, BotPlan(SEEK, None, 50), lambda text: None)
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(bot.play(mailbox))
        yield SelfPlayer(lambda: next(iter(bot.matches.values()), None))
        playing.cancel()


def printed_bot(name: str) -> "Callable[[str, Path], Any]":
    """Return the way to play by a bot as docs/bots.md prints it."""

    @asynccontextmanager
    async def play(url: str, folder: Path) -> AsyncIterator[Player]:
        from tests.end_to_end.test_bots_page import printed

        code = printed(folder, name).read_text(encoding="utf-8")
        functions: dict[str, Any] = {}
        exec(compile(code.partition("\n\ntry:\n")[0].partition("\n\nprint(")[0], name, "exec"), functions)
        play_one_match: Callable[[str, str], Awaitable[str]] = functions["play_one_match"]

        async def until_it_ends() -> None:
            try:
                await play_one_match(url, "Ann")
            except (DisconnectedError, Refusal, ConnectionClosed):
                return

        async with asyncio.TaskGroup() as group:
            playing = group.create_task(until_it_ends())
            yield SelfPlayer()
            playing.cancel()

    return play


_FOUR_IN_C = "count == 9 ? 4 : count - 1"
"""The moves of the scenarios: the fifth of nine, and later the last."""
_GO_LIBRARY = Path("/usr/share/gocode/src/github.com/gorilla/websocket")


def _is_there(language: str) -> bool:
    return shutil.which("cc" if language == "c" else language) is not None and (
        language != "go" or _GO_LIBRARY.is_dir()
    )


@cache
def _started_by(language: str) -> "tuple[TemporaryDirectory[str], list[str]]":
    """Return the folder of a new bot named Ann, which is built once, and the command that starts it."""
    folder = TemporaryDirectory()
    for source in (PROJECTS / language).iterdir():
        text = source.read_text(encoding="utf-8").replace(NAME, "Ann")
        (Path(folder.name) / source.name).write_text(text, encoding="utf-8")
    if language == "node":
        return folder, ["node", "--experimental-websocket", str(Path(folder.name) / "bot.js")]
    if language == "c":  # it knows the rules, so that the scenarios leave it a choice
        source = Path(folder.name) / "bot.c"
        source.write_text(source.read_text(encoding="utf-8").replace("rand() % count", _FOUR_IN_C), encoding="utf-8")
        subprocess.run(["make", "Ann"], cwd=folder.name, stdout=subprocess.DEVNULL, check=True)
        return folder, ["client.py", "--engine", str(Path(folder.name) / "Ann"), "--name", "Ann", "--places", "1"]
    settings = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    for command in (f"go mod edit -replace=github.com/gorilla/websocket={_GO_LIBRARY}", "go build -o Ann ."):
        subprocess.run(command.split(), cwd=folder.name, env=settings, check=True)
    return folder, [str(Path(folder.name) / "Ann")]


def _begin(language: str, url: str, folder: Path) -> "subprocess.Popen[str]":
    home, command = _started_by(language)
    (Path(home.name) / "Ann.token").unlink(missing_ok=True)
    env, quiet = {**os.environ, "TTT_NET_HOME": str(folder / "home")}, subprocess.DEVNULL
    if language == "c":
        return forked.start(*command, url, env=env, stdout=quiet, stderr=quiet)
    return subprocess.Popen([*command, url], cwd=home.name, env=env, text=True, stdout=quiet, stderr=quiet)


def new_bot(language: str) -> "Callable[[str, Path], Any]":
    """Return the way to play by a bot as `new-bot` writes it, in a process of its own."""

    @asynccontextmanager
    async def play(url: str, folder: Path) -> AsyncIterator[Player]:
        if not _is_there(language):
            pytest.skip(f"{language}, or its library for WebSockets, is not installed here")
        with _begin(language, url, folder) as process:
            try:
                yield SelfPlayer()
            finally:
                process.kill()

    return play
