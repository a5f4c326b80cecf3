"""Draw a display as a screen of text. The functions are pure; each line is cut to the width, and none is wrapped.

Other people's text is plain text that `words` has cleaned; nothing here interprets markup.
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs
from rich.cells import cell_len
from rich.text import Text

from ttt_net.client import words
from ttt_net.client.act import hints
from ttt_net.client.address import YOU
from ttt_net.client.display import Display, Entry, Overlay, Page, Pick, Point, Send, Show, claims_in
from ttt_net.client.drawing.board import Fit, draw_board, ink_of, piece_of, place_of, without_targets
from ttt_net.client.drawing.glyphs import WARNING, Glyphs, wrapped
from ttt_net.client.drawing.sheet import aim, chart, large_clock
from ttt_net.client.drawing.themes import in_theme
from ttt_net.client.mailbox import Key
from ttt_net.client.screens.board_play import phrases, whom_to_mute
from ttt_net.client.screens.lobby_screen import PUZZLE
from ttt_net.client.screens.registry import rows_of, screen_of
from ttt_net.client.screens.screen import PICTURE_SIZE, Row, cursor_of
from ttt_net.messages import GameInfo, PlayerInfo, Snapshot, WatchRequest
from ttt_net.text import clean

_GAP = 2
_INDENT = 2
_NARROW = 60
_LEAST_COLUMN = 8
"""A column is omitted if it gets less room than this and than it needs."""


def draw_list(
    rows: Sequence[Row],
    page: Page,
    size: tuple[int, int],
    glyphs: Glyphs,
    *,
    has_cursor: bool = True,
    is_in_parts: bool = False,
) -> list[Text]:
    """Return at most `height` lines: the rows around the cursor, and how many more are above and below.

    `is_in_parts`: each section has columns of its own, as it has where room is short.
    """
    width, height = size
    cursor = cursor_of(rows, page.row, page.place) if has_cursor else None
    columns = _columns(rows, width - _INDENT)
    is_apart = is_in_parts or width < _NARROW or _cuts(rows, columns, width - _INDENT)
    lines: list[Text] = []
    at = 0
    for index, row in enumerate(rows):
        at = len(lines) if index == cursor else at
        if row.is_heading and is_apart:
            columns = _columns(_of_section(rows, index), width - _INDENT)
        if row.enter is None:
            lines += [_heading(row, width, glyphs)] if row.is_heading else _read(row, width)
        else:
            lines.append(_line(row, columns, width, glyphs, is_chosen=index == cursor))
    if len(lines) <= height:
        return lines
    room = max(1, height - 1)
    first = (page.place if has_cursor else 0) if cursor is None else at - room // 2
    uppermost = next((index for index, row in enumerate(rows) if row.enter is not None), None)
    if cursor is not None and cursor == uppermost and at < room:
        first = 0  # the text above the first row is visible only here
    return _cut_out(lines, first, height)


def _cut_out(lines: list[Text], first: int, height: int) -> list[Text]:
    """Return lines from the first one on, as far as they fit, and how many more are above and below."""
    room = max(1, height - 1)
    first = max(0, min(first, len(lines) - room))
    shown = lines[first : first + room]
    more = [f"{first} above"] * (first > 0) + [f"{len(lines) - first - room} below"] * (first + room < len(lines))
    return [*shown, Text(f"  ({', '.join(more)})", style="dim")]


def _of_section(rows: Sequence[Row], heading: int) -> Sequence[Row]:
    end = next((index for index in range(heading + 1, len(rows)) if rows[index].is_heading), len(rows))
    return rows[heading + 1 : end]


def _columns(rows: Sequence[Row], width: int) -> list[int]:
    """Return the width of each column except the last of its row: that of its widest cell, while there is room."""
    cells = [row.cells[:-1] for row in rows if row.enter is not None]
    widths = [max(map(_width, column)) for column in _transposed(cells)]
    room, fitted = width, []
    for wanted in widths:
        fitted.append(wanted if wanted <= room else room if room >= _LEAST_COLUMN else 0)
        room -= fitted[-1] + _GAP
    return fitted


def _cuts(rows: Sequence[Row], columns: Sequence[int], width: int) -> bool:
    """Tell whether the columns leave the last cell of a row too little room."""
    ends = ((sum(columns[: len(row.cells) - 1]) + _GAP * (len(row.cells) - 1), row) for row in rows if row.enter)
    return any(start + _width(row.cells[-1]) > width for start, row in ends)


def _transposed(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    most = max(map(len, rows), default=0)
    return [[row[n] for row in rows if n < len(row)] for n in range(most)]


def _width(text: str) -> int:
    return Text(text).cell_len


def cut(text: str, room: int, glyphs: Glyphs) -> str:
    """Return the text at exactly this width: padded with blanks, or cut at a semicolon, or with dots at its end.

    The dots follow a whole word, unless the text has only long ones.
    """
    dots = glyphs.dots if room >= 2 * len(glyphs.dots) else ""
    part = Text(text)
    if part.cell_len > room and "; " in text and cell_len(text.partition("; ")[0]) <= room:
        part = Text(text.partition("; ")[0])
    if part.cell_len > room:
        begin = _begin(part.plain, room - len(dots))
        whole = begin if part.plain[len(begin) :].startswith(" ") else begin.rpartition(" ")[0]
        part = Text((whole if cell_len(whole) > room // 2 else begin).rstrip(" ,;:") + dots)
    part.truncate(room, pad=True)
    return part.plain


def _begin(text: str, room: int) -> str:
    """Return the beginning of a text that fits."""
    part = Text(text)
    part.truncate(room)
    return part.plain


def _without_end(text: str, room: int) -> str:
    """Return a text without the last parts that do not fit, separated by semicolons or commas; the first part stays."""
    for separator in ("; ", ", "):
        parts = text.split(separator)
        while len(parts) > 1 and cell_len(separator.join(parts)) > room:
            del parts[-1]
        text = separator.join(parts)
    return text


def _heading(row: Row, width: int, glyphs: Glyphs) -> Text:
    """Return a heading, followed by a line to the end of its column."""
    text = Text("  ".join(row.cells), style=f"bold {glyphs.theme.accent}" if glyphs.theme is not None else "bold dim")
    room = width - text.cell_len - 1
    if room > 0 and not glyphs.is_ascii:
        colour = glyphs.theme.line if glyphs.theme is not None else ""
        text.append(" ").append(glyphs.horizontal * room, f"not bold {colour or 'dim'}")
    return text


def _read(row: Row, width: int) -> list[Text]:
    """Return the lines of a sentence."""
    return [Text(" " * _INDENT + line) for line in wrapped("  ".join(row.cells), width - _INDENT)]


def _line(row: Row, columns: Sequence[int], width: int, glyphs: Glyphs, *, is_chosen: bool) -> Text:
    """Return the line of a row; its last cell gets all remaining room, whatever other rows have there.

    The chosen row is lit over the whole width; the last of several cells is quiet.
    """
    line = Text("> " if is_chosen else "  ", style="bold" if is_chosen else "")
    last = len(row.cells) - 1
    for number, cell in enumerate(row.cells):
        left = width - line.cell_len
        room = columns[number] if number < last else left if left >= min(_LEAST_COLUMN, _width(cell)) else 0
        if room <= 0:
            continue
        text = _without_end(cell, room) if number == last else cell
        line.append(cut(text, room, glyphs), "" if number == 0 else "not bold dim" if number == last else "not bold")
        line.append(" " * _GAP)
    line.rstrip()
    if is_chosen:
        line = _lit(line, width, glyphs, "lit")
    aim(line, Pick(row.key))
    return line


def _lit(line: Text, width: int, glyphs: Glyphs, ground: str) -> Text:
    """Return a line over the whole width on a background of the theme, if it has one."""
    colour = getattr(glyphs.theme, ground) if glyphs.theme is not None else "default"
    if colour != "default":
        line.append(" " * (width - line.cell_len))
        line.stylize(f"on {colour}")
    return line


PANEL_WIDTH = 24
"""The columns of the panel beside a board."""
_PANEL_HEAD = 2
"""The lines above each part of the panel."""
_ROWS_WITH_CLOCKS, _ROWS_BELOW_CLOCKS = 15, 6
"""The minimal number of rows for large clocks, and how many of these remain for moves and chat."""
_DRAW_MATCH_GAP = 3
_NO_LIMIT = 1000
_SHORT_NAME = 5


def seats(display: Display, match: Snapshot, now_ms: int, width: int, glyphs: Glyphs, *, is_roomy: bool) -> list[Text]:
    """Return a line for each player; in a small window, one shortened line for both."""
    if is_roomy:
        return [_seat(display, match, side, now_ms, words.full_label(match.players[side]), glyphs) for side in (0, 1)]
    line = Text()
    for is_brief in (False, True):
        for label in _LABELS:
            drawn = [
                _seat(display, match, n, now_ms, label(match.players[n]), glyphs, is_brief=is_brief) for n in (0, 1)
            ]
            line = Text("  ").join(drawn)
            if line.cell_len <= width:
                return [line]
    return [line]


def _short_label(player: PlayerInfo) -> str:
    """Return the beginning of the name, with the bot mark."""
    return words.label_of(structs.replace(player, name=clean(player.name, _SHORT_NAME)))


_LABELS = (words.full_label, words.label_of, _short_label)


def _seat(
    display: Display, match: Snapshot, side: int, now_ms: int, label: str, glyphs: Glyphs, *, is_brief: bool = False
) -> Text:
    """Return the mark, label and clock of a side, and whether it is to move, connected and, unless brief, ours."""
    mark = words.mark_of(match, side)
    is_to_move = match.position.to_move == side and match.outcome is None
    seat = Text("> " if is_to_move else "  ", style="bold")
    piece, style = piece_of(match.game, mark, glyphs)
    if piece:
        seat.append(piece, style).append(" ")
    seat.append(mark, f"bold {ink_of(match.game, mark, glyphs)}".strip())
    if words.name_of(match.players[side]) == mark:  # at one keyboard, players without names are called by their marks
        label = label[len(mark) + 1 :]
    seat.append(f" {label}".rstrip(), "" if is_to_move else "not bold")
    if side == match.you and not is_brief and not display.world.is_shared and label != YOU:
        seat.append(" (you)", "not bold dim")
    is_missed = match.outcome is None or match.tournament is None  # for the next move, or for a rematch
    if side != match.you and not match.present[side] and display.has_lobby and is_missed:
        seat.append(" (away)", WARNING)
    left_ms = display.left_ms(side, now_ms)
    if left_ms is not None:
        seat.append(f"  {words.clock_face(left_ms)}", "" if is_to_move else "not bold")
    return seat


def board_alone(display: Display, match: Snapshot, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """Return the centred board, or the part of it around the cursor if no form fits."""
    board = draw_board(display, width, height, glyphs)
    if board is None:
        whole = draw_board(display, _NO_LIMIT, _NO_LIMIT, glyphs, Fit.WHOLE) or []
        size = "x".join(map(str, reversed(match.game.shape)))
        last = f"; last: {words.move_name(match, match.last)}" if match.last is not None else ", around the cursor"
        board = [Text(f"Part of {size}{last}", style="dim"), *_part(whole, display.cursor, width, height - 1)]
    return centred(board, width)


def _part(board: list[Text], cursor: int, width: int, height: int) -> list[Text]:
    """Cut out the part of a board with the cursor as close to its middle as the edges allow."""
    row, column = next(((y, x) for y, line in enumerate(board) if (x := place_of(line, Point(cursor))) >= 0), (0, 0))
    top = max(0, min(row - height // 2, len(board) - height))
    left = max(0, min(column - width // 2, board[0].cell_len - width))
    return [line[left : left + width] for line in board[top : top + height]]


def centred(lines: list[Text], width: int) -> list[Text]:
    """Shift all lines equally, so that the widest is centred."""
    margin = max(0, (width - max((line.cell_len for line in lines), default=0)) // 2)
    return [Text(" " * margin) + line for line in lines]


def beside(display: Display, match: Snapshot, size: tuple[int, int], now_ms: int, glyphs: Glyphs) -> list[Text] | None:
    """Return the board with the panel beside it, centred; None without room for both."""
    width, height = size
    room = width - PANEL_WIDTH - _DRAW_MATCH_GAP
    board = draw_board(display, room, height, glyphs, Fit.BESIDE)
    if board is None:
        return None
    across = board[0].cell_len
    margin = max(0, (width - across) // 2)
    # The board stays centred as long as the panel fits beside it.
    margin = min(margin, width - across - _DRAW_MATCH_GAP - PANEL_WIDTH)
    if match.clock is not None and len(board) < _ROWS_WITH_CLOCKS <= height:
        board += [Text(" " * across)] * (_ROWS_WITH_CLOCKS - len(board))
    lines = panel(display, match, len(board), now_ms, glyphs)
    drawn = []
    for row, line in enumerate(board):
        whole = Text(" " * margin) + line
        drawn.append(whole + Text(" " * _DRAW_MATCH_GAP) + lines[row] if row < len(lines) else whole)
    return drawn


def panel(display: Display, match: Snapshot, height: int, now_ms: int, glyphs: Glyphs) -> list[Text]:
    """Return at most `height` lines of at most `PANEL_WIDTH` columns; the newest moves and messages stay."""
    facts = [line for fact in words.facts(display, match) for line in wrapped(fact, PANEL_WIDTH)]
    clocks = _panel_clocks(display, match, now_ms, glyphs) if height >= _ROWS_WITH_CLOCKS else []
    if clocks:
        facts = facts[: max(0, height - len(clocks) - 1 - _ROWS_BELOW_CLOCKS)]
    parts = [clocks, [Text(line, style="dim") for line in facts]]
    chat, moves = _panel_chat(display), _panel_moves(match, glyphs)
    left = height - sum(map(len, parts)) - bool(clocks and facts)
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


def _panel_clocks(display: Display, match: Snapshot, now_ms: int, glyphs: Glyphs) -> list[Text]:
    """Return the clocks of both sides in large digits, ours below; the running clock is bright."""
    ours = match.you if match.you is not None else 0
    lines: list[Text] = []
    for side in (1 - ours, ours):
        left_ms = display.left_ms(side, now_ms)
        if left_ms is None or glyphs.is_ascii:
            return []
        is_running = match.clock is not None and match.clock.running == side
        colour = ink_of(match.game, words.mark_of(match, side), glyphs)
        if is_running and left_ms < words.TENTHS_BELOW_MS and glyphs.theme is not None:
            colour = glyphs.theme.bad if not glyphs.theme.is_light else glyphs.theme.o
        style = f"bold {colour}".strip() if is_running else "dim"
        name = cut(f"{'> ' * is_running}{words.name_of(match.players[side])}", PANEL_WIDTH, glyphs).rstrip()
        face = large_clock(words.clock_face(left_ms))
        lines += [*[Text()] * bool(lines), Text(name, style=style), *(Text(line, style=style) for line in face)]
    return lines


def _panel_chat(display: Display) -> list[Text]:
    """Return the lines of the chat; continuation lines of a message are indented."""
    lines = []
    for told in display.chat:
        said = textwrap.wrap(words.chatted(told), PANEL_WIDTH, subsequent_indent="  ")
        lines += [Text(line) for line in said]
    return lines


def _panel_moves(match: Snapshot, glyphs: Glyphs) -> list[Text]:
    """Return the moves in numbered pairs, with a column for each side."""
    names = [words.move_name(match, move) for move in match.moves]
    columns = max((Text(name).cell_len for name in names), default=0) + 2
    begins = _first_side(match)
    lines = []
    for ply in range(0, len(names), 2):
        line = Text(f"{ply + 1:3}. ", style="dim")
        for side, name in enumerate(names[ply : ply + 2]):
            is_last = ply + side == len(names) - 1
            colour = ink_of(match.game, words.mark_of(match, (side + begins) % 2), glyphs)
            line.append(name, f"not dim {colour}{' bold underline' * is_last}")
            line.append(" " * max(1, columns - Text(name).cell_len))
        lines.append(line)
    return lines


def _first_side(match: Snapshot) -> int:
    """Return the side of the first move: in a match from a given position it may be the second side."""
    if match.start is None or not match.moves:
        return 0
    if match.position.to_move is not None:
        return (match.position.to_move + len(match.moves)) % 2
    cell = match.game.move_cells[match.moves[-1]]
    is_second = 0 <= cell < len(match.position.board) and match.position.board[cell] == match.position.marks[1]
    return (is_second + len(match.moves) - 1) % 2


SMALLEST = (24, 8)
"""Windows with fewer columns and rows show only a sentence."""
_ROOMY_ROWS = 16
"""The minimal number of rows for a title and a line for each player."""
_LEAST_BODY = 5
"""The rows of the body that remain, however long the prompt is."""
_ROOMY_COLUMNS = 64
"""The minimal number of columns for a panel beside a board."""


def draw(display: Display, size: tuple[int, int], now_ms: int, glyphs: Glyphs) -> Text:
    """Return the screen of `size` (columns, rows): exactly that many lines, none wider."""
    width, height = size
    display = screen_of(display).seen(display)
    if width < SMALLEST[0] or height < SMALLEST[1]:
        wanted = wrapped("Make the window larger: {}x{}.".format(*SMALLEST), width)
        return _page([Text(line) for line in wanted], [], [], size)
    if display.overlay is Overlay.HELP:
        return _page(*_page_of_keys(display, size, glyphs), size)
    foot = _foot(display, width, now_ms, glyphs, is_roomy=height >= _ROOMY_ROWS)
    roomy = _head(display, width, now_ms, glyphs, is_roomy=True)
    if height >= _ROOMY_ROWS:
        if display.entry is Entry.CHAT and not roomy[-1].plain:
            del roomy[-1]  # the phrases take its place, so that the board stays as large as it is
        room = height - len(roomy) - len(foot) - _more_lines(roomy, foot, width)
        body = _body(display, (width, room), now_ms, glyphs, is_roomy=True)
        if body is not None:
            return _page(*_with_prompt(roomy, body, foot, size, glyphs), size)
    head = _head(display, width, now_ms, glyphs, is_roomy=False)
    room = _small_room(head, foot, size)
    if _lacks_a_line_for_labels(display, width, room, glyphs):
        head = head[1:]  # omit the players: the next line names the winner, and a lesson needs the labels of the cells
        room = _small_room(head, foot, size)
    body = _body(display, (width, room), now_ms, glyphs, is_roomy=False)
    return _page(*_with_prompt(head, body or [], foot, size, glyphs), size)


def _small_room(head: list[Text], foot: list[Text], size: tuple[int, int]) -> int:
    """Return how many lines remain for the body in a small window."""
    width, height = size
    room = height - len(head) - len(foot)
    return max(min(room, _LEAST_BODY), room - _more_lines(head, foot, width))


def _lacks_a_line_for_labels(display: Display, width: int, room: int, glyphs: Glyphs) -> bool:
    """Tell whether the board of a finished match would get labels with one more line."""
    screen = screen_of(display)
    match = screen.match(display)
    if match is None or (screen.name == "match" and match.outcome is None):
        return False
    boards = [draw_board(display, width, lines, glyphs, Fit.LABELLED) for lines in (room, room + 1)]
    return boards[0] is None and boards[1] is not None


def _more_lines(head: list[Text], foot: list[Text], width: int) -> int:
    """Return how many lines of the body a long prompt needs, in addition to its own and a blank one of the head."""
    spare = int(bool(head) and not head[-1].plain)
    return max(0, len(wrapped(foot[-2].plain, width)) - 1 - spare)


def _with_prompt(
    head: list[Text], body: list[Text], foot: list[Text], size: tuple[int, int], glyphs: Glyphs
) -> tuple[list[Text], list[Text], list[Text]]:
    """Return the parts with the prompt: a long one takes blank lines below and above the body, and then is cut."""
    width, height = size
    *above, prompt, keys = foot
    lines = wrapped(prompt.plain, width)
    free = height - len(head) - len(body) - len(foot)
    while free < len(lines) - 1 and body and not body[-1].plain:
        body, free = body[:-1], free + 1
    while free < len(lines) - 1 and head and not head[-1].plain:
        head, free = head[:-1], free + 1
    room = max(0, free)
    if len(lines) > 1 + room:
        lines = [*lines[:room], cut(" ".join(lines[room:]), width, glyphs)]
    return head, body, [*above, *(Text(line, style=prompt.style) for line in lines), keys]


def _page(head: list[Text], body: list[Text], foot: list[Text], size: tuple[int, int]) -> Text:
    """Join the parts, with the body in the middle of the free lines, and each line cut or padded with blanks."""
    width, height = size
    free = max(0, height - len(head) - len(body) - len(foot))
    lines = [*head, *[Text()] * (free // 2), *body, *[Text()] * (free - free // 2), *foot][:height]
    cut = []
    for line in lines:
        line = line.copy()
        line.truncate(width, overflow="crop")
        cut.append(_stripped(line))
    page = Text("\n", no_wrap=True, overflow="crop", end="").join(cut)
    page.no_wrap, page.overflow, page.end = True, "crop", ""
    return page


def _stripped(line: Text) -> Text:
    """Return a line without trailing blanks, except those with a background of their own."""
    grounds = (span.end for span in line.spans if isinstance(span.style, str) and "on " in span.style)
    return line[: max(len(line.plain.rstrip()), *grounds, 0)]


def _head(display: Display, width: int, now_ms: int, glyphs: Glyphs, *, is_roomy: bool) -> list[Text]:
    screen = screen_of(display)
    match = screen.match(display)
    if screen.has_short_head:
        status = _status(display, width, now_ms, glyphs) if screen.status(display) else []
        return [_title(display, width, glyphs), *status, *[Text()] * (is_roomy or bool(status))]
    lines = []
    if is_roomy:
        lines += [_title(display, width, glyphs), _rule_below(display, width, glyphs)]
    if match is not None:
        lines += seats(display, match, now_ms, width, glyphs, is_roomy=is_roomy)
    status = _status(display, width, now_ms, glyphs)
    if match is None and not any(line.plain for line in (*lines[1:], *status)):
        # no empty status between the title and a list
        return [lines[0], Text()] if is_roomy else [_title(display, width, glyphs)]
    lines += status
    return [*lines, Text()] if is_roomy else lines


def _title(display: Display, width: int, glyphs: Glyphs) -> Text:
    screen = screen_of(display)
    left = screen.title(display)
    if rule := screen.subtitle(display):
        whole = f"{left} {glyphs.dash} {rule}"
        left = whole if Text(whole).cell_len <= width else left
    title = Text(left, style="bold")
    for right in _rights(display):
        room = width - title.cell_len - Text(right).cell_len
        if room >= 2:
            title.append(" " * room).append(right, "not bold dim")
            break
    return _lit(title, width, glyphs, "board")


def _rule_below(display: Display, width: int, glyphs: Glyphs) -> Text:
    """Return the rule of the game if the title line has no room for it; otherwise an empty line."""
    screen = screen_of(display)
    rule = screen.subtitle(display)
    is_behind = cell_len(f"{screen.title(display)} {glyphs.dash} {rule}") <= width
    return Text() if is_behind or not rule else Text(cut(rule, width, glyphs), style="dim")


def _rights(display: Display) -> list[str]:
    """Return the candidates for the text to the right of the title, longest first."""
    server = clean(display.world.server, 30) or display.world.address
    latency = words.latency(display.world.latency_ms) if display.has_lobby else ""
    return [f"{server}  {latency}", latency, server] if latency else [server]


def _status(display: Display, width: int, now_ms: int, glyphs: Glyphs) -> list[Text]:
    """Return the state of the connection or the match, on two lines if needed."""
    trouble = words.banner(display, display.world.lost_for_ms(now_ms))
    if cell_len(trouble) > width - 2:
        trouble = words.short_banner(display, display.world.lost_for_ms(now_ms))
    warning = (
        [Text(cut(f" {trouble} ", min(width, len(trouble) + 2), glyphs), style=f"bold {WARNING}")] if trouble else []
    )
    match = display.match if display.page.screen == "match" else None
    outcome = match.outcome if match is not None else None
    if warning and outcome is None:
        return warning
    sentence, style = screen_of(display).status(display), "bold"
    if match is not None and outcome is not None:
        is_won = outcome.winner is not None and outcome.winner == match.you
        style = f"bold {glyphs.theme.accent}" if is_won and glyphs.theme is not None else "bold"
    elif match is not None and not display.is_my_turn:
        style = ""
    if warning:
        return [Text(cut(sentence, width, glyphs), style=style), *warning]
    first, *others = wrapped(sentence, width)
    rest = " ".join(others)
    second = [cut(rest, width, glyphs) if cell_len(rest) > width else rest] if others else []
    return [Text(line, style=style) for line in (first, *second)]


def _body(display: Display, size: tuple[int, int], now_ms: int, glyphs: Glyphs, *, is_roomy: bool) -> list[Text] | None:
    """Return the body of the screen; None if the whole board needs a shorter head."""
    width, height = size
    match = screen_of(display).match(display)
    if match is None:
        return _list(display, size, now_ms, glyphs)
    if display.entry is Entry.CHAT and not is_roomy:
        return centred([Text(line) for line in _flowed(phrases(), width)], width)
    if display.overlay is Overlay.SIDE_PANEL:
        return centred(panel(display, match, height, now_ms, glyphs) or [Text("No moves or messages yet.")], width)
    if is_roomy and width >= _ROOMY_COLUMNS and (lines := beside(display, match, size, now_ms, glyphs)):
        return lines
    if is_roomy:
        board = draw_board(display, width, height, glyphs)
        return centred(board, width) if board is not None else None
    return board_alone(display, match, width, height, glyphs)


def _list(display: Display, size: tuple[int, int], now_ms: int, glyphs: Glyphs) -> list[Text]:
    """Return the rows, and below them, if there is room, what a host has to send to friends."""
    width, height = size
    hint = centred([Text(line, style="dim") for line in screen_of(display).footer(display, width)], width)
    screen = screen_of(display)
    if screen.lines is not None:
        read = _illustrated(display, screen.lines, size, glyphs)
        return read if len(read) <= height else _cut_out(read, display.page.place, height)
    rows = rows_of(display, now_ms)
    if not rows:
        return hint
    if width >= PICTURE_SIZE[0] and (screen.name == "lobby" or (screen.name == "start" and display.featured)):
        listed = _two_columns(display, rows, size, now_ms, glyphs)
    else:
        spaced = _spaced(rows)
        fitting = spaced if len(spaced) <= height else rows
        listed = draw_list(fitting, display.page, size, glyphs, is_in_parts=screen.is_in_parts)
    listed += _charted(display, (width, height - len(listed)), glyphs)
    is_alone = all(row.is_heading or row.key == PUZZLE for row in rows)
    is_hint_due = (display.world.is_hosting or is_alone) and len(listed) + len(hint) < height
    below = hint if is_hint_due else []
    return [*listed, *[Text()] * (height - len(listed) - len(below)), *below]


_TEXT_WIDTHS = (34, 42, 50)
"""The least columns of a text beside a picture: fewer for a large picture, more for a long text."""
_CAPTION_ROWS, _CAPTION_WIDTH = 3, 40
"""The rows below a picture for an empty line and its caption, and the caption's columns below a small picture."""


