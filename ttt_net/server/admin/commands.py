"""Carry out what an admin asks; each act is logged, and written down in the journal's audit log."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ttt_net.errors import Code, Refusal
from ttt_net.server.admin import protocol
from ttt_net.server.admin.moderation import ModerationCommands
from ttt_net.server.admin.protocol import ReplyTo
from ttt_net.server.admin.roles import THE_HOST, Admin, Moderators
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.readiness import spoken
from ttt_net.server.services import Services
from ttt_net.text import clean, counted

log = logging.getLogger(__name__)


class AdminCommands:
    """Carries them out; `carry_out` answers once, or raises `Refusal` and changes nothing."""

    def __init__(self, services: Services, stop: Callable[[], None], moderators: Moderators) -> None:
        self._services = services
        self._moderators = moderators
        self._moderation = ModerationCommands(services)
        self._journal = services.journal
        self._stop = stop
        self._is_backing_up = False
        self._is_attending = True

    def carry_out(self, asked: protocol.AnyAdminRequest, answer: ReplyTo, admin: Admin = THE_HOST) -> None:
        """Carry out the command of an admin who may give it: see `check_allowed`."""
        match asked:
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
            case protocol.ListModerators():
                answer(self._moderators.rows())
            case protocol.AddModerator():
                self._moderators.appoint(asked, answer)
            case protocol.RemoveModerator():
                self._moderators.dismiss(asked, answer)
            case protocol.Announce():
                answer(self._announce(asked))
            case protocol.Drain():
                answer(self._drain(asked))
            case protocol.Audit():
                self._audit(asked, answer)
            case protocol.Backup():
                self._back_up(asked, answer)
            case _:
                raise AssertionError(f"{asked} is no act")

    def _announce(self, asked: protocol.Announce) -> protocol.Done:
        text = clean(asked.text, 200)
        if not text:
            raise Refusal(Code.BAD_MESSAGE, "there is nothing to see in that text")
        self._services.shutdown.announce(text)
        self._note("announce", text)
        return protocol.Done(f"told {counted(len(self._services.players.sessions), 'player')}")

    def _drain(self, asked: protocol.Drain) -> protocol.Done:
        if asked.in_s is None:
            if not self._services.shutdown.call_off():
                raise Refusal(Code.BAD_MESSAGE, "no restart was under way")
            self._note("drain", "called off")
            return protocol.Done("the restart was called off")
        self._note("drain", f"in {asked.in_s} s")  # first: with 0 s, this is the last that is written
        self._services.shutdown.begin(asked.in_s, self._stop)
        return protocol.Done(f"the server ends in {spoken(asked.in_s)}")

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
        """Give up a backup that is under way."""
        self._is_attending = False

    # The audit log.

    def _note(self, act: str, what: str) -> None:
        log.warning("admin: %s", act)
        self._journal.note(AuditNote(self._services.wall_ms(), act, what))

    def _audit(self, asked: protocol.Audit, answer: ReplyTo) -> None:
        def done(notes: list[AuditNote]) -> None:
            answer(protocol.AuditRows([protocol.AuditRow(note.at_ms, note.by, note.act, note.what) for note in notes]))

        self._journal.notes(asked.last, done, partial(protocol.fail, answer))
