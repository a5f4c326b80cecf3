"""A copy that is made while moves are written, checked before it is trusted, and put back."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.server.peer import Peer
from tests.server.running import Server, running
from ttt_net.__main__ import main
from ttt_net.errors import ConfigurationError
from ttt_net.server.cluster.replica import living_beside
from ttt_net.server.journal import Database, open_readonly
from ttt_net.server.journal.backups import JournalContents, back_up, restore, verify
from ttt_net.server.journal.schema import OLDEST, SCHEMA_VERSION

JOURNAL = "journal.sqlite"
_HEADER_BYTES = 100
"""Of a file of SQLite."""


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


async def played(server: Server, *names: str) -> tuple[Peer, Peer, str]:
    first, second, match = await server.pair(*names)
    await first.play(match, (first, 0), (second, 4), (first, 1))
    return first, second, match


async def test_a_copy_of_a_running_server_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        first, _, match = await played(server)
        assert back_up(tmp_path / JOURNAL, tmp_path / "copy") == (tmp_path / "copy").stat().st_size
        assert verify(tmp_path / "copy") == JournalContents(players=2, matches=1, unfinished=1, events=4)
        await first.ok("resign", match=match)
    assert verify(tmp_path / "copy").unfinished == 1, "it is of the moment in which it was made"
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
    assert names(tmp_path) == {"copy", JOURNAL, "journal.lock"}


async def test_a_restored_backup_continues_where_it_was(tmp_path: Path) -> None:
    async with running(tmp_path / "one") as server:
        first, _, match = await played(server)
        back_up(tmp_path / "one" / JOURNAL, tmp_path / "copy")
    assert restore(tmp_path / "copy", tmp_path / "two" / JOURNAL).events == 4
    async with running(tmp_path / "two") as server:
        again = await server.connect()
        assert (await again.hello(token=first.token))["matches"] == [match]
        assert len((await again.resume(match))["moves"]) == 3


async def test_writing_continues_during_a_copy_and_the_copy_is_consistent(tmp_path: Path) -> None:
    """The copying is stopped after every page, and each time a move is made."""
    async with running(tmp_path) as server:
        first, second, match = await server.pair(games=["mnk:19x19,19"])
        before = len((await first.resume(match))["moves"])
        moments = 0

        def look() -> bool:
            nonlocal moments
            moments += 1
            with closing(sqlite3.connect(tmp_path / JOURNAL, timeout=PATIENCE_S)) as other, other:
                other.execute("UPDATE players SET created_ms = ?", (moments,))
            return True

        import ttt_net.server.journal.backups as module

        pages, module._PAGES = module._PAGES, 1
        try:
            back_up(tmp_path / JOURNAL, tmp_path / "copy", look)
        finally:
            module._PAGES = pages
        assert moments > 10
        assert before == 0
        await second.ok("ping")
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert max(created for (created,) in copy.execute("SELECT created_ms FROM players")) > moments, "none of these"


def test_a_copy_that_is_no_longer_wanted_leaves_nothing(tmp_path: Path) -> None:
    with closing(Database(tmp_path / JOURNAL)):
        with pytest.raises(ConfigurationError, match="the server ends"):
            back_up(tmp_path / JOURNAL, tmp_path / "copy", lambda: False)
        assert not list(tmp_path.glob("copy*"))


def test_a_copy_is_never_written_over(tmp_path: Path) -> None:
    with closing(Database(tmp_path / JOURNAL)):
        (tmp_path / "copy").write_text("dear diary")
        with pytest.raises(ConfigurationError, match="never written over"):
            back_up(tmp_path / JOURNAL, tmp_path / "copy")
        assert (tmp_path / "copy").read_text() == "dear diary"


@pytest.mark.parametrize("where", ["nowhere/copy", "file/copy"])
def test_an_unwritable_folder_is_reported_in_one_line(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    with closing(Database(tmp_path / JOURNAL)), pytest.raises(ConfigurationError, match="cannot write"):
        back_up(tmp_path / JOURNAL, tmp_path / where)


def test_without_a_journal_there_is_nothing_to_copy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read the journal"):
        back_up(tmp_path / JOURNAL, tmp_path / "copy")


async def damaged(folder: Path, how: str) -> Path:
    async with running(folder / "server") as server:
        await played(server)
        back_up(folder / "server" / JOURNAL, folder / "copy")
    copy = folder / "copy"
    match how:
        case "empty":
            copy.write_bytes(b"")
        case "half":
            os.truncate(copy, copy.stat().st_size // 2)
        case "text":
            copy.write_text("dear diary" * 1_000)
        case _:
            with closing(sqlite3.connect(copy)) as connection, connection:
                connection.execute(how)
    return copy


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "half",
        "text",
        "DELETE FROM facts WHERE seq = 3",
        "DELETE FROM facts WHERE seq = 4",
        "UPDATE facts SET fact = CAST('{}' AS BLOB) WHERE seq = 2",
        "DELETE FROM matches",
        "PRAGMA user_version = 1000",
    ],
)
async def test_a_damaged_copy_is_refused_and_nothing_is_put_in_place(tmp_path: Path, how: str) -> None:
    copy = await damaged(tmp_path, how)
    if how.endswith("seq = 4"):
        assert verify(copy).events == 3, "a match without its last move is a match; nobody can tell"
        return
    with pytest.raises(ConfigurationError) as by_verify:
        verify(copy)
    with pytest.raises(ConfigurationError) as by_restore:
        restore(copy, tmp_path / "new" / JOURNAL)
    assert "\n" not in f"{by_verify.value}{by_restore.value}"
    assert names(tmp_path / "new") <= {"journal.lock"}


async def test_an_existing_journal_is_moved_aside(tmp_path: Path) -> None:
    async with running(tmp_path / "one") as server:
        await played(server)
        back_up(tmp_path / "one" / JOURNAL, tmp_path / "copy")
        with pytest.raises(ConfigurationError, match="another server is using"):
            restore(tmp_path / "copy", tmp_path / "one" / JOURNAL, is_replacing=True)
        await played(server, "Cid", "Dan")
    with pytest.raises(ConfigurationError, match="--replace"):
        restore(tmp_path / "copy", tmp_path / "one" / JOURNAL)
    restore(tmp_path / "copy", tmp_path / "one" / JOURNAL, is_replacing=True)
    assert verify(tmp_path / "one" / JOURNAL).players == 2
    assert verify(tmp_path / "one" / f"{JOURNAL}.before").players == 4


async def a_copy(folder: Path) -> Path:
    """Return a backup of two players and one match; the folder `data` has a journal of four players."""
    async with running(folder / "data") as server:
        await played(server)
        back_up(folder / "data" / JOURNAL, folder / "copy")
        await played(server, "Cid", "Dan")
    return folder / "copy"


async def test_a_journal_that_somebody_reads_is_not_replaced(tmp_path: Path) -> None:
    """The reader keeps the log in its place, which would be played into what is restored."""
    copy, journal = await a_copy(tmp_path), tmp_path / "data" / JOURNAL
    with closing(Database(journal)) as database, closing(open_readonly(journal)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM players").fetchone() == (4,)
        database.connection.execute("UPDATE players SET created_ms = 1")
        database.close()
        with pytest.raises(ConfigurationError, match="somebody reads"):
            restore(copy, journal, is_replacing=True)
    restore(copy, journal, is_replacing=True)
    assert verify(journal).players == 2
    assert verify(tmp_path / "data" / f"{JOURNAL}.before").players == 4


RECOVERING = """
import fcntl, sys
journal, index = open(sys.argv[1], "rb"), open(sys.argv[1] + "-shm", "w+b")
fcntl.lockf(journal, fcntl.LOCK_SH, 510, 0x40000002)
index.write(bytes(32_768))  # which says nothing of the log yet
index.flush()
for kind, byte in ((fcntl.LOCK_SH, 128), (fcntl.LOCK_EX, 120), (fcntl.LOCK_EX, 122)):  # is open, writes, recovers
    fcntl.lockf(index, kind, 1, byte)
