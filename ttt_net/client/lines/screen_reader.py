"""Tell a match for the ear: one short sentence for each thing that happens, and the board in words when asked for.

Knows no terminal. Legal moves are those that the server listed; only `lines` looks up the rules of the game.
"""

import re
from itertools import islice

from ttt_net.client import words
from ttt_net.client.display import Display
from ttt_net.client.lines.line_renderer import TAKEOVER, info, parts_of, status
from ttt_net.client.screens.board_play import layers_of
from ttt_net.client.screens.replay import LINES_HELP
from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.games.geometry import cell_name, cells_of
from ttt_net.games.line import LineGame
from ttt_net.messages import PlayerInfo, Snapshot
from ttt_net.text import clean

_ROW = re.compile(r"row (\d{1,3})", re.ASCII)
_LETTERS = 26
_SPELLED_COLUMNS = 9
"""Up to this width every cell of a row is said; in a wider one only the marks are, with their columns."""
_MOST_LINES, _MOST_MOVES = 8, 40
_FIRST = "Type a move or a question; help tells which there are."
_NEXT = "Type rematch, new or quit; help tells the rest."


class ScreenReader:
    """Tells in sentences."""

    help = (
        "Type a move, such as b2. To hear more: board, row 2, lines, moves, clock, info, repeat. "
        "For the rules: rules. "
        "To act: draw, takeback, resign, claim, adjourn, accept, decline, say and your words, mute, report, quit. "
        f"{LINES_HELP}"
    )
    help_at_home = (
        "Type a move, such as b2. To hear more: board, row 2, lines, moves, clock, info, repeat. "
        f"For the rules: rules. To act: draw, takeback, resign, quit. {LINES_HELP}"
    )
    has_drawings = False

    def name_of(self, player: PlayerInfo) -> str:
        """Return the name alone: that it is a bot's was said at the beginning."""
        return words.name_of(player)

    def parts(self, display: Display) -> dict[str, str]:
        """Return what can be said, without the board."""
        is_shared = display.world.is_shared
        seen = {"players": _players(display.match, is_shared=is_shared)} if display.match is not None else {}
        return parts_of(display, seen, _status(display), _FIRST, _NEXT)

    def answer(self, question: str, display: Display, now_ms: int) -> str | None:
        """Return what was asked for in words."""
        row = _ROW.fullmatch(question)
        if row is None and question not in ("board", "lines", "moves", "clock", "info"):
            return None
        match = display.match
        if match is None:
            return "There is no match yet."
        if question == "info":
            return info(display)
        if row is not None:
            return _row(match, int(row[1]))
        answers = {"board": board, "lines": lines, "moves": _moves}
        return answers[question](match) if question in answers else _clock(display, match, now_ms)


def _players(match: Snapshot, *, is_shared: bool) -> str:
    title = clean(match.game.title, 30)
    marks = [words.mark_of(match, side).replace("/", " or ") for side in (0, 1)]
    if is_shared and all(words.name_of(match.players[side]) == marks[side] for side in (0, 1)):
        return f"{title}: {marks[0]} against {marks[1]}."
    if match.you is None or is_shared:
        commas = ["," * (player.bot is not None) for player in match.players]
        sides = (f"{_name(match, side)}{commas[side]} plays {marks[side]}" for side in (0, 1))
        return f"{title}: {'; '.join(sides) if any(commas) else ', '.join(sides)}."
    return f"{title} against {_name(match, 1 - match.you)}; you play {marks[match.you]}."


def _name(match: Snapshot, side: int) -> str:
    player = match.players[side]
    return f"{words.name_of(player)}, a bot" if player.bot is not None else words.name_of(player)


def _status(display: Display) -> str:
    match, is_shared = display.match, display.world.is_shared
    if match is None or match.outcome is not None or match.adjourned:
        return status(display)
    to_move = match.position.to_move
    if to_move is None:
        return ""
    if display.is_my_turn and not is_shared:
        return f"Your turn, move {match.position.ply + 1}{words.demands(match, TAKEOVER)}."
    is_told = is_shared or match.position.ply == 0
    where = words.demands(match, TAKEOVER) if is_shared else ""
    return f"{words.name_of(match.players[to_move])} is to move{where}." if is_told else ""


def board(match: Snapshot) -> str:
    """Return the board row by row from the top; of a wide board, only the rows that hold marks.

    One that consists of small boards is told by these, as moves are named; of those only the ones that hold marks.
    """
    if match.game.block is not None and match.position.blocks:
        return "\n".join(_small_boards(match, *match.game.block)) or "The board is empty."
    height, width = match.game.shape[-2:]
    rows = [(z, y) for z in range(layers_of(match)) for y in range(height)]
    if width > _SPELLED_COLUMNS or len(rows) > _SPELLED_COLUMNS:
        rows = [(z, y) for z, y in rows if set(_cells(match, z, y)) != {"."}]
    said = [_row_in_words(match, z, y) for z, y in rows]
    return "\n".join(said) if said else "The board is empty."


