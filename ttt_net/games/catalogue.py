"""The games that there are, by name."""

import re
from functools import cache
from typing import Any

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Game
from ttt_net.games.line import LineGame

MAX_SIDE = 19

_NAMED: tuple[Game[Any], ...] = (
    LineGame("tictactoe", "Tic-tac-toe", "three in a row on a 3×3 board wins", (3, 3), 3, gravity=False),
    LineGame("connect4", "Connect Four", "marks fall; four in a row wins", (6, 7), 4, gravity=True),
)

NAMES = tuple(game.name for game in _NAMED)
"""The games that have a name of their own."""

_BY_NAME = {game.name: game for game in _NAMED}
_MNK = re.compile(r"mnk:([0-9]{1,4})x([0-9]{1,4}),([0-9]{1,4})", re.ASCII)


@cache
def _mnk(width: int, height: int, k: int) -> LineGame:
    name = f"mnk:{width}x{height},{k}"
    return LineGame(name, f"{k} in a row, {width}×{height}", f"{k} in a row wins", (height, width), k, gravity=False)


def find_game(name: str) -> Game[Any]:
    """Return the game of that name; an unknown name or size raises `Refusal` and says what is allowed."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    sizes = _MNK.fullmatch(name)
    if sizes is None:
        allowed = ", ".join((*NAMES, "mnk:WxH,K"))
        raise Refusal(Code.UNKNOWN_GAME, f"unknown game {name!r}; there are: {allowed}")
    width, height, k = map(int, sizes.groups())
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and 1 <= k <= max(width, height)):
        raise Refusal(
            Code.UNKNOWN_GAME,
            f"game {name!r} is out of range; width and height 1 to {MAX_SIDE}, k 1 to the longer of the two",
        )
    return _mnk(width, height, k)
