"""Read and write moves and positions as text. Reading takes what people write; writing gives one form.

Moves: `b2` is column b, row 2 from below; `4` is a column in a game with gravity; `2:b3` is cell b3 of layer 2, and in
Score Four `b3` is a peg; `5:b2` is cell b2 of small board 5; `Xb2` says the mark too; and `swap`. Reading also takes
capitals, spaces, cells counted from 1 row by row (`5`), and `row,column` or `layer,row,column` counted from 0 at the
upper left (`1,1`), with or without parentheses.

Positions: the rows from the top down, `/` after each but the last, `|` between layers, then the details that the board
does not show: `X.O/.X./..O`. Reading also takes line breaks, `-`, `_` or a space for an empty cell, small letters, and
a list `[X, ,O, ,X, , , ,O]`. `draw_diagram` draws a position with its numbers, for pages of rules, `replay` and the
documentation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, TypeVar

from ttt_net.errors import Code, Refusal
from ttt_net.games.game import EMPTY, Game, Move
from ttt_net.games.geometry import cell_name

S = TypeVar("S")

MAX_MOVE_LENGTH = 24
"""The longest text that is read as a move."""
MAX_POSITION_LENGTH = 2000
"""The longest text that is read as a position."""
_SHOWN = 40

_NAME = re.compile(r"(?:([0-9]{1,2}):)?([a-z])([0-9]{1,2})", re.ASCII)
_COUNTED = re.compile(r"[0-9]{1,4}", re.ASCII)
_COORDINATES = re.compile(r"\(?([0-9]{1,2}(?:,[0-9]{1,2}){1,2})\)?", re.ASCII)
_BOARD_AND_CELL = re.compile(r"([1-9]):([1-9])", re.ASCII)
_PLACE = re.compile(r"(?:(\w+):)?([a-z]+)(\d+)$", re.ASCII)
"""A cell in the name of a move: the layer, the column and the row."""
_DETAILS = re.compile(r"\b(?:swapped|next|after)\b.*", re.DOTALL)
_EMPTY = str.maketrans("-_", "..")


def write_move(game: Game[Any], move: Move) -> str:
    """Return the notation of a move."""
    return game.move_names[move]


def read_move(game: Game[S], state: S, text: str) -> Move:
    """Return the legal move that `text` names. Raises `Refusal` if it names none, with the reason."""
    word = re.sub(r"\s+", "", text[: MAX_MOVE_LENGTH + 1]).lower()
    if not word or len(text) > MAX_MOVE_LENGTH:
        raise Refusal(Code.BAD_NOTATION, f"{text[:_SHOWN]!r} is not a move; moves look like {_examples(game)}")
    moves = game.moves_by_name.get(_column_number(game, word)) or _moves_in_cell(game, state, word)
    legal = game.actions(state)
    found = [move for move in moves if move in legal]
    if len(found) > 1:
        names = " or ".join(game.move_names[move] for move in found)
        raise Refusal(Code.BAD_NOTATION, f"{word!r} may be {names}")
    if found:
        return found[0]
    if game.gravity and legal:
        name = game.move_names[moves[0]]
        is_full = all(game.move_names[move] != name for move in legal)
        reason = f"column {name} is full" if is_full else f"a mark in column {name} does not land on {word}"
        raise Refusal(Code.ILLEGAL_MOVE, reason)
    game.result(state, moves[0])  # raises the refusal that names the reason
    raise AssertionError("a move was made that is not among the actions")


def _examples(game: Game[Any]) -> str:
    return " or ".join(dict.fromkeys((game.move_names[0], game.move_names[len(game.move_cells) // 2])))


def _moves_in_cell(game: Game[S], state: S, word: str) -> tuple[Move, ...]:
    mark = word[0].upper() if len(game.marks(state)[0]) > 1 and word[0] in "xo" else ""
    cell = _cell(game, word[len(mark) :])
    if cell is None:
        height, width = game.shape[-2:]
        cells = f"cells are a1 to {_column(width - 1)}{height}"
        if len(game.shape) == 3:
            cells += f" in layers 1 to {game.shape[0]}"
        raise Refusal(Code.BAD_NOTATION, f"there is no cell {word!r}; {cells}; moves look like {_examples(game)}")
    return tuple(
        move for move, marked in enumerate(game.move_cells) if marked == cell and game.move_names[move].startswith(mark)
    )


def _column(x: int) -> str:
    return chr(ord("a") + x)


def _column_number(game: Game[Any], word: str) -> str:
    is_column = game.gravity and len(game.shape) == 2 and re.fullmatch("[a-z]", word)
    return str(ord(word) - ord("a") + 1) if is_column else word


def _cell(game: Game[Any], word: str) -> int | None:
    """Return the cell that `word` stands for in one of the accepted forms other than its name, or None."""
    height, width = game.shape[-2:]
    if found := _BOARD_AND_CELL.fullmatch(word) if game.block else None:
        board, place = int(found[1]) - 1, int(found[2]) - 1
        return (board // 3 * 3 + place // 3) * width + board % 3 * 3 + place % 3
    if (found := _NAME.fullmatch(word)) and (found[1] is None) == (len(game.shape) == 2):
        return _number(game, (int(found[1] or 1) - 1, height - int(found[3]), ord(found[2]) - ord("a")))
    if found := _COORDINATES.fullmatch(word):
        numbers = tuple(map(int, found[1].split(",")))
        return _number(game, (0, *numbers) if len(game.shape) == 2 else numbers)
    if _COUNTED.fullmatch(word) and not game.gravity:
        return int(word) - 1 if 1 <= int(word) <= prod(game.shape) else None
    return None


def _number(game: Game[Any], place: tuple[int, ...]) -> int | None:
    sizes = (1, *game.shape)[-3:]
    if len(place) != 3 or not all(0 <= n < size for n, size in zip(place, sizes, strict=True)):
        return None
    z, y, x = place
    return (z * sizes[1] + y) * sizes[2] + x


def write_position(game: Game[S], state: S) -> str:
    """Return the position as one line of text."""
    board = game.board(state)
    height, width = game.shape[-2:]
    rows = [board[start : start + width] for start in range(0, len(board), width)]
    layers = ["/".join(rows[start : start + height]) for start in range(0, len(rows), height)]
    return " ".join(filter(None, ("|".join(layers), game.details(state))))


def read_position(game: Game[S], text: str) -> S:
    """Return the position that `text` describes. Raises `Refusal` with the reason if it is impossible."""
    if len(text) > MAX_POSITION_LENGTH:
        raise Refusal(Code.BAD_NOTATION, f"a position of more than {MAX_POSITION_LENGTH} characters")
    text = text.lower()
    found = _DETAILS.search(text)
    start = found.start() if found else len(text)
    details = " ".join(text[start:].split())
    return game.place(_read_board(game.shape, text[:start]), details)


def read_start(game: Game[S], text: str) -> S:
    """Return the position that `text` describes. Raises `Refusal` if no match can begin there."""
    state = read_position(game, text)
    if game.is_terminal(state):
        raise Refusal(Code.BAD_NOTATION, "the game is over in that position; nobody could move")
    return state


def _read_board(shape: tuple[int, ...], text: str) -> str:
    cells, width = prod(shape), shape[-1]
    if "," in text:
        rows = [field.strip() or "." for field in text.strip().strip("[]").split(",")]
        if len(rows) != cells or any(len(cell) != 1 for cell in rows):
            raise Refusal(Code.BAD_NOTATION, f"a list of {len(rows)} cells; the board has {cells}")
        width = 1
    else:
        rows = re.split(r"[/|]|\r?\n", text.strip("\r\n"))
    board = ""
    for number, row in enumerate(rows, start=1):
        # A row of spaces is a row of empty cells if it has the right width; otherwise they are decoration.
        held = row.replace(" ", ".") if len(row) == width else re.sub(r"\s", "", row)
        held = held.translate(_EMPTY).upper()
        if len(held) != width:
            raise Refusal(Code.BAD_NOTATION, f"row {number}: {len(held)} cells, not {width}")
        strange = re.search(r"[^XO.]", held)
        if strange:
            raise Refusal(Code.BAD_NOTATION, f"row {number}: {strange[0]!r} is not a mark; cells are X, O or .")
        board += held
    if len(board) != cells:
        raise Refusal(Code.BAD_NOTATION, f"{len(rows)} rows; the board has {cells // shape[-1]}")
    return board


class Named(Protocol):
    """A board with names of moves: a `Game`, or its description on the wire."""

    @property
    def shape(self) -> Sequence[int]:
        """See `Game.shape`."""

    @property
    def gravity(self) -> bool:
        """See `Game.gravity`."""

    @property
    def move_cells(self) -> Sequence[int]:
        """See `Game.move_cells`."""

    @property
    def move_names(self) -> Sequence[str]:
        """See `Game.move_names`."""


@dataclass(frozen=True, slots=True)
class BoardLabels:
    """The labels beside a board; empty where the names of the moves do not determine them."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    """From the top."""
    layers: tuple[str, ...]

    def row_names(self, height: int) -> tuple[str, ...]:
        """Return the names of the rows from the top; numbers from below if the moves do not name them."""
        return self.rows or tuple(str(height - y) for y in range(height))


def labels_of(game: Named) -> BoardLabels:
    """Return the labels on which the names of the moves agree: column heads, row numbers and layer names."""
    height, width = game.shape[-2:]
    layers = game.shape[0] if len(game.shape) == 3 else 1
    columns: dict[int, set[str]] = {}
    rows: dict[int, set[str]] = {}
    tiers: dict[int, set[str]] = {}
    for cell, name in zip(game.move_cells, game.move_names, strict=True):
        if cell < 0:
            continue
        z, rest = divmod(cell, width * height)
        y, x = divmod(rest, width)
        found = _PLACE.search(name)
        if found is not None:
            tiers.setdefault(z, set()).add(found[1] or "")
            columns.setdefault(x, set()).add(found[2])
            rows.setdefault(y, set()).add(found[3])
        elif game.gravity and name.isascii() and name.isprintable():
            columns.setdefault(x, set()).add(name)
    named = _agreed(tiers, layers)
    return BoardLabels(
        columns=_agreed(columns, width),
        rows=_agreed(rows, height),
        layers=named if any(named) else tuple(str(z + 1) for z in range(layers)),
    )


def _agreed(found: dict[int, set[str]], size: int) -> tuple[str, ...]:
    """Return the labels by place if each place has exactly one."""
    labels = [found.get(place, set()) for place in range(size)]
    if any(len(names) != 1 for names in labels):
        return ()
    return tuple(next(iter(names))[:_MOST_LABEL] for names in labels)


_MOST_LABEL = 3
"""The width of the longest label."""
_CROP_FROM = 10
"""Boards this wide or high can be drawn without the empty rows and columns around their marks."""
_MARGIN = 1


def draw_diagram(game: Game[Any], state: Any, *, is_cropped: bool = False) -> tuple[str, ...]:  # noqa: ANN401 - each game has its own positions
    """Return the rows of the board with their numbers, the winning line in brackets, and the columns below.

    Layers of a cube stand side by side, layer 1 first. With `is_cropped`, a board of 10 or more rows or columns is cut
    to the part with marks.
    """
    height, width = game.shape[-2:]
    board = game.board(state)
    area = height * width
    rows, columns = range(height), range(width)
    if is_cropped and len(game.shape) == 2:
        marked = [cell for cell in range(area) if board[cell] != EMPTY]
        rows = _cut(rows, [cell // width for cell in marked])
        columns = _cut(columns, [cell % width for cell in marked])
    layers = [_draw_layer(game, state, start, rows, columns) for start in range(0, len(board), area)]
    if len(game.shape) == 3:
        for number, layer in enumerate(layers, start=1):
            layer.insert(0, f"layer {number}")
    widest = max(map(len, layers[0]))
    return tuple(
        "  ".join(row.ljust(widest) for row in side_by_side).rstrip() for side_by_side in zip(*layers, strict=True)
    )


def _cut(numbers: range, marked: list[int]) -> range:
    if len(numbers) < _CROP_FROM or not marked:
        return numbers
    return range(max(0, min(marked) - _MARGIN), min(len(numbers), max(marked) + _MARGIN + 1))


def _draw_layer(game: Game[Any], state: Any, start: int, rows: range, columns: range) -> list[str]:  # noqa: ANN401
    height, width = game.shape[-2:]
    block_height, block_width = game.block or (height, width)
    board, line = game.board(state), set(game.line(state))
    labels = labels_of(game)
    if game.block is None:
        row_names = labels.row_names(height)
    else:
        row_names = tuple(str(block_height - y % block_height) for y in range(height))
    drawn = []
    for y in rows:
        if y and y % block_height == 0:
            drawn.append("   " + "+".join(["---" * block_width] * (width // block_width)))
        row = f"{row_names[y]:>2} "
        for x in columns:
            cell = start + y * width + x
            row += "|" if x and x % block_width == 0 else ""
            row += f"[{board[cell]}]" if cell in line else f" {board[cell]} "
        drawn.append(row)
    names = ""
    for x in columns:
        names += " " if x and x % block_width == 0 else ""
        names += f"{labels.columns[x] if labels.columns else _column_name(game, x % block_width):^3}"
    return [*drawn, f"   {names}"]


def _column_name(game: Game[Any], x: int) -> str:
    is_numbered = game.gravity and len(game.shape) == 2
    return str(x + 1) if is_numbered else cell_name((1, game.shape[-1]), x)[0]
