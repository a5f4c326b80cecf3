"""The doorway as a screen of text, or as lines: pure, every line cut to the width, never a wrapped one."""

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from ttt_net.client.drawing.glyphs import WARNING
from ttt_net.client.drawing.targets import Target, aim
from ttt_net.client.events import Key
from ttt_net.client.finding.doorway import Doorway, Row, explanation
from ttt_net.text import clean

SMALLEST = (24, 8)
_MOST_NAME = 28
_NARROW = 60
_MOST_EXPLAINED = 8
_LEAST_FOR_ROWS = 7
"""Lines that are not the explanation's, however much there would be to explain."""
_HEADINGS = {"found": "On this network", "used": "Used before", "or": "Or"}
_KEYS = (
    "arrows Enter choose   type an address   ? more   q leave",
    "Enter choose   ? more   q leave",
    "? more   q leave",
)
"""The longest that fits is shown: the way out is never what is cut."""
_KEYS_TYPING = "Enter join   Esc back"


def draw_doorway(door: Doorway, size: tuple[int, int]) -> Text:
    """Return the screen of `size` (columns, rows): exactly so many lines, none wider."""
    width, height = size
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return _page([Text("Make the window larger: {}x{}.".format(*SMALLEST))], [], size)
    head = [Text("ttt_net", style="bold"), *_status(door, width, most=max(1, height - _LEAST_FOR_ROWS))]
    foot = [Text(line, style=WARNING) for line in textwrap.wrap(clean(door.notice, 160), width)[: height // 4]]
    keys = next((keys for keys in _KEYS if len(keys) <= width), _KEYS[-1])
    foot.append(Text(keys if door.typed is None else _KEYS_TYPING, style="dim"))
    return _page([*head, *_rows(door, width, height - len(head) - len(foot))], foot, size)


def _status(door: Doorway, width: int, most: int) -> list[Text]:
    if door.is_explained or (door.has_looked and not door.has_found):
        lines = [line for sentence in explanation(door) for line in textwrap.wrap(sentence, width)]
        return [*(Text(line) for line in lines[: min(_MOST_EXPLAINED, most)]), Text()]
    if not door.has_found:
        return [Text("Looking for servers on this network ..."), Text()]
    return [Text()]


def _rows(door: Doorway, width: int, height: int) -> list[Text]:
    """Return the rows under their headings, of which the chosen one is always among those that fit."""
    lines: list[Text] = []
    chosen = 0
    group = ""
    rows = door.rows
    name_width = _name_width(rows)
    for row in rows:
        if row.group != group:
            group = row.group
            if width < _NARROW:  # where room is short, each group has a column of its own
                name_width = _name_width([each for each in rows if each.group == group and each.detail])
            lines.append(Text(_HEADINGS[group], style="dim"))
        if row is door.row or row == door.row:
            chosen = len(lines)
        lines.append(_line(door, row, name_width, width))
    start = max(0, min(chosen - height // 2, len(lines) - height))
    return lines[start : start + max(1, height)]


def _name_width(rows: Sequence[Row]) -> int:
    return min(_MOST_NAME, max((cell_len(row.name) for row in rows), default=0))


def _line(door: Doorway, row: Row, name_width: int, width: int) -> Text:
    is_chosen = row == door.row
    name = row.name
    if row.key == "type" and door.typed is not None:
        name = f"Address or code: {door.typed[-max(1, width - 22) :]}_"
        name_width = 0
    text = Text("> " if is_chosen else "  ", style="bold" if is_chosen else "")
    label = Text(name)
    if name_width and row.detail:
        label.truncate(name_width, pad=True)
    text.append_text(label)
    if row.detail:
        text.append(f"  {row.detail}", style="" if is_chosen else "dim")
    aim(text, target_of(row))
    return text


def target_of(row: Row) -> Target:
    """Return what a click on the row means."""
    return Key(f"<row> {row.key}")


def _page(body: list[Text], foot: list[Text], size: tuple[int, int]) -> Text:
    width, height = size
    lines = [*body[: max(0, height - len(foot))]]
    lines += [Text()] * (height - len(lines) - len(foot))
    page = Text("\n", no_wrap=True, overflow="crop", end="")
    cut = []
    for line in [*lines, *foot][:height]:
        line.truncate(width, overflow="crop")
        line.rstrip()
        cut.append(line)
    page = page.join(cut)
    page.no_wrap, page.overflow, page.end = True, "crop", ""
    return page


def numbered(door: Doorway) -> list[Row]:
    """Return the rows that have a number where there are only lines: all but the one for typing."""
    return [row for row in door.rows if row.url is not None or row.does is not None]


def doorway_lines(door: Doorway) -> list[str]:
    """Return the same for terminals that only know lines: each row with the number that chooses it."""
    lines = []
    if not door.has_found:
        lines += explanation(door)
    for number, row in enumerate(numbered(door), start=1):
        lines.append(f"{number}. {row.name}, {row.detail.replace('  ', ', ')}")
    return lines
