"""Save matches in files, as records and as animated pictures, and list the matches played at this keyboard.

A picture is a self-contained SVG that any browser plays. Marks appear one after the other, and fall or vanish as in the
game; the winning line lights up. With reduced motion, only the end is shown.
"""

import json
import os
import re
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from ttt_net.command_line import VERBS
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import Game, find_game
from ttt_net.games.records import Record, first_position, read_each, read_records, result_of
from ttt_net.messages import RecordReply
from ttt_net.private_files import make_private_folder
from ttt_net.sdk import identity
from ttt_net.text import clean, counted, name_key

_MAX_LINES = 2_000
_MAX_COPIES = 100
FILE = "matches.txt"
MAX_BYTES = 2_000_000
"""The maximal size of the file; when it is reached, the file replaces the previous old one, and a new file begins."""
OLD_FILE = "matches-old.txt"


def records_file() -> Path:
    """Return the path of the file, which may not exist."""
    return identity.home() / FILE


def keep_record(text: str) -> None:
    """Append the record of a match at this keyboard; if the disk fails, the record is lost."""
    path = records_file()
    with suppress(OSError):
        make_private_folder(path.parent)
        if path.exists() and path.stat().st_size + len(text) > MAX_BYTES:
            path.replace(path.with_name(OLD_FILE))
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as file:  # one write, so that two clients' lines do not mix
            file.write(f"{text}\n".encode())


def save_record(told: RecordReply, folder: Path | None = None) -> str:
    """Save the record and a picture of the match in new files of the folder; return a notice about it.

    No record is overwritten. Games that this client does not know have no picture.
    """
    folder = folder or Path.cwd()
    name = re.sub(r"[^0-9A-Za-z-]", "", told.match)[:32] or "match"
    text = "".join(f"{clean(line, 200)}\n" for line in told.text.splitlines()[:_MAX_LINES])
    for number in range(1, _MAX_COPIES):
        path = folder / (f"ttt_net-{name}.txt" if number == 1 else f"ttt_net-{name}-{number}.txt")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        except OSError as error:
            return f"The match could not be saved: {(error.strerror or 'the disk failed').lower()}."
        film = _save_film(told.text, path.with_suffix(".svg"))
        return f"Saved as {path.name}{film}; {VERBS} analyse --match {path.name} shows where it turned."
    return "This folder has too many copies of the match already."


def _save_film(text: str, path: Path) -> str:
    """Save the picture of a match, if it can be drawn; return a notice about it."""
    try:
        (record,) = read_records(text)
        path.write_text(film_of(record), encoding="utf-8")
    except (Refusal, ValueError, OSError):
        return ""
    return f", and to show in a browser {path.name}"


PAGE = 20
_MAX_NAME_CELLS = 20


