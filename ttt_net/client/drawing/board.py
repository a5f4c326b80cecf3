"""Draw a board of any game as lines of text, from its shape, moves and board string, in the largest form that fits.

A table describes how each shape of board looks: lines between cells, a frame with discs, lines with stones, a cloth,
small boards in a large one, layers, hexagons. One painter draws them all on a sheet, cell by cell.

With colours, light shows the last move, the winning line, hints and threats. Without colours, a frame shows them: `[X]`
the cursor, `(X)` the last move, `*X*` the winning line, `~X~` the mark that vanishes next, `+ +` a cell of a hint or
lesson, `! !` a cell of a warning, `x?` our own pending move. Marks differ in shape in any case.

Cells are also targets of clicks: a click on a part of the picture means the command or key attached to that part. A
target is stored in the style of a span, so that it moves with the text; it is removed before anything is written to a
terminal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import product

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from ttt_net.client.display import Display, Point
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.drawing.sheet import Sheet, Target, View, draw_mark, target_of
from ttt_net.client.drawing.themes import blended, contrast
from ttt_net.client.screens.advice import bad_cells, good_cells
from ttt_net.client.screens.board_play import layers_of, legal_at, quick_moves
from ttt_net.client.words import mark_of
from ttt_net.games.notation import labels_of
from ttt_net.messages import GameInfo, Snapshot
from ttt_net.text import clean


def target_at(page: Text, column: int, row: int) -> Target | None:
    """Return the target at a place on the page, or None."""
    lines = page.split("\n", allow_blank=True)
    if not 0 <= row < len(lines):
        return None
    line, cells = lines[row], 0
    for offset, character in enumerate(line.plain):
        cells += cell_len(character)
        if cells > column:
            found = (target_of(span.style) for span in line.spans if span.start <= offset < span.end)
            return next((target for target in reversed(list(found)) if target is not None), None)
    return None


def place_of(line: Text, target: Target) -> int:
    """Return the column where the target begins in the line, or -1."""
    return next((span.start for span in line.spans if target_of(span.style) == target), -1)


def without_targets(page: Text) -> Text:
    """Return a copy of the page without targets, ready to be written."""
    copied = page.copy()
    copied.spans = [span for span in page.spans if not isinstance(span.style, Style)]
    return copied


NOBODY = "="
"""The owner of a small board that nobody can win any more."""


class Frame(Enum):
    """The frame of a cell; in forms of one row, its value is drawn to the left and to the right."""

    NONE = "  "
    LAST = "()"
    CURSOR = "[]"
    WON = "**"
    VANISHING = "~~"
    GOOD = "++"
    BAD = "!!"


_FRAMES = {"win": Frame.WON, "leaves": Frame.VANISHING}
"""The frames of cells in notes; notes of any other kind are drawn like hints."""


@dataclass(frozen=True, slots=True)
class Look:
    """How to draw a cell: a mark or a hint, and the frame or light around it."""

    mark: str
    hint: str
    frame: Frame = Frame.NONE
    is_pending: bool = False
    is_clear: bool = False
    """Whether the hint deserves more than a quiet colour: a mark may be placed here, but not everywhere."""
    part: float = 1.0
    """The part of the mark that is already drawn, from 0 to 1."""


def looks_of(display: Display, match: Snapshot, glyphs: Glyphs) -> list[Look]:
    """Return how to draw each cell, in the order of cells."""
    position = match.position
    legal = {match.game.move_cells[move] for move in position.legal}
    digits = {moves[0]: digit for digit, moves in quick_moves(match).items() if moves}
    hints = {} if match.game.gravity else {match.game.move_cells[move]: str(digit) for move, digit in digits.items()}
    pending_cell = match.game.move_cells[display.under_way.move] if display.under_way is not None else -1
    owners = owners_of(match)
    frames = _frames_of(display, match)
    growing, part = display.growing
    looks = []
    for cell, character in enumerate(position.board):
        mark = "" if character == "." else clean(character, 1) or "?"
        hint = (hints.get(cell, glyphs.free) if display.is_my_turn else glyphs.free) if cell in legal else " "
        owner = owners.get(cell, "")
        if owner == NOBODY:
            hint = NOBODY
        elif owner and mark != owner:
            mark, hint = "", owner.lower()
        if cell == pending_cell and not mark:
            mark = mark_of(match, match.you or 0)
        is_clear = cell in legal and position.target is not None
        frame = frames.get(cell, Frame.NONE)
        looks.append(Look(mark, hint, frame, cell == pending_cell, is_clear, part if cell == growing else 1.0))
    return looks


def _frames_of(display: Display, match: Snapshot) -> dict[int | None, Frame]:
    """Return the frames of cells; if a cell has several, the last one wins."""
    position = match.position
    last = match.game.move_cells[match.last] if match.last is not None else -1
    return {
        position.vanishing: Frame.VANISHING,
        **dict.fromkeys(bad_cells(display, match), Frame.BAD),
        **dict.fromkeys(good_cells(display, match), Frame.GOOD),
        last: Frame.LAST,
        _cursor_cell(display, match): Frame.CURSOR,
        **dict.fromkeys(position.line, Frame.WON),
        **{cell: _FRAMES.get(note.kind, Frame.GOOD) for note in position.notes or () for cell in note.cells},
    }


def owners_of(match: Snapshot) -> dict[int, str]:
    """Return the mark of the winner, or `=`, for each cell of a decided small board."""
    game, blocks = match.game, match.position.blocks
    if game.block is None:
        return {}
    width, (block_height, block_width) = game.shape[-1], game.block
    across = width // block_width
    if len(blocks) != across * (game.shape[-2] // block_height):
        return {}
    owners = {}
    for cell in range(len(match.position.board)):
        y, x = divmod(cell, width)
        owner = clean(blocks[y // block_height * across + x // block_width], 1)
        if owner not in ("", "."):
            owners[cell] = owner
    return owners


def _cursor_cell(display: Display, match: Snapshot) -> int:
    """Return the cell where a mark at the cursor would land; -1 if the player has no cursor."""
    if match.outcome is not None or match.you is None or display.cursor < 0:
        return -1
    moves = legal_at(match, display.cursor)
    return match.game.move_cells[moves[0]] if moves else display.cursor


_ROWS_IN_PERSPECTIVE = 4
"""Layers lean if their cells have at least this many rows, even if they could be larger side by side without leaning.

