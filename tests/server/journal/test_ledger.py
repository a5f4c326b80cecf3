"""Ledgers: one order, applied directly or on request; followers get accepted entries."""

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
from tests.server.journal.jobs import before_commits, committed, names, register, results, running
from ttt_net import messages as wire
from ttt_net.errors import Refusal, StorageError
from ttt_net.server.admission.fair_shares import FairShares
from ttt_net.server.journal import Archive, Asker, LocalLedger, MemoryLedger, PastQuestion, open_readonly
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.entries import AnyEntry, LabelBot
from ttt_net.server.journal.ledger import JournalReader, Ledger, Worker
from ttt_net.server.journal.queries import NameQuery, ProfileQuery
from ttt_net.server.players import Player
from ttt_net.server.settings.configuration import Limits


async def test_queries_are_answered_in_order_between_the_writes(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        assert await results(ledger, register("a"), NameQuery("a"), register("b"), NameQuery("b")) == [
            Player(1, "a"), (1, "a"), Player(2, "b"), (2, "b"),
        ]  # fmt: skip


async def test_calls_of_one_loop_iteration_share_a_commit(tmp_path: Path) -> None:
    run: list[str] = []
    async with running(tmp_path / "journal") as ledger:
        with before_commits(ledger, lambda: run.append("commit")):
            await results(ledger, *(register(f"p{number}") for number in range(50)))
    assert run == ["commit"]


async def test_an_error_in_one_answer_does_not_prevent_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(_: object) -> None:
        raise OverflowError("planted")

    async with running(tmp_path / "journal") as ledger:
        ledger.append(register("a"), failing, failing)
        assert await results(ledger, register("b"), NameQuery("a")) == [Player(2, "b"), (1, "a")]
    assert "planted" in caplog.text
    caplog.clear()


async def test_entries_appended_before_the_stop_are_applied(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        for number in range(1_000):
            ledger.append(register(str(number)), lambda _: None, lambda _: None)
    with closing(open_readonly(tmp_path / "journal")) as connection:
        assert len(names(connection)) == 1_000


async def test_a_local_ledger_synchronizes_fully(tmp_path: Path) -> None:
    async with running(tmp_path / "journal") as ledger:
        assert ledger.database.connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert ledger.database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_followers_of_a_local_ledger_get_entries_accepted_from_now_on(tmp_path: Path) -> None:
    heard: list[tuple[int, AnyEntry]] = []
    async with running(tmp_path / "journal") as ledger:
        await results(ledger, register("a"))
        with pytest.raises(LookupError):
            ledger.follow(1, lambda *each: heard.append(each))
        ledger.follow(0, lambda *each: heard.append(each))
        ledger.trim(1)
        *_, refused = await results(
            ledger, register("b"), NameQuery("a"), LabelBot(1, "x"), register("a", b"another token")
        )
        assert isinstance(refused, Refusal)
    assert heard == [(1, register("b")), (2, LabelBot(1, "x"))]


def test_a_local_ledger_that_does_not_run_does_well(tmp_path: Path) -> None:
    with closing(LocalLedger(tmp_path / "journal")) as ledger:
        assert ledger.health()[:3] == (None, 0, 0)
        assert not ledger.is_stuck


def test_a_ledger_in_memory_applies_on_request_and_can_be_followed_from_its_entries(tmp_path: Path) -> None:
    ledger, answers = MemoryLedger(), list[object]()
    early, late = list[int](), list[int]()
    ledger.follow(0, lambda position, _: early.append(position))
    for name in "abc":
        ledger.append(register(name), answers.append, answers.append)
    assert (answers, ledger.health().waiting) == ([], 3)
    ledger.deliver(2)
    assert answers == [Player(1, "a"), Player(2, "b")]
    ledger.trim(1)
    with pytest.raises(LookupError):
        ledger.follow(0, lambda *_: None)
    ledger.follow(1, lambda position, _: late.append(position))
    ledger.deliver()
    assert (early, late, ledger.position) == ([1, 2, 3], [2, 3], 3)
    ledger.snapshot(tmp_path / "copy")
    with closing(open_readonly(tmp_path / "copy")) as connection:
        assert names(connection) == ["a", "b", "c"]
    ledger.database.close()


async def test_a_raising_job_is_reported_and_later_jobs_are_carried_out(caplog: pytest.LogCaptureFixture) -> None:
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
        ledger.database.has_traces = False  # otherwise the writer empties the log after its first commit
        await results(ledger, register("a"))
        assert await looked(ledger, settings) == [1, 0]
        assert (tmp_path / "journal-wal").stat().st_size > 0


async def test_a_reader_turns_to_another_file_with_the_next_read(tmp_path: Path) -> None:
    files, told = [tmp_path / "one.sqlite", tmp_path / "other.sqlite"], Heard()
    for number, file in enumerate(files):
        with closing(Database(file)) as database:
            committed(database, *[register(f"player{each}") for each in range(number)])
    reader = JournalReader(files[0])
    with reader.reading():
        for number, file in enumerate(files):
            reader.turn_to(file)
            reader.look(lambda connection: connection.execute("SELECT count(*) FROM players").fetchone(), told)
            assert (await told.first(number + 1))[-1] == (number,)


async def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
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
