"""Write a tournament as a page for the printer, or in the report format of FIDE (TRF16).

The page is one HTML file without scripts: the pairings of the round by board and by name, then the standings, then the
cross table, or the bracket of a knockout. For guests, there is a list to write their names into. Each part begins on a
sheet of its own.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from ttt_net.errors import Refusal
from ttt_net.games import find_game
from ttt_net.messages import WITHOUT_ROUNDS, TournamentBoard
from ttt_net.server.admin.protocol import TournamentSheet
from ttt_net.text import clean, counted

MAX_NAME = 33
"""The cells of a name: the width of its column in TRF16."""
_HALF_POINTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1), "0-0": (0, 0)}
_BLANK = "_" * 30
_SIGNS = {2: "1", 1: "½", 0: "0"}
_STYLE = """
body { font: 12pt/1.35 sans-serif; color: #000; background: #fff; margin: 2em; max-width: 60em; }
h1 { font-size: 1.5em; margin: 0; } h2 { font-size: 1.15em; margin: 1.6em 0 .4em; }
table { border-collapse: collapse; } th, td { border-bottom: 1px solid #999; padding: .15em .6em; text-align: left; }
td.n, th.n { text-align: right; } tr { break-inside: avoid; } thead { display: table-header-group; }
.pairings { columns: 2 22em; column-gap: 3em; } .pairings table { width: 100%; }
.bracket { display: flex; gap: 1.5em; } .bracket div { flex: 1; display: flex; flex-direction: column; }
.bracket p { border: 1px solid #666; padding: .2em .5em; margin: auto 0; break-inside: avoid; }
@media print { body { margin: 0; max-width: none; } section + section { break-before: page; } h2 { margin-top: 0; } }
"""


class _Game(NamedTuple):
    """One round of one player."""

    opponent: str | None
    """None: they had a bye."""
    is_first: bool
    points: int | None
    """Half points; None while the board is open."""
    is_played: bool


def games_of(sheet: TournamentSheet) -> dict[str, list[_Game | None]]:
    """Return the game of each player in each round, in order of the standings; None where they were not paired.

    Without rounds, these are the games of each player in their order.
    """
    if sheet.tournament.kind in WITHOUT_ROUNDS:
        return _games_without_rounds(sheet)
    found: dict[str, list[_Game | None]] = {
        row.player: [None] * len(sheet.rounds) for row in sheet.tournament.standings
    }
    for number, boards in enumerate(sheet.rounds):
        for board in boards:
            points = _HALF_POINTS.get(board.result or "", (None, None)) if board.second is not None else (2, None)
            is_played = board.match is not None and not board.forfeit
            for name, opponent, is_first, own in (
                (board.first, board.second, True, points[0]),
                (board.second, board.first, False, points[1]),
            ):
                if name in found:
                    found[name][number] = _Game(opponent, is_first, own, is_played)
    return found


def _games_without_rounds(sheet: TournamentSheet) -> dict[str, list[_Game | None]]:
    found: dict[str, list[_Game | None]] = {row.player: [] for row in sheet.tournament.standings}
    for board in (each for boards in sheet.rounds for each in boards if not each.void):
        first, second = _HALF_POINTS.get(board.result or "", (None, None))
        for name, game in (
            (board.first, _Game(board.second, True, first, not board.forfeit)),
            (board.second or "", _Game(board.first, False, second, not board.forfeit)),
        ):
            if name in found:
                found[name].append(game)
    most = max(map(len, found.values()), default=0)
    return {name: [*games, *[None] * (most - len(games))] for name, games in found.items()}


# The page.


def _title_of(game: str) -> str:
    """Return the title of a game, or its name if it comes from a package that only the server has."""
    try:
        return find_game(game).title
    except Refusal:
        return game


def page_of(sheet: TournamentSheet) -> str:
    """Return the page as HTML. Names come from strangers, so they are escaped."""
    told = sheet.tournament
    title = escape(clean(told.name, 60))
    has_rounds = told.kind not in WITHOUT_ROUNDS
    state = f"round {told.round} of {told.rounds}" if has_rounds else told.state
    state = "final result" if told.state == "over" else state
    parts = (
        [] if told.state == "over" or not sheet.rounds or not has_rounds else [_pairings(sheet.rounds[-1], told.round)]
    )
    parts.append(_standings(sheet))
    if has_rounds:
        parts.append(_bracket(sheet) if told.kind == "knockout" else _cross_table(sheet))
    if told.anonymous:
        parts.append(_who_is_who(sheet))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{_STYLE}</style></head><body>\n<h1>{title}</h1>\n"
        f"<p>{escape(told.kind.replace('_', ' ').capitalize())}, {escape(_title_of(told.game))}, "
        f"{counted(told.players, 'player')}, {state}</p>\n"
        + "".join(f"<section>\n{part}</section>\n" for part in parts)
        + "</body></html>\n"
    )


def _pairings(boards: Sequence[TournamentBoard], number: int) -> str:
    by_board = [[str(each.board), each.first, each.second or "bye", each.result or ""] for each in boards]
    by_name = []
    for each in boards:
        by_name.append([each.first, str(each.board), "first", each.second or "bye"])
        if each.second is not None:
            by_name.append([each.second, str(each.board), "second", each.first])
    by_name.sort(key=lambda row: row[0].casefold())
    names = _table(["player", "board", "moves", "against"], by_name)
    return (
        f"<h2>Round {number} by name</h2>\n<div class=pairings>{names}</div>\n"
        f"<h2>Round {number} by board</h2>\n{_table(['board', 'first', 'second', 'result'], by_board)}"
    )


def _standings(sheet: TournamentSheet) -> str:
    told = sheet.tournament
    rows = [
        [str(row.place), row.player, f"{row.score / 2:g}", *map("{:g}".format, row.breaks), "left" if row.gone else ""]
        for row in told.standings
    ]
    breaks = [name.replace("_", " ") for name in told.tie_breaks]
    return f"<h2>Standings</h2>\n{_table(['place', 'player', 'points', *breaks, ''], rows)}"


def _who_is_who(sheet: TournamentSheet) -> str:
    """Return a list for a teacher to fill in by hand: no server knows who a guest is."""
    names = sorted(row.player for row in sheet.tournament.standings)
    return f"<h2>Who is who</h2>\n{_table(['player', 'who it is'], [[name, _BLANK] for name in names])}"


def _cross_table(sheet: TournamentSheet) -> str:
    games = games_of(sheet)
    numbers = {name: number for number, name in enumerate(games, 1)}
    rows = []
    for row in sheet.tournament.standings:
        cells = [_cell(game, numbers) for game in games[row.player]]
        rows.append([str(numbers[row.player]), row.player, *cells, f"{row.score / 2:g}"])
    headings = ["", "player", *map(str, range(1, len(sheet.rounds) + 1)), "points"]
    legend = "<p>3f1: won against the player of line 3, moving first (s: second); + and − are without play.</p>\n"
    return f"<h2>Cross table</h2>\n{legend}{_table(headings, rows)}"


def _cell(game: _Game | None, numbers: dict[str, int]) -> str:
    if game is None:
        return "–"
    if game.opponent is None:
        return "bye"
    sign = "" if game.points is None else _SIGNS[game.points] if game.is_played else "+" if game.points else "−"
    return f"{numbers.get(game.opponent, '?')}{'f' if game.is_first else 's'}{sign}"


def _bracket(sheet: TournamentSheet) -> str:
    columns = []
    for number, boards in enumerate(sheet.rounds, 1):
        shown = "".join(f"<p>{_side(board, 0)}<br>{_side(board, 1)}</p>" for board in boards)
        columns.append(f"<div><b>Round {number}</b>{shown}</div>")
    return f"<h2>Bracket</h2>\n<div class=bracket>{''.join(columns)}</div>\n"


def _side(board: TournamentBoard, side: int) -> str:
    name = board.first if side == 0 else board.second
    if name is None:
        return "bye"
    points = _HALF_POINTS.get(board.result or "")
    has_won = board.second is None or (points is not None and points[side] > points[1 - side])
    shown = escape(clean(name, MAX_NAME))
    return f"<b>{shown}</b>" if has_won else shown


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def cells(tag: str, row: Sequence[str]) -> str:
        shown = [escape(clean(cell, MAX_NAME)) for cell in row]
        numeric = [cell.replace(".", "").isdigit() for cell in row]
        return "".join(
            f"<{tag}{' class=n' if is_number else ''}>{cell}</{tag}>"
            for cell, is_number in zip(shown, numeric, strict=True)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in rows)
    return f"<table><thead><tr>{cells('th', headings)}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"


# The report format.


def report_of(sheet: TournamentSheet) -> str:
    """Return the tournament in the report format TRF16, with the places as starting numbers."""
    told, games = sheet.tournament, games_of(sheet)
    numbers = {name: number for number, name in enumerate(games, 1)}
    lines = [f"012 {clean(told.name, 60)}", f"062 {told.players}", f"092 {told.kind.replace('_', ' ')}"]
    lines.append(f"XXR {told.rounds or max(map(len, games.values()), default=0)}")
    for row in told.standings:
        line = f"001 {numbers[row.player]:>4}      {clean(row.player, MAX_NAME):<33}"
        line = f"{line:<80}{row.score / 2:>4.1f} {row.place:>4}"
        lines.append(line + "".join(f"  {_reported(game, numbers)}" for game in games[row.player]))
    return "\n".join(lines) + "\n"


def _reported(game: _Game | None, numbers: dict[str, int]) -> str:
    """Return a round in TRF16: opponent, side (w moves first) and result; U is a bye, Z an absence."""
    if game is None:
        return "0000 - Z"
    if game.opponent is None:
        return "0000 - U"
    sign = " " if game.points is None else "0=1"[game.points] if game.is_played else "+" if game.points else "-"
    return f"{numbers.get(game.opponent, 0):>4} {'w' if game.is_first else 'b'} {sign}"