def _illustrated(
    display: Display, lines: Callable[[Display, int], list[str]], size: tuple[int, int], glyphs: Glyphs
) -> list[Text]:
    """Return the lines of a screen beside its picture, or around it where there is no room for both."""
    width, height = size

    pictured = screen_of(display).pictured(display)
    game = pictured[0].game if pictured is not None else None

    def written(columns: int) -> list[Text]:
        read = (line for text in lines(display, columns) for line in _read(Row((text,)), columns))
        return [_with_marks(line, game, glyphs) for line in read]

    if pictured is None:
        return written(width)
    match, caption = pictured
    shown = replace(display, world=display.world.with_match(match), shown=match.match, overlay=Overlay.NONE)
    shown = replace(shown, cursor=-1, pending=None)

    def board_within(columns: int, rows: int) -> list[Text]:
        board = draw_board(shown, columns, rows, glyphs) or []
        below = wrapped(caption, min(columns, max(board[0].cell_len, _CAPTION_WIDTH))) if board else []
        told = [_with_marks(Text(line), game, glyphs) for line in below]
        gap = [Text()] * (0 < len(told) < height - len(board))
        return [*map(without_targets, board), *gap, *told]

    besides: list[list[Text]] = []
    for columns in _TEXT_WIDTHS:
        picture = board_within(width - _INDENT - _DRAW_MATCH_GAP - columns, height - _CAPTION_ROWS)
        if picture:
            text = written(width - _INDENT - max(line.cell_len for line in picture) - _DRAW_MATCH_GAP)
            besides.append(_side_by_side(picture, text))
            if len(besides[-1]) <= height:
                return besides[-1]
    if besides:
        return besides[-1]
    room = width - _INDENT
    picture = board_within(room, max(_LEAST_BOARD, height // 2)) or board_within(room, _NO_LIMIT)
    text = written(width)
    first = next((n for n, line in enumerate(text) if not line.plain.strip()), len(text))
    return [*text[:first], Text(), *(Text(" " * _INDENT) + line for line in picture), *text[first:]]


def _side_by_side(picture: list[Text], text: list[Text]) -> list[Text]:
    """Return a picture and lines of text to its right, the shorter one beside the middle of the other."""
    height, across = max(len(picture), len(text)), max(line.cell_len for line in picture)
    lines = []
    for row in range(height):
        of_picture, of_text = row - (height - len(picture)) // 2, row - (height - len(text)) // 2
        line = Text(" " * _INDENT) + (picture[of_picture] if 0 <= of_picture < len(picture) else Text())
        line.append(" " * (_INDENT + across + _DRAW_MATCH_GAP - line.cell_len))
        lines.append(line + text[of_text] if 0 <= of_text < len(text) else line)
    return lines


_CHART_ROWS = (5, 10)
"""The least and the most rows of a chart below a list."""


def _charted(display: Display, size: tuple[int, int], glyphs: Glyphs) -> list[Text]:
    """Return the chart of the screen below its heading; empty without numbers, room or block characters."""
    title, numbers = screen_of(display).chart(display)
    width, height = size
    rows = min(_CHART_ROWS[1], height - 3)
    if not numbers or rows < _CHART_ROWS[0] or not glyphs.disc:
        return []
    style = glyphs.theme.accent if glyphs.theme is not None else ""
    bars = [Text(" " * _INDENT + line, style=style) for line in chart(numbers, width - _INDENT, rows)]
    return [Text(), _heading(Row((title,)), width, glyphs), Text(), *bars]


_COLUMN_GAP = 4
_MENU_WIDTH, _LEAST_PICTURE = 64, 32
"""The columns of the start menu, and the minimal number for the board beside it."""
_LEAST_BOARD, _MOST_BOARD = 8, 32
"""The minimal and maximal number of lines of a board in the lobby, including its heading."""


def _two_columns(
    display: Display, rows: Sequence[Row], size: tuple[int, int], now_ms: int, glyphs: Glyphs
) -> list[Text]:
    """Return the rows in two columns, people and bots left, with a picture of a match above the right one."""
    width, height = size
    is_lobby = display.page.screen == "lobby"
    left, right = _sides(rows) if is_lobby else (rows, [])
    left, right = (left, right) if left else (right, [])
    wide = (width - _COLUMN_GAP) * 3 // 7
    wide = wide if is_lobby else max(_LEAST_PICTURE, min(wide, width - _COLUMN_GAP - _MENU_WIDTH))
    first = width - wide - _COLUMN_GAP
    chosen = cursor_of(rows, display.page.row, display.page.place)
    key = rows[chosen].key if chosen is not None else ""
    page = replace(display.page, row=key)
    picture = _picture(display, (wide, min(_MOST_BOARD, height - len(right) - 2)), now_ms, glyphs)
    columns = []
    for part, room in ((left, (first, height)), (right, (wide, height - len(picture)))):
        has_cursor = any(row.key == key and row.enter is not None for row in part)
        columns.append(draw_list(_spaced(part), page, room, glyphs, has_cursor=has_cursor) if part else [])
    beside_left = [*picture, *columns[1]]
    lines = []
    for number in range(max(len(columns[0]), len(beside_left))):
        line = Text().append_text(columns[0][number]) if number < len(columns[0]) else Text()
        if number < len(beside_left):
            line.append(" " * (first + _COLUMN_GAP - line.cell_len)).append_text(beside_left[number])
        lines.append(line)
    return lines[:height]


def _sides(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the sections of people and bots, and those of other people's matches and puzzles."""
    sides: tuple[list[Row], list[Row]] = ([], [])
    for number, row in enumerate(rows):
        if row.is_heading or not number:
            section = _of_section(rows, number) if row.is_heading else rows
            side = int(any(each.key == PUZZLE or "live" in each.key.split(":")[:2] for each in section))
        sides[side].append(row)
    return sides


def _picture(display: Display, size: tuple[int, int], now_ms: int, glyphs: Glyphs) -> list[Text]:
    """Return a picture of a match below its players: one of ours, first where it is our turn, or the featured one."""
    world, width = display.world, size[0]
    ours = [match for match in world.matches.values() if match.you is not None and match.outcome is None]
    match = next((each for each in ours if each.position.to_move == each.you), next(iter(ours), None))
    match = match or world.matches.get(display.featured or "")
    if match is None or size[1] < _LEAST_BOARD:
        return []
    watched = replace(display, shown=match.match, cursor=-1, overlay=Overlay.NONE)
    seated = seats(watched, match, now_ms, width, glyphs, is_roomy=False)
    board = draw_board(watched, width, size[1] - 3 - len(seated), glyphs)
    if board is None:
        return []
    for line in board:
        line.spans = [span for span in line.spans if isinstance(span.style, str)]
        if world.you is not None:
            aim(line, Show(match.match) if match.you is not None else Send(WatchRequest(0, match=match.match)))
    whose = "" if world.you is None else "Your match: " if match.you is not None else "Featured: "
    heading = _heading(Row((f"{whose}{clean(match.game.title, 30)}",)), width, glyphs)
    return [heading, *seated, Text(), *centred(board, width), Text()]


def _spaced(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with an empty line above each heading except the first row."""
    gaps = ([Row(("",))] * (row.is_heading and number > 0) for number, row in enumerate(rows))
    return [each for gap, row in zip(gaps, rows, strict=True) for each in (*gap, row)]


def _with_marks(line: Text, game: GameInfo | None, glyphs: Glyphs) -> Text:
    """Return a line with the marks of X and O in their colours on the game's board."""
    for mark in ("X", "O"):
        if game is not None and glyphs.theme is not None:
            line.highlight_regex(rf"(?<![\w']){mark}(?![\w'])", f"bold {ink_of(game, mark, glyphs)}".strip())
    return line


_WIDEST_SENTENCE = 60


def _page_of_keys(display: Display, size: tuple[int, int], glyphs: Glyphs) -> tuple[list[Text], list[Text], list[Text]]:
    """Return the head, the body and the foot of the page of keys, scrolled if the window is too small for all."""
    width, height = size
    explained = screen_of(display).help(display)
    left = max(len(each.keys) for each in explained) + _GAP
    style = f"bold {glyphs.theme.accent}" if glyphs.theme is not None else "bold"
    body = []
    for each in explained:
        first, *others = wrapped(each.does, min(_WIDEST_SENTENCE, width - left))
        body.append(Text().append(each.keys.ljust(left), style).append(first))
        body += [Text(" " * left + line) for line in others]
    title = [_lit(Text("Keys", style="bold"), width, glyphs, "board"), Text()]
    head = title if height - len(title) - 1 >= len(body) else title[:1]
    room = max(1, height - len(head) - 1)
    if len(body) > room:
        *body, more = _cut_out(body, display.help_place, room)
        body.append(more.append("  arrows scroll"))
    return head, centred(body, width), [_keys(display, width, glyphs)]


def _foot(display: Display, width: int, now_ms: int, glyphs: Glyphs, *, is_roomy: bool) -> list[Text]:
    chat = _flowed(phrases(), width) if display.entry is Entry.CHAT and is_roomy else []
    return [*(Text(line, style="dim") for line in chat), _prompt(display, width, now_ms), _keys(display, width, glyphs)]


def _end_of(text: str, width: int) -> str:
    """Return the end of a typed text that fits."""
    while cell_len(text) > width:
        text = text[1:]
    return text


def _flowed(texts: list[str], width: int) -> list[str]:
    """Return texts side by side, on as many lines as they need."""
    lines = [""]
    for text in texts:
        whole = f"{lines[-1]}  {text}" if lines[-1] else text
        lines = [*lines[:-1], whole] if len(whole) <= width else [*lines, text]
    return lines


def _keys(display: Display, width: int, glyphs: Glyphs) -> Text:
    """Return the keys that matter now, each of them clickable."""
    key = f"not dim bold {glyphs.theme.accent}" if glyphs.theme is not None else "not dim bold"
    line = Text(style="dim")
    for hint in hints(display, width):
        line.append("  " if line else "")
        start = len(line)
        line.append(hint.key, key).append(f" {hint.label}" if hint.label else "")
        if hint.press:
            aim(line, Key(hint.press), start)
    return _lit(line, width, glyphs, "board")


def _prompt(display: Display, width: int, now_ms: int) -> Text:
    """Return the line above the keys: a question, a typed text, an offer, or the newest notice."""
    match = screen_of(display).match(display)
    if display.entry is not Entry.MOVE:
        start = f"{display.entry.value}: "
        return Text(f"{start}{_end_of(display.typed, width - len(start) - 1)}_", style="bold")
    if display.overlay is Overlay.LEAVE and match is not None:
        asked = words.leaving(display.world, match)
        return Text(asked if display.has_lobby else f"{asked.partition('?')[0]}?", style=f"bold {WARNING}")
    if display.overlay is Overlay.DRAW:
        return Text("End this match as a draw for both?", style=f"bold {WARNING}")
    if display.overlay is Overlay.HOSTING:
        return Text(words.guests_left(display.world), style=f"bold {WARNING}")
    if display.overlay is Overlay.CHOICE and match is not None:
        names = (f"{n}: {words.move_name(match, move)}" for n, move in enumerate(display.choices[:9], 1))
        return Text("Choose " + "  ".join(names), style="bold")
    if display.overlay is Overlay.CLAIM and match is not None:
        kinds = ["call off the match"] if words.is_too_short(match) else claims_in(match)
        return Text(
            "Claim  " * (len(kinds) > 1) + "  ".join(f"{n}: {kind}" for n, kind in enumerate(kinds, 1)), style="bold"
        )
    if display.overlay is Overlay.MUTE:
        return Text("  ".join(whom_to_mute(display)), style="bold")
    if display.typed:
        return Text(f"Move: {display.typed}_", style="bold")
    return Text(screen_of(display).prompt(display, now_ms))


def grounded(page: Text, size: tuple[int, int], glyphs: Glyphs) -> Text:
    """Return a page as wide as the window, with the theme's background, and its quiet colour instead of dim text."""
    theme = glyphs.theme
    if theme is None:
        return page
    lines = page.split("\n", allow_blank=True)
    for line in lines:
        line.append(" " * (size[0] - line.cell_len))
        line.spans = [
            span._replace(style=in_theme(span.style, theme)) if isinstance(span.style, str) else span
            for span in line.spans
        ]
    whole = Text("\n", style=f"{theme.text} on {theme.ground}", no_wrap=True, overflow="crop", end="").join(lines)
    whole.no_wrap, whole.overflow, whole.end = True, "crop", ""
    return whole
