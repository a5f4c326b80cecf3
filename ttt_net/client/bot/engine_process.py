"""Run a strategy in a separate process. A search holds the interpreter's lock, so a thread would block the client.

`python -m ttt_net.client.bot.engine_process STRATEGY SEED LEVEL [GAME...]` reads a question as a line of JSON and
writes the answer as a line of JSON; the strategy may be `engine:COMMAND`. The process ends when its input ends, so it
never outlives the bot that started it.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from ttt_net.command_line import beside_us
from ttt_net.engines.external import ENGINE, find_player, settings_of
from ttt_net.errors import ConfigurationError, Refusal, TttNetError
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.notation import read_start
from ttt_net.sdk.bots import Thought, Turn
from ttt_net.strategies import Limit, Strategy
from ttt_net.strategies.engine import is_cold, warm
from ttt_net.strategies.strategy import is_decided

COMPILED = ("alphabeta", "mcts")
"""The strategies that have compiled searches.

Loading these takes a while, and compiling them the first time takes longer.
"""
CLEARLY_AHEAD = 50
"""The estimate that counts as half a win, as in a review. From this value on, the strategy declines a draw."""


class Question(NamedTuple):
    """A position as the moves to it, and the time to think."""

    game: str
    moves: list[int]
    ms: int
    start: str | None = None
    """The starting position, if it is not the usual one."""
    level: int | None = None
    """The level to play at, if it differs from the one that the process was started with."""


def question_of(turn: Turn, *, any_level: bool = False) -> Question:
    """Return the question of a turn; with `any_level`, ask for the level of the match."""
    match = turn.match
    return Question(turn.game.name, list(match.moves), turn.ms, match.start, match.level if any_level else None)


def playable_games(strategy: str, level: int | None = None) -> list[str]:
    """Return the games to seek for a strategy: empty, which means any, if it plays all named games.

    For an engine that lists its games, return that list. Raises `ConfigurationError` if the strategy or level is
    unknown, or if an engine plays none of the requested games.
    """
    engine = find_player(strategy, level=level)
    named = settings_of(strategy).games if strategy.startswith(ENGINE) else []
    objections = {name: engine.objection(find_game(name)) for name in named or NAMES}
    playable = [name for name, objection in objections.items() if objection is None]
    if not playable:
        raise ConfigurationError(next(filter(None, objections.values())))
    return [] if not named and len(playable) == len(NAMES) else playable


def knows_game(strategy: str, level: int | None = None) -> Callable[[str], bool]:
    """Return the function that tells whether a strategy can play a game, including games of installed packages."""
    engine = find_player(strategy, level=level)

    def knows(game: str) -> bool:
        try:
            return engine.objection(find_game(game)) is None
        except Refusal:
            return False

    return knows


def label_of(strategy: str) -> str:
    """Return the name of a strategy as shown to others: for an engine, its title."""
    return settings_of(strategy).title[:80] if strategy.startswith(ENGINE) else strategy


def require(strategy: str, level: int | None, game: str) -> None:
    """Raise `ConfigurationError` unless the strategy exists and plays the game."""
    objection = find_player(strategy, level=level).objection(find_game(game))
    if objection is not None:
        raise ConfigurationError(objection)


START_TIMEOUT_S = 20.0
WARMING = (
    "Warming up: the engine is being compiled, once, which takes 10 to 30 s; until then moves are found without it."
)
GRACE_S = 10.0
"""How much longer than its thinking time an engine may take to answer on a busy machine."""
_LEAVE_S = 1.0
"""How long a process may take to end an external program that it has started."""
_MAX_ANSWER_BYTES = 65_536


class EngineProcess:
    """The parent's side of a thinking process."""

    def __init__(
        self, strategy: str, seed: int | None = None, level: int | None = None, games: Sequence[str] = ()
    ) -> None:
        """`games` are the games that questions may be about (empty: all); their searches are loaded in advance."""
        self._arguments = [strategy, *("" if number is None else str(number) for number in (seed, level)), *games]
        self._start_s, self._grace_s = START_TIMEOUT_S, GRACE_S
        self._has_child = strategy.startswith(ENGINE)
        self._tries = 2 if self._has_child else 1
        if self._has_child:  # the process may have to wait for an external program, or restart it
            settings = settings_of(strategy)
            self._start_s += settings.start_ms / 1000
            self._grace_s += 2 * (settings.start_ms + settings.overtime_ms) / 1000
        self.is_warming = False
        """Whether the process is compiling its searches; until that is done, it plays without them."""
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Start the process and wait until it is ready, so that no opponent has to wait."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ttt_net.client.bot.engine_process",
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=beside_us(os.environ),
            limit=_MAX_ANSWER_BYTES,
            start_new_session=True,  # Ctrl-C ends the bot, which then ends the engine
        )
        (self.is_warming,) = await self._answer(self._start_s)

    @asynccontextmanager
    async def started(self, write: Callable[[str], None]) -> AsyncIterator[None]:
        """Run the process inside the block; call `write` with a line if its searches must be compiled first."""
        try:
            await self.start()
            if self.is_warming:
                write(WARMING)
            yield
        finally:
            await self.stop()

    async def choose(self, turn: Turn, *, any_level: bool = False) -> Thought:
        """Return the move that the strategy chooses for a turn. Raises as `think` does."""
        return await self.think(question_of(turn, any_level=any_level))

    async def think(self, question: Question) -> Thought:
        """Return the strategy's answer, one question at a time; restart a process that died or hangs.

        Raises `OSError`, `EOFError` or `TimeoutError` if the restarted process fails too.
        """
        async with self._turn:
            for is_last in (False, True):
                try:
                    if self._process is None:
                        await self.start()
                    return await self._ask(question)
                except (OSError, EOFError, TimeoutError):
                    await self.stop()
                    if is_last:
                        raise
        raise AssertionError("unreachable")

    async def _ask(self, question: Question) -> Thought:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        async with asyncio.timeout(GRACE_S):
            await self._process.stdin.drain()
        return Thought(*await self._answer(self._tries * question.ms / 1000 + self._grace_s))

    async def _answer(self, timeout_s: float) -> list[Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        async with asyncio.timeout(timeout_s):
            line = await self._process.stdout.readline()
        if not line:
            raise EOFError("the thinking process ended")
        answer = json.loads(line)
        assert isinstance(answer, list)
        return answer

    async def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            if self._has_child:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LEAVE_S):
                        await process.wait()  # it ends its own external program first
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            ending = asyncio.ensure_future(process.wait())
            try:
                async with asyncio.timeout(GRACE_S):
                    await asyncio.shield(ending)
            except asyncio.CancelledError:
                await ending  # it was killed: reap it, and close its pipes
                raise


