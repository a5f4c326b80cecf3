"""Make the previews that chats show beside links to matches and invitations: a title, and a picture of the board.

Pictures need Pillow (extra `previews`). Without it, links show the icon of the page. A picture takes about 10 ms and
128 are kept; requests count against the same limits as all plain HTTP.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.matches.description import describe_game, describe_position
from ttt_net.matches.match import Match
from ttt_net.messages import GameInfo
from ttt_net.server.wire.http import Asset, OwnPages, make_asset, preview_page

if TYPE_CHECKING:
    from PIL import ImageDraw

_PLACE = re.compile(r"(/pictures)?/m/([0-9A-Za-z-]{1,32})(?:\.png)?", re.ASCII)
_INVITED = re.compile(r"(/pictures)?/j(?:/([a-z0-9:,+]{1,40})\.png|\?([a-z0-9:,+]{1,40}))", re.ASCII)
"""Invitations: the game is in the query of the address, since browsers do not send the code after the #."""
_SIZE = 600, 315
"""Width and height of a picture: what chats show as a large preview."""
_FINE = 2
"""Pictures are drawn this many times larger, and then made smaller, so that edges are smooth."""
_SHOWN_ELSEWHERE = {"Cross-Origin-Resource-Policy": "cross-origin"}
_MARGIN = 20
_FEWEST_STONES = 9
"""Boards with at least this many rows and columns have stones on crossings."""
_PAPER, _SHEET, _LINE, _GOLD = "#f5f2eb", "#fffefb", "#c3bdad", "#ffe08a"
_WOOD, _WOOD_LINE, _RACK, _HOLE = "#e6be7c", "#77541f", "#2d5bc4", "#e9edf7"
_INKS: Mapping[str, str] = {"X": "#1263b8", "O": "#bc4410"}
_STONES: Mapping[str, str] = {"X": "#16181e", "O": "#faf7f0"}
_DISCS: Mapping[str, str] = {"X": "#f3d03e", "O": "#e5483b"}


class _Place(NamedTuple):
    """Where cells are: the upper left corner of the board and the side of a cell, in pixels."""

    left: float
    top: float
    side: float


def match_at(target: str) -> str | None:
    """Return the id of the match at an address; None at all others."""
    found = _PLACE.fullmatch(target.partition("?")[0])
    return found and found[2]


def preview(target: str, match: Match | None, own: OwnPages) -> Asset | None:
    """Return the page or the picture at an address that has a preview of its own; None for all others.

    `match` is the one at the address, if everybody may watch it.
    """
    if found := _PLACE.fullmatch(target.partition("?")[0]):
        if match is None:
            return None
        position = describe_position(match.game, len(match.moves), match.state, is_over=match.outcome is not None)
        name, board, line = match.game.name, position.board, tuple(position.line)
        title = f"{' – '.join(player.name for player in match.players)}: {match.game.title}"
        picture = f"/pictures/m/{match.id}.png?{len(match.moves)}"
        place = "/"
    elif found := _INVITED.fullmatch(target):
        name = found[2] or found[3]
        try:
            game = find_game(name)
        except Refusal:
            return None
        board, line, title = "." * len(set(game.move_cells)), (), f"You are invited to a match: {game.title}"
        picture, place = f"/pictures/j/{name}.png", "/j"
    else:
        return None
    if not found[1]:
        return preview_page(own, place, title, picture if _can_draw() else "")
    if not _can_draw():
        return None
    return make_asset("board.png", draw_board(name, board, line), "public, max-age=300", _SHOWN_ELSEWHERE)


def _can_draw() -> bool:
    return find_spec("PIL") is not None


