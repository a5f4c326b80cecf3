"""Draw a position as rows of plain text: for the pages of rules, for `replay` and for the documentation."""

from typing import Any

from ttt_net.games.game import EMPTY, Game
from ttt_net.games.geometry import cell_name

_CROP_FROM = 10
"""Boards this wide or high can be drawn without the empty rows and columns around their marks."""
_MARGIN = 1


def draw_diagram(game: Game[Any], state: Any, *, is_cropped: bool = False) -> tuple[str, ...]:  # noqa: ANN401 - each game has its own positions
    """Return the rows of the board with their numbers, the winning line in brackets, and the columns below.

    Layers of a cube stand side by side, layer 1 first. With `is_cropped` a board of 10 or more rows or columns is cut
    to where the marks are.
    """
    height, width = game.shape[-2:]
    board = game.board(state)
    area = height * width
    rows, columns = range(height), range(width)
    if is_cropped and len(game.shape) == 2:
        marked = [cell for cell in range(area) if board[cell] != EMPTY]
        rows = _cut(rows, [cell // width for cell in marked])
        columns = _cut(columns, [cell % width for cell in marked])
    layers = [_draw_layer(game, state, start, rows, columns) for start in range(0, len(board), area)]
    if len(game.shape) == 3:
        for number, layer in enumerate(layers, start=1):
            layer.insert(0, f"layer {number}")
    widest = max(map(len, layers[0]))
    return tuple(
        "  ".join(row.ljust(widest) for row in side_by_side).rstrip() for side_by_side in zip(*layers, strict=True)
    )


def _cut(numbers: range, marked: list[int]) -> range:
    if len(numbers) < _CROP_FROM or not marked:
        return numbers
    return range(max(0, min(marked) - _MARGIN), min(len(numbers), max(marked) + _MARGIN + 1))


def _draw_layer(game: Game[Any], state: Any, start: int, rows: range, columns: range) -> list[str]:  # noqa: ANN401
    height, width = game.shape[-2:]
    block_height, block_width = game.block or (height, width)
    board, line = game.board(state), set(game.line(state))
    drawn = []
    for y in rows:
        if y and y % block_height == 0:
            drawn.append("   " + "+".join(["---" * block_width] * (width // block_width)))
        row = f"{block_height - y % block_height:>2} "
        for x in columns:
            cell = start + y * width + x
            row += "|" if x and x % block_width == 0 else ""
            row += f"[{board[cell]}]" if cell in line else f" {board[cell]} "
        drawn.append(row)
    names = ""
    for x in columns:
        names += " " if x and x % block_width == 0 else ""
        names += f"{_column(game, x % block_width):^3}"
    return [*drawn, f"   {names}"]


def _column(game: Game[Any], x: int) -> str:
    is_numbered = game.gravity and len(game.shape) == 2
    return str(x + 1) if is_numbered else cell_name((1, game.shape[-1]), x)[0]
