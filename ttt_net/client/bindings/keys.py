"""From keys to actions, and the lines that say which keys there are.

A key is named as prompt_toolkit names it (`up`, `c-m`, `a`). Letters of the board's columns begin a written move;
where such a letter is also a key, the upper-case letter is always the key.
"""

from ttt_net.client import words
from ttt_net.client.bindings.hints import HELP, LEAVE, Hint
from ttt_net.client.bindings.page_keys import command_on_page, help_on_page, hints_on_page
from ttt_net.client.changes.moves import quick_moves
from ttt_net.client.changes.series import is_next_to_watch
from ttt_net.client.commands import CLAIMS, AnyCommand, Begin, Choose, Command, Quick, Type
from ttt_net.client.pages import Entry, Kind
from ttt_net.client.view import Overlay, View
from ttt_net.messages import Snapshot
from ttt_net.text import clean

_WRITING = {
    "c-m": Command.PLACE,
    "c-j": Command.PLACE,
    "escape": Command.BACK,
    "c-h": Command.ERASE,
    "backspace": Command.ERASE,
}
_EVERYWHERE = {**_WRITING, " ": Command.PLACE, "?": Command.HELP}
_NAMED: dict[str, AnyCommand] = {
    "up": Command.UP,
    "down": Command.DOWN,
    "left": Command.LEFT,
    "right": Command.RIGHT,
    "c-i": Command.MOVES,
}
_LETTERS: dict[str, AnyCommand] = {
    "k": Command.UP,
    "j": Command.DOWN,
    "h": Command.LEFT,
    "l": Command.RIGHT,
    "r": Command.REMATCH,
    "d": Command.DRAW,
    "t": Command.TAKE_BACK,
    "x": Command.DECLINE,
    "c": Command.CLAIM,
    "n": Command.NEW,
    "i": Command.SIDE_PANEL,
    "v": Command.REPLAY,
    "w": Command.SAVE,
    "y": Command.COPY,
    "a": Command.ANALYSE,
    "m": Command.MUTE,
    "s": Begin(Entry.CHAT),
    "q": Command.LEAVE,
}
_LEAVING = {"y": Command.LEAVE, "r": Command.RESIGN}
"""What answers whether to leave a live match, besides the keys that mean it anyway: yes, or to end it and stay."""
_LEAST_HINTS = 2
"""The last hints, which stay whatever the width: how to leave, and where all keys are."""
_YES = {"rematch": "r", "draw": "d", "takeback": "t"}
"""The key that makes or accepts each kind of offer."""
_NO = "x"
_CLAIM, _NEW = "c", "n"
_LISTS = (Overlay.CHOICE, Overlay.CLAIM, Overlay.MUTE)
"""What lies over a board and is answered with a digit."""


def command_for(key: str, view: View) -> AnyCommand | None:
    """Return what a key means now, or None when it means nothing."""
    if view.entry is Entry.CHAT and not view.typed and len(key) == 1 and key in "12345678":
        return Choose(int(key) - 1)
    if view.entry is not Entry.MOVE:
        return _WRITING.get(key) or (Type(key) if len(key) == 1 and key.isprintable() and _takes_text(view) else None)
    if key in _EVERYWHERE:
        return _EVERYWHERE[key]
    if view.overlay is Overlay.LEAVE and key.lower() in _LEAVING:
        return _LEAVING[key.lower()]
    if view.page.kind is not Kind.MATCH:
        return command_on_page(key, view)
    if key in _NAMED:
        return _NAMED[key]
    if len(key) != 1 or not key.isprintable():
        return None
    if view.overlay in _LISTS and key in "123456789":
        return Choose(int(key) - 1)
    if view.typed:
        return Type(key)
    if key.isdecimal() and key.isascii():
        return _digit(key, view)
    if key.lower() == "b" and view.seeking is not None and not view.is_live:
        return Command.BOT
    if key.lower() in _LETTERS and (key.isupper() or key not in _beginnings(view)):
        return _LETTERS[key.lower()]
    return Type(key) if _may_name_move(view) else None


def _takes_text(view: View) -> bool:
    return view.entry is not Entry.CHAT or view.may_write


def _digit(key: str, view: View) -> AnyCommand | None:
    if view.match is None:
        return None
    if quick_moves(view.match):
        return Quick(int(key))
    return Type(key) if _may_name_move(view) else None


def _may_name_move(view: View) -> bool:
    """Tell whether a move may be written: elsewhere every key after the first would be lost in it."""
    return view.match is not None and view.match.outcome is None and not view.is_watched


def _beginnings(view: View) -> set[str]:
    """Return the letters that our moves in the shown match begin with, while it goes on."""
    if view.match is None or not _may_name_move(view):
        return set()
    return {name[:1].lower() for name in view.match.game.move_names}


def waiting(view: View, match: Snapshot, now_ms: int) -> str:
    """Return what waits for us at the match that is shown, with the key for it: an offer, another match, a claim."""
    yes = {kind: _pressed(key, view) for kind, key in _YES.items()}
    offers = words.offers(match, yes, _pressed(_NO, view))
    other = words.elsewhere(view.elsewhere, _pressed(_NEW, view))
    return offers or other or words.absence(match, view.claim_in_ms(now_ms), _pressed(_CLAIM, view))


def _pressed(key: str, view: View) -> str:
    """Return the key as it is to be pressed now: in upper case where moves begin with its letter."""
    return key.upper() if key in _beginnings(view) else key


