"""The available games, by name. A line game is an entry of a few lines here.

Games of other packages are loaded when an unknown name is first looked up; see `outside`.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Game
from ttt_net.games.line import LineGame
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame
from ttt_net.games.vanishing import VanishingGame
from ttt_net.games.wild import WildGame

MAX_SIDE = 19
MAX_NAME = 40
"""More than the length of any name."""
_MOST_SHOWN = 40
_NEAR = 0.8
"""The minimal similarity of names for suggestions, from 0 to 1."""

_NAMED: tuple[Game[Any], ...] = (
    LineGame("tictactoe", "Tic-tac-toe", "three in a row on a 3×3 board wins", (3, 3), 3, gravity=False),
    LineGame("misere", "Misère tic-tac-toe", "three in a row loses", (3, 3), 3, gravity=False, misere=True),
    WildGame("wild", "Wild tic-tac-toe", "both place X or O as they like; completing a line wins", (3, 3), 3),
    VanishingGame(
        "vanishing",
        "Vanishing tic-tac-toe",
        "three marks each, the oldest goes; three in a row wins",
    ),
    LineGame("gomoku", "Gomoku", "five or more in a row wins", (15, 15), 5, gravity=False),
    LineGame("connect4", "Connect Four", "marks fall; four in a row wins", (6, 7), 4, gravity=True),
    LineGame("tictactoe3d", "3-D tic-tac-toe", "three in a row in a 3×3×3 cube wins", (3, 3, 3), 3, gravity=False),
    LineGame("qubic", "Qubic", "four in a row in a 4×4×4 cube wins", (4, 4, 4), 4, gravity=False),
    LineGame("scorefour", "Score Four", "marks stack on 4×4 pegs; four in a row wins", (4, 4, 4), 4, gravity=True),
    UltimateGame("ultimate", "Ultimate tic-tac-toe", "your cell picks the next board; win three in a row"),
)

NAMES = tuple(game.name for game in _NAMED)
"""The named games of this package."""
_TAKEN = frozenset(NAMES)
PATTERNS = ("mnk:WxH,K", "connect:WxH,K")
"""The form of the names of games by size: width, height and length of a line."""
SWAP = "+swap"
"""The suffix of a game's name that adds the pie rule."""
SWAPPABLE = (*PATTERNS, "gomoku", "connect4", "tictactoe3d", "qubic", "scorefour")
"""The games that may be played with swap, because the first move is an advantage."""

_BY_NAME = {game.name: game for game in _NAMED}


def names() -> tuple[str, ...]:
    """Return the names of all named games, those of other packages last."""
    return (*NAMES, *(name for name in outside() if not name.endswith(SWAP)))


def may_swap(name: str) -> bool:
    """Tell whether the named game may be played with the pie rule."""
    return name in SWAPPABLE or (name not in _BY_NAME and name + SWAP in outside())


def swappable() -> tuple[str, ...]:
    """Return the names and forms of names of all games that may be played with the pie rule."""
    return (*SWAPPABLE, *(name.removesuffix(SWAP) for name in outside() if name.endswith(SWAP)))


def outside() -> Mapping[str, Game[Any]]:
    """Return the games of other packages by name; the first call looks for them, which takes 16 to 130 ms."""
    from ttt_net.games.outside import outside_games

    return outside_games(_TAKEN)


_SIZED = re.compile(r"(mnk|connect):([0-9]{1,4})x([0-9]{1,4}),([0-9]{1,4})", re.ASCII)


# Any connected player may name any of about ten thousand games, so the cache is bounded.
@lru_cache(maxsize=64)
def sized_game(kind: str, width: int, height: int, k: int) -> Game[Any]:
    """Return the game of k in a row on a board of this size; `kind` is `mnk`, or `connect` with gravity."""
    name = f"{kind}:{width}x{height},{k}"
    if kind == "mnk":
        return LineGame(
            name, f"{k} in a row on {width}×{height}", f"{k} in a row wins", (height, width), k, gravity=False
        )
    rule = f"marks fall; {k} in a row wins"
    return LineGame(name, f"Connect {k} on {width}×{height}", rule, (height, width), k, gravity=True)


@lru_cache(maxsize=64)
def game_with_swap(name: str) -> Game[Any]:
    """Return the named game with the pie rule."""
    return SwapGame(find_game(name))


def game_name(name: str) -> str:
    """Return the canonical form of a game's name without creating the game, which takes milliseconds for a large board.

    Raises `Refusal` if the name or size is unknown, and says what is allowed.
    """
    base = name.removesuffix(SWAP)
    sizes = _SIZED.fullmatch(base)
    if len(name) <= MAX_NAME and sizes is None and base not in _BY_NAME and name in outside():
        return name
    if len(name) > MAX_NAME or (sizes is None and base not in _BY_NAME):
        allowed = ", ".join((*names(), *PATTERNS))
        likely = "".join(f"did you mean {near}? " for near in get_close_matches(base[:_MOST_SHOWN], names(), 1, _NEAR))
        raise Refusal(Code.UNKNOWN_GAME, f"unknown game {name[:_MOST_SHOWN]!r}; {likely}there are: {allowed}")
    if sizes is None:
        if base != name and base not in SWAPPABLE:
            allowed = ", ".join(SWAPPABLE)
            raise Refusal(Code.UNKNOWN_GAME, f"{base} is not played with swap; it goes with: {allowed}")
        return name
    width, height, k = map(int, sizes.groups()[1:])
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and 1 <= k <= max(width, height)):
        raise Refusal(
            Code.UNKNOWN_GAME,
            f"game {name!r} is out of range; width and height 1 to {MAX_SIDE}, k 1 to the longer of the two",
        )
    return f"{sizes[1]}:{width}x{height},{k}{name[len(base) :]}"


def find_game(name: str) -> Game[Any]:
    """Return the game with this name. Raises `Refusal`, with the allowed names, if the name or size is unknown."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    name = game_name(name)
    base = name.removesuffix(SWAP)
    if base not in _BY_NAME and ":" not in base:
        return outside()[name]
    if base != name:
        return game_with_swap(base)
    kind, width, height, k = re.split("[:x,]", name)
    return sized_game(kind, int(width), int(height), int(k))
