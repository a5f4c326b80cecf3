"""Declare the commands of a player, each as a value; `act` carries them out."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ttt_net.client.display import Display, Entry, Page
from ttt_net.messages import ClaimKind, Request, Snapshot


class Command(Enum):
    """An action that needs no more words."""

    UP = (0, -1)
    DOWN = (0, 1)
    LEFT = (-1, 0)
    RIGHT = (1, 0)
    PLACE = "place"
    MOVES = "moves"
    REMATCH = "rematch"
    DRAW = "draw"
    TAKE_BACK = "take back"
    CLAIM = "claim"
    DECLINE = "decline"
    RESIGN = "resign"
    NEW = "new"
    BOT = "bot"
    LEAVE = "leave"
    SERVE_ON = "leave, the server goes on"
    LET_WAIT = "leave, the match waits"
    HELP = "help"
    SIDE_PANEL = "aside"
    BACK = "back"
    ERASE = "erase"
    SECTION = "section"
    COPY = "copy"
    MUTE = "mute"
    FIRST = "first"
    LAST = "last"


ON_LISTS = {
    *(Command.UP, Command.DOWN, Command.LEFT, Command.RIGHT, Command.PLACE, Command.LEAVE),
    *(Command.SECTION, Command.FIRST, Command.LAST),
}
"""Commands with another meaning on a list than at a board, or with a meaning only there."""


@dataclass(frozen=True, slots=True)
class Type:
    """More characters of a typed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Choose:
    """The `index`-th of the moves that are listed to choose from, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Move:
    """A move by its name, whole."""

    name: str


@dataclass(frozen=True, slots=True)
class Quick:
    """A move by one digit: the column where marks fall, the cell in reading order on a small board."""

    digit: int


@dataclass(frozen=True, slots=True)
class Point:
    """A cell was pointed at: the cursor goes there, and a mark if it may."""

    cell: int


@dataclass(frozen=True, slots=True)
class Send:
    """A request, said as it is; what it was chosen on closes."""

    request: Request


@dataclass(frozen=True, slots=True)
class Open:
    """A page is opened, on top of the one that is seen."""

    page: Page


@dataclass(frozen=True, slots=True)
class Show:
    """A match of ours comes on the screen."""

    match: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """A finished match comes on the screen: one of ours as a player, any other as a watcher."""

    match: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Begin:
    """Something begins to be typed on a line of its own."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Pick:
    """A row of the list was pointed at: the cursor goes there, and what it stands for is done."""

    key: str


@dataclass(frozen=True, slots=True)
class Step:
    """The cursor of a list moves by so many rows, a replay by so many moves."""

    rows: int


@dataclass(frozen=True, slots=True)
class More:
    """Another part of the list that is on a page is asked for."""

    page: Page
    request: Request


@dataclass(frozen=True, slots=True)
class Change:
    """A command of one screen alone: `apply` returns the display after it, and what to say."""

    apply: Callable[[Display], tuple[Display, tuple[Request, ...]]]


AnyCommand = (
    Command | Type | Choose | Move | Quick | Point | Send | Open | Show | Reopen | Begin | Pick | Step | More | Change
)


def claims_in(match: Snapshot) -> tuple[ClaimKind, ...]:
    """Return what may be claimed in a match whose opponent is away, in the order of the list."""
    return ("win", "draw") if match.rated else ("win", "draw", "adjourn")
