"""Reading beside the writer: on another thread, by a connection that cannot write."""

import asyncio
import fcntl
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar
from unittest import mock

import pytest

from tests.patience import PATIENCE_S
from tests.server.cluster.logs import Heard
from tests.server.journal.jobs import before_commits, names, register, results, running
from ttt_net import messages as wire
from ttt_net.errors import StorageError
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.journal import Archive, Asker, LocalLedger, PastQuestion
from ttt_net.server.journal.ledger import Ledger
from ttt_net.server.journal.queries import ProfileQuery
from ttt_net.server.journal.reader import JournalReader, Worker
from ttt_net.server.settings.configuration import Limits


async def test_a_job_that_raises_is_told_and_those_after_it_are_done(caplog: pytest.LogCaptureFixture) -> None:
    worker, told, faults = Worker(), Heard(), Heard()
    worker.on_fault = faults

    def fail() -> None:
        raise LookupError("nobody thought of it")

    with worker.working():
        worker(fail, told)
        worker(lambda: 2, told)
        assert str(await faults.one()) == "nobody thought of it"
        assert await told.first(1) == [2]
    assert "nobody thought of it" in caplog.text
    caplog.clear()  # it was meant


T = TypeVar("T")


async def looked(ledger: Ledger, read: Callable[[sqlite3.Connection], T]) -> T:
    """Return what a look at the tables finds."""
    found: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    ledger.look(read, found.set_result)
    return await found


async def test_writes_do_not_wait_for_a_read(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        is_over, began = threading.Event(), threading.Event()
        found: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

        def read(connection: sqlite3.Connection) -> list[str]:
            connection.execute("BEGIN")
            assert names(connection) == []
            began.set()
            is_over.wait(PATIENCE_S)
            return names(connection)

        ledger.look(read, found.set_result)
        await asyncio.to_thread(began.wait, PATIENCE_S)
        await results(ledger, register("a"))
        assert not found.done()
        is_over.set()
        assert await found == [], "a read sees one state of the tables"


async def test_reads_do_not_wait_for_a_write(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        await results(ledger, register("a"))
        is_over = threading.Event()
        with before_commits(ledger, lambda: is_over.wait(PATIENCE_S)):
            writing = asyncio.ensure_future(results(ledger, register("b")))
            await asyncio.sleep(0)
            assert await looked(ledger, names) == ["a"]
            is_over.set()
            await writing


async def test_a_reader_can_neither_write_nor_checkpoint(tmp_path: Path) -> None:
    def settings(connection: sqlite3.Connection) -> list[int]:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM players")
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return [connection.execute(f"PRAGMA {each}").fetchone()[0] for each in ("query_only", "wal_autocheckpoint")]

    async with running(tmp_path / "journal") as ledger:
        await results(ledger, register("a"))
        assert await looked(ledger, settings) == [1, 0]
        assert (tmp_path / "journal-wal").stat().st_size > 0


async def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    reader, told = JournalReader(tmp_path / "nothing"), Heard()
    with reader.reading():
        reader.look(names, told)
        assert isinstance(await told.one(), StorageError)
    assert not (tmp_path / "nothing").exists()


async def test_where_the_system_has_no_file_locks_the_writer_reads(tmp_path: Path) -> None:
    with mock.patch("ttt_net.server.journal.database.fcntl", None):
        async with running(tmp_path / "journal") as ledger:
            await results(ledger, register("a"))
            assert await looked(ledger, names) == ["a"]


async def test_an_archive_answers_on_either_thread(tmp_path: Path) -> None:
    query = ProfileQuery(wire.ProfileRequest(1, "a"), 1, None, [], 0)
    for number, locks in enumerate((mock.DEFAULT, None)):
        with mock.patch("ttt_net.server.journal.database.fcntl", fcntl if locks else None):
            async with running(tmp_path / f"journal{number}") as ledger:
                await results(ledger, register("a"))
                heard = Heard()
                archive = Archive(ledger.look, time.perf_counter, FairShares(Limits(), lambda: 0))
                archive.ask(PastQuestion(query, Asker(1, None), heard, heard))
                assert (await heard.one()).message.player.name == "a"


async def test_the_end_waits_for_no_read_for_long(tmp_path: Path) -> None:
    is_over = threading.Event()
    with mock.patch.object(JournalReader, "END_S", 0.0), closing(LocalLedger(tmp_path / "journal")) as ledger:
        running = asyncio.ensure_future(ledger.run())
        await results(ledger, register("a"))
        ledger.look(lambda _: is_over.wait(PATIENCE_S), lambda _: None)
        ledger.stop()
        await running
        is_over.set()
