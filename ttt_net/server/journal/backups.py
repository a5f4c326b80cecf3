"""Back up the journal: copy it while the server runs, check the copy, and restore it."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ttt_net.errors import ConfigurationError, StorageError, TttNetError
from ttt_net.matches.match import Match
from ttt_net.private_files import make_private_folder, sync
from ttt_net.server.journal.database import RESTORE_ADVICE, Database, lock_beside, open_readonly
from ttt_net.server.journal.queries import read_match
from ttt_net.text import counted

_PAGES = 1_024
"""The pages between two checks whether the copy is still wanted."""
_PARTS = ("", "-wal", "-shm")
"""The suffixes of the files of an open or killed database: itself, its log, the log's index."""
_PRIMARY = 0xFF
"""The bits of a result code that say what failed; the higher bits say why."""


class JournalContents(NamedTuple):
    """The contents of an intact journal."""

    players: int
    matches: int
    unfinished: int
    events: int

    def __str__(self) -> str:
        """Return it in words."""
        matches = f"{counted(self.matches, 'match', 'matches')} ({self.unfinished:,} unfinished)"
        return f"{counted(self.players, 'player')}, {matches}, {counted(self.events, 'event')}"


def back_up(journal: Path, file: Path, is_wanted: Callable[[], bool] = lambda: True) -> int:
    """Copy the current journal, even while a server writes to it; return the size in bytes.

    The file must not exist. It appears completely or not at all, readable only by its owner. The copy reads one
    snapshot of the write-ahead log, and never delays the server. Raises `ConfigurationError` if the copy fails.
    """
    if file.exists():
        raise ConfigurationError(f"{file} exists; a backup is never written over")
    part = file.with_name(f"{file.name}.part")
    try:
        with contextlib.ExitStack() as cleanup:
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            cleanup.callback(part.unlink, missing_ok=True)
            _copy(journal, part, is_wanted)
            sync(part)
            os.link(part, file)  # unlike a rename, this fails if another process was faster
        sync(file.parent)
        return file.stat().st_size
    except OSError as error:
        raise ConfigurationError(f"cannot write {file}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise ConfigurationError(f"cannot back up {journal}: {error}") from None


def _copy(journal: Path, part: Path, is_wanted: Callable[[], bool]) -> None:
    def look(status: int, remaining: int, total: int) -> None:
        if not is_wanted():
            raise ConfigurationError("the server ends, and the backup with it")

    with closing(open_readonly(journal)) as source, closing(sqlite3.connect(part)) as target:
        source.execute("BEGIN")  # one snapshot for all steps; otherwise each commit would restart it
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        source.backup(target, pages=_PAGES, progress=look, sleep=0)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, with no log beside it


def verify(backup: Path) -> JournalContents:
    """Return the contents of a backup after replaying all its matches. Raises `ConfigurationError` if one is wrong.

    A backup of an older release is migrated first, in a copy.
    """
    with tempfile.TemporaryDirectory(prefix="ttt_net-verify-") as folder:
        return _prepare(backup, Path(folder) / "journal.sqlite")


def restore(backup: Path, journal: Path, *, is_replacing: bool = False) -> JournalContents:
    """Check the backup and put it in place of the journal, which no server may hold; return its contents.

    An existing journal, intact or damaged, is an error, or is kept as `.before` if it should be replaced. Nobody may
    read it meanwhile. Raises `ConfigurationError` if that fails.
    """
    before = journal.with_name(f"{journal.name}.before")
    parts = {Path(f"{journal}{part}"): Path(f"{before}{part}") for part in _PARTS}
    if journal.exists() and not is_replacing:
        raise ConfigurationError(f"{journal} exists; with --replace it is kept as {before.name}")
    # Also a log without a journal, which would be applied to the next journal here.
    earlier = next((kept for kept in parts.values() if kept.exists()), None)
    if earlier and any(part.exists() for part in parts):
        raise ConfigurationError(f"{earlier} exists, from another time; move it away first")
    fresh = journal.parent / "restoring" / journal.name
    try:
        make_private_folder(journal.parent)
        with lock_beside(journal), _empty_folder(fresh.parent):
            contents = _prepare(backup, fresh)
            with closing(sqlite3.connect(fresh)) as connection:
                connection.execute("VACUUM")  # also drops what deleted rows have left in rearranged pages
            sync(fresh)
            if journal.exists():
                _bring_log_home(journal)
            for part, kept in parts.items():  # a remaining log would be applied to the restored journal
                if part.exists():
                    part.replace(kept)
            fresh.replace(journal)
            sync(journal.parent)
    except OSError as error:
        raise ConfigurationError(f"cannot write {journal}: {error.strerror}") from None
    return contents


@contextlib.contextmanager
def _empty_folder(folder: Path) -> Iterator[None]:
    """Make a folder for the block, and remove what a killed process left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bring_log_home(journal: Path) -> None:
    """Merge a journal and its log of any version into one file; leave a damaged one unchanged."""
    with closing(sqlite3.connect(journal, timeout=1)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error as error:
            if error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY:  # also BUSY_RECOVERY
                raise ConfigurationError(f"somebody reads {journal}, a backup perhaps; try again later") from None


def _prepare(backup: Path, copy: Path) -> JournalContents:
    """Copy the backup, including a log beside it, migrate the copy, and check it."""
    try:
        for part in _PARTS[:2]:
            if not part or Path(f"{backup}{part}").exists():
                shutil.copyfile(f"{backup}{part}", f"{copy}{part}")
        copy.chmod(0o600)
    except OSError as error:
        raise ConfigurationError(f"cannot read {backup}: {error.strerror}") from None
    if copy.stat().st_size == 0:
        raise ConfigurationError(f"{backup} is empty")
    try:
        database = Database(copy)
    except ConfigurationError as error:  # the errors name the copy, which the user does not know
        raise ConfigurationError(str(error).removesuffix(RESTORE_ADVICE).replace(str(copy), str(backup))) from None
    with closing(database), closing(open_readonly(copy)) as connection:
        return check(connection)


def check(connection: sqlite3.Connection) -> JournalContents:
    """Return the contents of a journal. Raises `ConfigurationError` if it is broken."""
    try:
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok" or connection.execute("PRAGMA foreign_key_check").fetchone():
            raise ConfigurationError(f"the file is damaged: {verdict}")
        events = 0
        ids = [match for (match,) in connection.execute("SELECT id FROM matches")]
        for match in ids:
            events += _play_through(connection, match)
        (players,) = connection.execute("SELECT count(*) FROM players").fetchone()
        (unfinished,) = connection.execute("SELECT count(*) FROM matches WHERE NOT is_over").fetchone()
    except sqlite3.Error as error:
        raise ConfigurationError(f"the file is damaged: {error}") from None
    return JournalContents(players, len(ids), unfinished, events)


def _play_through(connection: sqlite3.Connection, match: str) -> int:
    try:
        record = read_match(connection, match)
        Match.from_events(record.events)
    except (TttNetError, ValueError, AssertionError) as error:
        cause = error.cause if isinstance(error, StorageError) else error
        raise ConfigurationError(f"match {match} cannot be played through: {cause}") from None
    if [event.seq for event in record.events] != list(range(1, len(record.events) + 1)):
        raise ConfigurationError(f"match {match} lacks events")
    return len(record.events)
