"""Hold the state of this terminal: its pages, the match it shows, the cursor, the typed text; and name its commands.

`update` returns the next display after an event, `act` after a command, each of which is a value. This module knows no
socket, no terminal and no rules of play.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from ttt_net.client.remembered import Achievements
from ttt_net.client.server_search import ServerList
from ttt_net.client.world import World
from ttt_net.clock import Speed, TimeControl
from ttt_net.messages import Chatted, ClaimKind, Opponents, PlayRequest, Position, Request, Side, Snapshot

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
"""The speeds with separate ratings."""


class Entry(Enum):
    """The kind of typed text: the name of a move, or something else on a line of its own."""

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
    """The kind of opponents that a search accepts."""
    ply: int = 0
    """The position that a replay is at."""
    filter: str = ""
    """The words that the rows of the lobby must have; none: all rows."""
    unfolded: frozenset[str] = frozenset()
    """The sections of the lobby that are shown whole, however long they are."""
    is_by_strength: bool = False
    """Whether the strongest come first in the lobby."""


class Overlay(Enum):
    """A panel or question that lies over a screen and takes the keys."""

    NONE = "none"
    HELP = "help"
    SIDE_PANEL = "side panel"
    CHOICE = "choice"
    CLAIM = "claim"
    LEAVE = "leave"
    MUTE = "mute"
    HOSTING = "hosting"
    DRAW = "draw"


@dataclass(frozen=True, slots=True)
class ReplayState:
    """A match that is stepped through: the positions that are there, by ply."""

    match: Snapshot
    positions: tuple[Position | None, ...]
    starts: tuple[str | None, ...] = ()
    """The same as a new match can begin from them; empty where none can, None where it is not known yet."""


_MAX_TALKERS = 6
"""The most people who wrote in a match that one can choose from."""


@dataclass(frozen=True, slots=True)
class Display:
    """The world and the state of this terminal: all that a renderer needs."""

    world: World = field(default_factory=World)
    has_lobby: bool = True
    """Whether the server has a lobby for us: at one keyboard there is none."""
    has_server_picker: bool = False
    """Whether one came by a list of servers, and may go back to it."""
    pages: tuple[Page, ...] = (Page("lobby"),)
    """The screens that lie on one another; the last is seen, Escape goes back to the one before."""
    shown: str | None = None
    """The id of the match on the screen."""
    left: str | None = None
    """The finished match that was left; it comes back on the screen only if it is asked for."""
    is_arriving: bool = False
    """Whether the match that we came for, or the code for it, was asked for and is not there yet."""
    pending: PlayRequest | None = None
    """Our move that is on its way."""
    cursor: int = 0
    """The cell that Enter means; -1 where there is no cursor."""
    choices: tuple[int, ...] = ()
    """The moves to choose from, under `Overlay.CHOICE`."""
    growing: tuple[int, float] = (-1, 1.0)
    """The cell whose mark is just being drawn, and how much of it there is; -1: none."""
    overlay: Overlay = Overlay.NONE
    entry: Entry = Entry.MOVE
    """The kind of text that is being typed."""
    typed: str = ""
    notice: str = ""
    """The newest sentence that is not a state of the world."""
    copied: str = ""
    """The text that was last copied to the clipboard."""
    chat: tuple[Chatted, ...] = ()
    """The chat of the shown match, the newest message last."""
    muted: frozenset[str] = frozenset()
    """The names of muted players."""
    is_deaf: bool = False
    """Whether everybody is muted."""
    achieved: Achievements = field(default_factory=Achievements)
    """The puzzles solved and levels beaten on this machine."""
    replay: ReplayState | None = None
    """The match that is stepped through, or was last."""
    servers: ServerList | None = None
    """The list of servers, in the start menu."""
    has_warnings: bool = False
    """Whether we want warnings against a bot."""
    is_leaving: bool = False
    is_match_kept: bool = False
    """Whether one who leaves a live match neither resigns it nor calls it off."""
    is_serving_on: bool = False
    """Whether the server of one who leaves is to go on without them."""
    is_going_back: bool = False
    """Whether one who leaves goes back to where servers are chosen."""

    @property
    def match(self) -> Snapshot | None:
        """The match on the screen."""
        return self.world.matches.get(self.shown) if self.shown is not None else None

    @property
    def page(self) -> Page:
        """The screen that is seen."""
        return self.pages[-1]

    def with_page(self, page: Page) -> "Display":
        """Return the display with another page in place of the one that is seen."""
        return replace(self, pages=(*self.pages[:-1], page))

    def in_world(self, world: World) -> "Display":
        """Return the display of another world; a match that is not there any more is not shown."""
        if self.shown is None or self.shown in world.matches:
            return replace(self, world=world)
        pages = tuple(page for page in self.pages if page.screen != "match")
        return replace(self, world=world, shown=None, pages=pages)

    def showing(self, match: Snapshot) -> "Display":
        """Return the display with a match on top of the open pages, and no pending input there."""
        return replace(
            self,
            shown=match.match,
            cursor=_first_cursor(match),
            typed="",
            overlay=Overlay.NONE,
            entry=Entry.MOVE,
            chat=(),
            pages=(*self.pages, Page("match")),
        )

    @property
    def is_live(self) -> bool:
        """Whether the shown match is ours and live."""
        match = self.match
        return match is not None and match.outcome is None and match.you is not None

    @property
    def is_watched(self) -> bool:
        """Whether the shown match is one of others."""
        return self.match is not None and self.match.you is None

    @property
    def is_my_turn(self) -> bool:
        """Whether the shown match waits for our move."""
        match = self.match
        return match is not None and self.is_live and match.you is not None and match.you == match.position.to_move

    @property
    def elsewhere(self) -> Snapshot | None:
        """Another match of ours than the shown one, which waits for our move."""
        world = self.world
        others = (match for name, match in world.matches.items() if name != self.shown and world.has_seat(name))
        live = (match for match in others if match.outcome is None and not match.adjourned)
        return next((match for match in live if match.position.to_move == match.you), None)

    @property
    def may_move(self) -> bool:
        """Whether it is our turn and no move of ours is on its way."""
        return self.is_my_turn and self.under_way is None

    @property
    def under_way(self) -> PlayRequest | None:
        """Our move in the shown match that is on its way; one in another match is no matter of this one."""
        return self.pending if self.pending is not None and self.pending.match == self.shown else None

    @property
    def talkers(self) -> tuple[str, ...]:
        """The names of those who have written here, newest first, or who are muted; never our own."""
        ours = self.world.you.name if self.world.you is not None else None
        heard = dict.fromkeys(each.by.name for each in reversed(self.chat))
        return tuple(name for name in (*heard, *sorted(self.muted - heard.keys())) if name != ours)[:_MAX_TALKERS]

    def seat_of(self, name: str) -> Side | None:
        """Return the seat of a player in the shown match; None if they only watch, or if the server takes only names.

        Unlike the name, which a rename frees for others, the seat always means the same player.
        """
        players = self.match.players if self.match is not None and "seats" in self.world.features else ()
        sides: tuple[Side, Side] = (0, 1)
        return next((side for side, player in zip(sides, players, strict=False) if player.name == name), None)

    def left_ms(self, side: int, now_ms: int) -> int | None:
        """Return the time left to `side` on the shown clock, or None without a clock."""
        return self.world.left_ms(self.match.match, side, now_ms) if self.match is not None else None

    def claim_in_ms(self, now_ms: int) -> int | None:
        """Return how long it is until we may claim the shown match, or None when the opponent is not away."""
        match = self.match
        if match is None or match.away is None or match.away.side == match.you or not self.is_live:
            return None
        return max(0, match.away.claim_in_ms - max(0, now_ms - self.world.away_at_ms.get(match.match, now_ms)))


def _first_cursor(snapshot: Snapshot) -> int:
    """Return the middle cell, or the topmost of the middle column where marks fall."""
    height, width = snapshot.game.shape[-2:]
    row = 0 if snapshot.game.gravity and len(snapshot.game.shape) == 2 else (height - 1) // 2
    return row * width + (width - 1) // 2


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
    SERVE_ON = "leave, keep the server running"
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
    """A request, sent as it is; the page it was chosen on closes."""

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
    """Start typing something on a line of its own."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Pick:
    """A click on a row of the list: the cursor goes there, and its command is carried out."""

    key: str


@dataclass(frozen=True, slots=True)
class Step:
    """The cursor of a list moves by so many rows, a replay by so many moves."""

    rows: int


@dataclass(frozen=True, slots=True)
class PlayBot:
    """A bot is challenged that plays at the level."""

    level: int


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
    Command
    | Type
    | Choose
    | Move
    | Quick
    | Point
    | Send
    | Open
    | Show
    | Reopen
    | Begin
    | Pick
    | Step
    | PlayBot
    | More
    | Change
)


def claims_in(match: Snapshot) -> tuple[ClaimKind, ...]:
    """Return what may be claimed in a match whose opponent is away, in the order of the list."""
    return ("win", "draw") if match.rated else ("win", "draw", "adjourn")
