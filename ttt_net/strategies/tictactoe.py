"""Play tic-tac-toe by a table of moves, or by rules on a coded board: the three approaches of origin C.

First approach, `LookupTable`: the board is a number, the number an index, the entry the board to come. The board is
read as a number in base 3 (0 blank, 1 X, 2 O; cell 1 is the most significant digit). The table of 3^9 = 19,683 entries
holds at each number the board after the best reply; boards that need no reply stay as they are. It takes no thought to
play and all the thought to make: here it is generated, by looking at all 5,478 positions.

The other two find lines by arithmetic. Second approach, `Rules`. A blank cell counts 2, an X 3, an O 5. The product of
a line then tells what is in it: 18 = 3·3·2 is a line that X can complete next, 50 = 5·5·2 one that O can. The rule to
apply follows from the move number alone. The rules were written for a player who has followed them from the start;
where they name no free cell, the first free one is taken.

Third approach, `Magic`: the cell that completes a pair is a subtraction. In the magic square three cells are a line
exactly when their numbers sum to 15, so the cell that completes two of one's own is the one with the number 15 minus
theirs. In the magic cube the rows, columns and pillars and the diagonals through its middle sum to 42. Other triples do
so too, and the other diagonals do not, so there geometry decides: a triple is a line if it lies straight.
"""

import random
from array import array
from functools import cache
from itertools import chain, combinations
from math import prod
from typing import Any, NamedTuple

from ttt_net.games import Game, Move
from ttt_net.games.geometry import cells_of
from ttt_net.games.line import LineGame, LineState
from ttt_net.strategies.heuristic import is_line_game, is_tictactoe, own_and_other, promise
from ttt_net.strategies.strategy import ONE_SECOND, WIN, Choice, Counts, Limit, S, require_playable

ENTRIES = 3**9
WEIGHTS = tuple(3 ** (8 - cell) for cell in range(9))
"""The amount each cell's mark adds to the number of the board, once for X and twice for O."""

_ORDER = (4, 0, 2, 6, 8, 1, 3, 5, 7)
_LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)
_HAS_LINE = tuple(any(cells & line == line for line in _LINES) for cells in range(512))


def number_of(board: str) -> int:
    """Return the number of a board of nine characters, as `Game.board` writes it."""
    return sum(".XO".index(mark) * weight for mark, weight in zip(board, WEIGHTS, strict=True))


class MoveTable:
    """The table, and the value for the side to move at each reachable number."""

    def __init__(self) -> None:
        self.replies = array("H", range(ENTRIES))
        self.values: dict[int, int] = {}
        self._judge(0, 0, 0, 1)

    def _judge(self, own: int, other: int, number: int, mark: int) -> int:
        """Return the value for the side to move, which writes `mark`, and enter its best reply."""
        if number in self.values:
            return self.values[number]
        if _HAS_LINE[other]:
            best = -WIN
        elif own | other == 0b111111111:
            best = 0
        else:
            best = -WIN
            for cell in _ORDER:
                if not (own | other) >> cell & 1:
                    reply = number + mark * WEIGHTS[cell]
                    value = -self._judge(other, own | 1 << cell, reply, 3 - mark)
                    value -= (value > 0) - (value < 0)  # one ply farther away
                    if value > best:
                        best, self.replies[number] = value, reply
        self.values[number] = best
        return best


@cache
def move_table() -> MoveTable:
    """Return the table; it is computed on first use."""
    return MoveTable()


class LookupTable:
    """Plays tic-tac-toe by looking up its reply: perfect and deterministic."""

    name = "table"
    idea = "looks the reply up in a table of all boards"

    def __init__(self, rng: random.Random) -> None:
        """Ignore `rng`: the strategy is deterministic."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays tic-tac-toe only."""
        return None if is_tictactoe(game) else f"table has a reply to each 3×3 board, and to none of {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that leads to the board in the table, and follow the table to the end."""
        require_playable(self, game, state)
        table = move_table()
        number = start = number_of(game.board(state))
        line: list[Move] = []
        while (reply := table.replies[number]) != number:
            line.append(_marked_cell(reply - number))
            number = reply
        return Choice(line[0], table.values[start], tuple(line), Counts(hits=len(line)), exact=True)


