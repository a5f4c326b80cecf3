"""Draw the parts of a match: the players' lines, and the board with what stands beside it."""

import textwrap

from msgspec import structs
from rich.text import Text

from ttt_net.client import labels, words
from ttt_net.client.commands import Point
from ttt_net.client.display import Display
from ttt_net.client.drawing.board import FORMS, draw_board
from ttt_net.client.drawing.glyphs import COLOURS, WARNING, Glyphs, wrapped
from ttt_net.client.drawing.targets import place_of
from ttt_net.messages import PlayerInfo, Snapshot
from ttt_net.text import clean

PANEL_WIDTH = 24
"""The columns that it takes."""
_PANEL_HEAD = 2
"""The lines above each of its parts."""
_GAP = 3
_NO_LIMIT = 1000
_SHORT_NAME = 5
_BESIDE_FORMS = tuple(form for form in FORMS if form.columns >= 3)
"""The forms of a board that leave room for something beside it: better a larger board alone than both cramped."""


def seats(display: Display, match: Snapshot, now_ms: int, width: int, *, is_roomy: bool) -> list[Text]:
    """Return a line for each player; in a small window one for both, which says no more than there is room for."""
    if is_roomy:
        return [_seat(display, match, side, now_ms, labels.full_label(match.players[side])) for side in (0, 1)]
    line = Text()
    for is_brief in (False, True):
        for label in _LABELS:
            drawn = [_seat(display, match, n, now_ms, label(match.players[n]), is_brief=is_brief) for n in (0, 1)]
            line = Text("  ").join(drawn)
            if line.cell_len <= width:
                return [line]
    return [line]


def _short_label(player: PlayerInfo) -> str:
    """Return the beginning of the name, with its bot mark."""
    return labels.label_of(structs.replace(player, name=clean(player.name, _SHORT_NAME)))


_LABELS = (labels.full_label, labels.label_of, _short_label)


def _seat(display: Display, match: Snapshot, side: int, now_ms: int, label: str, *, is_brief: bool = False) -> Text:
    """Return the mark, label and clock of a side, and whether it is to move, connected and, unless brief, ours."""
    mark = labels.mark_of(match, side)
    is_to_move = match.position.to_move == side and match.outcome is None
    seat = Text("> " if is_to_move else "  ", style="bold")
    seat.append(mark, f"bold {COLOURS.get(mark, '')}".strip())
    if labels.name_of(match.players[side]) == mark:  # at one keyboard, a player without a name is called by their mark
        label = label[len(mark) + 1 :]
    seat.append(f" {label}".rstrip(), "" if is_to_move else "not bold")
    if side == match.you and not is_brief and not display.world.is_shared:
        seat.append(" (you)", "not bold dim")
    if side != match.you and not match.present[side] and display.has_lobby:
        seat.append(" (away)", WARNING)
    left_ms = display.left_ms(side, now_ms)
    if left_ms is not None:
        seat.append(f"  {labels.clock_face(left_ms)}", "" if is_to_move else "not bold")
    return seat


