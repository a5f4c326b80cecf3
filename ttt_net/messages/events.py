"""The numbered events of a match, which are decided, journaled, applied and told, in this order."""

from ttt_net.clock import TimeControl
from ttt_net.messages.types import UNSCORED, ClockInfo, OfferKind, PlayerInfo, Position, ServerMessage


class Started(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match began. `previous` is the match that it is the rematch of, `score` that of the series so far.

    `start` is the position that it begins from, if not the usual one; ply 0 is there.
    """

    match: str
    seq: int
    at_ms: int
    game: str
    players: tuple[PlayerInfo, PlayerInfo]
    time: TimeControl | None = None
    previous: str | None = None
    private: bool = False
    rated: bool = False
    score: tuple[float, float] = UNSCORED
    code: str | None = None
    start: str | None = None


class Played(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` made `move`, the `ply`-th of the match; `position`, which is always told, is what came of it.

    `refunded_ms` of the mover's time were given back for what the move spent on the network.
    """

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    move: int
    refunded_ms: int = 0
    clock: ClockInfo | None = None
    position: Position | None = None


class Tookback(ServerMessage, frozen=True, omit_defaults=True):
    """Event: moves were taken back, so that `ply` moves are made, as `side` had asked; `position` is always told."""

    match: str
    seq: int
    at_ms: int
    side: int
    ply: int
    clock: ClockInfo | None = None
    position: Position | None = None


class Offered(ServerMessage, frozen=True):
    """Event: `side` makes an offer: name its `seq` to accept or decline it. A move ends all offers."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Declined(ServerMessage, frozen=True):
    """Event: `side` turned the offer down, or took its own back."""

    match: str
    seq: int
    at_ms: int
    side: int
    kind: OfferKind


class Adjourned(ServerMessage, frozen=True, omit_defaults=True):
    """Event: `side` adjourned the match, because the other player is away. It goes on when both are here."""

    match: str
    seq: int
    at_ms: int
    side: int
    clock: ClockInfo | None = None


class Ended(ServerMessage, frozen=True, omit_defaults=True):
    """Event: the match is over. `winner` is null for a draw or an abort."""

    match: str
    seq: int
    at_ms: int
    winner: int | None
    reason: str
    clock: ClockInfo | None = None


class Rematched(ServerMessage, frozen=True):
    """Event: the match goes on in match `next`, with the sides swapped."""

    match: str
    seq: int
    at_ms: int
    next: str


MatchEvent = Started | Played | Tookback | Offered | Declined | Adjourned | Ended | Rematched
"""Any event of a match. A match is its list of events."""
