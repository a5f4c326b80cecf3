"""Map keys to commands, and return the result of a command: the next display and the requests to send.

The connection replaces the id 0 of these requests.

Keys have the names of prompt_toolkit (`up`, `c-m`, `a`). An overlay gets a key before its screen.
"""

from dataclasses import replace

from msgspec import structs

from ttt_net.client import words
from ttt_net.client.display import (
    ON_LISTS,
    AnyCommand,
    Begin,
    Change,
    Choose,
    Command,
    Display,
    Entry,
    More,
    Move,
    Open,
    Overlay,
    Page,
    Pick,
    PlayBot,
    Point,
    Quick,
    Reopen,
    Send,
    Show,
    Step,
    Type,
)
from ttt_net.client.screens.board_play import (
    PHRASES,
    act_in_match,
    ask_whom_to_mute,
    chat,
    followed,
    gone_on,
    is_next_to_watch,
    may_name_move,
    muted,
)
from ttt_net.client.screens.match_screen import QUESTIONS, choices
from ttt_net.client.screens.offers import challenge_to, chosen_bot, no_bot, request_for, request_of
from ttt_net.client.screens.registry import SCREENS, command_on_screen, rows_of, screen_of
from ttt_net.client.screens.rules_screen import AT_BOARD, help_on
from ttt_net.client.screens.screen import Effect, KeyHint, Row, cursor_of, moved, next_section
from ttt_net.client.words import join_command, match_link
from ttt_net.client.world import LinkState
from ttt_net.errors import Code
from ttt_net.messages import (
    AbortRequest,
    Refused,
    Request,
    ResignRequest,
    ResumeRequest,
    SeekRequest,
    Snapshot,
    UnseekRequest,
    UnwatchRequest,
    WatchRequest,
)
from ttt_net.sdk.received import Answered

_WRITING = {
    "c-m": Command.PLACE,
    "c-j": Command.PLACE,
    "escape": Command.BACK,
    "c-h": Command.ERASE,
    "backspace": Command.ERASE,
}
_MOVING = ("up", "down", "pageup", "pagedown", "home", "end", "c-i")
"""Keys that move the cursor of a list while the player types its filter."""
_EVERYWHERE = {**_WRITING, " ": Command.PLACE, "?": Command.HELP}
_LEAVING = {"y": Command.LEAVE, "r": Command.RESIGN, "w": Command.LET_WAIT}
"""Further keys that answer the question whether to leave a live match: yes, end it, or keep it for later."""
_TAKEN = {Entry.ADDRESS: "join", Entry.NAMES: "take", Entry.GAME: "take"}
"""The actions of Enter on typed texts that are not sent."""
_HOSTING = {"y": Command.LEAVE, "s": Command.SERVE_ON}
"""The answers to whether to end a server that has guests; with `r` in a live match. Any other key means no."""
_NARROW = 60
"""Below this width, one hint names both arrow keys."""
_LEAST_HINTS = 2
"""The last hints, which are shown at any width: how to leave, and how to list all keys."""


def command_for(key: str, display: Display) -> AnyCommand | None:
    """Return the command of a key in the current display, or None if it has none."""
    if display.entry is not Entry.MOVE:
        return _command_of_writing(key, display)
    screen = screen_of(display)
    if screen.entry is not None and key not in _WRITING:
        return command_on_screen(key, display) or (Type(key) if len(key) == 1 and key.isprintable() else None)
    if display.overlay is Overlay.HOSTING:
        return Command.RESIGN if key.lower() == "r" and display.is_live else _HOSTING.get(key.lower(), Command.BACK)
    if display.overlay is Overlay.DRAW:
        return Command.DRAW if key.lower() == "y" or key in ("c-m", "c-j") else Command.BACK
    if key in _EVERYWHERE:
        return _EVERYWHERE[key]
    if display.overlay is Overlay.LEAVE and key.lower() in _LEAVING:
        return _LEAVING[key.lower()]
    return command_on_screen(key, display)


