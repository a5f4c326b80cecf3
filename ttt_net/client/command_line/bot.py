"""Read and check the options of strategies that play, as a bot on a server or at this keyboard."""

import argparse
from dataclasses import dataclass

from ttt_net.client.command_line.local import HUMAN
from ttt_net.client.command_line.parser import whole_number
from ttt_net.client.finding.address import MAX_LEVEL
from ttt_net.errors import ConfigurationError

DEFAULT_MOVE_MS = 1000
DEFAULT_PLACES, MAX_PLACES = 4, 20
MAX_MOVE_MS = 600_000
MAX_PACE_MS = 10_000
_OF_STRATEGIES = ("level", "move_time", "seed")
_OF_BOTS = ("places", "reserve", "pace")


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Which programs of others play: one by its command, or those of a file."""

    command: str | None = None
    file: str | None = None
    protocol: str | None = None
    log: str | None = None


def add_engines(group: argparse._ArgumentGroup) -> None:
    """Add the options of engines: programs of others."""
    group.add_argument("--engine", metavar="COMMAND", help="let a program play; docs/engines.md says what it speaks")
    group.add_argument(
        "--protocol", choices=("tti", "piskvork"), help="what it speaks (default: tti; pbrain-*: piskvork)"
    )
    group.add_argument("--engine-log", metavar="FILE", help="keep what is said to it and by it")
    group.add_argument("--engines", metavar="FILE", help="seat all engines of a TOML file")


def engines_given(given: argparse.Namespace) -> EngineOptions | None:
    """Return which engines are to play, if any are. Raises `ConfigurationError` if the options do not fit."""
    if given.engine is None and given.engines is None:
        for flag in ("protocol", "engine_log"):
            if getattr(given, flag) is not None:
                raise ConfigurationError(f"{_written(flag)} is for an engine; add --engine COMMAND")
        return None
    if given.engine is not None and given.engines is not None:
        raise ConfigurationError("--engine is one program, --engines a file of them; choose one")
    flag = "engine" if given.engine is not None else "engines"
    for other in ("bot", "local", "host", "join", "invite", "json"):
        if getattr(given, other):
            raise ConfigurationError(f"--{flag} seats a bot; leave out --{other}")
    if given.engines is not None:
        for other in ("protocol", "engine_log", "name", "opponents", *_OF_STRATEGIES, *_OF_BOTS):
            if getattr(given, other) is not None and other != "seed":
                raise ConfigurationError(f"{_written(other)} is said in the file of --engines, for each engine")
    return EngineOptions(given.engine, given.engines, given.protocol, given.engine_log)


def add_bot(group: argparse._ArgumentGroup) -> None:
    """Add the options of strategies."""
    group.add_argument("--bot", metavar="STRATEGY", help="let a strategy play, such as alphabeta or random")
    group.add_argument("--level", type=whole_number, metavar="N", help="play weaker, as people do, from 1 up to 8")
    group.add_argument("--move-time", type=whole_number, metavar="MS", help="think so long at most (default: 1000)")
    group.add_argument("--pace", type=whole_number, metavar="MS", help="wait so long before each move (default: 0)")
    group.add_argument("--games", type=whole_number, metavar="N", help="leave after so many games (default: never)")
    group.add_argument("--places", type=whole_number, metavar="N", help="matches at once (default: 4, with --games 1)")
    group.add_argument("--reserve", type=whole_number, metavar="N", help="of these, for people alone (default: 0)")
    group.add_argument("--seed", type=whole_number, metavar="N", help="make its chances repeatable")


def check_bot(given: argparse.Namespace) -> None:
    """Raise `ConfigurationError` where these options make no sense, or nobody is there whom they are for."""
    if given.level is not None and not 1 <= given.level <= MAX_LEVEL:
        raise ConfigurationError(f"--level {given.level}: 1 to {MAX_LEVEL}")
    is_bot = any(each is not None for each in (given.bot, given.engine, given.engines))
    has_strategy = is_bot or any(who not in (None, HUMAN) for who in (given.x, given.o))
    for flag in _OF_STRATEGIES:
        if getattr(given, flag) is not None and not has_strategy:
            either = "--bot STRATEGY, or --local with --o STRATEGY"
            more = "--o computer, or --o STRATEGY" if given.local else either
            raise ConfigurationError(f"{_written(flag)} is for strategies; add {more}")
    for flag in _OF_BOTS:
        if getattr(given, flag) is not None and not is_bot:
            raise ConfigurationError(f"{_written(flag)} is for bots; add --bot STRATEGY")
    if given.games is not None and not is_bot and not given.local:
        raise ConfigurationError("--games is for bots and matches at this keyboard; add --bot STRATEGY or --local")
    if given.games is not None and given.games < 1:
        raise ConfigurationError(f"--games {given.games}: at least 1")
    if given.move_time is not None and not 1 <= given.move_time <= MAX_MOVE_MS:
        raise ConfigurationError(f"--move-time {given.move_time}: 1 to {MAX_MOVE_MS} milliseconds")
    if given.pace is not None and not 0 <= given.pace <= MAX_PACE_MS:
        raise ConfigurationError(f"--pace {given.pace}: 0 to {MAX_PACE_MS:,} milliseconds")
    if not 1 <= places_of(given) <= MAX_PLACES:
        raise ConfigurationError(f"--places {given.places}: 1 to {MAX_PLACES} matches at once")
    if not 0 <= (given.reserve or 0) <= places_of(given):
        raise ConfigurationError(f"--reserve {given.reserve}: 0 to {places_of(given)}, which are all of its places")
    if given.bot is not None and (given.join is not None or given.invite):
        raise ConfigurationError("--join and --invite are for people; leave out --bot")


def places_of(given: argparse.Namespace) -> int:
    """Return how many matches at once a bot plays: more than one only where it stays."""
    if given.places is not None:
        return int(given.places)
    return DEFAULT_PLACES if given.games is None else 1


def _written(flag: str) -> str:
    return f"--{flag.replace('_', '-')}"
