"""Define the state of this terminal (pages, shown match, cursor, typed text) and its commands.

`update` returns the display after an event, `act` the display after a command; displays, events and commands are
values. This module knows no socket, no terminal and no rules of play.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

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
"""The clocks to choose from; no clock comes first."""
SPEEDS: tuple[Speed, ...] = ("untimed", "rapid", "blitz", "bullet")
"""The speeds that have separate ratings."""


class Entry(Enum):
    """The kind of typed text: the name of a move, or another text on a line of its own."""

    MOVE = "Move"
    CHAT = "Say"
    CODE = "Code or link"
    GAME = "Game"
    ADDRESS = "Address or code"
    FILTER = "Only"
    NAMES = "Two names, as Ann, Bob"


class Purpose(Enum):
    """The purpose for which the player chooses a game."""

    PLAY = "play"
    CHALLENGE = "challenge"
    INVITE = "invite"


@dataclass(frozen=True, slots=True)
class Page:
    """An open page: its cursor and its subject.

    `row` is the key of the row at the cursor, and `place` the row's last index, so that the cursor stays with its row
    while rows come and go. `about` is the name of a player or game, or the id of a match; an empty name means
    ourselves.
    """

    screen: str
    """The name of the screen in the registry."""
    row: str = ""
    place: int = 0
    about: str = ""
    purpose: Purpose = Purpose.PLAY
    games: tuple[str, ...] = ()
    """The games to choose from; empty means all."""
    time: int = 0
    """The index of the chosen time control, or of the speed on a page of ratings."""
    is_rated: bool | None = None
    """Whether the match should be rated; None: rated if both players want it and the game has ratings."""
    opponents: Opponents = "people"
    """The kind of opponents that a seek accepts."""
    ply: int = 0
    """The ply of the position that a replay shows."""
    filter: str = ""
    """The words that rows of the lobby must contain; empty: all rows are shown."""
    unfolded: frozenset[str] = frozenset()
    """The unfolded sections of the lobby."""
    is_by_strength: bool = False
    """Whether the lobby lists the strongest players first."""
    is_anonymous: bool = False
    """Whether only guests may enter the tournament that is being made."""


class Overlay(Enum):
    """A panel or question over a screen that receives the keys."""

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
    """A match that the player steps through: the received positions by ply."""

    match: Snapshot
    positions: tuple[Position | None, ...]
    starts: tuple[str | None, ...] = ()
    """The same positions as starts for a new match; empty where none can begin, None if not known yet."""


_NO_GUESSES: Mapping[int, int | None] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Guessing:
    """The side whose moves the player guesses in a replayed match, and the guesses so far.

    A guess is a move, by the number of plies before it; None: the move was shown without one.
    """

    side: Side
    guesses: Mapping[int, int | None] = field(default_factory=lambda: _NO_GUESSES)


_MAX_TALKERS = 6
"""The maximal number of talkers to choose from when muting."""


@dataclass(frozen=True, slots=True)
class Display:
    """The world and the state of this terminal: everything that a renderer needs."""

    world: World = field(default_factory=World)
    has_lobby: bool = True
    """Whether the connection has a lobby; matches at one keyboard have none."""
    has_server_picker: bool = False
    """Whether the player came from the list of servers and can return to it."""
    pages: tuple[Page, ...] = (Page("lobby"),)
    """The stack of open pages: the last one is visible, and Escape returns to the one before."""
    shown: str | None = None
    """The id of the shown match."""
    featured: str | None = None
    """The match of others that we watch only as a picture beside the lists of the lobby."""
    left: str | None = None
    """The finished match that the player left; it is shown again only on request."""
    is_arriving: bool = False
    """Whether the match that we came for, or the match of our code, was requested but has not arrived."""
    pending: PlayRequest | None = None
    """Our move that the server has not confirmed yet."""
    cursor: int = 0
    """The cell that Enter marks; -1 without a cursor."""
    choices: tuple[int, ...] = ()
    """The moves to choose from in `Overlay.CHOICE`."""
    growing: tuple[int, float] = (-1, 1.0)
    """The cell of the animated mark, and the part of it that is drawn; -1: none."""
    overlay: Overlay = Overlay.NONE
    help_place: int = 0
    """How many lines the page of keys is scrolled, if the window is too small for all."""
    entry: Entry = Entry.MOVE
    """The kind of text that the player is typing."""
    typed: str = ""
    notice: str = ""
    """The latest message that does not follow from the state of the world."""
    copied: str = ""
    """The text last copied to the clipboard."""
    chat: tuple[Chatted, ...] = ()
    """The chat of the shown match, newest message last."""
    muted: frozenset[str] = frozenset()
    """The names of muted players."""
    is_deaf: bool = False
    """Whether everybody is muted."""
    achieved: Achievements = field(default_factory=Achievements)
    """The puzzles solved and levels beaten on this machine."""
    account: str = ""
    """The server, and our name there, if we have an account; empty for guests and without a server."""
    replay: ReplayState | None = None
    """The current or last replay."""
    guessing: Guessing | None = None
    """The guesses in that match, if its moves are guessed."""
    servers: ServerList | None = None
    """The list of servers of the start menu."""
    has_warnings: bool = False
    """Whether the player wants warnings in matches against bots."""
    is_leaving: bool = False
    is_match_kept: bool = False
    """Whether a player who leaves keeps the live match instead of resigning or aborting it."""
    is_serving_on: bool = False
    """Whether our own server keeps running when its player leaves."""
    is_going_back: bool = False
    """Whether a player who leaves returns to the list of servers."""
    guest_of: str = ""
    """The code of the tournament that a player who leaves enters as a guest."""

    def as_guest_of(self, code: str) -> "Display":
        """Leave this connection for another one, as a guest in a tournament. Our matches and server go on."""
        return replace(self, is_leaving=True, is_match_kept=True, is_serving_on=True, guest_of=code)

    @property
    def learns_at(self) -> str:
        """The account with which the server keeps our mistakes to learn from; empty: only this machine does."""
        return self.account if "mistakes" in self.world.features else ""

    @property
    def match(self) -> Snapshot | None:
        """The shown match."""
        return self.world.matches.get(self.shown) if self.shown is not None else None

    @property
    def page(self) -> Page:
        """The visible page."""
        return self.pages[-1]

    def pages_under(self, match: Snapshot) -> tuple[Page, ...]:
        """Return the pages to return to from a live match of ours: the lobby, and the tournament that it belongs to."""
        place = match.tournament
        of_tournament = () if place is None else (Page("tournament", about=place.tournament),)
        return (*self.pages[:1], *of_tournament)

    def with_page(self, page: Page) -> "Display":
        """Return the display with another page in place of the visible one."""
        return replace(self, pages=(*self.pages[:-1], page))

    def in_world(self, world: World) -> "Display":
        """Return the display with another world; a match that no longer exists is not shown."""
        if self.shown is None or self.shown in world.matches:
            return replace(self, world=world)
        pages = tuple(page for page in self.pages if page.screen != "match")
        return replace(self, world=world, shown=None, pages=pages)

    def showing(self, match: Snapshot) -> "Display":
        """Return the display with a match on top of the open pages, without any pending input."""
        return replace(
            self,
            shown=match.match,
            cursor=first_cursor(match),
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
        """Whether we only watch the shown match."""
        return self.match is not None and self.match.you is None

    @property
    def is_my_turn(self) -> bool:
        """Whether it is our turn in the shown match."""
        match = self.match
        return match is not None and self.is_live and match.you is not None and match.you == match.position.to_move

    @property
    def elsewhere(self) -> Snapshot | None:
        """Another match of ours in which it is our turn."""
        world = self.world
        others = (match for name, match in world.matches.items() if name != self.shown and world.has_seat(name))
        live = (match for match in others if match.outcome is None and not match.adjourned)
        return next((match for match in live if match.position.to_move == match.you), None)

    @property
    def may_move(self) -> bool:
        """Whether it is our turn and no move of ours is pending."""
        return self.is_my_turn and self.under_way is None

    @property
    def under_way(self) -> PlayRequest | None:
        """Our pending move in the shown match, if any. Moves pending in other matches are ignored."""
        return self.pending if self.pending is not None and self.pending.match == self.shown else None

    @property
    def talkers(self) -> tuple[str, ...]:
        """The names of people who have written here, newest first, and of muted people; never our own."""
        ours = self.world.you.name if self.world.you is not None else None
        heard = dict.fromkeys(each.by.name for each in reversed(self.chat))
        return tuple(name for name in (*heard, *sorted(self.muted - heard.keys())) if name != ours)[:_MAX_TALKERS]

    def seat_of(self, name: str) -> Side | None:
        """Return the seat of a player in the shown match; None if they only watch, or if the server takes only names.

        Unlike a name, which a rename makes available to others, a seat always means the same player.
        """
        players = self.match.players if self.match is not None and "seats" in self.world.features else ()
        sides: tuple[Side, Side] = (0, 1)
        return next((side for side, player in zip(sides, players, strict=False) if player.name == name), None)

    def left_ms(self, side: int, now_ms: int) -> int | None:
        """Return the time left to `side` on the shown clock, or None without a clock."""
        return self.world.left_ms(self.match.match, side, now_ms) if self.match is not None else None

    def claim_in_ms(self, now_ms: int) -> int | None:
        """Return the time until we may claim the shown match, or None if the opponent is connected."""
        match = self.match
        if match is None or match.away is None or match.away.side == match.you or not self.is_live:
            return None
        return max(0, match.away.claim_in_ms - max(0, now_ms - self.world.away_at_ms.get(match.match, now_ms)))


def first_cursor(snapshot: Snapshot) -> int:
    """Return the middle cell, or the top cell of the middle column where marks fall."""
    height, width = snapshot.game.shape[-2:]
    row = 0 if snapshot.game.gravity and len(snapshot.game.shape) == 2 else (height - 1) // 2
    return row * width + (width - 1) // 2


class Command(Enum):
    """A command without arguments."""

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
"""Commands that differ between lists and boards, or exist only on lists."""


@dataclass(frozen=True, slots=True)
class Type:
    """Type more characters of a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose the `index`-th of the listed moves, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class Move:
    """Make the move of this complete name."""

    name: str


