"""Answer questions in the engine's process: a line of JSON in, a line of JSON out, until the input ends.

`python -m ttt_net.client.bot.engine_worker STRATEGY SEED LEVEL [GAME...]`; the strategy may be `engine:COMMAND`.
Since it ends with its input, it never outlives the bot that started it, whatever killed that.
"""

import json
import sys
from contextlib import suppress
from typing import NamedTuple

from ttt_net.engines.external import ENGINE, find_player, settings_of
from ttt_net.errors import ConfigurationError, TttNetError
from ttt_net.games import find_game
from ttt_net.games.catalogue import NAMES
from ttt_net.games.notation import read_start
from ttt_net.strategies import Limit, Strategy
from ttt_net.strategies.engine import is_cold, warm
from ttt_net.strategies.strategy import is_decided

COMPILED = ("alphabeta", "mcts")
"""The strategies that have compiled searches; loading them takes a while, compiling them the first time longer."""


CLEARLY_AHEAD = 50
"""An estimate of so much counts as half a win, as in a review; with it no draw is accepted."""


class Question(NamedTuple):
    """A position as the moves that lead to it, and how long to think."""

    game: str
    moves: list[int]
    ms: int
    start: str | None = None
    """The position before the first move, if it is not the usual one."""
    level: int | None = None
    """The level to play at, if it is not the one that the process was started with."""


class Thought(NamedTuple):
    """The move to make, or the objection that there is to all of them; and whether we win, or are clearly ahead."""

    move: int | None
    is_winning: bool = False
    objection: str = ""


def playable_games(strategy: str, level: int | None = None) -> list[str]:
    """Return the games to seek for a strategy: none, which means any, if it plays all that have a name.

    Of an engine that names games they are those, however they are named. Raises `ConfigurationError` if the
    strategy or level is unknown, or an engine plays nothing of what it is to play.
    """
    engine = find_player(strategy, level=level)
    named = settings_of(strategy).games if strategy.startswith(ENGINE) else []
    objections = {name: engine.objection(find_game(name)) for name in named or NAMES}
    playable = [name for name, objection in objections.items() if objection is None]
    if not playable:
        raise ConfigurationError(next(filter(None, objections.values())))
    return [] if not named and len(playable) == len(NAMES) else playable


def label_of(strategy: str) -> str:
    """Return what a strategy is called before others: an engine by its title."""
    return settings_of(strategy).title[:80] if strategy.startswith(ENGINE) else strategy


def require(strategy: str, level: int | None, game: str) -> None:
    """Raise `ConfigurationError` unless there is such a strategy, and it plays the game."""
    objection = find_player(strategy, level=level).objection(find_game(game))
    if objection is not None:
        raise ConfigurationError(objection)


def main(arguments: list[str]) -> int:
    """Answer questions until the input ends.

    The first line out says that all is ready, and whether searches are yet to be compiled.
    """
    name, seed, level, *games = arguments
    usual = int(level) if level else None
    strategies = {usual: find_player(name, seed=int(seed) if seed else None, level=usual)}
    if name.startswith(ENGINE):
        with suppress(ConfigurationError):  # what is wrong with it is said when it is asked
            strategies[usual].objection(find_game(games[0] if games else NAMES[0]))  # started before anybody waits
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
    """Return what the strategy makes of the position."""
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
