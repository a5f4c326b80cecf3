"""Remember in files what the person has chosen (game, opponent, side, names), achieved, seen and left unfinished.

Disk errors are ignored: the client only forgets. With `TTT_NET_RULES=off`, no page of rules opens by itself.
"""

import datetime
import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import get_args

import msgspec
from msgspec import Struct

from ttt_net.client.address import MAX_LEVEL, Alone, LookOn, Order, Together
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.messages import MAX_NAME_CELLS, OwnPuzzle
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean, name_key

FILE_OF_ACHIEVEMENTS = "achievements.json"
FILE_OF_CHOICES = "local.json"
FILE_OF_RULES = "rules_seen.json"
FILE_OF_UNFINISHED = "unfinished.json"
RULES_VARIABLE = "TTT_NET_RULES"
RETURNS = (1, 3, 7, 21)
"""The days after which a solved mistake of one's own returns."""
MAX_MISTAKES = 200
"""The number of mistakes to learn from; the newest are kept."""
MAX_DAYS = 1_000
"""The number of remembered days with a solved puzzle; the newest are kept."""
_MAX_GAMES = 200
_MAX_PLAYERS, _MAX_UNFINISHED = 50, 20
_MAX_FAMILIES = 100
_MAX_NAME = 40
_LEVELS = range(1, 9)
_NONE: Mapping[str, int] = MappingProxyType({})


class OwnMistake(Struct, frozen=True):
    """A mistake of a match of one's own, as a puzzle that returns."""

    puzzle: OwnPuzzle
    text: str
    """The lesson of the match."""
    due: str = ""
    """The day on which it returns; empty: with the next puzzle."""
    times: int = 0
    """How many times in a row it was solved."""


@dataclass(frozen=True, slots=True)
class Achievements:
    """The days of solved puzzles, in order, the highest beaten level of a bot by game, and own mistakes to learn."""

    solved: tuple[str, ...] = ()
    beaten: Mapping[str, int] = field(default_factory=lambda: _NONE)
    mistakes: tuple[OwnMistake, ...] = ()

    def with_mistake(self, puzzle: OwnPuzzle, text: str) -> "Achievements":
        """Return the achievements with one more mistake to learn from, unless it is known; the oldest make room."""
        if self.mistake(puzzle) is not None:
            return self
        return replace(self, mistakes=(*self.mistakes, OwnMistake(puzzle, text))[-MAX_MISTAKES:])

    def mistake(self, puzzle: OwnPuzzle) -> OwnMistake | None:
        """Return the mistake in that position, if it is kept."""
        where = (puzzle.game, puzzle.start, puzzle.moves)
        kept = (each for each in self.mistakes if (each.puzzle.game, each.puzzle.start, each.puzzle.moves) == where)
        return next(kept, None)

    def due_mistakes(self, today: str) -> tuple[OwnMistake, ...]:
        """Return the mistakes that return today or were to return before, the longest due first."""
        return tuple(sorted((each for each in self.mistakes if each.due <= today), key=lambda each: each.due))

    def with_answer(self, puzzle: OwnPuzzle, today: str, *, is_right: bool) -> "Achievements":
        """Return the achievements after an answer to a mistake of one's own.

        Solved, it returns after 1, 3, 7 and 21 days, and is then learned. Otherwise it begins again the next day.
        """
        found = self.mistake(puzzle)
        if found is None or found.due > today:
            return self
        others = tuple(each for each in self.mistakes if each is not found)
        times = found.times + 1 if is_right else 0
        if times > len(RETURNS):
            return replace(self, mistakes=others)
        due = datetime.date.fromisoformat(today) + datetime.timedelta(days=RETURNS[max(0, times - 1)])
        changed = OwnMistake(found.puzzle, found.text, due.isoformat(), times)
        return replace(self, mistakes=(*others, changed))

    def with_solved(self, day: str) -> "Achievements":
        """Return the achievements with the puzzle of a day solved."""
        return replace(self, solved=tuple(sorted({*self.solved, day}))[-MAX_DAYS:])

    def with_beaten(self, game: str, level: int) -> "Achievements":
        """Return the achievements with a win at a game against a bot of the level."""
        best = max(level, self.beaten.get(game, 0))
        return replace(self, beaten=MappingProxyType({**self.beaten, game: best}))

    def streak(self, today: str) -> int:
        """Return how many consecutive days have a solved puzzle, up to today, or to yesterday while today's is open."""
        try:
            day = datetime.date.fromisoformat(today)
        except ValueError:
            return 0
        one = datetime.timedelta(days=1)
        solved, count = set(self.solved), 0
        if today not in solved:
            day -= one
        while day.isoformat() in solved:
            day, count = day - one, count + 1
        return count


