"""Ask a server one thing and leave: who somebody is, what they have played, who is best; take a name, or be forgotten.

Nobody is disturbed by it: a client of ours that plays keeps its link, since a question is then asked as a guest, who
is forgotten when it is answered; and unfinished matches are not resumed.
"""

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec.structs import replace

from ttt_net.client.command_line.inquiry import Inquiry
from ttt_net.client.command_line.options import Options
from ttt_net.client.inquiry.tables import lines_of
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.messages import (
    ForgetRequest,
    HistoryReply,
    HistoryRequest,
    LeaderboardReply,
    LeaderboardRequest,
    ProfileReply,
    ProfileRequest,
    Renamed,
    RenameRequest,
)
from ttt_net.names import checked_name
from ttt_net.sdk import identity
from ttt_net.sdk.client import Client, DisconnectedError, connect
from ttt_net.sdk.connection import ReconnectLimits
from ttt_net.sdk.events import Farewell, Parting
from ttt_net.text import name_key

ANSWER_S = 10.0
"""How long an answer may take."""
_ONCE = ReconnectLimits(0, 0)
_OF_ONESELF = ("rename", "forget")


@dataclass(frozen=True, slots=True)
class Answer:
    """The lines to be printed, or why there are none."""

    lines: list[str] = field(default_factory=list)
    farewell: Farewell | None = None


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
    token = mine.token() if mine is not None else None
    try:
        async with (
            asyncio.timeout(ANSWER_S),
            connect(options.url, token=token, trust=options.trust, limits=_ONCE, is_visiting=True) as client,
        ):
            try:
                return await _answer(client, options, inquiry, mine)
            finally:
                if mine is None:  # a guest who has asked leaves nothing behind
                    with suppress(Refusal, DisconnectedError):
                        await client.ask(ForgetRequest(0, client.welcome.you.name))
    except Refusal as refusal:
        return Answer(farewell=Farewell(Parting.REJECTED, str(refusal), refusal.code))
    except TimeoutError:
        return Answer(farewell=Farewell(Parting.UNREACHABLE, "it does not answer"))
    except DisconnectedError as error:
        return Answer(farewell=_explained(error.farewell, options))


def _explained(farewell: Farewell, options: Options) -> Farewell:
    if farewell.code == Code.NO_GUESTS:
        sentence = f"{options.server} answers only players: play there once, then ask with the same --name"
        return Farewell(farewell.why, sentence, farewell.code)
    return farewell


async def _answer(client: Client, options: Options, inquiry: Inquiry, mine: identity.Identity | None) -> Answer:
    whose = inquiry.about or (None if mine is not None else options.name or identity.remembered_name())
    match inquiry.kind:
        case "profile":
            profile = await client.ask_for(ProfileRequest(0, whose), ProfileReply)
            if mine is None:  # a guest has never met anybody
                profile = replace(profile, against=None)
            return Answer(lines_of(profile, options, inquiry))
        case "history":
            page = await _history(client, whose, inquiry.page)
            return Answer(lines_of(page, options, inquiry))
        case "leaderboard":
            asked = LeaderboardRequest(0, inquiry.about, inquiry.speed, inquiry.has_bots, inquiry.page)
            return Answer(lines_of(await client.ask_for(asked, LeaderboardReply), options, inquiry))
        case "rename":
            assert mine is not None
            renamed = await client.ask_for(RenameRequest(0, inquiry.about), Renamed)
            return Answer([_move_token(options, mine, renamed.you.name)])
        case "forget":
            assert mine is not None
            await client.ask(ForgetRequest(0, client.welcome.you.name))
            mine.drop_token()
            return Answer([f'You are forgotten on {options.server}; your matches are kept there under "deleted".'])


async def _history(client: Client, whose: str | None, page: int) -> HistoryReply:
    """Return a page of a history, by way of those before it; beyond the last, an empty one."""
    before = None
    for _ in range(page - 1):
        told = await client.ask_for(HistoryRequest(0, whose, None, before), HistoryReply)
        before = told.before
        if before is None:
            return HistoryReply(told.player, [], None)
    return await client.ask_for(HistoryRequest(0, whose, None, before), HistoryReply)


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
