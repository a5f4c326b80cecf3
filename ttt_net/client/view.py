"""What a player sees, as one value: an event and a time go in, the next view comes out.

Knows no sockets, no terminal and no rules of play: what is legal is what the server listed. Renderers draw a view,
`actions` changes the parts of it that are the player's own (cursor, typed text, questions).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

from msgspec import structs

from ttt_net.client.events import Answered, Back, Event, Farewell, Garbled, Lost, Retrying
from ttt_net.client.follow import follow
from ttt_net.errors import Code
from ttt_net.messages import (
    Declined,
    Ended,
    Fact,
    Notice,
    Offered,
    Play,
    Played,
    PlayerInfo,
    Presence,
    Refused,
    Restarting,
    Resume,
    Seek,
    Snapshot,
    Tookback,
    Unseek,
    Watching,
    Welcome,
)


class Link(Enum):
    """Whether the server hears us."""

    CONNECTING = "connecting"
    ONLINE = "online"
    LOST = "lost"


class Overlay(Enum):
    """What lies over the board and takes the keys."""

    NONE = "none"
    HELP = "help"
    ASIDE = "aside"
    CHOICE = "choice"
    CLAIM = "claim"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Tally:
    """The matches that ended while we looked on as a player, without the aborted ones."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        """How many there were."""
        return self.won + self.drawn + self.lost


_NO_MATCHES: Mapping[str, Snapshot] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class View:
    """All that a renderer needs. `matches` are our live ones and the one shown, each as its newest snapshot."""

    address: str = ""
    link: Link = Link.CONNECTING
    trouble: str = ""
    attempt: int = 0
    you: PlayerInfo | None = None
    server: str = ""
    unfinished: tuple[str, ...] = ()
    """The matches that were ours already when we came."""
    matches: Mapping[str, Snapshot] = field(default_factory=lambda: _NO_MATCHES)
    shown: str | None = None
    heard_at_ms: int = 0
    """When the shown clock was read, and up to when it ran if the link is lost."""
    frozen_at_ms: int | None = None
    away_at_ms: int = 0
    """When it was heard how long the opponent may be away."""
    latency_ms: int | None = None
    """The way to the server and back, once it is known."""
    seeking: Seek | None = None
    pending: Play | None = None
    cursor: int = 0
    """The cell that Enter means; -1 where there is no cursor."""
    typed: str = ""
    overlay: Overlay = Overlay.NONE
    choices: tuple[int, ...] = ()
    notice: str = ""
    tally: Tally = Tally()
    is_leaving: bool = False
    farewell: Farewell | None = None

    @property
    def match(self) -> Snapshot | None:
        """The match on the screen."""
        return self.matches.get(self.shown) if self.shown is not None else None

    @property
    def is_live(self) -> bool:
        """Whether a match of ours is on the screen and goes on."""
        return self.match is not None and self.match.outcome is None

    @property
    def is_my_turn(self) -> bool:
        """Whether the shown match waits for our move."""
        match = self.match
        return match is not None and self.is_live and match.you is not None and match.you == match.position.to_move

    @property
    def may_move(self) -> bool:
        """Whether it is our turn and no move of ours is on its way."""
        return self.is_my_turn and self.pending is None

    def left_ms(self, side: int, now_ms: int) -> int | None:
        """Return what is left to `side` on the shown clock, or None without a clock."""
        if self.match is None or self.match.clock is None:
            return None
        clock = self.match.clock
        until_ms = now_ms if self.frozen_at_ms is None else self.frozen_at_ms
        spent_ms = max(0, until_ms - self.heard_at_ms) if clock.running == side and self.is_live else 0
        return max(0, clock.remaining_ms[side] - spent_ms)

    def lost_for_ms(self, now_ms: int) -> int | None:
        """Return for how long the link has been gone, or None while it stands."""
        if self.link is not Link.LOST or self.frozen_at_ms is None:
            return None
        return max(0, now_ms - self.frozen_at_ms)

    def claim_in_ms(self, now_ms: int) -> int | None:
        """Return how long it is until we may claim the shown match, or None when the opponent is not away."""
        match = self.match
        if match is None or match.away is None or match.away.side == match.you or not self.is_live:
            return None
        return max(0, match.away.claim_in_ms - max(0, now_ms - self.away_at_ms))


def update(view: View, event: Event, now_ms: int) -> View:
    """Return the view after the event; `now_ms` is the local time, by which clocks tick."""
    match event:
        case Welcome():
            return replace(
                view,
                link=Link.ONLINE,
                trouble="",
                attempt=0,
                you=event.you,
                server=event.server,
                unfinished=tuple(event.matches),
                frozen_at_ms=None,
            )
        case Lost():
            return replace(view, link=Link.LOST, trouble=event.reason, frozen_at_ms=now_ms, latency_ms=None)
        case Retrying():
            return replace(view, attempt=event.attempt)
        case Back():
            return replace(view, notice="Connected again; nothing is lost.")
        case Snapshot():
            return _with_snapshot(view, event, now_ms)
        case Presence():
            return _with_presence(view, event, now_ms)
        case Watching():
            return _with_watchers(view, event)
        case Notice():
            return replace(view, notice=event.text)
        case Restarting():
            return replace(view, notice="The server restarts; your match waits as it is.")
        case Answered():
            return _answered(view, event)
        case Garbled():
            return replace(view, notice=f"Left out: {event.reason}")
        case Refused():
            return replace(view, notice=_sentence(event.message))
        case Farewell():
            return replace(view, farewell=event)
        case _ if isinstance(event, Fact):
            return _with_fact(view, event, now_ms)
        case _:
            return view


def _with_snapshot(view: View, snapshot: Snapshot, now_ms: int) -> View:
    if snapshot.you is None:
        return view
    before = view.matches.get(snapshot.match)
    is_new = before is None
    view = _counted(view, before, snapshot)
    if is_new and snapshot.outcome is None:
        view = replace(view, seeking=None)
    is_shown = view.shown == snapshot.match or not view.is_live
    view = _with_match(view, snapshot, now_ms, snapshot.match if is_shown else view.shown)
    view = replace(view, away_at_ms=now_ms) if is_shown else view
    if is_shown and is_new:
        resumed = snapshot.match in view.unfinished and snapshot.outcome is None
        view = replace(
            view,
            cursor=_first_cursor(snapshot),
            typed="",
            overlay=Overlay.NONE,
            notice="Your unfinished match goes on." if resumed else "",
        )
    elif snapshot.outcome is not None and is_shown:
        view = replace(view, notice="")
    return _settled(view)


def _with_match(view: View, snapshot: Snapshot, now_ms: int, shown: str | None) -> View:
    """Put the newest snapshot of a match in its place and forget matches that are over and not shown."""
    matches = {**view.matches, snapshot.match: snapshot}
    matches = {name: match for name, match in matches.items() if name == shown or match.outcome is None}
    heard_at_ms = now_ms if snapshot.match == shown else view.heard_at_ms
    return replace(view, matches=MappingProxyType(matches), shown=shown, heard_at_ms=heard_at_ms)


def _with_fact(view: View, fact: Fact, now_ms: int) -> View:
    before = view.matches.get(fact.match)
    if before is None or fact.seq <= before.seq:
        return view
    after = follow(before, fact)
    view = _counted(view, before, after)
    view = _with_match(view, after, now_ms if after.clock is not before.clock else view.heard_at_ms, view.shown)
    if fact.match != view.shown:
        return view
    notice = view.notice if isinstance(fact, Offered) else ""
    overlay = Overlay.NONE if _closes(fact, view.overlay) else view.overlay
    if isinstance(fact, Declined) and fact.side != after.you:
        notice = f"Your {fact.kind} offer was declined." if _has_offer(before, after.you, fact.kind) else ""
    return _settled(replace(view, notice=notice, overlay=overlay))


def _closes(fact: Fact, overlay: Overlay) -> bool:
    """Tell whether a question has lost its sense with the fact."""
    if overlay is Overlay.CHOICE:
        return isinstance(fact, Played | Tookback | Ended)
    return overlay in (Overlay.LEAVE, Overlay.CLAIM) and isinstance(fact, Ended)


def _has_offer(match: Snapshot, side: int | None, kind: str) -> bool:
    return any(offer.side == side and offer.kind == kind for offer in match.offers)


def _counted(view: View, before: Snapshot | None, after: Snapshot) -> View:
    """Count the result when this is the moment in which a match of ours ended."""
    if before is None or before.outcome is not None or after.outcome is None or after.outcome.reason == "abort":
        return view
    tally, winner = view.tally, after.outcome.winner
    if winner is None:
        tally = replace(tally, drawn=tally.drawn + 1)
    elif winner == after.you:
        tally = replace(tally, won=tally.won + 1)
    else:
        tally = replace(tally, lost=tally.lost + 1)
    return replace(view, tally=tally)


def _with_presence(view: View, event: Presence, now_ms: int) -> View:
    match = view.matches.get(event.match)
    if match is None or event.side not in (0, 1):
        return view
    first, second = match.present
    present = (event.online, second) if event.side == 0 else (first, event.online)
    away = match.away if event.side == match.you else event.away
    matches = {**view.matches, event.match: structs.replace(match, present=present, away=away)}
    away_at_ms = now_ms if event.match == view.shown else view.away_at_ms
    return replace(view, matches=MappingProxyType(matches), away_at_ms=away_at_ms)


def _with_watchers(view: View, event: Watching) -> View:
    match = view.matches.get(event.match)
    if match is None:
        return view
    matches = {**view.matches, event.match: structs.replace(match, watchers=event.watchers)}
    return replace(view, matches=MappingProxyType(matches))


def _answered(view: View, event: Answered) -> View:
    if not isinstance(event.answer, Refused):
        return view
    if isinstance(event.request, Play) and view.pending is not None and event.request.match == view.pending.match:
        view = replace(view, pending=None)
    if isinstance(event.request, Seek):
        view = replace(view, seeking=None)
    if isinstance(event.request, Resume):
        return _without(view, event.request.match) if event.answer.code == Code.UNKNOWN_MATCH else view
    if isinstance(event.request, Unseek):
        return view
    return replace(view, notice=_sentence(event.answer.message))


def _without(view: View, name: str) -> View:
    matches = {other: match for other, match in view.matches.items() if other != name}
    shown = None if view.shown == name else view.shown
    return replace(view, matches=MappingProxyType(matches), shown=shown)


def _settled(view: View) -> View:
    """Forget the move on its way once the match has gone past it."""
    pending = view.pending
    if pending is None:
        return view
    match = view.matches.get(pending.match)
    has_passed = match is None or match.outcome is not None or match.position.ply != pending.ply
    return replace(view, pending=None) if has_passed else view


def _first_cursor(snapshot: Snapshot) -> int:
    """Return the middle cell, or the topmost of the middle column where marks fall."""
    height, width = snapshot.game.shape[-2:]
    row = 0 if snapshot.game.gravity and len(snapshot.game.shape) == 2 else (height - 1) // 2
    return row * width + (width - 1) // 2


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
