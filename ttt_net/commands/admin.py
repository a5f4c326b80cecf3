"""`admin`: administer a server on this machine through the admin listener named in its data folder.

Replies are printed as lines and tables. `admin top` shows statistics every second, as a screen in a terminal or as
lines in a pipe.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TextIO

import msgspec
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect, unix_connect

from ttt_net.commands.recorded_matches import add_data
from ttt_net.errors import ConfigurationError
from ttt_net.server.admin import protocol
from ttt_net.server.admin.admin_server import ADDRESS_FILE, TOKEN, TOKEN_FILE
from ttt_net.server.cluster.replicated_ledger import NodeFigures
from ttt_net.server.readiness import spoken
from ttt_net.text import clean, counted

_TIMEOUT_S = 10.0
_BACKUP_S = 600.0
MAX_ANSWER_BYTES = 1_048_576


class AdminConnection:
    """A connection to a server's admin listener."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    def ask(self, question: protocol.AnyAdminRequest) -> protocol.AnyAdminReply:
        """Return the server's reply. Raises `ConfigurationError` if the server rejects the request."""
        try:
            self._connection.send(protocol.encode(question).decode())
            patience_s = _BACKUP_S if isinstance(question, protocol.Backup) else _TIMEOUT_S
            answer: protocol.AnyAdminReply = protocol.decode_admin_reply(self._connection.recv(timeout=patience_s))
        except (OSError, WebSocketException, msgspec.MsgspecError) as error:
            raise ConfigurationError(f"the server did not answer: {error or 'it took too long'}") from None
        if isinstance(answer, protocol.Failed):
            raise ConfigurationError(answer.text)
        return answer


def _read_address(folder: Path, address: str | None, token_file: Path | None) -> tuple[str, str]:
    """Return the address of the server and its token, by default from the data folder."""
    try:
        address = address or (folder / ADDRESS_FILE).read_text(encoding="utf-8").strip()
        held = token_file or folder / TOKEN_FILE
        token = held.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"no server runs in {folder}, or it has no admin listener; name its folder with --data"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"cannot read {error.filename}: {error.strerror}; be the user who runs it") from None
    if TOKEN.fullmatch(token) is None:  # the words of other files belong in no message
        raise ConfigurationError(f"{held} holds no token, which is one line without spaces, of 16 characters or more")
    return address, token


@contextmanager
def reached(folder: Path, at: str | None = None, token_file: Path | None = None) -> Iterator[AdminConnection]:
    """Connect to the server of a data folder, or the one at an address, as the host or a moderator.

    Raises `ConfigurationError` if that is impossible.
    """
    address, token = _read_address(folder, at, token_file)
    try:
        connection = _connect(address, {"Authorization": f"Bearer {token}"})
    except InvalidStatus as error:
        status = error.response.status_code
        said = "does not accept this token" if status == HTTPStatus.UNAUTHORIZED else f"said {status}; is it another?"
        raise ConfigurationError(f"the server at {address} {said}") from None
    except (OSError, WebSocketException) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ConfigurationError(f"no server answers at {address}: {reason}") from None
    with connection:
        yield AdminConnection(connection)


def _connect(address: str, headers: dict[str, str]) -> ClientConnection:
    if "/" in address:
        return unix_connect(
            address, "ws://admin/", additional_headers=headers, open_timeout=_TIMEOUT_S, max_size=MAX_ANSWER_BYTES
        )
    return connect(
        f"ws://{address}/",
        additional_headers=headers,
        open_timeout=_TIMEOUT_S,
        max_size=MAX_ANSWER_BYTES,
        proxy=None,
    )


