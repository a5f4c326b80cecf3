"""Draw a board of any game as lines of text, from its shape, moves and board string, in the largest form that fits.

Forms, from large to small: cells of five rows and of three, cells of one row in a grid, rows without a grid, and rows
without labels. Small boards have lines between them and no other grid. A large board has no grid either: its lines
would hide the marks.

Each thing that colour shows is also shown beside the mark: `[X]` the cursor, `(X)` the last move, `*X*` the winning
line, `~X~` the mark that vanishes next, `+ +` a cell of a hint or lesson, `! !` a cell of a warning, `x?` our own move
on its way. A small board that is won is full of its winner's mark, in small letters where they have none.

A cell is also a target: clicks on parts of a picture mean the command or the key that the part carries. A target is
part of the style of a span, so that it moves with the text; it is removed before anything is written to a terminal.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from ttt_net.client.display import AnyCommand, Display, Point
from ttt_net.client.drawing.glyphs import COLOURS, WON, Glyphs
from ttt_net.client.mailbox import Key
from ttt_net.client.screens.advice import bad_cells, good_cells
from ttt_net.client.screens.board_play import layers_of, legal_at, quick_moves
from ttt_net.client.words import mark_of
from ttt_net.messages import GameInfo, GeometryInfo, Snapshot
from ttt_net.text import clean

Target: TypeAlias = AnyCommand | Key
_KEY = "target"


def aim(line: Text, target: Target, start: int = 0, end: int | None = None) -> None:
    """Make a click on the characters from `start` to `end` mean the target."""
    line.stylize(Style(meta={_KEY: target}), start, end)


def target_at(page: Text, column: int, row: int) -> Target | None:
    """Return what a click there means on the page, or None."""
    lines = page.split("\n", allow_blank=True)
    if not 0 <= row < len(lines):
        return None
    line, cells = lines[row], 0
    for offset, character in enumerate(line.plain):
        cells += cell_len(character)
        if cells > column:
            styles = [span.style for span in line.spans if span.start <= offset < span.end]
            found = [style.meta[_KEY] for style in styles if isinstance(style, Style) and _KEY in style.meta]
            return found[-1] if found else None
    return None


def place_of(line: Text, target: Target) -> int:
    """Return where the target begins in the line, or -1."""
    styles = ((span.start, span.style) for span in line.spans)
    places = (start for start, style in styles if isinstance(style, Style) and style.meta.get(_KEY) == target)
    return next(places, -1)


def without_targets(page: Text) -> Text:
    """Return a copy of the page as it is to be written."""
    copied = page.copy()
    copied.spans = [span for span in page.spans if not isinstance(span.style, Style)]
    return copied


_COORDINATE = re.compile(r"(?:(\w+):)?([a-z]+)(\d+)$")


_NOBODY = "="
"""The owner of a small board that nobody can win any more."""


class Frame(Enum):
    """The frame of a cell; its value is drawn to the left and to the right in a form of one row."""

    NONE = "  "
    LAST = "()"
    CURSOR = "[]"
    WON = "**"
    VANISHING = "~~"
    GOOD = "++"
    BAD = "!!"


_FRAMES = {"win": Frame.WON, "leaves": Frame.VANISHING}
"""The frames of cells in notes; those of any other kind are drawn as in a hint."""


@dataclass(frozen=True, slots=True)
class Look:
    """The looks of a cell: a mark or a hint, its style, and the frame around it."""

    mark: str
    hint: str
    style: str
    frame: Frame = Frame.NONE
    frame_style: str = ""
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class BoardLabels:
    """The labels beside a board; each is empty where the names of the moves do not tell."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    layers: tuple[str, ...]


def labels_of(game: GameInfo) -> BoardLabels:
    """Return the labels that the names of the moves agree on: heads of columns, numbers of rows, names of layers."""
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
        found = _COORDINATE.search(name)
        if found is not None:
            tiers.setdefault(z, set()).add(found[1] or "")
            columns.setdefault(x, set()).add(found[2])
            rows.setdefault(y, set()).add(found[3])
        elif game.gravity:
            columns.setdefault(x, set()).add(name)
    named = _agreed(tiers, layers)
    return BoardLabels(
        columns=_agreed(columns, width),
        rows=_agreed(rows, height),
        layers=named if any(named) else tuple(str(z + 1) for z in range(layers)),
    )