def load_achievements() -> Achievements:
    """Return the stored achievements; none if they cannot be read."""
    try:
        kept = json.loads((identity.home() / FILE_OF_ACHIEVEMENTS).read_text(encoding="utf-8"))
        solved = tuple(str(day)[:10] for day in kept["solved"])[-MAX_DAYS:]
        beaten = {str(game)[:_MAX_NAME]: level for game, level in kept["beaten"].items() if level in _LEVELS}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Achievements()
    try:
        mistakes = tuple(msgspec.convert(kept.get("mistakes", [])[-MAX_MISTAKES:], list[OwnMistake]))
    except (msgspec.MsgspecError, TypeError, RecursionError):
        mistakes = ()
    return Achievements(solved, MappingProxyType(beaten), mistakes)


def save_achievements(achieved: Achievements) -> None:
    """Store the achievements; ignore disk errors."""
    beaten = dict(list(achieved.beaten.items())[-_MAX_GAMES:])
    kept = {"solved": achieved.solved, "beaten": beaten, "mistakes": achieved.mistakes}
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_ACHIEVEMENTS, msgspec.json.encode(kept).decode())


def is_first_match_of(game: str) -> bool:
    """Tell whether the rules of the game were never shown here, and remember that they are now."""
    if os.environ.get(RULES_VARIABLE) == "off":
        return False
    family, seen = game_family(game)[:_MAX_NAME], _families_seen()
    if family in seen:
        return False
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_RULES, json.dumps([*seen, family][-_MAX_FAMILIES:]))
    return True


def game_family(name: str) -> str:
    """Return the name of a game without its size; games of one family share a page of rules."""
    return re.sub(r":[^+]*", "", name)


