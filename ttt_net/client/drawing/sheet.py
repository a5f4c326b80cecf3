"""Draw on a sheet of character cells: texts, lights, marks (round ones in half blocks) and targets of clicks.

A half block has two nearly square pixels, one above the other. On terminals with true colour, the pixels on the edge of
a mark are anti-aliased; elsewhere a pixel belongs to the mark or not.
"""

import math
import pickle
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from rich.style import Style
from rich.text import Text

from ttt_net.client.display import AnyCommand
from ttt_net.client.drawing.themes import blended
from ttt_net.client.mailbox import Key

Target: TypeAlias = AnyCommand | Key
_KEY = "target"
_SAMPLES = 3
"""The samples in each direction that determine how much of a pixel a mark covers."""
_COARSE, _SMALL = 4, 6
"""Marks with at most this many pixels across need other proportions, and look better without anti-aliasing."""
_QUARTERS = {"disc": ("▟▇▇▙", "▜██▛"), "coin": ("▟▀▀▙", "▜▄▄▛")}
_FLAT = {"disc": ("████", "████", "████", "    "), "coin": ("████", "█  █", "████", "    ")}
"""The pixels of the smallest round marks where there are no quarter blocks and nothing separates the rows of cells."""
_UPPER, _LOWER, _BOTH = "▀", "▄", "█"


class Sheet:
    """Rows of characters, each with a colour, a background, a weight and a target. Drawing outside is ignored."""

    def __init__(self, width: int, height: int, ground: str = "") -> None:
        self.width, self.height = width, height
        self._characters = [[" "] * width for _ in range(height)]
        self._inks: list[list[tuple[str, str, str]]] = [[("", ground, "")] * width for _ in range(height)]
        """The colour, background and weight of each character."""
        self._targets: list[list[Target | None]] = [[None] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, colour: str = "", *, ground: str = "", weight: str = "") -> None:
        """Write a text, beginning at a place; without a background, it keeps the one that is there."""
        if not 0 <= y < self.height:
            return
        for at, character in enumerate(text, start=x):
            if 0 <= at < self.width:
                self._characters[y][at] = character
                self._inks[y][at] = (colour, ground or self._inks[y][at][1], weight)

    def light(self, x: int, y: int, width: int, height: int, ground: str) -> None:
        """Give all characters of a rectangle another background; do nothing if the colour is empty."""
        for row in range(max(0, y), min(self.height, y + height) if ground else 0):
            for at in range(max(0, x), min(self.width, x + width)):
                colour, _, weight = self._inks[row][at]
                self._inks[row][at] = (colour, ground, weight)

    def ground(self, x: int, y: int) -> str:
        """Return the background of a character; empty outside of the sheet."""
        return self._inks[y][x][1] if 0 <= y < self.height and 0 <= x < self.width else ""

    def aim(self, x: int, y: int, width: int, target: Target) -> None:
        """Set the target of clicks on characters of a row."""
        for at in range(max(0, x), min(self.width, x + width) if 0 <= y < self.height else 0):
            self._targets[y][at] = target

    def lines(self) -> list[Text]:
        """Return the sheet as lines of text, all equally wide."""
        return [_line(*row, self.width) for row in zip(self._characters, self._inks, self._targets, strict=True)]


def _line(
    characters: Sequence[str], inks: Sequence[tuple[str, str, str]], targets: Sequence[Target | None], width: int
) -> Text:
    line = Text("".join(characters))
    for start, end in _runs(inks, width):
        colour, ground, weight = inks[start]
        style = " ".join(filter(None, (weight, colour, ground and f"on {ground}")))
        if style:
            line.stylize(style, start, end)
    for start, end in _runs(targets, width):
        if (target := targets[start]) is not None:
            aim(line, target, start, end)
    return line


def _runs(values: Sequence[object], width: int) -> list[tuple[int, int]]:
    """Return where runs of equal values begin and end."""
    starts = [at for at in range(width) if at == 0 or values[at] != values[at - 1]]
    return list(zip(starts, [*starts[1:], width], strict=True))


