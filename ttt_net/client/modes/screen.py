"""Play on the full screen."""

import asyncio
from dataclasses import replace

from ttt_net.client.client_controller import ClientController
from ttt_net.client.ending import Ending
from ttt_net.client.mailbox import Mailbox
from ttt_net.client.modes.build import (
    FIRST_MS,
    address_of,
    connection_of,
    ending_of,
    opening_of,
    player_arguments,
    seek_of,
)
from ttt_net.client.options import Options
from ttt_net.client.progress import is_first_match_of, load_achievements, save_achievements
from ttt_net.client.terminal.canvas import Canvas
from ttt_net.client.terminal.loop import show
from ttt_net.sdk.identity import Identity


def play(options: Options, mine: Identity, canvas: Canvas) -> Ending:
    """Let a person play on a server."""
    return asyncio.run(_play(options, mine, canvas))


async def _play(options: Options, mine: Identity, canvas: Canvas) -> Ending:
    mailbox = Mailbox()
    controller = ClientController(
        connection_of(options, mine, mailbox, first_ms=FIRST_MS, later_ms=None),
        seek_of(options),
        address_of(options),
        opening_of(options),
        **player_arguments(options, mine),
        is_first_match_of=is_first_match_of,
        keep_achievements=save_achievements,
    )
    display = replace(controller.display, has_server_picker=options.has_server_picker, achieved=load_achievements())
    controller.display = display
    await show(options, canvas, controller, mailbox)
    return ending_of(controller.display, options)
