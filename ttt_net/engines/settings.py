"""Settings of an engine (command, protocol, limits, opponents), and files of several engines.

A file is TOML, with a table `[[engine]]` for each. Raises `ConfigurationError` with the place if the file is invalid.
"""

import shlex
import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ttt_net.clock import TIME_FORM, TimeControl, time_of
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import Game, find_game
from ttt_net.games.notation import read_move
from ttt_net.games.swap import SwapGame

MAX_FILE_BYTES = 1_000_000
"""The maximal size of a file of engines."""
MAX_ENGINES = 32
"""The maximal number of engines in one process."""
PISKVORK_PREFIX = "pbrain-"
"""The prefix of the file names of programs with the protocol of Gomocup and Piskvork."""

Protocol = Literal["tti", "piskvork"]
Milliseconds = Annotated[int, Meta(ge=1, le=600_000)]


class Seat(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How an engine plays on a server, and with whom."""

    about: Annotated[str, Meta(max_length=80)] | None = None
    """A line about its style, for the list of players."""
    level: Annotated[int, Meta(ge=1, le=8)] | None = None
    """A reduced level, from 1 to 7."""
    places: Annotated[int, Meta(ge=1, le=20)] = 1
    """Simultaneous matches; it thinks about one after the other."""
    reserve: Annotated[int, Meta(ge=0, le=20)] = 0
    """How many of these are reserved for people."""
    move_ms: Milliseconds = 1000
    """The thinking time per move; less if its clock is short."""
    pace_ms: Annotated[int, Meta(ge=0, le=10_000)] = 0
    """The wait before each move."""
    opponents: Literal["any", "people", "bots"] = "people"
    time: str | None = None
    """The clock of its seeks, as `3+2`; None: no clock."""
    shortest: str | None = None
    """The fastest clock of a challenge that it accepts, as the time of a side for forty moves."""
    longest: str | None = None
    untimed: bool = True
    """Whether it accepts challenges without a clock."""
    rated: bool | None = None
    """Whether it accepts only rated challenges, or only casual ones."""
    lowest_rating: Annotated[int, Meta(ge=0, le=5000)] = 0
    highest_rating: Annotated[int, Meta(ge=0, le=5000)] = 5000
    """The highest rating of accepted challengers; unrated ones are welcome."""
    never: list[str] = []
    """Names whose challenges it declines."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for an invalid clock; msgspec adds the place."""
        for text in (self.time, self.shortest, self.longest):
            if text is not None and time_of(text) is None:
                raise ValueError(f"{text!r} is not a clock: {TIME_FORM}")


class EngineSettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One engine."""

    command: Annotated[str, Meta(min_length=1, max_length=4000)]
    """The command, split into words as in a shell; it runs without a shell."""
    name: Annotated[str, Meta(max_length=40)] = ""
    protocol: Protocol | None = None
    """Its dialect; by default Piskvork's if the file name begins with pbrain-, else ours."""
    directory: str | None = None
    """Its working directory; by default the folder of its settings file, or the current one."""
    games: list[Annotated[str, Meta(max_length=40)]] = []
    """The games it plays; empty means all that it can play."""
    memory_mb: Annotated[int, Meta(ge=16, le=1_000_000)] = 1024
    """The maximal address space of each of its processes."""
    cpus: Annotated[int, Meta(ge=1, le=256)] = 1
    """The number of cores that it may use; it is suspended between questions."""
    start_ms: Milliseconds = 10_000
    """How long it may take to start."""
    overtime_ms: Milliseconds = 1000
    """How long after its thinking time an answer may arrive before the engine counts as hung."""
    openings: list[Annotated[str, Meta(max_length=4000)]] = []
    """Opening lines that it plays without thinking, as `gomoku: h8 i9 g9`."""
    log: str | None = None
    """The file that logs every line sent to it and by it."""
    seat: Seat = Seat()

    def __post_init__(self) -> None:
        """Raise `ValueError` for an invalid command, game or opening; msgspec adds the place."""
        try:
            if not shlex.split(self.command):
                raise ValueError("the command is empty")
            for game in self.games:
                find_game(game)
            for line in self.openings:
                opening_of(line)
        except Refusal as refusal:
            raise ValueError(str(refusal)) from None

    @property
    def words(self) -> list[str]:
        """The command, word by word."""
        return shlex.split(self.command)

    @property
    def title(self) -> str:
        """Its name, or else the name of its program."""
        programs = [word for word in self.words if not word.startswith("-")] or self.words
        is_interpreter = Path(programs[0]).name.startswith(("python", "node", "java", "sh", "wine")) and programs[1:]
        return self.name or Path(programs[1] if is_interpreter else programs[0]).stem.removeprefix(PISKVORK_PREFIX)

    @property
    def speaks(self) -> Protocol:
        """The protocol, configured or guessed."""
        if self.protocol is not None:
            return self.protocol
        return "piskvork" if any(Path(word).name.startswith(PISKVORK_PREFIX) for word in self.words) else "tti"


def opening_of(line: str) -> tuple[Game[object], list[int]]:
    """Return the game and the moves of `GAME: move move ...`. Raises `Refusal` if the moves are illegal."""
    name, _, moves = line.partition(": ")
    game = find_game(name.strip())
    state, played = game.initial, []
    for word in moves.split():
        played.append(read_move(game, state, word))
        state = game.result(state, played[-1])
    return game, played


def plays(settings: EngineSettings, game: Game[object]) -> bool:
    """Tell whether an engine plays a game: the settings name it, or its game without swap, or no game at all."""
    names = {game.name} | ({game.base.name} if isinstance(game, SwapGame) else set())
    return not settings.games or any(find_game(each).name in names for each in settings.games)


def forty_moves_ms(time: TimeControl) -> int:
    """Return a side's time for forty moves, for comparing clocks."""
    return time.initial_ms * 40 if time.per_move else time.initial_ms + 40 * time.increment_ms


class _File(Struct, forbid_unknown_fields=True):
    engine: Annotated[list[EngineSettings], Meta(min_length=1, max_length=MAX_ENGINES)]


def read_engines(path: Path) -> list[EngineSettings]:
    """Return the engines of a file, each with a unique name; they run in the folder of the file.

    Raises `ConfigurationError` if it cannot be read or is invalid.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
        if len(text) > MAX_FILE_BYTES:
            raise ValueError(f"more than {MAX_FILE_BYTES:,} bytes")
        found = msgspec.convert(tomllib.loads(text.decode()), _File).engine
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigurationError(f"{path}: {reason}") from None
    names = [each.title for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"{path}: two engines are called {name}; give each a name")
    folder = path.parent.absolute()
    return [
        msgspec.structs.replace(
            each,
            name=each.title,
            directory=str(folder / (each.directory or "")),
            log=None if each.log is None else str(folder / each.log),
        )
        for each in found
    ]
