"""Draw client, lobby, tournament and king.svg of docs/ with the client's own code: `make docs`. A test compares them.

`python docs/write_picture.py --sheets FOLDER` draws contact sheets instead: every game in every theme and capability
of a terminal, at 80x24 and 120x40, as SVG pictures for people to look at.
"""

import argparse
import io
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from msgspec import structs
from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from ttt_net import messages as wire
from ttt_net.client.display import Display, Page
from ttt_net.client.drawing.board import without_targets
from ttt_net.client.drawing.draw import draw, grounded
from ttt_net.client.drawing.glyphs import ASCII, BOXES, CONSOLE, Glyphs
from ttt_net.client.drawing.themes import DARK, THEMES, Depth, theme_for
from ttt_net.client.update import update
from ttt_net.client.world import LinkState, World
from ttt_net.clock import TimeControl
from ttt_net.games.catalogue import NAMES
from ttt_net.matches.match import Match
from ttt_net.matches.referee import decide

FOLDER = Path(__file__).parent
SIZE = (100, 32)
CELL_WIDTH, CELL_HEIGHT, BASE, MARGIN, BAR = 8, 16, 12.5, 14, 30
"""Sizes in units of a picture: of a character and its base line, around all, and of the bar above."""
FONT = "text{font:13.3px DejaVu Sans Mono,Menlo,Consolas,monospace;white-space:pre}path{shape-rendering:crispEdges}"
DOTS = "".join(
    f'<circle cx="{18 + 18 * n}" cy="15" r="6" fill="{colour}"/>'
    for n, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
)
THEMED = replace(BOXES, theme=DARK)
MOVES = (38, 31, 37, 36, 39, 40, 30, 24)
ANN, BEN = wire.PlayerInfo("Ann", rating=1512), wire.PlayerInfo("Ben", rating=1490, provisional=True)
BOT = wire.PlayerInfo("alphabeta", "alphabeta", level=5)
BLITZ = TimeControl(initial_ms=180_000, increment_ms=2_000)


