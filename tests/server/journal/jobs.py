"""The thread of a database, and what came of jobs for it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S
from ttt_net.server.journal import Database

Work = Callable[[sqlite3.Connection], Any]


@asynccontextmanager
async def running(path: Path) -> AsyncIterator[Database]:
    """Run the thread of a database inside the block."""
    with closing(Database(path)) as database:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(database.run())
            try:
                yield database
            finally:
                database.stop()


async def results(database: Database, *works: Work) -> list[Any]:
    """Return what came of jobs that were submitted at once."""
    done: asyncio.Queue[Any] = asyncio.Queue()
    for work in works:
        database.submit(work, done.put_nowait)
    return [await done.get() for _ in works]