def _marked_cell(difference: int) -> Move:
    """Return the cell whose mark makes that difference between two numbers."""
    return next(cell for cell, weight in enumerate(WEIGHTS) if difference in (weight, 2 * weight))


BLANK, X, O = 2, 3, 5  # noqa: E741 - the name of the mark
CENTRE = 5
SIDES = (2, 4, 6, 8)
ROWS = ((1, 2, 3), (4, 5, 6), (7, 8, 9), (1, 4, 7), (2, 5, 8), (3, 6, 9), (1, 5, 9), (3, 5, 7))

Codes = tuple[int, ...]
"""The code of each cell; cell 1 of the rules, which count from 1, is the first."""


def coded(board: str) -> Codes:
    """Return the codes of a board of nine characters, as `Game.board` writes it."""
    return tuple({".": BLANK, "X": X, "O": O}[mark] for mark in board)


def winning_cell(codes: Codes, mark: int) -> int | None:
    """Return the cell, 1 to 9, that completes a line for a mark, or None."""
    for row in ROWS:
        if prod(codes[cell - 1] for cell in row) == mark * mark * BLANK:
            return first_free(codes, *(cell for cell in row if codes[cell - 1] == BLANK))
    return None


def first_free(codes: Codes, *cells: int) -> int:
    """Return the first of the cells that is blank; if none of them is, the first blank one of the board."""
    return next(cell for cell in chain(cells, range(1, 10)) if codes[cell - 1] == BLANK)


def make_two(codes: Codes) -> int:
    """Return the centre if it is blank, else a blank side cell."""
    return first_free(codes, CENTRE, *SIDES)


def rule(codes: Codes, number: int) -> int:
    """Return the cell, 1 to 9, of move `number`: X makes the odd moves, O the even ones."""
    own, other = (X, O) if number % 2 else (O, X)
    win, block = winning_cell(codes, own), winning_cell(codes, other)
    match number:
        case 1:
            return first_free(codes, CENTRE)
        case 2:
            return first_free(codes, CENTRE, 1)
        case 3:
            return first_free(codes, 9, 3)
        case 4:
            return block or make_two(codes)
        case 5:
            return win or block or first_free(codes, 7, 3)
        case 6:
            return win or block or make_two(codes)
        case _:
            return win or block or first_free(codes)


class Rules:
    """Plays tic-tac-toe by nine rules and no look ahead; it can be beaten."""

    name = "rules"
    idea = "a rule for each of the nine moves, and products that tell a threat"

    def __init__(self, rng: random.Random) -> None:
        """Ignore `rng`: the strategy is deterministic."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays tic-tac-toe only."""
        return None if is_tictactoe(game) else f"rules has nine rules for tic-tac-toe, and none for {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that the rule of its number gives."""
        require_playable(self, game, state)
        codes = coded(game.board(state))
        move: Move = rule(codes, 10 - codes.count(BLANK)) - 1
        return Choice(move, None, (), Counts())


SQUARE = (8, 3, 4, 1, 5, 9, 6, 7, 2)
SQUARE_SUM = 15
CUBE = (8, 24, 10, 12, 7, 23, 22, 11, 9, 15, 1, 26, 25, 14, 3, 2, 27, 13, 19, 17, 6, 5, 21, 16, 18, 4, 20)
CUBE_SUM = 42


def is_cube(game: Game[Any]) -> bool:
    """Tell whether it is three in a row in a 3×3×3 cube."""
    return is_line_game(game) and game.shape == (3, 3, 3) and game.k == 3 and not game.gravity


def third_in_square(one: Move, two: Move) -> Move | None:
    """Return the cell that makes a line of two cells of the square, by their numbers alone."""
    number = SQUARE_SUM - SQUARE[one] - SQUARE[two]
    if number in SQUARE and number not in (SQUARE[one], SQUARE[two]):
        return SQUARE.index(number)
    return None