def lines_of(name: str, page: int, *, is_json: bool) -> list[str]:
    """Return a page of the list, newest match first, each with its number for `replay local`.

    With a name, list only that player's matches. Raises `ConfigurationError` if the file cannot be read.
    """
    kept = [(number, each) for number, each in enumerate(_kept(), start=1) if isinstance(each, Record)]
    matches = [(number, each) for number, each in kept if not name or _plays(name, each)]
    shown = matches[::-1][PAGE * (page - 1) : PAGE * page]
    if is_json:
        return [json.dumps(_as_json(number, record), separators=(",", ":")) for number, record in shown]
    if not shown:
        return ["There is no such match." if kept else "No match has been finished at this keyboard yet."]
    pages = -(-len(matches) // PAGE)
    last = f"{VERBS} replay local --number N steps through one of them; this is page {page} of {pages}."
    return [*(_line(number, record) for number, record in shown), last]


def _plays(name: str, record: Record) -> bool:
    return name_key(name) in (name_key(player.name) for player in record.players)


def _kept() -> list[object]:
    try:
        return [*read_each(records_file().read_text(encoding="utf-8", errors="replace"))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigurationError(f"cannot read {records_file()}: {error.strerror}") from None


def _line(number: int, record: Record) -> str:
    first, second = (clean(player.name, _MAX_NAME_CELLS) for player in record.players)
    date = record.date.isoformat() if record.date is not None else "-"
    reason = f" ({record.outcome.reason})" if record.outcome is not None else ""
    result = f"{first} {result_of(record.outcome)} {second}{reason}"
    return f"{number:>4}  {date}  {record.game}: {result}, {counted(len(record.moves), 'move')}"


def _as_json(number: int, record: Record) -> dict[str, object]:
    return {
        "type": "local",
        "number": number,
        "date": record.date and record.date.isoformat(),
        "game": record.game,
        "players": [player.name for player in record.players],
        "result": result_of(record.outcome),
        "reason": record.outcome and str(record.outcome.reason),
        "plies": len(record.moves),
    }


CELL, GAP, MARGIN, HEAD = 44, 24, 20, 54
"""Sizes in units of the picture: a cell, the space between layers, the margin, and the space for the words above."""
LETTER = 9
"""The width of a letter of the title; most need less."""
STEP_S, HOLD_S = 0.7, 3.0
"""How long each move takes, and how long the end stays visible."""
MAX_PLIES = 400
"""Of a longer match, the picture shows only the plies up to this one, and then the end."""
_COLOURS = {"X": "#0072B2", "O": "#D55E00"}
_LINE = "#009E73"


class _Mark(NamedTuple):
    """A mark in a cell, visible from one ply until another; None: until the end."""

    cell: int
    mark: str
    since: int
    until: int | None


def film_of(record: Record) -> str:
    """Return the match as SVG. Raises `Refusal` if its game is unknown or one of its moves is illegal."""
    game = find_game(record.game)
    state = first_position(game, record.start)
    states = [state]
    for made in record.moves:
        state = game.result(state, made.move)
        states.append(state)
    if len(states) > MAX_PLIES:
        states = [*states[: MAX_PLIES - 1], states[-1]]
    boards = [game.board(each) for each in states]
    marks, line = _marks(boards), tuple(game.line(states[-1]))
    plies = len(boards) - 1
    whole_s = plies * STEP_S + HOLD_S
    width, height = _size(game)
    first, second = (clean(player.name, 20) for player in record.players)
    width = max(width, 2 * MARGIN + LETTER * len(f"{game.title}: {first} – {second}"))
    first, second = escape(first), escape(second)
    words = escape(_result(record))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" font-family="sans-serif">',
            f"<title>{escape(game.title)}: {first} and {second}. {words}</title>",
            _style(marks, game, whole_s),
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            f'<text x="{MARGIN}" y="24" font-size="15" fill="#222">{escape(game.title)}: '
            f'<tspan fill="{_COLOURS["X"]}">{first}</tspan> – <tspan fill="{_COLOURS["O"]}">{second}</tspan></text>',
            f'<text x="{MARGIN}" y="44" font-size="13" class="end" fill="#222">{words}</text>',
            *_grid(game),
            *(_lit(game, cell) for cell in line),
            *(_drawn(game, number, each) for number, each in enumerate(marks)),
            "</svg>\n",
        ]
    )


def _result(record: Record) -> str:
    outcome = record.outcome
    if outcome is None:
        return ""
    if outcome.winner is None:
        return "A draw."
    return f"{clean(record.players[outcome.winner].name, 20)} won."


def _marks(boards: list[str]) -> list[_Mark]:
    """Return all marks that ever appear, with their times."""
    found = []
    for cell in range(len(boards[0])):
        since, mark = 0, boards[0][cell]
        for ply, board in enumerate(boards):
            if board[cell] != mark:
                if mark != ".":
                    found.append(_Mark(cell, mark, since, ply))
                since, mark = ply, board[cell]
        if mark != ".":
            found.append(_Mark(cell, mark, since, None))
    return found


def _layers(game: Game[Any]) -> tuple[int, int, int]:
    height, width = game.shape[-2:]
    return game.shape[0] if len(game.shape) == 3 else 1, height, width


def _size(game: Game[Any]) -> tuple[int, int]:
    layers, height, width = _layers(game)
    across = layers * width * CELL + (layers - 1) * GAP + 2 * MARGIN
    return max(across, 260), height * CELL + HEAD + MARGIN


