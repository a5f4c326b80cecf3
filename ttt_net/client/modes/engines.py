"""Play as programs of others on a server."""

import asyncio

from ttt_net.client.bot.bot_log import score
from ttt_net.client.bot.seats import SeatsOrder, engine_of, engines_in, play_seats
from ttt_net.client.command_line.bot import EngineOptions
from ttt_net.client.command_line.options import Options
from ttt_net.client.ending import Ending
from ttt_net.client.events import MAX_QUEUED_EVENTS, Event
from ttt_net.client.modes.build import FIRST_MS, LATER_MS
from ttt_net.client.signals import delivered
from ttt_net.client.user_io import writer_of


def play(options: Options, engines: EngineOptions) -> Ending:
    """Let the engine of a command, or those of a file, play until they are done."""
    return asyncio.run(_play(options, engines))


async def _play(options: Options, engines: EngineOptions) -> Ending:
    limits = (None, None) if options.games is None else (FIRST_MS, LATER_MS)
    order = SeatsOrder(
        options.url, options.server, options.trust, options.games, options.game, options.time, limits, options.seed
    )
    if engines.file is not None:
        wanted = engines_in(engines.file)
    else:
        assert engines.command is not None
        seat = _seat(options)
        wanted = [engine_of(engines.command, seat, name=options.name, protocol=engines.protocol, log=engines.log)]
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox):
        farewell, tally = await play_seats(order, wanted, writer_of(options), mailbox)
    sentence = f"Played {tally.games} game{'s' * (tally.games != 1)}: {score(tally)}."
    return Ending(farewell, sentence, tally=tally)


def _seat(options: Options) -> dict[str, object]:
    """Return how the one engine plays that the command line is about."""
    return {
        "level": options.level,
        "places": options.places,
        "reserve": options.reserve,
        "move_ms": options.move_ms,
        "pace_ms": options.pace_ms,
        "opponents": options.opponents or ("people" if options.games is None else "any"),
    }
