"""A journal as an older program would have left it, and what a newer one must make of it when it starts.

The older file has all that its tables can hold of what the world has lived through: matches that go on, results, people
with their tokens, sanctions. It lies on a real disk for the moment of its upgrade, for that keeps a copy beside it.
"""

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import cache
from io import BytesIO
from pathlib import Path

from tests.server.journal.walk import canonical
from ttt_net.server.cluster.replica import Replica
from ttt_net.server.journal.database import Database
from ttt_net.server.journal.schema import SCHEMA_VERSION

_IN_MEMORY = Path("/dev/shm")
"""Where a disk that syncs costs no time, if the machine has one."""
_BEFORE = SCHEMA_VERSION - 1
_TABLES_BEFORE = Path(__file__).parent.parent / "server" / "journal" / f"schema_{_BEFORE}.sql"
"""A journal of the schema before, of which the tables are needed."""
_FORMATS = slice(18, 20)
_ONLY_NOW = ("SELECT 1 FROM mistakes",)
"""Queries for rows that the last schema but one cannot hold."""
_OF_CLUSTER = ("place", "nodes", "connected")


def of_release_before(now: sqlite3.Connection) -> bytes:
    """Return an image of a node's tables as the release before would have left them; of these, if it cannot hold them.

    Beside the journal's they are the cluster's own, which were the same.
    """
    with ExitStack() as made:
        old = now if holds_newer(now) else made.enter_context(closing(fill_as_before(now)))
        for table in _OF_CLUSTER if old is not now else ():
            (sql,) = now.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
            old.execute(sql)
            old.execute(f"DELETE FROM {table}")
            for row in now.execute(f"SELECT * FROM {table}").fetchall():
                old.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        image = bytearray(old.serialize())
    image[_FORMATS] = b"\x01\x01"
    return bytes(image)


def reopen(image: bytes, replica: Replica) -> None:
    """Open a node's tables as it does at its start, from a file, and put what they have become into `replica`."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        path = Path(folder, "journal.sqlite")
        path.write_bytes(image)
        found = BytesIO()
        with closing(Replica(path, replica.form)) as opened:
            opened.write_to(found)
    found.seek(0)
    replica.read_from(found)


def contents(replica: Replica) -> tuple[int, str]:
    """Return the schema of a node's tables, and all that is in them."""
    connection = replica.database.connection
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version, canonical(connection)


def holds_newer(now: sqlite3.Connection) -> bool:
    """Tell whether there is something that the tables before cannot hold."""
    return any(now.execute(query).fetchone() for query in _ONLY_NOW)


@cache
def _empty_before() -> bytes:
    """Return the file of an empty journal of the schema before."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as old:
        old.executescript(_TABLES_BEFORE.read_text())
        triggers = old.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").fetchall()
        for name, _ in triggers:
            old.execute(f"DROP TRIGGER {name}")
        for table in _tables(old):
            old.execute(f"DELETE FROM {table}")
        old.execute("DELETE FROM sqlite_sequence")
        for _, sql in triggers:
            old.execute(sql)
        return old.serialize()


def fill_as_before(now: sqlite3.Connection) -> sqlite3.Connection:
    """Return tables of the schema before with all of `now` that they can hold."""
    old = sqlite3.connect(":memory:", isolation_level=None)
    old.deserialize(_empty_before())
    triggers = old.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name").fetchall()
    for name, _ in triggers:
        old.execute(f"DROP TRIGGER {name}")
    for table in _tables(old):
        columns = _columns_of_both(table, old, now)
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns)}"
        rows = now.execute(query).fetchall()
        places = ", ".join("?" * len(columns))
        old.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})", rows)
    for _, sql in triggers:
        old.execute(sql)
    return old


def upgraded(before: sqlite3.Connection, into: sqlite3.Connection, claim: Callable[[bool, str], None]) -> None:
    """Open the older journal as a server does, and put what it has become into `into`; check that nothing was lost."""
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
        path = Path(folder, "journal.sqlite")
        path.write_bytes(before.serialize())
        with closing(Database(path)) as database:
            image = bytearray(database.connection.serialize())
        kept = path.with_name(f"{path.name}.schema-{_BEFORE}")
        claim(kept.exists(), f"no copy is kept of a journal of schema {_BEFORE}")
        with closing(sqlite3.connect(kept)) as copy:
            is_whole = canonical(copy) == canonical(before)
            claim(is_whole, f"the copy of a journal of schema {_BEFORE} is not what it was")
    image[_FORMATS] = b"\x01\x01"  # without a log beside it, which tables in memory have not
    with closing(sqlite3.connect(":memory:")) as after:
        after.deserialize(bytes(image))
        for table in _tables(before):
            was, now = (_rows(table, each, before) for each in (before, after))
            claim(was == now, f"the upgrade from schema {_BEFORE} loses what was in {table}")
        claim(not after.execute("PRAGMA foreign_key_check").fetchall(), "a row refers to one that is not there")
        after.backup(into)
    before.close()


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    return [name for (name,) in connection.execute(query)]


def _columns_of_both(table: str, old: sqlite3.Connection, new: sqlite3.Connection) -> list[str]:
    known = {column for _, column, *_ in new.execute(f"PRAGMA table_info({table})")}
    return [column for _, column, *_ in old.execute(f"PRAGMA table_info({table})") if column in known]


def _rows(table: str, connection: sqlite3.Connection, before: sqlite3.Connection) -> list[str]:
    columns = _columns_of_both(table, before, connection)
    return sorted(map(repr, connection.execute(f"SELECT {', '.join(columns)} FROM {table}")))
