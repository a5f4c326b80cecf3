"""A view as a screen of text: pure, every line cut to the width, never a wrapped one.

What others wrote is drawn as plain text that was cleaned in `words`; nothing here reads markup.
"""

from rich.text import Text

from ttt_net.client import words
from ttt_net.client.actions import CLAIMS
from ttt_net.client.board import draw_board
from ttt_net.client.glyphs import COLOURS, WARNING, WON, Glyphs
from ttt_net.client.keys import CLAIM, NO, YES, help_lines, keys_line
from ttt_net.client.view import Overlay, View
from ttt_net.messages import Snapshot
from ttt_net.text import clean

SMALLEST = (24, 8)
"""The columns and rows below which only a sentence is shown."""
_ROOMY_ROWS = 16
"""From so many rows on there is room for a title and for a line for each player."""


def draw(view: View, size: tuple[int, int], now_ms: int, glyphs: Glyphs) -> Text:
    """Return the screen of `size` (columns, rows): exactly so many lines, none wider."""
    width, height = size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return _page([Text("Make the window larger: {}x{}.".format(*SMALLEST))], [], [], size)
    foot = _foot(view, width, now_ms)
    roomy = _head(view, width, now_ms, glyphs, is_roomy=True)
    if height >= _ROOMY_ROWS:
        body = _body(view, width, height - len(roomy) - len(foot), glyphs)
        if body is not None:
            return _page(roomy, body, foot, size)
    head = _head(view, width, now_ms, glyphs, is_roomy=False)
    body = _body(view, width, height - len(head) - len(foot), glyphs)
    return _page(head, body if body is not None else [_too_small(view)], foot, size)


def _page(head: list[Text], body: list[Text], foot: list[Text], size: tuple[int, int]) -> Text:
    """Put the parts together, the body in the middle of what is left, each line cut and the rest filled with blanks."""
    width, height = size
    free = max(0, height - len(head) - len(body) - len(foot))
    lines = [*head, *[Text()] * (free // 2), *body, *[Text()] * (free - free // 2), *foot][:height]
    cut = []
    for line in lines:
        line = line.copy()
        line.truncate(width, overflow="crop")
        line.rstrip()
        cut.append(line)
    page = Text("\n", no_wrap=True, overflow="crop", end="").join(cut)
    page.no_wrap, page.overflow, page.end = True, "crop", ""
    return page


def _head(view: View, width: int, now_ms: int, glyphs: Glyphs, *, is_roomy: bool) -> list[Text]:
    match = view.match
    lines = []
    if is_roomy:
        lines += [_title(view, width, glyphs), Text()]
    if match is not None:
        seats = [_seat(view, match, side, now_ms) for side in (0, 1)]
        lines += seats if is_roomy else [Text("  ").join(seats)]
    lines.append(_status(view, width))
    return [*lines, Text()] if is_roomy else lines


def _title(view: View, width: int, glyphs: Glyphs) -> Text:
    match = view.match
    left = "Tic-tac-toe and its family"
    if match is not None:
        left = clean(match.game.title, 40)
        rule = f"{left} {glyphs.dash} {clean(match.game.rule, 120)}"
        left = rule if Text(rule).cell_len <= width else left
    right = clean(view.server, 30) or view.address
    title = Text(left, style="bold")
    if width - title.cell_len - len(right) >= 2:
        title.append(" " * (width - title.cell_len - len(right)))
        title.append(right, "dim")
    return title


def _seat(view: View, match: Snapshot, side: int, now_ms: int) -> Text:
    """Return the mark, name and clock of a side, and whether it is to move and connected."""
    mark = words.mark_of(match, side)
    is_to_move = match.position.to_move == side and match.outcome is None
    seat = Text("> " if is_to_move else "  ", style="bold")
    seat.append(mark, f"bold {COLOURS.get(mark, '')}".strip())
    seat.append(f" {words.label_of(match.players[side])}", "bold" if is_to_move else "")
    if side == match.you:
        seat.append(" (you)", "dim")
    elif not match.present[side]:
        seat.append(" (away)", WARNING)
    left_ms = view.left_ms(side, now_ms)
    if left_ms is not None:
        seat.append(f"  {words.clock_face(left_ms)}", "bold" if is_to_move else "")
    return seat


def _status(view: View, width: int) -> Text:
    trouble = words.banner(view)
    if trouble:
        return Text(trouble[: width - 1], style=f"bold {WARNING}")
    style = "bold" if view.is_my_turn else ""
    match = view.match
    if match is not None and match.outcome is not None:
        style = f"bold {WON}" if match.outcome.winner is not None and match.outcome.winner == match.you else "bold"
    return Text(words.status(view), style=style)


def _body(view: View, width: int, height: int, glyphs: Glyphs) -> list[Text] | None:
    """Return what stands in the middle, or None when the board does not fit there."""
    if view.overlay is Overlay.HELP:
        return _centred([Text(line) for line in help_lines(view, height)], width)
    match = view.match
    if match is None:
        return _centred([Text(line, style="dim") for line in words.bot_hint(view, width)], width)
    lines = draw_board(view, width, height, glyphs)
    return _centred(lines, width) if lines is not None else None


def _too_small(view: View) -> Text:
    size = "x".join(map(str, reversed(view.match.game.shape))) if view.match is not None else ""
    return Text(f"Too small for a board of {size}.")


def _centred(lines: list[Text], width: int) -> list[Text]:
    """Shift all lines alike, so that the widest is in the middle."""
    margin = max(0, (width - max((line.cell_len for line in lines), default=0)) // 2)
    return [Text(" " * margin) + line for line in lines]


def _foot(view: View, width: int, now_ms: int) -> list[Text]:
    return [_prompt(view, now_ms), Text(keys_line(view, width), style="dim")]


def _prompt(view: View, now_ms: int) -> Text:
    """Return the line above the keys: a question, what is being typed, an offer, or the newest notice."""
    match = view.match
    if view.overlay is Overlay.LEAVE and match is not None:
        how = "Call it off" if match.position.ply < 2 else "Resign"
        return Text(f"{how} and leave? q: yes, else: no", style=f"bold {WARNING}")
    if view.overlay is Overlay.CHOICE and match is not None:
        names = (f"{n}: {words.move_name(match, move)}" for n, move in enumerate(view.choices[:9], 1))
        return Text("Choose " + "  ".join(names), style="bold")
    if view.overlay is Overlay.CLAIM:
        return Text("Claim  " + "  ".join(f"{n}: {kind}" for n, kind in enumerate(CLAIMS, 1)), style="bold")
    if view.typed:
        return Text(f"Move: {view.typed}_", style="bold")
    said = words.notice(view)
    if not said and match is not None:
        said = words.offers(match, YES, NO) or words.absence(match, view.claim_in_ms(now_ms), CLAIM)
    return Text(said)
