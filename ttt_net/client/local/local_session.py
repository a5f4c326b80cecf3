"""Play at this keyboard: one or two people, or strategies that a person watches; no server is needed."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ttt_net.client import json_lines
from ttt_net.client.bot.bot_log import BotLog
from ttt_net.client.client_controller import ClientController, Controller
from ttt_net.client.commands import Send
from ttt_net.client.events import Event, Stop, TerminalEvent
from ttt_net.client.finding.address import AT_HOME
from ttt_net.client.local.local_connection import LocalConnection, Others, Series, now_ms
from ttt_net.client.local.local_matches import Seating
from ttt_net.client.mailbox import Mailbox, delivered
from ttt_net.client.options import Options
from ttt_net.client.progress import Achievements, is_first_match_of, load_achievements, save_achievements
from ttt_net.client.user_io import Ending, json_writer_of, writer_of
from ttt_net.client.world import LinkState, World, update_world
from ttt_net.messages import Notice, PlayerInfo, SeekRequest, WatchRequest
from ttt_net.sdk.received import Farewell

_PAUSE_S = 1.5
"""How long the end of their game stays to be seen before the next."""
Show = Callable[[Controller, asyncio.Queue[Event]], Awaitable[None]]
"""Shows what a controller displays, on the screen or line by line, until it is done."""


def play(options: Options, others: Others | None, show: Show, *, is_on_screen: bool) -> Ending:
    """Let those play who were asked for; `others` plays for strategies. Of two of these, lines tell only the ends."""
    local = options.local
    assert local is not None
    if local.people:
        return asyncio.run(_play(options, others, show, is_on_screen=is_on_screen))
    return asyncio.run(_look_on(options, others, show) if is_on_screen else _tell(options, others))


async def _play(options: Options, others: Others | None, show: Show, *, is_on_screen: bool) -> Ending:
    """Let one or two people play."""
    mailbox = Mailbox()
    seating = _seating(options, others)
    series = Series(None if is_on_screen else options.games)
    is_read = sys.stdin.isatty() and sys.stdout.isatty() and not options.is_json
    connection = LocalConnection(seating, series, mailbox.put, _tap(options), others)
    connection.begin()
    controller = ClientController(
        connection,
        SeekRequest(0, [seating.game], seating.time),
        AT_HOME,
        is_in_lines=not is_on_screen,
        is_seeking=False,
        is_shared=seating.is_shared,
        is_first_match_of=is_first_match_of if is_read else None,
        keep_achievements=save_achievements if is_read else None,
    )
    world = replace(controller.display.world, link=LinkState.ONLINE)
    controller.display = replace(
        controller.display,
        world=world,
        is_arriving=True,
        has_server_picker=options.has_server_picker,
        achieved=load_achievements() if is_read else Achievements(),
    )
    await show(controller, mailbox)
    display = controller.display
    return Ending(display.world.farewell, tally=display.world.tally, is_going_back=display.is_going_back)


async def _look_on(options: Options, others: Others | None, show: Show) -> Ending:
    """Let strategies play before a person who looks on; the end of the last game stays until they leave."""
    mailbox = Mailbox()
    series = Series(options.games or 1, _PAUSE_S, is_seen_at_leisure=True)
    connection = LocalConnection(
        replace(_seating(options, others), has_onlooker=True), series, mailbox.put, None, others
    )
    controller = ClientController(connection, SeekRequest(0), AT_HOME, is_seeking=False)
    controller.display = replace(controller.display, has_server_picker=options.has_server_picker)
    connection.began = lambda match: controller.do(Send(WatchRequest(0, match=match)))
    connection.begin()
    await show(controller, mailbox)
    return Ending(controller.display.world.farewell, is_going_back=controller.display.is_going_back)


async def _tell(options: Options, others: Others | None) -> Ending:
    """Let strategies play, and tell of each game who plays and how it ends, or as JSON all that X hears."""
    mailbox = Mailbox()
    connection = LocalConnection(
        _seating(options, others), Series(options.games or 1), mailbox.put, _tap(options), others
    )
    connection.begin()
    log, write, world = BotLog(is_for_onlookers=True), writer_of(options), World()
    with delivered(mailbox):
        async with asyncio.TaskGroup() as group:
            playing = group.create_task(connection.run())
            while not isinstance(event := await mailbox.get(), Stop | Farewell):
                if isinstance(event, TerminalEvent):
                    continue
                before, world = world, update_world(world, event, now_ms())
                if said := event.text if isinstance(event, Notice) else log.line_of(event, before, world, now_ms()):
                    write(said)
            playing.cancel()
    return Ending(None, tally=world.tally)


def _seating(options: Options, others: Others | None) -> Seating:
    local = options.local
    assert local is not None
    labels = others.labels if others is not None else {}
    first, second = (
        PlayerInfo(name, labels[side], options.level) if side in labels else PlayerInfo(name)
        for side, name in enumerate(local.names)
    )
    return Seating(local.game, (first, second), options.time, local.start)


def _tap(options: Options) -> Callable[[str], None] | None:
    return json_lines.tap_of(json_writer_of(options))
