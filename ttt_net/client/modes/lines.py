"""Play line by line."""

import asyncio
import sys
from dataclasses import replace

from ttt_net.client.client_controller import ClientController
from ttt_net.client.controller import Controller
from ttt_net.client.ending import Ending
from ttt_net.client.events import Event
from ttt_net.client.lines.line_client import LineClient
from ttt_net.client.lines.line_renderer import BoardRenderer, LineRenderer
from ttt_net.client.lines.screen_reader import ScreenReader
from ttt_net.client.lines.typed_lines import reading_lines
from ttt_net.client.mailbox import Mailbox, delivered
from ttt_net.client.modes.build import (
    FIRST_MS,
    LATER_MS,
    address_of,
    connection_of,
    ending_of,
    opening_of,
    player_arguments,
    seek_of,
)
from ttt_net.client.options import Options
from ttt_net.client.progress import is_first_match_of, load_achievements, save_achievements
from ttt_net.client.user_io import columns_of_terminal, glyphs_of, writer_of
from ttt_net.sdk.identity import Identity


def play(options: Options, mine: Identity) -> Ending:
    """Let a person or a program play on a server."""
    return asyncio.run(_play(options, mine))


async def _play(options: Options, mine: Identity) -> Ending:
    mailbox = Mailbox()
    is_read = sys.stdin.isatty() and sys.stdout.isatty() and not options.is_json
    controller = ClientController(
        connection_of(options, mine, mailbox, first_ms=FIRST_MS, later_ms=LATER_MS),
        seek_of(options),
        address_of(options),
        opening_of(options),
        **player_arguments(options, mine),
        is_in_lines=True,
        is_first_match_of=is_first_match_of if is_read else None,
        keep_achievements=save_achievements if is_read else None,
    )
    if is_read:
        controller.display = replace(controller.display, achieved=load_achievements())
    await tell(options, controller, mailbox)
    return ending_of(controller.display, options)


async def tell(options: Options, controller: Controller, mailbox: asyncio.Queue[Event]) -> None:
    """Tell what a controller displays, and hand it the lines that are typed, until it is done."""
    with delivered(mailbox), reading_lines(mailbox) as is_ahead:
        client = LineClient(
            controller,
            renderer_of(options),
            writer_of(options),
            is_typed=sys.stdin.isatty(),
            is_ahead=is_ahead and controller.display.has_lobby,
        )
        await client.play(mailbox)


def renderer_of(options: Options) -> LineRenderer:
    """Return the way to tell a board in lines that the options ask for."""
    return ScreenReader() if options.is_spoken else BoardRenderer(glyphs_of(options), columns_of_terminal)
