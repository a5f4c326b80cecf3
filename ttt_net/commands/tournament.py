"""`tournament`: hold tournaments on a server that runs on this machine, and print their standings and results.

`page_of` writes a tournament for the printer, and `report_of` in the report format of FIDE (TRF16). The page is one
HTML file without scripts: the pairings of the round by board and by name, then the standings, then the cross table, or
the bracket of a knockout. For guests, there is a list to write their names into. Each part begins on a new sheet.
"""

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from html import escape
from pathlib import Path
from typing import NamedTuple

import msgspec

from ttt_net.clock import TIME_FORM, TimeControl, time_of
from ttt_net.commands.admin import AdminConnection, columns, reached
from ttt_net.commands.recorded_matches import add_data
from ttt_net.errors import ConfigurationError, Refusal
from ttt_net.games import find_game
from ttt_net.messages import WITHOUT_ROUNDS, TournamentBoard
from ttt_net.server.admin import protocol
from ttt_net.server.admin.protocol import TournamentSheet
from ttt_net.text import as_cell, clean, counted

FORMATS = ("text", "csv", "json")
SPARE = 4
"""With fewer players than rounds and this, a Swiss may find no opponent whom a player has not met."""
RESULTS = ("1-0", "0-1", "1/2-1/2", "0-0")
_ACTS = {
    "start": "begin the first round",
    "next": "begin the next round now",
    "pause": "let no further round begin; matches go on",
    "resume": "let rounds begin again",
    "end": "end it early; matches that are played still count",
}
_ENDS = {
    "finished": "it was played to its end",
    "ended": "ended by the organiser",
    "not_started": "nobody started it",
    "nobody": "too few players were left",
}


def _time(text: str) -> TimeControl:
    found = time_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write {TIME_FORM}")
    return found


def seconds_until(text: str, now: datetime) -> int:
    """Return the seconds from now until a time of day in local time: today, or if it has passed, tomorrow.

    Raises `ValueError` if the text is no time of day.
    """
    wanted = time.fromisoformat(text)
    today = datetime.combine(now.date(), time(wanted.hour, wanted.minute))
    days = (today, today + timedelta(days=1))  # without an offset: clocks may be put forward or back in between
    return int(next(at - now for day in days if (at := day.astimezone()) > now).total_seconds())


def _time_of_day(text: str) -> int:
    try:
        return seconds_until(text, datetime.now().astimezone())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time of day; write it like 19:30") from None


def _pause(text: str) -> int | None:
    if text == "hand":
        return None
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no pause: seconds, or hand")
    return int(text)


def add_tournament_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_data(parser)
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    create = _add_step(steps, "create", "make a tournament, and print its code")
    create.add_argument("name", help="its name, such as Friday")
    create.add_argument("--game", default="tictactoe", help="the game (default %(default)s)")
    create.add_argument("--time", type=_time, required=True, help=f"the clock: {TIME_FORM}")
    kind = create.add_mutually_exclusive_group(required=True)
    kind.add_argument("--swiss", type=int, metavar="ROUNDS", help="a Swiss of this many rounds")
    kind.add_argument("--round-robin", type=int, metavar="CYCLES", help="everybody meets everybody, once or twice")
    kind.add_argument("--knockout", action="store_true", help="a knockout, with a match for third place")
    kind.add_argument("--arena", type=int, metavar="MINUTES", help="an arena: match after match for so long")
    kind.add_argument("--king", action="store_true", help="king of the table: the winner stays, the next one plays")
    create.add_argument("--minutes", type=int, metavar="N", help="how long a --king lasts (default: until its end)")
    create.add_argument("--rated", action="store_true", help="matches are rated")
    create.add_argument("--private", action="store_true", help="it is in no list, and found by its code alone")
    create.add_argument("--begin", type=int, default=60, metavar="S", help="seconds for each first move (%(default)s)")
    create.add_argument("--pause", type=_pause, default=15, help="seconds between rounds, or hand (%(default)s)")
    create.add_argument("--full", type=int, metavar="N", help="it begins by itself with N players")
    create.add_argument(
        "--legs", type=int, metavar="N", help="matches of a pairing, 1 or 2 with sides swapped (default: by the game)"
    )
    create.add_argument("--no-chat", action="store_true", help="in its matches, only phrases are said")
    create.add_argument("--anonymous", action="store_true", help="only guests, under made-up names; phrases only")
    create.add_argument(
        "--per-address", type=int, metavar="N", help="let N players of one address in, even if the limits are lower"
    )
    create.add_argument("--spare", metavar="BOT", help="a bot that plays while the number of players is odd, as Mia")
    create.add_argument("--at", type=_time_of_day, metavar="HH:MM", help="it begins by itself at this time")
    _add_step(steps, "list", "list the tournaments")
    for step, what in _ACTS.items():
        _add_step(steps, step, what).add_argument("code")
    for step, what in (("add", "add a player who is known here"), ("remove", "remove a player for good")):
        change = _add_step(steps, step, what)
        change.add_argument("code")
        change.add_argument("player")
    correct = _add_step(steps, "correct", "put another result in place of that of a board")
    correct.add_argument("code")
    correct.add_argument("round", type=int)
    correct.add_argument("board", type=int)
    correct.add_argument("result", choices=RESULTS)
    correct.add_argument("note", nargs="?", default="", help="why, for the record")
    for step, what in (
        ("show", "print the boards of the round, and who has not finished"),
        ("standings", "print the standings"),
        ("results", "print the results of all rounds"),
    ):
        sheet = _add_step(steps, step, what)
        sheet.add_argument("code")
        formats = (*FORMATS, "trf") if step == "results" else FORMATS
        sheet.add_argument("--format", choices=formats, default="text", help="how it is printed (%(default)s)")
    page = _add_step(steps, "print", "write pairings, standings and cross table as a page for the printer")
    page.add_argument("code")
    page.add_argument("file", type=Path, help="the HTML file to write; open it in a browser and print it")


