"""Report the server's state to an admin: figures, players, matches."""

import asyncio

import ttt_net
from ttt_net.server.admin import protocol
from ttt_net.server.admission.client_address import shown
from ttt_net.server.hub import Hub
from ttt_net.server.journal.ledger import LedgerHealth
from ttt_net.server.metrics import Histogram
from ttt_net.server.wire.connection import Connection, RemoteConnection

MAX_ROWS = 1_000


def report(
    hub: Hub, health: LedgerHealth, up_s: float, unready: str | None, restart_in_s: float | None
) -> protocol.Report:
    """Return the figures as they are now, and the counts since the start."""
    services = hub.services
    metrics = services.metrics
    bots = sum(session.info.bot is not None for session in services.players.sessions.values())
    return protocol.Report(
        name=services.name,
        version=ttt_net.__version__,
        up_s=up_s,
        unready=unready,
        restart_in_s=restart_in_s,
        connections=len(services.connections),
        people=len(services.players.sessions) - bots,
        bots=bots,
        tables=len(hub.registry.rooms),
        live=hub.census()[1],
        queue_bytes=sum(connection.unsent_bytes for connection in services.connections),
        jobs=health.waiting,
        analyses=len(hub.analysis.jobs),
        free_bytes=services.disk.usage and services.disk.usage.free_bytes,
        journal_bytes=services.disk.usage and services.disk.usage.journal_bytes,
        used_bytes=services.disk.used_bytes,
        cap_bytes=services.disk.cap_bytes,
        tasks=len(asyncio.all_tasks()),
        accepted=metrics.accepted,
        requests=metrics.requests,
        matches=metrics.matches,
        moves=metrics.moves,
        failures=health.failures,
        faults=metrics.faults,
        refusals=dict(metrics.refusals),
        endings=dict(metrics.endings),
        move_s=_timing(metrics.move_s),
        commit_s=_timing(health.commit_s),
        lag_s=_timing(metrics.lag_s),
        cluster=services.membership.figures() if services.membership else None,
    )


def _timing(histogram: Histogram) -> protocol.Timing:
    return protocol.Timing(histogram.bounds, list(histogram.counts), histogram.total)


def _from(connection: Connection | RemoteConnection) -> str:
    """Return the address that a connection comes from; of one to another node of a cluster, that node."""
    if isinstance(connection, RemoteConnection):
        return f"node {connection.node}"
    return shown(connection.address)


def player_rows(hub: Hub, now_s: float, *, has_addresses: bool) -> protocol.PlayerRows:
    """Return who is connected, by name, with their addresses or without."""
    sessions = sorted(hub.services.players.sessions.values(), key=lambda session: session.info.name)
    rows = [
        protocol.PlayerRow(
            session.info.name,
            session.info.bot,
            _from(session.connection) if has_addresses else "",
            now_s - session.connection.opened_s,
            sorted(session.live),
            session.connection.lag_ms,
            session.connection.unsent_bytes,
        )
        for session in sessions[:MAX_ROWS]
    ]
    return protocol.PlayerRows(len(sessions), rows)


def match_rows(hub: Hub) -> protocol.MatchRows:
    """Return the live matches, in the order in which they were opened."""
    live = [(room, room.match) for room in hub.registry.rooms.values() if room.match and not room.match.is_over]
    rows = []
    for room, match in live[:MAX_ROWS]:
        first, second = match.players
        rows.append(
            protocol.MatchRow(
                match=match.id,
                game=match.game.name,
                players=(first.name, second.name),
                present=room.seats.present(),
                ply=len(match.moves),
                watchers=room.audience.watchers,
                is_private=match.is_private,
            )
        )
    return protocol.MatchRows(len(live), rows)
