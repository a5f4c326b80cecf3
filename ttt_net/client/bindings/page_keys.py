"""The keys of the pages that are lists, and the lines that say which there are."""

from collections.abc import Callable

from ttt_net.client.bindings.hints import HELP, LEAVE, Hint
from ttt_net.client.commands import AnyCommand, Begin, Command, Open, Pick, Send, Step
from ttt_net.client.display import Display
from ttt_net.client.pages import Entry, Kind, Page, Purpose
from ttt_net.client.rows.lobby import live_of_others
from ttt_net.client.rows.page import rows_of
from ttt_net.client.rows.row import Row, cursor_of
from ttt_net.client.words import opponent_of
from ttt_net.client.world import LinkState
from ttt_net.messages import AnswerRequest, Challenged, WatchRequest

_FAR = 10
_A_RATED_GAME = "connect4"
_NAMED: dict[str, AnyCommand] = {
    "up": Command.UP,
    "down": Command.DOWN,
    "left": Command.LEFT,
    "right": Command.RIGHT,
    "pageup": Step(-_FAR),
    "pagedown": Step(_FAR),
    "home": Step(-1000),
    "end": Step(1000),
    "k": Command.UP,
    "j": Command.DOWN,
    "c-i": Command.SECTION,
    "q": Command.LEAVE,
}
_LOBBY: dict[str, AnyCommand] = {
    "p": Open(Page(Kind.GAMES, purpose=Purpose.PLAY)),
    "i": Open(Page(Kind.GAMES, purpose=Purpose.INVITE)),
    "c": Begin(Entry.CODE),
    "b": Command.BOT,
    "a": Command.ACCEPT,
    "d": Command.DECLINE,
    "o": Open(Page(Kind.PROFILE)),
    "h": Open(Page(Kind.HISTORY)),
}
_LEADERS: dict[str, AnyCommand] = {"t": Command.TIME, "g": Command.GAME}
_GAMES: dict[str, AnyCommand] = {"t": Command.TIME, "r": Command.RATED}
_REPLAY: dict[str, AnyCommand] = {"h": Command.LEFT, "l": Command.RIGHT, "home": Command.FIRST, "end": Command.LAST}
_INVITATION: dict[str, AnyCommand] = {"y": Command.COPY}
_LETTERS = {
    Kind.LOBBY: _LOBBY,
    Kind.GAMES: _GAMES,
    Kind.INVITATION: _INVITATION,
    Kind.LEADERS: _LEADERS,
    Kind.REPLAY: _REPLAY,
}


def command_on_page(key: str, display: Display) -> AnyCommand | None:
    """Return what a key means on the page that is seen, or None when it means nothing."""
    key = key.lower() if len(key) == 1 else key
    kind = display.page.kind
    if kind is Kind.LOBBY and not display.has_lobby:
        return Command.LEAVE if key == "q" else None
    if kind is Kind.REPLAY and key in _REPLAY:
        return _REPLAY[key]
    if key in _NAMED:
        return _NAMED[key]
    if kind is Kind.GAMES and key.isdecimal() and key.isascii():
        return next((Pick(row.key) for row in rows_of(display, 0) if row.cells[0] == key), None)
    if kind is Kind.LOBBY and key in _OF_THE_ROW:
        return _OF_THE_ROW[key](display)
    return _LETTERS[kind].get(key) if kind in _LETTERS else None


def _chosen(display: Display) -> tuple[str, str]:
    """Return what kind of row the cursor is on, and which one."""
    rows = rows_of(display, 0)
    at = cursor_of(rows, display.page.row, display.page.place)
    kind, _, name = rows[at].key.partition(":") if at is not None else ("", "", "")
    return kind, name


def _watch(display: Display) -> AnyCommand | None:
    """Return how to watch the match that is chosen, or else the first: the featured one."""
    live = live_of_others(display)
    chosen = next((match for match in live if ("live", match.match) == _chosen(display)), None)
    match = chosen or next(iter(live), None)
    return Send(WatchRequest(0, match=match.match)) if match is not None else None


def _profile(display: Display) -> AnyCommand | None:
    """Return how to see who the player is whom the row is about."""
    kind, name = _chosen(display)
    match kind:
        case "own":
            name = opponent_of(display.world.matches[name]).name
        case "challenge":
            challenges = (each.challenge for each in display.world.lobby.challenges)
            name = next((_other_of(display, each) for each in challenges if str(each.challenge) == name), "")
        case "seek":
            seeks = display.world.lobby.seeks.seeks if display.world.lobby.seeks is not None else []
            name = next((seek.by.name for seek in seeks if str(seek.seek) == name), "")
        case "live":
            return None
    return Open(Page(Kind.PROFILE, about=name)) if name else None


def _other_of(display: Display, challenge: Challenged) -> str:
    is_ours = display.world.you is not None and challenge.by.name == display.world.you.name
    return challenge.to.name if is_ours else challenge.by.name


