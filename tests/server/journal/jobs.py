"""A local ledger at work, and what came of entries and queries."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import msgspec

from tests.patience import PATIENCE_S
from ttt_net.server.journal import LocalLedger
from ttt_net.server.journal.database import Answer, Database, Job
from ttt_net.server.journal.entries import AnyEntry, JournalEntry, RegisterPlayer
from ttt_net.server.journal.ledger import Ledger
from ttt_net.server.journal.queries import AnyQuery, SanctionsQuery

T = TypeVar("T")


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[LocalLedger]:
    """Run the thread of a ledger inside the block."""
    with closing(LocalLedger(path)) as ledger:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(ledger.run())
            try:
                yield ledger
            finally:
                ledger.stop()


@contextmanager
def before_commits(ledger: LocalLedger, do: Callable[[], object]) -> Iterator[None]:
    """Inside the block, have the writer's thread do something before each commit."""
    commit = ledger.database.commit

    def prepared(jobs: Sequence[Job]) -> list[Answer]:
        do()
        return commit(jobs)

    with mock.patch.object(ledger.database, "commit", prepared):
        yield


async def on_disk(ledger: LocalLedger, work: Callable[[sqlite3.Connection], T]) -> T:
    """Return what some work with the connection returns, done by the writer's thread after all that was asked before.

    Python's connections crash when two threads use one at the same time.
    """
    await results(ledger, SanctionsQuery())
    done: list[T] = []

    def do() -> None:
        if not done:
            done.append(work(ledger.database.connection))

    with before_commits(ledger, do):
        await results(ledger, SanctionsQuery())
    return done[0]


async def results(ledger: Ledger, *asked: AnyEntry | AnyQuery) -> list[Any]:
    """Return the results, or refusals, of what was asked in one turn of the loop."""
    heard: asyncio.Queue[Any] = asyncio.Queue()
    for each in asked:
        if isinstance(each, JournalEntry):
            ledger.append(each, heard.put_nowait, heard.put_nowait)
        else:
            ledger.ask(each, heard.put_nowait, heard.put_nowait)
    return [await heard.get() for _ in asked]


def committed(database: Database, *asked: AnyEntry | AnyQuery) -> list[Any]:
    """Return the results, or refusals, of what was committed as one batch."""
    heard: list[Any] = []
    for give, answer in database.commit([Job(each, heard.append, heard.append) for each in asked]):
        give(answer)
    return heard


def register(name: str, token_hash: bytes = b"") -> RegisterPlayer:
    """Return the entry that registers a person of a name of plain small letters; their token's hash, or one of it."""
    return RegisterPlayer(name, name, (name,), token_hash or name.encode(), 0)


def names(connection: sqlite3.Connection) -> list[str]:
    """Return who is registered, in the order in which they were."""
    return [name for (name,) in connection.execute("SELECT name FROM players ORDER BY id")]


def encode_entry(entry: AnyEntry) -> bytes:
    """Return the entry as JSON, as a log of entries would keep it."""
    return msgspec.json.encode(entry)


_decoder: msgspec.json.Decoder[AnyEntry] = msgspec.json.Decoder(AnyEntry)


def decode_entry(data: bytes) -> AnyEntry:
    """Return the entry of that JSON."""
    return _decoder.decode(data)
