"""The keys of the pages that are lists, and the lines that say which there are."""

from ttt_net.client.actions import Action, Begin, Do, Open, Pick, Say, Step
from ttt_net.client.hints import HELP, LEAVE, Hint
from ttt_net.client.page_rows import rows_of
from ttt_net.client.pages import Entry, Kind, Page, Purpose
from ttt_net.client.rows import cursor_of
from ttt_net.client.view import View
from ttt_net.messages import Watch

_FAR = 10
_NAMED: dict[str, Action] = {
    "up": Do.UP,
    "down": Do.DOWN,
    "left": Do.LEFT,
    "right": Do.RIGHT,
    "pageup": Step(-_FAR),
    "pagedown": Step(_FAR),
    "home": Step(-1000),
    "end": Step(1000),
    "k": Do.UP,
    "j": Do.DOWN,
    "c-i": Do.SECTION,
    "q": Do.LEAVE,
}
_LOBBY: dict[str, Action] = {
    "p": Open(Page(Kind.GAMES, purpose=Purpose.PLAY)),
    "i": Open(Page(Kind.GAMES, purpose=Purpose.INVITE)),
    "c": Begin(Entry.CODE),
    "a": Do.ACCEPT,
    "d": Do.DECLINE,
}
_GAMES: dict[str, Action] = {"t": Do.TIME, "r": Do.RATED}
_INVITATION: dict[str, Action] = {"y": Do.COPY}
_LETTERS = {Kind.LOBBY: _LOBBY, Kind.GAMES: _GAMES, Kind.INVITATION: _INVITATION}


def action_on_page(key: str, view: View) -> Action | None:
    """Return what a key means on the page that is seen, or None when it means nothing."""
    key = key.lower() if len(key) == 1 else key
    if key in _NAMED:
        return _NAMED[key]
    kind = view.page.kind
    if kind is Kind.GAMES and key.isdecimal() and key.isascii():
        return next((Pick(row.key) for row in rows_of(view, 0) if row.cells[0] == key), None)
    if kind is Kind.LOBBY and key == "w":
        return _watch(view)
    return _LETTERS[kind].get(key) if kind in _LETTERS else None


def _watch(view: View) -> Action | None:
    """Return how to watch the match that is chosen, or else the first: the featured one."""
    live = view.around.live.matches if view.around.live is not None else []
    chosen = next((match for match in live if f"live:{match.match}" == view.page.row), None)
    match = chosen or next(iter(live), None)
    return Say(Watch(0, match=match.match)) if match is not None else None


def hints_on_page(view: View) -> list[Hint]:
    """Return the keys that matter on the page, the most needed first."""
    page = view.page
    if page.kind is Kind.INVITATION:
        return [Hint("y", "copy", "y"), _BACK, LEAVE, HELP]
    if page.kind is Kind.GAMES:
        return [Hint("Enter", "choose", "c-m"), Hint("t", "clock", "t"), _BACK, LEAVE, HELP]
    hints = []
    rows = rows_of(view, 0)
    at = cursor_of(rows, page.row, page.place)
    if at is not None:
        hints.append(Hint("Enter", _VERBS.get(rows[at].key.split(":")[0], "choose"), "c-m"))
    if any(view.you is None or each.challenge.by.name != view.you.name for each in view.around.challenges):
        hints += [Hint("a", "accept", "a"), Hint("d", "decline", "d")]
    if view.seeking is not None:
        hints.append(Hint("Esc", "stop", "escape"))
    hints += [Hint("p", "play", "p"), Hint("i", "invite", "i"), Hint("c", "code", "c")]
    if view.around.live is not None and view.around.live.matches:
        hints.append(Hint("w", "watch", "w"))
    return [*hints, LEAVE, HELP]


_BACK = Hint("Esc", "back", "escape")
_VERBS = {"own": "go on", "challenge": "answer", "seek": "play", "player": "challenge", "live": "watch"}


def help_on_page(view: View) -> list[str]:
    """Return every key of the page and what it does."""
    if view.page.kind is Kind.GAMES:
        own = ["1-9 0        choose a game", "t left right another clock"]
    elif view.page.kind is Kind.INVITATION:
        own = ["y            copy the line to send"]
    else:
        own = [
            "p            play: choose game, clock",
            "i            invite a friend, by a code",
            "c            type a friend's code",
            "a d          accept, decline a challenge",
            "w            watch a match",
        ]
    return [
        "arrows jk    move; PgUp PgDn far",
        "Tab          the next section",
        "Enter click  do what the row stands for",
        *own,
        "Esc          back; in the lobby: stop",
        "             looking for an opponent",
        "q  Ctrl-C    leave",
    ]