In cells of two or three rows, leaning crosses would not be recognised.
"""
_LEAST_CONTRAST = 3.0
"""The contrast of a stone with the light under it, as WCAG 2.2 AA requires of signs."""
_FADED = 0.55
"""How much of the board shines through a stone beside a winning line."""
_LAYER_GAP = 3
_HALF_CELLS = 2
"""The step of a geometry whose rows may begin at half cells."""
_LONGEST_GRID = 9
"""Boards with a longer side are drawn as points."""
_STARS = {9: (2, 4, 6), 13: (3, 6, 9), 15: (3, 7, 11), 19: (3, 9, 15)}
"""The lines with star points, by the number of lines of the board."""


@dataclass(frozen=True, slots=True)
class Form:
    """One size of a drawn board: the columns and rows of a cell, the lines between cells, and whether labels fit."""

    columns: int
    rows: int
    lines: int = 0
    """The columns and rows of a line between cells; 0: no line."""
    has_labels: bool = True


_SMALLEST_FORMS = (Form(3, 1), Form(2, 1), Form(2, 1, has_labels=False))
_ROUND_FORMS = tuple(Form(2 * rows, rows) for rows in (6, 5, 4, 3, 2))
"""Forms in which half blocks make good circles."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How all boards of one shape look; colours are named as in a theme."""

    forms: tuple[Form, ...]
    """The forms, from large to small."""
    ground: str
    ground_2: str
    """The background of every second cell, and of the small board to play in."""
    ink: str
    """The colour of lines and of hints."""
    aim: str
    """The colour of the cursor."""
    inks: dict[str, str]
    looks: dict[str, str]
    """The colour and the look of each mark."""
    free: str = ""
    """The colour of the round hole in a free place, if one is drawn."""
    last: str = "last"
    """The light under the last move; empty if the piece gets a dot instead."""


_STROKES, _STONES = {"X": "cross", "O": "ring"}, {"X": "disc", "O": "coin"}
STROKED = tuple(_STROKES.values())
"""The shapes of marks that are drawn stroke by stroke."""
_LINES = Shape(
    (*(Form(2 * rows + 1, rows, 1) for rows in range(11, 2, -1)), Form(5, 1, 1), Form(3, 1, 1), *_SMALLEST_FORMS),
    *("board", "board_2", "line", "accent"),
    {"X": "x", "O": "o"},
    _STROKES,
)
_FRAME = Shape(
    (*_ROUND_FORMS[:-1], Form(6, 2), Form(4, 2), Form(5, 1), *_SMALLEST_FORMS),
    *("frame", "frame", "hole", "on_frame"),
    {"X": "disc_x", "O": "disc_o"},
    _STONES,
    free="hole",
    last="hole",
)
_POINTS = Shape(
    (Form(4, 2), *_SMALLEST_FORMS),
    *("wood", "wood", "wood_line", "wood_line"),
    {"X": "black", "O": "white"},
    _STONES,
    last="",
)
_CLOTH = Shape(
    (*_ROUND_FORMS[2:], *_SMALLEST_FORMS),
    *("cloth", "cloth_2", "on_frame", "on_frame"),
    {"X": "black", "O": "white"},
    _STONES,
    last="",
)
_BLOCKS = Shape(
    (Form(7, 3), Form(5, 1), *_SMALLEST_FORMS),
    *("board", "lit", "line", "accent"),
    {"X": "x", "O": "o"},
    _STROKES,
)
_LAYERS = Shape(
    (Form(10, 5), Form(8, 4), Form(6, 3), Form(5, 1), *_SMALLEST_FORMS),
    *("board", "board_2", "line", "accent"),
    {"X": "x", "O": "o"},
    _STROKES,
)
_HEXAGONS = Shape(
    (Form(8, 4), Form(4, 2), Form(4, 1), Form(2, 1)),
    *("board", "board", "quiet", "accent"),
    {"X": "x", "O": "o"},
    _STONES,
    free="board_2",
)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How the layers of a board lie on the screen: how many, how many of them side by side, and how far they lean.

    In a leaning layer each row lies `lean` columns further to the right than the row of text below it.
    """

    layers: int = 1
    across: int = 1
    lean: int = 0


class Fit(Enum):
    """Which forms of a board are acceptable."""

    ANY = "any"
    LABELLED = "those that name rows and columns"
    BESIDE = "those that leave room for something beside the board: better a larger board alone than both cramped"
    WHOLE = "the smallest, of which a part can be shown"
    LETTERS = "marks of one letter, for lines of text"

    def allows(self, form: Form, glyphs: Glyphs) -> bool:
        """Tell whether a form is acceptable."""
        match self:
            case Fit.LABELLED:
                return form.has_labels
            case Fit.BESIDE:
                return form.columns >= 3
            case Fit.WHOLE:
                return form.columns == 2 and not form.has_labels
            case Fit.LETTERS:
                return form.columns <= 3 and form.rows == 1
            case Fit.ANY:
                return True


def shape_of(game: GameInfo) -> Shape:
    """Return the shape of a game's board."""
    if _is_shifted(game):
        return _HEXAGONS
    if len(game.shape) == 3:
        return _LAYERS
    if game.block is not None:
        return _BLOCKS
    if game.gravity:
        return _FRAME
    looks = {piece.look for piece in game.pieces or ()}
    if max(game.shape) > _LONGEST_GRID or (game.geometry is not None and game.geometry.cell == "point"):
        return _POINTS
    return _CLOTH if looks & {"stone", "disc"} else _LINES


