"""The server's state at one moment, as an admin sees it."""

import asyncio

import ttt_net
from ttt_net.server.admin import protocol
from ttt_net.server.admission.client_address import shown
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Database
from ttt_net.server.metrics import Histogram

MAX_ROWS = 1_000


def report(
    hub: Hub, database: Database, up_s: float, unready: str | None, restart_in_s: float | None
) -> protocol.Report:
    """Return the figures of the moment, and the counts since the start."""
    meters = hub.meters
    bots = sum(session.info.bot is not None for session in hub.sessions.values())
    return protocol.Report(
        name=hub.name,
        version=ttt_net.__version__,
        up_s=up_s,
        unready=unready,
        restart_in_s=restart_in_s,
        connections=len(hub.connections),
        people=len(hub.sessions) - bots,
        bots=bots,
        tables=len(hub.tables),
        live=sum(table.match is not None and not table.match.is_over for table in hub.tables.values()),
        queue_bytes=sum(connection.unsent_bytes for connection in hub.connections),
        jobs=database.waiting,
        tasks=len(asyncio.all_tasks()),
        accepted=meters.accepted,
        requests=meters.requests,
        matches=meters.matches,
        moves=meters.moves,
        failures=database.failures,
        faults=meters.faults,
        refusals=dict(meters.refusals),
        endings=dict(meters.endings),
        move_s=_timing(meters.move_s),
        commit_s=_timing(database.commit_s),
        lag_s=_timing(meters.lag_s),
    )


def _timing(histogram: Histogram) -> protocol.Timing:
    return protocol.Timing(histogram.bounds, list(histogram.counts), histogram.total)


def player_rows(hub: Hub, now_s: float) -> protocol.PlayerRows:
    """Return who is connected, by name."""
    sessions = sorted(hub.sessions.values(), key=lambda session: session.info.name)
    rows = [
        protocol.PlayerRow(
            session.info.name,
            session.info.bot,
            shown(session.connection.address),
            now_s - session.connection.opened_s,
            sorted(session.live),
            session.connection.lag_ms,
            session.connection.unsent_bytes,
        )
        for session in sessions[:MAX_ROWS]
    ]
    return protocol.PlayerRows(len(sessions), rows)


def match_rows(hub: Hub) -> protocol.MatchRows:
    """Return what is played, in the order in which it was opened."""
    live = [(table, table.match) for table in hub.tables.values() if table.match and not table.match.is_over]
    rows = []
    for table, match in live[:MAX_ROWS]:
        first, second = match.players
        one, other = table.seats or (0, 0)
        rows.append(
            protocol.MatchRow(
                match=match.id,
                game=match.game.name,
                players=(first.name, second.name),
                present=(table.is_present(one), table.is_present(other)),
                ply=len(match.moves),
                watchers=table.audience.watchers,
                is_private=match.is_private,
            )
        )
    return protocol.MatchRows(len(live), rows)
