"""Play as a bot on a server."""

import asyncio
from contextlib import suppress

from ttt_net.client.bot.bot_log import score
from ttt_net.client.bot.engine_process import EngineProcess
from ttt_net.client.bot.engine_worker import playable_games, require
from ttt_net.client.bot.plan import BotPlan
from ttt_net.client.bot.player import Bot
from ttt_net.client.command_line.options import Options
from ttt_net.client.ending import Ending
from ttt_net.client.events import MAX_QUEUED_EVENTS, Event
from ttt_net.client.modes.build import FIRST_MS, LATER_MS, connection_of
from ttt_net.client.signals import delivered
from ttt_net.client.user_io import writer_of
from ttt_net.errors import Refusal
from ttt_net.messages import Opponents, SeekRequest
from ttt_net.sdk.identity import Identity

_HINT = "It plays people only; --opponents any lets it play bots, too."


def check(name: str, level: int | None) -> None:
    """Raise `ConfigurationError` for a strategy or a level that there is not."""
    playable_games(name, level)


def play(options: Options, mine: Identity) -> Ending:
    """Let a strategy play."""
    return asyncio.run(_play(options, mine))


async def _play(options: Options, mine: Identity) -> Ending:
    assert options.bot is not None
    if options.game is not None:
        with suppress(Refusal):  # a game that only the server knows is refused there
            require(options.bot, options.level, options.game)
    is_endless = options.games is None
    opponents: Opponents = options.opponents or ("people" if is_endless else "any")
    games = [options.game] if options.game else playable_games(options.bot, options.level)
    plan = BotPlan(
        SeekRequest(0, games, options.time, opponents),
        options.games,
        options.move_ms,
        options.places,
        hint=_HINT if is_endless and options.opponents is None else "",
        pace_s=options.pace_ms / 1000,
    )
    mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
    with delivered(mailbox):
        patience = (None, None) if is_endless else (FIRST_MS, LATER_MS)
        connection = connection_of(options, mine, mailbox, first_ms=patience[0], later_ms=patience[1])
        engine = EngineProcess(options.bot, options.seed, options.level, games)
        bot = Bot(connection, engine, plan, writer_of(options))
        await bot.play(mailbox)
    tally = bot.world.tally
    sentence = f"Played {tally.games} game{'s' * (tally.games != 1)}: {score(tally)}."
    return Ending(bot.world.farewell, sentence, tally=tally)