def _agreed(found: dict[int, set[str]], size: int) -> tuple[str, ...]:
    """Return one label for each place when every place has exactly one."""
    labels = [found.get(place, set()) for place in range(size)]
    if any(len(names) != 1 for names in labels):
        return ()
    return tuple(clean(next(iter(names)), 3) for names in labels)


def looks_of(display: Display, match: Snapshot, glyphs: Glyphs) -> list[Look]:
    """Return how each cell is to be drawn, in the order of cells."""
    position = match.position
    legal = {match.game.move_cells[move] for move in position.legal}
    digits = {moves[0]: digit for digit, moves in quick_moves(match).items() if moves}
    hints = {} if match.game.gravity else {match.game.move_cells[move]: str(digit) for move, digit in digits.items()}
    pending_cell = match.game.move_cells[display.under_way.move] if display.under_way is not None else -1
    owners = _owners(match)
    frames = _frames_of(display, match)
    looks = []
    for cell, character in enumerate(position.board):
        mark = "" if character == "." else clean(character, 1) or "?"
        hint = (hints.get(cell, glyphs.free) if display.is_my_turn else glyphs.free) if cell in legal else " "
        owner = owners.get(cell, "")
        if owner == _NOBODY:
            hint = _NOBODY
        elif owner and mark != owner:
            mark, hint = "", owner.lower()
        if cell == pending_cell and not mark:
            mark = mark_of(match, match.you or 0)
        frame = frames.get(cell, Frame.NONE)
        if cell == pending_cell:
            looks.append(Look(mark, hint, "dim", frame, "dim", is_pending=True))
            continue
        is_target = cell in legal and position.target is not None
        style, frame_style = _styles_of(frame, mark, is_target=is_target, may_move=display.may_move)
        looks.append(Look(mark, hint, style, frame, frame_style))
    return looks


def _frames_of(display: Display, match: Snapshot) -> dict[int | None, Frame]:
    """Return the frames of cells; of several for a cell, the last one counts."""
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


def _styles_of(frame: Frame, mark: str, *, is_target: bool, may_move: bool) -> tuple[str, str]:
    """Return the style of a mark or hint in this frame, and the style of the frame."""
    style = f"bold {COLOURS.get(mark, '')}".strip() if mark else "bold" if is_target else "dim"
    match frame:
        case Frame.WON | Frame.GOOD:
            return f"bold {WON}", f"bold {WON}"
        case Frame.BAD:
            return f"bold {COLOURS['O']}", f"bold {COLOURS['O']}"
        case Frame.CURSOR:
            return style, "bold" if may_move else "dim"
        case Frame.LAST:
            return style, style
        case Frame.VANISHING:
            return COLOURS.get(mark, ""), "bold"
        case Frame.NONE:
            return style, ""


def _owners(match: Snapshot) -> dict[int, str]:
    """Return, for each cell of a decided small board, the mark of its winner, or `=`."""
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


_LAYER_GAP = 3
_HALF_CELLS = 2
"""The step of a geometry whose rows may begin at half cells."""
_EDGE_MARGIN = 5
"""The columns before the first mark of a row of hexagons: its label, the mark of its edge, and half a frame."""
_LONGEST_GRID = 9
"""Boards with a longer side have no grid."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to draw a board: the columns and rows of a cell, whether there is a grid, and whether there are labels.

    Without a grid, neighbours share the column between them if a cell has two columns.
    """

    columns: int
    rows: int
    has_grid: bool
    has_labels: bool


FORMS = (
    Form(11, 5, has_grid=True, has_labels=True),
    Form(7, 3, has_grid=True, has_labels=True),
    Form(7, 3, has_grid=False, has_labels=True),
    Form(5, 1, has_grid=True, has_labels=True),
    Form(5, 2, has_grid=False, has_labels=True),
    Form(5, 1, has_grid=False, has_labels=True),
    Form(3, 1, has_grid=True, has_labels=True),
    Form(3, 1, has_grid=False, has_labels=True),
    Form(2, 1, has_grid=False, has_labels=True),
    Form(2, 1, has_grid=False, has_labels=False),
)
LABELLED = tuple(form for form in FORMS if form.has_labels)
"""Those that name rows and columns."""


