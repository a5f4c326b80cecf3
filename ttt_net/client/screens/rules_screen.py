"""Explain a game: its page of rules from the server, on a screen or in lines. `?` opens it at a board.

The drawn example is placed beside the text if there is room for both.
"""

import textwrap
from dataclasses import replace

from ttt_net.client import words
from ttt_net.client.display import AnyCommand, Command, Display, Open, Overlay, Page, Send
from ttt_net.client.screens.screen import (
    LEAVE,
    LEAVING_HELP,
    Effect,
    KeyHelp,
    KeyHint,
    Meaning,
    Row,
    Screen,
    default_status,
)
from ttt_net.errors import Refusal
from ttt_net.messages import (
    PlayerInfo,
    PuzzleReply,
    Request,
    RuleExample,
    RulesReply,
    RulesRequest,
    SeekRequest,
    Snapshot,
)
from ttt_net.sdk.received import check_snapshot
from ttt_net.text import clean

_MAX_TITLE_CELLS = 40
_MAX_TEXT_CELLS = 400
_MAX_ROWS, _MAX_ROW_CELLS = 24, 76
_MAX_TIPS = 4
_NARROWEST = 36
_GAP = 3
_LEAST_TEXT = 38
"""With fewer columns than this beside the example, the text goes above and below it."""
_INDENT = 2
AT_BOARD = ("match", "replay", "guess", "puzzle")
"""The screens with a board, where `?` shows the rules before the keys."""


def game_to_explain(display: Display, seek: SeekRequest) -> str:
    """Return the game to explain: that of the puzzle, match or row, or else that of the last seek."""
    puzzle = display.world.reply(PuzzleReply)
    if display.page.screen == "puzzle" and puzzle is not None:
        return puzzle.game.name
    if display.page.screen == "guess" and display.replay is not None:
        return display.replay.match.game.name
    if display.match is not None:
        return display.match.game.name
    kind, _, name = display.page.row.partition(":")
    if display.page.screen == "games" and kind == "game" and name:
        return name
    return seek.games[0] if seek.games else "tictactoe"


def help_on(display: Display, seek: SeekRequest) -> Effect | Page:
    """Return what `?` opens: at a board the rules, then the keys; elsewhere the keys, then the rules."""
    if display.page.screen == "rules":
        return replace(display, pages=display.pages[:-1], overlay=Overlay.HELP, help_place=0), ()
    is_at_board = display.page.screen in AT_BOARD
    if (display.overlay is Overlay.HELP) is not is_at_board and (is_at_board or display.has_lobby):
        return Page("rules", about=game_to_explain(display, seek))
    return replace(display, overlay=Overlay.NONE if display.overlay is Overlay.HELP else Overlay.HELP, help_place=0), ()


def told(reply: RulesReply, *, has_drawing: bool) -> str:
    """Return the page for lines mode; for screen readers without its drawing, which the caption describes."""
    lines = [f"{_title_of(reply)}. {_text(reply.goal)}"]
    if reply.example is not None:
        lines += _drawn(reply.example) if has_drawing else []
        lines.append(f"An example: {_text(reply.example.caption)}")
    lines += [_text(reply.special), *(f"Tip: {_text(tip)}" for tip in reply.tips[:_MAX_TIPS])]
    return "\n".join(filter(None, lines))


def _text(text: str) -> str:
    return clean(text, _MAX_TEXT_CELLS)


def _title_of(reply: RulesReply) -> str:
    return clean(reply.title, _MAX_TITLE_CELLS) or "?"


def _drawn(example: RuleExample) -> list[str]:
    """Return the drawing with only its ASCII characters; blanks in it are significant."""
    rows = (row[:_MAX_ROW_CELLS] for row in example.rows[:_MAX_ROWS])
    return ["".join(each for each in row if " " <= each <= "~").rstrip() for row in rows]


def _title(display: Display) -> str:
    reply = display.world.reply(RulesReply)
    return f"How to play {_title_of(reply)}" if reply is not None else "How to play"


def _status(display: Display) -> str:
    if display.is_live and display.match is not None and display.match.clock is not None:
        return f"Meanwhile the clocks run. {words.status(display)}"
    if display.is_live:
        return "Your match waits for you."
    return "" if display.world.reply(RulesReply) is not None else default_status(display)


