"""An engine as a strategy: `(game, state, limit) -> choice`, so it plays wherever one of ours does.

One that crashes, hangs or says nonsense is started again and asked once more; if that fails too, `EngineError` says
why, and the side that asked gives the game up.
"""

import json
import random
import time
import weakref
from collections.abc import Hashable
from typing import Any

import msgspec

from ttt_net.engines.dialects import Dialect, LineDialect, PiskvorkDialect, Told
from ttt_net.engines.program import EngineLog, EngineProgram
from ttt_net.engines.settings import EngineSettings, opening_of, plays
from ttt_net.errors import ConfigurationError, EngineError
from ttt_net.games import Game, Move
from ttt_net.games.swap import SwapGame
from ttt_net.strategies import Choice, Counts, Limit, Strategy, find_strategy
from ttt_net.strategies.level import Levelled
from ttt_net.strategies.strategy import ONE_SECOND, S, beneath, is_first, may_swap, require_playable

ENGINE = "engine:"
"""The prefix of a command, or of settings as JSON, where a strategy's name is expected."""
_STARTS = 2
"""How often an engine is asked for one move."""


class ExternalEngine:
    """A program of others; it is started when it is first needed, and ends with this object or this process.

    Where a first move may be taken over, and it does not say that it knows that rule, `alphabeta` makes that choice.
    """

    def __init__(self, settings: EngineSettings, rng: random.Random) -> None:
        self.name = settings.title
        self.idea = "a program of somebody else"
        self._settings, self._rng = settings, rng
        self._log = EngineLog(settings.log)
        self._swapper = find_strategy("alphabeta", seed=rng.getrandbits(32))
        self._openings = _openings(settings)
        self._running: tuple[EngineProgram, Dialect] | None = None
        self._end: weakref.finalize[..., Any] | None = None

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it does not play a game; it is started for that. Raises `ConfigurationError` if it cannot be."""
        if not plays(self._settings, game):
            return f"{self.name} is not to play {game.name}"
        try:
            reason = self._objection(self._dialect(), game)
        except EngineError as error:
            self.close()
            raise ConfigurationError(f"the engine {self.name}: {error}") from None
        self._rest()
        return None if reason is None else f"{self.name}: {reason}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return its choice, from its openings if it has the position there. Raises `EngineError` if it has none."""
        require_playable(self, game, state)
        begun_s = time.monotonic()
        if moves := self._openings.get((game.name, state)):
            move = self._rng.choice(moves)
            return Choice(move, None, (move,), Counts())
        if is_first(state) or may_swap(state):
            if not self._knows(game):
                return self._swapper(game, state, limit)
            told = self._told(game, state, limit)
        else:
            told = self._told(*beneath(game, state), limit)
        counts = Counts(ms=(time.monotonic() - begun_s) * 1000)
        return Choice(told.move, told.value, (told.move,), counts)

    def close(self) -> None:
        """End its program; a later question starts it again."""
        if self._end is not None:
            self._end()
        self._running = None

    def _told(self, game: Game[S], state: S, limit: Limit) -> Told:
        faults: list[str] = []
        for _ in range(_STARTS):
            try:
                told = self._dialect().ask(game, state, limit)
            except EngineError as error:
                self._log.write("#", str(error))
                self.close()
                faults.append(str(error))
            else:
                self._rest()
                return told
        raise EngineError(f"the engine {self.name} {'; started again, it '.join(faults)}")

    def _knows(self, game: Game[Any]) -> bool:
        """Tell whether it plays the very game, its swap included; one that cannot be asked does not."""
        try:
            return self._dialect().objection(game) is None
        except EngineError:
            self.close()
            return False

    def _dialect(self) -> Dialect:
        """Return how to speak with the running engine, which is started if it is not."""
        if self._running is None:
            program = EngineProgram(self._settings, self._log)
            speaks: type[LineDialect | PiskvorkDialect] = (
                PiskvorkDialect if self._settings.speaks == "piskvork" else LineDialect
            )
            self._end = weakref.finalize(self, program.stop, speaks.farewell)
            dialect: Dialect = speaks(program, self._settings)
            self._running = program, dialect
            dialect.greet()
        self._running[0].wake()
        return self._running[1]

    def _rest(self) -> None:
        if self._running is not None:
            self._running[0].rest()

    def _objection(self, dialect: Dialect, game: Game[Any]) -> str | None:
        reason = dialect.objection(game)
        return dialect.objection(game.base) if reason and isinstance(game, SwapGame) else reason


def _openings(settings: EngineSettings) -> dict[tuple[str, Hashable], list[Move]]:
    """Return the moves of all lines of opening, by game and position."""
    known: dict[tuple[str, Hashable], list[Move]] = {}
    for line in settings.openings:
        game, moves = opening_of(line)
        state: Any = game.initial
        for move in moves:
            known.setdefault((game.name, state), []).append(move)
            state = game.result(state, move)
    return known


def as_word(settings: EngineSettings) -> str:
    """Return what stands for an engine in the place of a strategy's name."""
    return ENGINE + json.dumps(msgspec.to_builtins(settings))


def settings_of(word: str) -> EngineSettings:
    """Return the settings that such a word holds, or those of a bare command."""
    text = word.removeprefix(ENGINE).strip()
    try:
        if text.startswith("{"):
            return msgspec.json.decode(text, type=EngineSettings)
        return msgspec.convert({"command": text}, EngineSettings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"engine: {error}") from None


def find_player(name: str, *, seed: int | None = None, level: int | None = None) -> Strategy:
    """Return the strategy of that name, or the engine that `engine:COMMAND` starts.

    Raises `ConfigurationError` if it is neither.
    """
    if not name.startswith(ENGINE):
        return find_strategy(name, seed=seed, level=level)
    rng = random.Random(seed)
    engine = ExternalEngine(settings_of(name), rng)
    return engine if level is None else Levelled(engine, level, rng)
