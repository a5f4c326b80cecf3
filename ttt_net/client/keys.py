"""Find the command that a key means, and the line of keys that matter now; what lies over a screen comes first.

A key is named as prompt_toolkit names it (`up`, `c-m`, `a`).
"""

from ttt_net.client import words
from ttt_net.client.commands import AnyCommand, Choose, Command, Type
from ttt_net.client.display import Display, Overlay
from ttt_net.client.pages import Entry
from ttt_net.client.screens.match import QUESTIONS, choices
from ttt_net.client.screens.registry import command_on_screen, screen_of
from ttt_net.client.screens.rules import AT_BOARD
from ttt_net.client.screens.screen import KeyHint

_WRITING = {
    "c-m": Command.PLACE,
    "c-j": Command.PLACE,
    "escape": Command.BACK,
    "c-h": Command.ERASE,
    "backspace": Command.ERASE,
}
_MOVING = ("up", "down", "pageup", "pagedown", "home", "end", "c-i")
"""What moves the cursor of a list while its filter is typed."""
_EVERYWHERE = {**_WRITING, " ": Command.PLACE, "?": Command.HELP}
_LEAVING = {"y": Command.LEAVE, "r": Command.RESIGN, "w": Command.LET_WAIT}
"""What answers whether to leave a live match, besides the keys that mean it anyway: yes, end it, let it wait."""
_TAKEN = {Entry.ADDRESS: "join", Entry.NAMES: "take", Entry.GAME: "take"}
"""What becomes of a text that is typed, where it is not sent to be read."""
_HOSTING = {"y": Command.LEAVE, "s": Command.SERVE_ON}
"""The answers to whether to end the server that others are on; with `r` in a live match, all else means no."""
_LEAST_HINTS = 2
"""The last hints, which stay whatever the width: how to leave, and where all keys are."""


def command_for(key: str, display: Display) -> AnyCommand | None:
    """Return what a key means now, or None when it means nothing."""
    if display.entry is Entry.CHAT and not display.typed and len(key) == 1 and key in "12345678":
        return Choose(int(key) - 1)
    if display.entry is Entry.FILTER and key in _MOVING:
        return command_on_screen(key, display)
    if display.entry is not Entry.MOVE:
        return _WRITING.get(key) or (
            Type(key) if len(key) == 1 and key.isprintable() and _takes_text(display) else None
        )
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


def _takes_text(display: Display) -> bool:
    return display.entry is not Entry.CHAT or display.world.may_write


def _only_end(display: Display) -> str:
    match = display.match
    return "only call it off" if match is not None and match.position.ply < words.OPENING_PLIES else "only resign"


def hints(display: Display, width: int) -> list[KeyHint]:
    """Return the keys that matter now, the most needed first, as many as fit."""
    match = display.match
    if display.overlay is Overlay.HELP and display.has_lobby and display.page.screen not in AT_BOARD:
        return [KeyHint("?", "rules of a game", "?"), KeyHint("any other key:", "back", "escape")]
    if display.overlay in (Overlay.HELP, Overlay.SIDE_PANEL):
        return [KeyHint("any key:", "back", "escape")]
    if display.entry is Entry.FILTER:
        of_list = [hint for hint in screen_of(display).hints(display) if hint.press == "c-m"]
        return [*of_list, KeyHint("arrows", "choose"), KeyHint("Esc", "all", "escape")]
    if display.entry is not Entry.MOVE:
        phrases = [KeyHint("1-8", "a phrase")] if display.entry is Entry.CHAT else []
        send = [KeyHint("Enter", _TAKEN.get(display.entry, "send"), "c-m")] if _takes_text(display) else []
        return [*phrases, *send, KeyHint("Esc", "back", "escape")]
    if display.overlay is Overlay.HOSTING:
        stay = KeyHint("s", "let it run", "s")
        resign = [KeyHint("r", _only_end(display), "r")] if display.is_live else []
        return [KeyHint("y", "end it", "y"), stay, KeyHint("Esc", "no", "escape"), *resign]
    if display.overlay is Overlay.DRAW:
        return [KeyHint("y", "yes", "y"), KeyHint("Esc", "no", "escape")]
    if display.overlay is Overlay.LEAVE:
        waits = match is not None and words.does_wait(display.world, match)
        let_wait = [KeyHint("w", "leave, the match waits" if waits else "only leave", "w")] if display.has_lobby else []
        stay = KeyHint("r", _only_end(display), "r")
        return [KeyHint("y", "yes", "y"), KeyHint("Esc", "no", "escape"), *let_wait, stay]
    if display.page.screen == "match" and display.overlay in QUESTIONS:
        return [KeyHint(f"1-{choices(display)}", "choose"), KeyHint("Esc", "back", "escape")]
    if display.page.screen == "match" and display.typed:
        return [KeyHint("Enter", "place", "c-m"), KeyHint("Esc", "clear", "escape")]
    found = screen_of(display).hints(display)
    while len("  ".join(hint.text for hint in found)) > width and len(found) > _LEAST_HINTS:
        del found[-_LEAST_HINTS - 1]
    return found