def board_alone(display: Display, match: Snapshot, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Return the board in the middle, or where no form of it fits, the part of it around the cursor."""
    board = draw_board(display, width, height, glyphs)
    if board is None:
        whole = draw_board(display, _NO_LIMIT, _NO_LIMIT, glyphs, FORMS[-1:]) or []
        size = "x".join(map(str, reversed(match.game.shape)))
        last = f"; last: {labels.move_name(match, match.last)}" if match.last is not None else ", around the cursor"
        board = [Text(f"Part of {size}{last}", style="dim"), *_part(whole, display.cursor, width, height - 1)]
    return centred(board, width)


def _part(board: list[Text], cursor: int, width: int, height: int) -> list[Text]:
    """Cut out the part of a board that has the cursor as near to its middle as the edges allow."""
    row, column = next(((y, x) for y, line in enumerate(board) if (x := place_of(line, Point(cursor))) >= 0), (0, 0))
    top = max(0, min(row - height // 2, len(board) - height))
    left = max(0, min(column - width // 2, board[0].cell_len - width))
    return [line[left : left + width] for line in board[top : top + height]]


def centred(lines: list[Text], width: int) -> list[Text]:
    """Shift all lines alike, so that the widest is in the middle."""
    margin = max(0, (width - max((line.cell_len for line in lines), default=0)) // 2)
    return [Text(" " * margin) + line for line in lines]


def beside(display: Display, match: Snapshot, width: int, height: int, glyphs: Glyphs) -> list[Text] | None:
    """Return the board with the panel beside it, together in the middle; None where there is no room for both."""
    room = width - PANEL_WIDTH - _GAP
    board = draw_board(display, room, height, glyphs, _BESIDE_FORMS)
    if board is None:
        return None
    across = board[0].cell_len
    margin = max(0, (width - across) // 2)
    # The board stays in the middle as long as the panel has its place beside it.
    margin = min(margin, width - across - _GAP - PANEL_WIDTH)
    lines = panel(display, match, len(board))
    drawn = []
    for row, line in enumerate(board):
        whole = Text(" " * margin) + line
        drawn.append(whole + Text(" " * _GAP) + lines[row] if row < len(lines) else whole)
    return drawn


def panel(display: Display, match: Snapshot, height: int) -> list[Text]:
    """Return at most `height` lines of at most `PANEL_WIDTH` columns; of moves and chat the newest stay."""
    facts = [line for fact in words.facts(display, match) for line in wrapped(fact, PANEL_WIDTH)]
    parts = [[Text(line, style="dim") for line in facts]]
    chat, moves = _panel_chat(display), _panel_moves(match)
    left = height - sum(map(len, parts))
    for_chat = min(len(chat), max(0, left // 2 - _PANEL_HEAD)) if moves else max(0, left - _PANEL_HEAD)
    for_moves = left - (for_chat + _PANEL_HEAD if for_chat else 0) - _PANEL_HEAD
    if moves and for_moves > 0:
        parts.append([Text("Moves", style="dim"), *moves[-for_moves:]])
    if chat and for_chat > 0:
        parts.append([Text("Chat", style="dim"), *chat[-for_chat:]])
    lines: list[Text] = []
    for part in filter(None, parts):
        lines += [Text(), *part] if lines else part
    return lines[:height]


def _panel_chat(display: Display) -> list[Text]:
    """Return what was said, on as many lines as it needs; the later lines of a sentence are indented."""
    lines = []
    for told in display.chat:
        said = textwrap.wrap(words.chatted(told), PANEL_WIDTH, subsequent_indent="  ")
        lines += [Text(line) for line in said]
    return lines


def _panel_moves(match: Snapshot) -> list[Text]:
    """Return the moves two by two, each side's in a column of its own, with the number of the first of each two."""
    names = [labels.move_name(match, move) for move in match.moves]
    columns = max((Text(name).cell_len for name in names), default=0) + 2
    begins = _first_side(match)
    lines = []
    for ply in range(0, len(names), 2):
        line = Text(f"{ply + 1:3}. ", style="dim")
        for side, name in enumerate(names[ply : ply + 2]):
            is_last = ply + side == len(names) - 1
            colour = COLOURS.get(labels.mark_of(match, (side + begins) % 2), "default")
            line.append(name, f"not dim {colour} bold underline" if is_last else f"not dim {colour}")
            line.append(" " * max(1, columns - Text(name).cell_len))
        lines.append(line)
    return lines


def _first_side(match: Snapshot) -> int:
    """Return who made the first move: of a match that began from a position it may have been the second side."""
    if match.start is None or not match.moves:
        return 0
    if match.position.to_move is not None:
        return (match.position.to_move + len(match.moves)) % 2
    cell = match.game.move_cells[match.moves[-1]]
    is_second = 0 <= cell < len(match.position.board) and match.position.board[cell] == match.position.marks[1]
    return (is_second + len(match.moves) - 1) % 2
