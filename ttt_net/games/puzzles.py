"""The puzzles of the package: one per day, the same for everybody, each proved by the engine.

`puzzles.jsonl` has one per line, as printed by `python -m ttt_net puzzles --json`; see docs/strategies.md.
"""

import json
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from ttt_net.games.catalogue import find_game
from ttt_net.games.game import Move
from ttt_net.games.notation import read_move, read_start

FIRST_DAY = date(2026, 1, 1)
"""The day of the first puzzle; after the last one, the list begins again."""


class DailyPuzzle(NamedTuple):
    """A position with one solution."""

    game: str
    position: str
    """The position in the notation of `read_position`."""
    solution: Move
    is_win: bool
    """Whether the solution wins; otherwise it is the only move that does not lose."""
    plies: int
    """The number of plies until the win is complete, or until the loss after the best other move."""
    grade: int
    """How hard it is, from 1, seen at a glance, to 5."""
    why: str
    """A sentence that explains the solution."""
    explanation: dict[str, Any]
    """The parts of that sentence, from `Explanation.as_json`."""
    line: tuple[Move, ...] = ()
    """The play to the end after the solution, if it wins."""


@lru_cache(maxsize=1)
def _lines() -> tuple[str, ...]:
    return tuple(files(__package__).joinpath("puzzles.jsonl").read_text(encoding="utf-8").splitlines())


def puzzle_count() -> int:
    """Return the number of puzzles."""
    return len(_lines())


@lru_cache(maxsize=16)
def puzzle_of(day: date) -> DailyPuzzle:
    """Return the puzzle of a day."""
    lines = _lines()
    found = json.loads(lines[(day - FIRST_DAY).days % len(lines)])
    game = find_game(found["game"])
    state, moves = read_start(game, found["position"]), list[Move]()
    for word in (found["solution"], *found["line"]):
        moves.append(read_move(game, state, word))
        state = game.result(state, moves[-1])
    solution, *line = moves
    is_win = found["kind"] == "win"
    return DailyPuzzle(
        found["game"],
        found["position"],
        solution,
        is_win,
        found["plies"],
        found["grade"],
        found["why"],
        found["explanation"],
        tuple(line),
    )