def _command_of_writing(key: str, display: Display) -> AnyCommand | None:
    """Return the command of a key while the player types a text other than a move."""
    if display.entry is Entry.CHAT and not display.typed and len(key) == 1 and key in "12345678":
        return Choose(int(key) - 1)
    if display.entry is Entry.FILTER and key in _MOVING:
        return command_on_screen(key, display)
    return _WRITING.get(key) or (Type(key) if len(key) == 1 and key.isprintable() and _takes_text(display) else None)


def _takes_text(display: Display) -> bool:
    return display.entry is not Entry.CHAT or display.world.may_write


def _only_end(display: Display) -> str:
    match = display.match
    return "only call it off" if match is not None and words.is_called_off(match) else "only resign"


def _hints_of_writing(display: Display) -> list[KeyHint]:
    """Return the keys that matter while the player types a text other than a move."""
    if display.entry is Entry.FILTER:
        of_list = [hint for hint in screen_of(display).hints(display) if hint.press == "c-m"]
        return [*of_list, KeyHint("arrows", "choose"), KeyHint("Esc", "all", "escape")]
    phrases = [KeyHint("1-8", "a phrase")] if display.entry is Entry.CHAT else []
    send = [KeyHint("Enter", _TAKEN.get(display.entry, "send"), "c-m")] if _takes_text(display) else []
    return [*phrases, *send, KeyHint("Esc", "back", "escape")]


def hints(display: Display, width: int) -> list[KeyHint]:
    """Return the keys that matter now, the most needed first, as many as fit."""
    match = display.match
    if display.overlay is Overlay.HELP and display.has_lobby and display.page.screen not in AT_BOARD:
        return [KeyHint("?", "rules of a game", "?"), KeyHint("any other key:", "back", "escape")]
    if display.overlay in (Overlay.HELP, Overlay.SIDE_PANEL):
        return [KeyHint("any key:", "back", "escape")]
    if display.entry is not Entry.MOVE:
        return _hints_of_writing(display)
    if display.overlay is Overlay.HOSTING:
        stay = KeyHint("s", "let it run", "s")
        resign = [KeyHint("r", _only_end(display), "r")] if display.is_live else []
        return _shortened([KeyHint("y", "end it", "y"), stay, KeyHint("Esc", "no", "escape"), *resign], width)
    if display.overlay is Overlay.DRAW:
        return [KeyHint("y", "yes", "y"), KeyHint("Esc", "no", "escape")]
    if display.overlay is Overlay.LEAVE:
        waits = match is not None and words.does_wait(display.world, match)
        let_wait = [KeyHint("w", "leave, the match waits" if waits else "only leave", "w")] if display.has_lobby else []
        stay = KeyHint("r", _only_end(display), "r")
        return _shortened([KeyHint("y", "yes", "y"), KeyHint("Esc", "no", "escape"), *let_wait, stay], width)
    if display.page.screen == "match" and display.overlay in QUESTIONS:
        keys = f"1-{choices(display)}" if choices(display) > 1 else "1"
        return [KeyHint(keys, "choose"), KeyHint("Esc", "back", "escape")]
    if display.page.screen == "match" and display.typed:
        return [KeyHint("Enter", "place", "c-m"), KeyHint("Esc", "clear", "escape")]
    return _fitted(screen_of(display).hints(display), width)


def _shortened(found: list[KeyHint], width: int) -> list[KeyHint]:
    """Return the answers to a question, in fewer words if they do not fit a line, and without the last if need be."""
    if _width(found) > width:
        found = [replace(hint, label=hint.label.removeprefix("only ").partition(",")[0]) for hint in found]
    while _width(found) > width and len(found) > _LEAST_HINTS:
        del found[-1]
    return found


def _width(found: list[KeyHint]) -> int:
    return len("  ".join(hint.text for hint in found))


