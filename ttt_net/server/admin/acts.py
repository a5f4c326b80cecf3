"""What an admin does: each act is logged, and written down in the journal's audit log."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ttt_net.errors import Closing, Code, Refusal
from ttt_net.server.admin import words
from ttt_net.server.admin.countdown import Countdown
from ttt_net.server.admission.sanctions import Act, Sanction, Sanctions, network_to_ban, of_player, until
from ttt_net.server.hub import Hub
from ttt_net.server.journal import Database, StorageError, host
from ttt_net.server.journal.backup import back_up
from ttt_net.server.journal.host import Note
from ttt_net.server.meeting.last_call import spoken
from ttt_net.server.players.session import Session
from ttt_net.text import clean, counted, name_key

log = logging.getLogger(__name__)

Answer = Callable[[words.AnyAnswer], None]
_RETRY_S = 5.0
"""When sanctions that could not be read are read again."""
_VERBS: dict[Act, str] = {"ban": "banned", "mute": "muted"}


def load_sanctions(database: Database, sanctions: Sanctions) -> None:
    """Put in force what the journal has; the journal answers this before any `hello` that is said later.

    Where it cannot be read, whoever is banned may come in until it can: it is tried again and again.
    """

    def done(found: list[Sanction] | StorageError) -> None:
        if isinstance(found, list):
            sanctions.add(found)
        else:
            log.error("bans and mutes are not in force: %s", found)
            asyncio.get_running_loop().call_later(_RETRY_S, load_sanctions, database, sanctions)

    database.submit(host.read_sanctions, done)


class Acts:
    """Carries them out; `carry_out` answers once, or raises `Refusal` and changes nothing."""

    def __init__(self, hub: Hub, database: Database, countdown: Countdown) -> None:
        self._hub = hub
        self._database = database
        self._countdown = countdown
        self._is_backing_up = False
        self._is_attending = True

    def carry_out(self, asked: words.AnyAsked, answer: Answer) -> None:
        """Do what is asked."""
        match asked:
            case words.Kick():
                answer(self._kick(asked))
            case words.Announce():
                answer(self._announce(asked))
            case words.Drain():
                answer(self._drain(asked))
            case words.Ban():
                self._ban(asked, answer)
            case words.Unban():
                self._lift("ban", asked.whom, answer)
            case words.Mute():
                self._impose_on_player("mute", asked.name, asked.reason, asked.for_s, answer)
            case words.Unmute():
                self._lift("mute", asked.name, answer)
            case words.Bans():
                answer(self._bans())
            case words.Audit():
                self._audit(asked, answer)
            case words.Backup():
                self._back_up(asked, answer)
            case _:
                raise AssertionError(f"{asked} is no act")

    def _kick(self, asked: words.Kick) -> words.Done:
        session = self._session(asked.name)
        if session is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"nobody called {asked.name} is connected")
        reason = clean(asked.reason, 80)
        session.connection.close(Closing.KICKED, f"the host has sent you away{': ' if reason else ''}{reason}")
        self._note("kick", f": {reason}", session.player)
        return words.Done(f"{session.info.name} was sent away")

    def _session(self, name: str) -> Session | None:
        key = name_key(name)
        return next((each for each in self._hub.sessions.values() if name_key(each.info.name) == key), None)

    def _announce(self, asked: words.Announce) -> words.Done:
        text = clean(asked.text, 200)
        if not text:
            raise Refusal(Code.BAD_MESSAGE, "there is nothing to see in that text")
        self._hub.announce(text)
        self._note("announce", text)
        return words.Done(f"told {counted(len(self._hub.sessions), 'player')}")

    def _drain(self, asked: words.Drain) -> words.Done:
        if asked.in_s is None:
            if not self._countdown.call_off():
                raise Refusal(Code.BAD_MESSAGE, "no restart was under way")
            self._note("drain", "called off")
            return words.Done("the restart was called off")
        self._note("drain", f"in {asked.in_s} s")  # first: with 0 s, this is the last that is written
        self._countdown.begin(asked.in_s)
        return words.Done(f"the server ends in {spoken(asked.in_s)}")

    # Bans and mutes.

    def _ban(self, asked: words.Ban, answer: Answer) -> None:
        network = network_to_ban(asked.whom)
        if network is None:
            self._impose_on_player("ban", asked.whom.removeprefix("name:"), asked.reason, asked.for_s, answer)
            return
        sanction = self._sanction("ban", network, network, asked.reason, asked.for_s)
        self._impose(lambda _: sanction, answer)

    def _impose_on_player(self, act: Act, name: str, reason: str, for_s: int | None, answer: Answer) -> None:
        def find(connection: sqlite3.Connection) -> Sanction | Refusal:
            found = host.find_player(connection, name)
            if found is None:
                return Refusal(Code.UNKNOWN_PLAYER, f"no player is called {name}")
            return self._sanction(act, of_player(found[0]), found[1], reason, for_s)

        self._impose(find, answer)

    def _sanction(self, act: Act, whom: str, shown: str, reason: str, for_s: int | None) -> Sanction:
        now_ms = self._hub.now_ms()
        until_ms = None if for_s is None else now_ms + for_s * 1000
        return Sanction(act, whom, shown, clean(reason, 80), now_ms, until_ms)

    def _impose(self, find: Callable[[sqlite3.Connection], Sanction | Refusal], answer: Answer) -> None:
        """Write the sanction down with its note in one transaction; then put it in force, and answer."""

        def work(connection: sqlite3.Connection) -> Sanction | Refusal:
            sanction = find(connection)
            if isinstance(sanction, Sanction):
                host.keep_sanction(connection, sanction)
                rest = f" {until(sanction.until_ms)}: {sanction.reason}"
                host.write_note(connection, _note_about(sanction, sanction.since_ms, sanction.act, rest))
            return sanction

        def done(result: Sanction | Refusal | StorageError) -> None:
            if not isinstance(result, Sanction):
                answer(words.Failed(str(result)))
                return
            log.warning("admin: %s", result.act)  # of whom, is in the audit log
            self._hub.sanctions.add([result])
            closed = self._close_banned(result) if result.act == "ban" else 0
            also = f"; {counted(closed, 'connection')} closed" if closed else ""
            answer(words.Done(f"{result.shown} is {_VERBS[result.act]} {until(result.until_ms)}{also}"))

        self._database.submit(work, done)

    def _close_banned(self, ban: Sanction) -> int:
        sanctions = self._hub.sanctions
        closed = 0
        for session in list(self._hub.sessions.values()):
            if sanctions.of("ban", session.player) or sanctions.ban_of_address(session.connection.address):
                session.connection.close(Closing.KICKED, ban.sentence())
                closed += 1
        return closed

    def _lift(self, act: Act, whom: str, answer: Answer) -> None:
        name = whom.removeprefix("name:")
        network = network_to_ban(whom) if act == "ban" else None
        key = name_key(name)
        found = next(
            (
                each
                for each in self._hub.sanctions.in_force()
                if each.act == act and (each.whom == network if network else name_key(each.shown) == key)
            ),
            None,
        )
        if found is None:
            raise Refusal(Code.UNKNOWN_PLAYER, f"{whom} is not {_VERBS[act]}; bans lists who is")
        note = _note_about(found, self._hub.now_ms(), f"un{act}", "")

        def work(connection: sqlite3.Connection) -> None:
            host.lift_sanction(connection, act, found.whom)
            host.write_note(connection, note)

        def done(failure: StorageError | None) -> None:
            if failure:
                answer(words.Failed(str(failure)))
                return
            log.warning("admin: %s", note.act)
            self._hub.sanctions.lift(act, found.whom)
            answer(words.Done(f"{found.shown} is no longer {_VERBS[act]}"))

        self._database.submit(work, done)

    def _bans(self) -> words.SanctionRows:
        return words.SanctionRows(
            [
                words.SanctionRow(each.act, each.shown, each.reason, each.since_ms, each.until_ms)
                for each in self._hub.sanctions.in_force()
            ]
        )

    # Backups.

    def _back_up(self, asked: words.Backup, answer: Answer) -> None:
        file = Path(asked.file)
        if not file.is_absolute():
            raise Refusal(Code.BAD_MESSAGE, f"{file}: the path must be a whole one, for the server is elsewhere")
        if self._is_backing_up:
            raise Refusal(Code.TOO_FAST, "another backup is under way")
        self._is_backing_up = True
        journal = self._database.path
        work = asyncio.get_running_loop().run_in_executor(None, back_up, journal, file, lambda: self._is_attending)

        def done(copied: asyncio.Future[int]) -> None:
            self._is_backing_up = False
            error = copied.exception()
            if error:
                answer(words.Failed(str(error)))
                return
            self._note("backup", str(file))
            answer(words.Done(f"{file}: {copied.result():,} bytes"))

        work.add_done_callback(done)

    def stop(self) -> None:
        """Give up a backup that is under way."""
        self._is_attending = False

    # The audit log.

    def _note(self, act: str, what: str, player: int | None = None) -> None:
        log.warning("admin: %s", act)
        note = Note(self._hub.now_ms(), act, what, player)
        self._database.submit(lambda connection: host.write_note(connection, note), lambda _: None)

    def _audit(self, asked: words.Audit, answer: Answer) -> None:
        def done(notes: list[Note] | StorageError) -> None:
            if isinstance(notes, StorageError):
                answer(words.Failed(str(notes)))
            else:
                answer(words.AuditRows([words.AuditRow(note.at_ms, note.act, note.what) for note in notes]))

        self._database.submit(lambda connection: host.read_notes(connection, asked.last), done)


def _note_about(sanction: Sanction, at_ms: int, act: str, rest: str) -> Note:
    """Return a note that names a network, but not a player: he may be forgotten."""
    return Note(at_ms, act, rest if sanction.player else f"{sanction.shown}{rest}", sanction.player)
