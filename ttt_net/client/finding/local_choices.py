"""Remember the choices for this keyboard: game, opponent, strength, side, names; in a file beside the identities."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import get_args

from ttt_net.client.finding.address import MAX_LEVEL, Alone, LookOn, Order, Together
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.messages import MAX_NAME_CELLS
from ttt_net.private_files import write_private
from ttt_net.sdk import identity
from ttt_net.text import clean, name_key

FILE = "local.json"
ORDERS: tuple[Order, ...] = get_args(Order)
_ORDERS_IN_WORDS: dict[Order, str] = {
    "first": "you begin",
    "second": "the computer begins",
    "lot": "who begins is drawn by lot",
}
OPPONENTS = {
    "alphabeta": "looks ahead, and misses little",
    "mcts": "plays thousands of games out in its head",
    "random": "makes any move",
}
"""The strategies to choose from, which play every game at every level, and what each does."""
CALLED = {"alphabeta": "Ada", "mcts": "Max", "random": "Rob"}
"""The names of strategies where two are watched."""
_STRENGTHS = ("beginner", "beginner", "casual player", "casual player", "club player", "expert", "expert", "master")
"""The levels in words, from 1 up, as the bots of a server write them."""


@dataclass(frozen=True, slots=True)
class LocalChoices:
    """The game at this keyboard, the opponent, and who begins."""

    game: str = "tictactoe"
    strategy: str = "alphabeta"
    level: int = 4
    order: Order = "first"
    names: tuple[str, str] = ("X", "O")
    """Of two people at this keyboard."""
    watched: tuple[str, str] = ("alphabeta", "mcts")
    """The strategies that are watched."""

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
        """Return them with the level, or the nearest that there is."""
        return replace(self, level=min(max(1, level), MAX_LEVEL))

    def in_game(self, name: str) -> "LocalChoices":
        """Return them with another game. Raises `ConfigurationError` if there is none of the name."""
        try:
            return replace(self, game=find_game(name).name)
        except Refusal as refusal:
            raise ConfigurationError(str(refusal)) from None


def read_names(text: str) -> tuple[str, str]:
    """Return the two names that were typed with a comma between them. Raises `ConfigurationError` if it is not so."""
    names = [clean(name, MAX_NAME_CELLS) for name in text.split(",")]
    if len(names) == 2 and all(names) and name_key(names[0]) != name_key(names[1]):
        return names[0], names[1]
    raise ConfigurationError(f"{clean(text, 60)!r}: two different names with a comma between them")


def choices_for(game: str | None) -> LocalChoices:
    """Return what was chosen last, but for a game that was asked for, if it is known here."""
    choices = load_choices()
    with suppress(ConfigurationError):
        return choices.in_game(game) if game is not None else choices
    return choices


def load_choices() -> LocalChoices:
    """Return what was chosen last; of a file that says what cannot be, as much as can."""
    choices = LocalChoices()
    try:
        kept = json.loads((identity.home() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return choices
    for name, value in kept.items() if isinstance(kept, dict) else ():
        with suppress(ConfigurationError):
            choices = _with_kept(choices, name, value)
    return choices


def _with_kept(choices: LocalChoices, name: str, value: object) -> LocalChoices:
    """Return the choices with one from the file, if it is one that can be made."""
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
    """Write the choices down; a disk that refuses means only that they are made again."""
    with suppress(OSError):
        write_private(identity.home() / FILE, json.dumps(asdict(choices)))
