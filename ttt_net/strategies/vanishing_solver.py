"""Vanishing tic-tac-toe solved: a table of all positions, computed backwards from lost ones in a fraction of a second.

The last six moves, oldest first, determine a position with all six marks: they are its marks with their ages. Written
as a number of six digits in base nine, they are its index. Each position has three predecessors and three successors,
which arithmetic finds: a move drops the first digit and appends another. (Ströhlein, 1970: retrograde analysis.)

The history matters too: a position that occurs for the third time is a draw. A side that wins in the fewest moves never
repeats a position, so only positions that have occurred twice already matter. If there are any, the table is computed
again for both sides, with these as draws.
"""

import random
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from ttt_net.games import Move
from ttt_net.games.geometry import cells_of
from ttt_net.games.vanishing import MARKS, MAX_PLIES, VanishingGame, VanishingState
from ttt_net.strategies.strategy import WIN, Choice, Effort

_CELLS = 9
_FULL = 2 * MARKS
"""Marks on a full board."""
_SHIFT = _CELLS ** (_FULL - 1)
_POSITIONS = _CELLS**_FULL
"""Indices of one side to move; those with a cell twice are unused."""

Standing = tuple[int, int]
"""A position of the past: whose turn it was, 0 or 1, and its index."""


class MoveValue(NamedTuple):
    """A move and its value for who makes it: `WIN - plies`, `plies - WIN` or 0, as everywhere."""

    move: Move
    value: int


class VanishingSolver:
    """Knows the value of every position of the game; it keeps nothing of one match for another."""

    def __init__(self, game: VanishingGame) -> None:
        self._game = game

    def values(self, state: VanishingState) -> list[MoveValue]:
        """Return the exact value of each legal move."""
        table = _table(tuple(sorted(cells_of(line) for line in self._game.lines)), _stood_twice(state.moves))
        found = []
        for move in self._game.actions(state):
            child = self._game.result(state, move)
            if self._game.is_terminal(child):
                value = self._game.utility(child, self._game.to_move(state)) * (WIN - 1)
            else:
                value = _as_value(table.plies_after(child.moves), len(state.moves))
            found.append(MoveValue(move, value))
        return found

    def line(self, state: VanishingState, value: int) -> tuple[Move, ...]:
        """Return best play by both sides from a position of that value to its end; none if it is drawn."""
        line: list[Move] = []
        while value and not self._game.is_terminal(state):
            line.append(max(self.values(state), key=lambda each: each.value).move)
            state = self._game.result(state, line[-1])
        return tuple(line)

    def choose(self, state: VanishingState, rng: random.Random, effort: Effort) -> Choice:
        """Return a best move; of several that draw, one after which the other side can go wrong most easily."""
        values = self.values(state)
        effort.results += len(values)
        best = max(value for _, value in values)
        moves = [move for move, value in values if value == best]
        if not best:
            pitfalls = {move: self._pitfalls(self._game.result(state, move)) for move in moves}
            moves = [move for move in moves if pitfalls[move] == max(pitfalls.values())]
        move = rng.choice(moves)
        line = (move, *self.line(self._game.result(state, move), best)) if best else (move,)
        return Choice(move, best, line, effort.counts(), exact=True)

    def _pitfalls(self, state: VanishingState) -> float:
        """Return the share of moves that lose."""
        values = self.values(state) if not self._game.is_terminal(state) else []
        return sum(value < 0 for _, value in values) / max(len(values), 1)


def _as_value(plies: int | None, ply: int) -> int:
    """Return the value of a move made at a ply, after which the position of the other side ends in `plies`."""
    if plies is None or ply + 1 + plies > MAX_PLIES:
        return 0
    return WIN - 1 - plies if plies % 2 == 0 else 1 + plies - WIN


def _stood_twice(moves: bytes) -> frozenset[Standing]:
    stood = [(end & 1, index_of(moves[end - _FULL : end])) for end in range(_FULL, len(moves) + 1)]
    return frozenset(each for each in stood if stood.count(each) > 1)


