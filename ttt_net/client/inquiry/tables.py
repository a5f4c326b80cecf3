"""Write a server's answers as lines: tables that fit the terminal, and whole ones in a pipe."""

import io
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ttt_net.client.command_line.inquiry import Inquiry
from ttt_net.client.command_line.options import Options
from ttt_net.messages import FinishedMatch, HistoryReply, LeaderboardReply, PlayerInfo, ProfileReply
from ttt_net.text import clean

PIPE_WIDTH = 500
"""In a pipe nothing is cut: no table is so wide."""
_LEFT, _RIGHT = "left", "right"


def lines_of(told: ProfileReply | HistoryReply | LeaderboardReply, options: Options, inquiry: Inquiry) -> list[str]:
    """Return what a server told, line by line; no line is longer than the terminal is wide, if there is one."""
    if options.is_json:
        return [msgspec.json.encode(told).decode()]
    is_terminal = sys.stdout.isatty()
    output = io.StringIO()
    console = Console(
        file=output,
        width=Console().width if is_terminal else PIPE_WIDTH,
        force_terminal=is_terminal,
        highlight=False,
        no_color=None if is_terminal else True,
    )
    match told:
        case ProfileReply():
            _print_profile(console, told)
        case HistoryReply():
            _print_history(console, told, options, inquiry)
        case LeaderboardReply():
            _print_leaders(console, told, options, inquiry)
    return [line.rstrip() for line in output.getvalue().splitlines()]


def _print_profile(console: Console, told: ProfileReply) -> None:
    since = datetime.fromtimestamp(told.since_ms / 1000, UTC).date().isoformat()
    presence = "here now" if told.online else "not here now"
    _say(console, f"{_name(told.player)}: known since {since}, {presence}", "bold")
    _say(console, f"won {told.won}, drawn {told.drawn}, lost {told.lost}")
    if told.against is not None:
        against = told.against
        _say(console, f"against you: won {against.lost}, drawn {against.drawn}, lost {against.won}")
    if told.live:
        _say(console, f"plays: {', '.join(clean(match, 32) for match in told.live)}")
    if told.ratings:
        rows = [
            (clean(each.game, 40), each.speed, *_figures(each.rating, each.deviation, each.games, each.provisional))
            for each in told.ratings
        ]
        _say(console, "")
        _table(console, ("game", "speed", "rating>", ">", "matches>"), rows)


def _print_history(console: Console, told: HistoryReply, options: Options, inquiry: Inquiry) -> None:
    _say(console, f"finished matches of {_name(told.player)}, page {inquiry.page}", "bold")
    rows = [
        (
            datetime.fromtimestamp(each.at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M"),
            clean(each.game, 40),
            _name(each.players[0]),
            _name(each.players[1]),
            _result(each),
            clean(each.reason, 20),
            str(each.plies),
            "rated" if each.rated else "private" if each.private else "",
            clean(each.match, 32),
        )
        for each in told.matches
    ]
    if rows:
        columns = ("ended (UTC)", "game", "first", "second", "result", "by", "moves>", "", "match")
        _table(console, columns, rows)
    else:
        _say(console, "none")
    if told.before is not None:
        _say_next(console, options, inquiry)


def _print_leaders(console: Console, told: LeaderboardReply, options: Options, inquiry: Inquiry) -> None:
    whom = "" if inquiry.has_bots else ", people only"
    _say(
        console,
        f"ratings at {clean(told.game, 40)}, {told.speed}{whom}: page {told.page} of {told.pages}",
        style="bold",
    )
    rows = [
        (
            str(each.rank),
            _name(each.player),
            *_figures(each.player.rating or 0, each.deviation, each.games, each.player.provisional),
        )
        for each in told.leaders
    ]
    if rows:
        _table(console, ("rank>", "player", "rating>", ">", "matches>"), rows)
        if any(each.player.provisional for each in told.leaders):
            _say(console, "? provisional: too few matches yet, or too long ago")
    else:
        _say(console, "nobody")
    if told.you is not None:
        _say(console, f"you are number {told.you}")
    if told.page < told.pages:
        _say_next(console, options, inquiry)


def _say_next(console: Console, options: Options, inquiry: Inquiry) -> None:
    about = f" {inquiry.about}" if inquiry.about else ""
    speed = f" --speed {inquiry.speed}" if inquiry.speed != "untimed" else ""
    people = "" if inquiry.has_bots else " --people"
    _say(console, f"more: {options.command} --{inquiry.kind}{about}{speed}{people} --page {inquiry.page + 1}", "dim")


def _table(console: Console, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in columns; those whose name ends in > are numbers. What does not fit is cut, not wrapped."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        justify = _RIGHT if column.endswith(">") else _LEFT
        table.add_column(column.removesuffix(">"), justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _say(console: Console, sentence: str, style: str = "") -> None:
    console.print(Text(sentence, style=style), no_wrap=True, overflow="ellipsis", crop=True)


def _name(player: PlayerInfo) -> str:
    name = clean(player.name, 20) or "?"
    return name if player.bot is None else f"{name} (bot)"


def _figures(rating: int, deviation: int, games: int, provisional: bool) -> tuple[str, str, str]:
    return f"{rating}{'?' if provisional else ''}", f"±{deviation}", str(games)


def _result(match: FinishedMatch) -> str:
    if match.reason == "abort":
        return "-"
    return {0: "1-0", 1: "0-1", None: "½-½"}.get(match.winner, "?")
