"""Show a match: its players and board, the pending offers, and the keys for playing, for watching, and after the end.

Letters of the board's columns begin a typed move; if such a letter is also a key, the key becomes its upper case.
"""

from collections.abc import Callable
from dataclasses import replace

from ttt_net.client import words
from ttt_net.client.display import (
    AnyCommand,
    Begin,
    Change,
    Choose,
    Command,
    Display,
    Entry,
    Overlay,
    Quick,
    Send,
    Type,
    claims_in,
)
from ttt_net.client.screens.advice import HINT, WARN, is_easy, objection
from ttt_net.client.screens.advice import WORDS as OF_COACHING
from ttt_net.client.screens.board_play import (
    beginnings,
    is_next_to_watch,
    other_match,
    pressed,
    prompt,
    quick_moves,
    rule,
    title,
)
from ttt_net.client.screens.people import report
from ttt_net.client.screens.replay_screen import ACTIONS
from ttt_net.client.screens.screen import BOARD_HELP, LEAVE, LEAVING_HELP, RULES, Effect, KeyHelp, KeyHint, Screen
from ttt_net.client.world import LinkState
from ttt_net.messages import Snapshot, UnseekRequest
from ttt_net.text import clean

_NAMED: dict[str, AnyCommand] = {
    "up": Command.UP,
    "down": Command.DOWN,
    "left": Command.LEFT,
    "right": Command.RIGHT,
    "c-i": Command.MOVES,
}
WORDS: dict[str, AnyCommand] = {
    "rematch": Command.REMATCH,
    "resign": Command.RESIGN,
    "draw": Command.DRAW,
    "takeback": Command.TAKE_BACK,
    "mute": Command.MUTE,
    **OF_COACHING,
}
"""The words of lines mode that have a meaning only in a match."""
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
    "y": Command.COPY,
    "m": Command.MUTE,
    "s": Begin(Entry.CHAT),
    "q": Command.LEAVE,
    **{each.key: each.command for each in ACTIONS},
}
QUESTIONS = (Overlay.CHOICE, Overlay.CLAIM, Overlay.MUTE)
"""Overlays of a board that digits answer."""


def _command(key: str, display: Display) -> AnyCommand | None:
    if key in _NAMED:
        return _NAMED[key]
    if len(key) != 1 or not key.isprintable():
        return None
    if display.overlay in QUESTIONS and key in "123456789":
        return Choose(int(key) - 1)
    if display.typed:
        return Type(key)
    if key.isdecimal() and key.isascii():
        return _digit(key, display)
    letter = key.lower()
    if key.isupper() or key not in beginnings(display):
        for special, is_meant, meaning in _SPECIAL:
            if letter == special and is_meant(display):
                return meaning(display)
        if letter in _LETTERS:
            return _LETTERS[letter]
    return Type(key) if letter in beginnings(display) else None


def _only_on_a_server(display: Display) -> Effect:
    return replace(display, notice="Chat, links and muting are for matches on a server."), ()


_SPECIAL: tuple[tuple[str, Callable[[Display], bool], Callable[[Display], AnyCommand | None]], ...] = (
    ("b", lambda display: display.world.seeking is not None and not display.is_live, lambda display: Command.BOT),
    ("n", lambda display: _is_seeking_after(display), lambda display: Send(UnseekRequest(0))),
    ("g", lambda display: display.is_live, lambda display: HINT),
    ("w", lambda display: not objection(display), lambda display: WARN),  # after the end, this key saves the record
    ("f", lambda display: display.has_lobby, report),
    *((key, lambda display: not display.has_lobby, lambda display: Change(_only_on_a_server)) for key in "smy"),
)
"""Letters with a special meaning in some states of a match, with these states and meanings."""


def _is_seeking_after(display: Display) -> bool:
    """Tell whether we look for an opponent at the board of a finished match of ours."""
    is_over = not display.is_live and not display.is_watched and display.elsewhere is None
    return is_over and display.match is not None and display.world.seeking is not None


def _digit(key: str, display: Display) -> AnyCommand | None:
    if display.match is None:
        return None
    if quick_moves(display.match):
        return Quick(int(key))
    return Type(key) if key in beginnings(display) else None


def choices(display: Display) -> int:
    """Return the length of the list that lies over the board."""
    match display.overlay:
        case Overlay.CHOICE:
            return min(len(display.choices), 9)
        case Overlay.CLAIM:
            match = display.match
            return 0 if match is None else 1 if words.is_too_short(match) else len(claims_in(match))
        case Overlay.MUTE:
            return 1 + len(display.talkers)
        case _:
            return 0


def _hints(display: Display) -> list[KeyHint]:
    match = display.match
    if match is None:
        return [LEAVE, RULES]
    if display.is_watched:
        return _watching(display, match)
    return _over(display) if match.outcome is not None else _playing(display, match)


def _watching(display: Display, match: Snapshot) -> list[KeyHint]:
    found = [KeyHint("n", "next match", "n")] if is_next_to_watch(display) else []
    found += [KeyHint("Esc", "back", "escape")] if display.has_lobby else []
    found += _asked_after_the_end(display) if match.outcome is not None else []
    found += [KeyHint("s", "say", "s")] if display.has_lobby else []
    found.append(KeyHint("i", "moves", "i"))
    found += [KeyHint("y", "link", "y")] if display.has_lobby else []
    return [*found, LEAVE, RULES]


