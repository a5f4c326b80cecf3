"""One file, and what a failing disk does to it: batches, refusals, faults; what opens it, and what it refuses."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.server.journal.jobs import committed, register
from ttt_net.errors import Code, ConfigurationError, Refusal, StorageError
from ttt_net.messages import PlayerInfo, Started
from ttt_net.server.journal import Database
from ttt_net.server.journal.backups import back_up, restore
from ttt_net.server.journal.database import open_readonly
from ttt_net.server.journal.entries import AppendEvents, ForgetGuests, ForgetPlayer, Probe
from ttt_net.server.journal.queries import NameQuery
from ttt_net.server.journal.schema import SCHEMA_VERSION
from ttt_net.server.players import Player

STARTED = Started(match="m", seq=1, at_ms=0, game="tictactoe", players=(PlayerInfo(""), PlayerInfo("")))
FAULT = AppendEvents((STARTED,))
"""An entry that no author may make: a start without seats."""
BROKEN = AppendEvents((STARTED,), (1, 99))
"""An entry that breaks a law of the tables: there is no such player."""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "journal")) as made:
        yield made


def names(database: Database) -> list[str]:
    return [name for (name,) in database.connection.execute("SELECT name FROM players ORDER BY id")]


def test_jobs_are_done_in_order_and_answered_in_order(database: Database) -> None:
    assert committed(database, register("a"), NameQuery("a"), register("b"), NameQuery("b")) == [
        Player(1, "a"), (1, "a"), Player(2, "b"), (2, "b"),
    ]  # fmt: skip


def test_one_bad_job_does_not_spoil_the_batch_that_it_meets(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    answers = committed(database, register("a"), BROKEN, register("b"), FAULT, BROKEN, NameQuery("b"))
    assert [type(answer) for answer in answers] == [Player, StorageError, Player, StorageError, StorageError, tuple]
    assert names(database) == ["a", "b"]
    assert database.failures == 3
    assert [record.exc_info is not None for record in caplog.records] == [False, True, False], "a fault has its place"
    assert "a match starts with its seats" in caplog.text
    caplog.clear()


def test_writes_of_a_failing_job_are_rolled_back(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    committed(database, register("a"), register("b"))
    second = Started(match="n", seq=3, at_ms=0, game="tictactoe", players=STARTED.players)
    (answer,) = committed(database, AppendEvents((STARTED, second), (1, 2)))
    assert isinstance(answer, StorageError)
    assert database.connection.execute("SELECT * FROM matches").fetchall() == []
    caplog.clear()


def test_a_refusal_is_an_answer_like_others_and_leaves_no_trace(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    committed(database, register("a"), register("b"), AppendEvents((STARTED,), (1, 2)))
    run: list[str] = []
    database.connection.set_trace_callback(run.append)
    answers = committed(database, register("c"), register("a"), ForgetPlayer(1), NameQuery("x"), register("d"))
    database.connection.set_trace_callback(None)
    assert [type(answer) for answer in answers] == [Player, Player, Refusal, Refusal, Player]
    assert [each.code for each in answers[2:4]] == [Code.STILL_PLAYING, Code.UNKNOWN_PLAYER]
    assert (run.count("BEGIN"), run.count("COMMIT")) == (1, 1), "all in one transaction"
    assert names(database) == ["a", "b", "c", "d"]
    assert (database.failures, caplog.records) == (0, [])


def test_a_file_that_cannot_grow_refuses_writes_and_accepts_them_again_once_there_is_room(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    committed(database, register("a"))
    database.connection.execute("PRAGMA max_page_count = 1")
    (answer,) = committed(database, register("b" * 50_000))
    assert isinstance(answer, StorageError)
    assert "full" in answer.cause
    assert "full" not in str(answer), "players need not know"
    database.connection.execute("PRAGMA max_page_count = 100000")
    committed(database, register("c"))
    assert names(database) == ["a", "c"]
    caplog.clear()


def test_a_file_that_cannot_be_written_is_still_read(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    committed(database, register("a"))
    database.connection.execute("PRAGMA query_only = ON")
    refused, read = committed(database, register("b"), NameQuery("a"))
    assert isinstance(refused, StorageError)
    assert read == (1, "a")
    database.connection.execute("PRAGMA query_only = OFF")
    committed(database, register("c"))
    assert names(database) == ["a", "c"]
    caplog.clear()


def test_a_disk_that_fails_is_logged_once_and_once_more_when_it_works_again(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    committed(database, register("a"))
    database.connection.execute("PRAGMA query_only = ON")
    for name in "bcd":
        committed(database, register(name), NameQuery("a"))
    assert (database.failures, database.is_failing) == (3, True)
    database.connection.execute("PRAGMA query_only = OFF")
    committed(database, NameQuery("a"))
    assert database.is_failing, "to read tells nothing"
    committed(database, Probe())
    assert not database.is_failing
    assert "moves are refused until the disk can be written, and what was told is safe" in caplog.text
    assert [(record.levelname, record.message.partition(":")[0]) for record in caplog.records] == [
        ("ERROR", "storage"),
        ("WARNING", "storage"),
    ]
    caplog.clear()


def test_deleted_rows_leave_the_write_ahead_log_as_soon_as_nobody_reads_it(tmp_path: Path) -> None:
    def in_files() -> int:
        return sum(path.read_bytes().count(b"zoetrope") for path in tmp_path.iterdir())

    with closing(Database(tmp_path / "journal")) as database:
        database.erase_traces()
        committed(database, register("zoetrope"))
        assert not database.has_traces, "nothing was deleted"
        with closing(open_readonly(tmp_path / "journal")) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT name FROM players").fetchall() == [("zoetrope",)]
            committed(database, ForgetPlayer(1))
            database.erase_traces()
            assert database.has_traces
            assert in_files(), "the reader needs it"
            reader.execute("COMMIT")
        database.erase_traces()
        assert (database.has_traces, in_files()) == (False, 0)
        committed(database, ForgetGuests(10, 10, (), (), 20))
        assert not database.has_traces, "there was no guest"


def test_a_file_full_of_deleted_players_keeps_no_name(tmp_path: Path) -> None:
    """Free pages are overwritten, too, and a restored backup has no byte of what was deleted."""
    spelled = [f"zoetrope {number}" for number in Random(1).sample(range(1_000), 300)]
    with closing(Database(tmp_path / "journal")) as database:
        committed(database, *map(register, spelled))
        committed(database, *map(ForgetPlayer, range(1, 301)))
        database.erase_traces()
        left = (tmp_path / "journal").read_bytes().count(b"zoetrope")
        assert left <= 30, "SQLite leaves bytes in the gaps of pages that it rearranges, but in few of them"
        back_up(tmp_path / "journal", tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored" / "journal")
    assert b"zoetrope" not in (tmp_path / "restored" / "journal").read_bytes()
    assert (tmp_path / "restored" / "journal").stat().st_size < (tmp_path / "journal").stat().st_size


def test_in_memory_there_are_the_same_tables(database: Database) -> None:
    query = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
    memory = Database(None)
    assert memory.connection.execute(query).fetchall() == database.connection.execute(query).fetchall()
    for pragma in ("foreign_keys", "user_version"):
        assert memory.connection.execute(f"PRAGMA {pragma}").fetchone() == (
            database.connection.execute(f"PRAGMA {pragma}").fetchone()
        )
    memory.close()


def test_the_files_are_readable_only_by_their_owner(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Database(tmp_path / "data" / "journal.sqlite")):
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "data").iterdir()}
    finally:
        os.umask(before)
    assert modes["journal.sqlite"] == modes["journal.sqlite-wal"] == 0o600
    assert {mode for name, mode in modes.items() if not name.endswith(".lock")} == {0o600}


def test_two_servers_on_one_folder_are_one_too_many(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with closing(Database(path)):
        with pytest.raises(ConfigurationError, match="another server is using"):
            Database(path)
        other = "import sys, pathlib, ttt_net.server.journal as j; j.Database(pathlib.Path(sys.argv[1]))"
        process = subprocess.run([sys.executable, "-c", other, path], capture_output=True, text=True, check=False)
        assert "another server is using" in process.stderr
    with closing(Database(path)):
        pass


def test_a_journal_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with closing(Database(path)):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"newer ttt_net .* upgrade"):
            Database(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello, world" * 1_000, b"SQLite format 3\0" + bytes(range(256)) * 64])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="journal"):
        Database(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE players (x)")
    with pytest.raises(ConfigurationError, match="journal"):
        Database(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("players",)]


@pytest.mark.parametrize("inside", ["file/data/journal", "file/journal", "folder"])
def test_a_place_that_cannot_be_written_to_is_refused_in_one_line(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigurationError, match="choose a folder with --data") as refused:
        Database(tmp_path / inside)
    assert "\n" not in str(refused.value)