def draw_board(
    display: Display, width: int, height: int, glyphs: Glyphs, forms: Sequence[Form] = FORMS
) -> list[Text] | None:
    """Return the lines of the board on the screen, all equally wide, or None when no form of it fits."""
    match = display.match
    if match is None:
        return None
    labels = labels_of(match.game)
    if match.game.geometry is not None and match.game.geometry.step == _HALF_CELLS:
        return _draw_shifted(display, match, match.game.geometry, width, height, glyphs)
    has_grid = match.game.block is None and max(match.game.shape[-2:]) <= _LONGEST_GRID
    for form in forms:
        if (form.columns > 3 and form.has_grid != has_grid) or form.has_grid > has_grid:
            continue
        pen = _Pen(form, match, labels, glyphs)
        across, down = pen.size(layers_of(match))
        if across <= width and down <= height:
            return pen.boards(looks_of(display, match, glyphs), layers_of(match))
    return None


def _draw_shifted(
    display: Display, match: Snapshot, geometry: GeometryInfo, width: int, height: int, glyphs: Glyphs
) -> list[Text] | None:
    """Return the lines of a board of hexagons, whose rows begin at half cells; None if it does not fit.

    The marks of the players who own the edges stand around the board.
    """
    looks, labels = looks_of(display, match, glyphs), labels_of(match.game)
    edges = {edge: clean(mark, 1) for edge, mark in geometry.edges.items()}
    for half in (2, 1):
        heads = _edge_row(geometry.runs[0], half, list(labels.columns), "dim")
        top = _edge_row(geometry.runs[0], half, [edges.get("top", "")], COLOURS.get(edges.get("top", ""), ""))
        bottom = _edge_row(geometry.runs[-1], half, [edges.get("bottom", "")], COLOURS.get(edges.get("bottom", ""), ""))
        lines, first = [heads, top], 0
        for number, (_, _, x, count) in enumerate(geometry.runs):
            label = labels.rows[number] if number < len(labels.rows) else ""
            line = Text.assemble((f"{' ' * (x * half)}{label:>2} ", "dim"), _edge_mark(edges.get("left", "")))
            row = looks[first : first + count]
            line.append_text(_tight_row(row, first, "") if half == 1 else _spaced_row(row, first, glyphs))
            line.append_text(_edge_mark(edges.get("right", "")))
            lines.append(line)
            first += count
        lines.append(bottom)
        across = max(line.cell_len for line in lines)
        if across <= width and len(lines) <= height:
            for line in lines:
                line.append(" " * (across - line.cell_len))
            return lines
    return None


def _edge_mark(mark: str) -> Text:
    return Text(mark or " ", style=f"dim {COLOURS.get(mark, '')}".strip())


def _edge_row(run: tuple[int, int, int, int], half: int, texts: list[str], style: str) -> Text:
    """Return a line above or below a run of cells, with one text over each cell."""
    _, _, x, count = run
    line = " " * (x * half + _EDGE_MARGIN + (half - 1))
    for place in range(count):
        text = texts[place % len(texts)] if texts else ""
        line += text[: 2 * half].ljust(2 * half)
    return Text(line.rstrip(), style=style)


def _spaced_row(row: Sequence[Look], first: int, glyphs: Glyphs) -> Text:
    """Return cells of three columns with one column between them."""
    line, form = Text(), Form(3, 1, has_grid=False, has_labels=True)
    for number, look in enumerate(row, start=first):
        start = len(line)
        left, middle, right = _cell(form, look, 0, glyphs)
        line.append(left, look.frame_style)
        line.append(middle, look.style)
        line.append(right, look.frame_style)
        aim(line, Point(number), start)
        line.append(" ")
    return line