def index_of(marks: bytes) -> int:
    """Return the index of a full board: its marks, oldest first, as digits to the base nine."""
    index = 0
    for cell in marks:
        index = index * _CELLS + cell
    return index


class _VanishingTable:
    """In how many plies each position ends: an even number is a loss for the side to move, an odd one a win."""

    def __init__(self, lines: tuple[tuple[int, ...], ...], drawn: frozenset[Standing]) -> None:
        self._lines = frozenset(frozenset(line) for line in lines)
        self._sides = 2 if drawn else 1
        self._codes = bytearray(_POSITIONS * self._sides)
        """Plies to the end and one, or 0 for a draw."""
        self._drawn = {(side * _POSITIONS if drawn else 0) + index for side, index in drawn}
        self._fill()
        self._short: dict[bytes, int] = {}

    def plies_after(self, moves: bytes) -> int | None:
        """Return in how many plies a position ends that is not over; None if nobody can force an end."""
        if len(moves) < _FULL:
            code = self._short_code(moves)
        else:
            side = len(moves) & 1 if self._sides == 2 else 0
            code = self._codes[side * _POSITIONS + index_of(moves[-_FULL:])]
        return code - 1 if code else None

    def _short_code(self, moves: bytes) -> int:
        """Return the code of a position with fewer marks, from those behind it."""
        if moves in self._short:
            return self._short[moves]
        last = frozenset(moves[-1 - 2 * n] for n in range(MARKS)) if len(moves) >= 2 * MARKS - 1 else frozenset()
        if last in self._lines:
            code = 1
        elif len(moves) == _FULL:
            return self._codes[index_of(moves)]
        else:
            codes = [self._short_code(moves + bytes((cell,))) for cell in range(_CELLS) if cell not in moves]
            losses = [code for code in codes if code % 2]
            code = min(losses) + 1 if losses else 0 if 0 in codes else max(codes) + 1
        self._short[moves] = code
        return code

    def _fill(self) -> None:
        """Go backwards, one ply after the other, from the positions whose last mover has a line."""
        codes, sides, drawn = self._codes, self._sides, self._drawn
        left = bytearray(b"\x03") * len(codes)
        layer = [side * _POSITIONS + index for index in _lost(self._lines) for side in range(sides)]
        for place in layer:
            codes[place] = 1
        code = 1
        while layer:
            code += 1
            is_won, behind = code % 2 == 0, list[int]()
            for place in layer:
                side, index = divmod(place, _POSITIONS)
                base = (1 - side if sides == 2 else 0) * _POSITIONS + index // _CELLS
                for cell in _empty_cells(index):  # one of them has vanished as this board came to be
                    before = base + cell * _SHIFT
                    if codes[before] or before in drawn:
                        continue
                    if not is_won:
                        left[before] -= 1
                        if left[before]:
                            continue
                    codes[before] = code
                    behind.append(before)
            layer = behind


def _lost(lines: frozenset[frozenset[int]]) -> list[int]:
    """Return the indices of full boards on which the side that moved last has a line, and the other none."""
    found = []
    for line in lines:
        for own in permutations(line):
            for other in permutations(set(range(_CELLS)) - line, MARKS):
                if frozenset(other) not in lines:
                    found.append(index_of(bytes(cell for pair in zip(other, own, strict=True) for cell in pair)))
    return found


def _empty_cells(index: int) -> list[int]:
    """Return the cells without a mark on a full board."""
    cells = set(range(_CELLS))
    for _ in range(_FULL):
        index, mark = divmod(index, _CELLS)
        cells.discard(mark)
    return list(cells)


@lru_cache(maxsize=4)
def _table(lines: tuple[tuple[int, ...], ...], drawn: frozenset[Standing]) -> _VanishingTable:
    return _VanishingTable(lines, drawn)
