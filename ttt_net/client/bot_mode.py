"""Play as a bot on a server, with a built-in strategy or with external engines."""

import asyncio
from contextlib import suppress

from ttt_net.client.bot.bot_log import BotReporter, score
from ttt_net.client.bot.engine_process import EngineProcess, knows_game, playable_games, require
from ttt_net.client.bot.seats import SeatsOrder, engine_of, engines_in, play_seats
from ttt_net.client.mailbox import Mailbox, delivered
from ttt_net.client.options import EngineOptions, Options
from ttt_net.client.server_link import FIRST_MS, LATER_MS, connection_of
from ttt_net.client.user_io import Ending, writer_of
from ttt_net.errors import Refusal
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import Opponents, SeekRequest
from ttt_net.sdk.bots import Bot, BotPlan
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.received import Farewell, Tally

_HINT = "It plays only people; use --opponents any for bots too."


def check(name: str, level: int | None) -> None:
    """Raise `ConfigurationError` for an unknown strategy or level."""
    playable_games(name, level)


def play(options: Options, mine: Identity) -> Ending:
    """Run a bot with a strategy."""
    return asyncio.run(_play(options, mine))


async def _play(options: Options, mine: Identity) -> Ending:
    assert options.bot is not None
    if options.game is not None:
        with suppress(Refusal):  # the server rejects a game that nobody knows
            require(options.bot, options.level, options.game)
    is_endless = options.games is None
    games = [options.game] if options.game else playable_games(options.bot, options.level)
    plan = BotPlan(
        SeekRequest(0, games, options.time, _opponents_of(options)),
        options.games,
        options.move_ms,
        options.places,
        pace_s=options.pace_ms / 1000,
        knows=knows_game(options.bot, options.level),
        known=NAMES,
        tournament=options.join,
    )
    mailbox = Mailbox()
    with delivered(mailbox):
        patience = (None, None) if is_endless else (FIRST_MS, LATER_MS)
        connection = connection_of(options, mine, mailbox, first_ms=patience[0], later_ms=patience[1])
        engine = EngineProcess(options.bot, options.seed, options.level, games)
        hint = _HINT if is_endless and options.opponents is None and options.join is None else ""
        write = writer_of(options)
        bot = Bot(connection, engine.choose, plan, write, noticed=BotReporter(options.url, write, hint).notice)
        async with engine.started(write):
            await bot.play(mailbox)
    return _ending(bot.farewell, bot.tally)


def play_engines(options: Options, engines: EngineOptions) -> Ending:
    """Run the engine of a command, or the engines of a file, until they are done."""
    return asyncio.run(_play_engines(options, engines))


async def _play_engines(options: Options, engines: EngineOptions) -> Ending:
    limits = (None, None) if options.games is None else (FIRST_MS, LATER_MS)
    order = SeatsOrder(
        options.url,
        options.server,
        options.trust,
        options.games,
        options.game,
        options.time,
        limits,
        options.seed,
        tournament=options.join,
    )
    if engines.file is not None:
        wanted = engines_in(engines.file)
    else:
        assert engines.command is not None
        seat = _seat(options)
        wanted = [engine_of(engines.command, seat, name=options.name, protocol=engines.protocol, log=engines.log)]
    mailbox = Mailbox()
    with delivered(mailbox):
        farewell, tally = await play_seats(order, wanted, writer_of(options), mailbox)
    return _ending(farewell, tally)


def _seat(options: Options) -> dict[str, object]:
    """Return the seat that the command line describes for a single engine."""
    return {
        "level": options.level,
        "places": options.places,
        "reserve": options.reserve,
        "move_ms": options.move_ms,
        "pace_ms": options.pace_ms,
        "opponents": _opponents_of(options),
    }


def _opponents_of(options: Options) -> Opponents:
    """Return the opponents to seek: people, if the bot plays without end and the options name nobody else."""
    return options.opponents or ("people" if options.games is None else "any")


def _ending(farewell: Farewell | None, tally: Tally) -> Ending:
    return Ending(farewell, f"Played {tally.games} game{'s' * (tally.games != 1)}: {score(tally)}.", tally=tally)
