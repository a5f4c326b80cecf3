"""Format the replies of an admin listener for people: figures as lines, lists as tables."""

from collections.abc import Iterable
from datetime import UTC, datetime

from ttt_net.server.admin import protocol
from ttt_net.server.cluster.membership import NodeFigures
from ttt_net.server.shutdown import spoken
from ttt_net.text import clean, counted


def as_text(answer: protocol.AnyAdminReply) -> str:
    """Return the answer for people."""
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
                    _ended(each),
                )
                for each in answer.reports
            ]
            return columns(("report", "made", "player", "for", "by", "text", "state"), reports)
        case protocol.PlayerReportDetail():
            return _player_report(answer)
        case protocol.ModeratorRows():
            return columns(("moderator", "since"), [(each.name, moment(each.since_ms)) for each in answer.moderators])
        case protocol.Done(text) | protocol.Failed(text):
            return text


def moment(at_ms: int | None) -> str:
    """Return a moment as date and time, UTC; of an end that never comes, that."""
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
        ("by", report.reporter),
        ("text", report.text or "-"),
        ("match", report.match or "-"),
        ("state", closed),
    ]
    rows += [("in force", f"{each.act} of {each.whom} {_end(each)}") for each in answer.sanctions]
    lines = [f"{name:<10} {clean(text, 200)}" for name, text in rows]
    if answer.lines:
        lines += ["", "what was said, the last lines before the report:"]
        lines += [
            f"  {moment(each.at_ms)[11:]}  {clean(each.name, 20)}: {clean(each.text, 140)}" for each in answer.lines
        ]
    elif report.match:
        lines += ["", "nothing was said there"]
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
        ("requests", f"{report.requests:,}, {refusals:,} refused{_by_reason(report.refusals)}"),
        ("faults", f"{report.faults:,}"),
        ("ended", f"{counted(sum(report.endings.values()), 'connection')}{_by_reason(report.endings)}"),
    ]
    return "\n".join(f"{name:<12} {text}" for name, text in rows)


def who_is_here(report: protocol.Report) -> str:
    """Return how many people and bots are connected."""
    return f"{counted(report.people, 'person', 'people')}, {counted(report.bots, 'bot')}"


def waiting(report: protocol.Report) -> str:
    """Return what waits for clients and for the disk."""
    return f"{counted(report.queue_bytes, 'byte')} for clients, {counted(report.jobs, 'job')} for the disk"


def cluster_rows(figures: NodeFigures | None) -> list[tuple[str, str]]:
    """Return how a node stands in its cluster; nothing of a server that is in none."""
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
    """Return in words whether all is well."""
    if report.restart_in_s is not None:
        return f"restarts in {spoken(report.restart_in_s)}"
    return report.unready or "ready"


def times(timing: protocol.Timing, before: protocol.Timing | None = None) -> str:
    """Return half and 99 % of the values, as bounds, those since `before`."""
    added = timing.since(before)
    half, most = added.quantile(0.5), added.quantile(0.99)
    return "none yet" if half is None or most is None else f"half within {_ms(half)}, 99 % within {_ms(most)}"


def _ms(seconds: float) -> str:
    return "more than 5 s" if seconds == float("inf") else f"{seconds * 1000:g} ms"


def _by_reason(counts: dict[str, int]) -> str:
    most = sorted(counts.items(), key=lambda item: -item[1])[:6]
    return f" ({', '.join(f'{reason} {count:,}' for reason, count in most)})" if most else ""


def columns(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table as lines, its columns as wide as they need to be; the last one may be a sentence."""
    cleaned = ((*(clean(cell, 60) for cell in row[:-1]), clean(row[-1], 240)) for row in rows)
    table: list[tuple[str, ...]] = [headings, *cleaned]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)
