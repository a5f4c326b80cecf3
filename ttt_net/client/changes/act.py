"""What comes of what a player does: an action changes his own part of the view, or becomes requests.

The requests have id 0; the connection numbers them.
"""

from dataclasses import replace

from ttt_net.client.changes.act_chat import ask_whom_to_mute, chat, muted
from ttt_net.client.changes.act_match import Effect, act_in_match, gone_on
from ttt_net.client.changes.act_page import act_on_page
from ttt_net.client.changes.series import followed, is_next_to_watch
from ttt_net.client.changes.update import without
from ttt_net.client.commands import (
    ON_LISTS,
    AnyCommand,
    Begin,
    Choose,
    Command,
    Open,
    Pick,
    Reopen,
    Send,
    Show,
    Step,
    Type,
)
from ttt_net.client.page_words import PHRASES, match_link, no_bot
from ttt_net.client.pages import TIMES, Entry, Kind, Page
from ttt_net.client.rows.lobby import challenge_to, free_bots
from ttt_net.client.rows.page import asks, request_for
from ttt_net.client.view import Overlay, View
from ttt_net.client.words import MAX_CODE, join_command
from ttt_net.errors import Code
from ttt_net.messages import (
    AbortRequest,
    JoinRequest,
    ListedPlayer,
    Refused,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekRequest,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.events import Answered

_LONGEST = {Entry.MOVE: 12, Entry.CHAT: 140, Entry.CODE: 120, Entry.GAME: 40}
"""How much may be typed of each."""
MAX_ID = 32
"""The longest id of a match."""


def act(view: View, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Return the view after the action and what to say to the server; `seek` is what `Command.NEW` asks for."""
    if view.overlay is Overlay.LEAVE and command not in (Command.LEAVE, Command.PLACE, Command.RESIGN):
        return replace(view, overlay=Overlay.NONE, notice="", is_going_back=False), ()
    view = replace(view, notice="")
    match command:
        case Command.HELP:
            return replace(view, overlay=Overlay.NONE if view.overlay is Overlay.HELP else Overlay.HELP), ()
        case Command.BACK:
            return _back(view, seek)
        case Command.ERASE:
            return replace(view, typed=view.typed[:-1]), ()
        case Type(text):
            return replace(view, typed=(view.typed + text)[: _LONGEST[view.entry]]), ()
        case Choose(index) if view.entry is Entry.CHAT:
            return replace(view, entry=Entry.MOVE, typed=""), chat(view, phrase=PHRASES[index])
        case Choose(index) if view.overlay is Overlay.MUTE:
            return muted(view, index)
        case Command.MUTE:
            return ask_whom_to_mute(view)
        case Command.NEW if is_next_to_watch(view):
            return followed(view)
        case Command.PLACE if view.entry is not Entry.MOVE:
            return _entered(view)
        case Begin(entry):
            return replace(view, entry=entry, typed="", overlay=Overlay.NONE), ()
        case Open(page):
            return opened(view, _as_wanted(page, seek) if page.kind is Kind.GAMES else page)
        case Reopen(name):
            return _reopened(view, name)
        case Command.COPY:
            return _copied(view), ()
        case Command.BOT:
            return _with_bot(view, view.seeking or seek)
        case Show(name):
            return gone_on(view, view.matches[name])
        case Send(request):
            return said(view, request)
        case _ if view.page.kind is Kind.MATCH or not (command in ON_LISTS or isinstance(command, Pick | Step)):
            return act_in_match(view, command, seek)
        case _:
            view, then, requests = act_on_page(view, command)
            return act(view, then, seek) if then is not None else (view, requests)


def _as_wanted(page: Page, seek: SeekRequest) -> Page:
    """Return a page of games with what was asked for the last time chosen, but for a game that it comes with."""
    time = TIMES.index(seek.time) if seek.time in TIMES else 0
    row = page.row or (f"game:{seek.games[0]}" if seek.games else "")
    return replace(page, row=row, time=time, opponents=seek.opponents)


def answered(view: View, event: Answered) -> tuple[Request, ...]:
    """Return what to say after an answer.

    Whoever leaves too late to call the match off resigns it. A search that is refused leaves an earlier one standing,
    which nobody would expect to lead to a match.
    """
    if not isinstance(event.answer, Refused):
        return ()
    if view.is_leaving and event.answer.code == Code.TOO_LATE and isinstance(event.request, AbortRequest):
        return (ResignRequest(0, match=event.request.match),)
    return (UnseekRequest(0),) if isinstance(event.request, SeekRequest) else ()


def said(view: View, request: Request) -> Effect:
    """Say a request; the page that it was chosen on closes."""
    if view.page.kind is Kind.GAMES:
        view = replace(view, pages=view.pages[:-1])
    match request:
        case SeekRequest():
            lobby = replace(view.lobby, suggestion=None)
            return replace(view, seeking=request, lobby=lobby), (request,)
        case UnseekRequest():
            return replace(view, seeking=None), (request,)
        case WatchRequest(match=name) if view.has_seat(name):
            return gone_on(view, view.matches[name])
        case WatchRequest(match=name, code=code):
            return replace(view, watching=name, watch_code=code), (request,)
        case _:
            return view, (request,)


def opened(view: View, page: Page) -> Effect:
    """Open a page, and ask for what stands on it; what an earlier one of its kind had asked for is forgotten."""
    lobby = view.lobby
    match page.kind:
        case Kind.LOBBY:
            lobby = replace(lobby, seeks=None, players=None, live=None)
        case Kind.PROFILE:
            lobby = replace(lobby, profile=None)
        case Kind.HISTORY:
            lobby = replace(lobby, history=None)
        case Kind.LEADERS:
            lobby = replace(lobby, leaders=None)
    return replace(view, pages=(*view.pages, page), overlay=Overlay.NONE, lobby=lobby), asks(page)


def _reopened(view: View, name: str) -> Effect:
    """Ask for a finished match: one of ours as a player, any other as a watcher."""
    history = view.lobby.history
    finished = next((each for each in history.matches if each.match == name), None) if history is not None else None
    is_ours = finished is not None and view.you is not None and view.you.name in (p.name for p in finished.players)
    if is_ours:
        return replace(view, left=None), (ResumeRequest(0, match=name, seq=0),)
    return said(replace(view, left=None), WatchRequest(0, match=name))


def _with_bot(view: View, seek: SeekRequest) -> Effect:
    """Challenge the bot that is chosen, or else the first that plays what is sought; the seek for people stands on."""
    bots = free_bots(view, seek)
    chosen = next((bot for bot in bots if view.page.row in _rows_of(bot)), next(iter(bots), None))
    if chosen is None:
        return replace(view, notice=no_bot(seek)), ()
    return said(view, challenge_to(chosen, seek))


def _rows_of(bot: ListedPlayer) -> tuple[str, str]:
    """Return the rows that a bot may have in the lobby: among those that play us, or among all players."""
    return f"bot:{bot.name}", f"player:{bot.name}"


def _copied(view: View) -> View:
    """Put on the clipboard what others need to come here: an invitation, or the link to the match."""
    invitation, match = view.lobby.invitation, view.match
    if view.page.kind is Kind.INVITATION and invitation is not None:
        text = join_command(view, invitation.code)
    elif match is not None:
        text = match_link(view, match)
    else:
        return view
    return replace(view, copied=text, notice=f"Copied, where the terminal allows it: {text}")


def _entered(view: View) -> Effect:
    """Take what was typed for what it is."""
    typed, entry = view.typed.strip(), view.entry
    view = replace(view, typed="", entry=Entry.MOVE)
    if not typed:
        return view, ()
    match entry:
        case Entry.CODE:
            return said(view, request_of(typed))
        case Entry.CHAT:
            return view, chat(view, text=typed)
        case Entry.GAME:
            return said(view, request_for(view.page, typed.lower()))
        case _:
            return view, ()


def request_of(text: str) -> Request:
    """Return what a code stands for, or a link to a match: `/j/CODE` and `CODE` join it, `/m/ID#CODE` is to watch."""
    _, is_link, place = text.rpartition("/m/")
    if is_link:
        name, _, code = place.partition("#")
        return WatchRequest(0, match=name[:MAX_ID] or "?", code=code[:MAX_CODE] or None)
    return JoinRequest(0, code=text.rpartition("/")[2].upper()[:MAX_CODE])


def _back(view: View, seek: SeekRequest) -> Effect:
    """Go back by one step: from a question, what is being typed, a page, a search, and to the servers."""
    if view.overlay is not Overlay.NONE:
        return replace(view, overlay=Overlay.NONE), ()
    if view.typed or view.entry is not Entry.MOVE:
        return replace(view, typed="", entry=Entry.MOVE), ()
    if len(view.pages) == 1 and view.seeking is not None:
        return said(view, UnseekRequest(0))
    if len(view.pages) == 1:
        return replace(view, is_leaving=view.has_doorway, is_going_back=view.has_doorway, shown=None), ()
    is_match, match = view.page.kind is Kind.MATCH, view.match
    if is_match and not view.has_lobby:
        return act_in_match(replace(view, is_going_back=view.has_doorway), Command.LEAVE, seek)
    view = replace(view, pages=view.pages[:-1], left=match.match if is_match and match is not None else view.left)
    if not is_match or match is None or view.is_live:
        return view, ()
    requests = (UnwatchRequest(0, match=match.match),) if view.watching == match.match else ()
    return without(view, match.match), requests
