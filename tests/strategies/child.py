"""A careless child's model: takes most wins, stops some, and otherwise places a mark beside any other."""

import random

from ttt_net.games import Game, Move
from ttt_net.games.game import EMPTY
from ttt_net.strategies.level import distance_between, wins
from ttt_net.strategies.strategy import S

TAKES, STOPS = 0.7, 0.35


class Child:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __call__(self, game: Game[S], state: S) -> Move:
        moves, board = list(game.actions(state)), game.board(state)
        winning = [move for move in moves if wins(game, state, move)]
        if winning and self._rng.random() < TAKES:
            return winning[0]
        marked = [cell for cell, mark in enumerate(board) if mark != EMPTY]
        cells = {move: game.move_cells[move] for move in moves}
        beside = [
            move
            for move, cell in cells.items()
            if cell >= 0 and any(distance_between(game, cell, m) == 1 for m in marked)
        ]
        move = self._rng.choice(beside or moves)
        after = game.result(state, move)
        if self._rng.random() < STOPS and not game.is_terminal(after):
            threats = [reply for reply in game.actions(after) if reply in cells and wins(game, after, reply)]
            return threats[0] if threats else move
        return move