def _add_step(
    steps: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, what: str
) -> argparse.ArgumentParser:
    """Add a step, which takes the server's folder as the verb does."""
    step = steps.add_parser(name, help=what)
    step.add_argument("--data", type=Path, default=argparse.SUPPRESS, help="the server's folder")
    return step


def run_tournament(args: argparse.Namespace) -> int:
    """Carry out one step and print its result."""
    with reached(args.data) as server:
        if args.step == "list":
            _print_list(server)
            return 0
        answer = server.ask(_request(args))
    if not isinstance(answer, protocol.TournamentSheet):
        raise ConfigurationError("the server gave another answer; is it of another version?")
    form = getattr(args, "format", "text")
    if form == "json":
        print(msgspec.json.encode(answer).decode())
    elif form == "trf":
        sys.stdout.write(report_of(answer))
    elif args.step == "print":
        _write_page(answer, args.file)
    elif args.step == "standings":
        _print_table(_standings(answer), form)
    elif args.step == "results":
        _print_table(_results(answer), form)
    elif form == "csv":
        _print_table(_boards(answer), form)
    else:
        _print_state(answer)
    return 0


def _request(args: argparse.Namespace) -> protocol.AnyAdminRequest:
    match args.step:
        case "create":
            return _creation(args)
        case "show" | "standings" | "results" | "print":
            return protocol.ShowTournament(args.code)
        case "add" | "remove":
            return protocol.DirectTournament(args.code, args.step, args.player)
        case "correct":
            return protocol.DirectTournament(args.code, "correct", None, args.round, args.board, args.result, args.note)
        case _:
            return protocol.DirectTournament(args.code, args.step)


def _creation(args: argparse.Namespace) -> protocol.CreateTournament:
    kinds = {"swiss": args.swiss, "round_robin": args.round_robin, "knockout": args.knockout, "arena": args.arena}
    asked = {
        "name": args.name,
        "kind": next((kind for kind, value in kinds.items() if value), "king"),
        "game": args.game,
        "time": args.time,
        "rounds": args.swiss or args.round_robin or 1,
        "rated": args.rated,
        "private": args.private,
        "begin_s": args.begin,
        "pause_s": args.pause,
        "full": args.full,
        "minutes": args.arena if args.arena is not None else args.minutes,
        "starts_in_s": args.at,
        "chat": not args.no_chat,
        "legs": args.legs,
        "anonymous": args.anonymous,
        "per_address": args.per_address,
        "spare": args.spare,
    }
    try:
        return msgspec.convert(asked, protocol.CreateTournament)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"that tournament cannot be: {error}") from None


def _write_page(sheet: protocol.TournamentSheet, file: Path) -> None:
    """Write the page for the printer. Raises `ConfigurationError` if the file cannot be written."""
    try:
        file.write_text(page_of(sheet), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}") from None
    print(f"{file} is written: open it in a browser and print it")


