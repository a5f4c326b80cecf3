"""Positions for tests, from pictures and from moves."""

import random
from typing import Any

from ttt_net.games import Game, find_game
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.notation import read_move
from ttt_net.strategies.strategy import S


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


def random_position(game: LineGame, stones: int, rng: random.Random) -> LineState:
    """A position after random moves within three cells of the middle, not over."""
    height, width = game.shape
    middle = [
        y * width + x
        for y in range(height)
        for x in range(width)
        if abs(2 * y - height + 1) <= 7 and abs(2 * x - width + 1) <= 7
    ]
    while True:
        first, second = 0, 0
        for number, cell in enumerate(rng.sample(middle, stones)):
            if number % 2:
                second |= 1 << cell
            else:
                first |= 1 << cell
        if not game.complete_lines(first) and not game.complete_lines(second):
            return LineState(first, second, stones, has_line=False)


def after_names(game: Game[S], names: str) -> S:
    """The position after some moves, as they are written."""
    state = game.initial
    for name in names.split():
        state = game.result(state, read_move(game, state, name))
    return state