def _place(game: Game[Any], cell: int) -> tuple[int, int]:
    """Return the upper left corner of a cell."""
    _, height, width = _layers(game)
    layer, rest = divmod(cell, height * width)
    row, column = divmod(rest, width)
    return MARGIN + layer * (width * CELL + GAP) + column * CELL, HEAD + row * CELL


def _grid(game: Game[Any]) -> list[str]:
    layers, height, width = _layers(game)
    block_height, block_width = game.block or (height, width)
    lines = []
    for layer in range(layers):
        left, top = _place(game, layer * height * width)
        right, bottom = left + width * CELL, top + height * CELL
        for row in range(height + 1):
            y, thick = top + row * CELL, 2 if row % block_height == 0 else 1
            lines.append(f'<path d="M{left} {y}H{right}" stroke="#999" stroke-width="{thick}"/>')
        for column in range(width + 1):
            x, thick = left + column * CELL, 2 if column % block_width == 0 else 1
            lines.append(f'<path d="M{x} {top}V{bottom}" stroke="#999" stroke-width="{thick}"/>')
    return lines


def _lit(game: Game[Any], cell: int) -> str:
    x, y = _place(game, cell)
    box = f'x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{CELL - 4}" rx="6"'
    return f'<rect class="end" {box} fill="{_LINE}" fill-opacity=".35"/>'


def _drawn(game: Game[Any], number: int, each: _Mark) -> str:
    """Return the SVG of a mark: a cross, a ring, or its letter."""
    x, y = _place(game, each.cell)
    colour, kind = _COLOURS.get(each.mark, "#222"), f'class="m m{number}"'
    low, high, middle = CELL * 0.26, CELL * 0.74, CELL / 2
    if each.mark == "X":
        shape = f"M{x + low:g} {y + low:g}L{x + high:g} {y + high:g}M{x + high:g} {y + low:g}L{x + low:g} {y + high:g}"
        return f'<path {kind} d="{shape}" stroke="{colour}" stroke-width="6" stroke-linecap="round"/>'
    if each.mark == "O":
        circle = f'cx="{x + middle:g}" cy="{y + middle:g}" r="{CELL * 0.26:g}"'
        return f'<circle {kind} {circle} fill="none" stroke="{colour}" stroke-width="6"/>'
    where = f'x="{x + middle:g}" y="{y + high:g}" font-size="24" text-anchor="middle"'
    return f"<text {kind} {where}>{escape(each.mark)}</text>"


def _style(marks: list[_Mark], game: Game[Any], whole_s: float) -> str:
    """Return the CSS of when each mark is visible, in percentages of one showing, which repeats endlessly."""
    step = 100 * STEP_S / whole_s
    end = 100 * (1 - HOLD_S / whole_s)
    falls = game.gravity and len(game.shape) == 2
    rules = [
        f".m,.end{{animation-duration:{whole_s:g}s;animation-iteration-count:infinite}}",
        f".end{{animation-name:end}}@keyframes end{{0%,{end:.2f}%{{opacity:0}}{end + 0.1:.2f}%,100%{{opacity:1}}}}",
    ]
    for number, each in enumerate(marks):
        gone = ";opacity:0" if each.until is not None else ""
        rules.append(f".m{number}{{animation-name:k{number}{gone}}}@keyframes k{number}{{")
        above = f"transform:translateY(-{_place(game, each.cell)[1] - HEAD + CELL}px)" if falls else "transform:none"
        if each.since:
            seen = each.since * step
            rules.append(f"0%,{seen - 0.01:.2f}%{{opacity:0;{above}}}{seen:.2f}%{{opacity:1;{above}}}")
            rules.append(f"{seen + step / 2:.2f}%{{opacity:1;transform:none}}")
        else:
            rules.append("0%{opacity:1;transform:none}")
        if each.until is None:
            rules.append("100%{opacity:1;transform:none}}")
        else:
            last = each.until * step
            rules.append(
                f"{last - 0.01:.2f}%{{opacity:1;transform:none}}{last:.2f}%,100%{{opacity:0;transform:none}}}}"
            )
    rules.append("@media (prefers-reduced-motion:reduce){.m,.end{animation:none}}")
    return f"<style>{''.join(rules)}</style>"