def _asked_after_the_end(display: Display) -> list[KeyHint]:
    return [KeyHint(each.key, each.word, each.key) for each in ACTIONS if each.is_offered(display)]


def _over(display: Display) -> list[KeyHint]:
    if display.world.link is LinkState.LOST:  # all other keys need the server
        return [*[KeyHint("Esc", "lobby", "escape")] * display.has_lobby, LEAVE, RULES]
    onwards = "other match" if other_match(display) is not None else ""
    if display.match is not None and display.match.tournament is not None:
        return [
            KeyHint("n", onwards or "tournament", "n"),
            *_asked_after_the_end(display),
            KeyHint("s", "say", "s"),
            KeyHint("y", "link", "y"),
            LEAVE,
            RULES,
        ]
    found = [KeyHint("r", "rematch", "r")]
    found.append(KeyHint("n", onwards or ("new game" if display.world.seeking is None else "stop looking"), "n"))
    if display.has_lobby or display.has_server_picker:
        found.append(KeyHint("Esc", "lobby" if display.has_lobby else "back", "escape"))
    found += _asked_after_the_end(display)
    found += [KeyHint("s", "say", "s"), KeyHint("y", "link", "y")] if display.has_lobby else []
    return [*found, LEAVE, RULES]


_OFFERED_AT_HOME = (("d", "draw"), ("t", "take back"), ("i", "moves"))
_OFFERED = (*_OFFERED_AT_HOME[:2], ("s", "say"), _OFFERED_AT_HOME[2])


def _playing(display: Display, match: Snapshot) -> list[KeyHint]:
    found = [KeyHint("arrows Enter", "")]
    quick = quick_moves(match)
    if quick:
        found.append(KeyHint(f"1-{max(quick)}", ""))
    if any(match.game.move_cells[move] < 0 for move in match.position.legal):
        is_swap = match.position.takeover is not None
        found.append(
            KeyHint("Tab", f"take over {words.mark_of(match, 1 - (match.you or 0))}" if is_swap else "more", "c-i")
        )
    if not (quick and match.game.gravity):
        found.append(KeyHint("type", _example(match)))
    if not objection(display):
        found.append(KeyHint(pressed("g", display), "hint", "G"))
    if is_easy(display):
        off = " off" * display.has_warnings
        found.append(KeyHint(pressed("w", display), f"warnings{off}", "W"))
    for key, label in _OFFERED if display.has_lobby else _OFFERED_AT_HOME:
        if key == "t" and match.tournament is not None:
            continue
        found.append(KeyHint(pressed(key, display), label, key.upper()))
    return [*found, KeyHint(pressed("q", display), "leave", "Q"), RULES]


def _example(match: Snapshot) -> str:
    names = match.game.move_names
    return clean(names[len(names) // 2], 8) if names else ""


_HELP_PLAYING = (
    KeyHelp("Enter, click", "Place a mark."),
    KeyHelp("1-9", "Play the cell or column with this number."),
    KeyHelp("b2 Enter", "Play a cell by its name."),
    KeyHelp("Tab", "Choose a move from a list."),
    KeyHelp("d  t", "Offer a draw, or ask to take back a move."),
    KeyHelp("x", "Decline or withdraw an offer."),
    KeyHelp("c", "Claim the match if your opponent is away."),
    KeyHelp("g  w", "Against a bot: get a hint, switch warnings."),
    KeyHelp("r", "Offer a rematch after the end."),
)
_HELP_AMONG_OTHERS = (
    KeyHelp("s  m  f", "Say something, mute or report a player."),
    KeyHelp("y", "Copy a link to the match."),
)
_AFTER_THE_END = ", ".join(each.word for each in ACTIONS[:-1]) + f" or {ACTIONS[-1].word}"


def _help(display: Display) -> list[KeyHelp]:
    """Return every key and its meaning."""
    taken = sorted({*_LETTERS, "f"} & beginnings(display))
    lines = [
        *(() if display.is_watched else (BOARD_HELP, *_HELP_PLAYING)),
        KeyHelp("n", "Watch the next match." if display.is_watched else "Look for a new opponent, or change matches."),
        KeyHelp("  ".join(each.key for each in ACTIONS), f"After the end: {_AFTER_THE_END} the match."),
        KeyHelp("i", "Show the moves, the score and the chat."),
        *(_HELP_AMONG_OTHERS if display.has_lobby else ()),
        KeyHelp("Esc", "Go to the lobby; a live match continues." if display.has_lobby else "Leave the match."),
        *LEAVING_HELP[1:],
    ]
    if taken:
        letters, use = " and ".join(taken), "  ".join(letter.upper() for letter in taken)
        begin = "begin" if len(taken) > 1 else "begins"
        lines.insert(0, KeyHelp(use, f"With Shift, because {letters} {begin} the name of a cell."))
    return lines


MATCH = Screen(
    name="match",
    title=title,
    subtitle=rule,
    status=words.status,
    prompt=prompt,
    match=lambda display: display.match,
    command=_command,
    hints=_hints,
    help=_help,
)