def pictured(display: Display) -> tuple[Snapshot, str] | None:
    """Return the end of the example and its caption, if the server sends it as a board."""
    reply = display.world.reply(RulesReply)
    if reply is None or reply.example is None or reply.example.game is None or reply.example.position is None:
        return None
    nobody = PlayerInfo("")
    match = Snapshot("rules", 0, reply.example.game, (nobody, nobody), (True, True), [], reply.example.position, [])
    try:
        check_snapshot(match)
    except Refusal:
        return None
    return match, _text(reply.example.caption)


def lines(display: Display, width: int) -> list[str]:
    """Return the page on lines of at most `width` columns; its example is left out if it is drawn as a board."""
    reply = display.world.reply(RulesReply)
    if reply is None:
        return ["The server is looking it up ..."]
    width -= 2 * _INDENT
    example = reply.example if pictured(display) is None else None
    caption, drawing = (_text(example.caption), _drawn(example)) if example is not None else ("", [])
    across = max(map(len, drawing), default=0)
    tips = [f"- {_text(tip)}" for tip in reply.tips[:_MAX_TIPS]]
    if not drawing or width - across - _GAP < _LEAST_TEXT:
        parts = [_wrapped(_text(reply.goal), width), [*drawing, *_wrapped(caption, width)]]
        return _joined([*parts, _wrapped(_text(reply.special), width), _listed(tips, width)])
    beside = width - across - _GAP
    left = [*drawing, "", *_wrapped(caption, across if across >= _LEAST_TEXT // 2 else width)]
    is_caption_beside = across < _LEAST_TEXT // 2
    if is_caption_beside:
        left = drawing
    texts = [_text(reply.goal), *[caption] * is_caption_beside, _text(reply.special)]
    right = _joined([*(_wrapped(text, beside) for text in texts), _listed(tips, beside)])
    height = max(len(left), len(right))
    left, right = ([*side, *[""] * (height - len(side))] for side in (left, right))
    return [f"{one.ljust(across + _GAP)}{other}".rstrip() for one, other in zip(left, right, strict=True)]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(10, width), break_on_hyphens=False)


def _listed(texts: list[str], width: int) -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, max(10, width), subsequent_indent="  ", break_on_hyphens=False)
    ]


def _joined(parts: list[list[str]]) -> list[str]:
    """Return the parts, separated by empty lines."""
    joined: list[str] = []
    for part in filter(None, parts):
        joined += ["", *part] if joined else part
    return joined


def _rows(display: Display, now_ms: int) -> list[Row]:
    reply = display.world.reply(RulesReply)
    drawn = 2 * len(reply.example.rows[:_MAX_ROWS]) if reply is not None and reply.example is not None else 0
    return [Row((line,)) for line in [*lines(display, _NARROWEST), *[""] * drawn]]  # enough to scroll at any width


def _closed(display: Display, command: AnyCommand) -> Effect | None:
    is_read = command is Command.PLACE
    return (replace(display, pages=display.pages[:-1]), ()) if is_read and len(display.pages) > 1 else None


def _unknown(display: Display, request: Request) -> Display:
    """Close the page if the server has no rules."""
    return replace(display, pages=display.pages[:-1]) if len(display.pages) > 1 else display


def asked_for(display: Display, wanted: SeekRequest, rest: str) -> Meaning:
    """Return the request for the rules of the typed game, or of the one that is played or sought."""
    game = clean(rest, _MAX_TITLE_CELLS).lower() or game_to_explain(display, wanted)
    return Send(RulesRequest(0, game=game))


RULES_PAGE = Screen(
    name="rules",
    title=_title,
    status=_status,
    rows=_rows,
    lines=lines,
    pictured=pictured,
    requests=lambda page: (RulesRequest(0, game=page.about),),
    replies=(RulesReply,),
    refused=_unknown,
    act=_closed,
    hints=lambda display: [
        KeyHint("Enter", "go on", "c-m"),
        KeyHint("Esc", "back", "escape"),
        LEAVE,
        KeyHint("?", "keys", "?"),
    ],
    help=lambda display: [
        KeyHelp("arrows j k", "Scroll."),
        KeyHelp("Enter, Esc", "Go on."),
        *LEAVING_HELP[1:],
    ],
    usage="rules GAME",
    has_short_head=True,
)


def opening(game: str) -> Open:
    """Return the command that opens the page of a game."""
    return Open(Page("rules", about=game))
