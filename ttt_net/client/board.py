"""A board as lines of text, for any game: from shape, moves and board string alone, in the largest form that fits.

Forms, from large to small: cells of three rows, cells in a grid, rows without a grid, and rows without labels.
What colour says is also said beside the mark: `[X]` the cursor, `(X)` the last move, `*X*` the winning line;
our own move on its way is `x?`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rich.text import Text

from ttt_net.client.actions import layers_of, legal_at, quick_moves
from ttt_net.client.glyphs import COLOURS, WON, Glyphs
from ttt_net.client.view import View
from ttt_net.client.words import mark_of
from ttt_net.messages import GameInfo, Snapshot
from ttt_net.text import clean

_COORDINATE = re.compile(r"(?:(\w+):)?([a-z]+)(\d+)$")


class Frame(Enum):
    """What stands around a cell; its value is what a form of one row draws to the left and to the right."""

    NONE = "  "
    LAST = "()"
    CURSOR = "[]"
    WON = "**"


@dataclass(frozen=True, slots=True)
class Look:
    """How one cell is drawn: a mark or a hint, the style of it, and what stands around it."""

    mark: str
    hint: str
    style: str
    frame: Frame = Frame.NONE
    frame_style: str = ""
    is_pending: bool = False


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
    Form(7, 3, has_grid=True, has_labels=True),
    Form(5, 1, has_grid=True, has_labels=True),
    Form(3, 1, has_grid=True, has_labels=True),
    Form(3, 1, has_grid=False, has_labels=True),
    Form(2, 1, has_grid=False, has_labels=True),
    Form(2, 1, has_grid=False, has_labels=False),
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What is written beside a board; each is empty where the names of the moves do not tell."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    layers: tuple[str, ...]


def draw_board(view: View, width: int, height: int, glyphs: Glyphs, forms: Sequence[Form] = FORMS) -> list[Text] | None:
    """Return the lines of the board on the screen, all equally wide, or None when no form of it fits."""
    match = view.match
    if match is None:
        return None
    looks = looks_of(view, match, glyphs)
    labels = labels_of(match.game)
    board_height, board_width = match.game.shape[-2:]
    for form in forms:
        size = _size(form, board_width, board_height, layers_of(match), labels)
        if size[0] <= width and size[1] <= height:
            return _draw(form, match, looks, labels, glyphs)
    return None


def _size(form: Form, width: int, height: int, layers: int, labels: Labels) -> tuple[int, int]:
    """Return the columns and rows that a board takes in a form."""
    across = width * (form.columns + form.has_grid) + 1 if form.has_grid or form.columns == 2 else width * form.columns
    down = height * (form.rows + form.has_grid) + form.has_grid
    if form.has_labels:
        across += 2 * (not form.has_grid) + _margin(labels)
        down += bool(labels.columns) + (layers > 1)
    gap = 3 if form.has_labels else 1
    return across * layers + gap * (layers - 1), down


def _margin(labels: Labels) -> int:
    return max(map(len, labels.rows), default=-1) + 1


def labels_of(game: GameInfo) -> Labels:
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
    return Labels(
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


def looks_of(view: View, match: Snapshot, glyphs: Glyphs) -> list[Look]:
    """Return how each cell is to be drawn, in the order of cells."""
    position = match.position
    legal = {match.game.move_cells[move] for move in position.legal}
    digits = {moves[0]: digit for digit, moves in quick_moves(match).items() if moves}
    hints = {} if match.game.gravity else {match.game.move_cells[move]: str(digit) for move, digit in digits.items()}
    won = set(position.line)
    last = match.game.move_cells[match.last] if match.last is not None else -1
    pending = view.pending if view.pending is not None and view.pending.match == match.match else None
    pending_cell = match.game.move_cells[pending.move] if pending is not None else -1
    cursor = _cursor_cell(view, match) if match.outcome is None and view.cursor >= 0 else -1
    looks = []
    for cell, character in enumerate(position.board):
        mark = "" if character == "." else clean(character, 1) or "?"
        hint = (hints.get(cell, glyphs.free) if view.is_my_turn else glyphs.free) if cell in legal else " "
        if cell == pending_cell and not mark:
            mark = mark_of(match, match.you or 0)
        style = f"bold {COLOURS.get(mark, '')}".strip() if mark else "dim"
        if cell in won:
            look = Look(mark, hint, f"bold {WON}", Frame.WON, f"bold {WON}")
        elif cell == cursor:
            look = Look(mark, hint, style, Frame.CURSOR, "bold" if view.may_move else "dim")
        elif cell == last:
            look = Look(mark, hint, f"{style} underline", Frame.LAST, style)
        else:
            look = Look(mark, hint, style)
        if cell == pending_cell:
            look = Look(mark, hint, "dim", look.frame, "dim", is_pending=True)
        looks.append(look)
    return looks


def _cursor_cell(view: View, match: Snapshot) -> int:
    """Return the cell that the cursor means: where a mark would come to lie, if it falls."""
    moves = legal_at(match, view.cursor)
    return match.game.move_cells[moves[0]] if moves else view.cursor


def _draw(form: Form, match: Snapshot, looks: Sequence[Look], labels: Labels, glyphs: Glyphs) -> list[Text]:
    height, width = match.game.shape[-2:]
    layers = layers_of(match)
    boards = []
    for z in range(layers):
        layer = looks[z * width * height : (z + 1) * width * height]
        rows = [layer[y * width : (y + 1) * width] for y in range(height)]
        boards.append(_draw_layer(form, rows, labels, labels.layers[z] if layers > 1 else "", glyphs))
    gap = "   " if form.has_labels else glyphs.vertical
    return [Text(gap, style="dim", end="").join(lines) for lines in zip(*boards, strict=True)]


def _draw_layer(form: Form, rows: list[Sequence[Look]], labels: Labels, name: str, glyphs: Glyphs) -> list[Text]:
    lines = []
    for y, row in enumerate(rows):
        if form.has_grid:
            lines.append(_rule(form, len(row), y, glyphs))
        lines += [_row(form, row, part, glyphs) for part in range(form.rows)]
    if form.has_grid:
        lines.append(_rule(form, len(rows[0]), len(rows), glyphs, is_bottom=True))
    if not form.has_labels:
        return lines
    return _labelled(form, lines, labels, name, len(rows[0]), glyphs)


def _rule(form: Form, width: int, y: int, glyphs: Glyphs, *, is_bottom: bool = False) -> Text:
    top_left, top_right, bottom_left, bottom_right = tuple(glyphs.corners)
    left, middle, right = glyphs.left_tee, glyphs.cross, glyphs.right_tee
    if y == 0:
        left, middle, right = top_left, glyphs.top_tee, top_right
    elif is_bottom:
        left, middle, right = bottom_left, glyphs.bottom_tee, bottom_right
    return Text(left + middle.join([glyphs.horizontal * form.columns] * width) + right, style="dim")


def _row(form: Form, row: Sequence[Look], part: int, glyphs: Glyphs) -> Text:
    """Return one line of text of a row of cells."""
    line = Text()
    if form.columns == 2:
        return _tight_row(row, walls=glyphs.vertical if form.has_labels else "")
    wall = (glyphs.vertical, "dim")
    line.append(*wall)
    for index, look in enumerate(row):
        if index and form.has_grid:
            line.append(*wall)
        left, middle, right = _cell(form, look, part, glyphs)
        line.append(left, look.frame_style)
        line.append(middle, look.style)
        line.append(right, look.frame_style)
    line.append(*wall)
    return line


def _cell(form: Form, look: Look, part: int, glyphs: Glyphs) -> tuple[str, str, str]:
    """Return the left side, the middle and the right side of one row of a cell."""
    left, right = look.frame.value[0], look.frame.value[1]
    if form.rows == 3:
        frames = {Frame.CURSOR: glyphs.cursor, Frame.LAST: glyphs.last, Frame.WON: glyphs.won}
        sides = frames.get(look.frame)
        left, right = (sides[0][part], sides[1][part]) if sides else (" ", " ")
        blank = look.mark or look.hint
        drawn = glyphs.large.get(look.mark, ("   ", f" {blank} ", "   "))[part]
        return left, f" {drawn}{'?' if look.is_pending and part == 1 else ' '}", right
    mark = look.mark.lower() if look.is_pending else look.mark or look.hint
    right = "?" if look.is_pending else right
    padding = " " * ((form.columns - 3) // 2)
    return padding + left, mark, right + padding


def _tight_row(row: Sequence[Look], walls: str) -> Text:
    """Return cells of one column with one column between them, in which the brackets stand."""
    line = Text(walls, style="dim")
    for index in range(len(row) + 1):
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
    line.append(walls, "dim")
    return line


def _labelled(form: Form, lines: list[Text], labels: Labels, name: str, width: int, glyphs: Glyphs) -> list[Text]:
    margin = _margin(labels)
    across = len(lines[0]) + margin
    pitch = form.rows + form.has_grid
    result = []
    if name:
        result.append(Text(f"{'layer ' if across >= 8 + len(name) else ''}{name}".center(across), style="dim"))
    if labels.columns:
        step = form.columns + form.has_grid
        heads = [label.center(form.columns + (form.columns == 2)) for label in labels.columns]
        joined = Text(" " * (margin + 1))
        for head in heads:
            joined.append(head[:step].ljust(step), "dim")
        joined.truncate(across, pad=True)
        result.append(joined)
    for index, line in enumerate(lines):
        y, part = divmod(index - form.has_grid, pitch)
        has_label = labels.rows and index >= form.has_grid and part == form.rows // 2 and y < len(labels.rows)
        label = labels.rows[y] if has_label else ""
        result.append(Text(label.rjust(margin - 1) + " " if margin else "", style="dim") + line)
    return result