@lru_cache(maxsize=128)
def draw_board(name: str, board: str, line: tuple[int, ...]) -> bytes:
    """Return a PNG of a position; a completed line is highlighted. Needs Pillow."""
    from PIL import Image, ImageDraw

    game = describe_game(name)
    layers, height, width = (1, *game.shape)[-3:]
    image = Image.new("RGB", (_SIZE[0] * _FINE, _SIZE[1] * _FINE), _PAPER)
    pen = ImageDraw.Draw(image)
    lean = max((run[2] for run in game.geometry.runs), default=0) / 2 if game.geometry else 0
    across = layers * (width + lean) + (layers - 1) * 0.6
    side = min((_SIZE[0] - 2 * _MARGIN) / across, (_SIZE[1] - 2 * _MARGIN) / height) * _FINE
    top = (image.height - side * height) / 2
    for layer in range(layers):
        left = (image.width - side * across) / 2 + layer * side * (width + 0.6)
        first = layer * height * width
        cells = board[first : first + height * width]
        _draw_layer(pen, game, cells, [cell - first for cell in line], _Place(left, top, side))
    image = image.resize(_SIZE, Image.Resampling.BOX)
    target = BytesIO()
    image.quantize(48, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(target, "PNG", compress_level=6)
    return target.getvalue()


def _draw_layer(pen: "ImageDraw.ImageDraw", game: GameInfo, board: str, line: Sequence[int], at: _Place) -> None:
    """Draw one layer of a board: its ground, then its marks."""
    height, width = game.shape[-2:]
    looks = {piece.mark: piece.look for piece in game.pieces or ()}
    is_hexes = game.geometry is not None and game.geometry.cell == "hexagon"
    is_stones = not is_hexes and not game.gravity and not game.block and min(height, width) >= _FEWEST_STONES
    whole = (at.left, at.top, at.left + at.side * width, at.top + at.side * height)
    if not is_hexes:
        ground = _WOOD if is_stones else _RACK if game.gravity else _SHEET
        pen.rounded_rectangle(whole, at.side / 5, ground)
        _draw_lines(pen, game, at, is_stones=is_stones)
    for cell, mark in enumerate(board):
        row, column = divmod(cell, width)
        shift = game.geometry.runs[row][2] / 2 if is_hexes and game.geometry else 0
        x, y = at.left + (column + 0.5 + shift) * at.side, at.top + (row + 0.5) * at.side
        spot = _Place(x, y, at.side)
        if is_hexes:
            pen.regular_polygon((x, y, at.side * 0.55), 6, 0, _SHEET, _LINE)
        elif game.gravity:
            pen.circle((x, y), at.side * 0.42, _HOLE)
        if cell in line:
            pen.circle((x, y), at.side * 0.47, _GOLD)
        if mark != ".":
            _draw_mark(pen, mark, looks.get(mark, "stone" if is_stones else "disc" if game.gravity else ""), spot)


def _draw_lines(pen: "ImageDraw.ImageDraw", game: GameInfo, at: _Place, *, is_stones: bool) -> None:
    """Draw the lines between cells, or those on whose crossings stones lie; small boards are set apart."""
    if game.gravity:
        return
    height, width = game.shape[-2:]
    half = 0.5 if is_stones else 0
    down, across = game.block or (height, width)
    colour, thin = (_WOOD_LINE, 0.04) if is_stones else (_LINE, 0.05)
    edge = 0.5 if is_stones else 0.08
    for row in range(0 if is_stones else 1, height):
        wide = round(at.side * (0.12 if row % down == 0 and game.block else thin))
        y = at.top + (row + half) * at.side
        pen.line((at.left + edge * at.side, y, at.left + (width - edge) * at.side, y), colour, max(2, wide))
    for column in range(0 if is_stones else 1, width):
        wide = round(at.side * (0.12 if column % across == 0 and game.block else thin))
        x = at.left + (column + half) * at.side
        pen.line((x, at.top + edge * at.side, x, at.top + (height - edge) * at.side), colour, max(2, wide))


def _draw_mark(pen: "ImageDraw.ImageDraw", mark: str, look: str, at: _Place) -> None:
    """Draw a mark around a point, as a stone, a disc, or a sign."""
    x, y, side = at
    if look in ("stone", "disc"):
        colours = _STONES if look == "stone" else _DISCS
        pen.circle((x, y), side * 0.43, colours.get(mark, _LINE), _WOOD_LINE, round(side / 30))
        return
    radius, wide = side * 0.27, round(side * 0.13)
    if mark == "X":
        for slope in (1, -1):
            ends = (x - radius, y - slope * radius, x + radius, y + slope * radius)
            pen.line(ends, _INKS[mark], wide)
            for end in (ends[:2], ends[2:]):
                pen.circle(end, wide / 2, _INKS[mark])
    elif mark == "O":
        pen.circle((x, y), radius + wide / 2, None, _INKS[mark], wide)
    else:
        pen.rectangle((x - radius, y - radius, x + radius, y + radius), None, _LINE, wide)