def third_in_cube(one: Move, two: Move) -> Move | None:
    """Return the cell that makes a line of two cells of the cube: the missing number's, if it lies straight."""
    number = CUBE_SUM - CUBE[one] - CUBE[two]
    if number in CUBE and number not in (CUBE[one], CUBE[two]) and _is_straight(one, two, third := CUBE.index(number)):
        return third
    return _face_diagonals().get(frozenset((one, two)))


def _is_straight(*cells: Move) -> bool:
    """Tell whether one of three cells of the cube lies midway between the other two, in each direction."""
    low, middle, high = (_place(cell) for cell in sorted(cells))
    return all(a + c == 2 * b for a, b, c in zip(low, middle, high, strict=True))


def _place(cell: Move) -> tuple[int, int, int]:
    return cell // 9, cell // 3 % 3, cell % 3


@cache
def _face_diagonals() -> dict[frozenset[Move], Move]:
    """Return the third cell by pair, for the straight triples that do not sum to 42."""
    thirds = {}
    for triple in combinations(range(27), 3):
        if _is_straight(*triple) and sum(CUBE[cell] for cell in triple) != CUBE_SUM:
            for third in triple:
                thirds[frozenset(triple) - {third}] = third
    return thirds


class CompletedPair(NamedTuple):
    """Two marks of one side, and the free cell whose number is missing to the sum."""

    one: Move
    two: Move
    third: Move
    is_own: bool
    """Whether they are the marks of the side to move, who wins by it."""


def completed_pair(game: LineGame, state: LineState) -> CompletedPair | None:
    """Return the first pair that a free cell completes, of the side to move or else of the other."""
    thirds = third_in_square if is_tictactoe(game) else third_in_cube
    free = set(game.actions(state))
    for is_own, bits in zip((True, False), own_and_other(state), strict=True):
        for one, two in combinations(cells_of(bits), 2):
            third = thirds(one, two)
            if third is not None and third in free:
                return CompletedPair(one, two, third, is_own)
    return None


def subtraction(game: LineGame, state: LineState) -> str | None:
    """Return the sum by which `magic` wins or stops a win, in words; None if no number does."""
    pair = completed_pair(game, state)
    if pair is None:
        return None
    is_square = is_tictactoe(game)
    numbers, total = (SQUARE, SQUARE_SUM) if is_square else (CUBE, CUBE_SUM)
    one, two, third = (numbers[cell] for cell in pair[:3])
    what = "wins" if pair.is_own else "stops a win"
    where = game.move_names[pair.third]
    if one + two + third != total:
        return f"{one} and {two} lie on a diagonal of a face, where no sum tells; {third} ({where}) {what}"
    return f"{total} - {one} - {two} = {third}, at {where}: {what}"


class Magic:
    """Wins if a number wins, blocks if a number blocks, and otherwise goes by the rules of the second approach."""

    name = "magic"
    idea = "completes pairs by subtraction in a magic square or cube"

    def __init__(self, rng: random.Random) -> None:
        """Ignore `rng`: the strategy is deterministic."""

    def objection(self, game: Game[Any]) -> str | None:
        """Return why it plays on 3×3 and in 3×3×3 only."""
        if is_tictactoe(game) or is_cube(game):
            return None
        return f"magic has numbers for 3×3 and for 3×3×3, and none for {game.title}"

    def __call__(self, game: Game[S], state: S, limit: Limit = ONE_SECOND) -> Choice:
        """Return the move that wins, else the one that blocks, else the one that the rules or the lines suggest."""
        require_playable(self, game, state)
        assert isinstance(game, LineGame)
        assert isinstance(state, LineState)
        free = set(game.actions(state))
        pair = completed_pair(game, state)
        if pair is not None:
            return Choice(pair.third, None, (), Counts())
        if is_tictactoe(game):
            return Choice(rule(coded(game.board(state)), game.size + 1 - len(free)) - 1, None, (), Counts())
        return Choice(max(sorted(free), key=promise(game).__getitem__), None, (), Counts())
