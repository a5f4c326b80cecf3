"""From keys to actions, and the lines that say which keys there are.

A key is named as prompt_toolkit names it (`up`, `c-m`, `a`). Letters of the board's columns begin a written move;
where such a letter is also a key, the upper-case letter is always the key.
"""

from ttt_net.client.actions import Action, Choose, Do, Quick, Type
from ttt_net.client.moves import quick_moves
from ttt_net.client.view import Overlay, View
from ttt_net.messages import Snapshot
from ttt_net.text import clean

_NAMED = {
    "up": Do.UP,
    "down": Do.DOWN,
    "left": Do.LEFT,
    "right": Do.RIGHT,
    "c-m": Do.PLACE,
    "c-j": Do.PLACE,
    " ": Do.PLACE,
    "c-i": Do.MOVES,
    "escape": Do.BACK,
    "c-h": Do.ERASE,
    "backspace": Do.ERASE,
    "?": Do.HELP,
}
_LETTERS = {
    "k": Do.UP,
    "j": Do.DOWN,
    "h": Do.LEFT,
    "l": Do.RIGHT,
    "r": Do.REMATCH,
    "d": Do.DRAW,
    "t": Do.TAKE_BACK,
    "x": Do.DECLINE,
    "c": Do.CLAIM,
    "n": Do.NEW,
    "q": Do.LEAVE,
}
_LEAST_ENTRIES = 2
"""The last entries of a line, which stay whatever the width: how to leave, and where all keys are."""
YES = {"rematch": "r", "draw": "d", "takeback": "t"}
"""The key that makes or accepts each kind of offer."""
NO = "x"
CLAIM = "c"
HANG_UP = ("c-c", "<sigint>")
"""The keys that leave at once."""


def action_for(key: str, view: View) -> Action | None:
    """Return what a key means now, or None when it means nothing."""
    if key in _NAMED:
        return _NAMED[key]
    if len(key) != 1 or not key.isprintable():
        return None
    if view.overlay in (Overlay.CHOICE, Overlay.CLAIM) and key in "123456789":
        return Choose(int(key) - 1)
    if view.typed:
        return Type(key)
    if key.isdecimal() and key.isascii():
        return _digit(key, view)
    if key.lower() in _LETTERS and (key.isupper() or key not in _beginnings(view)):
        return _LETTERS[key.lower()]
    return Type(key) if view.match is not None else None


def _digit(key: str, view: View) -> Action | None:
    if view.match is None:
        return None
    return Quick(int(key)) if quick_moves(view.match) else Type(key)


def _beginnings(view: View) -> set[str]:
    """Return the letters that moves of the shown match begin with, while it goes on."""
    if view.match is None or view.match.outcome is not None:
        return set()
    return {name[:1].lower() for name in view.match.game.move_names}


def keys_line(view: View, width: int) -> str:
    """Return the keys that matter now, the most needed first, as many as fit."""
    match = view.match
    if view.overlay is Overlay.HELP:
        entries = ["any key: back"]
    elif match is None:
        entries = ["q leave", "? keys"]
    elif match.outcome is not None:
        entries = ["r rematch", "n new game", "q leave", "? keys"]
    else:
        taken = _beginnings(view)
        entries = ["arrows Enter"]
        if quick := quick_moves(match):
            entries.append(f"1-{max(quick)}")
        if any(match.game.move_cells[move] < 0 for move in match.position.legal):
            entries.append("Tab more")
        entries += [] if quick and match.game.gravity else [f"type {_example(match)}"]
        entries += ["D draw" if "d" in taken else "d draw", "Q leave" if "q" in taken else "q leave", "? keys"]
    while len("  ".join(entries)) > width and len(entries) > _LEAST_ENTRIES:
        del entries[-_LEAST_ENTRIES - 1]
    return "  ".join(entries)


def _example(match: Snapshot) -> str:
    names = match.game.move_names
    return clean(names[len(names) // 2], 8) if names else ""


def help_lines(view: View, height: int) -> list[str]:
    """Return every key and what it does, in at most `height` lines."""
    taken = "".join(sorted(set(_LETTERS) & _beginnings(view)))
    lines = [
        "arrows hjkl  move the cursor",
        "Enter space  place a mark",
        "1-9          place by cell or column",
        "b2 Enter     place by name; Esc clears",
        "Tab          choose from a list",
        "d t r        offer draw, take-back,",
        "             rematch; or accept it",
        "x            decline, or withdraw",
        "c            claim, if the other is away",
        "n            new game, after the end",
        "q  Ctrl-C    leave; leave at once",
    ]
    if taken:
        lines.append(f"Here {taken} are columns: use {taken.upper()}.")
    return lines[:height]
