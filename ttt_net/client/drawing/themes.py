"""Define the colours of everything drawn, in six themes, for terminals with true colour, 256 or 16 colours.

A theme also paints the background of the window, so that contrasts do not depend on the terminal's own colours. Text
has a contrast of at least 4.5, and everything else that carries a meaning at least 3, as WCAG 2.2 AA requires;
tests/client/drawing/test_themes.py computes them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache
from itertools import product


class Depth(Enum):
    """How many colours a terminal shows; the values are rich's names for them."""

    NONE = None
    SIXTEEN = "standard"
    MANY = "256"
    TRUE = "truecolor"

    @classmethod
    def _missing_(cls, value: object) -> "Depth":
        """Return sixteen colours for old Windows consoles."""
        return cls.SIXTEEN


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of one theme, each a hexadecimal number or, with sixteen colours, one of rich's names."""

    name: str
    is_light: bool
    """Whether the background is light; its sixteen colours then suit a light background too."""
    ground: str
    """The background of the window."""
    text: str
    quiet: str
    """Labels, hints and other secondary text."""
    accent: str
    """The cursor, and keys to press."""
    x: str
    """Crosses."""
    o: str
    """Rings."""
    board: str
    """The background of boards with lines, and of small boards."""
    board_2: str
    """Every second cell of boards without lines."""
    lit: str
    """The small board to play in."""
    line: str
    """The lines of a board."""
    frame: str
    """The frame that discs fall into."""
    hole: str
    """A free place in the frame."""
    on_frame: str
    """The cursor on the frame and on the cloth."""
    disc_x: str
    disc_o: str
    wood: str
    """The background of a board for stones."""
    wood_line: str
    cloth: str
    """The background of a board for discs that are flipped."""
    cloth_2: str
    black: str
    """Stones and flipped discs of X."""
    white: str
    """Stones and flipped discs of O."""
    last: str
    """The light under the last move."""
    win: str
    """The light under a winning line."""
    good: str
    """The light of a hint."""
    bad: str
    """The light of a threat."""
    on_light: str
    """Marks on those three lights."""
    is_smooth: bool = True
    """Whether the edges of round shapes may be anti-aliased."""


