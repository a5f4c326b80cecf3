"""Remember in files what the person has chosen (game, opponent, side, names), achieved, seen and left unfinished.

Disk errors are ignored: the client only forgets. With `TTT_NET_RULES=off`, no page of rules opens by itself.
"""

import datetime
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import get_args

import msgspec
from msgspec import structs

from ttt_net.client.address import MAX_LEVEL, Alone, LookOn, Order, Together
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.messages import LEARNED, MAX_NAME_CELLS, MistakeList, OwnMistake, OwnPuzzle
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean, name_key

FILE_OF_ACHIEVEMENTS = "achievements.json"
FILE_OF_CHOICES = "local.json"
FILE_OF_RULES = "rules_seen.json"
FILE_OF_UNFINISHED = "unfinished.json"
RULES_VARIABLE = "TTT_NET_RULES"
MAX_MISTAKES = 200
"""The number of mistakes to learn from; learned ones make room first, then the oldest."""
MAX_DAYS = 1_000
"""The number of remembered days with a solved puzzle; the newest are kept."""
_MAX_GAMES = 200
_MAX_PLAYERS, _MAX_UNFINISHED = 50, 20
_MAX_FAMILIES = 100
_MAX_NAME = 40
_LEVELS = range(1, 9)
_NONE: Mapping[str, int] = MappingProxyType({})


class KeptMistake(OwnMistake, frozen=True, omit_defaults=True):
    """A mistake of one's own as this machine keeps it, and whether a server keeps it too."""

    account: str = ""
    """The server, and the name there, of the player whose mistake it is; empty: it belongs to no account yet."""
    is_sent: bool = False
    """Whether the server has this state of it."""


@dataclass(frozen=True, slots=True)
class Achievements:
    """The days of solved puzzles, in order, the highest beaten level of a bot by game, and own mistakes to learn."""

    solved: tuple[str, ...] = ()
    beaten: Mapping[str, int] = field(default_factory=lambda: _NONE)
    mistakes: tuple[KeptMistake, ...] = ()

    def with_mistake(self, puzzle: OwnPuzzle, text: str, account: str = "") -> "Achievements":
        """Return the achievements with one more mistake to learn from; one that is being learned stays as it is."""
        known = self.mistake(puzzle, account)
        if known is None:
            return self._with(KeptMistake(puzzle, text, account=account))
        again = known.made_again()
        return self if again is known else self._with(structs.replace(again, is_sent=False))

    def mistake(self, puzzle: OwnPuzzle, account: str = "") -> KeptMistake | None:
        """Return the mistake in that position, if it is kept: of an account, or of any."""
        where = OwnMistake(puzzle).position
        return next((each for each in self._of(account) if each.position == where), None)

    def due_mistakes(self, today: str, account: str = "", there: MistakeList | None = None) -> tuple[OwnMistake, ...]:
        """Return the mistakes that return today or were to return before, the longest due first.

        `there` are those that a server keeps for the account, once they have arrived. Then the server decides on all
        that it knows.
        """
        found: Sequence[OwnMistake] = self._of(account)
        if there is not None:
            listed = [each.position for each in there.mistakes]
            new = [each for each in self._of(account) if not each.is_sent and each.position not in listed]
            found = [*(self.newest(each, account) for each in there.mistakes), *new]
        return tuple(sorted((each for each in found if each.is_due(today)), key=lambda each: each.due))

    def newest(self, mistake: OwnMistake, account: str = "") -> OwnMistake:
        """Return the state with more progress of a server's mistake and of this machine's own, if there is one."""
        return max(mistake, self.mistake(mistake.puzzle, account) or mistake, key=lambda each: each.progress)

    def with_answer(self, mistake: OwnMistake, today: str, account: str = "", *, is_right: bool) -> "Achievements":
        """Return the achievements after an answer to a mistake, which may be kept only by the server of the account."""
        after = mistake.answered(today, is_right=is_right)
        if after is mistake:
            return self
        account = mistake.account if isinstance(mistake, KeptMistake) else account
        return self._with(KeptMistake(after.puzzle, after.text, after.due, after.times, account))

    def unsent(self, account: str, besides: Collection[OwnPuzzle] = ()) -> OwnMistake | None:
        """Return the first mistake whose state the server of the account may not have, except for some."""
        new = (each for each in self._of(account) if not each.is_sent and each.puzzle not in besides)
        return next((OwnMistake(each.puzzle, each.text, each.due, each.times) for each in new), None)

    def with_sent(self, sent: OwnMistake, account: str) -> "Achievements":
        """Return the achievements once the server has this state of a mistake, which now belongs to the account."""
        known = self.mistake(sent.puzzle, account)
        if known is None:
            return self
        return self._with(structs.replace(known, account=account, is_sent=known.progress == sent.progress))

    def _of(self, account: str) -> list[KeptMistake]:
        """Return the mistakes of an account, with those that belong to none; without an account all."""
        return [each for each in self.mistakes if not account or each.account in ("", account)]

    def _with(self, mistake: KeptMistake) -> "Achievements":
        """Return the achievements with a mistake in place of its state of before; learned ones make room first."""
        same = (mistake.position, mistake.account), (mistake.position, "")
        kept = [*(each for each in self.mistakes if (each.position, each.account) not in same), mistake]
        if len(kept) > MAX_MISTAKES:
            kept.remove(next((each for each in kept if each.times == LEARNED), kept[0]))
        return replace(self, mistakes=tuple(kept))

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
        mistakes = tuple(msgspec.convert(kept.get("mistakes", [])[-MAX_MISTAKES:], list[KeptMistake]))
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
