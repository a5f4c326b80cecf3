"""`tournament`: hold tournaments on a server that runs on this machine, and print their standings and results."""

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta
from pathlib import Path

import msgspec

from ttt_net.clock import TIME_FORM, TimeControl, time_of
from ttt_net.commands.admin import AdminConnection, columns, reached
from ttt_net.commands.recorded_matches import add_data
from ttt_net.commands.tournament_sheet import page_of, report_of
from ttt_net.errors import ConfigurationError
from ttt_net.messages import WITHOUT_ROUNDS, TournamentBoard
from ttt_net.server.admin import protocol
from ttt_net.text import clean, counted

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


def _time_of_day(text: str) -> int:
    """Return the seconds until a time of day: today, or if it has passed, tomorrow."""
    now = datetime.now().astimezone()
    try:
        wanted = time.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no time of day; write it like 19:30") from None
    at = now.replace(hour=wanted.hour, minute=wanted.minute, second=0, microsecond=0)
    return int(((at if at > now else at + timedelta(days=1)) - now).total_seconds())


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
    kind.add_argument("--swiss", type=int, metavar="ROUNDS", help="a Swiss of so many rounds")
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
        " corrected" if board.corrected else " forfeit" if board.forfeit else " does not count" if board.void else ""
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
        csv.writer(out, lineterminator="\n").writerows([guarded(row) for row in rows])
        sys.stdout.write(out.getvalue())
        return
    print(columns(tuple(rows[0]), [tuple(row) for row in rows[1:]]))


def guarded(row: Iterable[str]) -> list[str]:
    """Return a row whose cells no spreadsheet interprets as formulas: names come from strangers."""
    return [f"'{cell}" if cell[:1] in ("=", "+", "-", "@") else cell for cell in row]
