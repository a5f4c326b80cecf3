"""Evaluate lines: find cells that complete one, estimate undecided positions, order moves for a search.

An estimate counts open lines: k cells in a row with marks of only one side can still be completed, and the sooner, the
more marks they hold. Ultimate consists of two such games, one on the boards and one inside them. In games where lines
do not indicate the winner (wild, vanishing), there is no estimate. Games of other packages bring their own.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeGuard

from ttt_net.games import Game, Move, Side
from ttt_net.games.geometry import winning_lines
from ttt_net.games.line import LineGame, LineState
from ttt_net.games.swap import SwapGame
from ttt_net.games.ultimate import UltimateGame, UltimateState
from ttt_net.games.wild import WildGame
from ttt_net.strategies.strategy import DECIDED


def is_line_game(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether only a line of one's own marks wins the game."""
    return type(game) is LineGame and not game.misere


def is_tictactoe(game: Game[Any]) -> TypeGuard[LineGame]:
    """Tell whether it is three in a row on a flat 3×3 board, whatever its name."""
    return is_line_game(game) and game.shape == (3, 3) and game.k == 3 and not game.gravity


def own_and_other(state: LineState) -> tuple[int, int]:
    """Return the bitboard of the side to move, and that of the other side."""
    return (state.second, state.first) if state.ply & 1 else (state.first, state.second)


def completing_cells(lines: tuple[int, ...], own: int, other: int) -> int:
    """Return the empty cells that would complete a line for `own`, reachable or not, as a bitboard."""
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


Estimate = Callable[[Any], int]
"""A position's estimated value for the side to move; always smaller than `DECIDED`."""

BOARD = 50
"""The worth of an open line of small boards, in open lines of cells with as many marks."""


def estimator(game: Game[Any]) -> Estimate:
    """Return the estimate for positions of that game."""
    if isinstance(game, SwapGame):
        beneath = estimator(game.base)
        return lambda state: beneath(state.position)
    if isinstance(game, UltimateGame):
        return _ultimate
    if isinstance(game, LineGame) and not isinstance(game, WildGame):
        return _open_lines(game)
    if type(game).estimate is not Game.estimate:
        return lambda state: max(1 - DECIDED, min(DECIDED - 1, game.estimate(state)))
    return lambda state: 0


def weigh(lines: Iterable[int], worth: list[int], own: int, other: int) -> int:
    """Return the worth of the lines that are open to `own` minus that of those open to `other`."""
    total = 0
    for line in lines:
        mine, theirs = own & line, other & line
        if mine:
            if not theirs:
                total += worth[mine.bit_count()]
        elif theirs:
            total -= worth[theirs.bit_count()]
    return total


def line_worth(game: LineGame) -> list[int]:
    """Return the worth of an open line by the number of marks in it, from none to k - 1.

    Each mark multiplies the worth by four: two threes outweigh seven twos.
    """
    return [0, *(min(4**n, DECIDED // (2 * len(game.lines) + 1)) for n in range(game.k - 1))]


# Any connected player may name any of thousands of games, so the cache by game is bounded.
@lru_cache(maxsize=16)
def _open_lines(game: LineGame) -> Estimate:
    worth = line_worth(game)
    if game.misere:
        worth = [-w for w in worth]

    def estimate(state: LineState) -> int:
        own, other = (state.second, state.first) if state.ply & 1 else (state.first, state.second)
        return weigh(game.lines, worth, own, other)

    return estimate


_BOARD_LINES = winning_lines((3, 3), 3)
_CELL_LINES = tuple(
    tuple(sum(1 << (y * 9 + x + n // 3 * 9 + n % 3) for n in range(9) if line >> n & 1) for line in _BOARD_LINES)
    for y in (0, 3, 6)
    for x in (0, 3, 6)
)
"""The lines inside each small board, as sets of cells of the large one."""


def board_of(cell: Move) -> int:
    """Return the small board of a cell in ultimate, 0 at the upper left, row by row."""
    return cell // 27 * 3 + cell % 9 // 3


def lines_of_board(number: int) -> tuple[int, ...]:
    """Return the lines inside a small board, as sets of cells of the large one."""
    return _CELL_LINES[number]


def cells_that_win_boards(state: UltimateState, side: Side) -> int:
    """Return the cells that would win an open small board for a side, in any board, as a bitboard."""
    own, other = (state.second, state.first) if side else (state.first, state.second)
    cells = 0
    for number, lines in enumerate(_CELL_LINES):
        if not state.closed >> number & 1:
            cells |= completing_cells(lines, own, other)
    return cells


def boards_that_win(state: UltimateState, side: Side) -> int:
    """Return the small boards each of which would win the game for a side, as a set of boards."""
    won = state.won_second if side else state.won_first
    return completing_cells(_BOARD_LINES, won, state.closed & ~won) & ~state.closed


_CELL_WORTH = [0, 1, 4, 0]
_BOARD_WORTH = [BOARD * worth for worth in (0, 1, 4, 16)]


def _ultimate(state: UltimateState) -> int:
    drawn = state.closed & ~(state.won_first | state.won_second)
    total = weigh((line for line in _BOARD_LINES if not line & drawn), _BOARD_WORTH, state.won_first, state.won_second)
    for number, lines in enumerate(_CELL_LINES):
        if not state.closed >> number & 1:
            total += weigh(lines, _CELL_WORTH, state.first, state.second)
    return -total if state.ply & 1 else total


@lru_cache(maxsize=16)
def promise(game: Game[Any]) -> tuple[int, ...]:
    """Return a static ranking of each move: the lines through its cell, or its closeness to the middle."""
    if isinstance(game, LineGame):
        return tuple(len(game.lines_through[cell]) for cell in game.move_cells)
    if game.order:
        return tuple(
            len(game.order) - place for _, place in sorted(zip(game.order, range(len(game.order)), strict=True))
        )
    strides = [1]
    for size in reversed(game.shape[1:]):
        strides.insert(0, strides[0] * size)

    def closeness(cell: int) -> int:
        if cell < 0:
            return -sum(game.shape)
        places = [cell // stride % size for stride, size in zip(strides, game.shape, strict=True)]
        return -sum(abs(2 * place - size + 1) for place, size in zip(places, game.shape, strict=True))

    return tuple(closeness(cell) for cell in game.move_cells)
