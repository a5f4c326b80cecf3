"""Find the meaning of a click: parts of a picture carry the command or the key that they stand for.

A target is a span of a line like a colour is one, so that it moves with the text; it is taken off before anything is
written to a terminal.
"""

from typing import TypeAlias

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from ttt_net.client.commands import AnyCommand
from ttt_net.client.events import Key

Target: TypeAlias = AnyCommand | Key
_KEY = "target"


def aim(line: Text, target: Target, start: int = 0, end: int | None = None) -> None:
    """Let a click on the characters from `start` to `end` mean the target."""
    line.stylize(Style(meta={_KEY: target}), start, end)


def target_at(page: Text, column: int, row: int) -> Target | None:
    """Return what a click there means on the page, or None."""
    lines = page.split("\n", allow_blank=True)
    if not 0 <= row < len(lines):
        return None
    line, cells = lines[row], 0
    for offset, character in enumerate(line.plain):
        cells += cell_len(character)
        if cells > column:
            styles = [span.style for span in line.spans if span.start <= offset < span.end]
            found = [style.meta[_KEY] for style in styles if isinstance(style, Style) and _KEY in style.meta]
            return found[-1] if found else None
    return None


def place_of(line: Text, target: Target) -> int:
    """Return where the target begins in the line, or -1."""
    styles = ((span.start, span.style) for span in line.spans)
    places = (start for start, style in styles if isinstance(style, Style) and style.meta.get(_KEY) == target)
    return next(places, -1)


def without_targets(page: Text) -> Text:
    """Return a copy of the page as it is to be written."""
    copied = page.copy()
    copied.spans = [span for span in page.spans if not isinstance(span.style, Style)]
    return copied
