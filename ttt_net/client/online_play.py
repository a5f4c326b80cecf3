"""Play on a server, on a screen or in lines: send the first request, show the displays, and report how it ended."""

import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from ttt_net.client import words
from ttt_net.client.client_controller import ClientController, Controller
from ttt_net.client.display import Display
from ttt_net.client.mailbox import Mailbox
from ttt_net.client.options import Options
from ttt_net.client.remembered import (
    Achievements,
    is_first_match_of,
    load_achievements,
    load_unfinished,
    save_achievements,
    save_unfinished,
)
from ttt_net.client.screens.offers import by_default
from ttt_net.client.server_search import shareable
from ttt_net.client.user_io import Ending
from ttt_net.messages import InviteRequest, JoinRequest, SeekRequest
from ttt_net.sdk.client_connection import ClientConnection
from ttt_net.sdk.identity import Identity, remembered_name

Show = Callable[[Controller, Mailbox], Awaitable[None]]
"""Renders a controller's displays, on a screen or line by line, until it is done."""


async def play(
    options: Options,
    mine: Identity,
    show: Show,
    connection: ClientConnection,
    mailbox: Mailbox,
    *,
    is_on_screen: bool,
) -> Ending:
    """Play on a server over a connection that has begun; in lines mode the player may be a program."""
    served = options.served
    is_read = is_on_screen or (sys.stdin.isatty() and sys.stdout.isatty() and not options.is_json)
    controller = ClientController(
        connection,
        seek_of(options),
        address_of(options),
        opening_of(options),
        has_lobby=True,
        is_in_lines=not is_on_screen,
        is_hosting=options.is_hosting,
        count_guests=served.guests if served is not None else None,
        end_server=served.stop if served is not None else None,
        unfinished=() if options.is_json else load_unfinished(options.server, mine.name),
        keep_unfinished=None if options.is_json else partial(save_unfinished, options.server, mine.name),
        is_first_match_of=is_first_match_of if is_read else None,
        keep_achievements=save_achievements if is_read else None,
        may_be_guest=not options.is_json,
    )
    controller.display = replace(
        controller.display,
        has_server_picker=is_on_screen and options.has_server_picker,
        achieved=load_achievements() if is_read else Achievements(),
        account="" if options.is_guest or not is_read else f"{options.server} {mine.name}",
    )
    await show(controller, mailbox)
    return ending_of(controller.display, options)


def seek_of(options: Options) -> SeekRequest:
    """Return the first seek: by default for people only; bots are suggested."""
    return by_default(SeekRequest(0, [options.game or options.usual_game], options.time, options.opponents or "people"))


def address_of(options: Options) -> str:
    """Return the address to show: for our own server, the one that friends can use."""
    return shareable(options.server) if options.is_hosting else options.server


def opening_of(options: Options) -> JoinRequest | InviteRequest | None:
    """Return the first request, if it is not a seek."""
    if options.join is not None:
        return JoinRequest(0, options.join)
    return InviteRequest(0, options.game or options.usual_game, options.time) if options.is_inviting else None


def ending_of(display: Display, options: Options) -> Ending:
    """Return the ending of a session from its last display."""
    command = options.command
    if options.is_guest:
        command += f" --guest --join {options.join}" if options.join is not None else " --guest"
    elif display.world.you is not None and display.world.you.name != remembered_name():
        command += f" --name {shlex.quote(words.name_of(display.world.you))}"
    return Ending(
        display.world.farewell,
        words.parting(display.world, command),
        display.world.tally,
        display.is_going_back,
        display.is_serving_on,
        display.guest_of,
    )