class _Pen:
    """Draws the boards of one match in one form. Small boards are numbered, and the one to play in is lit."""

    def __init__(self, form: Form, match: Snapshot, labels: BoardLabels, glyphs: Glyphs) -> None:
        self.form, self.labels, self.glyphs = form, labels, glyphs
        game, target = match.game, match.position.target
        self.height, self.width = game.shape[-2:]
        whole = [1, 1] if form.has_grid else [self.height, self.width]
        self.block_height, self.block_width = game.block if game.block and form.columns > 2 else whole
        self.is_numbered = game.block is not None and form.columns > 2
        self.across = self.width // self.block_width
        is_lit = self.is_numbered and target is not None
        self.target = divmod(target.board - 1, self.across) if is_lit and target is not None else None
        """The row and column of the small board to play in."""
        self.has_frame = form.has_grid or self.is_numbered
        self.margin = max(map(len, labels.rows), default=-1) + 1 if form.has_labels else 0

    def size(self, layers: int) -> tuple[int, int]:
        """Return the columns and rows that all boards side by side take."""
        form = self.form
        across = self.margin + self.width * form.columns + self.width // self.block_width + 1
        if form.columns == 2:
            across = self.margin + 2 * self.width + 1 + 2 * form.has_labels
        down = self.height * form.rows + self.height // self.block_height - 1 + 2 * self.has_frame
        if form.has_labels:
            down += bool(self.labels.columns) + (layers > 1)
        return across * layers + (_LAYER_GAP if form.has_labels else 1) * (layers - 1), down

    def boards(self, looks: Sequence[Look], layers: int) -> list[Text]:
        """Return the lines of the boards, side by side."""
        cells = self.width * self.height
        drawn = []
        for z in range(layers):
            name = self.labels.layers[z] if layers > 1 and self.form.has_labels else ""
            drawn.append(self._board(looks[z * cells : (z + 1) * cells], z * cells, name))
        gap = " " * _LAYER_GAP if self.form.has_labels else self.glyphs.vertical
        between = Text.assemble((gap, "dim"))  # styled as a part: the style of a whole would dim the marks too
        return [between.join(lines) for lines in zip(*drawn, strict=True)]

    def _board(self, looks: Sequence[Look], first: int, name: str) -> list[Text]:
        """Return the lines of one board, whose first cell is number `first`."""
        lines = []
        for y in range(self.height):
            if y % self.block_height == 0 and (y or self.has_frame):
                lines.append(self._labelled(self._rule(y), ""))
            row = looks[y * self.width : (y + 1) * self.width]
            for part in range(self.form.rows):
                is_middle = part == (self.form.rows - 1) // 2
                label = self.labels.rows[y] if self.labels.rows and is_middle else ""
                lines.append(self._labelled(self._row(row, part, first + y * self.width), label))
        if self.has_frame:
            lines.append(self._labelled(self._rule(self.height), ""))
        return [*self._heads(name, lines[0].cell_len), *lines]

    def _labelled(self, line: Text, label: str) -> Text:
        if not self.margin:
            return line
        return Text.assemble((label.rjust(self.margin - 1).ljust(self.margin), "dim"), line)

    def _heads(self, name: str, across: int) -> list[Text]:
        """Return the lines above a board: the name of its layer, and the heads of its columns."""
        heads = []
        if name:
            whole = f"layer {name}"
            heads.append(Text((whole if len(whole) < across else name).center(across), style="dim"))
        if self.labels.columns and self.form.has_labels:
            columns = self.form.columns
            line = " " * (self.margin + 1)
            for x, label in enumerate(self.labels.columns):
                line += " " if x and x % self.block_width == 0 and columns > 2 else ""
                line += label.center(3)[:columns].ljust(columns) if columns == 2 else label.center(columns)
            heads.append(Text(line[:across].ljust(across), style="dim"))
        return heads

    def _rule(self, y: int) -> Text:
        glyphs = self.glyphs
        left, middle, right = glyphs.left_tee, glyphs.cross, glyphs.right_tee
        if y == 0:
            left, middle, right = glyphs.corners[0], glyphs.top_tee, glyphs.corners[1]
        elif y == self.height:
            left, middle, right = glyphs.corners[2], glyphs.bottom_tee, glyphs.corners[3]
        row = y // self.block_height
        line = Text(left, style="dim")
        for column in range(self.across):
            number = f" {row * self.across + column + 1} " if self.is_numbered and y < self.height else ""
            if self.target == (row, column):
                number = f"[{number.strip()}]"
            is_lit = self.target in ((row, column), (row - 1, column))
            part = number.center(self.form.columns * self.block_width, glyphs.horizontal)
            line.append(part, "not dim bold" if is_lit else "")
            line.append(middle if column < self.across - 1 else right)
        return line

    def _row(self, row: Sequence[Look], part: int, first: int) -> Text:
        """Return one line of text of a row of cells, the first of which is number `first`."""
        if self.form.columns == 2:
            return _tight_row(row, first, walls=self.glyphs.vertical if self.form.has_labels else "")
        line = Text()
        block_row = first // self.width % self.height // self.block_height
        for x, look in enumerate(row):
            if x % self.block_width == 0:
                line.append(self.glyphs.vertical, self._wall(block_row, x // self.block_width))
            start = len(line)
            left, middle, right = _cell(self.form, look, part, self.glyphs)
            line.append(left, look.frame_style)
            line.append(middle, look.style)
            line.append(right, look.frame_style)
            aim(line, Point(first + x), start)
        line.append(self.glyphs.vertical, self._wall(block_row, self.across))
        return line

    def _wall(self, row: int, column: int) -> str:
        """Return the style of the wall to the left of a small board, which is also to the right of another."""
        return "bold" if self.target in ((row, column), (row, column - 1)) else "dim"


def _cell(form: Form, look: Look, part: int, glyphs: Glyphs) -> tuple[str, str, str]:
    """Return the left side, the middle and the right side of one row of a cell."""
    if form.rows >= 3:
        return _large_cell(form, look, part, glyphs)
    if part > 0:
        return " ", " " * (form.columns - 2), " "
    left, right = look.frame.value[0], look.frame.value[1]
    mark = look.mark.lower() if look.is_pending else look.mark or look.hint
    right = "?" if look.is_pending else right
    padding = " " * ((form.columns - 3) // 2)
    return padding + left, mark, right + padding


def _large_cell(form: Form, look: Look, part: int, glyphs: Glyphs) -> tuple[str, str, str]:
    middle, last = form.rows // 2, form.rows - 1
    left = right = " "
    if look.frame is Frame.CURSOR:
        piece = 0 if part == 0 else 2 if part == last else 1
        left, right = glyphs.cursor[0][piece], glyphs.cursor[1][piece]
    elif look.frame is Frame.WON:
        left, right = glyphs.won[0], glyphs.won[1]
    elif look.frame is Frame.LAST and part == middle:
        left, right = glyphs.last[0], glyphs.last[1]
    elif look.frame in (Frame.VANISHING, Frame.GOOD, Frame.BAD) and part == middle:
        left, right = look.frame.value[0], look.frame.value[1]
    inside = form.columns - 2
    shape = (glyphs.huge if form.rows == 5 else glyphs.large).get(look.mark)
    small = (look.mark or look.hint) if part == middle else ""
    line = (shape[part] if shape is not None else small).center(inside)
    if look.is_pending and part == middle:
        line = line[:-1] + "?"
    return left, line, right


def _tight_row(row: Sequence[Look], first: int, walls: str) -> Text:
    """Return cells of one column with one column between them, in which the brackets stand."""
    line = Text.assemble((walls, "dim"))
    for index in range(len(row) + 1):
        start = len(line)
        before = row[index - 1] if index else None
        after = row[index] if index < len(row) else None
        if before is not None and (before.is_pending or before.frame.value[1] != " "):
            line.append("?" if before.is_pending else before.frame.value[1], before.frame_style)
        elif after is not None:
            line.append(after.frame.value[0], after.frame_style)
        else:
            line.append(" ")
        if after is not None:
            line.append(after.mark.lower() if after.is_pending else after.mark or after.hint, after.style)
            aim(line, Point(first + index), start)
    line.append(walls, "dim")
    return line
