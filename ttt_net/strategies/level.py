"""Weaken any strategy to a level, with the weaknesses of people.

At some moves a player thinks ahead, and sees the whole board. At the others they play by what draws the eye
(`attention.py`): they extend their own rows, play near the last move, and overlook most what is far from it or on a
diagonal. One number, the skill, sets how often they think, how far, and how much they notice. Each game has its own
skills, so that the steps from level to level are about equal in each; level 8 leaves the strategy unchanged.
"""

import random
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from ttt_net.errors import ConfigurationError
from ttt_net.games import Game
from ttt_net.strategies.attention import NEAR, Attention, Style
from ttt_net.strategies.strategy import ONE_SECOND, Choice, Counts, Limit, S, Strategy, require_playable

LEVELS = range(1, 9)
"""The levels, from the weakest."""


class Level(NamedTuple):
    """How well a player plays."""

    sees: float
    """The probability to notice a row near the last move; less for diagonals and farther away."""
    thinks: float
    """The probability to think ahead at a move, seeing the whole board."""
    depth: int | None
    """The number of plies of thinking ahead; None: unlimited."""


def level_of(skill: float) -> Level:
    """Return the level of a skill from 0, a careless beginner, to 1, the strategy as it is."""
    if skill >= 1:
        return Level(1.0, 1.0, None)
    return Level(0.55 + 0.45 * skill, max(0.0, skill), 1 + max(0, round(7 * skill)))


SKILLS = {
    "tictactoe": (0.0, 0.105, 0.21, 0.33, 0.45, 0.62, 0.8, 1.0),
    "misere": (-0.6, -0.4, -0.2, 0.0, 0.2, 0.45, 0.75, 1.0),
    "wild": (0.1, 0.16, 0.24, 0.345, 0.47, 0.6, 0.75, 1.0),
    "vanishing": (0.05, 0.2, 0.335, 0.49, 0.66, 0.755, 0.89, 1.0),
    "gomoku": (0.25, 0.4, 0.5, 0.566, 0.624, 0.73, 0.84, 1.0),
    "connect4": (-0.2, 0.02, 0.185, 0.345, 0.475, 0.635, 0.81, 1.0),
    "tictactoe3d": (0.05, 0.155, 0.27, 0.37, 0.47, 0.59, 0.77, 1.0),
    "qubic": (0.29, 0.426, 0.56, 0.666, 0.774, 0.888, 0.98, 1.0),
    "scorefour": (0.0, 0.145, 0.265, 0.39, 0.525, 0.65, 0.8, 1.0),
    "ultimate": (0.0, 0.2, 0.36, 0.51, 0.66, 0.79, 0.9, 1.0),
}
"""By game the skills of levels 1 to 8, fitted by matches of neighbours.

A game without any has those of Connect Four, or with at most `SMALL` cells those of tic-tac-toe.
"""
ELO = {
    "tictactoe": (0, 55, 100, 145, 190, 240, 280, 305),
    "misere": (0, 35, 75, 105, 160, 205, 265, 295),
    "wild": (0, 15, 50, 90, 145, 200, 235, 275),
    "vanishing": (0, 65, 170, 240, 380, 430, 590, 730),
    "gomoku": (0, 190, 325, 395, 480, 830, 940, 1100),
    "connect4": (0, 30, 145, 255, 385, 480, 590, 640),
    "tictactoe3d": (0, 90, 135, 160, 230, 265, 300, 345),
    "qubic": (0, 115, 245, 345, 415, 605, 800, 975),
    "scorefour": (0, 145, 280, 325, 355, 510, 705, 870),
    "ultimate": (0, 140, 265, 390, 475, 480, 670, 880),
}
"""By game the Elo points of each level above level 1, from ladders of the arena; see docs/strategies.md."""
SMALL = 12


class Levelled:
    """A strategy at a level; `rng` decides what it overlooks and when it thinks."""

    def __init__(self, strategy: Strategy, level: int, rng: random.Random, style: Style = NEAR) -> None:
        if level not in LEVELS:
            raise ConfigurationError(f"level {level} is out of range; 1 to {len(LEVELS)}")
        self.name = strategy.name
        self.idea = strategy.idea
        self.level = level
        self._strategy, self._rng = strategy, rng
        self._attention = Attention(rng, style)

    def skill(self, game: Game[Any]) -> float:
        """Return the skill of the level at a game."""
        name = game.name.partition("+")[0]
        skills = SKILLS.get(name) or SKILLS["tictactoe" if prod(game.shape) <= SMALL else "connect4"]
        return skills[self.level - 1]

    def objection(self, game: Game[Any]) -> str | None:
        """Return the objection of the strategy itself."""
        return self._strategy.objection(game)

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the strategy's choice if the player thinks, or else a move that draws the eye."""
        require_playable(self, game, state)
        level = level_of(self.skill(game))
        if self._rng.random() < level.thinks:
            depths = [depth for depth in (level.depth, limit.depth) if depth is not None]
            choice = self._strategy(game, state, replace(limit, depth=min(depths, default=None)))
        else:
            move = self._attention.choose(game, state, list(game.actions(state)), level.sees)
            choice = Choice(move, None, (), Counts())
        self._attention.leave(game, state, choice.move)
        return choice