def aim(line: Text, target: Target, start: int = 0, end: int | None = None) -> None:
    """Set the target of clicks on the characters from `start` to `end`."""
    line.stylize(Style(meta={_KEY: pickle.dumps(target)}), start, end)  # before 14.2, rich keeps only plain values


def target_of(style: object) -> Target | None:
    """Return the target stored in a style, if any."""
    kept = style.meta.get(_KEY) if isinstance(style, Style) else None
    target: Target | None = None if kept is None else pickle.loads(kept)  # noqa: S301 - our own bytes
    return target


def draw_mark(
    sheet: Sheet,
    view: "View",
    look: str,
    colour: str,
    part: float = 1.0,
    *,
    is_smooth: bool,
    has_quadrants: bool,
    is_tight: bool = False,
) -> None:
    """Draw a mark over a whole view in half blocks; with `part` below 1, draw only that part of its strokes.

    The smallest round marks consist of quarter blocks, if the terminal has them. `is_tight`: nothing separates cells.
    """
    if has_quadrants and (view.width, view.height) == (4, 2) and look in _QUARTERS:
        for row, line in enumerate(_QUARTERS[look]):
            sheet.put(*view.at(0, row), line, colour)
        return
    is_smooth = is_smooth and 2 * view.height > _SMALL
    if is_tight and (view.width, view.height) == (4, 2) and look in _FLAT:
        pixels = tuple(tuple(float(pixel != " ") for pixel in row) for row in _FLAT[look])
    else:
        pixels = coverage(look, view.width, 2 * view.height, round(part, 2), is_tight=is_tight)
    for row in range(view.height):
        for column in range(view.width):
            upper, lower = pixels[2 * row][column], pixels[2 * row + 1][column]
            x, y = view.at(column, row)
            if is_smooth and max(upper, lower) > 0:
                _smooth_pixels(sheet, x, y, colour, upper, lower)
            elif upper >= 0.5 or lower >= 0.5:
                sheet.put(x, y, _BOTH if min(upper, lower) >= 0.5 else _UPPER if upper >= 0.5 else _LOWER, colour)


def _smooth_pixels(sheet: Sheet, x: int, y: int, colour: str, upper: float, lower: float) -> None:
    ground = sheet.ground(x, y)
    above, below = blended(ground, colour, upper), blended(ground, colour, lower)
    if above == below:
        sheet.put(x, y, _BOTH, above)
    elif upper > lower:
        sheet.put(x, y, _UPPER, above, ground=below)
    else:
        sheet.put(x, y, _LOWER, below, ground=above)


_DIGITS = {
    "0": ("███", "█ █", "█ █", "█ █", "███"),
    "1": (" █ ", "██ ", " █ ", " █ ", "███"),
    "2": ("███", "  █", "███", "█  ", "███"),
    "3": ("███", "  █", "███", "  █", "███"),
    "4": ("█ █", "█ █", "███", "  █", "  █"),
    "5": ("███", "█  ", "███", "  █", "███"),
    "6": ("███", "█  ", "███", "█ █", "███"),
    "7": ("███", "  █", " █ ", " █ ", " █ "),
    "8": ("███", "█ █", "███", "█ █", "███"),
    "9": ("███", "█ █", "███", "  █", "███"),
    ":": (" ", "█", " ", "█", " "),
    ".": (" ", " ", " ", " ", "█"),
}
"""The pixels of each character of a clock."""


def large_clock(face: str) -> list[str]:
    """Return the time on a clock in large digits, as three lines of half blocks."""
    pixels = [" ".join(_DIGITS[character][row] for character in face) for row in range(5)]
    pixels.append(" " * len(pixels[0]))
    halves = {("█", "█"): _BOTH, ("█", " "): _UPPER, (" ", "█"): _LOWER}
    return [
        "".join(halves.get(pair, " ") for pair in zip(pixels[row], pixels[row + 1], strict=True)) for row in (0, 2, 4)
    ]


_EIGHTHS = " ▁▂▃▄▅▆▇█"