def _is_shifted(game: GameInfo) -> bool:
    return game.geometry is not None and game.geometry.step == _HALF_CELLS


def ink_of(game: GameInfo, mark: str, glyphs: Glyphs) -> str:
    """Return the colour of a mark in texts beside its board; empty without colours, and for stones."""
    role = shape_of(game).inks.get(mark, "")
    if glyphs.theme is None or role not in ("x", "o", "disc_x", "disc_o"):
        return ""
    return str(getattr(glyphs.theme, role))


def piece_of(game: GameInfo, mark: str, glyphs: Glyphs) -> tuple[str, str]:
    """Return the character and the style of a round piece on its board; no character for marks made of strokes."""
    shape = shape_of(game)
    symbol = {"disc": glyphs.disc, "coin": glyphs.coin}.get(shape.looks.get(mark, ""), "")
    if glyphs.theme is None or not symbol:
        return symbol, "bold"
    colour = str(getattr(glyphs.theme, shape.inks[mark]))
    if shape in (_POINTS, _CLOTH):
        return glyphs.disc, f"{colour} on {getattr(glyphs.theme, shape.ground)}"
    return symbol, f"bold {colour}"


def draw_board(display: Display, width: int, height: int, glyphs: Glyphs, fit: Fit = Fit.ANY) -> list[Text] | None:
    """Return the lines of the board, all equally wide, or None if no form fits."""
    match = display.match
    if match is None:
        return None
    if fit is Fit.LETTERS:
        glyphs = replace(glyphs, disc="", coin="", theme=None)
    for painter in _painters(match, glyphs, fit):
        if painter.width <= width and painter.height <= height:
            return painter.paint(looks_of(display, match, glyphs), may_move=display.may_move)
    return None