def main() -> None:
    """Write the pictures of the docs, or contact sheets into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--sheets", type=Path, metavar="FOLDER", help="write contact sheets of all games there instead")
    folder = parser.parse_args().sheets
    drawn = sheets() if folder is not None else pictures()
    (folder or FOLDER).mkdir(parents=True, exist_ok=True)
    for name, picture in drawn.items():
        ((folder or FOLDER) / name).write_text(picture, encoding="utf-8")


CAPABILITIES: dict[str, tuple[Glyphs, Depth]] = {
    **{f"true-{name}": (replace(BOXES, theme=theme), Depth.TRUE) for name, theme in THEMES.items()},
    "256": (replace(BOXES, theme=theme_for("dark", Depth.MANY)), Depth.MANY),
    "16": (replace(BOXES, theme=theme_for("dark", Depth.SIXTEEN)), Depth.SIXTEEN),
    "none": (BOXES, Depth.NONE),
    "console": (replace(CONSOLE, theme=theme_for("dark", Depth.SIXTEEN)), Depth.SIXTEEN),
    "ascii": (ASCII, Depth.NONE),
}
"""The terminals of the contact sheets: characters and colours, and how deep these are."""
SHEET_SIZES = ((80, 24), (120, 40))
_PLIES, _ACROSS, _GAP = 9, 3, 12


def sheets() -> dict[str, str]:
    """Return every game in the middle and at its end, for each terminal and size, as SVG by the name of the file."""
    shown = [display for name in NAMES for display in (after(name, _PLIES), after(name, None))]
    return {
        f"{capability}-{size[0]}x{size[1]}.svg": sheet_of(shown, size, glyphs, depth)
        for capability, (glyphs, depth) in CAPABILITIES.items()
        for size in SHEET_SIZES
    }


def after(game: str, plies: int | None) -> Display:
    """Return what Ann sees after so many moves of chance in a game, or at its end."""
    luck, match = random.Random(3), Match(wire.Started("k3V9pQ7x", 1, 0, game, (ANN, BEN), None))
    display = update(_welcomed(), match.snapshot(0, (True, True), 0), 0)
    while not match.is_over and (plies is None or len(match.moves) < plies):
        move, side = luck.choice(list(match.game.actions(match.state))), len(match.moves) % 2
        for event in decide(match, side, wire.PlayRequest(1, match.id, len(match.moves), move), 0):
            match.evolve(event)
            display = update(display, match.told(event), 0)
    return replace(display, notice="")


def sheet_of(shown: Sequence[Display], size: tuple[int, int], glyphs: Glyphs, depth: Depth) -> str:
    """Return several displays side by side as one SVG."""
    width, height = size[0] * CELL_WIDTH + _GAP, size[1] * CELL_HEIGHT + _GAP
    drawn = []
    for number, display in enumerate(shown):
        page = without_targets(grounded(draw(display, size, 0, glyphs), size, glyphs))
        down, right = divmod(number, _ACROSS)
        ground = _ground_of(glyphs)
        lines = [
            f'<g transform="translate(0,{row * CELL_HEIGHT})">{line}</g>'
            for row, line in enumerate(lines_of(page, size[0], depth))
            if line
        ]
        whole = f'<rect width="{width - _GAP}" height="{height - _GAP}" fill="{ground}"/>{"".join(lines)}'
        drawn.append(f'<g transform="translate({right * width + _GAP},{down * height + _GAP})">{whole}</g>')
    view = f"0 0 {_ACROSS * width + _GAP} {-(-len(shown) // _ACROSS) * height + _GAP}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}"><style>{FONT}</style>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#555"/>', *drawn, "</svg>\n"])


def _ground_of(glyphs: Glyphs) -> str:
    theme = glyphs.theme
    return theme.ground if theme is not None and theme.ground.startswith("#") else "#000000"


def pictures() -> dict[str, str]:
    """Return what Ann sees of the lobby, a match and a tournament, as SVG by the name of the file."""
    small = (80, 24)
    return {
        "client.svg": _picture(_match()),
        "lobby.svg": _picture(_lobby()),
        "tournament.svg": _picture(_seen(SWISS), small),
        "king.svg": _picture(_seen(KING), small),
    }


def _picture(display: Display, size: tuple[int, int] = SIZE, glyphs: Glyphs = THEMED) -> str:
    """Return a view as SVG."""
    page = without_targets(grounded(draw(display, size, 0, glyphs), size, glyphs))
    width, height = size[0] * CELL_WIDTH + 2 * MARGIN, BAR + size[1] * CELL_HEIGHT + 2 * MARGIN
    lines = (
        f'<g transform="translate({MARGIN},{BAR + MARGIN + row * CELL_HEIGHT})">{line}</g>'
        for row, line in enumerate(lines_of(page, size[0], Depth.TRUE))
        if line
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<style>{FONT}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{_ground_of(glyphs)}"/>{DOTS}',
            *lines,
            "</svg>\n",
        ]
    )


def lines_of(page: Text, columns: int, depth: Depth) -> list[str]:
    """Return each line of a page as SVG, as a terminal of that depth shows it; empty where nothing is seen."""
    console = Console(width=columns, file=io.StringIO(), force_terminal=True, color_system=depth.value or "truecolor")
    console.no_color = depth is Depth.NONE
    return [_line(segments) for segments in console.render_lines(page, pad=False)]


def _line(segments: Iterable[Segment]) -> str:
    """Return a line as SVG: grounds and half blocks as one path for each colour, all else of one style as text."""
    grounds: dict[str, str] = {}
    blocks: dict[str, str] = {}
    pieces: list[str] = []
    column = 0
    for segment in segments:
        colour, ground = _colours(segment.style)
        if ground:
            grounds[ground] = grounds.get(ground, "") + _rectangle(column, segment.cell_length, 0, 8)
        if segment.style is not None and segment.style.underline:
            blocks[colour] = blocks.get(colour, "") + _rectangle(column, segment.cell_length, 7.5, 0.5)
        for text, start in _split(segment.text, column):
            if text[0] in _BLOCKS:
                for left, width, top, height in _BLOCKS[text[0]]:
                    wide = width if width < 1 else width * len(text)
                    for n in range(len(text) if width < 1 else 1):
                        blocks[colour] = blocks.get(colour, "") + _rectangle(start + n + left, wide, top, height)
            elif text.strip():
                pieces.append(_written(text, start, colour, segment.style))
        column += segment.cell_length
    paths = (f'<path fill="{colour}" d="{path}"/>' for drawn in (grounds, blocks) for colour, path in drawn.items())
    return "".join([*paths, *pieces])


def _colours(style: Style | None) -> tuple[str, str]:
    """Return the colour and the ground of a style, the ground empty where it has none."""
    colour, ground = (style.color, style.bgcolor) if style is not None else (None, None)
    named = [_hexadecimal(each, is_ground=n == 1) for n, each in enumerate((colour, ground))]
    if style is not None and style.reverse:
        return named[1] or "#000000", named[0] or "#d9d9d9"
    return named[0] or "#d9d9d9", named[1]


def _hexadecimal(colour: Color | None, *, is_ground: bool) -> str:
    return "" if colour is None or colour.is_default else colour.get_truecolor(MONOKAI, foreground=not is_ground).hex


def _split(text: str, column: int) -> list[tuple[str, int]]:
    """Return runs of equal block characters and of other characters, each with the column where it begins."""
    found: list[tuple[str, int]] = []
    for character in text:
        if found and (found[-1][0][-1] == character if character in _BLOCKS else found[-1][0][-1] not in _BLOCKS):
            found[-1] = (found[-1][0] + character, found[-1][1])
        else:
            found.append((character, column))
        column += cell_len(character)
    return found


_BLOCKS: dict[str, Sequence[tuple[float, float, float, float]]] = {
    "█": [(0, 1, 0, 8)],
    "▀": [(0, 1, 0, 4)],
    "▄": [(0, 1, 4, 4)],
    "▏": [(0, 0.125, 0, 8)],
    "▌": [(0, 0.5, 0, 8)],
    "▐": [(0.5, 0.5, 0, 8)],
    "▇": [(0, 1, 1, 7)],
    "▟": [(0.5, 0.5, 0, 4), (0, 1, 4, 4)],
    "▙": [(0, 0.5, 0, 4), (0, 1, 4, 4)],
    "▜": [(0.5, 0.5, 4, 4), (0, 1, 0, 4)],
    "▛": [(0, 0.5, 4, 4), (0, 1, 0, 4)],
    "▗": [(0.5, 0.5, 4, 4)],
    "▖": [(0, 0.5, 4, 4)],
    "▝": [(0.5, 0.5, 0, 4)],
    "▘": [(0, 0.5, 0, 4)],
}
"""The parts of its cell that each block covers: columns from the left, and eighths of its height from the top."""


def _rectangle(column: float, columns: float, top: float, height: float) -> str:
    """Return a rectangle as part of a path, from columns and eighths of the height of a line."""
    x, y, wide, high = column * CELL_WIDTH, top * CELL_HEIGHT / 8, columns * CELL_WIDTH, height * CELL_HEIGHT / 8
    return f"M{x:g} {y:g}h{wide:g}v{high:g}h{-wide:g}z"


def _written(text: str, column: int, colour: str, style: Style | None) -> str:
    lead, body = len(text) - len(text.lstrip()), text.strip()
    more = ' font-weight="bold"' * bool(style and style.bold) + ' opacity=".6"' * bool(style and style.dim)
    x = (column + lead) * CELL_WIDTH
    return (
        f'<text x="{x:g}" y="{BASE}" textLength="{cell_len(body) * CELL_WIDTH:g}" fill="{colour}"{more}>'
        f"{escape(body)}</text>"
    )


def _welcomed() -> Display:
    display = Display(World(address="192.168.1.20:8765", link=LinkState.ONLINE, latency_ms=3))
    return update(display, wire.Welcome(wire.PROTOCOL, "Ann's lobby", ANN, []), 0)


def _match() -> Display:
    """Return what Ann sees, playing Connect Four against Ben."""
    match = Match(wire.Started("k3V9pQ7x", 1, 0, "connect4", (ANN, BEN), BLITZ, rated=True))
    display = update(_welcomed(), match.snapshot(0, (True, True), 0), 0)
    for ply, move in enumerate(MOVES):
        for event in decide(match, ply % 2, wire.PlayRequest(1, match.id, ply, move), ply * 1_500):
            match.evolve(event)
            display = update(display, match.told(event), 0)
    display = update(display, wire.Watching(match.id, 2), 0)
    display = update(display, wire.Chatted(match.id, "players", BEN, "Good luck!", "good_luck"), 0)
    return replace(display, notice="")


def _lobby() -> Display:
    """Return what Ann sees while nobody plays her yet."""
    heard: tuple[wire.AnyServerMessage, ...] = (
        wire.Challenged(5, BEN, ANN, "connect4", 30_000, BLITZ, rated=True),
        wire.SeekList(1, [wire.SeekInfo(7, wire.PlayerInfo("Cleo", rating=1710), ["ultimate"], BLITZ, rated=True)]),
        wire.PlayerList(
            5,
            [
                wire.ListedPlayer("alphabeta", "alphabeta", 1, [], 5, 4, 3),
                wire.ListedPlayer("Ben"),
                wire.ListedPlayer("Cleo", seeking=["ultimate"]),
                wire.ListedPlayer("Dan", playing=1),
            ],
        ),
        wire.LiveList(1, [wire.LiveMatch("m9", "gomoku", (wire.PlayerInfo("Dan"), BOT), 12, 3, None, featured=True)]),
    )
    display = _welcomed()
    display = replace(display, world=replace(display.world, seeking=wire.SeekRequest(0, ["tictactoe"])))
    for message in heard:
        display = update(display, message, 0)
    return display


SWISS = wire.TournamentReply(
    tournament="BCDFG",
    seq=20,
    name="Friday",
    kind="swiss",
    game="connect4",
    time=BLITZ,
    state="running",
    round=2,
    rounds=5,
    players=6,
    page=1,
    pages=1,
    tie_breaks=["buchholz_cut_1", "buchholz", "direct", "wins"],
    standings=[
        wire.TournamentStanding(1, "Cleo", 4, [2, 3, 0, 2]),
        wire.TournamentStanding(2, "Ann", 3, [2, 3, 0, 1]),
        wire.TournamentStanding(3, "Ben", 2, [1, 2, 0, 1]),
        wire.TournamentStanding(4, "Dan", 2, [0, 1, 0, 1]),
        wire.TournamentStanding(5, "Eve", 1, [0, 1, 0, 0]),
        wire.TournamentStanding(6, "Finn", 0, [0, 1, 0, 0]),
    ],
    boards=[
        wire.TournamentBoard(1, "Cleo", "Dan", "m1"),
        wire.TournamentBoard(2, "Ann", "Ben", "m2", "1-0"),
        wire.TournamentBoard(3, "Eve", "Finn", "m3", "1/2-1/2"),
    ],
    open_boards=1,
)
"""A Swiss in which Ann's match of the round is over."""
KING = structs.replace(
    SWISS,
    name="LAN evening",
    kind="king",
    game="gomoku",
    round=1,
    rounds=0,
    tie_breaks=["in_a_row", "fewer_games"],
    standings=[
        wire.TournamentStanding(1, "Cleo", 6, [3, -5], streak=2),
        wire.TournamentStanding(2, "Ben", 4, [2, -5]),
        wire.TournamentStanding(3, "Ann", 2, [1, -4]),
        wire.TournamentStanding(4, "Dan", 2, [1, -4]),
        wire.TournamentStanding(5, "Eve", 0, [0, -2]),
        wire.TournamentStanding(6, "Finn", 0, [0, -2]),
    ],
    boards=[
        wire.TournamentBoard(12, "Eve", "Cleo", "m12"),
        wire.TournamentBoard(11, "Dan", "Ben", "m11"),
        wire.TournamentBoard(10, "Finn", "Cleo", "m10", "0-1"),
        wire.TournamentBoard(9, "Ann", "Ben", "m9", "0-1"),
    ],
    open_boards=2,
    waiting=["Finn", "Ann"],
)
"""A king of the table, in which Ann waits for her turn."""


def _seen(told: wire.TournamentReply) -> Display:
    """Return the page of a tournament."""
    display = _welcomed()
    display = replace(display, pages=(*display.pages, Page("tournament", about=told.tournament)))
    return update(display, told, 0)


if __name__ == "__main__":
    main()
