"""Carry out the requests of admins: statistics, lists, announcements, drain, backups; `moderation` does the rest.

Each action is logged, also in the journal's audit log.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import assert_never

import msgspec

import ttt_net
from ttt_net.errors import Code, Refusal
from ttt_net.messages import DirectRequest, OrganiseRequest
from ttt_net.server.admin import protocol
from ttt_net.server.admin.moderation import THE_HOST, Admin, ModerationCommands, Moderators
from ttt_net.server.admin.protocol import ReplyTo
from ttt_net.server.admission.client_address import shown
from ttt_net.server.hub import Hub
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.matchmaking.tournament_service import TournamentDesk
from ttt_net.server.metrics import Histogram
from ttt_net.server.readiness import spoken
from ttt_net.server.wire.connection import Connection, RemoteConnection
from ttt_net.text import clean, counted

log = logging.getLogger(__name__)

MAX_ROWS = 1_000
"""The most rows in a list."""


class AdminCommands:
    """The one dispatch of admin requests: `carry_out` answers once, or raises `Refusal` and changes nothing."""

    def __init__(self, hub: Hub, stop: Callable[[], None], dismissed: Callable[[str], int]) -> None:
        """Begin to carry out requests; `stop` ends the server, and `dismissed` is as in `Moderators`."""
        self._hub = hub
        self._services = services = hub.services
        self.moderators = Moderators(services, dismissed)
        hub.moderators_changed = self.moderators.hear
        self._moderation = ModerationCommands(services)
        self._journal = services.journal
        self._stop = stop
        self._since_ms = hub.now_ms()
        self._is_backing_up = False
        self._is_attending = True

    def carry_out(self, asked: protocol.AnyAdminRequest, answer: ReplyTo, admin: Admin = THE_HOST) -> None:
        """Carry out a request, if the admin has the role that it needs."""
        if asked.role == "host" and not admin.is_host:
            raise Refusal(Code.BAD_MESSAGE, "only the host may do that")
        match asked:
            case protocol.Stats():
                answer(self.report())
            case protocol.ListPlayers():
                answer(_player_rows(self._hub, self._services.loop.time(), has_addresses=admin.is_host))
            case protocol.ListMatches():
                answer(_match_rows(self._hub))
            case protocol.Kick():
                answer(self._moderation.kick(asked, admin))
            case protocol.Ban() | protocol.MutePlayer():
                self._moderation.impose(asked, admin, answer)
            case protocol.Unban() | protocol.Unmute():
                self._moderation.lift(asked, admin, answer)
            case protocol.Bans():
                answer(self._moderation.bans(admin))
            case protocol.ListReports():
                self._moderation.reports(asked, answer)
            case protocol.ShowReport():
                self._moderation.show(asked, admin, answer)
            case protocol.SettleReport():
                self._moderation.close(asked, admin, answer)
            case protocol.SettleReports():
                self._moderation.close_all(asked, admin, answer)
            case protocol.ListModerators():
                answer(self.moderators.rows())
            case protocol.AddModerator():
                self.moderators.appoint(asked, answer)
            case protocol.RemoveModerator():
                self.moderators.dismiss(asked, answer)
            case protocol.Announce():
                answer(self._announce(asked))
            case protocol.Drain():
                answer(self._drain(asked))
            case protocol.Audit():
                self._audit(asked, answer)
            case protocol.Backup():
                self._back_up(asked, answer)
            case protocol.ListTournaments():
                answer(protocol.TournamentRows(self._hub.tournaments.listed(has_private=True).tournaments))
            case protocol.ShowTournament():
                answer(_sheet(self._hub.tournaments.find(asked.code)))
            case protocol.CreateTournament():
                self._create_tournament(asked, answer)
            case protocol.DirectTournament():
                self._direct_tournament(asked, answer)
            case _:
                assert_never(asked)

    def report(self) -> protocol.Report:
        """Return the current figures, and the counts since the start."""
        hub, services, metrics = self._hub, self._services, self._services.metrics
        health, left_ms = self._journal.health(), services.shutdown.left_ms()
        bots = sum(session.info.bot is not None for session in services.players.sessions.values())
        return protocol.Report(
            name=services.name,
            version=ttt_net.__version__,
            up_s=(hub.now_ms() - self._since_ms) / 1000,
            unready=hub.unready,
            restart_in_s=None if left_ms is None else left_ms / 1000,
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
            tasks=len(asyncio.all_tasks(services.loop)),
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
            questions=services.archive.waiting,
            questions_refused=services.archive.refused,
            answer_s=_timing(services.archive.answer_s),
        )

    def _announce(self, asked: protocol.Announce) -> protocol.Done:
        text = clean(asked.text, 200)
        if not text:
            raise Refusal(Code.BAD_MESSAGE, "there is nothing to see in that text")
        self._services.shutdown.announce(text)
        self._note("announce", text)
        people = sum(session.info.bot is None for session in self._services.players.sessions.values())
        return protocol.Done(f"told {counted(people, 'person', 'people')}")

    def _drain(self, asked: protocol.Drain) -> protocol.Done:
        if asked.in_s is None:
            if not self._services.shutdown.call_off():
                raise Refusal(Code.BAD_MESSAGE, "no restart was under way")
            self._note("drain", "called off")
            return protocol.Done("the restart was called off")
        self._note("drain", f"in {asked.in_s} s")  # first, because with 0 s nothing is written after this
        self._services.shutdown.begin(asked.in_s, self._stop)
        return protocol.Done(f"the server ends in {spoken(asked.in_s)}")

    # Tournaments.

    def _create_tournament(self, asked: protocol.CreateTournament, answer: ReplyTo) -> None:
        tournaments = self._hub.tournaments
        tournaments.must_be_read()
        terms = msgspec.structs.asdict(asked)
        own = {each: terms.pop(each) for each in ("per_address", "spare")}
        opened = tournaments.checked(OrganiseRequest(0, **terms), None, **own)

        def done(desk: TournamentDesk) -> None:
            self._note("tournament", f"{desk.now.id} was made: {desk.now.terms.name}")
            answer(_sheet(desk))

        tournaments.open(opened, {}, done, partial(protocol.fail, answer))

    def _direct_tournament(self, asked: protocol.DirectTournament, answer: ReplyTo) -> None:
        tournaments = self._hub.tournaments
        desk = tournaments.find(asked.code)
        parts = (asked.act, asked.name, asked.round, asked.board, asked.result, asked.note)

        def done() -> None:
            what = " ".join(str(part) for part in parts if part not in (None, ""))
            self._note("tournament", f"{desk.now.id}: {what}")
            answer(_sheet(desk))

        request = DirectRequest(0, asked.code, *parts)
        tournaments.direct(desk, request, done, partial(protocol.fail, answer), is_host=True)

    # Backups.

    def _back_up(self, asked: protocol.Backup, answer: ReplyTo) -> None:
        file = Path(asked.file)
        if not file.is_absolute():
            raise Refusal(Code.BAD_MESSAGE, f"{file}: the path must be a whole one, for the server is elsewhere")
        if self._is_backing_up:
            raise Refusal(Code.TOO_FAST, "another backup is under way")
        self._is_backing_up = True
        copy = partial(self._journal.snapshot, file, lambda: self._is_attending)
        work = self._services.loop.run_in_executor(None, copy)

        def done(copied: asyncio.Future[int]) -> None:
            self._is_backing_up = False
            error = copied.exception()
            if error:
                answer(protocol.Failed(str(error)))
                return
            self._note("backup", str(file))
            answer(protocol.Done(f"{file}: {copied.result():,} bytes"))

        work.add_done_callback(done)

    def stop(self) -> None:
        """Abort a running backup."""
        self._is_attending = False

    # The audit log.

    def _note(self, act: str, what: str) -> None:
        log.warning("admin: %s", act)
        self._journal.note(AuditNote(self._services.wall_ms(), act, what))

    def _audit(self, asked: protocol.Audit, answer: ReplyTo) -> None:
        def done(notes: list[AuditNote]) -> None:
            answer(protocol.AuditRows([protocol.AuditRow(note.at_ms, note.by, note.act, note.what) for note in notes]))

        self._journal.notes(asked.last, done, partial(protocol.fail, answer))


def _sheet(desk: TournamentDesk) -> protocol.TournamentSheet:
    rounds = [desk.boards(boards[number] for number in sorted(boards)) for boards in desk.now.rounds]
    return protocol.TournamentSheet(desk.message(None), rounds)


def _timing(histogram: Histogram) -> protocol.Timing:
    return protocol.Timing(histogram.bounds, list(histogram.counts), histogram.total)


def _from(connection: Connection | RemoteConnection) -> str:
    """Return the address of a connection; of a player on another node of a cluster, that node."""
    if isinstance(connection, RemoteConnection):
        return f"node {connection.node}"
    return shown(connection.address)


def _player_rows(hub: Hub, now_s: float, *, has_addresses: bool) -> protocol.PlayerRows:
    """Return the connected players by name, with or without their addresses."""
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


def _match_rows(hub: Hub) -> protocol.MatchRows:
    """Return the live matches, oldest first."""
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
