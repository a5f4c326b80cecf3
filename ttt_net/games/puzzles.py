"""The puzzles that come with the package: one a day, the same for everybody, each proved by the engine.

`puzzles.jsonl` has one a line, as `python -m ttt_net puzzles --json` prints them: see docs/strategies.md.
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
"""The day of the first puzzle; after the last one they begin again."""


class DailyPuzzle(NamedTuple):
    """A position with one solution."""

    game: str
    position: str
    """As `read_position` reads it."""
    solution: Move
    is_win: bool
    """Whether the solution wins, or else is the only move not to lose."""
    plies: int
    """After how many the win is complete, or the loss after the most stubborn of the other moves."""
    grade: int
    """How hard it is, from 1, seen at a glance, to 5."""
    why: str
    """Why it is the solution, in a sentence."""
    explanation: dict[str, Any]
    """The parts of that sentence, as `Explanation.as_json` writes it."""


@lru_cache(maxsize=1)
def _lines() -> tuple[str, ...]:
    return tuple(files(__package__).joinpath("puzzles.jsonl").read_text(encoding="utf-8").splitlines())


def puzzle_count() -> int:
    """Return how many puzzles there are."""
    return len(_lines())


@lru_cache(maxsize=16)
def puzzle_of(day: date) -> DailyPuzzle:
    """Return the puzzle of a day."""
    lines = _lines()
    found = json.loads(lines[(day - FIRST_DAY).days % len(lines)])
    game = find_game(found["game"])
    solution = read_move(game, read_start(game, found["position"]), found["solution"])
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
    )