def _fitted(found: list[KeyHint], width: int) -> list[KeyHint]:
    """Return the first hints that fit a line, and always the last ones."""
    if width < _NARROW and any(hint.press == "left" for hint in found):
        found = [KeyHint("arrows", "step"), *(hint for hint in found if hint.press not in ("left", "right"))]
    while _width(found) > width and len(found) > _LEAST_HINTS:
        del found[-_LEAST_HINTS - 1]
    return found


_ACT_LEAVING = (Command.LEAVE, Command.PLACE, Command.RESIGN, Command.LET_WAIT)
"""Answers to whether to leave a live match; any other command means no."""
_OF_TYPING = (Command.BACK, Command.ERASE)
"""Commands for the typed text, and not for the list that it filters."""
_LONGEST = {
    **{Entry.MOVE: 12, Entry.CHAT: 140, Entry.CODE: 120, Entry.GAME: 40},
    **{Entry.ADDRESS: 80, Entry.NAMES: 60, Entry.FILTER: 40},
}
"""The maximal length of each kind of text, in characters."""


def act(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Return the display after the action, and the requests to send; `seek` is the request of `Command.NEW`."""
    if (effect := _in_overlay(display, command, seek)) is not None:
        return effect
    if command is Command.LEAVE and display.world.guests and display.overlay is not Overlay.LEAVE:
        return replace(display, overlay=Overlay.HOSTING, typed="", notice="", is_serving_on=False), ()
    display = replace(display, notice="")
    if display.entry is Entry.FILTER and isinstance(command, Pick | Step | Command) and command not in _OF_TYPING:
        display = _filtered(display)
    match command:
        case Command.HELP:
            led_to = help_on(display, display.world.seeking or seek)
            return opened(replace(display, typed=""), led_to) if isinstance(led_to, Page) else led_to
        case Command.BACK:
            return _back(display, seek)
        case Command.ERASE:
            return replace(display, typed=display.typed[:-1]), ()
        case Type(text):
            return _typed(display, text), ()
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
            return opened(display, SCREENS[page.screen].prepared(page, seek))
        case Reopen():
            return _reopened(display, command)
        case Command.COPY:
            return _copied(display), ()
        case Command.BOT:
            return _with_bot(display, display.world.seeking or seek)
        case PlayBot(level):
            return _with_bot(display, structs.replace(display.world.seeking or seek, level=level))
        case More(request=request):
            return said(display, request)
        case Change(apply):
            return apply(display)
        case Show(name):
            return gone_on(display, display.world.matches[name])
        case Send(request):
            return said(display, request)
        case Quick() | Move() | Point() | Choose() if (effect := screen_of(display).act(display, command)) is not None:
            return effect
        case _ if display.page.screen == "match" or not (command in ON_LISTS or isinstance(command, Pick | Step)):
            return act_in_match(display, command, seek)
        case _:
            return _act_on_list(display, command, seek)


def _in_overlay(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect | None:
    """Return the effect of a command on an open question or the help, or None if it has its usual meaning."""
    match display.overlay:
        case Overlay.LEAVE if command not in _ACT_LEAVING:
            return replace(display, overlay=Overlay.NONE, notice="", is_going_back=False, is_serving_on=False), ()
        case Overlay.DRAW if command not in (Command.DRAW, Command.PLACE):
            return replace(display, overlay=Overlay.NONE, notice=""), ()
        case Overlay.HOSTING:
            return _left_to_guests(display, command, seek)
        case Overlay.HELP if isinstance(command, Step):
            place = min(display.help_place + command.rows, 2 * len(screen_of(display).help(display)))
            return replace(display, help_place=max(0, place)), ()
        case _:
            return None


def answered(display: Display, event: Answered) -> tuple[Request, ...]:
    """Return the requests that follow from a refusal.

    A player who leaves too late to abort a casual match resigns it. A rated one would be lost, though they were told
    that it is called off, so it is kept: they can come back before the opponent claims it. If the server rejects a
    seek, an earlier one is withdrawn too, because the player would not expect it to lead to a match.
    """
    if not isinstance(event.answer, Refused):
        return ()
    request, is_resigning = event.request, display.is_leaving and not display.is_match_kept
    if is_resigning and event.answer.code == Code.TOO_LATE and isinstance(request, AbortRequest):
        return (ResignRequest(0, match=request.match),)
    return (UnseekRequest(0),) if isinstance(request, SeekRequest) else ()


def said(display: Display, request: Request) -> Effect:
    """Send a request, and close the page on which it was chosen."""
    if screen_of(display).is_form:
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
            pictured = display.featured
            display = replace(display, featured=None, world=replace(display.world, watching=name, watch_code=code))
            if pictured == name and name in display.world.matches:
                return display.showing(display.world.matches[name]), ()
            if pictured in (None, name):
                return display, (request,)
            return display.in_world(display.world.without_match(pictured)), (UnwatchRequest(0, match=pictured), request)
        case _:
            return display, (request,)


def opened(display: Display, page: Page) -> Effect:
    """Open a page and request its content; drop earlier requests for the same kind of page."""
    screen = SCREENS[page.screen]
    world = display.world.without_replies(screen.replies)
    return replace(display, pages=(*display.pages, page), overlay=Overlay.NONE, world=world), screen.requests(page)


def _reopened(display: Display, command: Reopen) -> Effect:
    """Ask for a finished match."""
    if command.is_ours:
        return replace(display, left=None), (ResumeRequest(0, match=command.match, seq=0),)
    return said(replace(display, left=None), WatchRequest(0, match=command.match))


def _left_to_guests(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Leave our own server: end it, or keep it running for its guests."""
    display = replace(display, overlay=Overlay.NONE, is_serving_on=command is Command.SERVE_ON)
    if command is Command.RESIGN:
        return act_in_match(replace(display, overlay=Overlay.LEAVE), command, seek)
    if command not in (Command.LEAVE, Command.SERVE_ON):
        return display, ()
    return act(replace(display, world=replace(display.world, guests=0)), Command.LEAVE, seek)


def _with_bot(display: Display, seek: SeekRequest) -> Effect:
    """Challenge a bot; the seek for people stays open."""
    bot = chosen_bot(display, seek)
    return said(display, challenge_to(bot, seek)) if bot is not None else (replace(display, notice=no_bot(seek)), ())


def _filtered(display: Display) -> Display:
    """Keep the typed filter, and treat keys as commands again."""
    page = replace(display.page, filter=display.typed.strip())
    return replace(display.with_page(page), entry=Entry.MOVE, typed="")


def _typed(display: Display, text: str) -> Display:
    """Append to the typed text.

    Text pasted into the lobby begins an invitation code; elsewhere it is ignored unless typing has begun.
    """
    entry = screen_of(display).entry
    page = display.page.screen
    if entry is None and display.entry is Entry.MOVE:
        if page == "lobby" and display.has_lobby:
            entry = Entry.CODE
        elif page not in ("puzzle", "guess") and not (page == "match" and may_name_move(display)):
            return display
    display = replace(display, entry=entry) if entry is not None else display
    return replace(display, typed=(display.typed + text)[: _LONGEST[display.entry]])


def _copied(display: Display) -> Display:
    """Copy an invitation, or the link to the match, to the clipboard."""
    invitation, match = display.world.lobby.invitation, display.match
    if display.page.screen == "invitation" and invitation is not None:
        text = join_command(display, invitation.code)
    elif match is not None:
        text = match_link(display, match)
    else:
        return display
    return replace(display, copied=text, notice=f"Copied, where the terminal allows it: {text}")


def _entered(display: Display) -> Effect:
    """Interpret the typed text."""
    typed, entry = display.typed.strip(), display.entry
    display = replace(display, typed="", entry=Entry.MOVE)
    if not typed:
        return display, ()
    match entry:
        case Entry.CODE:
            return said(display, request_of(typed))
        case Entry.CHAT:
            return display, chat(display, text=typed)
        case Entry.GAME if display.page.screen == "games":
            return said(display, request_for(display.page, typed.lower(), display.world.added_games))
        case Entry.ADDRESS | Entry.NAMES | Entry.GAME:
            return screen_of(display).entered(display, typed)
        case _:
            return display, ()


def _back(display: Display, seek: SeekRequest) -> Effect:
    """Go back one step: from a question, a typed text, a page or a search, and finally to the list of servers."""
    if display.overlay is not Overlay.NONE:
        return replace(display, overlay=Overlay.NONE), ()
    if display.typed or display.entry is not Entry.MOVE:
        return replace(display, typed="", entry=Entry.MOVE), ()
    if (effect := screen_of(display).act(display, Command.BACK)) is not None:
        return effect
    if len(display.pages) == 1 and display.world.seeking is not None:
        return said(display, UnseekRequest(0))
    if len(display.pages) == 1:
        return replace(
            display, is_leaving=display.has_server_picker, is_going_back=display.has_server_picker, shown=None
        ), ()
    is_match, match = display.page.screen == "match", display.match
    if is_match and not display.has_lobby:
        return act_in_match(replace(display, is_going_back=display.has_server_picker), Command.LEAVE, seek)
    display = replace(
        display, pages=display.pages[:-1], left=match.match if is_match and match is not None else display.left
    )
    if not is_match or match is None or display.is_live:
        return display, ()
    requests = (UnwatchRequest(0, match=match.match),) if display.world.watching == match.match else ()
    return display.in_world(display.world.without_match(match.match)), requests


def _act_on_list(display: Display, command: AnyCommand, seek: SeekRequest) -> Effect:
    """Carry out a command on a list, unless the screen handles it."""
    if (effect := screen_of(display).act(display, command)) is not None:
        return effect
    rows = rows_of(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    match command:
        case Command.UP | Command.DOWN:
            return _moved(display, rows, at, command.value[1]), ()
        case Step(by):
            return _moved(display, rows, at, by), ()
        case Command.SECTION if at is not None:
            return _at(display, rows, next_section(rows, at)), ()
        case Command.PLACE if at is not None:
            return _chosen(display, rows, at, seek)
        case Pick(key):
            index = next((n for n, row in enumerate(rows) if row.key == key and row.enter is not None), None)
            return (display, ()) if index is None else _chosen(display, rows, index, seek)
        case Command.LEAVE if display.is_live and Page("match") in display.pages:  # above the board: ask there
            below = display.pages[: display.pages.index(Page("match")) + 1]
            return act_in_match(replace(display, pages=below), command, seek)
        case Command.LEAVE if (match := _at_risk(display)) is not None:
            display, requests = gone_on(display, match)
            display, asked = act_in_match(display, command, seek)
            return display, (*requests, *asked)
        case Command.LEAVE:
            return replace(display, is_leaving=True, shown=None), ()
        case _:
            return display, ()


def _at_risk(display: Display) -> Snapshot | None:
    """Return a live match of ours that the opponent can claim if we leave now, if there is one."""
    world = display.world
    if world.link is not LinkState.ONLINE:
        return None
    ours = (match for name, match in world.matches.items() if world.has_seat(name) and match.outcome is None)
    return next((match for match in ours if not words.does_wait(world, match)), None)


def _chosen(display: Display, rows: list[Row], index: int, seek: SeekRequest) -> Effect:
    """Move the cursor to a row, and carry out the row's command."""
    display, enter = _at(display, rows, index), rows[index].enter
    return act(display, enter, seek) if enter is not None else (display, ())


def _moved(display: Display, rows: list[Row], at: int | None, by: int) -> Display:
    if at is None:  # without rows to choose from, the text scrolls
        return display.with_page(replace(display.page, place=max(0, min(display.page.place + by, len(rows) - 1))))
    return _at(display, rows, moved(rows, at, by))


def _at(display: Display, rows: list[Row], index: int) -> Display:
    return display.with_page(replace(display.page, row=rows[index].key, place=index))