def main(arguments: list[str]) -> int:
    """Answer questions until the input ends.

    The first line of the output says that the process is ready, and whether searches still have to be compiled.
    """
    name, seed, level, *games = arguments
    usual = int(level) if level else None
    strategies = {usual: find_player(name, seed=int(seed) if seed else None, level=usual)}
    if name.startswith(ENGINE):
        with suppress(ConfigurationError):  # the error is reported with the first question
            strategies[usual].objection(find_game(games[0] if games else NAMES[0]))  # starts it before anybody waits
    print(json.dumps([name in COMPILED and is_cold()]), flush=True)
    if name in COMPILED:
        for game in games or NAMES:
            warm(find_game(game))
    for line in sys.stdin:
        question = Question(*json.loads(line))
        wanted = usual if question.level is None else question.level
        if wanted not in strategies:
            strategies[wanted] = find_player(name, seed=int(seed) if seed else None, level=wanted)
        print(json.dumps(answer(strategies[wanted], question)), flush=True)
    return 0


def answer(strategy: Strategy, question: Question) -> Thought:
    """Return the strategy's answer for the position."""
    try:
        game = find_game(question.game)
        state = game.initial if question.start is None else read_start(game, question.start)
        for move in question.moves:
            state = game.result(state, move)
        choice = strategy(game, state, Limit(ms=question.ms))
    except TttNetError as error:
        return Thought(None, objection=str(error))
    value = choice.value or 0
    return Thought(choice.move, value > 0 and (is_decided(value) or value >= CLEARLY_AHEAD))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
