"""Ultimate tic-tac-toe: nine boards; the cell played chooses the board that the other side plays in."""

import re
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import Game, Move, Outcome, Reason, Side, Special, Target
from ttt_net.games.geometry import bits_of, cell_name, cells_of, draw_bits, winning_lines
from ttt_net.games.line import last_cells

ANY = -1
"""The `target` of a side that may play in every open board."""

_SMALL_LINES = winning_lines((3, 3), 3)
_HAS_LINE = tuple(any(own & line == line for line in _SMALL_LINES) for own in range(512))
_BOARD_NAMES = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right")
_CELL = tuple(tuple((b // 3 * 3 + i // 3) * 9 + b % 3 * 3 + i % 3 for i in range(9)) for b in range(9))
"""The cell, by small board and by its place in that."""
_PLACE = {cell: (b, i) for b, cells in enumerate(_CELL) for i, cell in enumerate(cells)}
_BOARD = tuple(sum(1 << cell for cell in cells) for cells in _CELL)
_LINES = tuple(tuple(sum(1 << cells[i] for i in cells_of(line)) for line in _SMALL_LINES) for cells in _CELL)
"""The lines of each small board, as sets of cells of the large one."""


class UltimateState(NamedTuple):
    """A position: the cells of each side, moves made, the board to play in (or `ANY`), boards won, boards closed.

    `won_first`, `won_second` and `closed` are sets of small boards, board 0 at the upper left, row by row.
    """

    first: int
    second: int
    ply: int
    target: int
    won_first: int
    won_second: int
    closed: int


class UltimateGame(Game[UltimateState]):
    """Three boards in a row win. A won or full board is closed; a player sent there may play anywhere."""

    def __init__(self, name: str, title: str, rule: str) -> None:
        self.name, self.title, self.rule = name, title, rule
        self.shape, self.block, self.gravity, self.size = (9, 9), (3, 3), False, 81
        self.line_count = len(_SMALL_LINES)
        self.move_cells = tuple(range(self.size))
        self.move_names = tuple(f"{b + 1}:{cell_name((3, 3), i)}" for b, i in map(_PLACE.__getitem__, range(81)))
        self.initial = UltimateState(0, 0, 0, ANY, 0, 0, 0)

    def to_move(self, state: UltimateState) -> Side:
        """Return the side whose turn it is: the sides alternate."""
        return state.ply & 1

    def actions(self, state: UltimateState) -> tuple[Move, ...]:
        """Return the empty cells of the board to play in, or of all open boards."""
        return () if self.is_terminal(state) else cells_of(_legal(state))

    def result(self, state: UltimateState, move: Move) -> UltimateState:
        """Return the position with one more mark. Raises `Refusal` if the move is illegal."""
        if self.is_terminal(state) or not 0 <= move < self.size or not _legal(state) >> move & 1:
            raise self._refusal(state, move)
        board, place = _PLACE[move]
        sides = [state.first, state.second]
        won = [state.won_first, state.won_second]
        mover = state.ply & 1
        own = sides[mover] = sides[mover] | 1 << move
        closed = state.closed
        if any(own & line == line for line in _LINES[board]):
            won[mover] |= 1 << board
            closed |= 1 << board
        elif (sides[0] | sides[1]) & _BOARD[board] == _BOARD[board]:
            closed |= 1 << board
        is_over = _HAS_LINE[won[mover]] or closed == 511
        target = ANY if is_over or closed >> place & 1 else place
        return UltimateState(sides[0], sides[1], state.ply + 1, target, won[0], won[1], closed)

    def _refusal(self, state: UltimateState, move: Move) -> Refusal:
        taken = 0 <= move < self.size and bool((state.first | state.second) >> move & 1)
        if taken or self.is_terminal(state) or state.target == ANY or not 0 <= move < self.size:
            return self.refuse(state, move, taken=taken)
        name = self.move_names[move]
        return Refusal(Code.ILLEGAL_MOVE, f"{name} is in board {name[0]}, and this move is in board {state.target + 1}")

    def is_terminal(self, state: UltimateState) -> bool:
        """Tell whether three boards in a row are won or all are closed."""
        return state.closed == 511 or _HAS_LINE[state.won_first] or _HAS_LINE[state.won_second]

    def utility(self, state: UltimateState, side: Side) -> int:
        """Return 1 to the side with three boards in a row, -1 to the other, 0 to both without."""
        if _HAS_LINE[state.won_second if side else state.won_first]:
            return 1
        return -1 if _HAS_LINE[state.won_first if side else state.won_second] else 0

    def outcome(self, state: UltimateState) -> Outcome | None:
        """Return the winner of three boards in a row, or a draw when all are closed."""
        for side, won in enumerate((state.won_first, state.won_second)):
            if _HAS_LINE[won]:
                return Outcome(side, Reason.LINE)
        return Outcome(None, Reason.DRAW) if state.closed == 511 else None

    def board(self, state: UltimateState) -> str:
        """Return `X` for the first side's cells, `O` for the second's."""
        return draw_bits(state.first, state.second, self.size)

    def line(self, state: UltimateState) -> tuple[int, ...]:
        """Return all cells of the boards in a row."""
        won = _winner_boards(state)
        boards = {b for line in _SMALL_LINES if won & line == line for b in cells_of(line)}
        return tuple(sorted(cell for b in boards for cell in _CELL[b]))

    def blocks(self, state: UltimateState) -> str:
        """Return the winner of each small board."""
        marks = ((state.won_first, "X"), (state.won_second, "O"), (state.closed, "="))
        return "".join(next((mark for boards, mark in marks if boards >> b & 1), ".") for b in range(9))

    def special(self, state: UltimateState) -> Special:
        """Return the board chosen by the last move as the target; none if the player may use any open board."""
        return Special() if state.target == ANY else Special(target=Target(state.target, _BOARD_NAMES[state.target]))

    def details(self, state: UltimateState) -> str:
        """Return the board of the next move, if the choice is not free."""
        return "" if state.target == ANY else f"next {state.target + 1}"

    def place(self, board: str, details: str) -> UltimateState:
        """Return the position of a board; `details` name the next board. Raises `Refusal` if it is unreachable.

        It detects wrong numbers of marks, boards with two winners, moves after an end, and a next board that the last
        mover cannot have chosen. It does not check whether all boards can have been chosen in some order.
        """
        first, second = bits_of(board, "X"), bits_of(board, "O")
        ply = (first | second).bit_count()
        if first.bit_count() - second.bit_count() not in (0, 1):
            counts = f"{first.bit_count()} X and {second.bit_count()} O"
            raise Refusal(Code.BAD_NOTATION, f"{counts}; X begins, so X has as many or one more")
        won, closed = _small_results(first, second)
        _refuse_play_after_the_end(won, ply)
        target = _read_target(details)
        state = UltimateState(first, second, ply, target, won[0], won[1], closed)
        last = first if ply & 1 else second
        choosable = sum(1 << i for i in range(9) if any(last >> _CELL[b][i] & 1 for b in range(9)))
        if self.is_terminal(state) or ply == 0:
            if target != ANY:
                raise Refusal(Code.BAD_NOTATION, f"there is no next board {target + 1} here")
        elif target == ANY and not choosable & closed:
            raise Refusal(Code.BAD_NOTATION, "the next board is missing: next 1 to next 9")
        elif target != ANY and (closed >> target & 1 or not choosable >> target & 1):
            raise Refusal(Code.BAD_NOTATION, f"the last move cannot have led to board {target + 1}")
        return state


def _legal(state: UltimateState) -> int:
    empty = ~(state.first | state.second)
    if state.target != ANY:
        return _BOARD[state.target] & empty
    return sum(_BOARD[b] for b in range(9) if not state.closed >> b & 1) & empty


def _winner_boards(state: UltimateState) -> int:
    return next((won for won in (state.won_first, state.won_second) if _HAS_LINE[won]), 0)


def _read_target(details: str) -> int:
    if not details:
        return ANY
    found = re.fullmatch(r"next\s+([1-9])", details)
    if found is None:
        raise Refusal(Code.BAD_NOTATION, f"{details[:40]!r} after the board; expected: next 1 to next 9")
    return int(found[1]) - 1


def _small_results(first: int, second: int) -> tuple[list[int], int]:
    won, closed = [0, 0], 0
    for b in range(9):
        lines = [[line for line in _LINES[b] if own & line == line] for own in (first, second)]
        if lines[0] and lines[1]:
            raise Refusal(Code.BAD_NOTATION, f"board {b + 1} has two winners")
        for side, own in enumerate((first, second)):
            if lines[side]:
                won[side] |= 1 << b
                if not last_cells(lines[side], own):
                    raise Refusal(Code.BAD_NOTATION, f"board {b + 1} was played in after it was won")
        if any(lines) or (first | second) & _BOARD[b] == _BOARD[b]:
            closed |= 1 << b
    return won, closed


def _refuse_play_after_the_end(won: list[int], ply: int) -> None:
    for side in (0, 1):
        lines = [line for line in _SMALL_LINES if won[side] & line == line]
        if lines and (_HAS_LINE[won[1 - side]] or ply & 1 == side or not last_cells(lines, won[side])):
            raise Refusal(Code.BAD_NOTATION, "play went on after three boards in a row were won")
