"""Hold all that a client knows: the server, the link to it, the matches that it hears of, and the lobby.

Knows no screen and no rules of play: what is legal is what the server listed. `update_world` brings it up to date.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TypeVar

from ttt_net.messages import (
    Challenged,
    InvitationReply,
    PlayerInfo,
    Rated,
    SeekRequest,
    ServerMessage,
    Snapshot,
    Suggestion,
)
from ttt_net.sdk.events import Farewell
from ttt_net.sdk.matches import Tally
from ttt_net.sdk.trust import Trust

Reply = TypeVar("Reply", bound=ServerMessage)


class LinkState(Enum):
    """The state of the link to the server."""

    CONNECTING = "connecting"
    ONLINE = "online"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class PendingChallenge:
    """A challenge, and when we heard of it."""

    challenge: Challenged
    heard_at_ms: int

    def left_ms(self, now_ms: int) -> int:
        """Return how long it can still be answered."""
        return max(0, self.challenge.expires_in_ms - (now_ms - self.heard_at_ms))


@dataclass(frozen=True, slots=True)
class LobbyState:
    """The lobby as it concerns us: challenges, an invitation, and the bots that the server suggests."""

    is_subscribed: bool = False
    challenges: tuple[PendingChallenge, ...] = ()
    suggestion: Suggestion | None = None
    invitation: InvitationReply | None = None
    invited_at_ms: int = 0


_NO_MATCHES: Mapping[str, Snapshot] = MappingProxyType({})
_NO_REPLIES: Mapping[type[ServerMessage], ServerMessage] = MappingProxyType({})
_NEVER: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class World:
    """The state of the link, our matches and the lobby, as far as we know it.

    Times are local, in milliseconds, by the clock that `update_world` is given.
    """

    address: str = ""
    """The server as it was typed, or where it runs."""
    reachable: str = ""
    """The address as others on the network type it, once somebody was to be told it."""
    trust: Trust = field(default_factory=Trust)
    """How we trust the server, which friends have to be told as well."""
    is_secure: bool = False
    """Whether the link is encrypted."""
    is_hosting: bool = False
    """Whether the server is our own, which friends have to be told of."""
    server_goes_on: bool = True
    """Whether the server goes on when we leave; one of our own may end with us."""
    missed: tuple[str, ...] = ()
    """Our matches that ended while this player was away, as far as is known here."""
    guests: int = 0
    """How many others are on the server that is our own, as of when we were about to leave."""
    is_shared: bool = False
    """Whether two people sit at this keyboard: our side is then the one to move, and neither is told "you"."""
    link: LinkState = LinkState.CONNECTING
    trouble: str = ""
    """Why the link is lost, or cannot be had."""
    attempt: int = 0
    """Which attempt to connect is under way; 0 before the first has failed."""
    frozen_at_ms: int | None = None
    """Up to when the clocks ran if the link is lost."""
    latency_ms: int | None = None
    """The way to the server and back, once it is known."""
    you: PlayerInfo | None = None
    """Who we are to the server, once it has said so."""
    server: str = ""
    """The name that the server gives itself."""
    features: tuple[str, ...] = ()
    """What this server offers that not every one does."""
    may_write: bool = True
    """Whether the server lets people write to one another, besides the phrases."""
    restart_at_ms: int | None = None
    """When the server restarts, if it has said so."""
    unfinished: tuple[str, ...] = ()
    """The matches that were ours already when we came."""
    matches: Mapping[str, Snapshot] = field(default_factory=lambda: _NO_MATCHES)
    """Our matches and the one that is watched, each as its newest snapshot; ended ones until they are forgotten."""
    heard_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When the clock of each match was read."""
    away_at_ms: Mapping[str, int] = field(default_factory=lambda: _NEVER)
    """When it was heard, of each match, how long the opponent may be away."""
    watching: str | None = None
    """The match of others that we hear, or have asked for."""
    watch_code: str | None = None
    """The code that it was asked for with."""
    seeking: SeekRequest | None = None
    """The search that stands, or was asked for."""
    lobby: LobbyState = field(default_factory=LobbyState)
    replies: Mapping[type[ServerMessage], ServerMessage] = field(default_factory=lambda: _NO_REPLIES)
    """The newest message of each type that a screen shows as it is: lists of the lobby, answers to questions."""
    rated: Rated | None = None
    """What the end of a match did to the ratings."""
    tally: Tally = field(default_factory=Tally)
    farewell: Farewell | None = None
    """The last event of the connection, once it has come."""

    def reply(self, kind: type[Reply]) -> Reply | None:
        """Return the newest message of a type; None if there was none since its screen was opened."""
        found = self.replies.get(kind)
        return found if isinstance(found, kind) else None

    def with_reply(self, reply: ServerMessage) -> "World":
        """Return the world with the newest message of its type."""
        return replace(self, replies=MappingProxyType({**self.replies, type(reply): reply}))

    def without_replies(self, kinds: Container[type[ServerMessage]]) -> "World":
        """Return the world before any message of these types."""
        kept = {kind: reply for kind, reply in self.replies.items() if kind not in kinds}
        return replace(self, replies=MappingProxyType(kept))

    @property
    def challenge(self) -> Challenged | None:
        """The oldest challenge that waits for our answer."""
        challenges = (each.challenge for each in self.lobby.challenges)
        return next((each for each in challenges if self.you is None or each.by.name != self.you.name), None)

    def has_seat(self, name: str) -> bool:
        """Tell whether a match is one of those that we play."""
        match = self.matches.get(name)
        return match is not None and match.you is not None

    @property
    def has_unfinished_match(self) -> bool:
        """Whether a match of ours goes on, or is adjourned."""
        return any(self.has_seat(name) and match.outcome is None for name, match in self.matches.items())

    def left_ms(self, name: str, side: int, now_ms: int) -> int | None:
        """Return the time left to `side` on the clock of a match that is known, or None without a clock."""
        match = self.matches[name]
        if match.clock is None:
            return None
        until_ms = now_ms if self.frozen_at_ms is None else self.frozen_at_ms
        is_running = match.clock.running == side and match.outcome is None
        spent_ms = max(0, until_ms - self.heard_at_ms.get(name, until_ms)) if is_running else 0
        return max(0, match.clock.remaining_ms[side] - spent_ms)

    def lost_for_ms(self, now_ms: int) -> int | None:
        """Return for how long the link has been gone, or None while it stands."""
        if self.link is not LinkState.LOST or self.frozen_at_ms is None:
            return None
        return max(0, now_ms - self.frozen_at_ms)

    def restart_in_ms(self, now_ms: int) -> int | None:
        """Return how long it is until the server restarts, or None as long as it has not said that it will."""
        return max(0, self.restart_at_ms - now_ms) if self.restart_at_ms is not None else None

    def with_match(self, snapshot: Snapshot) -> "World":
        """Return the world with the newest snapshot of a match."""
        return replace(self, matches=MappingProxyType({**self.matches, snapshot.match: snapshot}))

    def without_match(self, name: str) -> "World":
        """Return the world without a match that is no longer heard of."""
        matches = {other: match for other, match in self.matches.items() if other != name}
        watching = None if self.watching == name else self.watching
        return replace(self, matches=MappingProxyType(matches), watching=watching)

    def without_ended(self, but: str | None) -> "World":
        """Return the world without the matches that are over; `but` names one to keep."""
        matches = {name: match for name, match in self.matches.items() if name == but or match.outcome is None}
        if len(matches) == len(self.matches):
            return self
        heard_at_ms, away_at_ms = (
            MappingProxyType({name: at_ms for name, at_ms in known.items() if name in matches})
            for known in (self.heard_at_ms, self.away_at_ms)
        )
        return replace(self, matches=MappingProxyType(matches), heard_at_ms=heard_at_ms, away_at_ms=away_at_ms)