@dataclass(frozen=True, slots=True)
class Quick:
    """Make a move by one digit: the column where marks fall, or the cell in reading order on a small board."""

    digit: int


@dataclass(frozen=True, slots=True)
class Point:
    """Move the cursor to a cell, and mark it if that is legal."""

    cell: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request unchanged, and close the page on which it was chosen."""

    request: Request


@dataclass(frozen=True, slots=True)
class Open:
    """Open a page on top of the visible one."""

    page: Page


@dataclass(frozen=True, slots=True)
class Show:
    """Show a match of ours."""

    match: str


@dataclass(frozen=True, slots=True)
class Reopen:
    """Show a finished match: one of ours as a player, any other as a watcher."""

    match: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin to type a text on a line of its own."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Pick:
    """Move the cursor to a clicked row of the list, and carry out the row's command."""

    key: str


@dataclass(frozen=True, slots=True)
class Step:
    """Move the cursor of a list by a number of rows, or a replay by a number of plies."""

    rows: int


@dataclass(frozen=True, slots=True)
class PlayBot:
    """Challenge a bot that plays at the level."""

    level: int


@dataclass(frozen=True, slots=True)
class More:
    """Request another part of the list on a page."""

    page: Page
    request: Request


@dataclass(frozen=True, slots=True)
class Change:
    """A command of a single screen: `apply` returns the display after it, and the requests to send."""

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
    """Return the claims that are possible while the opponent is away, in the order of the list."""
    return ("win", "draw") if match.rated else ("win", "draw", "adjourn")