def hints(view: View, width: int) -> list[Hint]:
    """Return the keys that matter now, the most needed first, as many as fit."""
    match = view.match
    if view.overlay in (Overlay.HELP, Overlay.SIDE_PANEL):
        return [Hint("any key:", "back", "escape")]
    if view.entry is not Entry.MOVE:
        phrases = [Hint("1-8", "a phrase")] if view.entry is Entry.CHAT else []
        send = [Hint("Enter", "send", "c-m")] if _takes_text(view) else []
        return [*phrases, *send, Hint("Esc", "back", "escape")]
    if view.overlay is Overlay.LEAVE:
        is_new = match is not None and match.position.ply < 2
        stay = Hint("r", "only call it off" if is_new else "only resign", "r")
        return [Hint("y", "yes", "y"), Hint("Esc", "no", "escape"), stay]
    if match is None or view.page.kind is not Kind.MATCH:
        found = hints_on_page(view)
    elif view.overlay in _LISTS:
        return [Hint(f"1-{choices(view)}", "choose"), Hint("Esc", "back", "escape")]
    elif view.typed:
        return [Hint("Enter", "place", "c-m"), Hint("Esc", "clear", "escape")]
    elif view.is_watched:
        found = _watching(view, match)
    elif match.outcome is not None:
        found = _over(view)
    else:
        found = _playing(view, match)
    while len("  ".join(hint.text for hint in found)) > width and len(found) > _LEAST_HINTS:
        del found[-_LEAST_HINTS - 1]
    return found


def choices(view: View) -> int:
    """Return how many things the list has that lies over the board."""
    match view.overlay:
        case Overlay.CHOICE:
            return min(len(view.choices), 9)
        case Overlay.CLAIM:
            return len(CLAIMS)
        case Overlay.MUTE:
            return 1 + len(view.talkers)
        case _:
            return 0


def _watching(view: View, match: Snapshot) -> list[Hint]:
    found = [Hint("n", "next match", "n")] if is_next_to_watch(view) else []
    found += [Hint("Esc", "back", "escape")] if view.has_lobby else []
    found += [Hint("v", "replay", "v"), Hint("w", "save", "w")] if match.outcome is not None else []
    found += [Hint("s", "say", "s")] if view.has_lobby else []
    found.append(Hint("i", "moves", "i"))
    found += [Hint("y", "link", "y")] if view.has_lobby else []
    return [*found, LEAVE, HELP]


def _over(view: View) -> list[Hint]:
    found = [Hint("r", "rematch", "r")]
    found += [Hint("n", "new game", "n")] if view.seeking is None else []
    if view.has_lobby or view.has_doorway:
        found.append(Hint("Esc", "lobby" if view.has_lobby else "back", "escape"))
    found.append(Hint("v", "replay", "v"))
    found += [Hint("a", "analyse", "a")] if "analyse" in view.features else []
    found.append(Hint("w", "save", "w"))
    found += [Hint("s", "say", "s"), Hint("y", "link", "y")] if view.has_lobby else []
    return [*found, LEAVE, HELP]


_OFFERED_AT_HOME = (("d", "draw"), ("t", "take back"), ("i", "moves"))
_OFFERED = (*_OFFERED_AT_HOME[:2], ("s", "say"), _OFFERED_AT_HOME[2])


def _playing(view: View, match: Snapshot) -> list[Hint]:
    found = [Hint("arrows Enter", "")]
    quick = quick_moves(match)
    if quick:
        found.append(Hint(f"1-{max(quick)}", ""))
    if any(match.game.move_cells[move] < 0 for move in match.position.legal):
        found.append(Hint("Tab", "more", "c-i"))
    if not (quick and match.game.gravity):
        found.append(Hint("type", _example(match)))
    for key, label in _OFFERED if view.has_lobby else _OFFERED_AT_HOME:
        found.append(Hint(_pressed(key, view), label, key.upper()))
    return [*found, Hint(_pressed("q", view), "leave", "Q"), HELP]


def _example(match: Snapshot) -> str:
    names = match.game.move_names
    return clean(names[len(names) // 2], 8) if names else ""


_HELP_PLAYING = (
    "arrows hjkl  move the cursor",
    "Enter click  place a mark",
    "1-9          by cell, column",
    "b2 Enter     by name",
    "Tab          choose from a list",
    "d t          draw, take-back",
    "c            claim",
    "x            decline, withdraw",
    "r            rematch",
)
_HELP_AMONG_OTHERS = ("s m          say; mute", "y            copy a link")


def help_lines(view: View) -> list[str]:
    """Return every key and what it does."""
    if view.page.kind is not Kind.MATCH:
        return help_on_page(view)
    taken = sorted(set(_LETTERS) & _beginnings(view))
    lines = [
        *(() if view.is_watched else _HELP_PLAYING),
        "i            moves, score",
        f"n            {'next match' if view.is_watched else 'new game; other match'}",
        *(_HELP_AMONG_OTHERS if view.has_lobby else ()),
        "v w a        replay, save, analyse",
        f"Esc          clear; {'lobby' if view.has_lobby else 'leave'}",
        "q  Ctrl-C    leave",
        "Ctrl-Z       suspend",
    ]
    if taken:
        lines.insert(0, f"{' '.join(taken)} name columns: press {' '.join(taken).upper()}.")
    return lines
