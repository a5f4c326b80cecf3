"""Play as bots on a server: with a strategy, or with external engines.

Each engine is an ordinary bot with its own name, connection and program.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ttt_net.client.bot.bot_log import BotReporter, score
from ttt_net.client.bot.engine_process import EngineProcess, knows_game, playable_games, require
from ttt_net.client.mailbox import MAX_QUEUED_EVENTS, Event, Mailbox, delivered
from ttt_net.client.options import EngineOptions, Options
from ttt_net.client.server_link import FIRST_MS, LATER_MS, connection_of
from ttt_net.client.user_io import Ending, writer_of
from ttt_net.clock import TimeControl, time_of
from ttt_net.engines.external import as_word
from ttt_net.engines.settings import EngineSettings, Seat, forty_moves_ms, read_engines
from ttt_net.errors import Code, ConfigurationError, Refusal
from ttt_net.games.catalogue import NAMES
from ttt_net.messages import Challenged, DeclineReason, Opponents, SeekRequest
from ttt_net.names import fitting_name
from ttt_net.sdk import identity
from ttt_net.sdk.bots import Bot, BotPlan
from ttt_net.sdk.client_connection import ClientConnection, ReconnectLimits
from ttt_net.sdk.client_session import BotProfile, ClientSession
from ttt_net.sdk.identity import Identity
from ttt_net.sdk.received import Farewell, Parting, Stop, Tally
from ttt_net.sdk.trust import Trust

_NAMELESS = "engine"


@dataclass(frozen=True, slots=True)
class ChallengeFilter:
    """Which challenges in its games a bot accepts: by clock, rated or casual, and by opponent."""

    least_ms: int = 0
    """The minimal and maximal time of a side for forty moves."""
    most_ms: int | None = None
    untimed: bool = True
    rated: bool | None = None
    lowest: int = 0
    highest: int = 5000
    never: frozenset[str] = frozenset()
    """Names in lower case."""

    def objection(self, challenged: Challenged) -> DeclineReason | None:
        """Return why the bot declines a challenge, or None if it accepts."""
        by, time = challenged.by, challenged.time
        if time is None:
            fits = self.untimed
        else:
            fits = self.least_ms <= forty_moves_ms(time) <= (self.most_ms or forty_moves_ms(time))
        if not fits:
            return "another_time"
        is_welcome = by.rating is None or self.lowest <= by.rating <= self.highest
        is_welcome = is_welcome and by.name.casefold() not in self.never
        return None if is_welcome and self.rated in (None, challenged.rated) else "generic"


@dataclass(frozen=True, slots=True)
class SeatsOrder:
    """Where the engines play, and for how long."""

    url: str
    server: str
    """The server as identities know it."""
    trust: Trust
    games: int | None = None
    """After how many games each engine leaves; None: never."""
    game: str | None = None
    """The one game that all engines play; None: all that they can."""
    time: TimeControl | None = None
    """The clock for engines whose settings name none."""
    limits: tuple[int | None, int | None] = (None, None)
    """For how many milliseconds to retry a server that was never reached, and one that dropped; None: forever."""
    seed: int | None = None
    tournament: str | None = None
    """The code of the tournament in which they all play; None: they play anybody who wants to."""


def engine_of(command: str, seat: Mapping[str, object], **settings: object) -> EngineSettings:
    """Return the engine that a command starts, with these settings and this seat; None omits a setting.

    Raises `ConfigurationError` if the command is invalid.
    """
    given = {"command": command, **settings, "seat": {key: value for key, value in seat.items() if value is not None}}
    try:
        return msgspec.convert({key: value for key, value in given.items() if value is not None}, EngineSettings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"--engine: {error}") from None


def games_of(settings: EngineSettings, game: str | None) -> list[str]:
    """Start an engine and return the games that it seeks; empty means all.

    Raises `ConfigurationError` if the engine cannot be started or plays none of the requested games.
    """
    if game is not None:
        require(as_word(settings), settings.seat.level, game)
        return [game]
    return playable_games(as_word(settings), settings.seat.level)


def engines_in(file: str) -> list[EngineSettings]:
    """Return the engines of a file. Raises `ConfigurationError` if the file is invalid."""
    return read_engines(Path(file))


async def play_seats(
    order: SeatsOrder,
    engines: Sequence[EngineSettings],
    write: Callable[[str], None],
    mailbox: asyncio.Queue[Event],
) -> tuple[Farewell | None, Tally]:
    """Run all engines until each has left, or `Stop` arrives in the mailbox.

    Returns the first farewell that no engine asked for, and the total of wins and losses. Raises `ConfigurationError`
    before connecting if an engine cannot be started.
    """
    games = [await asyncio.to_thread(games_of, each, order.game) for each in engines]
    seats = [
        _Seat(order, each, playable, write, is_one_of_many=len(engines) > 1)
        for each, playable in zip(engines, games, strict=True)
    ]
    async with asyncio.TaskGroup() as group:
        stopping = group.create_task(_stop_all(seats, mailbox))
        playing = [group.create_task(seat.play()) for seat in seats]
        await asyncio.wait(playing)
        stopping.cancel()
    tallies = [seat.tally for seat in seats]
    won, drawn, lost = (sum(getattr(each, what) for each in tallies) for what in ("won", "drawn", "lost"))
    farewells = [seat.farewell for seat in seats if seat.farewell is not None]
    return next((each for each in farewells if each.why is not Parting.DONE), None), Tally(won, drawn, lost)


async def _stop_all(seats: Sequence["_Seat"], mailbox: asyncio.Queue[Event]) -> None:
    while not isinstance(await mailbox.get(), Stop):
        pass
    for seat in seats:
        seat.mailbox.put_nowait(Stop())


class _Seat:
    """One engine on one server."""

    def __init__(
        self,
        order: SeatsOrder,
        settings: EngineSettings,
        games: list[str],
        write: Callable[[str], None],
        *,
        is_one_of_many: bool,
    ) -> None:
        self.farewell: Farewell | None = None
        self.tally = Tally()
        self.mailbox: asyncio.Queue[Event] = asyncio.Queue(MAX_QUEUED_EVENTS)
        self._order, self._settings, self._games = order, settings, games
        self._label, self._is_one_of_many = settings.title, is_one_of_many
        self._write = (lambda text: write(f"{self._label}: {text}")) if is_one_of_many else write

    async def play(self) -> None:
        """Play under the engine's name, or under a free one."""
        taken, settings = set[str](), self._settings
        while True:
            with _identity(self._order.server, fitting_name(self._label) or _NAMELESS, taken) as mine:
                engine = EngineProcess(as_word(settings), self._order.seed, settings.seat.level, self._games)
                bot = self._bot(mine, engine)
                async with engine.started(self._write):
                    await bot.play(self.mailbox)
            self.farewell, self.tally = bot.farewell, bot.tally
            if self.farewell is None or self.farewell.code != Code.NAME_TAKEN:
                break
            taken.add(mine.name)
        if self._is_one_of_many and self.tally.games:
            self._write(f"Played {self.tally.games} game{'s' * (self.tally.games != 1)}: {score(self.tally)}.")

    def _bot(self, mine: identity.Identity, engine: EngineProcess) -> Bot:
        seat, order = self._settings.seat, self._order
        profile = BotProfile(
            self._label[:80], seat.level, seat.places, min(seat.reserve, seat.places), about=seat.about
        )
        connection = ClientConnection(
            order.url,
            ClientSession(mine.name, mine.token(), profile),
            self.mailbox.put,
            ReconnectLimits(*order.limits),
            mine.keeping(self._write),
            trust=order.trust,
        )
        plan = BotPlan(
            SeekRequest(0, self._games, time_of(seat.time) if seat.time else order.time, seat.opponents),
            order.games,
            seat.move_ms,
            seat.places,
            pace_s=seat.pace_ms / 1000,
            knows=knows_game(as_word(self._settings), seat.level),
            known=NAMES,
            objects=_filter(seat).objection,
            tournament=order.tournament,
        )
        log = BotReporter(order.url, self._write)
        return Bot(connection, engine.choose, plan, self._write, noticed=log.notice)


@contextmanager
def _identity(server: str, name: str, taken: set[str]) -> Iterator[identity.Identity]:
    mine = identity.take_numbered(server, name, frozenset(taken))
    try:
        yield mine
    finally:
        mine.release()


def _filter(seat: Seat) -> ChallengeFilter:
    shortest, longest = (time_of(text) if text else None for text in (seat.shortest, seat.longest))
    return ChallengeFilter(
        0 if shortest is None else forty_moves_ms(shortest),
        None if longest is None else forty_moves_ms(longest),
        seat.untimed,
        seat.rated,
        seat.lowest_rating,
        seat.highest_rating,
        frozenset(name.casefold() for name in seat.never),
    )


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
