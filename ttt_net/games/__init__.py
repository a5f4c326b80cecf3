"""The rules of every game of the family; knows no match, no message and no clock."""

from ttt_net.games.catalogue import find_game, game_name
from ttt_net.games.game import Game, Move, Outcome, Reason, Side

__all__ = ["Game", "Move", "Outcome", "Reason", "Side", "find_game", "game_name"]
