"""The matches of the package for guessing moves, played by strong bots and judged by the engine.

`studies.jsonl` has one per line, as printed by `python -m ttt_net puzzles --matches --json`; see docs/strategies.md.
"""

import json
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from ttt_net.games.catalogue import find_game
from ttt_net.games.game import Move, Side
from ttt_net.games.notation import read_move


class Study(NamedTuple):
    """A finished match; `values` and `keeping` have an entry for each move."""

    game: str
    players: tuple[str, str]
    levels: tuple[int, int]
    """The levels of the bots, by side."""
    side: Side
    """The side whose moves are guessed."""
    moves: tuple[Move, ...]
    values: tuple[int, ...]
    """The result after each move with best play, from the view of its player: 1, 0 or -1."""
    keeping: tuple[tuple[str, ...], ...]
    """The names of the moves that kept the result in each position; empty if all did."""


@lru_cache(maxsize=1)
def studies() -> tuple[Study, ...]:
    """Return all studies, in order."""
    lines = files(__package__).joinpath("studies.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(map(_read, lines))


def _read(line: str) -> Study:
    told = json.loads(line)
    game, moves = find_game(told["game"]), list[Move]()
    state = game.initial
    for word in told["moves"].split():
        moves.append(read_move(game, state, word))
        state = game.result(state, moves[-1])
    first, second = told["players"]
    keeping = tuple(tuple(words.split()) for words in told["keeping"])
    values = tuple(told["values"])
    return Study(told["game"], (first, second), tuple(told["levels"]), told["side"], tuple(moves), values, keeping)