def _families_seen() -> list[str]:
    try:
        kept = json.loads((identity.home() / FILE_OF_RULES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []


def load_unfinished(server: str, name: str) -> tuple[str, ...]:
    """Return the matches that a player left unfinished on a server."""
    return tuple(_unfinished().get(f"{server} {name}", ()))


def save_unfinished(server: str, name: str, matches: Collection[str]) -> None:
    """Store the unfinished matches of a player on a server."""
    others = {player: ids for player, ids in _unfinished().items() if player != f"{server} {name}"}
    kept = {**others, f"{server} {name}": sorted(matches)[:_MAX_UNFINISHED]} if matches else others
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_UNFINISHED, json.dumps(dict(list(kept.items())[-_MAX_PLAYERS:])))


def _unfinished() -> dict[str, list[str]]:
    try:
        kept = json.loads((identity.home() / FILE_OF_UNFINISHED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    players = kept.items() if isinstance(kept, dict) else ()
    return {player: [str(each)[:32] for each in ids] for player, ids in players if isinstance(ids, list)}


ORDERS: tuple[Order, ...] = get_args(Order)
_ORDERS_IN_WORDS: dict[Order, str] = {
    "first": "you begin",
    "second": "the computer begins",
    "lot": "a random side begins",
}
OPPONENTS = {
    "alphabeta": "looks ahead, and misses little",
    "mcts": "plays thousands of games out in its head",
    "random": "makes any move",
}
"""The strategies to choose from, which play every game at every level, and what each does."""
CALLED = {"alphabeta": "Ada", "mcts": "Max", "random": "Rob"}
"""The names of strategies when a person watches two."""
_STRENGTHS = ("beginner", "beginner", "casual player", "casual player", "club player", "expert", "expert", "master")
"""The levels in words, from 1 up, as the bots of a server name them."""


@dataclass(frozen=True, slots=True)
class LocalChoices:
    """The game at this keyboard, the opponent, and who begins."""

    game: str = "tictactoe"
    strategy: str = "alphabeta"
    level: int = 4
    order: Order = "first"
    names: tuple[str, str] = ("X", "O")
    """The names of two people at this keyboard."""
    watched: tuple[str, str] = ("alphabeta", "mcts")
    """The watched strategies."""

    @property
    def title(self) -> str:
        """The title of the game."""
        return find_game(self.game).title

    @property
    def strength(self) -> str:
        """The level, as a number."""
        return f"level {self.level} of {MAX_LEVEL}"

    @property
    def strength_in_words(self) -> str:
        """The level in words."""
        return _STRENGTHS[self.level - 1]

    @property
    def order_in_words(self) -> str:
        """The player who begins, in words."""
        return _ORDERS_IN_WORDS[self.order]

    @property
    def alone(self) -> Alone:
        """A match against the computer."""
        return Alone(self.level, self.game, self.strategy, self.order)

    @property
    def together(self) -> Together:
        """A match of two people."""
        return Together(self.game, self.names)

    @property
    def looking_on(self) -> LookOn:
        """A match of two strategies."""
        return LookOn(self.game, self.watched, self.watched_names)

    @property
    def watched_names(self) -> tuple[str, str]:
        """The names of the two watched strategies, which always differ."""
        x, o = (CALLED[strategy] for strategy in self.watched)
        return x, f"{o} 2" if x == o else o

    def at_level(self, level: int) -> "LocalChoices":
        """Return the choices with the level, or the nearest that exists."""
        return replace(self, level=min(max(1, level), MAX_LEVEL))

    def in_game(self, name: str) -> "LocalChoices":
        """Return the choices with another game. Raises `ConfigurationError` if no game has the name."""
        try:
            return replace(self, game=find_game(name).name)
        except Refusal as refusal:
            raise ConfigurationError(str(refusal)) from None


def read_names(text: str) -> tuple[str, str]:
    """Return two typed names, separated by a comma. Raises `ConfigurationError` if there are not two."""
    names = [clean(name, MAX_NAME_CELLS) for name in text.split(",")]
    if len(names) == 2 and all(names) and name_key(names[0]) != name_key(names[1]):
        return names[0], names[1]
    raise ConfigurationError(f"{clean(text, 60)!r}: two different names with a comma between them")


def choices_for(game: str | None) -> LocalChoices:
    """Return the last choices, with the requested game if this client knows it."""
    choices = load_choices()
    with suppress(ConfigurationError):
        return choices.in_game(game) if game is not None else choices
    return choices


def load_choices() -> LocalChoices:
    """Return the last choices; from an invalid file, those that are valid."""
    choices = LocalChoices()
    try:
        kept = json.loads((identity.home() / FILE_OF_CHOICES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return choices
    for name, value in kept.items() if isinstance(kept, dict) else ():
        with suppress(ConfigurationError):
            choices = _with_kept(choices, name, value)
    return choices


def _with_kept(choices: LocalChoices, name: str, value: object) -> LocalChoices:
    """Return the choices with one from the file, if it is valid."""
    match name, value:
        case "game", str():
            return choices.in_game(value)
        case "level", int() if not isinstance(value, bool):
            return choices.at_level(value)
        case "strategy", str() if value in OPPONENTS:
            return replace(choices, strategy=value)
        case "order", "first" | "second" | "lot":
            return replace(choices, order=value)
        case "names", [str(), str()]:
            return replace(choices, names=read_names(",".join(value)))
        case "watched", [str(x), str(o)] if x in OPPONENTS and o in OPPONENTS:
            return replace(choices, watched=(x, o))
        case _:
            return choices


def save_choices(choices: LocalChoices) -> None:
    """Store the choices. If the disk fails, the person only has to choose again."""
    with suppress(OSError):
        write_private(identity.home() / FILE_OF_CHOICES, json.dumps(asdict(choices)))
