"""Positions for tests, from pictures and from moves."""

import random
from typing import Any

from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame, LineState


def board(picture: str) -> LineState:
    """The position of a picture: rows parted by `/`; `X`, `O`, and anything else for an empty cell; no line in it."""
    cells = picture.replace("/", "")
    first, second = (sum(1 << n for n, mark in enumerate(cells) if mark == side) for side in "XO")
    return LineState(first, second, first.bit_count() + second.bit_count(), has_line=False)


def after(game: Game[Any], *moves: int) -> Any:
    """The position after some moves, given as numbers."""
    state = game.initial
    for move in moves:
        state = game.result(state, move)
    return state


def after_columns(game: Game[Any], *columns: int) -> Any:
    """The position after marks were dropped into columns, which count from 1."""
    state = game.initial
    for column in columns:
        state = game.result(state, next(m for m in game.actions(state) if game.move_names[m] == str(column)))
    return state


def line_game(name: str) -> LineGame:
    game = find_game(name)
    assert isinstance(game, LineGame)
    return game


def random_state(game: LineGame, plies: int, rng: random.Random) -> LineState:
    """A position after that many random moves, not over."""
    while True:
        state = game.initial
        while state.ply < plies and not game.is_terminal(state):
            state = game.result(state, rng.choice(game.actions(state)))
        if not game.is_terminal(state):
            return state
