"""Carry out what an admin asks; each act is logged, and written down in the journal's audit log."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ttt_net.errors import Closing, Code, Refusal, StorageError
from ttt_net.server.accounts.session import Session
from ttt_net.server.admin import protocol
from ttt_net.server.admission.sanctions import Act, Sanction, network_to_ban, of_player, until
from ttt_net.server.journal.entries import AuditNote
from ttt_net.server.players import PlayerId
from ttt_net.server.services import Services
from ttt_net.server.shutdown import spoken
from ttt_net.text import clean, counted, name_key

log = logging.getLogger(__name__)

ReplyTo = Callable[[protocol.AnyAdminReply], None]
RETRY_S = 5.0
"""When sanctions that could not be read are read again."""
_VERBS: dict[Act, str] = {"ban": "banned", "mute": "muted"}


def load_sanctions(services: Services) -> None:
    """Read the bans and mutes of the journal and put them in force.

    The journal answers this before any `hello` that is said later. Where it cannot be read, banned players may come in
    until it can: it is tried again and again, and closes their connections then.
    """

    def done(found: list[Sanction]) -> None:
        services.sanctions.add(found)
        close_banned(services)

    def failed(refusal: Refusal) -> None:
        log.error("bans and mutes are not in force: %s", _reason(refusal))
        services.loop.call_later(RETRY_S, load_sanctions, services)

    services.journal.sanctions(done, failed)


def close_banned(services: Services) -> int:
    """Close the connections of players who are banned; return how many there were."""
    sanctions, closed = services.sanctions, 0
    for session in list(services.players.sessions.values()):
        ban = sanctions.of("ban", session.player) or sanctions.ban_of_address(session.connection.address)
        if ban:
            session.connection.close(Closing.KICKED, ban.sentence())
            closed += 1
    return closed


class AdminCommands:
    """Carries them out; `carry_out` answers once, or raises `Refusal` and changes nothing."""

    def __init__(self, services: Services, stop: Callable[[], None]) -> None:
        self._services = services
        self._journal = services.journal
        self._stop = stop
        self._is_backing_up = False
        self._is_attending = True

    def carry_out(self, asked: protocol.AnyAdminRequest, answer: ReplyTo) -> None:
        """Do what is asked."""
        match asked:
            case protocol.Kick():
                answer(self._kick(asked))
            case protocol.Announce():
                answer(self._announce(asked))
            case protocol.Drain():
                answer(self._drain(asked))
            case protocol.Ban():
                self._ban(asked, answer)
            case protocol.Unban():
                self._lift("ban", asked.whom, answer)
            case protocol.MutePlayer():
                self._impose_on_player("mute", asked.name, asked.reason, asked.for_s, answer)
            case protocol.Unmute():
                self._lift("mute", asked.name, answer)
            case protocol.Bans():
                answer(self._bans())
            case protocol.Audit():
                self._audit(asked, answer)
            case protocol.Backup():
                self._back_up(asked, answer)
            case _:
                raise AssertionError(f"{asked} is no act")

    def _kick(self, asked: protocol.Kick) -> protocol.Done:
        session = self._session(asked.name)
        if session is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"nobody called {asked.name} is connected")
        reason = clean(asked.reason, 80)
        session.connection.close(Closing.KICKED, f"the host has sent you away{': ' if reason else ''}{reason}")
        self._note("kick", f": {reason}", session.player)
        return protocol.Done(f"{session.info.name} was sent away")

    def _session(self, name: str) -> Session | None:
        key = name_key(name)
        return next(
            (each for each in self._services.players.sessions.values() if name_key(each.info.name) == key), None
        )

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

    # Bans and mutes.

    def _ban(self, asked: protocol.Ban, answer: ReplyTo) -> None:
        network = network_to_ban(asked.whom)
        if network is None:
            self._impose_on_player("ban", asked.whom.removeprefix("name:"), asked.reason, asked.for_s, answer)
            return
        self._impose(self._sanction("ban", network, network, asked.reason, asked.for_s), answer)

    def _impose_on_player(self, act: Act, name: str, reason: str, for_s: int | None, answer: ReplyTo) -> None:
        def found(player: tuple[PlayerId, str]) -> None:
            self._impose(self._sanction(act, of_player(player[0]), player[1], reason, for_s), answer)

        self._journal.player_named(name, found, partial(_fail, answer))

    def _sanction(self, act: Act, whom: str, shown: str, reason: str, for_s: int | None) -> Sanction:
        now_ms = self._services.wall_ms()
        until_ms = None if for_s is None else now_ms + for_s * 1000
        return Sanction(act, whom, shown, clean(reason, 80), now_ms, until_ms)

    def _impose(self, sanction: Sanction, answer: ReplyTo) -> None:
        """Keep the sanction with its note in one transaction; then put it in force, and answer."""
        rest = f" {until(sanction.until_ms)}: {sanction.reason}"
        note = _note_about(sanction, sanction.since_ms, sanction.act, rest)

        def done() -> None:
            log.warning("admin: %s", sanction.act)  # of whom, is in the audit log
            self._services.sanctions.add([sanction])
            closed = close_banned(self._services) if sanction.act == "ban" else 0
            also = f"; {counted(closed, 'connection')} closed" if closed else ""
            answer(protocol.Done(f"{sanction.shown} is {_VERBS[sanction.act]} {until(sanction.until_ms)}{also}"))

        self._journal.impose(sanction, note, done, partial(_fail, answer))

    def _lift(self, act: Act, whom: str, answer: ReplyTo) -> None:
        name = whom.removeprefix("name:")
        network = network_to_ban(whom) if act == "ban" else None
        key = name_key(name)
        found = next(
            (
                each
                for each in self._services.sanctions.in_force()
                if each.act == act and (each.whom == network if network else name_key(each.shown) == key)
            ),
            None,
        )
        if found is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"{whom} is not {_VERBS[act]}; bans lists who is")
        note = _note_about(found, self._services.wall_ms(), f"un{act}", "")

        def done() -> None:
            log.warning("admin: %s", note.act)
            self._services.sanctions.lift(act, found.whom)
            answer(protocol.Done(f"{found.shown} is no longer {_VERBS[act]}"))

        self._journal.lift(found, note, done, partial(_fail, answer))

    def _bans(self) -> protocol.SanctionRows:
        return protocol.SanctionRows(
            [
                protocol.SanctionRow(each.act, each.shown, each.reason, each.since_ms, each.until_ms)
                for each in self._services.sanctions.in_force()
            ]
        )

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

    def _note(self, act: str, what: str, player: int | None = None) -> None:
        log.warning("admin: %s", act)
        self._journal.note(AuditNote(self._services.wall_ms(), act, what, player))

    def _audit(self, asked: protocol.Audit, answer: ReplyTo) -> None:
        def done(notes: list[AuditNote]) -> None:
            answer(protocol.AuditRows([protocol.AuditRow(note.at_ms, note.act, note.what) for note in notes]))

        self._journal.notes(asked.last, done, partial(_fail, answer))


def _fail(answer: ReplyTo, refusal: Refusal) -> None:
    answer(protocol.Failed(_reason(refusal)))


def _reason(refusal: Refusal) -> str:
    """Return why an act was refused; of a failing disk, what exactly is wrong with it."""
    return refusal.cause if isinstance(refusal, StorageError) else str(refusal)


def _note_about(sanction: Sanction, at_ms: int, act: str, rest: str) -> AuditNote:
    """Return a note that names a network, but not a player: they may be forgotten."""
    return AuditNote(at_ms, act, rest if sanction.player else f"{sanction.shown}{rest}", sanction.player)