def add_admin_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_data(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as one JSON object")
    parser.add_argument("--at", metavar="ADDRESS", help="the admin listener, 127.0.0.1:8766; else as --data has it")
    parser.add_argument("--token-file", metavar="FILE", type=Path, help="a moderator's token; else the host's")
    acts = parser.add_subparsers(dest="act", metavar="ACT", required=True)
    acts.add_parser("stats", help="print the server's figures")
    acts.add_parser("players", help="list who is connected")
    acts.add_parser("matches", help="list what is played")
    acts.add_parser("top", help="show figures and matches until Ctrl-C; in a pipe, a line every second")
    kick = acts.add_parser("kick", help="close a player's connection")
    kick.add_argument("name")
    kick.add_argument("reason", nargs="?", default="", help="the reason shown to them")
    ban = acts.add_parser("ban", help="keep a player, an address, an IPv6 /64 or a network out")
    mute = acts.add_parser("mute", help="hide the messages of a player, or of all of an address or network")
    for each in (ban, mute):
        each.add_argument("whom", help="a name, 192.0.2.7, 2001:db8::7, 192.0.2.0/24, or name:NAME")
        each.add_argument("reason", nargs="?", default="", help="the reason shown to them")
        _add_stretch(each)
    acts.add_parser("unban", help="end a ban").add_argument("whom", help="as listed by bans; #7 for a number")
    acts.add_parser("unmute", help="end a mute").add_argument("whom", help="as for unban")
    acts.add_parser("bans", help="list who is banned or muted")
    _add_reports(acts.add_parser("reports", help="list what players report of others; show or close a report"))
    moderators = acts.add_parser("moderators", help="list who moderates; add or remove a moderator")
    of_them = moderators.add_subparsers(dest="step", metavar="STEP")
    of_them.add_parser("add", help="appoint a moderator, and print their token once").add_argument("name")
    of_them.add_parser("remove", help="dismiss a moderator").add_argument("name")
    acts.add_parser("backup", help="have the server copy its journal").add_argument("file", type=Path)
    audit = acts.add_parser("audit", help="list what admins did")
    audit.add_argument("last", nargs="?", type=int, default=50, help="how many acts (default %(default)s)")
    announce = acts.add_parser("announce", help="show a line to everybody")
    announce.add_argument("text")
    drain = acts.add_parser("drain", help="count down for all to see, begin no more matches, then end the server")
    drain.add_argument("seconds", nargs="?", type=int, default=60, help="how long (default %(default)s)")
    drain.add_argument("--cancel", action="store_true", help="call it off")


def _add_stretch(parser: argparse.ArgumentParser) -> None:
    """Add the options for the duration of a ban or mute, and its target."""
    parser.add_argument("--for", dest="for_s", metavar="TIME", type=_stretch, help="90m, 12h, 7d; else for good")
    parser.add_argument(
        "--with-address", action="store_true", help="of the address that the player comes from, too, and of all there"
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="list those that are closed, too")
    steps = parser.add_subparsers(dest="step", metavar="STEP")
    steps.add_parser("show", help="show a report with the last lines of chat").add_argument("number", type=int)
    close = steps.add_parser("close", help="close a report, and do something about the player first")
    close.add_argument("number", type=int)
    close.add_argument("text", nargs="?", default="", help="what you found, for those who look at it later")
    acts = close.add_mutually_exclusive_group()
    for act in ("kick", "mute", "ban"):
        acts.add_argument(f"--{act}", dest="then", action="store_const", const=act, help=f"{act} the player first")
    close_all = steps.add_parser("close-all", help="close all open reports of a player")
    close_all.add_argument("name")
    close_all.add_argument("text", nargs="?", default="", help="what you found, for those who look at it later")
    close_all.add_argument("--by", action="store_true", help="those that the player made instead")
    close.add_argument("--reason", default="", help="the reason shown to the player; by default that of the report")
    _add_stretch(close)


def _report_request(args: argparse.Namespace) -> protocol.AnyAdminRequest:
    if args.step == "show":
        return protocol.ShowReport(args.number)
    if args.step == "close-all":
        return protocol.SettleReports(args.name, args.by, args.text)
    if args.step == "close":
        return protocol.SettleReport(args.number, args.text, args.then, args.reason, args.for_s, args.with_address)
    return protocol.ListReports(args.all)


def _moderator_request(args: argparse.Namespace) -> protocol.AnyAdminRequest:
    if args.step == "add":
        return protocol.AddModerator(args.name)
    return protocol.RemoveModerator(args.name) if args.step == "remove" else protocol.ListModerators()


def _stretch(text: str) -> int:
    """Return the seconds of a duration such as `90m`."""
    unit = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}.get(text[-1:])
    if unit is None or not text[:-1].isdecimal() or not int(text[:-1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 90s, 30m, 12h, 7d")
    return int(text[:-1]) * unit


QUESTIONS: dict[str, Callable[[argparse.Namespace], protocol.AnyAdminRequest]] = {
    "stats": lambda args: protocol.Stats(),
    "players": lambda args: protocol.ListPlayers(),
    "matches": lambda args: protocol.ListMatches(),
    "kick": lambda args: protocol.Kick(args.name, args.reason),
    "ban": lambda args: protocol.Ban(args.whom, args.reason, args.for_s, args.with_address),
    "unban": lambda args: protocol.Unban(args.whom),
    "mute": lambda args: protocol.MutePlayer(args.whom, args.reason, args.for_s, args.with_address),
    "unmute": lambda args: protocol.Unmute(args.whom),
    "reports": _report_request,
    "moderators": _moderator_request,
    "bans": lambda args: protocol.Bans(),
    "backup": lambda args: protocol.Backup(str(args.file.absolute())),
    "audit": lambda args: protocol.Audit(args.last),
    "announce": lambda args: protocol.Announce(args.text),
    "drain": lambda args: protocol.Drain(None if args.cancel else args.seconds),
}


def run_admin(args: argparse.Namespace) -> int:
    """Send the request, and print the reply."""
    connecting = reached(args.data, args.at, args.token_file)
    if args.act == "top":
        with connecting as connection:
            return watch(connection.ask, sys.stdout)
    with connecting as connection:
        answer = connection.ask(QUESTIONS[args.act](args))
    print(msgspec.json.encode(answer).decode() if args.json else as_text(answer))
    return 0


def as_text(answer: protocol.AnyAdminReply) -> str:
    """Return the reply as text for people."""
    match answer:
        case protocol.Report():
            return _report(answer)
        case protocol.PlayerRows():
            rows = [
                (
                    each.name,
                    each.bot or "",
                    each.address,
                    f"{each.connected_s:.0f}",
                    str(each.lag_ms),
                    " ".join(each.matches),
                )
                for each in answer.players
            ]
            return columns(("name", "bot", "address", "seconds", "lag ms", "matches"), rows)
        case protocol.MatchRows():
            lines = [
                (each.match, each.game, " - ".join(each.players), str(each.ply), str(each.watchers), _private(each))
                for each in answer.matches
            ]
            return columns(("match", "game", "players", "ply", "watchers", ""), lines)
        case protocol.SanctionRows():
            sanctions = [
                (each.act, each.whom, moment(each.since_ms), moment(each.until_ms), each.by, each.reason)
                for each in answer.sanctions
            ]
            return columns(("act", "whom", "since", "until", "by", "reason"), sanctions)
        case protocol.TournamentRows() | protocol.TournamentSheet():  # `tournament` has its own output
            return msgspec.json.encode(answer).decode()
        case protocol.AuditRows():
            acts = [(moment(each.at_ms), each.by, each.act, each.what) for each in answer.acts]
            return columns(("when", "who", "act", "what"), acts)
        case protocol.PlayerReportRows():
            reports = [
                (
                    str(each.number),
                    moment(each.at_ms),
                    each.reported,
                    each.reason,
                    each.reporter,
                    each.text,
                    str(each.weight),
                    _ended(each),
                )
                for each in answer.reports
            ]
            return columns(("report", "made", "player", "for", "by", "text", "weight", "state"), reports)
        case protocol.PlayerReportDetail():
            return _player_report(answer)
        case protocol.ModeratorRows():
            return columns(("moderator", "since"), [(each.name, moment(each.since_ms)) for each in answer.moderators])
        case protocol.Done(text) | protocol.Failed(text):
            return text


def moment(at_ms: int | None) -> str:
    """Return a moment as date and time in UTC, or that it never comes."""
    if at_ms is None:
        return "for good"
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"


def _ended(report: protocol.PlayerReportRow) -> str:
    return "open" if report.closed_ms is None else f"closed by {report.closed_by}"


def _player_report(answer: protocol.PlayerReportDetail) -> str:
    report = answer.report
    closed = "open"
    if report.closed_ms is not None:
        note = f": {report.note}" if report.note else ""
        closed = f"closed by {report.closed_by}, {moment(report.closed_ms)}{note}"
    rows = [
        ("report", f"{report.number}, {moment(report.at_ms)} UTC"),
        ("player", report.reported),
        ("for", report.reason),
        ("by", f"{report.reporter} (weight {report.weight} of 0 to 3)"),
        ("text", report.text or "-"),
        ("match", report.match or "-"),
        ("state", closed),
    ]
    rows += [("in force", f"{each.act} of {each.whom} {_end(each)}") for each in answer.sanctions]
    lines = [f"{name:<10} {clean(text, 200)}" for name, text in rows]
    if answer.lines:
        lines += ["", "the last messages before the report:"]
        lines += [
            f"  {moment(each.at_ms)[11:]}  {clean(each.name, 20)}: {clean(each.text, 140)}" for each in answer.lines
        ]
    elif report.match:
        lines += ["", "no messages there"]
    return "\n".join(lines)


def _end(sanction: protocol.SanctionRow) -> str:
    return "for good" if sanction.until_ms is None else f"until {moment(sanction.until_ms)}"


def _private(row: protocol.MatchRow) -> str:
    return "private" if row.is_private else ""


def _report(report: protocol.Report) -> str:
    refusals = sum(report.refusals.values())
    rows = [
        ("server", f"{clean(report.name, 60)}, ttt_net {report.version}, up {spoken(report.up_s)}"),
        ("state", state(report)),
        ("connections", f"{report.connections:,}: {who_is_here(report)}"),
        ("matches", f"{report.live:,} live of {report.tables:,} in memory; {report.matches:,} begun"),
        ("moves", f"{report.moves:,}; {times(report.move_s)}"),
        ("commits", f"{sum(report.commit_s.counts):,}; {times(report.commit_s)}; {report.failures:,} failed"),
        *cluster_rows(report.cluster),
        ("loop lag", times(report.lag_s)),
        ("waiting", waiting(report)),
        *_questions(report),
        ("requests", f"{report.requests:,}, {refusals:,} refused{_by_reason(report.refusals)}"),
        ("faults", f"{report.faults:,}"),
        ("ended", f"{counted(sum(report.endings.values()), 'connection')}{_by_reason(report.endings)}"),
    ]
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def _questions(report: protocol.Report) -> list[tuple[str, str]]:
    """Return the row about queries of past matches; empty for a server of an older release."""
    if report.answer_s is None:
        return []
    answered = f"{sum(report.answer_s.counts):,}; {times(report.answer_s)}"
    return [("questions", f"{answered}; {report.questions:,} waiting, {report.questions_refused:,} refused")]


def who_is_here(report: protocol.Report) -> str:
    """Return how many people and bots are connected."""
    return f"{counted(report.people, 'person', 'people')}, {counted(report.bots, 'bot')}"


def waiting(report: protocol.Report) -> str:
    """Return the lengths of the queues for clients and for the disk."""
    return f"{counted(report.queue_bytes, 'byte')} for clients, {counted(report.jobs, 'job')} for the disk"


def cluster_rows(figures: NodeFigures | None) -> list[tuple[str, str]]:
    """Return the state of a node in its cluster; empty for a single server."""
    if figures is None:
        return []
    role = "steward" if figures.is_steward else "member" if figures.is_member else "no member now"
    return [
        ("cluster", f"{clean(figures.node, 30)}, {role}; {counted(figures.members, 'member')}; epoch {figures.epoch}"),
        (
            "log",
            f"place {figures.position:,}, {figures.lag:,} behind; contact {figures.silence_s:.1f} s ago;"
            f" {figures.refused:,} refused",
        ),
    ]


def state(report: protocol.Report) -> str:
    """Return the health of the server in words."""
    if report.restart_in_s is not None:
        return f"restarts in {spoken(report.restart_in_s)}"
    return report.unready or "ready"


def times(timing: protocol.Timing, before: protocol.Timing | None = None) -> str:
    """Return the median and the 99th percentile of the values since `before`, as upper bounds."""
    added = timing.since(before)
    half, most = added.quantile(0.5), added.quantile(0.99)
    return "none yet" if half is None or most is None else f"half within {_ms(half)}, 99 % within {_ms(most)}"


def _ms(seconds: float) -> str:
    return "more than 5 s" if seconds == float("inf") else f"{seconds * 1000:g} ms"


def _by_reason(counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda item: -item[1])[:6]
    return f" ({', '.join(f'{reason} {count:,}' for reason, count in most)})" if most else ""


def columns(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table as lines with minimal column widths; the last column may be a sentence."""
    cleaned = ((*(clean(cell, 60) for cell in row[:-1]), clean(row[-1], 240)) for row in rows)
    table: list[tuple[str, ...]] = [headings, *cleaned]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)


_EVERY_S = 1.0
_ABOVE_TABLE = 10
"""The rows of the screen other than those of matches and of a cluster."""


Ask = Callable[[protocol.AnyAdminRequest], protocol.AnyAdminReply]
"""Sends a request and returns the reply."""


def watch(ask: Ask, output: TextIO, rounds: int | None = None) -> int:
    """Show the statistics until Ctrl-C, or for a number of rounds; return the exit code."""
    console = Console(file=output, highlight=False)
    before: protocol.Report | None = None
    try:
        if not console.is_terminal:
            while rounds is None or rounds > 0:
                before = _write_line(console, ask, before)
                rounds = None if rounds is None else rounds - 1
                time.sleep(_EVERY_S)
            return 0
        with Live(console=console, screen=True, auto_refresh=False) as live:
            while rounds is None or rounds > 0:
                report, matches = _figures(ask)
                live.update(draw(report, before, matches, console.height), refresh=True)
                before = report
                rounds = None if rounds is None else rounds - 1
                time.sleep(_EVERY_S)
    except KeyboardInterrupt:
        pass
    return 0


def _figures(ask: Ask) -> tuple[protocol.Report, protocol.MatchRows]:
    report, matches = ask(protocol.Stats()), ask(protocol.ListMatches())
    assert isinstance(report, protocol.Report)
    assert isinstance(matches, protocol.MatchRows)
    return report, matches


def _write_line(console: Console, ask: Ask, before: protocol.Report | None) -> protocol.Report:
    report, _ = _figures(ask)
    console.print(one_line(report, before), soft_wrap=True)
    return report


def one_line(report: protocol.Report, before: protocol.Report | None) -> Text:
    """Return the statistics as one line."""
    return Text(
        f"{state(report)}; {who_is_here(report)}, {report.live} live,"
        f" {rate(report, before):.0f} moves/s, {times(report.move_s, before.move_s if before else None)}"
    )


def rate(report: protocol.Report, before: protocol.Report | None) -> float:
    """Return the moves per second since `before`, or since the start."""
    moves, seconds = (report.moves - before.moves, report.up_s - before.up_s) if before else (report.moves, report.up_s)
    return moves / max(seconds, 0.001)


def draw(
    report: protocol.Report, before: protocol.Report | None, matches: protocol.MatchRows, height: int
) -> RenderableType:
    """Return the screen; peers' text goes through `clean` and `Text`, so that it is never read as markup."""
    head = Text(clean(report.name, 60), style="bold")
    head.append(f"  ttt_net {report.version}, up {spoken(report.up_s)}, ")
    head.append(state(report), style="bold red" if report.unready else "green")
    of_cluster = cluster_rows(report.cluster)
    figures = Table(box=None, show_header=False, pad_edge=False)
    for name, text in (
        ("connections", f"{report.connections:,}: {who_is_here(report)}"),
        ("moves/s", f"{rate(report, before):,.0f}; {times(report.move_s, before.move_s if before else None)}"),
        ("commits", times(report.commit_s, before.commit_s if before else None)),
        *of_cluster,
        ("loop lag", times(report.lag_s, before.lag_s if before else None)),
        ("waiting", waiting(report)),
        ("refused", f"{sum(report.refusals.values()):,}; ended {counted(sum(report.endings.values()), 'connection')}"),
    ):
        figures.add_row(Text(name, style="dim"), Text(text))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in (counted(matches.count, "match", "matches"), "game", "players", "ply", "watchers"):
        table.add_column(heading, no_wrap=True)
    for row in matches.matches[: max(0, height - _ABOVE_TABLE - len(of_cluster))]:
        players = " - ".join(clean(name, 20) for name in row.players)
        cells = (row.match, row.game, players, str(row.ply), str(row.watchers))
        table.add_row(*(Text(cell) for cell in cells))
    return Group(head, figures, Text("Ctrl-C ends this; the server keeps running", style="dim"), table)
