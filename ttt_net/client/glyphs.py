"""The characters that boards are drawn with: one set for terminals that can draw boxes, one for those that cannot.

Marks differ by shape and brackets say what colour says too, so that a board reads the same without colour.
The colours are Okabe and Ito's, which people with any colour vision tell apart.
"""

from dataclasses import dataclass

COLOURS = {"X": "#56B4E9", "O": "#E69F00"}
"""Sky blue and orange; all other marks take the terminal's own colour."""
WON = "#009E73"
WARNING = "#D55E00"


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set. A frame is the left and right side of a cell of three rows, from top to bottom."""

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
    last: tuple[str, str]
    won: tuple[str, str]
    large: dict[str, tuple[str, str, str]]
    """Marks drawn in three rows of five."""

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
    last=(" ( ", " ) "),
    won=("***", "***"),
    large={"X": ("╲ ╱", " ╳ ", "╱ ╲"), "O": ("╭─╮", "│ │", "╰─╯")},
)
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
    last=(" ( ", " ) "),
    won=("***", "***"),
    large={"X": ("\\ /", " X ", "/ \\"), "O": (".-.", "| |", "'-'")},
)


def glyphs_for(encoding: str | None, *, is_ascii: bool) -> Glyphs:
    """Return the set that the encoding of a terminal can show."""
    if is_ascii:
        return ASCII
    sample = "".join((BOXES.horizontal, BOXES.cross, BOXES.corners, BOXES.free, BOXES.dash, *BOXES.cursor, "╲╱╳╭╮╰╯"))
    try:
        sample.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BOXES
