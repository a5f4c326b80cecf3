"""Othello: enclose discs to turn them over; most discs win. A side that cannot move passes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ttt_net.errors import Code, Refusal
from ttt_net.games import EMPTY, Annotations, Counter, Face, Game, Note, Outcome, Piece, Playouts, Reason, RulePage

_SIZE = 8
_CELLS = _SIZE * _SIZE
_PASS = _CELLS
_MIDDLE = (27, 28, 35, 36)
_DETAILS = re.compile(r"after ([0-9]{1,3}) next ([xo])", re.ASCII)


def _ray(cell: int, down: int, right: int) -> tuple[int, ...]:
    y, x = divmod(cell, _SIZE)
    steps = ((y + down * n, x + right * n) for n in range(1, _SIZE))
    return tuple(row * _SIZE + column for row, column in steps if 0 <= row < _SIZE and 0 <= column < _SIZE)


_WAYS = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)
_RAYS = tuple(tuple(_ray(cell, *way) for way in _WAYS if len(_ray(cell, *way)) > 1) for cell in range(_CELLS))
"""The cells in each direction from each cell, where there are at least two."""


class OthelloState(NamedTuple):
    """A position: the discs, the number of moves with passes, and the side to move."""

    board: str
    ply: int
    side: int


def _turned(board: str, cell: int, own: str) -> Iterator[int]:
    """Yield the discs that a disc of `own` in an empty cell turns over."""
    for ray in _RAYS[cell]:
        enclosed: list[int] = []
        for near in ray:
            if board[near] == EMPTY:
                break
            if board[near] == own:
                yield from enclosed
                break
            enclosed.append(near)


def _placings(board: str, own: str) -> tuple[int, ...]:
    return tuple(
        cell for cell, mark in enumerate(board) if mark == EMPTY and any(True for _ in _turned(board, cell, own))
    )


_CORNER = (100, -20, 10, 5, -20, -50, -2, -2, 10, -2, 1, 0, 5, -2, 0, 0)
_WORTH = tuple(_CORNER[min(y, 7 - y) * 4 + min(x, 7 - x)] for y in range(_SIZE) for x in range(_SIZE))
"""The worth of a disc in each cell: corners can never be turned, and the cells beside them give corners away."""
_INNER = 0x7E7E7E7E7E7E7E7E
"""The columns without the first and the last, as bits: only from these, discs are enclosed sideways."""


def _words(state: OthelloState) -> tuple[int, int, int]:
    """Return the cells of black and of white as bits, and the side to move."""
    black, white = (sum(1 << cell for cell, mark in enumerate(state.board) if mark == own) for own in "XO")
    return black, white, state.side


def _play_out(black: int, white: int, side: int, plays: int, seed: int) -> int:
    """Return how many random plays black wins minus how many it loses; `mcts` compiles this."""
    total = 0
    for _ in range(plays):
        own, other, turn, passes = (white, black, 1, 0) if side else (black, white, 0, 0)
        while passes < 2:
            moves = 0
            for shift in (1, 7, 8, 9):
                between = other if shift == 8 else other & _INNER
                keep = (1 << (64 - shift)) - 1
                up, down = between & (own << shift), between & (own >> shift & keep)
                for _ in range(5):
                    up |= between & (up << shift)
                    down |= between & (down >> shift & keep)
                moves |= up << shift | down >> shift & keep
            moves &= ~(own | other)
            count, rest = 0, moves
            while rest:
                rest &= rest - 1
                count += 1
            passes = 0 if count else passes + 1
            if count:
                seed = seed * 6364136223846793005 + 1442695040888963407
                for _ in range((seed >> 33 & 0x7FFFFFFF) % count):
                    moves &= moves - 1
                move, turned = moves & -moves, 0
                for shift in (1, 7, 8, 9):
                    between = other if shift == 8 else other & _INNER
                    keep = (1 << (64 - shift)) - 1
                    up, down = between & (move << shift), between & (move >> shift & keep)
                    for _ in range(5):
                        up |= between & (up << shift)
                        down |= between & (down >> shift & keep)
                    turned |= up if own & (up << shift) else 0
                    turned |= down if own & (down >> shift & keep) else 0
                own, other = own | turned | move, other & ~turned
            own, other, turn = other, own, 1 - turn
        lead = 0
        while own:
            own &= own - 1
            lead += 1
        while other:
            other &= other - 1
            lead -= 1
        lead = -lead if turn else lead
        total += (lead > 0) - (lead < 0)
    return total


class OthelloGame(Game[OthelloState]):
    """Othello on 8 by 8 cells; black is X and begins."""

    name, title, rule = "othello", "Othello", "enclosed discs turn over; most discs win"
    shape = (_SIZE, _SIZE)
    move_cells = (*range(_CELLS), -1)
    move_names = (*(f"{'abcdefgh'[cell % _SIZE]}{_SIZE - cell // _SIZE}" for cell in range(_CELLS)), "pass")
    order = (*sorted(range(_CELLS), key=_WORTH.__getitem__, reverse=True), _PASS)
    playouts = Playouts(_words, _play_out)
    initial = OthelloState("." * 27 + "OX......XO" + "." * 27, 0, 0)
    face = Face(
        pieces=(Piece("X", "black"), Piece("O", "white")),
        endings={"discs": "{winner} had more discs"},
        page=RulePage(
            goal="Have more discs than your opponent when neither of you can move.",
            special="Your disc must enclose at least one row of your opponent's discs between itself and another disc "
            "of yours; they all turn over. If you cannot do that, your move is pass.",
            tips=("A corner can never be turned over.", "Early on, fewer discs often mean more moves to choose from."),
        ),
    )

    def to_move(self, state: OthelloState) -> int:
        """Return the side whose turn it is."""
        return state.side

    def actions(self, state: OthelloState) -> tuple[int, ...]:
        """Return the cells that turn a disc over, or `pass` if only the opponent has such a cell."""
        own, other = "XO"[state.side], "OX"[state.side]
        return _placings(state.board, own) or ((_PASS,) if _placings(state.board, other) else ())

    def result(self, state: OthelloState, move: int) -> OthelloState:
        """Return the position with one more disc and all enclosed discs turned. Raises `Refusal` if it is illegal."""
        if move not in self.actions(state):
            raise self.refuse(state, move, taken=0 <= move < _CELLS and state.board[move] != EMPTY)
        board, own = list(state.board), "XO"[state.side]
        if move != _PASS:
            for cell in (move, *_turned(state.board, move, own)):
                board[cell] = own
        return OthelloState("".join(board), state.ply + 1, 1 - state.side)

    def is_terminal(self, state: OthelloState) -> bool:
        """Tell whether neither side can move."""
        return not self.actions(state)

    def utility(self, state: OthelloState, side: int) -> int:
        """Return 1 to the side with more discs, -1 to the other, 0 to both for as many."""
        lead = state.board.count("X") - state.board.count("O")
        return ((lead > 0) - (lead < 0)) * (1 - 2 * side)

    def outcome(self, state: OthelloState) -> Outcome | None:
        """Return the side with more discs, once nobody can move."""
        if not self.is_terminal(state):
            return None
        worth = self.utility(state, 0)
        return Outcome(None, Reason.DRAW) if worth == 0 else Outcome(0 if worth > 0 else 1, "discs")

    def board(self, state: OthelloState) -> str:
        """Return the discs."""
        return state.board

    def line(self, state: OthelloState) -> tuple[int, ...]:
        """Return nothing: no line wins."""
        return ()

    def estimate(self, state: OthelloState) -> int:
        """Return the worth of the cells that the side to move holds, minus that of the other side's cells."""
        own = "XO"[state.side]
        return sum(
            worth if mark == own else -worth for worth, mark in zip(_WORTH, state.board, strict=True) if mark != EMPTY
        )

    def annotations(self, state: OthelloState) -> Annotations:
        """Return the numbers of discs, and a note for a side that can only pass."""
        must_pass = self.actions(state) == (_PASS,)
        return Annotations(
            notes=(Note("pass", text="no move turns a disc: pass"),) if must_pass else (),
            counters=tuple(Counter("discs", state.board.count("XO"[side]), side=side) for side in (0, 1)),
        )

    def details(self, state: OthelloState) -> str:
        """Return the number of moves and the side to move, which the board does not show."""
        return f"after {state.ply} next {'xo'[state.side]}"

    def place(self, board: str, details: str) -> OthelloState:
        """Return the position of that board. Raises `Refusal` if no play can lead to so many discs."""
        found = _DETAILS.fullmatch(details)
        if found is None:
            raise Refusal(Code.BAD_NOTATION, f"{details[:40]!r} after the board; expected: after 3 next o")
        placed = _CELLS - board.count(EMPTY) - len(_MIDDLE)
        if any(board[cell] == EMPTY for cell in _MIDDLE) or not 0 <= placed <= int(found[1]) <= 2 * placed:
            raise Refusal(Code.BAD_NOTATION, "the middle cells always hold discs, and a move adds one unless it passes")
        return OthelloState(board, int(found[1]), "xo".index(found[2]))


games = OthelloGame()