def _painters(match: Snapshot, glyphs: Glyphs, fit: Fit) -> Iterator["_Painter"]:
    """Yield the ways to draw the board of a match, the largest first, but layers in perspective before flat ones."""
    shape, layers = shape_of(match.game), layers_of(match)
    if _is_shifted(match.game) and fit is not Fit.LETTERS:
        fit = Fit.ANY
    forms = [form for form in shape.forms if fit.allows(form, glyphs)]
    if layers == 1:
        yield from (_Painter(match, shape, form, glyphs, Arrangement()) for form in forms)
        return
    arrangements = dict.fromkeys((layers, (layers + 1) // 2))
    if fit is not Fit.LETTERS:
        for form, across in product((form for form in forms if form.rows >= _ROWS_IN_PERSPECTIVE), arrangements):
            yield _Painter(match, shape, form, glyphs, Arrangement(layers, across, 1))
    for form, across in product(forms, arrangements):
        for lean in (2, 0) if form.rows == 1 and form.has_labels and fit is not Fit.LETTERS else (0,):
            yield _Painter(match, shape, form, glyphs, Arrangement(layers, across, lean))


class _Painter:
    """Draws the board of one match in one form: its cells, their surroundings, and their marks."""

    def __init__(self, match: Snapshot, shape: Shape, form: Form, glyphs: Glyphs, arrangement: Arrangement) -> None:
        self._match, self._shape, self._form, self._glyphs = match, shape, form, glyphs
        self._layers = arrangement
        self._labels = labels_of(match.game)
        self._rows, self._columns = match.game.shape[-2:]
        self._is_shifted = _is_shifted(match.game)
        block = match.game.block if form.columns > 2 else None
        self._block_rows, self._block_columns = block or (self._rows, self._columns)
        # Without light, the sides of a cell show its frame: a round mark then needs a column on each side.
        is_round = form.rows > 1 and form.columns == 2 * form.rows
        is_framed = is_round and glyphs.theme is None and not self._is_shifted
        self._cell = (form.columns + 2 * is_framed, form.rows)
        self._side = 0 if form.lines else 1
        self._wall = int(block is not None or (shape is _FRAME and form.rows > 1))
        widest = max(map(len, self._labels.rows), default=-1) + 1
        self._margin = 4 if self._is_shifted else widest * form.has_labels
        self._head = form.has_labels * (bool(self._labels.columns) + (arrangement.layers > 1))
        self._inner = (self._x(self._columns - 1) + self._cell[0], self._y(self._rows - 1) + self._cell[1])
        across, down = self._inner
        self._board = (
            self._margin + across + 2 * self._side + arrangement.lean * (down - 1),
            self._head + down + 2 * self._wall,
        )
        if self._is_shifted:
            runs = match.game.geometry.runs if match.game.geometry is not None else []
            longest = max((x * self._cell[0] // 2 + count * self._cell[0] for _, _, x, count in runs), default=0)
            self._board = (longest + self._margin + 2 + (form.rows == 1), self._head + len(runs) * self._cell[1] + 2)
        self._gap = _LAYER_GAP if form.has_labels else 1
        self.width = arrangement.across * (self._board[0] + self._gap) - self._gap
        """The total columns of all boards."""
        self.height = -(-arrangement.layers // arrangement.across) * (self._board[1] + 1) - 1

    def paint(self, looks: Sequence[Look], *, may_move: bool) -> list[Text]:
        """Return the lines of all boards."""
        sheet = Sheet(self.width, self.height, self._colour("ground"))
        cells = self._rows * self._columns
        for layer in range(self._layers.layers):
            down, right = divmod(layer, self._layers.across)
            place = (right * (self._board[0] + self._gap), down * (self._board[1] + 1))
            shown = range(layer * cells, (layer + 1) * cells)
            if self._is_shifted:
                views = self._hexagons(sheet)
                shown = range(len(views))
            else:
                views = self._squares(sheet, place, layer)
            for cell, view in zip(shown, views, strict=True):
                self._paint_cell(sheet, view, looks[cell], cell, may_move=may_move)
            if owners_of(self._match):
                self._paint_owners(sheet, views, looks)
        return sheet.lines()

    def _colour(self, role: str) -> str:
        return str(getattr(self._glyphs.theme, role)) if self._glyphs.theme is not None and role else ""

    def _x(self, column: int) -> int:
        """Return where a column of cells begins, relative to the first one."""
        return column * (self._cell[0] + self._form.lines) + column // self._block_columns

    def _y(self, row: int) -> int:
        return row * (self._cell[1] + self._form.lines) + row // self._block_rows

    def _squares(self, sheet: Sheet, place: tuple[int, int], layer: int) -> list[View]:
        """Draw the background, lines and surroundings of one board; return where its cells lie."""
        (x, y), (across, down), lean = place, self._inner, self._layers.lean
        inner = View(x + self._margin + self._side + lean * (down - 1), y + self._head + self._wall, across, down, lean)
        for row in range(down):
            left, top = inner.at(-self._side, row)
            sheet.light(left, top, across + 2 * self._side, 1, self._colour(self._shape.ground))
        self._draw_heads(sheet, inner, y, layer)
        for row, label in enumerate(self._labels.rows if self._form.has_labels else ()):
            left, top = inner.at(-self._side - 1 - len(label), self._y(row) + (self._cell[1] - 1) // 2)
            sheet.put(left, top, label, weight="dim", ground=self._colour("ground"))
        if self._form.lines:
            self._draw_lines(sheet, inner)
        elif self._block_rows < self._rows:
            self._draw_blocks(sheet, inner)
        else:
            self._draw_walls(sheet, inner)
        return [
            View(*inner.at(self._x(column), self._y(row)), *self._cell, lean)
            for row in range(self._rows)
            for column in range(self._columns)
        ]

    def _draw_heads(self, sheet: Sheet, inner: View, y: int, layer: int) -> None:
        """Draw the name of a layer and its column heads above a board."""
        if not self._form.has_labels:
            return
        if self._layers.layers > 1:
            name = f"layer {self._labels.layers[layer]}"
            left, _ = inner.at(0, 0)
            sheet.put(left, y, name.center(inner.width)[: max(inner.width, 1)].rstrip() or name, weight="dim")
        for column, label in enumerate(self._labels.columns):
            left, _ = inner.at(self._x(column), -1 if self._layers.lean else 0)
            wide = self._cell[0]
            text = label.center(3)[:wide] if wide == 2 else label.center(wide)
            sheet.put(left, y + self._head - 1, text, weight="dim")

    def _draw_lines(self, sheet: Sheet, inner: View) -> None:
        """Draw lines between cells, but none around them."""
        colour, glyphs, (wide, high) = self._colour(self._shape.ink), self._glyphs, self._cell
        weight = "" if colour else "dim"
        across = glyphs.cross.join([glyphs.horizontal * wide] * self._columns)
        for row in range(inner.height):
            is_line = row % (high + 1) == high
            if is_line:
                sheet.put(*inner.at(0, row), across, colour, weight=weight)
                continue
            for column in range(1, self._columns):
                sheet.put(*inner.at(column * (wide + 1) - 1, row), glyphs.vertical, colour, weight=weight)

    def _draw_blocks(self, sheet: Sheet, inner: View) -> None:
        """Draw the walls of small boards with their numbers; the one to play in is lit."""
        target = self._match.position.target
        across = self._columns // self._block_columns
        rule = self._colour(self._shape.ink)
        wide = self._block_columns * self._cell[0]
        high = self._block_rows * self._cell[1]
        for number in range(across * (self._rows // self._block_rows)):
            down, right = divmod(number, across)
            left, top = inner.at(right * (wide + 1) - 1, down * (high + 1) - 1)
            glyphs, is_lit = self._glyphs, target is not None and target.board == number + 1
            style = {"weight": "" if rule else "dim"}
            self._box(sheet, left, top, (wide + 2, high + 2), rule, style["weight"], (down, right))
            if is_lit:
                lit, weight = self._colour("accent"), "bold"
                sheet.light(left + 1, top + 1, wide, high, self._colour(self._shape.ground_2))
                sheet.put(left, top, glyphs.heavy[0] + glyphs.heavy[1] * wide + glyphs.heavy[2], lit, weight=weight)
                sheet.put(
                    *(left, top + high + 1),
                    glyphs.heavy[4] + glyphs.heavy[1] * wide + glyphs.heavy[5],
                    lit,
                    weight=weight,
                )
                for row in range(top + 1, top + 1 + high):
                    sheet.put(left, row, glyphs.heavy[3], lit, weight=weight)
                    sheet.put(left + wide + 1, row, glyphs.heavy[3], lit, weight=weight)
        for number in range(across * (self._rows // self._block_rows)):
            down, right = divmod(number, across)
            left, top = inner.at(right * (wide + 1) - 1, down * (high + 1) - 1)
            is_lit = target is not None and target.board == number + 1
            name = f"[{number + 1}]" if is_lit else f" {number + 1} "
            colour, weight = (self._colour("accent"), "bold") if is_lit else ("", "dim")
            sheet.put(left + 1 + (wide - 3) // 2, top, name, colour, weight=weight)

    def _box(
        self, sheet: Sheet, left: int, top: int, size: tuple[int, int], colour: str, weight: str, at: tuple[int, int]
    ) -> None:
        """Draw the box in this row and column of boxes that share their walls."""
        glyphs, (wide, high), (down, right) = self._glyphs, size, at
        last_down = self._rows // self._block_rows - 1
        last_right = self._columns // self._block_columns - 1
        rows = (glyphs.corners[0], glyphs.top_tee, glyphs.corners[1]) if down == 0 else None
        left_piece, middle, right_piece = rows or (glyphs.left_tee, glyphs.cross, glyphs.right_tee)
        corner = left_piece if right == 0 else middle
        end = right_piece if right == last_right else middle
        sheet.put(left, top, corner + glyphs.horizontal * (wide - 2) + end, colour, weight=weight)
        for row in range(top + 1, top + high - 1):
            sheet.put(left, row, glyphs.vertical, colour, weight=weight)
            sheet.put(left + wide - 1, row, glyphs.vertical, colour, weight=weight)
        if down == last_down:
            corner = glyphs.corners[2] if right == 0 else glyphs.bottom_tee
            end = glyphs.corners[3] if right == last_right else glyphs.bottom_tee
            sheet.put(left, top + high - 1, corner + glyphs.horizontal * (wide - 2) + end, colour, weight=weight)

    def _draw_walls(self, sheet: Sheet, inner: View) -> None:
        """Draw the surroundings of a board without lines: its frame, its points, or plain walls."""
        glyphs, ground = self._glyphs, self._colour(self._shape.ground)
        if self._shape is _POINTS:
            self._draw_points(sheet, inner)
        if ground and self._wall:
            left, top = inner.at(-1, -1)
            sheet.put(left, top, "▄" * (inner.width + 2), ground)
            sheet.put(left, top + inner.height + 1, "▀" * (inner.width + 2), ground)
        if ground or not self._form.has_labels:
            return
        wall = glyphs.leaning if self._layers.lean else glyphs.vertical
        for row in range(inner.height):
            for column in (-1, inner.width):
                sheet.put(*inner.at(column, row), wall, weight="dim")
        if self._wall:
            left, top = inner.at(-1, -1)
            rule, corners = glyphs.horizontal * inner.width, glyphs.corners
            sheet.put(left, top, corners[0] + rule + corners[1], weight="dim")
            sheet.put(left, top + inner.height + 1, corners[2] + rule + corners[3], weight="dim")

    def _draw_points(self, sheet: Sheet, inner: View) -> None:
        """Draw the lines on which stones lie, with star points."""
        glyphs, colour = self._glyphs, self._colour(self._shape.ink)
        if glyphs.is_ascii:
            return
        (wide, high), weight = self._cell, "" if colour else "dim"
        for row in range(self._rows):
            for column in range(self._columns):
                x, y = inner.at(self._x(column), self._y(row))
                edges = (column > 0, column < self._columns - 1)
                if high == 2:
                    for part, at in ((0, x), (1, x + wide // 2)):
                        line = " " * (wide // 2)
                        sheet.put(at, y, line, colour, weight="underline" if edges[part] else "")
                    for part, at in ((row > 0, y), (row < self._rows - 1, y + 1)):
                        if part:
                            under = "underline" if at == y and edges[1] else ""
                            sheet.put(x + wide // 2, at, "▏", colour, weight=under)
                else:
                    middle = (wide - 1) // 2 if wide > 2 else 1
                    piece = self._crossing(row, column)
                    before = glyphs.horizontal if edges[0] else " "
                    after = glyphs.horizontal if edges[1] else " "
                    sheet.put(x, y, before * middle + piece + after * (wide - middle - 1), colour, weight=weight)
        stars = [(row, column) for row in self._stars(self._rows) for column in self._stars(self._columns)]
        for row, column in stars:
            x, y = inner.at(self._x(column), self._y(row))
            if high == 2:
                sheet.put(x + 1, y, "▗▖", colour)
                sheet.put(x + 1, y + 1, "▝▘", colour)
            else:
                sheet.put(x + ((wide - 1) // 2 if wide > 2 else 1), y, glyphs.star, colour, weight=weight)

    @staticmethod
    def _stars(lines: int) -> tuple[int, ...]:
        return _STARS.get(lines, ())

    def _crossing(self, row: int, column: int) -> str:
        """Return the crossing of two lines, which has fewer arms on the edge of the board."""
        glyphs = self._glyphs
        rows = 0 if row == 0 else 2 if row == self._rows - 1 else 1
        columns = 0 if column == 0 else 2 if column == self._columns - 1 else 1
        corners = glyphs.corners
        return (
            corners[0] + glyphs.top_tee + corners[1],
            glyphs.left_tee + glyphs.cross + glyphs.right_tee,
            corners[2] + glyphs.bottom_tee + corners[3],
        )[rows][columns]

    def _hexagons(self, sheet: Sheet) -> list[View]:
        """Draw the edges of a board of hexagons with the marks of their owners; return where its cells lie."""
        geometry = self._match.game.geometry
        assert geometry is not None, "a board of hexagons says where its cells lie"
        (wide, high), views, left = self._cell, list[View](), self._margin + 1
        edges = {edge: clean(mark, 1) for edge, mark in geometry.edges.items()}
        top = self._head + 1
        for number, (_, _, half_cells, count) in enumerate(geometry.runs):
            x, y = left + half_cells * wide // 2, top + number * high
            sheet.light(x, y, count * wide, high, self._colour(self._shape.ground))
            views += [View(x + n * wide, y, wide, high) for n in range(count)]
            label = self._labels.rows[number] if number < len(self._labels.rows) else ""
            sheet.put(x - 5, y + (high - 1) // 2, label.rjust(2), weight="dim")
            middle = (high - 1) // 2
            for row in range(high):
                is_named = row == middle and (high == 1 or number == len(geometry.runs) // 2)
                self._draw_edge(sheet, x - 2, y + row, edges.get("left", ""), "▐", is_named=is_named)
                self._draw_edge(
                    sheet, x + count * wide + (high == 1), y + row, edges.get("right", ""), "▌", is_named=is_named
                )
        for run, edge, y in ((0, "top", top - 1), (-1, "bottom", top + len(geometry.runs) * high)):
            _, _, first, count = geometry.runs[run]
            for column in range(count * wide):
                is_named = column % wide == (wide - 1) // 2 and (high == 1 or column // wide == count // 2)
                bar = "▄" if edge == "top" else "▀"
                x = left + first * wide // 2 + column
                self._draw_edge(sheet, x, y, edges.get(edge, ""), bar, is_named=is_named)
        _, _, first, count = geometry.runs[0]
        for column, label in enumerate(self._labels.columns[:count]):
            sheet.put(left + first * wide // 2 + column * wide, 0, label.center(wide), weight="dim")
        return views

    def _draw_edge(self, sheet: Sheet, x: int, y: int, mark: str, bar: str, *, is_named: bool) -> None:
        """Draw a piece of a player's edge: their mark, or a bar if a cell has several rows."""
        colour = self._colour(self._shape.inks.get(mark, ""))
        if is_named:
            sheet.put(x, y, mark or " ", colour, weight="bold" if colour else "dim")
        elif mark and self._cell[1] > 1 and not self._glyphs.is_ascii:
            sheet.put(x, y, bar, colour, weight="" if colour else "dim")

    def _paint_cell(self, sheet: Sheet, view: View, look: Look, cell: int, *, may_move: bool) -> None:
        """Draw a cell: its light, its mark or hint, its frame, and its target."""
        row, column = divmod(cell % (self._rows * self._columns), self._columns)
        is_second = (row + column) % 2 == 1 and self._shape in (_CLOTH, _LAYERS)
        light = self._light(look) or (self._colour(self._shape.ground_2) if is_second else "")
        for part in range(view.height):
            x, y = view.at(0, part)
            sheet.light(x, y, view.width, 1, light)
            sheet.aim(x, y, view.width, Point(cell))
        if look.mark:
            self._paint_mark(sheet, view, look)
        else:
            self._paint_free(sheet, view, look)
        self._paint_frame(sheet, view, look, may_move=may_move)

    def _light(self, look: Look) -> str:
        match look.frame:
            case Frame.WON:
                return self._colour("hole" if self._shape is _FRAME else self._light_under(look, "win"))
            case Frame.GOOD:
                return self._colour(self._light_under(look, "good"))
            case Frame.BAD:
                return self._colour(self._light_under(look, "bad"))
            case Frame.LAST:
                return self._colour(self._shape.last)
            case _:
                return ""

    def _light_under(self, look: Look, light: str) -> str:
        """Return the name of a light, or of the dark or pale one under stones that cannot be told from this light."""
        stone, ground = self._colour(self._shape.inks.get(look.mark, "")), self._colour(light)
        if self._shape not in (_POINTS, _CLOTH) or not stone:
            return light
        if stone.startswith("#"):
            return light if contrast(stone, ground) >= _LEAST_CONTRAST else "hole"
        return light if ground.startswith("bright") is (stone == "black") else "hole"

    def _ink(self, look: Look) -> str:
        """Return the colour of a mark, or of a hint."""
        keeps_colour = bool(look.mark) and self._shape in (_FRAME, _POINTS, _CLOTH)
        if look.frame in (Frame.WON, Frame.GOOD, Frame.BAD) and not keeps_colour:
            return self._colour("on_light")
        if look.mark:
            ink = self._colour(self._shape.inks.get(look.mark, "text"))
            # beside a winning line, discs and large stones fade; small stones leave its light visible
            fades = self._shape is _FRAME or (self._shape is _POINTS and self._form.rows > 1)
            is_beside = fades and self._match.position.line and look.frame is not Frame.WON
            return blended(ink, self._colour(self._shape.ground), _FADED) if is_beside and ink.startswith("#") else ink
        return self._colour(
            self._shape.ink if self._shape in (_POINTS, _CLOTH) else "text" if look.is_clear else "quiet"
        )

    def _paint_free(self, sheet: Sheet, view: View, look: Look) -> None:
        glyphs, theme = self._glyphs, self._glyphs.theme
        middle = ((view.width - 1) // 2 if view.width > 2 else 1, (view.height - 1) // 2)
        x, y = view.at(*middle)
        if self._shape.free and theme is not None and not glyphs.is_ascii and look.frame in (Frame.NONE, Frame.CURSOR):
            hole = self._colour(self._shape.free)
            if view.height > 1:
                self._draw_mark(sheet, view if view.width != 6 or view.height != 2 else view.inside(1, 1), "disc", hole)
            else:
                sheet.put(x, y, glyphs.free, hole)  # a full one would look like a disc
            return
        if self._shape is _POINTS and not glyphs.is_ascii:
            return
        hint = look.hint
        if self._shape is _FRAME and look.frame is Frame.NONE:
            hint = glyphs.free  # without colours, dots are the holes of the frame
        if hint.strip():
            ink = self._ink(look)
            sheet.put(x, y, hint, ink, weight="bold" if look.is_clear else "" if ink else "dim")

    def _paint_mark(self, sheet: Sheet, view: View, look: Look) -> None:
        glyphs, theme, ink = self._glyphs, self._glyphs.theme, self._mark_ink(look)
        kind = self._kind(look)
        x, y = view.at((view.width - 1) // 2 if view.width > 2 else 1, (view.height - 1) // 2)
        weight = "bold" if not look.is_pending else "" if theme is not None else "dim"
        if glyphs.is_ascii and view.height >= 3:
            self._paint_letters(sheet, view, look, ink)
        elif view.height == 1 or kind is None or glyphs.is_ascii:
            symbol = {"disc": glyphs.disc, "coin": glyphs.coin}.get(kind or "", "") or look.mark
            sheet.put(x, y, symbol.lower() if look.is_pending else symbol, ink, weight=weight)
        else:
            inset = int(view.width > 2 * view.height + 1 or theme is None)
            rows = (view.height - 3) // 4 if kind in ("cross", "ring") else 0
            inner = view.inside(inset, inset, rows, rows) if view.width > 4 or not inset else view
            self._draw_mark(sheet, inner, kind, ink, look.part)
            if theme is not None and self._has_dot(look):
                self._paint_dot(sheet, view, look, ink)

    def _has_dot(self, look: Look) -> bool:
        """Tell whether a large mark has a dot: the last one, and stones of a winning line, which hide its light."""
        return not self._shape.last if look.frame is Frame.LAST else look.frame is Frame.WON and self._shape is _POINTS

    def _mark_ink(self, look: Look) -> str:
        """Return the colour of a mark: a quiet one if it is pending or about to vanish."""
        if look.is_pending or look.frame is Frame.VANISHING:
            return self._colour("quiet" if self._shape.ground == "board" else self._shape.ink)
        return self._ink(look)

    def _kind(self, look: Look) -> str | None:
        """Return the form of a mark. Stones in their colours need no hole to tell them apart."""
        kind = self._shape.looks.get(look.mark)
        has_stones = self._glyphs.theme is not None and self._shape in (_POINTS, _CLOTH)
        return "disc" if kind == "coin" and has_stones else kind

    def _paint_dot(self, sheet: Sheet, view: View, look: Look, ink: str) -> None:
        """Draw a dot in the other side's colour on the last mark."""
        other = self._colour(self._shape.inks["O" if look.mark == "X" else "X"])
        beside = view.width // 2 - 1
        for row, half in ((view.height // 2 - 1, "▄"), (view.height // 2, "▀")):
            if view.height % 2 == 0:
                sheet.put(*view.at(beside, row), half * 2, other, ground=ink)
            elif row >= view.height // 2:
                sheet.put(*view.at(beside, row), "██", other)

    def _draw_mark(self, sheet: Sheet, view: View, look: str, colour: str, part: float = 1.0) -> None:
        theme = self._glyphs.theme
        is_smooth, has_quadrants = theme is not None and theme.is_smooth, bool(self._glyphs.disc)
        is_tight = theme is not None and not self._form.lines
        draw_mark(sheet, view, look, colour, part, is_smooth=is_smooth, has_quadrants=has_quadrants, is_tight=is_tight)

    def _paint_letters(self, sheet: Sheet, view: View, look: Look, ink: str) -> None:
        """Draw a large mark out of characters."""
        marks = self._glyphs.huge if view.height >= 5 and view.width >= 7 else self._glyphs.large
        lines = marks.get(look.mark, (look.mark,))
        top, left = (view.height - len(lines)) // 2, (view.width - len(lines[0])) // 2
        for row, line in enumerate(lines):
            sheet.put(*view.at(left, top + row), line, ink, weight="bold" if not look.is_pending else "dim")

    def _paint_frame(self, sheet: Sheet, view: View, look: Look, *, may_move: bool) -> None:
        """Draw the sides of a cell: the cursor, and without light the frame that replaces it."""
        frame, has_theme = look.frame, self._glyphs.theme is not None
        left, right = frame.value
        middle, end = (view.height - 1) // 2, view.width - 1
        if view.height == 1:
            end = 2 * max(1, (view.width - 1) // 2)
        ends = ((0, left), (end, right))
        if look.is_pending:
            sheet.put(*view.at(end, middle), "?", self._colour(self._shape.aim), weight="" if has_theme else "dim")
            return
        if frame is Frame.CURSOR:
            self._paint_cursor(sheet, view, ends, may_move=may_move)
            return
        has_sign = not has_theme or frame in (Frame.GOOD, Frame.BAD, Frame.VANISHING)
        has_sign = has_sign or (frame is Frame.LAST and not self._shape.last and view.height == 1)
        if frame is Frame.NONE or not has_sign:
            return
        signs = ends[:1] if view.width == 2 and has_theme and frame in (Frame.GOOD, Frame.BAD) else ends
        ink = self._ink(look) if has_theme and frame is not Frame.LAST else self._colour(self._shape.aim)
        for part in range(view.height) if frame is Frame.WON else (middle,):
            for column, character in signs:
                sheet.put(*view.at(column, part), character, ink, weight="bold")

    def _paint_cursor(
        self, sheet: Sheet, view: View, ends: tuple[tuple[int, str], tuple[int, str]], *, may_move: bool
    ) -> None:
        """Draw brackets around a cell; only their corners if the cell is high."""
        glyphs, has_theme = self._glyphs, self._glyphs.theme is not None
        colour = self._colour(self._shape.aim if may_move else self._shape.ink)
        weight = "bold" if may_move else "" if has_theme else "dim"
        _, (end, _) = ends
        for part in range(view.height):
            piece = 0 if part == 0 else 2 if part == view.height - 1 else 1
            pieces = ends if view.height == 1 else ((0, glyphs.cursor[0][piece]), (end, glyphs.cursor[1][piece]))
            for column, character in pieces:
                if piece != 1 or view.height < 5 or glyphs.is_ascii:
                    sheet.put(*view.at(column, part), character, colour, weight=weight)

    def _paint_owners(self, sheet: Sheet, views: Sequence[View], looks: Sequence[Look]) -> None:
        """Draw the winner's mark over the whole of a small board, in forms with half blocks."""
        if self._block_rows == self._rows or self._glyphs.is_ascii:
            return
        owners = owners_of(self._match)
        wide, high = self._block_columns * self._cell[0], self._block_rows * self._cell[1]
        for row in range(0, self._rows, self._block_rows):
            for column in range(0, self._columns, self._block_columns):
                first = row * self._columns + column
                kind = self._shape.looks.get(owners.get(first, ""))
                if kind is None:
                    continue
                x, y = views[first].at(0, 0)
                view = View(x, y, wide, high)
                is_won = looks[first].frame is Frame.WON
                ground = self._colour("win" if is_won else self._shape.ground)
                for part in range(high):
                    sheet.put(x, y + part, " " * wide, ground=ground)
                    if is_won and not ground:
                        for column_of_sign in (x, x + wide - 1):
                            sheet.put(column_of_sign, y + part, Frame.WON.value[0], weight="bold")
                ink = self._colour("on_light" if is_won else self._shape.inks[owners[first]])
                self._draw_mark(sheet, view, kind, ink)
