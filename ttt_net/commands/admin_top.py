"""`admin top`: the server's figures, once a second: a screen in a terminal, a line in a pipe."""

import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ttt_net.commands.admin_view import cluster_rows, state, times, waiting, who_is_here
from ttt_net.server.admin import protocol
from ttt_net.server.shutdown import spoken
from ttt_net.text import clean, counted

_EVERY_S = 1.0
_ABOVE_TABLE = 10
"""Rows of the screen that are not matches, nor of a cluster."""


Ask = Callable[[protocol.AnyAdminRequest], protocol.AnyAdminReply]
"""Sends a request and returns the reply."""


def watch(ask: Ask, output: TextIO, rounds: int | None = None) -> int:
    """Show until Ctrl-C, or for that many rounds; return the exit code."""
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
    """Return the moment as one line."""
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
    """Return the screen; peers' text goes through `clean` and `Text`, so that none of it is taken for markup."""
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
    return Group(head, figures, Text("Ctrl-C ends this; the server goes on", style="dim"), table)