DARK = Theme(
    name="dark",
    is_light=False,
    ground="#10141c",
    text="#e6e9ef",
    quiet="#a1aabc",
    accent="#7cc7ff",
    x="#5cc8ff",
    o="#ff9a6b",
    board="#182030",
    board_2="#1f2a3f",
    lit="#2b3a57",
    line="#6d7c98",
    frame="#2a55cc",
    hole="#080c16",
    on_frame="#ffffff",
    disc_x="#ffd84d",
    disc_o="#ff9482",
    wood="#a07038",
    wood_line="#2b1a08",
    cloth="#1f7a4a",
    cloth_2="#26854f",
    black="#060709",
    white="#ffffff",
    last="#2c3c56",
    win="#ffe27a",
    good="#7fe3a8",
    bad="#ff8f9c",
    on_light="#10141c",
)
LIGHT = Theme(
    name="light",
    is_light=True,
    ground="#fbfbfd",
    text="#1b2130",
    quiet="#525c70",
    accent="#0b5cad",
    x="#0b5cad",
    o="#a83503",
    board="#eef1f7",
    board_2="#e3e8f1",
    lit="#cfdcf0",
    line="#7d889c",
    frame="#5a92d8",
    hole="#ffffff",
    on_frame="#ffffff",
    disc_x="#7a1220",
    disc_o="#10285c",
    wood="#a97a42",
    wood_line="#2b1a08",
    cloth="#2b8457",
    cloth_2="#318c5e",
    black="#0a0b0d",
    white="#ffffff",
    last="#d5e0f2",
    win="#1f6f3d",
    good="#0f6b74",
    bad="#a1182f",
    on_light="#ffffff",
)
CONTRAST = Theme(
    name="contrast",
    is_light=False,
    ground="#000000",
    text="#ffffff",
    quiet="#d6d6d6",
    accent="#ffff00",
    x="#00ffff",
    o="#ffb000",
    board="#000000",
    board_2="#262626",
    lit="#003a70",
    line="#ffffff",
    frame="#2a55cc",
    hole="#000000",
    on_frame="#ffffff",
    disc_x="#ffff66",
    disc_o="#ffb3a6",
    wood="#8f6a3a",
    wood_line="#000000",
    cloth="#0a7a3e",
    cloth_2="#14864a",
    black="#000000",
    white="#ffffff",
    last="#3a3a3a",
    win="#ffff00",
    good="#00ff7f",
    bad="#ff9db0",
    on_light="#000000",
)
SAFE = Theme(
    name="safe",
    is_light=False,
    ground="#12151a",
    text="#eceff4",
    quiet="#a3abb8",
    accent="#f0e442",
    x="#56b4e9",
    o="#f0a030",
    board="#1b2027",
    board_2="#232a33",
    lit="#33404f",
    line="#78838f",
    frame="#2d56c4",
    hole="#05080f",
    on_frame="#ffffff",
    disc_x="#f6ec5a",
    disc_o="#e6a9d2",
    wood="#9b7748",
    wood_line="#20160a",
    cloth="#1b7560",
    cloth_2="#227f69",
    black="#050607",
    white="#ffffff",
    last="#34404d",
    win="#f0e442",
    good="#56d4b0",
    bad="#f2a5cf",
    on_light="#12151a",
)
PAPER = Theme(
    name="paper",
    is_light=True,
    ground="#f6f0e1",
    text="#33291b",
    quiet="#5c4f3a",
    accent="#7a3b12",
    x="#1f4e79",
    o="#98310f",
    board="#efe6d0",
    board_2="#e7dcc2",
    lit="#dccda8",
    line="#85775c",
    frame="#5f8fbf",
    hole="#fffdf6",
    on_frame="#ffffff",
    disc_x="#6e1420",
    disc_o="#172a4d",
    wood="#ab7c46",
    wood_line="#2b1a08",
    cloth="#4f8153",
    cloth_2="#57895b",
    black="#14110c",
    white="#fffdf6",
    last="#e2d3ae",
    win="#5c5a13",
    good="#2c6a4a",
    bad="#96222b",
    on_light="#fffdf6",
)
NEON = Theme(
    name="neon",
    is_light=False,
    ground="#0b0614",
    text="#f3e9ff",
    quiet="#b39ad6",
    accent="#39ff9f",
    x="#29e7ff",
    o="#ff6ad5",
    board="#150b26",
    board_2="#1e1036",
    lit="#3a1a66",
    line="#8a62c9",
    frame="#5a3fd6",
    hole="#060110",
    on_frame="#ffffff",
    disc_x="#6bffea",
    disc_o="#ff9ae3",
    wood="#8b5fa8",
    wood_line="#12051c",
    cloth="#1b6f86",
    cloth_2="#207a92",
    black="#05020a",
    white="#ffffff",
    last="#33205a",
    win="#f9ff5c",
    good="#39ff9f",
    bad="#ff8fb8",
    on_light="#0b0614",
)
THEMES: Mapping[str, Theme] = {each.name: each for each in (DARK, LIGHT, CONTRAST, SAFE, PAPER, NEON)}
"""The themes by name: dark, light, high contrast, colour-blind, paper and neon."""

