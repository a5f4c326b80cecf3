"""An event and a time go in, the next view comes out: what is heard of matches, of the link, and of the others."""

from dataclasses import replace
from types import MappingProxyType

from msgspec import structs

from ttt_net.client import page_words, words
from ttt_net.client.changes.update_lobby import gathered, told_anew, turned_down, unanswered, without_accepted
from ttt_net.client.events import RecordSaved, WorldEvent
from ttt_net.client.pages import Entry, Kind, Page
from ttt_net.client.view import LinkState, Overlay, View
from ttt_net.errors import Code
from ttt_net.messages import (
    Chatted,
    Declined,
    Ended,
    MatchEvent,
    Notice,
    Offered,
    Played,
    PlayRequest,
    Presence,
    Rated,
    Refused,
    Restarting,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    Tookback,
    UnseekRequest,
    Watching,
    WatchRequest,
    Welcome,
)
from ttt_net.sdk.events import Answered, Back, Farewell, Garbled, Lost, Retrying
from ttt_net.sdk.matches import follow

_OF_A_RESTART = "The server restarts in "
"""How the line begins that the server itself writes of a restart."""
MAX_CHAT = 50
"""What was said is kept so far back."""


def update(view: View, event: WorldEvent, now_ms: int) -> View:
    """Return the view after the event; `now_ms` is the local time, by which clocks tick."""
    match event:
        case Welcome():
            return replace(
                view,
                link=LinkState.ONLINE,
                trouble="",
                attempt=0,
                you=event.you,
                server=event.server,
                unfinished=tuple(event.matches),
                frozen_at_ms=None,
                lobby=told_anew(view.lobby),
                features=tuple(event.features),
                may_write=event.chat,
                restart_at_ms=None,
            )
        case Lost():
            view = replace(view, link=LinkState.LOST, trouble=event.reason, frozen_at_ms=now_ms)
            return replace(view, latency_ms=None, restart_at_ms=None)
        case Retrying():
            trouble = event.reason if view.link is LinkState.CONNECTING else view.trouble
            return replace(view, attempt=event.attempt, trouble=trouble)
        case Back():
            return replace(view, notice="Connected again; nothing is lost.")
        case Snapshot():
            return _with_snapshot(view, event, now_ms)
        case Presence():
            return _with_presence(view, event, now_ms)
        case Watching():
            return _with_watchers(view, event)
        case Chatted():
            return _with_chat(view, event)
        case Rated():
            return replace(view, rated=event)
        case Notice():
            return _noticed(view, event, now_ms)
        case Restarting():
            return replace(view, notice=words.restarting(view))
        case Answered():
            return _answered(view, event)
        case RecordSaved():
            return replace(view, notice=event.sentence)
        case Garbled():
            return replace(view, notice=f"Left out: {event.reason}")
        case Refused():
            return replace(view, notice=_sentence(event.message))
        case Farewell():
            return replace(view, farewell=event)
        case _ if isinstance(event, MatchEvent):
            return _with_fact(view, event, now_ms)
        case _:
            return gathered(view, event, now_ms)


def _noticed(view: View, notice: Notice, now_ms: int) -> View:
    """Take note of a line from the host, and of when the server restarts: what is counted down needs no other line."""
    in_ms = notice.restart_in_ms
    text = "" if in_ms is not None and notice.text.startswith(_OF_A_RESTART) else _sentence(notice.text)
    return replace(view, notice=text, restart_at_ms=now_ms + in_ms if in_ms is not None else None)


def _with_snapshot(view: View, snapshot: Snapshot, now_ms: int) -> View:
    if (snapshot.you is None and snapshot.match != view.watching) or _is_left(view, snapshot):
        return view
    before = view.matches.get(snapshot.match)
    is_new = before is None
    is_next = view.match is not None and view.match.next == snapshot.match
    is_ours = snapshot.you is not None
    view = _counted(view, before, snapshot)
    if is_new and is_ours and snapshot.outcome is None:
        lobby = without_accepted(view.lobby, snapshot)
        view = replace(view, seeking=None, lobby=replace(lobby, is_subscribed=False))
    is_busy = view.is_live and view.page.kind is Kind.MATCH
    is_shown = view.shown == snapshot.match or not is_busy
    if is_shown and is_ours and view.watching is not None:
        view = without(view, view.watching)
    view = _with_match(view, snapshot, snapshot.match if is_shown else view.shown)
    heard_at_ms, away_at_ms = ({**known, snapshot.match: now_ms} for known in (view.heard_at_ms, view.away_at_ms))
    view = replace(view, heard_at_ms=MappingProxyType(heard_at_ms), away_at_ms=MappingProxyType(away_at_ms))
    if is_shown and is_new:
        resumed = snapshot.match in view.unfinished and snapshot.outcome is None
        notice = "Your unfinished match goes on." if resumed else ""
        chat, pages = view.chat if is_next else (), _pages_under(view, snapshot)
        view = replace(on_screen(replace(view, pages=pages), snapshot), chat=chat, notice=notice)
    elif is_new and is_ours and snapshot.outcome is None and snapshot.match not in view.unfinished:
        view = replace(view, notice=words.begun(snapshot))
    elif snapshot.outcome is not None and is_shown:
        view = replace(view, notice="")
    return _settled(view)


def on_screen(view: View, match: Snapshot) -> View:
    """Put a match on the screen, on top of the pages that there are, with nothing begun there yet."""
    return replace(
        view,
        shown=match.match,
        cursor=_first_cursor(match),
        typed="",
        overlay=Overlay.NONE,
        entry=Entry.MOVE,
        chat=(),
        pages=(*view.pages, Page(Kind.MATCH)),
    )