def chart(numbers: Sequence[int], width: int, height: int) -> list[str]:
    """Return numbers as bars over several rows, labelled with the largest and the smallest, the newest bars only.

    The smallest number is one row high, so that no bar is missing.
    """
    least, most = min(numbers), max(numbers)
    labels = [str(most), *[""] * (height - 2), str(least)]
    margin = max(map(len, labels)) + 1
    shown = numbers[-max(1, (width - margin) // 2) :]
    eighths = [8 + (number - least) * 8 * (height - 1) // max(1, most - least) for number in shown]
    return [
        f"{labels[row]:>{margin - 1}} "
        + "".join(_EIGHTHS[max(0, min(8, bar - 8 * (height - 1 - row)))] * 2 for bar in eighths)
        for row in range(height)
    ]


class View:
    """A rectangle of a sheet; if leaning, each row lies `lean` columns further right than the one below."""

    def __init__(self, x: int, y: int, width: int, height: int, lean: int = 0) -> None:
        self.width, self.height = width, height
        self._x, self._y, self._lean = x, y, lean

    def at(self, column: int, row: int) -> tuple[int, int]:
        """Return the place on the sheet of a place in the view."""
        return self._x + column - self._lean * row, self._y + row

    def inside(self, left: int, right: int, above: int = 0, below: int = 0) -> "View":
        """Return the view reduced by these columns and rows on each side."""
        x, y = self.at(left, above)
        return View(x, y, self.width - left - right, self.height - above - below, self._lean)


@lru_cache(maxsize=512)
def coverage(
    look: str, width: int, height: int, part: float = 1.0, *, is_tight: bool = False
) -> tuple[tuple[float, ...], ...]:
    """Return how much of each pixel a mark covers, from 0 to 1, in rows from the top.

    Marks are a `cross`, a `ring`, a full `disc` and a `coin`: a disc with a hole, which distinguishes it from a full
    disc without colours. A `dot` covers everything.

    `is_tight`: there is nothing between the cells, so discs and small marks in squares of even size are one pixel
    smaller; otherwise neighbours would touch.
    """
    is_small = look in ("disc", "coin") or width <= _SMALL
    is_smaller = is_tight and is_small and width == height > _COARSE and width % 2 == 0
    size = min(width, height) - is_smaller
    across, down = ((each - size) // 2 if is_smaller else (each - size) / 2 for each in (width, height))
    thick = max((0.9 if is_smaller else 1.15) / size, 0.15)
    steps = [(n + 0.5) / _SAMPLES for n in range(_SAMPLES)]

    def share(column: int, row: int) -> float:
        points = (
            (2 * (column + dx - across) / size - 1, 2 * (row + dy - down) / size - 1) for dx in steps for dy in steps
        )
        return sum(_is_in(look, x, y, size, thick, part) for x, y in points) / _SAMPLES**2

    return tuple(tuple(share(column, row) for column in range(width)) for row in range(height))


def _is_in(look: str, x: float, y: float, size: int, thick: float, part: float) -> bool:
    """Tell whether a point belongs to a mark that reaches from -1 to 1 in both directions; `thick`: half a stroke."""
    radius = math.hypot(x, y)
    rim = 0.96 if size > _COARSE else 1 - 0.48 / size
    match look:
        case "dot":
            return True
        case "disc":
            return radius <= rim
        case "coin":
            return (0.42 if size > _COARSE else 0.62) * rim <= radius <= rim
        case "ring":
            turn = (math.atan2(x, -y) / math.tau) % 1
            return 0.96 - 2 * thick <= radius <= 0.96 and turn <= part
        case _:
            along = (x + y) / 2
            is_first = abs(x - y) / math.sqrt(2) <= thick and along <= min(1.0, 2 * part) * 2 - 1
            is_second = abs(x + y) / math.sqrt(2) <= thick and (y - x) / 2 <= max(0.0, 2 * part - 1) * 2 - 1
            return max(abs(x), abs(y)) <= 0.94 and (is_first or is_second)
