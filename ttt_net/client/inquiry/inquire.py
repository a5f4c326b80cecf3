"""Ask a server one thing and leave: who somebody is, what he has played, who is best; take a name, or be forgotten.

Nobody is disturbed by it: a client of ours that plays keeps its link, since a question is then asked as a guest, who
is forgotten when it is answered; and unfinished matches are not resumed.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, WebSocketException

import ttt_net
from ttt_net.client.command_line.inquiry import Inquiry
from ttt_net.client.command_line.options import Options
from ttt_net.client.inquiry.tables import lines_of
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.messages import (
    PROTOCOL,
    AnyServerMessage,
    ForgetRequest,
    HelloRequest,
    HistoryReply,
    HistoryRequest,
    LeaderboardReply,
    LeaderboardRequest,
    Ok,
    ProfileReply,
    ProfileRequest,
    Refused,
    Renamed,
    RenameRequest,
    Request,
    Welcome,
    decode_server_message,
    encode,
)
from ttt_net.names import checked_name
from ttt_net.sdk import identity
from ttt_net.sdk.connect import open_websocket
from ttt_net.sdk.disconnect import unreachable
from ttt_net.sdk.events import Farewell, Parting
from ttt_net.text import clean, name_key

ANSWER_S = 10.0
"""How long an answer may take."""
MAX_WAIT_MS = 5_000
_OF_ONESELF = ("rename", "forget")

Told = TypeVar("Told", Welcome, ProfileReply, HistoryReply, LeaderboardReply, Renamed)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be printed, or why there is nothing."""

    lines: list[str] = field(default_factory=list)
    farewell: Farewell | None = None


class _DistrustError(Exception):
    """The server is there, and is not to hear who we are."""


class _Talk:
    """A link on which one question at a time is asked and answered."""

    def __init__(self, link: ClientConnection) -> None:
        self._link = link
        self._last = 0

    def next_id(self) -> int:
        """Return the number of the next request."""
        self._last += 1
        return self._last

    async def ask(self, said: Request) -> None:
        """Say something and wait until it was carried out; raises `Refusal` if it was not."""
        while True:
            await self._link.send(encode(said).decode())
            refused = await self._answer(said.id)
            if refused is None:
                return
            wait_ms = refused.retry_after_ms
            if refused.code != Code.TOO_FAST or not wait_ms or wait_ms > MAX_WAIT_MS:
                raise Refusal(_code(refused.code), clean(refused.message, 200))
            await asyncio.sleep(wait_ms / 1000)

    async def ask_for(self, said: Request, kind: type[Told]) -> Told:
        """Say something and return the message of that kind that it leads to."""
        await self.ask(said)
        while True:
            heard = await self._hear()
            if isinstance(heard, kind):
                return heard

    async def _answer(self, request: int) -> Refused | None:
        while True:
            heard = await self._hear()
            if isinstance(heard, Refused) and heard.id in (request, None):
                return heard
            if isinstance(heard, Ok) and heard.id == request:
                return None

    async def _hear(self) -> AnyServerMessage | None:
        frame = await self._link.recv()
        try:
            return decode_server_message(frame)
        except Refusal:
            return None  # what only a newer client knows


def inquire(options: Options, inquiry: Inquiry) -> Answer:
    """Ask, and return the answer; `ConfigurationError` says what to say differently."""
    mine = _identity(options, inquiry)
    try:
        return asyncio.run(_inquire(options, inquiry, mine))
    finally:
        if mine is not None:
            mine.release()


def _identity(options: Options, inquiry: Inquiry) -> identity.Identity | None:
    """Return who we are on that server, if we are anybody there and do not play at the moment."""
    name = options.name or identity.remembered_name()
    mine = None
    if name is not None and identity.is_known(options.server, name):
        mine = identity.take(options.server, name)
        if mine is None and inquiry.kind in _OF_ONESELF:
            raise ConfigurationError(f"{name} is playing on this machine; end that client first")
    if inquiry.kind in _OF_ONESELF:
        if mine is None:
            who = f"{name!r} is nobody" if name else "you are nobody"
            raise ConfigurationError(f"{who} on {options.server} yet; say who with --name, and where with the address")
        _confirm(options, inquiry, mine)
    elif name is None and inquiry.kind != "leaderboard" and not inquiry.about:
        raise ConfigurationError(f"--{inquiry.kind}: whose? Nobody has played from here yet; add a name")
    return mine


