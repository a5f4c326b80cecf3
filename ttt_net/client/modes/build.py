"""Build the parts that modes share from the options: the connection, and the first requests."""

import asyncio
import shlex
from collections.abc import Callable, Collection
from functools import partial
from typing import TypedDict

from ttt_net.client import json_lines, labels, words
from ttt_net.client.display import Display
from ttt_net.client.ending import Ending
from ttt_net.client.events import Event, LocalNotice
from ttt_net.client.finding.address import remember_server
from ttt_net.client.finding.server_search import shareable
from ttt_net.client.mailbox import post
from ttt_net.client.options import DEFAULT_GAME, Options
from ttt_net.client.progress import load_unfinished, save_unfinished
from ttt_net.client.screens.offers import by_default
from ttt_net.client.user_io import json_writer_of
from ttt_net.messages import InviteRequest, JoinRequest, SeekRequest, Welcome
from ttt_net.sdk.certificate_pinning import note_vouched, replace_pin
from ttt_net.sdk.connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.identity import Identity, home, remembered_name
from ttt_net.sdk.session import BotProfile, ClientSession

_UNSAVED = (
    "Your player cannot be kept: {folder} cannot be written ({why}). After you leave, {name} and the ratings here "
    "are lost to you. Free the disk, or name a folder with TTT_NET_HOME, and start again."
)
FIRST_MS = 5_000
LATER_MS = 600_000
"""How long a server may be away: before it was ever there, and afterwards where nobody can look on and decide."""


class PlayerArguments(TypedDict):
    """The arguments of a `ClientController` on a server that are the same on a screen and in lines."""

    has_lobby: bool
    is_hosting: bool
    count_guests: Callable[[], int] | None
    end_server: Callable[[], None] | None
    unfinished: Collection[str]
    keep_unfinished: Callable[[Collection[str]], None] | None


def connection_of(
    options: Options, mine: Identity, mailbox: asyncio.Queue[Event], *, first_ms: int | None, later_ms: int | None
) -> ClientConnection:
    """Return the connection to the server that was asked for, which delivers into the mailbox."""
    bot = BotProfile(options.bot, options.level, options.places, options.reserve) if options.bot is not None else None
    session = ClientSession(mine.name, mine.token(), bot)
    limits, tap = ReconnectLimits(first_ms, later_ms), json_lines.tap_of(json_writer_of(options))
    joined = (lambda welcome: _remember(options, welcome)) if options.bot is None else None
    deliver = json_lines.delivering(json_writer_of(options), mailbox.put)
    return ClientConnection(
        options.url, session, deliver, limits, keeping_token(mine, mailbox), tap, options.trust, joined
    )


def keeping_token(mine: Identity, mailbox: asyncio.Queue[Event]) -> Callable[[str], None]:
    """Return the function that saves a new token; if the disk refuses, the mailbox gets a notice at once."""

    def keep(token: str) -> None:
        mine.keep_token(token)
        if mine.unsaved:
            post(mailbox, LocalNotice(_UNSAVED.format(folder=home(), why=mine.unsaved.lower(), name=mine.name)))

    return keep


def player_arguments(options: Options, mine: Identity) -> PlayerArguments:
    """Return the arguments of the controller of a person on a server that every way to play there has."""
    served = options.served
    return {
        "has_lobby": True,
        "is_hosting": options.is_hosting,
        "count_guests": served.guests if served is not None else None,
        "end_server": served.stop if served is not None else None,
        "unfinished": () if options.is_json else load_unfinished(options.server, mine.name),
        "keep_unfinished": None if options.is_json else partial(save_unfinished, options.server, mine.name),
    }


def _remember(options: Options, welcome: Welcome) -> None:
    """Put a server first that a person has joined, for who asks from elsewhere meanwhile, and how it was trusted."""
    remember_server(options.url, welcome.server)
    if options.url.startswith("wss:"):
        if options.trust.fingerprint is not None:
            replace_pin(options.server, options.trust.fingerprint)
        else:
            note_vouched(options.server)


def seek_of(options: Options) -> SeekRequest:
    """Return the first seek: where nothing else was said, for a person; bots are offered."""
    return by_default(SeekRequest(0, [options.game or DEFAULT_GAME], options.time, options.opponents or "people"))


def address_of(options: Options) -> str:
    """Return the address that is shown: of a server that we run ourselves, the one that friends can use."""
    return shareable(options.server) if options.is_hosting else options.server


def opening_of(options: Options) -> JoinRequest | InviteRequest | None:
    """Return the first request, where it is no seek for anybody to play with."""
    if options.join is not None:
        return JoinRequest(0, options.join)
    return InviteRequest(0, options.game or DEFAULT_GAME, options.time) if options.is_inviting else None


def ending_of(display: Display, options: Options) -> Ending:
    """Return how a session ended whose last display this is."""
    command = options.command
    if display.world.you is not None and display.world.you.name != remembered_name():
        command += f" --name {shlex.quote(labels.name_of(display.world.you))}"
    return Ending(
        display.world.farewell,
        words.parting(display.world, command),
        display.world.tally,
        display.is_going_back,
        display.is_serving_on,
    )
