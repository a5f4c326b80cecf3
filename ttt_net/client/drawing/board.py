"""Draw a board of any game as lines of text: from shape, moves and board string alone, in the largest form that fits.

Forms, from large to small: cells of five rows and of three, cells of one row in a grid, rows without a grid, and rows
without labels. A board that consists of small boards has lines between those, and no other grid; nor has a large
board, where so many lines would be all that one sees. Each cell can be clicked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from ttt_net.client.commands import Point
from ttt_net.client.display import Display
from ttt_net.client.drawing.glyphs import Glyphs
from ttt_net.client.drawing.looks import Frame, Labels, Look, labels_of, looks_of
from ttt_net.client.drawing.targets import aim
from ttt_net.client.moves import layers_of
from ttt_net.messages import Snapshot

_LAYER_GAP = 3
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
    has_grid = match.game.block is None and max(match.game.shape[-2:]) <= _LONGEST_GRID
    for form in forms:
        if (form.columns > 3 and form.has_grid != has_grid) or form.has_grid > has_grid:
            continue
        pen = _Pen(form, match, labels, glyphs)
        across, down = pen.size(layers_of(match))
        if across <= width and down <= height:
            return pen.boards(looks_of(display, match, glyphs), layers_of(match))
    return None


class _Pen:
    """Draws the boards of one match in one form. Small boards are numbered, and the one to play in is lit."""

    def __init__(self, form: Form, match: Snapshot, labels: Labels, glyphs: Glyphs) -> None:
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
