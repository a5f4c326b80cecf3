"""Describe what a side has on the board, and name the moves that are meant."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ttt_net.games import Game, Move
from ttt_net.games.geometry import list_cells
from ttt_net.games.line import LineGame
from ttt_net.strategies.lessons.explanation import MarkRow, listed
from ttt_net.strategies.lessons.sight import DoubleThreat


def names_of(game: Game[Any], moves: Sequence[Move]) -> tuple[str, ...]:
    """Return moves as people write them."""
    return tuple(game.move_names[move] for move in moves)


def named(game: Game[Any], moves: Sequence[Move], joint: str = "or") -> str:
    """Return moves as a sentence names them, a few of many: `a1, b2 or c3`."""
    return listed(names_of(game, moves), joint)


def row_of_threat(game: LineGame, stones: int, cell: Move) -> MarkRow:
    """Return what `stones` have in the line that `cell` completes."""
    for line in game.lines_through[cell]:
        marks = line & ~(1 << cell)
        if marks & ~stones == 0:
            return MarkRow(marks.bit_count(), is_run(marks, line))
    raise AssertionError(f"cell {cell} completes no line")


def row_of_double_threat(game: LineGame, stones: int, threat: DoubleThreat) -> MarkRow | None:
    """Return which open row a double threat makes longer, or None if none."""
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
        if marks.bit_count() >= 2:
            return MarkRow(marks.bit_count(), is_run(marks, whole[step]), is_open=True)
    return None


def step_of(line: int) -> int:
    """Return how many cells apart the neighbours of a line are."""
    first, second, *_ = list_cells(line)
    return second - first


def is_run(marks: int, line: int) -> bool:
    """Tell whether marks in a line are neighbours in it, each of the next."""
    step = step_of(line)
    return all(after - before == step for before, after in pairwise(list_cells(marks)))
