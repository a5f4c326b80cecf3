"""What comes of what a player does: an action changes his own part of the display, or becomes requests.

The requests have id 0; the connection numbers them.
"""

from dataclasses import replace

from ttt_net.client.changes.act_chat import ask_whom_to_mute, chat, muted
from ttt_net.client.changes.act_match import Effect, act_in_match, gone_on
from ttt_net.client.changes.act_page import act_on_page
from ttt_net.client.changes.series import followed, is_next_to_watch
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
from ttt_net.client.display import Display, Overlay
from ttt_net.client.page_words import PHRASES, match_link, no_bot
from ttt_net.client.pages import TIMES, Entry, Kind, Page
from ttt_net.client.rows.lobby import challenge_to, free_bots
from ttt_net.client.rows.page import asks, request_for
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


def act(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Return the display after the action and what to say to the server; `seek` is what `Command.NEW` asks for."""
    if display.overlay is Overlay.LEAVE and command not in (Command.LEAVE, Command.PLACE, Command.RESIGN):
        return replace(display, overlay=Overlay.NONE, notice="", is_going_back=False), ()
    display = replace(display, notice="")
    match command:
        case Command.HELP:
            return replace(display, overlay=Overlay.NONE if display.overlay is Overlay.HELP else Overlay.HELP), ()
        case Command.BACK:
            return _back(display, seek)
        case Command.ERASE:
            return replace(display, typed=display.typed[:-1]), ()
        case Type(text):
            return replace(display, typed=(display.typed + text)[: _LONGEST[display.entry]]), ()
        case Choose(index) if display.entry is Entry.CHAT:
            return replace(display, entry=Entry.MOVE, typed=""), chat(display, phrase=PHRASES[index])
        case Choose(index) if display.overlay is Overlay.MUTE:
            return muted(display, index)
        case Command.MUTE:
            return ask_whom_to_mute(display)
        case Command.NEW if is_next_to_watch(display):
            return followed(display)
        case Command.PLACE if display.entry is not Entry.MOVE:
            return _entered(display)
        case Begin(entry):
            return replace(display, entry=entry, typed="", overlay=Overlay.NONE), ()
        case Open(page):
            return opened(display, _as_wanted(page, seek) if page.kind is Kind.GAMES else page)
        case Reopen(name):
            return _reopened(display, name)
        case Command.COPY:
            return _copied(display), ()
        case Command.BOT:
            return _with_bot(display, display.world.seeking or seek)
        case Show(name):
            return gone_on(display, display.world.matches[name])
        case Send(request):
            return said(display, request)
        case _ if display.page.kind is Kind.MATCH or not (command in ON_LISTS or isinstance(command, Pick | Step)):
            return act_in_match(display, command, seek)
        case _:
            display, then, requests = act_on_page(display, command)
            return act(display, then, seek) if then is not None else (display, requests)


def _as_wanted(page: Page, seek: SeekRequest) -> Page:
    """Return a page of games with what was asked for the last time chosen, but for a game that it comes with."""
    time = TIMES.index(seek.time) if seek.time in TIMES else 0
    row = page.row or (f"game:{seek.games[0]}" if seek.games else "")
    return replace(page, row=row, time=time, opponents=seek.opponents)


def answered(display: Display, event: Answered) -> tuple[Request, ...]:
    """Return what to say after an answer.

    Whoever leaves too late to call the match off resigns it. A search that is refused leaves an earlier one standing,
    which nobody would expect to lead to a match.
    """
    if not isinstance(event.answer, Refused):
        return ()
    if display.is_leaving and event.answer.code == Code.TOO_LATE and isinstance(event.request, AbortRequest):
        return (ResignRequest(0, match=event.request.match),)
    return (UnseekRequest(0),) if isinstance(event.request, SeekRequest) else ()


def said(display: Display, request: Request) -> Effect:
    """Say a request; the page that it was chosen on closes."""
    if display.page.kind is Kind.GAMES:
        display = replace(display, pages=display.pages[:-1])
    match request:
        case SeekRequest():
            lobby = replace(display.world.lobby, suggestion=None)
            return replace(display, world=replace(display.world, seeking=request, lobby=lobby)), (request,)
        case UnseekRequest():
            return replace(display, world=replace(display.world, seeking=None)), (request,)
        case WatchRequest(match=name) if display.world.has_seat(name):
            return gone_on(display, display.world.matches[name])
        case WatchRequest(match=name, code=code):
            return replace(display, world=replace(display.world, watching=name, watch_code=code)), (request,)
        case _:
            return display, (request,)


def opened(display: Display, page: Page) -> Effect:
    """Open a page, and ask for what stands on it; what an earlier one of its kind had asked for is forgotten."""
    lobby = display.world.lobby
    match page.kind:
        case Kind.LOBBY:
            lobby = replace(lobby, seeks=None, players=None, live=None)
        case Kind.PROFILE:
            lobby = replace(lobby, profile=None)
        case Kind.HISTORY:
            lobby = replace(lobby, history=None)
        case Kind.LEADERS:
            lobby = replace(lobby, leaders=None)
    return replace(
        display, pages=(*display.pages, page), overlay=Overlay.NONE, world=replace(display.world, lobby=lobby)
    ), asks(page)


def _reopened(display: Display, name: str) -> Effect:
    """Ask for a finished match: one of ours as a player, any other as a watcher."""
    history = display.world.lobby.history
    finished = next((each for each in history.matches if each.match == name), None) if history is not None else None
    is_ours = (
        finished is not None
        and display.world.you is not None
        and display.world.you.name in (p.name for p in finished.players)
    )
    if is_ours:
        return replace(display, left=None), (ResumeRequest(0, match=name, seq=0),)
    return said(replace(display, left=None), WatchRequest(0, match=name))


def _with_bot(display: Display, seek: SeekRequest) -> Effect:
    """Challenge the bot that is chosen, or else the first that plays what is sought; the seek for people stands on."""
    bots = free_bots(display, seek)
    chosen = next((bot for bot in bots if display.page.row in _rows_of(bot)), next(iter(bots), None))
    if chosen is None:
        return replace(display, notice=no_bot(seek)), ()
    return said(display, challenge_to(chosen, seek))


def _rows_of(bot: ListedPlayer) -> tuple[str, str]:
    """Return the rows that a bot may have in the lobby: among those that play us, or among all players."""
    return f"bot:{bot.name}", f"player:{bot.name}"


def _copied(display: Display) -> Display:
    """Put on the clipboard what others need to come here: an invitation, or the link to the match."""
    invitation, match = display.world.lobby.invitation, display.match
    if display.page.kind is Kind.INVITATION and invitation is not None:
        text = join_command(display, invitation.code)
    elif match is not None:
        text = match_link(display, match)
    else:
        return display
    return replace(display, copied=text, notice=f"Copied, where the terminal allows it: {text}")


def _entered(display: Display) -> Effect:
    """Take what was typed for what it is."""
    typed, entry = display.typed.strip(), display.entry
    display = replace(display, typed="", entry=Entry.MOVE)
    if not typed:
        return display, ()
    match entry:
        case Entry.CODE:
            return said(display, request_of(typed))
        case Entry.CHAT:
            return display, chat(display, text=typed)
        case Entry.GAME:
            return said(display, request_for(display.page, typed.lower()))
        case _:
            return display, ()


def request_of(text: str) -> Request:
    """Return what a code stands for, or a link to a match: `/j/CODE` and `CODE` join it, `/m/ID#CODE` is to watch."""
    _, is_link, place = text.rpartition("/m/")
    if is_link:
        name, _, code = place.partition("#")
        return WatchRequest(0, match=name[:MAX_ID] or "?", code=code[:MAX_CODE] or None)
    return JoinRequest(0, code=text.rpartition("/")[2].upper()[:MAX_CODE])


def _back(display: Display, seek: SeekRequest) -> Effect:
    """Go back by one step: from a question, what is being typed, a page, a search, and to the servers."""
    if display.overlay is not Overlay.NONE:
        return replace(display, overlay=Overlay.NONE), ()
    if display.typed or display.entry is not Entry.MOVE:
        return replace(display, typed="", entry=Entry.MOVE), ()
    if len(display.pages) == 1 and display.world.seeking is not None:
        return said(display, UnseekRequest(0))
    if len(display.pages) == 1:
        return replace(display, is_leaving=display.has_doorway, is_going_back=display.has_doorway, shown=None), ()
    is_match, match = display.page.kind is Kind.MATCH, display.match
    if is_match and not display.has_lobby:
        return act_in_match(replace(display, is_going_back=display.has_doorway), Command.LEAVE, seek)
    display = replace(
        display, pages=display.pages[:-1], left=match.match if is_match and match is not None else display.left
    )
    if not is_match or match is None or display.is_live:
        return display, ()
    requests = (UnwatchRequest(0, match=match.match),) if display.world.watching == match.match else ()
    return display.in_world(display.world.without_match(match.match)), requests
