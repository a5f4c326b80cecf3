"""Boards as rows of coloured text, for `replay`; knows no terminal."""

import re
from typing import Any

from rich.text import Text

from ttt_net.games.diagram import draw_diagram
from ttt_net.games.game import EMPTY, Game

_STYLES = {"X": "bold blue", "O": "bold yellow", EMPTY: "dim"}


def draw_board(game: Game[Any], state: Any) -> list[Text]:  # noqa: ANN401 - each game has its own positions
    """Return the rows of the board as `draw_diagram` draws them, in colour."""
    return [_coloured(row) for row in draw_diagram(game, state)]


def _coloured(row: str) -> Text:
    text = Text(row)
    for found in re.finditer(r"[\[ ]([XO.])[\] ]?", row):
        text.stylize(_STYLES[found[1]], *found.span())
    return text