def _confirm(options: Options, inquiry: Inquiry, mine: identity.Identity) -> None:
    """Let a new name be one, and make sure that who is forgotten wants to be."""
    if inquiry.kind == "rename":
        try:
            checked_name(inquiry.about)
        except Refusal as refusal:
            raise ConfigurationError(f"--rename: {refusal}") from None
    elif sys.stdin.isatty() and sys.stdout.isatty():
        print(f"Your name, token and ratings on {options.server} will be deleted, for good.")
        if name_key(input("Type your name to go on: ").strip()) != name_key(mine.name):
            mine.release()
            raise ConfigurationError("that is not your name; nothing was changed")
    elif options.name is None:
        mine.release()
        raise ConfigurationError(f"to be forgotten, name yourself: --forget --name {mine.name}")


async def _inquire(options: Options, inquiry: Inquiry, mine: identity.Identity | None) -> Answer:
    try:
        async with asyncio.timeout(ANSWER_S), _talking(options) as talk:
            welcome = await _enter(talk, options, mine)
            try:
                return await _answer(talk, options, inquiry, mine, welcome)
            finally:
                if mine is None:  # a guest who has asked leaves nothing behind
                    with suppress(Refusal, ConnectionClosed):
                        await talk.ask(ForgetRequest(talk.next_id(), welcome.you.name))
    except Refusal as refusal:
        return Answer(farewell=Farewell(Parting.REJECTED, str(refusal), refusal.code))
    except TimeoutError:
        return Answer(farewell=Farewell(Parting.UNREACHABLE, "it does not answer"))
    except _DistrustError as error:
        return Answer(farewell=Farewell(Parting.DISTRUSTED, str(error)))
    except (OSError, WebSocketException) as error:
        return Answer(farewell=unreachable(error).farewell)


@asynccontextmanager
async def _talking(options: Options) -> AsyncIterator[_Talk]:
    async with open_websocket(options.url, options.trust) as link:
        objection = options.trust.objection(link)
        if objection:
            raise _DistrustError(objection)
        yield _Talk(link)


async def _enter(talk: _Talk, options: Options, mine: identity.Identity | None) -> Welcome:
    client = f"ttt_net {ttt_net.__version__}"
    token = mine.token() if mine is not None else None
    try:
        return await talk.ask_for(HelloRequest(talk.next_id(), [PROTOCOL], token=token, client=client), Welcome)
    except Refusal as refusal:
        if refusal.code is Code.NO_GUESTS:
            sentence = f"{options.server} answers only players: play there once, then ask with the same --name"
            raise Refusal(refusal.code, sentence) from None
        raise


async def _answer(
    talk: _Talk, options: Options, inquiry: Inquiry, mine: identity.Identity | None, welcome: Welcome
) -> Answer:
    whose = inquiry.about or (None if mine is not None else options.name or identity.remembered_name())
    match inquiry.kind:
        case "profile":
            profile = await talk.ask_for(ProfileRequest(talk.next_id(), whose), ProfileReply)
            if mine is None:  # a guest has never met anybody
                profile = replace(profile, against=None)
            return Answer(lines_of(profile, options, inquiry))
        case "history":
            page = await _history(talk, whose, inquiry.page)
            return Answer(lines_of(page, options, inquiry))
        case "leaderboard":
            asked = LeaderboardRequest(talk.next_id(), inquiry.about, inquiry.speed, inquiry.has_bots, inquiry.page)
            return Answer(lines_of(await talk.ask_for(asked, LeaderboardReply), options, inquiry))
        case "rename":
            assert mine is not None
            renamed = await talk.ask_for(RenameRequest(talk.next_id(), inquiry.about), Renamed)
            return Answer([_move_token(options, mine, renamed.you.name)])
        case "forget":
            assert mine is not None
            await talk.ask(ForgetRequest(talk.next_id(), welcome.you.name))
            mine.drop_token()
            return Answer([f'You are forgotten on {options.server}; your matches are kept there under "deleted".'])


async def _history(talk: _Talk, whose: str | None, page: int) -> HistoryReply:
    """Return a page of a history, by way of those before it; beyond the last, an empty one."""
    before = None
    for _ in range(page - 1):
        told = await talk.ask_for(HistoryRequest(talk.next_id(), whose, None, before), HistoryReply)
        before = told.before
        if before is None:
            return HistoryReply(told.player, [], None)
    return await talk.ask_for(HistoryRequest(talk.next_id(), whose, None, before), HistoryReply)


def _move_token(options: Options, mine: identity.Identity, name: str) -> str:
    """Keep the token under the new name, which is the remembered one if the old one was."""
    token = mine.token()
    renamed = identity.take(options.server, name)
    if renamed is None or token is None:
        return f"You are {name} now; a client of that name is running, so come back with --name {mine.name}."
    renamed.keep_token(token)
    if name_key(name) != name_key(mine.name):
        mine.drop_token()
    if identity.remembered_name() == mine.name:
        identity.remember_name(name)
    renamed.release()
    return f"You are {name} now."


def _code(word: str) -> Code:
    return next((code for code in Code if code == word), Code.BAD_MESSAGE)
