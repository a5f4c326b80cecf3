"""Boards as rows of text, for `replay` and the documentation; knows no terminal."""

from typing import Any

from rich.text import Text

from ttt_net.games.game import EMPTY, Game
from ttt_net.games.geometry import cell_name

_STYLES = {"X": "bold blue", "O": "bold yellow", EMPTY: "dim"}


def draw_board(game: Game[Any], state: Any) -> list[Text]:  # noqa: ANN401 - each game has its own positions
    """Return the rows of the board with their numbers, the winning line in brackets, and the columns below."""
    height, width = game.shape[-2:]
    board, line = game.board(state), set(game.line(state))
    block_height, block_width = game.block or (height, width)
    rows = []
    for start in range(0, len(board), width):
        y = start // width % height
        if y == 0 and len(game.shape) == 3:
            rows.append(Text(f"layer {start // (width * height) + 1}"))
        elif y and y % block_height == 0:
            rows.append(Text("   " + "+".join(["---" * block_width] * (width // block_width))))
        row = Text(f"{block_height - y % block_height:>2} ")
        for x, cell in enumerate(range(start, start + width)):
            if x and x % block_width == 0:
                row.append("|")
            row.append(f"[{board[cell]}]" if cell in line else f" {board[cell]} ", style=_STYLES[board[cell]])
        rows.append(row)
    rows.append(Text("   " + " ".join([_columns(game, block_width)] * (width // block_width))))
    return rows


def _columns(game: Game[Any], width: int) -> str:
    is_numbered = game.gravity and len(game.shape) == 2
    return "".join(f"{str(x + 1) if is_numbered else cell_name((1, width), x)[0]:^3}" for x in range(width))
