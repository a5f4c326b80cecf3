"""The puzzles and the studied matches of the package, one of each per day, the same for everybody.

`puzzles.jsonl` has one puzzle per line, each proved by the engine. `studies.jsonl` has the matches for guessing moves,
played by strong bots and judged by the engine. `python -m ttt_net puzzles --json` prints both, the latter with
`--matches`; see docs/strategies.md.
"""

import json
from datetime import date
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from ttt_net.games.catalogue import find_game
from ttt_net.games.game import Move, Side
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