def _is_left(view: View, snapshot: Snapshot) -> bool:
    return snapshot.outcome is not None and snapshot.match == view.left


def _pages_under(view: View, snapshot: Snapshot) -> tuple[Page, ...]:
    """Return the pages to come back to: what was asked for lies on the others, our own live match on the lobby."""
    if snapshot.outcome is None and snapshot.you is not None:
        return view.pages[:1]
    return tuple(page for page in view.pages if page.kind is not Kind.MATCH)


def _with_match(view: View, snapshot: Snapshot, shown: str | None) -> View:
    """Put the newest snapshot of a match in its place and forget matches that are over and not shown."""
    matches = {**view.matches, snapshot.match: snapshot}
    matches = {name: match for name, match in matches.items() if name == shown or match.outcome is None}
    heard_at_ms, away_at_ms = (
        MappingProxyType({name: at_ms for name, at_ms in known.items() if name in matches})
        for known in (view.heard_at_ms, view.away_at_ms)
    )
    return replace(view, matches=MappingProxyType(matches), shown=shown, heard_at_ms=heard_at_ms, away_at_ms=away_at_ms)


def _with_fact(view: View, fact: MatchEvent, now_ms: int) -> View:
    before = view.matches.get(fact.match)
    if before is None or fact.seq <= before.seq:
        return view
    after = follow(before, fact)
    view = _counted(view, before, after)
    if after.clock is not before.clock:
        view = replace(view, heard_at_ms=MappingProxyType({**view.heard_at_ms, fact.match: now_ms}))
    view = _with_match(view, after, view.shown)
    if fact.match != view.shown:
        if after.outcome is not None:
            return replace(view, notice=words.ended(after))
        return replace(view, notice="") if view.elsewhere is after else view  # our turn there is said in its place
    notice = view.notice if isinstance(fact, Offered) else ""
    overlay = Overlay.NONE if _closes(fact, view.overlay) else view.overlay
    if isinstance(fact, Declined) and fact.side != after.you:
        notice = f"Your {fact.kind} offer was declined." if _has_offer(before, after.you, fact.kind) else ""
    return _settled(replace(view, notice=notice, overlay=overlay))


def _closes(fact: MatchEvent, overlay: Overlay) -> bool:
    """Tell whether a question has lost its sense with the fact."""
    if overlay is Overlay.CHOICE:
        return isinstance(fact, Played | Tookback | Ended)
    return overlay in (Overlay.LEAVE, Overlay.CLAIM) and isinstance(fact, Ended)


def _has_offer(match: Snapshot, side: int | None, kind: str) -> bool:
    return any(offer.side == side and offer.kind == kind for offer in match.offers)


def _counted(view: View, before: Snapshot | None, after: Snapshot) -> View:
    """Count the result when this is the moment in which a match of ours ended."""
    is_end = before is not None and before.outcome is None and after.outcome is not None
    if not is_end or after.outcome is None or after.outcome.reason == "abort" or after.you is None:
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
    away_at_ms = {**view.away_at_ms, event.match: now_ms}
    return replace(view, matches=MappingProxyType(matches), away_at_ms=MappingProxyType(away_at_ms))


def _with_watchers(view: View, event: Watching) -> View:
    match = view.matches.get(event.match)
    if match is None:
        return view
    matches = {**view.matches, event.match: structs.replace(match, watchers=event.watchers)}
    return replace(view, matches=MappingProxyType(matches))


def _with_chat(view: View, event: Chatted) -> View:
    if event.match != view.shown or event.by.name in view.muted or view.is_deaf:
        return view
    is_ours = view.you is not None and event.by.name == view.you.name
    notice = view.notice if is_ours else page_words.chatted(event)
    return replace(view, chat=(*view.chat, event)[-MAX_CHAT:], notice=notice)


def _answered(view: View, event: Answered) -> View:
    if not isinstance(event.answer, Refused):
        return turned_down(view, event.request)
    if (
        isinstance(event.request, PlayRequest)
        and view.pending is not None
        and event.request.match == view.pending.match
    ):
        view = replace(view, pending=None)
    if isinstance(event.request, SeekRequest):
        view = replace(view, seeking=None)
    if isinstance(event.request, WatchRequest) and event.request.match == view.watching:
        name = event.request.match
        view = replace(view, watching=None) if view.has_seat(name) else without(view, name)
    if isinstance(event.request, ResumeRequest):
        return without(view, event.request.match) if event.answer.code == Code.UNKNOWN_MATCH else view
    if isinstance(event.request, UnseekRequest):
        return view
    view = unanswered(view, event.request)
    return replace(view, notice=_sentence(event.answer.message))


def without(view: View, name: str) -> View:
    """Return the view without a match that is no longer heard of."""
    matches = {other: match for other, match in view.matches.items() if other != name}
    shown = None if view.shown == name else view.shown
    watching = None if view.watching == name else view.watching
    pages = tuple(page for page in view.pages if shown is not None or page.kind is not Kind.MATCH)
    return replace(view, matches=MappingProxyType(matches), shown=shown, watching=watching, pages=pages)


def _settled(view: View) -> View:
    """Forget the move on its way once the match has gone past it, and one that is being written at its end."""
    if view.match is not None and view.match.outcome is not None and view.entry is Entry.MOVE:
        view = replace(view, typed="")
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