def _small_boards(match: Snapshot, height: int, width: int) -> list[str]:
    across = match.game.shape[-1] // width
    said = []
    for number, owner in enumerate(clean(match.position.blocks, _MOST_MOVES)):
        top, left = number // across * height, number % across * width
        cells = "".join(_cells(match, 0, y)[left : left + width] for y in range(top, top + height))
        marks = [
            f"{clean(mark, 1)} at {cell_name((height, width), cell)}" for cell, mark in enumerate(cells) if mark != "."
        ]
        if owner == "=":
            said.append(f"Board {number + 1} is nobody's.")
        elif owner != ".":
            said.append(f"Board {number + 1} is won by {owner}.")
        elif marks:
            said.append(f"Board {number + 1}: {', '.join(marks)}.")
    return said


def _row(match: Snapshot, number: int) -> str:
    height = match.game.shape[-2]
    if not 1 <= number <= height:
        return f"There is no row {number}; rows are 1, at the bottom, to {height}."
    return "\n".join(_row_in_words(match, z, height - number) for z in range(layers_of(match)))


def _cells(match: Snapshot, z: int, y: int) -> str:
    height, width = match.game.shape[-2:]
    start = (z * height + y) * width
    return match.position.board[start : start + width]


def _row_in_words(match: Snapshot, z: int, y: int) -> str:
    height, width = match.game.shape[-2:]
    layer = f"Layer {z + 1}, row" if layers_of(match) > 1 else "Row"
    cells = _cells(match, z, y)
    if set(cells) == {"."}:
        return f"{layer} {height - y} is empty."
    if width <= _SPELLED_COLUMNS:
        said = ["empty" if cell == "." else clean(cell, 1) for cell in cells]
    else:
        said = [f"{clean(cell, 1)} at {_column(match, x)}" for x, cell in enumerate(cells) if cell != "."]
    return f"{layer} {height - y}: {', '.join(said)}."


def _column(match: Snapshot, x: int) -> str:
    is_numbered = match.game.gravity and layers_of(match) == 1
    return str(x + 1) if is_numbered or x >= _LETTERS else chr(ord("a") + x)


def lines(match: Snapshot) -> str:
    """Return the lines that lack one mark, or the one that ended the match."""
    shape = tuple(match.game.shape)

    def name(cell: int) -> str:
        return cell_name(shape, cell)

    if match.position.line:
        return f"The line is {', '.join(name(cell) for cell in match.position.line)}."
    try:
        game = find_game(match.game.name)
    except Refusal:
        game = None
    if not isinstance(game, LineGame) or tuple(game.shape) != shape:  # the server's word for the board is what counts
        return "Lines are not told in this game; say board."
    found = []
    for line in game.lines:
        cells = list(cells_of(line))
        marks = {match.position.board[cell] for cell in cells} - {"."}
        free = [cell for cell in cells if match.position.board[cell] == "."]
        if len(marks) == len(free) == 1:
            found.append(f"{clean(marks.pop(), 1)} has {name(cells[0])} to {name(cells[-1])} but for {name(free[0])}.")
    if not found:
        return "No line lacks only one mark."
    more = [f"And {len(found) - _MOST_LINES} more."] if len(found) > _MOST_LINES else []
    return "\n".join([*islice(found, _MOST_LINES), *more])


def _moves(match: Snapshot) -> str:
    legal = list(dict.fromkeys(words.move_name(match, move) for move in match.position.legal))
    if not legal:
        return "No moves are possible."
    more = f" and {len(legal) - _MOST_MOVES} more" if len(legal) > _MOST_MOVES else ""
    return f"Possible: {', '.join(legal[:_MOST_MOVES])}{more}."


def _clock(display: Display, match: Snapshot, now_ms: int) -> str:
    if match.clock is None:
        return "There is no clock."
    said = []
    for side in (0, 1):
        who = (
            "You have"
            if side == match.you and not display.world.is_shared
            else f"{words.name_of(match.players[side])} has"
        )
        said.append(f"{who} {_duration(display.left_ms(side, now_ms) or 0)}")
    return f"{'; '.join(said)}."


def _duration(left_ms: int) -> str:
    minutes, seconds = divmod(left_ms // 1000, 60)
    parts = [f"{minutes} minute{'s' * (minutes != 1)}"] if minutes else []
    return " ".join([*parts, f"{seconds} second{'s' * (seconds != 1)}"])
