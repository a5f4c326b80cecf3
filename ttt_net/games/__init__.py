"""The rules of every game of the family; knows no match, no message and no clock.

Authors of games need only this package and `ttt_net.errors`; see docs/own_games.md.
"""

from ttt_net.games.catalogue import find_game, game_name
from ttt_net.games.game import (
    EMPTY,
    Annotations,
    Counter,
    Face,
    Game,
    Geometry,
    Move,
    Note,
    Outcome,
    Piece,
    Playouts,
    Reason,
    RulePage,
    Side,
)

__all__ = [
    "EMPTY",
    "Annotations",
    "Counter",
    "Face",
    "Game",
    "Geometry",
    "Move",
    "Note",
    "Outcome",
    "Piece",
    "Playouts",
    "Reason",
    "RulePage",
    "Side",
    "find_game",
    "game_name",
]
