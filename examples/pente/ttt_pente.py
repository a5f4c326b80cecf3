"""Pente: five in a row win, and so do five captured pairs."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games import EMPTY, Annotations, Counter, Face, Game, Geometry, Outcome, Piece, Reason, RulePage

_WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))
_ALL_WAYS = (*_WAYS, *((-down, -right) for down, right in _WAYS))
_IN_A_ROW = 5
_PAIRS = 5
_DETAILS = re.compile(r"(?:after ([0-9]{1,4}) captured ([0-9]{1,2}) ([0-9]{1,2}))?", re.ASCII)


class PenteState(NamedTuple):
    """A position: the board, the number of moves, the pairs that each side has captured, and the winner."""

    board: str
    ply: int
    pairs: tuple[int, int]
    winner: int | None


class PenteGame(Game[PenteState]):
    """Pente on `size` by `size` points, without a rule for the opening."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.title, self.size = name, f"Pente {size}×{size}", size
        self.rule = "five in a row or five captured pairs win"
        self.shape = (size, size)
        self.move_cells = tuple(range(size * size))
        self.move_names = tuple(f"{chr(97 + cell % size)}{size - cell // size}" for cell in self.move_cells)
        self.initial = PenteState(EMPTY * size * size, 0, (0, 0), None)
        self.face = Face(
            geometry=Geometry(runs=tuple((0, y, 0, size) for y in range(size)), cell="point"),
            pieces=(Piece("X", "black"), Piece("O", "white")),
            endings={"capture": "{winner} captured five pairs"},
            page=RulePage(
                goal="Get five or more of your stones in a row, or capture five pairs of your opponent's.",
                special="A move captures two neighbouring stones of your opponent if it encloses them between two of "
                "yours. You may safely move between two enemy stones.",
                tips=(
                    "Two of your stones with one open end beside an enemy stone can be captured.",
                    "A capture can also break up a row.",
                ),
            ),
            may_swap=True,
        )

    def to_move(self, state: PenteState) -> int:
        """Return the side whose turn it is."""
        return state.ply & 1

    def actions(self, state: PenteState) -> tuple[int, ...]:
        """Return the empty points."""
        if self.is_terminal(state):
            return ()
        return tuple(cell for cell, mark in enumerate(state.board) if mark == EMPTY)

    def _at(self, cell: int, down: int, right: int, steps: int) -> int:
        """Return the point that many steps away, -1 if it is outside the board."""
        y, x = cell // self.size + down * steps, cell % self.size + right * steps
        return y * self.size + x if 0 <= y < self.size and 0 <= x < self.size else -1

    def _rows(self, board: str, cell: int) -> Iterator[int]:
        """Yield the points of each row of five or more through `cell`."""
        for down, right in _WAYS:
            row = [cell]
            for sign in (1, -1):
                steps = sign
                while (near := self._at(cell, down, right, steps)) >= 0 and board[near] == board[cell]:
                    row.append(near)
                    steps += sign
            if len(row) >= _IN_A_ROW:
                yield from row

    def result(self, state: PenteState, move: int) -> PenteState:
        """Return the position with one more stone, without those it captures. Raises `Refusal` if it is illegal."""
        taken = 0 <= move < len(state.board) and state.board[move] != EMPTY
        if taken or self.is_terminal(state) or not 0 <= move < len(state.board):
            raise self.refuse(state, move, taken=taken)
        side = state.ply & 1
        own, other = "XO"[side], "OX"[side]
        board, pairs = list(state.board), list(state.pairs)
        board[move] = own
        for down, right in _ALL_WAYS:
            near, far, beyond = (self._at(move, down, right, steps) for steps in (1, 2, 3))
            if beyond >= 0 and board[beyond] == own and board[near] == board[far] == other:
                board[near] = board[far] = EMPTY
                pairs[side] += 1
        placed = "".join(board)
        has_won = pairs[side] >= _PAIRS or any(True for _ in self._rows(placed, move))
        return PenteState(placed, state.ply + 1, (pairs[0], pairs[1]), side if has_won else None)

    def is_terminal(self, state: PenteState) -> bool:
        """Tell whether a side has won, or the board is full."""
        return state.winner is not None or EMPTY not in state.board

    def utility(self, state: PenteState, side: int) -> int:
        """Return 1 to the winner, -1 to the loser, 0 to both on a full board."""
        return 0 if state.winner is None else 1 if state.winner == side else -1

    def outcome(self, state: PenteState) -> Outcome | None:
        """Return how the play ended: by a row, by captures, or on a full board."""
        if state.winner is not None:
            return Outcome(state.winner, Reason.LINE if self.line(state) else "capture")
        return Outcome(None, Reason.DRAW) if EMPTY not in state.board else None

    def board(self, state: PenteState) -> str:
        """Return the stones."""
        return state.board

    def line(self, state: PenteState) -> tuple[int, ...]:
        """Return every point of the winner's rows of five or more."""
        if state.winner is None:
            return ()
        own = "XO"[state.winner]
        stones = (cell for cell, mark in enumerate(state.board) if mark == own)
        return tuple(sorted({cell for stone in stones for cell in self._rows(state.board, stone)}))

    def annotations(self, state: PenteState) -> Annotations:
        """Return the captured pairs."""
        return Annotations(counters=tuple(Counter("pairs", state.pairs[side], _PAIRS, side) for side in (0, 1)))

    def details(self, state: PenteState) -> str:
        """Return the moves and captures, which the board does not show once there is a capture."""
        return f"after {state.ply} captured {state.pairs[0]} {state.pairs[1]}" if any(state.pairs) else ""

    def place(self, board: str, details: str) -> PenteState:
        """Return the position of that board. Raises `Refusal` if the numbers of stones and captures do not fit."""
        found = _DETAILS.fullmatch(details)
        if found is None:
            raise Refusal(Code.BAD_NOTATION, f"{details[:40]!r} after the board; expected: after 20 captured 1 0")
        first, second = board.count("X"), board.count("O")
        pairs = int(found[2] or 0), int(found[3] or 0)
        ply = int(found[1] or first + second)
        if (first + 2 * pairs[1], second + 2 * pairs[0]) != ((ply + 1) // 2, ply // 2):
            sentence = f"{first} X and {second} O do not go with {ply} moves and {pairs} captured pairs"
            raise Refusal(Code.BAD_NOTATION, sentence)
        rows = {board[cell] for cell, mark in enumerate(board) if mark != EMPTY and any(self._rows(board, cell))}
        winners = {"XO".index(mark) for mark in rows} | {side for side in (0, 1) if pairs[side] >= _PAIRS}
        if len(winners) > 1 or (winners and (ply - 1) & 1 not in winners):
            raise Refusal(Code.BAD_NOTATION, "play went on after the end")
        return PenteState(board, ply, pairs, next(iter(winners), None))


games = (PenteGame("pente", 13), PenteGame("pente19", 19))