_SIXTEEN = {
    False: {
        **dict.fromkeys(("ground", "text", "quiet"), "default"),
        **{"accent": "bright_cyan", "x": "bright_cyan", "o": "bright_yellow", "line": "white"},
        **{"board": "default", "board_2": "default", "lit": "blue", "last": "blue"},
        **{
            "frame": "blue",
            "hole": "black",
            "on_frame": "bright_white",
            "disc_x": "bright_yellow",
            "disc_o": "bright_red",
        },
        **{"wood": "yellow", "wood_line": "black", "cloth": "green", "cloth_2": "green"},
        **{"black": "black", "white": "bright_white"},
        **{"win": "bright_yellow", "good": "bright_green", "bad": "bright_red", "on_light": "black"},
    },
    True: {
        **dict.fromkeys(("ground", "text", "quiet"), "default"),
        **{"accent": "blue", "x": "blue", "o": "red", "line": "black"},
        **{"board": "default", "board_2": "default", "lit": "bright_cyan", "last": "bright_cyan"},
        **{
            "frame": "blue",
            "hole": "bright_white",
            "on_frame": "bright_white",
            "disc_x": "bright_yellow",
            "disc_o": "bright_red",
        },
        **{"wood": "yellow", "wood_line": "black", "cloth": "green", "cloth_2": "green"},
        **{"black": "black", "white": "bright_white"},
        **{"win": "green", "good": "cyan", "bad": "red", "on_light": "bright_white"},
    },
}
"""The sixteen colours for a dark and for a light background; the terminal decides how they look."""
_MANY = {
    "dark": {"disc_o": "#ffaf87"},
    "light": {"disc_x": "#5f0000"},
    "neon": {"frame": "#5f5fd7", "disc_o": "#ffafff", "quiet": "#af87ff", "cloth": "#00875f"},
}
"""Colours of a palette of 256 in place of the nearest ones, whose contrasts are too low."""
COLOURED = tuple(each.name for each in fields(Theme) if each.name not in ("name", "is_light", "is_smooth"))
"""The names of the colours of a theme."""


def theme_for(name: str | None, depth: Depth, *, is_on_light: bool = False) -> Theme | None:
    """Return a theme as a terminal of this depth can show it; None without colours.

    Without a name, return the dark or the light theme, depending on the terminal's own background.
    """
    theme = THEMES[name] if name is not None else LIGHT if is_on_light else DARK
    match depth:
        case Depth.NONE:
            return None
        case Depth.SIXTEEN:
            return Theme(theme.name, is_light=theme.is_light, is_smooth=False, **_SIXTEEN[theme.is_light])
        case Depth.MANY:
            chosen = {name: nearest_of_256(getattr(theme, name)) for name in COLOURED}
            return Theme(
                theme.name, is_light=theme.is_light, is_smooth=False, **{**chosen, **_MANY.get(theme.name, {})}
            )
        case Depth.TRUE:
            return theme


_LEVELS = (0, 95, 135, 175, 215, 255)
"""The levels of red, green and blue in the cube of a palette of 256 colours."""
_GREYS = tuple(round(10.2 * n) for n in range(26))
"""The greys that rich sends as black, as each grey of that palette, and as white."""


def nearest_of_256(colour: str) -> str:
    """Return the colour of a palette of 256 that looks most alike, by its distance in OKLab.

    Rich chooses by the distance of red, green and blue, which turns dark blue greys into plain blue or black.
    """
    channels = _channels(colour)
    cube = (
        each
        for each in product(*(sorted(_LEVELS, key=lambda level: abs(level - channel))[:2] for channel in channels))
        if len(set(each)) > 1
    )
    grey = sum(channels) / 3
    greys = ((each,) * 3 for each in sorted(_GREYS, key=lambda each: abs(each - grey))[:5])
    wanted = _oklab(channels)
    red, green, blue = min((*cube, *greys), key=lambda each: math.dist(_oklab(each), wanted))
    return f"#{red:02x}{green:02x}{blue:02x}"


@lru_cache(maxsize=512)
def _oklab(channels: tuple[int, ...]) -> tuple[float, float, float]:
    """Return a colour in OKLab (Björn Ottosson, 2020): lightness, green to red, blue to yellow."""
    red, green, blue = map(_linear, channels)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def is_on_light(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal reports a white background in COLORFGBG."""
    return environment.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")


@lru_cache(maxsize=4096)
def blended(below: str, above: str, share: float) -> str:
    """Return the blend of two hexadecimal colours, with `share` as the opacity of the upper one."""
    pairs = zip(_channels(below), _channels(above), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two hexadecimal colours as WCAG 2.2 defines it: from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    red, green, blue = map(_linear, _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: int) -> float:
    part = channel / 255
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


_DIM = re.compile(r"\b(not )?dim\b")


@lru_cache(maxsize=4096)
def in_theme(style: str, theme: Theme) -> str:
    """Return a style with the theme's quiet colour in place of `dim`, whose contrast is unknown."""
    if theme.quiet == "default" or "dim" not in style:
        return style
    bright = theme.text if "#" not in style else ""
    return " ".join(_DIM.sub(lambda found: bright if found[1] else theme.quiet, style).split())
