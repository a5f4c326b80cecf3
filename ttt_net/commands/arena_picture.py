"""Draw a cross table: SVG with the scores of each pair in shades, and each one's Elo with its interval."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from ttt_net.strategies.arena import Score, Standing, elo_interval

_CELL, _NAME_WIDTH, _HEAD, _BAR_WIDTH, _MARGIN = 84, 190, 76, 320, 16
_FONT = "font-family='ui-sans-serif, system-ui, sans-serif' font-size='13'"
_LEAST_ELO = 200.0
"""Half the least width of the scale of Elo."""
_MOST_ELO = 1200.0
"""An interval that goes on for ever ends here."""


def picture(title: str, table: Sequence[Standing]) -> str:
    """Return the picture as SVG: legible on light and dark, and without anything that is loaded from elsewhere."""
    width = _MARGIN * 2 + _NAME_WIDTH + _CELL * len(table) + _BAR_WIDTH
    height = _HEAD + 34 * len(table) + 56
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' {_FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{width}' height='{height}' rx='8' fill='#fdfdfb'/>",
        _text(_MARGIN, 28, title, weight="600", size=16),
        *(
            _text(_MARGIN + _NAME_WIDTH + _CELL * (column + 0.5), _HEAD - 10, str(column + 1), anchor="middle")
            for column in range(len(table))
        ),
    ]
    left = _MARGIN + _NAME_WIDTH + _CELL * len(table) + 24
    reach = _reach(table)
    for row, standing in enumerate(table):
        top = _HEAD + 34 * row
        parts.append(_text(_MARGIN, top + 21, f"{row + 1}  {standing.name}"))
        for column, score in enumerate(standing.against):
            parts += _square(_MARGIN + _NAME_WIDTH + _CELL * column, top, score)
        parts += _interval(left, top, standing, reach)
    bottom = _HEAD + 34 * len(table) + 22
    parts += [
        _text(left, bottom, f"-{reach:.0f}", size=11),
        _text(left + (_BAR_WIDTH - 48) / 2, bottom, "0 Elo", anchor="middle", size=11),
        _text(left + _BAR_WIDTH - 48, bottom, f"+{reach:.0f}", anchor="end", size=11),
        _text(
            _MARGIN,
            bottom + 20,
            "won-drawn-lost of the row; Elo against the mean of the others, 19 times out of 20",
            size=11,
        ),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _reach(table: Sequence[Standing]) -> float:
    ends = [abs(end) for standing in table for end in _ends(standing)]
    return min(_MOST_ELO, max([_LEAST_ELO, *ends]))


def _ends(standing: Standing) -> tuple[float, float]:
    low, high = elo_interval(standing.total)
    return (-_MOST_ELO if low is None else low), (_MOST_ELO if high is None else high)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400", size: int = 13) -> str:
    style = f"text-anchor='{anchor}' font-weight='{weight}' font-size='{size}'"
    return f"<text x='{x:.0f}' y='{y:.0f}' fill='#222' {style}>{escape(text)}</text>"


def _square(left: float, top: float, score: Score) -> list[str]:
    """Return the score against one other: green where more was won, red where more was lost, by how much."""
    if not score.games:
        return [f"<rect x='{left:.0f}' y='{top}' width='{_CELL - 4}' height='30' rx='4' fill='#e4e4e0'/>"]
    share = score.points / score.games
    hue, depth = ("#2e8b57", 2 * share - 1) if share >= 0.5 else ("#c0504d", 1 - 2 * share)
    shade = f"fill='{hue}' fill-opacity='{depth * 0.6 + 0.06:.2f}'"
    return [
        f"<rect x='{left:.0f}' y='{top}' width='{_CELL - 4}' height='30' rx='4' {shade}/>",
        _text(left + _CELL / 2 - 2, top + 20, "-".join(map(str, score)), anchor="middle"),
    ]


def _interval(left: float, top: float, standing: Standing, reach: float) -> list[str]:
    """Return the Elo of one as a dot on its interval."""
    if not standing.total.games:
        return []
    wide = _BAR_WIDTH - 48

    def at(elo: float) -> float:
        return left + wide * (min(reach, max(-reach, elo)) + reach) / (2 * reach)

    low, high = map(at, _ends(standing))
    dot = (
        [] if standing.elo is None else [f"<circle cx='{at(standing.elo):.1f}' cy='{top + 15}' r='5' fill='#1f4e79'/>"]
    )
    return [
        f"<line x1='{at(0):.1f}' x2='{at(0):.1f}' y1='{top}' y2='{top + 30}' stroke='#ccc'/>",
        f"<line x1='{low:.1f}' x2='{high:.1f}' y1='{top + 15}' y2='{top + 15}' stroke='#1f4e79' stroke-width='3'/>",
        *dot,
    ]