def kind_name(kind: str) -> str:
    """Return the words for a kind of tournament."""
    return "king of the table" if kind == "king" else kind.replace("_", " ")


def _print_list(server: AdminConnection) -> None:
    answer = server.ask(protocol.ListTournaments())
    assert isinstance(answer, protocol.TournamentRows)
    rows = [
        [
            each.tournament,
            clean(each.name, 40),
            kind_name(each.kind),
            each.game,
            each.state,
            f"{each.round}/{each.rounds}" if each.kind not in WITHOUT_ROUNDS else "-",
            str(each.players),
            clean(each.organiser or "the host", 20),
        ]
        for each in answer.tournaments
    ]
    _print_table([["code", "name", "kind", "game", "state", "round", "players", "made by"], *rows], "text")


def _print_state(sheet: protocol.TournamentSheet) -> None:
    told = sheet.tournament
    print(f"{clean(told.name, 40)}: {kind_name(told.kind)}, {told.game}, code {told.tournament}")
    round_now = f"round {told.round} of {told.rounds}" if told.round else "the first round is being made"
    stands = [told.state, round_now, counted(told.players, "player")]
    if told.state == "open":
        stands[1:] = [f"{counted(told.players, 'player')}{f' of {told.full}' if told.full is not None else ''}"]
    elif told.kind in WITHOUT_ROUNDS:
        stands[1] = f"{counted(told.open_boards, 'match', 'matches')} being played"
        stands += [] if told.ends_in_ms is None else [f"{-(-told.ends_in_ms // 60_000)} min left"]
    print(", ".join(stands))
    if told.ended is not None:
        print(_ENDS.get(told.ended, told.ended))
    elif told.state == "open":
        print(f"players enter with the code {told.tournament}: as an invitation, or `join {told.tournament}`")
    is_beginning = told.state != "over" and told.round <= 1
    if told.kind == "swiss" and is_beginning and 1 < told.players < told.rounds + SPARE:
        print(
            f"{told.rounds} rounds are many for {counted(told.players, 'player')}: matches may repeat in the last ones"
        )
    if told.boards:
        _print_table(_boards(sheet), "text")
    if told.waiting:
        print(f"next: {', '.join(clean(name, 20) for name in told.waiting)}")
    waiting = [board for board in told.boards if board.result is None]
    if waiting:
        names = ", ".join(f"{board.first} and {board.second}" for board in waiting)
        print(f"{'being played' if told.kind in WITHOUT_ROUNDS else 'not finished'}: {names}")


def _boards(sheet: protocol.TournamentSheet) -> list[list[str]]:
    told = sheet.tournament
    return [["board", "first", "second", "result"], *(_row(board, told.kind) for board in told.boards)]


def _results(sheet: protocol.TournamentSheet) -> list[list[str]]:
    kind = sheet.tournament.kind
    rows = [[str(number), *_row(board, kind)] for number, boards in enumerate(sheet.rounds, 1) for board in boards]
    return [["round", "board", "first", "second", "result"], *rows]


def _row(board: TournamentBoard, kind: str) -> list[str]:
    result = "bye" if board.second is None else board.result or ""
    remark = (
        " does not count" if board.void else " corrected" if board.corrected else " forfeit" if board.forfeit else ""
    )
    legs = "" if board.legs is None else f" ({board.legs[0] / 2:g}-{board.legs[1] / 2:g} in matches)"
    second = clean(board.second or "", 20)
    if kind == "knockout" and board.result in ("1/2-1/2", "0-0"):
        remark += f", {second} goes through"
    return [str(board.board), clean(board.first, 20), second, f"{result}{legs}{remark}".strip()]


def _standings(sheet: protocol.TournamentSheet) -> list[list[str]]:
    told = sheet.tournament
    rows = [
        [
            str(row.place),
            clean(row.player, 20),
            f"{row.score / 2:g}",
            *map("{:g}".format, row.breaks),
            "left" if row.gone else "",
        ]
        for row in told.standings
    ]
    return [["place", "player", "points", *told.tie_breaks, "state"], *rows]


def _print_table(rows: Sequence[Sequence[str]], form: str) -> None:
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([map(as_cell, row) for row in rows])
        sys.stdout.write(out.getvalue())
        return
    print(columns(tuple(rows[0]), [tuple(row) for row in rows[1:]]))


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
        for board in (each for each in boards if not each.void):
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
    parts.append(_standings_part(sheet))
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


def _standings_part(sheet: TournamentSheet) -> str:
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
