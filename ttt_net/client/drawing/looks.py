"""Return the looks of cells and the labels of a board, for any game, and before any size is known.

What colour says is also said beside the mark: `[X]` the cursor, `(X)` the last move, `*X*` the winning line, `~X~` the
mark that vanishes next, `+ +` a cell that a hint or lesson names, `! !` one that a warning does; our own move on its
way is `x?`. A small board that is won is full of its winner's mark, small
where they have none.
"""

import re
from dataclasses import dataclass
from enum import Enum

from ttt_net.client.display import Display
from ttt_net.client.drawing.glyphs import COLOURS, WON, Glyphs
from ttt_net.client.labels import mark_of
from ttt_net.client.moves import legal_at, quick_moves
from ttt_net.client.screens.coaching import bad_cells, good_cells
from ttt_net.messages import GameInfo, Snapshot
from ttt_net.text import clean

_COORDINATE = re.compile(r"(?:(\w+):)?([a-z]+)(\d+)$")


_NOBODY = "="
"""Who has won a small board that nobody can win any more."""


class Frame(Enum):
    """The frame of a cell; its value is drawn to the left and to the right in a form of one row."""

    NONE = "  "
    LAST = "()"
    CURSOR = "[]"
    WON = "**"
    VANISHING = "~~"
    GOOD = "++"
    BAD = "!!"


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
class Labels:
    """The labels beside a board; each is empty where the names of the moves do not tell."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    layers: tuple[str, ...]


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


def looks_of(display: Display, match: Snapshot, glyphs: Glyphs) -> list[Look]:
    """Return how each cell is to be drawn, in the order of cells."""
    position = match.position
    legal = {match.game.move_cells[move] for move in position.legal}
    digits = {moves[0]: digit for digit, moves in quick_moves(match).items() if moves}
    hints = {} if match.game.gravity else {match.game.move_cells[move]: str(digit) for move, digit in digits.items()}
    won = set(position.line)
    last = match.game.move_cells[match.last] if match.last is not None else -1
    pending_cell = match.game.move_cells[display.under_way.move] if display.under_way is not None else -1
    has_cursor = match.outcome is None and match.you is not None and display.cursor >= 0
    cursor = _cursor_cell(display, match) if has_cursor else -1
    owners = _owners(match)
    good, bad = good_cells(display, match), bad_cells(display, match)
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
        is_target = cell in legal and position.target is not None
        style = f"bold {COLOURS.get(mark, '')}".strip() if mark else "bold" if is_target else "dim"
        if cell in won:
            look = Look(mark, hint, f"bold {WON}", Frame.WON, f"bold {WON}")
        elif cell == cursor:
            look = Look(mark, hint, style, Frame.CURSOR, "bold" if display.may_move else "dim")
        elif cell == last:
            look = Look(mark, hint, style, Frame.LAST, style)
        elif cell in good or cell in bad:
            style = f"bold {WON if cell in good else COLOURS['O']}"
            look = Look(mark, hint, style, Frame.GOOD if cell in good else Frame.BAD, style)
        elif cell == position.vanishing:
            look = Look(mark, hint, COLOURS.get(mark, ""), Frame.VANISHING, "bold")
        else:
            look = Look(mark, hint, style)
        if cell == pending_cell:
            look = Look(mark, hint, "dim", look.frame, "dim", is_pending=True)
        looks.append(look)
    return looks


def _owners(match: Snapshot) -> dict[int, str]:
    """Return, for each cell of a small board that is decided, the mark of who has won that board, or `=`."""
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
    """Return the cell that the cursor means: where a mark would come to lie, if it falls."""
    moves = legal_at(match, display.cursor)
    return match.game.move_cells[moves[0]] if moves else display.cursor
