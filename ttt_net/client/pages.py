"""The pages of the screen besides a match: which there are, where the cursor is on them, and what is heard for them."""

from dataclasses import dataclass
from enum import Enum

from ttt_net.clock import Speed, TimeControl
from ttt_net.messages import (
    AnalysisReply,
    Challenged,
    HistoryReply,
    InvitationReply,
    LeaderboardReply,
    LiveList,
    Opponents,
    PlayerList,
    Position,
    ProfileReply,
    SeekList,
    Snapshot,
    Suggestion,
)

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


class Kind(Enum):
    """What a page shows."""

    LOBBY = "lobby"
    MATCH = "match"
    GAMES = "games"
    INVITATION = "invitation"
    PROFILE = "profile"
    HISTORY = "history"
    LEADERS = "leaders"
    REPLAY = "replay"


class Entry(Enum):
    """What is being typed: a move by its name, or on a line of its own something else."""

    MOVE = "Move"
    CHAT = "Say"
    CODE = "Code or link"
    GAME = "Game"


class Purpose(Enum):
    """What a game is being chosen for."""

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

    kind: Kind
    row: str = ""
    place: int = 0
    about: str = ""
    purpose: Purpose = Purpose.PLAY
    games: tuple[str, ...] = ()
    """The games to choose from; none means all."""
    time: int = 0
    """Which of the time controls is chosen, or of the speeds on a page of ratings."""
    is_rated: bool = False
    opponents: Opponents = "people"
    """Who is welcome, where an opponent is sought."""
    ply: int = 0
    """The position that a replay is at."""


@dataclass(frozen=True, slots=True)
class PendingChallenge:
    """A challenge, and when we heard of it."""

    challenge: Challenged
    heard_at_ms: int

    def left_ms(self, now_ms: int) -> int:
        """Return how long it can still be answered."""
        return max(0, self.challenge.expires_in_ms - (now_ms - self.heard_at_ms))


@dataclass(frozen=True, slots=True)
class ReplayState:
    """A match that is stepped through: the positions that are there, by ply."""

    match: Snapshot
    positions: tuple[Position | None, ...]


@dataclass(frozen=True, slots=True)
class LobbyState:
    """What is heard of the others: the newest of each list."""

    is_subscribed: bool = False
    seeks: SeekList | None = None
    players: PlayerList | None = None
    live: LiveList | None = None
    challenges: tuple[PendingChallenge, ...] = ()
    suggestion: Suggestion | None = None
    invitation: InvitationReply | None = None
    invited_at_ms: int = 0
    profile: ProfileReply | None = None
    history: HistoryReply | None = None
    leaders: LeaderboardReply | None = None
    replayed: ReplayState | None = None
    analysis: AnalysisReply | None = None
