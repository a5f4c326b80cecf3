"""Name the screens, and hold the state of each that is open."""

from dataclasses import dataclass
from enum import Enum

from ttt_net.clock import Speed, TimeControl
from ttt_net.messages import Opponents

TIMES = (
    None,
    TimeControl(60_000, 0),
    TimeControl(180_000, 2_000),
    TimeControl(300_000, 3_000),
    TimeControl(600_000, 5_000),
    TimeControl(900_000, 10_000),
)
"""The clocks to choose from: none first."""
SPEEDS: tuple[Speed, ...] = ("untimed", "rapid", "blitz", "bullet")
"""The speeds that have ratings of their own."""


class Entry(Enum):
    """The kind of text that is typed: a move by its name, or on a line of its own something else."""

    MOVE = "Move"
    CHAT = "Say"
    CODE = "Code or link"
    GAME = "Game"
    ADDRESS = "Address or code"
    FILTER = "Only"
    NAMES = "Two names, as Ann, Bob"


class Purpose(Enum):
    """The purpose for which a game is chosen."""

    PLAY = "play"
    CHALLENGE = "challenge"
    INVITE = "invite"


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the row that the cursor is on, and what the page is about.

    `row` is the key of the row, and `place` where it was last seen, so that the cursor stays with its row while rows
    come and go. `about` is the name of the player or the game, or the id of the match, that the page is about; an empty
    name is our own.
    """

    screen: str
    """The name of the screen, as the registry has it."""
    row: str = ""
    place: int = 0
    about: str = ""
    purpose: Purpose = Purpose.PLAY
    games: tuple[str, ...] = ()
    """The games to choose from; none means all."""
    time: int = 0
    """Which of the time controls is chosen, or of the speeds on a page of ratings."""
    is_rated: bool | None = None
    """Whether the match is to be rated; None: where both want it and the game has ratings."""
    opponents: Opponents = "people"
    """Who is welcome, where an opponent is sought."""
    ply: int = 0
    """The position that a replay is at."""
    filter: str = ""
    """The words that the rows of the lobby must have; none: all rows."""
    unfolded: frozenset[str] = frozenset()
    """The sections of the lobby that are shown whole, however long they are."""
    is_by_strength: bool = False
    """Whether the strongest come first in the lobby."""
