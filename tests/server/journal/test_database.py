"""One file, one thread: what opens it, what it refuses, and what a failing disk does to it."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.journal.jobs import Work, results, running
from ttt_net.errors import ConfigurationError
from ttt_net.server.journal import Database, StorageError
from ttt_net.server.journal.schema import SCHEMA_VERSION


def insert(name: str) -> Work:
    return lambda connection: (
        connection.execute(
            "INSERT INTO players (name, name_key, token_hash, created_ms) VALUES (?, ?, ?, 0)",
            (name, name, name.encode()),
        ).rowcount
    )


def names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM players ORDER BY id")]


def fault(connection: sqlite3.Connection) -> None:
    raise OverflowError("planted")


async def test_jobs_are_done_in_order_and_answered_in_order(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as database:
        assert await results(database, insert("a"), insert("b"), names, insert("c"), names) == [
            1, 1, ["a", "b"], 1, ["a", "b", "c"],
        ]  # fmt: skip


async def test_one_bad_job_does_not_spoil_the_batch_that_it_meets(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as database:
        answers = await results(database, insert("a"), insert("a"), lambda db: db.execute("nonsense"), insert("b"))
        assert [type(answer) for answer in answers] == [int, StorageError, StorageError, int]
        assert await results(database, names) == [["a", "b"]]


async def test_what_a_failing_job_had_written_is_taken_back(tmp_path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        insert("x")(connection)
        insert("x")(connection)

    async with running(tmp_path / "journal") as database:
        (answer,) = await results(database, half)
        assert isinstance(answer, StorageError)
        assert await results(database, names) == [[]]


async def test_a_fault_of_ours_in_one_job_leaves_the_thread_and_the_others_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path / "journal") as database:
        answers = await results(database, insert("a"), fault, insert("b"))
        assert [type(answer) for answer in answers] == [int, StorageError, int]
        assert await results(database, names) == [["a", "b"]]
    assert "planted" in caplog.text
    caplog.clear()


async def test_a_fault_of_ours_in_one_answer_does_not_keep_the_others_from_theirs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_: object) -> None:
        raise OverflowError("planted")

    async with running(tmp_path / "journal") as database:
        database.submit(insert("a"), failing)
        assert await results(database, insert("b"), names) == [1, ["a", "b"]]
    assert "planted" in caplog.text
    caplog.clear()


async def test_a_file_that_may_not_grow_refuses_and_takes_again_what_has_room(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as database:
        await results(database, insert("a"), lambda db: db.execute("PRAGMA max_page_count = 1"))
        (answer,) = await results(database, insert("b" * 50_000))
        assert isinstance(answer, StorageError)
        assert "full" in answer.cause
        await results(database, lambda db: db.execute("PRAGMA max_page_count = 100000"))
        assert await results(database, insert("c"), names) == [1, ["a", "c"]]


async def test_a_file_that_cannot_be_written_is_still_read(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as database:
        await results(database, insert("a"), lambda db: db.execute("PRAGMA query_only = ON"))
        refused, read = await results(database, insert("b"), names)
        assert isinstance(refused, StorageError)
        assert read == ["a"]
        await results(database, lambda db: db.execute("PRAGMA query_only = OFF"))
        assert await results(database, insert("c"), names) == [1, ["a", "c"]]


async def test_a_disk_that_fails_is_logged_once_and_once_more_when_it_works_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path / "journal") as database:
        await results(database, insert("a"), lambda db: db.execute("PRAGMA query_only = ON"))
        for name in "bcd":
            await results(database, insert(name), names)
        assert database.failures == 3
        assert database.trouble() == "the disk refuses to be written"
        await results(database, lambda db: db.execute("PRAGMA query_only = OFF"), insert("e"))
        assert database.trouble() is None
    assert [(record.levelname, record.message.partition(":")[0]) for record in caplog.records] == [
        ("ERROR", "storage"),
        ("WARNING", "storage"),
    ]
    caplog.clear()


async def test_what_was_submitted_before_the_stop_is_done(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as database:
        for number in range(1_000):
            database.submit(insert(str(number)), lambda _: None)
    async with running(tmp_path / "journal") as database:
        assert len((await results(database, names))[0]) == 1_000


def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
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
