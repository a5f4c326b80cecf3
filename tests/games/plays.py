"""Random plays to test with."""

import random
from typing import Any

from hypothesis import strategies as st

from tests.games.slow import GAMES
from ttt_net.games import find_game
from ttt_net.games.game import Game

game_names = st.sampled_from(GAMES)
seeds = st.integers(0, 2**32 - 1)


def random_play(game: Game[Any], rng: random.Random, longest: int = 1000) -> tuple[list[int], Any]:
    """The moves of a random play, which ends by itself or is left after at most `longest` moves; the last position."""
    state, moves = game.initial, []
    for _ in range(rng.randrange(longest + 1)):
        if game.is_terminal(state):
            break
        moves.append(rng.choice(game.actions(state)))
        state = game.result(state, moves[-1])
    return moves, state


@st.composite
def positions(draw: st.DrawFn) -> tuple[Game[Any], Any]:
    """A game and a position that a play of it leads to."""
    game = find_game(draw(game_names))
    return game, random_play(game, random.Random(draw(seeds)), longest=90)[1]
