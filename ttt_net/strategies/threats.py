"""Find cells that complete a line: what the strategies that think in lines share."""

from typing import Any, TypeGuard

from ttt_net.games import Game
from ttt_net.games.line import LineGame, LineState


def is_line_game(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether the game is won by a line of one's own marks, and by nothing else."""
    return type(game) is LineGame and not game.misere


def is_tictactoe(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is three in a row on a flat 3×3 board, whatever its name."""
    return is_line_game(game) and game.shape == (3, 3) and game.k == 3 and not game.gravity


def own_and_other(state: LineState) -> tuple[int, int]:
    """Return the bitboard of the side to move, and that of the other side."""
    return (state.second, state.first) if state.ply & 1 else (state.first, state.second)


def completing_cells(lines: tuple[int, ...], own: int, other: int) -> int:
    """Return the empty cells that would complete one of the lines for `own`, as a bitboard; reachable or not."""
    cells = 0
    for line in lines:
        missing = line & ~own
        if not missing & other and not missing & (missing - 1):
            cells |= missing
    return cells


def wins(game: LineGame, state: LineState, own: int, other: int) -> list[int]:
    """Return the moves, legal now, that would complete a line for `own`, on either side's turn."""
    cells = completing_cells(game.lines, own, other)
    return [move for move in game.actions(state) if cells >> move & 1]