print("ready", flush=True)
sys.stdin.read()
"""
"""A process that reads the log of a journal from its beginning, after another was killed, and takes long for it."""


@contextmanager
def recovering(journal: Path) -> Iterator[None]:
    command = (sys.executable, "-c", RECOVERING, str(journal))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


async def test_a_journal_whose_log_somebody_reads_after_a_crash_is_not_replaced(tmp_path: Path) -> None:
    copy, journal = await a_copy(tmp_path), tmp_path / "data" / JOURNAL
    with recovering(journal):
        with closing(sqlite3.connect(journal, timeout=0)) as reader:
            with pytest.raises(sqlite3.OperationalError) as refused:
                reader.execute("SELECT count(*) FROM players")
            assert refused.value.sqlite_errorcode == sqlite3.SQLITE_BUSY_RECOVERY
        with pytest.raises(ConfigurationError, match="somebody reads"):
            restore(copy, journal, is_replacing=True)
        assert not journal.with_name(f"{JOURNAL}.before").exists()
    restore(copy, journal, is_replacing=True)
    assert verify(journal).players == 2


@pytest.mark.parametrize("how", ["text", "holes", "PRAGMA user_version = 1000"])
async def test_a_journal_that_no_server_would_take_is_replaced_all_the_same(tmp_path: Path, how: str) -> None:
    copy, journal = await a_copy(tmp_path), tmp_path / "data" / JOURNAL
    match how:
        case "text":
            journal.write_text("dear diary" * 1_000)
        case "holes":
            whole = journal.read_bytes()
            journal.write_bytes(whole[:4_096] + bytes(len(whole) - 4_096))
        case _:
            with closing(sqlite3.connect(journal)) as connection:
                connection.execute(how)
    bad = journal.read_bytes()
    restore(copy, journal, is_replacing=True)
    assert verify(journal).players == 2
    kept = journal.with_name(f"{JOURNAL}.before").read_bytes()
    assert kept[_HEADER_BYTES:] == bad[_HEADER_BYTES:], "but for the mode that its header names"


async def test_a_journal_that_was_kept_is_never_written_over(tmp_path: Path) -> None:
    copy, journal = await a_copy(tmp_path), tmp_path / "data" / JOURNAL
    restore(copy, journal, is_replacing=True)
    with pytest.raises(ConfigurationError, match=r"journal\.sqlite\.before exists"):
        restore(copy, journal, is_replacing=True)
    assert verify(tmp_path / "data" / f"{JOURNAL}.before").players == 4


async def test_leftovers_of_a_killed_restore_or_server_do_no_harm(tmp_path: Path) -> None:
    copy, journal = await a_copy(tmp_path), tmp_path / "data" / JOURNAL
    with closing(Database(journal)) as database:
        database.connection.execute("UPDATE players SET created_ms = 1")
        log = journal.with_name(f"{JOURNAL}-wal").read_bytes()
    new = tmp_path / "new" / JOURNAL
    (new.parent / "restoring").mkdir(parents=True)
    for file in (new, new.parent / "restoring" / JOURNAL):
        file.with_name(f"{JOURNAL}-wal").write_bytes(log)
    restore(copy, new)
    assert verify(new).players == 2
    assert names(new.parent) == {JOURNAL, "journal.lock", f"{JOURNAL}.before-wal"}
    with pytest.raises(ConfigurationError, match=r"journal\.sqlite\.before-wal exists"):
        restore(copy, new, is_replacing=True)  # or the log of that one would be read with this one
    assert names(new.parent) == {JOURNAL, "journal.lock", f"{JOURNAL}.before-wal"}


async def test_a_copy_made_by_hand_is_put_back_with_its_log(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as server:
        await played(server)
    with closing(Database(tmp_path / "data" / JOURNAL)) as database:  # a running server empties its log when idle
        database.connection.execute("UPDATE players SET created_ms = 1")
        for file in (tmp_path / "data").iterdir():  # as of a server that was killed
            (tmp_path / file.name).write_bytes(file.read_bytes())
    restore(tmp_path / JOURNAL, tmp_path / "new" / JOURNAL)
    assert verify(tmp_path / "new" / JOURNAL).events == 4
    with closing(open_readonly(tmp_path / "new" / JOURNAL)) as restored:
        assert restored.execute("SELECT DISTINCT created_ms FROM players").fetchall() == [(1,)]


def test_a_copy_of_an_older_program_is_brought_up_to_date(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "copy")) as connection:
        connection.executescript((Path(__file__).parent / f"schema_{OLDEST}.sql").read_text())
    restore(tmp_path / "copy", tmp_path / "data" / JOURNAL)
    with closing(sqlite3.connect(tmp_path / "data" / JOURNAL)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    with closing(sqlite3.connect(tmp_path / "copy")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (OLDEST,)


async def test_the_commands_do_as_they_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, copy = str(tmp_path / "data"), str(tmp_path / "copy")
    async with running(tmp_path / "data") as server:
        await played(server)
        assert main(["backup", copy, "--data", data]) == 0
    assert " bytes" in capsys.readouterr().out
    assert main(["backup", copy, "--data", data]) == 2
    assert "never written over" in capsys.readouterr().err
    assert main(["restore", copy, "--verify"]) == 0
    assert "is whole: 2 players, 1 match (1 unfinished), 4 events" in capsys.readouterr().out
    assert main(["restore", copy, "--data", data]) == 2
    assert "--replace" in capsys.readouterr().err
    assert main(["restore", copy, "--data", data, "--replace"]) == 0
    assert "2 players" in capsys.readouterr().out


def test_a_node_that_still_fetches_old_matches_is_not_backed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Database(tmp_path / JOURNAL).close()
    living_beside(tmp_path / JOURNAL).touch()
    assert main(["backup", str(tmp_path / "copy"), "--data", str(tmp_path)]) == 2
    assert "still fetches older matches" in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()


def test_a_backup_that_is_no_journal_is_named_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("dear diary")
    with pytest.raises(ConfigurationError) as refused:
        verify(tmp_path / "mine")
    assert str(refused.value) == f"{tmp_path / 'mine'} is not a ttt_net journal: file is not a database"
