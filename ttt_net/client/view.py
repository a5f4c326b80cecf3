"""What a player sees, as one value. `update` brings it up to date, `act` changes what is the player's own.

Knows no sockets, no terminal and no rules of play: what is legal is what the server listed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from ttt_net.client.pages import Entry, Kind, LobbyState, Page
from ttt_net.messages import Challenged, Chatted, PlayerInfo, PlayRequest, Rated, SeekRequest, Snapshot
from ttt_net.sdk.events import Farewell
from ttt_net.sdk.matches import Tally
from ttt_net.sdk.trust import Trust


class LinkState(Enum):
    """Whether the server hears us."""

    CONNECTING = "connecting"
    ONLINE = "online"
    LOST = "lost"


class Overlay(Enum):
    """What lies over a page and takes the keys."""

    NONE = "none"
    HELP = "help"
    SIDE_PANEL = "aside"
    CHOICE = "choice"
    CLAIM = "claim"
    LEAVE = "leave"
    MUTE = "mute"


_MAX_TALKERS = 6
"""Of those who were heard at a match, so many can be chosen from."""
_NO_MATCHES: Mapping[str, Snapshot] = MappingProxyType({})
_NEVER: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class View:
    """All that a renderer needs. `matches` are our live ones and the one shown, each as its newest snapshot."""

    address: str = ""
    reachable: str = ""
    """The address as others on the network type it, once somebody was to be told it."""
    trust: Trust = field(default_factory=Trust)
    """How we trust the server, which friends have to be told as well."""
    is_secure: bool = False
    """Whether what is said to it is encrypted."""
    has_doorway: bool = False
    """Whether one came by a list of servers, and may go back to it."""
    is_hosting: bool = False
    """Whether the server is our own, which friends have to be told of."""
    link: LinkState = LinkState.CONNECTING
    trouble: str = ""
    attempt: int = 0
    you: PlayerInfo | None = None
    server: str = ""
    unfinished: tuple[str, ...] = ()
    """The matches that were ours already when we came."""
    matches: Mapping[str, Snapshot] = field(default_factory=lambda: _NO_MATCHES)
    shown: str | None = None
    heard_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When the clock of each match was read."""
    frozen_at_ms: int | None = None
    """Up to when the clocks ran if the link is lost."""
    away_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When it was heard, of each match, how long the opponent may be away."""
    latency_ms: int | None = None
    """The way to the server and back, once it is known."""
    seeking: SeekRequest | None = None
    is_arriving: bool = False
    """Whether the match that we came for, or the code for it, was asked for and is not there yet."""
    pages: tuple[Page, ...] = (Page(Kind.LOBBY),)
    """The pages that lie on one another; the last is seen, Escape goes back to the one before."""
    lobby: LobbyState = field(default_factory=LobbyState)
    watching: str | None = None
    """The match of others that we look at, or have asked for."""
    watch_code: str | None = None
    """The code that it was asked for with."""
    chat: tuple[Chatted, ...] = ()
    """What was said in the shown match, the newest last."""
    muted: frozenset[str] = frozenset()
    """The names of those whom we do not want to hear."""
    is_deaf: bool = False
    """Whether we want to hear nobody."""
    may_write: bool = True
    """Whether the server lets people write to one another, besides the phrases."""
    features: tuple[str, ...] = ()
    """What this server offers that not every one does."""
    restart_at_ms: int | None = None
    """When the server restarts, if it has said so."""
    has_lobby: bool = True
    rated: Rated | None = None
    """What the end of a match did to the ratings."""
    left: str | None = None
    """The finished match that was left; it comes back on the screen only if it is asked for."""
    pending: PlayRequest | None = None
    cursor: int = 0
    """The cell that Enter means; -1 where there is no cursor."""
    entry: Entry = Entry.MOVE
    """What is being typed."""
    typed: str = ""
    copied: str = ""
    """What was last put on the clipboard."""
    overlay: Overlay = Overlay.NONE
    choices: tuple[int, ...] = ()
    notice: str = ""
    tally: Tally = field(default_factory=Tally)
    is_leaving: bool = False
    is_going_back: bool = False
    """Whether one who leaves goes back to where servers are chosen."""
    farewell: Farewell | None = None

    @property
    def match(self) -> Snapshot | None:
        """The match on the screen."""
        return self.matches.get(self.shown) if self.shown is not None else None

    @property
    def page(self) -> Page:
        """The page that is seen."""
        return self.pages[-1]

    def with_page(self, page: Page) -> "View":
        """Return the view with another page in place of the one that is seen."""
        return replace(self, pages=(*self.pages[:-1], page))

    @property
    def challenge(self) -> Challenged | None:
        """The oldest challenge that waits for our answer."""
        challenges = (each.challenge for each in self.lobby.challenges)
        return next((each for each in challenges if self.you is None or each.by.name != self.you.name), None)

    @property
    def is_live(self) -> bool:
        """Whether a match of ours is the shown one and goes on."""
        match = self.match
        return match is not None and match.outcome is None and match.you is not None

    def has_seat(self, name: str) -> bool:
        """Tell whether a match is one of those that we play."""
        match = self.matches.get(name)
        return match is not None and match.you is not None

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
        others = (match for name, match in self.matches.items() if name != self.shown and self.has_seat(name))
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
        """The names of those whom we have heard here, the newest first, or muted; never our own."""
        ours = self.you.name if self.you is not None else None
        heard = dict.fromkeys(each.by.name for each in reversed(self.chat))
        return tuple(name for name in (*heard, *sorted(self.muted - heard.keys())) if name != ours)[:_MAX_TALKERS]

    def left_ms(self, side: int, now_ms: int) -> int | None:
        """Return what is left to `side` on the shown clock, or None without a clock."""
        if self.match is None or self.match.clock is None:
            return None
        clock = self.match.clock
        until_ms = now_ms if self.frozen_at_ms is None else self.frozen_at_ms
        is_running = clock.running == side and self.match.outcome is None
        spent_ms = max(0, until_ms - self.heard_at_ms.get(self.match.match, until_ms)) if is_running else 0
        return max(0, clock.remaining_ms[side] - spent_ms)

    def lost_for_ms(self, now_ms: int) -> int | None:
        """Return for how long the link has been gone, or None while it stands."""
        if self.link is not LinkState.LOST or self.frozen_at_ms is None:
            return None
        return max(0, now_ms - self.frozen_at_ms)

    def restart_in_ms(self, now_ms: int) -> int | None:
        """Return how long it is until the server restarts, or None as long as it has not said that it will."""
        return max(0, self.restart_at_ms - now_ms) if self.restart_at_ms is not None else None

    def claim_in_ms(self, now_ms: int) -> int | None:
        """Return how long it is until we may claim the shown match, or None when the opponent is not away."""
        match = self.match
        if match is None or match.away is None or match.away.side == match.you or not self.is_live:
            return None
        return max(0, match.away.claim_in_ms - max(0, now_ms - self.away_at_ms.get(match.match, now_ms)))
