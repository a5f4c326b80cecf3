"""Draw a list as lines of text: columns as wide as they need, the part that has the cursor, each row to be clicked."""

from collections.abc import Sequence

from rich.text import Text

from ttt_net.client.commands import Pick
from ttt_net.client.drawing.glyphs import Glyphs, wrapped
from ttt_net.client.drawing.targets import aim
from ttt_net.client.pages import Page
from ttt_net.client.screens.screen import Row, cursor_of

_GAP = 2
_INDENT = 2
_NARROW = 60
_LEAST_COLUMN = 8
"""A column with less room than this, and than it needs, is left out."""


def draw_list(rows: Sequence[Row], page: Page, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """Return at most `height` lines: the rows around the cursor, and how many there are above and below them."""
    width, height = size
    cursor = cursor_of(rows, page.row, page.place)
    columns = _columns(rows, width - _INDENT)
    is_apart = width < _NARROW or _cuts(rows, columns, width - _INDENT)
    lines: list[Text] = []
    at = 0
    for index, row in enumerate(rows):
        at = len(lines) if index == cursor else at
        if row.is_heading and is_apart:  # where room is short, each section has columns of its own
            columns = _columns(_of_section(rows, index), width - _INDENT)
        if row.enter is None:
            lines += _read(row, width)
        else:
            lines.append(_line(row, columns, width, glyphs, is_chosen=index == cursor))
    if len(lines) <= height:
        return lines
    room = max(1, height - 1)
    first = page.place if cursor is None else at - room // 2
    uppermost = next((index for index, row in enumerate(rows) if row.enter is not None), None)
    if cursor is not None and cursor == uppermost and at < room:
        first = 0  # what stands above the first row to choose can be read in no other way
    first = max(0, min(first, len(lines) - room))
    shown = lines[first : first + room]
    more = [f"{first} above"] * (first > 0) + [f"{len(lines) - first - room} below"] * (first + room < len(lines))
    return [*shown, Text(f"  ({', '.join(more)})", style="dim")]


def _of_section(rows: Sequence[Row], heading: int) -> Sequence[Row]:
    end = next((index for index in range(heading + 1, len(rows)) if rows[index].is_heading), len(rows))
    return rows[heading + 1 : end]


def _columns(rows: Sequence[Row], width: int) -> list[int]:
    """Return how wide each column but the last of its row is: as its widest cell, as long as there is room."""
    cells = [row.cells[:-1] for row in rows if row.enter is not None]
    widths = [max(map(_width, column)) for column in _transposed(cells)]
    room, fitted = width, []
    for wanted in widths:
        fitted.append(wanted if wanted <= room else room if room >= _LEAST_COLUMN else 0)
        room -= fitted[-1] + _GAP
    return fitted


def _cuts(rows: Sequence[Row], columns: Sequence[int], width: int) -> bool:
    """Tell whether the columns leave the last cell of a row less room than it needs."""
    ends = ((sum(columns[: len(row.cells) - 1]) + _GAP * (len(row.cells) - 1), row) for row in rows if row.enter)
    return any(start + _width(row.cells[-1]) > width for start, row in ends)


def _transposed(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    most = max(map(len, rows), default=0)
    return [[row[n] for row in rows if n < len(row)] for n in range(most)]


def _width(text: str) -> int:
    return Text(text).cell_len


def cut(text: str, room: int, glyphs: Glyphs) -> str:
    """Return the text exactly so wide: filled with blanks, or its beginning with dots behind it."""
    dots = glyphs.dots if room >= 2 * len(glyphs.dots) else ""
    part = Text(text)
    if part.cell_len > room:
        part.truncate(room - len(dots))
        part.append(dots)
    part.truncate(room, pad=True)
    return part.plain


def _read(row: Row, width: int) -> list[Text]:
    """Return a heading, or a sentence on as many lines as it needs."""
    text = "  ".join(row.cells)
    if row.is_heading:
        return [Text(text, style="bold dim")]
    return [Text(" " * _INDENT + line) for line in wrapped(text, width - _INDENT)]


def _line(row: Row, columns: Sequence[int], width: int, glyphs: Glyphs, *, is_chosen: bool) -> Text:
    """Return a row; its last cell takes all that is left, whatever other rows have in that place."""
    line = Text("> " if is_chosen else "  ", style="bold" if is_chosen else "")
    for number, cell in enumerate(row.cells):
        left = width - line.cell_len
        room = (
            columns[number] if number < len(row.cells) - 1 else left if left >= min(_LEAST_COLUMN, _width(cell)) else 0
        )
        if room <= 0:
            continue
        line.append(cut(cell, room, glyphs), "" if number == 0 else "not bold")
        line.append(" " * _GAP)
    line.rstrip()
    aim(line, Pick(row.key))
    return line