def _leaders(display: Display) -> AnyCommand:
    """Return how to see the best at the game that was last sought."""
    games = display.world.seeking.games if display.world.seeking is not None else []
    return Open(Page(Kind.LEADERS, about=games[0] if games else _A_RATED_GAME))


_OF_THE_ROW: dict[str, Callable[[Display], AnyCommand | None]] = {"w": _watch, "v": _profile, "l": _leaders}


_BACK = Hint("Esc", "back", "escape")
_RATED = Hint("r", "rated", "r")
_CHOOSE = Hint("Enter", "choose", "c-m")
_HINTS = {
    Kind.GAMES: [_CHOOSE, _BACK, Hint("t", "clock", "t"), _RATED],
    Kind.INVITATION: [Hint("y", "copy", "y"), _BACK],
    Kind.PROFILE: [_CHOOSE, _BACK],
    Kind.HISTORY: [_CHOOSE, _BACK],
    Kind.LEADERS: [Hint("Enter", "profile", "c-m"), _BACK, Hint("t", "speed", "t"), Hint("g", "game", "g")],
    Kind.REPLAY: [
        *(Hint("left", "", "left"), Hint("right", "", "right"), _BACK),
        *(Hint("Home", "", "home"), Hint("End", "", "end")),
    ],
}
_VERBS = {
    "own": "go on",
    "bot": "play",
    "invitation": "show code",
    "seek": "play",
    "player": "challenge",
    "live": "watch",
}


_ACCEPT = Hint("Enter", "accept", "c-m")


def _verb_of(row: Row) -> str:
    """Return what Enter does with a row."""
    if isinstance(row.enter, Send) and isinstance(row.enter.request, AnswerRequest):
        return "accept" if row.enter.request.accept else "take back"
    return _VERBS.get(row.key.split(":")[0], "choose")


def hints_on_page(display: Display) -> list[Hint]:
    """Return the keys that matter on the page, the most needed first."""
    page = display.page
    if page.kind in _HINTS:
        has_choice = any(row.enter is not None for row in rows_of(display, 0))
        hints = [hint for hint in _HINTS[page.kind] if hint != _RATED or page.purpose is not Purpose.INVITE]
        hints = [hint for hint in hints if has_choice or hint.press != "c-m"]
        return [*hints, LEAVE, HELP]
    if not display.has_lobby:
        return [LEAVE]
    if display.world.link is LinkState.CONNECTING:
        return [*[Hint("Esc", "servers", "escape")] * display.has_doorway, LEAVE, HELP]
    hints = []
    rows = rows_of(display, 0)
    at = cursor_of(rows, page.row, page.place)
    if at is not None:
        hints.append(Hint("Enter", _verb_of(rows[at]), "c-m"))
    if display.world.challenge is not None:
        hints += [] if hints == [_ACCEPT] else [Hint("a", "accept", "a")]
        hints.append(Hint("d", "decline", "d"))
    if any(row.key.startswith("bot:") for row in rows):
        hints.append(Hint("b", "bot", "b"))
    if display.world.seeking is not None:
        hints.append(Hint("Esc", "stop", "escape"))
    hints += [Hint("p", "play", "p"), Hint("i", "invite", "i"), Hint("c", "code", "c")]
    if display.world.seeking is None and display.has_doorway:
        hints.append(Hint("Esc", "servers", "escape"))
    if live_of_others(display):
        hints.append(Hint("w", "watch", "w"))
    hints += [Hint("v", "profile", "v"), Hint("h", "history", "h"), Hint("l", "leaders", "l")]
    return [*hints, LEAVE, HELP]


_LISTS = (
    "arrows jk    move; PgUp PgDn far",
    "Tab          the next section",
    "Enter click  do what the row stands for",
)
_LEAVING = ("Esc          back", "q  Ctrl-C    leave; Ctrl-Z suspends")
_HELP = {
    Kind.LOBBY: (
        *_LISTS,
        "p b          play: choose a game; a bot",
        "i c          invite; type a code",
        "a d          accept, decline a challenge",
        "w            watch a match",
        "v o          that player, yourself",
        "h l          your matches, the best",
        "Esc          stop looking; back",
        *_LEAVING[1:],
    ),
    Kind.GAMES: (
        *_LISTS[:1],
        "1-9 0 Enter  choose a game; or click",
        "t left right another clock",
        "r            rated, or not",
        *_LEAVING,
    ),
    Kind.INVITATION: ("y            copy the line to send", *_LEAVING),
    Kind.PROFILE: (*_LISTS, *_LEAVING),
    Kind.HISTORY: (*_LISTS, *_LEAVING),
    Kind.LEADERS: (*_LISTS, "t left right another speed", "g            another game", *_LEAVING),
    Kind.REPLAY: (
        "left right   one move back, one on",
        "PgUp PgDn    ten moves",
        "Home End     the beginning, the end",
        *_LEAVING,
    ),
}


def help_on_page(display: Display) -> list[str]:
    """Return every key of the page and what it does."""
    if display.page.kind is Kind.LOBBY and not display.has_lobby:
        return list(_LEAVING)
    return list(_HELP.get(display.page.kind, _LEAVING))
