"""Say in plain words what a side has on the board, and which moves are meant."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame
from ttt_net.strategies.lessons.sight import DoubleThreat

MOST_NAMED = 4
"""Moves that a sentence names."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def named(game: Game[Any], moves: Sequence[Move], joint: str = "or") -> str:
    """Return moves as a sentence names them, a few of many: `a1, b2 or c3`."""
    names = [game.move_names[move] for move in moves[:MOST_NAMED]]
    if len(moves) > MOST_NAMED:
        names.append(f"{len(moves) - MOST_NAMED} others")
    return f" {joint} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def number(count: int) -> str:
    """Return a small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def threat_in_words(game: LineGame, stones: int, cell: Move) -> str:
    """Return what `stones` have in the line that `cell` completes: `three in a row`."""
    for line in game.lines_through[cell]:
        marks = line & ~(1 << cell)
        if marks & ~stones == 0:
            count = marks.bit_count()
            if count < 2:
                return "a line with one mark missing"
            return f"{number(count)} in a row" if is_run(marks, line) else f"{number(count)} in one line"
    raise AssertionError(f"cell {cell} completes no line")


def double_threat_in_words(game: LineGame, stones: int, threat: DoubleThreat) -> str | None:
    """Return which open row a double threat makes longer: `three in a row with both ends open`; None if none."""
    after = stones | 1 << threat.move
    completed = [
        line for cell in threat.cells for line in game.lines_through[cell] if line & ~(1 << cell) & ~after == 0
    ]
    by_step, whole = dict[int, int](), dict[int, int]()
    for line in completed:
        step = step_of(line)
        by_step[step] = by_step.get(step, line) & line
        whole[step] = line
    open_rows = [step for step in by_step if sum(step_of(line) == step for line in completed) > 1]
    for step in open_rows:
        marks = by_step[step] & stones
        count = marks.bit_count()
        if count >= 2:
            shape = (
                "in a row with both ends open"
                if is_run(marks, whole[step])
                else "in one line that is open on both sides"
            )
            return f"{number(count)} {shape}"
    return None


def step_of(line: int) -> int:
    """Return how many cells apart the neighbours of a line are."""
    first, second, *_ = list_cells(line)
    return second - first


def is_run(marks: int, line: int) -> bool:
    """Tell whether marks in a line are neighbours in it, each of the next."""
    step = step_of(line)
    return all(after - before == step for before, after in pairwise(list_cells(marks)))
