"""Choose the characters for drawing boards: all of Unicode, those of old consoles, or ASCII.

Marks differ by shape. Without colours, brackets show what light shows elsewhere.
"""

import codecs
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

if TYPE_CHECKING:  # the first sentence appears before colours are loaded
    from ttt_net.client.drawing.themes import Theme

WARNING = "reverse"
_PLAINER = {"×": "x", "—": "-", "–": "-", "…": ".", "·": ".", "“": '"', "”": '"', "’": "'"}
_PLAINER |= dict(zip("▁▂▃▄▅▆▇█", "__..--^^", strict=True))


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters. The cursor's frame is a cell's left and right side: top, repeatable middle, and bottom."""

    horizontal: str
    vertical: str
    cross: str
    left_tee: str
    right_tee: str
    top_tee: str
    bottom_tee: str
    corners: str
    free: str
    dash: str
    dots: str
    cursor: tuple[str, str]
    last: str
    won: str
    large: dict[str, tuple[str, ...]]
    """Marks drawn in three rows of three."""
    huge: dict[str, tuple[str, ...]]
    """Marks drawn in five rows of five."""
    disc: str
    """A full disc of one column; empty if the terminal has none."""
    coin: str
    """A disc with a hole."""
    leaning: str
    """A wall that leans to the right."""
    star: str
    """A free point marked for orientation (a star point)."""
    heavy: str
    """The corners and walls of the box around a small board to play in."""
    theme: "Theme | None" = None
    """The colours to draw with; None if the terminal has none."""

    @property
    def is_ascii(self) -> bool:
        """Whether every character of the set is ASCII."""
        return self.vertical.isascii()


BOXES = Glyphs(
    horizontal="─",
    vertical="│",
    cross="┼",
    left_tee="├",
    right_tee="┤",
    top_tee="┬",
    bottom_tee="┴",
    corners="┌┐└┘",
    free="·",
    dash="—",
    dots="…",
    cursor=("┏┃┗", "┓┃┛"),
    last="()",
    won="**",
    large={"X": ("╲ ╱", " ╳ ", "╱ ╲"), "O": ("╭─╮", "│ │", "╰─╯")},
    huge={
        "X": ("╲   ╱", " ╲ ╱ ", "  ╳  ", " ╱ ╲ ", "╱   ╲"),
        "O": ("╭───╮", "│   │", "│   │", "│   │", "╰───╯"),
    },
    disc="●",
    coin="○",
    leaning="╱",
    star="▪",
    heavy="┏━┓┃┗┛",
)
CONSOLE = replace(
    BOXES, dash="-", dots="...", cursor=("┌│└", "┐│┘"), disc="", coin="", leaning="/", star="■", heavy="╔═╗║╚╝"
)
"""The characters of code page 437: half blocks and lines, but no round marks of one column."""
ASCII = Glyphs(
    horizontal="-",
    vertical="|",
    cross="+",
    left_tee="+",
    right_tee="+",
    top_tee="+",
    bottom_tee="+",
    corners="++++",
    free=".",
    dash="-",
    dots="...",
    cursor=("[[[", "]]]"),
    last="()",
    won="**",
    large={"X": ("\\ /", " X ", "/ \\"), "O": (".-.", "| |", "'-'")},
    huge={
        "X": ("\\   /", " \\ / ", "  X  ", " / \\ ", "/   \\"),
        "O": (".---.", "|   |", "|   |", "|   |", "'---'"),
    },
    disc="",
    coin="",
    leaning="/",
    star="+",
    heavy="+-+|++",
)


def encodable(text: str, encoding: str | None) -> str:
    """Return the text at the same length, with each character that the encoding lacks replaced by a similar one."""
    encoding = encoding or "ascii"
    if _has(encoding, text):
        return text
    return "".join(character if _has(encoding, character) else _nearest(character, encoding) for character in text)


def _encode_nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return encodable(error.object[error.start : error.end], error.encoding), error.end


NEAREST = "ttt_net.nearest"
"""The name of the `codecs` error handler that does the same for a whole stream."""
codecs.register_error(NEAREST, _encode_nearest)


def _has(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _nearest(character: str, encoding: str) -> str:
    plainer = _PLAINER.get(character) or unicodedata.normalize("NFKD", character)[0]
    return plainer if _has(encoding, plainer) else "?"


def glyphs_for(encoding: str | None, *, is_ascii: bool, terminal: str = "") -> Glyphs:
    """Return the set that a terminal can show, by its encoding; the Linux console is recognized by its name."""
    if is_ascii:
        return ASCII
    whole = "".join((BOXES.dash, *BOXES.cursor, BOXES.disc, BOXES.coin, BOXES.leaning))
    if terminal != "linux" and _has(encoding or "ascii", whole):
        return BOXES
    sample = "".join((BOXES.horizontal, BOXES.cross, BOXES.corners, BOXES.free, *CONSOLE.cursor, "▀▄█"))
    return CONSOLE if _has(encoding or "ascii", sample) else ASCII


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a sentence, indenting all lines like the first; only overlong words are cut."""
    if cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    room = max(2, width - len(indent))
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, room)
    return [indent + line for line in lines]
